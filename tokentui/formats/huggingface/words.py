"""From a text to the words and units of a model, by the steps of a `tokenizer.json`."""

from __future__ import annotations

from typing import Any

from tokentui.formats.huggingface.strings import Bare, Normalizer, Splitting, Text
from tokentui.formats.letters import LETTERS
from tokentui.recipe import Recipe
from tokentui.text.pretokenize import Analysis, PreToken, Pretokenizer
from tokentui.text.split import to_bytes

_BYTES: dict[str, bytes] = {letter: bytes((value,)) for value, letter in enumerate(LETTERS)}


_WORDS_KEPT = 1 << 16


class StagedPretokenizer(Pretokenizer):
    """A pre-tokenizer whose steps the axes cannot say.

    Args:
        recipe: What the axes can say.
        normalizer: From a text to the one that is cut, None for none.
        splitting: From that to its words, None for none.
        byte_level: Whether the words are letters for bytes.
        prefix: What stands in front of each unit but a word's first.
        suffix: What ends a word's last unit.
    """

    def __init__(
        self, recipe: Recipe, normalizer: Normalizer | None, splitting: Splitting | None, *, byte_level: bool,
        prefix: str = "", suffix: str = "",
    ) -> None:
        super().__init__(recipe)
        self._normalizer = normalizer
        self._splitting = splitting
        self._byte_level = byte_level
        self._known: dict[str, str] = {}
        self._prefix, self._suffix = to_bytes(prefix), to_bytes(suffix)

    def words(self, document: str, *, first: bool = True, timeout: float | None = None) -> list[str]:
        """The words of a document in order."""
        return self.spelled(self._normal(document, Bare))

    def normalized(self, document: str) -> str:
        """A document after the normalizer."""
        return self._normal(document, Bare).text

    def safe_cut(self, document: str, at: int) -> int:
        """The document's length: no other place is known to be safe."""
        return len(document)

    def units(self, word: str) -> list[bytes]:
        """The smallest units of a word, with their marks."""
        units = self._plain(word)
        if units and self._prefix:
            units[1:] = [self._prefix + unit for unit in units[1:]]
        if units and self._suffix:
            units[-1] += self._suffix
        return units

    def analyse(self, text: str | bytes, timeout: float | None = None) -> Analysis:
        """All that becomes of a text before its units are merged. `prepared` is the words joined."""
        source = text.decode("utf-8", "surrogateescape") if isinstance(text, bytes) else text
        normal = self._normal(source)
        pretokens = self.of(normal)
        return Analysis(source, normal.text, "".join(pretoken.text for pretoken in pretokens), pretokens)

    def typed(self, text: str) -> str:
        """What the steps start from: what is not UTF-8 is replaced, unless the units are bytes."""
        return self._typed(text)

    def of(self, text: Text) -> list[PreToken]:
        """The words of a text that is normalised."""
        if not text.text:
            return []
        found: list[PreToken] = []
        at = 0
        for part in self._splitting(text) if self._splitting else [text]:
            if not part.text:
                continue
            word, spans = self._word(part)
            found.append(PreToken(word, part.starts[0], max(part.ends[-1], part.starts[0]), at, at + len(word), spans))
            at += len(word)
        return found

    def spelled(self, text: Text) -> list[str]:
        """The words of a text that is normalised, without their places."""
        parts = self._splitting(text) if self._splitting else [text]
        words = [part.text for part in parts if part.text]
        if not self._byte_level:
            return words
        known = self._known
        if len(known) > _WORDS_KEPT:
            known.clear()
        return [known.get(word) or known.setdefault(word, _of_letters(word)) for word in words]

    def _word(self, part: Text) -> tuple[str, tuple[tuple[int, int], ...]]:
        if not self._byte_level:
            return part.text, tuple(zip(part.starts, part.ends, strict=True))
        spelled = [_BYTES.get(character) or to_bytes(character) for character in part.text]
        spans = [span for data, *span in zip(spelled, part.starts, part.ends, strict=True) for _ in data]
        return b"".join(spelled).decode("utf-8", "surrogateescape"), tuple((start, end) for start, end in spans)

    def _normal(self, text: str, kind: type[Text] = Text) -> Text:
        typed = kind.typed(self._typed(text))
        return self._normalizer(typed) if self._normalizer else typed


def _of_letters(word: str) -> str:
    data = b"".join(_BYTES.get(character) or to_bytes(character) for character in word)
    return data.decode("utf-8", "surrogateescape")


def holds_byte_level(spec: Any) -> bool:
    """Whether a step that was checked turns bytes into letters."""
    if not isinstance(spec, dict) or spec.get("type") != "Sequence":
        return isinstance(spec, dict) and spec.get("type") == "ByteLevel"
    steps = [spec[key] for key in ("normalizers", "pretokenizers") if isinstance(spec.get(key), list)]
    return any(holds_byte_level(one) for listed in steps for one in listed)
