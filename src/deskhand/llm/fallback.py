"""Several models for one task: where the first fails, the next answers."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from deskhand.llm.base import ChatModel, Message, Reply
from deskhand.llm.config import ModelProfile
from deskhand.llm.faults import ModelFault
from deskhand.llm.pictures import NONE, limited

log = logging.getLogger(__name__)


class FallbackModel:
    """Asks the first of ``models`` that does not rest; after a fault of a kind in its profile's ``fallback_on`` it rests, and the next is asked.

    Every reply says which model gave it. The last never rests: its fault is the fault.
    """

    def __init__(self, models: Sequence[tuple[ModelProfile, ChatModel]], now: Callable[[], float] = time.monotonic) -> None:
        self._models, self._now = list(models), now
        self._rests_until: dict[str, float] = {}
        self._asked: ChatModel | None = None
        self.name = ", else ".join(model.name for _, model in models)
        limits = [profile.context_tokens for profile, _ in models if profile.context_tokens]
        self.image_side = min((profile.image_side for profile, _ in models if profile.images != NONE), default=640)
        self.context_tokens = min(limits, default=0)

    def reply(self, messages: Sequence[Message], tools: Sequence[Mapping[str, Any]], schema: Mapping[str, Any] | None = None) -> Reply:
        """See ChatModel. Raises what the last model raises, or a fault that no other model is there for."""
        awake = [item for item in self._models[:-1] if self._rests_until.get(item[0].name, 0.0) <= self._now()]
        for profile, model in awake:
            try:
                return self._ask(model, messages, tools, schema)
            except ModelFault as fault:
                if fault.kind not in profile.fallback_on:
                    raise
                log.warning("model %s: %s (%s); the next one is asked, this one again after %g s", model.name, fault, fault.kind, profile.fallback_rest)
                self._rests_until[profile.name] = self._now() + profile.fallback_rest
        return self._ask(self._models[-1][1], messages, tools, schema)

    @property
    def images(self) -> str:
        """Of the first model that sees; each is shown what its own profile says."""
        return next((seen for _, model in self._models if (seen := getattr(model, "images", NONE)) != NONE), NONE)

    def cancel(self) -> None:
        """See ChatModel."""
        cancel = getattr(self._asked, "cancel", None)
        if cancel is not None:
            cancel()

    def _ask(self, model: ChatModel, messages: Sequence[Message], tools: Sequence[Mapping[str, Any]], schema: Mapping[str, Any] | None) -> Reply:
        self._asked = model
        if self.images != NONE:  # where nobody has eyes of its own, pictures are what somebody asks about
            messages = limited(messages, getattr(model, "images", NONE))
        reply = model.reply(messages, tools, schema)
        return reply if reply.model else replace(reply, model=model.name)
