// _dl_find_object of glibc 2.35, for systems with an older one: the unwinder in libgcc_eh.a asks it for the unwind table of the
// code at an address. link.py adds this file to libkaio.so.0.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <link.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#pragma GCC visibility push(hidden)

struct found_object {
  unsigned long long flags;
  void* begin;
  void* end;
  struct link_map* map;
  void* unwind_table;
  unsigned long long reserved[7];
};
_Static_assert(sizeof(struct found_object) == 96, "struct dl_find_object of <dlfcn.h> on x86-64");

typedef int find_function(void* address, struct found_object* result);
static find_function* system_find;

// The C library's own, if it has one: it takes no lock. It is looked up while the library is loaded, because the unwinder may
// run where dlsym must not.
__attribute__((constructor(101))) static void find_system_functions(void) {
#if !defined(KAIO_TEST_OLD_GLIBC)
  system_find = (find_function*)dlsym(RTLD_DEFAULT, "_dl_find_object");
#endif
}

struct search {
  uintptr_t address;
  struct found_object* result;
};

static int visit(struct dl_phdr_info* info, size_t size, void* data) {
  struct search* const search = data;
  uintptr_t begin = UINTPTR_MAX, end = 0, table = 0;
  int inside = 0;
  (void)size;
  for (int i = 0; i < info->dlpi_phnum; ++i) {
    const ElfW(Phdr)* const header = &info->dlpi_phdr[i];
    const uintptr_t first = info->dlpi_addr + header->p_vaddr, last = first + header->p_memsz;
    if (header->p_type == PT_GNU_EH_FRAME) table = first;
    if (header->p_type != PT_LOAD) continue;
    if (first < begin) begin = first;
    if (last > end) end = last;
    inside |= first <= search->address && search->address < last;
  }
  if (!inside) return 0;
  if (table == 0) return -1;
  memset(search->result, 0, sizeof(*search->result));
  search->result->begin = (void*)begin;
  search->result->end = (void*)end;
  search->result->unwind_table = (void*)table;
  return 1;
}

int find_object(void* address, struct found_object* result) __asm__("_dl_find_object");
int find_object(void* address, struct found_object* result) {
  if (system_find != NULL) return system_find(address, result);
  struct search search = {(uintptr_t)address, result};
  return dl_iterate_phdr(visit, &search) == 1 ? 0 : -1;
}
