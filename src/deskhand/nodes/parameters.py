"""ROS parameters declared from one typed dataclass per node."""

from __future__ import annotations

from dataclasses import MISSING, fields
from typing import Any, TypeVar

from rclpy.node import Node

from deskhand.errors import DeskhandError

T = TypeVar("T")


def declare_parameters(node: Node, kind: type[T]) -> T:
    """Declare every field of the dataclass ``kind`` with its default and return an instance with the values in force.

    Raises:
        DeskhandError: ``config_error`` when a value has the wrong type for its field.
    """
    values: dict[str, Any] = {}
    for field in fields(kind):  # type: ignore[arg-type]
        default = field.default if field.default is not MISSING else field.default_factory()  # type: ignore[misc]
        value = node.declare_parameter(field.name, default).value
        if isinstance(default, float) and isinstance(value, int):
            value = float(value)
        if isinstance(default, list):
            value = list(value)
        if type(value) is not type(default):
            raise DeskhandError("config_error", f"parameter {field.name} of {node.get_name()} must be {type(default).__name__}, got {value!r}.")
        values[field.name] = value
    return kind(**values)
