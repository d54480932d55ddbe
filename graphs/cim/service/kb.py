"""The knowledge base as an HTTP service: `kb.py --port 8765 [--facts FILE] [--corrections FILE] [--scratch]`.

`POST /TOOL` with the tool's arguments as JSON gives `{"result": ..}`; `POST /facts` with `{"fact": ..}` adds one, as
somebody else would whose document was just read; `GET /health` says that it is there. Corrections are kept in memory,
and in a file where one is named; with `--scratch` that file begins empty.
"""

import argparse
import json
import os
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import knowledge


class Service(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    known = None
    corrections = None
    lock = threading.Lock()

    def do_GET(self):
        self.reply(200, {"status": "ok"}) if self.path == "/health" else self.reply(404, {"error": "no such page"})

    def do_POST(self):
        try:
            args = json.loads(self.rfile.read(int(self.headers.get("Content-Length", 0))) or b"{}")
            with self.lock:
                result = self.perform(self.path.lstrip("/"), args)
            self.reply(200, {"result": result})
        except KeyError as missing:
            self.reply(404, {"error": "no such tool or argument: " + str(missing)})
        except (TypeError, ValueError) as wrong:
            self.reply(400, {"error": str(wrong)})

    def perform(self, tool, args):
        if tool == "facts":
            self.change({"fact": dict(args["fact"], valid_at=knowledge.now())})
            return True
        if tool == "correct_knowledge":
            key = self.headers.get("Idempotency-Key", "")
            change = self.known.correction(args["fact_id"], args["statement"], key)
            if change is None:
                return None
            # The same call again, as after a crash, changes nothing.
            held = next((fact for fact in self.known.facts if fact["id"] == change["fact"]["id"]), None)
            if held is None:
                self.change(change)
            return {"invalidated": args["fact_id"], "finding": knowledge.finding(held or change["fact"], 1.0)}
        return knowledge.answer(self.known, tool, args)

    def change(self, change):
        self.known.apply(change)
        if self.corrections:
            with open(self.corrections, "a", encoding="utf-8") as file:
                file.write(json.dumps(change) + "\n")

    def reply(self, status, body):
        data = json.dumps(body).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, *_):
        pass


def main():
    here = os.path.dirname(os.path.abspath(__file__))
    parser = argparse.ArgumentParser()
    parser.add_argument("--port", type=int, default=8765)
    parser.add_argument("--facts", default=os.path.join(here, "..", "knowledge", "northwind.json"))
    parser.add_argument("--corrections")
    parser.add_argument("--scratch", action="store_true", help="needs --corrections")
    options = parser.parse_args()
    if options.scratch and os.path.exists(options.corrections):
        os.remove(options.corrections)
    made = []
    if options.corrections and os.path.exists(options.corrections):
        with open(options.corrections, encoding="utf-8") as file:
            made = [json.loads(line) for line in file if line.strip()]
    Service.known = knowledge.Knowledge(knowledge.load(options.facts), made)
    Service.corrections = options.corrections
    ThreadingHTTPServer(("127.0.0.1", options.port), Service).serve_forever()


main()
