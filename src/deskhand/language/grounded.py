"""What is known of objects beside a look, by their ids: how likely outlines are of them, how far their colours are from words, as tools have told; and what
they are called where the words of an instruction leave but one thing for a name, or name what nothing is called by.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from deskhand.language.coverage import phrases_of
from deskhand.language.intents import Intent, Ref
from deskhand.language.names_apart import names_apart
from deskhand.language.resolve import OUTLINES, TINTS, Seen
from deskhand.language.supposed import Supposed, rules_of, seen_of, suppose
from deskhand.language.supposed import put as put_supposed

OUTLINE_TOOL, COLOR_TOOL = "detect_outlines", "color_grounding"


class Grounded:
    """Of one run.

    Attributes:
        outlines: id -> outline -> how likely.
        tints: id -> colour word -> distance in CIELAB.
        supposed: id -> what it is taken for, since the words name it and nothing else is that.
    """

    def __init__(self, intents: Sequence[Intent] = ()) -> None:
        """``intents``: what the instruction asks for."""
        self._refs = tuple(ref for item in intents for ref in phrases_of(item))
        self._moved, self._anyway = rules_of(intents)
        self._known: set[Ref] = set()
        self.outlines: dict[str, dict[str, float]] = {}
        self.tints: dict[str, dict[str, float]] = {}
        self.supposed: dict[str, Supposed] = {}

    def heard(self, tool: str, arguments: Mapping[str, Any], data: Any) -> bool:
        """A tool has answered well; whether it told anything of objects."""
        if not isinstance(data, Mapping):
            return False
        if tool == OUTLINE_TOOL and data.get("outlines"):
            self.outlines |= {str(row["object_id"]): dict(row["likely"]) for row in data["outlines"] if row["object_id"]}
            return True
        if tool == COLOR_TOOL and data.get("ranked"):
            for row in data["ranked"]:
                self.tints.setdefault(str(row["object_id"]), {})[str(arguments["color"]).strip().lower()] = float(row["distance"])
            return True
        return False

    def put(self, objects: Sequence[Seen]) -> list[Seen]:
        """The objects with what is known of them."""
        told = []
        apart = put_supposed(self.supposed, names_apart(self._refs, objects))
        new = {one.object_id: one for one in suppose(self._moved, self._anyway, apart, self._known) if one.object_id not in self.supposed}
        self.supposed |= new
        self._known |= seen_of(self._moved, apart)
        for item in put_supposed(new, apart):
            name, more = str(item["id"]), {}
            if name in self.outlines:
                more[OUTLINES] = self.outlines[name]
            if name in self.tints:
                more[TINTS] = self.tints[name]
            told.append({**item, **more} if more else item)
        return told
