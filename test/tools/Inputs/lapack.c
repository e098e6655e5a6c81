// What a runner defines for lapack.hlo. The arrays have the layouts of operand_layout_constraints: columns in line.
#include "memrefs.h"
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct {
  int32_t *allocated, *aligned;
  int64_t offset, sizes[1], strides[1];
} Pivots;

typedef struct {
  int32_t *allocated, *aligned;
  int64_t offset;
} Info;

typedef struct {
  int64_t *allocated, *aligned;
  int64_t offset;
} State;

// L and U of a matrix in one, without pivots.
struct Factors {
  Matrix lu;
  Pivots pivots;
  Info info;
};
void getrf(struct Factors *out, Matrix *a) __asm__("_mlir_ciface_lapack_sgetrf_ffi");
void getrf(struct Factors *out, Matrix *a) {
  printf("strides %d %d\n", (int)a->strides[0], (int)a->strides[1]);
  float *lu = malloc(9 * sizeof(float));
  memcpy(lu, a->aligned + a->offset, 9 * sizeof(float));
  for (int k = 0; k < 3; ++k)
    for (int i = k + 1; i < 3; ++i) {
      lu[i + 3 * k] /= lu[k + 3 * k];
      for (int j = k + 1; j < 3; ++j)
        lu[i + 3 * j] -= lu[i + 3 * k] * lu[k + 3 * j];
    }
  out->lu = (Matrix){lu, lu, 0, {3, 3}, {1, 3}};
  int32_t *pivots = calloc(3, sizeof(int32_t)), *info = calloc(1, sizeof(int32_t));
  out->pivots = (Pivots){pivots, pivots, 0, {3}, {1}};
  out->info = (Info){info, info, 0};
}

void begin(State *out) __asm__("_mlir_ciface_begin");
void begin(State *out) {
  int64_t *state = malloc(sizeof(int64_t));
  *state = 42;
  *out = (State){state, state, 0};
}

void diagonal(Line *out, State *state, Matrix *a) __asm__("_mlir_ciface_diagonal");
void diagonal(Line *out, State *state, Matrix *a) {
  printf("state %d\n", (int)state->aligned[state->offset]);
  float *line = malloc(3 * sizeof(float));
  for (int k = 0; k < 3; ++k)
    line[k] = a->aligned[a->offset + k * (a->strides[0] + a->strides[1])];
  *out = (Line){line, line, 0, {3}, {1}};
}

Line model(float *, float *, int64_t, int64_t, int64_t, int64_t, int64_t);

int main(void) {
  float a[9] = {2, 1, 1, 4, 3, 3, 8, 7, 9};
  Line result = model(a, a, 0, 3, 3, 3, 1);
  printf("result %g %g %g\n", result.aligned[0], result.aligned[1], result.aligned[2]);
  free(result.allocated);
  return 0;
}
