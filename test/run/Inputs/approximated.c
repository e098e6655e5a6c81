// Compares functions with the C library's of f64, in units in the last place
// (ULP) of f32: of one of every 4,093 numbers, and of all of bf16, rounded to
// bf16. The bounds are those of `layout-approximate-math`.
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

enum { SIZE = 1000 };

typedef struct {
  void *allocated, *aligned;
  int64_t offset, size, stride;
} MemRef;

#define FUNCTIONS(F)                                                           \
  F(exp, 5.1)                                                                  \
  F(expm1, 5.1)                                                                \
  F(log, 0.9)                                                                  \
  F(log1p, 2.5)                                                                \
  F(log2, 1.6)                                                                 \
  F(tanh, 4.6)                                                                 \
  F(erf, 4.3)                                                                  \
  F(erfc, 2.7)
#define DECLARED(name, ulp)                                                    \
  void _mlir_ciface_##name##_f32(MemRef *, MemRef *);                          \
  void _mlir_ciface_##name##_bf16(MemRef *, MemRef *);
FUNCTIONS(DECLARED)
static const struct {
  const char *name;
  double ulp;
  void (*f32)(MemRef *, MemRef *);
  void (*bf16)(MemRef *, MemRef *);
  double (*truth)(double);
} functions[] = {
#define ROW(name, ulp)                                                         \
  {#name, ulp, _mlir_ciface_##name##_f32, _mlir_ciface_##name##_bf16, name},
    FUNCTIONS(ROW)};

static const float SMALLEST = 0x1p-126f;

static float of_bits(uint32_t bits) {
  float x;
  memcpy(&x, &bits, sizeof x);
  return x;
}

// Whether a number is one for the function of another.
static int is_right(float found, float x, double truth, double ulp) {
  if (isnan(truth) || isnan(found))
    return isnan(truth) && isnan(found);
  float rounded = truth;
  if (isinf(rounded) || isinf(found))
    return rounded == found;
  if (x == 0 && truth == 0)
    return found == 0 && !signbit(found) == !signbit(truth);
  // What is smaller than normal numbers may be 0, and may be taken for one.
  if (fabsf(x) < SMALLEST && x != 0)
    return 1;
  if (fabs(truth) < SMALLEST)
    return fabs(found) <= SMALLEST;
  int exponent;
  frexp(truth, &exponent);
  return fabs(found - truth) <= ldexp(ulp, exponent - 24);
}

// How many of all are wrong, every so many of their numbers.
static long wrong_of(int k, int is_bf16, uint64_t step) {
  static float x[SIZE], y[SIZE];
  static uint16_t narrow[SIZE], found[SIZE];
  MemRef from = {x, x, 0, SIZE, 1}, to = {y, y, 0, SIZE, 1};
  if (is_bf16) {
    from.allocated = from.aligned = narrow;
    to.allocated = to.aligned = found;
  }
  long wrong = 0;
  for (uint64_t bits = 0; bits < 1ull << 32;) {
    for (int i = 0; i < SIZE; i++, bits += step) {
      x[i] = of_bits(bits);
      narrow[i] = bits >> 16;
    }
    // Which is not among the numbers of f32.
    if (!is_bf16)
      x[0] = -0.0f;
    (is_bf16 ? functions[k].bf16 : functions[k].f32)(&from, &to);
    for (int i = 0; i < SIZE; i++) {
      double truth = functions[k].truth(x[i]);
      if (is_bf16)
        y[i] = of_bits((uint32_t)found[i] << 16);
      // Half of a unit of bf16 is 2^15 of those of f32.
      double ulp = functions[k].ulp + (is_bf16 ? 0x1p15 : 0);
      if (is_right(y[i], x[i], truth, ulp))
        continue;
      // The largest of f32 are infinite in bf16.
      if (is_bf16 && isinf(y[i]) && fabs(truth) > 0x1.ffp127)
        continue;
      if (!wrong++)
        fprintf(stderr, "%s%s(%a) is %a, found %a\n", functions[k].name,
                is_bf16 ? " of bf16" : "", x[i], truth, y[i]);
    }
  }
  return wrong;
}

int main(void) {
  long wrong = 0;
  int count = sizeof functions / sizeof *functions;
  for (int k = 0; k < count; k++)
    wrong += wrong_of(k, 0, 4093) + wrong_of(k, 1, 1 << 16);
  printf("%d functions, %d of bf16, %ld wrong\n", count, count, wrong);
  return wrong != 0;
}
