// What code that this machine's g++ compiled needs of the C library, and glibc 2.28 lacks. link.py adds this file to each
// library; its functions are hidden, and the linker drops those that nothing calls. A comment names the glibc that has it.
#define _GNU_SOURCE
#include <errno.h>
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/random.h>
#include <sys/types.h>
#include <time.h>

#pragma GCC visibility push(hidden)

// The headers of the C library may declare these names, so each definition has a name of its own here.
#define DEFINED_AS(name) __asm__(name)

// 2.30: std::condition_variable waits by a steady clock. This waits by the time of day; the caller looks at its own clock again.
int wait_by_clock(pthread_cond_t* condition, pthread_mutex_t* mutex, clockid_t clock, const struct timespec* until)
    DEFINED_AS("pthread_cond_clockwait");
int wait_by_clock(pthread_cond_t* condition, pthread_mutex_t* mutex, clockid_t clock, const struct timespec* until) {
  const int64_t second = 1000000000;
  struct timespec now, end;
  if (clock_gettime(clock, &now) != 0 || clock_gettime(CLOCK_REALTIME, &end) != 0) return errno;
  int64_t left = (until->tv_sec - now.tv_sec) * second + until->tv_nsec - now.tv_nsec;
  if (left < 0) left = 0;
  left += end.tv_nsec;
  end.tv_sec += left / second;
  end.tv_nsec = left % second;
  return pthread_cond_timedwait(condition, mutex, &end);
}

// 2.32: false: there may be other threads. libstdc++ then counts references atomically.
char single_threaded DEFINED_AS("__libc_single_threaded") = 0;

// 2.36: std::random_device.
uint32_t random_bits(void) DEFINED_AS("arc4random");
uint32_t random_bits(void) {
  uint32_t bits = 0;
  while (getrandom(&bits, sizeof(bits), 0) != (ssize_t)sizeof(bits))
    if (errno != EINTR) abort();
  return bits;
}

// 2.38: the forms that accept binary numbers, which the headers call in place of the old ones.
#define OLD_FORM(type, name)                                                                 \
  type c23_##name(const char* text, char** end, int base) DEFINED_AS("__isoc23_" #name);     \
  type c23_##name(const char* text, char** end, int base) { return name(text, end, base); }
OLD_FORM(long, strtol)
OLD_FORM(long long, strtoll)
OLD_FORM(unsigned long, strtoul)
OLD_FORM(unsigned long long, strtoull)
