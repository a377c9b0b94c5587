"""The HIP sources of the suite. See ``experiments.suite.variant`` for the rules."""

from __future__ import annotations

from experiments.suite.variant import Variant

VARIANTS: dict[str, tuple[Variant, ...]] = {}
