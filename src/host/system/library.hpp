#pragma once
// Shared libraries that a program opens while it runs.
//
//   std::string reason;
//   if (void* const library = host::open_library("/opt/filters.so", reason))
//     auto* const function = host::find_symbol(library, "kaio_kernel_library");

#include <string>

namespace kaio::host {

// Opens a library; null, with the system's reason: it cannot be loaded. `file` is a path in UTF-8. A name without a folder
// is looked for where the system has its own libraries: on Windows in System32 alone.
void* open_library(const std::string& file, std::string& reason);
// Null: the library has no such symbol.
void* find_symbol(void* library, const char* name);
void close_library(void* library);

// Where a library must not end its threads as it is closed (Windows), keeps the one with this address until the process ends.
void keep_library(const void* address);

// The beginning of the library or program that an address is inside of; null: in none that the system knows.
const void* library_of(const void* address);
// Its file; empty: unknown.
std::string file_of_library_of(const void* address);

}  // namespace kaio::host
