"""Random C++ functions give in the interpreter what g++ makes of them, bit for bit: integer types of all widths, promotions, side effects,
loops, switches with fall-through, early exits, inlined functions.

Signed arithmetic wraps on both sides (``-fwrapv``); conversions from floating point go through ``CL``, which keeps them in range.
"""

from __future__ import annotations

import ctypes
import random
import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest

PRELUDE = """
static inline int clamped(double v) { return v != v ? 0 : v > 1e9 ? 1000000000 : v < -1e9 ? -1000000000 : (int)v; }
#define CL(e) clamped(e)
static inline int g(int p, unsigned char q) {
  if (p > q) { p -= q; if (p & 1) return p; }
  for (int k = 0; k < 3; k++) { p += k; if (p == 5) return -p; }
  return p ^ q;
}
static inline void exchange(int &p, int &q) { int t = p; p = q; q = t; }
"""
INTEGERS = ("int", "unsigned", "short", "unsigned short", "signed char", "unsigned char", "long", "unsigned long", "bool")
LITERALS = ("0", "1", "2", "7", "-3", "255", "65535", "2147483647", "4000000000u", "1L", "3UL", "'a'", "0x7fL", "1.5f", "0.1", "1e3")
ARGUMENTS = ((3, 5, 1.5), (-7, 4000000000, -0.25), (100, 2, 3e8))


class Writer:
    """Writes random statements over ``x y z u h w`` (int, unsigned, long, unsigned short, unsigned char, double) and ``int a[4]``."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)

    def pick(self, *choices: str) -> str:
        return self.random.choice(choices)

    def expression(self, depth: int, names: tuple[str, ...]) -> str:
        chance = self.random.random()
        if depth == 0 or chance < 0.15:
            return self.pick(*(names if self.random.random() < 0.65 else LITERALS))
        below, integer = (lambda: self.expression(depth - 1, names)), (lambda: f"(int)CL({self.expression(depth - 1, names)})")
        if chance < 0.55:
            operator = self.pick(*"+ - * & | ^ < > <= == != && || << >> / %".split())
            if operator in ("<<", ">>"):
                return f"({integer()} {operator} ({integer()} & 7))"
            if operator in ("/", "%"):
                return f"({integer()} {operator} (({integer()} & 15) + 1))"
            return f"({integer()} {operator} {integer()})" if operator in "&|^" else f"({below()} {operator} {below()})"
        if chance < 0.65:
            return f"({below()} ? {below()} : {below()})"
        if chance < 0.75:
            return f"{self.pick('-', '!', '~')}({integer()})"
        if chance < 0.88:
            return f"(({self.pick(*INTEGERS)})({integer()}))"
        return f"(({self.pick('float', 'double')})({below()}))" if chance < 0.95 else f"({integer()}, {below()})"

    def statement(self, depth: int, names: tuple[str, ...], nest: int) -> str:
        chance, name = self.random.random(), self.pick(*"xyzuhw")
        if chance < 0.3:
            return f"{name} = CL({self.expression(2, names)});"
        if chance < 0.45:
            return f"{name} {self.pick('+=', '-=', '*=')} CL({self.expression(1, names)});"
        if chance < 0.5:
            return f"{self.pick(*'xzuh')} {self.pick('<<=', '>>=', '&=', '|=', '^=')} {self.pick('3', '1', '5')};"
        if chance < 0.6:
            return f"{self.pick(*'xyzuh')}{self.pick('++', '--')};"
        if chance < 0.65:
            return f"a[{self.pick(*'xzu')} & 3] = {self.pick('y++', '--y', 'h++')};"
        if chance < 0.7 or depth == 0:
            return f"x = a[{self.pick('x++', 'z', 'u')} & 3] + {self.pick('a[2]', 'z--', '1')};"
        body = lambda d=depth - 1, extra=(): self.block(d, names + extra, nest + 1)  # noqa: E731
        if chance < 0.8:
            return f"if ({self.expression(2, names)}) {{ {body()} }} else {{ {body()} }}"
        if chance < 0.88:
            i = f"i{nest}"
            header = self.pick(
                f"int {i} = 0; {i} < (CL(p0) & 7); {i}++",
                f"int {i} = 5; {i} >= 0; {i} -= 2",
                f"unsigned {i} = 1; {i} < 40u; {i} *= 3",
                f"int {i} = CL(z) & 3; {i} != 4; ++{i}",
                f"short {i} = 0; {i} < 3; {i}++",
                f"unsigned {i} = 6; {i}-- > 0;",
            )
            leave = self.pick("", "if (x & 1) continue;", "if (y > 3) break;")
            return f"for ({header}) {{ {body(depth - 1, (i,))} {leave} {body(0, (i,))} }}"
        if chance < 0.94:
            middle, last = self.pick("", "break;", "if (x & 1) break;"), self.pick("", "default:", "case 3:")
            selector = self.expression(1, names)
            return f"switch (CL({selector}) & 3) {{ case 0: {body(0)} {middle} case 2: {body(0)} break; case 1: {last} {body(0)} }}"
        leave = self.pick("", "if (x & 4) continue;", "if (x & 1) break;")
        return f"{{ int n = 0; do {{ {body()} n++; {leave} }} while (n < 3 && {self.expression(1, names)}); }}"

    def block(self, depth: int, names: tuple[str, ...], nest: int) -> str:
        return " ".join(self.statement(depth, names, nest) for _ in range(self.random.randrange(1, 4)))

    def function(self) -> str:
        names = ("x", "y", "z", "u", "h", "w", "a[1]", "g(x, h)", "p0", "p1", "p2")
        start = "int a[4] = {1, 2, 3}; int x = p0; unsigned y = p1; long z = p0 * 3L;"
        start += " unsigned short u = p1; unsigned char h = p0; double w = p2;"
        body = " ".join(self.statement(2, names, 0) for _ in range(5))
        end = "o[0] = x; o[1] = y; o[2] = z; o[3] = u; o[4] = h; o[5] = CL(w); o[6] = a[0] + a[1] + a[2] + a[3];"
        return f"{start} {body} {self.pick('', 'exchange(x, a[2]);')} {end}"


@pytest.mark.skipif(shutil.which("g++") is None, reason="needs g++")
def test_random_functions_agree_with_the_compiler(read, tmp_path: Path):
    interpreter = pytest.importorskip("synth.ir.interpreter")
    writer = Writer(1)
    bodies = [writer.function() for _ in range(30)]
    signature = "(long *o, int p0, unsigned p1, float p2)"
    source, binary = tmp_path / "random.cpp", tmp_path / "random.so"
    source.write_text(PRELUDE + "\n".join(f'extern "C" void f{i}{signature} {{ {b} }}' for i, b in enumerate(bodies)))
    command = ["g++", "-w", "-O0", "-fwrapv", "-ffp-contract=off", "-shared", "-fPIC", "-std=c++17", "-o", str(binary), str(source)]
    subprocess.run(command, check=True, timeout=120)
    library = ctypes.CDLL(str(binary))
    for i, body in enumerate(bodies):
        module = read(f"{PRELUDE}void f{signature} {{ {body} }}")
        for p0, p1, p2 in ARGUMENTS:
            got, expected = np.zeros(7, np.int64), np.zeros(7, np.int64)
            address = expected.ctypes.data_as(ctypes.c_void_p)
            getattr(library, f"f{i}")(address, ctypes.c_int(p0), ctypes.c_uint(p1), ctypes.c_float(p2))
            interpreter.run(module, {"o": got, "p0": p0, "p1": p1, "p2": p2}, max_steps=1_000_000)
            assert got.tolist() == expected.tolist(), body
