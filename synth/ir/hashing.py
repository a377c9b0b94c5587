"""Structural hashes: equal for modules that differ only in the names and identities of their symbols and in source locations."""

from __future__ import annotations

import dataclasses
import hashlib

from synth.ir.grammar import Module, Sym
from synth.ir.renaming import rename_symbols
from synth.ir.text import print_module
from synth.ir.traversal import module_symbols


def structural_hash(module: Module) -> str:
    """32 hexadecimal digits. Symbols are numbered in program order."""
    return hashlib.sha256(print_module(canonical(module)).encode()).hexdigest()[:32]


def canonical(module: Module) -> Module:
    """The module with every bound symbol renamed ``v0``, ``v1``, ... in program order; parameters become ``p0``, ``p1``, ..."""
    parameters = {p.sym for p in module.params}
    names: dict[Sym, Sym] = {}
    for index, sym in enumerate(module_symbols(module)):
        names[sym] = dataclasses.replace(sym, name=f"{'p' if sym in parameters else 'v'}{index}")
    return rename_symbols(module, names)
