"""What is known of objects beside a look, by their ids: how likely outlines are of them, how far their colours are from words, as tools have told; and what
they are called where the words of an instruction leave but one thing for a name.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from deskhand.language.intents import Ref
from deskhand.language.names_apart import names_apart
from deskhand.language.resolve import OUTLINES, TINTS, Seen

OUTLINE_TOOL, COLOR_TOOL = "detect_outlines", "color_grounding"


class Grounded:
    """Of one run.

    Attributes:
        outlines: id -> outline -> how likely.
        tints: id -> colour word -> distance in CIELAB.
    """

    def __init__(self, refs: Sequence[Ref] = ()) -> None:
        """``refs``: the phrases of the instruction."""
        self._refs = tuple(refs)
        self.outlines: dict[str, dict[str, float]] = {}
        self.tints: dict[str, dict[str, float]] = {}

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
        for item in names_apart(self._refs, objects):
            name, more = str(item["id"]), {}
            if name in self.outlines:
                more[OUTLINES] = self.outlines[name]
            if name in self.tints:
                more[TINTS] = self.tints[name]
            told.append({**item, **more} if more else item)
        return told
