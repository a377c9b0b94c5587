"""What is known at a place of a program: ranges of values, definitions, guards, and what follows from them.

Facts are polynomials that are >= 0. Those in ``facts`` are about values that never change and hold to the end of the scope; those in
``current`` also mention private mutable scalars and are dropped at the next store to one of them. Only a walk that calls ``forget`` for
every statement it passes may ask for the second kind, by ``tracked``; without it such facts are not kept at all.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field

from synth.analysis.constraints import constraints, operands
from synth.analysis.normal import normal_form
from synth.analysis.polynomial import Atom, Poly, atom_key, atom_poly, const_poly
from synth.analysis.ranges import Range, product, tighter, truncated_quotient, type_range
from synth.ir.dtypes import DType
from synth.ir.grammar import Binary, Cast, Expr, For, Let, Load, Select, Sym, Var
from synth.ir.traversal import expr_children, walk_expr, written_buffers

MAX_CURRENT = 32  # facts about mutable scalars; older ones go first


@dataclass(slots=True)
class Env:
    """Facts at one place. ``lets`` are definitions in scope, ``ranges`` what is known of symbols by themselves.

    ``loops`` are the enclosing loops, outermost first; ``written`` are the buffers that the module writes anywhere; ``scalars`` bound
    private mutable scalars at all times, ``now`` at this moment.
    """

    lets: dict[Sym, Expr] = field(default_factory=dict)
    ranges: dict[Sym, Range] = field(default_factory=dict)
    facts: tuple[Poly, ...] = ()
    loops: tuple[For, ...] = ()
    written: frozenset[Sym] = frozenset()
    scalars: Mapping[Sym, Range] = field(default_factory=dict)
    tracked: frozenset[Sym] = frozenset()
    current: tuple[Poly, ...] = ()
    now: Mapping[Sym, Range] = field(default_factory=dict)
    _memo: dict[int, tuple[Expr, Poly]] = field(default_factory=dict)
    _atoms: dict[int, tuple[Expr, Range]] = field(default_factory=dict)
    simple: dict[int, tuple[Expr, Expr]] = field(default_factory=dict)  # what ``simplified`` found here, by identity

    # ---------------------------------------------------------------------------------------------------- extension

    def extended(self, **changes: object) -> Env:
        """A copy with other fields and nothing remembered."""
        fields = {name: getattr(self, name) for name in _FIELDS}
        return Env(**{**fields, **changes})

    def with_let(self, let: Let) -> Env:
        env = self.extended(lets={**self.lets, let.sym: let.value})._without_overflow(let.value)
        value = let.value
        if not isinstance(value.type, DType) or value.type.is_float or self.stable(value):
            return env
        # The value is not looked through, since what it loads may change: what is known of it now is kept.
        poly, v = self.normal(value), atom_poly(Var(let.sym, value.type))
        env = env.with_range(let.sym, self.bounds(poly).clamped(value.type))
        if self.tracked and value.type is not DType.BOOL:
            env = env.with_nonnegative(v - poly).with_nonnegative(poly - v)
        return env

    def _without_overflow(self, value: Expr) -> Env:
        """After the evaluation of ``value``: its signed arithmetic did not overflow, which bounds what it is made of."""
        env = self
        for part in _evaluated(value):
            if isinstance(part, Binary) and part.op in ("add", "sub", "mul") and isinstance(part.type, DType) and part.type.is_signed_int:
                poly = env.normal(part)
                known = env.bounds(poly)
                if len(poly.atoms()) == 1 and not known.at_most(part.type.max_int):
                    env = env.with_nonnegative(const_poly(part.type.max_int) - poly)
                if len(poly.atoms()) == 1 and not known.at_least(part.type.min_int):
                    env = env.with_nonnegative(poly - const_poly(part.type.min_int))
        return env

    def with_range(self, sym: Sym, known: Range) -> Env:
        return self.extended(ranges={**self.ranges, sym: self.ranges.get(sym, Range()).meet(known)})

    def with_fact(self, cond: Expr, holds: bool = True) -> Env:
        """Adds what a condition says. Disjunctions say nothing here, which is sound: facts are only ever premises."""
        if isinstance(cond, Binary) and ((cond.op == "land" and holds) or (cond.op == "lor" and not holds)):
            return self.with_fact(cond.a, holds).with_fact(cond.b, holds)
        env = self
        for fact in constraints(cond, holds, self):
            env = env.with_nonnegative(fact)
        return env

    def with_nonnegative(self, fact: Poly) -> Env:
        """Adds that a polynomial is >= 0 now; kept only where it stays true, or where stores that may change it are watched."""
        changing = self.unstable_buffers(fact)
        if not changing:
            return self.extended(facts=(*self.facts, fact))._narrow(fact)
        if changing <= self.tracked:
            return self.extended(current=(*self.current, fact)[-MAX_CURRENT:])._narrow(fact)
        return self

    def _narrow(self, fact: Poly) -> Env:
        """``c*a + rest >= 0`` bounds the atom ``a`` by the interval of the rest."""
        ranges, now = dict(self.ranges), dict(self.now)
        for monomial, c in fact.terms.items():
            if len(monomial) != 1 or not isinstance(monomial[0], Var | Load):
                continue
            rest = self.bounds(Poly({m: k for m, k in fact.terms.items() if m != monomial})).hi
            if rest is None:
                continue
            bound = Range(lo=-(rest // c)) if c > 0 else Range(hi=rest // -c)
            atom = monomial[0]
            if isinstance(atom, Var):
                ranges[atom.sym] = ranges.get(atom.sym, Range()).meet(bound)
            elif atom.buf in self.tracked and not atom.index:
                now[atom.buf] = now.get(atom.buf, Range()).meet(bound)
        return self if ranges == self.ranges and now == self.now else self.extended(ranges=ranges, now=now)

    def with_loop(self, loop: For) -> Env:
        """Inside a loop. What its body may change is forgotten first: this holds in every iteration."""
        lo, hi, step = self.range_of(loop.lo), self.range_of(loop.hi), self.range_of(loop.step)
        upper = None if hi.hi is None else hi.hi - 1
        if lo.lo is not None and lo.lo == lo.hi and step.lo is not None and step.lo == step.hi and upper is not None and step.lo > 0:
            upper = lo.lo + (upper - lo.lo) // step.lo * step.lo
        env = self.with_range(loop.sym, Range(lo.lo, upper).clamped(loop.dtype))
        v = atom_poly(Var(loop.sym, loop.dtype))
        above = [v - self.normal(e) for e in operands(loop.lo, "max")]
        below = [self.normal(e) - v - const_poly(1) for e in operands(loop.hi, "min")]
        stride, span = self.normal(loop.step).constant, self.normal(loop.hi) - self.normal(loop.lo)
        if stride is not None and stride > 1 and all(c % stride == 0 for c in span.terms.values()):
            below.append(self.normal(loop.hi) - v - const_poly(stride))  # the last step is a whole one
        # The bounds are evaluated once, before the loop: a bound that may change meanwhile says nothing later on.
        known = tuple(f for f in (*above, *below) if not self.unstable_buffers(f))
        env = env.extended(loops=(*self.loops, loop), facts=(*env.facts, *known))
        return env.forget(written_buffers(loop.body)) if self.tracked else env

    def with_value(self, buf: Sym, value: Expr) -> Env:
        """After a store of ``value`` to a mutable scalar."""
        env = self.forget((buf,))
        if buf not in self.tracked or not isinstance(value.type, DType) or value.type.is_float or value.type is DType.BOOL:
            return env
        stored = self.normal(value)
        if buf in self.unstable_buffers(stored):
            return env.extended(now={**env.now, buf: self.bounds(stored).clamped(value.type)})
        cell = atom_poly(Load(buf, (), value.type))
        return env.with_nonnegative(cell - stored).with_nonnegative(stored - cell)

    def forget(self, buffers: Iterable[Sym]) -> Env:
        """After buffers may have been written."""
        gone = self.tracked.intersection(buffers)
        if not gone or not (self.current or self.now):
            return self
        facts = self.current
        for cell in sorted({a for f in facts for a in f.atoms() if isinstance(a, Load) and a.buf in gone}, key=atom_key):
            facts = _without_cell(facts, cell)
        kept = tuple(f for f in facts if not (self.unstable_buffers(f) & gone))
        return self.extended(current=kept, now={b: r for b, r in self.now.items() if b not in gone})

    # ------------------------------------------------------------------------------------------------------ stability

    def stable(self, expr: Expr) -> bool:
        """Whether an expression has one value wherever its variables do: it loads from nothing that the module writes."""
        return not any(isinstance(e, Load) and e.buf in self.written for e in walk_expr(expr))

    def unstable_buffers(self, poly: Poly) -> set[Sym]:
        """Buffers that a polynomial loads from and the module writes."""
        return {e.buf for atom in poly.atoms() for e in walk_expr(atom) if isinstance(e, Load) and e.buf in self.written}

    # -------------------------------------------------------------------------------------------------------- ranges

    def normal(self, expr: Expr) -> Poly:
        """The polynomial of an integer expression; what cannot be looked into is an atom. See ``synth.analysis.normal``."""
        found = self._memo.get(id(expr))
        if found is not None and found[0] is expr:
            return found[1]
        # Should the computation come back to this expression, it finds it opaque, which is always true.
        self._memo[id(expr)] = (expr, atom_poly(expr))
        poly = normal_form(expr, self)
        self._memo[id(expr)] = (expr, poly)
        return poly

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
                term = product(term, self.atom_range(atom))
            lo = None if lo is None or term.lo is None else lo + term.lo
            hi = None if hi is None or term.hi is None else hi + term.hi
        return Range(lo, hi)

    def atom_range(self, atom: Atom) -> Range:
        """Bounds of the value of an atom by itself."""
        if isinstance(atom, Var | Load):
            return self._atom_range(atom)
        found = self._atoms.get(id(atom))
        if found is None or found[0] is not atom:
            found = self._atoms[id(atom)] = (atom, self._atom_range(atom))
        return found[1]

    def _atom_range(self, atom: Atom) -> Range:
        own = type_range(atom.type if isinstance(atom.type, DType) and not atom.type.is_float else DType.I64)
        match atom:
            case Var():
                known = self.ranges.get(atom.sym)
                return own if known is None else own.meet(known)
            case Load(index=()):
                return own.meet(self.scalars.get(atom.buf, Range())).meet(self.now.get(atom.buf, Range()))
            case Binary():
                return own.meet(self._binary_range(atom))
            case Select():
                return own.meet(self.range_of(atom.a).join(self.range_of(atom.b)))
            case Cast() if isinstance(atom.a.type, DType) and not atom.a.type.is_float:
                inner = self.range_of(atom.a)
                return inner if isinstance(atom.type, DType) and inner.within(atom.type) else own
            case _:
                return own

    def _binary_range(self, atom: Binary) -> Range:
        if not isinstance(atom.type, DType) or atom.type.is_float:
            return Range()
        if atom.op not in ("div", "mod", "and", "or", "xor", "shr", "min", "max"):
            return Range()
        a, b = self.range_of(atom.a), self.range_of(atom.b)
        match atom.op:
            case "div" if b.value is not None and b.value > 0:
                return Range(truncated_quotient(a.lo, b.value), truncated_quotient(a.hi, b.value))
            case "div" if b.at_least(1) and a.at_least(0):
                return Range(0, None if a.hi is None or b.lo is None else a.hi // b.lo)
            case "mod" if b.at_least(1):
                top = None if b.hi is None else b.hi - 1
                if a.at_least(0):
                    return Range(0, tighter(top, a.hi, highest=False))
                return Range(None if top is None else -top, top)
            case "and" if b.at_least(0) or a.at_least(0):
                return Range(0, tighter(b.hi if b.at_least(0) else None, a.hi if a.at_least(0) else None, highest=False))
            case "or" | "xor" if a.at_least(0) and b.at_least(0) and a.hi is not None and b.hi is not None:
                return Range(0, (1 << max(a.hi, b.hi).bit_length()) - 1)
            case "shr" if b.value is not None and 0 <= b.value < 64:
                return Range(None if a.lo is None else a.lo >> b.value, None if a.hi is None else a.hi >> b.value)
            case "shr" if a.at_least(0):
                return Range(0, a.hi)
            case "min":
                return Range(a.join(b).lo, tighter(a.hi, b.hi, highest=False))
            case "max":
                return Range(tighter(a.lo, b.lo, highest=True), a.join(b).hi)
        return Range()

    # ----------------------------------------------------------------------------------------------------- decisions

    def upper(self, poly: Poly) -> Poly:
        """A polynomial that bounds ``poly`` from above, with loop variables replaced by their last values, innermost first."""
        for loop in reversed(self.loops):
            sym = loop.sym
            powers = [sum(isinstance(atom, Var) and atom.sym == sym for atom in m) for m in poly.terms]
            if not any(powers) or max(powers) > 1:
                continue
            v = Var(sym, loop.dtype)
            c = poly.coefficient(v)
            sign = self.bounds(c)
            if sign.at_least(0):
                end = self.normal(loop.hi) - const_poly(1)
            elif sign.at_most(0):
                end = self.normal(loop.lo)
            else:
                continue
            if not self.unstable_buffers(end):
                poly = poly.without(v) + c * end
        return poly

    def always_positive(self, poly: Poly) -> bool:
        """Whether ``poly >= 1`` follows from ranges, from loop bounds, or from a multiple of one fact plus those."""
        if self._positive(poly):
            return True
        known = (*self.facts, *self.current)
        return any(self._positive(poly - fact.scaled(scale)) for fact in known for scale in _scales(poly, fact))

    def _positive(self, poly: Poly) -> bool:
        return self.bounds(poly).at_least(1) or self.bounds(-self.upper(-poly)).at_least(1)

    def never_negative(self, poly: Poly) -> bool:
        """Whether ``poly >= 0`` follows."""
        return self.always_positive(poly + const_poly(1))

    def fits(self, poly: Poly, dtype: DType) -> bool:
        """Whether every value of ``poly`` is one of the type."""
        known = self.bounds(poly)
        above = known.at_least(dtype.min_int) or self.never_negative(poly - const_poly(dtype.min_int))
        return above and (known.at_most(dtype.max_int) or self.never_negative(const_poly(dtype.max_int) - poly))


_FIELDS = ("lets", "ranges", "facts", "loops", "written", "scalars", "tracked", "current", "now")


def _without_cell(facts: tuple[Poly, ...], cell: Load) -> tuple[Poly, ...]:
    """What facts say without the present value of a variable, where they say what that is equal to."""
    mine = atom_poly(cell)
    for f in facts:
        value = mine - f
        if f.terms.get((cell,)) == 1 and cell not in value.atoms() and -f in facts:
            others = [g.substitute(lambda a, value=value: value if a == cell else None) for g in facts]  # type: ignore[misc]
            return tuple(g for g in others if g.constant is None)
    return facts


def _evaluated(expr: Expr) -> Iterator[Expr]:
    """The subexpressions that are evaluated whenever ``expr`` is: not the sides of lazy operators."""
    yield expr
    if isinstance(expr, Select):
        yield from _evaluated(expr.cond)
        return
    if isinstance(expr, Binary) and expr.op in ("land", "lor"):
        yield from _evaluated(expr.a)
        return
    for child in expr_children(expr):
        yield from _evaluated(child)


def _scales(poly: Poly, fact: Poly) -> Iterator[int]:
    """Positive multiples of a fact that are worth trying: those that cancel one of its terms."""
    seen = {1}
    yield 1
    for monomial, k in fact.terms.items():
        c = poly.terms.get(monomial, 0) if monomial else 0
        if c * k > 0 and c % k == 0 and c // k not in seen:
            seen.add(c // k)
            yield c // k
