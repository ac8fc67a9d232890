// tune_gate_up_project measures the kernels of one launch and "separate" on memory of its own. Scales are powers of two
// and x has few bits, so that the sums are exact in any order and all give the same bits.
#include <kaio/ops/tune.hpp>

#include "tests/ops/gate_up_project/support.hpp"
#include "tests/ops/tune_support.hpp"

#include <string>

using namespace kaio;
using namespace kaio::tests;

namespace {

constexpr i64 rows = 5, k = 128, f = 64;

struct gate_up_of_four_bits {
  buffer<f16> x_memory, bias_memory;
  buffer<u8> memory;
  gate_up_output<f16> out{1, rows, f};
  const w4_shape shape{.n = 2 * f, .k = k, .group = 32};
  tensor_view<const f16, 3> x;
  w4_weights w;
  gate_up_project_options options{};

  gate_up_of_four_bits() {
    std::vector<f16> numbers, scales, biases(f, f16(0.5f));
    std::vector<i32> words;
    for (i64 i = 0; i < rows * k; ++i) numbers.push_back(f16(static_cast<float>(i * i % 17) / 8 - 1));
    for (i64 i = 0; i < k / 32 * 2 * f; ++i) scales.push_back(f16(i % 3 == 0 ? 0.0625f : 0.125f));
    for (i64 i = 0; i < 2 * f * k / 8; ++i)
      words.push_back(static_cast<i32>(static_cast<u32>(i) * 2654435761u));
    x_memory = upload(numbers);
    bias_memory = upload(biases);
    memory = under_test().allocate<u8>(packed_bytes(shape));
    x = tensor_view<const f16, 3>(x_memory, 1, rows, k);
    w = w4_weights{shape, memory};
    options.gate_bias = tensor_view<const f16, 1>(bias_memory, f);
    auto on_words = upload(words);
    auto on_scales = upload(scales);
    repack(under_test().stream(),
           kaio_int4{.packed = tensor_view<const i32, 2>(on_words, 2 * f, k / 8),
                     .scales = tensor_view<const f16, 2>(on_scales, k / 32, 2 * f)},
           w);
    under_test().stream().synchronize();
  }
  std::string choice(gate_up_project_options of) {
    return std::string(ops::gate_up_project_choice(under_test().stream(), x, w, out.view(), of).name);
  }
  std::vector<f16> run(const gate_up_project_options& of) {
    gate_up_with_workspace(x, w, out.view(), of);
    return out.memory.download();
  }
};

}  // namespace

TEST_CASE("tune_gate_up_project: one launch and products", "[ops][gate_up][tune]") {
  const own_cache cache;
  device& gpu = under_test();
  if (gpu.properties().target.sm < 80) return;
  gate_up_of_four_bits t;
  const std::string before = t.choice(t.options);
  const auto report = ops::tune_gate_up_project(gpu, t.x, t.w, t.out.view(), t.options, {.repetitions = 1});
  REQUIRE(report.saved);
  REQUIRE(report.variant_before == before);
  REQUIRE(report.seconds_before > 0);
  REQUIRE(report.entries.size() >= 3);
  REQUIRE(same_bits(t.out.memory.download(), t.out.host));
  REQUIRE(t.choice(t.options) == report.variant);
  const std::vector<f16> right = t.run(t.options);
  for (const ops::tune_entry& e : report.entries) {
    CAPTURE(e.variant);
    cache.replace_variants(e.variant);
    REQUIRE(t.choice(t.options) == e.variant);
    REQUIRE(same_bits(t.run(t.options), right));
  }
  cache.replace_variants("gate_up_w4_mma_bf16_8_sm80");  // of another type
  REQUIRE(t.choice(t.options) == before);

  // A call without the workspace for products has one launch as before; so has one of other rows.
  cache.replace_variants("separate");
  REQUIRE(gate_up_project_workspace_bytes(gpu.stream(), t.x, t.w, t.out.view(), t.options) >=
          rows * 2 * f * sizeof(f16));
  t.out.memory.fill_zero(gpu.stream());
  gate_up_project(gpu.stream(), t.x, t.w, t.out.view(), t.options);
  REQUIRE(same_bits(t.out.memory.download(), right));
  auto small = gpu.allocate<u8>(256);
  gate_up_project_options options = t.options;
  options.workspace = small;
  REQUIRE(t.choice(options) == before);
  REQUIRE(t.choice(t.options) == "separate");
  gate_up_output<f16> fewer(1, 2, f);
  REQUIRE(ops::gate_up_project_choice(gpu.stream(), t.x.slice(1, 0, 2), t.w, fewer.view()).name == before);
}

TEST_CASE("tune_gate_up_project: weights that have products alone, and bad input", "[ops][gate_up][tune]") {
  const own_cache cache;
  device& gpu = under_test();
  auto x_memory = gpu.allocate<f32>(3 * 16), w_memory = gpu.allocate<f32>(16 * 16),
       out_memory = gpu.allocate<f32>(3 * 8);
  const tensor_view<const f32, 2> x(x_memory, 3, 16), w(w_memory, 16, 16);
  const tensor_view<f32, 2> out(out_memory, 3, 8);
  const auto report = ops::tune_gate_up_project(gpu, x, w, out, {}, {.repetitions = 1});
  REQUIRE(report.entries.size() == 1);
  REQUIRE(report.variant == "separate");
  REQUIRE(report.variant_before == "separate");
  REQUIRE(ops::tune_gate_up_project(gpu, x.slice(0, 0, 0), w, out.slice(0, 0, 0)).entries.empty());
  REQUIRE_THROWS_AS(ops::tune_gate_up_project(gpu, x, x, out), invalid_argument);
}
