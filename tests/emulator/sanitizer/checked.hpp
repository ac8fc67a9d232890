#pragma once
// Shared by the tests of the sanitizer: a kernel under all checks, its reports, and that it has none.

#include "emulator/sanitizer/sanitizer.hpp"
#include "tests/emulator/kernel.hpp"

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace emulator_test {

struct checked_launch {
  shape size;
  std::string_view declarations = "";
  std::size_t words = 4096;  // of each buffer
  unsigned buffers = 2;      // zeroed, %p0 and %p1 ...
  bool undefined = false;    // buffers are not zeroed
  sanitizer_options options = {};
  kaio::ptx::dim3 cluster{0, 0, 0};
  bool cooperative = false;
  schedule order = {};
  const kaio::ptx::kernel_image* image = nullptr;
};

// The report of the fault that the kernel raises; none if it ends well.
inline std::optional<fault_report> checked(std::string_view body, checked_launch how = {}) {
  memory global;
  std::vector<std::uint64_t> pointers;
  for (unsigned i = 0; i < how.buffers; ++i)
    pointers.push_back(
        global.allocate(how.words * 4, how.undefined ? contents::undefined : contents::zeroed));
  const module m = parsed_module(kernel_text(body, how.buffers, how.declarations, "8.6"));
  sanitizer checks(how.options);
  launch l;
  l.mod = &m;
  l.kernel = m.find("k");
  l.grid = {how.size.grid, 1, 1};
  l.block = {how.size.block, 1, 1};
  l.dynamic_shared = how.size.dynamic_shared;
  l.instruction_limit = how.size.instruction_limit;
  l.cluster = how.cluster;
  l.cooperative = how.cooperative;
  l.order = how.order;
  l.image = how.image;
  l.parameters.resize(pointers.size() * 8);
  std::memcpy(l.parameters.data(), pointers.data(), l.parameters.size());
  l.observers.push_back(&checks);
  try {
    run(l, global);
  } catch (const fault& f) {
    CHECK(std::string_view(f.what()).substr(0, 5) == "kaio:");
    return f.report();
  }
  return {};
}

inline bool is_clean(std::string_view body, const checked_launch& how = {}) {
  const std::optional<fault_report> r = checked(body, how);
  if (!r) return true;
  UNSCOPED_INFO(fault(*r).what());
  return false;
}

inline bool has(std::string_view body, fault_kind kind, std::string_view line,
                const checked_launch& how = {}) {
  const std::optional<fault_report> r = checked(body, how);
  if (!r) {
    UNSCOPED_INFO("no report");
    return false;
  }
  UNSCOPED_INFO(fault(*r).what());
  return r->kind == kind && r->ptx_text.find(line) != std::string::npos;
}

}  // namespace emulator_test
