"""Checks of a model folder: whether its files agree on the ids of a text."""

from __future__ import annotations

import itertools
import json
import os
import re
import unicodedata
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from tokentui.analyze.health.survey import FAIL, INFO, NONE, PASS, WARN, Finding, some
from tokentui.analyze.health.texts import NUMBERS, SCRIPTS, SPACES, TEXTS, encoded
from tokentui.analyze.inspect import text_of
from tokentui.analyze.report import Report, Section
from tokentui.analyze.results import CheckResult, Example
from tokentui.core.errors import TokentuiError
from tokentui.core.jobs import check
from tokentui.encode.tokenizer import Tokenizer
from tokentui.formats.files import UNSPLIT, load, recognize
from tokentui.formats.folder import SETTINGS, TEKKEN, TOKENS, ModelFolder, is_id, steps_of
from tokentui.formats.huggingface.decoders import clean_up as without_spaces
from tokentui.formats.spec import Unsupported, pattern_of
from tokentui.recipe import Recipe
from tokentui.text.pretokenize import UNITS
from tokentui.text.split import SPLITS, compile_own

_MOST_EXAMPLES = 10
_PROBED = 50
_IDS = 8
PROBES: tuple[str, ...] = (
    "Hello, world! It isn't what they've said.", "HelloWorld getURLs 2024 1234567",
    *(text for group in (SCRIPTS, TEXTS, SPACES) for _, text in group), *NUMBERS,
)
"""Texts that show whether two files give other ids."""
_MISTRAL = ("mistral", "mistral3", "ministral", "ministral3", "pixtral", "voxtral")
_SPLIT_OF: Mapping[str, str] = {
    **dict.fromkeys(_MISTRAL, TEKKEN), "gpt2": "gpt2",
    **dict.fromkeys(("qwen2", "qwen2_moe", "qwen2_vl", "qwen2_5_vl", "qwen3", "qwen3_moe"), "qwen"),
}
"""The split of a `model_type`, of tokens that are bytes."""
_RENDERS_BOS = re.compile(r"\{\{-?\s*\(?\s*bos_token\b")
_UNCLEAN = "if ( x ) , y . do n't !"


@dataclass(frozen=True)
class Files:
    """A folder and the tokenizers of its files.

    Attributes:
        folder: The folder.
        tokenizer: The tokenizer of the folder.
        others: The tokenizer of each file that is not used.
        unread: The reason for each file that could not be read.
    """

    folder: ModelFolder
    tokenizer: Tokenizer
    others: Mapping[str, Tokenizer]
    unread: Mapping[str, str]

    @cached_property
    def ids(self) -> dict[bytes, int]:
        """The id of each token by its bytes, or by its name if it is special."""
        return _ids(self.tokenizer)

    @cached_property
    def last(self) -> int:
        """The largest id; -1 without any."""
        return max(self.ids.values(), default=-1)

    def id_of(self, name: str) -> int | None:
        """Return the id of a token by its name."""
        return self.ids.get(name.encode("utf-8", "surrogatepass"))

    def stage(self, name: str) -> Mapping[str, object]:
        """Return a step of `tokenizer.json`; empty for other files."""
        step = self.tokenizer.vocabulary.file.stages.get(name)
        return step if isinstance(step, Mapping) else {}

    @property
    def fast(self) -> bool:
        """Whether `tokenizer.json` of Hugging Face's gives the vocabulary."""
        return "model" in self.tokenizer.vocabulary.file.stages


def _ids(tokenizer: Tokenizer) -> dict[bytes, int]:
    return {entry.piece: entry.id for entry in tokenizer.entries()}


def _shown(name: str) -> bytes:
    return name.encode("utf-8", "surrogatepass")


Ids = Sequence[int | None]
"""The ids of a text; None for an unknown part."""


def _some_ids(ids: Ids) -> str:
    first = " ".join("?" if number is None else str(number) for number in ids[:_IDS])
    return first + " …" * (len(ids) > _IDS)


def stale(files: Files) -> Finding:
    """Check for other vocabulary files whose tokens or ids differ from the file that is used, or that encode
    a text differently. It does not apply to a folder with one such file."""
    if not files.others:
        return Finding("only one file has a vocabulary")
    examples: list[Example] = []
    differences: list[str] = []
    for name, other in files.others.items():
        special_pieces = {_shown(special_name) for special_name in other.vocabulary.specials}
        theirs = {piece: number for piece, number in _ids(other).items() if piece not in special_pieces}
        moved = [piece for piece, number in theirs.items() if files.ids.get(piece) != number]
        absent = sum(piece not in files.ids for piece in moved)
        if moved:
            lacking = some(absent, "token", f"of {name} absent")
            differences.append(f"{lacking}, {len(moved) - absent:,} with another id")
        differing = next(_differing(files, other, moved), None)
        if differing is not None:
            text, ours, others = differing
            used = files.folder.vocabulary[0]
            note = f"{_some_ids(ours)} by {used}, {_some_ids(others)} by {name}"
            examples.append(Example(None, _shown(text), note))
            differences += [] if moved else [f"{name} gives other ids"]
        elif moved:
            examples += [Example(theirs[piece], piece, f"in {name}") for piece in moved[:_MOST_EXAMPLES]]
    if not differences:
        return Finding(f"{' and '.join(files.others)}: the same tokens and ids", 0, status=PASS)
    return Finding("; ".join(differences), len(differences), examples, WARN)


def _differing(
    files: Files, other: Tokenizer, moved: Sequence[bytes]
) -> Iterator[tuple[str, Ids, Ids]]:
    """Yield texts that two files encode differently, with the ids of both: of `PROBES`, some tokens with
    other ids and some merges that differ. Yield none if the other file does not say how text is
    normalized."""
    steps = files.stage("normalizer")
    if steps and steps.get("type") != "NFC" and other.vocabulary.file.format in UNSPLIT:
        return  # these files do not say how text is normalized
    pieces = (text for piece in moved[:_PROBED] if (text := text_of(piece)) is not None)
    for text in itertools.chain(PROBES, pieces, _merged(files.tokenizer, other)):
        check()
        if unicodedata.normalize("NFC", text) != text:
            continue
        ours, theirs = encoded(files.tokenizer, text), encoded(other, text)
        if ours is not None and theirs is not None and ours.ids != theirs.ids:
            yield text, ours.ids, theirs.ids


def _merged(ours: Tokenizer, other: Tokenizer) -> Iterator[str]:
    """Yield the tokens of both sides, as text, for the first `_PROBED` merges that differ. Tokens that are
    not UTF-8 are left out."""
    rows = [(tokenizer.vocabulary.pieces, tokenizer.vocabulary.merges) for tokenizer in (ours, other)]
    pairs = zip(rows[0][1], rows[1][1], strict=False)
    parts = (tuple(tuple(row[0][side] for side in pair) for row, pair in zip(rows, both, strict=True))
             for both in pairs)
    for token_a, token_b in itertools.islice((both for both in parts if both[0] != both[1]), _PROBED):
        pieces = (b"".join(token_a), b"".join(token_b))
        yield from (text for piece in pieces if (text := text_of(piece)) is not None)


def ids(files: Files) -> Finding:
    """Check for special and added tokens that have another id, or none, in another file of the folder. It
    does not apply if no settings name tokens."""
    examples: list[Example] = []
    by_id = {number: piece for piece, number in files.ids.items()}
    for file, named in files.folder.added().items():
        for name, number in named.items():
            ours = files.id_of(name)
            if ours is not None and ours != number:
                examples.append(Example(ours, _shown(name), f"{number} in {file}"))
            elif ours is None:
                taken = by_id.get(number, b"").decode("utf-8", "replace")
                why = f"the id is {taken[:40]!r}" if number in by_id else "the vocabulary lacks it"
                examples.append(Example(number, _shown(name), f"in {file}; {why}"))
    for file in SETTINGS[:2]:
        for setting in TOKENS:
            value = files.folder.setting(setting, file)
            value = value.get("content") if isinstance(value, Mapping) else value
            if isinstance(value, str) and value and files.id_of(value) is None:
                examples.append(Example(None, _shown(value), f"{setting} in {file}; the vocabulary lacks it"))
    tekken = files.others.get("tekken.json")
    if tekken is not None and files.fast:
        own = files.tokenizer.vocabulary.specials
        examples += [
            Example(tekken.vocabulary.special_id(name), _shown(name), "special in tekken.json alone")
            for name in tekken.vocabulary.specials if name not in own and not name.startswith("<SPECIAL_")
        ]
    if not files.folder.documents and not examples:
        return Finding("no settings name tokens")
    return Finding(some(len(examples), "token", "on which files differ"), len(examples), examples,
                 WARN if examples else PASS)


def pattern(files: Files) -> Finding:
    """Check whether `tokenizer.json` has the split of another model than `tekken.json` or the type of the
    model says. It does not apply if these do not say it, or the split of the file is no axis value."""
    recipe, model_type = files.tokenizer.recipe, files.folder.setting("model_type", "config.json")
    tekken = files.others.get("tekken.json")
    right = tekken.recipe.split if tekken is not None else _SPLIT_OF.get(str(model_type), "")
    bytes_ = UNITS.of(recipe.unit).is_byte
    if not right or not bytes_ or not files.fast or files.tokenizer.vocabulary.file.near:
        return Finding("no file says which pattern is right")
    known = recipe.split in (TEKKEN, *SPLITS) or tekken is not None
    if recipe.split == right or not known:
        return Finding("the pattern is not known to be wrong", 0, status=PASS)
    examples = _cut_differently(recipe.split, right, "right")
    source = "tekken.json has" if tekken is not None else f"models of type {model_type} have"
    what = f"tokenizer.json has {_pattern_name(recipe.split)}, {source} {_pattern_name(right)}"
    return Finding(what, len(examples), examples, WARN)


def _pattern_name(split: str) -> str:
    if split == TEKKEN:
        return "Mistral's pattern"
    return SPLITS[split].about if split in SPLITS else "a pattern of its own"


def _cut_differently(ours: str, theirs: str, name: str) -> list[Example]:
    """Return the test texts that two splits cut differently, with both results (the second labeled `name`).
    Return none if a split is not a pattern."""
    try:
        patterns = [compile_own(pattern_of(Recipe(split=split))) for split in (ours, theirs)]
    except Unsupported:
        return []
    examples = []
    for text in PROBES:
        words_ours, words_theirs = (
            " | ".join(part[0] for part in pattern.finditer(text)) for pattern in patterns
        )
        if words_ours != words_theirs:
            examples.append(Example(None, _shown(text), f"{words_ours}; {name}: {words_theirs}"))
    return examples


def rows(files: Files) -> Finding:
    """Check for tokens without a row of the embedding, and for rows without a token. The number of rows is
    `vocab_size` of `config.json`; without it the check does not apply."""
    config = files.folder.documents.get("config.json", {})
    inner = config.get("text_config")
    size = config.get("vocab_size", inner.get("vocab_size") if isinstance(inner, Mapping) else None)
    if size is not None and not is_id(size):
        what = f"vocab_size in config.json is not a number of rows: {json.dumps(size)[:40]}"
        return Finding(what, 1, status=FAIL)
    if not is_id(size):
        return Finding("config.json names no vocab_size")
    beyond = sorted((number, piece) for piece, number in files.ids.items() if number >= size)
    if beyond:
        what = some(len(beyond), "token", f"beyond the {size:,} rows of the embedding")
        return Finding(what, len(beyond), [Example(number, piece) for number, piece in beyond], FAIL)
    count = size - len(set(files.ids.values()))
    what = some(count, "row", "of the embedding without a token", size)
    return Finding(what, count, status=INFO if count else PASS)


def ends(files: Files) -> Finding:
    """Check for ids of the begin, end and padding tokens in `config.json` and `generation_config.json` that
    are not ids, not in the vocabulary, or not those of the named tokens. It does not apply if no file names
    such ids."""
    examples: list[Example] = []
    looked = False
    for end in ("bos", "eos", "pad"):
        name = files.folder.named(f"{end}_token")
        number = files.id_of(name) if name else None
        named = {file: files.folder.setting(f"{end}_token_id", file) for file in SETTINGS[3:]}
        for file, value in named.items():
            wrong = [id for id in _listed(value) if id is not None and not is_id(id)]
            looked = looked or bool(wrong)
            examples += [Example(None, json.dumps(id)[:40].encode(), f"{end}_token_id in {file} is not an id")
                         for id in wrong]
        asked = {file: [id for id in _listed(value) if is_id(id)] for file, value in named.items()}
        generated = asked["generation_config.json"]
        for file, numbers in asked.items():
            looked = looked or bool(numbers)
            examples += [Example(id, b"", f"{end}_token_id in {file} is not a token")
                         for id in numbers if id > files.last]
            if number is None or not numbers or number in numbers or (end == "eos" and number in generated):
                continue
            listed = " ".join(map(str, numbers))
            examples.append(Example(number, _shown(name), f"{end}_token; {file} has {end}_token_id {listed}"))
    if not looked:
        return Finding("no file names the ids")
    return Finding(some(len(examples), "id", "that files name differently"), len(examples), examples,
                 WARN if examples else PASS)


def _listed(value: object) -> list[object]:
    return value if isinstance(value, list) else [value]


def tokenizer_class(files: Files) -> Finding:
    """Check for a tokenizer class of transformers that builds other units, another encoding or another split
    than the file stores. It does not apply to unknown classes."""
    name, known, recipe = files.folder.tokenizer_class, files.folder.known_class, files.tokenizer.recipe
    if known is None or not files.fast:
        return Finding("no class that is known to build the tokenizer itself")
    near = files.tokenizer.vocabulary.file.near
    for part, own, built in (
        ("units", recipe.unit, known.unit), ("encoding", recipe.encode, known.encode),
        ("split", "" if near else recipe.split, known.split),
    ):
        if own and built and own != built:
            short = f"{built[:40]}…" if len(built) > 40 else built
            what = f"{name} builds {part} {short}; tokenizer.json has {own[:40]}"
            examples = _cut_differently(own, built, "by the class") if part == "split" else ()
            return Finding(what, 1, examples, WARN)
    return Finding(f"{name} builds what tokenizer.json contains", 0, status=PASS)


def double_bos(files: Files) -> Finding:
    """Check for a beginning token that is added twice (FAIL), that the chat template writes and encoding adds
    (INFO), or for which `add_bos_token` and the post-processor disagree (WARN). It does not apply without
    such a token."""
    name = files.folder.named("bos_token")
    number = files.id_of(name) if name else None
    if number is None:
        return Finding("there is no begin token")
    before = files.tokenizer.encoder.around[0]
    asked = files.folder.setting("add_bos_token")
    if before.count(name) > 1:
        example = _example_ids(files, "Hello")
        return Finding("the post-processor adds it twice", 2, example, FAIL)
    templates = files.folder.templates()
    rendered = [file for file, text in templates.items() if _RENDERS_BOS.search(text) or name in text]
    if rendered and (name in before or asked is True):
        what = f"the chat template of {rendered[0]} writes it, and encoding adds it"
        return Finding(what, 2, _example_ids(files, f"{name}Hello"), INFO)
    if isinstance(asked, bool) and files.fast and asked != (name in before):
        does = "adds it" if name in before else "does not add it"
        return Finding(f"add_bos_token is {str(asked).lower()}, the post-processor {does}", 1,
                     _example_ids(files, "Hello"), WARN)
    return Finding("it is added at most once", 0, status=PASS)


def _example_ids(files: Files, text: str) -> list[Example]:
    """Return an example of the ids of a text with special tokens around it; none if it cannot be encoded."""
    try:
        ids = files.tokenizer.encode(text, allow_special=True, special_tokens=True).ids
    except TokentuiError:
        return []
    return [Example(None, _shown(text), f"ids {_some_ids(ids)}")]


def clean_up(files: Files) -> Finding:
    """Check for `clean_up_tokenization_spaces`, which removes spaces from decoded text."""
    if files.folder.setting("clean_up_tokenization_spaces") is not True:
        return Finding("decoded text is not cleaned up", 0, status=PASS)
    encoding, cleaned = encoded(files.tokenizer, _UNCLEAN), without_spaces(_UNCLEAN)
    if encoding is None or files.tokenizer.decode(encoding.ids) not in (_UNCLEAN, cleaned):
        return Finding("decoding without it loses spaces as well", status=NONE)
    example = Example(None, _shown(_UNCLEAN), f"decodes to {cleaned!r}")
    return Finding("clean_up_tokenization_spaces removes spaces that were in the text", 1, [example], INFO)


def settings(files: Files) -> Finding:
    """Check for settings of `add_prefix_space` and `do_lower_case` that contradict `tokenizer.json`:
    transformers prefers them."""
    examples: list[Example] = []
    for setting, stage, kinds, key in (
        ("add_prefix_space", "pre_tokenizer", ("ByteLevel", "Metaspace"), "add_prefix_space"),
        ("do_lower_case", "normalizer", ("BertNormalizer",), "lowercase"),
    ):
        asked = files.folder.setting(setting)
        steps = (step for step in steps_of(files.stage(stage)) if step.get("type") in kinds)
        own = next((step[key] for step in steps if key in step), None)
        if isinstance(asked, bool) and isinstance(own, bool) and asked != own:
            note = f"{setting} is {str(asked).lower()}, {key} of tokenizer.json is {str(own).lower()}"
            examples.append(Example(None, b"Hello", note))
    what = some(len(examples), "setting", "unlike that of tokenizer.json")
    return Finding(what, len(examples), examples, WARN if examples else PASS)


def template(files: Files) -> Finding:
    """Check for chat templates of one folder that differ in more than white space at their ends."""
    texts = files.folder.templates()
    if len(texts) < 2:
        return Finding("there is at most one chat template", 0, status=PASS)
    if len({text.strip() for text in texts.values()}) == 1:
        return Finding("both chat templates are the same", 0, status=PASS)
    return Finding(f"the chat templates of {' and '.join(texts)} differ", 1, status=WARN)


def unread(files: Files) -> Finding:
    """Check for files that could not be read."""
    examples = [Example(None, _shown(name), why) for name, why in files.unread.items()]
    return Finding(some(len(examples), "file", "that cannot be read"), len(examples), examples,
                 WARN if examples else PASS)


@dataclass(frozen=True, slots=True)
class FolderCheck:
    """A check of a model folder. It has a name, a title, why it matters, when it does not pass, and the
    function that checks."""

    name: str
    title: str
    about: str
    limits: str
    look: Callable[[Files], Finding]

    def result(self, files: Files) -> CheckResult:
        """Return the result of the check, `n/a` if the finding sets no status. The result counts all examples
        and has the first `_MOST_EXAMPLES`."""
        finding = self.look(files)
        return CheckResult(
            self.name, self.title, self.about, finding.status or NONE, finding.observed, self.limits,
            finding.value, len(finding.examples), tuple(finding.examples[:_MOST_EXAMPLES]),
        )


FOLDER_CHECKS: tuple[FolderCheck, ...] = (
    FolderCheck("stale", "other vocabulary files", "Programs that read the other file get different ids.",
                "WARN: any token or text", stale),
    FolderCheck("ids", "ids of added tokens", "Programs give the same token different ids.",
                "WARN: any", ids),
    FolderCheck("pattern", "split pattern", "Text is split differently than in training.",
                "WARN: the pattern of another model", pattern),
    FolderCheck("rows", "embedding rows", "Looking up a token that has no row crashes the program.",
                "INFO: a row without a token; FAIL: a token without a row, or an unknown number of rows",
                rows),
    FolderCheck("ends", "ids of the begin and end tokens", "With a wrong end id, a model does not stop.",
                "WARN: any", ends),
    FolderCheck("class", "tokenizer class", "If transformers builds the tokenizer from its class, the ids "
                "differ.", "WARN: units, encoding or split differ", tokenizer_class),
    FolderCheck("bos", "begin token", "The model sees the begin token twice, or not at all.",
                "INFO: the chat template and encoding add it; WARN: settings differ; FAIL: it is added twice",
                double_bos),
    FolderCheck("clean-up", "clean-up of decoded text", "Spaces before punctuation are lost, also in code.",
                "INFO: it removes spaces from the text", clean_up),
    FolderCheck("settings", "settings that change steps", "They change ids in programs that honor them.",
                "WARN: any", settings),
    FolderCheck("template", "chat templates", "Some programs use one, some the other.", "WARN: they differ",
                template),
    FolderCheck("unread", "files that cannot be read", "Other programs may use them.", "WARN: any", unread),
)
"""The checks of a folder, in the order in which they are shown."""


def examine_folder(folder: ModelFolder, tokenizer: Tokenizer) -> tuple[CheckResult, ...]:
    """Read the other vocabulary files of a folder, and return the results of all checks in the order of
    `FOLDER_CHECKS`. A file that cannot be read is not an error, but fails the check `unread`.

    Args:
        folder: The folder.
        tokenizer: Its tokenizer, as `load` reads it.

    Raises:
        Cancelled: The job is cancelled.
    """
    others: dict[str, Tokenizer] = {}
    unread = dict(folder.unread)
    for names in folder.others:
        path = os.path.join(folder.path, names[0])
        check()
        try:
            format = recognize(path)
            split = tokenizer.recipe.split if format is not None and format.name in UNSPLIT else ""
            others[names[0]] = load(path, split)
        except TokentuiError as error:
            unread[names[0]] = error.what
    files = Files(folder, tokenizer, others, unread)
    results = []
    for folder_check in FOLDER_CHECKS:
        check()
        results.append(folder_check.result(files))
    return tuple(results)


def with_folder(report: Report, folder: ModelFolder) -> Report:
    """Return a report on a tokenizer that begins with the file of the folder that gives the vocabulary.

    Its value has a new field `folder`: that file, the reason, the files that are not used, and the class.
    """
    names = " and ".join(folder.vocabulary)
    value = {"vocabulary": folder.vocabulary, "why": folder.why, "others": folder.others,
             "class": folder.tokenizer_class}
    section = Section("folder", f"{names}: {folder.why}")
    return replace(report, sections=(section, *report.sections), value={**report.value, "folder": value})
