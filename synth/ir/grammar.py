"""The IR, as one grammar. Everything is immutable and compared structurally.

Read top to bottom: symbols, expressions, statements, module. The meaning of every construct is defined by the reference
interpreter (``synth.ir.interpreter``); the rules of well-formedness by the verifier (``synth.ir.verifier``).

Principles
  * A symbol is bound exactly once in a module (``Param``, ``Let``, ``Alloc``, ``For``); names are for people, uids for programs.
  * Values (``Let``, loop variables, scalar parameters) are immutable. Whatever a C program assigns to is a buffer: a mutable
    scalar is an ``Alloc`` of rank 0, read by ``Load(x, ())`` and written by ``Store(x, (), v)``.
  * Types are exact: both operands of a ``Binary`` have the same type; C's promotions appear as ``Cast``.
  * A CUDA kernel launch is a ``Launch`` around a nest of ``For`` loops bound to axes; the kernel body is inlined at the launch.
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass, field
from enum import Enum

from synth.ir.dtypes import DType, Type, Vec, scalar, with_scalar
from synth.ir.node import Hashed, remembers_hash

# --------------------------------------------------------------------------------------------------------- symbols


_next_uid = itertools.count(1)


@dataclass(frozen=True, slots=True)
class Sym:
    """A unique symbol. ``name`` is its provenance (``i``, ``i.outer``, ``A.shared``), ``uid`` its identity."""

    name: str
    uid: int = field(default_factory=lambda: next(_next_uid))

    def __hash__(self) -> int:
        return self.uid

    def fresh(self, name: str | None = None) -> Sym:
        """A new symbol with the same name (or ``name``) and its own identity."""
        return Sym(self.name if name is None else name)


@dataclass(frozen=True, slots=True)
class Location:
    """A place in the user's source: file, 1-based line and column."""

    file: str
    line: int
    column: int = 0

    def __str__(self) -> str:
        return f"{self.file}:{self.line}" + (f":{self.column}" if self.column else "")


class Space(Enum):
    """Memory spaces. ``host`` is host memory; ``local`` is private to one thread or core (C automatic variables)."""

    HOST = "host"
    GLOBAL = "global"
    SHARED = "shared"
    LOCAL = "local"
    CONST = "const"
    NRAM = "nram"
    WRAM = "wram"
    SRAM = "sram"


class Axis(Enum):
    """What a parallel loop is bound to. A loop with no axis is serial.

    ``block.*`` and ``thread.*`` iterations are concurrent SIMT threads (``Sync(BLOCK)`` meets all ``thread.*`` iterations of
    one block); ``cluster``/``core`` likewise on an MLU; ``omp`` iterations are independent and may run on any OS thread;
    ``simd`` iterations are independent up to the loop's declared reductions and may run in lanes.
    """

    BLOCK_X = "block.x"
    BLOCK_Y = "block.y"
    BLOCK_Z = "block.z"
    THREAD_X = "thread.x"
    THREAD_Y = "thread.y"
    THREAD_Z = "thread.z"
    CLUSTER = "cluster"
    CORE = "core"
    OMP = "omp"
    SIMD = "simd"

    @property
    def is_block(self) -> bool:
        return self.value.startswith("block.")

    @property
    def is_thread(self) -> bool:
        return self.value.startswith("thread.")


# ----------------------------------------------------------------------------------------------------- expressions


@dataclass(frozen=True, slots=True)
class Const:
    """A literal. Integers within the range of ``type``; floats are stored as the exact double (already rounded to ``type``)."""

    value: int | float | bool
    type: DType


@dataclass(frozen=True, slots=True)
class Var:
    """An immutable scalar or vector value: a ``Let``, a loop variable or a scalar parameter."""

    sym: Sym
    type: Type


@remembers_hash
@dataclass(frozen=True, slots=True)
class Load(Hashed):
    """Reads ``buf[index]``. ``type`` is the buffer's dtype, or ``Vec(dtype, n)`` for n elements contiguous in the last
    dimension from ``index`` on. ``mask`` (a ``Vec(BOOL, n)``) suppresses lanes: they are not accessed and read as zero."""

    buf: Sym
    index: tuple[Expr, ...]
    type: Type
    mask: Expr | None = None


@remembers_hash
@dataclass(frozen=True, slots=True)
class Unary(Hashed):
    """``op`` in UNARY_OPS. Integers wrap. The type is the operand's."""

    op: str
    a: Expr

    @property
    def type(self) -> Type:
        return self.a.type


@remembers_hash
@dataclass(frozen=True, slots=True)
class Binary(Hashed):
    """``op`` in BINARY_OPS; ``a`` and ``b`` have the same type (shift counts too). Integer arithmetic wraps modulo 2^n;
    ``div``/``mod`` truncate as in C (a zero divisor is an error); ``shr`` is arithmetic for signed types; ``min``/``max`` on floats are C's
    ``fmin``/``fmax`` (the other operand wins over NaN). Comparisons give ``bool`` (a mask for vectors)."""

    op: str
    a: Expr
    b: Expr

    @property
    def type(self) -> Type:
        return with_scalar(self.a.type, DType.BOOL) if self.op in COMPARE_OPS else self.a.type


@remembers_hash
@dataclass(frozen=True, slots=True)
class Cast(Hashed):
    """C value conversion of each lane to the element type of ``type`` (float to int truncates; to ``bool`` is ``!= 0``)."""

    a: Expr
    type: Type


@remembers_hash
@dataclass(frozen=True, slots=True)
class Bitcast(Hashed):
    """The same bits as another type of the same total width (``__float_as_int``, ``reinterpret_cast`` on a value)."""

    a: Expr
    type: Type


@remembers_hash
@dataclass(frozen=True, slots=True)
class Select(Hashed):
    """``cond ? a : b``. With a scalar ``cond`` only the chosen side is evaluated; with a mask both are, lane by lane."""

    cond: Expr
    a: Expr
    b: Expr

    @property
    def type(self) -> Type:
        return self.a.type


@remembers_hash
@dataclass(frozen=True, slots=True)
class Math(Hashed):
    """A call of a mathematical function in MATH_FNS; arguments and result have the type ``type``."""

    fn: str
    args: tuple[Expr, ...]
    type: Type


@remembers_hash
@dataclass(frozen=True, slots=True)
class Broadcast(Hashed):
    """A scalar in every lane."""

    a: Expr
    lanes: int

    @property
    def type(self) -> Vec:
        return Vec(scalar(self.a.type), self.lanes)


@remembers_hash
@dataclass(frozen=True, slots=True)
class MakeVec(Hashed):
    """A vector from its lanes, lane 0 first (``make_float4``)."""

    elems: tuple[Expr, ...]

    @property
    def type(self) -> Vec:
        return Vec(scalar(self.elems[0].type), len(self.elems))


@remembers_hash
@dataclass(frozen=True, slots=True)
class Lane(Hashed):
    """Lane ``i`` of a vector, ``i`` a literal (``v.x`` is lane 0)."""

    a: Expr
    i: int

    @property
    def type(self) -> DType:
        return scalar(self.a.type)


@remembers_hash
@dataclass(frozen=True, slots=True)
class Reduce(Hashed):
    """Horizontal reduction of a vector by ``op`` in REDUCE_OPS (``_mm512_reduce_add_ps``); the order is unspecified."""

    op: str
    a: Expr

    @property
    def type(self) -> DType:
        return scalar(self.a.type)


Expr = Const | Var | Load | Unary | Binary | Cast | Bitcast | Select | Math | Broadcast | MakeVec | Lane | Reduce

UNARY_OPS = frozenset({"neg", "bnot", "lnot"})  # arithmetic negation, bitwise not, logical not of a bool
ARITH_OPS = frozenset({"add", "sub", "mul", "div", "mod", "min", "max"})
BIT_OPS = frozenset({"and", "or", "xor", "shl", "shr"})  # and/or/xor also on bool masks
LOGICAL_OPS = frozenset({"land", "lor"})  # on scalar bool, short-circuit
COMPARE_OPS = frozenset({"lt", "le", "gt", "ge", "eq", "ne"})
BINARY_OPS = ARITH_OPS | BIT_OPS | LOGICAL_OPS | COMPARE_OPS
REDUCE_OPS = frozenset({"add", "mul", "min", "max", "and", "or", "xor"})
COMMUTATIVE_OPS = frozenset({"add", "mul", "min", "max", "and", "or", "xor", "eq", "ne"})

# name -> number of arguments; names are those of C's <math.h> without the f suffix. All but abs act on floats.
MATH_FNS: dict[str, int] = {
    "abs": 1, "exp": 1, "exp2": 1, "exp10": 1, "expm1": 1, "log": 1, "log2": 1, "log10": 1, "log1p": 1, "sqrt": 1, "rsqrt": 1,
    "cbrt": 1, "sin": 1, "cos": 1, "tan": 1, "asin": 1, "acos": 1, "atan": 1, "sinh": 1, "cosh": 1, "tanh": 1, "asinh": 1,
    "acosh": 1, "atanh": 1, "erf": 1, "erfc": 1, "floor": 1, "ceil": 1, "trunc": 1, "round": 1, "rint": 1,
    "pow": 2, "atan2": 2, "fmod": 2, "copysign": 2, "hypot": 2, "fma": 3,
}  # fmt: skip


# ------------------------------------------------------------------------------------------------------ statements


@dataclass(frozen=True, slots=True)
class Region:
    """A part of a buffer that a ``Call`` or ``Launch`` touches: ``extent`` elements per dimension from ``index`` on.
    An empty ``extent`` means the single element."""

    buf: Sym
    index: tuple[Expr, ...]
    extent: tuple[Expr, ...] = ()


@dataclass(frozen=True, slots=True)
class Let:
    """Binds ``sym`` to a value for the rest of the enclosing body."""

    sym: Sym
    value: Expr
    loc: Location | None = field(default=None, compare=False)


@dataclass(frozen=True, slots=True)
class Alloc:
    """Creates a buffer, uninitialised unless ``init`` (row-major literals) is given, alive for the rest of the enclosing body.

    ``shape`` is in elements; rank 0 is a mutable scalar, or with a ``Vec`` dtype a mutable vector register (``float4 v``,
    ``__m512``); arrays hold scalars only (an array of ``float4`` is flattened to floats). In a body of bound thread loops
    ``local`` is one copy a thread, while a ``shared`` buffer is allocated between the block loops and the thread loops and is one a block.
    """

    sym: Sym
    dtype: Type
    shape: tuple[Expr, ...]
    space: Space
    init: tuple[Const, ...] | None = None
    loc: Location | None = field(default=None, compare=False)


@dataclass(frozen=True, slots=True)
class Store:
    """Writes ``value`` to ``buf[index]``; a vector value to as many elements contiguous in the last dimension, masked by ``mask``."""

    buf: Sym
    index: tuple[Expr, ...]
    value: Expr
    mask: Expr | None = None
    loc: Location | None = field(default=None, compare=False)


@dataclass(frozen=True, slots=True)
class For:
    """``for (sym = lo; sym < hi; sym += step) body``; bounds and step are evaluated once, step is positive, and ``lo``, ``hi``
    and ``step`` have the type of the loop variable, ``dtype`` (an integer type). The variable does not wrap."""

    sym: Sym
    dtype: DType
    lo: Expr
    hi: Expr
    step: Expr
    body: Body
    axis: Axis | None = None
    loc: Location | None = field(default=None, compare=False)


@dataclass(frozen=True, slots=True)
class While:
    """C's ``while``."""

    cond: Expr
    body: Body
    loc: Location | None = field(default=None, compare=False)


@dataclass(frozen=True, slots=True)
class If:
    """C's ``if``."""

    cond: Expr
    then: Body
    orelse: Body = ()
    loc: Location | None = field(default=None, compare=False)


class Scope(Enum):
    """Who meets at a ``Sync``: the threads of a block, the lanes of a warp, or the whole device between launches."""

    BLOCK = "block"
    WARP = "warp"
    DEVICE = "device"


@dataclass(frozen=True, slots=True)
class Sync:
    """A barrier: no thread of the scope goes on before all live ones have arrived; memory accesses do not cross it."""

    scope: Scope
    loc: Location | None = field(default=None, compare=False)


@dataclass(frozen=True, slots=True)
class Call:
    """An operation that is not an expression: an intrinsic, a cross-thread operation, a host copy.

    ``op`` is a dotted name known to ``synth.intrinsics``; what each expects is documented there. ``dests`` are written, ``args`` are read.
    The cross-thread operations of SIMT code are
      * ``warp.shfl``, ``warp.shfl_up``, ``warp.shfl_down``, ``warp.shfl_xor``: dests (t,), args (mask, value, lane/delta, width)
      * ``warp.all``, ``warp.any``, ``warp.ballot``: dests (t,), args (mask, predicate: bool)
      * ``warp.activemask``: dests (t,), args ()
      * ``warp.sync``: dests (), args (mask,): a barrier of the lanes in the mask
      * ``atomic.add``, ``sub``, ``min``, ``max``, ``exch``, ``and``, ``or``, ``xor``, ``inc``, ``dec``, ``cas``: see ``synth.ir.atomics``
    where a mask has one bit a lane: ``u32`` for warps of 32, ``u64`` for warps of 64
    and the host operations are
      * ``host.copy``: dests (region,), args (region,): equal element counts, flat
      * ``host.fill``: dests (region,), args (value,)
    """

    op: str
    dests: tuple[Region, ...]
    args: tuple[Expr | Region, ...]
    loc: Location | None = field(default=None, compare=False)


@dataclass(frozen=True, slots=True)
class Launch:
    """One kernel launch. ``body`` is the nest ``block.z, block.y, block.x`` { shared Allocs; ``thread.z, thread.y, thread.x``
    { kernel } } with unit steps from 0. All six loops are always present. Launches of one module run in order."""

    kernel: str
    body: Body
    loc: Location | None = field(default=None, compare=False)


@dataclass(frozen=True, slots=True)
class Break:
    loc: Location | None = field(default=None, compare=False)


@dataclass(frozen=True, slots=True)
class Continue:
    loc: Location | None = field(default=None, compare=False)


@dataclass(frozen=True, slots=True)
class Return:
    """Ends this thread of the enclosing ``Launch``, or the entry where there is none."""

    loc: Location | None = field(default=None, compare=False)


Stmt = Let | Alloc | Store | For | While | If | Sync | Call | Launch | Break | Continue | Return
Body = tuple[Stmt, ...]


# ---------------------------------------------------------------------------------------------------------- module


class Role(Enum):
    """What the entry does with a pointer parameter; ``unknown`` until an analysis or the host code says."""

    IN = "in"
    OUT = "out"
    INOUT = "inout"
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class Param:
    """A parameter of the entry. A scalar has ``shape`` None; a pointer is a flat buffer with ``shape`` ``(extent,)`` in elements
    or ``()`` while the extent is unknown. ``space`` is HOST for host pointers, GLOBAL for device pointers."""

    sym: Sym
    dtype: DType
    shape: tuple[Expr, ...] | None = None
    space: Space = Space.HOST
    role: Role = Role.UNKNOWN
    const: bool = False

    @property
    def is_buffer(self) -> bool:
        return self.shape is not None


@dataclass(frozen=True, slots=True)
class Module:
    """One entry: the ``extern "C"`` function of that name with these parameters, kernels inlined at their launches.

    ``dialect`` is what the program was read from or is lowered to. ``assumes`` are boolean expressions over the scalar
    parameters that hold at entry (from ``--bind`` or the host code); passes may rely on them, and they are part of the stated
    evidence. ``result`` is what an entry that returns a status returns (always the same literal: success); None for ``void``.
    ``warp_size`` are the lanes of a warp on the device that the launches are for: what ``warp.*`` and ``Sync(WARP)`` mean depends on it.
    """

    name: str
    params: tuple[Param, ...]
    body: Body
    dialect: str = "c"
    assumes: tuple[Expr, ...] = ()
    result: Const | None = None
    warp_size: int = 32
