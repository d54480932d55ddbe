"""The knowledge base as an HTTP service: `python3 serve.py --port 8090`. `POST /NAME` with the arguments as JSON; `GET /health`."""

import argparse
import json
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import knowledge


class Handler(BaseHTTPRequestHandler):
    def do_GET(self):
        if self.path == "/health":
            self.reply(200, {"status": "ok"})
        else:
            self.reply(404, {"error": f"there is no {self.path}"})

    def do_POST(self):
        name = self.path.strip("/")
        if name not in knowledge.CALLS:
            return self.reply(404, {"error": f"there is no {self.path}"})
        try:
            args = json.loads(self.rfile.read(int(self.headers.get("Content-Length", 0))))
            found = knowledge.answer(name, args)
        except (ValueError, KeyError, TypeError) as error:
            return self.reply(400, {"error": f"{type(error).__name__}: {error}"})
        self.reply(200, {"result": found})

    def reply(self, status, value):
        body = json.dumps(value).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *args):
        pass


if __name__ == "__main__":
    options = argparse.ArgumentParser(description="serves the knowledge base")
    options.add_argument("--port", type=int, default=8090)
    with ThreadingHTTPServer(("127.0.0.1", options.parse_args().port), Handler) as server:
        server.serve_forever()
