"""The embedding matrices of a model: which tensors of which files they are, and their rows.

A model is a file of safetensors, a folder, or a repository of the hub, of which only the parts that are read
are fetched. Shards are listed in `model.safetensors.index.json`.
"""

from __future__ import annotations

import contextlib
import json
import os
import re
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, BinaryIO, NamedTuple

from tokentui.core import sandbox
from tokentui.core.errors import TokentuiError, shown, shown_path
from tokentui.core.files import names_in, open_regular, read_regular
from tokentui.core.jobs import tick
from tokentui.formats.safetensors import Header, Tensor, check_matrix, read_header, row_blocks
from tokentui.text import remote

INDEX, SINGLE, CONFIG = "model.safetensors.index.json", "model.safetensors", "config.json"
_END = ".safetensors"
_LARGEST_JSON = 64 << 20
_MOST_NAMES = 10_000
_NAME = re.compile(r"[\w.-]{1,200}", re.ASCII)
_LISTED = 8

INPUTS = (
    "model.embed_tokens", "language_model.model.embed_tokens", "model.language_model.embed_tokens",
    "embed_tokens", "transformer.wte", "wte", "model.transformer.wte", "gpt_neox.embed_in",
    "transformer.word_embeddings", "word_embeddings", "tok_embeddings", "model.tok_embeddings",
    "embeddings.word_embeddings", "embeddings.tok_embeddings", "embedding.word_embeddings",
    "transformer.embedding.word_embeddings", "transformer.token_embeddings", "shared", "backbone.embedding",
    "backbone.embeddings", "rwkv.embeddings", "model.embeddings", "model.word_embeddings",
)
"""Names of input matrices, without `.weight`: those of llama.cpp's table of tensors."""
OUTPUTS = (
    "lm_head", "language_model.lm_head", "embed_out", "output", "output_layer", "transformer.output_layer",
    "head", "head.decoder", "lm_head.linear", "model.transformer.ff_out", "word_embeddings_for_head",
)
"""Names of output matrices, without `.weight`."""


class Matrix(NamedTuple):
    """A matrix of a model.

    Attributes:
        tensor: The tensor.
        file: The name of its file.
    """

    tensor: Tensor
    file: str


@dataclass(frozen=True)
class Model:
    """The matrices of a model.

    Attributes:
        name: The name of the model as it was given.
        place: Opens its files.
        input: The input embedding.
        output: The output embedding; None if it is the input.
    """

    name: str
    place: Place
    input: Matrix
    output: Matrix | None
    _copies: dict[str, BinaryIO] = field(default_factory=dict)

    @property
    def size(self) -> int:
        """The bytes of all matrices."""
        return self.input.tensor.size + (self.output.tensor.size if self.output is not None else 0)

    def rows(self, matrix: Matrix, start: int = 0, stop: int | None = None) -> Iterator[tuple[int, Any]]:
        """Yield rows of a matrix in blocks, see `safetensors.row_blocks`. A remote matrix is fetched once."""
        tensor = matrix.tensor
        if self.place.is_remote:
            yield from row_blocks(self._copy(matrix), replace(tensor, start=0), matrix.file, start, stop)
            return
        with self.place.open(matrix.file) as stream:
            yield from row_blocks(stream, tensor, matrix.file, start, stop)

    def _copy(self, matrix: Matrix) -> BinaryIO:
        """Return a temporary file that has the bytes of a remote matrix."""
        tensor = matrix.tensor
        if tensor.name not in self._copies:
            copy = self._copies[tensor.name] = tempfile.TemporaryFile()  # noqa: SIM115 - kept
            with self.place.open(matrix.file) as stream:
                stream.seek(tensor.start)
                left = tensor.size
                while left:
                    tick(tensor.size - left, tensor.size)
                    part = stream.read(min(left, remote.BLOCK))
                    if not part:
                        raise TokentuiError("the download was interrupted", self.name, "try again")
                    copy.write(part)
                    left -= len(part)
        return self._copies[tensor.name]


class Place:
    """Where the files of a model are: a folder of this machine, or a repository of the hub.

    Args:
        name: The path of a file or a folder, or `hf:OWNER/NAME[@REVISION]`.

    Raises:
        TokentuiError: There is no such place.
    """

    def __init__(self, name: str) -> None:
        self.name = name
        self.only = ""
        """The only file that counts; empty if the place is a folder."""
        self._sizes: dict[str, int] = {}
        self._urls: dict[str, str] = {}
        if remote.is_remote(name):
            url = f"hf://{name[3:]}" if name.startswith("hf:") and not name.startswith("hf://") else name
            files, folder = remote.list_files(url)
            depth = min((file.url.count("/") for file in files), default=0)
            for file in files:  # those of subfolders are of other programs
                base = file.url.rpartition("/")[2]
                if file.size is not None and file.url.count("/") == depth:
                    self._urls[base], self._sizes[base] = file.url, file.size
            self.only = "" if folder else next(iter(self._urls), "")
            self._folder = ""
        elif sandbox.holds(name) and os.path.isdir(name):
            self._folder = name
            self._sizes = dict.fromkeys(names_in(name, _MOST_NAMES), -1)
        else:
            self._folder, self.only = os.path.split(name)
            self._sizes = {self.only: -1}

    @property
    def is_remote(self) -> bool:
        """True if the files are fetched."""
        return bool(self._urls)

    def has(self, file: str) -> bool:
        """Return whether there is a file."""
        return file in self._sizes

    def files(self) -> list[str]:
        """Return the names of the files of safetensors."""
        return [self.only] if self.only else sorted(file for file in self._sizes if file.endswith(_END))

    @contextlib.contextmanager
    def open(self, file: str) -> Iterator[BinaryIO]:
        """Open a file as a stream that seeks. Of a remote one, only the blocks that are read are fetched.

        Raises:
            TokentuiError: There is no such file.
        """
        if file not in self._sizes:
            what = f"the index names {shown(file)}, which is not there"
            raise TokentuiError(what, self.name, "download it too")
        if self._urls:
            with remote.open_range(self._urls[file], 0) as stream, remote.readable_errors(self._urls[file]):
                yield stream
            return
        with open_regular(os.path.join(self._folder, file)) as stream:
            yield stream

    def size(self, file: str, stream: BinaryIO) -> int:
        """Return the bytes of an open file."""
        known = self._sizes.get(file, -1)
        return os.fstat(stream.fileno()).st_size if known < 0 else known

    def json(self, file: str) -> Mapping[str, Any]:
        """Read a JSON object.

        Raises:
            TokentuiError: It is none.
        """
        if self._urls:
            with self.open(file) as stream:
                data = stream.read(_LARGEST_JSON + 1)
        else:
            data = read_regular(os.path.join(self._folder, file), most=_LARGEST_JSON + 1)
        try:
            found = json.loads(data) if len(data) <= _LARGEST_JSON else None
        except (ValueError, RecursionError):
            found = None
        if not isinstance(found, dict):
            raise TokentuiError("not a JSON object", os.path.join(self.name, file), "download it again")
        return found

    def header(self, file: str) -> Header:
        """Read the header of a file."""
        with self.open(file) as stream:
            return read_header(stream, self.size(file, stream), shown_path(file))


def open_model(name: str, ids: int, embedding: str = "", head: str = "") -> Model:
    """Find the embedding matrices of a model.

    Args:
        name: The path of a file or a folder, or `hf:OWNER/NAME`.
        ids: The number of ids of the tokenizer, which the matrices must have as rows at least.
        embedding: The name of the input matrix; empty to find it.
        head: The name of the output matrix; empty to find it.

    Raises:
        TokentuiError: There is no such model, a file is malformed, or the matrices are not clear.
    """
    place = Place(name)
    where = _tensors(place)
    tied = False
    if not place.only and place.has(CONFIG):
        config = place.json(CONFIG)
        text = config.get("text_config")
        tied = config.get("tie_word_embeddings") is True or (
            isinstance(text, dict) and text.get("tie_word_embeddings") is True
        )
    headers: dict[str, Header] = {}

    def matrix(tensor: str) -> Matrix:
        """Return a tensor that must be a matrix with a row for each id. Reads the header of its file once."""
        file = where[tensor]
        header = headers.get(file) or headers.setdefault(file, place.header(file))
        if tensor not in header.tensors:
            raise TokentuiError(f"it has no tensor {shown(tensor)}", file, "download it again")
        found = header.tensors[tensor]
        check_matrix(found, file)
        if found.shape[0] < ids:
            what = f"tensor {shown(tensor)} has {found.shape[0]:,} rows, and the tokenizer has {ids:,} ids"
            raise TokentuiError(what, file, "name the tokenizer of this model")
        return Matrix(found, file)

    first = _named(where, embedding, "--embedding") or _known(where, INPUTS)
    second = _named(where, head, "--head") or ("" if tied and not head else _known(where, OUTPUTS))
    if not first:
        wide = []
        for tensor in where:
            file = where[tensor]
            header = headers.get(file) or headers.setdefault(file, place.header(file))
            shape = header.tensors[tensor].shape if tensor in header.tensors else ()
            if len(shape) == 2 and shape[0] >= ids and tensor != second:
                wide.append(tensor)
        if len(wide) != 1:
            few = ", ".join(map(shown, wide[:_LISTED])) or "no matrix has enough rows"
            raise TokentuiError("no tensor is known as the input embedding", name, f"use --embedding: {few}")
        first = wide[0]
    return Model(name, place, matrix(first), matrix(second) if second and second != first else None)


def _tensors(place: Place) -> dict[str, str]:
    """Return the file of each tensor of a model, from its index or from its only file."""
    if not place.only and place.has(INDEX):
        listed = place.json(INDEX).get("weight_map")
        if not isinstance(listed, dict) or not all(isinstance(file, str) for file in listed.values()):
            raise TokentuiError("its weight_map does not name files", INDEX, "download it again")
        for file in listed.values():
            if not _NAME.fullmatch(file) or not file.endswith(_END):
                what = f"it names {shown(file)}, which is no file next to it"
                raise TokentuiError(what, INDEX, "download it again")
        return listed
    files = place.files()
    if SINGLE in files:
        files = [SINGLE]
    if len(files) != 1:
        what = f"{len(files)} files of safetensors and no {INDEX}" if files else "there are no safetensors"
        raise TokentuiError(what, place.name, "name a file")
    return dict.fromkeys(place.header(files[0]).tensors, files[0])


def _named(where: Mapping[str, str], name: str, option: str) -> str:
    if name and name not in where:
        raise TokentuiError("no such tensor", f"{option} {name}", "one of the names in the file")
    return name


def _known(where: Mapping[str, str], names: Sequence[str]) -> str:
    """Return the tensor with one of the known names, or with a prefix before one; empty if none is clear."""
    for name in names:
        if f"{name}.weight" in where:
            return f"{name}.weight"
    ends = tuple(f".{name}.weight" for name in names if "." in name)
    found = [tensor for tensor in where if tensor.endswith(ends)]
    return found[0] if len(found) == 1 else ""
