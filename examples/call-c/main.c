/* Calls `steps` of steps.mlir, and checks and prints what it gives. With `arena=argument`, -DARGUMENT says so here:

     layout-opt steps.mlir --layout-to-llvm=arena=argument | mlir-translate --mlir-to-llvmir > steps.ll
     clang -O2 -DARGUMENT steps.ll main.c -lm -o steps && ./steps                                                    */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

enum { N = 512 };

/* A memref: what to free, where its memory is, and how far elements are apart, in elements. */
struct matrix {
  float *allocated, *aligned;
  int64_t offset, sizes[2], strides[2];
};

#ifdef ARGUMENT
struct bytes {
  int8_t *allocated, *aligned;
  int64_t offset, sizes[1], strides[1];
};

int64_t steps_arena_bytes(void);
void _mlir_ciface_steps(struct matrix *result, struct matrix *x, int64_t n, struct bytes *arena);
#else
void _mlir_ciface_steps(struct matrix *result, struct matrix *x, int64_t n);
#endif

static float numbers[N][N];

/* The number at a place after some steps. */
static float expected(int i, int j, int steps) {
  return steps == 0 ? numbers[i][j] : expected(j, i, steps - 1) * 0.5f + 0.5f;
}

int main(void) {
  for (int i = 0; i < N * N; ++i)
    numbers[i / N][i % N] = (float)i;
  struct matrix x = {numbers[0], numbers[0], 0, {N, N}, {N, 1}}, result;
#ifdef ARGUMENT
  /* The bytes that one call needs, in whole units of 64. Calls at the same time need an arena each. */
  int64_t size = (steps_arena_bytes() + 63) / 64 * 64;
  int8_t *memory = aligned_alloc(64, size ? size : 64);
  struct bytes arena = {memory, memory, 0, {size}, {1}};
#endif
  for (int steps = 0; steps < 4; ++steps) {
#ifdef ARGUMENT
    _mlir_ciface_steps(&result, &x, steps, &arena);
#else
    _mlir_ciface_steps(&result, &x, steps);
#endif
    int wrong = 0;
    const float *y = result.aligned + result.offset;
    for (int i = 0; i < N; ++i)
      for (int j = 0; j < N; ++j)
        wrong += y[i * result.strides[0] + j * result.strides[1]] != expected(i, j, steps);
    printf("%d steps: %d of %d wrong\n", steps, wrong, N * N);
    /* What a function gives belongs to its caller. */
    free(result.allocated);
  }
#ifdef ARGUMENT
  free(memory);
#endif
}
