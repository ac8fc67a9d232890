// gate_up_project with a norm of x in front: the bits of rms_norm and of the projections after it.
#include "tests/ops/gate_up_project/support.hpp"
#include "tests/ops/refusal.hpp"

#include <kaio/ops/matmul_w4.hpp>
#include <kaio/ops/rms_norm.hpp>

#include <random>

using namespace kaio;
using namespace kaio::tests;

namespace {

struct norm_case {
  i64 rows, columns, k, group = 0;  // 0: weights of the type of x
  bool residual = false, writes = false, in_place = false;
  f32 weight_offset = 0;
  bool is_fused = false;
};

template <class T>
void check_norm(const norm_case& c) {
  CAPTURE(c.rows, c.columns, c.k, c.group, c.residual, c.writes, c.in_place, sizeof(T));
  const device& gpu = under_test();
  const stream& s = gpu.stream();
  std::mt19937_64 engine(static_cast<u64>(c.rows + c.k));
  std::uniform_real_distribution<float> any(-2, 2);
  const auto random = [&](i64 count, float scale) {
    std::vector<T> numbers(static_cast<std::size_t>(count));
    for (T& one : numbers) one = T(scale * any(engine));
    return numbers;
  };
  const std::vector<T> residual = random(c.rows * c.k, 1);
  auto on_x = gpu.upload(random(c.rows * c.k, 1)), on_weight = gpu.upload(random(c.k, 1));
  auto on_matrix = gpu.upload(random(2 * c.columns * c.k, 0.1f));
  std::vector<i32> words(static_cast<std::size_t>(2 * c.columns * ((c.k + 7) / 8)));
  for (i32& one : words) one = static_cast<i32>(engine());
  auto on_words = gpu.upload(words);
  auto on_scales = gpu.upload(random(c.group == 0 ? 1 : c.k / c.group * 2 * c.columns, 0.02f));
  const w4_shape shape{.n = 2 * c.columns,
                       .k = c.k,
                       .group = c.group == 0 ? c.k : c.group,
                       .scales = std::is_same_v<T, f16> ? w4_scale_type::f16 : w4_scale_type::bf16};
  auto packed = gpu.allocate<u8>(c.group == 0 ? 1 : packed_bytes(shape));
  if (c.group != 0)
    repack(s,
           kaio_int4{.packed = tensor_view<const i32, 2>(on_words, 2 * c.columns, c.k / 8),
                     .scales = tensor_view<const T, 2>(on_scales, c.k / c.group, 2 * c.columns)},
           w4_weights{shape, packed});
  const gate_up_weights weights =
      c.group == 0 ? gate_up_weights(tensor_view<const T, 2>(on_matrix, 2 * c.columns, c.k))
                   : gate_up_weights(w4_weights{shape, packed});
  const tensor_view<const T, 2> x(on_x, c.rows, c.k);
  const tensor_view<const T, 1> weight(on_weight, c.k);
  const std::vector<T> nothing(residual.size(), T(std::nanf("")));
  const std::string name = std::string("gate_up_w4_one_row_") + (std::is_same_v<T, f16> ? "f16" : "bf16");

  auto on_residual = gpu.upload(residual), sum = gpu.upload(nothing), normed = gpu.upload(nothing);
  rms_norm_options alone{.epsilon = 1e-3f, .weight_offset = c.weight_offset};
  if (c.residual) alone.residual = tensor_view<const T, 2>(on_residual, c.rows, c.k);
  if (c.writes) alone.residual_out = tensor_view<T, 2>(sum, c.rows, c.k);
  rms_norm(s, x, weight, tensor_view<T, 2>(normed, c.rows, c.k), alone);
  gate_up_output<T> want(1, c.rows, c.columns, 8), got(1, c.rows, c.columns, 8);
  const auto flat = [&](gate_up_output<T>& out) {
    return tensor_view<T, 2>(out.memory, extents(c.rows, c.columns), strides(out.line(), 1));
  };
  gate_up_with_workspace(tensor_view<const T, 2>(normed, c.rows, c.k), weights, flat(want),
                         {.variant = c.is_fused ? std::string_view(name) : std::string_view()});

  auto own_residual = gpu.upload(residual), own_sum = gpu.upload(nothing);
  gate_up_project_options options{
      .x_norm = {.weight = weight, .epsilon = 1e-3f, .weight_offset = c.weight_offset}};
  if (c.residual) options.x_norm.residual = tensor_view<T, 2>(own_residual, c.rows, c.k);
  if (c.writes)
    options.x_norm.residual_out = tensor_view<T, 2>(c.in_place ? own_residual : own_sum, c.rows, c.k);
  if (c.is_fused) REQUIRE(ops::gate_up_project_choice(s, x, weights, flat(got), options).name == name);
  REQUIRE((gate_up_project_workspace_bytes(s, x, weights, flat(got), options) == 0) == c.is_fused);
  gate_up_project_warmup(gpu, x, weights, flat(got), options);
  gate_up_with_workspace(x, weights, flat(got), options);
  const auto same = [](const std::vector<T>& a, const std::vector<T>& b) {
    return a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size() * sizeof(T)) == 0;
  };
  REQUIRE(same(got.memory.download(), want.memory.download()));
  if (c.writes) REQUIRE(same((c.in_place ? own_residual : own_sum).download(), sum.download()));
  if (!c.in_place) REQUIRE(same(own_residual.download(), residual));
}

bool has_products() { return under_test().properties().target.sm >= 80; }

}  // namespace

TEST_CASE("gate_up_project: the norm of x in front, by the kernel for one row", "[ops][gate_up][norm]") {
  if (under_test().properties().target.sm < 90) return;
  check_norm<f16>({.rows = 1, .columns = 64, .k = 256, .group = 64, .is_fused = true});
  check_norm<bf16>({.rows = 1,
                    .columns = 96,
                    .k = 448,
                    .group = 64,
                    .residual = true,
                    .writes = true,
                    .weight_offset = 1,
                    .is_fused = true});
  check_norm<f16>({.rows = 1,
                   .columns = 2176,
                   .k = 4224,
                   .group = 128,
                   .residual = true,
                   .writes = true,
                   .is_fused = true});
}

TEST_CASE("gate_up_project: the norm of x in front, by rms_norm", "[ops][gate_up][norm]") {
  check_norm<f16>({.rows = 3, .columns = 40, .k = 72, .residual = true, .writes = true});
  check_norm<f16>({.rows = 2, .columns = 16, .k = 33, .weight_offset = 1});
  if (!has_products()) return;
  check_norm<bf16>(
      {.rows = 2, .columns = 64, .k = 128, .group = 32, .residual = true, .writes = true, .in_place = true});
  check_norm<f16>({.rows = 1, .columns = 64, .k = 128, .group = 32, .residual = true});
  check_norm<f16>(
      {.rows = 1, .columns = 64, .k = 128, .group = 64, .residual = true, .writes = true, .in_place = true});
}

TEST_CASE("gate_up_project: what a norm of x refuses", "[ops][gate_up][norm]") {
  const device& gpu = under_test();
  auto x_memory = gpu.allocate<f16>(2 * 32), w_memory = gpu.allocate<f16>(32 * 32),
       out_memory = gpu.allocate<f16>(2 * 16);
  auto norm_memory = gpu.allocate<f16>(32), sums = gpu.allocate<f16>(2 * 32);
  auto workspace = gpu.allocate<u8>(1 << 14), small = gpu.allocate<u8>(128);
  auto integers = gpu.allocate<i8>(32 * 32);
  const tensor_view<const f16, 2> x(x_memory, 2, 32), w(w_memory, 32, 32);
  const tensor_view<f16, 2> out(out_memory, 2, 16);
  const tensor_view<const f16, 1> weight(norm_memory, 32);
  const auto refused = [&](const std::string& part, const x_norm& norm, const auto& memory) {
    require_refusal(errc::invalid_argument, "kaio: gate_up_project: ", part,
                    [&] { gate_up_project(gpu.stream(), x, w, out, {.x_norm = norm, .workspace = memory}); });
  };
  refused("x_norm.weight has extent 0 of 31", {.weight = weight.slice(0, 0, 31)}, workspace);
  refused("x_norm.epsilon", {.weight = weight, .epsilon = -1}, workspace);
  refused("x_norm.residual_out is given without",
          {.weight = weight, .residual_out = tensor_view<f16, 2>(sums, 2, 32)}, workspace);
  refused("x_norm.residual has extent 0 of 1",
          {.weight = weight, .residual = tensor_view<f16, 2>(sums, 1, 32)}, workspace);
  refused("shares memory",
          {.weight = weight,
           .residual = tensor_view<f16, 2>(sums, 2, 32),
           .residual_out = tensor_view<f16, 2>(x_memory, 2, 32)},
          workspace);
  refused("workspace", {.weight = weight}, small);
  require_refusal(errc::invalid_argument, "kaio: gate_up_project: ", "x_norm needs x of f32, f16 or bf16",
                  [&] {
                    gate_up_project(gpu.stream(), tensor_view<const i8, 2>(integers, 2, 32),
                                    ops::int8_weights{tensor_view<const i8, 2>(integers, 32, 32)}, out,
                                    {.x_norm = {.weight = weight}, .workspace = workspace});
                  });
}
