"""What was moved, read off calls and results; and the account of earlier tasks that goes to the model."""

from deskhand.agent.moves import History, Spot, first_origins, moves_of, read_history


def seen(name: str, x: float, y: float, support: str = "table", relation: str = "on") -> dict[str, object]:
    return {"id": name, "shape": "box", "size": [0.03, 0.03, 0.03], "position": [x, y, 0.015], "yaw": 0.3, "support": support, "relation": relation}


LOOK = ("detect_objects", {}, {"objects": [seen("block_1", 0.1, 0.2), seen("pen_1", 0.0, 0.3, "tray_1", "in")]})
CALLS = [
    LOOK,
    ("pick", {"object_id": "block_1"}, {}),
    ("place_in", {"container_id": "bin_1"}, {"object_id": "block_1", "seen_as": "block_4", "position": [0.0, -0.28, 0.03]}),
    ("pick", {"object_id": "pen_1"}, {}),
    ("place_at", {"x": 0.05, "y": 0.06, "yaw": 0.0}, {"position": [0.051, 0.059, 0.01]}),
    ("pick", {"object_id": "pen_1"}, {}),
]


def test_each_pick_and_place_is_a_move_from_where_the_object_was_seen() -> None:
    moves = moves_of(CALLS)
    assert [(move.name, move.origin.support, move.goal.support if move.goal else None) for move in moves] == [
        ("block_4", "table", "bin_1"), ("pen_1", "tray_1", "table"), ("pen_1", "table", None),
    ]  # fmt: skip
    assert moves[0].origin == Spot("on", "table", 0.1, 0.2, 0.3)
    assert moves[2].origin == Spot("on", "table", 0.051, 0.059)


def test_what_moved_last_goes_back_first_and_to_where_it_was_at_the_beginning() -> None:
    origins = first_origins(moves_of(CALLS))
    assert list(origins) == ["pen_1", "block_4"] and origins["pen_1"].relation == "in"


def test_earlier_tasks_are_told_and_read_back() -> None:
    history = History()
    assert history.text() == "" and read_history("You operate a robot.") == []
    for number in range(5):
        history.add(f"task {number}", "done", CALLS)
    told = read_history("You operate a robot." + history.text())
    assert [task.said for task in told] == ["task 2", "task 3", "task 4"]
    assert list(told[-1].moves) == moves_of(CALLS)
