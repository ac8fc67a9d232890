// A whole mixture of experts, captured into a graph and replayed with other tokens, against double precision.
#include "tests/ops/support.hpp"

#include <kaio/ops/combine_experts.hpp>
#include <kaio/ops/embedding.hpp>
#include <kaio/ops/matmul_grouped.hpp>
#include <kaio/ops/sort_by_expert.hpp>
#include <kaio/ops/topk_router.hpp>

#include <algorithm>
#include <numeric>
#include <random>

using namespace kaio;
using namespace kaio::tests;

TEST_CASE("a mixture of experts: routed, sorted, multiplied and combined in a graph", "[ops][experts]") {
  const device& gpu = under_test();
  const stream& s = gpu.stream();
  const i64 tokens = 37, experts = 10, k = 3, in_size = 48, out_size = 24, choices = tokens * k;
  const auto size = [](i64 count) { return static_cast<std::size_t>(count); };
  std::mt19937_64 engine(7);
  std::normal_distribution<float> normal(0, 1);
  const auto random = [&](i64 count) {
    std::vector<bf16> result(size(count));
    for (bf16& x : result) x = bf16(normal(engine));
    return result;
  };
  const std::vector<bf16> w = random(experts * out_size * in_size);
  auto x_memory = gpu.allocate<bf16>(size(tokens * in_size)), w_memory = gpu.upload(w);
  auto logit_memory = gpu.allocate<bf16>(size(tokens * experts));
  auto rows_memory = gpu.allocate<bf16>(size(choices * in_size));
  auto y_memory = gpu.allocate<f32>(size(choices * out_size)),
       out_memory = gpu.allocate<f32>(size(tokens * out_size));
  auto index_memory = gpu.allocate<i32>(size(choices)), position_memory = gpu.allocate<i32>(size(choices));
  auto token_memory = gpu.allocate<i32>(size(choices)), offset_memory = gpu.allocate<i32>(size(experts + 1));
  auto weight_memory = gpu.allocate<f32>(size(choices));
  const tensor_view<bf16, 2> x(x_memory, tokens, in_size), logits(logit_memory, tokens, experts);
  const tensor_view<bf16, 2> rows(rows_memory, choices, in_size);
  const tensor_view<bf16, 3> weights_of_experts(w_memory, experts, out_size, in_size);
  const tensor_view<f32, 2> y(y_memory, choices, out_size), out(out_memory, tokens, out_size);
  const tensor_view<f32, 2> weights(weight_memory, tokens, k);
  const tensor_view<i32, 2> indices(index_memory, tokens, k), positions(position_memory, tokens, k);
  const tensor_view<i32, 1> offsets(offset_memory, experts + 1), of_rows(token_memory, choices);

  topk_router_warmup(gpu);
  sort_by_expert_warmup(gpu);
  embedding_warmup(gpu, element_kind::bf16);
  matmul_grouped_warmup(gpu);
  combine_experts_warmup(gpu, element_kind::f32);
  const auto graph = capture_graph(s, [&] {
                       topk_router(s, logits, indices, weights, {.renormalise = true});
                       sort_by_expert(s, indices, offsets, {.tokens = of_rows, .positions = positions});
                       embedding(s, of_rows, x, rows);
                       matmul_grouped(s, rows, weights_of_experts.transposed(), offsets, y);
                       combine_experts(s, y, weights, positions, out);
                     }).instantiate();
  for (int replay = 0; replay < 2; ++replay) {
    CAPTURE(replay);
    const std::vector<bf16> hidden = random(tokens * in_size), router = random(tokens * experts);
    x_memory.copy_from(hidden.data(), hidden.size(), s);
    logit_memory.copy_from(router.data(), router.size(), s);
    graph.launch(s);
    const auto got = out_memory.download();
    for (i64 t = 0; t < tokens; ++t) {
      const auto logit = [&](i64 e) { return to_double(router[size(t * experts + e)]); };
      std::vector<i64> order(size(experts));
      std::iota(order.begin(), order.end(), i64{0});
      std::stable_sort(order.begin(), order.end(), [&](i64 a, i64 b) { return logit(a) > logit(b); });
      double sum = 0;
      for (i64 j = 0; j < k; ++j) sum += std::exp(logit(order[size(j)]));
      for (i64 n = 0; n < out_size; ++n) {
        double want = 0, magnitude = 0;
        for (i64 j = 0; j < k; ++j)
          for (i64 i = 0; i < in_size; ++i) {
            const i64 e = order[size(j)];
            const double term = std::exp(logit(e)) / sum * to_double(hidden[size(t * in_size + i)]) *
                                to_double(w[size((e * out_size + n) * in_size + i)]);
            want += term;
            magnitude += std::abs(term);
          }
        CAPTURE(t, n, want);
        REQUIRE(std::abs(static_cast<double>(got[size(t * out_size + n)]) - want) <= 2e-6 * magnitude);
      }
    }
  }
}
