// Elements in the low bits of integers whose other bits hold anything: these
// are not read, and written as 0.
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct {
  void *allocated, *aligned;
  int64_t offset, sizes[2], strides[2];
} MemRef;

typedef struct {
  void *allocated, *aligned;
  int64_t offset, size, stride;
} Row;

enum { ROWS = 5, COLUMNS = 37, ALL = ROWS * COLUMNS };

static int is_physical;
static int64_t wrong, checks;

static void expect(const char *what, const char *name, int right) {
  ++checks;
  if (!right && wrong++ < 20)
    printf("%s %s\n", what, name);
}

static MemRef rows(void *data, int64_t a, int64_t b) {
  return (MemRef){data, data, 0, {a, b}, {b, 1}};
}

// {0,1}: the first dimension is the fastest.
static MemRef columns(void *data) {
  if (is_physical)
    return (MemRef){data, data, 0, {COLUMNS, ROWS}, {ROWS, 1}};
  return (MemRef){data, data, 0, {ROWS, COLUMNS}, {1, ROWS}};
}

#define CASES(CASE)                                                            \
  CASE(bool8, 1, 8)                                                            \
  CASE(nibble8, 4, 8)                                                          \
  CASE(seven8, 7, 8)                                                           \
  CASE(bool16, 1, 16)                                                          \
  CASE(twelve16, 12, 16)                                                       \
  CASE(byte16, 8, 16)                                                          \
  CASE(bool32, 1, 32)                                                          \
  CASE(nibble32, 4, 32)                                                        \
  CASE(odd32, 29, 32)                                                          \
  CASE(odd64, 50, 64)

typedef uint8_t u8;
typedef uint16_t u16;
typedef uint32_t u32;
typedef uint64_t u64;

#define CASE(name, bits, stored)                                               \
  int64_t _mlir_ciface_load_##name(MemRef *, int64_t, int64_t);                \
  void _mlir_ciface_unsigned_##name(MemRef *, MemRef *);                       \
  void _mlir_ciface_signed_##name(MemRef *, MemRef *);                         \
  void _mlir_ciface_sums_##name(MemRef *, Row *);                              \
  void _mlir_ciface_slice_##name(MemRef *, MemRef *);                          \
  void _mlir_ciface_copy_##name(MemRef *, MemRef *);                           \
  void _mlir_ciface_turn_##name(MemRef *, MemRef *);                           \
  void _mlir_ciface_tiles_##name(MemRef *, MemRef *);                          \
  void _mlir_ciface_packed_##name(MemRef *, MemRef *);                         \
  void _mlir_ciface_plain_##name(MemRef *, MemRef *);                          \
  void _mlir_ciface_again_##name(MemRef *, MemRef *);                          \
                                                                               \
  static void check_##name(void) {                                             \
    u##stored found[ALL], copied[ALL];                                         \
    int64_t values[ALL], sums[ROWS], right = 1;                                \
    const u##stored mask = (u##stored)(~(u64)0 >> (64 - bits));                \
    for (int k = 0; k < ALL; ++k)                                              \
      found[k] = (u##stored)((k * 2654435761u + 0xd9) * 0x9e3779b97f4a7c15u >> \
                             (k % 8));                                         \
    found[0] = (u##stored) ~(u64)0 << bits;                                    \
    MemRef m = rows(found, ROWS, COLUMNS), to = rows(copied, ROWS, COLUMNS);   \
    MemRef y = rows(values, ROWS, COLUMNS), turned = columns(copied), part;    \
    Row s = {sums, sums, 0, ROWS, 1};                                          \
    for (int k = 0; k < ALL; ++k)                                              \
      expect("load", #name,                                                    \
             (u64)_mlir_ciface_load_##name(&m, k / COLUMNS, k % COLUMNS) ==    \
                 (found[k] & mask));                                           \
    _mlir_ciface_unsigned_##name(&m, &y);                                      \
    for (int k = 0; k < ALL; ++k)                                              \
      right &= (u64)values[k] == (found[k] & mask);                            \
    expect("unsigned", #name, right);                                          \
    _mlir_ciface_signed_##name(&m, &y);                                        \
    for (int k = 0; k < ALL; ++k)                                              \
      right &=                                                                 \
          values[k] == (int64_t)((u64)found[k] << (64 - bits)) >> (64 - bits); \
    expect("signed", #name, right);                                            \
    memset(sums, 0, sizeof sums);                                              \
    _mlir_ciface_sums_##name(&m, &s);                                          \
    for (int k = 0; k < ALL; ++k)                                              \
      sums[k / COLUMNS] -= found[k] & mask;                                    \
    for (int k = 0; k < ROWS; ++k)                                             \
      right &= sums[k] == 0;                                                   \
    expect("sums", #name, right);                                              \
    _mlir_ciface_slice_##name(&part, &m);                                      \
    for (int k = 0; k < 60; ++k)                                               \
      right &= ((u64 *)part.aligned)[k] ==                                     \
               (found[(1 + k / 20) * COLUMNS + 3 + k % 20] & mask);            \
    expect("slice", #name, right);                                             \
    free(part.allocated);                                                      \
    void (*copies[])(MemRef *, MemRef *) = {                                   \
        _mlir_ciface_copy_##name, _mlir_ciface_tiles_##name,                   \
        _mlir_ciface_packed_##name, _mlir_ciface_plain_##name,                 \
        _mlir_ciface_again_##name};                                            \
    const char *names[] = {"copy", "tiles", "packed", "plain", "again"};       \
    for (int n = 0; n < 5; ++n) {                                              \
      memset(copied, 0xa5, sizeof copied);                                     \
      copies[n](&m, &to);                                                      \
      for (int k = 0; k < ALL; ++k)                                            \
        right &= copied[k] == (found[k] & mask);                               \
      expect(names[n], #name, right);                                          \
    }                                                                          \
    memset(copied, 0xa5, sizeof copied);                                       \
    _mlir_ciface_turn_##name(&m, &turned);                                     \
    for (int k = 0; k < ALL; ++k)                                              \
      right &= copied[k % COLUMNS * ROWS + k / COLUMNS] == (found[k] & mask);  \
    expect("turn", #name, right);                                              \
  }
CASES(CASE)

int main(int count, char **arguments) {
  is_physical = count > 1 && !strcmp(arguments[1], "physical");
#define CHECK(name, ...) check_##name();
  CASES(CHECK)
  printf("%ld checks, %ld wrong\n", (long)checks, (long)wrong);
  return wrong != 0;
}
