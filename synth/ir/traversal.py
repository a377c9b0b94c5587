"""Walking, rewriting and addressing IR.

A *site* is the stable address of a loop, buffer or value: its symbol's name, with ``~2``, ``~3``, ... appended for the second, third, ...
symbol of that name in program order. The printer spells symbols the same way.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator, Mapping

from synth.ir.grammar import (
    Alloc,
    Binary,
    Bitcast,
    Body,
    Break,
    Broadcast,
    Call,
    Cast,
    Const,
    Continue,
    Expr,
    For,
    If,
    Lane,
    Launch,
    Let,
    Load,
    MakeVec,
    Math,
    Module,
    Reduce,
    Region,
    Return,
    Select,
    Stmt,
    Store,
    Sym,
    Sync,
    Unary,
    Var,
    While,
)

# ------------------------------------------------------------------------------------------------------- children


# The fields that hold subexpressions, in evaluation order; a star marks a tuple of them. Lookups by exact class: these run everywhere.
_EXPR_FIELDS: dict[type, tuple[str, ...]] = {
    Const: (),
    Var: (),
    Load: ("*index", "mask"),
    Unary: ("a",),
    Binary: ("a", "b"),
    Cast: ("a",),
    Bitcast: ("a",),
    Select: ("cond", "a", "b"),
    Math: ("*args",),
    Broadcast: ("a",),
    MakeVec: ("*elems",),
    Lane: ("a",),
    Reduce: ("a",),
}
_STMT_FIELDS: dict[type, tuple[str, ...]] = {
    Let: ("value",),
    Alloc: ("*shape", "*init"),
    Store: ("*index", "value", "mask"),
    For: ("lo", "hi", "step"),
    While: ("cond",),
    If: ("cond",),
    Sync: (),
    Call: ("*dests", "*args"),
    Launch: (),
    Break: (),
    Continue: (),
    Return: (),
}


def expr_children(expr: Expr) -> tuple[Expr, ...]:
    """The direct subexpressions, in evaluation order."""
    match expr:
        case Binary():
            return (expr.a, expr.b)
        case Const() | Var():
            return ()
        case Load():
            return expr.index if expr.mask is None else (*expr.index, expr.mask)
        case Select():
            return (expr.cond, expr.a, expr.b)
        case Math():
            return expr.args
        case MakeVec():
            return expr.elems
        case _:
            return (expr.a,)


def map_expr_children(expr: Expr, fn: Callable[[Expr], Expr]) -> Expr:
    """``expr`` with ``fn`` applied to each direct subexpression; the same object when nothing changes."""
    changes: dict[str, object] = {}
    for name in _EXPR_FIELDS[type(expr)]:
        if name[0] == "*":
            name = name[1:]
            many: tuple[Expr, ...] = getattr(expr, name)
            mapped = tuple([fn(v) for v in many])
            if any(a is not b for a, b in zip(mapped, many, strict=True)):
                changes[name] = mapped
            continue
        value: Expr | None = getattr(expr, name)
        if value is not None:
            new = fn(value)
            if new is not value:
                changes[name] = new
    return dataclasses.replace(expr, **changes) if changes else expr  # type: ignore[arg-type]


def rewrite_expr(expr: Expr, fn: Callable[[Expr], Expr]) -> Expr:
    """Bottom-up rewrite: ``fn`` sees every node after its children were rewritten."""
    return fn(map_expr_children(expr, lambda e: rewrite_expr(e, fn)))


def walk_expr(expr: Expr) -> Iterator[Expr]:
    """``expr`` and all its subexpressions, parents first, left to right."""
    pending = [expr]
    while pending:
        here = pending.pop()
        yield here
        pending.extend(reversed(expr_children(here)))


def region_exprs(region: Region) -> tuple[Expr, ...]:
    return region.index + region.extent


def stmt_exprs(stmt: Stmt) -> tuple[Expr, ...]:
    """The expressions a statement evaluates itself (not those of nested bodies); regions give their indexes and extents."""
    found: list[Expr] = []
    for name in _STMT_FIELDS[type(stmt)]:
        if name[0] != "*":
            value = getattr(stmt, name)
            if value is not None:
                found.append(value)
            continue
        for item in getattr(stmt, name[1:]) or ():
            if isinstance(item, Region):
                found.extend(region_exprs(item))
            else:
                found.append(item)
    return tuple(found)


def bodies(stmt: Stmt) -> tuple[Body, ...]:
    """The nested bodies of a statement (an ``If`` has two)."""
    match stmt:
        case For() | While() | Launch():
            return (stmt.body,)
        case If():
            return (stmt.then, stmt.orelse)
        case _:
            return ()


def with_bodies(stmt: Stmt, new: tuple[Body, ...]) -> Stmt:
    """``stmt`` with its nested bodies replaced, in the order of ``bodies``."""
    match stmt:
        case For() | While() | Launch():
            return stmt if new[0] is stmt.body else dataclasses.replace(stmt, body=new[0])
        case If():
            return stmt if new[0] is stmt.then and new[1] is stmt.orelse else dataclasses.replace(stmt, then=new[0], orelse=new[1])
        case _:
            return stmt


def walk(body: Body) -> Iterator[Stmt]:
    """All statements of a body in program order, parents first."""
    for stmt in body:
        yield stmt
        for inner in bodies(stmt):
            yield from walk(inner)


def all_exprs(body: Body) -> Iterator[Expr]:
    """Every expression node evaluated in a body."""
    for stmt in walk(body):
        for expr in stmt_exprs(stmt):
            yield from walk_expr(expr)


# ------------------------------------------------------------------------------------------------------ rewriting


def map_stmt_exprs(stmt: Stmt, fn: Callable[[Expr], Expr]) -> Stmt:
    """``stmt`` with ``fn`` applied to each whole expression it evaluates itself."""

    def item(value: Expr | Region) -> Expr | Region:
        if not isinstance(value, Region):
            return fn(value)
        new = Region(value.buf, tuple([fn(e) for e in value.index]), tuple([fn(e) for e in value.extent]))
        same = all(a is b for a, b in zip(region_exprs(new), region_exprs(value), strict=True))
        return value if same else new

    changes: dict[str, object] = {}
    for name in _STMT_FIELDS[type(stmt)]:
        if name[0] == "*":
            name = name[1:]
            many = getattr(stmt, name)
            if many:
                mapped = tuple([item(v) for v in many])
                if any(a is not b for a, b in zip(mapped, many, strict=True)):
                    changes[name] = mapped
            continue
        value = getattr(stmt, name)
        if value is not None:
            new = fn(value)
            if new is not value:
                changes[name] = new
    return dataclasses.replace(stmt, **changes) if changes else stmt  # type: ignore[arg-type]


def rewrite_exprs(body: Body, fn: Callable[[Expr], Expr]) -> Body:
    """Bottom-up rewrite of every expression in a body."""

    def one(stmt: Stmt) -> Stmt:
        stmt = map_stmt_exprs(stmt, lambda e: rewrite_expr(e, fn))
        return with_bodies(stmt, tuple(rewrite_exprs(b, fn) for b in bodies(stmt)))

    return tuple(one(s) for s in body)


def rewrite_stmts(body: Body, fn: Callable[[Stmt], Stmt | Body]) -> Body:
    """Bottom-up rewrite of statements: ``fn`` returns a replacement, a sequence of them, or ``()`` to delete."""
    out: list[Stmt] = []
    for stmt in body:
        new = fn(with_bodies(stmt, tuple(rewrite_stmts(b, fn) for b in bodies(stmt))))
        out.extend(new) if isinstance(new, tuple) else out.append(new)
    return tuple(out)


def substitute(body: Body, values: Mapping[Sym, Expr]) -> Body:
    """Replaces uses of immutable symbols (``Var``) by expressions. Capture cannot happen: symbols are unique."""
    return rewrite_exprs(body, lambda e: values.get(e.sym, e) if isinstance(e, Var) else e)


def substitute_expr(expr: Expr, values: Mapping[Sym, Expr]) -> Expr:
    return rewrite_expr(expr, lambda e: values.get(e.sym, e) if isinstance(e, Var) else e)


def rename_buffers(body: Body, names: Mapping[Sym, Sym]) -> Body:
    """Redirects every access of the given buffers to other buffers, indexes unchanged."""

    def expr(e: Expr) -> Expr:
        return dataclasses.replace(e, buf=names[e.buf]) if isinstance(e, Load) and e.buf in names else e

    def region(r: object) -> object:
        return dataclasses.replace(r, buf=names[r.buf]) if isinstance(r, Region) and r.buf in names else r

    def stmt(s: Stmt) -> Stmt:
        if isinstance(s, Store) and s.buf in names:
            return dataclasses.replace(s, buf=names[s.buf])
        if isinstance(s, Call):
            return dataclasses.replace(s, dests=tuple(map(region, s.dests)), args=tuple(map(region, s.args)))  # type: ignore[arg-type]
        return s

    return rewrite_stmts(rewrite_exprs(body, expr), stmt)


def refresh(body: Body) -> Body:
    """A copy whose bound symbols are all new, so that it can stand beside the original."""
    fresh = {s: s.fresh() for s in bound_symbols(body)}

    def expr(e: Expr) -> Expr:
        if isinstance(e, Var) and e.sym in fresh:
            return dataclasses.replace(e, sym=fresh[e.sym])
        return e

    def stmt(s: Stmt) -> Stmt:
        return dataclasses.replace(s, sym=fresh[s.sym]) if isinstance(s, Let | Alloc | For) else s

    return rewrite_stmts(rename_buffers(rewrite_exprs(body, expr), fresh), stmt)


# ----------------------------------------------------------------------------------------------- symbols and sites


def bound_symbols(body: Body) -> Iterator[Sym]:
    """Symbols bound in a body, in program order."""
    for stmt in walk(body):
        if isinstance(stmt, Let | Alloc | For):
            yield stmt.sym


def module_symbols(module: Module) -> Iterator[Sym]:
    """Parameters first, then the symbols bound in the body, in program order."""
    yield from (p.sym for p in module.params)
    yield from bound_symbols(module.body)


def sites(module: Module) -> dict[str, Sym]:
    """Every symbol of the module by its site."""
    counts: dict[str, int] = {}
    found: dict[str, Sym] = {}
    for sym in module_symbols(module):
        counts[sym.name] = counts.get(sym.name, 0) + 1
        found[sym.name if counts[sym.name] == 1 else f"{sym.name}~{counts[sym.name]}"] = sym
    return found


def site_names(module: Module) -> dict[Sym, str]:
    """The inverse of ``sites``."""
    return {sym: site for site, sym in sites(module).items()}


def find_loop(module: Module, site: str) -> For | None:
    """The loop at a site, or None."""
    sym = sites(module).get(site)
    return next((s for s in walk(module.body) if isinstance(s, For) and s.sym == sym), None)


def find_alloc(module: Module, site: str) -> Alloc | None:
    """The buffer allocation at a site, or None (parameters are not allocations)."""
    sym = sites(module).get(site)
    return next((s for s in walk(module.body) if isinstance(s, Alloc) and s.sym == sym), None)


def loops(module: Module) -> dict[str, For]:
    """All loops by site, in program order."""
    names = site_names(module)
    return {names[s.sym]: s for s in walk(module.body) if isinstance(s, For)}


def replace_stmt(body: Body, old: Stmt, new: Stmt | Body) -> Body:
    """Replaces one statement, found by identity, anywhere in a body. Returns an equal body when it is absent."""
    out: list[Stmt] = []
    for stmt in body:
        if stmt is old:
            out.extend(new) if isinstance(new, tuple) else out.append(new)
        else:
            out.append(with_bodies(stmt, tuple(replace_stmt(b, old, new) for b in bodies(stmt))))
    return tuple(out)


def path_to(body: Body, target: Stmt) -> tuple[Stmt, ...] | None:
    """The chain of enclosing statements from the outermost to ``target`` itself, by identity; None when absent."""
    for stmt in body:
        if stmt is target:
            return (stmt,)
        for inner in bodies(stmt):
            rest = path_to(inner, target)
            if rest is not None:
                return (stmt, *rest)
    return None


def used_values(body: Body) -> set[Sym]:
    """Symbols read as ``Var``."""
    return {e.sym for e in all_exprs(body) if isinstance(e, Var)}


def read_buffers(body: Body) -> set[Sym]:
    """Buffers read by loads or call arguments."""
    found = {e.buf for e in all_exprs(body) if isinstance(e, Load)}
    for stmt in walk(body):
        if isinstance(stmt, Call):
            found |= {a.buf for a in stmt.args if isinstance(a, Region)}
    return found


def written_buffers(body: Body) -> set[Sym]:
    """Buffers written by stores or call destinations."""
    found: set[Sym] = set()
    for stmt in walk(body):
        if isinstance(stmt, Store):
            found.add(stmt.buf)
        elif isinstance(stmt, Call):
            found |= {d.buf for d in stmt.dests}
    return found
