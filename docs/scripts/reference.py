"""The reference, made from the records: `python docs/scripts/reference.py` writes docs/reference.

A page for the axes, the presets, the keys, the file formats and the measures; the table of docs/limits.md.
The pages of the commands are made by `commands.py`, that of the errors by `errors.py`.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from pages import DOCS, code, plain, table, write

from tokentui.analyze.compare import PAIR_MEASURES
from tokentui.analyze.health import CHECKS
from tokentui.analyze.health.folder import FOLDER_CHECKS
from tokentui.analyze.metrics import MEASURES, SYMBOLS, Measure, part_measures
from tokentui.analyze.report import JSON_VERSION
from tokentui.axes import AXES
from tokentui.cli.schemas import SCHEMAS, Field, Type
from tokentui.core.choices import Parameter
from tokentui.core.limits import LIMITS
from tokentui.core.toml import toml_value
from tokentui.formats import ASPECTS, FORMATS, Format
from tokentui.formats.classes import CLASSES, LINES, MODELS, PAIRS, REFUSED, TokenizerClass
from tokentui.formats.gguf.pre import PRE, UNREAD, Pre
from tokentui.formats.proof import EXAMPLES
from tokentui.preset_table import PRESETS, Preset
from tokentui.recipe import SHAPE, Recipe
from tokentui.text.sources import READ_AS, parallel, samples
from tokentui.ui.bindings import EVERYWHERE, BoundAction, key_name
from tokentui.ui.keymap import dialog_sections, sections_of
from tokentui.ui.settings import SETTINGS, Setting

_MADE = "`python docs/scripts/reference.py` generates this page from the program's own definitions."
PANES = {
    "main": {
        EVERYWHERE: "The main screen", "corpus": "The corpus", "pairs": "Pairs",
        "vocabulary": "The vocabulary", "encode": "The typed text", "editor": "Typing into the corpus",
    },
    "compare": {
        EVERYWHERE: "Compare", "choices": "Compare: the columns",
        "parting": "Compare: where two columns diverge",
        "measures": "Compare: measures", "agreement": "Compare: agreement",
        "tokens": "Compare: the vocabularies", "rows": "Compare: tables",
        "aligned": "Compare: the aligned text", "curves": "Compare: curves",
    },
    "tour": {"tour": "A tour"},
    "practice": {"tour": "Practice"},
}
"""The headings of the panes of each screen; other panes have their name."""


def _parameter(one: Parameter) -> tuple[str, str, str]:
    return code(one.name), plain(one.about), code(_default(one))


def _default(one: Parameter) -> str:
    """The default as a user writes it."""
    as_it_is = isinstance(one.default, str | int) and not isinstance(one.default, bool)
    return (str(one.default) or "none") if as_it_is else one.written(one.default)


def axes() -> str:
    """Return the page of the axes, their values and the other training options."""
    lines = [
        "# Axes", "",
        "A recipe sets these options, called axes. `-r` takes a [preset](presets.md) or a recipe file in",
        "TOML; axes that the file omits take their defaults. `-s axis=value` changes an axis.",
        "`tokentui recipes` lists the presets and axes; `tokentui recipes AXIS` lists the values of an axis.",
        "Defaults are in **bold**.", "",
        _MADE, "",
    ]
    lines += table(("axis", "meaning", "default"), (
        (f"[{code(name)}](#{name})", plain(axis.about), code(str(Recipe().axis(name))))
        for name, axis in AXES.items()))
    for name, axis in AXES.items():
        default = Recipe().axis(name)
        lines += [f"## `{name}`", "", f"{axis.about[:1].upper()}{plain(axis.about[1:])}.", ""]
        shown = axis.written()
        lines += table(("value", "meaning", "example"), (
            (f"**{code(shown[one])}**" if one == default else code(shown[one]), plain(record.about),
             code(f"{one}:{record.sample}") if record.text else "")
            for one, record in axis.items()))
        if name == "normalize":
            lines += ["Several values apply in order: `normalize=nfd,strip-accents`. The default is no "
                      "change.",
                      ""]
        for one, record in axis.items():
            if record.parameters:
                lines += [f"Parameters of `{one}`, for example "
                    f"`{name}={one}:{_example(record.parameters)}`:", ""]
                lines += table(("parameter", "meaning", "default"), map(_parameter, record.parameters))
    lines += ["## Other training options", "",
              "A recipe has these options besides its axes. In a recipe file they are next to the axes.", ""]
    lines += table(("option", "meaning", "default"), map(_parameter, SHAPE.values()))
    return "\n".join(lines).rstrip("\n") + "\n"


def _example(parameters: Sequence[Parameter]) -> str:
    one = next((one for one in parameters if one.default), parameters[0])
    return f"{one.name}={_default(one)}"


def presets() -> str:
    """The presets, family by family."""
    lines = ["# Presets", "", "`-r NAME` takes one; `--published` takes its sizes and special tokens too.",
             "`tokentui recipes NAME > mine.toml` writes one as a recipe file to change.", "", _MADE, ""]
    for family in dict.fromkeys(one.family for one in PRESETS.values()):
        lines += [f"## {family}", ""]
        lines += table(("preset", "what it is", "source", "differs from `gpt2` by", "known for"), (
            (code(one.name), plain(one.about), plain(one.source), _differs(one), _known(one))
            for one in PRESETS.values() if one.family == family))
    return "\n".join(lines).rstrip("\n") + "\n"


def _differs(preset: Preset) -> str:
    plain, own = Recipe(), preset.recipe
    words = [f"{name}={own.axis(name)}" for name in AXES if own.axis(name) != plain.axis(name)]
    words += [f"{name}={SHAPE[name].written(value)}" for name, value in own.shape.items()
              if not isinstance(value, list)]
    words += [f"{name}: {' '.join(value)}" for name, value in own.shape.items() if isinstance(value, list)]
    return ", ".join(map(code, words)) or "nothing"


def _known(preset: Preset) -> str:
    words = []
    for name, value in preset.run.words.items():
        shown = " ".join(map(str, value)) if isinstance(value, list | tuple) else f"{value:,}"
        words.append(code(f"{name}={shown}"))
    return ", ".join(words)


def keys() -> str:
    """The settings, and the keys by where they work."""
    lines = ["# Keys", "", "`?` shows these in the program, `:` and `ctrl+p` find them by a word. A key",
             "means the same on all screens. In a dialog the footer shows its keys.", "", _MADE, "",
             "## Settings", "",
             "`O` changes these and shows the path of the settings file. A line there, such as",
             "`speed = 60`, does the same.", "",
             *table(("name", "setting", "default"), map(_setting, SETTINGS.values())),
             "## Your own keys", "",
             "The table `[keys]` of the settings file assigns other keys to actions, using the ids below.",
             "", "```toml", "[keys]", 'next = "n,f8"', 'until = "@"',
             "```", "",
             "Each line replaces the keys of an action. Separate keys with commas; write the comma key as "
             "`comma`.",
             "A key is a character or a name such as `f8`, `ctrl+b`, `pageup`. Two actions may",
             "swap their keys. At startup, the program reports each line with an unknown id or key, without",
             "a key, with a key of another action that works in the same place, or with a key that is needed",
             "to type text. The default of that action stays.", "",
             'The ids of dialogs have a dot, so they are quoted: `"inspect.next" = "f9"`.', ""]
    seen: set[str] = set()
    for screen, titles in PANES.items():
        sections = sections_of(screen)
        for pane in dict.fromkeys((*titles, *sections)):
            repeated = pane in titles and pane != EVERYWHERE
            actions = [action for action in sections[pane] if repeated or action.id not in seen]
            seen |= {action.id for action in actions}
            if actions:
                title = titles.get(pane, pane.capitalize())
                lines += [f"## {title}", "", *table(("id", "keys", "does"), map(_key, actions))]
    for title, actions in dialog_sections().items():
        lines += [f"## {title}", "", *table(("id", "keys", "does"), map(_key, actions))]
    return "\n".join(lines).rstrip("\n") + "\n"


def _key(action: BoundAction) -> tuple[str, str, str]:
    return code(action.id), " ".join(code(key_name(key)) for key in action.keys), plain(action.help)


def _setting(setting: Setting) -> tuple[str, str, str]:
    return code(setting.name), plain(setting.title), code(toml_value(setting.default))


def formats() -> str:
    """The file formats: what each is, which recipes it holds, what it loses."""
    lines = [
        "# File formats", "",
        "A tokenizer is a file, a model folder, a URL, or `hf:OWNER/NAME`. The format is detected from the",
        "content. In a folder or a repository, `tokenizer.json` gives the vocabulary, otherwise the file",
        "that the tokenizer class reads. Added tokens and the tokens around a text also come from its",
        "settings. The name of an encoding of tiktoken's, such as `cl100k_base`, finds its file in",
        "tiktoken's cache or in the current folder.",
        "`-o NAME` and `tokentui convert` choose the format by the suffix of the name, or by `--format`.",
        "Before a file is written, it is read back and compared on many texts. A report lists what the",
        "format cannot hold. [tokentui's file format](../own-format.md) lists its keys.", "",
        _MADE, "", "## Formats", "",
    ]
    lines += table(("format", "files", "what it is", "ends of names"), (
        (code(one.name), ", ".join(map(code, one.files)), plain(one.about),
         ", ".join(map(code, one.suffixes)) or "read only") for one in FORMATS.values()))
    lines += ["## Which tokenizers each can hold", "", "A tokenizer that is not among these is refused.", ""]
    lines += table(("format", "encoding", "units", "marks", "split", "normalizing"),
                    (_holds(one) for one in FORMATS.values() if one.suffixes))
    lines += ["## What each loses", "",
              "✓ is kept. What is not kept is told with an example where the tokenizer has it.", ""]
    written = [one for one in FORMATS.values() if one.suffixes]
    lines += table(("aspect", *(code(one.name) for one in written)), (
        (EXAMPLES[name].what, *("✓" if name in one.keeps else "" for one in written)) for name in ASPECTS))
    lines += table(("aspect", "where it is not kept"),
                    ((EXAMPLES[name].what, plain(EXAMPLES[name].consequence)) for name in ASPECTS))
    lines += [
        "## GGUF", "",
        "Only the header of a file is read, also of a URL that ends in `.gguf`. A text has the ids that",
        "llama.cpp gives it, for the models `gpt2`, `gemma4`, `llama`, `t5` and `rwkv`; of `bert` the",
        "remarks name the differences. For BPE, `tokenizer.ggml.pre` names the split, and",
        "`tokentui inspect --chkhsh` finds the name for another tokenizer. A file with one of these names is",
        f"refused: {', '.join(map(code, UNREAD))}.", "",
    ]
    names: dict[Pre, list[str]] = {}
    for name, pre in PRE.items():
        names.setdefault(pre, []).append(code(name))
    lines += table(("values of `pre` that split alike", "remark"),
                    ((", ".join(some), plain(pre.remark)) for pre, some in names.items()))
    lines += [
        "## Corpora", "",
        "A corpus is a file, a folder, a glob, a URL (`https://`, `s3://`, `hf://`), standard input (`-`)",
        "or a built-in text (`sample:english`). Plain and compressed files are read. URLs need the extra",
        "`[remote]`, Parquet tables `[parquet]`. `--as` says how to read a corpus if its name does not:", "",
    ]
    lines += table(("`--as`", "reads"), ((code(name), about) for name, about in READ_AS.items()))
    lines += ["Built-in texts:", ""]
    lines += table(("name", "what it is", "language", "bytes"), (
        (code(f"sample:{one.name}"), plain(one.title), one.language, f"{one.size:,}")
        for one in (*samples(), *parallel())))
    return "\n".join(lines).rstrip("\n") + "\n"


def classes() -> str:
    """The tokenizer classes of transformers: how a folder of each is read, or why it is not."""
    lines = [
        "# Tokenizer classes", "",
        "A folder without a `tokenizer.json` is read as its tokenizer class of transformers does. The class",
        "is `tokenizer_class` of `tokenizer_config.json`, with or without `Fast`, or follows from",
        "`model_type` of `config.json`. `--class NAME` names another one, also for a file alone. Ids, the",
        "tokens around a text (`--special-tokens`) and special tokens are those of transformers 4; where",
        "its slow and fast classes differ, those of the slow one. Where transformers 5 differs, the table",
        "says how. A sweep compares all classes with transformers, except those that it does not have",
        "(`QWen`, `TikToken`, `Smiles`) or that take more than a text (`LayoutXLM`, `Luke`).", "",
        _MADE, "", "## Exact", "",
    ]
    forms = {files: names for names, files in (
        ("a `.model` of sentencepiece", tuple((name,) for name in MODELS)),
        ("`vocab.json`, `merges.txt`", PAIRS), ("`vocab.txt`", LINES))}
    exact = {name: known for name, known in CLASSES.items() if not known.remark}
    lines += table(("class", "files", "ids", "around a text", "transformers 5"), (
        (code(name), forms.get(known.files, ", ".join(map(code, known.files[0]))), _ids(known),
         code(known.around) if known.around else "as the files say", plain(known.newer) or "the same")
        for name, known in sorted(exact.items())))
    lines += ["`*` is the text. A `vocab.txt` without `##` needs `Bert`, `Esm` or `Smiles`. In a folder of",
              "`Marian`, `source.spm` cuts a text; name `FOLDER/target.spm` for texts of the target.", "",
              "## Exact, with a remark", ""]
    lines += table(("class", "remark"), ((code(name), plain(known.remark))
                                         for name, known in sorted(CLASSES.items()) if known.remark))
    lines += ["## Refused", "",
              "A class with a `.model` that is in no table is refused too. A `.model` named alone has the",
              "ids of its pieces.", ""]
    lines += table(("class", "reason"), ((code(name), plain(why)) for name, why in sorted(REFUSED.items())))
    lines += ["## Files alone", "",
              "What a file does not say, a remark on reading names, or a line asks for.", ""]
    lines += table(("format", "exact", "remark or question"), (
        (code(one.name), "✓" if one.says_text and not one.needs_split else "with a remark", _unsaid(one))
        for one in FORMATS.values()))
    return "\n".join(lines).rstrip("\n") + "\n"


def _unsaid(one: Format) -> str:
    """Return what a file of a format does not say, in words."""
    unsaid = [what for what, silent in (("how a text is split", one.needs_split),
                                        ("how a text is normalized", not one.says_text)) if silent]
    return plain(" and ".join(unsaid))


def _ids(known: TokenizerClass) -> str:
    """Return how a class numbers tokens, in words."""
    numbering = known.numbering
    if numbering.listed:
        return "in `vocab.json`"
    if known.files[0][0] not in MODELS:
        return "in the file"
    if not numbering.offset:
        return "of the model" + (f", then {len(numbering.last)} more" if numbering.last else "")
    last = f", then {len(numbering.last)} more" if numbering.last else ""
    return f"{len(numbering.first)} tokens first, those of the model plus {numbering.offset}{last}"


def _holds(one: Format) -> tuple[str, ...]:
    holds = one.holds
    split = ", ".join(map(code, holds.splits)) or ("one pattern" if holds.pattern else "any")
    named = (holds.ways, holds.units, holds.marks)
    return (code(one.name), *(", ".join(map(code, some)) or "any" for some in named), split,
            "yes" if holds.normalize else "none")


def measures() -> str:
    """The measures with formulas and units, and the checks of health."""
    lines = [
        "# Measures", "",
        "The Compare screen, `tokentui compare` and `tokentui inspect` show these measures, each with its",
        "conventions.", "", _MADE, "", "## Letters", "",
    ]
    lines += table(("letter", "meaning"), ((code(name), plain(about)) for name, about in SYMBOLS.items()))
    lines += ["By default, words are split by `whitespace`, and α is 2.5.", "",
              "## One tokenizer on a corpus", "", *_measures(MEASURES)]
    lines += ["## Each named corpus", "", *_measures(part_measures(0))]
    lines += ["## Two tokenizers compared", "", *_measures(PAIR_MEASURES)]
    lines += ["## Health checks", "",
              "`F F` in the explorer and `tokentui inspect -t FILE` run these checks. Nearly every published",
              "tokenizer has an INFO. The exit code is 1 after a FAIL and, with `--strict`, after a WARN.",
              "`--ignore CHECK` excludes a check from the exit code.", ""]
    lines += table(("check", "why", "INFO: more than", "WARN: more than", "FAIL: more than"), (
        (f"{code(one.name)} {plain(one.title)}", plain(one.about), *_limits(one)) for one in CHECKS))
    lines += ["## Model folder checks", "",
              "`tokentui inspect -t FOLDER` also checks whether the files of a folder or a repository",
              "agree.", ""]
    lines += table(("check", "why", "INFO", "WARN", "FAIL"), (
        (f"{code(one.name)} {plain(one.title)}", plain(one.about), *_limits(one)) for one in FOLDER_CHECKS))
    return "\n".join(lines).rstrip("\n") + "\n"


def _measures(some: Iterable[Measure[Any]]) -> list[str]:
    return table(("measure", "formula", "unit", "better", "conventions"), (
        (f"{plain(one.title)} {code(one.name)}", code(one.formula.format(a="A", b="B")), one.unit, one.better,
         ", ".join([f"{name} {value}" for name, value in one.fixed] + [*one.under])) for one in some))


def _limits(check: Any) -> tuple[str, ...]:
    if check.limits:
        said = dict(part.split(": ", 1) for part in check.limits.split("; ") if ": " in part)
        return tuple(plain(said.get(status, "")) for status in ("INFO", "WARN", "FAIL"))
    of = " of them" if check.of else ""
    shown = [f"{100 * one:g} %{of}" if one and one < 1 else "" if one is None else f"{one:g}"
             for one in (check.info, check.warn, check.fail)]
    return tuple(shown)


def limits(page: str) -> str:
    """The page of limits with its table made anew."""
    rows = table(("limit", "default", "what it bounds"), (
        (code(one.name), one.shown(one.default), f"{one.unit} {plain(one.about)}")
        for one in LIMITS.values()))
    head, found, rest = page.partition("| limit | default |")
    assert found, "the page of limits has its table"
    return head + "\n".join(rows).rstrip("\n") + "\n" + rest[rest.index("\n\n") + 1:]


def json_schemas() -> str:
    """Return the page of the JSON that commands print."""
    lines = [
        "# JSON", "",
        "Commands print these objects with `--json`, `--jsonl` and `--trace`, each on one line. Every",
        f"object has the field `schema`: the version of this page, {JSON_VERSION}. It grows when a field",
        "changes its name or meaning. Fields may be added, so ignore those that you do not know.", "",
        "`hex` is bytes in lowercase hex; `number` is an int or a float. `?` after a type also allows null,",
        "after a name it says that the field may be missing. `*` is any name, `[]` a list.", "",
    ]
    for name, type_ in SCHEMAS.items():
        lines += [f"## {code(name) if not name.startswith('A ') else name}", ""]
        for n, shape in enumerate(type_ if isinstance(type_, tuple) else (type_,)):
            lines += ["or", ""] if n else []
            rows = [(code(path), code(kind), plain(about)) for path, kind, about in _fields(shape, "")]
            lines += table(("field", "type", "meaning"), rows)
    return "\n".join(lines).rstrip("\n") + "\n"


def _fields(fields: dict[str, Type], before: str) -> Iterator[tuple[str, str, str]]:
    """Yield the fields of an object as (path, type, meaning), those of the objects in it after it."""
    for name, type_ in fields.items():
        about = ""
        if isinstance(type_, Field):
            type_, about = type_
        yield before + name, _kind(type_), about
        for prefix, shape in _objects(type_):
            yield from _fields(shape, f"{before}{name.removesuffix('?')}{prefix}.")


def _objects(type_: Type, prefix: str = "") -> Iterator[tuple[str, dict[str, Type]]]:
    """Yield the objects with named fields in a type, each with the brackets of the lists around it."""
    if isinstance(type_, Field):
        yield from _objects(type_.type, prefix)
    elif isinstance(type_, list):
        yield from _objects(type_[0], f"{prefix}[]")
    elif isinstance(type_, tuple):
        for one in type_:
            yield from _objects(one, prefix)
    elif isinstance(type_, dict) and "*" not in type_:
        yield prefix, type_


def _kind(type_: Type) -> str:
    if isinstance(type_, Field):
        return _kind(type_.type)
    if isinstance(type_, list):
        return f"[{_kind(type_[0])}]"
    if isinstance(type_, tuple):
        kinds = list(dict.fromkeys(map(_kind, type_)))
        return f"{kinds[0]}?" if len(kinds) == 2 and kinds[1] == "null" else " or ".join(kinds)
    if isinstance(type_, dict):
        return f"object of {_kind(type_['*'])}" if "*" in type_ else "object"
    return str(type_)


PAGES = {
    "axes": axes, "presets": presets, "keys": keys, "formats": formats, "classes": classes,
    "measures": measures,
    "json": json_schemas,
}
"""The pages by name."""


def files() -> dict[str, str]:
    """All that is made, by its path from docs on."""
    made = {f"reference/{name}.md": make() for name, make in PAGES.items()}
    return made | {"limits.md": limits((DOCS / "limits.md").read_text(encoding="utf-8"))}


if __name__ == "__main__":
    sys.exit(write(files(), sys.argv[1:]))
