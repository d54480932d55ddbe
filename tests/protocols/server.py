"""A model whose streams are of odd forms. Which one, the path says."""
import sys
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

WORD = b'data: {"choices": [{"delta": {"content": "ok"}}]}\n\n'
END = b'data: {"choices": [{"delta": {}, "finish_reason": "stop"}]}\n\ndata: [DONE]\n\n'
MIB = 1 << 20


class Model(BaseHTTPRequestHandler):
    def do_POST(self):
        self.rfile.read(int(self.headers["content-length"]))
        self.send_response(200)
        self.send_header("content-type", "text/event-stream")
        self.end_headers()
        try:
            for piece in getattr(self, self.path.split("/")[1])():
                self.wfile.write(piece)
        except OSError:
            pass

    def long_line(self):
        yield b"data: "
        for _ in range(16):
            yield b"x" * MIB

    def empty_lines(self):
        for _ in range(16):
            yield b"\n" * MIB
        yield WORD + END

    def mark(self):
        yield b"\xef\xbb\xbf" + WORD + END

    def many_calls(self):
        call = '{"index": %d, "id": "c%d", "function": {"name": "look", "arguments": "{}"}}'
        for first in range(0, 100_000, 100):
            calls = ", ".join(call % (n, n) for n in range(first, first + 100))
            yield b'data: {"choices": [{"delta": {"tool_calls": [%s]}}]}\n\n' % calls.encode()
        yield b'data: {"choices": [{"delta": {"content": "ok"}, "finish_reason": "length"}]}\n\n'

    def endless(self):
        print("endless", flush=True)
        while True:
            yield b": beat\n"

    def log_message(self, *_):
        pass


server = ThreadingHTTPServer(("127.0.0.1", 0), Model)
print(server.server_address[1], flush=True)
server.serve_forever()
