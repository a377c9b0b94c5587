"""Any text ends in a module or in a typed error: whole files are truncated, and their tokens replaced, deleted and swapped."""

from __future__ import annotations

import re

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from synth.errors import InternalError, XpilerError
from synth.frontend import read
from synth.source import LaunchShape, ReadOptions, Source

PROGRAMS = (
    """
template <typename T> __device__ __forceinline__ T fold(T v) {
  for (int o = 16; o > 0; o >>= 1) v += __shfl_down_sync(0xffffffff, v, o);
  return v;
}
struct P {
  float a; int b[2];
  __device__ P(float x) : a(x) { b[0] = 1; b[1] = 2; }
  __device__ float get(int i) const { return a + b[i]; }
};
__device__ int find(const int *v, int n, int x) { for (int i = 0; i < n; i++) { if (v[i] == x) return i; } return -1; }
#define N 16
__global__ void k(const float *__restrict__ A, float *B, int n, const int *idx) {
  __shared__ float tile[N][N + 1]; extern __shared__ float dyn[];
  int row = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= n) return;
  float acc[4] = {0.f}; float w[3] = {1.f, 2, 3};
  for (int k = 0; k < n; ++k) acc[k % 4] += A[row * n + k] * w[1];
  tile[threadIdx.y][threadIdx.x] = acc[0]; dyn[threadIdx.x] = 1;
  __syncthreads();
  const float *p = A + row * n; float s = 0;
  for (int i = threadIdx.x; i < n; i += blockDim.x) { s += *p++; if (s > 3) continue; s *= 2; }
  float4 v = reinterpret_cast<const float4 *>(A)[row]; v.x += 1; reinterpret_cast<float4 *>(B)[row] = v;
  P q(s); B[row] = fold(q.get(n & 1)) + find(idx, n, 3);
  switch (n & 3) { case 0: s = 1; break; case 1: s = 2; case 2: if (s > 1) break; s = 3; default: s = 9; }
  int j; for (j = 0; j < 8; j++) B[j] = s;
  for (int d = 7; d >= 0; d--) B[d] = d > 3 && A[d] > 0 ? (unsigned char)d : -d;
  do { row--; if (row == 3) break; } while (row > 0);
}
""",
    """
extern "C" void run(const float *x, float *y, int n);
template <int B> __global__ void scale(const float *x, float *y, int n, float a) {
  int i = blockIdx.x * B + threadIdx.x;
  if (i < n) y[i] = a * x[i] + expf(x[i]);
}
void run(const float *x, float *y, int n) {
  float *dx, *dy; size_t bytes = n * sizeof(float);
  cudaMalloc(&dx, bytes); cudaMalloc((void **)&dy, bytes);
  cudaMemcpy(dx, x, bytes, cudaMemcpyHostToDevice);
  dim3 block(64), grid((n + block.x - 1) / block.x);
  scale<64><<<grid, block>>>(dx, dy, n, 2.0f);
  cudaDeviceSynchronize();
  cudaMemcpy(y, dy, bytes, cudaMemcpyDeviceToHost);
  cudaFree(dx); cudaFree(dy);
}
""",
)
TOKENS = re.compile(r"\w+|\s+|.", re.S)
EXTRA = (
    "0 1 - * & ( ) { } ; float int unsigned [ ] ++ -- += = ? "
    ": , < -> . if for while switch case return break const && || ! double nullptr 1.0f sizeof auto"
)


def check(text: str) -> None:
    for options in (ReadOptions(), ReadOptions(entry="k", launch=LaunchShape((2, 1, 1), (32, 1, 1), 256))):
        try:
            read(Source(text, "cuda", "fuzz.cu"), options)
        except InternalError:
            raise
        except XpilerError as error:
            assert error.message


@st.composite
def mutated(draw: st.DrawFn) -> str:
    tokens = TOKENS.findall(draw(st.sampled_from(PROGRAMS)))
    for _ in range(draw(st.integers(1, 3))):
        at = draw(st.integers(0, len(tokens) - 1))
        match draw(st.integers(0, 4)):
            case 0:
                tokens[at] = draw(st.sampled_from(EXTRA.split()))
            case 1:
                tokens[at] = draw(st.sampled_from([t for t in tokens if t.isalnum() == tokens[at].isalnum()]))
            case 2:
                del tokens[at]
            case 3:
                tokens.insert(at, draw(st.sampled_from(tokens)))
            case _:
                other = draw(st.integers(0, len(tokens) - 1))
                tokens[at], tokens[other] = tokens[other], tokens[at]
    return "".join(tokens)


SETTINGS = settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow], derandomize=True)


@SETTINGS
@given(mutated())
def test_mutated_programs(text):
    check(text)


@SETTINGS
@given(st.sampled_from(PROGRAMS), st.integers(0, 2000))
def test_truncated_programs(text, length):
    check(text[:length])


@SETTINGS
@given(st.text(max_size=60))
def test_any_text(text):
    check(text)


def test_deep_and_exploding_programs_end_in_a_typed_error():
    body = "__global__ void k(float *o) {{ {} }}"
    check(body.format("o[0] = " + "(" * 2000 + "1" + ")" * 2000 + ";"))
    check(body.format("o[0] = " + "+".join(["o[1]"] * 3000) + ";"))
    check(body.format("o[0] = " + "+".join(["o[1]"] * 200) + ";"))
    check(body.format("if (o[0] > 1) {" * 150 + "o[0] = 1;" + "}" * 150))
    check(body.format("".join(f"for (int i{i} = 0; i{i} < (int)o[{i}]; i{i}++) " for i in range(16)) + "o[0] = 1;"))
    check("__device__ float f(float x);" + body.format("o[0] = f(1);"))
