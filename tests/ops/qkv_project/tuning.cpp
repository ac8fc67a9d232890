// tune_qkv_project measures the kernels of one launch, with each number of splits of K, and "separate", on memory of
// its own. Sums are exact in any order, so that all give the same bits.
#include <kaio/ops/tune.hpp>

#include "tests/ops/qkv_project/support.hpp"
#include "tests/ops/tune_support.hpp"

#include <string>

using namespace kaio;
using namespace kaio::tests;

namespace {

// The kernel that a call takes, without its splits.
std::string kernel_of(const std::string& name) { return name.substr(0, name.find(':')); }

template <class T>
ops::tune_report check_tuned(const qkv_case& c) {
  CAPTURE(c.bits, c.tokens, c.k, c.size);
  const own_cache cache;
  device& gpu = under_test();
  const stream& s = gpu.stream();
  qkv_run<T> run(c);
  const cache_tensor<T> q(c.batches, c.tokens, c.q_heads, c.size), k(c.batches, c.tokens, c.k_heads, c.size),
      v(c.batches, c.tokens, c.v_heads, c.v_size);
  auto on_q = upload(q.host), on_k = upload(k.host), on_v = upload(v.host);
  const qkv_outputs to{q.view(on_q), k.view(on_k), v.view(on_v)};
  const qkv_project_options options = run.options();
  const auto choice = [&] {
    return ops::qkv_project_choice(s, run.x_view(), run.weights(), to, options).name;
  };
  const std::string before(choice());
  const auto report =
      ops::tune_qkv_project(gpu, run.x_view(), run.weights(), to, options, {.repetitions = 1});
  REQUIRE(report.saved);
  REQUIRE(kernel_of(report.variant_before) == before);
  REQUIRE(report.seconds_before > 0);
  REQUIRE(same_bits(on_q.download(), q.host));
  REQUIRE(choice() == kernel_of(report.variant));
  for (const ops::tune_entry& e : report.entries) {
    CAPTURE(e.variant);
    cache.replace_variants(e.variant);
    REQUIRE(choice() == kernel_of(e.variant));
    REQUIRE((qkv_project_workspace_bytes(s, run.x_view(), run.weights(), to, options) != 0) ==
            (e.variant == "separate"));
    run.check_tensors();
    qkv_project_options forced = options;
    forced.variant = e.variant;
    REQUIRE(ops::qkv_project_choice(s, run.x_view(), run.weights(), to, forced).name == kernel_of(e.variant));
  }
  for (const char* name : {"qkv_project", "separate:2", "qkv_project_w4_f16_8:9"}) {
    cache.replace_variants(name);  // none of them: a miss
    REQUIRE(choice() == before);
  }
  // A call without the workspace that a product takes.
  cache.replace_variants("separate");
  if (before != "separate") {
    qkv_project(s, run.x_view(), run.weights(), to, options);
    auto small = gpu.allocate<u8>(16);
    qkv_project_options with_small = options;
    with_small.workspace = small;
    REQUIRE(ops::qkv_project_choice(s, run.x_view(), run.weights(), to, with_small).name == before);
  }
  return report;
}

}  // namespace

TEST_CASE("tune_qkv_project: few rows and many", "[ops][qkv][tune]") {
  const u32 sm = under_test().properties().target.sm;
  const auto packed = check_tuned<f16>({.tokens = 3,
                                        .k = 256,
                                        .size = 64,
                                        .norms = true,
                                        .offsets = true,
                                        .pairs = 32,
                                        .seed = 5,
                                        .bits = 4,
                                        .group = 64});
  REQUIRE(packed.entries.size() == (sm >= 90 ? 6 : 1));  // 8 rows in 1 and 2 splits, 16 in 1, 2 and 4
  if (sm >= 90) {
    // The kernel for one row has no room for more than 4096 of K in one split.
    const auto one =
        check_tuned<f16>({.tokens = 1, .k = 4160, .q_heads = 2, .seed = 6, .bits = 8, .group = 64});
    const auto has = [&](const std::string& name) {
      return std::any_of(one.entries.begin(), one.entries.end(),
                         [&](const auto& e) { return e.variant == name; });
    };
    REQUIRE(has("qkv_project_w8_one_row_f16:2"));
    REQUIRE(has("qkv_project_w8_one_row_f16:4"));
    REQUIRE(!has("qkv_project_w8_one_row_f16:1"));
  }
  const auto halves = check_tuned<f16>({.tokens = 4, .k = 64, .q_heads = 2, .size = 64, .biases = true});
  if (sm >= 80) REQUIRE(halves.entries.size() >= 3);  // two tiles in one launch
}

TEST_CASE("tune_qkv_project: into a cache that it does not touch", "[ops][qkv][tune]") {
  const own_cache cache;
  device& gpu = under_test();
  qkv_run<f16> run({.tokens = 2, .k = 64, .biases = true, .pairs = 16});
  const std::vector<e4m3> codes(2 * 64, e4m3(1.0f));
  auto k_memory = upload(codes), v_memory = upload(codes);
  auto q_memory = gpu.allocate<f16>(2 * 2 * 64);
  auto lengths = upload(std::vector<i32>{0});
  const tensor_view<f16, 4> q(q_memory, 1, 2, 2, 64);
  const tensor_view<e4m3, 4> k(k_memory, 1, 2, 1, 64), v(v_memory, 1, 2, 1, 64);
  const kv_cache<e4m3> to{.k = k, .v = v, .lengths = tensor_view<const i32, 1>(lengths, 1)};
  const auto report =
      ops::tune_qkv_project(gpu, run.x_view(), run.weights(), {q, to}, run.options(), {.repetitions = 1});
  REQUIRE(kernel_of(report.variant) ==
          ops::qkv_project_choice(gpu.stream(), run.x_view(), run.weights(), {q, to}, run.options()).name);
  REQUIRE(same_bits(k_memory.download(), codes));
  REQUIRE_THROWS_AS(
      ops::tune_qkv_project(gpu, tensor_view<const f16, 3>(q_memory, 1, 2, 63), run.weights(), {q, to}),
      invalid_argument);
}
