"""Kernels are found by their text and drawn by a seed."""

from __future__ import annotations

from pathlib import Path

from experiments.wild.drawing import draw, kernels_of

SOURCE = """
// __global__ void commented(float* p) {}
template <typename T, int N>
__global__ void __launch_bounds__(256, 2) scale(T* x, const T factor[N], int n) { if (n) { x[0] = factor[0]; } }
__global__ void declared(float* p);
static __global__ void plain(float *p) { p[threadIdx.x] = 1; }
const char* text = "__global__ void quoted(float* p) {}";
"""


def write(folder: Path, name: str, text: str = SOURCE) -> Path:
    folder.mkdir(exist_ok=True)
    (folder / name).write_text(text)
    return folder / name


def test_definitions_are_found_and_nothing_else(tmp_path: Path) -> None:
    found = list(kernels_of(tmp_path, write(tmp_path, "k.cu")))
    assert [k.name for k in found] == ["scale", "plain"]
    assert found[0].template == "typename T, int N" and found[0].parameters == "T* x, const T factor[N], int n"
    assert found[0].body == "{ if (n) { x[0] = factor[0]; } }" and found[1].template == ""


def test_collections_take_turns_and_a_seed_draws_the_same(tmp_path: Path) -> None:
    many = "\n".join(f"__global__ void k{i}(float* p) {{}}" for i in range(20))
    write(tmp_path / "a", "a.cu", many)
    write(tmp_path / "b", "b.hip", "__global__ void only(float* p) {}")
    drawn = draw([tmp_path / "a", tmp_path / "b"], 6, 3)
    assert [k.collection.name for k in drawn] == ["a", "b", "a", "a", "a", "a"]
    assert drawn == draw([tmp_path / "a", tmp_path / "b"], 6, 3) != draw([tmp_path / "a", tmp_path / "b"], 6, 4)
    assert len(draw([tmp_path / "a"], 60, 3)) == 20
