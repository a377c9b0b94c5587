"""What is known at a place of a program: ranges of values, definitions, guards; and normal forms of index expressions under it.

Machine integers are treated as mathematical ones only where that is sound: unsigned arithmetic and narrowing casts enter a normal form only
if interval analysis shows that they cannot wrap; signed overflow is undefined in the source languages and assumed absent.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from synth.analysis.polynomial import Atom, Poly, atom_key, atom_poly, const_poly
from synth.ir.dtypes import DType
from synth.ir.grammar import (
    Alloc,
    Binary,
    Break,
    Cast,
    Const,
    Continue,
    Expr,
    For,
    If,
    Let,
    Load,
    Module,
    Return,
    Select,
    Stmt,
    Sym,
    Unary,
    Var,
    While,
)
from synth.ir.traversal import walk, walk_expr


@dataclass(frozen=True, slots=True)
class Range:
    """Inclusive bounds; None is unbounded."""

    lo: int | None = None
    hi: int | None = None

    def within(self, dtype: DType) -> bool:
        """Whether all values fit an integer type."""
        return self.lo is not None and self.hi is not None and dtype.min_int <= self.lo and self.hi <= dtype.max_int

    def meet(self, other: Range) -> Range:
        return Range(_tighter(self.lo, other.lo, max), _tighter(self.hi, other.hi, min))

    def clamped(self, dtype: DType) -> Range:
        """The bounds met with those of an integer type."""
        return self.meet(Range(dtype.min_int, dtype.max_int))


def _tighter(a: int | None, b: int | None, pick: object) -> int | None:
    if a is None or b is None:
        return a if b is None else b
    return pick(a, b)  # type: ignore[operator,no-any-return]


@dataclass(slots=True)
class Env:
    """Facts at one place. ``lets`` are definitions in scope, ``ranges`` what is known of symbols by themselves, ``facts`` are
    polynomials that are >= 0.

    ``loops`` are the enclosing loops, outermost first; ``written`` are the buffers that the module writes anywhere.
    """

    lets: dict[Sym, Expr] = field(default_factory=dict)
    ranges: dict[Sym, Range] = field(default_factory=dict)
    facts: tuple[Poly, ...] = ()
    loops: tuple[For, ...] = ()
    written: frozenset[Sym] = frozenset()
    _memo: dict[int, tuple[Expr, Poly]] = field(default_factory=dict)

    # ---------------------------------------------------------------------------------------------------- extension

    def _extended(self, **changes: object) -> Env:
        fields = {"lets": self.lets, "ranges": self.ranges, "facts": self.facts, "loops": self.loops, "written": self.written}
        return Env(**{**fields, **changes})  # type: ignore[arg-type]

    def with_let(self, let: Let) -> Env:
        return self._extended(lets={**self.lets, let.sym: let.value})

    def with_range(self, sym: Sym, known: Range) -> Env:
        return self._extended(ranges={**self.ranges, sym: self.ranges.get(sym, Range()).meet(known)})

    def with_fact(self, cond: Expr, holds: bool = True) -> Env:
        """Adds what a condition says. Disjunctions say nothing here, which is sound: facts are only ever premises."""
        env = self
        for fact in constraints(cond, holds, self):
            if not all(self.stable(atom) for atom in fact.atoms()):
                continue
            env = env._extended(facts=(*env.facts, fact))
            env = env._narrow(fact)
        return env

    def _narrow(self, fact: Poly) -> Env:
        """A fact about one symbol alone tightens its range."""
        atoms = fact.atoms()
        if len(atoms) != 1 or not fact.is_linear():
            return self
        (atom,) = atoms
        if not isinstance(atom, Var):
            return self
        c, k = fact.terms[(atom,)], fact.offset
        if c > 0:
            return self.with_range(atom.sym, Range(lo=-(k // c)))
        return self.with_range(atom.sym, Range(hi=k // -c))

    def with_loop(self, loop: For) -> Env:
        lo, hi, step = self.range_of(loop.lo), self.range_of(loop.hi), self.range_of(loop.step)
        upper = None if hi.hi is None else hi.hi - 1
        if lo.lo is not None and lo.lo == lo.hi and step.lo is not None and step.lo == step.hi and upper is not None and step.lo > 0:
            upper = lo.lo + (upper - lo.lo) // step.lo * step.lo
        env = self.with_range(loop.sym, Range(lo.lo, upper).clamped(loop.dtype))
        v = atom_poly(Var(loop.sym, loop.dtype))
        above = [v - self.normal(e) for e in _operands(loop.lo, "max")]
        below = [self.normal(e) - v - const_poly(1) for e in _operands(loop.hi, "min")]
        stride, span = self.normal(loop.step).constant, self.normal(loop.hi) - self.normal(loop.lo)
        if stride is not None and stride > 1 and all(c % stride == 0 for c in span.terms.values()):
            below.append(self.normal(loop.hi) - v - const_poly(stride))  # the last step is a whole one
        return env._extended(loops=(*self.loops, loop), facts=(*env.facts, *above, *below))

    # -------------------------------------------------------------------------------------------------------- ranges

    def range_of(self, expr: Expr) -> Range:
        """Bounds of the value of an integer or bool expression."""
        if not isinstance(expr.type, DType) or expr.type.is_float:
            return Range()
        return self.bounds(self.normal(expr)).clamped(expr.type)

    def bounds(self, poly: Poly) -> Range:
        """Bounds of a polynomial by intervals of its atoms."""
        lo: int | None = 0
        hi: int | None = 0
        for monomial, c in poly.terms.items():
            term = Range(c, c)
            for atom in monomial:
                term = _times(term, self.atom_range(atom))
            lo = None if lo is None or term.lo is None else lo + term.lo
            hi = None if hi is None or term.hi is None else hi + term.hi
        return Range(lo, hi)

    def atom_range(self, atom: Atom) -> Range:
        dtype = atom.type if isinstance(atom.type, DType) and not atom.type.is_float else DType.I64
        own = Range(dtype.min_int, dtype.max_int)
        match atom:
            case Var():
                known = self.ranges.get(atom.sym)
                return own if known is None else own.meet(known)
            case Binary(op="div", b=Const(value=int() as d)) if d > 0:
                a = self.range_of(atom.a)
                return Range(_divided(a.lo, d), _divided(a.hi, d)).meet(own)
            case Binary(op="mod", b=Const(value=int() as d)) if d > 0:
                a = self.range_of(atom.a)
                if a.lo is not None and a.lo >= 0:
                    return Range(0, min(d - 1, a.hi) if a.hi is not None else d - 1)
                return Range(1 - d, d - 1)
            case Binary(op="and", b=Const(value=int() as mask)) if mask >= 0:
                return Range(0, mask)
            case Binary(op="shr", b=Const(value=int() as d)) if 0 <= d < 63:
                a = self.range_of(atom.a)
                return Range(None if a.lo is None else a.lo >> d, None if a.hi is None else a.hi >> d).meet(own)
            case Binary(op="min"):
                a, b = self.range_of(atom.a), self.range_of(atom.b)
                low = None if a.lo is None or b.lo is None else min(a.lo, b.lo)
                return Range(low, _tighter(a.hi, b.hi, min)).meet(own)
            case Binary(op="max"):
                a, b = self.range_of(atom.a), self.range_of(atom.b)
                hi = None if a.hi is None or b.hi is None else max(a.hi, b.hi)
                return Range(_tighter(a.lo, b.lo, max), hi).meet(own)
            case Select():
                a, b = self.range_of(atom.a), self.range_of(atom.b)
                lo = None if a.lo is None or b.lo is None else min(a.lo, b.lo)
                hi = None if a.hi is None or b.hi is None else max(a.hi, b.hi)
                return Range(lo, hi).meet(own)
            case Cast() if isinstance(atom.a.type, DType) and not atom.a.type.is_float:
                inner = self.range_of(atom.a)
                return inner if inner.within(dtype) else own
            case _:
                return own

    # -------------------------------------------------------------------------------------------------- normal forms

    def normal(self, expr: Expr) -> Poly:
        """The polynomial of an integer expression; what cannot be looked into is an atom."""
        found = self._memo.get(id(expr))
        if found is not None and found[0] is expr:
            return found[1]
        poly = merge_quotients(self._normal(expr))
        self._memo[id(expr)] = (expr, poly)
        return poly

    def _normal(self, expr: Expr) -> Poly:
        match expr:
            case Const(value=bool() as flag):
                return const_poly(int(flag))
            case Const(value=int() as value):
                return const_poly(value)
            case Var(sym=sym) if sym in self.lets and self._is_integer(self.lets[sym]) and self.stable(self.lets[sym]):
                return self.normal(self.lets[sym])
            case Binary(op="add" | "sub" | "mul" | "shl") if isinstance(expr.type, DType) and expr.type.is_int:
                return self._arithmetic(expr, expr.type)
            case Binary(op="shr", b=Const(value=int() as d)) if 0 <= d < 31 and self._nonnegative(expr.a):
                return self._quotient(expr.a, 1 << d, "div")
            case Binary(op="and", b=Const(value=int() as mask)) if mask >= 0 and mask & (mask + 1) == 0 and self._nonnegative(expr.a):
                return self._quotient(expr.a, mask + 1, "mod")
            case Binary(op="div" | "mod", b=b):
                divisor = self.normal(b).constant
                if divisor is not None and divisor > 0 and self._nonnegative(expr.a):
                    return self._quotient(expr.a, divisor, expr.op)
                return atom_poly(self._resolved(expr))
            case Binary(op="min" | "max") if isinstance(expr.type, DType) and expr.type.is_int:
                x, y = self.normal(expr.a), self.normal(expr.b)
                low, high = (x, y) if expr.op == "min" else (y, x)
                if _at_least(self.bounds(high - low), 0):
                    return x
                return y if _at_least(self.bounds(low - high), 0) else atom_poly(self._resolved(expr))
            case Unary(op="neg") if isinstance(expr.type, DType) and expr.type.is_signed_int:
                return -self.normal(expr.a)
            case Cast(a=a, type=DType() as target) if target.is_int and self._is_integer(a):
                inner = self.normal(a)
                source = a.type
                widening = isinstance(source, DType) and source.min_int >= target.min_int and source.max_int <= target.max_int
                return inner if widening or self.bounds(inner).within(target) else atom_poly(self._resolved(expr))
            case _:
                return atom_poly(self._resolved(expr))

    def _arithmetic(self, expr: Binary, dtype: DType) -> Poly:
        a, b = self.normal(expr.a), self.normal(expr.b)
        if expr.op == "shl":
            shift = b.constant
            if shift is None or not 0 <= shift < dtype.bits:
                return atom_poly(self._resolved(expr))
            poly = a.scaled(1 << shift)
        else:
            poly = {"add": a.__add__, "sub": a.__sub__, "mul": a.__mul__}[expr.op](b)
        if dtype.is_unsigned_int and not self.bounds(merge_quotients(poly)).within(dtype):
            return atom_poly(self._resolved(expr))
        return poly

    def _quotient(self, a: Expr, d: int, op: str) -> Poly:
        """``a / d`` or ``a % d`` of a non-negative value: exact parts leave the division, the rest is an atom over the normal form."""
        poly = self.normal(a)
        if poly.constant is not None:
            return const_poly(poly.constant // d if op == "div" else poly.constant % d)
        exact = Poly({m: c // d for m, c in poly.terms.items() if c % d == 0})
        rest = Poly({m: c for m, c in poly.terms.items() if c % d})
        known = self.bounds(rest)
        if known.lo is not None and known.lo >= 0:
            if known.hi is not None and known.hi < d:
                return exact if op == "div" else rest
            atom = Binary(op, to_expr(rest), Const(d, DType.I64))
            return exact + atom_poly(atom) if op == "div" else atom_poly(atom)
        return atom_poly(Binary(op, to_expr(poly), Const(d, DType.I64)))

    def _resolved(self, expr: Expr) -> Expr:
        """An opaque atom, its definitions looked through so that equal values are equal atoms."""
        from synth.ir.traversal import substitute_expr

        for _ in range(8):
            used = {e.sym for e in walk_expr(expr) if isinstance(e, Var) and e.sym in self.lets and self.stable(self.lets[e.sym])}
            if not used:
                break
            expr = substitute_expr(expr, {s: self.lets[s] for s in used})
        return expr

    def stable(self, expr: Expr) -> bool:
        """Whether an expression has one value wherever its variables do: it loads from nothing that the module writes."""
        return not any(isinstance(e, Load) and e.buf in self.written for e in walk_expr(expr))

    def _nonnegative(self, expr: Expr) -> bool:
        lo = self.bounds(self.normal(expr)).lo
        return lo is not None and lo >= 0

    def _is_integer(self, expr: Expr) -> bool:
        return isinstance(expr.type, DType) and not expr.type.is_float

    # ----------------------------------------------------------------------------------------------------- decisions

    def upper(self, poly: Poly) -> Poly:
        """A polynomial that bounds ``poly`` from above, with loop variables replaced by their last values, innermost first."""
        for loop in reversed(self.loops):
            v = Var(loop.sym, loop.dtype)
            if v not in poly.atoms() or any(m.count(v) > 1 for m in poly.terms):
                continue
            c = poly.coefficient(v)
            sign = self.bounds(c)
            if sign.lo is not None and sign.lo >= 0:
                poly = poly.without(v) + c * (self.normal(loop.hi) - const_poly(1))
            elif sign.hi is not None and sign.hi <= 0:
                poly = poly.without(v) + c * self.normal(loop.lo)
        return poly

    def always_positive(self, poly: Poly) -> bool:
        """Whether ``poly >= 1`` follows from ranges, from loop bounds, or from one fact plus those."""
        if _at_least(self.bounds(poly), 1) or _at_least(self.bounds(-self.upper(-poly)), 1):
            return True
        for fact in self.facts:
            rest = poly - fact
            if _at_least(self.bounds(rest), 1) or _at_least(self.bounds(-self.upper(-rest)), 1):
                return True
        return False

    def never_negative(self, poly: Poly) -> bool:
        """Whether ``poly >= 0`` follows."""
        return self.always_positive(poly + const_poly(1))


def _operands(e: Expr, op: str) -> list[Expr]:
    """The operands of nested ``min`` (or ``max``): a bound below the minimum is below each of them."""
    if isinstance(e, Binary) and e.op == op:
        return [*_operands(e.a, op), *_operands(e.b, op)]
    return [e]


def _at_least(known: Range, value: int) -> bool:
    return known.lo is not None and known.lo >= value


def _divided(value: int | None, d: int) -> int | None:
    if value is None:
        return None
    return value // d if value >= 0 else -(-value // d)


def _times(a: Range, b: Range) -> Range:
    if None in (a.lo, a.hi, b.lo, b.hi):
        if a.lo is not None and a.lo >= 0 and b.lo is not None and b.lo >= 0:
            return Range(a.lo * b.lo, None)
        return Range()
    products = [x * y for x in (a.lo, a.hi) for y in (b.lo, b.hi)]  # type: ignore[operator]
    return Range(min(products), max(products))


def merge_quotients(poly: Poly) -> Poly:
    """``d * (x / d) + x % d`` is ``x`` (C11 6.5.5), also where both are multiplied by one thing, and for a ``d`` that is a symbol."""
    for monomial, c in poly.terms.items():
        for atom in monomial:
            if not (isinstance(atom, Binary) and atom.op == "mod" and isinstance(atom.b, Const | Var)):
                continue
            others = list(monomial)
            others.remove(atom)
            quotient = Binary("div", atom.a, atom.b)
            symbolic = isinstance(atom.b, Var)
            partner = tuple(sorted([*others, quotient, *([atom.b] if symbolic else [])], key=atom_key))
            wanted = c if symbolic else c * int(atom.b.value) if isinstance(atom.b, Const) else 0
            if poly.terms.get(partner) == wanted:
                rest = Poly({m: k for m, k in poly.terms.items() if m not in (monomial, partner)})
                whole = Env().normal(atom.a) * Poly({tuple(others): c})
                return merge_quotients(rest + whole)
    return poly


def to_expr(poly: Poly) -> Expr:
    """An i64 expression with the value of a polynomial, in a canonical order."""
    total: Expr | None = None
    for monomial, c in sorted(poly.terms.items(), key=lambda item: [atom_key(a) for a in item[0]]):
        term: Expr = Const(c, DType.I64)
        for atom in monomial:
            wide = atom if atom.type == DType.I64 else Cast(atom, DType.I64)
            term = wide if term == Const(1, DType.I64) else Binary("mul", term, wide)
        total = term if total is None else Binary("add", total, term)
    return total or Const(0, DType.I64)


def constraints(cond: Expr, holds: bool, env: Env) -> Iterable[Poly]:
    """Polynomials that are >= 0 when ``cond`` has the value ``holds``."""
    one = const_poly(1)
    match cond:
        case Binary(op="land") if holds:
            yield from constraints(cond.a, True, env)
            yield from constraints(cond.b, True, env)
        case Binary(op="lor") if not holds:
            yield from constraints(cond.a, False, env)
            yield from constraints(cond.b, False, env)
        case Binary(op="and") if holds and cond.type is DType.BOOL:
            yield from constraints(cond.a, True, env)
            yield from constraints(cond.b, True, env)
        case Unary(op="lnot"):
            yield from constraints(cond.a, not holds, env)
        case Var(sym=sym) if sym in env.lets:
            yield from constraints(env.lets[sym], holds, env)
        case Binary(op="lt" | "le" | "gt" | "ge" | "eq" | "ne") if isinstance(cond.a.type, DType) and not cond.a.type.is_float:
            a, b = env.normal(cond.a), env.normal(cond.b)
            op = cond.op if holds else {"lt": "ge", "ge": "lt", "le": "gt", "gt": "le", "eq": "ne", "ne": "eq"}[cond.op]
            if op in ("lt", "le"):
                yield b - a - (one if op == "lt" else Poly())
            elif op in ("gt", "ge"):
                yield a - b - (one if op == "gt" else Poly())
            elif op == "eq":
                yield a - b
                yield b - a


def module_env(module: Module) -> Env:
    """What holds at entry."""
    from synth.ir.traversal import written_buffers

    env = Env(written=frozenset(written_buffers(module.body)))
    for cond in module.assumes:
        env = env.with_fact(cond)
    return env


def step_into(env: Env, stmt: Stmt, branch: int) -> Env:
    """The environment inside the ``branch``-th body of a statement."""
    match stmt:
        case For():
            return env.with_loop(stmt)
        case If():
            return env.with_fact(stmt.cond, branch == 0)
        case While():
            return env.with_fact(stmt.cond) if not _changes(stmt) else env
        case _:
            return env


def following(env: Env, stmt: Stmt) -> Env:
    """The environment after a statement: its definition, or the negation of a condition under which control leaves."""
    match stmt:
        case Let():
            return env.with_let(stmt)
        case If(then=(*_, Return() | Break() | Continue()), orelse=()):
            return env.with_fact(stmt.cond, False)
        case _:
            return env


def _changes(loop: While) -> bool:
    """Whether the condition may turn false within the body: its loads may be written there."""
    from synth.ir.traversal import written_buffers

    return any(isinstance(e, Load) and e.buf in written_buffers(loop.body) for e in walk_expr(loop.cond))


def env_at(module: Module, target: Stmt) -> Env:
    """What is known just before a statement, found by identity. Raises KeyError when it is not in the module."""
    found = _env_at(module.body, target, module_env(module))
    if found is None:
        raise KeyError("the statement is not in the module")
    return found


def _env_at(body: tuple[Stmt, ...], target: Stmt, env: Env) -> Env | None:
    from synth.ir.traversal import bodies

    for stmt in body:
        if stmt is target:
            return env
        for branch, inner in enumerate(bodies(stmt)):
            found = _env_at(inner, target, step_into(env, stmt, branch))
            if found is not None:
                return found
        env = following(env, stmt)
    return None


def private_buffers(body: tuple[Stmt, ...]) -> set[Sym]:
    """Buffers allocated in a body: fresh in every iteration."""
    return {s.sym for s in walk(body) if isinstance(s, Alloc)}
