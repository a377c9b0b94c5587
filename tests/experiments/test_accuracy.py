from pathlib import Path

import pytest

from experiments import accuracy
from experiments.accuracy_report import report
from experiments.command import Outcome
from experiments.execution_kinds import describe
from experiments.records import append, key_of, read
from experiments.selection import Item, every, gate
from experiments.suite.registry import CASES, Case
from experiments.suite.shapes import OPERATORS

PARALLEL = {"parallel_loops": ["i"], "vector_loops": ["j"], "simd_loops": [], "serial_loops": [], "lanes": 16}
ADD_RIGHT = 'extern "C" void add(const float* A, const float* B, float* C) { for (int i = 0; i < 64; i++) C[i] = A[i] + B[i]; }'


def item(name: str, target: str = "vnni") -> Item:
    return Item(next(case for case in CASES["cuda"] if case.name == name), target)


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
    record = accuracy.measure(item("add_64"), "L1", 0, 10, answering(ADD_RIGHT))
    assert record["passed"] and record["reference"] == "right" and record["level"] == "L1"


def test_numpy_overrules_the_product() -> None:
    wrong = ADD_RIGHT.replace("A[i] + B[i]", "A[i] - B[i]")
    record = accuracy.measure(item("add_64"), "L1", 0, 10, answering(wrong))
    assert record["status"] == "ok" and record["reference"] == "wrong" and not record["passed"]


def test_a_serial_result_fails() -> None:
    serial = {**PARALLEL, "parallel_loops": [], "vector_loops": []}
    record = accuracy.measure(item("add_64"), "L1", 0, 10, answering(ADD_RIGHT, structure=serial))
    assert record["reference"] == "right" and not record["passed"]
    assert "serial result" in report([record])


def test_a_refusal_counts_in_the_denominator() -> None:
    good = accuracy.measure(item("add_64"), "L1", 0, 10, answering(ADD_RIGHT))
    bad = accuracy.measure(item("add_64"), "L1", 0, 10, answering(None, "refuted"))
    assert bad["reason"] == "L1 refuted: mismatch"
    text = report([good, bad])
    assert "Shown: L0 in 0, L1 in 0 of 2." in text
    assert "| refuted | not_tried | refuted |" in text and "| L1 refuted: mismatch |" in text
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


def test_launches_in_words() -> None:
    launch = {"kernel": "k", "grid": [4, 2, 1], "block": [16, 16, 1], "shared_bytes": 2048, "tensor_units": True}
    kind = describe({"launches": [launch]})
    assert kind.text == "grid 4 x 2, block 16 x 16, 2048 B shared, tensor units" and kind.tensor_units and not kind.serial
    one = {**launch, "grid": [1, 1, 1], "block": [1, 1, 1], "shared_bytes": 0, "tensor_units": False}
    assert describe({"launches": [one]}).serial and describe({"launches": [one]}).text == "grid 1, block 1"
    assert "the call" in describe({"launches": [{**launch, "grid": ["(n + 63) / 64", 1, 1], "shared_bytes": None}]}).text


def record_of(found: Item, passed: bool = True) -> dict[str, object]:
    return {"case": found.case.name, "operator": found.case.operator, "data": "f32", "canonical": True, "file": "f.cu", "from": "cuda",
            "to": found.target, "status": "ok", "level": "L1", "structure": PARALLEL, "seconds": 1.0, "scaled": False, "reason": "",
            "reference": "right" if passed else "wrong", "reference_error": 0.5, "passed": passed}  # fmt: skip


def test_a_second_run_repeats_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    calls = []

    def measure(found: Item, *rest: object) -> dict[str, object]:
        calls.append(found.name)
        return record_of(found)

    monkeypatch.setattr(accuracy, "measure", measure)
    arguments = ["--dialects", "cuda,vnni", "--only", "cuda-vnni/add*,cuda-vnni/gelu*", "--out", str(tmp_path)]
    assert accuracy.main([*arguments, "--limit", "3"]) == 0
    assert accuracy.main([*arguments, "--limit", "4", "--jobs", "2"]) == 0
    assert len(calls) == 4 == len(set(calls))
    text = (tmp_path / "accuracy.md").read_text()
    assert "**4 of 4**" in text and "cuda to vnni: 4 of 4" in text and "None." in text


def test_failures_are_listed_with_their_reason() -> None:
    found = item("add_64")
    text = report([record_of(found), record_of(found, passed=False)])
    assert "| add | 1 of 2, 1.0 s |" in text and "numpy disagrees: error 5.0e-01" in text


@pytest.mark.parametrize("arguments", [["--dialects", "cuda"], ["--dialects", "cuda,bang"], ["--dialects", "cuda,cuda"]])
def test_bad_dialects_are_bad_usage(arguments: list[str]) -> None:
    with pytest.raises(SystemExit) as stop:
        accuracy.main(arguments)
    assert stop.value.code == 2


def invented() -> dict[str, list[Case]]:
    """Eight cases of every operator in three dialects, as the registry has them when all tables are full."""
    found: dict[str, list[Case]] = {"cuda": [], "hip": [], "vnni": []}
    for dialect, cases in found.items():
        for name, description in OPERATORS.items():
            for shape in description.cases:
                cases.append(Case(name, shape, Path(f"{name}.x"), description.dims_of(shape), dialect=dialect))
    return found


def test_every_case_goes_in_every_direction() -> None:
    items = every(["cuda", "hip", "vnni"], invented())
    assert len(items) == 168 * 6 == len({found.name for found in items})
    assert len({(found.direction, found.case.operator) for found in items[:126]}) == 126


def test_the_gate_takes_every_operator_and_direction_once() -> None:
    items = gate(["cuda", "hip", "vnni"], invented())
    assert len(items) == 126 == len({(found.direction, found.case.operator) for found in items})
    assert items == gate(["cuda", "hip", "vnni"], invented())
    assert len({found.case.shape for found in items if found.case.operator == "gemm"}) == 6


def test_patterns_speak_of_operators_cases_files_and_directions() -> None:
    found = item("add_64")
    assert all(found.matches(pattern) for pattern in ("add", "add_6?", found.case.source.name, "cuda-vnni", "cuda-*/add_64"))
    assert not any(found.matches(pattern) for pattern in ("ad", "gemm", "vnni-cuda"))
