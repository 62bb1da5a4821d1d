"""A server that speaks OpenAI's chat API as real ones do on a bad day."""

import base64
import io
import json
import threading
import time
from collections import Counter
from contextlib import contextmanager
from email.utils import formatdate
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from PIL import Image

COLOURS = ("red", "green", "blue")


class Server(ThreadingHTTPServer):
    """Looks at the picture it is sent and says which colour it has; or misbehaves.

    Attributes:
        plan: of a question, what is done at its first, second, … request; then the right answer
            is given.
        says: of a question, what is said in place of the right answer; a list has what is said
            at the first, second, … time, and from then on.
        delay: seconds before each right answer.
        log: of each request: when, its question and the longest side of its picture.
        most_at_once: requests that were being answered at one time.
    """

    daemon_threads = True
    request_queue_size = 64

    def __init__(self):
        super().__init__(("127.0.0.1", 0), Handler)
        self.plan, self.says, self.log = {}, {}, []
        self.delay = 0.0
        self.keys = set()
        self.at_work = self.most_at_once = 0
        self.lock = threading.Lock()

    @property
    def url(self):
        return f"http://127.0.0.1:{self.server_port}/v1"

    @property
    def asked(self):
        """How often each question was asked."""
        return Counter(question for _, question, _ in self.log)

    def handle_error(self, request, client_address):
        """A client that was killed, or would not wait, is no error here."""


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    def do_POST(self):
        server = self.server
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        question, picture = read(body["messages"])
        side = max(picture.size) if picture else None
        with server.lock:
            server.log.append((time.monotonic(), question, side))
            server.keys.add(self.headers["Authorization"])
            server.at_work += 1
            server.most_at_once = max(server.most_at_once, server.at_work)
            times = server.asked[question]
        try:
            plan = server.plan.get(question, ())
            if times <= len(plan):
                getattr(self, plan[times - 1])()
            else:
                time.sleep(server.delay)
                said = server.says.get(question) or truth(question, picture)
                if isinstance(said, list):
                    said = said[min(times - len(plan), len(said)) - 1]
                self.complete(said)
        finally:
            with server.lock:
                server.at_work -= 1

    def send(self, status, content, headers=(), length=None):
        data = content if isinstance(content, bytes) else json.dumps(content).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(length or len(data)))
        for name, value in headers:
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(data)

    def complete(self, text):
        self.send(200, completion(text))

    def hang(self):
        """No answer, until the client has had enough."""
        self.connection.recv(1)
        self.close_connection = True

    def drip(self):
        """A byte at a time, so that no single read takes long, until the client has had enough."""
        self.send_response(200)
        self.send_header("Content-Length", "1000000")
        self.end_headers()
        while True:
            self.wfile.write(b" ")
            self.wfile.flush()
            time.sleep(0.1)

    def too_many(self):
        self.send(429, {"error": {"message": "slow down"}}, [("Retry-After", "1")])

    def too_many_until(self):
        then = formatdate(time.time() + 1, usegmt=True)
        self.send(429, {"error": {"message": "slow down"}}, [("Retry-After", then)])

    def come_back_tomorrow(self):
        self.send(429, {"error": {"message": "quota"}}, [("Retry-After", "86400")])

    def broken(self):
        self.send(500, b"<h1>Internal Server Error</h1>")

    def busy(self):
        self.send(503, {"error": "loading model"})

    def cut(self):
        """The connection ends before the body does."""
        data = json.dumps(completion("yes")).encode()
        self.send(200, data[: len(data) // 2], length=len(data))
        self.close_connection = True

    def cut_json(self):
        data = json.dumps(completion("yes")).encode()
        self.send(200, data[: len(data) // 2])

    def wrong_json(self):
        self.send(200, {"answer": "yes"})

    def no_choice(self):
        self.send(200, {"choices": []})

    def page(self):
        self.send(200, b"<html>Welcome to the hotel network</html>")

    def refuse(self):
        self.send(400, {"error": {"message": "content policy"}})

    def who_are_you(self):
        self.send(401, {"error": {"message": "wrong key"}})

    def drop(self):
        self.close_connection = True


def completion(text):
    return {
        "id": "1",
        "object": "chat.completion",
        "created": 0,
        "model": "m",
        "choices": [
            {
                "index": 0,
                "finish_reason": "stop",
                "message": {"role": "assistant", "content": text},
            }
        ],
        "usage": {"prompt_tokens": 100, "completion_tokens": 2, "total_tokens": 102},
    }


def read(messages):
    """The question, a line of the last message, and the picture if there is one."""
    content = messages[-1]["content"]
    if isinstance(content, str):
        return content.splitlines()[-1], None
    head, data = content[0]["image_url"]["url"].split(",")
    assert head == "data:image/jpeg;base64"
    picture = Image.open(io.BytesIO(base64.b64decode(data)))
    assert picture.format == "JPEG"
    return content[1]["text"].splitlines()[0], picture


def truth(question, picture):
    """The answer to "Is it red? 17": whether that channel of the picture is the brightest."""
    pixel = picture.resize((1, 1)).getpixel((0, 0))
    return "Yes." if COLOURS[pixel.index(max(pixel))] in question else "no"


@contextmanager
def serving():
    with Server() as server:
        thread = threading.Thread(target=server.serve_forever, daemon=True)
        thread.start()
        try:
            yield server
        finally:
            server.shutdown()
            thread.join()
