"""What the user plainly said to leave alone: "do not touch the phone", "leave the rest", "everything except the laptop". Such words are rules.

Only forms that can mean nothing else count; whatever else a text says is for the model to understand. A rule that is read into words is worse than none:
nobody can then do what was asked.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from deskhand.agent.request_matching import ALL, named
from deskhand.language.resolve import Seen

_CLAUSE = r"((?:(?! and | but | then | because | so | goes? | belongs? | into | onto | should | must | has to | have to )[^.,;:!?\n])+)"
_NOT = r"\b(?:do not|don't|dont|never|must not|mustn't|should not|shouldn't|may not)\s+(?:ever\s+)?"
_TOUCH = r"(?:touch|move|pick up|pick|take|grab|lift|disturb|remove|throw away|throw out|clear away)\s+"
_ALONE = r"\s+(?:alone|untouched|in peace|be|out|(?:where|as|how)\s+(?:it|they|everything)\s*(?:is|are|'s|'re))\b"
_FORMS = (
    re.compile(_NOT + _TOUCH + _CLAUSE),
    re.compile(r"(?<!not )(?<!n't )\b(?:leave|keep|let)\s+" + _CLAUSE.replace("+)", "+?)", 1) + _ALONE),
    re.compile(r"(?<!not )(?<!n't )\bleave\s+((?:the |all the |my |any )?(?:rest|others|other (?:things|objects|ones|stuff)|everything else|anything else))\b"),
    re.compile(r"\b(?:except(?: for)?|excepting|apart from|aside from|(?:all|everything|everybody|anything) but)\s+(?!that\b|when\b|if\b)" + _CLAUSE),
    re.compile(r"(?:,|\band\b|\bbut\b)\s+not\s+((?:the|my|any|these|those)\s(?:(?! and | but | or )[^.,;:!?\n])+)"),
)
_REST = re.compile(r"\b(?:rest|others|else|other (?:things|objects|ones|stuff))\b")


class LeftAlone:
    """Of the words of one run."""

    def __init__(self) -> None:
        self._phrases: list[str] = []

    def told(self, text: str) -> None:
        """More words of the user."""
        text = " ".join(text.lower().replace("\u2019", "'").split())
        self._phrases += [phrase.strip() for form in _FORMS for found in form.finditer(text) for phrase in re.split(r"\b(?:n?or)\b", found.group(1))]

    @property
    def rest(self) -> bool:
        """Whether the user said to leave whatever was not named."""
        return any(_REST.search(phrase) for phrase in self._phrases)

    def holds(self, name: str, objects: Sequence[Seen]) -> bool:
        """Whether a phrase names the object."""
        ids = (named(phrase.split(), "", objects, "", False) for phrase in self._phrases if not _REST.search(phrase))
        return any(found != ALL and name in found for found in ids)
