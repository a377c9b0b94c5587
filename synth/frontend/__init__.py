"""libclang to IR: one shared reader of the C++ subset, one small module per dialect."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from synth.errors import Diagnostic, MissingIncludeError, SourceError, UsageError
from synth.frontend.reader.depth import recursion_room
from synth.frontend.slicing import needed_text
from synth.source import ReadOptions, ReadResult, Source

MAX_MISSING = 64  # includes that nobody has
Frontend = Callable[[Source, ReadOptions], ReadResult]


def read(source: Source, options: ReadOptions) -> ReadResult:
    """Reads a source of dialect ``cuda``, ``hip`` or ``vnni`` (``c`` is another name for ``vnni``).

    Raises ``UsageError`` (exit status 2; ``SourceError`` for text that is not valid C++) or ``UnsupportedError`` (exit status 1), with
    file, line and a hint.

    Includes that nobody has are left out, with a warning; where the text then has errors it is read again without the declarations that the
    entry does not need. Whatever the entry does need must be there and free of errors.
    """
    from synth.frontend import c, cuda, hip

    readers: dict[str, Frontend] = {"cuda": cuda.read, "hip": hip.read, "vnni": c.read, "c": c.read}
    found = readers.get(source.dialect)
    if found is None:
        raise UsageError(f"there is no frontend for dialect '{source.dialect}' yet", hint=f"dialects that are read: {', '.join(readers)}")
    with recursion_room():
        return _read(found, source, options)


def _read(frontend: Frontend, source: Source, options: ReadOptions) -> ReadResult:
    notes: list[Diagnostic] = []
    whole: SourceError | None = None  # why the text is not read whole
    while True:
        try:
            result = frontend(source, options)
            return replace(result, diagnostics=(*notes, *result.diagnostics), reached=result.reached or source.text, headers=source.headers)
        except MissingIncludeError as error:
            if error.name in source.headers or len(notes) > MAX_MISSING:
                raise
            source = replace(source, headers={**source.headers, error.name: ""})
            notes.append(Diagnostic("warning", f"include '{error.name}' was not found and is left out", error.location, error.hint))
        except SourceError as error:
            needed = needed_text(source.text, options.entry)
            if needed == source.text:
                raise _naming_includes(error, notes) from None
            source, whole = replace(source, text=needed), error
            message = f"declarations that the entry does not need are left out, since the text has errors: {error.message}"
            notes.append(Diagnostic("warning", message, error.location))
        except UsageError as error:
            raise _naming_includes(whole or error, notes) from None


def _naming_includes(error: UsageError, notes: list[Diagnostic]) -> UsageError:
    """The error, with a word on what was left out before: it may be the cause."""
    missing = [note.message.split("'")[1] for note in notes if note.message.startswith("include")]
    if missing:
        more = f"{', '.join(missing)} was not found: give its folder with -I"
        error.hint = f"{error.hint}; {more}" if error.hint else more
    return error
