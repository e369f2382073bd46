"""An MCP server of somebody else, made with nothing of deskhand: run as a program, it speaks over standard input and output."""

from mcp.server import MCPServer
from mcp.server.mcpserver import Context, Image
from mcp.server.mcpserver.exceptions import ToolError
from mcp_types import ToolAnnotations

server = MCPServer("foreign")


@server.tool(annotations=ToolAnnotations(read_only_hint=True))
def multiply(a: float, b: float) -> dict[str, float]:
    """Multiply two numbers. Used where a product is wanted."""
    return {"product": a * b}


@server.tool(annotations=ToolAnnotations(destructive_hint=False))
def note(text: str) -> str:
    """Write a note down and say that it was."""
    return f"noted: {text}"


@server.tool()
def launch(what: str) -> str:
    """Launch something that cannot be called back."""
    raise ToolError(f"{what} does not fly")


@server.tool(annotations=ToolAnnotations(read_only_hint=True))
def picture() -> Image:
    """Draw a dot as a picture of one pixel."""
    from base64 import b64decode

    data = b64decode("iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8BQDwAEhQGAhKmMIQAAAABJRU5ErkJggg==")
    return Image(data=data, format="png")


@server.tool(annotations=ToolAnnotations(read_only_hint=True))
async def wait(seconds: float, ctx: Context) -> str:
    """Wait for a while and report how far it is."""
    import anyio

    for step in range(100):
        await ctx.report_progress(step, 100, f"step {step}")
        await anyio.sleep(seconds / 100)
    return "done"


if __name__ == "__main__":
    server.run()
