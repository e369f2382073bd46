"""What the models behind a network share."""

from __future__ import annotations

import json
import logging
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from deskhand.llm.base import Message, Reply
from deskhand.llm.compact import CORRECTED, FOLLOWS, compact
from deskhand.llm.config import ModelProfile
from deskhand.llm.faults import ModelFault, Stopper
from deskhand.llm.form import unfold
from deskhand.llm.pictures import NONE, limited

log = logging.getLogger(__name__)


class OnlineModel(ABC):
    """One profile's model. Its library is imported and the key is read at the first reply.

    Attributes:
        images, image_side: which pictures the conversation may hold, and how large (config.py); ``none`` from when the server has refused one.
    """

    def __init__(self, profile: ModelProfile, sleep: Callable[[float], None] | None = None) -> None:
        self.name = f"{profile.name} ({profile.model})"
        self.brief = profile.prompt == "compact"
        self.context_tokens = 0 if profile.prompt == "compact" else profile.context_tokens  # a compact prompt is made to fit from the whole talk
        self.images, self.image_side = profile.images, profile.image_side
        self._profile, self._sleep = profile, sleep
        self._client: Any = None
        self._key = ""
        self._stopper = Stopper()

    def reply(self, messages: Sequence[Message], tools: Sequence[Mapping[str, Any]], schema: Mapping[str, Any] | None = None) -> Reply:
        """One reply; requests that fail for a passing reason are made again with growing pauses. With a compact prompt a call that leaves nothing to decide
        is not asked for.

        Raises:
            ModelFault: after retries, or at once where asking again is pointless or there is no key.
            DeskhandError: ``missing_dependency`` without the library.
        """
        if self._profile.prompt != "compact" or not tools or schema is not None:
            return self._with_eyes(messages, tools, schema)
        asked = compact(messages, tools, self._profile)
        if asked.follows:
            return Reply(CORRECTED if asked.now.faults or asked.now.corrected else FOLLOWS, (asked.follows,), model=self.name, asked=False)
        reply = self._with_eyes(asked.messages, asked.cards, None)
        prompt = "\n\n".join(message.content for message in asked.messages)
        said = json.dumps([{"tool": call.name, "arguments": call.arguments} for call in reply.tool_calls]) if reply.tool_calls else reply.text
        return replace(reply, tool_calls=tuple(unfold(call, asked.now) for call in reply.tool_calls), prompt=prompt, said=said)

    def _with_eyes(self, messages: Sequence[Message], tools: Sequence[Mapping[str, Any]], schema: Mapping[str, Any] | None) -> Reply:
        """A reply; a server that refuses the pictures of a conversation is asked once more, and from then on, without them."""
        try:
            return self._reply(messages, tools, schema)
        except ModelFault as fault:
            if fault.kind != "no_images" or self.images == NONE:
                raise
            self.images = NONE
            log.warning("model %s: %s; it goes on without pictures", self.name, fault)
            reply = self._reply(limited(messages, NONE), tools, schema)
            return replace(reply, notes=(*reply.notes, f"no_images: {str(fault)[:200]}"))

    @abstractmethod
    def _reply(self, messages: Sequence[Message], tools: Sequence[Mapping[str, Any]], schema: Mapping[str, Any] | None) -> Reply:
        """Ask the server; see :meth:`reply`."""

    def cancel(self) -> None:
        """Give up the reply that is under way: a stream is closed, so that the server can stop writing; nothing is asked again."""
        self._stopper.set()

    def _begin(self) -> Stopper:
        """Before every reply: the client is there, and what stops this reply."""
        self._stopper = stopper = Stopper()
        if self._client is None:
            self._connect()
        return stopper

    @abstractmethod
    def _connect(self) -> None:
        """Import the library, read the key and make the client.

        Raises:
            ModelFault: there is no key.
            DeskhandError: ``missing_dependency`` without the library.
        """
