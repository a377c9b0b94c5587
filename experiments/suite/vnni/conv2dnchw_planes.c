/* Plane by plane: every tap of the window adds a scaled, strided view of an input plane to an output plane. */
void conv2dnchw(const float *restrict A, const float *restrict B, float *restrict C, int batch, int size, int in_channels, int out_channels,
                int kernel, int stride) {
  const int out = (size - kernel) / stride + 1;
#pragma omp parallel for collapse(2)
  for (int n = 0; n < batch; ++n) {
    for (int o = 0; o < out_channels; ++o) {
      float *plane = C + (n * out_channels + o) * out * out;
      for (int p = 0; p < out * out; ++p) plane[p] = 0.0f;
      for (int c = 0; c < in_channels; ++c) {
        const float *image = A + (n * in_channels + c) * size * size;
        const float *weight = B + (o * in_channels + c) * kernel * kernel;
        for (int kh = 0; kh < kernel; ++kh) {
          for (int kw = 0; kw < kernel; ++kw) {
            const float w = weight[kh * kernel + kw];
            for (int y = 0; y < out; ++y) {
              for (int x = 0; x < out; ++x) plane[y * out + x] += w * image[(y * stride + kh) * size + x * stride + kw];
            }
          }
        }
      }
    }
  }
}
