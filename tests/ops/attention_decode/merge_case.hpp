#pragma once
// merge_states of two halves of the keys of an attention, compared with the formula in double precision.
#include "tests/ops/attention/support.hpp"

#include <kaio/ops/merge_states.hpp>

namespace kaio::tests {

inline constexpr f32 without_keys = -std::numeric_limits<f32>::infinity();

template <class T, class O, class B = T>
void check_merge(u32 batches, u32 rows, u32 heads, u32 size, u32 pad, bool heads_first, std::uint64_t seed) {
  CAPTURE(batches, rows, heads, size, pad, heads_first);
  tensor4<T> a(batches, rows, heads, size, heads_first, pad);
  tensor4<B> b(batches, rows, heads, size, heads_first, pad);
  tensor4<O> o(batches, rows, heads, size, heads_first, pad);
  a.fill(seed, 2), b.fill(seed + 1, 2);
  const std::size_t results = std::size_t{batches} * heads * rows;
  std::vector<f32> lse_a(results), lse_b(results), lse(results, -7.0f);
  std::mt19937_64 engine(seed);
  std::uniform_real_distribution<f32> any(-6, 6);
  for (std::size_t i = 0; i < results; ++i) lse_a[i] = any(engine), lse_b[i] = any(engine);
  if (results > 3) {  // without keys: one, the other, both; what they hold does not count
    lse_a[0] = without_keys, lse_b[1] = without_keys, lse_a[2] = without_keys, lse_b[2] = without_keys,
    lse_b[3] = lse_a[3] + 200;
    std::memset(static_cast<void*>(&a.at(0, 0, 0, 0)), 0xff, sizeof(T));
  }
  auto on_a = upload(a.host), on_b = upload(b.host);
  auto on_o = upload(o.host);
  auto on_lse_a = upload(lse_a), on_lse_b = upload(lse_b), on_lse = upload(lse);
  const auto of = [&](buffer<f32>& memory) { return tensor_view<f32, 3>(memory, batches, heads, rows); };
  merge_states(under_test().stream(), a.template view<const T>(on_a), of(on_lse_a), b.template view<B>(on_b),
               of(on_lse_b), o.template view<O>(on_o), of(on_lse));
  const auto got = on_o.download();
  const auto got_lse = on_lse.download();
  std::vector<bool> is_element(got.size(), false);
  for (u32 n = 0; n < batches; ++n)
    for (u32 r = 0; r < rows; ++r)
      for (u32 h = 0; h < heads; ++h) {
        const std::size_t i = (std::size_t{n} * heads + h) * rows + r;
        const double m = std::max(lse_a[i], lse_b[i]);
        const double w_a = std::isinf(m) ? 0 : std::exp(lse_a[i] - m),
                     w_b = std::isinf(m) ? 0 : std::exp(lse_b[i] - m);
        CAPTURE(n, r, h, lse_a[i], lse_b[i]);
        if (w_a + w_b == 0) {
          REQUIRE(got_lse[i] == without_keys);
        } else {
          REQUIRE(std::abs(got_lse[i] - (m + std::log(w_a + w_b))) <= 2e-5 * std::max(1.0, std::abs(m)));
        }
        for (u32 e = 0; e < size; ++e) {
          is_element[o.index(n, r, h, e)] = true;
          const double x = (w_a == 0 ? 0 : w_a / (w_a + w_b) * to_double(a.at(n, r, h, e))) +
                           (w_b == 0 ? 0 : w_b / (w_a + w_b) * to_double(b.at(n, r, h, e)));
          const double y = to_double(got[o.index(n, r, h, e)]);
          CAPTURE(e, x, y);
          REQUIRE(std::abs(x - y) <= unit_in_last_place<O>(x) + 2e-6);
        }
      }
  for (std::size_t i = 0; i < o.host.size(); ++i)
    if (!is_element[i]) REQUIRE(std::memcmp(&got[i], &o.host[i], sizeof(O)) == 0);
}

}  // namespace kaio::tests
