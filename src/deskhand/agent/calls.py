"""From a model's decision to a result: what is wrong with the call, what speaks against it, what came of it."""

from __future__ import annotations

import json
import logging
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import jsonschema

from deskhand.agent.budget import End, Spent
from deskhand.agent.completion import Completion
from deskhand.agent.controls import SUBMIT_PLAN
from deskhand.agent.foreign import foreign_text
from deskhand.agent.policy import Policy
from deskhand.agent.repair import Repairs
from deskhand.agent.sandbox import Sandbox, signatures
from deskhand.agent.toolset import Offer
from deskhand.etp.base import Feedback, ToolClient, ToolResult
from deskhand.llm.base import ToolCall
from deskhand.world.model import WorldModel
from deskhand.world.relations import TABLE

log = logging.getLogger(__name__)

FATAL = frozenset(("node_unavailable", "safety_stop", "watchdog", "permission_denied"))
"""Codes of tools after which nobody may go on without a person."""
PATIENCE = {"stale_data": 3, "no_frame": 3, "timeout": 4, "internal_error": 4, "controller_failed": 3, "config_error": 1, "missing_dependency": 1}
"""How many such results a run bears."""


REACH = "check_reachable"
MOST_DOUBTS = 4
"""So many things of a plan are asked after; each takes the time of finding grasps."""


class Calls:
    """Of one run.

    Attributes:
        errors: codes of the calls that failed, in order.
        offer, completion, policy, world, repairs, sandbox: the loop's, which it may replace.
    """

    def __init__(
        self, tools: ToolClient, spent: Spent, caller: str, feedback: Callable[[str], Feedback], offer: Offer, policy: Policy, world: WorldModel
    ) -> None:
        self._tools, self._spent, self._caller, self._feedback = tools, spent, caller, feedback
        self.policy, self.world = policy, world
        self.errors: list[str] = []
        self.sandbox: Sandbox | None = None
        self.show(offer)

    def show(self, offer: Offer) -> None:
        """From now on these tools are offered."""
        self.offer, self.repairs = offer, Repairs(offer.by_name)

    def begin(self, completion: Completion) -> None:
        """It is told of every result."""
        self.completion = completion

    def problem(self, call: ToolCall) -> ToolResult | None:
        """What is wrong with a call before anybody is asked to do it."""
        if call.malformed:
            return ToolResult("invalid_arguments", f"the arguments are no JSON object: {call.malformed}", retry=True, hint="Send one JSON object.")
        card = self.offer.card(call.name)
        if card is None:
            return ToolResult("unknown_tool", f"there is no tool {call.name!r}.", hint=f"Tools: {', '.join(self.offer.by_name)}.")
        errors = sorted(jsonschema.Draft202012Validator(card["input_schema"]).iter_errors(call.arguments), key=lambda error: list(map(str, error.path)))
        if errors:
            text = "; ".join(f"{'.'.join(map(str, error.path)) or 'arguments'}: {error.message}" for error in errors[:3])
            hint = f"The arguments of {call.name} are {json.dumps(card['input_schema'].get('properties', {}))[:800]}."
            return ToolResult("invalid_arguments", text, retry=True, hint=hint)
        return None

    def submit(self, subgoals: Sequence[Mapping[str, Any]], keep: bool = False, why: str = "") -> ToolResult:
        """Sub-goals that are sound are held against the user's words and rules before they are taken over."""
        subgoals = [{"relation": "on", "target_id": TABLE, **goal} for goal in subgoals]
        refusal = self.completion.problems(subgoals)
        if refusal is None and (refusal := self.policy.refuses_plan(subgoals, why)):
            self._spent.refuse(refusal.code, refusal.message)
        if refusal:
            return refusal
        taken = self.completion.submit(subgoals, keep)
        self.policy.accepted(subgoals, keep)
        doubts = self._doubts([str(goal["object_id"]) for goal in subgoals if goal["object_id"] not in taken.data["already_done"]])
        return replace(taken, data={**taken.data, "doubts": doubts}) if doubts else taken

    def _doubts(self, names: Sequence[str]) -> list[dict[str, str]]:
        """Objects of a plan that the hand does not reach as they lie now; no reason to refuse it, for what is in the way may go first."""
        if REACH not in self.offer.by_name or not self.policy.model_decides:
            return []
        doubts = []
        for name in dict.fromkeys(names[:MOST_DOUBTS]):
            if name == self.policy.desk.held or any(item.get("support") == name for item in self.policy.desk.objects.values()):
                continue
            cpu = time.thread_time()
            seen = self._tools.invoke(REACH, {"object_id": name}, cancelled=self._spent.over, caller=self._caller)
            self._spent.elsewhere(time.thread_time() - cpu)
            if seen.ok and not seen.data.get("reachable", True):
                doubts.append({"object_id": name, "reason": str(seen.data.get("reason", ""))[:200]})
        return doubts

    def gated(self, name: str, arguments: Mapping[str, Any], why: str = "") -> ToolResult:
        """A call of the model: made unless the user's words or rules speak against it."""
        refusal = self.policy.refuses(self.offer.card(name) or {}, name, arguments, why)
        if refusal is None:
            return self._with_advice(self.made(name, arguments), name, arguments)
        self._spent.refuse(refusal.code, refusal.message)
        return refusal

    def _with_advice(self, result: ToolResult, name: str, arguments: Mapping[str, Any]) -> ToolResult:
        """A structure is planned as the arguments say; what the grammar reads otherwise is said beside it, once."""
        read = self.completion.advice(name, arguments) if result.ok and isinstance(result.data, Mapping) else {}
        return replace(result, data={**result.data, **read}) if read else result

    def made(self, name: str, arguments: Mapping[str, Any]) -> ToolResult:
        """Call a tool of the robot and keep count.

        Raises:
            End: on what nobody may carry on after.
        """
        card, cpu = self.offer.card(name) or {}, time.thread_time()
        result = self._tools.invoke(name, arguments, feedback=self._feedback(name), cancelled=self._spent.over, caller=self._caller)
        self._spent.tool(time.thread_time() - cpu)
        if foreign_text(card, name, result):
            self.policy.read_foreign()
        self.policy.heard(card, name, arguments, result)
        self.world.apply(name, arguments, result.ok, result.data)
        self.completion.heard(name, arguments, result, moves=card.get("effects") == "motion")
        self.repairs.heard(result.data)
        if result.ok:
            return result
        self.errors.append(result.code)
        log.info("tool %s failed: %s: %s", name, result.code, result.message)
        if result.code == "cancelled":
            if self._spent.stopped():
                raise End("cancelled", f"the task was cancelled: {result.message} {result.hint}".strip())
            self._spent.check()
        if result.code in FATAL or self.errors.count(result.code) >= PATIENCE.get(result.code, 10**6):
            raise Fatal(result)
        return result

    def code(self, text: str) -> ToolResult:
        """Run the model's Python, whose tools are held to the same checks and budgets as any call."""
        assert self.sandbox is not None  # only code mode offers run_code
        seen = self.sandbox.run(text)
        if seen.ok:
            return ToolResult("", "", {"printed": seen.text})
        where = f"line {seen.line}: " if seen.line else ""
        return ToolResult("tool_failed", f"{where}{seen.error}", {"printed": seen.text}, retry=True, hint="Correct the code; names of earlier code are kept.")

    def from_code(self, name: str, arguments: Mapping[str, Any]) -> ToolResult:
        """A tool called by the model's code."""
        self._spent.check()
        if problem := self.problem(ToolCall(name, dict(arguments))):
            return problem
        if name == SUBMIT_PLAN:
            return self.submit(arguments["subgoals"], bool(arguments.get("keep", False)))
        return self.gated(name, arguments)

    def find(self, query: str) -> ToolResult:
        """Search all tools; in code mode what is found is a function from now on, and its signature is told."""
        found = self.offer.find(query)
        if self.sandbox is None or not found.ok:
            return found
        cards = [self.offer.by_name[item["name"]] for item in found.data["tools"]]
        self.sandbox.add(cards)
        return replace(found, data={"functions": signatures(cards)})


class Fatal(End):
    """A tool's result that ends the run."""

    def __init__(self, result: ToolResult) -> None:
        super().__init__(result.code, result.message)
        self.result = result
