#pragma once
// Checks of append_kv before anything runs.

#include <kaio/ops/append_kv.hpp>
#include <kaio/ops/cache/append/problem.hpp>

#include <cstdint>
#include <string_view>

namespace kaio::ops::detail {

struct append_call {
  append_problem problem{};
  std::uint64_t rows = 0;  // 0: there is nothing to do
};
// caller: the operation that appends, whose number of queries may differ from that of new tokens. Empty:
// append_kv itself. Throws invalid_argument.
append_call resolve_append_kv(const void* device, const any_view& k, const any_view& v,
                              const any_cache& cache, const append_kv_options& options,
                              std::string_view caller = {});

}  // namespace kaio::ops::detail
