"""A small knowledge base over HTTP. It notes what it is asked, and starts a program that must end with it."""

import json
import os
import subprocess
import sys
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

DOCUMENTS = ["tea is green", "coffee is black"]
PORT = int(sys.argv[sys.argv.index("--port") + 1])
BEGAN = time.monotonic()


def note(line):
    with open("notes.log", "a", encoding="utf-8") as log:
        log.write(line + "\n")


def notes():
    with open("notes.log", encoding="utf-8") as log:
        return log.read()


class Handler(BaseHTTPRequestHandler):
    def answer(self, status, body):
        data = json.dumps(body).encode()
        self.send_response(status)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def do_GET(self):
        ready = time.monotonic() - BEGAN > 0.3
        self.answer(200 if ready else 503, {"ready": ready})

    def do_POST(self):
        query = json.loads(self.rfile.read(int(self.headers["Content-Length"])))["query"]
        first = "asked " + query + " " not in notes()
        note("asked " + query + " " + self.headers["Idempotency-Key"])
        if query == "die":
            os._exit(7)
        if query == "slow" and first:
            time.sleep(600)
        self.answer(200, {"hits": [text for text in DOCUMENTS if query in text]})

    def log_message(self, *args):
        pass


CHILD = subprocess.Popen(["sleep", "600"])
note(f"started {os.getpid()} {CHILD.pid}")
ThreadingHTTPServer(("127.0.0.1", PORT), Handler).serve_forever()
