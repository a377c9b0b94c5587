"""Compiles emitted text with g++ and calls its entry in this process."""

from __future__ import annotations

import ctypes
import subprocess
from pathlib import Path
from typing import Any

import numpy as np

from synth.ir.dtypes import DType
from synth.ir.grammar import Module

# Exact comparison with the interpreter: no contraction, and signed arithmetic wraps as in the IR. The warnings left out are about what the
# generated programs do themselves (unused or self-compared values) and about GCC 12's own headers (PR 105593).
FLAGS = """-O2 -march=native -fopenmp -Wall -Werror -Wno-unused-variable -Wno-unused-but-set-variable -Wno-unused-function
-Wno-tautological-compare -Wno-uninitialized -Wno-maybe-uninitialized -Wno-psabi -ffp-contract=off -fwrapv -fPIC -shared""".split()
PORTABLE = ("-mno-avx512f",)

_C = {
    DType.BOOL: ctypes.c_bool, DType.I8: ctypes.c_int8, DType.U8: ctypes.c_uint8, DType.I16: ctypes.c_int16, DType.U16: ctypes.c_uint16,
    DType.I32: ctypes.c_int32, DType.U32: ctypes.c_uint32, DType.I64: ctypes.c_int64, DType.U64: ctypes.c_uint64,
    DType.F32: ctypes.c_float, DType.F64: ctypes.c_double,
}  # fmt: skip


def compile_text(texts: dict[str, str], folder: Path, *extra: str) -> ctypes.CDLL:
    """One library of several files, by name."""
    for name, text in texts.items():
        (folder / f"{name}.cpp").write_text(text)
    library = folder / f"lib{'_'.join(['x', *extra])}.so"
    files = [str(folder / f"{name}.cpp") for name in texts]
    done = subprocess.run(["g++", *FLAGS, *extra, *files, "-o", str(library), "-lmvec", "-lm"], capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr[:3000]
    return ctypes.CDLL(str(library))


def call(library: ctypes.CDLL, module: Module, args: dict[str, Any]) -> None:
    """Calls the entry; arrays are changed in place."""
    values = [args[p.sym.name] for p in module.params]
    given = [
        v.ctypes.data_as(ctypes.c_void_p) if isinstance(v, np.ndarray) else _C[p.dtype](v)
        for p, v in zip(module.params, values, strict=True)
    ]
    getattr(library, module.name)(*given)


def equal(a: Any, b: Any) -> bool:
    return bool(np.array_equal(a, b, equal_nan=isinstance(a, np.ndarray) and a.dtype.kind == "f"))
