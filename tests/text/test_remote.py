"""Corpora and tokenizers by URL: a web server, an S3 server, a stand-in of the hub, all on this machine."""

from __future__ import annotations

import gzip
import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import gguf_files
import pytest
from gguf_files import gguf, vocabulary
from safetensors_files import model as weights
from servers import ENDLESS, Web, hub, serving, web

import tokentui
from tokentui.core import limits
from tokentui.core.errors import TokentuiError
from tokentui.text import remote
from tokentui.text.remote import SCHEMES, base_name, check_redirect, is_remote, scheme_of, shown

TEXT = "the crowd, ünder a tree\r\nand then some 🌳\n" * 40
IN_BUFFERS = 64 << 20
"""The most bytes that a server sends to a reader that has stopped: Linux may buffer 36 MiB of them."""
pytest.importorskip("fsspec", reason="the extra remote is not installed")


@pytest.fixture(scope="module")
def server() -> Iterator[tuple[str, type[Web]]]:
    pytest.importorskip("aiohttp", reason="the extra remote is not installed")
    kind = web({
        "/a.txt": TEXT.encode(), "/b.txt.gz": gzip.compress(TEXT.encode()),
        "/rows.jsonl": b'{"t": "one"}\n{"t": "two"}\n',
        "/hug.counts.tsv": b"hug\t10\npug\t5\n", "/bomb.gz": gzip.compress(bytes(1 << 25)),
        "/page.txt": b"<!doctype html><html></html>", "/big.txt": b"x" * (3 << 20),
    })
    kind.status |= {"/secret.txt": 403, "/who.txt": 401, "/ill.txt": 500}
    with serving(kind) as url:
        kind.moved |= {"/old.txt": "/a.txt", "/file.txt": "file:///etc/passwd", "/loop.txt": "/loop.txt"}
        yield url, kind


@pytest.fixture
def limited() -> Iterator[None]:
    yield
    limits.use(None)


@pytest.mark.slow
def test_a_url_is_read_as_the_file_is(server: tuple[str, type[Web]], tmp_path: Path) -> None:
    url, _ = server
    (tmp_path / "a.txt").write_bytes(TEXT.encode())
    there, here = tokentui.read(f"{url}/a.txt"), tokentui.read(tmp_path / "a.txt")
    assert (there.name, there.documents, there.sha256) == (here.name, here.documents, here.sha256)
    assert tokentui.read(f"{url}/b.txt.gz").documents == here.documents
    assert tokentui.read(f"{url}/rows.jsonl", field="t").documents == ("one", "two")
    assert tokentui.read(f"{url}/hug.counts.tsv").counts == (("hug", 10), ("pug", 5))
    assert tokentui.read([f"{url}/a.txt", f"{url}/old.txt"]).documents == (TEXT, TEXT)
    assert tokentui.read(f"{url}/page.txt").notes[0].startswith("page.txt looks like an HTML page")


@pytest.mark.parametrize(("path", "what"), [
    ("/none.txt", "no such file"), ("/secret.txt", "no permission to read it"),
    ("/who.txt", "no permission to read it"), ("/ill.txt", "the server returned error 500"),
    ("/file.txt", "it sends the reader to file://, which is not followed"),
    ("/loop.txt", "it redirects in a loop"),
])
@pytest.mark.slow
def test_a_server_that_sends_nothing_is_reported_in_one_line(
    server: tuple[str, type[Web]], path: str, what: str
) -> None:
    with pytest.raises(TokentuiError) as told:
        tokentui.read(server[0] + path)
    assert (told.value.what, told.value.where) == (what, server[0] + path)


def test_a_server_that_does_not_answer_is_reported_in_one_line() -> None:
    with serving(web({})) as url:
        pass
    with pytest.raises(TokentuiError, match="the server does not respond"):
        tokentui.read(f"{url}/a.txt")


def test_remote_files_obey_the_limits(server: tuple[str, type[Web]], limited: None) -> None:
    url, kind = server
    # Python decides how much of the bomb's 32 kB is read at a time; 4 times that is less than 2 MB.
    set_ = ["stream-bytes=1M", "corpus-bytes=2M", "packed-bytes=1M", "packed-ratio=4", "file-bytes=1K"]
    limits.use(limits.now().with_words(set_, ""))
    kind.sent = 0
    with pytest.raises(TokentuiError, match=r"3,145,728 bytes are too many.*corpus-bytes"):
        tokentui.read(f"{url}/big.txt")
    assert kind.sent == 0
    with pytest.raises(TokentuiError, match="packed-ratio"):
        tokentui.read(f"{url}/bomb.gz")
    with pytest.raises(TokentuiError, match="file-bytes"):
        tokentui.load(f"{url}/big.txt")
    kind.sent = 0
    with pytest.raises(TokentuiError, match=r"more than 1,048,576 bytes.*stream-bytes"):
        tokentui.read(url + ENDLESS)
    assert kind.sent < IN_BUFFERS


@pytest.mark.parametrize("url", [
    "file:///etc/passwd", "local:///etc/passwd", "ftp://host/a", "memory://a", "zip://a::https://host/b.zip",
    "simplecache::https://host/a", "https://host/a::file:///etc/passwd", "github://a:b@/c", "reference://x",
])
def test_unknown_schemes_are_refused(url: str) -> None:
    with pytest.raises(TokentuiError):
        tokentui.read(url)


def test_secrets_in_a_url_are_not_shown() -> None:
    url = "https://user:word@host/a%20b.txt?X-Signature=secret#frag"
    assert shown(url) == "https://host/a%20b.txt"
    assert base_name(url) == "a b.txt"
    assert base_name("https://user:word@host") == "host"
    assert "\x1b" not in shown("https://host/\x1b[2J.txt") + base_name("https://host/%1b%5b2J.txt")
    with pytest.raises(TokentuiError) as told:
        scheme_of("ftp://user:word@host/a")
    assert "word" not in str(told.value)


@pytest.mark.parametrize(("one", "other", "followed"), [
    ("https://a.org/x", "https://cdn.net/y", True), ("http://a.org/x", "https://a.org/x", True),
    ("https://a.org/x", "http://a.org/x", False), ("https://a.org/x", "ftp://a.org/x", False),
    ("https://a.org/x", "https://127.0.0.1/x", False),
    ("http://a.org/x", "http://169.254.169.254/latest", False),
    ("http://a.org/x", "http://[::1]/x", False), ("http://a.org/x", "http://localhost:1/x", False),
    ("http://127.0.0.1:1/x", "http://127.0.0.1:1/y", True),
])
def test_redirects_do_not_surprise(one: str, other: str, followed: bool) -> None:
    if followed:
        check_redirect(one, other)
        return
    with pytest.raises(TokentuiError, match="which is not followed"):
        check_redirect(one, other)


def test_without_the_extra_there_is_a_line(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "fsspec", None)
    with pytest.raises(TokentuiError, match=r"fsspec, which is not installed .*tokentui\[remote\]"):
        tokentui.read("https://host/a.txt")
    monkeypatch.setitem(sys.modules, "huggingface_hub", None)
    with pytest.raises(TokentuiError, match=r"huggingface_hub is not installed .*tokentui\[remote\]"):
        tokentui.load("hf:owner/name")


def test_a_scheme_whose_package_is_missing_is_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "gcsfs", None)
    with pytest.raises(TokentuiError, match="gcsfs is not installed"):
        tokentui.read("gs://bucket/a.txt")


def test_every_scheme_is_a_place() -> None:
    assert all(is_remote(f"{name}://x/y") for name in SCHEMES)
    assert is_remote("hf:owner/name")
    assert not is_remote("a/b.txt")
    assert not is_remote(Path("https://host/a"))


def test_a_tokenizer_by_url(server: tuple[str, type[Web]], tmp_path: Path) -> None:
    url, kind = server
    made = tokentui.train("sample:hugs", "gpt2", merges=4)
    made.save(tmp_path / "own.json")
    kind.files["/own.json"] = (tmp_path / "own.json").read_bytes()
    assert tokentui.load(f"{url}/own.json").encode("hugs").ids == made.encode("hugs").ids
    with pytest.raises(TokentuiError, match="not a supported tokenizer file"):
        tokentui.load(f"{url}/a.txt")


def test_of_a_gguf_file_the_tensors_are_not_fetched(server: tuple[str, type[Web]], limited: None) -> None:
    url, kind = server
    letters = [chr(0x61 + number) for number in range(26)]
    values = gguf_files.vocabulary("gpt2", [*letters, "ab"], [1] * 27, merges=["a b"], pre="gpt-2")
    kind.files["/model.gguf"] = gguf_files.gguf(values, tensors=1) + bytes(IN_BUFFERS)
    limits.use(limits.now().with_words(["file-bytes=8M"], ""))
    kind.sent = 0
    assert tokentui.load(f"{url}/model.gguf").encode("abc").ids == (26, 2)
    assert kind.sent < IN_BUFFERS


def test_count_reads_parts_of_a_url(server: tuple[str, type[Web]], tmp_path: Path, limited: None) -> None:
    from tokentui.preset_table import preset_named
    from tokentui.text.count import count
    from tokentui.text.plan import plan
    from tokentui.text.tally import Store, count_here

    url, kind = server
    recipe, text = preset_named("gpt2").recipe, TEXT.encode() * 90
    kind.files["/long.txt"] = text
    limits.use(limits.now().with_words(["part-bytes=32K"], ""))
    wanted = count(tokentui.read(f"{url}/long.txt"), recipe)
    for ranges in (True, False):
        kind.ranges = ranges
        planned = plan([f"{url}/long.txt"], recipe, None, "text")
        assert (len(planned.parts) > 3) is ranges
        with Store(1 << 20) as store:
            count_here(planned, recipe, "text", store)
            assert list(store.rows()) == list(zip(wanted.words, wanted.counts, strict=True))
    kind.ranges = True


# ---- S3, by moto's server


@pytest.fixture(scope="module")
def s3() -> Iterator[str]:
    """The address of an S3 server with two texts in a bucket, and a third that is hidden."""
    pytest.importorskip("s3fs", reason="s3fs is not installed")
    pytest.importorskip("moto", reason="moto is not installed")
    script = (
        "import sys; from moto.server import ThreadedMotoServer; import botocore.session\n"
        "server = ThreadedMotoServer('127.0.0.1', 0, verbose=False); server.start()\n"
        "host, port = server.get_host_and_port()\n"
        "url = f'http://127.0.0.1:{port}'\n"
        "client = botocore.session.get_session().create_client('s3', endpoint_url=url,\n"
        "    aws_access_key_id='x', aws_secret_access_key='y', region_name='us-east-1')\n"
        "client.create_bucket(Bucket='texts')\n"
        "for name, text in (('en/a.txt', b'one two'), ('en/b.txt', b'two three'), ('en/.no.txt', b'four')):\n"
        "    client.put_object(Bucket='texts', Key=name, Body=text)\n"
        "print(url, flush=True); sys.stdin.read(); server.stop()\n"
    )
    process = subprocess.Popen([sys.executable, "-W", "ignore", "-c", script], stdin=subprocess.PIPE,
                               stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    assert process.stdout is not None
    assert process.stdin is not None
    url = process.stdout.readline().decode().strip()
    try:
        assert url
        yield url
    finally:
        process.stdin.close()
        process.wait()
        process.stdout.close()


def _in_s3(url: str, code: str) -> str:
    """What Python prints of code that reads from the S3 server; a process of its own, since s3fs reads its
    settings when it is loaded."""
    environment = os.environ | {
        "AWS_ENDPOINT_URL": url, "AWS_ACCESS_KEY_ID": "x", "AWS_SECRET_ACCESS_KEY": "y",
        "AWS_DEFAULT_REGION": "us-east-1",
    }
    done = subprocess.run([sys.executable, "-c", f"import tokentui\n{code}"], env=environment, text=True,
                          capture_output=True, check=False)
    return done.stdout + done.stderr[-2000:]


@pytest.mark.slow
def test_s3_files_globs_and_folders(s3: str) -> None:
    code = (
        "for name in ('texts/en/a.txt', 'texts/en/*.txt', 'texts/en', 'texts/en/none.txt', 'no/a'):\n"
        "    try:\n        corpus = tokentui.read('s3://' + name); print(corpus.name, corpus.documents)\n"
        "    except tokentui.TokentuiError as error: print(error)\n"
    )
    assert _in_s3(s3, code).splitlines() == [
        "a.txt ('one two',)", "*.txt ('one two', 'two three')", "en/ ('one two', 'two three')",
        "s3://texts/en/none.txt: no such file (check the name)", "s3://no/a: no such file (check the name)",
    ]


# ---- a stand-in of the hub


def _with_hub(url: str, home: Path, code: str, **more: str) -> str:
    environment = os.environ | {"HF_ENDPOINT": url, "HF_HOME": str(home), "HF_HUB_DISABLE_XET": "1", **more}
    done = subprocess.run([sys.executable, "-c", f"import tokentui\n{code}"], env=environment, text=True,
                          capture_output=True, check=False)
    return done.stdout + done.stderr[-2000:]


_ASK = (
    "import sys\n"
    "def ask(call, name):\n"
    "    try: return call(name)\n"
    "    except tokentui.TokentuiError as error: print(error)\n"
)


@pytest.mark.slow
def test_tokenizers_and_datasets_of_the_hub(tmp_path: Path) -> None:
    pytest.importorskip("huggingface_hub", reason="the extra remote is not installed")
    made = tokentui.train("sample:hugs", "gpt2", merges=4)
    made.save(tmp_path / "tokenizer.json", "huggingface")
    file = (tmp_path / "tokenizer.json").read_bytes()
    kind = hub({
        "models/owner/one": {"tokenizer.json": file}, "models/owner/none": {"README.md": b"x"},
        "models/owner/gated": {"tokenizer.json": file}, "datasets/owner/texts": {"a.txt": b"one two"},
    })
    kind.gated.add("models/owner/gated")
    code = _ASK + (
        "print(ask(tokentui.load, 'hf:owner/one').encode('hugs').ids)\n"
        "for name in ('none', 'gated', 'missing'): ask(tokentui.load, 'hf:owner/' + name)\n"
        "ask(tokentui.load, 'hf:../etc/passwd')\n"
        "print(ask(tokentui.read, 'hf://datasets/owner/texts/a.txt').documents)\n"
        "ask(tokentui.read, 'hf://datasets/owner/missing/a.txt')\n"
    )
    home = tmp_path / "home"
    with serving(kind) as url:
        lines = _with_hub(url, home, code).splitlines()
        small = _with_hub(url, tmp_path / "other", _ASK + "ask(tokentui.load, 'hf:owner/one')",
                          TOKENTUI_LIMITS="file-bytes=100")
    assert lines[0] == str(made.encode("hugs").ids)
    assert lines[1].startswith("hf:owner/none: this repository contains no tokenizer file")
    assert lines[2].startswith("hf:owner/gated: no permission to read it")
    assert lines[3].startswith("hf:owner/missing: no such repository, or no permission to read it")
    assert lines[4].startswith("hf:../etc/passwd: not a hub repository")
    assert lines[5] == "('one two',)"
    assert lines[6].startswith("hf://datasets/owner/missing/a.txt: ")
    assert "the limit is 100 (--limit file-bytes" in small
    # the server is gone: what was fetched is taken, and of the rest one line is told
    after = _with_hub(url, home, code).splitlines()
    assert after[0] == lines[0]
    assert "hf:owner/none: " in after[1]
    assert "does not respond" in after[1] or "no network" in after[1]


def _of_repositories(asked: list[str]) -> list[str]:
    """The requests that name a repository: huggingface_hub may ask for more."""
    return [line for line in asked if "/owner/" in line]


@pytest.mark.slow
def test_a_repository_reads_as_a_folder_with_and_without_a_network(tmp_path: Path) -> None:
    pytest.importorskip("huggingface_hub", reason="the extra remote is not installed")
    made = tokentui.train("sample:hugs", "gpt2", merges=4)
    made.save(tmp_path, "gpt2")
    kind = hub({"models/owner/pair": {
        "vocab.json": (tmp_path / "vocab.json").read_bytes(),
        "merges.txt": (tmp_path / "merges.txt").read_bytes(),
        "tokenizer_config.json": b'{"added_tokens_decoder": {"400": {"content": "<s>", "special": true}}}',
    }})
    code = "print(tokentui.load('hf:owner/pair').encode('<s>hugs', allow_special=True).ids)"
    with serving(kind) as url:
        online = _with_hub(url, tmp_path / "home", code)
        first, kind.asked[:] = _of_repositories(kind.asked), []
        assert _with_hub(url, tmp_path / "home", code) == online
    assert online == f"{(400, *made.encode('hugs').ids)}\n"
    assert [line for line in first if "/resolve/" not in line] == ["GET /api/models/owner/pair"]
    assert {line.rpartition("/")[2] for line in first[1:]} == {*kind.repos["models/owner/pair"]}
    assert _of_repositories(kind.asked) == ["GET /api/models/owner/pair"], "files of a known commit are kept"
    assert _with_hub(url, tmp_path / "home", code) == online


@pytest.mark.slow
def test_a_repository_of_gguf_files(tmp_path: Path) -> None:
    """Of several precisions of a model the smallest is read, header only; parts without a tokenizer are not.
    """
    pytest.importorskip("huggingface_hub", reason="the extra remote is not installed")
    tokens = [*(chr(code) for code in range(33, 127)), "Ġ", "he", "<s>"]
    kinds = [1] * (len(tokens) - 1) + [3]
    values = vocabulary("gpt2", tokens, kinds, merges=["h e"], pre="gpt-2", bos_token_id=len(tokens) - 1)
    template = "{{ bos_token }}{% for m in messages %}{{ m.content }}{% endfor %}"
    model = gguf(values | {"tokenizer.chat_template": template})
    kind = hub({"models/owner/model": {
        "README.md": b"x", "mmproj-model.gguf": b"GGUF", "model-F16-00002-of-00002.gguf": b"GGUF",
        "model-Q8_0.gguf": model + bytes(1 << 27), "model-Q4_K_M.gguf": model + bytes(1 << 26),
    }})
    (tmp_path / "chat.json").write_text('[{"role": "user", "content": "he"}]')
    line = ("encode", "-t", "hf:owner/model", "--chat", str(tmp_path / "chat.json"), "-q")
    code = (
        "from tokentui.formats.folder import model_folder\n"
        "print(model_folder('hf:owner/model').file)\n"
        "print(tokentui.load('hf:owner/model').encode('he').tokens)\n"
        f"from tokentui.cli.main import run\nrun({list(line)})"
    )
    with serving(kind) as url:
        lines = _with_hub(url, tmp_path / "home", code).splitlines()
    assert lines[:2] == ["hf://owner/model/model-Q4_K_M.gguf", "('he',)"]
    assert lines[2] == f"{len(tokens) - 1} {len(tokens) - 2}"
    assert kind.sent < 1 << 26, "the tensors are not fetched"


@pytest.mark.slow
def test_of_a_model_only_the_matrices_are_fetched(tmp_path: Path) -> None:
    pytest.importorskip("huggingface_hub", reason="the extra remote is not installed")
    made = tokentui.train("sample:hugs", "gpt2", merges=4)
    made.save(tmp_path / "tokenizer.json", "huggingface")
    rows = [[float(n), 1.0] for n in range(made.vocab_size)]
    first = weights({"wte.weight": (rows, "F32"), "layer.weight": ([[0.0] * (1 << 20)] * 8, "F32")})
    kind = hub({"models/owner/model": {
        "tokenizer.json": (tmp_path / "tokenizer.json").read_bytes(), "1_Pooling/model.safetensors": b"x",
        "model-1.safetensors": first, "model-2.safetensors": weights({"lm_head.weight": (rows, "F32")}),
        "model.safetensors.index.json": json.dumps({"weight_map": {
            "wte.weight": "model-1.safetensors", "layer.weight": "model-1.safetensors",
            "lm_head.weight": "model-2.safetensors",
        }}).encode(),
    }})
    line = ("inspect", "-t", "hf:owner/model", "--glitch", "--weights", "hf:owner/model")
    with serving(kind) as url:
        told = _with_hub(url, tmp_path / "home", f"from tokentui.cli.main import run\nrun({list(line)})")
    assert f"hf:owner/model: reads {2 * 8 * made.vocab_size:,} bytes of its matrices" in told
    assert f"{made.vocab_size:,} rows of 2 numbers (F32); input and output are two matrices" in told
    assert kind.sent < 1 << 25, "other tensors are not fetched"


@pytest.mark.slow
def test_the_shipped_line_of_the_remote_extra_names_what_schemes_need() -> None:
    text = (Path(remote.__file__).parents[2] / "pyproject.toml").read_text()
    extra = text[text.index("\nremote = [") :].partition("\n]")[0]
    assert all(SCHEMES[name].needs in extra for name in ("https", "s3", "hf"))
