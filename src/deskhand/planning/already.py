"""Whether a desk, as a look shows it, is already as an instruction wants it, where that is no matter of sub-goals: room, groups, conditions."""

from __future__ import annotations

from collections.abc import Sequence

from deskhand.language.answers import is_so
from deskhand.language.intents import Clear, If, Instruction, Intent, Sort
from deskhand.language.resolve import Seen, is_receptacle, kind, resolve
from deskhand.planning.room import overlaps, room_in


def all_so(instruction: Instruction, objects: Sequence[Seen]) -> bool:
    """Whether all that the instruction asks for is so; False where this cannot be told."""
    return bool(instruction.intents) and all(is_already(item, objects) for item in instruction.intents)


def is_already(intent: Intent, objects: Sequence[Seen]) -> bool:
    """Whether the room that is wanted is free, there is but one of each group, or the condition asks for nothing."""
    if isinstance(intent, Clear):
        return not any(overlaps(item, room_in(intent)) for item in objects)
    if isinstance(intent, Sort):
        items = [item for ref in intent.objects for item in resolve(ref, objects, "object").objects if not is_receptacle(item)]
        groups = [str(item.get("color")) if intent.by == "color" else kind(item) for item in items]
        containers = sum(is_receptacle(item) for item in objects)  # where there are enough, each group gets one
        return bool(items) and len(set(groups)) == len(groups) > containers
    if isinstance(intent, If):
        so = is_so(intent.condition, objects)
        return so is not None and not (intent.then if so else intent.otherwise)
    return False


def told(intent: Intent) -> str:
    """What to say of it."""
    if isinstance(intent, Clear):
        return f"There is room in the {intent.region} already: I see nothing there."
    return f"There is but one of each {'colour' if isinstance(intent, Sort) and intent.by == 'color' else 'kind'}: they are apart already."
