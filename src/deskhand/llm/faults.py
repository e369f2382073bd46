"""What goes wrong between us and a language model's server, sorted by what helps; and asking again where asking again helps."""

from __future__ import annotations

import logging
import math
import os
import threading
import time
from collections.abc import Callable
from email.utils import parsedate_to_datetime
from typing import TYPE_CHECKING, Any, TypeVar

from deskhand.errors import DeskhandError

if TYPE_CHECKING:
    from deskhand.llm.config import ModelProfile

log = logging.getLogger(__name__)

KINDS = {
    "no_key": "",
    "unreachable": "Is the server running, and is base_url right?",
    "timeout": "A larger timeout in the profile, or a smaller or faster model.",
    "rate_limited": "Wait, or ask the provider for a higher limit.",
    "server_error": "The server's own log says why.",
    "bad_reply": "Is this a server with the interface that the profile's provider names?",
    "key_refused": "The key in the environment is not valid for this server or model.",
    "unknown_model": "The profile's model must be a name that the server knows.",
    "no_tools": "This model or server takes no tools: set `reply: json` in the profile.",
    "no_images": "This model or server takes no pictures: set `images: none` in the profile.",
    "too_long": "Set context_tokens to what the model can read, or `prompt: compact`.",
    "refused_request": "",
    "cancelled": "",
}
"""Kind of a fault -> what to do about it."""
PASSING = frozenset(("unreachable", "timeout", "rate_limited", "server_error", "bad_reply"))
"""Kinds that may be gone when the same is asked again."""

_BACKOFF = (0.5, 8.0)
"""First and longest pause between requests [s]; doubled each time."""
T = TypeVar("T")


class ModelFault(DeskhandError):
    """``model_failed`` (``config_error`` without a key) with its ``kind``; ``wait`` is how long the server asks to wait [s], None when it does not."""

    def __init__(self, kind: str, message: str, wait: float | None = None) -> None:
        super().__init__("config_error" if kind == "no_key" else "model_failed", message, hint=KINDS[kind])
        self.kind = kind
        self.wait = wait


class Stopper:
    """Whether the reply that is under way shall be given up."""

    def __init__(self) -> None:
        self._event = threading.Event()

    def set(self) -> None:
        """Give it up."""
        self._event.set()

    def wait(self, seconds: float) -> None:
        """Pause, at most until it is given up."""
        self._event.wait(seconds)

    def check(self) -> None:
        """Raise ``cancelled`` (a ModelFault) when it is given up."""
        if self._event.is_set():
            raise ModelFault("cancelled", "the reply was not waited for any longer.")


def key_of(profile: ModelProfile) -> str:
    """The key from the environment; ``none`` for a server that needs none.

    Raises:
        ModelFault: ``no_key``.
    """
    key = os.environ.get(profile.key_env, "").strip() if profile.key_env else "none"
    if not key:
        raise ModelFault("no_key", f"the environment variable {profile.key_env} with the key of profile {profile.name!r} is not set.")
    return key


def ask_again(profile: ModelProfile, name: str, ask: Callable[[], T], stopper: Stopper, sleep: Callable[[float], None] | None = None) -> T:
    """What ``ask`` gives; after faults that may pass it is called again, ``profile.retries`` times, with growing pauses or after what the server asks for.

    Raises:
        ModelFault: of the last attempt, with the number of attempts; at once where asking again is pointless, or where the server asks for a wait
            longer than ``profile.longest_wait``.
    """
    pause = sleep or stopper.wait
    for attempt in range(profile.retries + 1):
        stopper.check()
        try:
            return ask()
        except ModelFault as fault:
            where = f"{name} at {profile.base_url}" if profile.base_url else name
            asked = "" if fault.wait is None else f"; the server asks to wait {fault.wait:g} s"
            last = attempt == profile.retries or (fault.wait or 0.0) > profile.longest_wait
            if fault.kind not in PASSING or last:
                count = f" ({attempt + 1} attempts{asked})" if fault.kind in PASSING else ""
                raise ModelFault(fault.kind, f"{where}: {fault.message}{count}.", fault.wait) from fault
            log.info("model %s: %s; attempt %d follows", name, fault.message, attempt + 2)
            pause(fault.wait if fault.wait is not None else min(_BACKOFF[0] * 2**attempt, _BACKOFF[1]))
    raise AssertionError("unreachable")


def fault_of(sdk: Any, error: Exception, profile: ModelProfile, key: str) -> ModelFault:
    """An error of the library ``openai`` or ``anthropic`` (they are made by the same generator) as a fault; the key never shows in it."""
    if isinstance(error, sdk.APITimeoutError):
        return ModelFault("timeout", f"no answer within {profile.timeout:g} s")
    if isinstance(error, sdk.APIStatusError):
        status = int(error.status_code)
        text = _without(key, str(error))[:300]
        return ModelFault(_kind_of_status(status, text), f"status {status}: {text}", retry_after(error))
    if isinstance(error, sdk.APIConnectionError):
        return ModelFault("unreachable", f"cannot be reached: {_without(key, str(error.__cause__ or error))[:300]}")
    return ModelFault("bad_reply", f"what came back cannot be read: {type(error).__name__}: {_without(key, str(error))[:200]}")


def _without(key: str, text: str) -> str:
    return text.replace(key, "[key]") if len(key) > 4 else text


_PICTURES = ("image", "multimodal", "multi-modal", "vision")
_REFUSES = ("not support", "unsupported", "only supported", "does not", "is not a", "missing data required", "at most 0", "not allowed", "cannot")


def _kind_of_status(status: int, text: str) -> str:
    said = text.lower()
    if status in {408, 504}:
        return "timeout"
    if status in {409, 425, 429}:
        return "rate_limited"
    if status in {401, 403}:
        return "key_refused"
    if status == 404 or ("model" in said and any(word in said for word in ("not found", "does not exist", "unknown model", "invalid model"))):
        return "unknown_model"
    if any(word in said for word in _PICTURES) and any(word in said for word in _REFUSES):  # some servers call it an error of their own
        return "no_images"
    if status >= 500:
        return "server_error"
    if "tool" in said and any(word in said for word in ("not support", "unsupported", "does not", "requires", "not allowed")):
        return "no_tools"
    if status == 413 or any(word in said for word in ("context length", "context_length", "maximum context", "context size", "prompt is too long")):
        return "too_long"
    return "refused_request"


def retry_after(error: Any, now: Callable[[], float] = time.time) -> float | None:
    """What the header Retry-After asks for [s]: a number, or a date; None without one that can be read."""
    value = str(error.response.headers.get("retry-after") or "")
    try:
        seconds = float(value)
    except ValueError:
        try:
            seconds = parsedate_to_datetime(value).timestamp() - now()
        except (TypeError, ValueError):
            return None
    return max(0.0, seconds) if math.isfinite(seconds) else None
