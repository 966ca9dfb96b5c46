"""Build hook of the wheel: compiled kernels for one system, with the tag of that system.

`TOKENTUI_WHEEL` names the system, such as `linux-aarch64`, or is `any` for a wheel without kernels that
installs everywhere. Without it the wheel is for the system that builds it. If the source has no kernels for
that system, as in a source archive, the wheel has none and installs everywhere.
"""

from __future__ import annotations

import json
import os
import platform
import sys
import sysconfig
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

LIBRARIES = "tokentui/core/libraries"
# The libraries for Linux need no version of the C library: they import log, log1p, exp and memset alone.
TAGS = {
    "linux-x86_64": "manylinux_2_17_x86_64.manylinux2014_x86_64.musllinux_1_2_x86_64",
    "linux-aarch64": "manylinux_2_17_aarch64.manylinux2014_aarch64.musllinux_1_2_aarch64",
    "darwin-x86_64": "macosx_11_0_x86_64",
    "darwin-arm64": "macosx_11_0_arm64",
}


class KernelsHook(BuildHookInterface):
    """Adds the library of one system and the manifest to a wheel."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Choose the library and the tag. An editable install uses the folder of the source."""
        asked = os.environ.get("TOKENTUI_WHEEL", "")
        if version == "editable" or asked == "any":
            return
        system = asked or f"{sys.platform}-{platform.machine()}"
        name = f"libtokentui-{system}.{'dylib' if system.startswith('darwin') else 'so'}"
        library, manifest = (Path(self.root, LIBRARIES, file) for file in (name, "manifest.json"))
        if not library.is_file() or not manifest.is_file():
            if asked:
                sys.exit(f"TOKENTUI_WHEEL={asked}: {LIBRARIES}/{name} is missing: run make kernels")
            return
        tag = TAGS.get(system)
        if tag is None or json.loads(manifest.read_bytes()).get("local"):
            # it may need the C library that it was linked with
            tag = sysconfig.get_platform().replace("-", "_").replace(".", "_")
        build_data["pure_python"] = False
        build_data["tag"] = f"py3-none-{tag}"
        build_data["force_include"] |= {str(path): f"{LIBRARIES}/{path.name}" for path in (library, manifest)}
