"""The one rule by which a drawn kernel is called; it knows nothing of particular kernels.

* The kernel is the entry. Its grid has three blocks in every dimension of ``threadIdx``/``blockIdx`` that the body uses; its block is
  the one that the file suggests (``__launch_bounds__``, or a macro or constant named like a block or tile), else 128 threads, 16 x 16 or
  8 x 8 x 4. A kernel with dynamic shared memory is given 16 KiB.
* Template parameters take the arguments of the first launch or call in the file where these are literals or types, else their defaults,
  else ``float``, and for integers the number of threads where the name says so, or 16.
* Integer parameters are 64, and buffers whose extent the command cannot tell have 65,536 elements.
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from pathlib import Path

from experiments.wild.drawing import Kernel, visible

SIZE = 64
ELEMENTS = 65536
SHARED = 16384  # bytes
BLOCKS = {1: (128,), 2: (16, 16), 3: (8, 8, 4)}
_INTEGER = re.compile(r"\b(?:unsigned|signed|int|long|short|size_t|u?int\d+_t|uint|dim_t)\b")
_SUGGESTED = re.compile(
    r"(?:#\s*define\s+|(?:const|constexpr)\s+(?:static\s+)?(?:unsigned\s+)?int\s+)(\w*(?:BLOCK|TILE|THREADS)\w*)\s*=?\s*\(?(\d+)\)?", re.I
)


@dataclass(frozen=True, slots=True)
class Parameter:
    """One parameter of a kernel: its name, and whether it is a pointer or an integer."""

    name: str
    pointer: bool
    integer: bool


def split(text: str) -> list[str]:
    """The parts of a list at its outer commas."""
    parts, depth, part = [], 0, ""
    for character in text:
        depth += (character in "([{<") - (character in ")]}>")
        if character == "," and depth == 0:
            parts.append(part)
            part = ""
        else:
            part += character
    return [p.strip() for p in (*parts, part) if p.strip()]


def parameters(text: str) -> list[Parameter]:
    """The parameters of a kernel from the text of their list."""
    found = []
    for part in split(text):
        part = part.split("=")[0]
        names = re.findall(r"\w+", re.sub(r"\[[^\]]*\]", "", part))
        pointer = "*" in part or "[" in part
        if names:
            found.append(Parameter(names[-1], pointer, not pointer and bool(_INTEGER.search(part))))
    return found


def dimensions(kernel: Kernel) -> int:
    """The most dimensions of the grid or block that the body asks for."""
    used = re.findall(r"(?:threadIdx|blockIdx|hipThreadIdx|hipBlockIdx)[._]([xyz])", kernel.body)
    return max(("xyz".index(axis) + 1 for axis in used), default=1)


def launch(kernel: Kernel, text: str) -> str:
    """The value of ``--launch``."""
    rank = dimensions(kernel)
    block = BLOCKS[rank]
    bounds = re.search(rf"__launch_bounds__\s*\(\s*(\d+)[^)]*\)\s*\w*\s*{re.escape(kernel.name)}\b", text)
    suggested = [int(value) for name, value in _SUGGESTED.findall(text) if re.search(rf"\b{name}\b", kernel.body)]
    if bounds and rank == 1:
        block = (int(bounds[1]),)
    elif suggested and 1 < suggested[0] ** rank <= 1024:
        block = (suggested[0],) * rank
    shared = f",shared={SHARED}" if re.search(r"extern\b[^;]*__shared__|HIP_DYNAMIC_SHARED", kernel.body) else ""
    return f"grid={','.join(['3'] * rank)},block={','.join(map(str, block))}{shared}"


def template_arguments(kernel: Kernel, text: str) -> str:
    """``<...>`` for the name of the entry, or nothing where the kernel is no template."""
    if not kernel.template:
        return ""
    declared = split(kernel.template)
    used = re.search(rf"\b{re.escape(kernel.name)}\s*<\s*([\w\s,:*]+?)\s*>\s*(?:<<<|\(|\))", text)
    given = split(used[1]) if used else []
    known = [
        a for a in given if re.fullmatch(r"\d+|true|false|(?:unsigned |signed )?(?:float|double|int|char|short|long|half|__half|bool)", a)
    ]
    if len(known) == len(declared):
        return f"<{', '.join(known)}>"
    threads = math.prod(int(n) for n in re.findall(r"\d+", launch(kernel, text).partition("block=")[2].partition(",shared")[0]))
    return "<" + ", ".join(_template_argument(d, threads) for d in declared) + ">"


def _template_argument(declared: str, threads: int) -> str:
    name, _, default = declared.partition("=")
    if re.fullmatch(r"\s*(?:\d+|true|false|float|double|int)\s*", default):
        return default.strip()
    if re.match(r"(?:typename|class)\b", name):
        return "float"
    if "bool" in name:
        return "true"
    return str(threads) if re.search(r"thread|block_?size", name, re.IGNORECASE) else "16"


def arguments(kernel: Kernel, target: str) -> list[str]:
    """The arguments of ``xpiler`` that translate a kernel to ``target``, without extents."""
    text = visible(kernel.file.read_text(encoding="utf-8", errors="replace"))
    options = ["translate", str(kernel.file), "--to", target, "--entry", kernel.name + template_arguments(kernel, text)]
    options += ["--launch", launch(kernel, text)]
    for parameter in parameters(kernel.parameters):
        if parameter.integer:
            options += ["--bind", f"{parameter.name}={SIZE}"]
    for folder in include_folders(kernel):
        options += ["-I", str(folder)]
    return options


def include_folders(kernel: Kernel) -> list[Path]:
    """The folders between a file and its collection, and those beside them that hold headers by convention."""
    found: list[Path] = []
    folder = kernel.file.parent
    while True:
        found += [f for f in (folder, folder / "include", folder / "inc", folder / "common", folder / "Common") if f.is_dir()]
        if folder == kernel.collection or folder == folder.parent:
            return found
        folder = folder.parent


def asked_extent(reason: str) -> str | None:
    """The buffer whose extent the command asks for, if that is why it refused."""
    match = re.search(r"extent of (?:parameter )?'(\w+)'", reason)
    return match[1] if match else None
