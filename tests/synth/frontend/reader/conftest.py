"""Reads one C++ function as an entry and runs it in the reference interpreter."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from synth.frontend.reader import clang, functions, statements
from synth.frontend.reader.dialect import Dialect
from synth.frontend.reader.places import ZERO, Buffer, Pointer, Value
from synth.frontend.reader.reader import Function, Reader
from synth.frontend.reader.types import PointerType, element_dtype
from synth.ir.grammar import Module, Param, Space, Sym, Var


def read_function(text: str, name: str = "f") -> Module:
    """The module of ``void name(...)``: pointers are flat buffers, everything else scalars."""
    unit = clang.parse(text, "test.cpp")
    function = next(c for c in unit.own_declarations() if c.spelling == name and clang.body_of(c) is not None)
    reader = Reader(unit, Dialect())
    params: list[Param] = []
    values: list[Value] = []
    for parameter in clang.parameters(function):
        type_ = reader.ctype(parameter)
        sym = Sym(parameter.spelling)
        if isinstance(type_, PointerType):
            dtype = element_dtype(type_.pointee)
            assert dtype is not None
            params.append(Param(sym, dtype, ()))
            values.append(Pointer(Buffer(sym, dtype, None, Space.HOST), ZERO, dtype.bytes, type_.pointee))
        else:
            params.append(Param(sym, type_))
            values.append(Var(sym, type_))
    reader.function = Function(function)
    with reader.body() as emitted:
        for parameter, value in zip(clang.parameters(function), values, strict=True):
            functions.bind_parameter(reader, function, parameter, value, parameter)
        body = clang.body_of(function)
        statements.read_statement(reader, body)
    return Module(name, tuple(params), (*reader.module_allocs, *emitted))


@pytest.fixture
def read() -> Callable[[str], Module]:
    return read_function


@pytest.fixture
def evaluate() -> Callable[..., np.ndarray]:
    """``evaluate(body, dtype, count, prelude=..., **arguments)``: runs ``void f(T *o, ...) { body }`` and returns ``o``."""
    interpreter = pytest.importorskip("synth.ir.interpreter")
    names = {"float32": "float", "float64": "double", "int32": "int", "uint32": "unsigned", "int64": "long", "uint64": "unsigned long"}

    def spell(value: object) -> str:
        if isinstance(value, np.ndarray):
            return names[value.dtype.name] + " *"
        return "float " if isinstance(value, float) else "int "

    def run(body: str, dtype: type = np.int32, count: int = 1, prelude: str = "", **arguments: object) -> np.ndarray:
        out = np.zeros(count, dtype)
        signature = ", ".join([f"{spell(out)}o", *(f"{spell(v)}{k}" for k, v in arguments.items())])
        module = read_function(f"{prelude}\nvoid f({signature}) {{ {body} }}")
        interpreter.run(module, {"o": out, **arguments}, max_steps=1_000_000)
        return out

    return run
