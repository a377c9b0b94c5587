"""Sizes that the user states: ``--extent A=n*k``, a C expression over the scalar parameters."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from clang.cindex import CursorKind

from synth.errors import SourceError, UnsupportedError, UsageError
from synth.frontend.reader import clang, expressions
from synth.frontend.reader.arithmetic import convert
from synth.frontend.reader.dialect import Dialect
from synth.frontend.reader.places import Fixed
from synth.frontend.reader.reader import Reader
from synth.ir.dtypes import DType
from synth.ir.grammar import Expr, Param, Sym, Var
from synth.ir.traversal import substitute_expr

_SPELLINGS = {
    DType.BOOL: "bool",
    DType.I8: "signed char",
    DType.U8: "unsigned char",
    DType.I16: "short",
    DType.U16: "unsigned short",
    DType.I32: "int",
    DType.U32: "unsigned",
    DType.I64: "long",
    DType.U64: "unsigned long",
    DType.F32: "float",
    DType.F64: "double",
}


def with_extents(
    params: Sequence[Param], extents: Mapping[str, str], values: Mapping[Sym, Expr], defines: Mapping[str, str]
) -> tuple[Param, ...]:
    """``params`` with the stated extents; ``values`` are the bound scalars. Raises UsageError for an expression that cannot be read and for
    a name that is no pointer parameter."""
    buffers = {p.sym.name for p in params if p.is_buffer}
    for name in extents:
        if name not in buffers:
            known = f"they are {', '.join(sorted(buffers))}" if buffers else "the entry has none"
            raise UsageError(f"--extent {name}: there is no pointer parameter '{name}'", hint=known)
    return tuple(
        replace(p, shape=(_read(p.sym.name, extents[p.sym.name], params, values, defines),)) if p.sym.name in extents else p for p in params
    )


def _read(name: str, text: str, params: Sequence[Param], values: Mapping[Sym, Expr], defines: Mapping[str, str]) -> Expr:
    scalars = [p for p in params if not p.is_buffer and p.dtype in _SPELLINGS]
    signature = ", ".join(f"{_SPELLINGS[p.dtype]} {p.sym.name}" for p in scalars)
    unreadable = UsageError(f"--extent {name}={text}: not an expression over the scalar parameters", hint="e.g. --extent A=n*k")
    if any(c in text for c in ";{}\n#"):
        raise unreadable
    source = f"long long xpiler_extent({signature}) {{ return ({text}); }}\n"
    try:
        unit = clang.parse(source, "--extent", defines=defines)
        function = next(c for c in unit.own_declarations() if c.kind == CursorKind.FUNCTION_DECL)
        body = clang.body_of(function)
        assert body is not None
        reader = Reader(unit, Dialect())
        for p, declaration in zip(scalars, clang.parameters(function), strict=True):
            reader.scope.bind(declaration, Fixed(Var(p.sym, p.dtype), p.dtype))
        value = expressions.read_scalar(reader, clang.operands(clang.children(body)[0])[0])
    except (SourceError, UnsupportedError) as error:
        raise unreadable from error
    if reader.out:
        raise unreadable
    return convert(substitute_expr(value, values), DType.I64)
