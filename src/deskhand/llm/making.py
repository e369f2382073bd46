"""Makes the model of a profile: one module a provider, each with ``from_profile``, imported when it is asked for."""

from __future__ import annotations

import importlib
from pathlib import Path

from deskhand.errors import DeskhandError
from deskhand.llm.base import ChatModel
from deskhand.llm.config import ModelProfile, load_profile
from deskhand.llm.fallback import FallbackModel

MODULES = {
    "openai": "deskhand.llm.openai",
    "anthropic": "deskhand.llm.anthropic",
    "scripted": "deskhand.llm.scripted",
    "offline": "deskhand.offline.model",  # no language model, and above this package: named, not imported
}


def make_model(profile: ModelProfile | str = "", path: Path | None = None) -> ChatModel:
    """The model of a profile (or of a profile's name), with those it falls back on. No network is touched before the first reply.

    Raises:
        DeskhandError: ``config_error``; ``missing_dependency`` when the provider's package is not installed.
    """
    first = load_profile(profile, path) if isinstance(profile, str) else profile
    chain = [first]
    while chain[-1].fallback:
        name = chain[-1].fallback
        if any(name == other.name for other in chain):
            raise DeskhandError("config_error", f"profile {first.name!r} falls back in a circle: {' -> '.join(item.name for item in chain)} -> {name}.")
        chain.append(load_profile(name, path))
    if len(chain) == 1:
        return _one(first)
    return FallbackModel([(item, _one(item)) for item in chain])


def _one(profile: ModelProfile) -> ChatModel:
    model: ChatModel = importlib.import_module(MODULES[profile.provider]).from_profile(profile)
    return model
