"""Which values are the same in all threads that meet, and which barriers not all of them reach.

A *group* is the threads of a block, or the lanes of a warp (a warp is ``warp_size`` consecutive threads of the linear index
``x + ex * (y + ey * z)``: CUDA C++ Programming Guide, "Hardware Implementation"). A value is *uniform* when all threads of a group that
execute a place have the same value there in the same iteration of the enclosing loops; a place is *divergent* when a decision that is not
uniform lies on the way to it. A private mutable variable is uniform when it only ever receives uniform values at places that are not
divergent.

A thread that returned is no longer awaited at barriers (``Sync`` in ``synth.ir.grammar``), so an early ``return`` makes nothing divergent.
Loads from memory that threads share give the same value at the same address provided that there is no race, which
``synth.analysis.races`` decides.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from synth.analysis.constraints import constraints
from synth.analysis.env import Env
from synth.analysis.linear import env_at, following, step_into
from synth.analysis.polynomial import Atom, Poly, atom_poly, const_poly
from synth.ir.builder import int_value
from synth.ir.dtypes import DType
from synth.ir.grammar import (
    Alloc,
    Axis,
    Binary,
    Body,
    Break,
    Call,
    Const,
    Continue,
    Expr,
    For,
    If,
    Launch,
    Let,
    Load,
    Module,
    Scope,
    Space,
    Stmt,
    Store,
    Sym,
    Sync,
    Var,
    While,
)
from synth.ir.traversal import bodies, expr_children, walk

VOTES = frozenset({"warp.all", "warp.any", "warp.ballot", "warp.activemask"})


@dataclass(frozen=True, slots=True)
class Uniformity:
    """``varying`` are the values and private buffers that may differ between threads of a group; ``divergent`` the barriers and
    cross-thread operations of the group that lie at divergent places, in program order."""

    varying: frozenset[Sym]
    divergent: tuple[Stmt, ...]
    _analysis: _Analysis

    def is_uniform(self, expr: Expr, env: Env | None = None) -> bool:
        """Whether an expression has one value in all threads of a group; ``env`` (what holds at its place) sharpens the answer."""
        return not self._analysis.varies(expr, env or self._analysis.start)


def block_uniformity(module: Module, launch: Launch) -> Uniformity:
    """What is uniform over the threads of a block."""
    return _analysed(module, launch, Scope.BLOCK, 0)


def warp_uniformity(module: Module, launch: Launch, warp_size: int) -> Uniformity:
    """What is uniform over the lanes of a warp of ``warp_size`` threads."""
    return _analysed(module, launch, Scope.WARP, warp_size)


def _analysed(module: Module, launch: Launch, scope: Scope, warp_size: int) -> Uniformity:
    analysis = _Analysis(launch, scope, warp_size, env_at(module, launch))
    while True:
        before = (len(analysis.varying), len(analysis.split))
        analysis.divergent.clear()
        analysis.visit(launch.body, analysis.start, False)
        if before == (len(analysis.varying), len(analysis.split)):
            return Uniformity(frozenset(analysis.varying), tuple(analysis.divergent), analysis)


@dataclass(slots=True)
class _Analysis:
    """Grows ``varying`` (symbols) and ``split`` (loops, by identity, whose iterations not all threads make) to a fixed point."""

    launch: Launch
    scope: Scope
    warp_size: int
    start: Env
    varying: set[Sym] = field(default_factory=set)
    split: set[int] = field(default_factory=set)
    divergent: list[Stmt] = field(default_factory=list)
    private: set[Sym] = field(default_factory=set)
    units: list[tuple[Poly, int]] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.private = {s.sym for s in walk(self.launch.body) if isinstance(s, Alloc) and s.space is Space.LOCAL}
        threads = {s.axis: s for s in walk(self.launch.body) if isinstance(s, For) and s.axis is not None and s.axis.is_thread}
        order = [threads[a] for a in (Axis.THREAD_X, Axis.THREAD_Y, Axis.THREAD_Z) if a in threads]
        extents = [int_value(loop.hi) for loop in order]
        self.varying |= {loop.sym for loop, extent in zip(order, extents, strict=True) if extent != 1}
        if self.scope is Scope.WARP and self.warp_size > 1:
            self._warps(order, extents)

    def _warps(self, order: list[For], extents: list[int | None]) -> None:
        """``units`` are values v with periods p such that ``v / p`` is uniform: the linear index by the warp size, and rows of a block that
        are a whole part of a warp by the number of them in one. A dimension above whole warps is uniform by itself."""
        linear, below = Poly(), 1
        for loop, extent in zip(order, extents, strict=True):
            v = atom_poly(Var(loop.sym, loop.dtype))
            if below % self.warp_size == 0:
                self.varying.discard(loop.sym)
            elif self.warp_size % below == 0:
                self.units.append((v, self.warp_size // below))
            linear = linear + v.scaled(below)
            if extent is None:
                # Of rows of unknown length only a single one is known to lie along warps.
                if any(e != 1 for e in extents[order.index(loop) + 1 :]):
                    self.units.clear()
                return
            below *= extent
        self.units.append((linear, self.warp_size))
        # A row that neither holds whole warps nor is a whole part of one starts anywhere in a warp: rows then say nothing.
        first = 1
        for position, extent in enumerate(extents[:-1]):
            first *= extent or 1
            if self.warp_size % first and first % self.warp_size and any(e != 1 for e in extents[position + 1 :]):
                self.units = [(linear, self.warp_size)]
                return

    # ---------------------------------------------------------------------------------------------------- expressions

    def varies(self, expr: Expr, env: Env) -> bool:
        """Whether an expression may differ between threads of a group."""
        if isinstance(expr.type, DType) and expr.type.is_int:
            poly = env.normal(expr)
            return any(self._atom_varies(a, env) for a in poly.atoms())
        if self.units and isinstance(expr, Binary) and expr.op in ("lt", "le", "gt", "ge") and self._decides_whole_warps(expr, env):
            return False
        return self._children_vary(expr, env)

    def _atom_varies(self, atom: Atom, env: Env) -> bool:
        return not (isinstance(atom, Binary) and self._counts_warps(atom, env)) and self._children_vary(atom, env)

    def _children_vary(self, expr: Expr, env: Env) -> bool:
        if isinstance(expr, Var):
            return expr.sym in self.varying
        if isinstance(expr, Load) and expr.buf in self.private & self.varying:
            return True
        return any(self.varies(e, env) for e in expr_children(expr))

    # v / (k*p) with v = unit + m, m a uniform multiple of p, v >= 0: floor(v / (k*p)) = floor((floor(unit / p) + m / p) / k).
    def _counts_warps(self, atom: Binary, env: Env) -> bool:
        if atom.op != "div" or not isinstance(atom.b, Const):
            return False
        d, dividend = int(atom.b.value), env.normal(atom.a)
        if d <= 0 or not env.never_negative(dividend):
            return False
        return any(d % period == 0 and self._is_multiple(dividend - unit, period, 0, env) for unit, period in self.units)

    # unit < m (or >= m) with m a uniform multiple of the period has one answer for all units with one quotient by it.
    def _decides_whole_warps(self, cond: Binary, env: Env) -> bool:
        facts = list(constraints(cond, True, env))
        return len(facts) == 1 and any(
            self._is_multiple(facts[0] + unit, period, period - 1, env) or self._is_multiple(facts[0] - unit, period, 0, env)
            for unit, period in self.units
        )

    def _is_multiple(self, poly: Poly, period: int, offset: int, env: Env) -> bool:
        """Whether a polynomial is uniform and ``offset`` modulo ``period``."""
        rest = poly - const_poly(offset)
        return all(c % period == 0 for c in rest.terms.values()) and not any(self._atom_varies(a, env) for a in rest.atoms())

    # ----------------------------------------------------------------------------------------------------- statements

    def visit(self, body: Body, env: Env, divergent: bool) -> set[type]:
        """Walks a body; which of ``Break`` and ``Continue`` leave it at divergent places."""
        left: set[type] = set()
        for stmt in body:
            gone = self._statement(stmt, env, divergent)
            left |= gone
            divergent = divergent or bool(gone)
            env = following(env, stmt)
        return left

    def _statement(self, stmt: Stmt, env: Env, divergent: bool) -> set[type]:
        match stmt:
            case Let():
                if self.varies(stmt.value, env):
                    self.varying.add(stmt.sym)
            case Store():
                read = (*stmt.index, stmt.value, *((stmt.mask,) if stmt.mask is not None else ()))
                if stmt.buf in self.private and (divergent or any(self.varies(e, env) for e in read)):
                    self.varying.add(stmt.buf)
            case Call():
                self._call(stmt, env, divergent)
            case Sync():
                if divergent and stmt.scope is self.scope:
                    self.divergent.append(stmt)
            case For():
                if any(self.varies(e, env) for e in (stmt.lo, stmt.step)):
                    self.varying.add(stmt.sym)
                parallel = stmt.axis is not None
                self._loop(
                    stmt, stmt.body, env, divergent, not parallel and any(self.varies(e, env) for e in (stmt.lo, stmt.hi, stmt.step))
                )
            case While():
                inner = step_into(env, stmt, 0)
                self._loop(stmt, stmt.body, env, divergent, self.varies(stmt.cond, inner))
            case If():
                apart = divergent or self.varies(stmt.cond, env)
                return set().union(*(self.visit(b, step_into(env, stmt, k), apart) for k, b in enumerate(bodies(stmt))))
            case Break() | Continue():
                return {type(stmt)} if divergent else set()
        return set()

    def _loop(self, loop: For | While, body: Body, env: Env, divergent: bool, splits: bool) -> None:
        apart = divergent or splits or id(loop) in self.split
        left = self.visit(body, step_into(env, loop, 0), apart)
        if splits or Break in left:
            self.split.add(id(loop))

    def _call(self, call: Call, env: Env, divergent: bool) -> None:
        if call.op.startswith("warp.") and self.scope is Scope.WARP:
            if divergent:
                self.divergent.append(call)
            uniform = not divergent and (self._votes(call, env) or self._broadcasts(call, env))
        else:
            uniform = False
        if not uniform:
            self.varying |= {d.buf for d in call.dests if d.buf in self.private}

    def _votes(self, call: Call, env: Env) -> bool:
        """Whether a vote gives all lanes the same: those over different masks do not."""
        return call.op in VOTES and not any(isinstance(mask, Expr) and self.varies(mask, env) for mask in call.args[:1])

    def _broadcasts(self, call: Call, env: Env) -> bool:
        """Whether a shuffle gives all lanes of a whole warp the value of one lane."""
        if call.op != "warp.shfl" or len(call.args) != 4:
            return False
        lane, width = call.args[2], call.args[3]
        exprs = [e for e in (lane, width) if not isinstance(e, Load) or e.buf not in self.varying]
        if len(exprs) != 2 or any(self.varies(e, env) for e in exprs):  # type: ignore[arg-type]
            return False
        return isinstance(width, Const) and int(width.value) == self.warp_size
