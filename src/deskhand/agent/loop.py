"""The loop around any language model: offer tools, call what it asks for, feed results back, prove the end by a look."""

from __future__ import annotations

import json
import logging
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import jsonschema

from deskhand.agent.base import ChatModel, Message, Reply, ToolCall
from deskhand.agent.claims import Claims
from deskhand.agent.controls import ASK_USER, CONTROL_CARDS, FIND_TOOLS, FINISH, RUN_CODE, RUN_CODE_CARD, SUBMIT_PLAN
from deskhand.agent.gate import Gate, means_yes
from deskhand.agent.moves import History
from deskhand.agent.offer import Offer
from deskhand.agent.prompt import SYSTEM, code_system, find_cards, result_text, trim
from deskhand.agent.records import IGNORED_OUTPUT, MISSED_CALL, Budgets, Step, TaskOutcome, classify, failure_counts, mark_used
from deskhand.agent.repair import Repairs
from deskhand.agent.sandbox import Sandbox, signatures
from deskhand.agent.user import SAID, Inbox, User
from deskhand.errors import DeskhandError
from deskhand.etp.base import ToolClient, ToolResult

log = logging.getLogger(__name__)

FATAL = frozenset(("node_unavailable", "safety_stop", "watchdog", "permission_denied"))
"""Codes after which nobody may go on without a person."""
PATIENCE = {"stale_data": 3, "no_frame": 3, "timeout": 4, "internal_error": 4, "controller_failed": 3, "config_error": 1, "missing_dependency": 1}
"""How many such results a run bears."""


class _End(Exception):
    """Ends the run with a code."""

    def __init__(self, code: str, why: str) -> None:
        super().__init__(why)
        self.code = code


class AgentLoop:
    """Runs one instruction at a time.

    Args:
        model: any ChatModel; only it decides what to do.
        tools: where tools are found and called.
        on_step: told of each step when it begins and when it is finished.
        cancelled: polled; True ends the call that runs (the arm comes to rest, no stop is latched) and the run, with ``cancelled``.
        context_tokens: of the model, 0 for no limit, None for what the model says of itself.
        mode: ``tools``: the model calls tools; ``code``: it writes Python that calls them (sandbox.py).
        rules: the user's safety rules (rules.py).
        inbox: words of the user while the task runs: corrections between steps, and answers to ``ask_user``; None where nobody can say anything.
        history: the tasks before this one, of which the model is told; this one is added to it.
    """

    def __init__(
        self,
        model: ChatModel,
        tools: ToolClient,
        budgets: Budgets | None = None,
        on_step: Callable[[Step], None] | None = None,
        cancelled: Callable[[], bool] | None = None,
        *,
        context_tokens: int | None = None,
        caller: str = "agent",
        now: Callable[[], float] = time.monotonic,
        mode: str = "tools",
        inbox: Inbox | None = None,
        history: History | None = None,
        rules: Sequence[str] = (),
    ) -> None:
        self._model, self._tools, self._budgets = model, tools, budgets or Budgets()
        self._on_step, self._cancelled = on_step or (lambda _: None), cancelled or (lambda: False)
        self._context = int(getattr(model, "context_tokens", 0)) if context_tokens is None else context_tokens
        self._caller, self._now = caller, now
        self._mode = mode
        self._sandbox: Sandbox | None = None
        self._inbox, self._rules, self._history = inbox, tuple(rules), history or History()

    def run(self, instruction: str) -> TaskOutcome:
        """Do what the instruction says. Never raises for what a model, a tool or the robot did: the outcome says it."""
        outcome = self._run(instruction)
        done = [(step.tool, step.arguments, step.data) for step in outcome.steps if step.ok and step.finished]
        self._history.add(instruction, "done" if outcome.success else outcome.code, done)
        return outcome

    def _run(self, instruction: str) -> TaskOutcome:
        self._start, self._steps, self._errors = self._now(), [], []  # type: ignore[var-annotated]
        self._calls = self._tokens = self._bad = self._text_only = self._refused = 0
        self._cost = 0.0
        self._claims = Claims(instruction, self._call_tool)
        self._user = User(self._inbox, self._budgets.answer_seconds)
        self._offer = Offer(self._tools, ())
        if not instruction.strip():
            return self._outcome(False, "empty_instruction", "The instruction is empty. Say what shall be done, for example: clean the desk.")
        try:
            self._gate = Gate(instruction, self._rules, self._confirm, licensed=not getattr(self._model, "obeys_only_the_user", False))
            return self._converse(instruction)
        except _End as end:
            return self._ended(end.code, str(end))
        except DeskhandError as error:
            return self._ended(error.code, str(error))

    # ------------------------------------------------------------ conversation

    def _converse(self, instruction: str) -> TaskOutcome:
        self._offer = Offer(self._tools, find_cards(self._tools, instruction), total=len(self._tools.search()))
        self._repairs = Repairs(self._offer.by_name)
        if self._mode != "code":
            return self._talk(instruction, self._offer.cards, SYSTEM + self._history.text())
        functions = [card for name, card in self._offer.by_name.items() if name not in self._offer.controls]
        self._offer.by_name[RUN_CODE] = RUN_CODE_CARD
        shown = [RUN_CODE_CARD, *CONTROL_CARDS]
        with Sandbox(functions, self._from_code) as self._sandbox:
            return self._talk(instruction, lambda: shown, code_system(signatures(functions)) + self._history.text())

    def _talk(self, instruction: str, cards: Callable[[], Sequence[Mapping[str, Any]]], system: str) -> TaskOutcome:
        messages = [Message("system", system), Message("user", instruction)]
        for _ in range(self._budgets.replies):
            self._check_budgets()
            for words in self._user.said():
                self._gate.told(words)
                self._claims.told()
                messages.append(Message("user", f"{SAID}{words}"))
            began = self._now()
            reply = self._repairs.reply(self._ask(trim(messages, self._context), cards()))
            latency = self._now() - began
            self._tokens += reply.usage.prompt_tokens + reply.usage.completion_tokens
            self._cost += reply.usage.cost
            messages.append(Message("assistant", reply.text, _with_ids(reply, len(messages))))
            if not reply.tool_calls:
                if outcome := self._only_text(reply, latency, messages):
                    return outcome
                continue
            self._text_only = 0
            for call in messages[-1].tool_calls:
                done = self._act(call, reply, latency, messages)
                latency = 0.0
                if isinstance(done, TaskOutcome):
                    return done
        raise _End("budget_exceeded", f"{self._budgets.replies} replies were not enough.")

    def _ask(self, messages: Sequence[Message], cards: Sequence[Mapping[str, Any]]) -> Reply:
        """One reply; a cancel or the end of the time budget does not wait for a slow server."""
        box: list[Reply | BaseException] = []

        def work() -> None:
            try:
                box.append(self._model.reply(messages, cards))
            except BaseException as error:
                box.append(error)

        thread = threading.Thread(target=work, daemon=True, name="model reply")
        thread.start()
        try:
            while thread.is_alive():
                thread.join(0.05)
                if thread.is_alive():
                    self._check_budgets()
        except _End:
            getattr(self._model, "cancel", lambda: None)()  # the server need not write to the end
            raise
        answer = box[0]
        if isinstance(answer, DeskhandError):
            raise _End(answer.code, f"the language model gave no reply: {answer}")
        if isinstance(answer, BaseException):
            log.error("model %s failed", self._model.name, exc_info=answer)
            raise _End("model_failed", f"the language model {self._model.name} failed: {type(answer).__name__}: {answer}")
        return answer

    def _only_text(self, reply: Reply, latency: float, messages: list[Message]) -> TaskOutcome | None:
        """Text without a call: once it is sent back, the second time it is taken as a claim."""
        self._text_only += 1
        step = self._begin(ToolCall("", {}), reply, latency)
        step.ok, step.failure, step.finished = False, MISSED_CALL, True
        self._on_step(step)
        if self._text_only == 1:
            messages.append(Message("user", "Call a tool, or end the task with the tool finish."))
            return None
        status = "answered" if self._claims.question else "done"
        result = self._finish({"status": status, "summary": reply.text.strip()[:2000]})
        if isinstance(result, TaskOutcome):
            return result
        messages.append(Message("user", result_text(result)))
        return None

    # ------------------------------------------------------------ one call

    def _act(self, call: ToolCall, reply: Reply, latency: float, messages: list[Message]) -> TaskOutcome | None:
        self._check_budgets()
        step = self._begin(call, reply, latency)
        self._on_step(step)
        result: ToolResult | TaskOutcome
        if problem := self._invalid(call):
            result, step.valid = problem, False
        elif call.name == SUBMIT_PLAN:
            result = self._submit(call.arguments["subgoals"])
        elif call.name == FINISH:
            result = self._finish(call.arguments)
        elif call.name == ASK_USER:
            result = self._ask_user(step)
        elif call.name == FIND_TOOLS:
            result = self._offer.find(str(call.arguments["query"]))
        elif call.name == RUN_CODE:
            result = self._run_code(str(call.arguments["code"]))
        else:
            result = self._gated(call.name, call.arguments)
        if isinstance(result, TaskOutcome):
            step.finished = True
            mark_used(self._steps)
            self._on_step(step)
            return result
        self._close(step, result)
        messages.append(Message("tool", result_text(result), tool_call_id=call.id, name=call.name))
        self._guard(step, messages)
        return None

    def _begin(self, call: ToolCall, reply: Reply, latency: float) -> Step:
        step = Step(len(self._steps) + 1, call.name, dict(call.arguments), text=reply.text[:2000], latency=latency)
        step.prompt_tokens, step.completion_tokens = reply.usage.prompt_tokens, reply.usage.completion_tokens
        step.prompt_chars, step.cost, step.model, step.repairs = reply.usage.prompt_chars, reply.usage.cost, reply.model, list(call.repairs)
        self._steps.append(step)
        return step

    def _close(self, step: Step, result: ToolResult) -> None:
        step.ok, step.code, step.message, step.data, step.duration, step.finished = result.ok, result.code, result.message, result.data, result.duration, True
        step.failure = classify(step, self._steps[:-1])
        if step.tool == FINISH and not result.ok:
            step.failure = MISSED_CALL if result.code == "precondition_failed" else IGNORED_OUTPUT
        self._on_step(step)

    def _invalid(self, call: ToolCall) -> ToolResult | None:
        """What is wrong with a call before anybody is asked to do it."""
        if call.malformed:
            return ToolResult("invalid_arguments", f"the arguments are no JSON object: {call.malformed}", retry=True, hint="Send one JSON object.")
        card = self._offer.card(call.name)
        if card is None:
            return ToolResult("unknown_tool", f"there is no tool {call.name!r}.", hint=f"Tools: {', '.join(self._offer.by_name)}.")
        errors = sorted(jsonschema.Draft202012Validator(card["input_schema"]).iter_errors(call.arguments), key=lambda error: list(map(str, error.path)))
        if errors:
            text = "; ".join(f"{'.'.join(map(str, error.path)) or 'arguments'}: {error.message}" for error in errors[:3])
            return ToolResult(
                "invalid_arguments", text, retry=True, hint=f"The arguments of {call.name} are {json.dumps(card['input_schema'].get('properties', {}))[:800]}."
            )
        return None

    def _submit(self, subgoals: Sequence[Mapping[str, Any]]) -> ToolResult:
        """Sub-goals that are sound are held against the user's words and rules before they are taken over."""
        return self._claims.problems(subgoals) or self._gate.refuses_plan(subgoals) or self._claims.submit(subgoals)

    def _gated(self, name: str, arguments: Mapping[str, Any]) -> ToolResult:
        """A call of the model: made unless the user's words or rules speak against it."""
        refusal = self._gate.refuses(self._offer.card(name) or {}, name, arguments)
        if refusal is None:
            return self._call_tool(name, arguments)
        self._refused += 1
        if self._refused >= self._budgets.refusals:
            raise _End(refusal.code, f"{self._refused} calls were refused; the last: {refusal.message}")
        return refusal

    def _confirm(self, question: str) -> bool:
        """A yes or no of the user; without anybody to ask it is a no."""
        step = self._steps[-1]
        step.question, step.options = question, ("yes", "no")
        self._on_step(step)
        answer = self._user.answer(step.options, self._check_budgets)
        step.question, step.options = "", ()
        return means_yes(answer)

    def _call_tool(self, name: str, arguments: Mapping[str, Any]) -> ToolResult:
        """Call a tool of the robot and keep count; ends the run on what nobody may carry on after."""
        self._calls += 1
        card = self._offer.card(name) or {}
        result = self._tools.invoke(name, arguments, feedback=self._feedback(name), cancelled=self._over, caller=self._caller)
        self._claims.heard(name, arguments, result, moves=card.get("effects") == "motion")
        self._gate.heard(card, name, arguments, result)
        self._repairs.heard(result.data)
        if result.ok:
            return result
        self._errors.append(result.code)
        log.info("tool %s failed: %s: %s", name, result.code, result.message)
        if result.code == "cancelled":
            if self._stopped():
                raise _End("cancelled", f"the task was cancelled: {result.message} {result.hint}".strip())
            self._check_budgets()
        if result.code in FATAL or self._errors.count(result.code) >= PATIENCE.get(result.code, 10**6):
            if self._steps and not self._steps[-1].finished:
                self._close(self._steps[-1], result)
            raise _End(result.code, result.message)
        return result

    def _ask_user(self, step: Step) -> ToolResult:
        """Show the question and wait; the time counts against the budget like any other."""
        step.question, step.options = str(step.arguments["question"]), tuple(map(str, step.arguments.get("options", ())))
        self._on_step(step)
        answer = self._user.answer(step.options, self._check_budgets)
        if answer is None:
            choice = f" ({', '.join(step.options)})" if step.options else ""
            raise _End("no_answer", f"I wanted to know: {step.question}{choice} Nobody answered.")
        self._gate.told(answer)
        self._claims.told()
        return ToolResult("", "", {"answer": answer})

    def _run_code(self, code: str) -> ToolResult:
        assert self._sandbox is not None  # only code mode offers run_code
        seen = self._sandbox.run(code)
        if seen.ok:
            return ToolResult("", "", {"printed": seen.text})
        where = f"line {seen.line}: " if seen.line else ""
        return ToolResult("tool_failed", f"{where}{seen.error}", {"printed": seen.text}, retry=True, hint="Correct the code; names of earlier code are kept.")

    def _from_code(self, name: str, arguments: Mapping[str, Any]) -> ToolResult:
        """A tool called by the model's code; held to the same budgets as any call."""
        self._check_budgets()
        return self._invalid(ToolCall(name, dict(arguments))) or self._gated(name, arguments)

    def _feedback(self, name: str) -> Callable[[float, str], None]:
        def report(fraction: float, text: str) -> None:
            step = self._steps[-1] if self._steps else None
            if step is not None and text:
                self._on_step(Step(step.index, name, {}, text=f"{text} ({fraction:.0%})"))

        return report

    def _guard(self, step: Step, messages: list[Message]) -> None:
        """Calls that cannot come to anything: invalid ones in a row, the same one over and over."""
        self._bad = 0 if step.valid else self._bad + 1
        if self._bad >= self._budgets.invalid_in_a_row:
            raise _End("model_failed", f"the model made {self._bad} invalid calls in a row; the last: {step.message}")
        same = 0
        for other in reversed(self._steps):
            if (other.tool, other.arguments) != (step.tool, step.arguments):
                break
            same += 1
        if same >= self._budgets.repeats:
            raise _End("model_failed", f"the model repeated {step.tool} with the same arguments {same} times.")
        if same == self._budgets.repeats - 1:
            messages.append(Message("user", f"You called {step.tool} {same} times with the same arguments. Do something else, or finish."))

    # ------------------------------------------------------------ the end

    def _finish(self, arguments: Mapping[str, Any]) -> ToolResult | TaskOutcome:
        if arguments["status"] == "done" and (owed := self._gate.owed()) and self._claims.rejected < self._budgets.rejected_claims - 1:
            self._claims.rejected += 1
            text = f"the safety rule {owed[0]!r} asks for something that has not been done."
            return ToolResult("task_incomplete", text, {"rules": owed}, retry=True, hint="Do it, or finish with status partly and say so.")
        verdict = self._claims.judge(str(arguments["status"]), str(arguments["summary"]), str(arguments.get("code", "")))
        if verdict.final:
            return self._outcome(verdict.success, verdict.code, verdict.summary)
        if self._claims.rejected >= self._budgets.rejected_claims:
            return self._outcome(
                False, "task_incomplete", self._claims.facts(f"The end was claimed {self._claims.rejected} times and never proved: {verdict.summary}")
            )
        return ToolResult(
            verdict.code, verdict.summary, {"unmet": verdict.unmet}, retry=True, hint="Do what is unmet, or finish with status partly and say why."
        )

    def _stopped(self) -> bool:
        return self._cancelled() or self._user.stopped()

    def _over(self) -> bool:
        return self._stopped() or self._now() - self._start > self._budgets.seconds

    def _check_budgets(self) -> None:
        if self._stopped():
            raise _End("cancelled", "the task was cancelled.")
        if self._now() - self._start > self._budgets.seconds:
            raise _End("budget_exceeded", f"{self._budgets.seconds:g} s were not enough.")
        if self._calls >= self._budgets.tool_calls:
            raise _End("budget_exceeded", f"{self._budgets.tool_calls} tool calls were not enough.")
        if self._budgets.tokens and self._tokens >= self._budgets.tokens:
            raise _End("budget_exceeded", f"{self._budgets.tokens} tokens were not enough.")
        if self._budgets.cost and self._cost >= self._budgets.cost:
            raise _End("budget_exceeded", f"the model has cost {self._cost:.2f}, and {self._budgets.cost:g} is the limit.")

    def _ended(self, code: str, why: str) -> TaskOutcome:
        """The run was cut off: say what had been done, and what the hand holds. The call that ran has ended: the arm is at rest."""
        if code == "cancelled" and self._claims.moved and self._offer.card("get_robot_state"):
            try:
                state = self._tools.invoke("get_robot_state", {}, caller=self._caller)
                self._claims.heard("get_robot_state", {}, state, moves=False)
            except DeskhandError as error:
                why = f"{why} What the hand holds is not known: {error}"
        if self._steps and not self._steps[-1].finished:
            self._steps[-1].ok, self._steps[-1].code, self._steps[-1].message, self._steps[-1].finished = False, code, why, True
        return self._outcome(False, code, self._claims.facts(why[:1].upper() + why[1:]))

    def _outcome(self, success: bool, code: str, summary: str) -> TaskOutcome:
        mark_used(self._steps)
        return TaskOutcome(
            success, code, summary, tuple(self._steps), self._calls, tuple(self._errors), failure_counts(self._steps), self._tokens, self._now() - self._start
        )


def _with_ids(reply: Reply, turn: int) -> tuple[ToolCall, ...]:
    """Every call gets an id that its result can name."""
    return tuple(call if call.id else replace(call, id=f"call_{turn}_{index}") for index, call in enumerate(reply.tool_calls))
