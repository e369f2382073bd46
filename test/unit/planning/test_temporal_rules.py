"""Temporal logic over finite plans: progression against the definition of LTLf, sentences, and violations with their step."""

import numpy as np
import pytest

from deskhand.errors import DeskhandError
from deskhand.planning.rules import read_rule
from deskhand.planning.temporal import first_break, parse_formula, progressed, shown

ATOMS = ("a", "b", "c")


def holds_at(formula, trace, i):
    """The definition (De Giacomo and Vardi 2013), by recursion over positions; shares nothing with progression."""
    kind, *parts = formula
    n = len(trace)
    if kind in ("true", "false"):
        return kind == "true"
    if kind == "atom":
        return parts[0] in trace[i]
    if kind == "not":
        return not holds_at(parts[0], trace, i)
    if kind in ("and", "or"):
        return (all if kind == "and" else any)(holds_at(part, trace, i) for part in parts)
    if kind == "X":
        return i + 1 < n and holds_at(parts[0], trace, i + 1)
    if kind == "N":
        return i + 1 == n or holds_at(parts[0], trace, i + 1)
    if kind in ("F", "G"):
        return (any if kind == "F" else all)(holds_at(parts[0], trace, k) for k in range(i, n))
    f, g = parts
    until = any(holds_at(g, trace, k) and all(holds_at(f, trace, j) for j in range(i, k)) for k in range(i, n))
    if kind == "U":
        return until
    if kind == "W":
        return until or all(holds_at(f, trace, k) for k in range(i, n))
    return not any(not holds_at(g, trace, k) and all(not holds_at(f, trace, j) for j in range(i, k)) for k in range(i, n))


def random_formula(random, depth):
    if depth == 0 or random.random() < 0.2:
        return ("atom", str(random.choice(ATOMS)))
    kind = str(random.choice(["not", "and", "or", "X", "N", "F", "G", "U", "W", "R"]))
    count = 1 if kind in ("not", "X", "N", "F", "G") else 2
    return (kind, *(random_formula(random, depth - 1) for _ in range(count)))


@pytest.mark.parametrize("seed", range(8))
def test_progression_agrees_with_the_definition(seed):
    random = np.random.default_rng(seed)
    for _ in range(120):
        formula = random_formula(random, 4)
        trace = [{name for name in ATOMS if random.random() < 0.5} for _ in range(random.integers(1, 7))]
        broken = first_break(formula, [names.__contains__ for names in trace])
        assert (broken is None) == holds_at(formula, trace, 0), (shown(formula), trace)


@pytest.mark.parametrize("seed", range(4))
def test_after_the_step_that_is_named_nothing_can_save_the_rule(seed):
    random = np.random.default_rng(100 + seed)
    every = [{name for k, name in enumerate(ATOMS) if bits >> k & 1} for bits in range(8)]
    for _ in range(40):
        formula = random_formula(random, 2)
        trace = [every[random.integers(8)] for _ in range(4)]
        broken = first_break(formula, [names.__contains__ for names in trace])
        if broken is None or broken == len(trace):
            continue
        endings = [[], *[[one] for one in every], *[[one, two] for one in every for two in every]]
        assert not any(holds_at(formula, trace[: broken + 1] + ending, 0) for ending in endings), (shown(formula), trace, broken)


def test_text_and_formula_are_the_same():
    random = np.random.default_rng(0)
    for _ in range(100):
        formula = parse_formula(shown(random_formula(random, 4)))
        assert parse_formula(shown(formula)) == formula
    assert parse_formula("a -> b | c") == parse_formula("!a | (b | c)")
    assert parse_formula("a U b U c") == parse_formula("a U (b U c)")
    assert parse_formula("place_in( block_1 , bin_1 )") == ("atom", "place_in(block_1,bin_1)")


@pytest.mark.parametrize("text", ["", "a &", "(a", "a b", "G", "a ? b", "(" * 70 + "a" + ")" * 70, "U a", "x(", "A"])
def test_what_is_no_formula_is_refused(text):
    with pytest.raises(DeskhandError) as caught:
        parse_formula(text)
    assert caught.value.code == "invalid_input"


def steps(*acts):
    return [set(act.split()).__contains__ for act in acts]


CUP, PEN = "pick(cup_1)", "pick(pen_1)"


@pytest.mark.parametrize(
    ("sentence", "kept", "broken", "step"),
    [
        ("Never pick cup_1.", [PEN, "home"], [PEN, CUP], 1),
        ("pick pen_1 before picking cup_1", [PEN, CUP], [CUP, PEN], 0),
        ("do not pick cup_1 until pen_1 is in bin_1", [PEN, "in(pen_1,bin_1)", CUP], [PEN, CUP], 1),
        ("after picking cup_1 always go home", [CUP, "move_home"], [CUP, PEN], 2),
        ("after picking pen_1, you must look", [PEN, "x", "detect_objects"], ["detect_objects", PEN], 2),
        ("right after picking cup_1 always go home", [CUP, "move_home"], [CUP, PEN, "move_home"], 1),
        ("pick cup_1 at most once", [CUP, PEN], [CUP, PEN, CUP], 2),
        ("picking cup_1 at most twice", [CUP, CUP], [CUP, CUP, PEN, CUP], 3),
        ("do not push cup_1 while holding pen_1", ["push(cup_1)", "holding(pen_1)"], ["push(cup_1) holding(pen_1)"], 0),
        ("start with looking", ["detect_objects", PEN], [PEN, "detect_objects"], 0),
        ("end with going home", [PEN, "move_home"], ["move_home", PEN], 2),
        ("at some point check the goal", [PEN, "check_goal"], [PEN], 1),
        ("put pen_1 in bin_1", ["place_in(pen_1,bin_1)"], [PEN], 1),
        ("go home after picking pen_1", [PEN, "move_home"], ["move_home", PEN], 2),
    ],
)
def test_sentences_mean_what_they_say(sentence, kept, broken, step):
    formula = read_rule(sentence).formula
    assert first_break(formula, steps(*kept)) is None, shown(formula)
    assert first_break(formula, steps(*broken)) == step, shown(formula)


def test_words_for_objects_are_grounded_in_what_is_seen_and_others_refused():
    seen = [
        {"id": f"{label}_1", "label": label, "color": color, "size": [0.04] * 3, "position": [0, 0, 0]} for label, color in (("cup", "red"), ("pen", "blue"))
    ]
    rule = read_rule("never pick the red cup", seen)
    assert shown(rule.formula) == "G !pick(cup_1)" and "cup_1" in rule.note
    with pytest.raises(DeskhandError, match="banana") as caught:
        read_rule("never pick the banana", seen)
    assert caught.value.code == "unknown_object"
    with pytest.raises(DeskhandError) as caught:
        read_rule("the sky shall be blue")
    assert caught.value.code == "not_understood"


def test_a_long_rule_over_a_long_plan_stays_small():
    formula = parse_formula(" & ".join(f"G({a} -> F {b})" for a in ATOMS for b in ATOMS))
    random = np.random.default_rng(1)
    for _ in range(200):
        names = {name for name in ATOMS if random.random() < 0.4}
        formula = progressed(formula, names.__contains__, False)
        assert len(shown(formula)) < 2000
