"""Builds by content: once per key, under a lock, failures too, interrupted ones not."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from devices.build_cache import Step, build_once, digest
from devices.status import Status


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XPILER_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache"


def counting(log: Path, then: str) -> list[Step]:
    return [Step(("sh", "-c", f"echo x >> {log}; cd {{out}}; {then}"))]


def test_a_build_is_made_once(tmp_path: Path) -> None:
    log = tmp_path / "log"
    steps = counting(log, "cp source program")
    first = build_once("aa11", {"source": "hello"}, steps, 10.0)
    second = build_once("aa11", {"source": "hello"}, steps, 10.0)
    assert first.status is Status.OK and first.path is not None and first.path.read_text() == "hello"
    assert second.path == first.path and log.read_text() == "x\n"


def test_a_failed_build_is_remembered_with_its_log(tmp_path: Path) -> None:
    log = tmp_path / "log"
    steps = counting(log, "echo 'k.c:3:1: error: no' >&2; exit 1")
    builds = [build_once("bb22", {}, steps, 10.0) for _ in range(2)]
    assert all(b.status is Status.COMPILE_ERROR and "k.c:3:1" in b.log and b.path is None for b in builds)
    assert log.read_text() == "x\n"


def test_a_compile_that_ran_out_of_time_is_tried_again(tmp_path: Path) -> None:
    log = tmp_path / "log"
    assert build_once("cc33", {}, counting(log, "sleep 20"), 0.3).status is Status.TIMEOUT
    assert build_once("cc33", {}, counting(log, "touch program"), 5.0).status is Status.OK
    assert log.read_text() == "x\nx\n"


def test_a_compiler_that_leaves_nothing_is_an_error(tmp_path: Path) -> None:
    assert build_once("dd44", {}, counting(tmp_path / "log", "true"), 5.0).status is Status.COMPILE_ERROR


def test_builders_at_the_same_time_build_once(tmp_path: Path) -> None:
    log = tmp_path / "log"
    steps = counting(log, "sleep 0.2; touch program")
    with ThreadPoolExecutor(4) as pool:
        builds = list(pool.map(lambda _: build_once("ee55", {}, steps, 10.0), range(4)))
    assert {b.status for b in builds} == {Status.OK} and log.read_text() == "x\n"


def test_nothing_partial_is_left(tmp_path: Path, cache: Path) -> None:
    build_once("ff66", {}, counting(tmp_path / "log", "exit 1"), 5.0)
    build_once("ff77", {}, counting(tmp_path / "log", "touch program"), 5.0)
    assert not list(cache.rglob(".partial-*"))


def test_the_bounds_of_parts_count_in_a_digest() -> None:
    assert digest(["ab", "c"]) != digest(["a", "bc"]) and digest(["ab"]) == digest([b"ab"])
