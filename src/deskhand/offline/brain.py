"""What the offline brain does with an instruction: a script that asks for one tool call at a time and reads its result.

It is a generator, so that it reads like a plan and can be replayed from any conversation (models/offline.py). It knows the
instruction, the names of the tools offered and the results, nothing else.
"""

from __future__ import annotations

import re
from collections.abc import Generator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import replace
from typing import Any

from deskhand.agent.controls import ASK_USER, FINISH
from deskhand.agent.moves import Earlier, Spot, first_origins, moves_of
from deskhand.errors import DeskhandError
from deskhand.language.answers import CAPABILITIES, answer, is_so, not_seen, unheard_of
from deskhand.language.corrections import correct
from deskhand.language.coverage import phrases_of
from deskhand.language.intents import (
    Act,
    Ask,
    Build,
    Hand,
    Help,
    If,
    Imitate,
    Impossible,
    Insert,
    Instruction,
    Intent,
    Leave,
    Operate,
    Pick,
    Place,
    Ref,
    Tidy,
    Tower,
    Unclear,
    Undo,
    Weigh,
    Wipe,
)
from deskhand.language.parser import parse
from deskhand.language.resolve import listing, resolve
from deskhand.offline.arranging import Arranging
from deskhand.offline.building import Building
from deskhand.offline.clarification import Asking
from deskhand.offline.drawers import into_drawers
from deskhand.offline.imitating import imitating
from deskhand.offline.inserting import inserting
from deskhand.offline.layouts import LAYOUTS, Layouts
from deskhand.offline.operating import operating
from deskhand.offline.placing import Placing
from deskhand.offline.script import Call, CallResult, Script, TaskEnd, Work, planned
from deskhand.offline.task_executive import TaskExecutive
from deskhand.offline.weighing import Weighing
from deskhand.offline.wiping import wiping
from deskhand.planning import already

_GO_ON = re.compile(r"\b(?:go on|continue|carry on|yes|as before|nothing|proceed)\b")
ROUNDS = 3
"""How often the whole goal is taken up again after a look showed that it is not met."""


class Brain:
    """One instruction; ``script()`` is the generator. ``earlier`` are the tasks before it, as every model is told of them."""

    def __init__(self, text: str, tools: AbstractSet[str], earlier: Sequence[Earlier] = ()) -> None:
        self._instruction: Instruction = parse(text)
        self._tools, self._earlier = tools, earlier
        self._notes: list[str] = []
        self._executive = TaskExecutive(tools, self._instruction.intents)
        self._asking, self._layouts = Asking(self._executive), Layouts(self._executive, tools)
        self._answers: list[str] = []
        self._placing = Placing(self._executive, self._asking, tools, self._notes, self._answers)
        self._building: Building | None = None
        self._groups = _groups(self._instruction.intents)
        self._at = 0
        self._calls: list[tuple[str, dict[str, Any], Any]] = []

    def script(self) -> Script:
        """All calls, the last one to ``finish``."""
        script = self._all()
        call = next(script)
        while True:
            heard = yield call
            if heard.ok:
                self._calls.append((call.tool, call.arguments, heard.data))
            try:
                call = script.throw(TaskEnd(heard.told)) if heard.told else script.send(heard)
            except StopIteration:
                return

    def _all(self) -> Script:
        intents = self._instruction.intents
        if self._instruction.stop:
            heard = yield Call("stop_motion", {"reason": f"instruction: {self._instruction.text.strip()[:80]}"})
            yield from _finish(
                "done" if heard.ok else "refused", "Stopped; the arm stays stopped until the stop is reset." if heard.ok else heard.message, heard.code
            )
            return
        if refusal := _refusal(intents):
            yield from _finish("refused", refusal[1], refusal[0])
            return
        self._executive.problems += [("impossible", _cannot(item)) for item in intents if isinstance(item, Impossible)]
        if (yield from self._names_what_nobody_knows()):
            return
        back: tuple[Ref, ...] | None = None
        while True:
            try:
                if back is not None:
                    yield from self._put_back(back)
                    back = None
                while self._at < len(self._groups):
                    yield from self._do(self._groups[self._at])
                    self._at += 1
                yield from self._end()
                return
            except TaskEnd as told:
                back = yield from self._heed(told)
                if back is None:
                    return

    def _names_what_nobody_knows(self) -> Generator[Call, CallResult, bool]:
        """Refuse the whole when a noun of it is no word of the lexicon and no name of anything seen: half an instruction is another instruction."""
        if not _nouns(self._instruction.intents) or not (yield from self._executive.look("I look whether I know all of it by name.")):
            return False
        if strange := self._strange(self._instruction.intents):
            yield from _finish("refused", strange, "unknown_object")
        return bool(strange)

    def _strange(self, intents: Sequence[Intent]) -> str:
        """Which of their nouns nobody knows; empty for none."""
        objects = self._executive.objects
        on = [ref for item in intents for ref in phrases_of(item) if ref.where is not None and ref.where[0] == "on"]
        hidden = [ref.where[1] for ref in on if ref.where is not None and resolve(ref, objects, "any").objects]  # below what is meant, and hardly seen
        said = [
            f"'{ref.words}'"
            for ref in _nouns(intents)
            if ref not in hidden and not resolve(Ref(ref.noun, noun=ref.noun, outline=ref.outline, count=0), objects, "any").objects
        ]
        return f"I see no {', '.join(said)}, or do not know it by that word. I see {listing(self._executive.objects)}." if said else ""

    # ------------------------------------------------------------ what the person says meanwhile

    def _heed(self, told: TaskEnd) -> Generator[Call, CallResult, tuple[Ref, ...] | None]:
        """Take it into account, and what is said meanwhile instead of it; see :meth:`_corrected`."""
        while True:
            try:
                return (yield from self._corrected(" ".join(told.words)))
            except TaskEnd as more:
                told = more

    def _corrected(self, words: str) -> Generator[Call, CallResult, tuple[Ref, ...] | None]:
        """Take a correction into account: the phrases whose objects go back first; None when it ended the task."""
        at = min(self._at, len(self._groups) - 1)
        found = correct(words, self._groups[at], self._placing.pins)
        if found.abandon:
            yield from self._give_up(words)
            return None
        if not found.understood:
            heard = yield Call(
                ASK_USER, {"question": f"I did not understand '{words}'. Shall I go on as before, or what shall I do?", "options": ["go on", "stop"]}
            )
            answer = str(heard.data["answer"]).lower() if heard.ok else "stop"
            if _GO_ON.search(answer):
                return ()
            if answer.startswith("stop"):
                yield from self._give_up(words)
                return None
            return (yield from self._corrected(answer))
        self._at = at
        self._groups[at : at + 1] = _groups(found.intents) or [[]]
        self._executive.problems.clear()
        self._executive.work = Work()
        self._notes.clear()
        return found.back

    def _give_up(self, words: str) -> Script:
        """Put down what is held where it was, and end."""
        held = [move for move in moves_of(self._calls) if move.goal is None]
        if held and (yield from self._executive.look("Nothing more is wanted.")):
            yield from Arranging(self._executive).bring(first_origins(held), "Back to where it was.")
        yield from _finish("partly", f"I ended the task, because you said '{words}'.", "cancelled")

    def _put_back(self, refs: Sequence[Ref]) -> Script:
        """The objects that were chosen for phrases which are no longer meant go back to where they were."""
        names = {name for ref in refs for name in self._placing.pins.get(ref, (ref.id,) if ref.id else ())}
        if not (yield from self._executive.look("That was not meant; where is everything?")):
            return
        names |= {str(item["id"]) for ref in refs if ref not in self._placing.pins for item in resolve(ref, self._executive.objects, "object").objects}
        spots = {name: spot for name, spot in first_origins(moves_of(self._calls)).items() if name in names}
        still = {str(item["id"]): Spot.of(item) for item in self._executive.objects if item["id"] in names and item["id"] not in spots}
        if spots or still:
            yield from Arranging(self._executive).bring({**spots, **still}, "Back to where it was.")

    # ------------------------------------------------------------ one group of intents after the other

    def _do(self, group: list[Intent]) -> Script:
        try:
            yield from self._dispatch(group)
        except DeskhandError as error:  # a question that came to nothing
            self._executive.problems.append((error.code, error.message))

    def _dispatch(self, group: list[Intent]) -> Script:
        first = group[0] if group else Help()
        if not group or isinstance(first, Impossible):
            return
        if isinstance(first, Help):
            self._answers.append(CAPABILITIES)
        elif isinstance(first, Ask):
            yield from self._answer(first)
        elif isinstance(first, Act):
            heard = yield Call(first.tool, {})
            self._executive.count(heard, first.tool)
            if heard.ok:
                self._answers.append(
                    {"move_home": "The arm is home.", "open_gripper": "The gripper is open.", "close_gripper": "The gripper is closed."}[first.tool]
                )
        elif isinstance(first, If):
            yield from self._decide(first)
        elif isinstance(first, Pick | Hand):
            yield from self._placing.hold(first, group)
        elif isinstance(first, Build):
            self._building = Building(self._executive)
            yield from self._building.build(first)
            self._notes += [self._building.note] if self._building.note else []
        elif isinstance(first, Imitate):
            self._building = Building(self._executive)
            yield from imitating(self._executive, self._building, self._tools, self._answers, first)
        elif isinstance(first, Weigh):
            yield from Weighing(self._executive, self._tools, self._answers).do(first)
        elif isinstance(first, Insert):
            yield from inserting(self._executive, self._asking, self._tools, self._answers, first)
        elif isinstance(first, Operate):
            yield from operating(self._executive, self._tools, self._answers, first)
        elif isinstance(first, Wipe):
            yield from wiping(self._executive, self._tools, self._answers, first)
        elif isinstance(first, LAYOUTS) or (isinstance(first, Place) and first.relation == "between"):
            yield from self._lay_out(first)
        else:
            ready = yield from into_drawers(self._executive, self._tools, self._answers, group)
            if ready is not None:
                group[:] = ready
                yield from self._placing.achieve(group)

    def _answer(self, ask: Ask) -> Script:
        if ask.kind == "held":
            heard = yield Call("get_robot_state", {})
            holding = heard.data.get("holding") if heard.ok else None
            self._answers.append(f"I hold {holding}." if holding else "I hold nothing." if heard.ok else heard.message)
        elif ask.kind == "memory":
            yield from self._executive.look("I look at the desk, so that I remember it as it is.")
            heard = yield Call("ask_memory", {"question": ask.words})
            self._answers.append(str(heard.data["answer"]) if heard.ok else heard.message)
        elif (yield from self._executive.look("To answer I look at the desk.")):
            if ask.kind in ("larger", "distance", "nearest"):
                ask = yield from self._asking.settled(ask)
            if missing := not_seen(ask, self._executive.objects):
                self._executive.problems.append(("unknown_object", f"I see no {missing.words.removeprefix('the ')}. I see {listing(self._executive.objects)}."))
            else:
                self._answers.append(answer(ask, self._executive.objects))

    def _decide(self, choice: If) -> Script:
        """Look whether the condition holds; what follows from it takes its place."""
        if not (yield from self._executive.look("I look whether that is so.")):
            return
        about = choice.condition.about
        if about is not None and about.definite:
            asked = yield from self._asking.settled(choice.condition)
            choice = replace(choice, condition=asked, then=_renamed(choice.then, about, asked.about), otherwise=_renamed(choice.otherwise, about, asked.about))
        missing = not_seen(choice.condition, self._executive.objects)
        if said := missing.words.removeprefix("the ") if missing else unheard_of(choice.condition, self._executive.objects):
            why = f"I see no {said}, or do not know it by that word, and cannot tell whether that is so. I see {listing(self._executive.objects)}."
            self._executive.problems.append(("unknown_object", why))
            return
        so = is_so(choice.condition, self._executive.objects)
        if so is None:
            self._executive.problems.append(("not_understood", "The condition is nothing that I can see."))
            return
        intents = choice.then if so else choice.otherwise
        self._answers.append(answer(choice.condition, self._executive.objects))
        refusal = _refusal(intents) if intents else None
        if refusal or (strange := self._strange(intents)):
            self._executive.problems.append(refusal or ("unknown_object", strange))
        elif intents:
            self._groups[self._at + 1 : self._at + 1] = _groups(intents)
        else:
            yield planned([], "So there is nothing to do.")

    def _lay_out(self, intent: Intent) -> Script:
        moves = moves_of(self._calls)
        if not (yield from self._executive.look("I look at what is on the desk.")):
            return
        if not isinstance(intent, Undo):
            intent = yield from self._asking.settled(intent)
            self._placing.pin([intent])
        elif not moves:
            moves = list(next((task.moves for task in reversed(self._earlier) if task.moves), ()))
        if already.is_already(intent, self._executive.objects):
            self._answers.append(already.told(intent))
        yield from self._layouts.do(intent, moves)

    # ------------------------------------------------------------ the end

    def _end(self) -> Script:
        """Claim the end; when the claim is not proved, take up what is unmet, a bounded number of times."""
        for _ in range(ROUNDS):
            problems = self._executive.problems + self._executive.failures() + (self._building.failures() if self._building else [])
            text = " ".join([*self._answers, *(f"({note}.)" for note in dict.fromkeys(self._notes)), *(why for _, why in dict.fromkeys(problems))])
            if problems:
                code = problems[0][0] if not self._executive.done else "task_incomplete"
                yield from _finish("partly" if self._executive.done else "refused", text, code)
                return
            status = "answered" if self._instruction.question else "done"
            heard = yield Call(FINISH, {"status": status, "summary": text or ("There was nothing to do." if not self._executive.done else "")})
            unmet = (heard.data or {}).get("unmet", []) if not heard.ok else []
            if not unmet:
                self._executive.problems.append((heard.code or "task_incomplete", heard.message))
            elif self._building and all(self._building.owns(str(item["object_id"])) for item in unmet):
                yield from self._building.take_up(unmet)
            elif all(self._in_recess(item) for item in unmet):  # to make room for it others would be taken out of their recesses
                yield Call("move_home", {}, "My hand may be before what I look at.")
                yield from self._executive.look("I look at the recesses again.")
            else:
                yield from self._executive.take_up(unmet)
        yield from _finish(
            "partly", " ".join(why for _, why in dict.fromkeys(self._executive.problems)) or "It did not stay where it was put.", "task_incomplete"
        )

    def _in_recess(self, unmet: Mapping[str, Any]) -> bool:
        """Whether what is denied is that something lies in its recess, by whatever id."""
        work = self._executive.work
        return str(unmet["object_id"]) in work.inserted or str(unmet.get("target_id")) in work.boards


def _nouns(intents: Sequence[Intent]) -> list[Ref]:
    """Phrases with a noun that the lexicon does not have, of what moves objects; of a condition only what is chosen counts, and parts ("the lid") are found by
    their handles.
    """
    return [ref for item in intents if not isinstance(item, Ask | Build | If | Operate) for ref in phrases_of(item) if ref.noun]


def _finish(status: str, summary: str, code: str = "") -> Script:
    yield Call(FINISH, {"status": status, "summary": summary, "code": code})


def _renamed(intents: Sequence[Intent], old: Ref, new: Ref | None) -> tuple[Intent, ...]:
    """The intents with a phrase replaced by what it turned out to mean."""
    return tuple(
        replace(item, objects=tuple(new if ref == old and new is not None else ref for ref in item.objects)) if isinstance(item, Place) else item
        for item in intents
    )


def _refusal(intents: Sequence[Intent]) -> tuple[str, str] | None:
    """Code and text when nothing of the instruction can be followed, or a part of it was not understood."""
    unclear = [item for item in intents if isinstance(item, Unclear)]
    if not intents or unclear:
        said = "; ".join(f"'{item.words}'" + (f" ({item.why})" if item.why else "") for item in unclear)
        return "not_understood", f"I did not understand {said or 'what to do'}. {CAPABILITIES}"
    if any(isinstance(item, Impossible) for item in intents):  # half an instruction is another instruction
        return "impossible", " ".join(_cannot(item) for item in intents if isinstance(item, Impossible))
    return None


def _cannot(item: Impossible) -> str:
    return f"I will not do this: '{item.words}': {item.why}." if item.why else f"I cannot do this: '{item.words}'. {CAPABILITIES}"


def _groups(intents: Sequence[Intent]) -> list[list[Intent]]:
    """Placements that are rules of one job stay together; one that moves the same object again, and everything else, comes after."""
    leaves = [item for item in intents if isinstance(item, Leave)]
    groups: list[list[Intent]] = []
    for item in intents:
        if isinstance(item, Leave):
            continue
        job = isinstance(item, Place | Tidy | Tower) and not (isinstance(item, Place) and item.relation == "between")
        if job and groups and isinstance(groups[-1][0], Place | Tidy | Tower) and not _again(item, groups[-1]):
            groups[-1].append(item)
        else:
            groups.append([item])
    for group in groups:
        if isinstance(group[0], Place | Tidy | Tower):
            group += leaves
    return groups


def _again(item: Intent, group: Sequence[Intent]) -> bool:
    """True when ``item`` moves an object that the group has placed already: first there, then here."""
    if not isinstance(item, Place):
        return isinstance(item, Tower)
    named = [ref for other in group if isinstance(other, Place) for ref in other.objects]
    return any(ref in named and not ref.rest for ref in item.objects)
