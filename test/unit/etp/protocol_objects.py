"""Tools and a robot for tests of the protocol: small tools with every kind of argument, and tools that misbehave."""

from __future__ import annotations

import threading
import time
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field
from typing_extensions import TypedDict

from deskhand.errors import DeskhandError
from deskhand.etp.registry import Registry
from deskhand.etp.session import Session
from deskhand.etp.tool import ToolContext, tool
from deskhand.skills.belief import Belief
from deskhand.types import SafetyStatus


class Bare:
    """A robot that only knows whether it is stopped."""

    def __init__(self):
        self.stopped = ""

    def stop(self, reason):
        self.stopped = reason

    def safety_status(self):
        return SafetyStatus(bool(self.stopped), "safety_stop" if self.stopped else "", self.stopped)


class Sum(TypedDict):
    total: float


class Point(BaseModel):
    model_config = ConfigDict(extra="forbid")
    x: Annotated[float, Field(ge=-1, le=1, description="[m]")]
    y: Annotated[float, Field(ge=-1, le=1, description="[m]")] = 0.0


ABOUT = {"when_to_use": "In tests of the protocol only.", "limits": "Does nothing useful."}
PLACE = {"group": "cognition", "unit": "queryable_memory", **ABOUT}
MOVES = {"group": "execution", "unit": "grasping", "effects": "motion", "needs": ("arm", "gripper"), **ABOUT}


@tool(**PLACE, examples=[("Sum up", {"number": 1.5, "count": 2, "point": {"x": 0.5}})])
def everything(
    ctx: ToolContext,
    number: Annotated[float, Field(ge=-2, le=2, description="[m] along x in world")],
    count: Annotated[int, Field(ge=1, le=9, description="how many")],
    point: Annotated[Point, Field(description="where")],
    words: Annotated[list[Annotated[str, Field(min_length=1, max_length=8)]], Field(max_length=4, description="some")] = [],  # noqa: B006
    choice: Annotated[Literal["red", "green"], Field(description="colour")] = "red",
    maybe: Annotated[float | None, Field(ge=0, le=1, description="[rad]")] = None,
    flag: Annotated[bool, Field(description="yes or no")] = False,
) -> Sum:
    """Add up all the numbers that it was given."""
    assert isinstance(point, Point) and isinstance(number, float) and isinstance(count, int) and isinstance(words, list)
    return {"total": number + count + point.x + point.y}


class Bench:
    """Tools with a mind of their own, and what became of them."""

    def __init__(self):
        self.go, self.entered, self.ended = threading.Event(), threading.Semaphore(0), []
        self.running, self.most = 0, 0
        self.lock = threading.Lock()
        bench = self

        @tool(**MOVES, timeout=20, examples=[("Hold", {})])
        def hold(ctx: ToolContext) -> Sum:
            """Hold the arm until it is told to go or to stop."""
            bench.enter()
            while not bench.go.wait(0.005):
                if ctx.cancelled():
                    bench.leave("cancelled")
                    raise DeskhandError("cancelled", "held no more.")
            bench.leave("done")
            return {"total": 1.0}

        @tool(**{**MOVES, "needs": ("camera",), "effects": "memory"}, timeout=20, examples=[("Look", {})])
        def look(ctx: ToolContext) -> Sum:
            """Look with the camera until it is told to go."""
            bench.enter()
            bench.go.wait(20)
            bench.leave("looked")
            return {"total": 2.0}

        @tool(**PLACE, timeout=20, examples=[("Think", {})])
        def think(ctx: ToolContext) -> Sum:
            """Think without any device until it is told to go."""
            bench.enter()
            bench.go.wait(20)
            bench.leave("thought")
            return {"total": 3.0}

        @tool(**MOVES, timeout=0.1, examples=[("Never end", {})])
        def stubborn(ctx: ToolContext) -> Sum:
            """Move on whatever it is told."""
            bench.enter()
            bench.go.wait(20)
            bench.leave("at last")
            return {"total": 4.0}

        @tool(**PLACE, examples=[("Leave", {"how": "exit"})])
        def leave(ctx: ToolContext, how: Annotated[str, Field(max_length=20, description="exit or interrupt")]) -> Sum:
            """Try to end the process that runs it."""
            raise SystemExit(3) if how == "exit" else KeyboardInterrupt

        @tool(**{**PLACE, "group": "execution", "unit": "closed_loop_recovery"}, lenient=True, examples=[("Halt", {})])
        def halt(ctx: ToolContext, reason: Annotated[str, Field(max_length=5, description="why")] = "") -> Sum:
            """Halt whatever is said with it."""
            bench.ended.append(f"halt {reason}".strip())
            return {"total": 5.0}

        @tool(**PLACE, timeout=0.1, examples=[("Polite", {})])
        def polite(ctx: ToolContext) -> Sum:
            """Take too long, but stop when told to."""
            while not ctx.cancelled():
                time.sleep(0.005)
            raise DeskhandError("cancelled", "as you wish.")

        @tool(**PLACE, examples=[("Give", {"what": "wrong"})])
        def give(ctx: ToolContext, what: Annotated[str, Field(max_length=20, description="kind of result")]) -> Sum:
            """Give back something that may not fit."""
            results: dict[str, Any] = {
                "wrong": {"total": "much"}, "extra": {"total": 1.0, "more": 2}, "nothing": None, "nan": {"total": float("nan")}, "set": {"total": {1}},
                "right": {"total": 1.0},
            }  # fmt: skip
            if what == "raise":
                raise ZeroDivisionError("by zero")
            if what == "own":
                raise DeskhandError("grasp_failed", "the fingers closed on nothing.")
            return results[what]

        @tool(**PLACE, examples=[("Tell", {})])
        def tell(ctx: ToolContext) -> Sum:
            """Report progress and write log lines."""
            import logging

            ctx.progress(0.5, "half way")
            logging.getLogger("a_tool").warning("mind the %s", "cup")
            ctx.progress(7.0, "beyond")
            return {"total": 5.0}

        @tool(**{**PLACE, "group": "reasoning", "unit": "language_and_intent"}, needs=("model",), examples=[("Ask", {})])
        def ask_model(ctx: ToolContext) -> Sum:
            """Ask a language model that may not be there."""
            return {"total": 6.0}

        @tool(**MOVES, preconditions=("not_stopped", "holding"), examples=[("Let go", {})])
        def let_go(ctx: ToolContext) -> Sum:
            """Let go of what is held."""
            bench.ended.append("let go")
            return {"total": 7.0}

        self.tools = (everything, hold, look, think, stubborn, polite, give, tell, ask_model, let_go, leave, halt)

    def enter(self):
        with self.lock:
            self.running += 1
            self.most = max(self.most, self.running)
        self.entered.release()

    def leave(self, how):
        with self.lock:
            self.running -= 1
            self.ended.append(how)


def bench_session(bench, robot=None, **options):
    registry = Registry()
    for item in bench.tools:
        registry.add(item)
    robot, belief = robot or Bare(), Belief()
    return Session(registry, lambda: ToolContext(robot, belief), missing=lambda: {"model": "no language model is configured"}, **options)


def in_thread(call, *args, **kwargs):
    """Start ``call``; the thread, and a list that its result goes into."""
    results = []
    thread = threading.Thread(target=lambda: results.append(call(*args, **kwargs)), daemon=True)
    thread.start()
    return thread, results
