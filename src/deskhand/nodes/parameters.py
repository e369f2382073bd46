"""ROS parameters declared from one typed dataclass per node: type, default, range and description stand there, once.

A node reads its parameters when it starts. They are read-only from then on, so that ``ros2 param set`` cannot say "successful" where nothing changes;
a field made by ``setting(…, at_run_time=True)`` is read whenever it matters, and may be set.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Sequence
from dataclasses import MISSING, field, fields
from typing import Any, TypeVar

from rcl_interfaces.msg import FloatingPointRange, IntegerRange, ParameterDescriptor
from rclpy.exceptions import InvalidParameterTypeException, InvalidParameterValueException
from rclpy.node import Node

from deskhand.errors import DeskhandError

T = TypeVar("T")


MOST = 2**62  # of whole numbers


def setting(default: Any, *, valid: Sequence[str] = (), low: float = 0.0, high: float = float("inf"), at_run_time: bool = False) -> Any:
    """A field with more than a default: the texts that are ``valid``, the least and the greatest number, whether it may be set while the node runs.

    A number without a setting is 0 or more.
    """
    return field(default=default, metadata={"valid": tuple(valid), "low": low, "high": high, "at_run_time": at_run_time})


def declare_parameters(node: Node, kind: type[T]) -> T:
    """Declare every field of the dataclass ``kind`` with its default and return an instance with the values in force.

    Raises:
        DeskhandError: ``config_error`` when a value has the wrong type for its field, or is not a valid one.
    """
    texts = descriptions(kind)
    values: dict[str, Any] = {}
    for item in fields(kind):  # type: ignore[arg-type]
        default = item.default_factory() if item.default_factory is not MISSING else item.default
        name, valid = item.name, item.metadata.get("valid", ())
        try:
            value = node.declare_parameter(name, default, _descriptor(item, default, texts.get(name, ""))).value
        except (InvalidParameterTypeException, InvalidParameterValueException) as error:
            raise DeskhandError("config_error", f"parameter {name} of {node.get_name()}: {error}.", hint=texts.get(name, "")) from error
        if isinstance(default, float) and isinstance(value, int):
            value = float(value)
        if isinstance(default, list):
            value = list(value)
        if type(value) is not type(default):
            raise DeskhandError("config_error", f"parameter {name} of {node.get_name()} must be {type(default).__name__}, got {value!r}.")
        if valid and value not in valid:
            choices = ", ".join(repr(choice) for choice in valid)
            raise DeskhandError("config_error", f"parameter {name} of {node.get_name()} is {value!r}; valid: {choices}.", hint=texts.get(name, ""))
        values[name] = value
    return kind(**values)


def descriptions(kind: type) -> dict[str, str]:
    """What the docstrings of a dataclass and of its bases say of its fields, below ``Attributes:``, by name."""
    found: dict[str, str] = {}
    for base in reversed(kind.__mro__):
        lines = (inspect.getdoc(base) or "").partition("Attributes:\n")[2].splitlines() if base.__doc__ else []
        names: list[str] = []
        for line in lines:
            head = re.fullmatch(r" {4}(\w+(?:, \w+)*): (.+)", line)
            if head:
                names = head[1].split(", ")
                found |= dict.fromkeys(names, head[2])
            elif line.startswith("     ") and names:
                found |= {name: f"{found[name]} {line.strip()}" for name in names}
            elif line.strip():
                break
    return found


def _descriptor(item: Any, default: Any, text: str) -> ParameterDescriptor:
    metadata = item.metadata
    valid, low, high = metadata.get("valid", ()), metadata.get("low", 0.0), metadata.get("high", float("inf"))
    descriptor = ParameterDescriptor(name=item.name, description=text, read_only=not metadata.get("at_run_time", False))
    if valid:
        descriptor.additional_constraints = f"one of: {', '.join(repr(choice) for choice in valid)}"
    if isinstance(default, float):
        descriptor.floating_point_range = [FloatingPointRange(from_value=float(low), to_value=min(float(high), 1e12))]
    elif isinstance(default, int) and not isinstance(default, bool):
        descriptor.integer_range = [IntegerRange(from_value=int(low), to_value=int(min(high, MOST)))]
    return descriptor
