"""What a look does not tell and the words ask for: outlines of objects, and which of several has a colour that is said by a fine word."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace

from deskhand.language.coverage import phrases_of
from deskhand.language.grounded import COLOR_TOOL, OUTLINE_TOOL, Grounded
from deskhand.language.intents import Intent, Ref
from deskhand.language.resolve import OUTLINES, Seen, resolve
from deskhand.offline.script import Call, DecisionScript, Script

CAPABILITIES = {
    OUTLINE_TOOL: "detect the outline class of objects seen from above: circle, square, star",
    COLOR_TOOL: "ground a colour word, ranked candidates",
}
"""What the tools are looked for by."""
FIND = "find_tools"
BASIC = frozenset(("red", "orange", "yellow", "green", "cyan", "blue", "purple", "pink", "brown", "black", "white"))
"""Words by which looks name colours; what one of them fits alone is meant."""


FAR = 30.0
"""From a colour [CIELAB] on which what has it was taken for another outline, or seen in pieces: most colours that have names are farther from each other."""
DOUBTS = 2
"""How often outlines are asked again for that reason."""


class Grounding:
    """Asks once for each object, and keeps what was told by its id."""

    def __init__(self, tools: Collection[str], intents: Sequence[Intent] = ()) -> None:
        """``tools``: names of those that may be called; ``intents``: whose words are grounded."""
        refs = [ref for item in intents for ref in phrases_of(item)]
        self._tools = tools
        self._outlined = any(ref.outline for ref in refs)
        self._tinted = [ref for ref in refs if ref.tint and ref.count == 1]
        self._grounded = Grounded(intents)
        self._doubts = 0

    def ground(self, objects: list[Seen]) -> Script:
        """Put what is told of these objects into them."""
        new = [str(item["id"]) for item in objects if not item.get("is_container") and item["id"] not in self._grounded.outlines]
        if self._outlined and new and (yield from self._offered(OUTLINE_TOOL)):
            yield from self._ask(Call(OUTLINE_TOOL, {"object_ids": new}, "Which shapes are these?"))
        objects[:] = self._grounded.put(objects)
        for ref in self._tinted:
            yield from self._ground_color(ref, objects)
            yield from self._doubt(ref, objects)
        objects[:] = self._grounded.put(objects)

    def _ground_color(self, ref: Ref, objects: list[Seen]) -> Script:
        plain = replace(ref, colors=frozenset(), tint="", count=0)
        names = [str(item["id"]) for item in resolve(plain, objects, "any").objects]
        names += [str(item["id"]) for item in objects if names and item["id"] not in names and item.get(OUTLINES, {}).get(ref.outline, 0.0) > 0.0]
        if not names or all(ref.tint in self._grounded.tints.get(name, {}) for name in names):
            return
        alone = len(resolve(replace(ref, tint="", count=0), objects, "any").objects) == 1
        if ref.tint in BASIC and alone and not any(ref.tint in self._grounded.tints.get(name, {}) for name in names):
            return
        if not (yield from self._offered(COLOR_TOOL)):
            return
        yield from self._ask(Call(COLOR_TOOL, {"color": ref.tint, "candidates": names}, f"Which of them is {ref.tint}?"))

    def _doubt(self, ref: Ref, objects: list[Seen]) -> Script:
        """Where nothing of the outline that was said is near the colour: which outlines the others have, in another picture."""
        far = [name for name, told in self._grounded.tints.items() if ref.tint in told]
        if not ref.outline or not far or self._doubts >= DOUBTS or any(self._grounded.tints[name][ref.tint] < FAR for name in far):
            return
        others = [str(item["id"]) for item in objects if not item.get("is_container") and item["id"] not in far]
        if not others or not (yield from self._offered(OUTLINE_TOOL)):
            return
        self._doubts += 1
        yield from self._ask(Call(OUTLINE_TOOL, {"object_ids": others}, f"None of them is {ref.tint}; which shapes have the others, looked at again?"))
        objects[:] = self._grounded.put(objects)
        yield from self._ground_color(ref, objects)

    def _ask(self, call: Call) -> Script:
        heard = yield call
        if heard.ok:
            self._grounded.heard(call.tool, call.arguments, heard.data)

    def _offered(self, tool: str) -> DecisionScript:
        """Whether a tool may be called, looked for where it is not shown."""
        if tool not in self._tools and FIND in self._tools:
            yield Call(FIND, {"query": CAPABILITIES[tool]}, f"I look for a tool that can {CAPABILITIES[tool]}.")
        return tool in self._tools
