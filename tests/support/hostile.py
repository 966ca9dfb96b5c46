"""What files may hold that do not mean well: texts by family, whole files of every kind, names of files and
folders.

A text is a `str` in which bytes that are no UTF-8 are surrogate escapes, as everywhere; `raw` gives its
bytes.
"""

from __future__ import annotations

import base64
import bz2
import gzip
import io
import itertools
import json
import lzma
import zipfile
from collections.abc import Iterator, Mapping
from pathlib import Path

from protomake import message

COLOR = "#010203"
"""A color that only markup of the hostile set asks for."""
ACTION = "app.sprung"
"""An action that only markup of the hostile set names."""
LINK = "http://evil.example/"

MARKUP_NAMES = ("tok[/]en", "[red]x[/red]", f"[@click={ACTION}]y", "bell\x07[/]\x1b[31m")
"""Names that Textual would parse: an end without a start, which raises; a style, whose brackets get lost; an
action; control characters."""

_ESC, _ST, _BEL = "\x1b", "\x1b\\", "\x07"
_PAYLOAD = "52;c;b3duZWQ="


def raw(text: str) -> bytes:
    """The bytes of a text; a surrogate that is no escaped byte becomes the three bytes that would spell it.
    """
    return b"".join(
        one.encode("utf-8", "surrogateescape" if "\udc80" <= one <= "\udcff" else "surrogatepass")
        for one in text
    )


def _bytes(data: bytes) -> str:
    return data.decode("utf-8", "surrogateescape")


def _control() -> Iterator[str]:
    for final in (
        "2J", "3J", "31m", "?1049l", "?1000h", "?25l", "6n", "c", ">c", "21t", "8;1;1t", "20l", "4h",
        "9999999999A", "1;1r", "!p",
    ):
        yield f"a{_ESC}[{final}b"
    for code in (
        "0;title", "2;title", "4;1;red", "7;file:///", "8;;" + LINK, "9;note", "10;?", _PAYLOAD, "52;c;?",
        "104", "133;A", "777;notify;a;b", "1337;File=inline=1:AAAA",
    ):
        yield f"{_ESC}]{code}{_BEL}"
        yield f"{_ESC}]{code}{_ST}text{_ESC}]8;;{_ST}"
    for opener in "P_^X":
        yield f"{_ESC}{opener}1$r0m{_ST}"
    yield f"{_ESC}Ptmux;{_ESC}{_ESC}]{_PAYLOAD}{_BEL}{_ST}"
    yield f"{_ESC}P+q544e{_ST}"
    yield f"{_ESC}_Gf=24,s=1,v=1;AAAA{_ST}"
    for short in "cDEMHNOZ78=>|}~":
        yield f"x{_ESC}{short}y"
    yield from (
        f"{_ESC}#8", f"{_ESC}(0qqq{_ESC}(B", f"{_ESC}%@", f"{_ESC} F", _ESC, f"{_ESC}[", f"{_ESC}]",
        f"{_ESC}{_ESC}", f"{_ESC}[38;5;",
    )
    for code_point in range(0x80, 0xA0):
        yield f"c1{chr(code_point)}31m"
    for introducer in (0x90, 0x9B, 0x9D, 0x9E, 0x9F):
        yield _bytes(b"raw" + bytes([introducer]) + b"0;x\x9c")
    for control in (0, 5, 7, 8, 9, 11, 12, 13, 14, 15, 17, 19, 24, 26, 27, 127):
        yield f"one{chr(control)}two"
    yield "".join(map(chr, range(0x20)))
    yield "secret\rpublic"
    yield "rm -rf\x08\x08\x08\x08\x08\x08ls    "
    # What is left when some of it is stripped would be a sequence.
    for between in (
        "\x07", "\x00", "\x08", "\x0b", "\x0c", "\r", "\u200b", "\u202e", "\xad", "\ufeff", "\udc80",
    ):
        yield f"{_ESC}{between}]{_PAYLOAD}{between}{_BEL}"
    yield f"{_ESC}{_ESC}[[2J2J"
    yield f"\x1b[\x1b[31m31m\x1b{_BEL}[2J"


def _markup() -> Iterator[str]:
    yield from (
        "[/", "[/]", "x [/] y", "[red]x[/#888888]", "[red]x[/blue]", "[", "]", "[[", "[]", "\\[/]",
        "\\[red]x[/]", "[red", "[/red]", "\\", "x\\",
    )
    yield f"[on {COLOR}]ground[/]"
    yield f"[{COLOR}]ink[/{COLOR}]"
    yield f"[blink {COLOR} on {COLOR}]x[/]"
    yield f"[link={LINK}]link[/link]"
    yield f"[link='{LINK}']link[/]"
    yield f"[@click={ACTION}]click[/]"
    yield f"[@click={ACTION}('x')]click[/]"
    yield f"[@click='{ACTION}']click[/]"
    yield f"[@mouse.down={ACTION}]down[/][@mouse.up={ACTION}]up[/]"
    yield f"[@enter={ACTION}]x[/]"
    yield "[@click=app.quit]quit[/]"
    yield "[@click=app.bell]\x07[/]"
    yield from (
        "[$error]x[/]", "$error", "${text}", "[bold", "[bold]x", "[b][i]x[/b][/i]", "[/bold", "[=]", "[a=b]",
        "[a='b]", '[a="b]', "[@click]",
    )
    yield from ("[@click=]x[/]", "[@click=(]x[/]", "[@click=app.exit(]x[/]", "[rgb(1,2,3)]x[/]", "[#12]x[/]",
        "[not bold]x[/]", "[red on]x[/]")
    yield from (
        "[1]", "[0:1]", "a[b]c[/b]d", "[!x]", "[on]", "[auto 50%]x[/]", "[%d]", "{0}", "%s", "{x!r:>{w}}",
        ":smile:", "[:smile:]", "[/]" * 30,
    )
    yield from (
        "[" * 200, "]" * 200, "[red]" * 60, "[\x1b]x[/]", "[\u202e]x[/]", "[a\nb]x[/]", "&lt;b&gt;",
        "<script>", "**b** `c` [l](u)", "# x\n---\n> y",
    )


def _unicode() -> Iterator[str]:
    for override in "\u202a\u202b\u202d\u202e\u2066\u2067\u2068\u061c\u200e\u200f":
        yield f"user{override}gpj.exe\u202c\u2069"
    for hidden in (
        "\u200b\u200c\u200d\u2060\u2061\u2063\ufeff\xad\u034f\u180e\u115f\u1160\u17b4\u3164\uffa0\u2800\u206a"
        "\ufff9\U0001d173"
    ):
        yield f"pass{hidden}word"
    yield "tags\U000e0001" + "".join(chr(0xE0000 + ord(one)) for one in "evil") + "\U000e007f"
    yield "🏴" + "".join(chr(0xE0000 + ord(one)) for one in "gbeng") + "\U000e007f flag"
    yield from (
        "vs\ufe0e\ufe0f\ufe00", "a\U000e0100b\U000e01ef", "1\ufe0f\u20e3 2\u20e3", "❤\ufe0f ❤", "〈\ufe00",
    )
    yield from ("👨\u200d👩\u200d👧\u200d👦", "👩🏽\u200d🚀", "🏳\ufe0f\u200d🌈", "👍🏽👍", "🇩🇪🇫🇷🇺",
        "🇦" * 9, "\u200d" * 20,
        "🤦🏼\u200d♂\ufe0f")
    yield from (
        "Z" + "\u0310" * 4, "Z" + "\u0310" * 500, "\u0301" * 40, "a\u0300\u0316\u0301\u0317" * 6, "e\u0301",
        "\u0301start", "\u20dd\u20e0 \u0488",
    )
    yield from ("日本語テキスト", "한국어 \u1112\u1161\u11ab \u1100" + "\u1161" * 5, "ｆｕｌｌ　ｗｉｄｅ",
        "漢" * 60, "a漢" * 30, "ﷺ﷽", "𒐫𒈙", "⸻⸺",
        "Ǆ ﬃ ㎒ ㍿")
    yield from ("\ue000\uf8ff", "\U000f0000\U0010fffd", "\ufffe\uffff\ufdd0\U0001fffe\U0010ffff",
        "\u0378\u0530\U0001f9ff\U000323b0", "\ufffc\ufffd")
    yield from ("\ud800", "\udfff", "\ud83d\ude00", "\udbff\udfff", "a\ud800b\udc00c")
    yield from (
        "line\u2028sep\u2029para\x85nel", "\xa0\u1680\u2000\u2003\u2007\u202f\u205f\u3000", "a\u3000b",
    )
    yield from (
        "שלום עולם", "مرحبا بالعالم", "abc שלום 123 مرحبا", "नमस्ते दुनिया", "สวัสดีชาวโลก", "རྫོང་ཁ",
        "မြန်မာ", "ខ្មែរ", "𐤀𐤁𐤂", "ߒߞߏ",
    )
    yield from ("␛[31m␇␀", "◌\u0301 U+202E <FF> \\x1b", "·⏎⇥␣", "раypal.com", "ⅼⅰ1l", "│┌┐└┘─┃", "▸ █▓▒░")


def _shapes() -> Iterator[str]:
    yield from ("", " ", " " * 300, "\n", "\n" * 50, "\t" * 40, "\r\n" * 9, "\n \n\t\n")
    yield from (
        "a" * 5000, "ab " * 2000, "漢" * 3000, "\x1b" * 3000, "\udcff" * 3000, "\u202e" * 3000,
        "e\u0301" * 1500, "[/]" * 1500, "👨\u200d👩" * 500,
    )
    yield from ("x" * 79, "x" * 80, "漢" * 40, "x" + "漢" * 40, "0" * 4400, "-" * 200, "/" * 200)


def _encodings() -> Iterator[str]:
    for data in (
        b"\xff\xfeh\x00i\x00", b"\xfe\xff\x00h\x00i", b"\xff\xfe\x00\x00h\x00\x00\x00", b"\xef\xbb\xbfbom",
        b"\x80\xbf\xc0\xc1\xf5\xff",
        b"\xc0\xaf\xc1\x9b overlong", b"\xe0\x80\x9b[31m", b"\xf0\x80\x80\x9b", b"\xc0\x9b31m",
        b"\xed\xa0\x80\xed\xb0\x80",
        b"\xf4\x90\x80\x80",
        b"\xe2\x82", b"\x82\xac", b"caf\xe9 latin-1", b"\x93quoted\x94", b"\x1b$B$\"\x1b(B",
        b"+AGE- ~{VPND~}",
        b"\x0e\x1b(0lqk\x0f",
        bytes(range(256)), b"\xf8\x88\x80\x80\x80", b"a\xcc", b"\xd8\x00\xdc\x00",
    ):  # fmt: skip
        yield _bytes(data)


FAMILIES: Mapping[str, tuple[str, ...]] = {
    "control": tuple(_control()), "markup": tuple(_markup()), "unicode": tuple(_unicode()),
    "shapes": tuple(_shapes()),
    "encodings": tuple(_encodings()),
}
"""Texts by family."""
TEXTS: tuple[str, ...] = tuple(
    dict.fromkeys(itertools.chain.from_iterable(itertools.zip_longest(*FAMILIES.values(), fillvalue="")))
)
"""All of them, the families in turn: any few that follow each other are of several."""
SHORT: tuple[str, ...] = tuple(one for one in TEXTS if len(one) <= 600)
PLAIN = "plain ascii words of about the same length, nothing else in them"

NAMES: tuple[str, ...] = tuple(
    one.replace("/", "").replace("\0", "")
    for one in (
        "\x1b]0;title\x07.txt", "\x1b[2J.txt", "\x1b\x07]52;c;eA==\x07.json", "\x9b31m.txt",
        _bytes(b"\x9b31m.jsonl"),
        "line\nbreak.txt",
        "cr\rname.txt", "tab\tname.txt", "bs\x08\x08\x08.txt", "\u202egpj.exe", "\u2066iso\u2069.txt",
        "zero\u200bwidth.txt",
        _bytes(b"\xff\xfe.txt"),
        "[\\].txt", "[bold]x", f"[@click={ACTION}]x[].txt", f"[on {COLOR}]x.txt", "[red]x[#888888].txt",
        "x[.model", "-rf",
        "--help", " ", "  two", "trail ",
        "~", "$(id)", "`id`", "a;b|c&d", "*?.txt", "'q\"", "%s%n", "漢字" * 20 + ".txt",
        "e" + "\u0301" * 60 + ".txt",
        "👨\u200d👩\u200d👧.txt", "🇩🇪.txt", "\ue000.txt",
        "\ufeffbom.txt", "n" * 250, "\udcff" * 200, "\u3164", "x\x85y", "\u2028.txt",
    )
)  # fmt: skip
"""Names that a file or a folder may have."""


# ---- files


def _zip(members: Mapping[str, bytes]) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as file:
        for name, data in members.items():
            file.writestr(name, data)
    return out.getvalue()


def corpora() -> dict[str, bytes]:
    """Corpus files by name: each text that is long enough to matter, families together, rows, counts,
    compressed ones."""
    files = {f"{family}.txt": b"\n".join(map(raw, texts)) for family, texts in FAMILIES.items()}
    for family, texts in FAMILIES.items():
        for number, text in enumerate(texts):
            files[f"{family}-{number:03}.txt"] = raw(text) + b" and words after it\n" + raw(text)
    rows = [json.dumps({"text": text}) for text in SHORT]
    files |= {
        "rows.jsonl": "\n".join(rows).encode(),
        "raw-rows.jsonl": b"\n".join(b'{"text": "' + raw(one).replace(b"\n", b" ").replace(b'"',
        b"") + b'"}' for one in SHORT[:90]),
        "keys.jsonl": b'{"\x1b[2J": 1}\n{"text": "\\u001b[2J"}\n{"\\u001b]0;x\\u0007": "y"}\n',
        "no-row.jsonl": b"\x1b[2J\x07 no row\n[/]\n",
        "deep.jsonl": b"[" * 5000 + b"\x1b[2J",
        "counts.tsv": "".join(f"{json.dumps(text)[1:-1]}\t{n + 1}\n" for n,
        text in enumerate(SHORT[:150])).encode(),
        "bad-counts.tsv": b"\x1b[31mword\t\x1b]0;x\x07\n",
        "one-count.tsv": b"w\x9bord\t3\n",
        "text.txt.gz": gzip.compress(raw("\n".join(SHORT))),
        "text.txt.xz": lzma.compress(raw("\n".join(SHORT[:80]))),
        "text.txt.bz2": bz2.compress(raw("\n".join(SHORT[:80]))),
        "cut.txt.gz": gzip.compress(raw("\n".join(SHORT)))[:300],
        "no.txt.gz": b"\x1f\x8b\x1b[2J\x07", "text.zip": _zip({f"{n}\x1b[2J\u202e[/].txt": raw(one) for n,
        one in enumerate(SHORT[:9])}),
        "no.zip": b"PK\x03\x04\x1b]0;x\x07", "names.txt": b"\n".join(map(raw, NAMES)),
    }  # fmt: skip
    return files


TOKENS: tuple[str, ...] = tuple(
    one for one in SHORT if one and len(one) < 60 and not any("\ud800" <= char <= "\udfff" for char in one)
)
"""Texts that a tokenizer file can hold as a token, whatever its encoding."""


def _huggingface(model: Mapping[str, object], tokens: tuple[str, ...]) -> bytes:
    added = [
        {
            "id": 5000 + n, "content": one, "special": n % 2 == 0, "single_word": False, "lstrip": False,
            "rstrip": False, "normalized": False,
        }
        for n, one in enumerate(tokens[::3])
    ]
    steps = {
        "normalizer": {"type": "Replace", "pattern": {"String": "\x1b[2J"}, "content": "\u202e"},
        "pre_tokenizer": {
            "type": "Split", "pattern": {"Regex": "\x1b\\[|[\u202e/]|\\s+"}, "behavior": "Isolated",
            "invert": False,
        },
    }
    return json.dumps({"version": "1.0", "added_tokens": added, **steps, "model": model}).encode()


def tokenizers() -> dict[str, bytes]:
    """Tokenizer files of every format by name, with hostile tokens, specials, patterns and versions; some are
    refused."""
    tokens = TOKENS
    letters = sorted(set("".join(tokens)))
    ids = {one: n for n, one in enumerate(dict.fromkeys((*letters, *tokens)))}
    pieces = [(one, -1.0 - n / 100) for n, one in enumerate(ids)]
    merges = [(one[:1], one[1:]) for one in tokens if one[1:] in ids]
    ranks = [bytes([n]) for n in range(256)] + [raw(one) for one in tokens if len(raw(one)) == 2]
    specials = "".join(
        f"{one} {1000 + n}\n"
        for n, one in enumerate(t for t in tokens[:40] if "\n" not in t and " " not in t)
    )
    lines = [one for one in ids if one.splitlines() == [one]]
    bert = ["[UNK]", *(one for one in lines if one.strip() == one)]
    table = "".join(
        f"{base64.b64encode(one).decode()} {n}\n" for n, one in enumerate(dict.fromkeys(ranks))
    ).encode()
    tekken = {
        "config": {
            "pattern": "[^\x1b]+|\x1b", "num_vocab_tokens": 300, "default_vocab_size": 320,
            "default_num_special_tokens": 20, "version": "v3\x1b[2J",
        },
        "vocab": [
            {"rank": n, "token_bytes": base64.b64encode(bytes([n])).decode(), "token_str": "\x1b[31m"}
            for n in range(256)
        ],
        "special_tokens": [
            {"rank": n, "token_str": one, "is_control": True} for n, one in enumerate(tokens[:20])
        ],
    }
    model = message([
        (1, message([(1, b"<unk>"), (2, 0.0), (3, 2)])),
        *((1, message([(1, raw(one)), (2, score), (3, 4 if n % 5 == 0 else 1)])) for n,
        (one, score) in enumerate(pieces) if one),
        (2, message([(3, 1)])), (3, message([(1, b"\x1b[2Jname")])),
    ])  # fmt: skip
    return {
        "bpe.json": _huggingface({"type": "BPE", "vocab": ids, "merges": merges, "unk_token": "\x1b[2J"},
        tokens),
        "bpe-plain.json": _huggingface({"type": "BPE", "vocab": ids, "merges": merges}, tokens),
        "wordpiece.json": _huggingface({"type": "WordPiece", "vocab": {"[UNK]": 9999, **ids},
        "unk_token": "[UNK]",
                                        "continuing_subword_prefix": "\u202e##",
                                        "max_input_chars_per_word": 100}, tokens),
        "unigram.json": _huggingface({"type": "Unigram", "vocab": pieces, "unk_id": 0}, tokens),
        "wordlevel.json": _huggingface({"type": "WordLevel", "vocab": ids, "unk_token": "\x1b[2J"}, tokens),
        "other-type.json": _huggingface({"type": "\x1b]0;x\x07[/]"}, ()),
        "keys.json": json.dumps({"\x1b[2J": "\x1b]0;x\x07", "version": "\x1b[2J"}).encode(),
        "broken.json": b'{"model": "\x1b[2J\x07',
        "ranks.tiktoken": table, "bad.tiktoken": b"\x1b[2J\x07 0\n[/] 1\n",
        "bad-rank.tiktoken": b"AA== \x1b[31m\n",
        "tekken.json": json.dumps(tekken).encode(),
        "vocab.txt": "\n".join(bert).encode(), "vocab.json": json.dumps(ids).encode(),
        "merges.txt": ("#version: 0.2\n" + "".join(f"{a} {b}\n" for a,
        b in merges if a.strip() and b.split() == [b])).encode(),
        "bpe.codes": b"#version: 0.2\n\x1b [2J\n\xe2\x80\xae a</w>\n\xc2\x9b 3\n[ /\n",
        "bad.codes": b"#version: \x1b[2J\na b\n",
        "minbpe.model": (
            "minbpe v1\n[^\x1b]+|\x1b\n" + str(specials.count("\n")) + "\n" + specials + "27 91\n256 50\n"
        ).encode(),
        "bad-minbpe.model": b"minbpe v1\n\x1b[2J\n1\n\x1b]0;x\x07 \x1b\n", "pieces.model": model,
        "cut.model": model[:999],
        "page.html": b"<!doctype html>\x1b[2J",
        "lfs.json": b"version https://git-lfs.github.com/spec/v1\noid \x1b[2J\n",
    }  # fmt: skip


def recipe_files() -> dict[str, bytes]:
    """Recipe files that are refused or hold more than is good."""
    return {
        "key.toml": b'"\\u001b[2J" = 1\n', "value.toml": b'split = "\\u001b]0;x\\u0007[/]"\n',
        "broken.toml": b"\x1b[2J = \x07", "bytes.toml": b"\xff\xfe\x9b",
    }


def written(files: Mapping[str, bytes], folder: Path) -> dict[str, Path]:
    """The files in a folder, by name."""
    folder.mkdir(parents=True, exist_ok=True)
    paths = {name: folder / name for name in files}
    for name, path in paths.items():
        path.write_bytes(files[name])
    return paths


def named(folder: Path, data: bytes = b"a text of words and words") -> list[Path]:
    """A file of each hostile name, and some of them in a folder of a hostile name, as far as the file system
    takes them."""
    made: list[Path] = []
    inner = folder / "\x1b]0;folder\x07 \u202e[red]"
    inner.mkdir(parents=True)
    for n, name in enumerate(NAMES):
        path = (inner if n % 4 == 3 else folder) / name
        try:
            path.write_bytes(data)
        except (OSError, ValueError):
            continue
        made.append(path)
    return made


def file_named(folder: Path, name: str) -> Path:
    """A file that has the name, in a folder that has it too. A slash in the name makes one more folder."""
    path = folder / name / f"{name}.txt"
    path.parent.mkdir(parents=True)
    path.write_text(f"a text of words and {name} words\n" * 9)
    return path
