"""An MCP server of ours whose tool, and a child of it, print to the standard output, on which the protocol runs."""

import os
import subprocess
import sys
from typing import Annotated

from protocol_objects import PLACE, Bare
from pydantic import Field

from deskhand.etp.registry import Registry
from deskhand.etp.remote.server import ToolServer
from deskhand.etp.remote.transports import serve_stdio
from deskhand.etp.session import Session
from deskhand.etp.tool import ToolContext, tool
from deskhand.skills.belief import Belief


@tool(**PLACE, examples=[("Chatter", {"text": "a"})])
def chatter(ctx: ToolContext, text: Annotated[str, Field(description="any")]) -> dict[str, str]:
    """Print on the way."""
    sys.stdout.write("from Python\n")
    sys.stdout.flush()
    os.write(1, b"from the descriptor\n")
    subprocess.run(["echo", "from a child"], check=True)
    return {"text": text}


if __name__ == "__main__":
    registry = Registry()
    registry.add(chatter)
    with Session(registry, lambda: ToolContext(Bare(), Belief())) as session:
        serve_stdio(ToolServer(session).server())
