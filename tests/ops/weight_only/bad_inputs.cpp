// Bad input of the operations on weights of four bits is a typed error that names the argument, before
// anything runs.
#include "tests/ops/refusal.hpp"
#include "tests/ops/weight_only/support.hpp"

#include <functional>

using namespace kaio;
using namespace kaio::tests;

namespace {

struct fixture {
  device& gpu = under_test();
  const stream& s = gpu.stream();
  w4_shape shape{.n = 48, .k = 128, .group = 64, .zero_points = true, .act_order = true};
  std::vector<f16> pattern = std::vector<f16>(4096, f16(77.0f));
  buffer<u8> memory = gpu.allocate<u8>(packed_bytes(shape)), lent = gpu.allocate<u8>(65536);
  buffer<i32> words = gpu.allocate<i32>(4096);
  buffer<f16> scales = gpu.allocate<f16>(4096), x_memory = gpu.allocate<f16>(4096),
              y_memory = gpu.upload(pattern);
  buffer<bf16> other = gpu.allocate<bf16>(4096);
  w4_weights w{shape, memory};
  tensor_view<const f16, 2> x{x_memory, 3, 128};
  tensor_view<f16, 2> y{y_memory, 3, 48};

  // Two splits of K, which a second kernel adds up from a workspace.
  std::string_view by_second_kernel() const {
    const u32 sm = gpu.properties().target.sm;
    return sm >= 90   ? "matmul_w4_few_rows_f16_8_sm90:2"
           : sm >= 80 ? "matmul_w4_few_rows_f16_8_sm80:2"
                      : "matmul_w4_simt:2";
  }

  gptq_w4 gptq() {
    return {.qweight = tensor_view<const i32, 2>(words, 16, 48),
            .qzeros = tensor_view<const i32, 2>(words, 2, 6),
            .scales = tensor_view<const f16, 2>(scales, 2, 48),
            .g_idx = tensor_view<const i32, 1>(words, extents(128))};
  }
  void refuses(const std::string& part, const std::function<void()>& f) {
    require_refusal(errc::invalid_argument, "kaio: ", part, f);
    s.synchronize();
    REQUIRE(same_bits(y_memory.download(), pattern));
  }
  void shapes(const std::string& part, const w4_shape& wrong) {
    refuses(part, [&] { packed_bytes(wrong); });
  }
  void repacks(const std::string& part, const std::function<void(gptq_w4&, w4_weights&)>& change) {
    gptq_w4 source = gptq();
    w4_weights to = w;
    change(source, to);
    refuses(part, [&] { repack(s, source, to); });
  }
};

}  // namespace

TEST_CASE("w4: shapes that are none of weights", "[ops][w4]") {
  fixture t;
  t.shapes("n = 0", {.n = 0, .k = 128});
  t.shapes("k = -16", {.n = 1, .k = -16, .group = 16});
  t.shapes("n = 2147483648", {.n = i64{1} << 31, .k = 128});
  t.shapes("groups of 0", {.n = 1, .k = 128, .group = 0});
  t.shapes("groups of 8", {.n = 1, .k = 128, .group = 8});
  // Integers may have a last group with fewer codes; others, and those with offsets, may not.
  using type = w4_scale_type;
  t.shapes("groups of 72 with k = 128; a group is a multiple of 16, or k", {.n = 1, .k = 128, .group = 72});
  t.shapes("groups of 96 with k = 128; a group is a multiple of 16 that divides k",
           {.n = 1, .k = 128, .group = 96, .scales = type::f32, .offsets = true});
  t.shapes("groups of 64 with k = 96; a group is a multiple of 16 that divides k",
           {.n = 1, .k = 96, .group = 64, .scales = type::f32, .codes = w4_codes::nf4});
  t.shapes("groups of 32 with k = 48",
           {.n = 1, .k = 48, .group = 32, .scales = type::e8m0, .codes = w4_codes::e2m1});
  REQUIRE(packed_bytes({.n = 32, .k = 128, .group = 48}) == 32 * 128 / 2 + 3 * 32 * 2);
  t.shapes("2^41 codes", {.n = i64{1} << 22, .k = i64{1} << 20, .group = 64});
  REQUIRE(packed_bytes({.n = 1, .k = 100, .group = -1}) == packed_bytes({.n = 32, .k = 100, .group = 100}));
  REQUIRE(packed_bytes({.n = 4096, .k = 4096}) == 4096 * 4096 / 2 + 32 * 4096 * 2);
}

TEST_CASE("w4: tensors that do not fit the shape", "[ops][w4]") {
  fixture t;
  using words_view = tensor_view<const i32, 2>;
  t.repacks("argument qweight is a null", [&](gptq_w4& g, w4_weights&) { g.qweight = words_view(); });
  t.repacks("argument qweight has extent 0 of 15",
            [&](gptq_w4& g, w4_weights&) { g.qweight = words_view(t.words, 15, 48); });
  t.repacks("argument qzeros has extent 1 of 5",
            [&](gptq_w4& g, w4_weights&) { g.qzeros = words_view(t.words, 2, 5); });
  t.repacks("argument scales has extent 0 of 48",
            [&](gptq_w4& g, w4_weights&) { g.scales = tensor_view<const f16, 2>(t.scales, 48, 2); });
  t.repacks("argument scales is bf16",
            [&](gptq_w4& g, w4_weights&) { g.scales = tensor_view<const bf16, 2>(t.other, 2, 48); });
  t.repacks("argument g_idx is a null", [&](gptq_w4& g, w4_weights&) { g.g_idx = {}; });
  t.repacks("weights has", [&](gptq_w4&, w4_weights& to) { to.memory.bytes -= 1; });
  t.repacks("weights", [&](gptq_w4&, w4_weights& to) { to.memory = {}; });
  t.repacks("weights", [&](gptq_w4&, w4_weights& to) { to.memory.address += 8; });
  t.repacks("argument scales is bf16; set shape.scales to bf16",
            [&](gptq_w4& g, w4_weights&) { g.scales = tensor_view<const bf16, 2>(t.other, 2, 48); });
  t.refuses(
      "the shape of argument weights has zero points, and argument packed is of a format without; set "
      "shape.zero_points to false",
      [&] { repack(t.s, kaio_int4{.packed = words_view(t.words, 48, 16), .scales = t.gptq().scales}, t.w); });
  t.refuses(
      "the shape of argument weights has act-order, and the given format has no index of groups; set shape.act_order "
      "to false",
      [&] {
        repack(
            t.s,
            awq_w4{
                .qweight = words_view(t.words, 128, 6), .qzeros = t.gptq().qzeros, .scales = t.gptq().scales},
            t.w);
      });
  const auto refuses_plain = [&](const std::string& part, const auto& source) {
    t.refuses(part, [&] { repack(t.s, source, w4_weights{{.n = 48, .k = 128, .group = 64}, t.memory}); });
  };
  gptq_w4 plain = t.gptq();
  plain.g_idx = {};
  refuses_plain(
      "the shape of argument weights has no zero points, and argument qzeros is given; set shape.zero_points to "
      "true, or leave qzeros out where all of them are the middle of the codes",
      plain);
  plain = t.gptq();
  plain.qzeros = {};
  refuses_plain(
      "the shape of argument weights has no act-order, and argument g_idx is given; set shape.act_order to true, or leave "
      "g_idx out where it is k / group",
      plain);
  refuses_plain("argument weight_zero_point is given; set shape.zero_points to true",
                compressed_tensors_w4{.weight_packed = words_view(t.words, 48, 16),
                                      .weight_zero_point = words_view(t.words, 6, 2),
                                      .weight_scale = tensor_view<const f16, 2>(t.scales, 48, 2)});
  t.refuses("argument out has extent 0",
            [&] { dequantise(t.s, t.w, tensor_view<f16, 2>(t.y_memory, 16, 128)); });
  t.refuses("output out has stride 0",
            [&] { dequantise(t.s, t.w, tensor_view<f16, 2>(t.y_memory, extents(48, 128), strides(0, 1))); });
}

TEST_CASE("matmul_w4: bad inputs", "[ops][w4]") {
  fixture t;
  const auto refuses = [&](const std::string& part, const std::function<void()>& f) { t.refuses(part, f); };
  refuses("argument x has extent 1 of 64",
          [&] { matmul_w4(t.s, tensor_view<const f16, 2>(t.x_memory, 3, 64), t.w, t.y); });
  refuses("argument x has stride 2", [&] {
    matmul_w4(t.s, tensor_view<const f16, 2>(t.x_memory, extents(3, 128), strides(256, 2)), t.w, t.y);
  });
  refuses("argument out has extent 0 of 2",
          [&] { matmul_w4(t.s, t.x, t.w, tensor_view<f16, 2>(t.y_memory, 2, 48)); });
  refuses("argument out has extent 1 of 47",
          [&] { matmul_w4(t.s, t.x, t.w, tensor_view<f16, 2>(t.y_memory, 3, 47)); });
  refuses("argument bias is not a vector of f16",
          [&] { matmul_w4(t.s, t.x, t.w, t.y, {.bias = tensor_view<const bf16, 1>(t.other, extents(48))}); });
  refuses("argument bias has extent 0 of 40",
          [&] { matmul_w4(t.s, t.x, t.w, t.y, {.bias = tensor_view<const f16, 1>(t.scales, extents(40))}); });
  refuses("3 splits", [&] { matmul_w4(t.s, t.x, t.w, t.y, {.splits = 3}); });
  refuses("workspace", [&] { matmul_w4(t.s, t.x, t.w, t.y, {.variant = t.by_second_kernel()}); });
  refuses("no variant matmul_w5", [&] { matmul_w4(t.s, t.x, t.w, t.y, {.variant = "matmul_w5"}); });
  refuses("out shares memory",
          [&] { matmul_w4(t.s, tensor_view<const f16, 2>(t.y_memory, 3, 128), t.w, t.y); });
  refuses("workspace shares memory",
          [&] { matmul_w4(t.s, t.x, t.w, t.y, {.workspace = t.memory, .variant = t.by_second_kernel()}); });
  refuses("weights", [&] { matmul_w4(t.s, t.x, w4_weights{t.shape, {}}, t.y); });
  // No rows: nothing to do.
  matmul_w4(t.s, tensor_view<const f16, 2>(t.x_memory, 0, 128), t.w, tensor_view<f16, 2>(t.y_memory, 0, 48));
  REQUIRE(same_bits(t.y_memory.download(), t.pattern));
}

TEST_CASE("matmul_w4: calls are loaded ahead, and named", "[ops][w4]") {
  fixture t;
  const std::uint64_t bytes = matmul_w4_workspace_bytes(t.s, t.x, t.w, {.variant = "dequantise"});
  REQUIRE(bytes == 48 * 128 * 2);
  REQUIRE(ops::matmul_w4_choice(t.s, t.x, t.w, {.variant = "dequantise"}).name == "dequantise");
  ops::matmul_w4_warmup(t.gpu, t.x, t.w, {.variant = "dequantise"});
  ops::repack_w4_warmup(t.gpu);
  const auto choice = ops::matmul_w4_choice(t.s, t.x, t.w, {.splits = 2});
  const u32 sm = t.gpu.properties().target.sm;
  REQUIRE(choice.name == (sm >= 90   ? "matmul_w4_few_rows_f16_8_sm90"
                          : sm >= 80 ? "matmul_w4_few_rows_f16_8_sm80"
                                     : "matmul_w4_simt"));
  REQUIRE(choice.splits == 2);
  // x in the order of the weights, and the parts.
  REQUIRE(matmul_w4_workspace_bytes(t.s, t.x, t.w, {.splits = 2}) ==
          (sm >= 80 ? 3u * 128 * 2 : 0u) + (sm >= 90 ? 0u : 2u * 3 * 64 * 4));
  REQUIRE(matmul_w4_workspace_bytes(t.s, t.x, t.w, {.variant = t.by_second_kernel()}) == 2 * 3 * 64 * 4);
  ops::matmul_w4_warmup(t.gpu, t.x, t.w, {.splits = 2});
  const auto listed = ops::w4_kernels();
  REQUIRE(std::any_of(listed.begin(), listed.end(),
                      [&](const auto* image) { return image->name == choice.name; }));
}
