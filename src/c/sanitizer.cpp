// The emulator's sanitizer for the launches of a thread.

#include <kaio/c/kernels.h>

#include <string>
#include <utility>

#include "c/call/error.hpp"
#include "runtime/emulator/checked_thread.hpp"

using namespace kaio::c;

static thread_local std::string last_reports;

extern "C" {

kaio_status kaio_sanitizer_begin(const char* checks, uint64_t reports) {
  return guarded(
      [&] { kaio::runtime::begin_checks(checks != nullptr ? checks : "all", reports != 0 ? reports : 1); });
}

kaio_status kaio_sanitizer_end(uint64_t* launches, uint64_t* failed, const char** text) {
  return guarded([&] {
    kaio::runtime::thread_checks found = kaio::runtime::end_checks();
    last_reports = std::move(found.reports);
    if (launches != nullptr) *launches = found.launches;
    if (failed != nullptr) *failed = found.failed;
    if (text != nullptr) *text = last_reports.c_str();
  });
}
}
