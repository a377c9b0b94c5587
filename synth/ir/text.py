"""The textual form of the IR: ``parse_module(print_module(m))`` equals ``m`` up to symbol identities and source locations.

    module add(A: f32[n:i32] host in const, C: f32[n:i32] host out, n: i32) dialect=c {
      for.omp i: i32 in 0i32..n:i32 step 1i32 {
        C[i:i32] = (A[i:i32]:f32 + 0.5f32)
      }
    }

One statement a line. Symbols are spelled as sites (``i``, ``i~2``), those that are no identifiers as JSON strings. A mask follows ``@``.
Every literal, use and load carries its type and every infix operation its parentheses, so that reading needs neither type inference nor
precedence.
"""

from __future__ import annotations

from synth.ir.parser import parse_module
from synth.ir.printer import print_body, print_expr, print_module

__all__ = ["parse_module", "print_body", "print_expr", "print_module"]
