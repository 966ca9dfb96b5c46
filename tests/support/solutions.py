"""A right solution of each exercise that ships, and wrong ones of some, as Python files."""

from __future__ import annotations

from students import RECOUNT

MINBPE = r'''
import regex as re


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


class BasicTokenizer:
    pattern = None

    def chunks(self, text):
        return re.findall(self.pattern, text) if self.pattern else [text]

    def train(self, text, vocab_size, verbose=False):
        ids = [list(chunk.encode("utf-8")) for chunk in self.chunks(text)]
        merges = {}
        vocab = {idx: bytes([idx]) for idx in range(256)}
        for i in range(vocab_size - 256):
            stats = {}
            for chunk in ids:
                for pair in zip(chunk, chunk[1:]):
                    stats[pair] = stats.get(pair, 0) + 1
            if not stats:
                break
            pair = max(stats, key=stats.get)
            idx = 256 + i
            ids = [merge(chunk, pair, idx) for chunk in ids]
            merges[pair] = idx
            vocab[idx] = vocab[pair[0]] + vocab[pair[1]]
        self.merges = merges
        self.vocab = vocab

    def encode(self, text):
        out = []
        for chunk in self.chunks(text):
            ids = list(chunk.encode("utf-8"))
            while len(ids) >= 2:
                pair = min(zip(ids, ids[1:]), key=lambda p: self.merges.get(p, float("inf")))
                if pair not in self.merges:
                    break
                ids = merge(ids, pair, self.merges[pair])
            out.extend(ids)
        return out

    def decode(self, ids):
        return b"".join(self.vocab[idx] for idx in ids).decode("utf-8", errors="replace")


class RegexTokenizer(BasicTokenizer):
    pattern = (
        r"""'(?i:[sdmt]|ll|ve|re)|[^\r\n\p{L}\p{N}]?+\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]++[\r\n]*|\s*[\r\n]"""
        r"""|\s+(?!\S)|\s+"""
    )
'''

GIVEN = r'''
import regex as re

PAT = r"""'(?:[sdmt]|ll|ve|re)| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+"""


class Tokenizer:
    def __init__(self, vocab, merges, special_tokens=None):
        self.vocab = vocab
        self.ids = {token: number for number, token in vocab.items()}
        self.ranks = {pair: rank for rank, pair in enumerate(merges)}
        self.special = sorted(special_tokens or [], key=len, reverse=True)

    def word(self, data):
        word = [bytes([b]) for b in data]
        while True:
            known = [p for p in zip(word, word[1:]) if p in self.ranks]
            if not known:
                return word
            best = min(known, key=self.ranks.get)
            out, i = [], 0
            while i < len(word):
                if tuple(word[i:i + 2]) == best:
                    out.append(best[0] + best[1])
                    i += 2
                else:
                    out.append(word[i])
                    i += 1
            word = out

    def encode(self, text):
        parts = [text]
        if self.special:
            parts = re.split("(" + "|".join(map(re.escape, self.special)) + ")", text)
        ids = []
        for part in parts:
            if part in self.special:
                ids.append(self.ids[part.encode()])
            else:
                for piece in re.findall(PAT, part):
                    ids += [self.ids[token] for token in self.word(piece.encode())]
        return ids

    def decode(self, ids):
        return b"".join(self.vocab[i] for i in ids).decode("utf-8", errors="replace")
'''

RANKS = r'''
def recover_merges(ranks):
    merges = []
    for token, rank in sorted(ranks.items(), key=lambda row: row[1]):
        if len(token) == 1:
            continue
        parts = [bytes([b]) for b in token]
        while len(parts) > 2:
            at = min(range(len(parts) - 1), key=lambda i: ranks.get(parts[i] + parts[i + 1], rank))
            parts[at:at + 2] = [parts[at] + parts[at + 1]]
        merges.append(tuple(parts))
    return merges
'''

SPECIALS = r'''
import regex as re

PAT = (r"""'(?i:[sdmt]|ll|ve|re)|[^\r\n\p{L}\p{N}]?+\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]++[\r\n]*|\s*[\r\n]"""
       r"""|\s+(?!\S)|\s+""")


def encode(text, merges, special_tokens):
    out = []
    for part in re.split("(" + "|".join(map(re.escape, special_tokens)) + ")", text):
        if part in special_tokens:
            out.append(part.encode())
            continue
        for piece in re.findall(PAT, part):
            word = [bytes([b]) for b in piece.encode()]
            for left, right in merges:
                i = 0
                while i < len(word) - 1:
                    if word[i] == left and word[i + 1] == right:
                        word[i:i + 2] = [left + right]
                    i += 1
            out += word
    return out
'''

SYMBOLS = r'''
from collections import Counter


def best_of(counts):
    return max(counts, key=counts.get)


def learn(words, number, mark):
    words = {tuple(word) + mark: count for word, count in words.items()}
    merges = []
    for _ in range(number):
        counts = {}
        for word, count in words.items():
            for pair in zip(word, word[1:]):
                counts[pair] = counts.get(pair, 0) + count
        if not counts:
            break
        best = best_of(counts)
        merges.append(best)
        new = {}
        for word, count in words.items():
            out, i = [], 0
            while i < len(word):
                if word[i:i + 2] == best:
                    out.append(best[0] + best[1])
                    i += 2
                else:
                    out.append(word[i])
                    i += 1
            new[tuple(out)] = count
        words = new
    return merges
'''

COURSE = r'''
import regex as re

PAT = r"""'(?:[sdmt]|ll|ve|re)| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+"""


def train(documents, vocab_size):
    freqs = {}
    for text in documents:
        for word in re.findall(PAT, text):
            freqs[word] = freqs.get(word, 0) + 1
    alphabet = {b for word in freqs for b in word.encode()}
    return learn({bytes(word.encode()): n for word, n in freqs.items()}, vocab_size - 1 - len(alphabet))


def learn(words, number):
    splits = {word: [bytes([b]) for b in word] for word in words}
    merges = []
    for _ in range(number):
        pairs = {}
        for word, count in words.items():
            split = splits[word]
            for i in range(len(split) - 1):
                pairs[split[i], split[i + 1]] = pairs.get((split[i], split[i + 1]), 0) + count
        best, most = None, None
        for pair, count in pairs.items():
            if most is None or most < count:
                best, most = pair, count
        if best is None:
            break
        merges.append(best)
        for word in words:
            split, i = splits[word], 0
            while i < len(split) - 1:
                if split[i] == best[0] and split[i + 1] == best[1]:
                    split = split[:i] + [best[0] + best[1]] + split[i + 2:]
                else:
                    i += 1
            splits[word] = split
    return merges
'''

WORDPIECE = r'''
import re


def train(documents, vocab_size):
    freqs = {}
    for text in documents:
        for word in re.findall(r"\w+|[^\w\s]", text):
            freqs[word] = freqs.get(word, 0) + 1
    splits = {word: [c if i == 0 else "##" + c for i, c in enumerate(word)] for word in freqs}
    size = 5 + len({part for split in splits.values() for part in split})
    merges = []
    while size + len(merges) < vocab_size:
        letters, pairs = {}, {}
        for word, count in freqs.items():
            split = splits[word]
            for part in split:
                letters[part] = letters.get(part, 0) + count
            for pair in zip(split, split[1:]):
                pairs[pair] = pairs.get(pair, 0) + count
        if not pairs:
            break
        best = max(pairs, key=lambda p: pairs[p] / (letters[p[0]] * letters[p[1]]))
        merges.append(best)
        for word, split in splits.items():
            i = 0
            while i < len(split) - 1:
                if (split[i], split[i + 1]) == best:
                    split[i:i + 2] = [best[0] + best[1].removeprefix("##")]
                i += 1
    return merges
'''

UNIGRAM = r'''
def tokenize(text):
    pieces = {"▁This", "▁is", "▁the", "▁Hugging", "▁Face", "ou"}
    out = []
    for word in text.split():
        word = "▁" + word
        while word:
            for end in range(len(word), 0, -1):
                if word[:end] in pieces or end == 1:
                    out.append(word[:end])
                    word = word[end:]
                    break
    return out
'''

SOLUTIONS = {
    "cs336": RECOUNT, "cs336-encode": GIVEN, "minbpe-1": MINBPE, "minbpe-2": MINBPE, "minbpe-3": RANKS,
    "minbpe-4": SPECIALS,
    "minbpe-5": SYMBOLS + r'''

def train(text, num_merges):
    import re
    words = Counter()
    for line in text.split("\n"):
        words.update(re.findall("▁[^▁]*", "▁" + line.replace(" ", "▁")))
    return learn(words, num_merges, ())
''',
    "hf-course-bpe": COURSE, "hf-course-wordpiece": WORDPIECE, "hf-course-unigram": UNIGRAM,
    "jurafsky": SYMBOLS + r'''

def learn_bpe(words, num_merges):
    return learn(words, num_merges, ("_",))
''',
    "udl-sailor": SYMBOLS + r'''

def train(text, num_merges):
    return learn(Counter(text.split()), num_merges, ("</w>",))
''',
}
"""A right solution by the name of the exercise."""

Edits = tuple[tuple[str, str], ...]
MISTAKEN: tuple[tuple[str, str, Edits], ...] = (
    ("minbpe-1", "tie-last-seen", (("max(stats, key=stats.get)", "max(reversed(stats), key=stats.get)"),)),
    ("minbpe-2", "no-pretokens", (("re.findall(self.pattern, text) if self.pattern else", ""),)),
    ("minbpe-2", "other-pattern", ((r"\p{N}{1,3}", r"\p{N}+"),)),
    ("minbpe-1", "longest-match", ((
        "            ids = list(chunk.encode(\"utf-8\"))\n",
        "            data = chunk.encode(\"utf-8\")\n            known = {token: n for n, token in "
        "self.vocab.items()}\n"
        "            while data:\n                end = max(e for e in range(1, len(data) + 1) if data[:e] "
        "in known)\n"
        "                out.append(known[data[:end]])\n                data = data[end:]\n            "
        "continue\n",
    ),)),
    ("cs336-encode", "longest-match", ((
        "        word = [bytes([b]) for b in data]\n",
        "        out = []\n        while data:\n"
        "            end = max(e for e in range(1, len(data) + 1) if data[:e] in self.ids)\n"
        "            out.append(data[:end])\n            data = data[end:]\n        return out\n",
    ),)),
    ("cs336-encode", "special-order", ((", key=len, reverse=True)", ", key=len)"),)),
    ("cs336-encode", "special-as-text", (("if self.special:", "if False:"),)),
    ("cs336-encode", "no-pretokens", (("re.findall(PAT, part)", "[part]"),)),
    ("cs336-encode", "highest-rank", (("best = min(known", "best = max(known"),)),
    ("cs336-encode", "lower-case", (("parts = [text]", "text = text.lower()\n        parts = [text]"),)),
    ("jurafsky", "mark-split", (('("_",)', 'tuple("</w>")'),)),
    ("minbpe-2", "longest-match", ((
        "            ids = list(chunk.encode(\"utf-8\"))\n",
        "            data = chunk.encode(\"utf-8\")\n            known = {token: n for n, token in "
        "self.vocab.items()}\n"
        "            while data:\n                end = max(e for e in range(1, len(data) + 1) if data[:e] "
        "in known)\n"
        "                out.append(known[data[:end]])\n                data = data[end:]\n            "
        "continue\n",
    ),)),
    ("jurafsky", "no-mark", (('("_",)', "()"),)),
    ("udl-sailor", "mark-split", (('("</w>",)', 'tuple("</w>")'),)),
    ("udl-sailor", "no-mark", (('("</w>",)', "()"),)),
    ("udl-sailor", "tie-largest-pair", (("counts, key=counts.get", "counts, key=lambda p: (counts[p], p)"),)),
    ("udl-sailor", "lower-case", (("text.split()", "text.lower().split()"),)),
    ("hf-course-bpe", "tie-last-seen", (("most < count", "most <= count"),)),
    ("hf-course-wordpiece", "count-for-score", ((" / (letters[p[0]] * letters[p[1]])", ""),)),
    ("hf-course-wordpiece", "summed-score", (("letters[p[0]] * letters[p[1]]",
        "letters[p[0]] + letters[p[1]]"),)),
)
"""Wrong solutions of exercises: the exercise, the mistake, and the edits that make it."""
