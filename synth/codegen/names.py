"""Symbols to C identifiers: provenance kept readable, unique in the function, never a keyword."""

from __future__ import annotations

import re

from synth.ir.grammar import MATH_FNS, Module, Sym
from synth.ir.traversal import module_symbols

KEYWORDS = frozenset(
    """alignas alignof and asm auto bitand bitor bool break case catch char class compl const constexpr continue decltype default delete do
    double else enum explicit export extern false float for friend goto if inline int long mutable namespace new noexcept not nullptr
    operator or private protected public register restrict return short signed sizeof static struct switch template this throw true try
    typedef typename union unsigned using virtual void volatile wchar_t while xor main errno stdin stdout stderr NULL INFINITY NAN j0 j1
    jn y0 y1 yn gamma memcpy memset malloc free""".split()
)


_TYPES = "int8_t uint8_t int16_t uint16_t int64_t uint64_t size_t _Float16".split()
_LIBRARY = {name + suffix for name in (*MATH_FNS, "fabs", "fmin", "fmax") for suffix in ("", "f")}
# Names of the helpers that emitters print.
_HELPER = re.compile(r"(xp|bits|min|max|abs|lane|lanes|make|reduce|load|store|maskload|maskstore)_\w*\d")


def identifiers(module: Module, reserved: frozenset[str] = frozenset()) -> dict[Sym, str]:
    """A distinct C identifier for every symbol, ``i.outer`` as ``i_outer``; parameters come first and so keep their names."""
    taken = set(KEYWORDS | reserved | _LIBRARY | {*_TYPES, module.name})
    found: dict[Sym, str] = {}
    for sym in module_symbols(module):
        stem = re.sub(r"\W", "_", sym.name) or "v"
        if stem[0].isdigit() or stem.startswith("_") or _HELPER.match(stem):
            stem = "v_" + stem.lstrip("_")
        name, number = stem, 2
        while name in taken:
            name, number = f"{stem}_{number}", number + 1
        taken.add(name)
        found[sym] = name
    return found
