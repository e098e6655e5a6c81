// Quotients and remainders beside their definition, in numbers of 128 bits: of all pairs of 8 bits, and of more bits of all
// pairs of special numbers, of random ones of all sizes, and of those next to a product of two, where a quotient that is
// rounded would show. BITS is the width of the type, SIGNED whether it has negative numbers.
#include <stdint.h>
#include <stdio.h>

#define JOIN(a, b, c) a##b##c
#define NAME(sign, bits) JOIN(sign, bits, _t)
#if SIGNED
typedef NAME(int, BITS) Number;
#else
typedef NAME(uint, BITS) Number;
#endif
typedef __int128 Wide;

enum { ROWS = 11, COLUMNS = 70, ALL = ROWS * COLUMNS, RANDOM = 200 };

typedef struct {
  Number *allocated, *aligned;
  int64_t offset, sizes[2], strides[2];
} Matrix;

// Each with the number that it divides by; those of arrays divide by what they are given.
#define CASES(CASE) CASE(plain, 0) CASE(tiles, 0) CASE(columns, 0) CASE(one, 1) CASE(seven, 7) CASE(ones, -1) CASE(none, 0) CASE(most, 127)
#define DECLARE(name, by) void _mlir_ciface_##name(Matrix *, Matrix *, Matrix *, Matrix *, Matrix *, Matrix *);
CASES(DECLARE)
#define ROW(name, by) {#name, by, _mlir_ciface_##name},
static const struct {
  const char *name;
  int by;
  void (*call)(Matrix *, Matrix *, Matrix *, Matrix *, Matrix *, Matrix *);
} cases[] = {CASES(ROW)};
enum { ARRAYS = 3 };

static const Number least = SIGNED ? (Number)((uint64_t)1 << (BITS - 1)) : 0;

static uint64_t state = 1;
static uint64_t next(void) {
  state = state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
  return state >> 32 ^ state << 32;
}
// Of any size.
static Number random_number(void) { return (Number)((int64_t)next() >> next() % 64); }

static Number x[ALL], y[ALL];
static int filled;
static long checks, wrong;

static void expect(Wide p, Wide q, Number out[4]) {
  int overflows = SIGNED && p == least && q == -1;
  Wide by = q == 0 || overflows ? 1 : q, quotient = p / by, rest = p % by;
  out[0] = q == 0 ? (Number)-1 : (Number)quotient;
  out[1] = q == 0 ? (Number)p : overflows ? 0 : (Number)rest;
  out[2] = (Number)(quotient - (rest != 0 && (rest < 0) != (by < 0)));
  out[3] = (Number)(quotient + (rest != 0 && (rest < 0) == (by < 0)));
}

static void check(void) {
  for (size_t c = 0; c < sizeof cases / sizeof *cases; ++c) {
    static Number to[4][ALL];
    Matrix m[6];
    for (int k = 0; k < 6; ++k) {
      Number *at = k == 0 ? x : k == 1 ? y : to[k - 2];
      m[k] = (Matrix){at, at, 0, {ROWS, COLUMNS}, {COLUMNS, 1}};
    }
    cases[c].call(&m[0], &m[1], &m[2], &m[3], &m[4], &m[5]);
    for (int n = 0; n < ALL; ++n) {
      Number by = c < ARRAYS ? y[n] : (Number)cases[c].by, out[4];
      expect(x[n], by, out);
      for (int k = 0; k < 4; ++k, ++checks)
        if (to[k][n] != out[k] && wrong++ < 5)
          printf("%s: result %d of %lld and %lld is %lld, not %lld\n", cases[c].name, k, (long long)x[n], (long long)by,
                 (long long)to[k][n], (long long)out[k]);
    }
  }
}

static void add(Number p, Number q) {
  x[filled] = p;
  y[filled] = q;
  if (++filled == ALL) {
    check();
    filled = 0;
  }
}

int main(void) {
  if (BITS == 8)
    for (int p = 0; p < 256; ++p)
      for (int q = 0; q < 256; ++q)
        add((Number)p, (Number)q);
  // Powers of two and their neighbours.
  for (int k = 0; k <= BITS; ++k)
    for (int l = 0; l <= BITS; ++l)
      for (int d = -2; d <= 2; ++d)
        for (int e = -2; e <= 2; ++e)
          for (int sign = 0; sign < 4; ++sign) {
            uint64_t p = (k == 64 ? 0 : (uint64_t)1 << k) + (uint64_t)d, q = (l == 64 ? 0 : (uint64_t)1 << l) + (uint64_t)e;
            add((Number)(sign & 1 ? -p : p), (Number)(sign & 2 ? -q : q));
          }
  for (int n = 0; n < RANDOM * ALL; ++n) {
    Number p = random_number(), q = random_number();
    add(p, q);
    // Next to a multiple, as far as there is one.
    if (q != 0)
      add((Number)((uint64_t)(p - (Number)((Wide)p % q)) - 1 + next() % 3), q);
  }
  while (filled)
    add(least, (Number)-1);
  printf("%ld checks, %ld wrong\n", checks, wrong);
  return wrong != 0;
}
