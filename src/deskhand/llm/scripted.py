"""Replays given replies; for tests and for showing what the loop does with a model's mistakes."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import yaml

from deskhand.errors import DeskhandError
from deskhand.llm.base import Message, Reply, ToolCall
from deskhand.llm.config import ModelProfile
from deskhand.types.yaml_file import read_yaml


class ScriptedModel:
    """Gives ``replies`` one after the other; an exception among them is raised.

    ``conversations`` keeps what it was shown, newest last.
    """

    name = "scripted"

    def __init__(self, replies: Iterable[Reply | Exception]) -> None:
        self._replies = list(replies)
        self.conversations: list[list[Message]] = []

    @classmethod
    def from_file(cls, path: Path) -> ScriptedModel:
        """From YAML: a list of ``{text, tool, arguments}`` or of strings.

        Raises:
            DeskhandError: ``config_error`` when the file is missing or not such a list.
        """
        try:
            data = read_yaml(path)
        except (OSError, yaml.YAMLError) as error:
            raise DeskhandError("config_error", f"cannot read the scripted replies {path}: {error}.") from error
        if not isinstance(data, list) or not all(isinstance(item, str | dict) for item in data):
            raise DeskhandError("config_error", f"{path} must be a list of strings or of mappings with text, tool and arguments.")
        return cls(_reply(item) for item in data)

    def reply(self, messages: Sequence[Message], tools: Sequence[Mapping[str, Any]], schema: Mapping[str, Any] | None = None) -> Reply:
        """The next one. Raises ``model_failed`` when there is none left."""
        self.conversations.append(list(messages))
        if not self._replies:
            raise DeskhandError("model_failed", "the scripted model has no reply left.")
        item = self._replies.pop(0)
        if isinstance(item, Exception):
            raise item
        return item


def _reply(item: str | dict[str, Any]) -> Reply:
    if isinstance(item, str):
        return Reply(item)
    calls = (ToolCall(str(item["tool"]), dict(item.get("arguments") or {})),) if "tool" in item else ()
    return Reply(str(item.get("text", "")), calls)


def from_profile(profile: ModelProfile) -> ScriptedModel:
    """See making.py."""
    return ScriptedModel.from_file(Path(profile.file))
