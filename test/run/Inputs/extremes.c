// Largest and least numbers of rows and columns, of each pair of special values in many places and of random sequences,
// beside the definition: NaN if any of them is NaN; else of the numbers in order, where -0 comes before +0, the last or
// first. BITS is the width of the type, EXPONENT that of its exponent.
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define JOIN(a, b, c) a##b##c
#define UNSIGNED(bits) JOIN(uint, bits, _t)
typedef UNSIGNED(BITS) Word;

enum { ROWS = 11, COLUMNS = 150, MANTISSA = BITS - 1 - EXPONENT, RANDOM = 400 };

typedef struct {
  Word *allocated, *aligned;
  int64_t offset, sizes[2], strides[2];
} Matrix;
typedef struct {
  Word *allocated, *aligned;
  int64_t offset, size, stride;
} Vector;

#define CASES(CASE) CASE(plain) CASE(columns) CASE(tiles) CASE(pairs) CASE(plain_open) CASE(tiles_open) CASE(pairs_open)
#define DECLARE(name) void _mlir_ciface_##name(Matrix *, Vector *, Vector *, Vector *, Vector *);
CASES(DECLARE)
#define ROW(name) {#name, _mlir_ciface_##name},
static const struct {
  const char *name;
  void (*call)(Matrix *, Vector *, Vector *, Vector *, Vector *);
} cases[] = {CASES(ROW)};

static const uint64_t sign = UINT64_C(1) << (BITS - 1), infinity = ((UINT64_C(1) << EXPONENT) - 1) << MANTISSA;

static int is_nan(uint64_t x) { return (x & ~sign) > infinity; }

// Where a number is in the order of all.
static int64_t place(uint64_t x) { return x & sign ? -1 - (int64_t)(x & ~sign) : (int64_t)x; }

static uint64_t extreme(uint64_t x, uint64_t y, int largest) {
  if (is_nan(x) || is_nan(y))
    return infinity + 1;
  return (place(x) > place(y)) == largest ? x : y;
}

static uint64_t state = 1;
static uint64_t next(void) {
  state = state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
  return state >> 32 ^ state << 32;
}
static int below(int n) { return (int)(next() % (uint64_t)n); }

static Word x[ROWS][COLUMNS], results[4][COLUMNS], expected[4][COLUMNS];
static long checks, wrong;

// Everything is set: what results are before is `results`.
static void check(void) {
  memcpy(expected, results, sizeof results);
  for (int i = 0; i < ROWS; ++i)
    for (int j = 0; j < COLUMNS; ++j)
      for (int k = 0; k < 4; ++k) {
        Word *to = &expected[k][k < 2 ? i : j];
        *to = (Word)extreme(x[i][j], *to, k % 2 == 0);
      }
  for (size_t c = 0; c < sizeof cases / sizeof *cases; ++c) {
    static Word to[4][COLUMNS];
    memcpy(to, results, sizeof results);
    Matrix from = {*x, *x, 0, {ROWS, COLUMNS}, {COLUMNS, 1}};
    Vector v[4];
    for (int k = 0; k < 4; ++k)
      v[k] = (Vector){to[k], to[k], 0, k < 2 ? ROWS : COLUMNS, 1};
    cases[c].call(&from, &v[0], &v[1], &v[2], &v[3]);
    for (int k = 0; k < 4; ++k)
      for (int n = 0; n < v[k].size; ++n, ++checks)
        if (is_nan(expected[k][n]) ? !is_nan(to[k][n]) : to[k][n] != expected[k][n])
          if (wrong++ < 5)
            printf("%s, result %d at %d: %" PRIx64 ", not %" PRIx64 "\n", cases[c].name, k, n, (uint64_t)to[k][n],
                   (uint64_t)expected[k][n]);
  }
}

int main(void) {
  const uint64_t one = (infinity >> 1) & ~((UINT64_C(1) << MANTISSA) - 1), quiet = UINT64_C(1) << (MANTISSA - 1);
  const uint64_t kinds[] = {0, 1, (UINT64_C(1) << MANTISSA) - 1, UINT64_C(1) << MANTISSA, one, infinity - 1, infinity,
                            infinity | quiet};
  enum { KINDS = 2 * sizeof kinds / sizeof *kinds };
  Word values[KINDS];
  for (int k = 0; k < KINDS; ++k)
    values[k] = (Word)(kinds[k / 2] | (k % 2 ? sign : 0));
  // Of each pair, all over: one of the two in every place but a few, or either by chance.
  for (int a = 0; a < KINDS; ++a)
    for (int b = 0; b < KINDS; ++b) {
      for (int i = 0; i < ROWS; ++i)
        for (int j = 0; j < COLUMNS; ++j)
          x[i][j] = values[below(i % 2 ? 2 : COLUMNS) == 0 ? b : a];
      for (int k = 0; k < 4; ++k)
        for (int n = 0; n < COLUMNS; ++n)
          results[k][n] = values[below(2) ? b : a];
      check();
    }
  // Each row, or each column, has a few values of its own; one in eight is any.
  for (int round = 0; round < RANDOM; ++round) {
    static Word own[COLUMNS][4];
    for (int n = 0; n < COLUMNS; ++n)
      for (int k = 0; k < 4; ++k)
        own[n][k] = below(8) ? values[below(KINDS)] : (Word)next();
    int several = 1 + below(4);
    for (int i = 0; i < ROWS; ++i)
      for (int j = 0; j < COLUMNS; ++j)
        x[i][j] = own[round % 2 ? i : j][below(several)];
    for (int k = 0; k < 4; ++k)
      for (int n = 0; n < COLUMNS; ++n)
        results[k][n] = own[n][below(4)];
    check();
  }
  printf("%ld checks, %ld wrong\n", checks, wrong);
  return wrong != 0;
}
