"""The values of `tokenizer.ggml.pre`: how llama.cpp cuts a text before BPE.

llama.cpp knows splits by name and has their patterns in its code. It applies the patterns in order: each cuts
the parts that the earlier ones left, and keeps the text between its matches. Some differ from the pattern of
the model's own `tokenizer.json`; the table notes that. Source: ggml-org/llama.cpp, `src/llama-vocab.cpp`, as
of 2026.
"""

from __future__ import annotations

from tokentui.core.records import dataclass
from tokentui.formats.huggingface import Pattern, split
from tokentui.text.split import SPLITS

DEFAULT = "default"
GPT2 = "gpt2"
"""The name of GPT-2's split, used instead of its pattern: Hugging Face's files have a step for it."""

_LONE = "(?:'[sSdDmMtT]|'[lL][lL]|'[vV][eE]|'[rR][eE])"
_WORD = r"[^\r\n\p{L}\p{N}]?\p{L}+"
_SPACE = r"\s*[\r\n]+|\s+(?!\S)|\s+"
_REST = rf" ?[^\s\p{{L}}\p{{N}}]+[\r\n]*|{_SPACE}"
_LLAMA3 = SPLITS["llama3"].pattern
_QWEN2 = rf"{_LONE}|{_WORD}|\p{{N}}|{_REST}"
_QWEN35 = (rf"{_LONE}|[^\r\n\p{{L}}\p{{N}}]?[\p{{L}}\p{{M}}]+|\p{{N}}"
           rf"| ?[^\s\p{{L}}\p{{M}}\p{{N}}]+[\r\n]*|{_SPACE}")
_ASCII = "[!\"#$%&'()*+,\\-./:;<=>?@\\[\\\\\\]^_`{|}~][A-Za-z]+"
_V3_WORDS = rf"{_ASCII}|[^\r\n\p{{L}}\p{{P}}\p{{S}}]?[\p{{L}}\p{{M}}]+| ?[\p{{P}}\p{{S}}]+"
_KANA = "[一-龥぀-ゟ゠-ヿ]+"
_HAN = "[一-龥ࠀ-一가-퟿]+"
_SENTENCE = " ?[^(\\s|.,!?…。，、।۔،)]+"


_CASED = (
    r"A-Za-zµÀ-ÖØ-öø-ƺƼ-ƿǄ-ʓʕ-ʯͰ-ͳͶͷͻ-ͽͿ\u0386\u0388-\u038a\u038c\u038e-\u03a1\u03a3-\u03f5\u03f7-\u0481Ҋ-ԯԱ-Ֆ"
    r"Ⴀ-ჅᎠ-Ᏽᏸ-ᏽᲐ-ᲺᲽ-Ჿᴀ-ᴫᵫ-ᵷᵹ-ᶚḀ-\u1f15\u1f18-\u1f1d\u1f20-\u1f45\u1f48-\u1f4d\u1f50-\u1f57\u1f59"
    r"\u1f5b\u1f5d\u1f5f-\u1f7d\u1f80-\u1fb4\u1fb6-\u1fbc\u1fbe\u1fc2-\u1fc4\u1fc6-\u1fcc\u1fd0-\u1fd3"
    r"\u1fd6-\u1fdb\u1fe0-\u1fec\u1ff2-\u1ff4\u1ff6-\u1ffc\u2102\u2107\u210a-\u2113\u2115\u2119-\u211d\u2124"
    r"\u2126\u2128\u212a-\u212d\u212f-\u2134\u2139\u213c-\u213f\u2145-\u2149\u214e\u2183\u2184"
    r"\u2c00-\u2c7b\u2c7e-\u2ce4\u2ceb-\u2cee\u2cf2\u2cf3Ꙁ-ꙭꚀ-ꚛꜢ-ꝯꝱ-ꞇꞋ-ꞎ\uab70-\uabbfﬀ-ﬆﬓ-ﬗＡ-Ｚａ-ｚ"
    "𐐀-𐑏𐒰-𐓓𐓘-𐓻𐲀-𐲲𐳀-𐳲𑢠-𑣟𞤀-𞥃"
)
"""The cased letters, as DeepSeek's first tokenizer lists them."""


def _cased(letters: str, ends: str, digits: str) -> str:
    """Return a pattern for words of capital letters before other letters, where only A to Z and a to z have a
    case."""
    upper, lower = rf"(?:(?={letters})[^a-z])", rf"(?:(?={letters})[^A-Z])"
    head = r"[^\r\n\p{L}\p{N}]?"
    return (rf"{head}{upper}*{lower}+{ends}|{head}{upper}+{lower}*{ends}|{digits}"
            rf"| ?[^\s\p{{L}}\p{{N}}]+[\r\n/]*|{_SPACE}")


@dataclass(frozen=True, slots=True)
class Pre:
    """How llama.cpp cuts a text, for a value of `tokenizer.ggml.pre`.

    Attributes:
        cuts: The patterns, in the order of application; `GPT2` for that split.
        whole: True if a word that is a token becomes that token without merging.
        bos: True if a text begins with the BOS token, if the file does not say.
        marked: True if the tokens are text with ▁ for spaces, instead of byte letters.
        newlines: True if a run of newlines that is a token becomes that token.
        begins: True if each line begins with ▁, and each ▁ begins a word. It needs `marked`.
        remark: How the split differs from the model's own or from llama.cpp's; empty if it does not.
    """

    cuts: tuple[str, ...]
    whole: bool = False
    bos: bool = False
    marked: bool = False
    newlines: bool = False
    begins: bool = False
    remark: str = ""


_CASE = "not the model's own split: capital and small letters are told apart among A to Z alone"
_MARKS = f"{_CASE}, and a mark ends a word"
_NEWLINES = "llama.cpp cuts a run of more newlines than any token has otherwise"
_LONG_S = "llama.cpp does not treat ſ as an s after an apostrophe"
_SHARED: tuple[tuple[str, Pre], ...] = (
    ("default", Pre((r"[\p{P}\$\+<=>\^~\|]+", GPT2, r"\p{N}+", "[0-9][0-9][0-9]"))),
    ("llama3 llama-v3 llama-bpe falcon3 falcon-h1 pixtral midm-2.0 lfm2 jina-v5-nano",
     Pre((_LLAMA3,), whole=True, bos=True, remark=_LONG_S)),
    ("dbrx smaug-bpe chatglm-bpe", Pre((_LLAMA3,), remark=_LONG_S)),
    ("glm4 glm5", Pre((_LLAMA3,), whole=True, remark=_LONG_S)),
    ("k2-horizon", Pre((
        rf"{_LONE}|[^\r\n\p{{L}}\p{{N}}]?(?:\p{{L}}|\p{{M}}|\u200c|\u200d)+|\p{{N}}{{1,3}}|{_REST}",
    ), remark=_LONG_S)),
    ("minicpm5", Pre((r"\p{N}{1,3}", rf"{_LONE}|{_WORD}|\p{{N}}+|{_REST}"), whole=True)),
    ("gpt-2 phi-2 jina-es jina-de gigachat jina-v2-es jina-v2-de a.x-4.0 mellum modern-bert jina-v1-en "
     "jina-v2-code roberta-bpe mpt olmo jais trillion granite-docling exaone4", Pre((GPT2,))),
    ("starcoder refact command-r smollm codeshell exaone minerva-7b mellum2", Pre((r"\p{N}", GPT2))),
    ("qwen2 deepseek-r1-qwen kormo f2llmv2 megrez stablelm2 hunyuan solar-open grok-2", Pre((_QWEN2,))),
    ("qwen35", Pre((_QWEN35,))),
    ("laguna", Pre((r"[^\n]+|[\n]+", _QWEN2))),
    ("ufakzeka", Pre((rf"{_WORD}|\p{{N}}|{_REST}",))),
    ("seed-coder", Pre((rf"{_LONE}|{_WORD}|\p{{N}}| ?[^\s\p{{L}}\p{{N}}\r\n]+|{_SPACE}",))),
    ("bailingmoe bailingmoe2 llada-moe", Pre((
        rf"{_LONE}|{_WORD}|\p{{N}}| ?[^\s\p{{L}}\p{{N}}]+[\r\n]*|\s*[\r\n]|\s+(?!\S)|\s+",
    ))),
    ("jais-2", Pre((
        rf"{_LONE}|{_WORD}|\p{{N}}{{1,3}}| ?[^\s\p{{L}}\p{{N}}]+[\r\n]*|\s*[\r\n]+|"
        + "".join(rf"\s{{{size}}}(?!\S)|" for size in (512, 256, 128, 64, 32, 16, 8, 4))
        + r"\s{1,2}(?!\S)|\s{1}",
    ))),
    ("exaone-moe", Pre((
        rf"{_LONE}|[^\r\n\p{{L}}\p{{N}}]?(?:\p{{L}}\p{{M}}*(?: \p{{L}}\p{{M}}*)*)+|\p{{N}}"
        r"| ?[^\s\p{L}\p{N}]+[\r\n/]?|\s*[\r\n]|\s+(?!\S)|\s+",
    ))),
    ("tekken", Pre((_cased(r"\p{L}", "", r"\p{N}"),), whole=True, bos=True, remark=_MARKS)),
    ("gpt-4o llama4 kanana2 talkie minimax-m2",
     Pre((_cased(r"\p{L}", f"{_LONE}?", r"\p{N}{1,3}"),), remark=_MARKS)),
    ("granite-embed-multi-97m",
     Pre((_cased(r"[\p{L}\p{M}]", f"{_LONE}?", r"\p{N}{1,3}"),), whole=True, remark=_CASE)),
    ("deepseek-v3 hunyuan-dense joyai-llm hy_v4",
     Pre((r"\p{N}{1,3}", _KANA, rf"{_V3_WORDS}[\r\n]*|{_SPACE}"))),
    ("spark2_5", Pre((r"\p{N}{1,3}", _KANA, rf"{_V3_WORDS}|[\r\n]|\s+(?!\S)|\s+", r"\p{N}"))),
    ("deepseek-coder", Pre((r"[\r\n]", r"\s?\p{L}+", r"\s?\p{P}+", _HAN, r"\p{N}"))),
    ("falcon", Pre((r"[\p{P}\$\+<=>\^~\|`]+", GPT2, "[0-9][0-9][0-9]"),
                   remark="not the model's own split: a space stays with the one or two digits after it")),
    ("deepseek-llm", Pre((
        r"[\r\n]", rf"\s?[{_CASED}]+", r"\s?[!-/:-~！-／：-～‘-‟　-。]+", r"\s+$", _HAN, r"\p{N}+",
    ))),
    ("youtu", Pre((
        "[가-힣ㄱ-ㆎ]+|[！…“”‘’—：；，、-〿︰-﹏]+|[ㄅ-ㄯ]+|[一-龥぀-ゟ゠-ヿ]+",
        SPLITS["o200k"].pattern.replace("(?i:'s|'t|'re|'ve|'m|'ll|'d)", _LONE).replace(r"{1,3}", ""),
    ), whole=True)),
    ("chameleon", Pre((
        "<sentinel:[0-9]+>", "(IMGIMG)((A|B|C|D|E|F|G|H|I){1,4})Z", r"([\t\n]|    |  )", r"\p{N}",
        r"[\p{P}!-/:-@\[-`{-~]", GPT2,
    ), bos=True)),
    ("gemma4 granite-embed-multi-311m", Pre(
        (r"[^\n]+|[\n]+",), bos=True, marked=True, newlines=True,
        remark=_NEWLINES,
    )),
    ("mmbert", Pre((r"[^\n]+|[\n]+",), marked=True, newlines=True, begins=True, remark=_NEWLINES)),
    ("sarvam-moe", Pre((r"[^\n]+|[\n]+",), marked=True)),
    ("poro-chat bloom gpt3-finnish", Pre((_SENTENCE,))),
    ("viking", Pre((_SENTENCE, r"\p{N}"))),
    ("superbpe", Pre((r"\p{N}+", r"(?=(\d{3})+(?!\d))"))),
)
PRE: dict[str, Pre] = {name: pre for names, pre in _SHARED for name in names.split()}
"""The splits by their names in files."""
UNREAD = (
    "afmoe", "carbon", "cohere2moe", "domyn-small", "elmod", "kimi-k2", "tiny_aya", "whitespace",
)
"""Names of splits that are not in the table. Files with one are refused. `carbon`, `domyn-small` and `elmod`
were proposed for llama.cpp, and files have them, but no release of llama.cpp reads these names."""


def words(pre: Pre, text: str) -> list[str]:
    """Return the parts that llama.cpp cuts a text into.

    Raises:
        TokentuiError: A match takes too long.
    """
    parts = [text]
    for cut in pre.cuts:
        pattern = Pattern("Regex", SPLITS[GPT2].pattern if cut == GPT2 else cut).compiled
        parts = [inner for part in parts for inner in split(part, pattern, "Isolated", where="pre")]
    return parts
