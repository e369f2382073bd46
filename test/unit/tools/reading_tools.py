"""Isolated tools for tests: one that reads the world, and one that tries to change it."""

from __future__ import annotations

from dataclasses import replace
from typing import Annotated, Any, Literal

from pydantic import Field
from typing_extensions import TypedDict

from deskhand.etp.tool import ToolContext, tool

ABOUT: dict[str, Any] = {
    "group": "cognition",
    "unit": "queryable_memory",
    "when_to_use": "In tests of isolated tools only.",
    "limits": "Does nothing useful.",
}
Deed = Literal["execute", "stop", "look", "remember", "hasattr", "sleep", "future", "nan"]


class Reading(TypedDict):
    ids: list[str]
    remembered: list[str]
    stamp: float
    shape: list[int]
    joints: list[float]
    arm: str
    process: int


@tool(**ABOUT, needs=("camera",), timeout=20, examples=[("Read", {})])
def read_world(ctx: ToolContext) -> Reading:
    """Read all that an isolated tool can, and forget it."""
    import os

    frame, scene, memory = ctx.robot.observe(), ctx.belief.scene, ctx.belief.memory
    assert scene is not None and memory is not None
    ctx.belief.scene = replace(scene, objects=())
    ctx.placed.clear()
    joints = ctx.robot.joint_state().positions.tolist()
    ids, remembered = [item.id for item in scene.objects], [state.object_id for state in memory.states_of({item.id for item in scene.objects})]
    return Reading(ids=ids, remembered=remembered, stamp=frame.stamp, shape=list(frame.color.shape), joints=joints, arm=ctx.robot.arm.name, process=os.getpid())


@tool(**ABOUT, timeout=20, examples=[("Try", {"deed": "stop"})])
def change_world(ctx: ToolContext, deed: Annotated[Deed, Field(description="what to try")]) -> dict[str, bool]:
    """Try what an isolated tool must not do."""
    if deed == "execute":
        ctx.robot.execute("plan_1")
    elif deed == "stop":
        ctx.robot.stop("because")
    elif deed == "look":
        ctx.belief.look(ctx.robot)
    elif deed == "remember":
        assert ctx.belief.memory is not None and ctx.belief.scene is not None
        ctx.belief.memory.looked(ctx.belief.scene)
    elif deed in ("sleep", "nan"):
        ctx.robot.sleep(1e9 if deed == "sleep" else float("nan"))
    elif deed == "future":
        ctx.robot.observe(newer_than=ctx.robot.now() + 1e9)
    return {"has": hasattr(ctx.robot, "gripper")}
