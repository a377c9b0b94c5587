/* Direct convolution, NCHW input, OIHW weights, no padding. */
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

void conv2dnchw(const float *A, const float *B, float *C) {
  for (int n = 0; n < BATCH; n++) {
    for (int oc = 0; oc < OUT_CHANNELS; oc++) {
      for (int oh = 0; oh < OUT; oh++) {
        for (int ow = 0; ow < OUT; ow++) {
          float sum = 0.0f;
          for (int ic = 0; ic < IN_CHANNELS; ic++) {
            for (int kh = 0; kh < KERNEL; kh++) {
              for (int kw = 0; kw < KERNEL; kw++) {
                sum += A[((n * IN_CHANNELS + ic) * SIZE + oh * STRIDE + kh) * SIZE + ow * STRIDE + kw] *
                       B[((oc * IN_CHANNELS + ic) * KERNEL + kh) * KERNEL + kw];
              }
            }
          }
          C[((n * OUT_CHANNELS + oc) * OUT + oh) * OUT + ow] = sum;
        }
      }
    }
  }
}
