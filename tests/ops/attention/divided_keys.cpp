// Keys of a tile that are divided, whatever the cost model makes of a call: among the blocks of a cluster,
// and among the warps of a block. Parts without keys, fewer keys than parts, rows without keys, and packed
// sequences.
#include "tests/ops/attention/support.hpp"

#include <kaio/ops/attention/forward/simt/table_row.hpp>
#include <kaio/ops/attention/forward/sm90/table_row.hpp>

using namespace kaio;
using namespace kaio::tests;

namespace {

// launch(s, call, parts)
template <class T, class Launch>
void check_parts(u32 size, std::initializer_list<u32> numbers, const Launch& launch) {
  for (const u32 parts : numbers)
    for (const u32 keys : {1u, 20u, 130u, 300u}) {
      attention_case c{
          .batches = 2, .queries = 70, .keys = keys, .heads = 2, .key_heads = 1, .qk_size = size};
      c.v_size = size - 8;
      CAPTURE(parts, keys);
      const auto run = [&](const auto& q, const auto& k, const auto& v, const auto& o,
                           const attention_options& options) {
        const stream& s = under_test().stream();
        launch(s, ops::detail::resolve_attention(s.device_identity(), {"attention", q, k, v, o, &options}),
               parts);
      };
      check_attention_by<T>(c, run);
      c.causal = causal_alignment::bottom_right;  // rows without keys, where there are fewer than queries
      c.sinks = keys == 130;
      check_attention_by<T>(c, run);
      c.causal = causal_alignment::none;
      c.window = {10, 20};
      check_attention_by<T>(c, run);
    }
}

// A value that no query attends to is in the keys of one part.
template <class T, class Launch>
void check_masked_nan(u32 size, u32 parts, const Launch& launch) {
  const attention_case c{
      .queries = 64, .keys = 300, .qk_size = size, .v_size = size, .causal = causal_alignment::bottom_right};
  attention_inputs<T> inputs(c);
  tensor4<T> o(1, c.queries, 1, size, false, 0);
  for (u32 e = 0; e < size; ++e)
    inputs.v.at(0, c.keys - 2, 0, e) = from_float<T>(std::numeric_limits<float>::quiet_NaN());
  auto on_v = upload(inputs.v.host), on_o = upload(o.host);
  const stream& s = under_test().stream();
  const attention_options options{.causal = c.causal};
  launch(
      s,
      ops::detail::resolve_attention(
          s.device_identity(), {"attention", inputs.q.template view<const T>(inputs.on_q),
                                inputs.k.template view<const T>(inputs.on_k),
                                inputs.v.template view<const T>(on_v), o.template view<T>(on_o), &options}),
      parts);
  const std::vector<T> got = on_o.download();
  tensor4<T> result = o;
  std::copy(got.begin(), got.begin() + static_cast<std::ptrdiff_t>(o.host.size()), result.host.begin());
  for (u32 i = 0; i < c.queries; ++i)
    for (u32 e = 0; e < size; ++e) {
      CAPTURE(i, e);
      REQUIRE(std::isnan(to_double(result.at(0, i, 0, e))) == (i + 2 >= c.queries));
    }
}

// Sequences of no, few and many keys: as with all keys in one part.
template <class T, class Launch>
void check_packed(u32 size, std::initializer_list<u32> numbers, u32 whole, const Launch& launch) {
  const u32 rows_q = 200, rows_k = 400, heads = 2;
  tensor4<T> q(1, rows_q, heads, size, false, 0), k(1, rows_k, heads, size, false, 0),
      v(1, rows_k, heads, size, false, 0);
  q.fill(1, 1);
  k.fill(2, 1);
  v.fill(3, 1);
  auto on_q = upload(q.host), on_k = upload(k.host), on_v = upload(v.host);
  auto cu_q = upload(std::vector<i32>{0, 70, 70, 140, 200}),
       cu_k = upload(std::vector<i32>{0, 0, 30, 310, 400});
  const ops::attention_sequences where{
      .cu_q = tensor_view<const i32, 1>(cu_q, 5), .cu_k = tensor_view<const i32, 1>(cu_k, 5), .max_q = 70};
  const auto view = [&]<class U>(U*, auto& memory, u32 rows) {
    return tensor_view<U, 3>(memory, extents(rows, heads, size), strides(i64{heads} * size, size, 1));
  };
  const auto run = [&](u32 parts) {
    auto on_o = upload(std::vector<T>(q.host.size()));
    const attention_options options{.causal = causal_alignment::bottom_right};
    const stream& s = under_test().stream();
    launch(s,
           ops::detail::resolve_attention(
               s.device_identity(),
               {"attention_varlen", view(static_cast<const T*>(nullptr), on_q, rows_q),
                view(static_cast<const T*>(nullptr), on_k, rows_k),
                view(static_cast<const T*>(nullptr), on_v, rows_k),
                view(static_cast<T*>(nullptr), on_o, rows_q), &options, false, false, &where}),
           parts);
    return on_o.download();
  };
  const std::vector<T> want = run(whole);
  for (const u32 parts : numbers) {
    const std::vector<T> got = run(parts);
    for (std::size_t i = 0; i < want.size(); ++i) {
      CAPTURE(parts, i);
      REQUIRE(std::abs(to_double(got[i]) - to_double(want[i])) < (sizeof(T) == 2 ? 4e-3 : 1e-5));
    }
  }
}

}  // namespace

TEST_CASE("attention: keys divided among the blocks of a cluster", "[ops][attention]") {
  if (under_test().properties().target.sm != 90 || !under_test().properties().target.arch_specific) return;
  const auto of_64 = [](const stream& s, const ops::attention_call& call, u32 parts) {
    ops::launch_attention_sm90_in_parts<ops::attention_sm90_few_64, f16, ops::plain_score, ops::band_mask>(
        s, call, parts);
  };
  const auto of_128 = [](const stream& s, const ops::attention_call& call, u32 parts) {
    ops::launch_attention_sm90_in_parts<ops::attention_sm90_few_128, bf16, ops::plain_score, ops::band_mask>(
        s, call, parts);
  };
  const auto of_256 = [](const stream& s, const ops::attention_call& call, u32 parts) {
    ops::launch_attention_sm90_in_parts<ops::attention_sm90_few_256, f16, ops::plain_score, ops::band_mask>(
        s, call, parts);
  };
  check_parts<f16>(64, {2, 4, 8}, of_64);
  check_parts<bf16>(128, {2, 8}, of_128);
  check_parts<f16>(256, {2, 8}, of_256);
  check_masked_nan<f16>(64, 4, of_64);
  check_masked_nan<bf16>(128, 2, of_128);
  check_masked_nan<f16>(256, 4, of_256);
  check_packed<f16>(64, {2, 4, 8}, 1, of_64);
}

TEST_CASE("attention: keys divided among the warps of a block", "[ops][attention]") {
  const auto launch = [](const stream& s, const ops::attention_call& call, u32 groups) {
    ops::launch_attention_simt_in_groups<ops::attention_simt_for(64), f32, ops::plain_score, ops::band_mask>(
        s, call, groups);
  };
  check_parts<f32>(64, {4, 8}, launch);
  check_masked_nan<f32>(64, 8, launch);
  check_packed<f32>(64, {8}, 4, launch);
}
