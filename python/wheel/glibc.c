// What code that this machine's g++ compiled needs of the C library, and glibc 2.28 lacks. link.py adds this file to each
// library; its functions are hidden, and the linker drops those that nothing calls. A comment names the glibc that has it.
#define _GNU_SOURCE
#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/random.h>
#include <sys/types.h>

#pragma GCC visibility push(hidden)

// The headers of the C library may declare these names, so each definition has a name of its own here.
#define DEFINED_AS(name) __asm__(name)

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
