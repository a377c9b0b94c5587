/* Two vector passes for mean and variance, one to normalise; masked tails; a parallel loop over the rows. */
#include <immintrin.h>
#include <math.h>

static inline __mmask16 lanes_of(int left) { return left >= 16 ? (__mmask16)0xFFFF : (__mmask16)((1u << left) - 1); }

#ifdef __cplusplus
extern "C"
#endif
void layernorm(const float *A, const float *gamma, const float *beta, float *C, int rows, int dim) {
#pragma omp parallel for
  for (int r = 0; r < rows; ++r) {
    const float *x = A + r * dim;
    __m512 sum = _mm512_setzero_ps();
    for (int d = 0; d < dim; d += 16) sum = _mm512_add_ps(sum, _mm512_maskz_loadu_ps(lanes_of(dim - d), x + d));
    const __m512 mean = _mm512_set1_ps(_mm512_reduce_add_ps(sum) / (float)dim);
    __m512 squares = _mm512_setzero_ps();
    for (int d = 0; d < dim; d += 16) {
      const __mmask16 live = lanes_of(dim - d);
      const __m512 diff = _mm512_maskz_sub_ps(live, _mm512_maskz_loadu_ps(live, x + d), mean);
      squares = _mm512_fmadd_ps(diff, diff, squares);
    }
    const float deviation = sqrtf(_mm512_reduce_add_ps(squares) / (float)dim);
    const __m512 scale = _mm512_set1_ps(1.0f / (deviation + 1e-5f));
    for (int d = 0; d < dim; d += 16) {
      const __mmask16 live = lanes_of(dim - d);
      const __m512 normal = _mm512_mul_ps(_mm512_sub_ps(_mm512_maskz_loadu_ps(live, x + d), mean), scale);
      const __m512 y = _mm512_fmadd_ps(normal, _mm512_maskz_loadu_ps(live, gamma + d), _mm512_maskz_loadu_ps(live, beta + d));
      _mm512_mask_storeu_ps(C + r * dim + d, live, y);
    }
  }
}
