"""The body of a vectorised loop: one vector statement for ``lanes`` iterations.

What does not depend on the loop variable stays scalar; what does becomes a vector (``Vec``), conditions on it become masks. A private
buffer of the body that holds lane-dependent values becomes a vector register (rank 0) or gets the lanes as its last dimension.
"""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass, field

from synth.analysis.linear import Env
from synth.analysis.speculation import is_harmless, may_fail
from synth.intrinsics.avx512 import is_register
from synth.ir.builder import const, i32
from synth.ir.dtypes import DType, Type, Vec, scalar
from synth.ir.grammar import (
    Alloc,
    Binary,
    Bitcast,
    Body,
    Break,
    Broadcast,
    Cast,
    Const,
    Continue,
    Expr,
    For,
    If,
    Lane,
    Let,
    Load,
    MakeVec,
    Math,
    Reduce,
    Select,
    Stmt,
    Store,
    Sym,
    Unary,
    Var,
    While,
)
from synth.ir.traversal import substitute_expr, walk, walk_expr
from synth.passes.vector_guard import Guard, conjunction, zero
from synth.passes.vector_varying import depends, varying


class CannotVectorize(Exception):
    """The reason in its message."""


@dataclass(slots=True)
class VectorBody:
    """Rewrites a body for lanes ``x .. x + lanes - 1`` of the loop variable ``x``, which stays in scope as the first lane's value.

    ``env`` is what holds inside the loop, ``reductions`` are the scalars accumulated into, with the vector accumulators that stand for
    them, ``guard`` decides what may be computed for lanes that are off.
    """

    x: Var
    lanes: int
    env: Env
    reductions: dict[Sym, tuple[str, Sym]]
    guard: Guard
    private: dict[Sym, Alloc] = field(default_factory=dict)
    varying: set[Sym] = field(default_factory=set)
    vectors: dict[Sym, Type] = field(default_factory=dict)
    pending: list[Stmt] = field(default_factory=list)
    born: dict[Sym, Expr | None] = field(default_factory=dict)

    def rewrite(self, body: Body, mask: Expr | None) -> Body:
        """The vector body under a mask of active lanes (None: all), the first of which is on."""
        self.guard.occupied.add(mask)
        self.private = {s.sym: s for s in walk(body) if isinstance(s, Alloc)}
        self.varying = varying(body, self.x.sym)
        return self._body(body, self.env, mask)

    # ------------------------------------------------------------------------------------------ what depends on the lane

    def depends(self, expr: Expr) -> bool:
        """Whether an expression may differ between lanes."""
        return depends(expr, self.varying)

    # --------------------------------------------------------------------------------------------------------- statements

    def _body(self, body: Body, env: Env, mask: Expr | None) -> Body:
        out: list[Stmt] = []
        for s in body:
            new = self._stmt(s, env, mask)
            out += [*self.pending, *new]
            self.pending.clear()
            if isinstance(s, Let):
                env = env.with_let(s)
        return tuple(out)

    def _stmt(self, s: Stmt, env: Env, mask: Expr | None) -> Body:
        match s:
            case Let():
                return self._let(s, env, mask)
            case Alloc():
                self.born[s.sym] = mask
                return (self._alloc(s),)
            case Store():
                return self._store(s, env, mask)
            case For():
                return self._for(s, env, mask)
            case While():
                if self.depends(s.cond):
                    raise CannotVectorize(f"an inner loop ends at a condition that depends on '{self.x.sym.name}'")
                return (dataclasses.replace(s, cond=self.guard.once(s.cond, mask, env), body=self._body(s.body, env, mask)),)
            case If():
                return self._if(s, env, mask)
            case Break() | Continue():
                if mask is not None:
                    raise CannotVectorize("a break or continue under a condition that depends on the lane")
                return (s,)
            case _:
                raise CannotVectorize(f"a {type(s).__name__} in the body")

    def _for(self, s: For, env: Env, mask: Expr | None) -> Body:
        if self.depends(s.step) or (self.depends(s.lo) and s.step != const(1, s.dtype)):
            raise CannotVectorize(f"the steps of the inner loop '{s.sym.name}' depend on '{self.x.sym.name}'")
        if not self.depends(s.lo) and not self.depends(s.hi):
            lo, hi, step = (self.guard.once(e, mask, env) for e in (s.lo, s.hi, s.step))
            return (dataclasses.replace(s, lo=lo, hi=hi, step=step, body=self._body(s.body, env.with_loop(s), mask)),)
        return self._uneven(s, env, mask)

    def _uneven(self, s: For, env: Env, mask: Expr | None) -> Body:
        """An inner loop whose bounds differ between lanes runs from the least to the greatest; in each iteration the lanes in their bounds
        work."""
        if any(isinstance(b, Break | Continue) for b in walk(s.body)):
            raise CannotVectorize(f"the inner loop '{s.sym.name}' has bounds that differ between lanes, and is left early")
        lo, hi = self._bound(s.lo, env, mask), self._bound(s.hi, env, mask)
        out: list[Stmt] = [*self.pending]
        self.pending.clear()
        limits: list[Expr] = []
        ends: list[Expr] = []
        here = Var(s.sym, s.dtype)
        for scalar_bound, vector, op in ((s.lo, lo, "min"), (s.hi, hi, "max")):
            if vector is None:
                ends.append(self.guard.once(scalar_bound, mask, env))
                continue
            neutral = const(s.dtype.max_int if op == "min" else s.dtype.min_int, s.dtype)
            active = vector if mask is None else Select(mask, vector, Broadcast(neutral, self.lanes))
            ends.append(Reduce(op, active))
            limits.append(Binary("ge" if op == "min" else "lt", Broadcast(here, self.lanes), vector))
        inside = mask
        for limit in limits:
            inside = conjunction(inside, limit)
        named = Let(Sym("mask"), inside or Broadcast(const(True, DType.BOOL), self.lanes))
        if len(limits) == 1:
            # Every iteration from the least start, or up to the greatest end, is one of some lane that is on.
            self.guard.occupied.add(Var(named.sym, named.value.type))
        body = self._body(s.body, env.with_loop(s), Var(named.sym, named.value.type))
        return (*out, dataclasses.replace(s, lo=ends[0], hi=ends[1], body=(named, *body)))

    def _bound(self, e: Expr, env: Env, mask: Expr | None) -> Expr | None:
        """A bound in all lanes, under a name; None where all lanes share it."""
        if not self.depends(e):
            return None
        let = Let(Sym("bound"), self.vector(e, env, mask))
        self.pending.append(let)
        return Var(let.sym, let.value.type)

    def _let(self, s: Let, env: Env, mask: Expr | None) -> Body:
        if s.sym not in self.varying:
            return (dataclasses.replace(s, value=self.guard.once(s.value, mask, env)),)
        if self._is_index(s.value, env):
            # Indexes are read through their definitions; simplify drops the name when nobody needs it.
            value = self._if_on(mask, 0, s.value) if self._fails_by_lane(s.value) else self.guard.once(s.value, mask, env)
            return (dataclasses.replace(s, value=value),)
        value = self.vector(s.value, env, mask)
        self.vectors[s.sym] = value.type
        return (Let(s.sym, value, s.loc),)

    def _is_index(self, value: Expr, env: Env) -> bool:
        """A lane-dependent integer that can be written as a function of the loop variable: it needs no register."""
        return isinstance(value.type, DType) and value.type.is_int and env.stable(value) and not self._reads_private(value)

    def _reads_private(self, expr: Expr) -> bool:
        return any(
            (isinstance(e, Load) and e.buf in self.varying) or (isinstance(e, Var) and e.sym in self.vectors) for e in walk_expr(expr)
        )

    def _alloc(self, s: Alloc) -> Alloc:
        if s.sym not in self.varying:
            return s
        vector = self._vec(s.dtype)
        if not s.shape:
            return dataclasses.replace(s, dtype=vector)
        if s.init is not None:
            raise CannotVectorize(f"the table '{s.sym.name}' is written")
        return dataclasses.replace(s, shape=(*s.shape, i32(self.lanes)))

    def _store(self, s: Store, env: Env, mask: Expr | None) -> Body:
        if s.buf in self.reductions:
            return (self._accumulate(s, env, mask),)
        if s.buf in self.varying:
            return (self._store_private(s, env, mask),)
        if s.buf in self.private:
            return (s,)
        value = self.vector(s.value, env, mask)
        stride = self._stride(s.index, env)
        if stride == 1:
            return (Store(s.buf, self._address(s.index, env, mask), value, mask, s.loc),)
        if stride == 0:
            raise CannotVectorize(f"all lanes store to one element of '{s.buf.name}'")
        register = Let(Sym(f"{s.buf.name}.lanes"), value)
        named = Var(register.sym, value.type)
        out: list[Stmt] = [register]
        for lane in range(self.lanes):
            index = tuple(self._at_lane(i, lane, env) for i in s.index)
            store = Store(s.buf, index, Lane(named, lane), None, s.loc)
            out.append(If(Lane(mask, lane), (store,)) if mask is not None else store)
        return tuple(out)

    def _store_private(self, s: Store, env: Env, mask: Expr | None) -> Store:
        value = self.vector(s.value, env, mask)
        if not s.index:
            kept = self._private_mask(s.buf, mask)
            if kept is not None:
                value = Select(kept, value, Load(s.buf, (), value.type))
            return Store(s.buf, (), value, None, s.loc)
        if any(self.depends(i) for i in s.index):
            raise CannotVectorize(f"the private array '{s.buf.name}' is indexed by the lane")
        return Store(s.buf, (*self._address(s.index, env, mask), i32(0)), value, self._private_mask(s.buf, mask), s.loc)

    def _private_mask(self, buf: Sym, mask: Expr | None) -> Expr | None:
        """The mask of an access to a private buffer. Lanes off when it was made are off as long as it lives: nobody reads them."""
        return None if mask == self.born.get(buf) else mask

    def _accumulate(self, s: Store, env: Env, mask: Expr | None) -> Store:
        op, register = self.reductions[s.buf]
        own = Load(s.buf, s.index, s.value.type)
        if not isinstance(s.value, Binary):
            raise CannotVectorize(f"'{s.buf.name}' is not accumulated")
        rest = s.value.b if s.value.a == own else s.value.a
        value = self.vector(rest, env, mask)
        old = Load(register, (), value.type)
        new: Expr = Binary(op, old, value)
        if mask is not None:
            new = Select(mask, new, old)
        return Store(register, (), new, None, s.loc)

    def _if(self, s: If, env: Env, mask: Expr | None) -> Body:
        then_env, else_env = env.with_fact(s.cond), env.with_fact(s.cond, False)
        if not self.depends(s.cond):
            once = self.guard.once(s.cond, mask, env)
            return (If(once, self._body(s.then, then_env, mask), self._body(s.orelse, else_env, mask), s.loc),)
        cond = self._named(self.vector(s.cond, env, mask))
        inside = self._named(conjunction(mask, cond))
        outside = self._named(conjunction(mask, Unary("lnot", cond))) if s.orelse else cond
        out: list[Stmt] = [*self.pending]
        self.pending.clear()
        out += self._body(s.then, then_env, inside)
        if s.orelse:
            out += self._body(s.orelse, else_env, outside)
        return tuple(out)

    # -------------------------------------------------------------------------------------------------------- expressions

    def _vec(self, type_: Type) -> Vec:
        if isinstance(type_, Vec):
            raise CannotVectorize("the body has vectors already")
        vector = Vec(type_, self.lanes)
        if not is_register(vector):
            raise CannotVectorize(f"{self.lanes} values of type {type_} do not fill a register")
        return vector

    def vector(self, e: Expr, env: Env, mask: Expr | None) -> Expr:
        """The vector of an expression's values over the lanes."""
        if not self.depends(e):
            self._vec(e.type)
            return Broadcast(self.guard.once(e, mask, env), self.lanes)
        match e:
            case Var():
                if e.sym in self.vectors:
                    return Var(e.sym, self.vectors[e.sym])
                return self._index_vector(e, env, mask)
            case Load():
                return self._load(e, env, mask)
            case Binary(op="land" | "lor"):
                a = self.vector(e.a, env, mask)
                lazily = a if e.op == "land" else Unary("lnot", a)
                inner = mask if self._is_safe(e.b, env) else self._named(conjunction(mask, lazily))
                return Binary("and" if e.op == "land" else "or", a, self.vector(e.b, env, inner))
            case Binary():
                if e.op in ("div", "mod") and isinstance(e.type, DType) and e.type.is_int and not isinstance(e.b, Const):
                    raise CannotVectorize("an integer division by a value that is not a literal")
                self._vec(e.a.type)
                return Binary(e.op, self.vector(e.a, env, mask), self.vector(e.b, env, mask))
            case Unary():
                return Unary(e.op, self.vector(e.a, env, mask))
            case Cast():
                return Cast(self.vector(e.a, env, mask), self._vec(e.type))
            case Bitcast():
                return Bitcast(self.vector(e.a, env, mask), self._vec(e.type))
            case Math():
                return Math(e.fn, tuple(self.vector(a, env, mask) for a in e.args), self._vec(e.type))
            case Select():
                return self._select(e, env, mask)
            case _:
                raise CannotVectorize(f"a {type(e).__name__} in the body")

    def _select(self, e: Select, env: Env, mask: Expr | None) -> Expr:
        if not self.depends(e.cond):
            return Select(self.guard.once(e.cond, mask, env), self.vector(e.a, env, mask), self.vector(e.b, env, mask))
        cond = self._named(self.vector(e.cond, env, mask))
        a = self._side(e.a, env.with_fact(e.cond), mask, cond)
        b = self._side(e.b, env.with_fact(e.cond, False), mask, Unary("lnot", cond))
        return Select(cond, a, b)

    def _side(self, e: Expr, env: Env, mask: Expr | None, cond: Expr) -> Expr:
        """One side of a select; only what may fail needs to know that some lanes are elsewhere."""
        return self.vector(e, env, None if self._is_safe(e, env) else self._named(conjunction(mask, cond)))

    def _is_safe(self, e: Expr, env: Env) -> bool:
        """Whether an expression has a value in lanes that are off, too. Definitions of indexes are computed where they are used."""
        inlined = (x.sym for x in walk_expr(e) if isinstance(x, Var) and x.sym in self.varying and x.sym not in self.vectors)
        return is_harmless(e) and all(self._is_safe(env.lets[s], env) for s in inlined if s in env.lets)

    def _named(self, mask: Expr) -> Expr:
        """A mask under a name, bound before the statement: masks are read many times."""
        if isinstance(mask, Var):
            return mask
        let = Let(Sym("mask"), mask)
        self.pending.append(let)
        return Var(let.sym, mask.type)

    def _fails_by_lane(self, e: Expr) -> bool:
        """Whether a computation that may fail depends on the lane."""
        return any(may_fail(x) and self.depends(x) for x in walk_expr(e))

    def _if_on(self, mask: Expr | None, lane: int, e: Expr) -> Expr:
        """A scalar of one lane, not computed where the lane is off, if that might fail."""
        return e if mask is None or is_harmless(e) else Select(Lane(mask, lane), e, zero(e))

    def _address(self, index: tuple[Expr, ...], env: Env, mask: Expr | None) -> tuple[Expr, ...]:
        """The index of the first lane, computed even if that lane is off."""
        if mask is not None and any(self._fails_by_lane(i) for i in index):
            raise CannotVectorize("an index that may fail in lanes that are off")
        return tuple(self.guard.once(i, mask, env) for i in index)

    def _index_vector(self, e: Var, env: Env, mask: Expr | None) -> Expr:
        """The values of an integer that is linear in the loop variable, or any function of it, one by one."""
        vector = self._vec(e.type)
        definition = env.lets.get(e.sym)
        if e.sym != self.x.sym and definition is None:
            raise CannotVectorize(f"'{e.sym.name}' has no definition in the loop")
        poly = env.normal(e)
        coefficient = poly.terms.get((self.x,))
        linear = coefficient is not None and not any(self.depends(a) for m in poly.terms if m != (self.x,) for a in m)
        if linear and coefficient is not None:
            steps = tuple(const(coefficient * lane, vector.dtype) for lane in range(self.lanes))
            return Binary("add", Broadcast(e, self.lanes), MakeVec(steps))
        if definition is None:
            raise CannotVectorize(f"'{e.sym.name}' has no definition in the loop")
        return MakeVec(tuple(self._if_on(mask, lane, self._at_lane(e, lane, env)) for lane in range(self.lanes)))

    def _load(self, e: Load, env: Env, mask: Expr | None) -> Expr:
        vector = self._vec(e.type)
        if e.buf in self.varying:
            if not e.index:
                return Load(e.buf, (), vector)
            if any(self.depends(i) for i in e.index):
                raise CannotVectorize(f"the private array '{e.buf.name}' is indexed by the lane")
            return Load(e.buf, (*self._address(e.index, env, mask), i32(0)), vector, self._private_mask(e.buf, mask))
        stride = self._stride(e.index, env)
        if stride == 1:
            return Load(e.buf, self._address(e.index, env, mask), vector, mask)
        lanes: list[Expr] = []
        for lane in range(self.lanes):
            one: Expr = Load(e.buf, tuple(self._at_lane(i, lane, env) for i in e.index), vector.dtype)
            lanes.append(self._if_on(mask, lane, one))
        return MakeVec(tuple(lanes))

    def _stride(self, index: tuple[Expr, ...], env: Env) -> int | None:
        """The distance in elements between neighbouring lanes, when it is one literal and only in the last dimension."""
        for i in index:
            if self._reads_private(i):
                raise CannotVectorize("an index computed from lane-private memory")
        if any(self.depends(i) for i in index[:-1]):
            return None
        poly = env.normal(index[-1])
        rest = [a for m in poly.terms if m != (self.x,) for a in m]
        if any(self.depends(a) for a in rest):
            return None
        return poly.terms.get((self.x,), 0)

    def _at_lane(self, e: Expr, lane: int, env: Env) -> Expr:
        """A scalar expression for one lane: definitions inlined, the loop variable moved on."""
        for _ in range(32):
            inlined = {v.sym: env.lets[v.sym] for v in walk_expr(e) if isinstance(v, Var) and v.sym in self.varying and v.sym in env.lets}
            if not inlined:
                break
            e = substitute_expr(e, inlined)
        if self._reads_private(e):
            raise CannotVectorize("an index computed from lane-private memory")
        return e if lane == 0 else substitute_expr(e, {self.x.sym: Binary("add", self.x, const(lane, scalar(self.x.type)))})
