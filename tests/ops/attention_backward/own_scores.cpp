// ops::attention_backward_with, whose reference knows the score alone: its derivative is a finite difference, whether
// the kernel has it from the expression of the score or from a member `derivative`.
#include <kaio/ops/attention_backward_with.hpp>

#include "tests/ops/attention_backward/finite_differences.hpp"
#include "tests/ops/attention_backward/support.hpp"

using namespace kaio;
using namespace kaio::tests;

namespace {

struct waved_score {
  static constexpr fixed_string name = "waved";
  constexpr val<f32> operator()(thread t, val<f32> x, ops::attention_place at, in<f32> weight,
                                val<f32> a) const {
    const val distance = t.let(cast<f32>(abs_diff(at.query, at.key)));
    return t.let(a * tanh(x) + x * sigmoid(weight[at.key] * x) - 0.0625f * distance);
  }
};

// Its derivative is twice that of its operator(), so that the kernel's one is not the expression's.
struct doubled_score {
  static constexpr fixed_string name = "doubled";
  constexpr val<f32> operator()(thread t, val<f32> x, ops::attention_place at, in<f32> weight,
                                val<f32> a) const {
    return waved_score{}(t, x, at, weight, a);
  }
  constexpr val<f32> derivative(thread t, val<f32> x, ops::attention_place at, in<f32> weight,
                                val<f32> a) const {
    const val w = t.let(weight[at.key]);
    const val bent = t.let(tanh(x)), share = t.let(sigmoid(w * x));
    return t.let(2.0f * (a * (1.0f - bent * bent) + share + w * x * share * (1.0f - share)));
  }
};

float weight_of(u32 key) { return 0.25f * static_cast<f32>(key % 7) - 0.5f; }

host_score waved_on_host() {
  host_score f;
  f.score = [](double s, u32, u32, u32 i, u32 j) {
    return 1.5 * std::tanh(s) + s / (1 + std::exp(-double(weight_of(j)) * s)) -
           0.0625 * std::abs(double(i) - double(j));
  };
  f.derivative = [of = f.score](double s, u32 b, u32 h, u32 i, u32 j) {
    constexpr double step = 1e-5;
    return (of(s + step, b, h, i, j) - of(s - step, b, h, i, j)) / (2 * step);
  };
  return f;
}

backward_case shaped(u32 queries, u32 keys, u32 size) {
  backward_case c;
  c.batches = 2;
  c.queries = queries;
  c.keys = keys;
  c.heads = 4;
  c.key_heads = 2;
  c.qk_size = c.v_size = size;
  c.causal = causal_alignment::bottom_right;
  c.dlse = true;
  c.range = 2;
  return c;
}

template <class T, class Score>
void check_own_score(const backward_case& c, const host_score& f) {
  std::vector<f32> weight;
  for (u32 j = 0; j < c.keys; ++j) weight.push_back(weight_of(j));
  const auto on_weight = upload(weight);
  check_backward_by<T>(
      c,
      [&](const auto& dout, const auto& q, const auto& k, const auto& v, const auto& out, const auto& lse,
          const auto& dq, const auto& dk, const auto& dv, const attention_backward_options& options) {
        attention_backward_with<64>(under_test().stream(), dout, q, k, v, out, lse, dq, dk, dv, Score{},
                                    ops::band_mask{}, options, on_weight, 1.5f);
      },
      f);
}

}  // namespace

TEST_CASE("attention_backward_with: the reference by finite differences", "[ops][attention_backward]") {
  backward_case c = shaped(5, 7, 8);
  check_reference(c, waved_on_host());
  c.sinks = c.dsinks = true;
  host_score masked = waved_on_host();
  masked.mask = [](u32 b, u32 h, u32 i, u32 j) { return (b + h + i + j) % 3 != 0; };
  check_reference(c, masked);
}

TEST_CASE("attention_backward_with: the derivative of an expression, by finite differences",
          "[ops][attention_backward]") {
  const host_score f = waved_on_host();
  check_own_score<f32, waved_score>(shaped(40, 70, 24), f);
  check_own_score<bf16, waved_score>(shaped(70, 66, 40), f);
}

TEST_CASE("attention_backward_with: the derivative of a score is the one that it has",
          "[ops][attention_backward]") {
  host_score f = waved_on_host();
  f.derivative = [of = f.derivative](double s, u32 b, u32 h, u32 i, u32 j) { return 2 * of(s, b, h, i, j); };
  check_own_score<f32, doubled_score>(shaped(70, 40, 24), f);
  check_own_score<f32, doubled_score>(shaped(20, 33, 16), f);
}
