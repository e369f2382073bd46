"""The state of safety."""

from __future__ import annotations

from deskhand import types
from deskhand.nodes.conversions.geometry import header, time_from_msg
from deskhand_interfaces import msg as dm


def safety_status_to_msg(status: types.SafetyStatus) -> dm.SafetyStatus:
    """SafetyStatus -> message."""
    return dm.SafetyStatus(header=header(status.stamp, ""), stopped=status.stopped, code=status.code, reason=status.reason)


def safety_status_from_msg(message: dm.SafetyStatus) -> types.SafetyStatus:
    """Message -> SafetyStatus."""
    return types.SafetyStatus(message.stopped, message.code, message.reason, time_from_msg(message.header.stamp))
