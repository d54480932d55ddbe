"""The catalogue of node types: searched by words, or one type with its parameters.

Arguments come as JSON on stdin, the result goes as JSON to stdout; which of the two is asked for is the first word.
"""

import json
import pathlib
import re
import sys

NODES = json.loads((pathlib.Path(__file__).parent.parent / "data" / "nodes.json").read_text())


def search(query, limit):
    """The nodes that have most words of the query: a name counts more than what is said of it."""
    words = set(re.findall(r"[a-z0-9]+", query.lower()))

    def score(node):
        name, said = (set(re.findall(r"[a-z0-9]+", node[key].lower())) for key in ("name", "description"))
        return 3 * len(words & name) + 2 * len(words & set(node["words"])) + len(words & said)

    found = sorted((node for node in NODES if score(node)), key=lambda node: (-score(node), node["type"]))
    return [{key: node[key] for key in ("type", "name", "kind", "description")} for node in found[:limit]]


def details(node_type):
    """A type with all its parameters."""
    for node in NODES:
        if node["type"] == node_type:
            return {key: node[key] for key in ("type", "name", "kind", "description", "outputs", "parameters")}
    sys.exit(f"no node type `{node_type}`: search for it first")


args = json.load(sys.stdin)
result = search(args["query"], args["limit"]) if sys.argv[1] == "search" else details(args["type"])
json.dump(result, sys.stdout)
