"""Model profiles: ``config/llm.yaml``, or a file of the user's."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from dataclasses import MISSING, dataclass, fields, replace
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import yaml

from deskhand.errors import DeskhandError
from deskhand.llm.faults import KINDS, PASSING
from deskhand.llm.pictures import NONE, is_valid
from deskhand.types.resources import resource_path
from deskhand.types.yaml_file import read_yaml

PROVIDERS = ("offline", "openai", "anthropic", "scripted")
REPLIES = ("tools", "json")
PROMPTS = ("full", "compact")
BOXES = ("x_first", "y_first")
FILE_VARIABLE = "DESKHAND_LLM"


@dataclass(frozen=True)
class ModelProfile:
    """One language model and how to talk to it.

    Attributes:
        provider: ``offline``, ``openai`` (any server with that interface), ``anthropic`` or ``scripted``.
        model: its name at the server.
        base_url: of the server, with ``/v1`` for ``openai``; may be empty for ``anthropic``.
        key_env: name of the environment variable that holds the key; empty where the server needs none.
        reply: ``tools`` (native tool calls) or ``json`` (replies constrained by a JSON schema, for servers that do not enforce tools).
        prompt: ``full`` (the whole conversation, all offered tools) or ``compact`` (what matters now, few tools; for small models and contexts).
        stream: read the reply as it is written, so that it can be given up in the middle.
        timeout: [s] of one request. ``retries``: how many more requests after the first. ``longest_wait``: [s] that a server's Retry-After is granted.
        temperature: below 0 for the server's default; an ``anthropic`` model is sent only one above 0.
        context_tokens: what the model can read; older results are cut to fit; 0 for no limit.
        max_tokens: of one reply, 0 for the server's default.
        max_total_tokens, max_cost: budget of one task, 0 for none; the cost in the currency of ``price_in`` and ``price_out``, which are per million tokens.
        fallback: the profile that answers where this one fails, after its retries, with one of the faults ``fallback_on`` (models/faults.py).
        fallback_rest: [s] for which a model that failed so is not asked again.
        file: replies of a ``scripted`` model.
        images: which pictures of the desk stay in the conversation: ``none``, ``first``, ``last``, or a number K for the newest K.
        image_side: longest side of a picture that is sent [px].
        boxes: how the model gives boxes in pictures: ``x_first`` (left, top, right, bottom) or ``y_first`` (top, left, bottom, right).
        judge: who says whether a task was done as asked: the name of a profile, ``same`` (this model, asked anew without the conversation), or empty.
    """

    name: str
    provider: str = "offline"
    model: str = ""
    base_url: str = ""
    key_env: str = ""
    reply: str = "tools"
    prompt: str = "full"
    stream: bool = True
    timeout: float = 60.0
    retries: int = 4
    longest_wait: float = 30.0
    temperature: float = 0.0
    context_tokens: int = 0
    max_tokens: int = 0
    max_total_tokens: int = 0
    max_cost: float = 0.0
    price_in: float = 0.0
    price_out: float = 0.0
    fallback: str = ""
    fallback_on: tuple[str, ...] = tuple(sorted(PASSING))
    fallback_rest: float = 60.0
    file: str = ""
    images: str = NONE
    image_side: int = 640
    boxes: str = "x_first"
    judge: str = ""

    def cost(self, prompt_tokens: int, completion_tokens: int) -> float:
        """Of one reply."""
        return (prompt_tokens * self.price_in + completion_tokens * self.price_out) / 1e6


def with_images(profile: ModelProfile, images: int | None) -> ModelProfile:
    """The profile with the newest ``images`` pictures shown to the model; None leaves it as it is.

    Raises:
        DeskhandError: ``config_error`` for a model that is shown none.
    """
    if images is None:
        return profile
    if images and profile.provider == "offline":
        raise DeskhandError("config_error", f"the brain {profile.name!r} is shown no pictures.", hint="Leave --images out.")
    return replace(profile, images=str(images) if images else NONE)


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
        data = read_yaml(path)
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
        if key == "images" and type(value) is int:
            value = str(value) if value else NONE
        if kind is tuple and isinstance(value, list) and all(isinstance(item, str) for item in value):
            value = tuple(value)
        if type(value) is not kind:
            raise DeskhandError("config_error", f"{where}: {key} must be {'a list of words' if kind is tuple else kind.__name__}, got {value!r}.")
        values[str(key)] = value
    profile = ModelProfile(name, **values)
    _check(profile, where)
    return profile


def _check(profile: ModelProfile, where: str) -> None:
    problem = next((text for wrong, text in _problems(profile) if wrong), "")
    if problem:
        raise DeskhandError("config_error", f"{where}: {problem}.")


def _problems(profile: ModelProfile) -> Iterator[tuple[bool, str]]:
    """What may be wrong, and whether it is."""
    url, http = urlsplit(profile.base_url), profile.base_url.startswith(("http://", "https://"))
    yield profile.provider not in PROVIDERS, f"provider {profile.provider!r} is not one of {', '.join(PROVIDERS)}"
    yield profile.reply not in REPLIES, f"reply {profile.reply!r} is not one of {', '.join(REPLIES)}"
    yield profile.prompt not in PROMPTS, f"prompt {profile.prompt!r} is not one of {', '.join(PROMPTS)}"
    yield profile.provider == "openai" and not (profile.model and http), "an openai profile needs 'model' and 'base_url' (http or https)"
    yield profile.provider == "anthropic" and not (profile.model and profile.key_env), "an anthropic profile needs 'model' and 'key_env'"
    yield profile.provider == "anthropic" and bool(profile.base_url) and not http, "'base_url' must begin with http or https"
    yield profile.provider == "anthropic" and profile.reply == "json", "an anthropic profile has reply: tools"
    yield bool(url.username or url.password or url.query), "'base_url' must hold no user, password or key; name an environment variable in 'key_env'"
    yield profile.provider == "scripted" and not profile.file, "a scripted profile needs 'file'"
    yield not is_valid(profile.images), f"images {profile.images!r} is not one of none, first, last or a number"
    yield profile.provider == "offline" and profile.images != NONE, "the offline brain is shown no pictures: leave 'images' out"
    yield not 64 <= profile.image_side <= 4096, f"image_side {profile.image_side} is not between 64 and 4096"
    yield profile.boxes not in BOXES, f"boxes {profile.boxes!r} is not one of {', '.join(BOXES)}"
    yield profile.timeout <= 0 or profile.retries < 0, "timeout must be positive and retries not negative"
    amounts = (profile.max_cost, profile.price_in, profile.price_out, profile.longest_wait, profile.fallback_rest)
    yield min(amounts) < 0, "prices, costs and waits must not be negative"
    yield profile.max_cost > 0 and not (profile.price_in or profile.price_out), "'max_cost' needs 'price_in' and 'price_out'"
    unknown = sorted(set(profile.fallback_on) - set(KINDS))
    yield bool(unknown), f"fallback_on knows no {', '.join(unknown)}; valid: {', '.join(KINDS)}"
