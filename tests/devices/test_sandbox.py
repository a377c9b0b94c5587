"""The sandbox: how commands end, what they may use, and that nothing of them survives."""

from __future__ import annotations

import os
import time
from pathlib import Path

from devices.sandbox import OUTPUT_LIMIT, Ending, Limits, clean_environment, run_command, workspace


def run(script: str, timeout: float = 5.0, limits: Limits | None = None):  # type: ignore[no-untyped-def]
    with workspace() as folder:
        return run_command(("sh", "-c", script), timeout, folder, limits)


def test_an_exit_code_and_both_outputs_come_back() -> None:
    done = run("echo out; echo err >&2; exit 3")
    assert (done.ending, done.code, done.stdout, done.stderr) == (Ending.EXITED, 3, "out\n", "err\n")
    assert not done.succeeded and 0 < done.seconds < 5


def test_a_signal_is_told_from_an_exit() -> None:
    done = run("kill -SEGV $$")
    assert (done.ending, done.code) == (Ending.SIGNALLED, 11)


def test_a_command_that_is_not_there_is_unstarted() -> None:
    with workspace() as folder:
        done = run_command(("/nonexistent/command",), 5.0, folder)
    assert (done.ending, done.code) == (Ending.UNSTARTED, 2)


def test_the_deadline_ends_children_that_left_the_session_too(tmp_path: Path) -> None:
    mark = tmp_path / "pid"
    done = run(f"setsid sleep 60 & echo $! > {mark}; setsid sh -c 'echo $$ >> {mark}; sleep 60' & sleep 60", timeout=0.5)
    assert done.ending is Ending.TIMEOUT and done.seconds < 3
    pids = [int(word) for word in mark.read_text().split()]
    assert len(pids) == 2 and not any(alive(pid) for pid in pids)


def test_what_a_command_leaves_running_is_ended_with_it(tmp_path: Path) -> None:
    mark = tmp_path / "pid"
    done = run(f"sh -c 'echo $$ > {mark}; exec sleep 60' & while [ ! -s {mark} ]; do sleep 0.01; done")
    assert done.succeeded
    assert not alive(int(mark.read_text()))


def alive(pid: int) -> bool:
    stat = Path(f"/proc/{pid}/stat")
    return stat.exists() and stat.read_text().split(")")[-1].split()[0] != "Z"


def test_the_network_is_closed() -> None:
    with workspace() as folder:
        done = run_command(("python3", "-c", "import socket; socket.socket()"), 20.0, folder)
    assert done.code == 1 and "PermissionError" in done.stderr


def test_a_file_cannot_grow_beyond_the_limit() -> None:
    assert not run("head -c 5000000 /dev/zero > big", limits=Limits(file_bytes=1_000_000)).succeeded


def test_memory_is_bounded() -> None:
    with workspace() as folder:
        done = run_command(("python3", "-c", "x = bytearray(1 << 30)"), 20.0, folder, Limits(data_bytes=1 << 28))
    assert "MemoryError" in done.stderr


def test_long_output_is_cut() -> None:
    done = run("head -c 200000 /dev/zero | tr '\\0' x")
    assert len(done.stdout) < OUTPUT_LIMIT + 100 and done.stdout.endswith("[output cut]")


def test_the_environment_is_cleaned(tmp_path: Path) -> None:
    os.environ["XPILER_TEST_SECRET"] = "s3cret"
    try:
        assert "s3cret" not in run("env").stdout
    finally:
        del os.environ["XPILER_TEST_SECRET"]
    assert clean_environment(tmp_path)["HOME"] == str(tmp_path)


def test_the_workspace_is_removed() -> None:
    with workspace() as folder:
        (folder / "file").write_text("x")
    assert not folder.exists()


def test_many_runs_are_quick() -> None:
    start = time.monotonic()
    for _ in range(10):
        assert run("true").succeeded
    assert time.monotonic() - start < 3.0
