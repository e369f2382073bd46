"""Questions about the picture, answered by a vision-language model of the user's."""

from __future__ import annotations

import json
from typing import Annotated, Any

from pydantic import Field
from typing_extensions import TypedDict

from deskhand.errors import DeskhandError
from deskhand.etp.tool import ToolContext, tool
from deskhand.llm.base import Message
from deskhand.llm.config import vision_profile
from deskhand.llm.making import make_model
from deskhand.perception.detectors.vision_language import png
from deskhand.tools.pictures import Box2d, check_box, picture

SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {
        "answer": {"type": "string", "maxLength": 500},
        "sure": {"type": "number", "minimum": 0, "maximum": 1},
        "seen": {"type": "string", "maxLength": 500},
    },
    "required": ["answer", "sure", "seen"],
    "additionalProperties": False,
}
TASK = (
    "The picture is from the camera of a robot at a desk. Answer the question from the picture alone; when it does not show the answer, say so and be unsure. "
    "Answer with one JSON object: answer (short), sure (0 to 1), seen (what in the picture the answer rests on). The question: "
)


class VisualAnswer(TypedDict):
    """What the model says."""

    answer: str
    sure: Annotated[float, Field(description="0 to 1, as the model says of itself")]
    seen: Annotated[str, Field(description="what in the picture the answer rests on, as the model says")]
    model: Annotated[str, Field(description="which model answered")]


@tool(
    group="perception",
    unit="spatial_grounding",
    needs=("camera", "model"),
    timeout=180.0,
    when_to_use="To ask an open question about what the camera sees that no other tool answers: text on objects, materials, what something is for, how many of "
    "something that has no name here.",
    limits="Needs a vision-language model (config/llm.yaml: vision), whose word is unchecked: measure places and sizes by other tools.",
    examples=[
        ("Visual question answering: what does the label on the can say?", {"question": "What does the label on the can say?"}),
        ("A question about a part of a stored picture", {"question": "Is the lid open?", "picture_uri": "deskhand://c", "box": [100, 80, 120, 90]}),
    ],
    failures=[("No vision-language model is configured", {"question": "What is on the desk?"}, "precondition_failed")],
)
def answer_visual_question(
    ctx: ToolContext,
    question: Annotated[str, Field(min_length=3, max_length=500, description="in plain words")],
    picture_uri: Annotated[str, Field(max_length=200, description="uri of the picture that is asked about; empty: a new one")] = "",
    box: Annotated[Box2d | None, Field(description="[left, top, width, height] of the part that is shown to the model [px]; null: all")] = None,
) -> VisualAnswer:
    """Answer a question about the camera's picture, or a stored one, by the configured vision-language model."""
    name = vision_profile()
    if not name:
        raise DeskhandError("precondition_failed", "no vision-language model is configured.", hint="Set vision in config/llm.yaml to a profile.")
    image = picture(ctx, picture_uri)
    if box is not None:
        image = image[check_box(box, image.shape)]
    model = make_model(name)
    reply = model.reply([Message("user", TASK + question, images=(png(image),))], (), SCHEMA)
    first, last = reply.text.find("{"), reply.text.rfind("}")
    try:
        said = json.loads(reply.text[first : last + 1])
        return VisualAnswer(answer=str(said["answer"]), sure=min(1.0, max(0.0, float(said["sure"]))), seen=str(said["seen"]), model=model.name)
    except (ValueError, KeyError, TypeError) as error:
        raise DeskhandError("model_failed", f"{model.name} answered no JSON object with answer, sure and seen: {reply.text[:200]!r}.", retry=True) from error
