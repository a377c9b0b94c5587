"""Reads whole sources through the public function, and runs what was read in the reference interpreter."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from synth.frontend import read
from synth.ir.grammar import Module
from synth.source import ReadOptions, ReadResult, Source

Read = Callable[..., ReadResult]


@pytest.fixture
def cuda() -> Read:
    def read_cuda(text: str, **options: Any) -> ReadResult:
        return read(Source(text, "cuda", "test.cu"), ReadOptions(**options))

    return read_cuda


@pytest.fixture
def c() -> Read:
    def read_c(text: str, filename: str = "test.cpp", **options: Any) -> ReadResult:
        return read(Source(text, "vnni", filename), ReadOptions(**options))

    return read_c


@pytest.fixture
def execute() -> Callable[..., None]:
    """Checks a module and runs it; arrays are changed in place."""
    interpreter = pytest.importorskip("synth.ir.interpreter")
    verifier = pytest.importorskip("synth.ir.verifier")

    def execute_module(module: Module, **args: np.ndarray | int | float) -> None:
        verifier.check(module)
        interpreter.run(module, args)

    return execute_module
