// Elements of any number of bits, at sizes known only at run time too, against
// the definition of each layout: which number an element has in memory, and
// that it takes the bits from that number times its bits on.
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct {
  void *allocated, *aligned;
  int64_t offset, numbers[16];
} MemRef;

typedef struct {
  int64_t n[3];
} Shape;

static int64_t up(int64_t n, int64_t by) { return (n + by - 1) / by; }

// The number of an element in memory, and how many elements there are with
// padding.
typedef struct {
  int64_t (*of)(Shape, int64_t, int64_t, int64_t);
  int64_t (*all)(Shape);
} Order;

static int64_t rows(Shape s, int64_t i, int64_t j, int64_t k) {
  return (i * s.n[1] + j) * s.n[2] + k;
}
static int64_t volume(Shape s) { return s.n[0] * s.n[1] * s.n[2]; }
static int64_t columns(Shape s, int64_t i, int64_t j, int64_t k) {
  return i + s.n[0] * (j + s.n[1] * k);
}
// T(2,4)
static int64_t tile(Shape s, int64_t j, int64_t k) {
  return (j / 2 * up(s.n[2], 4) + k / 4) * 8;
}
static int64_t grid(Shape s) { return up(s.n[1], 2) * up(s.n[2], 4) * 8; }
static int64_t tiles(Shape s, int64_t i, int64_t j, int64_t k) {
  return i * grid(s) + tile(s, j, k) + j % 2 * 4 + k % 4;
}
static int64_t all_tiles(Shape s) { return s.n[0] * grid(s); }
// T(2,4)(2,1)
static int64_t deep(Shape s, int64_t i, int64_t j, int64_t k) {
  return i * grid(s) + tile(s, j, k) + k % 4 * 2 + j % 2;
}
// T(*,*,3)
static int64_t threes(Shape s) { return up(volume(s), 3) * 3; }
// T(*,4)
static int64_t fours(Shape s, int64_t i, int64_t j, int64_t k) {
  return i * up(s.n[1] * s.n[2], 4) * 4 + j * s.n[2] + k;
}
static int64_t all_fours(Shape s) {
  return s.n[0] * up(s.n[1] * s.n[2], 4) * 4;
}
// T(2,4)(*,*,*,3)
static int64_t merged(Shape s, int64_t i, int64_t j, int64_t k) {
  return i * up(grid(s), 3) * 3 + tile(s, j, k) + j % 2 * 4 + k % 4;
}
static int64_t all_merged(Shape s) { return s.n[0] * up(grid(s), 3) * 3; }

static const Order ROWS = {rows, volume}, COLUMNS = {columns, volume},
                   TILES = {tiles, all_tiles};
static const Order DEEP = {deep, all_tiles}, THREES = {rows, threes},
                   FOURS = {fours, all_fours};
static const Order MERGED = {merged, all_merged};

static int is_physical;

// Descriptors: the sizes that dimensions in front carry, the others, and their
// strides.
static void describe(MemRef *m, int carried, const int64_t *front, int rank,
                     const int64_t *sizes, const int64_t *strides) {
  int all = carried + rank;
  for (int d = 0; d < all; ++d) {
    m->numbers[d] = d < carried ? front[d] : sizes[d - carried];
    m->numbers[all + d] = d < carried ? 0 : strides[d - carried];
  }
}

typedef struct Case Case;
struct Case {
  const char *name;
  Shape shape;
  int bits, stored, prefix;
  const Order *order;
  void (*descriptor)(const Case *, Shape, MemRef *);
  void (*store)(MemRef *, int64_t, int64_t, int64_t, int64_t);
  int64_t (*load)(MemRef *, int64_t, int64_t, int64_t);
  void (*board)(MemRef *, int64_t);
  void (*pack)(MemRef *, MemRef *);
  void (*unpack)(MemRef *, MemRef *);
  void (*through)(MemRef *, MemRef *);
};

static int64_t bytes(const Case *c, Shape s) {
  return up(c->order->all(s) * c->stored, 8);
}

// One row of bytes; before it the sizes that are known only at run time.
static void row(const Case *c, Shape s, MemRef *m) {
  int64_t front[3], size = bytes(c, s), one = 1;
  int carried = 0;
  for (int d = 0; d < 3; ++d)
    if (c->shape.n[d] < 0)
      front[carried++] = s.n[d];
  describe(m, carried, front, 1, &size, &one);
}

// E(12) on {0,1,2}: whole bytes for each column.
static void by_columns(const Case *c, Shape s, MemRef *m) {
  int64_t a = s.n[0] * 12 / 8, b = s.n[1], d = s.n[2];
  if (is_physical)
    describe(m, 0, 0, 3, (int64_t[]){d, b, a}, (int64_t[]){b * a, a, 1});
  else
    describe(m, 0, 0, 3, (int64_t[]){a, b, d}, (int64_t[]){1, a, b * a});
}

// Three bytes for each element.
static void by_threes(const Case *c, Shape s, MemRef *m) {
  int64_t a = s.n[2] * 3;
  describe(m, 0, 0, 3, (int64_t[]){s.n[0], s.n[1], a},
           (int64_t[]){s.n[1] * a, a, 1});
}

// {2,1,0:T(*,*,3)} of whole bytes.
static void of_threes(const Case *c, Shape s, MemRef *m) {
  describe(m, 3, s.n, 2, (int64_t[]){up(volume(s), 3), 3}, (int64_t[]){3, 1});
}

// {2,1,0:T(*,4)} and {2,1,0:T(2,4)(*,*,*,3)} of whole bytes: the last
// dimensions are merged.
static void of_merged(const Case *c, Shape s, MemRef *m) {
  int64_t by = c->order == &FOURS ? 4 : 3;
  int64_t inside = s.n[0] ? c->order->all(s) / s.n[0] : by;
  describe(m, 2, s.n + 1, 3, (int64_t[]){s.n[0], inside / by, by},
           (int64_t[]){inside, by, 1});
}

#define CASES(CASE)                                                            \
  CASE(bits3, 2, 3, 5, 3, 3, 0, ROWS, row)                                     \
  CASE(wide5, 2, 3, 5, 4, 5, 0, ROWS, row)                                     \
  CASE(bits6, 2, 3, 5, 6, 6, 0, COLUMNS, row)                                  \
  CASE(bits7, 1, 2, 9, 7, 7, 0, ROWS, row)                                     \
  CASE(bits9, 2, 3, 5, 9, 9, 0, ROWS, row)                                     \
  CASE(bits12, 2, 3, 5, 12, 12, 0, ROWS, row)                                  \
  CASE(wide23, 2, 3, 5, 20, 23, 0, ROWS, row)                                  \
  CASE(wide65, 2, 3, 5, 63, 65, 0, ROWS, row)                                  \
  CASE(wide99, 2, 3, 5, 40, 99, 0, ROWS, row)                                  \
  CASE(tiles3, 2, 3, 5, 3, 3, 0, TILES, row)                                   \
  CASE(deep5, 2, 3, 5, 5, 5, 0, DEEP, row)                                     \
  CASE(prefix3, 2, 3, 5, 3, 3, 2, ROWS, row)                                   \
  CASE(columns12, 4, 3, 2, 12, 12, 0, COLUMNS, by_columns)                     \
  CASE(bytes24, 2, 3, 5, 20, 24, 0, ROWS, by_threes)                           \
  CASE(open1, -1, -1, -1, 1, 1, 0, ROWS, row)                                  \
  CASE(open4, -1, -1, -1, 4, 4, 0, ROWS, row)                                  \
  CASE(open3, -1, -1, -1, 3, 3, 0, ROWS, row)                                  \
  CASE(open12, -1, -1, -1, 12, 12, 0, ROWS, row)                               \
  CASE(some4, 2, -1, 5, 4, 4, 0, ROWS, row)                                    \
  CASE(last2, 2, 3, -1, 2, 2, 0, ROWS, row)                                    \
  CASE(columns4, -1, -1, -1, 4, 4, 0, COLUMNS, row)                            \
  CASE(tiles5, -1, -1, -1, 5, 5, 0, TILES, row)                                \
  CASE(threes8, -1, -1, -1, 8, 8, 0, THREES, of_threes)                        \
  CASE(fours8, -1, -1, -1, 8, 8, 0, FOURS, of_merged)                          \
  CASE(merged8, -1, -1, -1, 8, 8, 0, MERGED, of_merged)                        \
  CASE(threes5, -1, -1, -1, 4, 5, 0, THREES, row)

#define DECLARE(name, ...)                                                     \
  void _mlir_ciface_store_##name(MemRef *, int64_t, int64_t, int64_t,          \
                                 int64_t);                                     \
  int64_t _mlir_ciface_load_##name(MemRef *, int64_t, int64_t, int64_t);       \
  void _mlir_ciface_board_##name(MemRef *, int64_t);                           \
  void _mlir_ciface_pack_##name(MemRef *, MemRef *);                           \
  void _mlir_ciface_unpack_##name(MemRef *, MemRef *);                         \
  void _mlir_ciface_through_##name(MemRef *, MemRef *);
CASES(DECLARE)

#define CASE(name, a, b, c, bits, stored, prefix, order, descriptor)           \
  {#name,                                                                      \
   {{a, b, c}},                                                                \
   bits,                                                                       \
   stored,                                                                     \
   prefix,                                                                     \
   &order,                                                                     \
   descriptor,                                                                 \
   _mlir_ciface_store_##name,                                                  \
   _mlir_ciface_load_##name,                                                   \
   _mlir_ciface_board_##name,                                                  \
   _mlir_ciface_pack_##name,                                                   \
   _mlir_ciface_unpack_##name,                                                 \
   _mlir_ciface_through_##name},
static const Case cases[] = {CASES(CASE)};

enum { SIZE = 512, START = 64, MOST = 64 };

static int64_t wrong, checks;

static void expect(const Case *c, Shape s, const char *what, int right) {
  ++checks;
  if (!right && wrong++ < 20)
    printf("%s %s %ldx%ldx%ld\n", what, c->name, (long)s.n[0], (long)s.n[1],
           (long)s.n[2]);
}

// The bits above those of the value are 0.
static void put(const Case *c, Shape s, uint8_t *buffer, int64_t i, int64_t j,
                int64_t k, int64_t value) {
  int64_t at = c->order->of(s, i, j, k) * c->stored;
  for (int n = 0; n < c->stored; ++n, ++at) {
    uint8_t *byte = buffer + START + c->prefix + at / 8;
    int bit = n < c->bits ? value >> n & 1 : 0;
    *byte = (*byte & ~(1 << at % 8)) | bit << at % 8;
  }
}

static int64_t get(const Case *c, Shape s, const uint8_t *buffer, int64_t i,
                   int64_t j, int64_t k) {
  int64_t at = c->order->of(s, i, j, k) * c->stored, value = 0;
  for (int n = 0; n < c->bits; ++n, ++at)
    value |= (int64_t)(buffer[START + c->prefix + at / 8] >> at % 8 & 1) << n;
  return value;
}

static uint64_t random_bits(void) {
  static uint64_t state = 1;
  state = state * 6364136223846793005u + 1442695040888963407u;
  return state >> 20 ^ state << 40;
}

// What the compiled code allocates.
static size_t allocated;
void *__real_malloc(size_t);
void *__wrap_malloc(size_t size) {
  allocated = size;
  return __real_malloc(size);
}

#define EACH(s)                                                                \
  for (int64_t i = 0; i < s.n[0]; ++i)                                         \
    for (int64_t j = 0; j < s.n[1]; ++j)                                       \
      for (int64_t k = 0; k < s.n[2]; ++k)

static void check(const Case *c, Shape s) {
  uint8_t found[SIZE], expected[SIZE];
  int64_t values[MOST], back[MOST];
  int64_t mask = (int64_t)(~(uint64_t)0 >> (64 - c->bits));
  MemRef m = {found + START, found + START, c->prefix}, x = {values, values, 0},
         y = {back, back, 0};
  c->descriptor(c, s, &m);
  describe(&x, 0, 0, 3, s.n, (int64_t[]){s.n[1] * s.n[2], s.n[2], 1});
  y = x, y.allocated = y.aligned = back;
  const uint8_t backgrounds[] = {0x00, 0xff, 0xa5};
  for (int n = 0; n < 3; ++n)
    for (int turn = 0; turn < 4; ++turn) {
      int64_t value = (turn == 0   ? 0
                       : turn == 1 ? -1
                                   : (int64_t)random_bits()) &
                      mask;
      memset(found, backgrounds[n], SIZE);
      memcpy(expected, found, SIZE);
      EACH(s) {
        put(c, s, expected, i, j, k, value);
        c->store(&m, i, j, k, value);
        expect(c, s, "store", !memcmp(found, expected, SIZE));
        value = (value * 5 + 3) & mask;
      }
      EACH(s)
      expect(c, s, "load", c->load(&m, i, j, k) == get(c, s, found, i, j, k));
      EACH(s) if ((i + j + k) % 2 == 0) put(c, s, expected, i, j, k, value);
      c->board(&m, value);
      expect(c, s, "board", !memcmp(found, expected, SIZE));
      memset(found, backgrounds[n], SIZE);
      memcpy(expected, found, SIZE);
      EACH(s)
      put(c, s, expected, i, j, k,
          values[rows(s, i, j, k)] = random_bits() & mask);
      c->pack(&x, &m);
      expect(c, s, "pack", !memcmp(found, expected, SIZE));
      memset(back, 0x77, sizeof back);
      c->unpack(&m, &y);
      expect(c, s, "unpack", !memcmp(back, values, volume(s) * sizeof *back));
      memset(back, 0x77, sizeof back);
      c->through(&x, &y);
      expect(c, s, "through", !memcmp(back, values, volume(s) * sizeof *back));
      expect(c, s, "allocation",
             allocated == (size_t)(bytes(c, s) + c->prefix));
    }
}

int main(int count, char **arguments) {
  is_physical = count > 1 && !strcmp(arguments[1], "physical");
  for (const Case *c = cases; c < cases + sizeof(cases) / sizeof(*cases); ++c) {
    // Sizes known only at run time are all small ones.
    int64_t from[3], to[3];
    for (int d = 0; d < 3; ++d)
      from[d] = c->shape.n[d] < 0 ? 0 : c->shape.n[d],
      to[d] = c->shape.n[d] < 0 ? 2 + d : c->shape.n[d];
    Shape s;
    for (s.n[0] = from[0]; s.n[0] <= to[0]; ++s.n[0])
      for (s.n[1] = from[1]; s.n[1] <= to[1]; ++s.n[1])
        for (s.n[2] = from[2]; s.n[2] <= to[2] + (c->shape.n[2] < 0); ++s.n[2])
          check(c, s);
  }
  printf("%ld checks, %ld wrong\n", (long)checks, (long)wrong);
  return wrong != 0;
}
