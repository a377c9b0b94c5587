"""Integer expressions as polynomials over atoms.

An atom is a symbol's value or a whole expression that is not polynomial (a load, a quotient); equal expressions are one atom.
Polynomials are exact mathematical integers: ``normal`` in ``synth.analysis.linear`` builds one only where machine arithmetic cannot wrap.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from synth.ir.grammar import Expr, Var

Atom = Expr
Monomial = tuple[Atom, ...]  # sorted by the text of the atoms; () is the constant


@dataclass(frozen=True, slots=True)
class Poly:
    """Sum of ``coefficient * product of atoms``; no zero coefficients."""

    terms: Mapping[Monomial, int] = field(default_factory=dict)

    def __add__(self, other: Poly) -> Poly:
        terms = dict(self.terms)
        for monomial, coefficient in other.terms.items():
            total = terms.get(monomial, 0) + coefficient
            if total:
                terms[monomial] = total
            else:
                terms.pop(monomial, None)
        return Poly(terms)

    def __neg__(self) -> Poly:
        return self.scaled(-1)

    def __sub__(self, other: Poly) -> Poly:
        return self + (-other)

    def __mul__(self, other: Poly) -> Poly:
        total = Poly()
        for a, x in self.terms.items():
            total = total + Poly({tuple(sorted(a + b, key=atom_key)): x * y for b, y in other.terms.items()})
        return total

    def scaled(self, factor: int) -> Poly:
        return Poly({m: c * factor for m, c in self.terms.items()}) if factor else Poly()

    @property
    def constant(self) -> int | None:
        """The value when there are no atoms, else None."""
        if not self.terms:
            return 0
        return self.terms.get(()) if len(self.terms) == 1 else None

    @property
    def offset(self) -> int:
        """The constant term."""
        return self.terms.get((), 0)

    def atoms(self) -> set[Atom]:
        return {atom for monomial in self.terms for atom in monomial}

    def is_linear(self) -> bool:
        return all(len(m) <= 1 for m in self.terms)

    def coefficient(self, atom: Atom) -> Poly:
        """What the atom is multiplied by. Precondition: it occurs at most once in each monomial."""
        found: dict[Monomial, int] = {}
        for monomial, c in self.terms.items():
            if atom in monomial:
                rest = list(monomial)
                rest.remove(atom)
                found[tuple(rest)] = found.get(tuple(rest), 0) + c
        return Poly({m: c for m, c in found.items() if c})

    def without(self, atom: Atom) -> Poly:
        """The terms in which the atom does not occur."""
        return Poly({m: c for m, c in self.terms.items() if atom not in m})

    def substitute(self, replace: Callable[[Atom], Poly | None]) -> Poly:
        """Every atom for which ``replace`` gives a polynomial is replaced by it."""
        total = Poly()
        for monomial, c in self.terms.items():
            product = const_poly(c)
            for atom in monomial:
                product = product * (replace(atom) or atom_poly(atom))
            total = total + product
        return total


def const_poly(value: int) -> Poly:
    return Poly({(): value}) if value else Poly()


def atom_poly(atom: Atom) -> Poly:
    return Poly({(atom,): 1})


def atom_key(atom: Atom) -> tuple[int, str]:
    """A total order on atoms: symbols by identity, other expressions by structure."""
    return (atom.sym.uid, "") if isinstance(atom, Var) else (0, repr(atom))
