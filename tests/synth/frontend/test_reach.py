from synth.frontend import read
from synth.source import ReadOptions, Source

SOURCE = """#include <cuda_runtime.h>
struct Max {
    __device__ float operator()(float a, float b) const { return pick(a, b); }
    __device__ static float pick(float a, float b) { return a > b ? a : b; }
};
template <typename Op> __device__ float twice(float v, Op op) { return op(v, v); }
__device__ float unused(float v) {
    return v + 1;
}
__global__ void other(float* y) { y[0] = unused(1.0f); }
__global__ void k(const float* x, float* y) { y[threadIdx.x] = twice(x[threadIdx.x], Max()); }
int main() { other<<<1, 1>>>(nullptr); return 0; }
extern "C" void entry(const float* x, float* y) { k<<<1, 32>>>(x, y); }
"""


def test_bodies_that_the_entry_does_not_reach_are_emptied_in_place() -> None:
    reached = read(Source(SOURCE, "cuda", "k.cu"), ReadOptions(entry="entry")).reached
    assert reached is not None
    assert "v + 1" not in reached and "nullptr" not in reached
    assert len(reached.splitlines()) == len(SOURCE.splitlines())


def test_methods_and_templates_that_are_called_through_objects_stay() -> None:
    reached = read(Source(SOURCE, "cuda", "k.cu"), ReadOptions(entry="entry")).reached or ""
    assert "return pick(a, b);" in reached and "return op(v, v);" in reached and "y[threadIdx.x] = twice" in reached
