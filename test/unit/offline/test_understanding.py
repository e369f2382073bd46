"""Wordings -> where objects end up, or which sub-goals come of them, on several symbolic desks."""

import math

import pytest

from deskhand.agent.loop import AgentLoop
from deskhand.agent.records import TaskOutcome
from deskhand.language.resolve import beside
from deskhand.offline.model import OfflineModel
from deskhand.tasks.desk_cleaning import DeskCleaning, settings
from deskhand.tasks.wording import Rule, phrase
from deskhand.testing.symbolic_desk import SymbolicDesk, seen_object
from deskhand.world.relations import Body, stands_beside


def _beside(item, other, relation):
    return stands_beside(Body.seen(item), Body.seen(other), relation)


def office() -> SymbolicDesk:
    return SymbolicDesk(
        seen_object("block_1", "red", position=(0.0, 0.10)),
        seen_object("block_2", "blue", position=(0.05, -0.10), scale=1.2),
        seen_object("block_3", "green", position=(0.10, 0.0), scale=0.9),
        seen_object("ball_1", "yellow", position=(-0.05, 0.05)),
        seen_object("ball_2", "blue", position=(0.0, -0.18)),
        seen_object("cup_1", "red", position=(0.12, 0.12)),
        seen_object("can_1", "green", position=(-0.08, -0.05)),
        seen_object("pen_1", "blue", position=(0.05, 0.16)),
        seen_object("marker_1", "black", position=(0.02, -0.02)),
        seen_object("box_1", "orange", position=(0.14, -0.12)),
        seen_object("eraser_1", "white", position=(-0.10, 0.14)),
        seen_object("sponge_1", "yellow", position=(-0.02, -0.12)),
        seen_object("bin_1", "black", position=(0.0, 0.28)),
        seen_object("tray_1", "white", position=(0.06, -0.29)),
        seen_object("box_open_1", "brown", label="box_open", position=(-0.12, -0.28)),
    )


def playroom() -> SymbolicDesk:
    return SymbolicDesk(
        seen_object("block_1", "red", position=(0.0, 0.10)),
        seen_object("block_2", "red", position=(0.05, -0.10), scale=1.3),
        seen_object("ball_1", "green", position=(0.10, 0.0)),
        seen_object("ball_2", "orange", position=(0.12, 0.10)),
        seen_object("cup_1", "blue", position=(0.12, -0.15), on="table"),
        seen_object("tray_1", "red", position=(0.0, 0.28)),
        seen_object("tray_2", "blue", position=(0.0, -0.28)),
    )


def run(desk: SymbolicDesk, text: str) -> TaskOutcome:
    return AgentLoop(OfflineModel(), desk).run(text)


BLOCKS, BALLS, WRITING = ("block_1", "block_2", "block_3"), ("ball_1", "ball_2"), ("pen_1", "marker_1")
DRINKS, REST = ("cup_1", "can_1"), ("box_1", "eraser_1", "sponge_1")
ALL = (*BLOCKS, *BALLS, *WRITING, *DRINKS, *REST)
BIN, TRAY, BOX = "bin_1", "tray_1", "box_open_1"


def goes(*pairs: tuple[tuple[str, ...], str]) -> dict[str, str]:
    return {name: target for names, target in pairs for name in names}


def others(*names: str) -> tuple[str, ...]:
    return tuple(name for name in ALL if name not in names)


THREE_WAYS = goes((BLOCKS, TRAY), (WRITING, BOX), (others(*BLOCKS, *WRITING), BIN))
RED_OR_NOT = goes((("block_1", "cup_1"), BIN), (others("block_1", "cup_1"), TRAY))
TOYS_OR_NOT = goes(((*BLOCKS, *BALLS), BOX), (others(*BLOCKS, *BALLS), BIN))

PLACEMENTS: list[tuple[str, dict[str, str]]] = [
    # one object, many wordings
    ("put the red block in the tray", goes((("block_1",), TRAY))),
    ("Put the red cube into the tray, please.", goes((("block_1",), TRAY))),
    ("PLACE THE RED BRICK ON THE TRAY", goes((("block_1",), TRAY))),
    ("could you please move the red block to the dish?", goes((("block_1",), TRAY))),
    ("I want you to drop the mug into the waste basket", goes((("cup_1",), BIN))),
    ("would you mind putting the soda can in the trash can", goes((("can_1",), BIN))),
    ("take the tin to the bin", goes((("can_1",), BIN))),
    ("Pick up the rubber and put it in the carton.", goes((("eraser_1",), BOX))),
    ("grab the felt-tip pen and drop it into the bin", goes((("marker_1",), BIN))),
    ("the sponge belongs in the bin", goes((("sponge_1",), BIN))),
    ("the yellow ball should be in the tray", goes((("ball_1",), TRAY))),
    ("make sure that the cup is in the bin", goes((("cup_1",), BIN))),
    ("throw away the can", goes((("can_1",), BIN))),
    ("get rid of the pen", goes((("pen_1",), BIN))),
    ("put block_2 in tray_1", goes((("block_2",), TRAY))),
    ("put block 2 in tray 1", goes((("block_2",), TRAY))),
    ("put the box in the bin", goes((("box_1",), BIN))),
    ("put the box in the open box", goes((("box_1",), BOX))),
    ("put the box in the box", goes((("box_1",), BOX))),
    ("in the tray put the cup", goes((("cup_1",), TRAY))),
    ("put the black thing in the tray", goes((("marker_1",), TRAY))),
    # colour, size and position
    ("put the biggest block in the bin", goes((("block_2",), BIN))),
    ("put the smallest block in the bin", goes((("block_3",), BIN))),
    ("put the leftmost block in the tray", goes((("block_1",), TRAY))),
    ("put the block on the right in the tray", goes((("block_2",), TRAY))),
    ("move the block nearest to you to the tray", goes((("block_1",), TRAY))),
    ("put the farthest ball in the bin", goes((("ball_2",), BIN))),
    ("put the biggest block on the smallest box", goes((("block_2",), "box_1"))),
    # several objects
    ("put the red block and the blue ball in the tray", goes((("block_1", "ball_2"), TRAY))),
    ("put the red and the blue block in the tray", goes((("block_1", "block_2"), TRAY))),
    ("put the red, green and blue blocks into the box", goes((BLOCKS, BOX))),
    ("put all blocks in the tray", goes((BLOCKS, TRAY))),
    ("put every ball into the bin", goes((BALLS, BIN))),
    ("both balls go in the bin", goes((BALLS, BIN))),
    ("put the toys in the box", goes(((*BLOCKS, *BALLS), BOX))),
    ("put the drinkware in the tray and the writing tools in the box", goes((DRINKS, TRAY), (WRITING, BOX))),
    ("put the stationery in the box", goes(((*WRITING, "eraser_1"), BOX))),
    ("put everything blue in the bin", goes((("block_2", "ball_2", "pen_1"), BIN))),
    ("put the yellow things in the tray", goes((("ball_1", "sponge_1"), TRAY))),
    ("put the cup in the bin and the pen in the tray", goes((("cup_1",), BIN), (("pen_1",), TRAY))),
    ("put the cup in the bin; then put the pen in the tray", goes((("cup_1",), BIN), (("pen_1",), TRAY))),
    ("First put the cup in the bin. After that, the pen goes into the tray.", goes((("cup_1",), BIN), (("pen_1",), TRAY))),
    ("put the red block in the tray and the green one", goes((("block_1", "block_3"), TRAY))),
    ("put the small blocks in the tray and the big ones in the bin", goes((("block_1", "block_3"), TRAY), (("block_2",), BIN))),
    ("put the biggest two blocks in the tray", goes((("block_1", "block_2"), TRAY))),
    ("put all things that are not red in the bin", goes((others("block_1", "cup_1"), BIN))),
    ("remove the sponge and put it in the bin", goes((("sponge_1",), BIN))),
    ("put the block next to the yellow ball in the tray", goes((("block_1",), TRAY))),
    ("put the green, yellow and red things in the box", goes((("block_3", "can_1", "ball_1", "sponge_1", "block_1", "cup_1"), BOX))),
    # everything, the rest, exceptions
    ("put everything in the bin", goes((ALL, BIN))),
    ("put everything except the cup into the bin", goes((others("cup_1"), BIN))),
    ("put everything in the bin except the cup and the pen", goes((others("cup_1", "pen_1"), BIN))),
    ("put all balls in the bin except the yellow one", goes((("ball_2",), BIN))),
    ("put all the blocks but not the red one in the tray", goes((("block_2", "block_3"), TRAY))),
    ("put everything in the bin, except the cup, which goes on the tray", goes((others("cup_1"), BIN), (("cup_1",), TRAY))),
    ("put the blocks in the tray and everything else into the bin", goes((BLOCKS, TRAY), (others(*BLOCKS), BIN))),
    ("blocks belong in the tray, pens and markers in the box, the rest goes into the bin", THREE_WAYS),
    ("the tray is for blocks, the bin is for everything else", goes((BLOCKS, TRAY), (others(*BLOCKS), BIN))),
    ("use the tray for the blocks and the bin for everything else", goes((BLOCKS, TRAY), (others(*BLOCKS), BIN))),
    ("In the tray, put the blocks; in the bin, put the rest.", goes((BLOCKS, TRAY), (others(*BLOCKS), BIN))),
    ("bin: cans and cups; tray: everything else", goes((DRINKS, BIN), (others(*DRINKS), TRAY))),
    ("balls -> bin, blocks -> tray", goes((BALLS, BIN), (BLOCKS, TRAY))),
    ("put the cubes in the tray, the mugs in the box and leave the rest", goes((BLOCKS, TRAY), (("cup_1",), BOX))),
    ("I'd like the blocks in the tray and the rest in the bin, thanks!", goes((BLOCKS, TRAY), (others(*BLOCKS), BIN))),
    ("Everything red goes into the tray. Everything blue goes into the bin.", goes((("block_1", "cup_1"), TRAY), (("block_2", "ball_2", "pen_1"), BIN))),
    # tidying with rules
    ("Clear the desk: blocks go in the tray, pens and markers in the box, the rest goes into the bin.", THREE_WAYS),
    ("sort the desk: balls to the bin; cups in the tray", goes((BALLS, BIN), (("cup_1",), TRAY))),
    ("Clean up:\n- blocks: tray\n- balls: bin\n- everything else: box", goes((BLOCKS, TRAY), (BALLS, BIN), (others(*BLOCKS, *BALLS), BOX))),
    ("Tidy the desk so that all red things end up in the bin and everything else ends up in the tray.", RED_OR_NOT),
    ("Please tidy up. The toys (blocks and balls) go in the box; all other things go in the bin.", TOYS_OR_NOT),
    ("clean the desk into the bin", goes((ALL, BIN))),
    ("clear everything off the desk into the bin", goes((ALL, BIN))),
    # stacking
    ("stack the red block on the blue block", goes((("block_1",), "block_2"))),
    ("stack the red block on the blue one", goes((("block_1",), "block_2"))),
    ("put the red block on top of the blue block and the green block on the red one", {"block_1": "block_2", "block_3": "block_1"}),
    ("put the green block on the red block and the red block on the blue block", {"block_1": "block_2", "block_3": "block_1"}),
    ("build a tower of the blocks", {"block_1": "block_2", "block_3": "block_1"}),
    ("make a stack with three blocks", {"block_1": "block_2", "block_3": "block_1"}),
]  # fmt: skip


@pytest.mark.parametrize(("text", "expected"), PLACEMENTS)
def test_objects_end_up_where_the_instruction_says_and_nothing_else_moves(text: str, expected: dict[str, str]) -> None:
    desk = office()
    outcome = run(desk, text)
    assert {name: where for name, where in desk.where().items() if where != "table"} == expected
    assert outcome.success, outcome.summary
    assert outcome.code == ""


@pytest.mark.parametrize(
    "text", ["Clean the desk.", "please tidy up", "Could you clear the table?", "clean up this mess", "The desk is a mess. Clean it.", "put everything away"]
)
def test_without_rules_everything_goes_into_some_container(text: str) -> None:
    desk = office()
    outcome = run(desk, text)
    assert outcome.success, outcome.summary
    assert set(desk.where().values()) <= {BIN, TRAY, BOX}


@pytest.mark.parametrize(
    "text", ["clean the desk but leave the cup where it is", "clean the desk, but don't touch the mug", "tidy up everything except the cup"]
)
def test_what_shall_stay_stays(text: str) -> None:
    desk = office()
    outcome = run(desk, text)
    assert outcome.success, outcome.summary
    assert [name for name, where in desk.where().items() if where == "table"] == ["cup_1"]


def test_colours_choose_among_containers() -> None:
    desk = playroom()
    assert run(desk, "the balls go in the blue tray and the blocks in the red tray").success
    assert desk.where() == {"block_1": "tray_1", "block_2": "tray_1", "ball_1": "tray_2", "ball_2": "tray_2", "cup_1": "table"}


def test_where_one_is_meant_and_several_fit_it_asks_and_nobody_there_is_said() -> None:
    desk = playroom()
    outcome = run(desk, "put the block in the blue tray")
    assert outcome.code == "no_answer" and "'the block'" in outcome.summary and "big or small" in outcome.summary
    assert set(desk.where().values()) == {"table"}


def test_a_number_of_objects() -> None:
    desk = playroom()
    assert run(desk, "put two balls in the red tray").success
    outcome = run(desk, "put three blocks in the red tray")
    assert not outcome.success
    assert "only 2" in outcome.summary


def test_first_there_then_elsewhere() -> None:
    desk = playroom()
    outcome = run(desk, "put the cup in the red tray, then put it in the blue tray")
    assert outcome.success
    assert [call for call in desk.calls if call[0] == "place_in"] == [("place_in", {"container_id": "tray_1"}), ("place_in", {"container_id": "tray_2"})]


def test_objects_come_out_of_containers() -> None:
    desk = playroom()
    desk.objects["ball_1"] |= {"support": "tray_1", "relation": "in"}
    desk.objects["block_1"] |= {"support": "tray_1", "relation": "in"}
    assert run(desk, "take the ball out of the red tray and put it in the blue tray").success
    assert desk.where()["ball_1"] == "tray_2"
    assert run(desk, "empty the red tray").success
    assert desk.where()["block_1"] == "table"
    assert run(desk, "take everything out of the blue tray").success
    assert desk.where()["ball_1"] == "table"


def test_a_part_of_the_desk_is_cleared() -> None:
    desk = office()
    assert run(desk, "clear the left side of the desk").success
    right = {name for name, item in office().objects.items() if item["position"][1] <= 0 and not item["is_container"]}
    assert {name for name, where in desk.where().items() if where == "table"} == right


SIDES = [
    ("put the red block to the left of the cup", "left_of"),
    ("place the red cube right of the mug, please", "right_of"),
    ("move the red block in front of the cup", "in_front_of"),
    ("could you set the red block behind the cup", "behind"),
    ("put the red block next to the cup", "near"),
]


@pytest.mark.parametrize(("text", "side"), SIDES)
def test_objects_are_put_beside_others_and_the_check_sees_it(text: str, side: str) -> None:
    desk = office()
    already = _beside(desk.objects["block_1"], desk.objects["cup_1"], side)
    outcome = run(desk, text)
    assert outcome.success, outcome.summary
    assert already or ("place_beside", {"target_id": "cup_1", "side": side}) in desk.calls
    assert _beside(desk.objects["block_1"], desk.objects["cup_1"], side)
    opposite = {"left_of": "right_of", "right_of": "left_of", "in_front_of": "behind", "behind": "in_front_of"}.get(side, "")
    assert not opposite or not _beside(desk.objects["block_1"], desk.objects["cup_1"], opposite)


ACTS = [
    ("stop", [("stop_motion", "reason")]),
    ("STOP!!!", [("stop_motion", "reason")]),
    ("please stop the arm immediately", [("stop_motion", "reason")]),
    ("go home", [("move_home", "")]),
    ("Return to your home position, please.", [("move_home", "")]),
    ("open the gripper", [("open_gripper", "")]),
    ("close your hand", [("close_gripper", "")]),
    ("open the gripper and go home", [("open_gripper", ""), ("move_home", "")]),
]


@pytest.mark.parametrize(("text", "expected"), ACTS)
def test_plain_acts(text: str, expected: list[tuple[str, str]]) -> None:
    desk = office()
    outcome = run(desk, text)
    assert outcome.success, outcome.summary
    assert [(name, next(iter(arguments), "")) for name, arguments in desk.calls] == expected


def test_pick_up_holds_the_object_and_says_so() -> None:
    desk = office()
    outcome = run(desk, "pick up the biggest block")
    assert outcome.success
    assert desk.holding == "block_2"
    assert "block_2" in outcome.summary


def test_a_rule_for_a_kind_that_is_not_there_does_not_stop_the_others() -> None:
    desk = playroom()
    outcome = run(desk, "put the pens in the blue tray and everything else in the red tray")
    assert outcome.success, outcome.summary
    assert "no 'pens'" in outcome.summary
    assert set(desk.where().values()) == {"tray_1"}


def test_nothing_to_do_is_a_success() -> None:
    desk = SymbolicDesk(seen_object("tray_1"), seen_object("bin_1"))
    outcome = run(desk, "clean the desk")
    assert outcome.success
    assert {name for name, _ in desk.calls} == {"detect_objects"}


def test_tidying_needs_a_container() -> None:
    outcome = run(SymbolicDesk(seen_object("block_1")), "clean the desk")
    assert (outcome.success, outcome.code) == (False, "impossible")
    assert "no container" in outcome.summary


def _wordings() -> list[str]:
    import yaml

    from deskhand.types.resources import resource_path

    config = yaml.safe_load(resource_path("config/tasks/desk_cleaning.yaml").read_text())
    rules = [
        Rule("blocks and balls", "tray", ()),
        Rule("writing tools (pens and markers)", "box_open", ()),
        Rule("cups, cans, boxes, erasers and sponges", "bin", ()),
    ]
    objects = [Named(name) for name in ("block", "box")]
    return [phrase(wording, rules, objects) for wording in config["wordings"]]


@pytest.mark.parametrize("seed", range(400, 430))
def test_instructions_of_desk_cleaning_are_followed_on_their_own_desks(seed: int) -> None:
    setting = DeskCleaning().setting(seed)
    colors = {name: tuple(rgb) for name, rgb in settings()["colors"].items()}
    names: dict[str, str] = {}
    objects = []
    for item in setting.world.objects:
        names[item.name] = f"{item.kind}_{sum(name.startswith(item.kind + '_') for name in names.values()) + 1}"
        color = next((color for color, rgb in colors.items() if math.dist(rgb, item.rgb) < 0.25), "gray")
        objects.append(seen_object(names[item.name], color, label=item.kind, position=(item.pose[0, 3], item.pose[1, 3])))
    desk = SymbolicDesk(*objects)
    outcome = run(desk, setting.instruction)
    assert outcome.success, outcome.summary
    assert desk.where() == {names[name]: names[target] for name, target in setting.goal.items()}, setting.instruction


class Named:
    def __init__(self, kind: str) -> None:
        self.name = self.kind = kind


@pytest.mark.parametrize("text", _wordings())
def test_every_wording_of_desk_cleaning_is_followed(text: str) -> None:
    desk = office()
    outcome = run(desk, text)
    assert outcome.success, outcome.summary
    assert desk.where() == goes(((*BLOCKS, *BALLS), TRAY), (WRITING, BOX), ((*DRINKS, *REST), BIN))


@pytest.mark.parametrize(
    ("text", "where"), [("put it in the bin", BIN), ("put it down", "table"), ("now place it on the red block", "block_1"), ("let go", "table")]
)
def test_it_is_what_the_gripper_holds(text: str, where: str) -> None:
    desk = office()
    assert run(desk, "pick up the cup").success
    outcome = run(desk, text)
    assert outcome.success, outcome.summary
    assert (desk.holding, desk.where()["cup_1"]) == ("", where)


@pytest.mark.parametrize(("relation", "place"), [("left_of", (0.0, 0.1)), ("right_of", (0.0, -0.1)), ("behind", (0.1, 0.0)), ("in_front_of", (-0.1, 0.0))])
def test_sideways_words_are_as_seen_from_the_robot(relation: str, place: tuple[float, float]) -> None:
    other, item = ({"position": [0.2 + x, y, 0.02], "size": [0.03, 0.03, 0.03]} for x, y in ((0.0, 0.0), place))
    assert beside(relation, item, other) and not beside(relation, other, item)


def test_what_is_more_to_the_side_than_behind_is_not_behind_already():
    eraser = {"relation": "on", "support": "table", "size": [0.045, 0.022, 0.014], "position": [0.123, 0.003, 0.007]}
    can = {"relation": "on", "support": "table", "size": [0.038, 0.038, 0.066], "position": [0.052, 0.125, 0.033]}
    assert not _beside(eraser, can, "behind")
    assert _beside(eraser, can, "right_of")
