import pytest
from remembered import Clock, an_object, at, scene

from deskhand.errors import DeskhandError
from deskhand.language.past.query import Kinds, Query, When, ask
from deskhand.language.past.telling import answer
from deskhand.language.past.words import EXAMPLES, parse
from deskhand.world.history.recorder import Memory

BOX = an_object("box_1", "brown", 0.1, 0.0)
WHITE, GREEN = an_object("cup_1", "white", 0.1, 0.15), an_object("cup_2", "green", 0.1, -0.15)  # left is +y
RED, BLUE = an_object("pen_1", "red", -0.05, 0.2), an_object("pen_2", "blue", -0.05, -0.2)
BIN = an_object("bin_1", "black", 0.15, 0.35)
SPONGE = an_object("sponge_1", "yellow", 0.0, 0.0)


def in_bin(item):
    return at(item, 0.15, 0.35, support="bin_1", relation="in")


@pytest.fixture
def memory():
    """A short story: 10 s everything at its place; 20 s the cups change sides; 30 to 40 s the red pen goes into the bin; 50 s it is hidden there."""
    clock = Clock()
    with Memory(clock=clock) as memory:
        memory.looked(scene(10.0, BOX, WHITE, GREEN, RED, BLUE, BIN))
        white, green = at(WHITE, 0.1, -0.2), at(GREEN, 0.1, 0.2)
        memory.looked(scene(20.0, BOX, white, green, RED, BLUE, BIN))
        clock.now = 30.0
        memory.held(RED)
        clock.now = 35.0
        memory.released("pen_1")
        memory.looked(scene(40.0, BOX, white, green, in_bin(RED), BLUE, BIN))
        memory.looked(scene(50.0, BOX, white, green, BLUE, BIN, SPONGE), lambda item: "hidden")
        clock.now = 60.0
        yield memory


def found(memory, query):
    return [match.object.id for match in ask(memory, query)]


CUPS, THE_BOX = Kinds(labels=frozenset({"cup"})), Kinds(labels=frozenset({"box"}))


@pytest.mark.parametrize(
    ("when", "ids"),
    [("now", ["cup_2"]), ("before", ["cup_1"]), ("first", ["cup_1"]), ("last", ["cup_2", "cup_1"]), ("ever", ["cup_2", "cup_1"])],
)
def test_relations_are_asked_at_a_time(memory, when, ids):
    assert found(memory, Query(CUPS, "left_of", THE_BOX, When(when))) == ids


def test_a_match_says_from_when_until_when_and_why(memory):
    (match,) = ask(memory, Query(CUPS, "left_of", THE_BOX, When("before")))
    assert (match.since.stamp, match.until.stamp, match.target_id) == (10.0, 20.0, "box_1") and "150 mm left_of" in match.reason
    assert match.object.position[1] == pytest.approx(0.15)  # as it was


def test_support_relations_and_times(memory):
    the_bin = Kinds(ids=frozenset({"bin_1"}))
    assert found(memory, Query(relation="in", target=the_bin)) == ["pen_1"]  # hidden, and still there
    assert found(memory, Query(relation="in", target=the_bin, seen=True)) == []
    assert found(memory, Query(relation="in", target=the_bin, when=When("at", stamp=25.0))) == []
    assert set(found(memory, Query(relation="on", when=When("first")))) == {"box_1", "cup_1", "cup_2", "pen_1", "pen_2", "bin_1"}
    assert found(memory, Query(relation="on", when=When("before"))) == ["pen_1"]  # the only one that no longer is
    picked = When("before_event", events=frozenset({"held"}), of=Kinds(labels=frozenset({"pen"})))
    assert "pen_1" in found(memory, Query(relation="on", when=picked))


def test_attributes_take_the_words_of_the_lexicon(memory):
    assert found(memory, Query(Kinds(labels=frozenset({"mug"}), colors=frozenset({"white"})))) == ["cup_1"]
    assert found(memory, Query(Kinds(container=True))) == ["bin_1"]
    assert found(memory, Query(Kinds(shapes=frozenset({"cylinder"}), colors=frozenset({"blue"})))) == ["pen_2"]


def test_wrong_questions_are_clear_errors(memory):
    with pytest.raises(DeskhandError, match="valid: on, in") as error:
        ask(memory, Query(relation="above"))
    assert error.value.code == "invalid_input"
    with pytest.raises(DeskhandError, match="nothing is remembered"):
        ask(memory, Query(when=When("at", stamp=3.0)))


WORDS = {
    "the cup that was left of the box before": {"cup_1"},
    "Which cup was to the left of the box before?": {"cup_1"},
    "which cup is left of the box now": {"cup_2"},
    "which mug was right of the box at the start?": {"cup_2"},
    "what was on the desk first": {"box_1", "cup_1", "cup_2", "pen_1", "pen_2", "bin_1"},
    "What is in the bin?": {"pen_1"},
    "what was in the bin 15 seconds ago": {"pen_1"},
    "where did I last see the red pen?": {"pen_1"},
    "where was the red pen before you picked up the red pen": {"pen_1"},
    "where is the sponge": {"sponge_1"},
    "where was the white cup 45 seconds ago": {"cup_1"},
    "what is next to the sponge": {"box_1"},
    "what is behind the bin": set(),
    "what was the red pen in": {"pen_1"},
    "tell me which pens were on the desk before": {"pen_1"},
    "the green thing": {"cup_2"},
    "where was the cup that was left of the box before": {"cup_1"},
}


@pytest.mark.parametrize(("words", "ids"), WORDS.items())
def test_questions_in_words(memory, words, ids):
    told = answer(memory, parse(words, memory.now()))
    assert {match.object.id for match in told.matches} == ids
    assert all(name in told.text for name in ids)


PLACES = {"where did I last see the red pen": (0.15, 0.35), "where was the red pen before": (-0.05, 0.2), "where was the white cup before": (0.1, 0.15)}


@pytest.mark.parametrize(("words", "place"), PLACES.items())
def test_places_of_the_past_are_those_of_the_past(memory, words, place):
    if words.endswith("pen before"):
        words += " you picked up the red pen"
    (match,) = answer(memory, parse(words, memory.now())).matches
    assert match.object.position[:2] == pytest.approx(place)


HAPPENED = {
    "what did you pick up last": [("pen_1", "held")],
    "what happened to the red pen": [("pen_1", kind) for kind in ("added", "held", "released", "placed", "occluded")],
    "what was moved first": [("cup_1", "moved")],
    "when was the green cup moved": [("cup_2", "moved")],
    "has the blue pen been moved?": [],
    "what has changed since you placed the red pen": None,
    "what has changed after you put down the red pen": [("sponge_1", "added"), ("pen_1", "occluded")],
    "what happened before you picked up the red pen": [(name, "added") for name in ("box_1", "cup_1", "cup_2", "pen_1", "pen_2", "bin_1")]
    + [("cup_1", "moved"), ("cup_2", "moved")],
}


@pytest.mark.parametrize(("words", "events"), HAPPENED.items())
def test_what_happened(memory, words, events):
    if events is None:
        with pytest.raises(DeskhandError):
            parse(words, memory.now())
        return
    told = answer(memory, parse(words, memory.now()))
    assert [(event.object_id, event.kind) for event in told.events] == events


def test_an_answer_says_what_is_known_instead_when_nothing_fits(memory):
    assert "pen_1 (red pen)" in answer(memory, parse("where is the banana", 60.0)).text
    assert "cup_1 (white cup)" in answer(memory, parse("which cup was behind the box first", 60.0)).text


@pytest.mark.parametrize("words", ["", "why is the sky blue", "put the cup into the bin", "what was between the cups", "left of", "the weather before"])
def test_what_is_no_such_question_is_not_understood(memory, words):
    try:
        told = answer(memory, parse(words, 60.0))
    except DeskhandError as error:
        assert error.code == "not_understood" and "red pen" in error.hint
    else:
        assert told.matches == () and "Nothing that fits" in told.text


@pytest.mark.parametrize("words", EXAMPLES)
def test_the_questions_of_the_hint_are_understood(memory, words):
    assert answer(memory, parse(words, 60.0)).text
