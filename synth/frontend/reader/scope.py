"""Which declaration means what: one frame for each inlined function, over the globals of the unit."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from dataclasses import dataclass, field

from synth.frontend.reader.clang import Cursor, declaration_key
from synth.frontend.reader.places import Place


@dataclass(slots=True)
class Scope:
    """Declarations by identity (clang has resolved the names, so blocks need no frames of their own). ``this`` is the object of
    a method."""

    globals: dict[int, Place] = field(default_factory=dict)
    frames: list[dict[int, Place]] = field(default_factory=lambda: [{}])
    objects: list[Place | None] = field(default_factory=lambda: [None])

    def bind(self, declaration: Cursor, place: Place) -> None:
        self.frames[-1][declaration_key(declaration)] = place

    def bind_global(self, declaration: Cursor, place: Place) -> None:
        self.globals[declaration_key(declaration)] = place

    def find(self, declaration: Cursor) -> Place | None:
        key = declaration_key(declaration)
        return self.frames[-1].get(key, self.globals.get(key))

    @property
    def this(self) -> Place | None:
        return self.objects[-1]

    @contextlib.contextmanager
    def function(self, this: Place | None = None) -> Iterator[None]:
        """A new frame: nothing of the caller is visible but globals."""
        self.frames.append({})
        self.objects.append(this)
        try:
            yield
        finally:
            self.frames.pop()
            self.objects.pop()

    @contextlib.contextmanager
    def rebound(self, declaration: Cursor, place: Place) -> Iterator[None]:
        """``declaration`` means ``place`` inside."""
        key, frame = declaration_key(declaration), self.frames[-1]
        saved = frame.get(key)
        frame[key] = place
        try:
            yield
        finally:
            if saved is None:
                del frame[key]
            else:
                frame[key] = saved
