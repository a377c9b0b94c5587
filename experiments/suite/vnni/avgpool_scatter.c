/* Row of outputs by row of outputs, adding whole rows of channels; the division comes last. Sizes are parameters. */
void avgpool(const float *restrict A, float *restrict C, int batch, int size, int channels, int kernel, int stride) {
  const int out = (size - kernel) / stride + 1;
  const float area = (float)(kernel * kernel);
  for (int n = 0; n < batch; ++n) {
    for (int y = 0; y < out; ++y) {
      for (int x = 0; x < out; ++x) {
        float *sums = C + ((n * out + y) * out + x) * channels;
        for (int c = 0; c < channels; ++c) sums[c] = 0.0f;
        for (int r = 0; r < kernel; ++r) {
          for (int s = 0; s < kernel; ++s) {
            const float *row = A + ((n * size + y * stride + r) * size + x * stride + s) * channels;
            for (int c = 0; c < channels; ++c) sums[c] += row[c];
          }
        }
        for (int c = 0; c < channels; ++c) sums[c] /= area;
      }
    }
  }
}
