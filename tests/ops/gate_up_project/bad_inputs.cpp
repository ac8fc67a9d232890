// Calls of gate_up_project that must be refused before anything runs.
#include "tests/ops/gate_up_project/support.hpp"
#include "tests/ops/refusal.hpp"

using namespace kaio;
using namespace kaio::tests;

TEST_CASE("gate_up_project: bad input", "[ops][gate_up]") {
  const device& gpu = under_test();
  auto x_memory = gpu.allocate<f16>(6 * 32), w_memory = gpu.allocate<f16>(80 * 32);
  auto out_memory = gpu.allocate<f16>(6 * 40), bias_memory = gpu.allocate<f16>(48);
  auto bytes = gpu.allocate<e4m3>(80 * 32);
  auto integers = gpu.allocate<i8>(80 * 32);
  auto scales = gpu.allocate<f32>(80);
  auto workspace = gpu.allocate<u8>(1 << 14), small = gpu.allocate<u8>(256);
  const tensor_view<const f16, 2> x(x_memory, 6, 32), both(w_memory, 80, 32);
  const tensor_view<f16, 2> out(out_memory, 6, 40);
  const tensor_view<const e4m3, 2> x8(bytes, 6, 32);
  const tensor_view<const f32, 1> scale(scales, 80);
  const tensor_view<const f16, 1> bias(bias_memory, 48);
  const auto refused = [&](const std::string& part, const auto& in, const gate_up_weights& w, const auto& to,
                           gate_up_project_options options = {}) {
    if (options.workspace.address == 0) options.workspace = workspace;
    require_refusal(errc::invalid_argument, "kaio: gate_up_project: ", part,
                    [&] { gate_up_project(gpu.stream(), in, w, to, options); });
  };
  refused("none of matmul_activation", x, both, out, {.activation = static_cast<matmul_activation>(77)});
  refused("argument weights has extent 0 of 40, and 80 is expected", x, both.slice(0, 0, 40), out);
  refused("argument weights.up has extent 0 of 41", x, {both.slice(0, 0, 40), both.slice(0, 0, 41)}, out);
  refused("argument weights has extent 1 of 16", x, both.slice(1, 0, 16), out);
  refused("argument out has extent 0 of 5", x, both, out.slice(0, 0, 5));
  refused("along its last dimension", x, both,
          tensor_view<f16, 2>(out_memory, extents(6, 20), strides(40, 2)));
  refused("argument weights is not given", x, projection_weight{}, out);
  refused("another element type than x", x, fp8_weights{tensor_view<const e4m3, 2>(bytes, 80, 32)}, out);
  refused("another element type than x", x8, both, out);
  refused("x_scale of an x that is not of 8 bits", x, both, out, {.x_scale = scale});
  refused("weights.scale has extent 0 of 79", x8,
          fp8_weights{tensor_view<const e4m3, 2>(bytes, 80, 32), scale.slice(0, 0, 79)}, out);
  refused("without x_groups", x8,
          fp8_weights{.matrix = tensor_view<const e4m3, 2>(bytes, 80, 32),
                      .blocks = tensor_view<const f32, 2>(scales, 1, 1)},
          out);
  refused("gate_bias has extent 0 of 48", x, both, out, {.gate_bias = bias});
  refused("up_bias has another element type", x, both, out, {.up_bias = scale.slice(0, 0, 40)});
  refused("workspace", x, both, out, {.workspace = small});
  refused("shares memory", x, both, tensor_view<f16, 2>(w_memory, 6, 40));
  refused("is of 80 outputs by 64 inputs", x, w4_weights{{.n = 80, .k = 64}, workspace}, out);
  refused("with packed weights", tensor_view<const i8, 2>(integers, 6, 64),
          w4_weights{{.n = 80, .k = 64, .group = 64}, workspace}, out);
  refused("there is no variant nothing", x, both, out, {.variant = "nothing"});
  refused("cannot run this call: the weights are not packed", x, both, out,
          {.variant = "gate_up_w4_mma_f16_8_sm80"});
  const tensor_view<const f16, 3> apart(x_memory, extents(2, 2, 32), strides(128, 32, 1));
  refused("batches that do not follow each other", apart, both,
          tensor_view<f16, 3>(out_memory, extents(2, 2, 40), strides(80, 40, 1)));
}
