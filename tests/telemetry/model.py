"""A model whose answers hang on the last text of what it is asked."""
import json
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

USAGE = {"prompt_tokens": 11, "completion_tokens": 7}
CALLS = [
    {"id": "c1", "type": "function", "function": {"name": "look", "arguments": '{"query": "q"}'}},
    {"id": "c2", "type": "function", "function": {"name": "other", "arguments": '{"text": "t"}'}},
]
asked = {"busy": 0}


class Model(BaseHTTPRequestHandler):
    def do_POST(self):
        body = json.loads(self.rfile.read(int(self.headers["content-length"])))
        last = body["messages"][-1]
        text = last["content"] if isinstance(last["content"], str) else json.dumps(last["content"])
        message, finish = {"role": "assistant", "content": "the reply"}, "stop"
        if text == "bad":
            return self.answer(400, {"error": {"message": "I do not like this"}})
        if text == "busy":
            asked["busy"] += 1
            if asked["busy"] == 1:
                return self.answer(429, {"error": {"message": "too many"}})
        if text == "slow":
            open("asked", "w").close()
            time.sleep(120)
        if text.startswith("use tools"):
            message, finish = {"role": "assistant", "content": "", "tool_calls": CALLS}, "tool_calls"
        choice = {"index": 0, "message": message, "finish_reason": finish}
        self.answer(200, {"choices": [choice], "usage": USAGE})

    def answer(self, status, body):
        data = json.dumps(body).encode()
        self.send_response(status)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, *_):
        pass


server = ThreadingHTTPServer(("127.0.0.1", 0), Model)
print(server.server_port, flush=True)
server.serve_forever()
