/* Direct convolution, NHWC input, OHWI weights, no padding. */
#ifndef BATCH
#define BATCH 16
#endif
#ifndef SIZE
#define SIZE 8
#endif
#ifndef IN_CHANNELS
#define IN_CHANNELS 128
#endif
#ifndef OUT_CHANNELS
#define OUT_CHANNELS 64
#endif
#ifndef KERNEL
#define KERNEL 2
#endif
#ifndef STRIDE
#define STRIDE 2
#endif
#define OUT ((SIZE - KERNEL) / STRIDE + 1)

void conv2d(const float *A, const float *B, float *C) {
  for (int n = 0; n < BATCH; n++)
    for (int oh = 0; oh < OUT; oh++)
      for (int ow = 0; ow < OUT; ow++)
        for (int oc = 0; oc < OUT_CHANNELS; oc++) {
          float sum = 0.0f;
          for (int kh = 0; kh < KERNEL; kh++)
            for (int kw = 0; kw < KERNEL; kw++)
              for (int ic = 0; ic < IN_CHANNELS; ic++) {
                const int ih = oh * STRIDE + kh;
                const int iw = ow * STRIDE + kw;
                sum += A[((n * SIZE + ih) * SIZE + iw) * IN_CHANNELS + ic] * B[((oc * KERNEL + kh) * KERNEL + kw) * IN_CHANNELS + ic];
              }
          C[((n * OUT + oh) * OUT + ow) * OUT_CHANNELS + oc] = sum;
        }
}
