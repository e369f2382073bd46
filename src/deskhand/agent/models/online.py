"""What the models behind a network share."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Any

from deskhand.agent.models.config import ModelProfile
from deskhand.agent.models.faults import Stopper


class OnlineModel(ABC):
    """One profile's model. Its library is imported and the key is read at the first reply."""

    def __init__(self, profile: ModelProfile, sleep: Callable[[float], None] | None = None) -> None:
        self.name = f"{profile.name} ({profile.model})"
        self.context_tokens = 0 if profile.prompt == "compact" else profile.context_tokens  # a compact prompt is made to fit from the whole talk
        self._profile, self._sleep = profile, sleep
        self._client: Any = None
        self._key = ""
        self._stopper = Stopper()

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
