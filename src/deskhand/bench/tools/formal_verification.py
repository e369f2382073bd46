"""Scenarios of the unit formal_verification."""

from __future__ import annotations

from typing import Any

import numpy as np

from deskhand.bench.tools.base import Measured, scenario
from deskhand.bench.tools.desk import ScenarioDesk
from deskhand.bench.tools.worlds import bare, objects

ATOMS = ("detect_objects", "move_home", "open_gripper")


def holds(formula: tuple[Any, ...], trace: list[str], at: int) -> bool:
    """The definition of LTLf by recursion over positions."""
    kind, *parts = formula
    left = range(at, len(trace))
    if kind == "atom":
        return bool(trace[at] == parts[0])
    if kind == "!":
        return not holds(parts[0], trace, at)
    if kind == "X":
        return at + 1 < len(trace) and holds(parts[0], trace, at + 1)
    if kind in "FG":
        return (any if kind == "F" else all)(holds(parts[0], trace, k) for k in left)
    if kind == "U":
        return any(holds(parts[1], trace, k) and all(holds(parts[0], trace, j) for j in range(at, k)) for k in left)
    return (all if kind == "&" else any)(holds(part, trace, at) for part in parts)


def drawn(random: np.random.Generator, depth: int) -> tuple[Any, ...]:
    """A random formula."""
    kind = str(random.choice(["atom", "!", "X", "F", "G", "U", "&", "|"])) if depth else "atom"
    if kind == "atom":
        return "atom", str(random.choice(ATOMS))
    return (kind, *(drawn(random, depth - 1) for _ in range(1 if kind in "!XFG" else 2)))


def text(formula: tuple[Any, ...]) -> str:
    """As check_plan_rules takes it."""
    kind, *parts = formula
    if kind == "atom":
        return str(parts[0])
    return f"{kind} ({text(parts[0])})" if len(parts) == 1 else f"({text(parts[0])}) {kind} ({text(parts[1])})"


@scenario(
    tool="check_plan_rules",
    name="against_the_definition",
    situation="240 random LTLf formulas over 12 random plans: same verdicts as by definition?",
    world=bare,
)
def against_the_definition(desk: ScenarioDesk) -> Measured:
    random, agree = desk.random, 0
    for _ in range(12):
        trace = [str(random.choice(ATOMS)) for _ in range(random.integers(1, 8))]
        formulas = [drawn(random, 3) for _ in range(20)]
        rules = [text(formula) if formula[0] != "atom" else f"({text(formula)})" for formula in formulas]
        checked = desk.call("check_plan_rules", {"steps": [{"tool": name, "arguments": {}} for name in trace], "rules": rules})["rules"]
        agree += sum(item["holds"] == holds(formula, trace, 0) for item, formula in zip(checked, formulas, strict=True))
    return Measured(agree / 240, "share of the verdicts that agree", equal=1.0)


@scenario(tool="check_plan_rules", name="step_named", situation="Six rules in words, each broken at a step that is known: is that step named?")
def step_named(desk: ScenarioDesk) -> Measured:
    ids = desk.look()
    plan = [
        {"tool": "pick", "arguments": {"object_id": ids["red"]}},
        {"tool": "place_in", "arguments": {"container_id": ids["bin"]}},
        {"tool": "pick", "arguments": {"object_id": ids["green"]}},
        {"tool": "place_in", "arguments": {"container_id": ids["bin"]}},
    ]
    rules = {
        "never touch the green block": 3,
        "start with looking": 1,
        f"do not put {ids['green']} in {ids['bin']} until {ids['red']} is on the table": 4,
        "right after picking the red block always go home": 2,
        "pick something at most once": 3,
        "end with going home": None,
    }
    checked = desk.call("check_plan_rules", {"steps": plan, "rules": list(rules)})["rules"]
    right = [not item["holds"] and item["step"] == step for item, step in zip(checked, rules.values(), strict=True)]
    return Measured(sum(right) / len(right), "share of the steps that are named right", equal=1.0)


@scenario(
    tool="verify_action",
    name="in_the_hand_or_not",
    situation="After a pick, after the object was taken out of the hand, and after a place, against the truth.",
)
def in_the_hand_or_not(desk: ScenarioDesk) -> Measured:
    ids = desk.look()
    right, place = [], desk.free_pose("green")[:2, 3].round(3).tolist()
    desk.call("pick", {"object_id": ids["green"]})
    right.append(desk.call("verify_action", {"act": "pick", "object_id": ids["green"]})["done"] == ("green" in desk.simulation.truth().in_hand))
    desk.call("place_at", {"x": place[0], "y": place[1]})
    done = desk.call("verify_action", {"act": "place_at", "object_id": ids["green"], "position": place})["done"]
    right.append(done == (float(np.linalg.norm(desk.truth("green").pose[:2, 3] - place)) <= 0.01))
    desk.shift("green", desk.free_shift("green", 0.05, 0.2))
    right.append(not desk.call("verify_action", {"act": "place_at", "object_id": ids["green"], "position": place})["done"])
    right.append(not desk.call("verify_action", {"act": "pick", "object_id": ids["green"]})["done"])
    return Measured(sum(right) / len(right), "share of the verdicts that are true", equal=1.0)


@scenario(
    tool="refine_plan",
    name="shuffled",
    situation="Ten plans of six steps in a random order with two rules: can each corrected plan be done, and does it keep the rules?",
)
def shuffled(desk: ScenarioDesk) -> Measured:
    ids = desk.look()
    random, sound = desk.random, 0
    names = ("red", "green", "blue")
    goals = [{"object_id": ids[name], "relation": "in", "target_id": ids["bin"]} for name in names]
    for _ in range(10):
        steps = [
            step
            for name in names
            for step in ({"tool": "pick", "arguments": {"object_id": ids[name]}}, {"tool": "place_in", "arguments": {"container_id": ids["bin"]}})
        ]
        steps = [steps[int(i)] for i in random.permutation(len(steps))]
        first, last = (str(name) for name in random.permutation(names)[:2])
        rules = [f"!pick({ids[last]}) W pick({ids[first]})", "end with going home"]
        answer = desk.call("refine_plan", {"steps": steps, "rules": rules, "goals": goals})
        acts = [(step["tool"], next(iter(step["arguments"].values()), "")) for step in answer["steps"]]
        held, inside, kept = "", [], True
        for tool, name in acts:
            kept &= (tool != "pick" or not held) and (tool != "place_in" or bool(held))
            inside += [held] if tool == "place_in" else []
            held = str(name) if tool == "pick" else "" if tool == "place_in" else held
        order = [name for tool, name in acts if tool == "pick"]
        kept &= sorted(inside) == sorted(ids[name] for name in names) and order.index(ids[first]) < order.index(ids[last]) and acts[-1][0] == "move_home"
        sound += bool(kept and answer["satisfied"])
    return Measured(sound / 10, "share of the corrected plans that are sound", equal=1.0)


@scenario(
    tool="check_goal",
    name="true_and_false",
    situation="A hand has put one object into the bin and one beside it: eight conditions, true and false.",
    world=objects,
)
def true_and_false(desk: ScenarioDesk) -> Measured:
    ids = desk.look()
    inside = desk.truth("bin").pose.copy()
    inside[2, 3] = 0.03
    desk.put("red", inside, 1.0)
    desk.shift("green", desk.free_shift("green", 0.05, 0.15))
    ids |= desk.look()
    table = [(name, "on", "table", name != "red") for name in ("red", "green", "blue", "can")]
    rows = [*table, *((name, "in", "bin", name == "red") for name in ("red", "green", "blue", "can"))]
    right = 0
    for name, relation, target, true in rows:
        condition = {"object_id": ids[name], "relation": relation, "target_id": ids.get(target, target)}
        right += desk.call("check_goal", {"conditions": [condition]})["satisfied"] == true
    return Measured(right / len(rows), "share of the verdicts that are true", equal=1.0)


@scenario(tool="check_goal", name="exact_places", situation="Three blocks where they stand and 2 cm beside: six conditions with a position, to 10 mm.")
def exact_places(desk: ScenarioDesk) -> Measured:
    ids = desk.look()
    right = 0
    for name in ("red", "green", "blue"):
        for shift in (0.0, 0.02):
            place = desk.truth(name).pose[:2, 3] + [shift, 0.0]
            condition = {"object_id": ids[name], "relation": "on", "target_id": "table", "position": place.round(4).tolist()}
            right += desk.call("check_goal", {"conditions": [condition]})["satisfied"] == (shift == 0.0)
    return Measured(right / 6, "share of the verdicts that are right", equal=1.0)


@scenario(tool="verify_action", name="home_and_fingers", situation="The arm at home and not, the fingers open and closed, without a look.", world=bare)
def home_and_fingers(desk: ScenarioDesk) -> Measured:
    def done(act: str) -> bool:
        return bool(desk.call("verify_action", {"act": act})["done"])

    right = [done("move_home"), done("open_gripper"), not done("close_gripper")]
    desk.call("close_gripper")
    desk.call("execute_plan", {"plan_id": desk.call("plan_motion", {"position": [0.05, 0.0, 0.2]})["plan_id"]})
    right += [not done("move_home"), not done("open_gripper"), done("close_gripper")]
    return Measured(sum(right) / len(right), "share of the verdicts that are true", equal=1.0)


@scenario(tool="refine_plan", name="nothing_to_correct", situation="Three sound plans: is each left as it is?")
def nothing_to_correct(desk: ScenarioDesk) -> Measured:
    ids = desk.look()
    plans = [[("pick", {"object_id": ids[name]}), ("place_in", {"container_id": ids["bin"]}), ("move_home", {})] for name in ("red", "green", "blue")]
    changed = 0
    for plan in plans:
        steps = [{"tool": tool, "arguments": arguments} for tool, arguments in plan]
        answer = desk.call("refine_plan", {"steps": steps, "rules": ["end with going home", "never touch the can"]})
        changed += answer["steps"] != steps or bool(answer["rounds"]) or not answer["satisfied"]
    return Measured(float(changed), "plans that were changed", equal=0.0)
