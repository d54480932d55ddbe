"""A server for tests, with the official Python SDK: over stdio, or over HTTP on $PORT."""

import asyncio
import os
import sys
from typing import Literal

from mcp.server.mcpserver import Context, MCPServer
from mcp.server.mcpserver.exceptions import ToolError
from mcp.types import ToolAnnotations
from pydantic import BaseModel, Field

mcp = MCPServer("tests")
reads = ToolAnnotations(read_only_hint=True)


class Point(BaseModel):
    x: int
    y: int | None = None


@mcp.tool(annotations=reads)
def add(a: int, b: int = Field(default=2, description="The other one.", ge=0)) -> int:
    """Adds two numbers."""
    return a + b


@mcp.tool(annotations=reads)
def words(text: str, mode: Literal["keep", "upper"] = "keep") -> list[str]:
    return (text.upper() if mode == "upper" else text).split()


@mcp.tool(annotations=reads)
def shift(point: Point) -> Point:
    """Moves a point by one.

    Only along x.
    """
    return Point(x=point.x + 1, y=point.y)


@mcp.tool(annotations=ToolAnnotations(read_only_hint=False, destructive_hint=True, idempotent_hint=False))
def wipe(path: str) -> str:
    return "gone: " + path


@mcp.tool(annotations=ToolAnnotations(read_only_hint=False, destructive_hint=False, idempotent_hint=True))
def keep(loop: str) -> str:
    return "kept: " + loop


@mcp.tool(annotations=reads)
def refuse() -> str:
    raise ToolError("not for " + os.environ.get("TOKEN", "?"))


@mcp.tool()
def die(once: str = "") -> str:
    """Ends the whole server; with a file, only where that is not there yet."""
    if once and os.path.exists(once):
        return "lives"
    if once:
        open(once, "w").close()
    print("dies, " + os.environ.get("TOKEN", "?"), file=sys.stderr, flush=True)
    os._exit(3)


@mcp.tool(annotations=reads)
def big(n: int) -> str:
    return "x" * n


@mcp.tool(annotations=reads)
async def wait(ctx: Context, seconds: float) -> str:
    try:
        for step in range(3):
            await ctx.report_progress(step, 3, f"step {step}")
        await asyncio.sleep(seconds)
    except asyncio.CancelledError:
        with open("cancelled.txt", "w") as file:
            file.write("cancelled\n")
        raise
    return "waited"


@mcp.tool(annotations=reads)
def pid() -> int:
    return os.getpid()


if "http" in sys.argv:
    mcp.run("streamable-http", host="127.0.0.1", port=int(os.environ["PORT"]))
else:
    print("begins", file=sys.stderr)
    mcp.run("stdio")
