"""Compile kernels, for developers: `make kernels`. It needs the tools in `toolchain.lock`.

`make kernels-local` compiles them for this system alone, with any version of Numba and a C compiler.

Numba turns each kernel into LLVM's code. All of them become one module, with a function of plain C arguments
for each kernel, which is optimised and translated for each system of `SYSTEMS`. What `core/native.py` opens
is a shared library of that code alone: it takes functions such as log from the process that opens it.

With `_TOKENTUI_TEST_KERNELS=numba` tests run the same sources compiled by Numba in the process.
"""

from __future__ import annotations

import contextlib
import ctypes
import functools
import importlib
import importlib.util
import json
import os
import shlex
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterable, Sequence
from importlib import metadata
from pathlib import Path
from types import FunctionType
from typing import Any, TypeAlias

from tokentui.core import engines, native, provenance
from tokentui.core.arrays import Row
from tokentui.core.native import FLAG, FLOAT, INT, NOTHING, Code, Flat, Kernel, Tuple, buffer_of

SYSTEMS = {
    "linux-x86_64": ("x86_64-unknown-linux-gnu", "x86_64-linux-gnu", "x86-64"),
    "linux-aarch64": ("aarch64-unknown-linux-gnu", "aarch64-linux-gnu", "generic"),
    "darwin-x86_64": ("x86_64-apple-macosx11.0.0", "x86_64-macos.11.0", "x86-64"),
    "darwin-arm64": ("arm64-apple-macosx11.0.0", "aarch64-macos.11.0", "apple-m1"),
}
"""LLVM's name of each system, the linker's, and the least processor."""
PROCESSORS = {"x86_64": "x86-64", "amd64": "x86-64", "aarch64": "generic", "arm64": "generic"}
"""The least processor of other systems, by the name of the machine."""
OUTSIDE = {"log", "log1p", "exp", "memset", "memcpy", "memmove"}
"""The functions that kernels may call outside of themselves. Each process has them."""

LIBRARIES = Path(native.FOLDER)
"""The folder of the libraries."""

Made: TypeAlias = Any
"""An object of Numba, LLVM or NumPy, whose kind is not known before it runs."""
_OPTIONS = {"nogil": True, "boundscheck": False, "error_model": "numpy"}


# ---- the sources

def modules() -> list[Made]:
    """Return all modules of kernels, imported."""
    package = Path(__file__).parent
    paths = sorted(path.relative_to(package).with_suffix("") for path in package.glob("*/kernels/*.py"))
    names = [".".join(("tokentui", *path.parts)) for path in paths if path.name != "__init__"]
    return list(map(importlib.import_module, names))


@functools.cache
def _numba() -> Made:
    """Numba, with all parts of kernels compiled for what calls them."""
    numba: Made = importlib.import_module("numba")
    options: Made = importlib.import_module("numba.core.options").DefaultOptions
    if hasattr(options, "_nrt"):
        # Kernels make no arrays, so none needs counting of its users; with it each call of a helper counts
        # all that are passed, which made counting words a third slower.
        _OPTIONS["_nrt"] = False
    found = modules()
    made: dict[Made, Made] = {}
    for module in [*found, native]:
        for value in list(vars(module).values()):
            how = vars(value).get("part") if isinstance(value, FunctionType) else None
            if how and value not in made:
                made[value] = numba.njit(**_OPTIONS, forceinline=how == "inlined")(value)
    for function in made:  # where it is called by its name
        for name, value in list(function.__globals__.items()):
            if isinstance(value, FunctionType) and value in made:
                function.__globals__[name] = made[value]
    for module in found:
        for name, value in list(vars(module).items()):
            if isinstance(value, FunctionType) and value in made:
                setattr(module, name, made[value])
    return numba


def _kind(kind: Made) -> Made:
    """Numba's type for a kind."""
    numba = importlib.import_module("numba")
    types: Made = numba.types
    if isinstance(kind, Flat):
        row = numba.from_dtype(_dtype(kind.row)) if isinstance(kind.row, Row) else getattr(types, kind.row)
        return types.Array(row, 1, "A" if kind.step else "C", aligned=not kind.step)
    if isinstance(kind, Tuple):
        fields = list(map(_kind, kind.kinds))
        if kind.of is None:
            return types.UniTuple(fields[0], len(fields))
        if all(field == fields[0] for field in fields):
            return types.NamedUniTuple(fields[0], len(fields), kind.of)
        return types.NamedTuple(fields, kind.of)
    return getattr(types, kind)


def _dtype(row: str | Row) -> Made:
    return importlib.import_module("numpy").dtype(list(row.fields) if isinstance(row, Row) else row)


def compiled(kernel: Kernel) -> Made:
    """Return a kernel compiled by Numba."""
    numba = _numba()
    signature = _kind(kernel.returns)(*map(_kind, kernel.takes))
    return numba.njit(signature, **_OPTIONS)(kernel.function)


# ---- kernels in this process, from their sources


_NUMBERS: dict[str, Callable[[Made], Made]] = {FLOAT: float, FLAG: bool, INT: int}


def bound(kernel: Kernel) -> Code:
    """Return a function that calls a kernel as Numba compiles it in this process."""
    run = compiled(kernel)

    def call(*arguments: Made) -> Made:
        result = run(*(_given(kind, value) for kind, value in zip(kernel.takes, arguments, strict=True)))
        if isinstance(kernel.returns, Tuple):
            return tuple(map(int, result))
        return None if kernel.returns == NOTHING else _NUMBERS[str(kernel.returns)](result)

    return call


def _given(kind: Made, value: Made) -> Made:
    """Return an argument as Numba takes it: arrays become views of the same memory."""
    if isinstance(kind, Flat):
        np = importlib.import_module("numpy")
        address, size = buffer_of(value)
        memory: Made = (ctypes.c_uint8 * size).from_address(address) if size else bytearray()
        if kind.step:
            return np.ndarray((max(0, size - 7),), np.uint64, memory, strides=(1,))
        return np.frombuffer(memory, _dtype(kind.row))
    if isinstance(kind, Tuple):
        given = map(_given, kind.kinds, value)
        return kind.of(*given) if kind.of else tuple(given)
    return value


# ---- the libraries


def _words(kind: Made) -> int:
    """Return the number of words that a kind takes in the block of a tuple."""
    return sum(map(_words, kind.kinds)) if isinstance(kind, Tuple) else 2 if isinstance(kind, Flat) else 1


class _Wrapper:
    """The code of a function with plain C arguments that calls what Numba made of a kernel."""

    def __init__(self, kernel: Kernel, callee: str, types: Sequence[str]) -> None:
        self._lines: list[str] = []
        self._types, self._given = list(types), ["ptr %ret", "ptr %exc"]
        several = isinstance(kernel.returns, Tuple)
        heads = ["ptr %ret"] if several else []
        for number, kind in enumerate(kernel.takes):
            if isinstance(kind, Flat):
                heads += [f"ptr %a{number}", f"i64 %n{number}"]
                self._array(kind, f"%a{number}", f"%n{number}")
            elif isinstance(kind, Tuple):
                heads.append(f"ptr %a{number}")
                self._block(kind, f"%a{number}", 0)
            else:
                heads.append(f"{'double' if kind == FLOAT else 'i64'} %a{number}")
                self._number(kind, f"%a{number}")
        result, ends = {
            NOTHING: ("void", ["ret void"]),
            FLOAT: ("double", ["%got = load double, ptr %ret", "ret double %got"]),
            INT: ("i64", ["%got = load i64, ptr %ret", "ret i64 %got"]),
            FLAG: ("i64", ["%got = load i8, ptr %ret", "%wide = zext i8 %got to i64", "ret i64 %wide"]),
        }[NOTHING if several else str(kernel.returns)]
        declared = ", ".join(one.rpartition(" ")[0] for one in self._given)
        room = [] if several else ["%ret = alloca i64"]
        self.text = "\n".join((
            f'declare i32 @"{callee}"({declared})',
            f"define {result} @{kernel.name.replace('.', '_')}({', '.join(heads)}) {{",
            *room, "%exc = alloca ptr", *self._lines,
            f'%status = call i32 @"{callee}"({", ".join(self._given)})', *ends, "}",
        ))

    def _name(self, code: str) -> str:
        name = f"%v{len(self._lines)}"
        self._lines.append(f"{name} = {code}")
        return name

    def _word(self, kind: str, address: str, at: int) -> str:
        place = self._name(f"getelementptr i64, ptr {address}, i64 {at}")
        return self._name(f"load {kind}, ptr {place}")

    def _number(self, kind: str, value: str) -> None:
        wanted = self._types[len(self._given)]
        if kind == FLAG and wanted != "i64":
            value = self._name(f"trunc i64 {value} to {wanted}")
        self._given.append(f"{wanted} {value}")

    def _array(self, kind: Flat, address: str, length: str) -> None:
        self._given += [
            "ptr null", "ptr null", f"i64 {length}", f"i64 {kind.size}", f"ptr {address}", f"i64 {length}",
            f"i64 {kind.step or kind.size}",
        ]

    def _block(self, kind: Tuple, address: str, at: int) -> int:
        """Load the fields of a tuple from its words. Returns where the next word is."""
        for field in kind.kinds:
            if isinstance(field, Tuple):
                at = self._block(field, address, at)
                continue
            if isinstance(field, Flat):
                self._array(field, self._word("ptr", address, at), self._word("i64", address, at + 1))
            else:
                self._number(field, self._word("i64", address, at))
            at += _words(field)
        return at


def module_of(kernels: Iterable[Kernel] | None = None) -> Made:
    """Return kernels as one module of LLVM that exports nothing else.

    Args:
        kernels: The kernels; None for all.
    """
    llvm: Made = importlib.import_module("llvmlite.binding")
    # Blocks are named by functions, whose names hold the whole state: one that is cut short may be that of
    # another, and is lost in the text of the module.
    llvm.set_option("kernels", "-non-global-value-max-name-size=65536")
    _numba()
    whole = llvm.parse_assembly("")
    for kernel in sorted(native.KERNELS.values() if kernels is None else kernels, key=lambda one: one.name):
        made = compiled(kernel)
        (overload,) = made.overloads.values()
        callee = overload.fndesc.llvm_func_name
        part = llvm.parse_assembly(overload.library.get_llvm_str())
        called = part.get_function(callee)
        wrapper = _Wrapper(kernel, callee, [str(argument.type) for argument in called.arguments])
        for value in [*part.functions, *part.global_variables]:
            if not value.is_declaration and value.name != callee:
                value.linkage = "internal"
        part.link_in(llvm.parse_assembly(wrapper.text))
        part.get_function(callee).linkage = "internal"
        whole.link_in(part)
    return whole


def object_of(whole: str, triple: str, processor: str) -> bytes:
    """Return a module of LLVM as an object file.

    Args:
        whole: The text of the module.
        triple: LLVM's name of the system.
        processor: The least processor that it is to run on.
    """
    llvm: Made = importlib.import_module("llvmlite.binding")
    llvm.initialize_all_targets()
    llvm.initialize_all_asmprinters()
    module = llvm.parse_assembly(whole)
    machine = llvm.Target.from_triple(triple).create_target_machine(
        cpu=processor, opt=3, reloc="pic", codemodel="default"
    )
    module.triple, module.data_layout = triple, str(machine.target_data)
    builder = llvm.create_pass_builder(machine, llvm.create_pipeline_tuning_options(speed_level=3))
    builder.getModulePassManager().run(module, builder)
    outside = {
        one.name for one in module.functions if one.is_declaration and not one.name.startswith("llvm.")
    }
    if outside - OUTSIDE:
        raise SystemExit(f"kernels call what is not theirs: {sorted(outside - OUTSIDE)}")
    return bytes(machine.emit_object(module))


def linked(content: bytes, linker: Sequence[str], libraries: Sequence[str] = ()) -> bytes:
    """Return an object file as a shared library, which a command links."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "kernels.o")
        path.write_bytes(content)
        output = path.with_suffix(".so")
        try:
            subprocess.run([*linker, str(path), "-o", str(output), *libraries], check=True)
        except (OSError, subprocess.CalledProcessError) as error:
            raise SystemExit(f"the library cannot be linked: {error}") from None
        return output.read_bytes()


def library_for(whole: str, system: str) -> bytes:
    """Return the module as the shared library of one of `SYSTEMS`, which Zig links."""
    triple, target, processor = SYSTEMS[system]
    words = ["-nostdlib"]
    if "macos" in target:  # a library has its name in it
        words = ["-Wl,-undefined,dynamic_lookup,-install_name,kernels"]
    linker = [sys.executable, "-m", "ziglang", "cc", "-target", target, "-shared", "-s", *words]
    return linked(object_of(whole, triple, processor), linker)


def processor_here() -> str:
    """Return the least processor of this system.

    Raises:
        SystemExit: None is known, so that the kernels would run on processors like this one alone.
    """
    system, machine = native.system(), os.uname().machine
    if system in SYSTEMS:
        return SYSTEMS[system][2]
    if machine not in PROCESSORS:
        raise SystemExit(f"kernels cannot be compiled for {machine}: plain Python works")
    return PROCESSORS[machine]


def installed() -> dict[str, str]:
    """Return the versions of the tools in this environment, by tool."""
    versions = {"python": ".".join(map(str, sys.version_info[:2]))}
    for name in provenance.locked():
        if name != "python":
            with contextlib.suppress(metadata.PackageNotFoundError):
                versions[name] = metadata.version(name)
    return versions


def build(folder: Path) -> None:
    """Compile all kernels for all systems, and write the libraries and their manifest to a folder."""
    digest = provenance.sources()  # before a source can change
    whole = str(module_of())
    folder.mkdir(exist_ok=True)
    files = {}
    for system in SYSTEMS:
        content = library_for(whole, system)
        name = native.library_of(system)
        (folder / name).write_bytes(content)
        files[name] = provenance.facts_of(content)
    _write_manifest(folder, {"toolchain": installed(), "sources": digest, "files": files})
    rules = importlib.import_module("tokentui.text.kernels.rules")
    (folder / "classes.json").write_text(rules.as_json() + "\n")


def build_local(folder: Path, compiler: str, kernels: Iterable[Kernel] | None = None) -> Path:
    """Compile kernels for this system alone, and write the library and its manifest to a folder.

    The manifest says that the library was built locally, and the folder loses the libraries of other systems,
    which may come from other sources.

    Args:
        folder: The folder.
        compiler: The command of a C compiler, which links.
        kernels: The kernels; None for all.

    Returns:
        The library.
    """
    llvm: Made = importlib.import_module("llvmlite.binding")
    digest = provenance.sources()
    content = object_of(str(module_of(kernels)), llvm.get_process_triple(), processor_here())
    content = linked(content, [*shlex.split(compiler), "-shared"], ["-lm"])
    for path in folder.glob("libtokentui-*"):  # a process that has opened one keeps it
        path.unlink()
    library = folder / native.library_of(native.system())
    library.write_bytes(content)
    versions = {name: version for name, version in installed().items() if name != "ziglang"}
    about = {"local": True, "toolchain": {**versions, "cc": compiler}, "sources": digest}
    _write_manifest(folder, {**about, "files": {library.name: provenance.facts_of(content)}})
    return library


def _write_manifest(folder: Path, facts: dict[str, Made]) -> None:
    """Write the manifest of a folder: some facts, and the signatures of all kernels."""
    signatures = {name: kernel.signature for name, kernel in sorted(native.KERNELS.items())}
    text = json.dumps({**facts, "kernels": signatures}, indent=1)
    (folder / "manifest.json").write_text(text + "\n")


def changed(folder: Path) -> list[str]:
    """Compile all kernels and return the names of the files in a folder that differ from the new ones."""
    with tempfile.TemporaryDirectory() as temporary:
        build(Path(temporary))
        names = ["manifest.json", *json.loads(Path(temporary, "manifest.json").read_bytes())["files"]]
        return [name for name in names if _content(folder / name) != _content(Path(temporary, name))]


def _content(path: Path) -> bytes | None:
    return path.read_bytes() if path.is_file() else None


def main() -> None:
    """Write the libraries into the package. `--check` compiles them elsewhere and compares bytes, `--local`
    with a C compiler writes the one of this system."""
    local = sys.argv[1:2] == ["--local"]
    wrong = [] if local else provenance.differences(installed(), provenance.locked(), "installed:")
    if wrong:
        sys.exit(f"kernels need the tools in toolchain.lock: {'; '.join(wrong)}")
    if missing := [name for name in ("numba", "numpy") if importlib.util.find_spec(name) is None]:
        sys.exit(f"kernels need {' and '.join(missing)}")
    if os.environ.get(engines.TEST_VARIABLE) != "numba":  # before any module of kernels is imported
        environ = {
            **os.environ, engines.TEST_VARIABLE: "numba", "NUMBA_CPU_NAME": processor_here(),
            "NUMBA_CPU_FEATURES": "",
        }
        words = [sys.executable, "-m", "tokentui.building", *sys.argv[1:]]
        sys.exit(subprocess.run(words, env=environ).returncode)
    if local:
        print(f"built {build_local(LIBRARIES, sys.argv[2]).name}")  # noqa: T201
    elif sys.argv[1:] != ["--check"]:
        build(LIBRARIES)
    elif names := changed(LIBRARIES):
        sys.exit(f"a new build gives other bytes: {', '.join(names)}")
    else:
        print("a new build gives the same bytes")  # noqa: T201


if __name__ == "__main__":
    main()
