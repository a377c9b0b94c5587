"""Structural hashes: equal for modules that differ only in the names and identities of their symbols and in source locations."""

from __future__ import annotations

import hashlib

from synth.ir.grammar import Module
from synth.ir.printer import print_named
from synth.ir.traversal import module_symbols


def structural_hash(module: Module) -> str:
    """32 hexadecimal digits. Symbols are numbered in program order, parameters first."""
    names = {sym: f"v{index}" for index, sym in enumerate(module_symbols(module))}
    text = print_named(module, lambda sym: names.get(sym, sym.name))
    return hashlib.sha256(text.encode()).hexdigest()[:32]
