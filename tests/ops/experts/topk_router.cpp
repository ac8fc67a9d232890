// topk_router against double precision on the host: the choice, and the weights.
#include "tests/ops/refusal.hpp"
#include "tests/ops/support.hpp"

#include <kaio/ops/topk_router.hpp>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <random>

using namespace kaio;
using namespace kaio::tests;

namespace {

struct router_case {
  i64 tokens, experts, k;
  router_score score = router_score::softmax;
  bool has_bias = false;
  int groups = 1, kept = 1;
  bool best_two = true, renormalise = false;
  float factor = 1;
  float step = 0;  // logits are multiples of it, so that many are equal
};

// Scores of a token, and the choices that they give.
struct expected {
  std::vector<double> scores, choices;
  std::vector<bool> allowed;
};

expected expect(const std::vector<double>& logits, const std::vector<double>& bias, const router_case& c) {
  const auto n = logits.size();
  expected e{logits, {}, std::vector<bool>(n, true)};
  const double top = *std::max_element(logits.begin(), logits.end());
  double sum = 0;
  for (const double x : logits) sum += std::exp(x - top);
  for (double& s : e.scores)
    s = c.score == router_score::sigmoid ? 1 / (1 + std::exp(-s)) : std::exp(s - top) / sum;
  e.choices = e.scores;
  if (c.has_bias)
    for (std::size_t i = 0; i < n; ++i) e.choices[i] += bias[i];
  if (c.kept < c.groups) {
    const auto groups = static_cast<std::size_t>(c.groups), size = n / groups;
    std::vector<double> of_group;
    for (std::size_t g = 0; g < groups; ++g) {
      std::vector<double> own(e.choices.begin() + static_cast<std::ptrdiff_t>(g * size),
                              e.choices.begin() + static_cast<std::ptrdiff_t>((g + 1) * size));
      std::sort(own.rbegin(), own.rend());
      of_group.push_back(c.best_two ? own[0] + own[1] : own[0]);
    }
    for (std::size_t g = 0; g < groups; ++g) {
      std::size_t rank = 0;
      for (std::size_t h = 0; h < groups; ++h)
        rank += of_group[h] > of_group[g] || (of_group[h] == of_group[g] && h < g) ? 1 : 0;
      if (rank >= static_cast<std::size_t>(c.kept))
        std::fill_n(e.allowed.begin() + static_cast<std::ptrdiff_t>(g * size), size, false);
    }
  }
  return e;
}

template <class T>
void check_router(const router_case& c, u64 seed) {
  CAPTURE(c.tokens, c.experts, c.k, c.groups, c.kept, seed, sizeof(T));
  const device& gpu = under_test();
  std::mt19937_64 engine(seed);
  const i64 pitch = c.experts + static_cast<i64>(seed % 4), out_pitch = c.k + static_cast<i64>(seed % 3);
  const i64 bias_step = 1 + static_cast<i64>(seed % 2);
  std::normal_distribution<float> normal(0, 2);
  std::vector<T> logits(static_cast<std::size_t>(c.tokens * pitch), from_float<T>(1e4f));
  for (i64 t = 0; t < c.tokens; ++t)
    for (i64 e = 0; e < c.experts; ++e) {
      const float x = normal(engine);
      logits[static_cast<std::size_t>(t * pitch + e)] =
          from_float<T>(c.step > 0 ? std::round(x / c.step) * c.step : x);
    }
  std::vector<float> bias(static_cast<std::size_t>(c.experts * bias_step), std::nanf(""));
  std::vector<double> bias_of;
  for (i64 e = 0; e < c.experts; ++e) {
    float& own = bias[static_cast<std::size_t>(e * bias_step)];
    own = normal(engine) * 0.1f;
    bias_of.push_back(static_cast<double>(own));
  }
  auto memory = gpu.upload(logits);
  auto bias_memory = gpu.upload(bias);
  const auto outputs = static_cast<std::size_t>(c.tokens * out_pitch);
  auto indices = gpu.upload(std::vector<i32>(outputs, -7));
  auto weights = gpu.upload(std::vector<f32>(outputs, -5.0f));
  topk_router_options options{.score = c.score,
                              .groups = c.groups,
                              .kept_groups = c.kept,
                              .group_by_best_two = c.best_two,
                              .renormalise = c.renormalise,
                              .factor = c.factor};
  if (c.has_bias)
    options.bias = tensor_view<const f32, 1>(bias_memory, extents(c.experts), strides(bias_step));
  topk_router(gpu.stream(), tensor_view<const T, 2>(memory, extents(c.tokens, c.experts), strides(pitch, 1)),
              tensor_view<i32, 2>(indices, extents(c.tokens, c.k), strides(out_pitch, 1)),
              tensor_view<f32, 2>(weights, extents(c.tokens, c.k), strides(out_pitch, 1)), options);
  const auto places = indices.download();
  const auto got = weights.download();
  for (i64 t = 0; t < c.tokens; ++t) {
    CAPTURE(t);
    std::vector<double> of_token;
    for (i64 e = 0; e < c.experts; ++e)
      of_token.push_back(to_double(logits[static_cast<std::size_t>(t * pitch + e)]));
    const expected want = expect(of_token, bias_of, c);
    const auto at = [&](i64 j) { return static_cast<std::size_t>(t * out_pitch + j); };
    double sum = 0;
    std::vector<bool> chosen(static_cast<std::size_t>(c.experts), false);
    double last = std::numeric_limits<double>::infinity();
    std::size_t last_expert = 0;
    for (i64 j = 0; j < c.k; ++j) {
      CAPTURE(j);
      REQUIRE(places[at(j)] >= 0);
      REQUIRE(places[at(j)] < c.experts);
      const auto e = static_cast<std::size_t>(places[at(j)]);
      REQUIRE(!chosen[e]);
      REQUIRE(want.allowed[e]);
      chosen[e] = true;
      sum += want.scores[e];
      // Choices that differ by roundings only may be in any order; equal logits are in the order of experts.
      REQUIRE(want.choices[e] <= last + 1e-6);
      if (!c.has_bias && j > 0 && of_token[e] == of_token[last_expert]) REQUIRE(e > last_expert);
      last = want.choices[e];
      last_expert = e;
    }
    for (std::size_t e = 0; e < chosen.size(); ++e)
      if (!chosen[e] && want.allowed[e]) REQUIRE(want.choices[e] <= last + 1e-6);
    for (i64 j = 0; j < out_pitch; ++j) {
      CAPTURE(j);
      if (j >= c.k) {
        REQUIRE(places[at(j)] == -7);
        REQUIRE(got[at(j)] == -5.0f);
        continue;
      }
      const double score = want.scores[static_cast<std::size_t>(places[at(j)])];
      const double weight = static_cast<double>(c.factor) * (c.renormalise ? score / sum : score);
      REQUIRE(std::abs(static_cast<double>(got[at(j)]) - weight) <= 2e-6 * std::abs(weight));
    }
  }
}

}  // namespace

TEST_CASE("topk_router: models", "[ops][topk_router]") {
  using enum router_score;
  check_router<bf16>({.tokens = 9, .experts = 8, .k = 2, .renormalise = true}, 1);   // Mixtral
  check_router<f16>({.tokens = 6, .experts = 128, .k = 8, .renormalise = true}, 2);  // Qwen3
  check_router<f32>({.tokens = 5, .experts = 60, .k = 4}, 3);                        // Qwen1.5
  check_router<f32>({5, 256, 8, sigmoid, true, 8, 4, true, true, 2.5f}, 4);          // DeepSeek-V3
  check_router<bf16>(
      {.tokens = 3, .experts = 160, .k = 6, .groups = 8, .kept = 3, .best_two = false, .factor = 16},
      5);                                                                      // DeepSeek-V2
  check_router<f32>({3, 384, 8, sigmoid, true, 1, 1, true, true, 2.827f}, 6);  // Kimi-K2
}

TEST_CASE("topk_router: limits", "[ops][topk_router]") {
  using enum router_score;
  check_router<f32>({.tokens = 3, .experts = 1, .k = 1}, 7);
  check_router<f32>({.tokens = 2, .experts = 1024, .k = 32, .score = sigmoid}, 8);
  check_router<f16>({.tokens = 2, .experts = 32, .k = 32}, 9);
  check_router<bf16>({.tokens = 2, .experts = 1000, .k = 31, .score = sigmoid, .groups = 20, .kept = 1}, 10);
  check_router<f32>({.tokens = 4, .experts = 96, .k = 5, .has_bias = true, .groups = 32, .kept = 31}, 11);
  check_router<f32>({.tokens = 0, .experts = 8, .k = 2}, 12);
}

TEST_CASE("topk_router: equal logits", "[ops][topk_router]") {
  check_router<f32>({.tokens = 6, .experts = 70, .k = 9, .step = 2}, 13);
  check_router<bf16>({.tokens = 6, .experts = 64, .k = 8, .groups = 4, .kept = 2, .step = 4}, 14);
}

TEST_CASE("topk_router: random problems", "[ops][topk_router][random]") {
  const u64 seed = std::random_device{}();
  CAPTURE(seed);
  std::mt19937_64 engine(seed);
  const auto below = [&](int n) { return static_cast<int>(engine() % static_cast<u64>(n)); };
  for (int problem = 0; problem < 12; ++problem) {
    const int groups = 1 + below(12), size = 2 + below(24), kept = 1 + below(groups);
    const router_case c{.tokens = 1 + below(6),
                        .experts = groups * size,
                        .k = 1 + below(std::min(32, kept * size)),
                        .score = below(2) == 0 ? router_score::softmax : router_score::sigmoid,
                        .has_bias = below(2) == 0,
                        .groups = groups,
                        .kept = kept,
                        .best_two = below(2) == 0,
                        .renormalise = below(2) == 0,
                        .factor = 1.5f};
    check_router<f32>(c, engine());
  }
}

TEST_CASE("topk_router: NaN and infinite logits give different experts", "[ops][topk_router]") {
  const device& gpu = under_test();
  const float inf = std::numeric_limits<float>::infinity(), nan = std::nanf("");
  const std::vector<f32> logits{nan, 1, nan, 0, -inf, -inf, -inf, -inf, -inf, 3, -inf, 2};
  auto memory = gpu.upload(logits);
  auto indices = gpu.allocate<i32>(9);
  auto weights = gpu.allocate<f32>(9);
  const tensor_view<const f32, 2> x(memory, 3, 4);
  const tensor_view<i32, 2> places(indices, 3, 3);
  const tensor_view<f32, 2> of(weights, 3, 3);
  topk_router(gpu.stream(), x, places, of, {.score = router_score::sigmoid, .renormalise = true});
  REQUIRE(indices.download() == std::vector<i32>{1, 3, 0, 0, 1, 2, 1, 3, 0});
  const auto got = weights.download();
  REQUIRE(std::isnan(got[2]));                                  // the score of NaN was chosen
  for (std::size_t i = 3; i < 6; ++i) REQUIRE(got[i] == 0.0f);  // all scores are 0
  topk_router(gpu.stream(), x, places, of);
  REQUIRE(indices.download() == std::vector<i32>{0, 1, 2, 0, 1, 2, 1, 3, 0});
}

TEST_CASE("topk_router: bad input", "[ops][topk_router]") {
  const device& gpu = under_test();
  auto memory = gpu.allocate<f32>(8192), more = gpu.allocate<f32>(4096);
  auto numbers = gpu.allocate<i32>(4096);
  const tensor_view<const f32, 2> logits(memory, 4, 64);
  const tensor_view<i32, 2> indices(numbers, 4, 8);
  const tensor_view<f32, 2> weights(more, 4, 8);
  const auto refused = [&](const std::string& part, const tensor_view<const f32, 2>& from,
                           const tensor_view<i32, 2>& places, const tensor_view<f32, 2>& to,
                           const topk_router_options& options = {}) {
    require_refusal(errc::invalid_argument, "kaio: topk_router: ", part,
                    [&] { topk_router(gpu.stream(), from, places, to, options); });
  };
  refused("indices has extent 0 of 3", logits, indices.slice(0, 0, 3), weights);
  refused("weights has extent 1 of 7", logits, indices, weights.slice(1, 0, 7));
  refused("has 1025 experts", {memory, 4, 1025}, indices, weights);
  refused("k is 33", logits, {numbers, 4, 33}, {more, 4, 33});
  refused("k is 0", logits, {numbers, 4, 0}, {more, 4, 0});
  refused("k is 8", logits, indices, weights, {.groups = 16, .kept_groups = 1});
  refused("groups is 3", logits, indices, weights, {.groups = 3});
  refused("groups is 64", logits, indices, weights, {.groups = 64, .kept_groups = 8});
  refused("kept_groups is 5", logits, indices, weights, {.groups = 4, .kept_groups = 5});
  refused("factor is not finite", logits, indices, weights, {.factor = std::nanf("")});
  refused("bias has extent 0 of 63", logits, indices, weights,
          {.bias = tensor_view<const f32, 1>(memory, 63)});
  refused("bias has another element type", logits, indices, weights,
          {.bias = tensor_view<const i32, 1>(numbers, 64)});
  refused("output weights shares memory", logits, indices, {memory, 4, 8});
  require_refusal(errc::invalid_argument, "kaio: topk_router: ", "groups have one expert each", [&] {
    topk_router(gpu.stream(), tensor_view<const f32, 2>(memory, 4, 32), tensor_view<i32, 2>(numbers, 4, 2),
                tensor_view<f32, 2>(more, 4, 2), {.groups = 32, .kept_groups = 8});
  });
}
