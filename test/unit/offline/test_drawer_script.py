"""The offline brain with drawers and lids, on a desk of symbols: which drawer is meant, opened first where it is shut; which lid."""

from __future__ import annotations

import pytest

from deskhand.offline.brain import Brain
from deskhand.offline.script import CallResult

TOOLS = {"detect_objects", "pick", "place_in", "find_handles", "open_drawer", "close_drawer", "close_lid", "open_lid"}
FRONT, OUT = 0.07, 0.12
HEIGHTS = {"top": 0.19, "middle": 0.12, "bottom": 0.05}


class Desk:
    """A cabinet with drawers at ``heights``, those of ``opened`` open; a block; boxes of which the lids of ``lids`` stand open."""

    def __init__(self, drawers=("only",), opened=(), lids=(), fails="", stuck=(), far=()):
        self.heights = {name: HEIGHTS.get(name, 0.04) for name in drawers}
        self.opened, self.lids, self.fails = list(opened), list(lids), fails
        self.held, self.inside, self.calls, self.stuck, self.far = "", "", [], stuck, far

    def _item(self, name, label, x, y, z, size, color="brown", **more):
        return {"id": name, "label": label, "color": color, "shape": "box", "size": list(size), "position": [x, y, z], "yaw": 0.0, "confidence": 0.9} | {
            "is_container": False, "support": "table", "relation": "on", "beyond_reach": name in self.far, **more,
        }  # fmt: skip

    def _id(self, name):
        return f"drawer_{list(self.heights).index(name) + 1}"

    def detect_objects(self):
        items = [self._item("box_1", "box", 0.0, 0.2, 0.11, (0.14, 0.14, 0.22))]
        items += [self._item(f"box_{number}", "box", -0.1, -0.3 + 0.2 * number, 0.1, (0.1, 0.1, 0.2), color) for number, color in enumerate(self.lids, start=2)]
        for name in self.opened:
            items.append(self._item(self._id(name), "drawer", FRONT + OUT / 2, 0.2, self.heights[name], (0.14, OUT, 0.06), is_container=True))
        where = {"support": self.inside, "relation": "in"} if self.inside else {}
        if not self.held:
            items.append(self._item("block_1", "block", 0.1, -0.1, 0.015, (0.03, 0.03, 0.03), "red", **where))
        return CallResult(True, {"objects": items})

    def find_handles(self):
        rows = [
            {
                "object_id": self._id(name) if name in self.opened else "box_1",
                "position": self._handle(name),
                "side": "side",
                "off_middle": 0.1,
                "size": [0.03] * 3,
            }
            for name in self.heights
        ]
        lids = [{"object_id": f"box_{number}", "edge": [-0.1, -0.3 + 0.2 * number, 0.2], "lean_deg": 15.0} for number, _ in enumerate(self.lids, start=2)]
        return CallResult(True, {"handles": rows, "open_lids": lids})

    def _handle(self, name):
        return [FRONT + (OUT if name in self.opened else 0.0) + 0.02, 0.2, self.heights[name]]

    def _named(self, handle):
        return min(self.heights, key=lambda name: abs(self.heights[name] - handle[2]))

    def open_drawer(self, object_id, handle, distance=0.2):
        if self.fails or self._named(handle) in self.stuck:
            return CallResult(False, {}, self.fails or "grasp_failed", "it does not come")
        self.opened.append(self._named(handle))
        return CallResult(True, {"handle": self._handle(self._named(handle)), "moved": OUT, "stopped": False})

    def close_drawer(self, object_id, handle, distance=0.3):
        self.opened.remove(self._named(handle))
        return CallResult(True, {"handle": self._handle(self._named(handle)), "moved": OUT, "stopped": True})

    def close_lid(self, object_id):
        self.lids = [color for number, color in enumerate(self.lids, start=2) if object_id != f"box_{number}"]
        return CallResult(True, {"height_before": 0.2, "height_after": 0.09})

    def pick(self, object_id, next_container_id="", next_object_id=""):
        self.held = object_id
        return CallResult(True, {"object_id": object_id, "width": 0.03})

    def place_in(self, container_id, next_object_id=""):
        self.inside, self.held = container_id, ""
        return CallResult(True, {})

    def run(self, text):
        script = Brain(text, TOOLS).script()
        call = next(script)
        for _ in range(40):
            self.calls.append((call.tool, dict(call.arguments)))
            if call.tool == "finish":
                return call.arguments["summary"]
            heard = getattr(self, call.tool)(**call.arguments) if hasattr(self, call.tool) else CallResult(True, {})
            call = script.send(heard)
        raise AssertionError("it goes on and on")

    def acts(self):
        return [tool for tool, _ in self.calls if tool in {"open_drawer", "close_drawer", "pick", "place_in", "close_lid"}]


@pytest.mark.parametrize(
    ("text", "drawers", "opened", "acts", "target"),
    [
        ("put the red block in the drawer", ("only",), (), ["open_drawer", "pick", "place_in"], "drawer_1"),
        ("put the red block into the open drawer", ("only",), ("only",), ["pick", "place_in"], "drawer_1"),
        ("put the block in the top drawer", ("top", "middle", "bottom"), (), ["open_drawer", "pick", "place_in"], "drawer_1"),
        ("put the block in the bottom drawer", ("top", "middle", "bottom"), ("middle",), ["open_drawer", "pick", "place_in"], "drawer_3"),
        ("put the block in the middle drawer", ("top", "middle", "bottom"), ("middle",), ["pick", "place_in"], "drawer_2"),
        ("put the block in the drawer", ("top", "middle", "bottom"), ("bottom",), ["pick", "place_in"], "drawer_3"),
        ("open the top drawer and put the block inside", ("top", "bottom"), ("bottom",), ["open_drawer", "pick", "place_in"], "drawer_1"),
        ("open the drawer, put the block in it and close it", ("only",), (), ["open_drawer", "pick", "place_in", "close_drawer"], "drawer_1"),
        ("put the block in the drawer and close it", ("only",), ("only",), ["pick", "place_in", "close_drawer"], "drawer_1"),
    ],
)
def test_the_drawer_that_is_meant_is_opened_where_it_is_shut(text, drawers, opened, acts, target):
    desk = Desk(drawers, opened)
    desk.run(text)
    assert desk.acts() == acts and desk.inside == target


def test_of_several_shut_drawers_one_must_be_named_and_nothing_is_picked():
    desk = Desk(("top", "bottom"))
    assert "say which" in desk.run("put the block in the drawer") and desk.acts() == []


def test_a_drawer_that_does_not_open_gets_nothing_and_that_is_said():
    desk = Desk(fails="grasp_failed")
    assert "it does not come" in desk.run("put the block in the drawer") and desk.acts() == ["open_drawer"]


def test_a_drawer_that_does_not_open_is_said_though_another_one_does():
    desk = Desk(("top", "bottom"), stuck=("bottom",))
    said = desk.run("open the bottom drawer, then put the block in the top drawer")
    assert desk.acts() == ["open_drawer", "open_drawer", "pick", "place_in"] and desk.inside == "drawer_1"
    assert "open the drawer (bottom) failed: it does not come" in said


def test_the_lid_that_is_meant_is_closed():
    desk = Desk(lids=("blue", "green"))
    assert desk.run("close the green box").startswith("The lid of the green box") and ("close_lid", {"object_id": "box_3"}) in desk.calls
    assert "say which" in Desk(lids=("blue", "green")).run("shut the lid")
    assert "no lid that stands open" in Desk().run("close the lid")


def test_of_lids_that_are_alike_the_one_in_reach_is_closed():
    """Furniture of seed 21: a blue thing at the edge of the desk looked like a second blue box with an open lid."""
    desk = Desk(lids=("blue", "green"), far=("box_2",))
    assert "is shut" in desk.run("close the lid") and ("close_lid", {"object_id": "box_3"}) in desk.calls


@pytest.mark.parametrize("seen_later", [True, False])
def test_nothing_elsewhere_is_the_handle_of_a_drawer_that_stands_open(seen_later):
    """Furniture of seed 26: a corner of a blue box passed for a handle, that of the drawer was not seen, and the box was pushed for it."""
    desk = Desk(opened=("only",))
    handles, looks = desk.find_handles, []

    def find_handles():
        looks.append(True)
        corner = {"object_id": "block_1", "position": [0.1, -0.1, 0.03], "side": "side", "off_middle": 0.9, "size": [0.03] * 3}
        own = handles().data["handles"] if seen_later and len(looks) > 1 else []
        return CallResult(True, {"handles": [corner, *own], "open_lids": []})

    desk.find_handles = find_handles
    said = desk.run("close the drawer")
    assert len(looks) == 2 and desk.acts() == (["close_drawer"] if seen_later else [])
    assert not desk.opened if seen_later else "no handle that may be meant" in said


def test_of_what_sticks_out_of_an_open_drawer_the_farthest_from_its_case_is_its_handle():
    """Furniture of seeds 25 and 26: the block in the drawer stuck out of it as well."""
    desk = Desk(opened=("only",))
    handles = desk.find_handles

    def find_handles():
        own = handles().data["handles"]
        return CallResult(True, {"handles": [{**own[0], "position": [FRONT + 0.02, 0.22, 0.05]}, *own], "open_lids": []})

    desk.find_handles = find_handles
    desk.run("close the drawer")
    (shut,) = [arguments for tool, arguments in desk.calls if tool == "close_drawer"]
    assert shut["handle"][0] > FRONT + OUT
