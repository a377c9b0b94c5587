"""The scripted device keeps the contract of the others."""

from __future__ import annotations

import numpy as np

from devices.device import Run
from devices.null import NullDevice
from devices.status import Status
from synth.evidence.cases import BufferArg, TestCase
from synth.spec import SPECS
from tests.devices.programs import case, program


def doubled(called: TestCase) -> Run:
    (data,) = (a.data for a in called.args if isinstance(a, BufferArg) and a.data is not None)
    return Run(Status.OK, {"x": data, "y": 2 * data})


DEVICE = NullDevice(SPECS["avx512_vnni"], {"double": doubled, "crash": lambda _: Run(Status.CRASH, log="scripted")}, seconds=0.25)


def test_a_scripted_text_builds_once_and_runs() -> None:
    first, second = (DEVICE.build(program("double", "vnni", 4)) for _ in range(2))
    assert first.status is Status.OK and first.path is not None and (first.key, first.path) == (second.key, second.path)
    runs = DEVICE.run(first, (case(4), case(4)), 1.0)
    assert [r.status for r in runs] == [Status.OK] * 2 and np.array_equal(runs[1].outputs["y"], [0, 2, 4, 6])


def test_other_texts_do_not_compile() -> None:
    build = DEVICE.build(program("other", "vnni", 4))
    assert build.status is Status.COMPILE_ERROR and build.path is None and ":1:" in build.log
    assert DEVICE.run(build, (case(4),), 1.0)[0].status is Status.COMPILE_ERROR
    assert DEVICE.time(build, case(4), 1.0).status is Status.COMPILE_ERROR


def test_only_what_runs_is_timed() -> None:
    timed = DEVICE.time(DEVICE.build(program("double", "vnni", 4)), case(4), 1.0)
    assert timed.status is Status.OK and timed.median == 0.25
    assert DEVICE.time(DEVICE.build(program("crash", "vnni", 4)), case(4), 1.0).samples == ()
