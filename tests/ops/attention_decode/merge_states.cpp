// merge_states: two halves of the keys of an attention against the formula in double precision, results
// without keys, results in place, and its bad inputs.
#include "tests/ops/attention_decode/merge_case.hpp"
#include "thrown.hpp"

using namespace kaio;
using namespace kaio::tests;

TEST_CASE("merge_states: every type, layouts, results without keys", "[ops][attention_decode]") {
  check_merge<f16, f16>(2, 3, 2, 64, 0, false, 1);
  check_merge<bf16, bf16>(1, 5, 3, 40, 8, true, 2);
  check_merge<f32, f32>(1, 2, 2, 256, 0, false, 3);
  check_merge<f32, f16>(2, 2, 3, 33, 3, true, 4);
  check_merge<f16, f32>(1, 4, 1, 7, 1, false, 5);
  check_merge<f32, bf16>(1, 1, 1, 512, 0, false, 6);
  check_merge<f16, f16>(0, 3, 2, 64, 0, false, 7);
  check_merge<f32, f32, bf16>(1, 3, 2, 72, 0, false, 8);
  check_merge<f16, f32, f32>(1, 2, 2, 37, 1, true, 9);
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
