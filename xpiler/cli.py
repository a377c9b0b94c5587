"""The ``xpiler`` command. Parsing, exit statuses and output streams only; the work is in the modules it calls."""

from __future__ import annotations

import json
import re
import signal
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, NoReturn

import typer
from rich.console import Console

from synth.errors import Diagnostic, UsageError, XpilerError
from xpiler.options import Options, dialect_name, evidence_level, load_source, read_options
from xpiler.results import Result, ResultStatus

app = typer.Typer(
    name="xpiler",
    help="Translate tensor kernels between accelerators, with evidence.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    add_completion=False,
)
suite_app = typer.Typer(help="The benchmark suite.", no_args_is_help=True)
app.add_typer(suite_app, name="suite")

errors = Console(stderr=True, highlight=False)
_RAY_ADDRESS = re.compile(r"(auto|local|ray://.+|[\w.-]+:\d+)\Z")

Define = Annotated[list[str], typer.Option("-D", "--define", metavar="NAME=VALUE", help="Preprocessor definition.")]
Include = Annotated[list[Path], typer.Option("-I", "--include", metavar="DIR", help="Folder of headers that the source includes.")]
Entry = Annotated[str | None, typer.Option("--entry", metavar="NAME", help="The function to translate, when the file has several.")]
Bind = Annotated[list[str], typer.Option("--bind", metavar="NAME=VALUE", help="Value of a scalar parameter.")]
Extent = Annotated[list[str], typer.Option("--extent", metavar="NAME=EXPR", help="Elements behind a pointer, e.g. A=n*k.")]
Values = Annotated[
    list[str], typer.Option("--values", metavar="NAME=N,N,...", help="What an integer buffer holds, where made-up indexes would not do.")
]
Launch = Annotated[str | None, typer.Option("--launch", metavar="grid=X[,Y,Z],block=X[,Y,Z]", help="Launch shape of a bare kernel.")]
SourceTarget = Annotated[
    str | None, typer.Option("--source-target", metavar="SPEC", help="Device that a GPU source is for (gfx1100 has warps of 32 lanes).")
]
Target = Annotated[str | None, typer.Option("--target", metavar="SPEC", help="Device to translate for; see `xpiler devices`.")]
EvidenceOption = Annotated[str, typer.Option("--evidence", metavar="L0|L1", help="The level of evidence that must be reached.")]
Tune = Annotated[float | None, typer.Option("--tune", metavar="SECONDS", min=0.0, help="Search for a faster program for that long.")]
Llm = Annotated[str | None, typer.Option("--llm", metavar="URL", help="OpenAI-compatible server whose model ranks the transformations.")]
Model = Annotated[str | None, typer.Option("--model", metavar="NAME", help="Model to ask for; default: the first one served.")]
Ray = Annotated[
    str | None, typer.Option("--ray", metavar="ADDRESS", help="Evaluate in Ray actors: an address, or `local` for this machine.")
]
Json = Annotated[str | None, typer.Option("--json", metavar="FILE|-", help="Write the result as JSON; - for standard output.")]
Seed = Annotated[int, typer.Option("--seed", metavar="N", help="Seed of all randomness.")]
KeepFailed = Annotated[
    bool, typer.Option("--keep-failed", help="Write the program even when the evidence is not reached, as OUTPUT.failed.")
]
Records = Annotated[Path | None, typer.Option("--records", metavar="DIR", help="Record store; a run found there is resumed.")]
Strategy = Annotated[str, typer.Option("--strategy", metavar="mcts|random", help="Search strategy for --tune.")]


@app.command()
def translate(
    source: Annotated[Path, typer.Argument(metavar="SOURCE", help="The file to translate.")],
    to: Annotated[str, typer.Option("--to", metavar="DIALECT", help="cuda, hip, bang or vnni.")],
    from_: Annotated[str | None, typer.Option("--from", metavar="DIALECT", help="Default: by the file's suffix and contents.")] = None,
    source_target: SourceTarget = None,
    target: Target = None,
    output: Annotated[Path | None, typer.Option("-o", "--output", metavar="FILE", help="Written on success only.")] = None,
    define: Define = [],  # noqa: B006
    include: Include = [],  # noqa: B006
    entry: Entry = None,
    bind: Bind = [],  # noqa: B006
    extent: Extent = [],  # noqa: B006
    values: Values = [],  # noqa: B006
    launch: Launch = None,
    evidence: EvidenceOption = "L1",
    tune: Tune = None,
    llm: Llm = None,
    model: Model = None,
    ray: Ray = None,
    json_: Json = None,
    seed: Seed = 0,
    keep_failed: KeepFailed = False,
    records: Records = None,
    strategy: Strategy = "mcts",
) -> None:
    """Translate SOURCE into another dialect and show the evidence that both compute the same."""
    from xpiler import report
    from xpiler.translation import translate_source

    def work() -> Result:
        wanted = dialect_name(to, "--to")
        program = load_source(source, dialect_name(from_, "--from") if from_ else None, include)
        options = Options(
            read_options(define, entry, bind, extent, launch, source_target, values),
            target,
            evidence_level(evidence),
            tune,
            llm,
            model,
            ray,
            seed,
            keep_failed,
            records,
            strategy,
        )
        return translate_source(program, wanted, options, progress=report.Progress(errors))

    result = _run(work, str(source), from_, to)
    written = _write_output(result, output, keep_failed)
    _finish(result, json_, lambda console: report.show_translation(console, result, written))


@app.command()
def verify(
    a: Annotated[Path, typer.Argument(metavar="A", help="The reference.")],
    b: Annotated[Path, typer.Argument(metavar="B", help="The program to hold against it.")],
    from_: Annotated[str | None, typer.Option("--from", metavar="DIALECT", help="Dialect of A; default: by suffix.")] = None,
    source_target: SourceTarget = None,
    to: Annotated[str | None, typer.Option("--to", metavar="DIALECT", help="Dialect of B; default: by suffix.")] = None,
    target: Target = None,
    define: Define = [],  # noqa: B006
    include: Include = [],  # noqa: B006
    entry: Entry = None,
    bind: Bind = [],  # noqa: B006
    extent: Extent = [],  # noqa: B006
    values: Values = [],  # noqa: B006
    launch: Launch = None,
    evidence: EvidenceOption = "L1",
    json_: Json = None,
    seed: Seed = 0,
) -> None:
    """Say whether two programs, of any dialects, compute the same."""
    from xpiler import report
    from xpiler.verification import verify_sources

    def work() -> Result:
        first = load_source(a, dialect_name(from_, "--from") if from_ else None, include)
        second = load_source(b, dialect_name(to, "--to") if to else None, include)
        options = Options(
            read_options(define, entry, bind, extent, launch, source_target, values), target, evidence_level(evidence), seed=seed
        )
        return verify_sources(first, second, options, progress=report.Progress(errors))

    result = _run(work, str(a), from_, to or "")
    _finish(result, json_, lambda console: report.show_verification(console, result, str(b)))


@app.command()
def passes() -> None:
    """List the transformation passes."""
    from xpiler import report

    report.show_passes(Console(highlight=False))


@app.command()
def devices() -> None:
    """List the devices found on this machine, and the targets they can stand for."""
    from xpiler import report

    report.show_devices(Console(highlight=False))


@app.command()
def doctor() -> None:
    """Check that this installation can do its main job; exit status 1 when it cannot."""
    from xpiler import report
    from xpiler.doctor import diagnose

    checks = diagnose()
    report.show_doctor(Console(highlight=False), checks)
    raise typer.Exit(0 if all(check.ok for check in checks if check.required) else 1)


@suite_app.command("list")
def suite_list() -> None:
    """List the cases of the suite."""
    from xpiler import report

    report.show_suite(Console(highlight=False))


@suite_app.command("export")
def suite_export(folder: Annotated[Path, typer.Argument(metavar="DIR", help="Where to write the files.")]) -> None:
    """Write the suite's source files, with the definitions of every case, to DIR."""
    from experiments.suite.export import export

    count = export(folder)
    typer.echo(f"wrote {count} files to {folder}")


def _run(work: Callable[[], Result], source: str, from_: str | None, to: str) -> Result:
    """Runs the work; errors of the input become results, so that ``--json`` reports them too."""
    from synth.errors import UnsupportedError
    from synth.evidence.levels import Evidence, Level

    try:
        return work()
    except XpilerError as error:
        status = ResultStatus.UNSUPPORTED if isinstance(error, UnsupportedError) else ResultStatus.ERROR
        return Result(
            status, source, from_ or "", to, "", "", None, Evidence(), Level.L1, diagnostics=(Diagnostic.of(error),), seconds={"total": 0.0}
        )


def _write_output(result: Result, path: Path | None, keep_failed: bool) -> Path | None:
    """Writes the program atomically: a reader never sees half a file, and a failure leaves an older file alone."""
    if path is None or result.output is None:
        return None
    if not result.ok:
        if not keep_failed:
            return None
        path = path.with_name(path.name + ".failed")
    try:
        with tempfile.NamedTemporaryFile("w", dir=path.parent, delete=False) as file:
            file.write(result.output)
        temporary = Path(file.name)
        temporary.chmod(0o644)
        temporary.replace(path)
    except OSError as error:
        _fail(UsageError(f"cannot write {path}: {error.strerror}", hint="choose another place with -o"))
    return path


def _finish(result: Result, json_: str | None, show: Callable[[Console], None]) -> NoReturn:
    if json_ is not None:
        text = json.dumps(result.to_json(), indent=2)
        if json_ == "-":
            typer.echo(text)
        else:
            try:
                Path(json_).write_text(text + "\n")
            except OSError as error:
                _fail(UsageError(f"cannot write {json_}: {error.strerror}", hint="choose another place with --json"))
    show(errors if json_ == "-" or not result.ok else Console(highlight=False))
    raise typer.Exit(result.exit_code)


def _fail(error: XpilerError) -> NoReturn:
    errors.print(f"[red]error:[/] {error}", soft_wrap=True)
    raise typer.Exit(2)


def main() -> None:
    """The console script. The one place where an unforeseen exception is caught: it is reported as our defect, without a traceback."""
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    signal.signal(signal.SIGINT, _interrupted)
    try:
        app(args=_with_ray_address(sys.argv[1:]))
    except XpilerError as error:
        errors.print(f"[red]error:[/] {error}", soft_wrap=True)
        sys.exit(2 if isinstance(error, UsageError) else 1)
    except Exception as error:  # the process boundary
        from xpiler.crash import write_crash_report

        path = write_crash_report(error)
        errors.print(f"[red]internal error:[/] {type(error).__name__}: {error}", soft_wrap=True)
        errors.print(f"This is a defect of xpiler. The details are in {path}; please report it with the source file.", soft_wrap=True)
        sys.exit(1)


def _interrupted(*_: object) -> NoReturn:
    errors.print("interrupted; finished work is in the record store")
    sys.exit(130)


def _with_ray_address(arguments: list[str]) -> list[str]:
    """Gives a bare ``--ray`` its default, since an option's value cannot be optional otherwise."""
    out: list[str] = []
    for index, argument in enumerate(arguments):
        out.append(argument)
        following = arguments[index + 1] if index + 1 < len(arguments) else ""
        if argument == "--ray" and not _RAY_ADDRESS.match(following):
            out.append("local")
    return out


if __name__ == "__main__":
    main()
