#include "host/system/library.hpp"

#include <dlfcn.h>

namespace kaio::host {

void* open_library(const std::string& file, std::string& reason) {
  void* const library = dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library != nullptr) return library;
  const char* const why = dlerror();
  reason = why != nullptr ? why : "the system does not say why";
  return nullptr;
}

void* find_symbol(void* library, const char* name) { return dlsym(library, name); }
void close_library(void* library) { dlclose(library); }

void keep_library(const void*) {}

const void* library_of(const void* address) {
  Dl_info found{};
  return dladdr(address, &found) != 0 ? found.dli_fbase : nullptr;
}

std::string file_of_library_of(const void* address) {
  Dl_info found{};
  return dladdr(address, &found) != 0 && found.dli_fname != nullptr ? found.dli_fname : "";
}

}  // namespace kaio::host
