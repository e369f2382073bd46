"""Linear temporal logic over finite traces (LTLf): parsing, progression, and where a trace breaks a formula.

Source: De Giacomo and Vardi, "Linear Temporal Logic and Linear Dynamic Logic on Finite Traces", IJCAI 2013; progression as in Bacchus and Kabanza,
"Using temporal logics to express search control knowledge for planning", 2000.

Text: atoms such as ``pick(block_1)`` or ``holding``; ``true false``; ``! & | -> <->``; before a formula ``X`` (there is a next step, and there),
``N`` (at the next step, if there is one), ``F`` (at some step from now), ``G`` (at every step from now); between two ``U`` (until, which comes),
``W`` (until, or for ever), ``R`` (release). ``G F p`` on a finite trace says that the last step has p.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence

from deskhand.errors import DeskhandError

Formula = tuple["str | Formula", ...]
"""("atom", text), ("true",), ("false",), ("not", f), ("and" | "or", f, …), ("X" | "N" | "F" | "G", f), ("U" | "W" | "R", f, g)."""
Holds = Callable[[str], bool]
"""Whether an atom holds at a step."""

TRUE: Formula = ("true",)
FALSE: Formula = ("false",)
LONGEST = 2000  # characters of a formula
DEEPEST = 60  # brackets within brackets
_TOKEN = re.compile(r"\s*(<->|->|&&?|\|\|?|!|~|[()]|[a-z][a-z0-9_]*(?:\(\s*[a-z0-9_*]*(?:\s*,\s*[a-z0-9_*]+)*\s*\))?|[XNFGUWR](?![A-Za-z0-9_]))")
_SIGNS = {"and": "&", "or": "|"}
_ARGUMENTS = re.compile(r"\s+")


def parse_formula(text: str) -> Formula:
    """The formula of a text.

    Raises:
        DeskhandError: ``invalid_input`` saying where the text is no formula.
    """
    if len(text) > LONGEST:
        raise DeskhandError("invalid_input", f"the formula is too long ({len(text)} characters; at most {LONGEST}).")
    tokens, at = [], 0
    while text[at:].strip():
        found = _TOKEN.match(text, at)
        if not found:
            raise DeskhandError(
                "invalid_input", f"{text!r} is no formula: {text[at:].strip()[:20]!r} is not understood.", hint="For example: G(pick -> F home)."
            )
        tokens.append(_ARGUMENTS.sub("", found[1]))
        at = found.end()
    reader = _Reader(text, tokens)
    formula = reader.read(0)
    if reader.at < len(tokens):
        raise reader.wrong(f"{tokens[reader.at]!r} is one too many")
    return formula


class _Reader:
    """Recursive descent: <->, then ->, then U W R, then |, then &, then what stands before one formula."""

    def __init__(self, text: str, tokens: Sequence[str]) -> None:
        self.text, self.tokens, self.at, self.depth = text, tokens, 0, 0

    def wrong(self, why: str) -> DeskhandError:
        return DeskhandError("invalid_input", f"{self.text!r} is no formula: {why}.", hint="For example: !place_in(block_1, bin_1) U pick(pen_1).")

    def peek(self) -> str:
        return self.tokens[self.at] if self.at < len(self.tokens) else ""

    def take(self) -> str:
        self.at += 1
        return self.tokens[self.at - 1]

    def read(self, level: int) -> Formula:
        if level == len(_LEVELS):
            return self.one()
        left = self.read(level + 1)
        names, right_first = _LEVELS[level]
        while self.peek() in names:
            name = self.take()
            right = self.read(level if right_first else level + 1)
            left = _joined(name, left, right)
        return left

    def one(self) -> Formula:
        if self.at >= len(self.tokens):
            raise self.wrong("it ends too soon")
        self.depth += 1
        if self.depth > DEEPEST:
            raise self.wrong("it is nested too deeply")
        try:
            token = self.take()
            if token in ("!", "~"):
                return negated(self.one())
            if token in ("X", "N", "F", "G"):
                return (token, self.one())
            if token == "(":
                inside = self.read(0)
                if self.peek() != ")":
                    raise self.wrong("a bracket is not closed")
                self.at += 1
                return inside
            if token in ("true", "false"):
                return (token,)
            if token[0].islower():
                return ("atom", token)
            raise self.wrong(f"{token!r} stands where a formula should begin")
        finally:
            self.depth -= 1


_LEVELS: tuple[tuple[frozenset[str], bool], ...] = (
    (frozenset(("<->",)), True),
    (frozenset(("->",)), True),
    (frozenset(("U", "W", "R")), True),
    (frozenset(("|", "||")), False),
    (frozenset(("&", "&&")), False),
)


def _joined(name: str, left: Formula, right: Formula) -> Formula:
    if name == "->":
        return any_of(negated(left), right)
    if name == "<->":
        return any_of(all_of(left, right), all_of(negated(left), negated(right)))
    if name in ("&", "&&"):
        return all_of(left, right)
    return any_of(left, right) if name in ("|", "||") else (name, left, right)


def negated(formula: Formula) -> Formula:
    """Not ``formula``, simplified a little."""
    if formula == TRUE:
        return FALSE
    if formula == FALSE:
        return TRUE
    return formula[1] if formula[0] == "not" else ("not", formula)  # type: ignore[return-value]


def all_of(*parts: Formula) -> Formula:
    """Their conjunction, flat, without repetitions."""
    return _many("and", TRUE, FALSE, parts)


def any_of(*parts: Formula) -> Formula:
    """Their disjunction, flat, without repetitions."""
    return _many("or", FALSE, TRUE, parts)


def _many(name: str, neutral: Formula, final: Formula, parts: Iterable[Formula]) -> Formula:
    flat: list[Formula] = []
    for part in parts:
        for item in part[1:] if part[0] == name else (part,):
            if item != neutral and item not in flat:
                flat.append(item)  # type: ignore[arg-type]
    if final in flat or any(negated(item) in flat for item in flat):
        return final
    return neutral if not flat else flat[0] if len(flat) == 1 else (name, *flat)


def progressed(formula: Formula, holds: Holds, last: bool) -> Formula:
    """What must hold from the next step on, given what holds at this one; ``last``: there is no next one, so that it is true or false."""
    kind = formula[0]
    if kind in ("true", "false"):
        return formula
    if kind == "atom":
        return TRUE if holds(str(formula[1])) else FALSE
    parts: tuple[Formula, ...] = formula[1:]  # type: ignore[assignment]
    if kind == "not":
        return negated(progressed(parts[0], holds, last))
    if kind in ("and", "or"):
        return (all_of if kind == "and" else any_of)(*(progressed(part, holds, last) for part in parts))
    if kind in ("X", "N"):
        return (FALSE if kind == "X" else TRUE) if last else parts[0]
    now = [progressed(part, holds, last) for part in parts]
    again = (TRUE if kind in ("G", "W", "R") else FALSE) if last else formula
    if kind == "F":
        return any_of(now[0], again)
    if kind == "G":
        return all_of(now[0], again)
    if kind == "R":
        return all_of(now[1], any_of(now[0], again))
    return any_of(now[1], all_of(now[0], again))  # U, W


def first_break(formula: Formula, steps: Sequence[Holds]) -> int | None:
    """The index of the step that breaks ``formula``; ``len(steps)`` when nothing does but something is still owed at the end; None: it holds.

    From that step on no ending makes it true. A formula that could not come true anyway may be found broken later than it was.

    Raises:
        DeskhandError: ``invalid_input`` for a trace without steps.
    """
    if not steps:
        raise DeskhandError("invalid_input", "there are no steps to check.")
    for index, holds in enumerate(steps):
        last = index == len(steps) - 1
        before, formula = formula, progressed(formula, holds, last)
        if formula == FALSE:
            # At the last step: does this step itself break it, or is only something owed that never came?
            return index if not last or progressed(before, holds, False) == FALSE else len(steps)
        if formula == TRUE:
            return None
    return None


def atoms_of(formula: Formula) -> list[str]:
    """All atoms of a formula, in order."""
    if formula[0] == "atom":
        return [str(formula[1])]
    return [name for part in formula[1:] if isinstance(part, tuple) for name in atoms_of(part)]


def shown(formula: Formula) -> str:
    """The formula as text that :func:`parse_formula` takes."""
    kind = str(formula[0])
    if kind in ("true", "false"):
        return kind
    if kind == "atom":
        return str(formula[1])
    parts = [shown(part) for part in formula[1:] if isinstance(part, tuple)]
    if kind == "not":
        return f"!{_bracketed(formula[1], parts[0])}"
    if kind in ("X", "N", "F", "G"):
        return f"{kind} {_bracketed(formula[1], parts[0])}"
    return f" {_SIGNS.get(kind, kind)} ".join(_bracketed(part, text) for part, text in zip(formula[1:], parts, strict=True))


def _bracketed(part: object, text: str) -> str:
    return text if isinstance(part, tuple) and part[0] in ("atom", "true", "false", "not", "X", "N", "F", "G") else f"({text})"
