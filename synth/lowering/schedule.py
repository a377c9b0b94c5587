"""Which loops to run in vectors: the cheapest choice for every nest under the static cost model. In a nest, one loop at most on every
path."""

from __future__ import annotations

from dataclasses import dataclass

from synth.analysis.linear import Env, module_env, step_into
from synth.ir.dtypes import Vec
from synth.ir.grammar import Alloc, Binary, Body, Expr, For, If, Let, Load, Math, Module, Select, Store, Sym, Var
from synth.ir.traversal import all_exprs, bodies, expr_children, site_names, stmt_exprs, walk, walk_expr
from synth.lowering.cost import EXPENSIVE, GATHER, MATH_COST, count_of
from synth.passes.arithmetic import is_integer
from synth.passes.base import Legal
from synth.passes.parallelize import Parallelize
from synth.passes.vectorize import Vectorize, widest
from synth.spec import DeviceSpec

MASK = 1.0  # a vector under a mask, against one without
HORIZONTAL = 8.0  # folding a vector to a scalar
LOOP = 2.0  # starting a loop
ARITHMETIC = 0.5
SOME_CORES = 4  # what a result should be able to use, even where the device at hand has fewer


@dataclass(frozen=True, slots=True)
class Choice:
    """Modelled cycles of a loop, and what to vectorise in it: sites with lanes, outermost first."""

    cycles: float
    vectors: tuple[Vectorize, ...] = ()


@dataclass(slots=True)
class Scheduler:
    """Costs and choices for one module."""

    module: Module
    spec: DeviceSpec

    def choose(self) -> tuple[Vectorize, ...]:
        """The loops to vectorise, with lanes."""
        return self._body(self.module.body, module_env(self.module), True).vectors

    def _body(self, body: Body, env: Env, outermost: bool = False) -> Choice:
        cycles = 0.0
        vectors: list[Vectorize] = []
        for stmt in body:
            if isinstance(stmt, For):
                best = self._loop(stmt, env, outermost)
                cycles, vectors = cycles + best.cycles, [*vectors, *best.vectors]
                continue
            cycles += sum(_Cost(None, 1).expr(e, env) for e in stmt_exprs(stmt)) + (1.0 if isinstance(stmt, Store) and stmt.index else 0.0)
            inner = [self._body(b, step_into(env, stmt, k), outermost) for k, b in enumerate(bodies(stmt))]
            cycles += sum(c.cycles for c in inner)
            vectors += [v for c in inner for v in c.vectors]
            if isinstance(stmt, Let):
                env = env.with_let(stmt)
        return Choice(cycles, tuple(vectors))

    def _loop(self, loop: For, env: Env, outermost: bool) -> Choice:
        count = count_of(loop, env)
        inside = self._body(loop.body, env.with_loop(loop))
        site = site_names(self.module)[loop.sym]
        parallel = outermost and isinstance(Parallelize(site).check(self.module, self.spec), Legal)
        best = Choice((LOOP + count * (inside.cycles + 1)) / self._cores(parallel, count), inside.vectors)
        if loop.axis is not None or has_vectors(loop):
            return best
        for lanes in self._lanes(loop, count):
            cycles = self._in_vectors(loop, lanes, count, env) / self._cores(parallel, count // lanes)
            if cycles < best.cycles * 0.9:
                step = Vectorize(site, lanes)
                if isinstance(step.check(self.module, self.spec), Legal):
                    best = Choice(cycles, (step,))
        return best

    def _cores(self, parallel: bool, count: int) -> int:
        """How many cores share the iterations."""
        return max(1, min(count, max(self.spec.cores, SOME_CORES))) if parallel else 1

    def _lanes(self, loop: For, count: int) -> tuple[int, ...]:
        """The full register, and a smaller one that the loop fills better."""
        full = max(1, self.spec.vector_bits // widest(loop.body))
        smaller = full
        while smaller > 4 and count <= smaller // 2:
            smaller //= 2
        return tuple(lanes for lanes in dict.fromkeys((full, smaller)) if lanes > 1)

    def _in_vectors(self, loop: For, lanes: int, count: int, env: Env) -> float:
        x = Var(loop.sym, loop.dtype)
        private = {s.sym for s in walk(loop.body) if isinstance(s, Alloc)}
        cost = _Cost(x, lanes, frozenset(private))
        blocks, rest = divmod(count, lanes)
        accumulators = {s.buf for s in walk(loop.body) if isinstance(s, Store) and not s.index} - private
        one = cost.body(loop.body, env.with_loop(loop)) + 1
        return LOOP + one * (blocks + ((1.0 + 0.1 * MASK) if rest else 0.0)) + HORIZONTAL * len(accumulators)


def has_vectors(loop: For) -> bool:
    """Whether a loop's body works on vectors already."""
    return any(isinstance(e.type, Vec) for e in all_exprs(loop.body)) or any(
        isinstance(s, Alloc) and isinstance(s.dtype, Vec) for s in walk(loop.body)
    )


@dataclass(slots=True)
class _Cost:
    """Cycles of code that runs for ``lanes`` values of ``x`` at once (None: scalar code)."""

    x: Var | None
    lanes: int
    private: frozenset[Sym] = frozenset()

    def body(self, body: Body, env: Env) -> float:
        total = 0.0
        for stmt in body:
            total += sum(self.expr(e, env) for e in stmt_exprs(stmt))
            if isinstance(stmt, Store) and stmt.index:
                total += self.memory(stmt.buf, stmt.index, env)
            inner = sum(self.body(b, step_into(env, stmt, k)) for k, b in enumerate(bodies(stmt)))
            if isinstance(stmt, For):
                inner = LOOP + count_of(stmt, env) * (inner + 1)
            if isinstance(stmt, If):
                inner += ARITHMETIC
            total += inner
            if isinstance(stmt, Let):
                env = env.with_let(stmt)
        return total

    def expr(self, e: Expr, env: Env) -> float:
        total = sum(self.expr(child, env) for child in expr_children(e)) if not isinstance(e, Load) else 0.0
        match e:
            case Load() if e.index:
                return total + self.memory(e.buf, e.index, env)
            case Math():
                return total + MATH_COST.get(e.fn, EXPENSIVE)
            case Binary(op="div" | "mod") if not is_integer(e):
                return total + 4.0
            case Binary() | Select():
                return total + (0.0 if is_integer(e) else ARITHMETIC)
            case _:
                return total

    def memory(self, buf: Sym, index: tuple[Expr, ...], env: Env) -> float:
        """One access for all lanes: as cheap as a scalar one when contiguous or the same for all."""
        if self.x is None or buf in self.private:
            return 1.0
        x = self.x
        polys = [env.normal(i) for i in index]
        mentions = [any(isinstance(v, Var) and v.sym == x.sym for a in p.atoms() for v in walk_expr(a)) for p in polys]
        if not any(mentions):
            return 1.0
        if not any(mentions[:-1]) and polys[-1].terms.get((x,)) == 1 and sum(1 for m in polys[-1].terms if x in m) == 1:
            return 1.0
        return GATHER * self.lanes
