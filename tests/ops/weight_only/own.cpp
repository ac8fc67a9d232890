// matmul_w4_with: codes of the user's own, a table and a class that decodes by itself.
#include <kaio/ops/matmul_w4_with.hpp>

#include "tests/ops/refusal.hpp"
#include "tests/ops/weight_only/codes_support.hpp"

#include <string>

using namespace kaio;
using namespace kaio::tests;

namespace {

// Numbers of a three-bit code. The fourth bit is ignored, so that each number has two codes.
constexpr float of_three_bits[8] = {0, 0.25f, 0.5f, 1, -0.25f, -0.5f, -1, 3};
using three_bits = w4_function<"three_bits_", [](u32 code) { return of_three_bits[code % 8]; }>;

// The lower three bits of a code less four; scales of f16 or bf16 in groups of 32.
struct less_four : w4_dequantisation {
  static constexpr fixed_string name = "less_four_";
  static constexpr std::uint32_t slots = 2;

  template <dsl::scalar T>
  struct decoder {
    using pair = typename ops::w4_pair<T>::type;
    static constexpr f32 unit = 1;
    constexpr decoder(thread, const val<ops::w4_problem>&) {}

    template <class Words, class Minus, class Registers>
    constexpr void decode(thread t, const Words& words, const Minus&, Registers& registers) const {
      constexpr u32 magic = std::is_same_v<T, f16> ? 0x64006400u : 0x43004300u;  // 1024, 128
      for (u32 i = 0; i < 4; ++i) {
        const val codes = t.let((words[0] >> (4 * i) & 0x00070007u) | magic);
        const val numbers = t.let(bit_cast<pair>(codes) - (std::is_same_v<T, f16> ? 1028.0 : 132.0));
        registers[i] = numbers;
      }
    }
  };
};

// A code of three bits and a scale; the weight is no number times the scale.
using curved = w4_scaled_function<"curved_", [](thread t, const val<u32>& code, const val<f32>& scale) {
  const val number = t.let(cast<f32>(code & 7u) - 3.5f);
  return t.let(number * scale + scale * scale * 0.25f);
}>;

// `kernel`: if it has a name, the kernel for sm_90a, on devices that have it.
template <class D, class T, class Number>
void check_own(const w4_shape& extents_of, const product_call& c, const matmul_w4_options& of_call,
               const Number& number, const std::string& kernel = {}) {
  const ptx::target device = under_test().properties().target;
  if (device.sm < 80) return;
  const w4_shape shape = shape_for<D>(extents_of);
  w4_model<f16> model = w4_model<f16>::random(shape, c.seed);
  model.shape = shape;
  // The words of compressed-tensors have codes as they are.
  const w4_on_device<f16> w(model, w4_format::compressed_tensors);
  check_w_product<T, T>(
      c, shape.n, shape.k,
      [&](i64 row, i64 column) {
        const double scale = to_double(model.scales[model.fact(model.group_of(column), row)]);
        const u32 code = model.code(column, row);
        if constexpr (std::is_invocable_v<Number, u32, double>)
          return number(code, scale);
        else
          return scale * number(code);
      },
      [&](const auto& x, const auto& y, const ops::any_view& bias) {
        const stream& s = under_test().stream();
        matmul_w4_options options = of_call;
        options.bias = bias;
        const std::uint64_t bytes = matmul_w4_with_workspace_bytes<D>(s, x, w.weights(), options);
        buffer<u8> workspace = under_test().upload(std::vector<u8>(std::max<std::uint64_t>(bytes, 1), 0xff));
        if (bytes != 0) options.workspace = workspace;
        if (!kernel.empty() && device == ptx::target{90, true})
          REQUIRE(ops::matmul_w4_with_choice<D>(s, x, w.weights(), options).name == kernel);
        matmul_w4_with<D>(s, x, w.weights(), y, options);
      });
}

double of_three(u32 code) { return static_cast<double>(three_bits::numbers[code]); }
// As the kernels round it.
double of_curved(u32 code, double scale) {
  const float number = static_cast<float>(code & 7) - 3.5f, by = static_cast<float>(scale);
  return to_double(bf16(number * by + by * by * 0.25f));
}
double of_less_four(u32 code) { return static_cast<double>(code & 7) - 4; }

}  // namespace

TEST_CASE("matmul_w4_with: a table", "[ops][w4][own]") {
  check_own<three_bits, f16>({.n = 45, .k = 320, .group = 64}, {.m = 3, .bias = true, .seed = 1},
                             {.splits = 1}, of_three);
  check_own<three_bits, f16>({.n = 30, .k = 96, .group = 16}, {.m = 19, .seed = 2}, {.splits = 2}, of_three);
  check_own<three_bits, f16>({.n = 70, .k = 128, .group = 32, .act_order = true}, {.m = 40, .seed = 3}, {},
                             of_three);
}

TEST_CASE("matmul_w4_with: a decoder", "[ops][w4][own]") {
  check_own<less_four, bf16>({.n = 45, .k = 288, .group = 32}, {.m = 5, .seed = 1}, {.splits = 3},
                             of_less_four);
  check_own<less_four, bf16>({.n = 33, .k = 192, .group = 96}, {.m = 33, .pad = 1, .seed = 2}, {.splits = 1},
                             of_less_four);
}

TEST_CASE("matmul_w4_with: a function of code and scale", "[ops][w4][own]") {
  check_own<curved, bf16>({.n = 45, .k = 320, .group = 64}, {.m = 3, .bias = true, .seed = 1}, {.splits = 1},
                          of_curved);
  check_own<curved, bf16>({.n = 30, .k = 96, .group = 32}, {.m = 19, .seed = 2}, {.splits = 2}, of_curved);
  check_own<curved, bf16>({.n = 70, .k = 128, .group = 32, .act_order = true}, {.m = 40, .seed = 3}, {},
                          of_curved);
  const std::string kernel = "matmul_w4_sm90_curved_bf16_";
  check_own<curved, bf16>({.n = 136, .k = 320, .group = 32}, {.m = 17, .seed = 4}, {.splits = 2}, of_curved,
                          kernel + "32");
  check_own<curved, bf16>({.n = 40, .k = 384, .group = 128}, {.m = 41, .pad = 8, .seed = 5},
                          {.variant = kernel + "64"}, of_curved, kernel + "64");
  check_own<curved, bf16>({.n = 130, .k = 192, .group = 64}, {.m = 129, .seed = 6}, {.splits = 1}, of_curved,
                          kernel + "128");
}

// Nine rows of x or more, which begin at multiples of 16 bytes, with K of at least a stage.
TEST_CASE("matmul_w4_with: the kernels for sm_90a", "[ops][w4][own]") {
  const std::string table = "matmul_w4_sm90_three_bits_f16_", decoder = "matmul_w4_sm90_less_four_bf16_";
  // 32, 64 and 128 rows of a block; whole tiles and parts of one; splits of K in clusters and by a second kernel.
  check_own<three_bits, f16>({.n = 45, .k = 512, .group = 64}, {.m = 9, .seed = 1}, {.splits = 1}, of_three,
                             table + "32");
  check_own<three_bits, f16>({.n = 264, .k = 320, .group = 64}, {.m = 32, .bias = true, .seed = 2},
                             {.splits = 2}, of_three, table + "32");
  check_own<three_bits, f16>({.n = 40, .k = 384, .group = 128}, {.m = 41, .pad = 8, .seed = 3},
                             {.variant = table + "64"}, of_three, table + "64");
  check_own<three_bits, f16>({.n = 136, .k = 448, .group = -1}, {.m = 70, .seed = 4}, {.splits = 3}, of_three,
                             table + "128");
  // Two groups in a tile of 64 of K.
  check_own<less_four, bf16>({.n = 72, .k = 288, .group = 32}, {.m = 17, .bias = true, .seed = 5},
                             {.splits = 2}, of_less_four, decoder + "32");
  check_own<less_four, bf16>({.n = 33, .k = 256, .group = 32}, {.m = 64, .seed = 6}, {.splits = 1},
                             of_less_four, decoder + "64");
  check_own<less_four, bf16>({.n = 130, .k = 192, .group = 96}, {.m = 129, .seed = 7}, {.splits = 1},
                             of_less_four, decoder + "128");
}

TEST_CASE("matmul_w4_with: the kernels for sm_90a, by their names", "[ops][w4][own]") {
  if (under_test().properties().target != ptx::target{90, true}) return;
  for (const char* rows : {"32", "64", "128"}) {
    CAPTURE(rows);
    const std::string table = std::string("matmul_w4_sm90_three_bits_f16_") + rows,
                      decoder = std::string("matmul_w4_sm90_less_four_bf16_") + rows;
    // One row of x, which other kernels are for, and more rows than a block has.
    check_own<three_bits, f16>({.n = 40, .k = 256, .group = 64}, {.m = 1, .seed = 8}, {.variant = table},
                               of_three, table);
    check_own<less_four, bf16>({.n = 40, .k = 320, .group = 64}, {.m = 35, .seed = 9}, {.variant = decoder},
                               of_less_four, decoder);
  }
}

// Each operation names itself in its errors; the choice has the splits that a call asks for.
TEST_CASE("matmul_w4_with: the choice and the warmup of a call", "[ops][w4][own]") {
  const device& gpu = under_test();
  const stream& s = gpu.stream();
  const w4_shape shape = shape_for<three_bits>({.n = 40, .k = 256, .group = 64});
  buffer<u8> memory = gpu.allocate<u8>(packed_bytes(shape));
  buffer<f16> x_memory = gpu.allocate<f16>(40 * 256);
  const w4_weights w{shape, memory}, other{{.n = 40, .k = 256, .group = 64}, memory};
  const tensor_view<const f16, 2> x(x_memory, 40, 256);
  const auto refuses = [&](const std::string& part, const std::string& operation, const auto& call) {
    require_refusal(errc::invalid_argument, "kaio: " + operation + ": ", part, call);
  };
  refuses("shape_for", "matmul_w4_with_choice", [&] { ops::matmul_w4_with_choice<three_bits>(s, x, other); });
  refuses("shape_for", "matmul_w4_with_warmup", [&] { matmul_w4_with_warmup<three_bits>(gpu, x, other); });
  if (gpu.properties().target.sm < 80) return;
  refuses("variant", "matmul_w4_with_warmup",
          [&] { matmul_w4_with_warmup<three_bits>(gpu, x, w, {.variant = "none"}); });
  for (const u32 parts : {1u, 2u}) {
    const auto choice = ops::matmul_w4_with_choice<three_bits>(s, x, w, {.splits = parts});
    REQUIRE(choice.name.find("three_bits_f16_") != std::string_view::npos);
    REQUIRE(choice.splits == parts);
    matmul_w4_with_warmup<three_bits>(gpu, x, w, {.splits = parts});
  }
  REQUIRE(ops::matmul_w4_with_choice<three_bits>(s, x.slice(0, 0, 0), w).name.empty());
}

TEST_CASE("matmul_w4_with: weights of other codes are refused", "[ops][w4][own]") {
  const stream& s = under_test().stream();
  const w4_shape own = shape_for<three_bits>({.n = 32, .k = 64, .group = 64}),
                 plain{.n = 32, .k = 64, .group = 64};
  buffer<u8> memory = under_test().allocate<u8>(packed_bytes(own));
  buffer<f16> x_memory = under_test().allocate<f16>(64), y_memory = under_test().allocate<f16>(64);
  const tensor_view<const f16, 2> x(x_memory, 1, 64);
  const tensor_view<f16, 2> y(y_memory, 1, 32);
  const auto refuses = [&](const std::string& part, const std::function<void()>& f) {
    require_refusal(errc::invalid_argument, "kaio: ", part, f);
  };
  refuses("shape_for", [&] { matmul_w4_with<three_bits>(s, x, w4_weights{plain, memory}, y); });
  refuses("shape_for", [&] { matmul_w4_with<less_four>(s, x, w4_weights{own, memory}, y); });
  refuses("matmul_w4_with", [&] { matmul_w4(s, x, w4_weights{own, memory}, y); });
  const tensor_view<f16, 2> matrix(y_memory, 1, 1);
  refuses("own codes", [&] { dequantise(s, w4_weights{own, memory}, matrix); });
  refuses("multiples", [&] { packed_bytes(shape_for<less_four>({.n = 32, .k = 96, .group = 48})); });
}
