"""The loop around any language model: offer tools, call what it asks for, feed results back, prove the end by a look."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from deskhand.agent import direct, direct_tools
from deskhand.agent.authorisation import TASK
from deskhand.agent.code_mode import CodeMode, disturbed
from deskhand.agent.controls import ASK_USER, CONTROL_CARDS, FIND_TOOLS, FIND_TOOLS_CARD, FINISH, RUN_CODE, RUN_CODE_CARD, SUBMIT_PLAN_CARD, TEXT_ONLY
from deskhand.agent.ends import End, Fatal, Finished
from deskhand.agent.eyes import Eyes
from deskhand.agent.foreign import OWN, foreign_text, foreign_words
from deskhand.agent.guards.stack import RunContext, guarded
from deskhand.agent.judge import Judge
from deskhand.agent.limits import Limits
from deskhand.agent.meter import Meter
from deskhand.agent.moves import History
from deskhand.agent.prompt import CODE_TOOLS, SYSTEM, code_system, core_cards, find_cards, result_text
from deskhand.agent.records import IGNORED_OUTPUT, MISSED_CALL, Budgets, Step, TaskOutcome, classify, failure_counts, mark_used
from deskhand.agent.repair import Repairs
from deskhand.agent.replying import ask, digest
from deskhand.agent.shown_tools import MOST, MOST_SHOWN, ShownTools
from deskhand.agent.toolset import RobotToolset
from deskhand.agent.user import Inbox, User, means_yes
from deskhand.agent.witness import Witness
from deskhand.errors import DeskhandError
from deskhand.etp.base import Feedback, ToolClient, ToolResult
from deskhand.llm.base import SAID, ChatModel, Message, Reply, ToolCall, Usage
from deskhand.llm.brevity import brief_card
from deskhand.llm.context import trim
from deskhand.llm.pictures import limited, record

Cards = Callable[[], Sequence[Mapping[str, Any]]]


class AgentLoop:
    """Runs one instruction at a time.

    Args:
        model: any ChatModel; only it decides what to do. One that reads nothing but the user's own words says so by ``obeys_only_the_user``, and those
            words then mean what the grammar reads in them; of all others the words have to license what moves (``authorisation``).
        tools: where tools are found and called.
        on_step: told of each step when it begins and when it is finished, and of questions to the user.
        cancelled: polled; True ends the call that runs (the arm comes to rest, no stop is latched) and the run, with ``cancelled``.
        context_tokens: of the model, 0 for no limit, None for what the model says of itself.
        mode: ``tools``: the model calls tools; ``code``: it writes Python that calls them (sandbox.py); ``direct``: seven-number actions
            (direct.py), ``direct_labelled``: the same with labels, colours and sizes told; ``direct+tools``, ``direct+tools_hidden``: the same as
            ``direct`` with tools between two plans (direct_tools.py).
        rules: the user's safety rules (rules.py).
        inbox: words of the user while the task runs: corrections between steps, and answers to ``ask_user``; None where nobody can say anything.
        history: the tasks before this one, of which the model is told; this one is added to it.
        judge: somebody independent of the model who says whether what was done is what was asked (judge.py); without one that is only ``done`` where the
            grammar reads every word and agrees.
        authorisation: ``task``, ``strict`` or ``off`` (authorisation.py).
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
        judge: Judge | None = None,
        authorisation: str = TASK,
    ) -> None:
        self._model, self._tools, self._budgets = model, tools, budgets or Budgets()
        self._on_step, self._cancelled = on_step or (lambda _: None), cancelled or (lambda: False)
        self._context = int(getattr(model, "context_tokens", 0)) if context_tokens is None else context_tokens
        self._caller, self._now, self._mode = caller, now, mode
        self._inbox, self._rules, self._history = inbox, tuple(rules), history or History()
        self._judge, self._authorisation = judge, authorisation

    def run(self, instruction: str) -> TaskOutcome:
        """Do what the instruction says. Never raises for what a model, a tool or the robot did: the outcome says it."""
        outcome = self._run(instruction)
        done = [(step.tool, step.arguments, step.data) for step in outcome.steps if step.ok and step.finished]
        self._history.add(instruction, "done" if outcome.success else outcome.code, done)
        return outcome

    def _run(self, instruction: str) -> TaskOutcome:
        self._steps: list[Step] = []
        self._text_only = 0
        self._code: CodeMode | None = None
        self._user = User(self._inbox, self._budgets.answer_seconds)
        self._meter = Meter(self._now)
        self._eyes = Eyes(self._model, self._tools, self._caller)
        if not instruction.strip():
            told = "The instruction is empty. Say what shall be done, for example: clean the desk."
            return TaskOutcome(False, "empty_instruction", told, seconds=self._meter.seconds)
        brief = bool(getattr(self._model, "brief", False))
        obeys = bool(getattr(self._model, "obeys_only_the_user", False))
        self._strong = not (obeys or brief)
        limits = Limits(self._budgets, self._meter, lambda: self._cancelled() or self._user.stopped())
        self._robot = RobotToolset(self._tools, self._meter, limits.over, self._caller, self._feedback)
        self._robot.own[ASK_USER] = self._ask_user
        self._robot.on_result(lambda name, arguments, result: self._repairs.heard(result.data))
        self._show(ShownTools(self._tools, ()))
        witness = None if self._judge is None else Witness(self._judge, Eyes(self._judge, self._tools, self._caller), limits.check, self._meter)
        trusted = self._mode in direct.MODES or obeys
        run = RunContext(instruction, self._rules, self._authorisation, trusted, brief, self._confirm, witness, limits, self._steps)
        try:
            self._toolset = guarded(self._robot, run)
        except DeskhandError as error:
            return TaskOutcome(False, error.code, str(error), seconds=self._meter.seconds)
        if any(foreign_words(said) for said in self._history.said()):
            self._toolset.read_foreign()  # what the user quoted then stands in the account of earlier tasks
        try:
            return self._direct(instruction) if self._mode in direct.MODES else self._converse(instruction)
        except Finished as end:
            self._close_at_end(True)
            return self._outcome(end.success, end.code, end.summary, end.agreed_by)
        except Fatal as end:
            if self._steps and not self._steps[-1].finished:
                self._close(self._steps[-1], end.result)
            return self._ended(end.code, str(end))
        except End as end:
            return self._ended(end.code, str(end))
        except DeskhandError as error:
            return self._ended(error.code, str(error))

    def _show(self, shown: ShownTools) -> None:
        """From now on these tools are shown."""
        self._robot.shown, self._repairs = shown, Repairs(shown.by_name)
        self._robot.own[FIND_TOOLS] = lambda step: shown.find(str(step.arguments["query"]))

    # ------------------------------------------------------------ conversation

    def _converse(self, instruction: str) -> TaskOutcome:
        brief = bool(getattr(self._model, "brief", False))
        cards = found = find_cards(self._tools, instruction)
        if self._strong:
            cards = core_cards(self._tools, instruction, blind=not self._eyes.open)
            if any(str(card.get("source", OWN)) != OWN for card in found):  # tools of others fit this task: what they wrote is around, shown or not
                self._toolset.read_foreign()
        tools = ShownTools(self._tools, cards, most=MOST_SHOWN if self._strong else MOST, total=len(self._tools.search()))
        self._show(tools)
        if self._mode != "code":
            shown = (lambda: [brief_card(card) for card in tools.cards()]) if self._strong else tools.cards
            return self._talk(instruction, shown, SYSTEM + self._history.text())
        functions = [card for name, card in tools.by_name.items() if name not in tools.controls and (name in CODE_TOOLS or not brief)]
        tools.by_name[RUN_CODE] = RUN_CODE_CARD
        beside = [RUN_CODE_CARD, *CONTROL_CARDS, *([FIND_TOOLS_CARD] if self._strong and FIND_TOOLS in tools.controls else [])]
        plans = [SUBMIT_PLAN_CARD] if self._strong else []
        with CodeMode([*functions, *plans], self._toolset, tools) as code:
            self._code = code
            self._robot.own |= {RUN_CODE: code.run, FIND_TOOLS: code.find}
            return self._talk(instruction, lambda: beside, code_system(functions, brief) + self._history.text())

    def _talk(self, instruction: str, cards: Cards, system: str) -> TaskOutcome:
        messages = [Message("system", system), Message("user", instruction)]
        for _ in range(self._budgets.replies):
            self._toolset.check()
            for words in self._user.said():
                self._toolset.told(words)
                messages.append(Message("user", f"{SAID}{words}"))
            reply, latency, shown = self._reply(messages, cards())
            messages.append(Message("assistant", reply.text, _with_ids(reply, len(messages))))
            if not reply.tool_calls:
                self._only_text(reply, latency, shown, messages)
                continue
            self._text_only = 0
            halted = ""
            for call in messages[-1].tool_calls:
                self._act(call, reply, latency, shown, messages, halted)
                halted = halted or _halts(self._steps[-1])
                reply, latency = replace(reply, usage=Usage(), notes=()), 0.0  # what the reply took counts once
        raise End("budget_exceeded", f"{self._budgets.replies} replies were not enough.")

    def _reply(self, messages: Sequence[Message], cards: Sequence[Mapping[str, Any]], schema: Mapping[str, Any] | None = None) -> tuple[Reply, float, str]:
        """A reply, its latency [s], and the digest of what was shown."""
        if any(str(card.get("source", OWN)) != OWN for card in self._robot.shown.cards()):  # somebody else wrote what it says of his tools
            self._toolset.read_foreign()
        shown, began, cpu = trim(limited(messages, self._eyes.kept), self._context, cards), self._now(), time.thread_time()
        reply = ask(self._model, shown, cards, self._toolset.check, schema)
        latency = self._now() - began
        self._meter.elsewhere(time.thread_time() - cpu)
        self._meter.model(reply.usage)
        return reply if schema else self._repairs.reply(reply), latency, digest(shown)

    def _only_text(self, reply: Reply, latency: float, shown: str, messages: list[Message]) -> None:
        """Text without a call: once it is sent back, the second time it is taken as a claim."""
        self._text_only += 1
        step = self._begin(ToolCall("", {}), reply, latency, shown)
        step.ok, step.failure, step.finished = False, MISSED_CALL, True
        self._on_step(step)
        if self._text_only == 1:
            messages.append(Message("user", "Call a tool, or end the task with the tool finish."))
            return
        result = self._toolset.call(Step(0, FINISH, {"status": TEXT_ONLY, "summary": reply.text.strip()[:2000]}))
        messages.append(Message("user", result_text(result)))

    def _direct(self, instruction: str) -> TaskOutcome:
        """The baseline: no tools are shown, nothing is checked but by the envelope."""
        if self._rules:
            raise DeskhandError("invalid_input", "direct mode cannot keep safety rules: nobody can say what its numbers are about.")
        tools = direct_tools.TOOLS if self._mode in (direct_tools.MODE, direct_tools.HIDDEN) else ()
        self._show(ShownTools(self._tools, [self._tools.describe(name) for name in (direct.LOOKS[self._mode], direct.ACT, *tools)]))
        shown = ""

        def asked(messages: Sequence[Message], schema: Mapping[str, Any] = direct.SCHEMA) -> tuple[Reply, float]:
            nonlocal shown
            self._toolset.check()
            reply, latency, shown = self._reply(messages, (), schema)
            return reply, latency

        def act(call: ToolCall, reply: Reply, latency: float) -> ToolResult:
            self._toolset.check()
            step = self._begin(call, reply, latency, shown)
            result = self._robot.shown.problem(call) or self._toolset.call(step)
            self._close(step, result)
            return result

        way = direct.Direct(self._mode, self._eyes.open)
        passes = direct_tools.ToolPasses(instruction, asked, act, self._mode == direct_tools.HIDDEN) if tools else None
        ask_, act_ = (passes.ask, passes.act) if passes is not None else (asked, act)
        return self._outcome(False, *direct.run_direct(instruction, ask_, act_, way, lambda seen: self._eyes.after(direct.LOOKS[self._mode], seen).images))

    # ------------------------------------------------------------ one decision

    def _act(self, call: ToolCall, reply: Reply, latency: float, shown: str, messages: list[Message], halted: str = "") -> None:
        """One call of a reply; not made where an earlier one of the same reply has changed what it was decided upon (``halted``: how)."""
        self._toolset.check()
        step = self._begin(call, reply, latency, shown)
        problem = self._robot.shown.problem(call) if not halted else not_called(halted)
        step.valid = problem is None or bool(halted)
        result = problem or self._toolset.call(step)
        results = self._code.results if self._code is not None and call.name == RUN_CODE else [(call.name, result)]
        seen = self._eyes.after_all(results)
        if seen.foreign:
            self._toolset.read_foreign()
        step.foreign = seen.foreign or any(foreign_text(self._robot.card(name), name, each) for name, each in results)
        step.pictures = [record(image) for image in seen.images]
        self._close(step, result)
        text = result_text(result, step.foreign, brief=self._strong)
        messages.append(Message("tool", text, tool_call_id=call.id, name=call.name, images=seen.images))
        if warning := self._toolset.answered(step):
            messages.append(Message("user", warning))

    def _begin(self, call: ToolCall, reply: Reply, latency: float, shown: str) -> Step:
        usage = reply.usage
        step = Step(len(self._steps) + 1, call.name, dict(call.arguments), text=reply.text[:2000], latency=latency)
        step.prompt_tokens, step.completion_tokens, step.prompt_chars, step.cost = usage.prompt_tokens, usage.completion_tokens, usage.prompt_chars, usage.cost
        step.model, step.repairs, step.prompt_digest = reply.model, [*call.repairs, *reply.notes], shown
        step.cached_tokens = usage.cached_tokens
        step.prompt, step.said = reply.prompt, reply.said
        self._steps.append(step)
        self._on_step(step)
        return step

    def _close(self, step: Step, result: ToolResult) -> None:
        step.ok, step.code, step.message, step.data, step.duration, step.finished = result.ok, result.code, result.message, result.data, result.duration, True
        step.failure = classify(step, self._steps[:-1])
        if step.tool == FINISH and not result.ok:
            step.failure = MISSED_CALL if result.code == "precondition_failed" else IGNORED_OUTPUT
        step.overhead = self._meter.overhead()
        self._on_step(step)

    def _close_at_end(self, ok: bool, code: str = "", why: str = "") -> None:
        """The decision that ended the run, where it is still open."""
        if self._steps and not self._steps[-1].finished:
            step = self._steps[-1]
            step.ok, step.code, step.message, step.finished = ok, code, why, True
            if ok:
                step.overhead = self._meter.overhead()
                self._on_step(step)

    def _ask_user(self, step: Step) -> ToolResult:
        """Show the question and wait; the time counts against the budget like any other."""
        step.question, step.options = str(step.arguments["question"]), tuple(map(str, step.arguments.get("options", ())))
        self._on_step(step)
        answer = self._user.answer(step.options, self._toolset.check)
        if answer is None:
            choice = f" ({', '.join(step.options)})" if step.options else ""
            raise End("no_answer", f"I wanted to know: {step.question}{choice} Nobody answered.")
        self._toolset.told(answer)
        return ToolResult("", "", {"answer": answer})

    def _confirm(self, question: str) -> bool:
        """A yes or no of the user; without anybody to ask it is a no."""
        step = self._steps[-1]
        step.question, step.options = question, ("yes", "no")
        self._on_step(step)
        answer = self._user.answer(step.options, self._toolset.check)
        step.question, step.options = "", ()
        return means_yes(answer)

    def _feedback(self, name: str) -> Feedback:
        def report(fraction: float, text: str) -> None:
            if self._steps and text:
                self._on_step(Step(self._steps[-1].index, name, {}, text=f"{text} ({fraction:.0%})"))

        return report

    # ------------------------------------------------------------ the end

    def _ended(self, code: str, why: str) -> TaskOutcome:
        """The run was cut off: say what had been done. The call that ran has ended: the arm is at rest."""
        told = self._toolset.account(code, why)
        self._close_at_end(False, code, why)
        return self._outcome(False, code, told)

    def _outcome(self, success: bool, code: str, summary: str, agreed_by: str = "") -> TaskOutcome:
        mark_used(self._steps)
        used, errors = self._meter, tuple(self._meter.errors)
        failures = failure_counts(self._steps)
        return TaskOutcome(success, code, summary, tuple(self._steps), used.calls, errors, failures, used.tokens, used.seconds, agreed_by)


def not_called(why: str) -> ToolResult:
    """The answer to a call that was decided upon before the one that went wrong."""
    return ToolResult("not_called", f"not called, because {why}.", retry=True, hint="Decide anew from what is known now.")


def _halts(step: Step) -> str:
    """Why the calls that were asked for together with this one are not made; empty when nothing speaks against them."""
    if not step.ok:
        return f"{step.tool} before it failed: {step.code}"
    moved = disturbed(step.data)
    return f"{step.tool} before it {moved}" if moved else ""


def _with_ids(reply: Reply, turn: int) -> tuple[ToolCall, ...]:
    """Every call gets an id that its result can name."""
    return tuple(call if call.id else replace(call, id=f"call_{turn}_{index}") for index, call in enumerate(reply.tool_calls))
