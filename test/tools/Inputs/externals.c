// What a runner defines for externals.hlo: custom calls, transfers, and constants whose value the text leaves out.
//
// Arrays are passed as pointers to the descriptors of memrefs. Results come first, as one struct; their buffers are from
// malloc, and the caller frees them.
#include "memrefs.h"
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

// 4 rows and 6 columns in tiles of 2 by 4: the parts of both dimensions.
typedef struct {
  float *allocated, *aligned;
  int64_t offset, sizes[4], strides[4];
} Tiled;

static Line line(int64_t size) {
  Line made = {calloc(size, sizeof(float)), 0, 0, {size}, {1}};
  made.aligned = made.allocated;
  return made;
}

// The sums of the rows of one and of the columns of the other matrix.
struct Sums {
  Line rows, columns;
};
void sums(struct Sums *sums, Tiled *t, Matrix *x) __asm__("_mlir_ciface_sums");
void sums(struct Sums *sums, Tiled *t, Matrix *x) {
  sums->rows = line(4);
  sums->columns = line(6);
  for (int64_t i = 0; i < 4; ++i)
    for (int64_t j = 0; j < 6; ++j) {
      int64_t at = i / 2 * t->strides[0] + i % 2 * t->strides[1] + j / 4 * t->strides[2] + j % 4 * t->strides[3];
      sums->rows.aligned[i] += t->aligned[t->offset + at];
      sums->columns.aligned[j] += x->aligned[x->offset + i * x->strides[0] + j * x->strides[1]];
    }
}

// The same target with other types.
void halves(Line *result, Line *x) __asm__("_mlir_ciface_sums.1");
void halves(Line *result, Line *x) {
  *result = line(2);
  for (int64_t k = 0; k < 4; ++k)
    result->aligned[k / 2] += x->aligned[x->offset + k * x->strides[0]];
}

void infeed(Line *result) __asm__("_mlir_ciface_hlo_infeed");
void infeed(Line *result) {
  *result = line(2);
  result->aligned[0] = 1000;
  result->aligned[1] = 2000;
}

void outfeed(Line *x) __asm__("_mlir_ciface_hlo_outfeed");
void outfeed(Line *x) { printf("out %g %g\n", x->aligned[x->offset], x->aligned[x->offset + x->strides[0]]); }

// Row-major, whatever the layout of the constant.
const float hlo_constant_0[4][6] = {{0, 1, 2, 3, 4, 5}, {10, 11, 12, 13, 14, 15}, {20, 21, 22, 23, 24, 25}, {30, 31, 32, 33, 34, 35}};
const float hlo_constant_1[2] = {0.25f, 0.5f};

Line model(float *, float *, int64_t, int64_t, int64_t, int64_t, int64_t);

int main(void) {
  float x[24];
  for (int k = 0; k < 24; ++k)
    x[k] = 100;
  Line result = model(x, x, 0, 4, 6, 6, 1);
  printf("result %g %g\n", result.aligned[0], result.aligned[1]);
  free(result.allocated);
  return 0;
}
