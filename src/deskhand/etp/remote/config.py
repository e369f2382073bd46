"""Which MCP servers are mounted: ``config/mcp.yaml`` or a file of one's own."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Literal

import yaml
from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from deskhand.errors import DeskhandError, explain
from deskhand.etp.card import UNITS
from deskhand.types.yaml_file import read_yaml

MCP_FILE = "config/mcp.yaml"


class McpServer(BaseModel):
    """A server that is started (``command``) or runs already (``url``).

    Attributes:
        command: program and arguments, spoken to over standard input and output; ``environment`` is added to its own.
        url: of a streamable HTTP server; ``token_env`` names the environment variable that holds its bearer token.
        unit: of the protocol, in which its tools are listed.
        effects: of all its tools; ``hints``: as each one's annotations say: readOnlyHint is none, destructiveHint false is memory, all else motion, so
            that the approval mode ``motion`` asks for it.
        tools: the only ones that are mounted; empty for all.
        timeout: [s] that a call may take.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    command: tuple[str, ...] = ()
    environment: dict[str, str] = Field(default_factory=dict)
    url: str = ""
    token_env: str = ""
    unit: str = "queryable_memory"
    effects: Literal["hints", "none", "memory", "motion"] = "hints"
    tools: tuple[str, ...] = ()
    timeout: float = Field(default=30.0, gt=0, le=3600)

    @model_validator(mode="after")
    def _checked(self) -> McpServer:
        if bool(self.command) == bool(self.url):
            raise ValueError("give either command or url")
        if not any(self.unit in units for units in UNITS.values()):
            raise ValueError(f"there is no unit {self.unit!r}; valid: {', '.join(unit for units in UNITS.values() for unit in units)}")
        return self

    @property
    def group(self) -> str:
        """The group of its unit."""
        return next(group for group, units in UNITS.items() if self.unit in units)


class _File(BaseModel):
    model_config = ConfigDict(extra="forbid")

    servers: dict[str, McpServer] = Field(default_factory=dict)


def load_servers(file: Path) -> dict[str, McpServer]:
    """The servers of a file, by the name that begins the names of their tools.

    Raises:
        DeskhandError: ``config_error`` naming what is wrong.
    """
    try:
        servers = _File.model_validate(read_yaml(file) or {}).servers
    except OSError as error:
        raise DeskhandError("config_error", f"{file} cannot be read: {error}.") from error
    except yaml.YAMLError as error:
        raise DeskhandError("config_error", f"{file} is not YAML: {error}.") from error
    except ValidationError as error:
        raise DeskhandError("config_error", f"{file}: {explain(error)}.") from error
    wrong = [name for name in servers if not re.fullmatch(r"[a-z][a-z0-9_]{0,20}", name)]
    if wrong:
        raise DeskhandError("config_error", f"{file}: the server names {wrong} must be lower case letters, digits and underscores, at most 21.")
    return servers
