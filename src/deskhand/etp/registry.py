"""The tools there are: added, searched, found by name."""

from __future__ import annotations

import difflib
import logging
import threading
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from importlib.metadata import EntryPoint, entry_points
from typing import Any

from deskhand.errors import DeskhandError
from deskhand.etp.base import ToolSummary
from deskhand.etp.card import GROUPS, UNITS, Card
from deskhand.etp.meaning import SentenceModel
from deskhand.etp.predicates import check_predicates
from deskhand.etp.ranking import Ranking
from deskhand.etp.tool import FunctionTool, Tool, tool_of
from deskhand.etp.validation import Schema

log = logging.getLogger(__name__)

ENTRY_POINTS = "deskhand.tools"


def _words_only() -> tuple[SentenceModel | None, str]:
    return None, ""


@dataclass(frozen=True)
class Entry:
    """A tool with its compiled schemas."""

    tool: Tool
    inputs: Schema
    outputs: Schema

    @property
    def card(self) -> Card:
        """The tool's card."""
        return self.tool.card


class Registry:
    """Tools by name; safe to use from several threads."""

    def __init__(self, model: Callable[[], tuple[SentenceModel | None, str]] = _words_only) -> None:
        """``model`` gives what the search compares meanings by, or None and why; it is asked at the first search."""
        self._entries: dict[str, Entry] = {}
        self._lock = threading.Lock()
        self._model = model
        self._ranking: Ranking | None = None

    def __len__(self) -> int:
        return len(self._entries)

    def add(self, item: Tool | Callable[..., Any]) -> Card:
        """Add a tool, or a function decorated with ``@tool``.

        Raises:
            DeskhandError: ``config_error`` with the reason: not a tool, a broken card, a name that is taken, an example that does not fit.
        """
        found: Any = tool_of(item) or item
        if not isinstance(getattr(found, "card", None), Card):
            raise DeskhandError("config_error", f"{item!r} is not a tool; decorate the function with @tool(...).")
        entry = _checked(found)
        with self._lock:
            taken = self._entries.get(entry.card.name)
            if taken:
                raise DeskhandError(
                    "config_error", f"there is already a tool {entry.card.name!r} from {taken.card.source}; the one from {entry.card.source} was refused."
                )
            self._entries[entry.card.name] = entry
            self._ranking = None
        return entry.card

    def get(self, name: str) -> Entry:
        """The tool of this name.

        Raises:
            DeskhandError: ``unknown_tool`` with the nearest names.
        """
        entry = self._entries.get(name)
        if entry:
            return entry
        near_names = self.nearest(name)
        advice = f"Did you mean {', '.join(near_names)}?" if near_names else "Search for what you want to do."
        raise DeskhandError("unknown_tool", f"there is no tool {name[:80]!r}.", retry=False, hint=advice)

    def nearest(self, name: str, count: int = 3) -> list[str]:
        """Names that look like ``name``, then tools that its words find."""
        words = str(name)[:80].lower()
        close = difflib.get_close_matches(words, list(self._entries), n=count, cutoff=0.55)
        for hit in self.search(words.replace("_", " "), limit=count):
            if hit.name not in close:
                close.append(hit.name)
        return close[:count]

    def entries(self) -> list[Entry]:
        """All tools, in the order in which they were added."""
        with self._lock:
            return list(self._entries.values())

    def cards(self) -> list[Card]:
        """All cards, by group and unit, then name."""
        order = {unit: index for index, unit in enumerate(unit for units in UNITS.values() for unit in units)}
        return sorted((entry.card for entry in list(self._entries.values())), key=lambda card: (order[card.unit], card.name))

    def search(self, text: str = "", group: str = "", unit: str = "", limit: int = 0) -> list[ToolSummary]:
        """Tools that fit, best first; all in the order of the units when ``text`` is empty.

        :attr:`ranked_by` tells what counts; see ranking.py.

        Raises:
            DeskhandError: ``invalid_input`` for a group or unit that does not exist, with those that do.
        """
        _check_choice("group", group, GROUPS)
        _check_choice("unit", unit, [name for units in UNITS.values() for name in units])
        cards = [card for card in self.cards() if group in ("", card.group) and unit in ("", card.unit)]
        if not text.strip():
            hits = [(card, 0.0) for card in cards]
        else:
            scores = self._ranking_now().scores(text[:2000])
            hits = [(card, scores.get(card.name, 0.0)) for card in cards]
            hits = sorted((hit for hit in hits if hit[1] > 0), key=lambda hit: -hit[1])
        summaries = [ToolSummary(card.name, card.group, card.unit, card.summary, card.effects, round(score, 4)) for card, score in hits]
        return summaries[:limit] if limit > 0 else summaries

    def prepare(self) -> None:
        """Read now what searches need, so that the first one takes no longer than the others."""
        self.search("something to do")

    @property
    def ranked_by(self) -> str:
        """What the search compares: words, or words and meaning with which model; and why not meaning."""
        return self._ranking_now().by

    def _ranking_now(self) -> Ranking:
        with self._lock:
            if self._ranking is None:
                self._ranking = Ranking([entry.card for entry in self._entries.values()], *self._model())
            return self._ranking

    def load_entry_points(self, points: Iterable[EntryPoint] | None = None) -> list[str]:
        """Add the tools of other packages: entry points of the group ``deskhand.tools``.

        An entry point names a decorated function, a list of them, or a module that defines some.

        Returns:
            One line for each that is broken; the others are loaded all the same.
        """
        problems = []
        for point in entry_points(group=ENTRY_POINTS) if points is None else points:
            source = point.dist.name if point.dist else point.value
            try:
                loaded = point.load()
                for item in _tools_in(loaded):
                    self.add(FunctionTool(item.card.model_copy(update={"source": source}), item.function, item.arguments))
            except Exception as error:  # a package of others may fail in any way; it must not take the rest along
                problems.append(f"tools of {source} ({point.name} = {point.value}) were refused: {type(error).__name__}: {error}")
                log.warning("%s", problems[-1])
        return problems


def _tools_in(loaded: Any) -> list[FunctionTool]:
    single = tool_of(loaded)
    if single:
        return [single]
    items = loaded if isinstance(loaded, list | tuple) else list(vars(loaded).values()) if hasattr(loaded, "__dict__") else []
    home = getattr(loaded, "__name__", None)
    found = [(item, tool_of(item)) for item in items]
    tools = [each for item, each in found if each and (isinstance(loaded, list | tuple) or item.__module__ == home)]
    if not tools:
        raise DeskhandError("config_error", f"{loaded!r} is no tool, list of tools or module with tools.")
    return tools


def _checked(tool: Tool) -> Entry:
    """The entry of a tool whose card is sound."""
    card = Card.from_json(tool.card.to_json(), derived=isinstance(tool, FunctionTool))
    inputs, outputs = Schema(card.input_schema), Schema(card.output_schema)
    check_predicates(card)
    for example in card.examples:
        problems = inputs.problems(example.arguments)
        if problems:
            raise DeskhandError("config_error", f"the card of tool {card.name!r} is broken: its example {example.arguments} does not fit: {problems[0]}.")
    for failing in card.failures:
        problems = inputs.problems(failing.arguments)
        if bool(problems) != (failing.code == "invalid_arguments"):
            why = f"do not fit: {problems[0]}" if problems else "fit, so the code cannot be invalid_arguments"
            raise DeskhandError("config_error", f"the card of tool {card.name!r} is broken: the arguments of its failure {failing.situation!r} {why}.")
    return Entry(tool, inputs, outputs)


def _check_choice(what: str, value: str, valid: Iterable[str]) -> None:
    names = list(valid)
    if value and value not in names:
        close = difflib.get_close_matches(value, names, n=3) or names
        raise DeskhandError("invalid_input", f"there is no {what} {value[:60]!r}.", hint=f"Valid: {', '.join(close)}.")
