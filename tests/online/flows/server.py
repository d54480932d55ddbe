"""Servers of models of every kind that a probe may meet: the first word of the path says which. What was asked is noted in asked.txt."""
import json
import os
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


class Model(BaseHTTPRequestHandler):
    def do_GET(self):
        self.note()
        path = self.path.split("?")[0].split("/")[1:]
        getattr(self, path[0])("/".join(path[1:]))

    def do_POST(self):
        self.note()
        self.answer(200, {})

    def note(self):
        with open("asked.txt", "a") as notes:
            notes.write(f"{self.command} {self.path}\n")

    def openai(self, path):
        if self.headers.get("authorization") != "Bearer right-key":
            return self.answer(401, {"error": {"message": "no such key"}})
        names = ["small", "large", "llama:latest", "qwen/qwen3"]
        self.models(path, {"data": [{"id": name} for name in names]}, [])

    def anthropic(self, path):
        if self.headers.get("x-api-key") != "right-key":
            return self.answer(403, {"type": "error", "error": {"message": "not allowed"}})
        self.models(path, {"data": [{"id": "opus-20260101"}], "has_more": False}, ["opus"])

    def gemini(self, path):
        if self.headers.get("x-goog-api-key") != "right-key":
            details = [{"reason": "API_KEY_INVALID"}]
            return self.answer(400, {"error": {"message": "API key not valid", "details": details}})
        self.models(path, {"models": [{"name": "models/flash"}]}, ["pro"])

    def bare(self, path):
        self.models(path, [{"id": "only"}], [])

    def models(self, path, listed, known):
        name = path.removeprefix("models/")
        if path == "models":
            self.answer(200, listed)
        elif name in known:
            self.answer(200, {"id": name})
        else:
            self.answer(404, {"error": {"message": "no such model"}})

    def flaky(self, path):
        if path == "models":
            return self.answer(200, {"data": [{"id": "other"}]})
        self.answer(503, {"error": {"message": "try again later"}})

    def nolist(self, _):
        self.answer(404, {"error": "not found"})

    def other(self, _):
        self.answer(200, {"hello": "there"})

    def page(self, _):
        self.reply(200, "text/html", b"<html><body>Welcome</body></html>")

    def busy(self, _):
        self.answer(429, {"error": {"message": "too many requests"}})

    def broken(self, _):
        self.answer(500, {"error": {"message": "out of order"}})

    def silent(self, _):
        time.sleep(600)

    def answer(self, status, body):
        self.reply(status, "application/json", json.dumps(body).encode())

    def reply(self, status, kind, body):
        self.send_response(status)
        self.send_header("content-type", kind)
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


ThreadingHTTPServer(("127.0.0.1", int(os.environ["PORT"])), Model).serve_forever()
