// merge_states: two halves of the keys of an attention against the formula in double precision, results
// without keys, results in place, and its bad inputs.
#include "tests/ops/attention/support.hpp"
#include "thrown.hpp"

#include <kaio/ops/merge_states.hpp>

using namespace kaio;
using namespace kaio::tests;

namespace {

constexpr f32 none = -std::numeric_limits<f32>::infinity();

template <class T, class O>
void check_merge(u32 batches, u32 rows, u32 heads, u32 size, u32 pad, bool heads_first, std::uint64_t seed) {
  CAPTURE(batches, rows, heads, size, pad, heads_first);
  tensor4<T> a(batches, rows, heads, size, heads_first, pad), b = a;
  tensor4<O> o(batches, rows, heads, size, heads_first, pad);
  a.fill(seed, 2), b.fill(seed + 1, 2);
  const std::size_t results = std::size_t{batches} * heads * rows;
  std::vector<f32> lse_a(results), lse_b(results), lse(results, -7.0f);
  std::mt19937_64 engine(seed);
  std::uniform_real_distribution<f32> any(-6, 6);
  for (std::size_t i = 0; i < results; ++i) lse_a[i] = any(engine), lse_b[i] = any(engine);
  if (results > 3) {  // without keys: one, the other, both; what they hold does not count
    lse_a[0] = none, lse_b[1] = none, lse_a[2] = none, lse_b[2] = none, lse_b[3] = lse_a[3] + 200;
    std::memset(static_cast<void*>(&a.at(0, 0, 0, 0)), 0xff, sizeof(T));
  }
  auto on_a = upload(a.host), on_b = upload(b.host);
  auto on_o = upload(o.host);
  auto on_lse_a = upload(lse_a), on_lse_b = upload(lse_b), on_lse = upload(lse);
  const auto of = [&](buffer<f32>& memory) { return tensor_view<f32, 3>(memory, batches, heads, rows); };
  merge_states(under_test().stream(), a.template view<const T>(on_a), of(on_lse_a), b.template view<T>(on_b),
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
          REQUIRE(got_lse[i] == none);
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

}  // namespace

TEST_CASE("merge_states: every type, layouts, results without keys", "[ops][attention_decode]") {
  check_merge<f16, f16>(2, 3, 2, 64, 0, false, 1);
  check_merge<bf16, bf16>(1, 5, 3, 40, 8, true, 2);
  check_merge<f32, f32>(1, 2, 2, 256, 0, false, 3);
  check_merge<f32, f16>(2, 2, 3, 33, 3, true, 4);
  check_merge<f16, f32>(1, 4, 1, 7, 1, false, 5);
  check_merge<f32, bf16>(1, 1, 1, 512, 0, false, 6);
  check_merge<f16, f16>(0, 3, 2, 64, 0, false, 7);
}

TEST_CASE("merge_states: in place, packed rows, and without its lse", "[ops][attention_decode]") {
  constexpr u32 rows = 3, heads = 2, size = 8;
  std::vector<f32> a(rows * heads * size, 1.0f), b(a.size(), 3.0f), lse(heads * rows, 0.5f);
  auto on_a = upload(a), on_b = upload(b), on_lse = upload(lse), on_lse_b = upload(lse);
  const auto result = [&](buffer<f32>& m) { return tensor_view<f32, 3>(m, rows, heads, size); };
  const auto numbers = [&](buffer<f32>& m) { return tensor_view<f32, 2>(m, heads, rows); };
  const stream& s = under_test().stream();
  merge_states(s, result(on_a), numbers(on_lse), result(on_b), numbers(on_lse_b), result(on_a),
               numbers(on_lse));
  for (const f32 x : on_a.download()) REQUIRE(x == 2.0f);
  for (const f32 x : on_lse.download()) REQUIRE(std::abs(x - (0.5f + std::log(2.0f))) < 1e-6f);
  auto on_o = upload(a);
  merge_states(s, result(on_a), numbers(on_lse), result(on_b), numbers(on_lse_b), result(on_o),
               tensor_view<f32, 2>());
  for (const f32 x : on_o.download()) REQUIRE(std::abs(x - (2 * 2 + 3) / 3.0f) < 1e-6f);
}

TEST_CASE("merge_states: bad inputs", "[ops][attention_decode]") {
  const std::vector<f32> zeros(64);
  auto on_a = upload(zeros), on_b = upload(zeros), on_o = upload(zeros), on_lse = upload(zeros),
       on_more = upload(zeros);
  const auto result = [](buffer<f32>& m, u32 size = 8) { return tensor_view<f32, 4>(m, 1, 4, 2, size); };
  const auto numbers = [](buffer<f32>& m, u32 rows = 4) { return tensor_view<f32, 3>(m, 1, 2, rows); };
  const stream& s = under_test().stream();
  using view = tensor_view<f32, 4>;
  using lse_view = tensor_view<f32, 3>;
  const auto refuses = [&](const view& a, const lse_view& la, const view& b, const lse_view& lb,
                           const view& o, const lse_view& l, std::string_view text) {
    const thrown error = catch_error([&] { merge_states(s, a, la, b, lb, o, l); });
    CAPTURE(error.message, text);
    REQUIRE(error.code == errc::invalid_argument);
    REQUIRE(error.says("kaio: merge_states: "));
    REQUIRE(error.says(text));
  };
  const view a = result(on_a), b = result(on_b), o = result(on_o);
  const lse_view l = numbers(on_lse), m = numbers(on_more);
  refuses(view(), l, b, l, o, m, "out_a");
  refuses(a, lse_view(), b, l, o, m, "lse_a");
  refuses(a, l, result(on_b, 4), l, o, m, "out_b");
  refuses(a, l, b, numbers(on_lse, 3), o, m, "lse_b");
  refuses(a, l, b, l, result(on_o, 4), m, "out");
  refuses(a, l, b, l, o, numbers(on_more, 2), "lse");
  refuses(a, l, b, l, o, numbers(on_a), "output lse shares memory with argument out_a");
  refuses(a, l, b, l, o, numbers(on_o), "output lse shares memory with argument out");
  refuses(a, l, b, l, result(on_lse), m, "output out shares memory with argument lse_a");
  refuses(a, l, b, l, view(on_a, extents(1, 4, 2, 8), strides(64, 8, 32, 1)), m, "out_a");
  refuses(view(on_a, extents(1, 4, 2, 4), strides(64, 16, 8, 2)), l, result(on_b, 4), l, result(on_o, 4), m,
          "argument out_a has stride 2 along its last dimension");
}
