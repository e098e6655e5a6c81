// Arithmetic on floating-point types of fewer than 16 bits, beside the definition of each type: the value of each code is
// computed by ldexp, and a number is rounded by a search among all codes.
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct {
  void *base, *data;
  int64_t offset, size, stride;
} Line;
typedef struct {
  void *base, *data;
  int64_t offset, sizes[2], strides[2];
} Square;

// What is no finite number: infinities and NaN by the exponent; NaN of all ones; NaN in place of -0; nothing.
enum special { IEEE, ALL_ONES, NEGATIVE_ZERO, FINITE, POWERS };

typedef struct {
  const char *name;
  int exponent, mantissa, bias;
  enum special special;
  void (*extend)(Line *, Line *), (*extend64)(Line *, Line *), (*truncate)(Line *, Line *), (*truncate64)(Line *, Line *);
  void (*pairs)(Line *, Square *, Square *, Square *, Square *, Square *);
} Type;

#define TYPES(T)                                                                                                       \
  T(f4e2m1fn, 2, 1, 1, FINITE)                                                                                         \
  T(f6e2m3fn, 2, 3, 1, FINITE)                                                                                         \
  T(f6e3m2fn, 3, 2, 3, FINITE)                                                                                         \
  T(f8e3m4, 3, 4, 3, IEEE)                                                                                             \
  T(f8e4m3, 4, 3, 7, IEEE)                                                                                             \
  T(f8e4m3b11fnuz, 4, 3, 11, NEGATIVE_ZERO)                                                                            \
  T(f8e4m3fn, 4, 3, 7, ALL_ONES)                                                                                       \
  T(f8e4m3fnuz, 4, 3, 8, NEGATIVE_ZERO)                                                                                \
  T(f8e5m2, 5, 2, 15, IEEE)                                                                                            \
  T(f8e5m2fnuz, 5, 2, 16, NEGATIVE_ZERO)                                                                               \
  T(f8e8m0fnu, 8, 0, 127, POWERS)

#define DECLARE(name, e, m, b, s)                                                                                      \
  void _mlir_ciface_extend_##name(Line *, Line *);                                                                     \
  void _mlir_ciface_extend64_##name(Line *, Line *);                                                                   \
  void _mlir_ciface_truncate_##name(Line *, Line *);                                                                   \
  void _mlir_ciface_truncate64_##name(Line *, Line *);                                                                 \
  void _mlir_ciface_pairs_##name(Line *, Square *, Square *, Square *, Square *, Square *);
TYPES(DECLARE)

#define ROW(name, e, m, b, s)                                                                                          \
  {#name, e, m, b, s, _mlir_ciface_extend_##name, _mlir_ciface_extend64_##name, _mlir_ciface_truncate_##name,          \
   _mlir_ciface_truncate64_##name, _mlir_ciface_pairs_##name},
static const Type types[] = {TYPES(ROW)};

static int magnitudes(const Type *t) { return 1 << (t->exponent + t->mantissa); }
static int codes(const Type *t) { return t->special == POWERS ? 256 : 2 * magnitudes(t); }

// The value that a magnitude would have if all of them were finite numbers.
static double magnitude(const Type *t, int code) {
  int exponent = code >> t->mantissa, fraction = code & ((1 << t->mantissa) - 1);
  if (exponent == 0 && t->special != POWERS)
    return ldexp(fraction, 1 - t->bias - t->mantissa);
  return ldexp(fraction + (1 << t->mantissa), exponent - t->bias - t->mantissa);
}

static int largest(const Type *t) {
  int all = magnitudes(t) - 1;
  switch (t->special) {
  case IEEE:
    return all - (1 << t->mantissa);
  case ALL_ONES:
  case POWERS:
    return all - 1;
  default:
    return all;
  }
}

static double value(const Type *t, int code) {
  int sign = code & magnitudes(t), size = code & (magnitudes(t) - 1);
  if (t->special == NEGATIVE_ZERO && code == magnitudes(t))
    return NAN;
  if (size > largest(t))
    return t->special == IEEE && size == largest(t) + 1 ? (sign ? -INFINITY : INFINITY) : NAN;
  return sign ? -magnitude(t, size) : magnitude(t, size);
}

// The code of a number; -1 for any NaN.
static int rounded(const Type *t, double x) {
  int negative = signbit(x) ? magnitudes(t) : 0;
  if (isnan(x))
    return t->special == FINITE ? -2 : -1;
  if (t->special == POWERS && (x <= 0 || isinf(x)))
    return -1;
  double size = fabs(x);
  int code = 0;
  // The next code is nearer, or as near and even; of powers of two, as near.
  while (code <= largest(t)) {
    double middle = (magnitude(t, code) + magnitude(t, code + 1)) / 2;
    if (size < middle || (size == middle && code % 2 == 0 && t->special != POWERS))
      break;
    ++code;
  }
  if (code > largest(t))
    switch (t->special) {
    case IEEE:
      return code | negative;
    case FINITE:
      return largest(t) | negative;
    default:
      return -1;
    }
  return t->special == NEGATIVE_ZERO && code == 0 ? 0 : code | negative;
}

static long checks, wrong;

static void expect(const Type *t, const char *what, double a, double b, int expected, int found) {
  ++checks;
  int is_nan = isnan(value(t, found));
  // A NaN without NaN is a zero.
  int right = expected == -1 ? is_nan : expected == -2 ? value(t, found) == 0 : expected == found;
  if (!right && wrong++ < 20)
    printf("%s %s(%a, %a): expected %d, found %d\n", t->name, what, a, b, expected, found);
}

static Line line(void *data, int64_t size) { return (Line){data, data, 0, size, 1}; }
static Square square(void *data, int64_t n) { return (Square){data, data, 0, {n, n}, {n, 1}}; }

static uint64_t state = 1;
static uint64_t number(void) {
  state ^= state << 13, state ^= state >> 7, state ^= state << 17;
  return state * 0x2545F4914F6CDD1D;
}

enum { RANDOM = 100000, MOST = RANDOM + 8 * 256 };

static void check(const Type *t) {
  int n = codes(t);
  static uint8_t all[256];
  for (int k = 0; k < n; ++k)
    all[k] = k;
  static float wide[256];
  static double wider[256];
  Line from = line(all, n), to = line(wide, n), to64 = line(wider, n);
  t->extend(&from, &to);
  t->extend64(&from, &to64);
  for (int k = 0; k < n; ++k) {
    double expected = value(t, k);
    checks += 2;
    int same = isnan(expected) ? isnan(wide[k]) && isnan(wider[k])
                               : wide[k] == expected && wider[k] == expected && !signbit(wide[k]) == !signbit(expected);
    if (!same && wrong++ < 20)
      printf("%s extend(%d): expected %a, found %a, %a\n", t->name, k, expected, wide[k], wider[k]);
  }
  // Numbers of all sizes, and those in the middle of two, or beside it.
  static float x[MOST];
  static double y[MOST];
  static uint8_t found[MOST];
  int count = 0;
  for (int k = 0; k <= largest(t); ++k)
    for (int sign = -1; sign <= 1; sign += 2) {
      double middle = sign * (magnitude(t, k) + magnitude(t, k + 1)) / 2;
      double exact = sign * magnitude(t, k);
      float near[4] = {middle, nextafterf(middle, 0), nextafterf(middle, 2 * middle), exact};
      double nearer[4] = {middle, nextafter(middle, 0), nextafter(middle, 2 * middle), exact};
      for (int j = 0; j < 4; ++j)
        x[count] = near[j], y[count++] = nearer[j];
    }
  float special[] = {0, -0.f, INFINITY, -INFINITY, NAN, -NAN, 1e-45f, -1e-45f};
  for (int k = 0; k < 8; ++k)
    x[count] = special[k], y[count++] = special[k];
  for (int k = 0; k < RANDOM; ++k) {
    uint64_t bits = number();
    uint32_t half = bits >> 32;
    // Half of them are near the numbers of the type.
    if (k % 2) {
      int exponent = (int)(bits % (2 * t->bias + 8)) - t->bias - 6;
      y[count] = ldexp(1 + (double)(bits >> 12) / ((uint64_t)1 << 52), exponent) * (half & 1 ? -1 : 1);
      x[count] = y[count];
    } else {
      memcpy(&x[count], &half, 4);
      memcpy(&y[count], &bits, 8);
    }
    ++count;
  }
  Line x_line = line(x, count), y_line = line(y, count), result = line(found, count);
  t->truncate(&x_line, &result);
  for (int k = 0; k < count; ++k)
    expect(t, "truncate", x[k], 0, rounded(t, x[k]), found[k]);
  t->truncate64(&y_line, &result);
  for (int k = 0; k < count; ++k)
    expect(t, "truncate64", y[k], 0, rounded(t, y[k]), found[k]);
  static uint8_t sums[65536], products[65536], fused[65536], most[65536], less[65536];
  Square s = square(sums, n), p = square(products, n), f = square(fused, n), m = square(most, n), l = square(less, n);
  t->pairs(&from, &s, &p, &f, &m, &l);
  for (int i = 0; i < n; ++i)
    for (int j = 0; j < n; ++j) {
      double a = value(t, i), b = value(t, j);
      int at = i * n + j, nan = isnan(a) || isnan(b);
      expect(t, "sum", a, b, rounded(t, a + b), sums[at]);
      // f32 is what is computed in: a product that is 0 there is no power of two.
      expect(t, "product", a, b, rounded(t, t->special == POWERS ? (float)(a * b) : a * b), products[at]);
      expect(t, "fma", a, b, rounded(t, fma(a, b, a)), fused[at]);
      double larger = a > b || (a == b && !signbit(a)) ? a : b;
      expect(t, "maximum", a, b, rounded(t, nan ? NAN : larger), most[at]);
      ++checks;
      if (less[at] != (a < b) && wrong++ < 20)
        printf("%s less(%a, %a): found %d\n", t->name, a, b, less[at]);
    }
}

int main(void) {
  for (unsigned k = 0; k < sizeof types / sizeof *types; ++k)
    check(&types[k]);
  printf("%ld checks, %ld wrong\n", checks, wrong);
  return wrong != 0;
}
