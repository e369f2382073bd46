"""The steps that every arm shares, and all steps of an arm in their order."""

from __future__ import annotations

from importlib import import_module

from deskhand.bringup.first_day import camera, dry_run, envelope, handeye, pick, play, system
from deskhand.bringup.first_day.base import Step
from deskhand.errors import DeskhandError

ARMS = ("jetarm", "so101", "wx250s")
"""Those with a first day: ``deskhand.bringup.first_day.<arm>`` has ``STEPS``, what is the arm's own, between the machine's check and the dry run."""

BEFORE = (
    Step(
        "system",
        "the computer has what a robot needs",
        3.0,
        system.run,
        seen="a line for each check, ok or FAIL with what to do",
    ),
)
AFTER = (
    Step(
        "dry_run",
        "every joint moves, and the way it should",
        3.0,
        dry_run.run,
        seen="one joint after the other turns by 6 degrees and back, as it was announced",
    ),
    Step(
        "play",
        "how much each joint plays beyond its servo is known",
        8.0,
        play.run,
        seen="0.5 to 1.5 degrees for each joint; 0 where a ruler cannot tell it from none",
        optional=True,
    ),
    Step(
        "envelope",
        "the arm knows how far it may reach on this desk",
        4.0,
        envelope.run,
        seen="safety.yaml in the unit's folder",
    ),
    Step(
        "camera",
        "the camera sees the desk, with depth",
        6.0,
        camera.choose,
        seen="two pictures of the desk, colour and depth",
    ),
    Step(
        "registration",
        "depth lies on colour, pixel by pixel",
        1.0,
        camera.registered,
        seen="depth is aligned to colour; a camera whose depth is not registered is refused here",
    ),
    Step(
        "handeye",
        "the robot knows where its camera is",
        10.0,
        handeye.run,
        seen="the arm takes the board from pose to pose; residual below 6 mm, camera known to 1.3 mm",
    ),
    Step(
        "table",
        "the desk is level at height 0",
        1.0,
        handeye.table,
        seen="nothing moves; the camera is corrected by some millimetres",
    ),
    Step(
        "look",
        "a block is seen where it lies",
        4.0,
        pick.look,
        seen="a picture with a frame round the block and round the tray; the block within 15 mm of where you measured it",
    ),
    Step(
        "pick",
        "the first block is picked and placed",
        2.0,
        pick.pick,
        seen="the arm grasps the block from above, lifts it, lays it into the tray and goes back",
    ),
)


def steps_of(arm: str) -> tuple[Step, ...]:
    """All steps of an arm's first day.

    Raises:
        DeskhandError: ``invalid_input`` with the arms that have one.
    """
    if arm not in ARMS:
        raise DeskhandError("invalid_input", f"there is no first day for {arm!r}; there is for: {', '.join(ARMS)}.", hint="See docs/arms.md for another arm.")
    own: tuple[Step, ...] = import_module(f"deskhand.bringup.first_day.{arm}").STEPS
    return (*BEFORE, *own, *AFTER)
