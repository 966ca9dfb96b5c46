"""A model folder, or a repository of the hub, as one tokenizer.

Several files of a folder decide the ids of a text. `model_folder` chooses the file with the vocabulary, in
the order in which transformers loads a fast tokenizer: `tokenizer.json`, then the file of the tokenizer
class. It also collects the settings in the other files. `ModelFolder.source` and `ModelFolder.applied` apply
those that decide ids. `analyze/health/folder.py` checks whether the files agree.
"""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TypeGuard

from tokentui.core.errors import TokentuiError, nearest, shown_path
from tokentui.core.files import names_in, read_errors, read_regular, status_of
from tokentui.core.records import dataclass
from tokentui.encode.pipeline import ImportedVocabulary
from tokentui.encode.tokenizer import Tokenizer
from tokentui.formats.classes import (
    CLASSES,
    GENERIC,
    LANGUAGE,
    LINES,
    MODELS,
    PAIRS,
    REFUSED,
    ROLES,
    OfClass,
    TokenizerClass,
    class_of_type,
    numbering_by,
    short_name,
)
from tokentui.formats.published import located
from tokentui.formats.source import LARGEST_ID, NO_SPECIALS, Node, Source, check_depth, parse, read_source
from tokentui.recipe import Recipe
from tokentui.text import remote
from tokentui.text.pretokenize import Pretokenizer
from tokentui.text.split import SPACE_MARK

LARGEST_SETTINGS = 1 << 24
"""The most bytes of a settings file."""
_MOST_NAMES = 100_000
SETTINGS = (
    "tokenizer_config.json", "special_tokens_map.json", "added_tokens.json", "config.json",
    "generation_config.json",
)
"""Files of settings, each a JSON object."""
TEMPLATE = "chat_template.jinja"
FAST = ("tokenizer.json",)
_MARIAN = CLASSES["Marian"].files
_RANKS = ("tiktoken.model", "qwen.tiktoken")
VOCABULARIES: tuple[tuple[str, ...], ...] = (
    FAST, *((name,) for name in MODELS), *PAIRS, *LINES, ("tekken.json",), *((name,) for name in _RANKS),
    _MARIAN[0],
)
"""The files with a vocabulary, in the order of the search. The files of a row belong together."""
GGUF = ".gguf"
_SPELLED = (".model", ".spm")
_HEAD = 1 << 12
"""Bytes that are inspected to recognize a model of sentencepiece."""
_SUFFIXES = (".model", ".tiktoken", ".spm", GGUF)
"""Suffixes of other names that the only vocabulary of a folder may have."""
_NO_VOCABULARY = re.compile(r"mmproj|imatrix|-(?!0*1-)[0-9]+-of-[0-9]+\.gguf$", re.IGNORECASE)
"""Names of GGUF files that contain a part of a model without the tokenizer."""
_KEY = re.compile("[0-9]{1,10}")
_FLAGS = ("single_word", "lstrip", "rstrip", "normalized", "special")
TOKENS = tuple(f"{role}_token" for role in ROLES)
"""The settings that name a special token."""
Names = tuple[str, ...]

TEKKEN = (
    r"regex:[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+"
    r"|[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*|\p{N}"
    r"| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+"
)
"""The split of Mistral's Tekken."""


_BERT_STEPS = {
    "do_lower_case": "lowercase", "strip_accents": "strip_accents",
    "tokenize_chinese_chars": "handle_chinese_chars",
}
"""The key of BERT's normalizer for each setting of its classes."""


def hub_files() -> tuple[str, ...]:
    """Return the names of all files of a repository that decide ids."""
    files = dict.fromkeys(name for names in (*VOCABULARIES, *_MARIAN) for name in names)
    return (*files, *SETTINGS, TEMPLATE)


@dataclass(frozen=True)
class ModelFolder:
    """The files of a folder that decide ids, without their vocabulary.

    Attributes:
        where: The path of the folder, or the name of the repository.
        path: The path of the folder on this machine; empty if no file was downloaded.
        vocabulary: The names of the files with the vocabulary. A file that is streamed has its URL.
        why: A clause on why these files were chosen.
        others: The names of other files with a vocabulary, which are not used.
        documents: The JSON object of each file of settings.
        jinja: The text of `chat_template.jinja`; None if there is none.
        unread: The reason for each file that could not be read.
        asked: The tokenizer class that the user named; empty for that of the folder.
    """

    where: str
    path: str
    vocabulary: tuple[str, ...]
    why: str
    others: tuple[tuple[str, ...], ...]
    documents: Mapping[str, Mapping[str, object]]
    jinja: str | None
    unread: Mapping[str, str]
    asked: str = ""

    @property
    def file(self) -> str:
        """The path of the first file of the vocabulary, or its URL."""
        name = self.vocabulary[0]
        return name if remote.is_url(name) else os.path.join(self.path, name)

    def setting(self, name: str, file: str = SETTINGS[0]) -> object:
        """Return a setting of a file; None if it is missing."""
        return self.documents.get(file, {}).get(name)

    @property
    def tokenizer_class(self) -> str:
        """The tokenizer class that the user or the folder names, else that of the type of the model; empty if
        there is none."""
        names = (self.asked, self.setting("tokenizer_class"), self.setting("tokenizer_class", "config.json"))
        name = next((name for name in names if name and isinstance(name, str)), "")
        return name or class_of_type(self.setting("model_type", "config.json"))

    @property
    def _class_name(self) -> str:
        return short_name(self.tokenizer_class)

    @property
    def known_class(self) -> TokenizerClass | None:
        """The record of the tokenizer class in `CLASSES`; None for an unknown class."""
        return CLASSES.get(self._class_name)

    def _is_like(self, name: str) -> bool:
        """Return whether the class reads the same files as another one, and splits them alike."""
        known, other = self.known_class, CLASSES[name]
        return known is not None and (known.files, known.split) == (other.files, other.split)

    def _named_in(self, known: TokenizerClass) -> dict[str, str]:
        """Return the special token of each role: by the settings, else by the class."""
        own = known.named
        return {role: name for role in ROLES if (name := self.named(f"{role}_token") or own.get(role, ""))}

    def _around(self, known: TokenizerClass, specials: Mapping[str, int]) -> tuple[Names, Names]:
        """Return the tokens that a class puts before and after a text.

        Args:
            known: The class.
            specials: The special tokens. A token that is none of them is left out, and the unknown token
                stands for the token of an unknown language.
        """
        named = self._named_in(known)
        language = self.setting("src_lang") or self.setting("tgt_lang") or known.language
        if isinstance(language, str) and language:
            code = language if language in specials else known.spelled.format(language)
            named[LANGUAGE] = code if code in specials else named.get("unk", "")
        roles = known.around
        if self.setting("legacy_behaviour") is True and roles == "language * eos":
            roles = "* eos language"
        before, after = (tuple(self._named_around(side, named, specials)) for side in roles.split("*"))
        return before, after

    @staticmethod
    def _named_around(side: str, named: Mapping[str, str], specials: Mapping[str, int]) -> Iterator[str]:
        """Yield the special token of each role or name; the unknown token for a name that is missing."""
        for role in side.split():
            name = named.get(role, "")
            if role not in (*ROLES, LANGUAGE):
                name = role if role in specials else named.get("unk", "")
            if name in specials:
                yield name

    def _flag(self, name: str) -> bool | None:
        """Return a setting of `tokenizer_config.json` that is true or false; None for another or no value."""
        value = self.setting(name)
        return value if isinstance(value, bool) else None

    def named(self, name: str) -> str:
        """Return the special token that a setting such as `bos_token` names; empty if no file names one.

        `tokenizer_config.json` takes precedence over `special_tokens_map.json`.
        """
        for file in SETTINGS[:2]:
            value = self.setting(name, file)
            value = value.get("content") if isinstance(value, Mapping) else value
            if isinstance(value, str):
                return value
        return ""

    def _more(self, known: TokenizerClass) -> Names:
        """Return the special tokens without a role: by the settings, else by the class."""
        for file in SETTINGS[:2]:
            for key in ("additional_special_tokens", "extra_special_tokens"):
                rows = self.setting(key, file)
                if isinstance(rows, list) and rows:
                    names = (row.get("content") if isinstance(row, Mapping) else row for row in rows)
                    return tuple(name for name in names if name and isinstance(name, str))
        return known.more

    def added(self) -> dict[str, dict[str, int]]:
        """Return the ids of added tokens by name, for each settings file that has some."""
        numbers = self.documents.get("added_tokens.json", {})
        rows = {"added_tokens.json": {name: id_ for name, id_ in numbers.items() if is_id(id_)}}
        rows[SETTINGS[0]] = {str(row["content"]): id_ for id_, row in self._decoder()}
        return {file: named for file, named in rows.items() if named}

    def _decoder(self) -> Iterator[tuple[int, Mapping[str, object]]]:
        """Yield (id, flags) of each token in `added_tokens_decoder`."""
        decoder = self.setting("added_tokens_decoder")
        for key, row in decoder.items() if isinstance(decoder, Mapping) else ():
            content = row.get("content") if isinstance(row, Mapping) else None
            if _KEY.fullmatch(key) and is_id(int(key)) and content and isinstance(content, str):
                yield int(key), row

    def templates(self) -> dict[str, str]:
        """Return the chat template of each file that has one."""
        config = self.setting("chat_template")
        if isinstance(config, list):  # several, by name
            config = next((row.get("template") for row in config
                           if isinstance(row, Mapping) and row.get("name") == "default"), None)
        rows = {TEMPLATE: self.jinja, SETTINGS[0]: config}
        return {file: text for file, text in rows.items() if isinstance(text, str)}

    def source(self, split: str = "") -> Source:
        """Read the file of the vocabulary. A `tokenizer.json` gets the added tokens that only the settings
        name, and the steps that its class makes by `add_prefix_space`, `do_lower_case` and `legacy`, as in
        transformers.

        Args:
            split: The split for a file without one.

        Raises:
            TokentuiError: It cannot be read.
        """
        source = read_source(self.file, split)
        spelled = self.file.endswith(_SPELLED) and _is_model(source.data[:_HEAD])
        if spelled or self.vocabulary in (*PAIRS, *LINES) or (self.asked and not source.is_object):
            return self._with_class(source, needed=spelled)
        model, listed = source.document.get("model"), source.document.get("added_tokens", [])
        if not isinstance(model, dict) or not isinstance(listed, list):
            return source
        self._set_steps(source.document)
        vocabulary = model.get("vocab")
        ids: dict[str, object] = {}
        if isinstance(vocabulary, dict):
            ids = vocabulary
        elif isinstance(vocabulary, list):  # of a unigram model
            ids = {row[0]: n for n, row in enumerate(vocabulary)
                   if isinstance(row, list) and row and isinstance(row[0], str)}
        rows = [row for row in listed if isinstance(row, dict)]
        names = {name for row in rows if isinstance(name := row.get("content"), str)}
        taken = {number for number in (*ids.values(), *(row.get("id") for row in rows)) if is_id(number)}
        more: list[object] = []
        for number, row in self._added_rows():
            name = str(row["content"])
            if name not in names and (ids.get(name) == number if name in ids else number not in taken):
                flags = {flag: row.get(flag) is True for flag in _FLAGS}
                more.append({"id": number, "content": name, **flags})
                names.add(name)
                taken.add(number)
        if more:
            source.document["added_tokens"] = [*listed, *more]
        return source

    def _with_class(self, source: Source, *, needed: bool) -> Source:
        """Return the source of a file with the class that says how it is used.

        Args:
            source: The file.
            needed: True if the file says too little without a class.

        Raises:
            TokentuiError: The class is not read, or is needed and not known, or a file of ids is damaged or
                missing.
        """
        known, name = self.known_class, self._class_name
        if known is None:
            if name in GENERIC or not (needed or name in REFUSED):
                return source
            why = REFUSED.get(name, "what it does with the file is not known")
            hint = "name a class that does the same by --class, or name the file alone"
            raise TokentuiError(f"the class {self.tokenizer_class} is not read: {why}",
                                shown_path(self.where), hint)
        settings = self.documents.get(SETTINGS[0], {})
        if settings.get("split_by_punct") is True:
            raise TokentuiError("split_by_punct is not read", shown_path(self.where), "remove the setting")
        numbering, unknown = numbering_by(known, settings, self._named_in(known)), known.named.get("unk", "")
        listed: Mapping[str, int] = {}
        if numbering.listed:
            ids = os.path.join(self.path, "vocab.json")
            listed = read_source(ids).root.ids()
            if unknown not in listed:
                raise TokentuiError(f"no token {unknown}", ids, f"{name} needs one")
        return replace(source, of_class=OfClass(known, numbering, listed, settings))

    def _set_steps(self, document: dict[str, object]) -> None:
        """Change the steps of a `tokenizer.json` in place as the tokenizer class does by the settings."""
        prefix, legacy = self._flag("add_prefix_space"), self._flag("legacy")
        if self._is_like("GPT2") and prefix is not None:
            for step in steps_of(document.get("pre_tokenizer")):
                if step.get("type") == "ByteLevel":
                    step["add_prefix_space"] = prefix
        elif self._is_like("Bert"):
            for step in steps_of(document.get("normalizer")):
                if step.get("type") == "BertNormalizer":
                    step.update({key: value for name, key in _BERT_STEPS.items()
                                 if (value := self._flag(name)) is not None})
        elif self._class_name == "Llama" and (prefix, legacy) != (None, None):
            kinds = {step.get("type") for name in ("normalizer", "pre_tokenizer")
                     for step in steps_of(document.get(name))}
            if kinds <= {"Sequence", "Prepend", "Replace", "Metaspace", "Split"}:  # not those of bytes
                scheme = "never" if prefix is False else "always" if legacy else "first"
                document["normalizer"] = None
                document["pre_tokenizer"] = {"type": "Metaspace", "replacement": SPACE_MARK,
                                             "prepend_scheme": scheme, "split": False}

    def _with_clean_up(self, tokenizer: Tokenizer) -> Tokenizer:
        """Return the tokenizer with the clean-up of decoded text that the settings ask for. As in
        transformers, text of BPE is not cleaned up.
        """
        vocabulary = tokenizer.vocabulary
        decoder, model = vocabulary.file.decoder, vocabulary.file.stages.get("model")
        kind = model.get("type") if isinstance(model, dict) else "Unigram" if vocabulary.scores else "BPE"
        asked = self._flag("clean_up_tokenization_spaces")
        if not (asked and decoder and isinstance(vocabulary, ImportedVocabulary)) or kind == "BPE":
            return tokenizer
        from tokentui.formats.huggingface.decoders import clean_up  # few folders ask for it

        file = replace(vocabulary.file, decoder=replace(decoder, finish=clean_up))
        return Tokenizer(vocabulary.with_specials(file, file.specials), tokenizer.merges, tokenizer.run)

    def _noted(self, tokenizer: Tokenizer) -> Tokenizer:
        """Return the tokenizer with a note if the user named the class, and with the remark on the class."""
        vocabulary, known = tokenizer.vocabulary, self.known_class
        notes = [known.remark] if known is not None and known.remark else []
        if self.asked:
            own = replace(self, asked="").tokenizer_class
            other = own and short_name(own) != short_name(self.asked)
            notes.append(f"read as {short_name(self.asked)}, the class of --class"
                         + (f"; the folder names {own}" if other else ""))
        if not notes or not isinstance(vocabulary, ImportedVocabulary):
            return tokenizer
        file = replace(vocabulary.file, notes=(*vocabulary.file.notes, *notes))
        return Tokenizer(vocabulary.with_specials(file, file.specials), tokenizer.merges, tokenizer.run)

    def _recipe(self, recipe: Recipe) -> Recipe:
        """Return the recipe of a file without steps with those that its class makes."""
        if self._class_name in ("Qwen2", "QWen") and not recipe.normalize:
            return replace(recipe, normalize=("nfc",))
        if self._is_like("GPT2") and self._flag("add_prefix_space"):
            return replace(recipe, prefix_space=True)
        return recipe

    def _end(self, role: str) -> str:
        known = self.known_class
        return self.named(f"{role}_token") or (known.named.get(role, "") if known is not None else "")

    def _add_named(
        self, known: TokenizerClass, specials: dict[str, int], names: Mapping[int, bytes]
    ) -> None:
        """Add the special tokens that the class and the settings name. A name that the vocabulary lacks gets
        the next free id."""
        numbers = {piece: number for number, piece in names.items()}
        free = max([*names, *specials.values()], default=-1) + 1
        written = {*known.around.split()}.difference((*ROLES, LANGUAGE, "*"))
        for name in (*written, *self._named_in(known).values(), *self._more(known)):
            number = numbers.get(name.encode("utf-8", "surrogatepass"))
            if name not in specials and (number is not None or name not in written):
                specials[name] = free if number is None else number
                free += number is None

    def _added_rows(self) -> Iterator[tuple[int, Mapping[str, object]]]:
        yield from self._decoder()
        for name, number in self.added().get("added_tokens.json", {}).items():
            yield number, {"content": name, "special": name in map(self.named, TOKENS)}

    def applied(self, tokenizer: Tokenizer) -> Tokenizer:
        """Return the tokenizer of the vocabulary with the added tokens of the settings, the tokens around a
        text that `add_bos_token` and `add_eos_token` name, and the normalization of its class.

        A `tokenizer.json` has its own, so only the clean-up of decoded text is applied. A tokenizer that
        nothing changes is returned itself.
        """
        tokenizer = self._noted(self._with_clean_up(tokenizer))
        vocabulary = tokenizer.vocabulary
        format = vocabulary.file.format
        if not isinstance(vocabulary, ImportedVocabulary) or format == "huggingface":
            return tokenizer
        names = {entry.id: entry.piece for entry in tokenizer.entries()}
        known = self.known_class
        specials = {name: vocabulary.special_id(name) for name in vocabulary.specials}
        if known is not None and known.around and format in ("gpt2", "bert"):
            specials = {}  # which names are special is not in these files, but in the class
        for number, row in self._added_rows():
            name = str(row["content"])
            own = names.get(number)
            if name not in specials and own in (None, name.encode("utf-8", "surrogatepass")):
                specials[name] = number
        before, after = tokenizer.encoder.around
        if known is not None:
            taken = {*names, *specials.values()}
            for number, name in enumerate(known.specials, max(names, default=-1) + 1):
                if number not in taken:
                    specials.setdefault(name.format(number), number)
            if known.around:
                self._add_named(known, specials, names)
                before, after = self._around(known, specials)
        ends = [
            tokens_ if (known is not None and known.fixed)
            or not isinstance(asked := self.setting(f"add_{end}_token"), bool)
            else (name,) if asked and (name := self._end(end)) in specials else ()
            for end, tokens_ in (("bos", before), ("eos", after))
        ]
        recipe = tokenizer.recipe
        if format in ("gpt2", "bert", "tiktoken"):
            recipe = self._recipe(recipe)
        same = recipe == tokenizer.recipe
        unknown = ""
        if known is not None and known.around and format in ("gpt2", "bert"):
            unknown = self._named_in(known)["unk"]
        if specials.keys() == set(vocabulary.specials) and ends == [*tokenizer.encoder.around] and same:
            return tokenizer
        notes = tuple(note for note in tokenizer.notes if not specials or note != NO_SPECIALS)
        words = vocabulary.file.pretokenizer if same else Pretokenizer(recipe)
        file = replace(
            vocabulary.file, recipe=recipe, pretokenizer=words, around=(ends[0], ends[1]), notes=notes
        )
        changed = vocabulary.with_specials(file, specials, unknown)
        return Tokenizer(changed, tokenizer.merges, tokenizer.run)


def steps_of(step: object) -> Iterator[dict[str, object]]:
    """Yield a step of `tokenizer.json` and the steps inside it; nothing for a value that is no object."""
    if isinstance(step, dict):
        yield step
        for inner in step.values():
            for row in inner if isinstance(inner, list) else ():
                yield from steps_of(row)


def is_id(value: object) -> TypeGuard[int]:
    """Return whether a value is an int, not a bool, in the range of ids."""
    return type(value) is int and 0 <= value <= LARGEST_ID


def model_folder(where: str, asked: str = "") -> ModelFolder | None:
    """Inspect a folder, or download a repository `hf:OWNER/NAME`. Return None for any other path.

    A file counts as the vocabulary of its folder if the user names a class, or if its folder is one of
    Marian, whose two models share the other files.

    Args:
        where: The path.
        asked: The tokenizer class that the user names; empty for none.

    Raises:
        TokentuiError: There is no such class, the folder has no vocabulary, the sandbox forbids it, or the
            download fails.
    """
    if asked and short_name(asked) not in CLASSES:
        why = REFUSED.get(short_name(asked))
        hint = "name another" if why else nearest(short_name(asked), CLASSES)
        raise TokentuiError(f"not read: {why}" if why else "no such class", f"--class {asked}", hint)
    if remote.is_url(where):
        return None
    if remote.is_remote(where):
        repository = remote.download_from_hub(where, hub_files(), VOCABULARIES, GGUF)
        return _looked_at(where, repository.folder, repository.streamed, asked=asked)
    path = located(where)
    with read_errors(where):
        if stat.S_ISDIR(status_of(path).st_mode):
            return _looked_at(where, where, asked=asked)
    folder, name = os.path.split(path)
    if not asked and name not in {row[0] for row in _MARIAN}:
        return None
    looked_at = _looked_at(where, folder or os.curdir, file=name, asked=asked)
    return looked_at if asked or looked_at.known_class is CLASSES["Marian"] else None


def _is_model(head: bytes) -> bool:
    """Return whether bytes begin a model of sentencepiece."""
    from tokentui.formats.sentencepiece import begins  # no training waits for it

    return begins(head)


def _looked_at(
    where: str, path: str, streamed: Sequence[remote.RemoteFile] = (), *, file: str = "", asked: str = ""
) -> ModelFolder:
    """Read the settings of a folder, and choose the files with its vocabulary, which are not read.

    Settings files that cannot be read are listed in `unread`.

    Args:
        where: The name of the folder or repository.
        path: Its path on this machine; empty if no file was fetched.
        streamed: GGUF files of the repository, of which one gives the vocabulary.
        file: The file with the vocabulary, if the user named it; else empty.
        asked: The tokenizer class that the user named; empty for none.
    """
    names = names_in(path, _MOST_NAMES) if path else set[str]()
    documents: dict[str, Mapping[str, object]] = {}
    unread: dict[str, str] = {}
    for name in SETTINGS:
        if name in names:
            try:
                documents[name] = _document(os.path.join(path, name))
            except TokentuiError as error:
                unread[name] = error.what
    jinja = None
    if TEMPLATE in names:
        try:
            jinja = _bounded(os.path.join(path, TEMPLATE)).decode("utf-8", "replace")
        except TokentuiError as error:
            unread[TEMPLATE] = error.what
    folder = ModelFolder(where, path, (), "", (), documents, jinja, unread, asked)
    if file:
        return replace(folder, vocabulary=(file,), why="the user named it")
    if streamed:
        url, why = _smallest(where, streamed)
        return replace(folder, vocabulary=(url,), why=why)
    own = folder.known_class
    rows = [row for row in dict.fromkeys((*VOCABULARIES, *(own.files if own is not None else ())))
            if names.issuperset(row)]
    if not rows:
        rows = [(name,) for name in sorted(names) if name.endswith(_SUFFIXES)]
    if len(rows) > 1 and rows[0] not in VOCABULARIES:
        raise TokentuiError("several files may have the vocabulary", shown_path(where), "name the file in it")
    if not rows:
        known = ", ".join(" and ".join(row) for row in VOCABULARIES)
        raise TokentuiError("this folder contains no tokenizer file", shown_path(where), f"one of: {known}")
    chosen, why = _chosen(rows, folder)
    return replace(folder, vocabulary=chosen, why=why,
                   others=tuple(row for row in rows if not {*row} & {*chosen}))


def _chosen(rows: Sequence[tuple[str, ...]], folder: ModelFolder) -> tuple[tuple[str, ...], str]:
    """Return the files of the vocabulary, and a clause on why: the fast file, the class's, else the first.

    Args:
        rows: Groups of files, in the order of the search; at least one.
        folder: The folder.
    """
    if FAST in rows:
        return FAST, "the fast tokenizer of transformers reads it first"
    known = folder.known_class
    if known is not None and (own := next((row for row in known.files if row in rows), None)):
        return own, f"there is no tokenizer.json, and {folder.tokenizer_class} reads it"
    return rows[0], "there is no tokenizer.json, and no known class names another file"


def _smallest(where: str, files: Sequence[remote.RemoteFile]) -> tuple[str, str]:
    """Return the URL of the smallest GGUF file that has a tokenizer, and the reason as a clause.

    The files of a repository are one model in several precisions, so that the vocabulary of each is the same.

    Raises:
        TokentuiError: There is none.
    """
    models = [file for file in files if not _NO_VOCABULARY.search(remote.base_name(file.url))]
    if not models:
        raise TokentuiError("this repository contains no tokenizer file", shown_path(where),
                            "its GGUF files are parts of a model without the tokenizer")
    smallest = min(models, key=lambda file: (file.size is None, file.size or 0, file.url))
    others = f", the smallest of {len(models):,}" if len(models) > 1 else ""
    return smallest.url, f"there is no other tokenizer file{others}"


def _bounded(path: str) -> bytes:
    data = read_regular(path, most=LARGEST_SETTINGS + 1)
    if len(data) > LARGEST_SETTINGS:
        raise TokentuiError(f"more than {LARGEST_SETTINGS:,} bytes", path, "settings are smaller")
    return data


def _document(path: str) -> Mapping[str, object]:
    """Read a JSON object from a file of bounded size. Raises if it is not UTF-8, too deep or no object."""
    try:
        text = _bounded(path).decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise TokentuiError(f"not UTF-8 at byte {error.start}", path, "save it as UTF-8") from None
    root: Node = parse(text, path)
    check_depth(root.value, root)
    return root.mapping()
