"""Writing BERT's `vocab.txt`: a token a line, the number of the line is its id."""

from __future__ import annotations

import itertools

from tokentui.encode.vocabulary import UNKNOWN_NAMES
from tokentui.formats.body import Body, Fit, Refused, Table, Token
from tokentui.formats.report import Loss
from tokentui.formats.vocab_txt import PREFIX

_MOST_UNUSED = 100_000


def fit(body: Body) -> Fit:
    """A tokenizer as a `vocab.txt` holds it. Ids that are not taken get a line such as `[unused7]`.

    Raises:
        Refused: It cannot.
    """
    body.needs("longest match")
    recipe = body.recipe
    if recipe.unit != "char" or recipe.mark != f"prefix:{PREFIX}":
        what = f"its units are {recipe.unit}s with mark={recipe.mark}"
        raise Refused(what, "", f"the file has characters, and {PREFIX} goes on with a word")
    lines: dict[int, str] = {}
    for entry in body.entries:
        name = entry.piece.decode("utf-8", "surrogatepass" if entry.kind in ("special", "unknown") else "surrogateescape")
        if name != name.rstrip() or any(one in name for one in "\t\n\r"):
            what = f"the token {name[:40]!r} is no line"
            raise Refused(what, "", "the file holds a token a line, without white space behind it")
        lines[entry.id] = name
    if len(set(lines.values())) < len(lines):
        raise Refused("two tokens are spelled alike", "", "of two lines that are alike the last one counts")
    fitted = Fit(Table(recipe, [], [], dict(body.specials)))
    if not any(name in body.specials for name in UNKNOWN_NAMES):
        name = UNKNOWN_NAMES[1]
        if name in lines.values():
            raise Refused(f"a token is spelled {name}", "", "the file needs that name for the unknown token")
        lines[max(lines, default=-1) + 1] = name
        fitted.losses.append(Loss("unknown units", f"they have no id; in the file they are {name}"))
        fitted.keeps_unknown = False
    holes = [number for number in range(max(lines, default=0)) if number not in lines]
    if len(holes) > _MOST_UNUSED:
        raise Refused(f"{len(holes)} ids stand for nothing", "", "the file has a line for each")
    taken = set(lines.values())
    free = (name for n in itertools.count() if (name := f"[unused{n}]") not in taken)
    lines |= dict(zip(holes, free, strict=False))
    if recipe.unknown != "whole-word":
        fitted.losses.append(Loss("unknown units", f"unknown={recipe.unknown} becomes: the whole word is unknown"))
        fitted.keeps_unknown = False
    fitted.table.tokens = [Token(number, name, name.encode("utf-8", "surrogateescape")) for number, name in sorted(lines.items())]
    return fitted


def write(table: Table) -> tuple[bytes, ...]:
    """The bytes of the file."""
    return ("".join(token.name + "\n" for token in table.tokens).encode("utf-8", "surrogateescape"),)
