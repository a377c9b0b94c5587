"""Properties of generated modules: they verify, print and parse back, hash up to names, and have one meaning."""

from __future__ import annotations

import dataclasses

import numpy as np
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from synth.ir import interpreter, verifier
from synth.ir.grammar import Module, Sym
from synth.ir.hashing import structural_hash
from synth.ir.renaming import rename_symbols
from synth.ir.text import parse_module, print_module
from synth.ir.traversal import module_symbols, refresh
from tests.synth.ir.strategies import arguments, copied, modules

quick = settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large])
any_module = st.booleans().flatmap(lambda vectors: modules(vectors=vectors))


def outcome(module: Module, seed: int) -> list[bytes]:
    args = copied(arguments(module, seed))
    interpreter.run(module, args, max_steps=200_000)
    return [v.tobytes() for v in args.values() if isinstance(v, np.ndarray)]


@quick
@given(any_module)
def test_generated_modules_are_well_formed(module):
    assert verifier.verify(module) == ()


@quick
@given(any_module, st.integers(0, 1000))
def test_text_reads_back_to_the_same_module(module, seed):
    text = print_module(module)
    again = parse_module(text)
    assert print_module(again) == text
    assert structural_hash(again) == structural_hash(module)
    assert outcome(again, seed) == outcome(module, seed)


@quick
@given(any_module)
def test_hash_does_not_depend_on_names_or_identities(module):
    renamed = rename_symbols(module, {s: Sym(f"other{k}") for k, s in enumerate(module_symbols(module))})
    assert renamed != module
    assert structural_hash(renamed) == structural_hash(module)


@quick
@given(any_module, st.integers(0, 1000))
def test_refresh_keeps_the_meaning(module, seed):
    fresh = dataclasses.replace(module, body=refresh(module.body))
    assert structural_hash(fresh) == structural_hash(module)
    assert outcome(fresh, seed) == outcome(module, seed)


@quick
@given(any_module, st.integers(0, 1000))
def test_running_twice_gives_the_same(module, seed):
    assert outcome(module, seed) == outcome(module, seed)
