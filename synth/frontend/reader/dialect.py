"""What a dialect adds to C++: the reader asks these hooks first and knows no CUDA, BANG or AVX itself."""

from __future__ import annotations

from typing import TYPE_CHECKING

from synth.frontend.reader.clang import Cursor
from synth.frontend.reader.places import Place, Value
from synth.frontend.reader.types import VECTOR_RECORDS, CType
from synth.ir.grammar import Axis

if TYPE_CHECKING:
    from synth.frontend.reader.reader import Reader


class Dialect:
    """Plain C++; dialects override what they have. A hook that returns None leaves the construct to the reader."""

    name = "c"

    def record(self, name: str) -> CType | None:
        """The type of a record with a special meaning (``float4`` is a vector)."""
        return VECTOR_RECORDS.get(name)

    def variable(self, reader: Reader, declaration: Cursor, where: Cursor) -> Place | Value | None:
        """The meaning of a builtin variable (``threadIdx``, ``warpSize``); ``where`` is the use."""
        return None

    def declare(self, reader: Reader, declaration: Cursor) -> Place | None:
        """The place of a local or global variable that is not ordinary (``__shared__``, ``__constant__``); may emit its ``Alloc``
        elsewhere."""
        return None

    def call(self, reader: Reader, name: str, call: Cursor) -> Place | Value | None:
        """A call of a function that the dialect knows by name; ``call.get_arguments()`` are still unread."""
        return None

    def own_call(self, reader: Reader, definition: Cursor, call: Cursor) -> Place | Value | None:
        """A call of a function of the user's file that means something other than its body here (a kernel launch)."""
        return None

    def expression(self, reader: Reader, cursor: Cursor) -> Value | None:
        """An expression that plain C++ kernels have no use for (``new``, a string), asked before it is refused."""
        return None

    def loop_axis(self, reader: Reader, loop: Cursor) -> Axis | None:
        """The axis of a canonical ``for`` (from a pragma)."""
        return None

    def in_kernel(self) -> bool:
        """Whether ``return`` at the outermost level ends a thread and so stays a ``Return``."""
        return True
