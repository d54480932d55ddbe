"""Notes on topics: an MCP server in Python (`pip install mcp`)."""

from mcp.server.mcpserver import MCPServer
from mcp.types import ToolAnnotations

NOTES = {
    "rome": ["The Pantheon is free on the first Sunday.", "From Termini it is 1.2 miles."],
    "oslo": ["The opera's roof is open all night."],
}

server = MCPServer("notes")


@server.tool(annotations=ToolAnnotations(read_only_hint=True))
def find_notes(topic: str) -> list[str]:
    """Find what has been noted about a topic."""
    return NOTES.get(topic.lower(), [])


server.run("stdio")
