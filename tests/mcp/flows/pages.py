"""A server whose list of tools has no end: each page leads to another. Notes how often its first page is asked for."""

import json
import sys

PAGE = 900

for line in sys.stdin:
    asked = json.loads(line)
    if "id" not in asked:
        continue
    params = asked.get("params") or {}
    if asked["method"] == "initialize":
        result = {
            "protocolVersion": params["protocolVersion"],
            "capabilities": {"tools": {}},
            "serverInfo": {"name": "pages", "version": "1"},
        }
    else:
        page = int(params.get("cursor") or 0)
        if page == 0:
            with open("listed.txt", "a") as file:
                file.write("listed\n")
        tools = [{"name": f"t{page * PAGE + n}", "inputSchema": {"type": "object"}} for n in range(PAGE)]
        result = {"tools": tools, "nextCursor": str(page + 1)}
    print(json.dumps({"jsonrpc": "2.0", "id": asked["id"], "result": result}), flush=True)
