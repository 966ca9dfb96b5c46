"""Names of corpora: the built-in ones, and the ways to read a file.

They are known before anything is read: the words of a command need them.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from tokentui.core.arguments import nearest
from tokentui.core.errors import TokentuiError

READ_AS = {
    "text": "a document a file",
    "lines": "a document a line, line ends left out",
    "jsonl": "a document a row of JSON",
    "counts": "a word a row, with its count",
}
"""By their names."""


@dataclass(frozen=True, slots=True)
class Sample:
    """A built-in corpus. `as_` is how its file is read; `language` an ISO 639 code, or what else it is
    written in."""

    name: str
    title: str
    language: str
    as_: str
    path: Path

    @property
    def bytes(self) -> int:
        """The size of its file."""
        return self.path.stat().st_size

    @property
    def size(self) -> int:
        """The size of its text: without the line ends of a file of lines, of counted words each as often as
        it counts."""
        if self.as_ == "text":
            return self.bytes
        lines = self.path.read_bytes().splitlines()
        if self.as_ == "lines":
            return sum(map(len, lines))
        rows = (line.rpartition(b"\t") for line in lines)
        return sum(len(word) * int(count) for word, _, count in rows)


# A one-line example is read as lines, so that the line end of its file is no part of it.
_TABLE = (
    ("english", "An evening in a repair café", "en", "text", "english.txt"),
    ("indonesian", "Pasar pagi", "id", "text", "indonesian.txt"),
    ("japanese", "雨の日の図書館", "ja", "text", "japanese.txt"),
    ("chinese", "修钟表的人", "zh", "text", "chinese.txt"),
    ("arabic", "مخبز الحي", "ar", "text", "arabic.txt"),
    ("hindi", "आख़िरी बस", "hi", "text", "hindi.txt"),
    ("korean", "옥상 텃밭", "ko", "text", "korean.txt"),
    ("finnish", "Saunapolku", "fi", "text", "finnish.txt"),
    ("turkish", "Vapurda bir sabah", "tr", "text", "turkish.txt"),
    ("emoji", "A group chat", "emoji", "text", "emoji.txt"),
    ("python", "A program: timetables of a bus line", "python", "text", "python.txt"),
    ("numbers", "Prices, dates, addresses, tables", "numbers", "text", "numbers.txt"),
    ("cat-bat-rat", "cat bat rat bat", "en", "lines", "cat-bat-rat.txt"),
    ("sailor", "A sailor went to sea", "en", "lines", "sailor.txt"),
    ("woodchuck", "How much wood", "en", "lines", "woodchuck.txt"),
    ("hugs", "Hugs and pugs, three documents", "en", "lines", "hugs.lines.txt"),
    ("halo", "halo alo balon", "id", "lines", "halo.txt"),
    ("hai", "hai lai hau, counted words", "id", "counts", "hai.counts.tsv"),
    ("gage", "Gage's xxxdqxxxdxo", "letters", "lines", "gage.txt"),
)


def _folder() -> Path:
    """The folder of the files: inside an installed package, next to the package in a checkout."""
    package = Path(__file__).parents[1]
    inside = package / "corpora"
    return inside if inside.is_dir() else package.parent / "corpora"


def samples() -> tuple[Sample, ...]:
    """All built-in corpora."""
    folder = _folder()
    return tuple(
        Sample(name, title, language, as_, folder / file) for name, title, language, as_, file in _TABLE
    )


def find_sample(name: str) -> Sample:
    """The built-in corpus of a name.

    Raises:
        TokentuiError: There is none; it names the nearest.
    """
    for sample in samples():
        if sample.name == name:
            return sample
    raise TokentuiError(
        "no such sample", f"sample:{name}", nearest(name, [sample.name for sample in samples()])
    )


def sample_path(name: str) -> Path:
    """The file of a built-in corpus.

    Raises:
        TokentuiError: There is none; it names the nearest.
    """
    return find_sample(name).path
