"""The knowledge base as a tool: `python3 tool.py NAME`, arguments as JSON on stdin, the result as JSON on stdout."""

import json
import sys

import knowledge

json.dump(knowledge.answer(sys.argv[1], json.load(sys.stdin)), sys.stdout)
