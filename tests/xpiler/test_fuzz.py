"""Truncated and mutated real files end in a result or in a typed error, whatever stage they get to."""

from __future__ import annotations

import random
import re

import pytest

from experiments.suite.registry import CASES
from synth import codegen
from synth.errors import InternalError, XpilerError
from synth.ir import verifier
from synth.lowering import vnni
from synth.source import Source
from synth.spec import SPECS
from xpiler.options import Options
from xpiler.translation import read_module

SPEC = SPECS["avx512_vnni"]
FILES = sorted({case.source for case in CASES["cuda"]})
TOKEN = re.compile(r"\w+|[^\w\s]")


def go(text: str) -> str:
    """Reads, lowers and prints; the name of the typed error that ended it, or ``ok``."""
    try:
        module = read_module(Source(text, "cuda", "fuzzed.cu"), Options()).module
        root, _ = vnni.front(module, SPEC)
        final, _ = vnni.default_lowering(root, SPEC)
        verifier.check(final)
        codegen.emit(final, SPEC)
    except InternalError:
        raise
    except XpilerError as error:
        assert error.message
        return type(error).__name__
    return "ok"


def mutated(text: str, seed: int) -> str:
    """A few tokens deleted, doubled, exchanged or replaced by others of the file."""
    rng = random.Random(seed)
    spans = [m.span() for m in TOKEN.finditer(text)]
    for start, end in sorted(rng.sample(spans, 3), reverse=True):
        other = text[slice(*rng.choice(spans))]
        choice = rng.choice(["", text[start:end] * 2, other, "0"])
        text = text[:start] + choice + text[end:]
    return text


@pytest.mark.parametrize("seed", range(16))
def test_truncated_files(seed: int) -> None:
    rng = random.Random(seed)
    text = rng.choice(FILES).read_text()
    assert go(text[: rng.randrange(len(text))]) in ("SourceError", "UsageError", "UnsupportedError", "ok")


@pytest.mark.parametrize("seed", range(24))
def test_mutated_files(seed: int) -> None:
    text = random.Random(seed).choice(FILES).read_text()
    assert go(mutated(text, seed)) in ("SourceError", "UsageError", "UnsupportedError", "ok")


def test_an_entry_that_does_nothing() -> None:
    assert go('extern "C" void entry(float* y) {}') in ("UsageError", "ok")
    assert go('__global__ void k(float* y) {}\nextern "C" void entry(float* y) { k<<<1, 32>>>(y); }') == "ok"
