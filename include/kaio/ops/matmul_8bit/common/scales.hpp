#pragma once
// Applies a quantised product's row and column scales to the places that a thread finishes together.

#include <kaio/dsl/dsl.hpp>
#include <kaio/ops/matmul/common/term_values.hpp>

#include <cstdint>

namespace kaio::ops {

// y *= scale_a[row], y *= scale_b[column]; a term of type none is skipped. At: a strip.
template <std::uint32_t N, class At, class Term>
constexpr void scale_rows_and_columns(thread t, dsl::register_array<var<f32>, N>& y, const At& at,
                                      const Term& scale_a, const Term& scale_b) {
  if (auto exists = t.when(scale_a[&matmul_term::type] != 0u)) {
    const auto scale = term_values(t, scale_a, at.of_rows());
    for (u32 i = 0; i < N; ++i) y[i] *= scale[i / At::columns];
  }
  if (auto exists = t.when(scale_b[&matmul_term::type] != 0u)) {
    const auto scale = term_values(t, scale_b, at.of_columns());
    for (u32 i = 0; i < N; ++i) y[i] *= scale[i % At::columns];
  }
}

}  // namespace kaio::ops
