/* Sixteen channels in a register; sizes are parameters. */
#include <immintrin.h>

#ifdef __cplusplus
extern "C"
#endif
void sumpool(const float *A, float *C, int batch, int size, int channels, int kernel, int stride) {
  const int out = (size - kernel) / stride + 1;
#pragma omp parallel for
  for (int n = 0; n < batch; ++n) {
    for (int y = 0; y < out; ++y) {
      for (int x = 0; x < out; ++x) {
        for (int c = 0; c < channels; c += 16) {
          const __mmask16 lanes = (__mmask16)(channels - c < 16 ? (1 << (channels - c)) - 1 : 0xFFFF);
          __m512 sum = _mm512_setzero_ps();
          for (int r = 0; r < kernel; ++r) {
            for (int s = 0; s < kernel; ++s) {
              const float *from = A + ((n * size + y * stride + r) * size + x * stride + s) * channels + c;
              sum = _mm512_add_ps(sum, _mm512_maskz_loadu_ps(lanes, from));
            }
          }
          _mm512_mask_storeu_ps(C + ((n * out + y) * out + x) * channels + c, lanes, sum);
        }
      }
    }
  }
}
