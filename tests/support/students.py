"""Solutions of an exercise as students write them: four right ones in different styles, and wrong ones, each
made from a right one by the edits of a mistake.

The exercise is that of CS336: `train_bpe(input_path, vocab_size, special_tokens)` returns the vocabulary and
the merges.
"""

from __future__ import annotations

RECOUNT = r'''
import regex as re
from collections import Counter

PAT = r"""'(?:[sdmt]|ll|ve|re)| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+"""


def train_bpe(input_path, vocab_size, special_tokens):
    with open(input_path, "rb") as f:
        text = f.read().decode("utf-8")
    vocab = {i: bytes([i]) for i in range(256)}
    for s in special_tokens:
        vocab[len(vocab)] = s.encode()
    parts = re.split("|".join(re.escape(s) for s in special_tokens), text)
    words = Counter()
    for part in parts:
        for m in re.finditer(PAT, part):
            words[tuple(bytes([b]) for b in m.group().encode())] += 1
    merges = []
    while len(vocab) < vocab_size:
        counts = Counter()
        for w, c in words.items():
            for a, b in zip(w, w[1:]):
                counts[a, b] += c
        if not counts:
            break
        best = max(counts, key=lambda p: (counts[p], p))
        merges.append(best)
        vocab[len(vocab)] = best[0] + best[1]
        new = Counter()
        for w, c in words.items():
            out = []
            i = 0
            while i < len(w):
                if i + 1 < len(w) and (w[i], w[i + 1]) == best:
                    out.append(best[0] + best[1])
                    i += 2
                else:
                    out.append(w[i])
                    i += 1
            new[tuple(out)] += c
        words = new
    return vocab, merges
'''
"""Counts all pairs again after each merge, on words of bytes."""

IDS = r'''
import regex as re

SPLIT = re.compile(r"""'(?:[sdmt]|ll|ve|re)| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+""")


def get_stats(ids, counts):
    for pair in zip(ids, ids[1:]):
        counts[pair] = counts.get(pair, 0) + 1


def merge(ids, pair, idx):
    newids = []
    i = 0
    while i < len(ids):
        if ids[i] == pair[0] and i < len(ids) - 1 and ids[i + 1] == pair[1]:
            newids.append(idx)
            i += 2
        else:
            newids.append(ids[i])
            i += 1
    return newids


def train_bpe(input_path, vocab_size, special_tokens):
    text = open(input_path, encoding="utf-8", newline="").read()
    chunks = [text]
    for special in special_tokens:
        chunks = [c for chunk in chunks for c in chunk.split(special)]
    ids = [list(piece.encode("utf-8")) for chunk in chunks for piece in SPLIT.findall(chunk)]
    vocab = {idx: bytes([idx]) for idx in range(256)}
    num_merges = vocab_size - 256 - len(special_tokens)
    merges = []
    for n in range(num_merges):
        stats = {}
        for chunk_ids in ids:
            get_stats(chunk_ids, stats)
        if not stats:
            break
        pair = max(stats, key=lambda p: (stats[p], vocab[p[0]], vocab[p[1]]))
        idx = 256 + n
        ids = [merge(chunk_ids, pair, idx) for chunk_ids in ids]
        vocab[idx] = vocab[pair[0]] + vocab[pair[1]]
        merges.append((vocab[pair[0]], vocab[pair[1]]))
    for special in special_tokens:
        vocab[len(vocab)] = special.encode("utf-8")
    return vocab, merges
'''
"""As minbpe: lists of ids, each pre-token by itself."""

INCREMENTAL = r'''
from collections import Counter, defaultdict
import regex

GPT2 = r"""'(?:[sdmt]|ll|ve|re)| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+"""


def pairs_of(word):
    return list(zip(word, word[1:]))


def train_bpe(input_path, vocab_size, special_tokens):
    data = open(input_path, "rb").read().decode()
    docs = regex.split("|".join(map(regex.escape, special_tokens)), data) if special_tokens else [data]
    freq = Counter(tok for doc in docs for tok in regex.findall(GPT2, doc))
    words = [[bytes([b]) for b in tok.encode()] for tok in freq]
    weight = list(freq.values())
    counts = Counter()
    where = defaultdict(set)
    for n, word in enumerate(words):
        for pair in pairs_of(word):
            counts[pair] += weight[n]
            where[pair].add(n)
    vocab = [s.encode() for s in special_tokens] + [bytes([i]) for i in range(256)]
    merges = []
    while len(vocab) < vocab_size and counts:
        top = max(counts.values())
        if top <= 0:
            break
        pair = max(p for p, c in counts.items() if c == top)
        new = pair[0] + pair[1]
        merges.append(pair)
        vocab.append(new)
        for n in list(where[pair]):
            word = words[n]
            for p in pairs_of(word):
                counts[p] -= weight[n]
            i = 0
            while i < len(word) - 1:
                if word[i] == pair[0] and word[i + 1] == pair[1]:
                    word[i:i + 2] = [new]
                i += 1
            for p in pairs_of(word):
                counts[p] += weight[n]
                where[p].add(n)
        del counts[pair]
    return dict(enumerate(vocab)), merges
'''
"""Updates the counts of the words that a merge changes."""

TEXT = r'''
import regex as re

WORD = r"""'(?:[sdmt]|ll|ve|re)| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+"""


class BPE:
    def __init__(self):
        self.vocab = {i: bytes([i]) for i in range(256)}
        self.merges = {}
        self.words = {}

    def read(self, text, specials):
        pattern = "(" + "|".join(re.escape(s) for s in specials) + ")"
        for chunk in re.split(pattern, text):
            if chunk in specials:
                continue
            for word in re.findall(WORD, chunk):
                key = tuple(word.encode("utf-8"))
                self.words[key] = self.words.get(key, 0) + 1

    def stats(self):
        stats = {}
        for word, count in self.words.items():
            for i in range(len(word) - 1):
                stats[word[i], word[i + 1]] = stats.get((word[i], word[i + 1]), 0) + count
        return stats

    def better(self, pair):
        return self.vocab[pair[0]], self.vocab[pair[1]]

    def apply(self, word, pair, new):
        out = list(word)
        i = len(out) * 0
        while True:
            try:
                i = out.index(pair[0], i)
            except ValueError:
                return tuple(out)
            if i + 1 < len(out) and out[i + 1] == pair[1]:
                out[i:i + 2] = [new]
            i += 1


def train_bpe(input_path, vocab_size, special_tokens):
    bpe = BPE()
    with open(input_path, newline="") as file:
        bpe.read(file.read(), special_tokens)
    while len(bpe.vocab) + len(special_tokens) < vocab_size:
        stats = bpe.stats()
        if not stats:
            break
        most = max(stats.values())
        pair = sorted((p for p in stats if stats[p] == most), key=bpe.better)[-1]
        new = 256 + len(bpe.merges)
        bpe.merges[pair] = new
        bpe.vocab[new] = bpe.vocab[pair[0]] + bpe.vocab[pair[1]]
        bpe.words = {bpe.apply(word, pair, new): n for word, n in bpe.words.items()}
    vocab = dict(bpe.vocab)
    for s in special_tokens:
        vocab[len(vocab)] = s.encode()
    return vocab, [(bpe.vocab[a], bpe.vocab[b]) for a, b in bpe.merges]
'''
"""A class with a dictionary of merges."""

STYLES = {"recount": RECOUNT, "ids": IDS, "incremental": INCREMENTAL, "class": TEXT}
"""Right solutions by style."""

Edits = tuple[tuple[str, str], ...]
WRONG: tuple[tuple[str, str, Edits], ...] = (
    ("tie-first-seen", "recount", (("key=lambda p: (counts[p], p)", "key=counts.get"),)),
    ("tie-first-seen", "ids", (("key=lambda p: (stats[p], vocab[p[0]], vocab[p[1]])", "key=stats.get"),)),
    ("tie-highest-ids", "ids", (("(stats[p], vocab[p[0]], vocab[p[1]])", "(stats[p], p)"),)),
    ("tie-smallest-pair", "class", (("[-1]", "[0]"),)),
    ("tie-last-seen", "recount", ((
        "best = max(counts, key=lambda p: (counts[p], p))",
        "best = next(iter(counts))\n        for p in counts:\n            if counts[p] >= counts[best]:\n   "
        "             best = p",
    ),)),
    ("tie-joined-token", "recount", (("(counts[p], p)", "(counts[p], p[0] + p[1])"),)),
    ("count-apart", "recount", ((
        "            for a, b in zip(w, w[1:]):\n                counts[a, b] += c\n",
        "            i = 0\n            while i < len(w) - 1:\n                counts[w[i], w[i + 1]] += c\n"
        "                i += 2 if w[i:i + 3] == (w[i],) * 3 else 1\n",
    ),)),
    ("count-once", "recount", (("in zip(w, w[1:]):", "in set(zip(w, w[1:])):"),)),
    ("count-but-last", "class", (("range(len(word) - 1)", "range(len(word) - 2)"),)),
    ("no-pretokens", "ids", (("for piece in SPLIT.findall(chunk)]", "for piece in [chunk]]"),)),
    ("no-pretokens", "recount", (("for m in re.finditer(PAT, part):",
        'for m in re.finditer("(?s).+", part):'),)),
    ("no-pretokens", "incremental", (("regex.findall(GPT2, doc)", "[doc]"),)),
    ("spaces-lost", "recount", (
        ("for m in re.finditer(PAT, part):", "for m in part.split():"), ("m.group().encode()", "m.encode()"),
    )),
    ("spaces-lost", "class", (("re.findall(WORD, chunk)", "chunk.split()"),)),
    ("other-pattern", "incremental", (("regex.findall(GPT2, doc)", r"regex.findall(r'\w+|[^\w\s]', doc)"),)),
    ("other-pattern", "ids", ((r"'(?:[sdmt]|ll|ve|re)| ?\p{L}+", r" ?\p{L}+"),)),
    ("characters", "recount", (
        ("tuple(bytes([b]) for b in m.group().encode())", "tuple(ch.encode() for ch in m.group())"),
    )),
    ("stale-counts", "incremental", ((
        "            for p in pairs_of(word):\n                counts[p] -= weight[n]\n            i = 0",
        "            i = 0",
    ), ("                counts[p] += weight[n]\n                where", "                if new in p:\n"
        "                    counts[p] += weight[n]\n                where"))),
    ("counted-once", "incremental", (
        ("                counts[p] -= weight[n]\n            i = 0",
            "                pass\n            i = 0"),
        ("                counts[p] += weight[n]\n                where", "                where"),
    )),
    ("special-as-text", "recount", (('re.split("|".join(re.escape(s) for s in special_tokens), text)',
        "[text]"),)),
    ("special-unescaped", "recount", (("re.escape(s) for s in special_tokens", "special_tokens"),)),
    ("special-unescaped", "incremental", (("map(regex.escape, special_tokens)", "special_tokens"),)),
    ("special-removed", "ids", ((
        "chunks = [c for chunk in chunks for c in chunk.split(special)]",
        'chunks = [chunk.replace(special, "") for chunk in chunks]',
    ),)),
    ("size", "recount", (("while len(vocab) < vocab_size", "while len(merges) < vocab_size"),)),
    ("size", "ids", (("vocab_size - 256 - len(special_tokens)", "vocab_size - 256"),)),
    ("size", "class", (("len(bpe.vocab) + len(special_tokens) < vocab_size", "len(bpe.merges) < vocab_size"),
        )),
    ("mark-separate", "recount", (
        ("tuple(bytes([b]) for b in m.group().encode())",
            'tuple(bytes([b]) for b in m.group().encode()) + (b"</w>",)'),
    )),
    ("mark-split", "recount", (("in m.group().encode())", 'in (m.group() + "</w>").encode())'),)),
    ("lower-case", "recount", (('.decode("utf-8")', '.decode("utf-8").lower()'),)),
    ("lower-case", "ids", (('newline="").read()', 'newline="").read().lower()'),)),
    ("universal-newlines", "ids", ((', newline=""', ""),)),
    ("universal-newlines", "class", ((', newline=""', ""),)),
    ("distinct-words", "recount", (("m.group().encode())] += 1", "m.group().encode())] = 1"),)),
    ("overlapping-merges", "recount", (("                    i += 2", "                    i += 1"),)),
    ("first-place", "incremental", (("word[i:i + 2] = [new]",
        "word[i:i + 2] = [new]\n                    break"),)),
    ("last-symbol-lost", "recount", (("while i < len(w):", "while i < len(w) - 1:"),)),
    ("least-frequent", "recount", (("(counts[p], p)", "(-counts[p], p)"),)),
    ("line-by-line", "recount", (("for part in parts:",
        "for part in [x for p in parts for x in p.splitlines()]:"),)),
    ("stripped", "recount", (('.decode("utf-8")', '.decode("utf-8").strip()'),)),
    ("special-stripped", "recount", (("re.finditer(PAT, part)", "re.finditer(PAT, part.strip())"),)),
    ("tie-letters", "recount", (
        ("(counts[p], p)", "(counts[p], tuple(''.join(map(LETTER.get, t)) for t in p))"),
        ("\n\ndef train_bpe", "\n\nKEPT = [*range(33, 127), *range(161, 173), *range(174, 256)]\n"
         "LETTER = {b: chr(b) for b in KEPT}\n"
         "LETTER |= {b: chr(256 + n) for n, b in enumerate(b for b in range(256) if b not in "
         "KEPT)}\n\n\ndef train_bpe"),
    )),
    ("pair-reversed", "recount", (("merges.append(best)", "merges.append((best[1], best[0]))"),)),
    ("ascii-only", "recount", (('.decode("utf-8")', '.decode("ascii", errors="ignore")'),)),
)
"""Wrong solutions: the name of the mistake, the style, and the edits that make it."""

TWO: tuple[tuple[tuple[str, str], str, Edits], ...] = (
    (("tie-highest-ids", "byte-order"), "ids", (
        ("list(piece.encode(\"utf-8\"))", "[ORDER.index(b) for b in piece.encode(\"utf-8\")]"),
        ("{idx: bytes([idx]) for idx in range(256)}", "{n: bytes([b]) for n, b in enumerate(ORDER)}"),
        ("(stats[p], vocab[p[0]], vocab[p[1]])", "(stats[p], p)"),
        ("\n\ndef get_stats", "\n\nORDER = [*range(33, 127), *range(161, 173), *range(174, 256)]\n"
         "ORDER += [b for b in range(256) if b not in ORDER]\n\n\ndef get_stats"),
    )),
    (("tie-first-seen", "lower-case"), "recount", (
        ("key=lambda p: (counts[p], p)", "key=counts.get"), ('.decode("utf-8")', '.decode("utf-8").lower()'),
    )),
    (("no-pretokens", "universal-newlines"), "ids", (
        ("for piece in SPLIT.findall(chunk)]", "for piece in [chunk]]"), (', newline=""', ""),
    )),
    (("distinct-words", "overlapping-merges"), "recount", (
        ("m.group().encode())] += 1", "m.group().encode())] = 1"),
        ("                    i += 2", "                    i += 1"),
    )),
    (("special-as-text", "tie-smallest-pair"), "recount", (
        ('re.split("|".join(re.escape(s) for s in special_tokens), text)', "[text]"),
        ("max(counts, key=lambda p: (counts[p], p))", "min(counts, key=lambda p: (-counts[p], p))"),
    )),
)
"""Solutions with two mistakes."""


def edited(style: str, edits: Edits) -> str:
    """Return a right solution with edits. Each must apply."""
    code = STYLES[style]
    for old, new in edits:
        assert old in code, old
        code = code.replace(old, new)
    return code
