// qkv_project with a norm of x in front: the bits of rms_norm and of the projection after it, by the kernel that
// computes the norm itself and by those that do not.
#include "tests/ops/qkv_project/support.hpp"
#include "tests/ops/refusal.hpp"

#include <kaio/ops/rms_norm.hpp>

#include <limits>

using namespace kaio;
using namespace kaio::tests;

namespace {

struct norm_case {
  qkv_case of{};
  bool residual = false, writes = false, in_place = false;
  f32 weight_offset = 0;
  const char* kernel = "";  // runs after rms_norm; empty: the chosen one
  bool is_fused = false;
};

template <class T>
void check_norm(const norm_case& in) {
  if (!has_products<T>()) return;
  const qkv_case& c = in.of;
  CAPTURE(c.tokens, c.k, c.bits, in.residual, in.writes, in.in_place, in.kernel, sizeof(T));
  const device& gpu = under_test();
  const stream& s = gpu.stream();
  qkv_run<T> run(c);
  std::mt19937_64 engine(c.seed + 3);
  std::uniform_real_distribution<float> any(-2, 2);
  const auto random = [&](i64 count) {
    std::vector<T> numbers(static_cast<std::size_t>(count));
    for (T& one : numbers) one = from_float<T>(any(engine));
    return numbers;
  };
  const i64 count = c.batches * c.tokens * c.k;
  run.on_x = upload(random(count));
  const std::vector<T> residual = random(count);
  const auto on_weight = upload(random(c.k));
  const tensor_view<const T, 1> weight(on_weight, c.k);
  const auto shape = extents(c.batches, c.tokens, c.k);
  const std::vector<T> nothing(static_cast<std::size_t>(count), from_float<T>(std::nanf("")));
  const auto outputs = [&](const std::function<void(const qkv_outputs&)>& f) {
    tensor_layout shifted = c.out;
    shifted.shift += 256;  // memory of its own before q, for a workspace that reaches up to it
    const cache_tensor<T> q(c.batches, c.tokens, c.q_heads, c.size, shifted),
        k(c.batches, c.tokens, c.k_heads, c.size, c.out), v(c.batches, c.tokens, c.v_heads, c.v_size, c.out);
    auto on_q = upload(q.host), on_k = upload(k.host), on_v = upload(v.host);
    f({q.view(on_q), k.view(on_k), v.view(on_v)});
    std::vector<T> all = on_q.download();
    for (const auto& more : {on_k.download(), on_v.download()})
      all.insert(all.end(), more.begin(), more.end());
    return all;
  };

  const auto on_residual = upload(residual);
  auto sum = upload(nothing), normed = upload(nothing);
  rms_norm_options alone{.epsilon = 1e-3f, .weight_offset = in.weight_offset};
  if (in.residual) alone.residual = tensor_view<const T, 3>(on_residual, shape);
  if (in.writes) alone.residual_out = tensor_view<T, 3>(sum, shape);
  rms_norm(s, run.x_view(), weight, tensor_view<T, 3>(normed, shape), alone);
  const auto want = outputs([&](const qkv_outputs& to) {
    qkv_run<T> after(c);
    after.on_x = std::move(normed);
    qkv_project_options options = after.options();
    options.variant = in.kernel;
    after.project(to, options);
  });

  auto own_residual = upload(residual), own_sum = upload(nothing);
  const auto got = outputs([&](const qkv_outputs& to) {
    qkv_project_options options = run.options();
    options.variant = in.is_fused ? "" : in.kernel;
    options.x_norm = {.weight = weight, .epsilon = 1e-3f, .weight_offset = in.weight_offset};
    if (in.residual) options.x_norm.residual = tensor_view<T, 3>(own_residual, shape);
    if (in.writes)
      options.x_norm.residual_out = tensor_view<T, 3>(in.in_place ? own_residual : own_sum, shape);
    const std::string choice(ops::qkv_project_choice(s, run.x_view(), run.weights(), to, options).name);
    if (in.is_fused) REQUIRE(choice.find("one_row") != std::string::npos);
    const auto bytes = qkv_project_workspace_bytes(s, run.x_view(), run.weights(), to, options);
    REQUIRE((bytes == 0) == in.is_fused);
    // A workspace that is too small does not reach into the outputs after it.
    qkv_project_options small = options;
    small.workspace = device_pointer<u8>{to.q.address / 256 * 256 - 256, 16};
    REQUIRE(qkv_project_workspace_bytes(s, run.x_view(), run.weights(), to, small) == bytes);
    qkv_project_warmup(gpu, run.x_view(), run.weights(), to, options);
    run.project(to, options);
  });
  REQUIRE(same_bits(got, want));
  if (in.writes) REQUIRE(same_bits((in.in_place ? own_residual : own_sum).download(), sum.download()));
  if (!in.in_place) REQUIRE(same_bits(own_residual.download(), residual));
}

}  // namespace

TEST_CASE("qkv_project: the norm of x in front, by the kernel for one row", "[ops][qkv][norm]") {
  if (under_test().properties().target.sm < 90) return;
  const qkv_case small{.tokens = 1, .k = 256, .q_heads = 2, .pairs = 32, .bits = 4, .group = 64};
  check_norm<f16>({.of = small, .kernel = "qkv_project_w4_one_row_f16", .is_fused = true});
  check_norm<bf16>({.of = small,
                    .residual = true,
                    .writes = true,
                    .weight_offset = 1,
                    .kernel = "qkv_project_w4_one_row_bf16",
                    .is_fused = true});
  qkv_case eight = small;
  eight.bits = 8;
  check_norm<f16>({.of = eight, .residual = true, .kernel = "qkv_project_w8_one_row_f16", .is_fused = true});
  // Rows of 128 lanes with more pieces than they hold at once, of 256 lanes, of one lane, and of a K that ends within a
  // tile; with splits of K.
  qkv_case wide = small;
  for (const i64 k : {4160, 8320, 8, 200}) {
    wide.k = k;
    wide.group = 0;
    wide.seed = static_cast<u64>(k);
    check_norm<f16>({.of = wide,
                     .residual = k != 8320,
                     .writes = k == 4160,
                     .kernel = "qkv_project_w4_one_row_f16",
                     .is_fused = true});
  }
}

TEST_CASE("qkv_project: the norm of x in front, by rms_norm", "[ops][qkv][norm]") {
  check_norm<f16>({.of = {.batches = 2, .tokens = 3, .k = 72, .biases = true, .norms = true}});
  check_norm<f16>(
      {.of = {.tokens = 3, .k = 70, .seed = 2}, .residual = true, .writes = true, .weight_offset = 1});
  check_norm<bf16>(
      {.of = {.tokens = 2, .k = 64, .seed = 3}, .residual = true, .writes = true, .in_place = true});
  if (under_test().properties().target.sm < 80) return;
  check_norm<f16>({.of = {.tokens = 2, .k = 128, .bits = 4}, .residual = true});
  check_norm<bf16>({.of = {.tokens = 1, .k = 128, .bits = 8, .group = 32}});
  // One row whose sum goes where the residual was: other blocks read it.
  const qkv_case one{.tokens = 1, .k = 128, .q_heads = 2, .bits = 4};
  check_norm<f16>({.of = one, .residual = true, .writes = true, .in_place = true});
  check_norm<f16>({.of = {.tokens = 1, .k = 320, .q_heads = 2, .bits = 4, .group = 32}});
}

// If the device has no product of a type, the norm before it does not run either.
TEST_CASE("qkv_project: a type that the device has no products of leaves the residual alone",
          "[ops][qkv][norm]") {
  const device& gpu = under_test();
  if (gpu.properties().target.sm >= 80) return;
  const std::vector<bf16> twos(2 * 32, from_float<bf16>(2.0f));
  auto x = upload(twos), residual = upload(twos), norm = upload(twos);
  auto w = gpu.allocate<bf16>(3 * 16 * 32), out = gpu.allocate<bf16>(3 * 2 * 16);
  auto workspace = gpu.allocate<u8>(1 << 16);
  const auto part = [&](std::size_t i) {
    return tensor_view<bf16, 3>(out.slice(i * 32, 32), extents<3>(2, 1, 16));
  };
  const tensor_view<bf16, 2> in_place(residual, 2, 32);
  REQUIRE_THROWS_AS(qkv_project(gpu.stream(), tensor_view<const bf16, 2>(x, 2, 32),
                                tensor_view<const bf16, 2>(w, 48, 32), {part(0), part(1), part(2)},
                                {.x_norm = {.weight = tensor_view<const bf16, 1>(norm, 32),
                                            .residual = in_place,
                                            .residual_out = in_place},
                                 .workspace = workspace}),
                    unsupported_device);
  for (const bf16 one : residual.download()) REQUIRE(to_double(one) == 2);
}

TEST_CASE("qkv_project: what a norm of x refuses", "[ops][qkv][norm]") {
  qkv_run<f16> run({.tokens = 2, .k = 32});
  const device& gpu = under_test();
  const stream& s = gpu.stream();
  auto q = gpu.allocate<f16>(2 * 2 * 64), k = gpu.allocate<f16>(2 * 64), v = gpu.allocate<f16>(2 * 64);
  const qkv_outputs to{tensor_view<f16, 4>(q, 1, 2, 2, 64), tensor_view<f16, 4>(k, 1, 2, 1, 64),
                       tensor_view<f16, 4>(v, 1, 2, 1, 64)};
  auto weight = gpu.allocate<f16>(64), sums = gpu.allocate<f16>(2 * 64);
  auto single = gpu.allocate<f32>(64);
  auto workspace = gpu.allocate<u8>(1 << 16), small = gpu.allocate<u8>(64);
  const x_norm good{.weight = tensor_view<const f16, 1>(weight, 32)};
  const auto refused = [&](const std::string& part, const x_norm& norm, const ops::workspace_view& memory) {
    require_refusal(errc::invalid_argument, "kaio: qkv_project: ", part, [&] {
      qkv_project(s, run.x_view(), run.weights(), to, {.x_norm = norm, .workspace = memory});
    });
  };
  const auto with = [&](auto change) {
    x_norm norm = good;
    change(norm);
    return norm;
  };
  refused("x_norm.weight has extent 0 of 31",
          with([&](x_norm& n) { n.weight = tensor_view<const f16, 1>(weight, 31); }), workspace);
  refused("x_norm.weight has another element type",
          with([&](x_norm& n) { n.weight = tensor_view<const f32, 1>(single, 32); }), workspace);
  refused("x_norm.weight has more than one dimension",
          with([&](x_norm& n) { n.weight = tensor_view<const f16, 2>(weight, 32, 1); }), workspace);
  for (const f32 epsilon : {-1.0f, 1e-31f, std::numeric_limits<f32>::quiet_NaN()})
    refused("x_norm.epsilon", with([&](x_norm& n) { n.epsilon = epsilon; }), workspace);
  refused("x_norm.residual has another number of dimensions",
          with([&](x_norm& n) { n.residual = tensor_view<const f16, 2>(sums, 2, 32); }), workspace);
  refused("x_norm.residual has extent 1 of 1",
          with([&](x_norm& n) { n.residual = tensor_view<const f16, 3>(sums, 1, 1, 32); }), workspace);
  refused("x_norm.residual_out is given without",
          with([&](x_norm& n) { n.residual_out = tensor_view<f16, 3>(sums, 1, 2, 32); }), workspace);
  refused("x_norm.residual without x_norm.weight", {.residual = tensor_view<const f16, 3>(sums, 1, 2, 32)},
          workspace);
  refused("shares memory", with([&](x_norm& n) {
            n.residual = tensor_view<const f16, 3>(sums, 1, 2, 32);
            n.residual_out = tensor_view<f16, 3>(q, 1, 2, 32);
          }),
          workspace);
  refused("workspace", good, {});
  refused("workspace", good, small);
}
