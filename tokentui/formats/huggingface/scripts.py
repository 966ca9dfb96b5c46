"""The script of a character as Hugging Face's `UnicodeScripts` knows it: by the table of Unicode 9.

Hiragana, Katakana and ー count as Han. What was assigned later, what is not assigned and the space have no
script: they go with what stands before them.
"""

from __future__ import annotations

import functools
import itertools
from typing import Any

import regex

from tokentui.formats.huggingface.text import Text

_SCRIPTS = (
    "Adlm Aghb Ahom Arab Armi Armn Avst Bali Bamu Bass Batk Beng Bhks Bopo Brah Brai Bugi Buhd Cakm Cans "
    "Cari Cham Cher Copt Cprt Cyrl Deva Dsrt Dupl Egyp Elba Ethi Geor Glag Goth Gran Grek Gujr Guru Hang "
    "Hano Hatr Hebr Hluw Hmng Hung Ital Java Kali Khar Khmr Khoj Knda Kthi Lana Lao Latn Lepc Limb Lina "
    "Linb Lisu Lyci Lydi Mahj Mand Mani Marc Mend Merc Mero Miao Mlym Modi Mong Mro Mtei Mult Mymr Narb "
    "Nbat Newa Nko Ogam Olck Orkh Orya Osge Osma Palm Pauc Perm Phag Phli Phlp Phnx Prti Rjng Runr Samr "
    "Sarb Saur Sgnw Shaw Shrd Sidd Sind Sinh Sora Sund Sylo Syrc Tagb Takr Tale Talu Taml Tang Tavt Telu "
    "Tfng Tglg Thaa Thai Tibt Tirh Ugar Vai Wara Xpeo Xsux Yi Zinh"
)
_LATER = (
    "558 560 588 58b-58c 5c8-5c9 5ef 61d 7fd-7ff 860-89f 8b5 8be-8d3 9fc-9fe a76 afa-aff b53-b55 c04 c3c "
    "c5c-c5d c77 c84 cdc-cdd cf3-d00 d04 d3b-d3c d81 e86 e89 e8c e8e-e93 e98 ea0 ea8-ea9 eac eba ece 170d "
    "1715-171f 180f 1878 1abf-1af0 1b4c-1b4f 1b7d-1b7f 1c89-1cbf 1cf7 1cfa 1df6-1dfa 208f 209d-209f "
    "20bf-20c4 23ff 2427-2429 2b96-2b97 2bba-2bbc 2bc9 2bd2-2beb 2bf0-2bff 2c2f 2c5f 2e45-2e63 2ffc-2fff "
    "312e-312f 31bb-31bf 31e4-31ef 32ff 4db6-4dbf 9fd6-9fff a7af a7b8-a7f6 a82c a8fe-a8ff ab66-ab6d "
    "fbc2-fbd2 fd40-fd4f fd90-fd91 fdc8-fdcf fdfe-fdff 1019c 1032d-1032f 10780-107bf 10a34-10a35 10a48 "
    "10ec2-10eff 11070-11075 110c2-110cd 11144-11147 111ce-111cf 1123f-11241 1133b 1145a 1145e-11461 "
    "116b8-116b9 116d0-116e3 1171a 11740-11746 11ab0-11abf 11b00-11b67 11df0-11fff 1246f 12475-1247f "
    "12550-12686 1342f-143fa 16f45-16f4f 16f7f-16f87 16fe2-16ff6 187ed-187ff 18af3-1affe 1b002-1b168 "
    "1cc00-1cfc3 1d127-1d128 1d1e9-1d1ff 1d250-1d2f3 1d372-1d378 1d6a6 1db00-1dfff 1e030-1e7fe 1e94b "
    "1ec71-1ed3d 1f10d-1f10f 1f12f 1f16c-1f16f 1f1ad-1f1ae 1f260-1f265 1f6d3-1f6df 1f6f7-1f6fc "
    "1f774-1f77f 1f7d5-1f7ff 1f8b0-1f90f 1f91f 1f928-1f92f 1f931-1f932 1f93f 1f94c-1f94f 1f95f-1f97f "
    "1f992-1f9bf 1f9c1-1fbfa 2a6d7-2a6df 2b735-2b73f 2b81e 2cea2-2ee5d 30000-33479"
)
"""Ranges of characters of these scripts that Unicode 9 does not have."""
_CHANGED = {0x589: "Zyyy", 0x61C: "Zyyy", 0x953: "Deva", 0x954: "Deva"}
"""Characters whose script is another one since."""
_HAN = ("Hani", "Hira", "Kana")


def by_script(text: Text) -> list[Text]:
    """Cut a text where the script changes. What stands before the first character that has one is dropped."""
    cuts: list[int] = []
    last = ""
    for at, character in enumerate(text.text):
        script = _script(character)
        if script and script != last:
            cuts.append(at)
            last = script
    return [text.part(start, end) for start, end in itertools.pairwise([*cuts, len(text.text)])]


@functools.lru_cache(1 << 16)
def _script(character: str) -> str:
    """The script of a character by its ISO 15924 code, empty for none."""
    code = ord(character)
    if character == " " or code in _none():
        return ""
    match = _one_of().match(character)
    name = _CHANGED.get(code) or (str(match.lastgroup) if match else "")
    return "Hani" if name in _HAN or code == 0x30FC else name


@functools.cache
def _one_of() -> Any:
    names = f"{_SCRIPTS} Zyyy {' '.join(_HAN)}".split()
    return regex.compile("|".join(rf"(?P<{name}>\p{{Script={name}}})" for name in names))


@functools.cache
def _none() -> frozenset[int]:
    ranges = (part.partition("-") for part in _LATER.split())
    return frozenset(code for first, _, last in ranges
                     for code in range(int(first, 16), int(last or first, 16) + 1))
