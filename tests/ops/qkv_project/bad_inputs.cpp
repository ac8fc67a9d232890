// Calls of qkv_project that must be refused before anything runs.
#include "tests/ops/qkv_project/support.hpp"
#include "tests/ops/refusal.hpp"

#include <limits>

using namespace kaio;
using namespace kaio::tests;

TEST_CASE("qkv_project: bad input", "[ops][qkv]") {
  qkv_run<f16> run({.batches = 2, .tokens = 3, .k = 32, .biases = true, .norms = true, .pairs = 32});
  const device& gpu = under_test();
  const stream& s = gpu.stream();
  auto q = gpu.allocate<f16>(2 * 3 * 2 * 64), k = gpu.allocate<f16>(2 * 3 * 64),
       v = gpu.allocate<f16>(2 * 3 * 64);
  auto cache_k = gpu.allocate<f16>(2 * 8 * 64), cache_v = gpu.allocate<f16>(2 * 8 * 64);
  auto workspace = gpu.allocate<u8>(1 << 16);
  const tensor_view<f16, 4> to_q(q, 2, 3, 2, 64), to_k(k, 2, 3, 1, 64), to_v(v, 2, 3, 1, 64);
  const auto refused =
      [&](
          const std::string& part, const qkv_weights& weights, const qkv_outputs& to,
          const std::function<void(qkv_project_options&)>& change = [](qkv_project_options&) {}) {
        require_refusal(errc::invalid_argument, "kaio: qkv_project: ", part, [&] {
          qkv_project_options options = run.options();
          options.workspace = workspace;
          change(options);
          qkv_project(s, run.x_view(), weights, to, options);
        });
      };
  const qkv_weights w = run.weights();
  const qkv_outputs to{to_q, to_k, to_v};
  refused("argument weights has extent 0 of 255, and 256 is expected", run.weight(0, 255), to);
  refused("weights.k has extent 0 of 128", {run.weight(0, 128), run.weight(0, 128), run.weight(0, 64)}, to);
  refused("weights has extent 1 of 31", run.weight(0, 256).slice(1, 0, 31), to);
  refused("argument k has extent 1 of 2", w, {to_q, to_k.slice(1, 0, 2), to_v});
  refused("argument k has extent 3 of 32", w, {to_q, to_k.slice(3, 0, 32), to_v});
  refused("output v shares memory with argument k", w, {to_q, to_k, to_k});
  refused(
      "x has 3 dimensions and q has 3", w,
      {tensor_view<f16, 3>(q, 6, 2, 64), tensor_view<f16, 3>(k, 6, 1, 64), tensor_view<f16, 3>(v, 6, 1, 64)});
  refused("q_norm has extent 0 of 128", w, to,
          [&](qkv_project_options& o) { o.q_norm = tensor_view<const f16, 1>(run.on_norm, 128); });
  refused("k_bias has extent 0 of 128", w, to, [&](qkv_project_options& o) { o.k_bias = o.q_bias; });
  for (const f32 epsilon : {-1.0f, 1e-31f, std::numeric_limits<f32>::quiet_NaN()})
    refused("epsilon is neither 0 nor from 1e-30", w, to,
            [&](qkv_project_options& o) { o.epsilon = epsilon; });
  refused("k_scale without a cache", w, to,
          [&](qkv_project_options& o) { o.k_scale = tensor_view<const f32, 1>(run.on_cos, 1); });
  refused("workspace", w, to, [&](qkv_project_options& o) {
    o.variant = "separate";
    o.workspace = {};
  });
  refused("x_scale of an x that is not of 8 bits", w, to,
          [&](qkv_project_options& o) { o.x_scale = tensor_view<const f32, 1>(run.on_cos, 1); });
  refused("there is no variant nothing", w, to, [&](qkv_project_options& o) { o.variant = "nothing"; });
  const tensor_view<const f32, 2> table(run.on_cos, 16, 32), narrow(run.on_cos, 16, 31),
      wide(run.on_cos, 8, 33);
  const auto tables = [](const ops::rotary_table_input& cos, const ops::rotary_table_input& sin) {
    return [=](qkv_project_options& o) { o.rotary.cos = cos, o.rotary.sin = sin; };
  };
  refused("argument rotary.sin is a null", w, to, tables(table, {}));
  refused("argument rotary.cos is a null", w, to, tables({}, table));
  refused("argument rotary.sin has extent 1 of 31, and 32 is expected", w, to, tables(table, narrow));
  refused("argument rotary.cos has 33 pairs", w, to, tables(wide, wide));
  refused(
      "argument rotary.sin has stride 2 along its pairs", w, to,
      tables(table.slice(0, 0, 8), tensor_view<const f32, 2>(run.on_cos, extents(8, 32), strides(64, 2))));
  refused("rotary.cos and rotary.sin have different element types", w, to,
          tables(table, tensor_view<const f16, 2>(run.on_w, 16, 32)));
  refused("rotary.positions or rotary.offsets without the tables", w, to, [&](qkv_project_options& o) {
    o.rotary.cos = {}, o.rotary.sin = {};
    o.rotary.offsets = numbers_view(run.on_offsets, 2);
  });
  refused("rotary.offsets next to rotary.positions", w, to, [&](qkv_project_options& o) {
    o.rotary.positions = tensor_view<const i64, 2>(run.on_positions, extents(2, 3));
    o.rotary.offsets = numbers_view(run.on_offsets, 2);
  });
  const tensor_view<f16, 4> kept_k(cache_k, 2, 8, 1, 64), kept_v(cache_v, 2, 8, 1, 64);
  refused("neither cache.lengths", w, {to_q, kv_cache<f16>{.k = kept_k, .v = kept_v}});
  const kv_cache<f16> cache{.k = kept_k, .v = kept_v, .lengths = numbers_view(run.on_offsets, 2)};
  refused("rotary.offsets with a cache", w, {to_q, cache},
          [&](qkv_project_options& o) { o.rotary.offsets = numbers_view(run.on_offsets, 2); });
  refused("k_scale of a cache whose elements", w, {to_q, cache},
          [&](qkv_project_options& o) { o.k_scale = tensor_view<const f32, 1>(run.on_cos, 1); });
  refused("k_scale or v_scale of (sequences, heads)", w, {to_q, cache},
          [&](qkv_project_options& o) { o.k_scale = tensor_view<const f32, 2>(run.on_cos, 2, 1); });
  refused("cache.v", w, {to_q, kv_cache<f16>{.k = kept_k, .v = kept_k, .lengths = cache.lengths}});
  if (gpu.properties().target.sm >= 80) {
    const qkv_weights across = tensor_view<const f16, 2>(run.on_w, 32, 256).transposed();
    refused("rows of the weights do not begin", across, to,
            [](qkv_project_options& o) { o.variant = "qkv_project_mma_f16_32x128"; });
  }
  const auto of_sm90 = [](qkv_project_options& o) { o.variant = "qkv_project_sm90_f16_128x128"; };
  refused("it takes one weight for Q, K and V, not three",
          {run.weight(0, 128), run.weight(128, 64), run.weight(192, 64)}, to, of_sm90);
  if (!(gpu.properties().target == ptx::target{90, true}))
    refused("it needs another architecture", w, to, of_sm90);
}
