"""The JSON that commands print: the fields of each object, their types and meaning.

`docs/scripts/reference.py` makes a page of `SCHEMAS`, and a test validates the output of every command.
A type is one of these:

- `int`, `float`, `number`, `bool`, `text`, `hex` (bytes in lowercase hex), `any`; with `?` also null;
- `[type]`, a list;
- `{"*": type}`, an object with names of any kind; another dict, an object with these fields, of which a name
  with `?` may be missing;
- a tuple of types, any of them;
- `Field(type, about)`, a type and its meaning.
"""

from __future__ import annotations

import inspect
import re
import sys
from collections.abc import Iterator, Mapping
from types import SimpleNamespace
from typing import Any, NamedTuple, TypeAlias, get_args, get_origin, get_type_hints

from tokentui.analyze.bound import SIZE_FIELDS
from tokentui.analyze.budget import BudgetCurve, BudgetTarget, SizeRow
from tokentui.analyze.chat.encoded import ChatWarning
from tokentui.analyze.compare import DifferentCut
from tokentui.analyze.diff import MERGE_FIELDS, Change, ChangedToken, MergeSide, MovedIds, Rescored
from tokentui.analyze.documents import DocumentsDiff
from tokentui.analyze.drawings import WalkPlace
from tokentui.analyze.edit import Added, Grown, Pruned
from tokentui.analyze.explained import EDGE_FIELDS, PLACE_FIELDS
from tokentui.analyze.glitches import Glitch
from tokentui.analyze.languages import LanguageCost
from tokentui.analyze.metrics import Measure, Tally, WordTally
from tokentui.analyze.mixture import Mixture
from tokentui.analyze.results import (
    Bounds,
    CheckResult,
    PartTally,
    SizeBound,
    Token,
    TokenFacts,
    VocabularyFacts,
    VocabularyReport,
)
from tokentui.analyze.stability import FIELDS, PrefixStability
from tokentui.analyze.stages import STAGES, FirstText
from tokentui.analyze.under_trained import Learned, UnderTrained
from tokentui.analyze.verify import TextDifference
from tokentui.analyze.verify.trained import TrainingChange
from tokentui.analyze.worst_words import WorstWord
from tokentui.encode.encoding import Encoding
from tokentui.encode.segment.viterbi import Edge
from tokentui.formats.proof import ExportReport
from tokentui.preset_table import Preset

Type: TypeAlias = Any


class Field(NamedTuple):
    """A type and the meaning of a field."""

    type: Type
    about: str


_MEANING = re.compile(r"^    ([a-z_0-9, ]+): (.+(?:\n {8}.+)*)", re.MULTILINE)
"""The fields of one entry of `Attributes:` in a docstring, and their meaning."""
_PLAIN = {int: "int", bool: "bool", str: "text", float: "float", bytes: "hex"}


def fields_of(kind: type, *names: str) -> dict[str, Type]:
    """Return the fields of the object that `analyze.report.as_row` makes of a value.

    Args:
        kind: Its class, a data class or a named tuple: its annotations give the types, and the section
            `Attributes:` of its docstring the meanings.
        names: The names of the fields and properties; all fields if there are none. The docstring of a
            property is its meaning.
    """
    namespace = vars(sys.modules[kind.__module__])
    about: dict[str, str] = {}
    for found in _MEANING.finditer(inspect.getdoc(kind) or ""):
        meaning = re.sub(r"\bNone\b", "null", " ".join(found[2].split()))
        about |= dict.fromkeys(found[1].split(", "), meaning)
    fields: dict[str, Type] = {}
    for name in names or kind.__annotations__:
        member = inspect.getattr_static(kind, name, None)
        if isinstance(member, property) and member.fget is not None:
            annotation = member.fget.__annotations__["return"]
            about[name] = " ".join((inspect.getdoc(member) or "").split())
        else:
            annotation = kind.__annotations__[name]
        annotated = SimpleNamespace(__annotations__={name: annotation})
        type_ = _type_of(get_type_hints(annotated, namespace)[name])
        if name == "piece":
            fields |= PIECE
            continue
        if name in ("parents", "into"):  # several tokens
            type_ = [PIECE]
        name = "hex" if name == "pieces" else name
        fields[name] = Field(type_, about[name]) if name in about else type_
    return fields


def _type_of(annotation: Any) -> Type:
    """Return the type of a value by its annotation."""
    arguments = get_args(annotation)
    if type(None) in arguments:
        type_ = _type_of(next(choice for choice in arguments if choice is not type(None)))
        return f"{type_}?" if isinstance(type_, str) else (type_, "null")
    if get_origin(annotation) is tuple:
        return [_type_of(arguments[0])]
    return _PLAIN.get(annotation) or fields_of(annotation)


PIECE = {"text": "text", "hex": "hex"}
TOKEN = fields_of(Token)
ENTRY = {**TOKEN, "kind": "text"}
RECIPE = Field({"*": "any"}, "The axes of a recipe file, and the parameters that are not at their defaults.")
PAIR = {"a": "text", "b": "text"}
CORPUS = {"name": "text", "bytes": "int", "sha256": "text"}
EXPORT = fields_of(ExportReport)
ENCODING = fields_of(Encoding, "ids", "tokens", "pieces", "offsets")
PLACED = [({"id": "int?", **PIECE}, {"id": "int?", "text": "null", "hex": "null"})]
DRIFT = {
    "same": Field("bool", "Whether the ids are those of their text."),
    "text": Field("text?", "The text of the ids."), "ids": ["int?"],
    "encoded": Field((["int?"], "null"), "The ids of the text."),
    "place": Field("int?", "The index of the first difference."),
    "before": Field(PLACED, "The tokens of the ids from the first difference to the next common border."),
    "after": Field(PLACED, "The tokens of the text there."),
    "reason": Field("text?", "The reason, a word."), "sentence": Field("text?", "The reason, for people."),
}
SIDE = {
    "step": Field({"*": "any"}, "The step: `hex`, `count` and `score`, or the row of a trace."),
    "end": Field("text?", "Why the training has ended."),
    "tied": "int", "tie": "text?", "tokens": "int", "vocab_size": "int",
    "candidates": [({"hex": ["hex"], "count": "int", "score": "float?"},
                    {"hex": "hex", "loss": "float?", "goes": "bool"})],
}
SIDE_OR_END = {**SIDE, "step": ({"*": "any"}, "null")}
DIVERGENCE = {**PAIR, "step": Field("int?", "The first step that differs; null for none."),
    "sides?": [SIDE_OR_END]}
MERGE_SIDE = {
    "parts": [PIECE], "token": PIECE, **fields_of(MergeSide, *MERGE_FIELDS),
}
FIRST_MERGE = ({"step": "int", "a": (MERGE_SIDE, "null"), "b": (MERGE_SIDE, "null")}, "null")
CHANGED = fields_of(ChangedToken)
CHANGE = fields_of(Change)
CUT = fields_of(DifferentCut)
MEASURE = {
    **fields_of(Measure, "name", "title", "formula"), "conventions": {"*": "text"},
    "values": Field(["number?"], "A value for each tokenizer."),
    "shown": Field(["text?"], "The same as people read it."),
}
WORDS = fields_of(WordTally)
WORD = {
    "text": "text", "offsets": ["int"], "units": ["hex"],
    "steps": Field([{"step?": "int", "hex": ("hex", ["hex"]), "start": "int", "end": "int", "middle?": "int",
                     "cuts?": ["int"], "found?": "bool"}], "Merges or attempts, in order."),
    "ids": ["int?"],
    "ways": ({"count": Field(("int", "text"), "Text above 2**53."),
              "first": [{"hex": ["hex"], "score": "float?", "share": "float?"}],
              "chosen": ["hex"], "how": "text"}, "null"),
    "lattice": [{**fields_of(Edge, *EDGE_FIELDS), "token": "bool", **PIECE}],
    "tree": Field([{**PIECE, "step": "int", "parts": ["any"]}],
                  "The tokens of a word of several, each with the parts that it was merged from, and so on."),
    "walk": Field([{**fields_of(WalkPlace, *PLACE_FIELDS), **PIECE}],
                  "The places of the word, as the search for the most probable segmentation fills them."),
}
PRESET = {
    **fields_of(Preset, "name", "family", "about", "source"), "recipe": RECIPE,
    "stops": {"*": "any"}, "specials": ["text"], "first_id": "int",
}
AXIS = {"name": "text", "about": "text", "values": {"*": "text"}}
BOUND = {
    **fields_of(Bounds), "sizes": [fields_of(SizeBound, *SIZE_FIELDS)],
    "program": Field("float?", "The value of the linear program."),
}
LEARNED = {**fields_of(Learned), "values": ["float?"]}
ENCODED_SIDE = {
    "normalized": "text?", "words": (["text"], "null"), "tokens": ["text"], "ids": ["int?"],
    "refused": "text?",
}
PEER = {
    "peer": "text", "version": Field("text", "The version of the other library."), "alike": "bool",
}

SCHEMAS: Mapping[str, Type] = {
    "encode --json, --jsonl": {"text": "text", **ENCODING},
    "encode --chat": {
        "text": Field("text", "The rendered chat."), **ENCODING,
        "origin": Field(["text"], "For each token `special`, `template`, `content` or `mixed`."),
        "warnings": [fields_of(ChatWarning)],
    },
    "encode --prefix-stability": {
        **fields_of(PrefixStability, *FIELDS),
    },
    "decode --json": {"text": "text", "hex": Field("hex", "The exact bytes.")},
    "decode --jsonl": {"text": "text"},
    "decode --stream": {
        "id": "int", "text": Field("text", "The text that the id completes."),
        "held": Field("hex", "The bytes held back until a character is complete."),
    },
    "decode --check": DRIFT,
    "decode --check --jsonl": {
        "rows": "int", "differ": Field("int", "The number of rows that differ."), "rate": "float",
        "reasons": Field({"*": "int"}, "The rows that differ, by their reason."),
        "first": ({"row": Field("int", "Its number, from 1."), **DRIFT}, "null"),
    },
    "split --json, --jsonl": {
        "text": "text", "normalized": "text",
        "pieces": Field(["text"], "The pre-tokens."),
        "units": Field([["hex"]], "The units of each pre-token, marks included."),
    },
    "grade": {
        "exercise": "text", "submission": "text", "passed": "bool",
        "points": Field("int", "The number of checks that passed."), "of": Field("int",
            "The number of all checks."),
        "reason": Field("text", "The first line of the report."),
        "checks?": [{"name": "text", "passed": "bool", "what": Field("text", "What is wrong.")}],
        "differs?": ({
            "step": Field("int", "The first merge that differs, from 1."), "yours": ["hex"],
            "count": Field("int", "The count of the pair that was merged."), "right": ["hex"],
            "right_count": "int?", "tie": Field("bool", "Whether both counts are equal."),
        }, "null"),
        "explanations?": Field(([{
            "mistakes": Field(["text"], "Mistakes that together give these merges."), "what": "text",
            "size": Field("bool", "False if the number of merges is wrong, too."),
        }], "null"), "All explanations that remain; null below --hints 2, or if nothing differs."),
        "size?": Field(["text"], "What explains a wrong number of merges."),
        "encoding?": Field(["text"], "The mistakes in encoding that give these tokens."),
        "tried?": Field("int", "The number of ways to train that were tried."),
        "complete?": Field("bool", "False if the time was over before all were tried."),
        "error": Field("text", "The error of a Python file; empty if there is none."), "notes?": ["text"],
    },
    "grade EXERCISE": {
        "exercise": "text", "title": "text", "about": "text", "texts": ["text"],
        "claims": Field("int", "The number of claims."), "false": Field(["text"],
            "The claims that are not true."),
    },
    "grade, without arguments": {"exercises": [{"name": "text", "title": "text"}]},
    "A line of --jsonl that fails": {"text": "text?", "error": "text"},
    "train --trace": (
        {
            "step": "int", "hex": Field(["hex"], "The pair and the token."),
            "left?": "text", "right?": "text", "parts?": ["text"], "token": "text", "id": "int?",
            "count": "int",
            "replaced": "int", "score": "number?", "tied": "int",
            "tokens": Field("int", "The length of the corpus after the step."), "vocab_size": "int",
            "language?": "text?", "kind?": "text", "events?": "any", "saved?": "number",
        },
        {"round": "int", "what": "text", "kept": "int", "dropped": "int", "objective": "float?"},
        {"step": "int", "kind": "text", "removed": "any", "cost": "any", "*": "any"},
        {"end": Field("text", "Why the run ended."), "steps": "int"},
    ),
    "compare": {
        "corpus": CORPUS,
        "tokenizers": [{
            "letter": "text", "name": "text", "recipe": ({"*": "any"}, "null"), "notes": ["text"],
            "trained_to": "text?",
            "totals": (fields_of(
                Tally, "bytes", "characters", "tokens", "vocab_size", "used", "unknowns"), "null"),
            "words": ({"spaced": WORDS, "bare": WORDS}, "null"), "error": "text?",
        }],
        "measures": [MEASURE],
        "agreement": [{
            **PAIR, "exact": "float?", "precision": "float?", "recall": "float?", "f1": "float?",
            "token_ratio": "float?", "shown": {"*": "text"}, "totals": {"*": "int"},
            "partings": [CUT], "different_words": [CUT],
        }],
        "vocabulary": [{
            **PAIR, "by": "text", "common": "int", "only_a": "int", "only_b": "int", "jaccard": "float?",
            "shown": {"*": "text"}, "found?": "any",
        }],
        "first_difference": [DIVERGENCE],
        "first_difference_by_meaning": [DIVERGENCE],
        "text": ({"refused": [{"tokenizer": "text", "error": "text"}], "text?": "text",
                  "boundaries?": {"*": ["int"]}, "ruler?": [["int"]], "partings?": [["int"]]}, "null"),
    },
    "languages": {
        "by": Field("text", "What costs are counted by."), "unit": "text", "words_by": "text",
        "languages": [{"name": "text", "corpus": "text", "bytes": "int", "sha256": "text"}],
        "tokenizers": [{
            "name": "text", "recipe": RECIPE, "vocab_size": "int", "cheapest": "text?",
            "costs": [{
                **fields_of(LanguageCost),
                "times": Field("float?", "The cost over that of the cheapest language."), "error": "text?",
            }],
        }],
    },
    "diff": {
        "same": "bool", "same_ids": "bool",
        "tokenizers": [{"letter": "text", "name": "text", "vocab_size": "int", "recipe": RECIPE}],
        "merges": Field(FIRST_MERGE, "The first merge that is spelled differently."),
        "merges_by_meaning": Field(FIRST_MERGE, "The first merge that means something else."),
        "moved": Field([fields_of(MovedIds)], "Runs of ids that moved."),
        "moved_count": "int", "reused": Field("int", "The ids of A that are another token's in B."),
        "went": [CHANGED], "came": [CHANGED],
        "rescored": [fields_of(Rescored)],
        "specials": [CHANGE], "steps": [CHANGE], "template": (CHANGE, "null"),
        "corpus": ({
            **fields_of(DocumentsDiff, "documents", "changed", "recut", "grown", "shrunk", "refused_a",
                        "refused_b", "only_b_refuses", "a", "b", "worst"), "growth": "float?",
        }, "null"),
        "first": Field((
            {**fields_of(FirstText), "stage": Field("text", f"One of: {', '.join(STAGES)}.")}, "null",
        ), "The first text of the corpus that differs, and the stage."),
        "bounds": Field({"*": "bool"}, "Each bound that was checked, and whether it holds."),
    },
    "inspect": {
        "tokenizer": {
            "recipe": RECIPE, "run": {"*": "any"},
            **fields_of(VocabularyFacts, "vocab_size", "first_id", "merges"),
            "kinds": {"*": "int"}, "scripts": {"*": "int"}, "lengths": {"*": "int"}, "notes": ["text"],
        },
        "health": fields_of(VocabularyFacts, "longest", "unreachable", "duplicates", "not_utf8", "spaces",
                            "missing_bytes", "holes", "shared_ids"),
        "checks": [fields_of(CheckResult)],
        "corpus": ({
            **fields_of(VocabularyReport, "units", "tokens", "used", "unused", "document_count", "documents",
                        "exhausted"),
            "parts?": [fields_of(PartTally)],
        }, "null"),
        "measures": [MEASURE],
        "measures_error": Field("text?", "Why the corpus cannot be measured."),
        "unicode": {
            "tables": Field("text", "The name of the Unicode tables: empty for those that are installed."),
            "owner": "text",
            "differing": Field({"*": ["text"]}, "The characters of the corpus that the newest tables treat "
                               "otherwise, by what differs."),
        },
    },
    "inspect STRING, inspect --id": {
        "string": "text?",
        "token": ({
            **fields_of(TokenFacts), "unreachable": Field("text?", "Why no text becomes it."),
        }, "null"),
        "uses": ({"count": "int", "why": "text?", "into": [PIECE]}, "null"),
        "encoding?": (ENCODING, "null"),
        "error?": Field("text?", "Why the text cannot be encoded."),
        "why?": Field("text", "Why the text is not one token, in words."),
        "reason?": Field("text", "The name of that reason."),
        "facts?": Field({"*": "any"}, "The proof; bytes are in hex."),
        "decoded?": Field("text?", "What decoding gives back."),
        "lost?": ["text"], "words?": [WORD],
    },
    "inspect --glitch": {
        "vocab_size": "int", "counts": {"*": "int"},
        "glitches": [fields_of(Glitch)],
    },
    "check": {
        "texts": "int", "same": "bool",
        "differs": Field(({
            "number": Field("int", "The number of the first text that differs, from 1."), "text": "text",
            "special": Field("bool", "Whether only the ids with special tokens differ."),
            "token": Field("int", "The index of the first id that differs."),
            "character": Field("int?", "Its place in the text."),
            "pinned": (["int?"], "null"), "ids": (["int?"], "null"),
        }, "null"), "The first difference."),
    },
    "inspect --table": {
        "table": Field("text", "The file."), "ids": "int",
        "unreachable": Field("int", "The number of ids that no text has."),
    },
    "inspect --bound": BOUND,
    "inspect --glitch --weights": {
        **fields_of(UnderTrained), "candidates": [LEARNED], "others": [LEARNED],
        "histogram": {"low": "float", "high": "float", "counts": ["int"]},
    },
    "inspect --chkhsh": {
        "chkhsh": Field("text", "SHA-256 of the ids of a text, as llama.cpp's converter computes it."),
        "pre": Field("text?", "The name that the converter has for it."),
        "splits?": Field(["text"], "The names of the nearest split; absent if text is changed first."),
        "differing?": [{"text": "text", "place": Field("int", "In bytes of UTF-8.")}],
    },
    "inspect --worst-words": {
        "corpus": "text", "tokens": "int",
        "wasted": Field("int", "The tokens beyond the first of their word."),
        "words": Field("int", "The distinct words."),
        "worst": [fields_of(WorstWord)],
    },
    "inspect --charts": {
        "corpus": "text", "vocab_size": "int", "tokens": "int",
        "uses": Field([{"id": "int", "uses": "int"}], "The ids that occur."),
        "lengths": Field({"*": "int"}, "The number of tokens by their characters."),
        "scripts": {"*": "int"},
    },
    "inspect --budget": {
        "sizes": Field(["int"], "The ids after each step, from step 0."),
        "target": (fields_of(BudgetTarget), "null"),
        "curves": [{**fields_of(BudgetCurve), "knee_size": "int?", "met_size": "int?"}],
    },
    "budget": {
        "target": (fields_of(BudgetTarget), "null"),
        "costs": {"dimensions": "int?", "matrices": "int", "training_bytes": "int?", "context": "int?",
                  "price": "number?"},
        "corpora": [{
            "corpus": "text", "bytes": "int", "documents": "int",
            "knee": Field("int?", "The step of the knee."),
            "met": Field("int?", "The step that meets the target."),
            "knee_size": "int?", "met_size": "int?",
            "sizes": [fields_of(SizeRow)],
        }],
    },
    "bound": BOUND,
    "bound --check": {
        "holds": Field("bool", "Whether the numbers prove the claim, for the corpus that is named."),
        "claimed": "int", "proved": "int", "vocab_size": "int", "base": "int", "corpus": "text",
        "same": Field("bool?", "Whether the pre-tokens are those of the corpus that is named."),
    },
    "mixture": {
        **fields_of(Mixture), **fields_of(Mixture, "unknown"),
    },
    "convert": EXPORT,
    "edit": {
        "ids_before": "int", "ids": "int",
        "pruned": (fields_of(Pruned), "null"), "grown": (fields_of(Grown), "null"),
        "went": [ENTRY], "came": [ENTRY],
        "added": [fields_of(Added)], **EXPORT,
    },
    "verify -r --against": {
        **PEER, "steps": "int", "end": "text",
        "differs": ({
            "step": "int", "ours": ({"hex": ["hex"]}, "null"), "ours_end": "text?",
            "candidates": [{"hex": ["hex"], "text": "text", "count": "number"}], "tied": "int", "tie": "text",
            "theirs": ({"hex": (["hex"], "null"), "token": "hex", "count": "int", "place": "int?"}, "null"),
        }, "null"),
    },
    "verify -r --against sentencepiece, of a unigram model": {
        **PEER, "pieces": "int", "apart": Field("float", "The greatest difference of two scores."),
        "end": "text",
        "differs": ({
            "only_ours": ["hex"], "only_theirs": ["hex"],
            "scores": [{"hex": "hex", "ours": "float", "theirs": "float"}],
        }, "null"),
    },
    "verify -t --against": {
        **PEER, "texts": "int", "tokens": "int",
        "differs": (fields_of(TextDifference), "null"),
    },
    "verify -t --against --against": {
        "versions": ["text"], "alike": "bool", "texts": "int", "tokens": "int",
        "differs": ({"number": "int", "text": "text", "stage": "text", "specials": "bool",
                     "sides": [{"name": "text", **ENCODED_SIDE}]}, "null"),
    },
    "verify -t": {
        "recipe": RECIPE, "merges": "int", "alike": "int", "next_count": "int?",
        "changes": [fields_of(TrainingChange)], "tried": "int",
        "differs": ({
            "step": "int", "file": {"hex": (["hex"], "null"), "token": "hex", "count": "int"},
            "training": ({"hex": ["hex"], "count": "int?"}, "null"), "ours_end": "text?", "tied": "int",
            "tie": "text",
        }, "null"),
    },
    "recipes": {"presets": [PRESET], "axes": [AXIS]},
    "recipes PRESET": PRESET,
    "recipes AXIS": AXIS,
}
"""The fields of the objects that each command prints, besides `schema`."""

_NAMED: dict[str, type | tuple[type, ...]] = {
    "int": int, "bool": bool, "text": str, "float": (int, float), "number": (int, float),
}


def faults(value: object, type_: Type, where: str = "") -> Iterator[str]:
    """Yield a line for each place where a value of JSON is not of a type; nothing if it fits. `where` is the
    path of the value."""
    if isinstance(type_, Field):
        yield from faults(value, type_.type, where)
    elif isinstance(type_, tuple):
        if all(any(faults(value, choice, where)) for choice in type_):
            yield f"{where}: {value!r:.60} is of none of {len(type_)} types"
    elif isinstance(type_, list):
        if not isinstance(value, list):
            yield f"{where}: no list: {value!r:.60}"
        else:
            for n, element in enumerate(value):
                yield from faults(element, type_[0], f"{where}[{n}]")
    elif isinstance(type_, dict):
        yield from _field_faults(value, type_, where)
    else:
        yield from _plain_faults(value, type_, where)


def _field_faults(value: object, fields: Mapping[str, Type], where: str) -> Iterator[str]:
    """Yield the faults of an object: unknown, wrong and missing fields.

    A name that ends in `?` may be missing; `*` takes any other name.
    """
    if not isinstance(value, dict):
        yield f"{where}: no object: {value!r:.60}"
        return
    names = {name.removesuffix("?"): name for name in fields}
    for name, element in value.items():
        if name not in names and "*" not in names:
            yield f"{where}.{name}: not in the schema"
        else:
            yield from faults(element, fields[names.get(name, "*")], f"{where}.{name}")
    for name in fields:
        if name != "*" and not name.endswith("?") and name not in value:
            yield f"{where}.{name}: missing"


def _plain_faults(value: object, name: str, where: str) -> Iterator[str]:
    """Yield a fault if the value is not of a plain type. `?` allows null; a boolean is no number."""
    name, optional = name.removesuffix("?"), name.endswith("?")
    if (value is None and (optional or name == "null")) or name == "any":
        return
    if name == "hex":
        fits = isinstance(value, str) and all(digit in "0123456789abcdef" for digit in value)
    else:
        fits = isinstance(value, _NAMED.get(name, ())) and isinstance(value, bool) == (name == "bool")
    if not fits:
        yield f"{where}: no {name}: {value!r:.60}"
