"""Names from other libraries, with the expression that does the same here.

Users of Hugging Face's libraries, tiktoken and sentencepiece try these names first. They are not aliases: an
error names the expression, so that each thing has one name.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, NoReturn, ParamSpec, TypeVar

P = ParamSpec("P")
R = TypeVar("R")

_LOAD = "tokentui.load(path)"
_TRAIN = "tokentui.train(corpus, recipe)"
_ENTRIES = "tokenizer.entries()"
_SIZE = "tokenizer.vocab_size"
_IDS = "tokenizer.encode_ids(text)"
_TOKENS = "tokenizer.encode(text).tokens"
_AROUND = "tokenizer.encoder.around"
_SPECIALS = "tokenizer.vocabulary.specials"

_PADDED = "tokenizer.encode_padded(texts"

TOKENIZER: Mapping[str, str] = {
    # Hugging Face
    "from_file": _LOAD, "from_pretrained": "tokentui.load('hf:OWNER/NAME')",
    "from_str": _LOAD, "from_buffer": _LOAD,
    "to_str": "tokenizer.save(path, 'huggingface')", "save_pretrained": "tokenizer.save(path, 'huggingface')",
    "save_model": "tokenizer.save(path, format)",
    "get_vocab": f"{{token.text: token.id for token in {_ENTRIES}}}",
    "vocab": f"{{token.text: token.id for token in {_ENTRIES}}}", "get_vocab_size": _SIZE,
    "get_added_tokens_decoder": _SPECIALS, "all_special_tokens": _SPECIALS, "all_special_ids": _SPECIALS,
    "add_tokens": "tokenizer.edited(add=[...]).tokenizer",
    "add_special_tokens": "tokenizer.edited(special=[...]).tokenizer",
    "tokenize": _TOKENS, "encode_plus": "tokenizer.encode(text)",
    "batch_encode_plus": "tokenizer.encode_batch(texts)", "batch_decode": "tokenizer.decode_batch(ids)",
    "convert_tokens_to_ids": "tokenizer.token_to_id(token)",
    "convert_ids_to_tokens": "tokenizer.id_to_token(id)",
    "enable_padding": f"{_PADDED}, pad_id=id)", "enable_truncation": f"{_PADDED}, max_length=n)",
    "pad": f"{_PADDED}, pad_id=id)",
    "train": _TRAIN, "train_from_iterator": "tokentui.train(texts=texts, recipe=recipe)",
    "train_new_from_iterator": "tokentui.train(texts=texts, recipe=tokenizer.recipe)",
    "model": "tokenizer.recipe", "normalizer": "tokenizer.recipe.normalize",
    "pre_tokenizer": "tokenizer.recipe.split", "post_processor": _AROUND,
    "bos_token_id": _AROUND, "eos_token_id": _AROUND, "unk_token_id": "tokenizer.vocabulary.unknown_id",
    # tiktoken
    "n_vocab": _SIZE, "max_token_value": "tokenizer.decoder.bounds",
    "encode_ordinary": f"{_IDS}: the name of a special token is text by default",
    "encode_ordinary_batch": "tokenizer.encode_batch(texts)", "encode_to_numpy": _IDS,
    "encode_with_unstable": "tokenizer.prefix_stability(text)",
    "encode_single_token": "tokenizer.token_to_id(token)",
    "decode_single_token_bytes": "tokenizer.decode_bytes([id])",
    "decode_tokens_bytes": "[tokenizer.decode_bytes([id]) for id in ids]",
    "decode_with_offsets": "tokenizer.encode(text).offsets",
    "token_byte_values": f"[token.piece for token in {_ENTRIES}]", "special_tokens_set": _SPECIALS,
    "eot_token": "tokenizer.token_to_id('<|endoftext|>')",
    # sentencepiece
    "Load": _LOAD, "LoadFromFile": _LOAD, "EncodeAsIds": _IDS, "encode_as_ids": _IDS,
    "EncodeAsPieces": _TOKENS, "encode_as_pieces": _TOKENS,
    "DecodeIds": "tokenizer.decode(ids)", "decode_ids": "tokenizer.decode(ids)",
    "PieceToId": "tokenizer.token_to_id(token)", "piece_to_id": "tokenizer.token_to_id(token)",
    "IdToPiece": "tokenizer.id_to_token(id)", "id_to_piece": "tokenizer.id_to_token(id)",
    "GetPieceSize": _SIZE, "get_piece_size": _SIZE, "piece_size": _SIZE,
    "GetScore": f"token.score of {_ENTRIES}", "get_score": f"token.score of {_ENTRIES}",
    "SampleEncodeAsIds": "tokenizer.sample(text).ids", "NBestEncodeAsIds": "tokenizer.segmentations(text)",
    "bos_id": _AROUND, "eos_id": _AROUND, "unk_id": "tokenizer.vocabulary.unknown_id",
}
"""Names of attributes of a tokenizer."""

ENCODING: Mapping[str, str] = {
    "input_ids": "encoding.ids", "word_ids": "encoding.words", "type_ids": "encoding.words",
    "special_tokens_mask": "encoding.words: -1 is a special token", "attention_mask": "encoding.ids",
    "char_to_token": "encoding.offsets", "token_to_chars": "encoding.offsets",
    "char_to_word": "encoding.words", "token_to_word": "encoding.words",
}
"""Names of attributes of an encoding."""

MODULE: Mapping[str, str] = {
    "from_file": _LOAD, "from_pretrained": "tokentui.load('hf:OWNER/NAME')", "AutoTokenizer": _LOAD,
    "PreTrainedTokenizerFast": _LOAD, "get_encoding": "tokentui.load(path, split='cl100k')",
    "encoding_for_model": "tokentui.load(path, split='cl100k')", "SentencePieceProcessor": _LOAD,
    "SentencePieceTrainer": "tokentui.train(corpus, 'sentencepiece-unigram')",
    "BpeTrainer": "tokentui.train(corpus, 'gpt2')", "WordPieceTrainer": "tokentui.train(corpus, 'bert')",
    "UnigramTrainer": "tokentui.train(corpus, 't5')", "DecodeStream": "tokentui.Tokenizer.decode_stream",
}
"""Names of the module."""

KEYWORDS: Mapping[str, str] = {
    "add_special_tokens": "special_tokens=True adds them; they are left out by default",
    "add_bos": "special_tokens=True", "add_eos": "special_tokens=True",
    "allowed_special": "allow_special=True", "disallowed_special": "allow_special=False, the default",
    "skip_special_tokens": f"leave out the ids of {_SPECIALS}; decoding keeps them",
    "clean_up_tokenization_spaces": "tokenizer.decode(ids) decodes as the file says",
    "errors": "tokenizer.decode_bytes(ids).decode(errors=...)",
    "return_offsets_mapping": "tokenizer.encode(text).offsets",
    "out_type": f"{_IDS}, or {_TOKENS}", "enable_sampling": "tokenizer.sample(text)",
    "truncation": f"{_PADDED}, max_length=n)", "max_length": f"{_PADDED}, max_length=n)",
    "padding": f"{_PADDED}, pad_id=id)", "padding_side": f"{_PADDED}, pad_id=id, side='left')",
    "pad_to_multiple_of": f"{_PADDED}, pad_id=id, multiple_of=8)",
    "return_overflowing_tokens": f"{_PADDED}, max_length=n, stride=0)",
    "return_tensors": f"{_IDS}, which is a buffer of numbers",
}
"""Names of arguments of `encode`, `encode_ids`, `encode_batch` and `decode`."""


def refuse_name(owner: str, name: str, names: Mapping[str, str]) -> NoReturn:
    """Raise for an attribute that does not exist.

    Raises:
        AttributeError: Always. For a name of another library, the message has the expression.
    """
    if name not in names:
        raise AttributeError(f"{owner} has no attribute {name!r}")
    # An error that has a name, but no object, gets no suggestion of Python behind this one.
    raise AttributeError(f"{owner} has no attribute {name!r} (use {names[name]})", name=name)


class Hinting(type):
    """Metaclass that raises a helpful error for names of other libraries, such as `Tokenizer.from_file`."""

    if not TYPE_CHECKING:  # a type checker goes on reporting names that are not there

        def __getattr__(cls, name: str) -> NoReturn:
            refuse_name(f"type object {cls.__name__!r}", name, TOKENIZER)


def hinting(method: Callable[P, R]) -> Callable[P, R]:
    """Return a method that raises a helpful error for arguments of other libraries.

    Raises:
        TypeError: An argument does not exist.
    """

    @functools.wraps(method)
    def call(*args: P.args, **kwargs: P.kwargs) -> R:
        try:
            return method(*args, **kwargs)
        except TypeError:
            for name in kwargs.keys() & KEYWORDS.keys():
                what = f"{method.__name__}() has no argument {name!r} (use {KEYWORDS[name]})"
                raise TypeError(what) from None
            raise

    return call
