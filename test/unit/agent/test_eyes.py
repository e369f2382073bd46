"""Pictures of the desk for models with eyes: a stand-in server that understands pixels only, and what becomes of pictures that are old or refused."""

from __future__ import annotations

import base64
import json
from collections.abc import Iterator, Mapping
from typing import Any

import cv2
import numpy as np
import pytest
from llm_server import Server, error, message, model

from deskhand.agent.judge import ModelJudge
from deskhand.agent.loop import AgentLoop
from deskhand.agent.records import Budgets, TaskOutcome
from deskhand.errors import DeskhandError
from deskhand.etp.base import ToolResult
from deskhand.etp.resources import Resource, encoded
from deskhand.llm.base import Message, Reply, ToolCall
from deskhand.llm.openai import OpenAIModel
from deskhand.llm.openai_wire import conversation
from deskhand.llm.pictures import LEFT_OUT, fitted, limited
from deskhand.perception.marks import FONT, SCALE, Mark, box_in, draw_marks
from deskhand.testing.symbolic_desk import SymbolicDesk, seen_object
from deskhand.types import CameraIntrinsics, Frame, SceneObject

INSTRUCTION = "put the one with the red sticker into the bin"
STICKER = (220, 20, 20)
URI = "deskhand://desk"


class PictureDesk(SymbolicDesk):
    """Grey objects that the text tells apart by nothing but their ids; one of them bears a red sticker, which only the camera shows."""

    def __init__(self, marked: str = "object_2") -> None:
        objects = [seen_object(f"object_{number}", "gray", "object", position=(0.05, 0.12 * number - 0.24)) for number in (1, 2, 3)]
        super().__init__(*objects, seen_object("bin_1", position=(-0.2, 0.0)))
        self.marked = marked
        self.looks = 0

    def describe(self, name: str) -> dict[str, Any]:
        if name == "mark_picture":
            return {"name": name, "summary": "the picture, marked", "effects": "none", "input_schema": {"type": "object", "properties": {}}}
        return super().describe(name)

    def _mark_picture(self) -> ToolResult:
        self.looks += 1
        return ToolResult("", "", {"picture": {"uri": URI, "media_type": "image/png", "bytes": 1, "text": ""}, "marks": [], "writing": False})

    def invoke(self, name: str, arguments: Mapping[str, Any], *others: Any, **named: Any) -> ToolResult:
        return self._mark_picture() if name == "mark_picture" else super().invoke(name, arguments, *others, **named)

    def resource(self, uri: str) -> Resource:
        """The desk from straight above, 1 mm a pixel."""
        if uri != URI:
            raise DeskhandError("unknown_resource", uri)
        camera = np.array([[0.0, -1.0, 0.0, 0.0], [-1.0, 0.0, 0.0, 0.0], [0.0, 0.0, -1.0, 1.0], [0.0, 0.0, 0.0, 1.0]])
        color = np.full((700, 900, 3), 200, np.uint8)
        frame = Frame(color, np.ones((700, 900), np.float32), CameraIntrinsics(900, 700, 1000.0, 1000.0, 449.5, 349.5), camera, 0.0)
        marks = []
        for number, (name, item) in enumerate(self.objects.items(), 1):
            pose = np.eye(4)
            pose[:3, 3] = item["position"]
            seen = SceneObject(name, item["label"], item["color"], "box", np.array(item["size"]), pose, np.zeros((0, 3), np.float32), 1.0)
            left, top, width, height = box_in(frame, seen) or (0, 0, 1, 1)
            color[top : top + height, left : left + width] = 120
            if name == self.marked:
                color[top + 10 : top + 22, left + 10 : left + 22] = STICKER
            marks.append(Mark(number, seen, (left, top, width, height)))
        draw_marks(color, frame, marks, outlines=False)
        return Resource(uri, "image/png", encoded(color)[0])


class PixelServer(Server):
    """A model that understands pictures and nothing else: it looks for the caption that stands over something red. Of the text it only takes ids."""

    def __init__(self) -> None:
        super().__init__()
        self.chosen = ""

    def think(self, request: Mapping[str, Any]) -> Any:
        results = [json.loads(each["content"]) for each in request["messages"] if each["role"] == "tool"]
        picked, placed = (any(call == name for call in self.calls(request)) for name in ("pick", "place_in"))
        if not results:
            return message(None, ("detect_objects", "{}"))
        if placed:
            return message(None, ("finish", json.dumps({"status": "done", "summary": "It is in the bin."})))
        if picked:
            return message(None, ("place_in", '{"container_id": "bin_1"}'))
        ids = [item["id"] for item in results[0]["data"]["objects"] if item["id"].startswith("object")]
        self.chosen = self.over_red(request, ids)
        if not self.chosen:
            return message(None, ("finish", json.dumps({"status": "refused", "summary": "I see no sticker.", "code": "unknown_object"})))
        goal = {"object_id": self.chosen, "relation": "in", "target_id": "bin_1"}
        return message(None, ("submit_plan", json.dumps({"subgoals": [goal]})), ("pick", json.dumps({"object_id": self.chosen})))

    @staticmethod
    def calls(request: Mapping[str, Any]) -> list[str]:
        return [call["function"]["name"] for each in request["messages"] for call in each.get("tool_calls") or ()]

    @staticmethod
    def over_red(request: Mapping[str, Any], ids: list[str]) -> str:
        urls = [
            part["image_url"]["url"] for each in request["messages"] if isinstance(each["content"], list) for part in each["content"] if "image_url" in part
        ]
        if not urls:
            return ""
        data = np.frombuffer(base64.b64decode(urls[-1].partition(",")[2]), np.uint8)
        picture = cv2.imdecode(data, cv2.IMREAD_COLOR)[..., ::-1].astype(int)
        red = np.argwhere((picture[..., 0] > 150) & (picture[..., 1] < 90) & (picture[..., 2] < 90))
        if len(red) < 20:
            return ""
        row, column = np.median(red, axis=0)
        found = {}
        for name in ids:
            template = np.full((16, 80, 3), 255, np.uint8)
            cv2.putText(template, name, (2, 12), FONT, SCALE, (0, 0, 0), 1, cv2.LINE_AA)
            score = cv2.matchTemplate(picture.astype(np.uint8).min(axis=2), template[..., 0], cv2.TM_CCOEFF_NORMED)
            _, _, _, (x, y) = cv2.minMaxLoc(score)
            found[name] = abs(x + 40 - column) + abs(y + 8 - row)
        return min(found, key=lambda name: found[name])


@pytest.fixture
def server() -> Iterator[PixelServer]:
    http = PixelServer()
    yield http
    http.close()


def run(server: PixelServer, desk: PictureDesk, instruction: str = INSTRUCTION, **settings: Any) -> TaskOutcome:
    server.answers = [server.think]
    brain = OpenAIModel(model(server, retries=0, timeout=60.0, **settings)._profile)
    return AgentLoop(brain, desk, Budgets(seconds=300.0, answer_seconds=0.0)).run(instruction)


@pytest.mark.parametrize("marked", ["object_1", "object_3"])
def test_who_sees_pixels_finds_what_the_text_does_not_tell(server: PixelServer, marked: str) -> None:
    desk = PictureDesk(marked)
    outcome = run(server, desk, images="last", image_side=900)
    assert desk.where()[marked] == "bin_1" and outcome.outcome == "unverified", outcome.summary
    looked = outcome.steps[0]
    assert looked.pictures[0]["size"] == [900, 700] and len(looked.pictures[0]["digest"]) == 32


def test_a_look_that_code_takes_is_shown_too() -> None:
    pytest.importorskip("pydantic_monty")
    shown: list[int] = []

    class Writes:
        name, context_tokens, images, image_side = "writes", 0, "last", 300

        def reply(self, messages: Any, tools: Any, schema: Any = None) -> Reply:
            shown.append(len(messages[-1].images))
            look, end = ToolCall("run_code", {"code": "detect_objects()"}), ToolCall("finish", {"status": "refused", "summary": "Enough."})
            return Reply("", (look if len(shown) == 1 else end,))

    outcome = AgentLoop(Writes(), PictureDesk(), Budgets(seconds=300.0), mode="code").run(INSTRUCTION)  # type: ignore[arg-type]
    assert shown == [0, 1] and outcome.steps[0].pictures


def test_who_is_shown_no_pictures_does_not(server: PixelServer) -> None:
    desk = PictureDesk()
    outcome = run(server, desk, images="none")
    assert outcome.code == "unknown_object" and desk.looks == 0 and not any(step.pictures for step in outcome.steps)


def test_a_server_that_refuses_pictures_is_asked_once_more_without(server: PixelServer) -> None:
    asked: list[bool] = []

    def think(request: Mapping[str, Any]) -> Any:
        asked.append("image_url" in json.dumps(request["messages"]))
        if asked[-1]:
            status, headers, _ = error(400)
            return status, headers, json.dumps({"error": {"message": "Invalid content type. image_url is only supported by certain models."}})
        return server.think(request)

    server.answers = [think]
    desk = PictureDesk()
    outcome = AgentLoop(OpenAIModel(model(server, retries=0, timeout=60.0, images="2")._profile), desk, Budgets(seconds=300.0)).run(INSTRUCTION)
    assert asked == [False, True, False] and outcome.code == "unknown_object" and desk.looks == 1
    assert any("no_images" in repair for repair in outcome.steps[1].repairs)


def test_a_picture_with_writing_is_text_that_others_wrote(server: PixelServer) -> None:
    class Written(PictureDesk):
        def _mark_picture(self) -> ToolResult:
            return ToolResult("", "", {**super()._mark_picture().data, "writing": True})

    desk = Written()
    outcome = run(server, desk, "put the cup with the red sticker into the bin", images="last", image_side=900)
    assert desk.where()["object_2"] == "table" and outcome.steps[0].foreign
    assert "permission_denied" in [step.code for step in outcome.steps]


def test_a_judge_with_eyes_sees_the_desk_before_and_after(server: PixelServer) -> None:
    shown: list[int] = []

    class Sharp:
        name, images, image_side = "sharp", "last", 300

        def reply(self, messages: Any, tools: Any, schema: Any = None) -> Any:
            from deskhand.llm.base import Reply

            shown.append(len(messages[-1].images))
            return Reply('{"reason": "the sticker is on it", "agrees": "yes"}')

    server.answers = [server.think]
    brain = OpenAIModel(model(server, retries=0, timeout=60.0, images="last", image_side=900)._profile)
    outcome = AgentLoop(brain, PictureDesk(), Budgets(seconds=300.0), judge=ModelJudge(Sharp())).run(INSTRUCTION)  # type: ignore[arg-type]
    assert outcome.outcome == "done" and outcome.agreed_by == "judge" and shown == [2]


# ---------------------------------------------------------------- what stays in the conversation


def test_only_so_many_pictures_stay() -> None:
    talk = [Message("user", str(number), images=(b"picture",) if number != 1 else ()) for number in range(4)]
    assert [bool(each.images) for each in limited(talk, "2")] == [False, False, True, True]
    assert [bool(each.images) for each in limited(talk, "first")] == [True, False, False, False]
    assert [each.content for each in limited(talk, "last")] == [f"0\n{LEFT_OUT}", "1", f"2\n{LEFT_OUT}", "3"]
    assert not any(each.images for each in limited(talk, "none"))


def test_pictures_of_results_follow_the_last_result_of_their_turn() -> None:
    talk = [Message("tool", "{}", tool_call_id=str(n), name="look", images=(b"\xff\xd8",)) for n in range(2)] + [Message("assistant", "ok")]
    sent = conversation(talk)
    assert [each["role"] for each in sent] == ["tool", "tool", "user", "user", "assistant"]
    assert sent[2]["content"][1]["image_url"]["url"].startswith("data:image/jpeg;base64,") and isinstance(sent[0]["content"], str)


def test_a_picture_is_made_no_larger_than_asked_and_never_larger_than_it_was() -> None:
    picture = encoded(np.zeros((300, 400, 3), np.uint8))[0]
    for side, expected in ((200, (150, 200)), (640, (300, 400))):
        assert cv2.imdecode(np.frombuffer(fitted(picture, side), np.uint8), cv2.IMREAD_COLOR).shape[:2] == expected
    with pytest.raises(DeskhandError, match="no picture"):
        fitted(b"no picture", 640)


@pytest.mark.parametrize(
    ("status", "text", "kind"),
    [
        (400, "image_url is only supported by certain models", "no_images"),
        (500, "image input is not supported - hint: if this is unexpected, you may need to provide the mmproj", "no_images"),
        (400, "At most 0 image(s) may be provided in one request.", "no_images"),
        (400, "some-model is not a multimodal model", "no_images"),
        (404, "model 'vision-7b' does not exist", "unknown_model"),
        (500, "something broke", "server_error"),
    ],
)
def test_a_refusal_of_pictures_has_a_kind_of_its_own(status: int, text: str, kind: str) -> None:
    from deskhand.llm.faults import _kind_of_status

    assert _kind_of_status(status, text) == kind
