"""A knowledge tool on a JSON file: `search.py FILE [--corrections FILE]`.

Arguments come as JSON on stdin, the tool's name in GRAPHC_TOOL; the result goes to stdout. The file of facts is only
read. Corrections are added to a file of their own, one JSON object a line, which each query reads anew.
"""

import argparse
import fcntl
import json
import os
import sys

import knowledge


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("facts")
    parser.add_argument("--corrections", default=".graphc/corrections.jsonl")
    options = parser.parse_args()
    args, tool = json.load(sys.stdin), os.environ["GRAPHC_TOOL"]
    if tool == "correct_knowledge":
        result = correct(options, args)
    else:
        result = knowledge.answer(knowledge.Knowledge(knowledge.load(options.facts), changes(options)), tool, args)
    json.dump(result, sys.stdout)


def changes(options):
    if not os.path.exists(options.corrections):
        return []
    with open(options.corrections, encoding="utf-8") as file:
        return [json.loads(line) for line in file if line.strip()]


def correct(options, args):
    os.makedirs(os.path.dirname(options.corrections) or ".", exist_ok=True)
    with open(options.corrections, "a", encoding="utf-8") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        known = changes(options)
        base = knowledge.Knowledge(knowledge.load(options.facts), known)
        change = base.correction(args["fact_id"], args["statement"], os.environ.get("GRAPHC_IDEMPOTENCY_KEY", ""))
        if change is None:
            return None
        # The same call again, as after a crash, changes nothing.
        earlier = next((one for one in known if one["fact"]["id"] == change["fact"]["id"]), None)
        if earlier is None:
            file.write(json.dumps(change) + "\n")
        change = earlier or change
    return {"invalidated": change["invalidates"], "finding": knowledge.finding(change["fact"], 1.0)}


main()
