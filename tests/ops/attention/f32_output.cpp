// ops::attention with f32 results of f16 and bf16 operands: shapes and options, results that the operand type
// does not have, and rows that are computed again.
#include "tests/ops/attention/support.hpp"

using namespace kaio;
using namespace kaio::tests;

namespace {

template <class T>
void shapes() {
  const attention_case base{
      .batches = 2, .queries = 70, .keys = 130, .heads = 4, .key_heads = 2, .qk_size = 64, .v_size = 64};
  const auto with = [&](auto change) {
    attention_case c = base;
    change(c);
    check_attention<T, f32>(c);
  };
  with([](auto&) {});
  with([](auto& c) { c.causal = causal_alignment::bottom_right, c.keys = 40, c.sinks = true; });
  with([](auto& c) { c.heads_first = true, c.pad = 3, c.qk_size = 40, c.v_size = 23, c.softcap = 2; });
  with([](auto& c) { c.qk_size = c.v_size = 128, c.window = {9, 5}; });
  with([](auto& c) { c.qk_size = 200, c.v_size = 256, c.alibi = 1; });
  with([](auto& c) { c.bias = {.rank = 3}, c.keep = {.rank = 4}; });
  with([](auto& c) { c.keys = 0; });
}

// Two keys with equal scores, and values of 1 and 1 + the last place: the mean is 1 + half of the last place.
template <class T>
void not_rounded() {
  const float last = static_cast<float>(unit_in_last_place<T>(1.0));
  tensor4<T> q(1, 17, 1, 64, false, 0), k(1, 2, 1, 64, false, 0), v = k;
  q.fill(1, 1);
  k.fill(2, 0);
  for (u32 e = 0; e < 64; ++e) {
    v.at(0, 0, 0, e) = from_float<T>(1);
    v.at(0, 1, 0, e) = from_float<T>(1 + last);
  }
  auto on_q = upload(q.host), on_k = upload(k.host), on_v = upload(v.host);
  auto on_o = upload(std::vector<f32>(17 * 64, 0.0f));
  attention(under_test().stream(), q.template view<const T>(on_q), k.template view<const T>(on_k),
            v.template view<const T>(on_v), tensor_view<f32, 4>(on_o, 1, 17, 1, 64));
  for (const f32 x : on_o.download()) REQUIRE(x == 1 + last / 2);
}

// NaN in a value that half of the queries do not attend to.
template <class T>
void masked_nan() {
  constexpr u32 rows = 40, planted = 20;
  tensor4<T> q(1, rows, 1, 72, false, 0), k = q, v = q;
  q.fill(1, 1);
  k.fill(2, 1);
  v.fill(3, 1);
  const auto run = [&] {
    auto on_q = upload(q.host), on_k = upload(k.host), on_v = upload(v.host);
    auto on_o = upload(std::vector<f32>(rows * 72, 0.0f));
    attention(under_test().stream(), q.template view<const T>(on_q), k.template view<const T>(on_k),
              v.template view<const T>(on_v), tensor_view<f32, 4>(on_o, 1, rows, 1, 72),
              {.causal = causal_alignment::top_left});
    return on_o.download();
  };
  const auto clean = run();
  v.at(0, planted, 0, 71) = from_float<T>(std::numeric_limits<float>::quiet_NaN());
  const auto some = run();
  for (u32 i = 0; i < rows; ++i)
    for (u32 e = 0; e < 72; ++e) {
      CAPTURE(i, e, some[i * 72 + e], clean[i * 72 + e]);
      if (i >= planted && e == 71)
        REQUIRE(std::isnan(some[i * 72 + e]));
      else
        REQUIRE(std::abs(some[i * 72 + e] - clean[i * 72 + e]) < 1e-5f);
    }
}

}  // namespace

TEST_CASE("attention: f32 results of f16", "[ops][attention]") {
  shapes<f16>();
  not_rounded<f16>();
  masked_nan<f16>();
}
TEST_CASE("attention: f32 results of bf16", "[ops][attention]") {
  shapes<bf16>();
  not_rounded<bf16>();
  masked_nan<bf16>();
}
TEST_CASE("attention: the name of a kernel for f32 results", "[ops][attention]") {
  auto x = under_test().allocate<f16>(4096);
  auto o = under_test().allocate<f32>(4096);
  const tensor_view<const f16, 4> q(x, 1, 64, 1, 64);
  REQUIRE(ops::attention_choice(under_test().stream(), q, q, q, tensor_view<f32, 4>(o, 1, 64, 1, 64))
              .name.find("attention_mma_f16_d64") == 0);
}
