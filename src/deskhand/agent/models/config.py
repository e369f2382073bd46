"""Model profiles: ``config/llm.yaml``, or a file of the user's."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import MISSING, dataclass, fields
from pathlib import Path
from typing import Any

import yaml

from deskhand.agent.base import ChatModel
from deskhand.errors import DeskhandError
from deskhand.resources import resource_path

PROVIDERS = ("offline", "openai", "scripted")
REPLIES = ("tools", "json")
FILE_VARIABLE = "DESKHAND_LLM"


@dataclass(frozen=True)
class ModelProfile:
    """One language model and how to talk to it.

    Attributes:
        provider: ``offline``, ``openai`` (any server with that interface) or ``scripted``.
        model: its name at the server.
        base_url: of the server, with ``/v1``.
        key_env: name of the environment variable that holds the key; empty where the server needs none.
        reply: ``tools`` (native tool calls) or ``json`` (replies constrained by a JSON schema, for servers that do not enforce tools).
        timeout: [s] of one request. ``retries``: how many more requests after the first.
        context_tokens: what the model can read; older results are cut to fit; 0 for no limit.
        max_tokens: of one reply, 0 for the server's default.
        max_total_tokens: budget of one task, 0 for none.
        file: replies of a ``scripted`` model.
    """

    name: str
    provider: str = "offline"
    model: str = ""
    base_url: str = ""
    key_env: str = ""
    reply: str = "tools"
    timeout: float = 60.0
    retries: int = 4
    temperature: float = 0.0
    context_tokens: int = 0
    max_tokens: int = 0
    max_total_tokens: int = 0
    file: str = ""


def profiles_file() -> Path:
    """The file of profiles: what the environment variable ``DESKHAND_LLM`` names, else config/llm.yaml."""
    return Path(os.environ[FILE_VARIABLE]).expanduser() if os.environ.get(FILE_VARIABLE) else resource_path("config/llm.yaml")


def vision_profile() -> str:
    """Name of the profile whose model answers questions about pictures (``vision`` in the file), empty for none.

    Raises:
        DeskhandError: ``config_error`` when the file cannot be read.
    """
    return str(_read(profiles_file()).get("vision") or "")


def _read(path: Path) -> Mapping[str, Any]:
    try:
        data = yaml.safe_load(path.read_text(encoding="utf-8"))
    except (OSError, yaml.YAMLError) as error:
        raise DeskhandError("config_error", f"cannot read the model profiles {path}: {error}.") from error
    return data if isinstance(data, Mapping) else {}


def load_profile(name: str = "", path: Path | None = None) -> ModelProfile:
    """The profile ``name``, or the file's default when empty.

    Raises:
        DeskhandError: ``config_error`` naming file, profile and field.
    """
    path = path or profiles_file()
    data = _read(path)
    profiles = data.get("profiles")
    if not isinstance(profiles, Mapping) or not profiles:
        raise DeskhandError("config_error", f"{path} must have a mapping 'profiles' of names to settings.")
    name = name or str(data.get("default", ""))
    if name not in profiles:
        raise DeskhandError("config_error", f"there is no model profile {name!r} in {path}; there are: {', '.join(map(str, profiles))}.")
    return _profile(name, profiles[name], path)


def _profile(name: str, data: Any, path: Path) -> ModelProfile:
    where = f"profile {name!r} in {path}"
    if not isinstance(data, Mapping):
        raise DeskhandError("config_error", f"{where} must be a mapping.")
    kinds = {field.name: type(field.default) for field in fields(ModelProfile) if field.default is not MISSING}
    values: dict[str, Any] = {}
    for key, value in data.items():
        kind = kinds.get(str(key))
        if kind is None:
            raise DeskhandError("config_error", f"{where}: unknown field {key!r}; valid: {', '.join(kinds)}.")
        if kind is float and isinstance(value, int) and not isinstance(value, bool):
            value = float(value)
        if type(value) is not kind:
            raise DeskhandError("config_error", f"{where}: {key} must be {kind.__name__}, got {value!r}.")
        values[str(key)] = value
    profile = ModelProfile(name, **values)
    _check(profile, where)
    return profile


def _check(profile: ModelProfile, where: str) -> None:
    if profile.provider not in PROVIDERS:
        raise DeskhandError("config_error", f"{where}: provider {profile.provider!r} is not one of {', '.join(PROVIDERS)}.")
    if profile.reply not in REPLIES:
        raise DeskhandError("config_error", f"{where}: reply {profile.reply!r} is not one of {', '.join(REPLIES)}.")
    if profile.provider == "openai" and not (profile.model and profile.base_url.startswith(("http://", "https://"))):
        raise DeskhandError("config_error", f"{where}: an openai profile needs 'model' and 'base_url' (http or https).")
    if profile.provider == "scripted" and not profile.file:
        raise DeskhandError("config_error", f"{where}: a scripted profile needs 'file'.")
    if profile.timeout <= 0 or profile.retries < 0:
        raise DeskhandError("config_error", f"{where}: timeout must be positive and retries not negative.")


def make_model(profile: ModelProfile | str = "") -> ChatModel:
    """The model of a profile (or of a profile's name). No network is touched before the first reply.

    Raises:
        DeskhandError: ``config_error``; ``missing_dependency`` when the provider's package is not installed.
    """
    if isinstance(profile, str):
        profile = load_profile(profile)
    if profile.provider == "openai":
        from deskhand.agent.models.openai import OpenAIModel

        return OpenAIModel(profile)
    if profile.provider == "scripted":
        from deskhand.agent.models.scripted import ScriptedModel

        return ScriptedModel.from_file(Path(profile.file))
    from deskhand.agent.models.offline import OfflineModel

    return OfflineModel()
