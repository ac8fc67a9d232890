#pragma once
// From exceptions to statuses. Every function of the C interface has its body in guarded():
//
//   return guarded([&] { ... });      // KAIO_OK, or the status of what was thrown

#include <kaio/c/base.h>

#include <string>

namespace kaio::c {

// The status of the exception that is being handled; its text becomes kaio_last_error().
kaio_status report_exception() noexcept;

template <class Body>
kaio_status guarded(const Body& body) noexcept {
  try {
    body();
    return KAIO_OK;
  } catch (...) {
    return report_exception();
  }
}

// Throws invalid_argument: "kaio: " + operation + ": " + what.
[[noreturn]] void refuse(const char* operation, const std::string& what);
// Throws invalid_argument if a pointer that the function needs is null.
void require(const char* operation, const char* argument, const void* pointer);

}  // namespace kaio::c
