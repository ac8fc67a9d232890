#pragma once
// A call of gate_up_project, next to its steps in double precision on products of the test's own. g and u are
// those products, rounded once to the type of the output.
#include "tests/ops/support.hpp"

#include <kaio/ops/gate_up_project.hpp>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <vector>

namespace kaio::tests {

inline double activated(matmul_activation which, double x) {
  switch (which) {
    case matmul_activation::none: return x;
    case matmul_activation::relu: return x < 0 ? 0 : x;
    case matmul_activation::gelu: return x * 0.5 * (1 + std::erf(x / std::sqrt(2.0)));
    case matmul_activation::gelu_tanh:
      return x * 0.5 * (1 + std::tanh(std::sqrt(2 / std::acos(-1.0)) * (x + 0.044715 * x * x * x)));
    default: return x / (1 + std::exp(-x));
  }
}

// An output of (batches, rows, columns) with elements before it, and after each row and each batch, which must
// keep their pattern.
template <class T>
struct gate_up_output {
  i64 batches, rows, columns, pad, shift;
  std::vector<T> host;
  buffer<T> memory;

  gate_up_output(i64 b, i64 r, i64 c, i64 in_pad = 0, i64 in_shift = 0)
      : batches(b), rows(r), columns(c), pad(in_pad), shift(in_shift) {
    host.resize(static_cast<std::size_t>(shift + b * batch()));
    std::memset(static_cast<void*>(host.data()), 0x5a, host.size() * sizeof(T));
    memory = under_test().upload(host);
  }
  i64 line() const { return columns + pad; }
  i64 batch() const { return rows * line() + 2 * pad; }
  tensor_view<T, 3> view() {
    return {memory.slice(static_cast<u64>(shift), memory.size() - static_cast<u64>(shift)),
            extents(batches, rows, columns), strides(batch(), line(), 1)};
  }
  // `want(b, r, c)` is the exact result. Each element is within two units in the last place, or within the
  // error that f32 leaves in activation and product.
  template <class Want>
  void check(const Want& want) {
    const std::vector<T> got = memory.download();
    std::vector<bool> is_element(got.size(), false);
    for (i64 b = 0; b < batches; ++b)
      for (i64 r = 0; r < rows; ++r)
        for (i64 c = 0; c < columns; ++c) {
          const auto at = static_cast<std::size_t>(shift + b * batch() + r * line() + c);
          is_element[at] = true;
          const double wanted = want(b, r, c), is = to_double(got[at]);
          const double bound = std::max(unit_in_last_place<T>(wanted), 1e-5 * std::abs(wanted)) + 1e-6;
          if (std::abs(is - wanted) <= bound) continue;
          CAPTURE(b, r, c);
          REQUIRE(is == wanted);
        }
    for (std::size_t i = 0; i < got.size(); ++i)
      if (!is_element[i]) REQUIRE(std::memcmp(&got[i], &host[i], sizeof(T)) == 0);
  }
};

// With the workspace that the call takes, and not a byte more.
template <class X, class Out, std::size_t Rank>
void gate_up_with_workspace(const tensor_view<X, Rank>& x, const gate_up_weights& weights,
                            const tensor_view<Out, Rank>& out, gate_up_project_options options) {
  const stream& s = under_test().stream();
  auto workspace = under_test().allocate<u8>(gate_up_project_workspace_bytes(s, x, weights, out, options));
  options.workspace = workspace;
  gate_up_project(s, x, weights, out, options);
  s.synchronize();
}

}  // namespace kaio::tests
