// ops::attention_backward_with: a score and a mask of the user's own, and its derivative.
#include <kaio/ops/attention_backward_with.hpp>

#include "tests/ops/attention_backward/support.hpp"
#include "tests/ops/refusal.hpp"

using namespace kaio;
using namespace kaio::tests;

namespace {

struct bent_score {  // its derivative is made by kaio::derivative
  static constexpr fixed_string name = "bent";
  constexpr val<f32> operator()(thread t, val<f32> x, ops::attention_place at, in<f32> weight,
                                val<f32> a) const {
    return t.let(x + a * x * x + weight[at.key]);
  }
};

struct bent_score_with_derivative {
  static constexpr fixed_string name = "bent_with_derivative";
  constexpr val<f32> operator()(thread t, val<f32> x, ops::attention_place at, in<f32> weight,
                                val<f32> a) const {
    return bent_score{}(t, x, at, weight, a);
  }
  constexpr val<f32> derivative(thread t, val<f32> x, ops::attention_place, in<f32>, val<f32> a) const {
    return t.let(1.0f + 2.0f * a * x);
  }
};

struct every_third {
  static constexpr fixed_string name = "every_third";
  constexpr val<bool> operator()(thread t, ops::attention_place at, val<u32> of) const {
    return t.let((at.query + at.key) % of != 0u);
  }
};

template <class T, class Score, u32 Depth = 64>
void check_with(u32 queries, u32 keys, u32 pad = 0) {
  backward_case c;
  c.batches = 2;
  c.heads = 2;
  c.queries = queries;
  c.keys = keys;
  c.qk_size = c.v_size = 40;
  c.pad = pad;
  std::vector<f32> weight;
  for (u32 j = 0; j < keys; ++j) weight.push_back(0.125f * static_cast<f32>(j % 5));
  const auto on_weight = upload(weight);
  host_score f;
  f.score = [&](double s, u32, u32, u32, u32 j) { return s + 0.25 * s * s + double(weight[j]); };
  f.derivative = [](double s, u32, u32, u32, u32) { return 1 + 0.5 * s; };
  f.mask = [](u32, u32, u32 i, u32 j) { return (i + j) % 3 != 0; };
  check_backward_by<T>(
      c,
      [&](const auto& dout, const auto& q, const auto& k, const auto& v, const auto& out, const auto& lse,
          const auto& dq, const auto& dk, const auto& dv, const attention_backward_options& options) {
        attention_backward_with<Depth>(under_test().stream(), dout, q, k, v, out, lse, dq, dk, dv, Score{},
                                       every_third{}, options, on_weight, 0.25f, 3u);
      },
      f);
}

}  // namespace

TEST_CASE("attention_backward_with: a score and a mask of the user's own", "[ops][attention_backward]") {
  check_with<f32, bent_score>(70, 33);
  check_with<f16, bent_score_with_derivative>(33, 70);
  check_with<f16, bent_score_with_derivative>(300, 150);  // several tiles of each
  check_with<bf16, bent_score, 128>(130, 140);
  check_with<f16, bent_score_with_derivative>(33, 70, 1);  // no multiples of 16 bytes: mma.sync on sm_90a too
}

TEST_CASE("attention_backward_with: a warmup takes what the call takes, and does not run",
          "[ops][attention_backward]") {
  const device& gpu = under_test();
  const std::vector<f32> before(256, 3.0f);
  const auto x = upload(before), y = upload(before), lse = upload(std::vector<f32>(4));
  auto dx = upload(before);
  const tensor_view<const f32, 4> q(x, 1, 4, 1, 40), dout(y, 1, 4, 1, 40), wide(x, 1, 2, 1, 65);
  const tensor_view<f32, 4> dq(dx, 1, 4, 1, 40);
  const tensor_view<const f32, 3> rows(lse, 1, 1, 4);
  const auto warm_up = [&](const attention_backward_options& options) {
    attention_backward_with_warmup<64>(gpu, dout, q, q, q, dout, rows, dq, {}, {}, bent_score{},
                                       every_third{}, options);
  };
  warm_up({});
  gpu.stream().synchronize();
  REQUIRE(same_bits(dx.download(), before));
  require_refusal(errc::invalid_argument, "kaio: attention_backward_with_warmup: ", "a mask of your own",
                  [&] { warm_up({.forward = {.causal = causal_alignment::top_left}}); });
  require_refusal(errc::unsupported_device, "kaio: attention_backward_with_warmup: ", "no kernel", [&] {
    const tensor_view<const f32, 4> wide_dout(y, 1, 2, 1, 65);
    attention_backward_with_warmup<64>(gpu, wide_dout, wide, wide, wide, wide_dout,
                                       tensor_view<const f32, 3>(lse, 1, 1, 2), {}, {}, {}, bent_score{},
                                       every_third{});
  });
}
