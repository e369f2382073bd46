"""A tool that does nothing, as one that runs in this process and as one that is isolated, and a session with both."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import Field
from typing_extensions import TypedDict

from deskhand.etp.registry import Registry
from deskhand.etp.session import Session
from deskhand.etp.tool import ToolContext, tool

ARGUMENTS = {"position": [0.1, 0.2, 0.3], "word": "cup"}


class Echo(TypedDict):
    """What was said."""

    position: list[float]
    word: str


Position = Annotated[list[float], Field(min_length=3, max_length=3, description="[m] in world")]
Word = Annotated[str, Field(max_length=20, description="any")]


def plain(ctx: ToolContext, position: Position, word: Word) -> Echo:
    """Say what it was told, for measuring calls."""
    return Echo(position=position, word=word)


ABOUT: dict[str, Any] = {
    "group": "execution",
    "unit": "controller_dispatch",
    "when_to_use": "To measure what a call costs.",
    "limits": "Does nothing.",
    "examples": [("Measure", ARGUMENTS)],
}


@tool(**ABOUT, in_process="It is what isolated calls are compared with.")
def echo(ctx: ToolContext, position: Position, word: Word) -> Echo:
    """Say what it was told, in this process."""
    return Echo(position=position, word=word)


@tool(**ABOUT)
def echo_isolated(ctx: ToolContext, position: Position, word: Word) -> Echo:
    """Say what it was told, in a process of its own."""
    return Echo(position=position, word=word)


def context() -> ToolContext:
    """Without a robot: the probes need none."""
    nothing: Any = None
    return ToolContext(nothing, nothing)


def probe_session() -> Session:
    """A session with both tools."""
    registry = Registry()
    registry.add(echo)
    registry.add(echo_isolated)
    return Session(registry, context)


def main() -> None:
    """Serve them over MCP on standard input and output."""
    from deskhand.etp.remote.server import ToolServer
    from deskhand.etp.remote.transports import serve_stdio

    with probe_session() as session:
        serve_stdio(ToolServer(session).server())


if __name__ == "__main__":
    main()
