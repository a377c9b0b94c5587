"""Stand-ins: definitions in portable C of the intrinsics that a program uses, for compilers without AVX-512.

Each is printed from the intrinsic's meaning, lane by lane; vectors are GCC and clang vector types of the same size.
"""

from __future__ import annotations

from synth.codegen.expressions import C_TYPES, ExpressionPrinter
from synth.codegen.lanes import one_lane
from synth.intrinsics.avx512 import Intrinsic, Parameter, Pointer, is_register
from synth.ir.dtypes import DType, Type, Vec
from synth.ir.grammar import Bitcast, Module, Reduce, Sym, Var


def register_type(type_: Type) -> str:
    """C's name of a register: ``__m512``, ``__m256i``, ``__mmask16``. Precondition: ``is_register``."""
    if not isinstance(type_, Vec):
        return C_TYPES[type_]
    if type_.dtype is DType.BOOL:
        return f"__mmask{mask_bits(type_)}"
    bits = type_.dtype.bits * type_.lanes
    kind = {DType.F32: "", DType.F64: "d"}.get(type_.dtype, "i")
    return f"__m{bits}{kind}"


def mask_bits(type_: Vec) -> int:
    """Width of the mask register for that many lanes."""
    return next(bits for bits in (8, 16, 32, 64) if type_.lanes <= bits)


def type_definitions() -> dict[str, str]:
    """The register types by name."""
    lines: dict[str, str] = {}
    for bits in (128, 256, 512):
        for suffix, c in (("", "float"), ("d", "double"), ("i", "long long")):
            name = f"__m{bits}{suffix}"
            lines[name] = f"typedef {c} {name} __attribute__((vector_size({bits // 8}), aligned({bits // 8})));"
    return lines | {f"__mmask{bits}": f"typedef uint{bits}_t __mmask{bits};" for bits in (8, 16, 32, 64)}


def lane_type(type_: Vec) -> str:
    """The name of the vector type whose lanes are the elements of ``type_``."""
    return f"xp_{type_.dtype}x{type_.lanes}"


def lane_type_definition(type_: Vec) -> str:
    size = type_.dtype.bits * type_.lanes // 8
    return f"typedef {C_TYPES[type_.dtype]} {lane_type(type_)} __attribute__((vector_size({size}), aligned({size})));"


def stand_in(intrinsic: Intrinsic, group: tuple[Intrinsic, ...]) -> list[str]:
    """The definition of one intrinsic; ``group`` are all of that name, told apart by their immediate."""
    names = "abcd"[: len(intrinsic.params)]
    const = "const " if intrinsic.kind == "load" else ""
    typed = [f"{const if isinstance(p, Pointer) else ''}{_parameter_type(p)}{n}" for p, n in zip(intrinsic.params, names, strict=True)]
    parameters = ", ".join(typed)
    if group[0].immediate is not None:
        parameters += ", int imm"
    result = "void" if intrinsic.result is None else register_type(intrinsic.result)
    head = f"static inline {result} {intrinsic.name}({parameters}) {{"
    if intrinsic.kind != "value":
        return [f"{head} {_memory_body(intrinsic, names)} }}"]
    if intrinsic.immediate is None:
        return [f"{head} {_body(intrinsic, names)} }}"]
    zero = f"({result}){{0}}" if isinstance(intrinsic.result, Vec) and intrinsic.result.dtype is not DType.BOOL else "0"
    return [head, *(f"    if (imm == {g.immediate}) {{ {_body(g, names)} }}" for g in group), f"    return {zero};", "}"]


def _parameter_type(p: Parameter) -> str:
    if isinstance(p, Pointer):
        return "void *"
    return register_type(p) + " "


def _memory_body(i: Intrinsic, names: str) -> str:
    if i.kind == "load":
        vector = i.result
        pointer, mask = (names[1], names[0]) if i.masked else (names[0], "")
    else:
        vector = i.params[-1] if not isinstance(i.params[-1], Pointer) else None
        pointer, mask, value = names[0], (names[1] if i.masked else ""), names[-1]
    if not isinstance(vector, Vec):
        raise TypeError(f"{i.name} moves no vector")
    c, lanes, register = C_TYPES[vector.dtype], vector.lanes, register_type(vector)
    guard = f"if ({mask} >> l & 1) " if mask else ""
    if not mask:  # like the intrinsic, whatever the type of the memory
        if i.kind == "load":
            return f"{register} r; memcpy(&r, {pointer}, sizeof r); return r;"
        return f"memcpy({pointer}, &{value}, sizeof {value});"
    if i.kind == "load":
        fill = f"{lane_type(vector)} r = {{0}}; for (int l = 0; l < {lanes}; ++l) {guard}r[l] = ((const {c} *){pointer})[l];"
        return f"{fill} return ({register})r;"
    return f"{lane_type(vector)} v = ({lane_type(vector)}){value}; for (int l = 0; l < {lanes}; ++l) {guard}(({c} *){pointer})[l] = v[l];"


def _body(i: Intrinsic, names: str) -> str:
    params = [p for p in i.params if not isinstance(p, Pointer)]
    symbols = [Sym(n) for n in names]
    meaning = i.meaning
    if meaning is None:
        raise TypeError(f"{i.name} has no meaning")
    expr = meaning(*(Var(s, t) for s, t in zip(symbols, params, strict=True)))
    emitter = ExpressionPrinter(Module("stand_in", (), ()), {})
    for s, t in zip(symbols, params, strict=True):
        emitter.names[s] = _lane_of(s.name, t)
    if isinstance(expr, Reduce):
        vector = params[0]
        lanes = vector.lanes if isinstance(vector, Vec) else 1
        c = C_TYPES[vector.dtype if isinstance(vector, Vec) else vector]
        step = _fold(expr.op, expr.type)
        first = emitter.names[symbols[0]].replace("[l]", "[0]")
        return f"{c} r = {first}; for (int l = 1; l < {lanes}; ++l) {{ {c} x = {emitter.names[symbols[0]]}; r = {step}; }} return r;"
    if isinstance(expr, Bitcast) and is_register(expr.type):
        return f"return ({register_type(expr.type)}){names[0]};"
    result = expr.type
    if not isinstance(result, Vec):
        raise TypeError(f"{i.name} gives no vector")
    text = emitter.expr(one_lane(expr))
    if result.dtype is DType.BOOL:
        mask = register_type(result)
        return f"{mask} r = 0; for (int l = 0; l < {result.lanes}; ++l) r |= ({mask})((uint64_t)({text}) << l); return r;"
    return f"{lane_type(result)} r; for (int l = 0; l < {result.lanes}; ++l) r[l] = {text}; return ({register_type(result)})r;"


def _fold(op: str, type_: Type) -> str:
    if op in ("min", "max"):
        if type_ in (DType.F32, DType.F64):
            return f"f{op}{'f' if type_ is DType.F32 else ''}(r, x)"
        return f"r {'<' if op == 'min' else '>'} x ? r : x"
    return f"r {'+' if op == 'add' else '*'} x"


def _lane_of(name: str, type_: Type) -> str:
    if not isinstance(type_, Vec):
        return name
    if type_.dtype is DType.BOOL:
        return f"({name} >> l & 1)"
    return f"(({lane_type(type_)}){name})[l]"


def lane_types_of(intrinsic: Intrinsic) -> set[Vec]:
    """The lane vector types that the stand-in of an intrinsic mentions."""
    types = [p for p in intrinsic.params if isinstance(p, Vec)] + ([intrinsic.result] if isinstance(intrinsic.result, Vec) else [])
    return {t for t in types if t.dtype is not DType.BOOL}
