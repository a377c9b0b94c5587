"""xpiler: translate tensor kernels between accelerators, with evidence.

>>> import xpiler
>>> result = xpiler.translate("kernel.cu", to="vnni")
>>> result.ok, result.output, result.evidence
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from xpiler.results import Result

__version__ = "0.1.0"
__all__ = ["translate", "verify"]


def translate(source: str | Path, to: str, *, from_dialect: str | None = None, **options: Any) -> Result:
    """Translates the file ``source`` to the dialect ``to``; ``options`` are the fields of ``xpiler.options.Options``.

    Failures of the program or of the translation are in the result's ``status`` and ``diagnostics``.
    Raises UsageError for an unreadable file or a bad option, SourceError for text that is not valid in its dialect.
    """
    from xpiler.options import Options, dialect_name, load_source
    from xpiler.translation import translate_source

    program = load_source(Path(source), from_dialect)
    return translate_source(program, dialect_name(to, "to"), Options(**options))


def verify(a: str | Path, b: str | Path, *, from_dialect: str | None = None, to_dialect: str | None = None, **options: Any) -> Result:
    """Whether the program in file ``b`` computes what the one in file ``a`` does. Raises as ``translate``."""
    from xpiler.options import Options, load_source
    from xpiler.verification import verify_sources

    return verify_sources(load_source(Path(a), from_dialect), load_source(Path(b), to_dialect), Options(**options))
