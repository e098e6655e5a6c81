// Linked with a program that is measured: counts what it allocates, and samples
// where it is.

#define _GNU_SOURCE
#include <dlfcn.h>
#include <signal.h>
#include <stddef.h>
#include <sys/time.h>
#include <ucontext.h>

long allocations, allocated_bytes;

void *__real_malloc(size_t);

// `--wrap=malloc` puts this in the place of the program's `malloc`.
void *__wrap_malloc(size_t bytes) {
  ++allocations;
  allocated_bytes += bytes;
  return __real_malloc(bytes);
}

void *__real_aligned_alloc(size_t, size_t);

// The same for `aligned_alloc`.
void *__wrap_aligned_alloc(size_t alignment, size_t bytes) {
  ++allocations;
  allocated_bytes += bytes;
  return __real_aligned_alloc(alignment, bytes);
}

enum { MOST = 1 << 20 };
long samples[MOST];
long sampled;

// The addresses of samples are relative to the library, as its symbols are.
// Those of other libraries are negated addresses of the process.
static char *begin;

static void tick(int signal, siginfo_t *info, void *context) {
  (void)signal;
  (void)info;
#if defined(__x86_64__)
  char *at = (char *)((ucontext_t *)context)->uc_mcontext.gregs[REG_RIP];
#else
  char *at = (char *)((ucontext_t *)context)->uc_mcontext.pc;
#endif
  Dl_info where;
  int own = dladdr(at, &where) && where.dli_fbase == begin;
  if (sampled < MOST)
    samples[sampled++] = own ? at - begin : -(long)at;
}

// Takes a sample at each microsecond period of the processor; 0 stops.
void sample(long microseconds) {
  Dl_info where;
  dladdr((void *)sample, &where);
  begin = where.dli_fbase;
  struct sigaction action = {.sa_sigaction = tick,
                             .sa_flags = SA_SIGINFO | SA_RESTART};
  sigaction(SIGPROF, &action, 0);
  struct itimerval period = {{0, microseconds}, {0, microseconds}};
  setitimer(ITIMER_PROF, &period, 0);
}

// The function of another library at an address, or that library.
const char *symbol(long at) {
  Dl_info where;
  if (!dladdr((void *)at, &where))
    return "?";
  return where.dli_sname ? where.dli_sname : where.dli_fname;
}
