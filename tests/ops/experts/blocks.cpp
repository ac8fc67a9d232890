// Feed-forward blocks of four models with experts, with and without a shared expert, against double precision:
// router, sort, gather, gate and up, activation, down, sum; gate, up and activation in steps, and in one launch.
#include "tests/ops/support.hpp"

#include <kaio/ops/activation.hpp>
#include <kaio/ops/combine_experts.hpp>
#include <kaio/ops/embedding.hpp>
#include <kaio/ops/gate_up_grouped.hpp>
#include <kaio/ops/matmul.hpp>
#include <kaio/ops/matmul_grouped.hpp>
#include <kaio/ops/sort_by_expert.hpp>
#include <kaio/ops/topk_router.hpp>

#include <algorithm>
#include <numeric>
#include <random>
#include <span>

using namespace kaio;
using namespace kaio::tests;

namespace {

using numbers = std::vector<double>;

// A model's block with small extents. `shared` is the intermediate size of a shared expert; 0: none.
struct model {
  const char* name;
  i64 size, intermediate, experts, k;
  topk_router_options router;
  activation function = activation::silu;
  gated_options gate{};
  bool interleaved = false;  // even rows of gate_up are the gate's
  bool bias = false;         // of both products
  i64 shared = 0;
};

std::size_t at(i64 index) { return static_cast<std::size_t>(index); }

// Random numbers of a type on the device and on the host.
template <class T>
struct operand {
  numbers host;
  buffer<T> memory;

  operand(std::mt19937_64& engine, i64 count, double scale) {
    std::normal_distribution<double> normal(0, scale);
    std::vector<T> rounded;
    for (i64 i = 0; i < count; ++i) rounded.push_back(from_float<T>(static_cast<float>(normal(engine))));
    for (const T x : rounded) host.push_back(to_double(x));
    memory = under_test().upload(rounded);
  }
};

// rows * weight^T, of one row of x.
numbers product(std::span<const double> x, std::span<const double> weight, i64 outputs) {
  numbers y(at(outputs));
  for (i64 n = 0; n < outputs; ++n)
    y[at(n)] = std::inner_product(x.begin(), x.end(), weight.begin() + n * std::ssize(x), 0.0);
  return y;
}

double gate_of(const model& m, double gate, double up) {
  if (m.gate.limit > 0) {
    gate = std::min(gate, static_cast<double>(m.gate.limit));
    up = std::clamp(up, -static_cast<double>(m.gate.limit), static_cast<double>(m.gate.limit));
  }
  const double slope = m.function == activation::gelu_sigmoid ? 1.702 : 1;
  return gate / (1 + std::exp(-slope * gate)) * (up + m.gate.up_offset);
}

// The weights and biases of an expert.
struct expert_weights {
  std::span<const double> gate_up, down, gate_bias, up_bias, down_bias;  // biases: empty or all
};

// The output of an expert for one token.
numbers expert(const model& m, std::span<const double> x, const expert_weights& w, i64 intermediate) {
  const numbers both = product(x, w.gate_up, 2 * intermediate);
  numbers h(at(intermediate));
  for (i64 i = 0; i < intermediate; ++i) {
    const double gate = both[at(m.interleaved ? 2 * i : i)];
    const double up = both[at(m.interleaved ? 2 * i + 1 : intermediate + i)];
    h[at(i)] = w.gate_bias.empty() ? gate_of(m, gate, up)
                                   : gate_of(m, gate + w.gate_bias[at(i)], up + w.up_bias[at(i)]);
  }
  numbers y = product(h, w.down, m.size);
  for (std::size_t i = 0; i < w.down_bias.size(); ++i) y[i] += w.down_bias[i];
  return y;
}

// The chosen experts of a token and their weights, by the formulas of the models.
std::vector<std::pair<i64, double>> routed(const model& m, std::span<const double> logits,
                                           const numbers& bias) {
  const bool sigmoid = m.router.score == router_score::sigmoid;
  const double top = std::ranges::max(logits);
  numbers scores, keys;
  for (i64 e = 0; e < m.experts; ++e) {
    const double z = logits[at(e)];
    scores.push_back(sigmoid ? 1 / (1 + std::exp(-z)) : std::exp(z - top));
    keys.push_back(scores.back() + (bias.empty() ? 0 : bias[at(e)]));
  }
  const i64 of_group = m.experts / m.router.groups;
  std::vector<std::pair<double, i64>> groups;
  for (i64 g = 0; g < m.router.groups; ++g) {
    numbers own(keys.begin() + g * of_group, keys.begin() + (g + 1) * of_group);
    std::ranges::sort(own, std::greater{});
    groups.emplace_back(own[0] + (of_group > 1 ? own[1] : 0), -g);
  }
  std::ranges::sort(groups, std::greater{});
  std::vector<std::pair<double, i64>> order;
  for (i64 i = 0; i < m.router.kept_groups; ++i)
    for (i64 e = -groups[at(i)].second * of_group; e < (1 - groups[at(i)].second) * of_group; ++e)
      order.emplace_back(keys[at(e)], -e);  // of equal ones, the lower index
  std::ranges::sort(order, std::greater{});
  const i64 of_sum = m.router.renormalise ? m.k : m.experts;  // of all: the softmax itself
  double sum = 0;
  for (i64 j = 0; j < of_sum; ++j) sum += scores[at(-order[at(j)].second)];
  std::vector<std::pair<i64, double>> chosen;
  for (i64 j = 0; j < m.k; ++j) {
    const i64 e = -order[at(j)].second;
    chosen.emplace_back(e, scores[at(e)] / sum * static_cast<double>(m.router.factor));
  }
  return chosen;
}

// y = gated(x * gate_up^T) * down^T of the shared expert, into out.
void run_shared(const stream& s, const model& m, const tensor_view<f16, 2>& x, operand<f16>& gate_up,
                operand<f16>& down, const tensor_view<f32, 2>& out) {
  const i64 tokens = x.extents()[0];
  auto both_memory = under_test().allocate<f16>(at(tokens * 2 * m.shared));
  auto h_memory = under_test().allocate<f16>(at(tokens * m.shared));
  const tensor_view both(both_memory, tokens, 2 * m.shared), h(h_memory, tokens, m.shared);
  matmul(s, x, tensor_view(gate_up.memory, 2 * m.shared, m.size).transposed(), both);
  gated(s, activation::silu, both.slice(1, 0, m.shared), both.slice(1, m.shared, m.shared), h);
  matmul(s, h, tensor_view(down.memory, m.size, m.shared).transposed(), out);
  s.synchronize();
}

// fused: gate, up and activation are one launch, and read the rows of tokens where they are.
void check_block(const model& m, i64 tokens, bool fused, std::uint64_t seed) {
  CAPTURE(m.name, m.shared, tokens, fused, seed);
  const device& gpu = under_test();
  const stream& s = gpu.stream();
  std::mt19937_64 engine(seed);
  const i64 choices = tokens * m.k, both_size = 2 * m.intermediate;
  const double unit = 1 / std::sqrt(static_cast<double>(m.size));
  operand<f16> x(engine, tokens * m.size, 1), logits(engine, tokens * m.experts, 1.5);
  operand<f16> gate_up(engine, m.experts * both_size * m.size, 2 * unit);
  operand<f16> down(engine, m.experts * m.size * m.intermediate, unit);
  operand<f16> shared_gate_up(engine, 2 * m.shared * m.size, unit);
  operand<f16> shared_down(engine, m.size * m.shared, unit);
  operand<f32> choice_bias(engine, m.router.score == router_score::sigmoid ? m.experts : 0, 0.1);
  operand<f32> gate_bias(engine, m.bias ? m.experts * m.intermediate : 0, 0.3);
  operand<f32> up_bias(engine, m.bias ? m.experts * m.intermediate : 0, 0.3);
  operand<f32> down_bias(engine, m.bias ? m.experts * m.size : 0, 0.3);
  auto router = m.router;
  if (!choice_bias.host.empty()) router.bias = tensor_view(choice_bias.memory, m.experts);

  auto index_memory = gpu.allocate<i32>(at(choices)), position_memory = gpu.allocate<i32>(at(choices));
  auto token_memory = gpu.allocate<i32>(at(choices)), offset_memory = gpu.allocate<i32>(at(m.experts + 1));
  auto weight_memory = gpu.allocate<f32>(at(choices)), out_memory = gpu.allocate<f32>(at(tokens * m.size));
  auto rows_memory = gpu.allocate<f16>(at(choices * m.size)),
       both_memory = gpu.allocate<f16>(at(choices * both_size));
  auto h_memory = gpu.allocate<f16>(at(choices * m.intermediate)),
       y_memory = gpu.allocate<f16>(at(choices * m.size));
  const tensor_view indices(index_memory, tokens, m.k), positions(position_memory, tokens, m.k);
  const tensor_view weights(weight_memory, tokens, m.k), out(out_memory, tokens, m.size);
  const tensor_view of_rows(token_memory, choices), offsets(offset_memory, m.experts + 1);
  const tensor_view rows(rows_memory, choices, m.size), both(both_memory, choices, both_size);
  const tensor_view h(h_memory, choices, m.intermediate), y(y_memory, choices, m.size);
  const tensor_view hidden(x.memory, tokens, m.size);

  topk_router(s, tensor_view(logits.memory, tokens, m.experts), indices, weights, router);
  sort_by_expert(s, indices, offsets, {.tokens = of_rows, .positions = positions});
  const tensor_view of_gate_up(gate_up.memory, m.experts, both_size, m.size);
  const tensor_view pairs_of_rows(gate_up.memory, m.experts, m.intermediate, 2 * m.size);
  const auto gate =
      m.interleaved ? pairs_of_rows.slice(2, 0, m.size) : of_gate_up.slice(1, 0, m.intermediate);
  const auto up = m.interleaved ? pairs_of_rows.slice(2, m.size, m.size)
                                : of_gate_up.slice(1, m.intermediate, m.intermediate);
  gate_up_grouped_options gates{.rows = of_rows, .limit = m.gate.limit, .up_offset = m.gate.up_offset};
  if (m.function == activation::gelu_sigmoid) gates.alpha = 1.702f;
  matmul_grouped_options of_gate{}, of_up{}, of_down{};
  if (m.bias) {
    of_gate.bias = gates.gate_bias = tensor_view<const f32, 2>(gate_bias.memory, m.experts, m.intermediate);
    of_up.bias = gates.up_bias = tensor_view<const f32, 2>(up_bias.memory, m.experts, m.intermediate);
    of_down.bias = tensor_view<const f32, 2>(down_bias.memory, m.experts, m.size);
  }
  if (fused) {
    gate_up_grouped(s, hidden, gate.transposed(), up.transposed(), offsets, h, gates);
  } else {
    embedding(s, of_rows, hidden, rows);
    const auto first = both.slice(1, 0, m.intermediate),
               second = both.slice(1, m.intermediate, m.intermediate);
    matmul_grouped(s, rows, gate.transposed(), offsets, first, of_gate);
    matmul_grouped(s, rows, up.transposed(), offsets, second, of_up);
    gated(s, m.function, first, second, h, m.gate);
  }
  matmul_grouped(s, h, tensor_view(down.memory, m.experts, m.size, m.intermediate).transposed(), offsets, y,
                 of_down);
  if (m.shared > 0) run_shared(s, m, hidden, shared_gate_up, shared_down, out);
  combine_experts(s, y, weights, positions, out, {.accumulate = m.shared > 0});
  const auto got = out_memory.download();

  double worst = 0, largest = 0;
  for (i64 t = 0; t < tokens; ++t) {
    const auto row = [](const numbers& all, i64 number, i64 size) {
      return std::span(all).subspan(at(number * size), at(size));
    };
    numbers want(at(m.size));
    const auto add = [&](const numbers& one, double weight) {
      for (i64 i = 0; i < m.size; ++i) want[at(i)] += weight * one[at(i)];
    };
    const auto of_token = row(x.host, t, m.size);
    for (const auto& [e, weight] : routed(m, row(logits.host, t, m.experts), choice_bias.host)) {
      expert_weights w{
          row(gate_up.host, e, both_size * m.size), row(down.host, e, m.size * m.intermediate), {}, {}, {}};
      if (m.bias) {
        w.gate_bias = row(gate_bias.host, e, m.intermediate);
        w.up_bias = row(up_bias.host, e, m.intermediate);
        w.down_bias = row(down_bias.host, e, m.size);
      }
      add(expert(m, of_token, w, m.intermediate), weight);
    }
    if (m.shared > 0) {
      const model plain{.name = "", .size = m.size, .intermediate = 0, .experts = 0, .k = 0, .router = {}};
      add(expert(plain, of_token, {shared_gate_up.host, shared_down.host, {}, {}, {}}, m.shared), 1);
    }
    for (i64 i = 0; i < m.size; ++i) {
      worst = std::max(worst, std::abs(static_cast<double>(got[at(t * m.size + i)]) - want[at(i)]));
      largest = std::max(largest, std::abs(want[at(i)]));
    }
  }
  CAPTURE(worst, largest);
  REQUIRE(worst <= 2e-3 * largest);  // three roundings to f16
}

}  // namespace

TEST_CASE("blocks of models with experts, with and without a shared expert", "[ops][experts]") {
  using enum activation;
  const model models[] = {
      {"Mixtral", 64, 96, 8, 2, {.renormalise = true}},
      {"Qwen3", 48, 24, 32, 8, {.renormalise = true}},
      {"Qwen2", 40, 24, 16, 4, {}},
      {"DeepSeek-V3",
       56,
       32,
       32,
       8,
       {.score = router_score::sigmoid, .groups = 8, .kept_groups = 4, .renormalise = true, .factor = 2.5f}},
      {"gpt-oss", 40, 40, 16, 4, {.renormalise = true}, gelu_sigmoid, gpt_oss_gate, true, true},
  };
  std::uint64_t seed = 1;
  for (model m : models)
    for (const i64 shared : {0, 24})
      for (const bool fused : {false, true}) {
        m.shared = shared;
        check_block(m, fused ? 29 : 7, fused, ++seed);
        check_block(m, 1, fused, ++seed);
      }
}
