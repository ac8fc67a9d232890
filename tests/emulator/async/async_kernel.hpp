#pragma once
// Shared by the tests of asynchronous instructions: launches in every schedule and in clusters, and the
// report of a fault.

#include "tests/emulator/kernel.hpp"

#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

namespace emulator_test {

struct async_shape {
  std::uint32_t grid = 1, block = 32, cluster = 0, dynamic_shared = 0;
  schedule order{};
};

inline void run_async(const module& m, memory& global, const std::vector<std::uint64_t>& pointers,
                      const async_shape& s = {}) {
  launch l;
  l.mod = &m;
  l.kernel = m.find("k");
  l.grid = {s.grid, 1, 1};
  l.block = {s.block, 1, 1};
  if (s.cluster != 0) l.cluster = {s.cluster, 1, 1};
  l.dynamic_shared = s.dynamic_shared;
  l.order = s.order;
  l.instruction_limit = 1u << 24;
  l.parameters.resize(pointers.size() * 8);
  std::memcpy(l.parameters.data(), pointers.data(), l.parameters.size());
  run(l, global);
}

inline fault_report async_fault(const module& m, memory& global, const std::vector<std::uint64_t>& pointers,
                                const async_shape& s = {}) {
  try {
    run_async(m, global, pointers, s);
  } catch (const fault& e) {
    return e.report();
  }
  FAIL("no fault");
  return {};
}

// The schedules that every pipeline must survive.
inline std::vector<schedule> schedules() {
  std::vector<schedule> all{{}, {schedule_kind::reverse, 0}};
  for (std::uint64_t k = 0; k < 3; ++k) all.push_back({schedule_kind::starve, k});
  for (std::uint64_t k = 1; k <= 6; ++k) all.push_back({schedule_kind::random, k * 77});
  return all;
}

inline module async_module(std::string_view body, unsigned pointers, std::string_view declarations,
                           std::string_view version = "8.6", std::string_view target = "sm_90a") {
  return parsed_module(kernel_text(body, pointers, declarations, version, target));
}

}  // namespace emulator_test
