// gate_up_project with weights of 8 and 4 bits: the bits of the same products by themselves, and the steps
// after them in double precision.
#include "tests/ops/gate_up_project/support.hpp"
#include "tests/ops/weight_only/packed_support.hpp"

#include <kaio/ops/matmul_fp8.hpp>
#include <kaio/ops/matmul_int8.hpp>
#include <kaio/ops/matmul_w4.hpp>
#include <kaio/ops/matmul_w8.hpp>
#include <kaio/ops/rms_norm.hpp>
#include <kaio/ops/weight_only/repack_blocks.hpp>

using namespace kaio;
using namespace kaio::tests;

namespace {

constexpr i64 rows = 5, f = 64, k = 256;

bool has_one_launch() { return under_test().properties().target.sm >= 80; }

template <class T, class Make>
buffer<T> made(i64 count, const Make& make) {
  std::vector<T> numbers(static_cast<std::size_t>(count));
  for (T& one : numbers) one = make();
  return under_test().upload(numbers);
}

// `product`: (rows, 2 f), gate first.
template <class Out, class X>
void check_steps(const tensor_view<const X, 2>& x, const gate_up_weights& weights,
                 const std::vector<Out>& product, const gate_up_project_options& options) {
  gate_up_output<Out> out(1, rows, f, 8);
  tensor_view<Out, 2> to(out.memory, extents(rows, f), strides(out.line(), 1));
  gate_up_with_workspace(x, weights, to, options);
  out.check([&](i64, i64 r, i64 c) {
    const double g = to_double(product[static_cast<std::size_t>(r * 2 * f + c)]);
    const double u = to_double(product[static_cast<std::size_t>(r * 2 * f + f + c)]);
    return activated(options.activation, g) * u;
  });
}

}  // namespace

TEST_CASE("gate_up_project: i8", "[ops][gate_up][quantised]") {
  std::mt19937_64 engine(3);
  const auto byte = [&] { return static_cast<i8>(static_cast<int>(engine() % 255) - 127); };
  auto on_x = made<i8>(rows * k, byte), on_w = made<i8>(2 * f * k, byte);
  auto on_rows = made<f32>(rows, [&] { return 1e-3f * static_cast<f32>(engine() % 9 + 1); });
  auto on_columns = made<f32>(2 * f, [&] { return 1e-2f * static_cast<f32>(engine() % 9 + 1); });
  const tensor_view<const i8, 2> x(on_x, rows, k), w(on_w, 2 * f, k);
  const tensor_view<const f32, 1> row_scale(on_rows, rows), column_scale(on_columns, 2 * f);
  auto product = under_test().allocate<f16>(rows * 2 * f);
  matmul_int8(under_test().stream(), x, w.transposed(), tensor_view<f16, 2>(product, rows, 2 * f),
              {.scale_a = row_scale, .scale_b = column_scale});
  const auto part = [&](i64 first, i64 count) {
    return int8_weights{w.slice(0, first, count), column_scale.slice(0, first, count)};
  };
  const gate_up_project_options options{.activation = matmul_activation::gelu_tanh, .x_scale = row_scale};
  check_steps(x, part(0, 2 * f), product.download(), options);
  check_steps(x, {part(0, f), part(f, f)}, product.download(), options);
}

TEST_CASE("gate_up_project: 8-bit floats", "[ops][gate_up][quantised]") {
  std::mt19937_64 engine(5);
  const auto number = [&] { return e4m3(static_cast<float>(engine() % 17) - 8); };
  auto on_x = made<e4m3>(rows * k, number), on_w = made<e4m3>(2 * f * k, number);
  const auto power = [&] { return std::ldexp(1.0f, -static_cast<int>(engine() % 4) - 2); };
  auto on_rows = made<f32>(rows, power), on_columns = made<f32>(2 * f, power);
  auto on_groups = made<f32>(rows * k / 128, power), on_blocks = made<f32>(k / 128, power);
  const tensor_view<const e4m3, 2> x(on_x, rows, k), w(on_w, 2 * f, k);
  const tensor_view<const f32, 1> row_scale(on_rows, rows), column_scale(on_columns, 2 * f);
  const tensor_view<const f32, 2> groups(on_groups, rows, k / 128), blocks(on_blocks, 1, k / 128);
  auto product = under_test().allocate<bf16>(rows * 2 * f);
  const tensor_view<bf16, 2> to(product, rows, 2 * f);
  const stream& s = under_test().stream();
  matmul_fp8(s, x, w.transposed(), to, {.scale_a = row_scale, .scale_b = column_scale});
  const auto part = [&](i64 first, i64 count) {
    return fp8_weights{w.slice(0, first, count), column_scale.slice(0, first, count)};
  };
  check_steps(x, part(0, 2 * f), product.download(), {.x_scale = row_scale});
  check_steps(x, {part(0, f), part(f, f)}, product.download(), {.x_scale = row_scale});
  matmul_fp8(s, x, w.transposed(), to, {.groups_a = groups, .blocks_b = blocks.transposed()});
  check_steps(x, fp8_weights{.matrix = w, .blocks = blocks}, product.download(), {.x_groups = groups});
}

TEST_CASE("gate_up_project: packed weights", "[ops][gate_up][quantised]") {
  const stream& s = under_test().stream();
  std::mt19937_64 engine(4);
  auto on_x = made<f16>(rows * k, [&] { return f16(static_cast<float>(engine() % 17) / 8 - 1); });
  const tensor_view<const f16, 2> x(on_x, rows, k);
  auto product = under_test().allocate<f16>(rows * 2 * f);
  {
    auto words = made<i32>(2 * f * k / 8, [&] { return static_cast<i32>(engine()); });
    auto scales =
        made<f16>(k / 32 * 2 * f, [&] { return f16(0.01f * static_cast<float>(engine() % 9 + 1)); });
    std::vector<buffer<u8>> memory;
    const auto part = [&](i64 first, i64 count) {
      const w4_shape shape{.n = count, .k = k, .group = 32};
      memory.push_back(under_test().allocate<u8>(packed_bytes(shape)));
      const w4_weights w{shape, memory.back()};
      repack(s,
             kaio_int4{.packed = tensor_view<const i32, 2>(words, 2 * f, k / 8).slice(0, first, count),
                       .scales = tensor_view<const f16, 2>(scales, k / 32, 2 * f).slice(1, first, count)},
             w);
      return w;
    };
    const w4_weights both = part(0, 2 * f), gate = part(0, f), up = part(f, f);
    auto of_product = under_test().allocate<u8>(matmul_w4_workspace_bytes(s, x, both) + 16);
    matmul_w4(s, x, both, tensor_view<f16, 2>(product, rows, 2 * f), {.workspace = of_product});
    check_steps(x, both, product.download(), {.variant = "separate"});
    auto of_part = under_test().allocate<u8>(matmul_w4_workspace_bytes(s, x, gate) + 16);
    const tensor_view<f16, 2> to(product, rows, 2 * f);
    matmul_w4(s, x, gate, to.slice(1, 0, f), {.workspace = of_part});
    matmul_w4(s, x, up, to.slice(1, f, f), {.workspace = of_part});
    check_steps(x, {gate, up}, product.download(), {.activation = matmul_activation::relu});
  }
  auto codes = made<i8>(2 * f * k, [&] { return static_cast<i8>(engine()); });
  auto scales = made<f32>(2 * f, [&] { return 1e-3f * static_cast<f32>(engine() % 9 + 1); });
  const w8_shape shape{.n = 2 * f, .k = k};
  auto memory = under_test().allocate<u8>(packed_bytes(shape));
  const w8_weights w{shape, memory};
  repack(s,
         int8_w8{.weight = tensor_view<const i8, 2>(codes, 2 * f, k),
                 .scales = tensor_view<const f32, 2>(scales, 2 * f, 1)},
         w);
  auto of_product = under_test().allocate<u8>(matmul_w8_workspace_bytes(s, x, w) + 16);
  matmul_w8(s, x, w, tensor_view<f16, 2>(product, rows, 2 * f), {.workspace = of_product});
  check_steps(x, w, product.download(), {.activation = matmul_activation::gelu});
}

// Rounded where tuning says so and the caller does not want exact ones.
TEST_CASE("gate_up_project: many rows of packed weights, rounded or exact", "[ops][gate_up][quantised]") {
  const stream& s = under_test().stream();
  const own_cache cache;
  constexpr i64 m = 130, depth = 64;
  const rounded_product c(m, 2 * f, depth);
  c.tune_to_matrix();
  std::vector<std::vector<f16>> results;
  for (const bool rounds : {false, true}) {
    CAPTURE(rounds);
    gate_up_output<f16> out(1, m, f, 8);
    const tensor_view<f16, 2> to(out.memory, extents(m, f), strides(out.line(), 1));
    const gate_up_project_options options{.activation = matmul_activation::relu, .exact_weights = !rounds};
    REQUIRE(gate_up_project_workspace_bytes(s, c.x_view(), c.w.weight, to, options) ==
            static_cast<u64>(2 * f * (m + (rounds ? depth : 0))) * sizeof(f16));
    gate_up_with_workspace(c.x_view(), c.w.weight, to, options);
    out.check([&](i64, i64 row, i64 column) {
      return activated(options.activation, c.sum(row, column, rounds)) * c.sum(row, column + f, rounds);
    });
    results.push_back(out.memory.download());
  }
  REQUIRE(!same_bits(results[0], results[1]));
}

// Weights with offsets have no kernel for many rows on sm_90a: they are rounded into a matrix.
TEST_CASE("gate_up_project: many rows of packed weights, the workspace of a matrix", "[ops][gate_up]") {
  device& gpu = under_test();
  if (!(gpu.properties().target == ptx::target{90, true})) return;
  const stream& s = gpu.stream();
  constexpr i64 m = 1024, columns = 2048, depth = 1024;
  const w4_shape shape{
      .n = 2 * columns, .k = depth, .group = 32, .scales = w4_scale_type::f32, .offsets = true};
  auto memory = gpu.allocate<u8>(packed_bytes(shape));
  auto on_x = gpu.allocate<f16>(m * depth), on_out = gpu.allocate<f16>(m * columns);
  const tensor_view<const f16, 2> x(on_x, m, depth);
  const tensor_view<f16, 2> out(on_out, m, columns);
  const w4_weights w{shape, memory};
  const u64 rounded = gate_up_project_workspace_bytes(s, x, w, out);
  const u64 exact = gate_up_project_workspace_bytes(s, x, w, out, {.exact_weights = true});
  REQUIRE(rounded == exact + matmul_w4_workspace_bytes(s, x, w));
  REQUIRE(matmul_w4_workspace_bytes(s, x, w) >= 256 * depth * 2);
}

namespace {

struct w4_case {
  i64 m, columns, depth, group;
  bool biases = false;
  i64 batches = 1;
  i64 pad = 0;
  matmul_activation activation = matmul_activation::silu;
};

// In one launch, next to products in memory. Scales are powers of two and x has few bits, so that the sums are
// exact in any order and both give the same bits.
template <class T>
void check_one_launch(const w4_case& c) {
  CAPTURE(c.m, c.columns, c.depth, c.group, c.biases, c.batches, sizeof(T));
  const stream& s = under_test().stream();
  std::mt19937_64 engine(static_cast<u64>(c.m + c.columns));
  auto on_x =
      made<T>(c.batches * c.m * c.depth, [&] { return T(static_cast<float>(engine() % 17) / 8 - 1); });
  auto words = made<i32>(2 * c.columns * c.depth / 8, [&] { return static_cast<i32>(engine()); });
  const i64 groups = c.depth / c.group;
  auto scales = made<T>(groups * 2 * c.columns,
                        [&] { return T(std::ldexp(1.0f, -4 - static_cast<int>(engine() % 3))); });
  auto on_bias = made<T>(2 * c.columns, [&] { return T(static_cast<float>(engine() % 9) / 4 - 1); });
  const w4_shape shape{.n = 2 * c.columns,
                       .k = c.depth,
                       .group = c.group,
                       .scales = std::is_same_v<T, f16> ? w4_scale_type::f16 : w4_scale_type::bf16};
  auto memory = under_test().allocate<u8>(packed_bytes(shape));
  const w4_weights w{shape, memory};
  repack(s,
         kaio_int4{.packed = tensor_view<const i32, 2>(words, 2 * c.columns, c.depth / 8),
                   .scales = tensor_view<const T, 2>(scales, groups, 2 * c.columns)},
         w);
  gate_up_project_options options{.activation = c.activation};
  const tensor_view<const T, 1> biases(on_bias, 2 * c.columns);
  if (c.biases) {
    options.gate_bias = biases.slice(0, 0, c.columns);
    options.up_bias = biases.slice(0, c.columns, c.columns);
  }
  const tensor_view<const T, 3> x(on_x, extents(c.batches, c.m, c.depth));
  const auto result = [&](const std::string& variant, const std::string& name) {
    gate_up_output<T> out(c.batches, c.m, c.columns, c.pad);
    options.variant = variant;
    REQUIRE(ops::gate_up_project_choice(s, x, w, out.view(), options).name == name);
    REQUIRE((gate_up_project_workspace_bytes(s, x, w, out.view(), options) == 0) == (name != "separate"));
    gate_up_with_workspace(x, w, out.view(), options);
    return out.memory.download();
  };
  const std::vector<T> want = result("separate", "separate");
  const auto check = [&](const std::string& variant, const std::string& name) {
    CAPTURE(name);
    const std::vector<T> got = result(variant, name);
    for (std::size_t i = 0; i < want.size(); ++i)
      if (std::memcmp(&got[i], &want[i], sizeof(T)) != 0) {
        CAPTURE(i);
        REQUIRE(to_double(got[i]) == to_double(want[i]));
      }
  };
  const std::string type = std::is_same_v<T, f16> ? "f16" : "bf16";
  const bool is_later = s.properties().target.sm >= 90,
             by_one = is_later && c.batches * c.m == 1 && c.group % 64 == 0;
  const std::string of_few =
      "gate_up_w4_mma_" + type + (c.batches * c.m <= 8 ? "_8" : "_16") + (is_later ? "_sm90" : "_sm80");
  check(by_one ? of_few : "", of_few);
  if (by_one) check("", "gate_up_w4_one_row_" + type);
}

}  // namespace

TEST_CASE("gate_up_project: few rows by weights of four bits, in one launch", "[ops][gate_up]") {
  if (!has_one_launch()) return;
  check_one_launch<f16>({.m = 1, .columns = 96, .depth = 128, .group = 128});
  check_one_launch<f16>({.m = 5, .columns = 64, .depth = 320, .group = 32, .biases = true, .pad = 8});
  check_one_launch<f16>(
      {.m = 3, .columns = 32, .depth = 64, .group = 16, .biases = true, .batches = 5, .pad = 3});
  check_one_launch<bf16>(
      {.m = 8, .columns = 32, .depth = 640, .group = 64, .activation = matmul_activation::gelu});
  check_one_launch<bf16>({.m = 16,
                          .columns = 160,
                          .depth = 192,
                          .group = 192,
                          .biases = true,
                          .activation = matmul_activation::relu});
}

TEST_CASE("gate_up_project: one row by weights of four bits, in one launch", "[ops][gate_up]") {
  if (!has_one_launch()) return;
  // Tiles of 64 of K that the blocks of a cluster and their warps share unevenly; K that ends within one.
  check_one_launch<f16>({.m = 1, .columns = 160, .depth = 2496, .group = 64, .biases = true, .pad = 3});
  check_one_launch<bf16>(
      {.m = 1, .columns = 2144, .depth = 192, .group = 192, .activation = matmul_activation::gelu});
  check_one_launch<bf16>({.m = 1, .columns = 32, .depth = 8256, .group = 64});
  check_one_launch<f16>({.m = 1, .columns = 64, .depth = 16320, .group = 64});
  // More units than have room at once.
  if (under_test().properties().target.sm >= 90 && under_test().properties().multiprocessors == 132)
    check_one_launch<f16>({.m = 1, .columns = 17056, .depth = 128, .group = 64});
}

// Weights in act-order. The norm of x comes first, because it is in the order of x.
TEST_CASE("gate_up_project: one row by ordered weights", "[ops][gate_up][quantised]") {
  if (under_test().properties().target.sm < 90) return;
  const device& gpu = under_test();
  const stream& s = gpu.stream();
  constexpr i64 columns = 96, depth = 328;
  const auto model = w4_model<f16>::random(
      {.n = 2 * columns, .k = depth, .group = 64, .zero_points = true, .act_order = true}, 3);
  const w4_on_device<f16> on_device(model, w4_format::gptq_v2);
  std::mt19937_64 engine(4);
  const auto random = [&] { return f16(std::uniform_real_distribution<float>(-0.5f, 0.5f)(engine)); };
  auto on_x = made<f16>(depth, random), on_weight = made<f16>(depth, random);
  const tensor_view<const f16, 2> x(on_x, 1, depth);
  const auto project = [&](const tensor_view<const f16, 2>& of, const gate_up_project_options& options) {
    gate_up_output<f16> out(1, 1, columns, 0);
    const tensor_view<f16, 2> to(out.memory, 1, columns);
    REQUIRE(ops::gate_up_project_choice(s, of, on_device.weights(), to, options).name ==
            "gate_up_w4_one_row_f16");
    gate_up_with_workspace(of, on_device.weights(), to, options);
    return out.memory.download();
  };
  const std::vector<f16> numbers = on_x.download(), got = project(x, {});
  for (i64 column = 0; column < columns; ++column) {
    double gate = 0, up = 0, all = 0;
    for (i64 i = 0; i < depth; ++i) {
      const double one = to_double(numbers[static_cast<std::size_t>(i)]);
      gate += one * model.weight(i, column);
      up += one * model.weight(i, columns + column);
      all += std::abs(one * model.weight(i, column)) + std::abs(one * model.weight(i, columns + column));
    }
    const double want = gate / (1 + std::exp(-gate)) * up;
    CAPTURE(column, want, all);
    REQUIRE(std::abs(to_double(got[static_cast<std::size_t>(column)]) - want) <=
            0x1p-10 * std::abs(want) + 0x1p-18 * all * (1 + all));
  }
  auto on_normed = gpu.allocate<f16>(depth);
  const tensor_view<const f16, 1> weight(on_weight, depth);
  rms_norm(s, x, weight, tensor_view<f16, 2>(on_normed, 1, depth));
  const auto normed = project(tensor_view<const f16, 2>(on_normed, 1, depth), {});
  REQUIRE(same_bits(project(x, {.x_norm = {.weight = weight}}), normed));
}

// They need sums of x, which no kernel of one launch computes.
TEST_CASE("gate_up_project: few rows by weights with offsets", "[ops][gate_up][quantised]") {
  const stream& s = under_test().stream();
  std::mt19937_64 engine(6);
  auto on_x = made<f16>(rows * k, [&] { return f16(static_cast<float>(engine() % 17) / 8 - 1); });
  const tensor_view<const f16, 2> x(on_x, rows, k);
  const auto size = static_cast<i64>(packed_bytes(block_format::q4_1, 2 * f * k));
  i64 place = 0;  // d = 2^-6, m = -2^-4, codes
  auto on_blocks = made<u8>(size, [&] {
    constexpr u8 head[4] = {0x00, 0x24, 0x00, 0xac};
    const i64 at = place++ % 20;
    return at < 4 ? head[at] : static_cast<u8>(engine());
  });
  const w4_shape shape = w4_shape_of(block_format::q4_1, 2 * f, k);
  auto memory = under_test().allocate<u8>(packed_bytes(shape));
  const w4_weights w{shape, memory};
  repack(s, gguf_blocks{block_format::q4_1, tensor_view<const u8, 1>(on_blocks, size)}, w);

  auto product = under_test().allocate<f16>(rows * 2 * f);
  auto workspace = under_test().allocate<u8>(matmul_w4_workspace_bytes(s, x, w) + 16);
  matmul_w4(s, x, w, tensor_view<f16, 2>(product, rows, 2 * f), {.workspace = workspace});
  check_steps(x, w, product.download(), {});
  auto on_out = under_test().allocate<f16>(rows * f);
  const tensor_view<f16, 2> out(on_out, rows, f);
  REQUIRE(ops::gate_up_project_choice(s, x, w, out).name == "separate");
  REQUIRE_THROWS_AS(ops::gate_up_project_choice(s, x, w, out, {.variant = "gate_up_w4_mma_f16_8_sm80"}).name,
                    invalid_argument);
}
