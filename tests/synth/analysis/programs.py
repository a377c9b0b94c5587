"""Small programs for the tests of the analyses, read from CUDA or from the textual form."""

from __future__ import annotations

from synth.analysis.extents import complete_params
from synth.frontend import read
from synth.ir.grammar import For, Module
from synth.ir.text import parse_module
from synth.ir.traversal import find_loop
from synth.source import ReadOptions, Source


def module(text: str) -> Module:
    return parse_module(text)


def loop(m: Module, site: str) -> For:
    found = find_loop(m, site)
    if found is None:
        raise KeyError(site)
    return found


def cuda(text: str, **defines: str) -> Module:
    return complete_params(read(Source("#include <cuda_runtime.h>\n" + text, "cuda", "k.cu"), ReadOptions(defines=defines)).module)


def in_loop(body: str, params: str = "A: f32[n:i32] host in, C: f32[n:i32] host out, n: i32") -> Module:
    """One serial loop over ``0..n`` with a body of one statement a line."""
    lines = "\n".join(f"    {line}" for line in body.strip().splitlines())
    return module(f"module m({params}) dialect=c {{\n  for i: i32 in 0i32..n:i32 step 1i32 {{\n{lines}\n  }}\n}}\n")
