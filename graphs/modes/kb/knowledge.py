"""A small knowledge base: tenants, their experts, and documents with a search over them.

`tool.py` serves it to a flow as a program, `serve.py` as an HTTP service. Both read `knowledge.json` anew for each call.
"""

import json
import math
import re
from collections import Counter
from pathlib import Path

DATA = Path(__file__).with_name("knowledge.json")
# What is less like the query than this is no answer to it.
FLOOR = 0.05
# Words that say nothing of what a text is about.
STOP = set("a an and are as at be by can do does for from has have how i in is it its may must of on or our that the "
           "their there this to under was we what when which who will with you your".split())


def words(text):
    """The words of a text that count, in lower case and without a plural's s."""
    found = re.findall(r"[a-z0-9]+", text.lower())
    return [w[:-1] if len(w) > 3 and w.endswith("s") else w for w in found if w not in STOP]


def content(document):
    """The text of a document, wherever it keeps it."""
    return document.get("metadata", {}).get("page_content") or document.get("page_content", "")


def title(document):
    metadata = document.get("metadata", {})
    inner = metadata.get("metadata", metadata)
    return inner.get("title", "")


def visible(entry, tenant_id, agent_id):
    """Whether the tenant and the expert may see a document. One without a tenant is for all, one without experts too."""
    return entry.get("tenant", tenant_id) == tenant_id and agent_id in entry.get("agents", [agent_id])


def find_tenant(args, data):
    return next((t for t in data["tenants"] if t["id"] == args["id"]), None)


def list_experts(args, data):
    return [e["expert"] for e in data["experts"] if args["tenant_id"] in e["tenants"]]


def find_expert(args, data):
    return next((e for e in list_experts(args, data) if e["id"] == args["id"]), None)


def retrieve(args, data):
    """The documents nearest to the query: the cosine of their weighted words."""
    documents = [e["document"] for e in data["documents"] if visible(e, args["tenant_id"], args["agent_id"])]
    bags = [Counter(words(title(d) + " " + title(d) + " " + content(d))) for d in documents]
    rarity = {w: math.log(1 + len(bags) / sum(w in b for b in bags)) for b in bags for w in b}
    query = {w: rarity[w] for w in words(args["query"]) if w in rarity}
    scored = []
    for document, bag in zip(documents, bags):
        weights = {w: (1 + math.log(n)) * rarity[w] for w, n in bag.items()}
        product = sum(query[w] * weights.get(w, 0) for w in query)
        length = math.hypot(*query.values()) * math.hypot(*weights.values())
        if product > FLOOR * length:
            scored.append((round(product / length, 4), document))
    scored.sort(key=lambda pair: -pair[0])
    return [with_similarity(document, score) for score, document in scored[: args.get("top_k", 5)]]


def with_similarity(document, score):
    return {**document, "metadata": {**document.get("metadata", {}), "similarity": score}}


CALLS = {f.__name__: f for f in (find_tenant, list_experts, find_expert, retrieve)}


def answer(name, args):
    """What the call `name` gives for its arguments. KeyError where there is no such call or an argument is missing."""
    return CALLS[name](args, json.loads(DATA.read_text(encoding="utf-8")))
