from pathlib import Path

import pytest

from experiments import accuracy
from experiments.command import Outcome
from experiments.execution_kinds import describe
from experiments.records import append, key_of, read
from experiments.suite.registry import CASES

PARALLEL = {"parallel_loops": ["i"], "vector_loops": ["j"], "simd_loops": [], "serial_loops": [], "lanes": 16}
ADD_RIGHT = 'extern "C" void add(const float* A, const float* B, float* C) { for (int i = 0; i < 64; i++) C[i] = A[i] + B[i]; }'


def case(name: str):
    return next(case for case in CASES["cuda"] if case.name == name)


def answering(output: str | None, status: str = "ok", structure=PARALLEL):
    result = {
        "status": status,
        "output": output,
        "structure": structure,
        "evidence": {"level": "L1", "levels": {"L1": {"outcome": "refuted", "summary": "mismatch"}} if status != "ok" else {}},
        "seconds": {"total": 1.0},
        "diagnostics": [],
    }
    return lambda arguments, timeout: Outcome(status, 0, 1.5, result)


def test_a_right_parallel_result_passes() -> None:
    record = accuracy.measure(case("add_64"), "vnni", "L1", 0, 10, answering(ADD_RIGHT))
    assert record["passed"] and record["reference"] == "right" and record["level"] == "L1"


def test_numpy_overrules_the_product() -> None:
    wrong = ADD_RIGHT.replace("A[i] + B[i]", "A[i] - B[i]")
    record = accuracy.measure(case("add_64"), "vnni", "L1", 0, 10, answering(wrong))
    assert record["status"] == "ok" and record["reference"] == "wrong" and not record["passed"]


def test_a_serial_result_fails() -> None:
    serial = {**PARALLEL, "parallel_loops": [], "vector_loops": []}
    record = accuracy.measure(case("add_64"), "vnni", "L1", 0, 10, answering(ADD_RIGHT, structure=serial))
    assert record["reference"] == "right" and not record["passed"]
    assert "serial result" in accuracy.table([record])


def test_a_refusal_counts_in_the_denominator() -> None:
    good = accuracy.measure(case("add_64"), "vnni", "L1", 0, 10, answering(ADD_RIGHT))
    bad = accuracy.measure(case("add_64"), "vnni", "L1", 0, 10, answering(None, "refuted"))
    assert bad["reason"] == "L1 refuted: mismatch"
    text = accuracy.table([good, bad])
    assert "Shown: L0 in 0, L1 in 0 of 2." in text
    assert "| refuted | not_tried | refuted |" in text
    assert "**1 of 2** (50.0%)" in text and "ok 1, refuted 1" in text and "median 1.5" in text


def test_kinds() -> None:
    assert describe(PARALLEL).text == "1 omp + 1 vector x16"
    assert describe({}).serial


def test_records_survive_a_torn_line(tmp_path: Path) -> None:
    path = tmp_path / "records.jsonl"
    append(path, {"key": "a"})
    with path.open("a") as handle:
        handle.write('{"key": "b", "stat')
    append(path, {"key": "c"})
    assert [record["key"] for record in read(path)] == ["a", "c"]
    assert key_of("a", 1) == key_of("a", 1) != key_of("a1")


def test_a_second_run_repeats_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    calls = []

    def measure(case, *rest):
        calls.append(case.name)
        return {"case": case.name, "operator": case.operator, "file": "f.cu", "status": "ok", "level": "L1", "structure": PARALLEL,
                "seconds": 1.0, "scaled": False, "reason": "", "passed": True}  # fmt: skip

    monkeypatch.setattr(accuracy, "measure", measure)
    assert accuracy.main(["--ops", "add,gelu", "--limit", "3", "--out", str(tmp_path)]) == 0
    assert accuracy.main(["--ops", "add,gelu", "--limit", "4", "--out", str(tmp_path)]) == 0
    assert len(calls) == 4 == len(set(calls))
    assert "**4 of 4**" in (tmp_path / "accuracy.md").read_text()


def test_unknown_operators_are_bad_usage() -> None:
    with pytest.raises(SystemExit) as stop:
        accuracy.main(["--ops", "conv9d"])
    assert stop.value.code == 2


def test_selection() -> None:
    assert [c.operator for c in accuracy.select(["bmm"], 2)] == ["bmm", "bmm"]
    assert len(accuracy.select([], None)) == len(CASES["cuda"])
