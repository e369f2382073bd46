"""Which arm a command is for: said, named once for all by DESKHAND_ARM, or read from the robot's nodes; never assumed where an arm may move."""

from __future__ import annotations

from typing import Annotated

import typer

from deskhand.errors import DeskhandError

VARIABLE = "DESKHAND_ARM"
SIMULATED = "wx250s"
"""The arm of a simulation for which none is given: there nothing is at risk."""
ArmOption = Annotated[str, typer.Option(envvar=VARIABLE, help="Arm, a name in config/arms or a YAML file.", show_default=False)]
RunningArm = Annotated[
    str, typer.Option(envvar=VARIABLE, help="Arm, a name in config/arms or a YAML file. Default: the one that the robot's nodes run with.", show_default=False)
]


def require_arm(arm: str) -> str:
    """``arm``, when it is given.

    Raises:
        DeskhandError: ``config_error`` listing the arms there are.
    """
    if not arm:
        from deskhand.arms.config import list_arms

        raise DeskhandError("config_error", "which arm?", hint=f"Give --arm, or set {VARIABLE}: {', '.join(list_arms())}, or the YAML file of your own.")
    return arm
