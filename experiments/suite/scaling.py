"""Sizes that an emulator is too slow or too small for, replaced by smaller ones of the same kind; every such case says so.

What is cut are independent parts of the work: batches, rows, positions, queries. The bodies of the loops stay as they are, and so do the
reduced dimensions, except for the sequence of flash attention and the pictures of deformable attention.
"""

from __future__ import annotations

from collections.abc import Callable

from experiments.suite.shapes import Dims, deformable_dims

ROWS = 64
POSITIONS = 48
QUERIES = 25
SHRINK = 4


def scaled(operator: str, dims: Dims) -> tuple[Dims, str]:
    """The sizes to run, and the reason if they are not the canonical ones."""
    change = _RULES.get(operator)
    return change(dims) if change else (dims, "")


def _rmsnorm(dims: Dims) -> tuple[Dims, str]:
    rows, cols = ROWS, dims["COLS"]
    return {"ROWS": rows, "COLS": cols, "N": rows * cols}, f"{rows} of {dims['ROWS']} rows: rows are independent, the emulator is slow"


def _mha(dims: Dims) -> tuple[Dims, str]:
    reason = f"{POSITIONS} of {dims['BATCH']} x {dims['SEQ']} positions: positions are independent, the emulator is slow"
    return dims | {"BATCH": 1, "SEQ": POSITIONS}, reason


def _deformable(dims: Dims) -> tuple[Dims, str]:
    small = deformable_dims((1, dims["HEADS"], dims["DIM"], QUERIES, dims["LEVELS"], dims["POINTS"]), SHRINK)
    reason = (
        f"{QUERIES} of {dims['BATCH']} x {dims['QUERIES']} queries, levels of a {SHRINK}th of the side: "
        f"{dims['BATCH'] * dims['PIXELS'] * dims['HEADS'] * dims['DIM'] * 4 >> 20} MiB of values for each of the inputs tried are too much"
    )
    return small, reason


def _flash(dims: Dims) -> tuple[Dims, str]:
    return dims | {"BATCH": 2, "HEADS": 2, "SEQ": 128}, "2 of 8 batches, 2 of 16 heads, 128 of 1024 positions: the emulator is slow"


_RULES: dict[str, Callable[[Dims], tuple[Dims, str]]] = {
    "rmsnorm": _rmsnorm,
    "mha": _mha,
    "deformable": _deformable,
    "flash_attention": _flash,
}
