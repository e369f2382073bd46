"""What is wanted: instructions as goals, phrases as objects, questions back, and the answer at the end."""

from __future__ import annotations

from dataclasses import asdict
from typing import Annotated, Any

from pydantic import Field
from typing_extensions import TypedDict

from deskhand.errors import DeskhandError
from deskhand.etp.tool import ToolContext, tool
from deskhand.language.intents import Impossible, Intent, Leave, Place, Release, Tidy, Tower, Unclear
from deskhand.language.parser import parse
from deskhand.language.referring import answered, best_question, chosen, fitting, read_phrase, relaxations
from deskhand.language.resolve import name_of
from deskhand.planning.goals import make_goals
from deskhand.tools.looking import last_look
from deskhand.tools.objects import objects_data
from deskhand.tools.reasoning.answers import Unsupported, unsupported
from deskhand.world.spatial import where

Phrase = Annotated[str, Field(min_length=1, max_length=200, description="words for an object, for example 'the small red block left of the bin'")]


class Condition(TypedDict):
    """As check_goal takes it."""

    object_id: str
    relation: str
    target_id: str


class Understood(TypedDict):
    """What an instruction asks for."""

    understood: Annotated[bool, Field(description="true when every clause means something")]
    question: Annotated[bool, Field(description="it only asks; nothing shall move")]
    stop: Annotated[bool, Field(description="it says stop")]
    intents: Annotated[list[dict[str, Any]], Field(description="one a clause: kind, and what it is about")]
    goals: Annotated[list[Condition], Field(description="conditions for check_goal, about objects of the last look; empty without a look")]
    problems: Annotated[list[str], Field(description="what was not understood, is not there, or cannot be done")]
    notes: Annotated[list[str], Field(description="what was assumed")]


class Candidate(TypedDict):
    """An object that fits, and how to tell it from others."""

    object_id: str
    description: str


class Resolved(TypedDict):
    """What a phrase refers to."""

    object_ids: Annotated[list[str], Field(description="empty when nothing fits or when it is ambiguous")]
    ambiguous: Annotated[bool, Field(description="true: one is meant and several fit; ask with ask_which")]
    candidates: list[Candidate]
    reason: str


class Asked(TypedDict):
    """A question to the person, or what the answer leaves."""

    question: Annotated[str, Field(description="for the person; empty when it is settled")]
    answers: Annotated[list[str], Field(description="what the person may say")]
    object_ids: Annotated[list[str], Field(description="what is left of the candidates")]
    settled: bool


class Proposal(TypedDict):
    """Objects that nearly fit."""

    object_ids: list[str]
    changed: Annotated[str, Field(description="what of the phrase was let go or read otherwise")]
    cost: Annotated[float, Field(description="how much was let go: below 1 spelling, 1 a shade, 2 a word, 3 the kind")]


class Repaired(TypedDict):
    """How a phrase that fits nothing may have been meant."""

    repaired: Annotated[bool, Field(description="true: one proposal with one object is much the nearest")]
    object_ids: list[str]
    proposals: list[Proposal]
    remembered: Annotated[list[str], Field(description="objects of the memory that fit, with where they were; not seen now")]


class Answer(TypedDict):
    """The answer and what is not borne out."""

    answer: str
    supported: Annotated[bool, Field(description="true: all that it says of objects can be seen in the last look")]
    unsupported: list[Unsupported]


@tool(
    group="reasoning",
    unit="language_and_intent",
    when_to_use="At the start, to turn a person's instruction into goal conditions and see what in it is unclear, impossible or about "
    "objects that are not there.",
    limits="A grammar for desk tasks (put, tidy, sort, stack, leave, build, ask), in English; what it does not know it names instead of "
    "guessing. Goals need a look.",
    examples=[
        ("Parse the instruction of a person into goals", {"instruction": "put the red block and the pen into the bin, but leave the cup"}),
        ("What does the user want: is it a question or a command?", {"instruction": "how many blocks are there?"}),
    ],
    failures=[("Nothing was said", {"instruction": ""}, "invalid_arguments")],
)
def parse_instruction(ctx: ToolContext, instruction: Annotated[str, Field(min_length=1, max_length=2000, description="as it was said")]) -> Understood:
    """Parse an instruction in plain words into intents and goal conditions, with what is unclear, missing or assumed."""
    said = parse(instruction)
    objects = objects_data(ctx.belief.scene, arm=ctx.robot.arm) if ctx.belief.scene is not None else []
    tasks = [item for item in said.intents if isinstance(item, Place | Tidy | Leave | Tower | Release)]
    made = make_goals(tasks, objects) if objects and tasks else None
    problems = [f"not understood: {item.words!r} {item.why}".strip() for item in said.intents if isinstance(item, Unclear)]
    problems += [f"cannot be done: {item.words!r} {item.why}".strip() for item in said.intents if isinstance(item, Impossible)]
    if not said.intents:
        problems.append("not understood: no words that I know")
    understood = not problems
    problems += [text for _, text in made.problems] if made else []
    return Understood(
        understood=understood,
        question=said.question,
        stop=said.stop,
        intents=[_intent(item) for item in said.intents],
        goals=[Condition(object_id=goal.object_id, relation=goal.relation, target_id=goal.target_id) for goal in made.goals] if made else [],
        problems=problems,
        notes=made.notes if made else ["nobody has looked yet: no goals"] if tasks and not objects else [],
    )


def _intent(item: Intent) -> dict[str, Any]:
    """An intent as plain data, phrases as their words."""

    def plain(value: Any) -> Any:
        if isinstance(value, dict) and "words" in value:
            return value["words"]
        return [plain(one) for one in value] if isinstance(value, list | tuple) else value

    return {"kind": type(item).__name__.lower(), **{key: plain(value) for key, value in asdict(item).items() if value not in (None, "", (), False)}}


@tool(
    group="reasoning",
    unit="language_and_intent",
    preconditions=("scene_known",),
    when_to_use="To find which object a phrase means ('the pen left of the cup', 'the two biggest blocks'), and whether it could mean several.",
    limits="Objects of the last look; directions as seen from the robot. Says ambiguous instead of choosing when 'the' one fits several. No language model.",
    examples=[
        ("Which object does 'the red block left of the bin' refer to?", {"phrase": "the red block left of the bin"}),
        ("Is 'the cup' ambiguous here?", {"phrase": "the cup"}),
    ],
    failures=[("A relation that cannot be judged", {"phrase": "the block under the moon"}, "not_understood")],
)
def resolve_reference(ctx: ToolContext, phrase: Phrase) -> Resolved:
    """Resolve a referring expression to object ids, and report ambiguity instead of guessing."""
    scene = last_look(ctx)
    objects = objects_data(scene, arm=ctx.robot.arm)
    reading = read_phrase(phrase)
    if reading.ref.pronoun:
        held = ctx.belief.held
        if held is None:
            raise DeskhandError("not_understood", f"{phrase!r} refers to something said before, which this tool does not hear.", hint="Name the object.")
        return Resolved(object_ids=[held.object.id], ambiguous=False, candidates=[], reason="what is held")
    candidates = fitting(reading, objects, scene)
    meant, ambiguous, reason = chosen(reading, candidates)
    known = {item.id: item for item in scene.objects}
    told = [Candidate(object_id=str(item["id"]), description=f"{name_of(item)}; {where(known[str(item['id'])])}") for item in candidates]
    return Resolved(object_ids=[str(item["id"]) for item in meant], ambiguous=ambiguous, candidates=told, reason=reason)


@tool(
    group="reasoning",
    unit="language_and_intent",
    preconditions=("scene_known",),
    when_to_use="When a phrase is ambiguous: gives the one question to ask the person that tells the candidates apart best, and takes the answer.",
    limits="Does not talk to the person itself: pass the question on and call again with the answer. Asks about colour, kind, size, place and what it lies on.",
    examples=[
        ("Ask a clarifying question: which of the two blocks is meant?", {"candidates": ["block_1", "block_2"]}),
        ("The user answered: the left one", {"candidates": ["block_1", "block_2"], "answer": "the left one"}),
    ],
    failures=[("A candidate that is not there", {"candidates": ["cup_99"]}, "unknown_object")],
)
def ask_which(
    ctx: ToolContext,
    candidates: Annotated[list[Annotated[str, Field(max_length=64)]], Field(min_length=1, max_length=20, description="ids between which to choose")],
    answer: Annotated[str, Field(max_length=200, description="what the person said to the question; empty to get the question")] = "",
) -> Asked:
    """Make the clarifying question that tells candidates apart best, or take the answer to it."""
    scene = last_look(ctx)
    wanted = {scene.get(name).id for name in candidates}
    items = [item for item in objects_data(scene, arm=ctx.robot.arm) if item["id"] in wanted]
    if len(items) == 1:
        return Asked(question="", answers=[], object_ids=[items[0]["id"]], settled=True)
    question = best_question(items)
    if not answer:
        return Asked(question=question.text, answers=list(question.answers), object_ids=[item["id"] for item in items], settled=False)
    left = answered(question, answer) or [str(item["id"]) for item in items if item["id"] in answer.lower()]
    left = left or [str(item["id"]) for item in _described(answer, items, ctx)]
    if not left:
        raise DeskhandError("not_understood", f"{answer!r} answers nothing of: {question.text}", hint=f"Answers: {', '.join(question.answers)}.", retry=True)
    rest = [item for item in items if item["id"] in left]
    if len(rest) == 1:
        return Asked(question="", answers=[], object_ids=[rest[0]["id"]], settled=True)
    again = best_question(rest)
    return Asked(question=again.text, answers=list(again.answers), object_ids=[item["id"] for item in rest], settled=False)


def _described(answer: str, items: list[Any], ctx: ToolContext) -> list[Any]:
    """The candidates that an answer describes in other words than the question's."""
    try:
        return list(fitting(read_phrase(answer), items, last_look(ctx)))
    except DeskhandError:
        return []


@tool(
    group="reasoning",
    unit="language_and_intent",
    preconditions=("scene_known",),
    when_to_use="Only when a phrase found nothing (unknown_object, empty object_ids): proposes what was nearly meant: a misspelt word, a "
    "similar colour, another kind, "
    "or an object that is remembered but not seen.",
    limits="Proposes, never decides unless one object is much nearer than all others; ask the person, or say what was assumed. For "
    "ambiguous phrases use ask_which.",
    examples=[("There is no 'orange blok' here: what was meant?", {"phrase": "the orange blok"})],
    failures=[("Nothing was said", {"phrase": ""}, "invalid_arguments")],
)
def grounding_repair(ctx: ToolContext, phrase: Phrase) -> Repaired:
    """Repair the grounding of a phrase that fits nothing: propose objects that nearly fit and say what was let go."""
    scene = last_look(ctx)
    objects = objects_data(scene, arm=ctx.robot.arm)
    proposals = relaxations(phrase, objects, scene)
    clear = bool(proposals) and len(proposals[0].objects) == 1 and (len(proposals) == 1 or proposals[1].cost >= proposals[0].cost + 0.5)
    return Repaired(
        repaired=clear and proposals[0].cost <= 2.0,
        object_ids=[str(proposals[0].objects[0]["id"])] if clear and proposals[0].cost <= 2.0 else [],
        proposals=[Proposal(object_ids=[str(item["id"]) for item in one.objects], changed=one.changed, cost=one.cost) for one in proposals[:6]],
        remembered=_remembered(ctx, phrase, {str(item["id"]) for item in objects}),
    )


def _remembered(ctx: ToolContext, phrase: str, seen: set[str]) -> list[str]:
    """Objects that the memory knows and the last look did not show."""
    if ctx.belief.memory is None:
        return []
    from deskhand.world.history.reader import scene_of

    states = [state for state in ctx.belief.memory.states_now() if state.object_id not in seen]
    scene = scene_of(tuple(state.object for state in states), 0.0)
    try:
        found = {str(item["id"]) for item in fitting(read_phrase(phrase), objects_data(scene, arm=ctx.robot.arm), scene)}
    except DeskhandError:
        return []
    return [f"{where(state.object)} ({state.status})" for state in states if state.object_id in found]


@tool(
    group="reasoning",
    unit="language_and_intent",
    when_to_use="At the very end, to give the final answer to a question or the report on a task, checked against the last look before it is said.",
    limits="Checks what it can read: ids, counts, and what is in, on or beside what, in plain sentences; opinions and reasons are passed on as they are.",
    examples=[
        ("Give the final answer to: how many blocks are on the desk?", {"answer": "There are two blocks. block_1 is on the table."}),
        ("Report that the task is done", {"answer": "Done: pen_1 is in bin_1."}),
    ],
    failures=[("An empty answer", {"answer": ""}, "invalid_arguments")],
)
def final_answer(ctx: ToolContext, answer: Annotated[str, Field(min_length=1, max_length=4000, description="what shall be told to the person")]) -> Answer:
    """Give the final answer, checked: what it says of objects is held against the last look, and what is not borne out is named."""
    wrong = unsupported(answer, ctx.belief)
    return Answer(answer=answer, supported=not wrong, unsupported=wrong)
