// Linked with a program that is timed: calls it so often that starting a clock
// takes nothing.

#include <malloc.h>
#include <stdlib.h>
#include <time.h>

void call_run(void **);

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
  return t.tv_sec + 1e-9 * t.tv_nsec;
}

// Frees the buffers of the results, whose descriptors begin at `at`. Two
// results may be one buffer.
void release(long *results, const long *at, long count) {
  for (long k = 0; k < count; ++k) {
    long first = 0;
    while (results[at[first]] != results[at[k]])
      ++first;
    if (first == k)
      free((void *)results[at[k]]);
  }
}

// The seconds of the processor of `n` calls; the results of the last stay.
double repeat(void **pointers, long *results, const long *at, long count,
              long n) {
  // Memory that is freed stays here, so that no call waits for the system to
  // clear pages.
  mallopt(M_MMAP_MAX, 0);
  mallopt(M_TRIM_THRESHOLD, -1);
  double start = now();
  for (long k = 0; k < n; ++k) {
    if (k)
      release(results, at, count);
    call_run(pointers);
  }
  return now() - start;
}
