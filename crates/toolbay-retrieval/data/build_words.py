"""Packs the table of words: words.bin from a distilled table, leaving out words only a source we may not ship supports.

    pip install jieba
    python build_words.py CORPORA words.bin

A word stays if it is in our own lexicon, among the frequent words of jieba's dictionary, or in the texts of a corpus
whose licence is stated. How much a word tells comes from how often those corpora and jieba's dictionary have it.
"""

import collections
import json
import math
import os
import re
import struct
import sys

import jieba

WIDTH = 128
SETS = ["livemcp", "hand-zh", "hand-en", "ace-zh", "ace-en", "seal", "stabletoolbench", "metatool"]
FREQUENT = 50
# Steps of rarity, in which a byte reaches from a word in every place to one in a thousand million.
RARITY = 12


def texts_of(root, name):
    for file in ("tools.jsonl", "queries.jsonl"):
        path = os.path.join(root, name, file)
        if not os.path.exists(path):
            continue
        with open(path, encoding="utf-8") as lines:
            for line in lines:
                item = json.loads(line)
                if file == "queries.jsonl":
                    yield item["query"]
                    continue
                yield item["name"]
                yield item["description"]
                for param, schema in (item.get("input_schema") or {}).get("properties", {}).items():
                    yield param
                    yield schema.get("description", "") if isinstance(schema, dict) else ""


def words_of(text):
    text = re.sub(r"([a-z0-9])([A-Z])", r"\1 \2", text)
    text = re.sub(r"([A-Z])([A-Z][a-z])", r"\1 \2", text)
    for run in re.findall(r"[A-Za-z0-9]+|[\u4e00-\u9fff]+", text):
        if "\u4e00" <= run[0]:
            yield from jieba.cut_for_search(run, HMM=False)
        else:
            yield run.lower()


def lexicon(here):
    known = set()
    with open(os.path.join(here, "lexicon.tsv"), encoding="utf-8") as lines:
        for line in lines:
            if line.startswith("#") or "\t" not in line:
                continue
            left, right = line.rstrip("\n").split("\t")
            known.update(left.split(" "))
            known.update(right.replace(";", " ").split())
    return known


def main():
    corpora, out = sys.argv[1], sys.argv[2]
    here = os.path.dirname(os.path.abspath(__file__))
    jieba.initialize()
    dictionary = {word: count for word, count in jieba.dt.FREQ.items() if count > 0}
    supported = collections.Counter()
    for name in SETS:
        for text in texts_of(os.path.join(corpora, "tool-retrieval"), name):
            supported.update(words_of(text))
    own = lexicon(here)
    with open(os.path.join(corpora, "static-table", "words.txt"), encoding="utf-8") as lines:
        words = lines.read().split("\n")[:-1]
    with open(os.path.join(corpora, "static-table", "vectors.i8"), "rb") as rows:
        rows = rows.read()

    def stays(word):
        if word.isdigit():
            return False
        return word in own or supported[word] > 0 or dictionary.get(word, 0) >= FREQUENT

    total = {
        True: sum(dictionary.values()),
        False: sum(n for word, n in supported.items() if word.isascii()),
    }
    kept = []
    for at, word in enumerate(words):
        if not stays(word):
            continue
        chinese = not word.isascii()
        count = dictionary.get(word, 1) if chinese else supported[word]
        share = max(count, 1) / total[chinese]
        kept.append((word.encode(), min(255, round(-math.log(share) * RARITY)), rows[at * WIDTH : (at + 1) * WIDTH]))
    kept.sort()
    starts, at = [], 0
    for word, _, _ in kept:
        starts.append(at)
        at += len(word)
    starts.append(at)
    with open(out, "wb") as file:
        file.write(struct.pack("<I", len(kept)))
        file.write(struct.pack(f"<{len(starts)}I", *starts))
        file.write(bytes(rarity for _, rarity, _ in kept))
        file.write(b"".join(row for _, _, row in kept))
        file.write(b"".join(word for word, _, _ in kept))
    print(f"{len(kept)} of {len(words)} words, {os.path.getsize(out)} bytes")


if __name__ == "__main__":
    main()
