// The names of KAIO's attention: one head of f32 in compact buffers.
#include <kaio/ops/parity/attention.hpp>

#include "tests/ops/attention/support.hpp"

using namespace kaio;
using namespace kaio::tests;

namespace {

constexpr u32 rows = 77, size = 40;

// run(q, k, v, out, stats) calls the operation.
template <class Run>
void check_name(bool causal, bool has_stats, const Run& run) {
  attention_case c{.queries = rows, .keys = rows, .qk_size = size, .v_size = size};
  if (causal) c.causal = causal_alignment::top_left;
  tensor4<f32> q(1, rows, 1, size, false, 0), k = q, v = q, o = q;
  q.fill(1, 1);
  k.fill(2, 1);
  v.fill(3, 1);
  auto on_q = upload(q.host), on_k = upload(k.host), on_v = upload(v.host), on_o = upload(o.host);
  auto stats = under_test().allocate<f32>(rows);
  run(on_q, on_k, on_v, on_o, stats);
  const attention_reference<f32> want(c, q, k, v);
  tensor4<f32> got = o;
  got.host = on_o.download();
  compare_attention(c, got, o, want);
  if (has_stats) compare_lse(stats.download(), want.lse);
}

// attention_tc: other extents for queries and keys, of f16.
void check_tc(bool causal) {
  constexpr u32 queries = 50, keys = 400, v_size = 24;
  attention_case c{.queries = queries, .keys = keys, .qk_size = size, .v_size = v_size, .f32_output = true};
  if (causal) c.causal = causal_alignment::top_left;
  tensor4<f16> q(1, queries, 1, size, false, 0), k(1, keys, 1, size, false, 0),
      v(1, keys, 1, v_size, false, 0);
  tensor4<f32> o(1, queries, 1, v_size, false, 0);
  q.fill(1, 1);
  k.fill(2, 1);
  v.fill(3, 1);
  auto on_q = upload(q.host), on_k = upload(k.host), on_v = upload(v.host);
  auto on_o = upload(o.host);
  const auto f = causal ? ops::attention_tc_causal : ops::attention_tc;
  f(under_test(), on_q, on_k, on_v, on_o, queries, keys, size, v_size);
  tensor4<f32> got = o;
  got.host = on_o.download();
  compare_attention(c, got, o, attention_reference<f16>(c, q, k, v));
  REQUIRE_THROWS_AS(f(under_test(), on_q, on_k, on_v, on_o, queries, keys + 1, size, v_size),
                    invalid_argument);
  REQUIRE_THROWS_AS(f(under_test(), on_q, on_k, on_v, on_o, queries + 1, keys, size, v_size),
                    invalid_argument);
}

}  // namespace

TEST_CASE("attention: attention_tc of KAIO, f32 out of f16", "[ops][attention]") {
  check_tc(false);
  check_tc(true);
}
TEST_CASE("attention: the names of KAIO", "[ops][attention]") {
  const device& gpu = under_test();
  using plain = void (*)(const device&, const buffer<f32>&, const buffer<f32>&, const buffer<f32>&,
                         buffer<f32>&, u32, u32);
  const plain full[] = {static_cast<plain>(ops::attention), ops::attention_flash, ops::attention_auto};
  const plain causal[] = {ops::attention_causal, ops::attention_flash_causal, ops::attention_auto_causal};
  for (const plain f : full)
    check_name(false, false,
               [&](auto& q, auto& k, auto& v, auto& o, auto&) { f(gpu, q, k, v, o, rows, size); });
  for (const plain f : causal)
    check_name(true, false,
               [&](auto& q, auto& k, auto& v, auto& o, auto&) { f(gpu, q, k, v, o, rows, size); });
  check_name(false, true, [&](auto& q, auto& k, auto& v, auto& o, auto& stats) {
    ops::attention_flash_with_stats(gpu, q, k, v, o, stats, rows, size);
  });
  check_name(true, true, [&](auto& q, auto& k, auto& v, auto& o, auto& stats) {
    ops::attention_flash_causal_with_stats(gpu, q, k, v, o, stats, rows, size);
  });
}
