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

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple, TypeAlias

from tokentui.analyze.stages import STAGES

Type: TypeAlias = Any


class Field(NamedTuple):
    """A type and the meaning of a field."""

    type: Type
    about: str


PIECE = {"text": "text", "hex": "hex"}
TOKEN = {"id": "int", **PIECE}
ENTRY = {**TOKEN, "kind": "text"}
RECIPE = Field({"*": "any"}, "The axes of a recipe file, and the parameters that are not at their defaults.")
PAIR = {"a": "text", "b": "text"}
CORPUS = {"name": "text", "bytes": "int", "sha256": "text"}
LOSS = {"what": "text", "consequence": "text", "example": "text"}
EXPORT = {
    "format": Field("text", "The name of the format."),
    "about": Field("text", "A few words on it."),
    "files": Field(["text"], "The usual names of its files."),
    "losses": Field([LOSS], "What the format cannot store."),
    "refused": Field("text", "Why nothing is written; empty if it is."),
    "checked": Field("int", "The number of texts on which the written file gives the same."),
    "accept": Field("text", "The loss to accept to write it anyway; empty for none."),
}
ENCODING = {
    "ids": Field(["int?"], "The ids; null for a token without one."),
    "tokens": Field(["text"], "The tokens as text, for people."),
    "hex": Field(["hex?"], "The exact bytes of the tokens; null for an unknown token."),
    "offsets": Field([["int"]], "The first and the last + 1 character of each token in the text."),
}
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
    "parts": [PIECE], "token": PIECE, "id": "int",
    "elsewhere": Field("int?", "The step of the same merge in the other tokenizer."),
    "built": Field("int?", "The number of later merges that are made of the token."),
    "uses": Field("int?", "Its uses in changed documents."),
}
FIRST_MERGE = ({"step": "int", "a": (MERGE_SIDE, "null"), "b": (MERGE_SIDE, "null")}, "null")
CHANGED = {**ENTRY, "uses": "int?"}
CHANGE = {"where": "text", "a": "text?", "b": "text?"}
PLACE = {"start": "int", "before": "text", "text": "text", "after": "text", "a": ["text"], "b": ["text"]}
CUT = {"text": "text", "count": "int", "a": ["text"], "b": ["text"]}
MEASURE = {
    "name": "text", "title": "text", "formula": "text", "conventions": {"*": "text"},
    "values": Field(["number?"], "A value for each tokenizer."),
    "shown": Field(["text?"], "The same as people read it."),
}
WORDS = {"words": "int", "distinct": "int", "tokens": "int", "continued": "int", "single": "int",
    "lost": "int"}
WORD = {
    "text": "text", "offsets": ["int"], "units": ["hex"],
    "steps": Field([{"step?": "int", "hex": ("hex", ["hex"]), "start": "int", "end": "int", "middle?": "int",
                     "cuts?": ["int"], "found?": "bool"}], "Merges or attempts, in order."),
    "ids": ["int?"],
    "ways": ({"count": Field(("int", "text"), "Text above 2**53."),
              "first": [{"hex": ["hex"], "score": "float?", "share": "float?"}],
              "chosen": ["hex"], "how": "text"}, "null"),
    "lattice": [{"start": "int", "end": "int", "score": "float", "posterior": "float", "best": "bool",
                 "token": "bool", **PIECE}],
}
PRESET = {
    "name": "text", "family": "text", "about": "text", "source": "text", "recipe": RECIPE,
    "stops": {"*": "any"}, "specials": ["text"], "first_id": "int",
}
AXIS = {"name": "text", "about": "text", "values": {"*": "text"}}
BOUND = {
    "corpus": "text", "bytes": "int",
    "pretokens": Field("int", "The pre-tokens that count."), "distinct": "int",
    "left_out": Field("int", "The pre-tokens of which the tokenizer loses a part."),
    "long": Field("int", "The pre-tokens that count as one token."),
    "split": "text", "unit": "text",
    "base": Field("int", "The ids that are no token of several units."),
    "sizes": [{
        "vocab_size": "int", "tokens": Field("int", "The tokens with the tokenizer."),
        "bound": Field("int", "No vocabulary of this size needs fewer."),
        "reached": Field("int", "A vocabulary of this size is known that needs so many."),
        "simple": Field("int", "The bound from the most frequent pre-tokens alone."),
        "rounds": "int",
        "most_saved": Field("float", "The greatest share of the tokens that could be saved."),
        "saved": Field("float", "The share of the tokens that a known vocabulary saves."),
    }],
    "program": Field("float?", "The value of the linear program."),
}
LEARNED = {
    **TOKEN, "category": Field("text", "`ok`, `special`, `unreachable`, or `not whole characters`."),
    "values": ["float?"], "reason": Field("text", "Why it may be untrained; empty if nothing is known."),
}
ENCODED_SIDE = {
    "normalized": "text?", "words": (["text"], "null"), "tokens": ["text"], "ids": ["int?"],
    "refused": "text?",
}
STAGED = {"normalized": "text", "words": ["text"], "tokens": ["text"], "ids": ["int?"], "refused": "text?"}
PEER = {
    "peer": "text", "version": Field("text", "The version of the other library."), "alike": "bool",
}

SCHEMAS: Mapping[str, Type] = {
    "encode --json, --jsonl": {"text": "text", **ENCODING},
    "encode --chat": {
        "text": Field("text", "The rendered chat."), **ENCODING,
        "origin": Field(["text"], "For each token `special`, `template`, `content` or `mixed`."),
        "warnings": [{
            "code": "text", "text": "text", "token": Field("text?", "The token that it is about."),
            "message": Field("int?", "The number of the message that it is about, from 1."),
        }],
    },
    "encode --prefix-stability": {
        "text": Field("text", "The prompt."), "ids": ["int?"],
        "stable": Field("int", "The number of first tokens that no continuation changed that was tried."),
        "stable_text": "text",
        "certain": Field("int", "The number of first tokens that no continuation changes."),
        "exact": Field("bool", "Whether `stable` and `certain` are equal."),
        "tried": Field("int", "The number of continuations that were tried."),
        "all_tried": Field("bool", "False if there were more than are tried."),
        "changes": [{
            "place": Field("int", "The index of the first token that changes."), "continuation": "text",
            "id": "int?", **PIECE,
        }],
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
            "totals": ({"bytes": "int", "characters": "int", "tokens": "int", "vocab_size": "int",
            "used": "int",
                        "unknowns": "int"}, "null"),
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
                "language": "text", "bytes": "int", "characters": "int", "words": "int", "sentences": "int",
                "tokens": "int?", "unknowns": "int", "bytes_per_token": "float?",
                "characters_per_token": "float?", "cost": "float?",
                "times": Field("float?", "The cost over that of the cheapest language."), "error": "text?",
            }],
        }],
    },
    "diff": {
        "same": "bool", "same_ids": "bool",
        "tokenizers": [{"letter": "text", "name": "text", "vocab_size": "int", "recipe": RECIPE}],
        "merges": Field(FIRST_MERGE, "The first merge that is spelled differently."),
        "merges_by_meaning": Field(FIRST_MERGE, "The first merge that means something else."),
        "moved": Field([{"first": "int", "last": "int", "by": "int", **PIECE}], "Runs of ids that moved."),
        "moved_count": "int", "reused": Field("int", "The ids of A that are another token's in B."),
        "went": [CHANGED], "came": [CHANGED],
        "rescored": [{**PIECE, "a": "float", "b": "float"}],
        "specials": [CHANGE], "steps": [CHANGE], "template": (CHANGE, "null"),
        "corpus": ({
            "documents": "int", "changed": Field("int", "Documents with other ids."),
            "recut": Field("int", "Documents with other tokens."), "grown": "int", "shrunk": "int",
            "refused_a": "int", "refused_b": "int", "only_b_refuses": "int",
            "a": Field("int", "The tokens under A."), "b": Field("int", "The tokens under B."),
            "growth": "float?",
            "worst": [{"number": "int", "name": "text", "count": "int", "a": "int?", "b": "int?",
                       "growth": "int", "refusals": ["text"], "place": (PLACE, "null")}],
        }, "null"),
        "first": Field(({
            "number": "int", "text": "text", "stage": Field("text", f"One of: {', '.join(STAGES)}."),
            "a": STAGED, "b": STAGED,
        }, "null"), "The first text of the corpus that differs, and the stage."),
        "bounds": Field({"*": "bool"}, "Each bound that was checked, and whether it holds."),
    },
    "inspect": {
        "tokenizer": {
            "recipe": RECIPE, "run": {"*": "any"}, "vocab_size": "int", "first_id": "int", "merges": "int",
            "kinds": {"*": "int"}, "scripts": {"*": "int"}, "lengths": {"*": "int"}, "notes": ["text"],
        },
        "health": {
            "longest": [TOKEN], "unreachable": [{**TOKEN, "why": "text"}], "duplicates": [{**PIECE,
            "ids": ["int"]}],
            "not_utf8": [TOKEN], "spaces": [TOKEN], "missing_bytes": ["int"],
            "holes": Field([["int"]], "The first and the last of each range of ids without a token."),
            "shared_ids": ["int"],
        },
        "checks": [{
            "name": "text", "title": "text", "about": "text",
            "status": Field("text", "`PASS`, `INFO`, `WARN`, `FAIL` or `n/a`."),
            "observed": "text", "threshold": "text", "value": "number?", "count": "int",
            "examples": Field([{"id": "int?", **PIECE, "note": "text"}], "Ten at most."),
        }],
        "corpus": ({
            "units": "int", "tokens": "int", "used": "int",
            "unused": [{**ENTRY, "why": "text", "into": [PIECE]}],
            "document_count": "int",
            "documents": [{"number": "int", "name": "text", "units": "int", "tokens": "int"}],
            "exhausted": ({"merges": "int", "vocab_size": "int", "tokens": "int", "whole": "int",
                           "distinct": "int", "end": "text"}, "null"),
            "parts?": [{"name": "text", "bytes": "int", "tokens": "int"}],
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
            **ENTRY, "score": "float?", "code_points": ["text"], "units": ["hex"], "step": "int?",
            "count": "int?", "parents": [PIECE], "children": [TOKEN], "child_count": "int",
            "tree": [{"depth": "int", "step": "int", "id": "int?", **PIECE}], "tree_size": "int",
            "others": [TOKEN], "unreachable": "text?", "marks": ["int"],
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
        "glitches": [{
            "id": "int", "text": Field("text?", "A text that becomes it."), "hex": "hex", "kind": "text",
            "reason": "text", "sentence": "text", "into": [PIECE],
        }],
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
        "model": "text", "rows": "int", "columns": "int", "dtype": "text",
        "tied": Field("bool", "Whether one matrix is input and output."), "vocab_size": "int",
        "unused": Field(["int"], "The rows that are known to be unused."),
        "indicators": Field(["text"], "The names of the values. The first decides; low ones are suspicious."),
        "threshold": "float", "tokens": Field("int", "The tokens that text produces."),
        "candidates": [LEARNED], "others": [LEARNED],
        "histogram": {"low": "float", "high": "float", "counts": ["int"]}, "not_numbers": "int",
    },
    "inspect --chkhsh": {
        "chkhsh": Field("text", "SHA-256 of the ids of a text, as llama.cpp's converter computes it."),
        "pre": Field("text?", "The name that the converter has for it."),
        "splits?": Field(["text"], "The names of the nearest split; absent if text is changed first."),
        "differing?": [{"text": "text", "place": Field("int", "In bytes of UTF-8.")}],
    },
    "inspect --budget": {
        "sizes": Field(["int"], "The ids after each step, from step 0."),
        "target": ({"rate": "float?", "dimensions": "int", "worth": "float"}, "null"),
        "curves": [{
            "corpus": "text", "bytes": "int", "documents": "int",
            "tokens": Field(["int"], "The tokens after each step."),
            "knee": Field("int?", "The step of the knee."), "met": Field("int?",
            "The step that meets the target."),
            "knee_size": "int?", "met_size": "int?",
        }],
    },
    "budget": {
        "target": ({"rate": "float?", "dimensions": "int", "worth": "float"}, "null"),
        "costs": {"dimensions": "int?", "matrices": "int", "training_bytes": "int?", "context": "int?",
                  "price": "number?"},
        "corpora": [{
            "corpus": "text", "bytes": "int", "documents": "int",
            "knee": Field("int?", "The step of the knee."),
            "met": Field("int?", "The step that meets the target."),
            "knee_size": "int?", "met_size": "int?",
            "sizes": [{
                "size": Field("int", "The ids."), "step": "int", "tokens": "int", "bytes_per_token": "float?",
                "tokens_per_document": "float?",
                "saved_per_id": Field("float?", "The tokens that each id after the previous row saves."),
                "embedding_parameters": "int?", "training_tokens": "int?", "context_bytes": "int?",
                "cost": "float?",
                "bound": Field("int?", "No vocabulary of this size has fewer tokens."),
                "most_saved": Field("float?", "The greatest share of the tokens that could be saved."),
            }],
        }],
    },
    "bound": BOUND,
    "bound --check": {
        "holds": Field("bool", "Whether the numbers prove the claim, for the corpus that is named."),
        "claimed": "int", "proved": "int", "vocab_size": "int", "base": "int", "corpus": "text",
        "same": Field("bool?", "Whether the pre-tokens are those of the corpus that is named."),
    },
    "mixture": {
        "shares": [{
            "name": "text", "share": Field("float", "The share of the bytes of the training text."),
            "low": Field("float", "The least share with 1 % more slack."),
            "high": Field("float", "The greatest one."),
            "pairs": Field("float", "The share of the pairs."),
            "bytes": Field("int", "The bytes of the sample."),
        }],
        "slack": Field("float", "What the inequalities lack; above 0.1 the shares mean little."),
        "merges": "int", "absent": Field("int", "The merges that occur in no sample."),
        "worst": [{"step": "int", "parents": [PIECE], **PIECE, "slack": "float"}],
        "alike": Field([["text"]], "Pairs of samples that are as like each other as the halves of one."),
        "rounds": "int", "converged": "bool", "denominator": "text",
        "unknown": Field(["text"], "The samples that cannot be told apart."),
    },
    "convert": EXPORT,
    "edit": {
        "ids_before": "int", "ids": "int",
        "pruned": ({"kept": "int", "gone": "int", "unused": "int", "documents": "int", "refused": ["int"],
                    "changed": ["int"]}, "null"),
        "grown": ({"merges": "int", "words": "int", "before": "int", "after": "int", "unlike": ["text"]},
        "null"),
        "went": [ENTRY], "came": [ENTRY],
        "added": [{"id": "int", "text": "text", "special": "bool", "does": "text"}], **EXPORT,
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
        "differs": ({"number": "int", "text": "text", "stage": "text", "specials": "bool",
        "ours": ENCODED_SIDE,
                     "theirs": ENCODED_SIDE}, "null"),
    },
    "verify -t --against --against": {
        "versions": ["text"], "alike": "bool", "texts": "int", "tokens": "int",
        "differs": ({"number": "int", "text": "text", "stage": "text", "specials": "bool",
                     "sides": [{"name": "text", **ENCODED_SIDE}]}, "null"),
    },
    "verify -t": {
        "recipe": RECIPE, "merges": "int", "alike": "int", "next_count": "int?",
        "changes": [{"axis": "text", "value": "text", "alike": "int"}], "tried": "int",
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
    """Yield where a value of JSON is not of a type."""
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
    name, optional = name.removesuffix("?"), name.endswith("?")
    if (value is None and (optional or name == "null")) or name == "any":
        return
    if name == "hex":
        fits = isinstance(value, str) and all(digit in "0123456789abcdef" for digit in value)
    else:
        fits = isinstance(value, _NAMED.get(name, ())) and isinstance(value, bool) == (name == "bool")
    if not fits:
        yield f"{where}: no {name}: {value!r:.60}"
