"""What an act should have brought about, and what is measured."""

from __future__ import annotations

from collections.abc import Sequence

from typing_extensions import TypedDict

from deskhand.etp.tool import ToolContext
from deskhand.skills.base import SkillContext
from deskhand.skills.change_detection import alike
from deskhand.tools.looking import look, skill_context
from deskhand.tools.reasoning.containers import content_evidence
from deskhand.tools.reasoning.standing import at_position
from deskhand.types import Scene, SceneObject
from deskhand.world.relations import TABLE
from deskhand.world.spatial import relation_holds

HAND_MARGIN = 0.002  # [m] of finger width above closed that counts as something between them
OPEN = 0.9  # share of the full width that counts as open


class Finding(TypedDict):
    """One object that should be so."""

    expected: str
    measured: str
    as_expected: bool


def completion(ctx: ToolContext, act: str, object_id: str, target_id: str, position: Sequence[float] | None) -> list[Finding]:
    """All findings about an act; looks at the desk where its effect lies there."""
    skill = skill_context(ctx)
    if act == "move_home":
        return [_finding("the arm is at home", "it is" if skill.at_home() else "it is not", skill.at_home())]
    if act == "open_gripper":
        most = ctx.robot.arm.gripper.width_max
        return [_finding(f"the fingers are open ({1000 * most:.0f} mm)", f"{1000 * skill.width():.0f} mm", skill.width() >= OPEN * most)]
    if act == "close_gripper":
        return [_finding("the fingers stand closer than fully open", f"{1000 * skill.width():.0f} mm", skill.width() < OPEN * ctx.robot.arm.gripper.width_max)]
    if act == "pick":
        return _picked(ctx, skill, object_id)
    scene, note = look(ctx)
    findings = [] if not note else [_finding("the arm does not hide the desk", note, False)]
    item = _seen(ctx, scene, object_id)
    findings += _released(ctx, object_id)
    if act == "push":
        where = "not seen" if item is None else f"at x {item.position[0]:.3f}, y {item.position[1]:.3f}"
        findings.append(_finding(f"{object_id} is seen on the desk", where, item is not None))
    else:
        findings.append(_placed(ctx, scene, item, object_id, "in" if act == "place_in" else "on", target_id or TABLE))
    if position is not None:
        there, how = at_position(ctx, scene, item.id if item is not None else object_id, position)
        findings.append(_finding(f"its centre is at x {position[0]:.3f}, y {position[1]:.3f}", how, there))
    return findings


def _finding(expected: str, measured: str, holds: bool) -> Finding:
    return Finding(expected=expected, measured=measured, as_expected=bool(holds))


def _picked(ctx: ToolContext, skill: SkillContext, object_id: str) -> list[Finding]:
    """By the fingers, by what the robot believes, and by a picture of where the object was."""
    held, width = ctx.belief.held, skill.width()
    least = ctx.robot.arm.gripper.width_min + HAND_MARGIN
    findings = [
        _finding(f"{object_id} is held", f"{held.object.id} is held" if held else "nothing is held", held is not None and held.object.id == object_id),
        _finding(f"something keeps the fingers more than {1000 * least:.0f} mm apart", f"{1000 * width:.1f} mm", width > least),
    ]
    if held is not None and held.object.id == object_id:
        slack = 0.15 * held.width + HAND_MARGIN
        findings.append(
            _finding(f"the fingers are as wide as when they closed, {1000 * held.width:.1f} mm", f"{1000 * width:.1f} mm", abs(width - held.width) < slack)
        )
    return findings


def _released(ctx: ToolContext, object_id: str) -> list[Finding]:
    held = ctx.belief.held
    return [_finding(f"the gripper let go of {object_id}", "it still holds it", False)] if held is not None and held.object.id == object_id else []


def _seen(ctx: ToolContext, scene: Scene, object_id: str) -> SceneObject | None:
    """The object under its id, under the id that the robot saw it with after it was put, or the one object that looks like it."""
    known = {item.id: item for item in scene.objects}
    placed = ctx.placed.get(object_id)
    if object_id in known:
        return known[object_id]
    if placed is not None and placed.seen_as in known:
        return known[placed.seen_as]
    memory = ctx.belief.memory
    before = next((state.object for state in memory.states_now() if state.object_id == object_id), None) if memory is not None else None
    like = [item for item in scene.objects if before is not None and alike(before, item)]
    return like[0] if len(like) == 1 else None


def _placed(ctx: ToolContext, scene: Scene, item: SceneObject | None, object_id: str, relation: str, target_id: str) -> Finding:
    expected = f"{object_id} is {relation} {target_id}"
    target = next((other for other in scene.objects if other.id == target_id), None)
    if target is None and target_id != TABLE:
        return _finding(expected, f"{target_id} is not seen", False)
    if item is not None:
        holds, why = relation_holds(scene, item, relation, target)
        return _finding(expected, why, holds)
    placed = ctx.placed.get(object_id)
    if relation == "in" and target is not None and placed is not None:
        hidden, why = content_evidence(ctx.robot.observe, scene, target, placed.height)
        return _finding(expected, why, hidden)
    return _finding(expected, f"{object_id} is not seen", False)
