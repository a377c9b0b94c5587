/* Scores by vector dot products, softmax in scalars, the weighted sum in registers. */
#include <immintrin.h>
#include <math.h>

#ifndef BATCH
#define BATCH 1
#endif
#ifndef SEQ
#define SEQ 2048
#endif
#ifndef HEADS
#define HEADS 12
#endif
#ifndef DIM
#define DIM 256
#endif

static inline __mmask16 lanes_of(int left) { return left >= 16 ? (__mmask16)0xFFFF : (__mmask16)((1u << left) - 1); }

#ifdef __cplusplus
extern "C"
#endif
void mha(const float *Q, const float *K, const float *V, float *O) {
#pragma omp parallel for collapse(2)
  for (int p = 0; p < BATCH * SEQ; ++p) {
    for (int i = 0; i < HEADS; ++i) {
      const float *q = Q + (p * HEADS + i) * DIM;
      float weight[HEADS];
      float peak = -INFINITY;
      for (int j = 0; j < HEADS; ++j) {
        const float *k = K + (p * HEADS + j) * DIM;
        __m512 sum = _mm512_setzero_ps();
        for (int d = 0; d < DIM; d += 16) {
          const __mmask16 live = lanes_of(DIM - d);
          sum = _mm512_fmadd_ps(_mm512_maskz_loadu_ps(live, q + d), _mm512_maskz_loadu_ps(live, k + d), sum);
        }
        weight[j] = _mm512_reduce_add_ps(sum) * (1.0f / sqrtf(DIM));
        peak = weight[j] > peak ? weight[j] : peak;
      }
      float total = 0.0f;
      for (int j = 0; j < HEADS; ++j) {
        weight[j] = expf(weight[j] - peak);
        total += weight[j];
      }
      const __m512 scale = _mm512_set1_ps(1.0f / total);
      for (int d = 0; d < DIM; d += 16) {
        const __mmask16 live = lanes_of(DIM - d);
        __m512 sum = _mm512_setzero_ps();
        for (int j = 0; j < HEADS; ++j) {
          const __m512 v = _mm512_maskz_loadu_ps(live, V + (p * HEADS + j) * DIM + d);
          sum = _mm512_fmadd_ps(_mm512_set1_ps(weight[j]), v, sum);
        }
        _mm512_mask_storeu_ps(O + (p * HEADS + i) * DIM + d, live, _mm512_mul_ps(sum, scale));
      }
    }
  }
}
