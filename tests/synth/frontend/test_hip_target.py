"""How a HIP file is known, and what its compiler defines."""

from __future__ import annotations

import pytest

from synth.frontend.hip_target import is_hip, target_macros
from synth.spec import SPECS


@pytest.mark.parametrize(
    ("text", "hip"),
    [
        ("#include <hip/hip_runtime.h>\nint main() {}", True),
        (' # include "hip/hip_fp16.h"\n', True),
        ("void f() { hipMalloc(&p, 4); }", True),
        ("// a hip file\n#include <cuda_runtime.h>", False),
        ("#ifdef USE_HIP\n#include <hip/hip_runtime.h>\n#else\n#include <cuda_runtime.h>\n#endif", False),
        ("void add(const float* x, float* y) {}", False),
        ("int hipMallocs; // shiphip/", False),
    ],
)
def test_a_hip_file_is_known_by_its_contents(text: str, hip: bool) -> None:
    assert is_hip(text) is hip


def test_macros_of_targets() -> None:
    assert target_macros(SPECS["gfx90a"])["__AMDGCN_WAVEFRONT_SIZE"] == "64"
    assert {"__gfx90a__", "__GFX9__"} <= target_macros(SPECS["gfx90a"]).keys()
    assert {"__gfx1100__", "__GFX11__"} <= target_macros(SPECS["gfx1100"]).keys()
    assert target_macros(SPECS["gfx1100"])["__AMDGCN_WAVEFRONT_SIZE"] == "32"
