// Programs of kernels over the same rows, by blocks of rows and kernel by kernel: all bits are the same.
#include <stdint.h>
#include <stdio.h>
#include <string.h>

enum { N = 3, M = 45, K = 200 };

typedef struct {
  float *allocated, *aligned;
  int64_t offset, numbers[6];
} MemRef;

#define CASES(CASE) CASE(plain) CASE(tiles) CASE(high)
#define DECLARE(name)                                                                                                  \
  void _mlir_ciface_##name(MemRef *, MemRef *, MemRef *, MemRef *);                                                    \
  void _mlir_ciface_blocks_##name(MemRef *, MemRef *, MemRef *, MemRef *);
CASES(DECLARE)
#define ROW(name) {#name, {_mlir_ciface_##name, _mlir_ciface_blocks_##name}},
static const struct {
  const char *name;
  void (*calls[2])(MemRef *, MemRef *, MemRef *, MemRef *);
} cases[] = {CASES(ROW)};

static float x[N * M * K], g[K], y[2][N * M * K], z[2][N * M];

int main(void) {
  uint32_t state = 1;
  for (int n = 0; n < N * M * K + K; ++n) {
    state = state * 1664525 + 1013904223;
    float number = (float)(int32_t)state * 0x1p-30f;
    *(n < K ? &g[n] : &x[n - K]) = number;
  }
  int wrong = 0;
  for (size_t c = 0; c < sizeof cases / sizeof *cases; ++c) {
    for (int k = 0; k < 2; ++k) {
      MemRef a = {x, x, 0, {N, M, K, M * K, K, 1}}, b = {g, g, 0, {K, 1}};
      MemRef r = {y[k], y[k], 0, {N, M, K, M * K, K, 1}}, s = {z[k], z[k], 0, {N, M, M, 1}};
      cases[c].calls[k](&a, &b, &r, &s);
    }
    int differ = memcmp(y[0], y[1], sizeof *y) != 0 || memcmp(z[0], z[1], sizeof *z) != 0;
    float sum = 0;
    for (int n = 0; n < N * M * K; ++n)
      sum += y[1][n];
    // The rows of a softmax add up to 1.
    wrong += differ || !(sum > N * M - 0.1f && sum < N * M + 0.1f);
    if (differ)
      printf("%s differs\n", cases[c].name);
  }
  printf("%d of %zu wrong\n", wrong, sizeof cases / sizeof *cases);
  return wrong != 0;
}
