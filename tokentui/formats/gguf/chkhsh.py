"""The hash by which llama.cpp's converter recognizes a pre-tokenizer: that of the ids of one text.

The converter looks it up in a table and writes the name as `tokenizer.ggml.pre`. For an unknown hash it
reports that the "BPE pre-tokenizer was not recognized". The ids depend on the vocabulary too, so the hash
identifies a tokenizer, not a split. Source: ggml-org/llama.cpp, `conversion/base.py`, as of 2026.
"""

from __future__ import annotations

import hashlib

from tokentui.encode.tokenizer import Tokenizer

CHECK_TEXT = (
    "\n \n\n \n\n\n \t \t\t \t\n  \n   \n    \n     \n🚀 (normal) 😶\u200d🌫\ufe0f "
    "(multiple emojis concatenated) ✅ 🦙🦙 3 33 333 3333 33333 333333 3333333 33333333 3.3 3..3 3...3 "
    "កាន់តែពិសេសអាច😁 ?我想在apple工作1314151天～ "
    "------======= нещо на Български ''''''```````\"\"\"\"......!!!!!!?????? I've been 'told he's there, "
    "'RE you sure? 'M not sure I'll make it, 'D you like some tea? We'Ve a'lL"
)
_KNOWN = """
chatglm-bpe b6e8e1518dc4305b 81d72c7348a9f0eb
glm4 a1336059768a55c9 9ca2dd618e8afaf0 cdf5f35325780597
minerva-7b 1431a23e583c9743
hunyuan 7e57df22b1fe23a7
hunyuan-dense bba3b3366b646dbd
falcon-h1 a6b57017d60e6edb 60476e1243776c4f 3eda48b4c4dc7de7 48f8e02c0359c0bb
kimi-k2 81212dc7cdb7e0c1
kimi-k25 6990f1358c92b6ce
qwen2 d4540891389ea895 e636dc30a262dcc0
qwen35 1444df51289cfa80 d30d75d9059f1aa2
grok-2 66b8d4e19ab16c3b
jina-v2-de b3d1dd861f1d4c5c 27949a2493fc4a9f
gpt-2 0fe1cf6eda062318 3ce83efda5659b07
llama-bpe 0ef9807a4087ebef
deepseek-llm 049ecf7629871e30
deepseek-coder 347715f544604f91
falcon 8aeee3860c56296a
bert-bge 0876d13b50744004
falcon3 9d032fcbd5501f4a
bert-bge-large 8e62295832751ca1
mpt b6dc8df998e1cfbd
starcoder 35d91631860c815f
stablelm2 32d85c31273f8019
refact 6221ad2852e85ce9
command-r 9c2227e4dd922002
tiny_aya d772b220ace2baec
dbrx a8594e3edff7c29c
jina-v1-en c7699093ba4255a9
jina-v2-es 171aeeedd6fb548d
jina-v5-nano a023e9fdc5a11f03
smaug-bpe c136ed14d01c2745
poro-chat c7ea5862a53e4272
jina-v2-code 7967bfa498ade6b7
viking 7fc505bd3104ca10
jais b53802fb28e26d64
jais-2 bc5108ee1eb6a3d6
codeshell 7b3e7548e4308f52
tekken 63b97e4253352e6f
smollm 855059429035d75a
bloom 3c30d3ad1d6b6420
gpt3-finnish bc01ce58980e1db4
exaone 4e2b24cc4770243d
phi-2 fcace8b9cac38ce8
chameleon 60824e3c0d9401f8
roberta-bpe 8b5a93ed70405748
gigachat ad851be1dba641f2
megrez d4c8f286ea6b520b
deepseek-v3 877081d19cf6996e
deepseek-r1-qwen b3f499bb4255f8ca
gpt-4o ccc2ef013c104be7
superbpe 7dec86086fcc38b6
trillion 1994ffd01900cfb3
bailingmoe 96a5f08be6259352
llama4 d353350c764d8c3b
pixtral 0e9433cbbb161f89
seed-coder d5f1dd6f980fec56
a.x-4.0 b0a6b1c0bd5998eb
midm-2.0 f6791d196f87ce6b
lfm2 169bf0296a13c4d9 9e454714343b69b9
exaone4 2085e1638f6c377a
mellum a1e163ecab2e718a
modern-bert a0b64b4385f12366
afmoe 49fc0303c9e0d2c2
bailingmoe2 9b1be57e70d20d95
granite-docling 53e325976a6e1423
minimax-m2 f4f37b6c8eb9ea29
kormo 4a2e2abae11ca2b8
youtu 9d70134b369a70e5
solar-open 16389f0a1f51ee53
exaone-moe 6c81ce329e080288
joyai-llm b4b8ca1f9769494f
kanana2 e4d54df1ebc1f2b9
f2llmv2 862f827721df9560
sarvam-moe 62f6fb0a6fd5098c
ufakzeka 653660222fb704f6
laguna 972da7b59cec44d1
mellum2 9dcf830ee9990cdb
granite-embed-multi-311m 789696f5946cc0fc
granite-embed-multi-97m f241072145675bf8
minicpm5 36f3066e97b7f399
talkie f728162c1315c26e
cohere2moe 52df12b4c8d4176e
spark2_5 0a766d034107bc73
gemma4 846deafc5b0fa786
hy_v4 e6ddf9c6686791c1
"""
"""The first 16 digits of the known hashes, after the name of each."""
_DIGITS = 16
HASHES: dict[str, str] = {
    digits: name for name, *hashes in map(str.split, _KNOWN.strip().splitlines()) for digits in hashes
}


def chkhsh(tokenizer: Tokenizer) -> str:
    """Return the hash of a tokenizer: the SHA-256 of the ids of `CHECK_TEXT` with special tokens around it,
    written as a Python list."""
    ids = tokenizer.encode(CHECK_TEXT, special_tokens=True, allow_special=True).ids
    return hashlib.sha256(str(list(ids)).encode()).hexdigest()


def known_as(digest: str) -> str:
    """Return the name of a hash in llama.cpp's converter; empty for an unknown one."""
    return HASHES.get(digest[:_DIGITS], "")
