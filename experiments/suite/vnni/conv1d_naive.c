/* y[i] = x[i] w[0] + x[i+1] w[1] + x[i+2] w[2] */
#ifndef OUT
#define OUT 126
#endif

void conv1d(const float *x, const float *w, float *y) {
  for (int i = 0; i < OUT; i++) {
    y[i] = 0;
    for (int j = 0; j < 3; j++) {
      y[i] += x[i + j] * w[j];
    }
  }
}
