// Stores of elements that share bytes, at every place, of every value, over four backgrounds: the bits of the element are
// those of the value, and all others of the buffer and around it are as before.
#include <stdint.h>
#include <stdio.h>
#include <string.h>

typedef struct {
  uint8_t *allocated, *aligned;
  int64_t offset, size, stride;
} Bytes;

// The number of an element in memory, by the definition of its layout.
static int rows(int i, int j, int columns) { return i * columns + j; }
static int line(int i, int j, int columns) { return i * columns + j; }
static int by_columns(int i, int j, int columns) { return j * 3 + i; }
static int tiles(int i, int j, int columns) { return (i / 2 * 2 + j / 4) * 8 + i % 2 * 4 + j % 4; }
static int deep(int i, int j, int columns) { return j / 4 * 16 + (i / 2 * 4 + j % 4) * 2 + i % 2; }

// The size of the whole buffer is known from its greatest number.
#define CASES(CASE)                                                                                                    \
  CASE(row4, 3, 5, 4, 4, rows, 0)                                                                                      \
  CASE(line4, 1, 9, 4, 4, line, 0)                                                                                     \
  CASE(columns2, 3, 5, 2, 2, by_columns, 0)                                                                            \
  CASE(row1, 5, 7, 1, 1, rows, 0)                                                                                      \
  CASE(tiles1, 4, 6, 1, 1, tiles, 0)                                                                                   \
  CASE(deep2, 4, 8, 2, 2, deep, 0)                                                                                     \
  CASE(wide4, 3, 5, 1, 4, rows, 0)                                                                                     \
  CASE(wide2, 3, 5, 1, 2, rows, 0)                                                                                     \
  CASE(float4, 3, 5, 4, 4, rows, 0)                                                                                    \
  CASE(prefix4, 2, 3, 4, 4, rows, 16)

#define DECLARE(name, ...)                                                                                             \
  void _mlir_ciface_store_##name(Bytes *, int64_t, int64_t, uint8_t);                                                  \
  void _mlir_ciface_board_##name(Bytes *, uint8_t);
CASES(DECLARE)

typedef struct {
  const char *name;
  int rows, columns, bits, stored;
  int (*number)(int, int, int);
  int prefix;
  void (*store)(Bytes *, int64_t, int64_t, uint8_t);
  void (*board)(Bytes *, uint8_t);
} Case;

#define ROW(name, rows, columns, bits, stored, number, prefix)                                                         \
  {#name, rows, columns, bits, stored, number, prefix, _mlir_ciface_store_##name, _mlir_ciface_board_##name},
static const Case cases[] = {CASES(ROW)};

enum { SIZE = 96, START = 32 };

static void put(const Case *c, uint8_t *bytes, int i, int j, int value) {
  int at = c->number(i, j, c->columns) * c->stored;
  for (int k = 0; k < c->stored; ++k, ++at) {
    uint8_t *byte = bytes + START + c->prefix + at / 8;
    *byte = (*byte & ~(1 << at % 8)) | (value >> k & 1) << at % 8;
  }
}

static int wrong;

static void compare(const Case *c, const char *what, const uint8_t *found, const uint8_t *expected) {
  if (memcmp(found, expected, SIZE) && wrong++ < 5)
    printf("%s %s\n", what, c->name);
}

int main(void) {
  const uint8_t backgrounds[] = {0x00, 0xff, 0xa5, 0x5a};
  int checks = 0;
  for (const Case *c = cases; c < cases + sizeof(cases) / sizeof(*cases); ++c)
    for (int k = 0; k < 4; ++k)
      for (int value = 0; value < 1 << c->bits; ++value) {
        uint8_t found[SIZE], expected[SIZE];
        Bytes bytes = {found + START, found + START, c->prefix, SIZE - START, 1};
        for (int i = 0; i < c->rows; ++i)
          for (int j = 0; j < c->columns; ++j, ++checks) {
            memset(found, backgrounds[k], SIZE);
            memcpy(expected, found, SIZE);
            put(c, expected, i, j, value);
            c->store(&bytes, i, j, value);
            compare(c, "store", found, expected);
          }
        // Every second element, in any order.
        memset(found, backgrounds[k], SIZE);
        memcpy(expected, found, SIZE);
        for (int i = 0; i < c->rows; ++i)
          for (int j = i % 2; j < c->columns; j += 2)
            put(c, expected, i, j, value);
        c->board(&bytes, value);
        compare(c, "board", found, expected);
      }
  printf("%d stores, %d wrong\n", checks, wrong);
  return wrong != 0;
}
