"""Limits on nesting, so that no input ends in a Python recursion error.

Reading is recursive over the syntax tree, and so are the passes over expressions. The tree's depth is checked once
(``clang.parse``), without recursion; while a file is read Python's own limit is raised to match; and deep expressions are emitted in
pieces.
"""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Iterator

MAX_TREE_DEPTH = 400  # levels of clang's tree below a declaration
MAX_EXPRESSION_DEPTH = 48  # levels of an emitted IR expression before a part of it gets a name
_FRAMES_PER_LEVEL = 20


@contextlib.contextmanager
def recursion_room() -> Iterator[None]:
    """Room on Python's stack for trees of the permitted depth (pure Python calls, which take no C stack)."""
    saved = sys.getrecursionlimit()
    sys.setrecursionlimit(max(saved, MAX_TREE_DEPTH * _FRAMES_PER_LEVEL))
    try:
        yield
    finally:
        sys.setrecursionlimit(saved)
