from collections import Counter
from pathlib import Path

import pytest

from experiments import mutants as command
from experiments.command import Outcome
from experiments.mutation import mutants, sample
from experiments.suite.registry import FOLDER, VARIANTS, sources
from experiments.suite.small import small_case

RESULT = """#include <math.h>
static inline float helper(float a) { return a + 1.0f; }
void add(const float *A, const float *B, float *C) {
    for (int i = 0; i < 655; ++i) {
        C[i] = A[i] + B[i];  // a + b
    }
}
"""


def original(operator: str, file: str) -> command.Original:
    variant = next(v for v in VARIANTS["cuda"][operator] if v.file == file)
    case = small_case(operator, variant)
    return command.Original(case, "cuda", case.source.read_text())


@pytest.mark.parametrize("source", sources("cuda"), ids=lambda path: path.name)
def test_mutants_change_one_line_of_code(source: Path) -> None:
    text = source.read_text()
    found = list(mutants(text, source.stem.split("_")[0], "cuda"))
    assert len(found) >= 5 and len({m.text for m in found}) == len(found)
    for mutant in found:
        changed = [n for n, (a, b) in enumerate(zip(text.split("\n"), mutant.text.split("\n"), strict=True), 1) if a != b]
        assert changed == [mutant.line]
        assert not mutant.before.startswith(("#", "//")) and "cudaMalloc" not in mutant.before


def test_results_are_mutated_in_their_entry_only() -> None:
    found = list(mutants(RESULT, "add", "vnni"))
    assert {m.line for m in found} <= {4, 5}
    assert "for (int i = 0; i < 654; ++i) {" in {m.after for m in found}
    assert all(m.after.endswith("// a + b") for m in found if m.line == 5)


def test_a_sample_is_deterministic_and_varied() -> None:
    found = list(mutants((FOLDER / "cuda" / "gemm_tiled.cu").read_text(), "gemm", "cuda"))
    chosen = sample(found, 10, 3)
    assert chosen == sample(found, 10, 3) != sample(found, 10, 4)
    assert max(Counter(m.rule for m in chosen).values()) == 1


def change(program: command.Original, before: str, after: str):
    assert before in program.text
    text = program.text.replace(before, after, 1)
    return command.Mutant("by hand", 1, before, after, text)


def test_labels_come_from_the_reference() -> None:
    program = original("maxpool", "maxpool_naive.cu")
    inputs = command.fair_inputs(program)
    assert len(inputs) == len(command.input_families(program.case.operator, program.case.dims))
    # wrong only where nothing in a window is positive
    assert command.label(program, change(program, "-FLT_MAX", "0.0f"), inputs)[0] == "wrong"
    assert command.label(program, change(program, "fmaxf(best", "fmaxf(1.0f * best"), inputs)[0] == "equivalent"
    assert command.label(program, change(program, "fmaxf", "fmaxg"), inputs)[0] == "invalid"


def test_a_missing_barrier_is_wrong() -> None:
    program = original("conv2d", "conv2d_shared.cu")
    verdict, reason = command.label(program, change(program, "__syncthreads();", ";"), command.fair_inputs(program))
    assert verdict == "wrong" and "race" in reason


def test_the_report_and_resuming(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    calls = []

    def run(arguments, timeout) -> Outcome:
        calls.append(arguments)
        if arguments[0] == "translate":
            return Outcome("refuted", 1, 0.1, {}, "no")
        assert Path(arguments[2]).read_text()
        return Outcome("refuted" if len(calls) != 5 else "ok", 1, 0.1, {})

    options = ["--ops", "add", "--wrong", "6", "--out", str(tmp_path)]
    assert command.main(options, run) == 1  # one of six survives
    verified = sum(c[0] == "verify" for c in calls)
    text = (tmp_path / "mutants.md").read_text()
    assert "of 6**" in text and "## Wrong, and not refuted" in text
    command.main(options, run)
    assert sum(c[0] == "verify" for c in calls) == verified
    assert "does not translate" in capsys.readouterr().out


def test_peaks_label_a_maximum_that_misses_one_element() -> None:
    program = original("softmax", "softmax_warp.cu")
    short = change(program, "for (int c = lane; c < cols; c += 32) largest", "for (int c = lane; c < cols - 1; c += 32) largest")
    families = command.input_families("softmax", program.case.dims)
    assert families["peaks 0"]["A"][0, -1] - families["random 1"]["A"][0, -1] == pytest.approx(300, abs=1e-3)
    assert command.label(program, short, [families["random 1"]])[0] == "equivalent"
    assert command.label(program, short, [families["peaks 0"]])[0] == "wrong"


def test_results_only(tmp_path: Path) -> None:
    calls = []

    def run(arguments, timeout) -> Outcome:
        calls.append(arguments)
        return Outcome("ok", 0, 0.1, {"output": RESULT})

    # ``RESULT`` adds 655 numbers, as the shape of the mutants asks for; a verifier that accepts everything is found out
    assert command.main(["--ops", "add", "--of", "results", "--wrong", "2", "--out", str(tmp_path)], run) == 1
    assert {Path(c[2]).suffix for c in calls if c[0] == "verify"} == {".c"}
    assert "**0 of 2**" in (tmp_path / "mutants.md").read_text()
