/* OpenMP over the pixels; the channels are the vectorised loop and the window is outside of it. */
#ifndef BATCH
#define BATCH 1
#endif
#ifndef SIZE
#define SIZE 32
#endif
#ifndef CHANNELS
#define CHANNELS 64
#endif
#ifndef KERNEL
#define KERNEL 5
#endif
#ifndef STRIDE
#define STRIDE 3
#endif
#define OUT ((SIZE - KERNEL) / STRIDE + 1)

void sumpool(const float *restrict A, float *restrict C) {
#pragma omp parallel for
  for (int pixel = 0; pixel < BATCH * OUT * OUT; ++pixel) {
    const int n = pixel / (OUT * OUT);
    const int y = pixel % (OUT * OUT) / OUT;
    const int x = pixel % OUT;
    float sums[CHANNELS];
    for (int c = 0; c < CHANNELS; ++c) sums[c] = 0.0f;
    for (int tap = 0; tap < KERNEL * KERNEL; ++tap) {
      const float *from = &A[((n * SIZE + y * STRIDE + tap / KERNEL) * SIZE + x * STRIDE + tap % KERNEL) * CHANNELS];
#pragma omp simd
      for (int c = 0; c < CHANNELS; ++c) sums[c] += from[c];
    }
    for (int c = 0; c < CHANNELS; ++c) C[pixel * CHANNELS + c] = sums[c];
  }
}
