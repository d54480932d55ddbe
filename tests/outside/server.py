"""A server whose answers are too large, too many or too slow. Which, the path or the model's name says."""
import json
import sys
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

MIB = 1 << 20
lock = threading.Lock()
now = most = 0


class Large(BaseHTTPRequestHandler):
    def do_GET(self):
        global now, most
        if self.path == "/slow":
            with lock:
                now += 1
                most = max(most, now)
            time.sleep(1)
            with lock:
                now -= 1
            return self.send("1")
        if self.path == "/most":
            return self.send(json.dumps(most))
        self.send_in_pieces(int(self.path.split("/")[-1]))

    def do_POST(self):
        body = json.loads(self.rfile.read(int(self.headers["content-length"])))
        self.send_response(200)
        self.send_header("content-type", "text/event-stream")
        self.end_headers()
        if body["model"] == "large":
            deltas = ({"content": "x" * MIB} for _ in range(80))
        elif body["messages"][-1]["role"] == "tool":
            deltas = [{"content": "ok"}]
        else:
            deltas = ({"tool_calls": [self.call(n)]} for n in range(200))
        try:
            for delta in deltas:
                self.event({"choices": [{"delta": delta}]})
            self.event({"choices": [{"delta": {}, "finish_reason": "stop"}]})
        except OSError:
            pass

    def call(self, n):
        function = {"name": "look", "arguments": json.dumps({"n": n})}
        return {"index": n, "id": f"c{n}", "type": "function", "function": function}

    def event(self, data):
        self.wfile.write(f"data: {json.dumps(data)}\n\n".encode())

    def send(self, text):
        self.send_response(200)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(text)))
        self.end_headers()
        self.wfile.write(text.encode())

    def send_in_pieces(self, mib):
        self.send_response(200)
        self.send_header("content-type", "application/json")
        self.end_headers()
        try:
            self.wfile.write(b'"')
            for _ in range(mib):
                self.wfile.write(b"x" * MIB)
            self.wfile.write(b'"')
        except OSError:
            pass

    def log_message(self, *_):
        pass


class Server(ThreadingHTTPServer):
    request_queue_size = 512


server = Server(("127.0.0.1", 0), Large)
print(server.server_address[1], flush=True)
server.serve_forever()
