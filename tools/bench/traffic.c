// Linked with a program of which each load and store is a call: a cache that
// counts the lines that it reads from memory and writes back. A store to a line
// that is not there reads none, as if it wrote all of it.

#include <stddef.h>
#include <stdint.h>

// 1 MiB of lines of 64 bytes, of which 16 have the same place; the one that was
// used longest ago leaves.
enum { LINE = 64, WAYS = 16, SETS = 1024 };

struct Way {
  uintptr_t line;
  unsigned long used;
  int there, dirty;
};

static struct Way cache[SETS][WAYS];
static unsigned long now;
long accessed_bytes, read_lines, written_lines;

static void touch(uintptr_t line, int write) {
  struct Way *set = cache[line % SETS], *oldest = set;
  ++now;
  for (int k = 0; k < WAYS; ++k) {
    if (set[k].there && set[k].line == line) {
      set[k].used = now;
      set[k].dirty |= write;
      return;
    }
    if (set[k].used < oldest->used)
      oldest = &set[k];
  }
  written_lines += oldest->dirty;
  read_lines += !write;
  *oldest = (struct Way){line, now, 1, write};
}

static void reach(uintptr_t at, size_t bytes, int write) {
  accessed_bytes += bytes;
  if (bytes)
    for (uintptr_t line = at / LINE; line <= (at + bytes - 1) / LINE; ++line)
      touch(line, write);
}

// Empties the cache and begins to count.
void begin_count(void) {
  for (int set = 0; set < SETS; ++set)
    for (int k = 0; k < WAYS; ++k)
      cache[set][k] = (struct Way){0, 0, 0, 0};
  accessed_bytes = read_lines = written_lines = 0;
}

// Writes back what is left.
void end_count(void) {
  for (int set = 0; set < SETS; ++set)
    for (int k = 0; k < WAYS; ++k)
      written_lines += cache[set][k].dirty;
}

// What clang calls for -fsanitize=kernel-address.
#define CALLBACKS(bytes)                                                       \
  void __asan_load##bytes##_noabort(uintptr_t at) { reach(at, bytes, 0); }     \
  void __asan_store##bytes##_noabort(uintptr_t at) { reach(at, bytes, 1); }
CALLBACKS(1)
CALLBACKS(2)
CALLBACKS(4)
CALLBACKS(8)
CALLBACKS(16)

void __asan_loadN_noabort(uintptr_t at, size_t bytes) { reach(at, bytes, 0); }
void __asan_storeN_noabort(uintptr_t at, size_t bytes) { reach(at, bytes, 1); }

// In the place of the C library's, by `--wrap`.
void *__real_memcpy(void *, const void *, size_t);
void *__real_memmove(void *, const void *, size_t);
void *__real_memset(void *, int, size_t);

void *__wrap_memcpy(void *to, const void *from, size_t bytes) {
  reach((uintptr_t)from, bytes, 0);
  reach((uintptr_t)to, bytes, 1);
  return __real_memcpy(to, from, bytes);
}

void *__wrap_memmove(void *to, const void *from, size_t bytes) {
  reach((uintptr_t)from, bytes, 0);
  reach((uintptr_t)to, bytes, 1);
  return __real_memmove(to, from, bytes);
}

void *__wrap_memset(void *to, int byte, size_t bytes) {
  reach((uintptr_t)to, bytes, 1);
  return __real_memset(to, byte, bytes);
}
