// qkv_project by packed weights of every format, of few tokens and of more, next to double precision.
#include <kaio/ops/qkv_project.hpp>

#include "tests/ops/weight_only/packed_support.hpp"

#include <string>

using namespace kaio;
using namespace kaio::tests;

namespace {

constexpr i64 size = 64, q_heads = 2, n = (q_heads + 2) * size, k = 128;

template <class T>
void check_format(packed_kind kind, i64 tokens, u32 parts = 0) {
  const device& gpu = under_test();
  const stream& s = gpu.stream();
  const u32 sm = gpu.properties().target.sm;
  CAPTURE(static_cast<int>(kind), tokens, parts);
  const packed_weights w = random_weights(kind, n, k, static_cast<u64>(tokens));
  const std::vector<T> x = random_eighths<T>(tokens * k, 7);
  const auto on_x = upload(x);
  const tensor_view<const T, 2> x_view(on_x, tokens, k);
  auto on_q = gpu.allocate<T>(static_cast<u64>(tokens * q_heads * size)),
       on_k = gpu.allocate<T>(static_cast<u64>(tokens * size)),
       on_v = gpu.allocate<T>(static_cast<u64>(tokens * size));
  const qkv_outputs to{tensor_view<T, 3>(on_q, tokens, q_heads, size),
                       tensor_view<T, 3>(on_k, tokens, 1, size), tensor_view<T, 3>(on_v, tokens, 1, size)};
  const bool is_one_launch = has_one_launch_on_sm90(kind, gpu.properties()) && tokens <= 16 && sm >= 90;
  REQUIRE((ops::qkv_project_choice(s, x_view, w.weight, to).name != "separate") == is_one_launch);
  qkv_project_options options{.splits = parts, .exact_weights = true};
  const auto workspace = gpu.allocate<u8>(qkv_project_workspace_bytes(s, x_view, w.weight, to, options));
  options.workspace = workspace;
  qkv_project(s, x_view, w.weight, to, options);
  const auto q = on_q.download(), of_k = on_k.download(), v = on_v.download();
  for (i64 token = 0; token < tokens; ++token)
    for (i64 column = 0; column < n; ++column) {
      const T got = column < 128   ? q[static_cast<std::size_t>(token * 128 + column)]
                    : column < 192 ? of_k[static_cast<std::size_t>(token * 64 + column - 128)]
                                   : v[static_cast<std::size_t>(token * 64 + column - 192)];
      const exact_sum want = sum_of(w, x, token, column);
      const double allowed = want.error + 0.51 * unit_in_last_place<T>(want.value);
      if (std::abs(to_double(got) - want.value) <= allowed) continue;
      CAPTURE(token, column, allowed);
      REQUIRE(to_double(got) == want.value);
    }
}

}  // namespace

TEST_CASE("qkv_project: packed weights of every format", "[ops][qkv][quantised]") {
  for (const packed_kind kind : packed_kinds)
    for (const i64 tokens : {1, 3, 11, 20}) {
      check_format<f16>(kind, tokens);
      check_format<bf16>(kind, tokens);
    }
  if (under_test().properties().target.sm >= 90) check_format<f16>(packed_kind::nf4, 5, 2);
}
