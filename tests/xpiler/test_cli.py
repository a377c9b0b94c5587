"""The command line as a contract: exit statuses, JSON, output files, messages. Each test runs the real command."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from llm_server.fake import FakeModel, serve

SAMPLES = Path(__file__).parent / "samples"
GEMM, BARE = str(SAMPLES / "gemm.cu"), str(SAMPLES / "bare.cu")


def xpiler(*arguments: str, timeout: float = 120) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, "-m", "xpiler", *arguments], capture_output=True, text=True, timeout=timeout, check=False)


def result(*arguments: str) -> tuple[int, dict[str, Any]]:
    done = xpiler(*arguments, "--json", "-")
    assert "Traceback" not in done.stderr
    return done.returncode, json.loads(done.stdout)


@pytest.fixture(scope="module")
def translated(tmp_path_factory: pytest.TempPathFactory) -> tuple[dict[str, Any], Path]:
    output = tmp_path_factory.mktemp("out") / "gemm.c"
    code, data = result("translate", GEMM, "--to", "vnni", "-o", str(output))
    assert code == 0
    return data, output


def test_a_translation_reports_everything_the_schema_names(translated: tuple[dict[str, Any], Path]) -> None:
    data, output = translated
    assert data["schema_version"] == 1
    assert (data["status"], data["from"], data["to"], data["target"], data["entry"]) == ("ok", "cuda", "vnni", "avx512_vnni", "gemm")
    assert data["evidence"]["level"] == "L1"
    assert data["evidence"]["levels"]["L0"]["outcome"] == data["evidence"]["levels"]["L1"]["outcome"] == "shown"
    assert data["output"] == output.read_text()
    assert {"total", "read", "lower", "oracle", "evaluate", "prove"} <= set(data["seconds"])
    assert data["trace"][0] == "host_copies" and data["diagnostics"] == []


def test_the_result_is_parallel_and_vectorised_and_keeps_names(translated: tuple[dict[str, Any], Path]) -> None:
    data, _ = translated
    assert data["structure"]["parallel_loops"] and data["structure"]["lanes"] == 16
    assert "_mm512_fmadd_ps" in data["output"] and "#pragma omp parallel for" in data["output"] and "row" in data["output"]


def test_verify_accepts_the_result_and_refutes_a_wrong_one(translated: tuple[dict[str, Any], Path], tmp_path: Path) -> None:
    _, output = translated
    assert xpiler("verify", GEMM, str(output)).returncode == 0
    wrong = tmp_path / "wrong.c"
    wrong.write_text(output.read_text().replace("_mm512_set1_ps(0.0f)", "_mm512_set1_ps(0.5f)"))
    code, data = result("verify", GEMM, str(wrong))
    assert (code, data["status"]) == (1, "refuted")


def test_a_bare_kernel_needs_a_launch_and_an_entry_is_offered() -> None:
    code, data = result("translate", BARE, "--to", "vnni")
    assert code != 0 and "--launch" in json.dumps(data["diagnostics"])
    code, data = result("translate", BARE, "--to", "vnni", "--launch", "grid=4,block=64", "--bind", "n=200")
    assert (code, data["entry"]) == (0, "scale")


@pytest.mark.parametrize(
    ("source", "arguments", "code", "words"),
    [
        ("int x = ;", ("--to", "vnni"), 2, "1:9"),
        ("#include <nonsense.h>\n", ("--to", "vnni"), 2, "nonsense.h"),
        ('__global__ void k(float* p) { asm("trap;"); }', ("--to", "vnni", "--launch", "grid=1,block=1"), 1, "inline assembly"),
        ("", ("--to", "vnni"), None, ""),
        ("__global__ void k(float* p) { p[0] = 1; }", ("--to", "metal"), 2, "no such dialect"),
        ("__global__ void k(float* p) { p[0] = 1; }", ("--to", "vnni", "--evidence", "L3"), 2, "L0 and L1 only"),
        ("__global__ void k(float* p) { p[0] = 1; }", ("--to", "vnni", "--launch", "grid=1"), 2, "expected grid and block"),
        ("__global__ void k(float* p) { p[0] = 1; }", ("--to", "bang", "--launch", "grid=1,block=1"), 1, "not available"),
    ],
)
def test_bad_input_is_named_with_its_exit_status(
    tmp_path: Path, source: str, arguments: tuple[str, ...], code: int | None, words: str
) -> None:
    path = tmp_path / "k.cu"
    path.write_text(source)
    done = xpiler("translate", str(path), *arguments)
    assert done.returncode == code if code is not None else done.returncode in (1, 2)
    assert "Traceback" not in done.stderr + done.stdout and words in " ".join((done.stderr + done.stdout).split())


def test_nothing_is_written_on_failure_and_an_old_file_stays(tmp_path: Path) -> None:
    (tmp_path / "k.cu").write_text("int x = ;")
    old = tmp_path / "old.c"
    old.write_text("precious")
    assert xpiler("translate", str(tmp_path / "k.cu"), "--to", "vnni", "-o", str(old)).returncode == 2
    assert old.read_text() == "precious" and sorted(p.name for p in tmp_path.iterdir()) == ["k.cu", "old.c"]


def test_a_source_that_fails_itself_is_not_shown(tmp_path: Path) -> None:
    path = tmp_path / "k.cu"
    path.write_text("__global__ void k(const float* x, float* y) { y[threadIdx.x] = x[threadIdx.x + 1]; }")
    code, data = result("translate", str(path), "--to", "vnni", "--launch", "grid=1,block=32", "--extent", "x=32", "--extent", "y=32")
    assert (code, data["status"]) == (3, "not_shown")
    assert "out_of_bounds" in data["diagnostics"][0]["message"]


def test_a_source_beyond_the_limits_of_its_device_ends_with_1(tmp_path: Path) -> None:
    path = tmp_path / "k.cu"
    path.write_text("__global__ void k(float* y) { if (threadIdx.x < 8) y[threadIdx.x] = 1; }")
    code, data = result("translate", str(path), "--to", "vnni", "--launch", "grid=1,block=2048", "--extent", "y=8")
    assert (code, data["status"]) == (1, "unsupported")
    assert "limit_exceeded" in data["diagnostics"][-1]["message"]


def test_a_macro_may_have_the_name_of_a_template_parameter(tmp_path: Path) -> None:
    path = tmp_path / "k.cu"
    path.write_text("__global__ void k(const float* x, float* y) { if (threadIdx.x < T) y[threadIdx.x] = fmaxf(x[threadIdx.x], N); }")
    code, data = result("translate", str(path), "--to", "vnni", "--launch", "grid=1,block=32", "-D", "T=20", "-D", "N=0.5f")
    assert (code, data["status"]) == (0, "ok")


def test_a_missing_barrier_in_the_source_is_a_race(tmp_path: Path) -> None:
    path = tmp_path / "k.cu"
    path.write_text(
        "__global__ void k(const float* x, float* y) { __shared__ float s[64]; s[threadIdx.x] = x[threadIdx.x]; "
        "y[threadIdx.x] = s[63 - threadIdx.x]; }"
    )
    code, data = result("translate", str(path), "--to", "vnni", "--launch", "grid=1,block=64")
    assert code == 3 and "race" in data["diagnostics"][-1]["message"]


def test_tuning_is_recorded_and_resumed_after_an_interrupt(tmp_path: Path) -> None:
    command = ["translate", GEMM, "--to", "vnni", "--tune", "8", "--records", str(tmp_path / "records")]
    process = subprocess.Popen(
        [sys.executable, "-m", "xpiler", *command], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True
    )
    artefacts = tmp_path / "records" / "artefacts"
    while len(list(artefacts.glob("*/*"))) < 3 and process.poll() is None:
        time.sleep(0.05)
    os.killpg(process.pid, signal.SIGKILL)
    process.wait()
    code, data = result(*command)
    assert code == 0 and data["tuning"]["reused"] >= 2
    again_code, again = result(*command)
    assert again_code == 0 and again["tuning"]["reused"] >= data["tuning"]["evaluations"] - 1


def test_ctrl_c_ends_with_130() -> None:
    process = subprocess.Popen(
        [sys.executable, "-m", "xpiler", "translate", GEMM, "--to", "vnni", "--tune", "60"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        start_new_session=True,
        text=True,
    )
    time.sleep(4)
    process.send_signal(signal.SIGINT)
    _, errors = process.communicate(timeout=30)
    assert process.returncode == 130 and "Traceback" not in errors


def test_ray_gives_the_same_trace_and_evidence(translated: tuple[dict[str, Any], Path]) -> None:
    data, _ = translated
    code, through_ray = result("translate", GEMM, "--to", "vnni", "--ray")
    assert code == 0
    assert (through_ray["trace"], through_ray["evidence"], through_ray["output"]) == (data["trace"], data["evidence"], data["output"])


def labels_of(prompt: str) -> dict[str, str]:
    lines = [line.split(": ", 1) for line in prompt.splitlines() if ": " in line]
    return {line[0]: line[1] for line in lines if len(line[0]) == 1}


def steered(prefer: str, answer: str = "") -> tuple[int, dict[str, Any]]:
    def weights(prompt: str) -> dict[str, float]:
        return {label: 0.9 if prefer in action else 0.01 for label, action in labels_of(prompt).items()} or {"A": 1.0}

    def choose(prompt: str) -> str:
        return answer if "Rewritten function" in prompt else ""

    with serve(FakeModel(weights=weights, choose=choose)) as url:
        return result("translate", GEMM, "--to", "vnni", "--llm", url)


def test_the_ranking_of_a_model_changes_the_order_of_exploration() -> None:
    for prefer in ("loop_split{site=k", "loop_reorder{"):
        code, data = steered(prefer)
        assert code == 0 and prefer in data["tuning"]["explored"][1]


def test_a_hostile_rewriting_is_refused_before_any_compiler_sees_it(tmp_path: Path) -> None:
    marker = tmp_path / "pwned"
    hostile = (
        'extern "C" int system(const char*);\n'
        f'extern "C" void gemm(const float *A, const float *B, float *C) {{ system("touch {marker}"); }}'
    )
    code, data = steered("loop_split", hostile)
    assert code == 0 and not marker.exists()
    assert any("refused by the IR gate" in d["message"] and "system" in d["message"] for d in data["diagnostics"])
    assert not any("model_rewrite" in point for point in data["tuning"]["explored"])


def test_a_good_rewriting_is_tested_like_any_other_candidate() -> None:
    good = """```c
    void gemm(const float *A, const float *B, float *C) {
        for (int i = 0; i < 32; ++i)
            for (int k = 0; k < 32; ++k)
                for (int j = 0; j < 32; ++j)
                    C[i * 32 + j] = (k == 0 ? 0.0f : C[i * 32 + j]) + A[i * 32 + k] * B[k * 32 + j];
    }
    ```"""
    code, data = steered("loop_split", good.replace("void gemm", 'extern "C" void gemm'))
    assert code == 0
    assert any("model_rewrite" in point and not point.startswith("0.000") for point in data["tuning"]["explored"])


def test_a_server_that_is_not_there_is_a_usage_error() -> None:
    done = xpiler("translate", GEMM, "--to", "vnni", "--llm", "http://127.0.0.1:9")
    assert done.returncode == 2 and "is the server up" in " ".join(done.stderr.split())


def test_passes_are_listed() -> None:
    done = xpiler("passes")
    assert done.returncode == 0 and all(name in done.stdout for name in ("loop_recovery", "tensorize", "vectorize"))
