// 16 channels at a time with vminps, a scalar loop for the others; sizes are parameters.
#include <immintrin.h>

extern "C" void minpool(const float* A, float* C, int batch, int size, int channels, int kernel, int stride) {
  const int out = (size - kernel) / stride + 1;
#pragma omp parallel for
  for (int pixel = 0; pixel < batch * out * out; ++pixel) {
    const int n = pixel / (out * out), y = pixel / out % out, x = pixel % out;
    const float* window = A + ((n * size + y * stride) * size + x * stride) * channels;
    int c = 0;
    for (; c + 16 <= channels; c += 16) {
      __m512 least = _mm512_loadu_ps(window + c);
      for (int r = 0; r < kernel; ++r) {
        for (int s = 0; s < kernel; ++s) least = _mm512_min_ps(least, _mm512_loadu_ps(window + (r * size + s) * channels + c));
      }
      _mm512_storeu_ps(C + pixel * channels + c, least);
    }
    for (; c < channels; ++c) {
      float least = window[c];
      for (int r = 0; r < kernel; ++r) {
        for (int s = 0; s < kernel; ++s) {
          const float value = window[(r * size + s) * channels + c];
          least = value < least ? value : least;
        }
      }
      C[pixel * channels + c] = least;
    }
  }
}
