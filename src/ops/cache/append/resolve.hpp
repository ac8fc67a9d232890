#pragma once
// The checks of append_kv before anything runs.

#include <kaio/ops/append_kv.hpp>
#include <kaio/ops/cache/append/problem.hpp>

#include <cstdint>
#include <string_view>

namespace kaio::ops::detail {

struct append_call {
  append_problem problem{};
  std::uint64_t rows = 0;  // 0: there is nothing to do
};
// Throws invalid_argument, in the name of an operation: append_kv, where none is given.
append_call resolve_append_kv(const void* device, const any_view& k, const any_view& v,
                              const any_cache& cache, const append_kv_options& options,
                              std::string_view operation = {});

}  // namespace kaio::ops::detail
