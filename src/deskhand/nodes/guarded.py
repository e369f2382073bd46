"""A request that hits a mistake in a node's code is answered by an error; it does not end the node."""

from __future__ import annotations

import functools
import traceback
from collections.abc import Callable
from typing import Any

from deskhand.errors import ERROR_NUMBERS

Complain = Callable[[str], object]
"""Logs an error."""


def answered(callback: Callable[[Any, Any], Any], complain: Complain, name: str) -> Callable[[Any, Any], Any]:
    """A service's callback that answers ``internal_error``, or ``success`` false, where ``callback`` raises."""

    @functools.wraps(callback)
    def call(request: Any, response: Any) -> Any:
        try:
            return _sendable(callback(request, response))
        except Exception as error:
            text = _told(complain, name, error)
        response = type(response)()
        fields = response.get_fields_and_field_types()
        values = {"error_code": ERROR_NUMBERS["internal_error"], "error_message": text, "success": False, "accepted": False, "message": text}
        for field in values.keys() & fields.keys():
            setattr(response, field, values[field])
        return response

    return call


def refused(callback: Callable[[Any], Any], refusal: Any, complain: Complain, name: str) -> Callable[[Any], Any]:
    """A callback for a goal or a cancel that answers ``refusal`` where ``callback`` raises."""

    @functools.wraps(callback)
    def call(request: Any) -> Any:
        try:
            return callback(request)
        except Exception as error:
            _told(complain, name, error)
            return refusal

    return call


def _sendable(response: Any) -> Any:
    """The response with texts that UTF-8 can carry: what somebody sent may hold halves of characters."""
    for field, kind in response.get_fields_and_field_types().items():
        if kind == "string":
            setattr(response, field, getattr(response, field).encode("utf-8", "replace").decode())
    return response


def _told(complain: Complain, name: str, error: Exception) -> str:
    complain(f"a request to {name} failed:\n{''.join(traceback.format_exception(error))}")
    return f"{type(error).__name__}: {error}"
