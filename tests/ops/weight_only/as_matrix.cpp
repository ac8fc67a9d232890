// matmul_w4 and matmul_w8 by a matrix of the weights: its bits are those of dequantise, for all codes; when it is
// chosen, and what the choice takes.
#include <kaio/ops/matmul_w8.hpp>
#include <kaio/ops/weight_only/common/layout.hpp>

#include "tests/ops/weight_only/support.hpp"

#include <array>
#include <cstring>
#include <limits>

using namespace kaio;
using namespace kaio::tests;

namespace {

using type = w4_scale_type;

// Packed weights of random codes and zero points, with scales, factors and offsets around one.
buffer<u8> packed_at_random(const w4_shape& shape, std::uint64_t seed) {
  const auto number = [](i64 x) { return static_cast<u64>(x); };
  const ops::w4_layout at = ops::w4_layout::of({.n = number(shape.n),
                                                .k = number(shape.k),
                                                .group = number(shape.group == -1 ? shape.k : shape.group),
                                                .bits = ops::bits_of(shape.codes),
                                                .scale_bytes = ops::bytes_of(shape.scales),
                                                .zero_points = shape.zero_points,
                                                .factors = shape.factors,
                                                .act_order = shape.act_order,
                                                .offsets = shape.offsets});
  REQUIRE(at.bytes == packed_bytes(shape));
  std::mt19937_64 engine(seed);
  std::vector<u8> bytes(at.bytes);
  for (u8& byte : bytes) byte = static_cast<u8>(engine());
  std::uniform_real_distribution<float> any(-2, 2);
  const auto put = [&](u64 from, u64 to, auto one) {
    for (u64 i = from; i < to; i += sizeof(one())) {
      const auto x = one();
      std::memcpy(&bytes[i], &x, sizeof x);
    }
  };
  const auto single = [&] { return any(engine); };
  switch (shape.scales) {
    case type::f16: put(at.scales, at.zeros, [&] { return f16(any(engine)); }); break;
    case type::bf16: put(at.scales, at.zeros, [&] { return bf16(any(engine)); }); break;
    case type::f32: put(at.scales, at.zeros, single); break;
    case type::e8m0: put(at.scales, at.zeros, [&] { return static_cast<u8>(118 + engine() % 16); }); break;
    case type::e4m3: break;  // any byte is a scale
  }
  if (shape.offsets) put(at.zeros, at.factors, single);
  if (shape.factors) put(at.factors, at.rows, single);
  std::vector<i32> order(number(shape.k));
  std::iota(order.begin(), order.end(), 0);
  std::shuffle(order.begin(), order.end(), engine);
  if (shape.act_order) std::memcpy(&bytes[at.rows], order.data(), order.size() * sizeof(i32));
  return under_test().upload(bytes);
}

// A product leaves the last slice of the matrix in the workspace, rows of k rounded up to 8.
template <class T>
void check_bits(const w4_shape& shape, std::uint64_t seed) {
  if (is_without_bf16_products<T>("dequantise")) return;
  device& gpu = under_test();
  const stream& s = gpu.stream();
  const buffer<u8> memory = packed_at_random(shape, seed);
  const w4_weights w{shape, memory};
  const i64 n = shape.n, k = shape.k, row = (k + 7) / 8 * 8, m = 3;
  const auto size = [](i64 rows, i64 columns) { return static_cast<std::size_t>(rows * columns); };
  auto x = gpu.upload(std::vector<T>(size(m, k), T(1.0f)));
  auto y = gpu.template allocate<T>(size(m, n));
  auto right_memory = gpu.template allocate<T>(size(n, row));
  dequantise(s, w, tensor_view<T, 2>(right_memory, extents(n, k), strides(row, i64{1})));
  const std::vector<T> right = right_memory.download();
  for (const i64 slices : {i64{1}, (n + 31) / 32}) {
    auto matrix = gpu.upload(std::vector<u16>(size(slices == 1 ? n : 32, row), u16{0xabcd}));
    const std::string variant = "dequantise:" + std::to_string(slices);
    for (const bool constant : {false, true})
      matmul_w4(s, tensor_view<const T, 2>(x, m, k), w, tensor_view<T, 2>(y, m, n),
                {.workspace = matrix,
                 .variant = variant,
                 .constant = constant ? constant_inputs::weights : constant_inputs::none});
    const std::vector<u16> got = matrix.download();
    const i64 first = slices == 1 ? 0 : (n - 1) / 32 * 32;
    for (i64 r = first; r < n; ++r)
      for (i64 i = 0; i < k; ++i) {
        const auto wanted = __builtin_bit_cast(u16, right[size(r, row) + static_cast<std::size_t>(i)]);
        const u16 came = got[size(r - first, row) + static_cast<std::size_t>(i)];
        if (came == wanted) continue;
        CAPTURE(n, k, static_cast<int>(shape.codes), slices, r, i);
        REQUIRE(came == wanted);
      }
  }
}

void check_both(const w4_shape& shape) {
  check_bits<f16>(shape, 7);
  check_bits<bf16>(shape, 8);
}

struct large_call {
  device& gpu = under_test();
  const stream& s = gpu.stream();
  w4_shape shape{.n = 8192, .k = 4096};
  i64 m = 2048;
  buffer<f16> x_memory = gpu.allocate<f16>(static_cast<std::size_t>(m * shape.k));
  tensor_view<const f16, 2> x(i64 rows) const { return tensor_view<const f16, 2>(x_memory, rows, shape.k); }
  std::string_view choice(i64 rows, const matmul_w4_options& options = {}) const {
    return ops::matmul_w4_choice(s, x(rows), {shape, {}}, options).name;
  }
  u64 workspace(i64 rows, const matmul_w4_options& options = {}) const {
    return matmul_w4_workspace_bytes(s, x(rows), {shape, {}}, options);
  }
};

}  // namespace

TEST_CASE("matmul_w4: a matrix of integers of four bits has the bits of dequantise", "[ops][w4]") {
  check_both({.n = 40, .k = 192, .group = 64, .zero_points = true});
  check_both({.n = 65, .k = 96, .group = 16, .scales = type::bf16});
  check_both({.n = 33, .k = 85, .group = -1, .zero_points = true});
  check_both({.n = 96, .k = 128, .group = 32, .zero_points = true, .act_order = true});
  check_both({.n = 40, .k = 160, .group = 32, .scales = type::f32, .offsets = true, .zero = 3});
  check_both({.n = 47, .k = 2240, .group = 64, .scales = type::bf16, .zero_points = true});  // strips of K
}

TEST_CASE("matmul_w4: a matrix of tables and small floats has the bits of dequantise", "[ops][w4][codes]") {
  for (const w4_codes codes : {w4_codes::nf4, w4_codes::fp4})
    check_both({.n = 41, .k = 192, .group = 64, .scales = type::f32, .codes = codes});
  check_both({.n = 40, .k = 96, .group = 32, .scales = type::e8m0, .codes = w4_codes::e2m1});
  for (const bool factors : {false, true})
    check_both(
        {.n = 70, .k = 80, .group = 16, .scales = type::e4m3, .codes = w4_codes::e2m1, .factors = factors});
}

TEST_CASE("matmul_w8: a matrix has the bits of dequantise", "[ops][w8]") {
  const auto check = [](const w8_shape& shape) { check_both(ops::detail::as_w4_shape(shape)); };
  check({.n = 40, .k = 192, .group = 64, .zero_points = true});
  check({.n = 39, .k = 90});
  check({.n = 64, .k = 128, .group = 16, .zero_points = true, .act_order = true});
  check({.n = 33, .k = 96, .group = 32, .offsets = true});
  check({.n = 65, .k = 192, .group = 64, .codes = w8_codes::e4m3});
}

TEST_CASE("matmul_w4: many rows of x have weights rounded, unless the caller wants exact ones", "[ops][w4]") {
  large_call c;
  const auto rounds = [](std::string_view name) {
    return name == "dequantise" || name.find("rounded") != std::string_view::npos;
  };
  if (!(c.gpu.properties().target == ptx::target{90, true})) {
    REQUIRE_FALSE(rounds(c.choice(2048)));
    return;
  }
  // By a kernel.
  const std::string_view exact = c.choice(512, {.exact_weights = true});
  REQUIRE(exact.starts_with("matmul_w4_sm90"));
  REQUIRE_FALSE(rounds(exact));
  REQUIRE(c.choice(512).starts_with("matmul_w4_sm90_rounded_f16_"));
  for (const i64 rows : {1, 8, 16}) REQUIRE_FALSE(rounds(c.choice(rows)));
  for (const i64 rows : {32, 64, 128}) REQUIRE_FALSE(rounds(c.choice(rows, {.exact_weights = true})));
  for (const i64 rows : {384, 640, 1024}) REQUIRE(rounds(c.choice(rows)));
  REQUIRE(rounds(c.choice(2048)));
  REQUIRE(c.choice(512, {.splits = 1}) == exact);
  REQUIRE(c.choice(512, {.variant = exact}) == exact);
  REQUIRE(c.workspace(512) == 0);
  c.shape.scales = type::bf16;
  REQUIRE(rounds(c.choice(1024)));
  REQUIRE_THROWS_AS(c.choice(2048, {.variant = "matmul_w4_sm90_rounded_f16_256"}), invalid_argument);
  c.shape.scales = type::f16;
  REQUIRE_THROWS_AS(c.choice(2048, {.variant = "matmul_w4_sm90_rounded_in_f32_f16_256"}), invalid_argument);
  // By a matrix, where there is no such kernel: of slices whose columns are a multiple of 256.
  c.shape = {.n = 8192, .k = 4096, .group = 32, .scales = type::f32, .offsets = true};
  for (const i64 rows : {512, 2048}) REQUIRE(c.choice(rows) == "dequantise");
  const std::string_view slow = c.choice(2048, {.exact_weights = true});
  REQUIRE_FALSE(rounds(slow));
  REQUIRE(c.choice(2048, {.splits = 1}) == slow);
  const u64 bytes = c.workspace(2048), column = 4096 * sizeof(f16);
  REQUIRE(bytes % (256 * column) == 0);
  REQUIRE(bytes <= 8192 * column);
  REQUIRE(c.workspace(2048, {.variant = "dequantise:4"}) == 2048 * column);
  REQUIRE(c.workspace(2048, {.exact_weights = true}) == 0);
  // With less room the call runs as it did without a matrix.
  ops::matmul_w4_warmup(c.gpu, c.x(512), {c.shape, {}});
  auto small = c.gpu.allocate<u8>(4096);
  REQUIRE(c.choice(2048, {.workspace = small}) == slow);
  REQUIRE(c.workspace(2048, {.workspace = small}) == 0);
}

TEST_CASE("matmul_w4: names of slices, and too small a workspace for them", "[ops][w4]") {
  device& gpu = under_test();
  const stream& s = gpu.stream();
  const w4_shape shape{.n = 96, .k = 64, .group = 64};
  const buffer<u8> memory = packed_at_random(shape, 3);
  const w4_weights w{shape, memory};
  auto x_memory = gpu.allocate<f16>(2 * 64), y_memory = gpu.allocate<f16>(2 * 96);
  const tensor_view<const f16, 2> x(x_memory, 2, 64);
  const tensor_view<f16, 2> y(y_memory, 2, 96);
  for (const u32 slices : {1u, 2u, 3u}) {
    const std::string name = "dequantise:" + std::to_string(slices);
    const auto choice = ops::matmul_w4_choice(s, x, w, {.variant = name});
    REQUIRE(choice.name == "dequantise");
    REQUIRE(choice.splits == slices);
    REQUIRE(matmul_w4_workspace_bytes(s, x, w, {.variant = name}) == (slices == 1   ? 96u
                                                                      : slices == 2 ? 64u
                                                                                    : 32u) *
                                                                         128);
    ops::matmul_w4_warmup(gpu, x, w, {.variant = name});
  }
  // Slices are of 32 columns at least.
  for (const char* name :
       {"dequantise:0", "dequantise:4", "dequantise:", "dequantise:2:cluster", "dequantised:1"})
    REQUIRE_THROWS_AS(ops::matmul_w4_choice(s, x, w, {.variant = name}), invalid_argument);
  auto small = gpu.allocate<u8>(32 * 128 - 1);
  REQUIRE_THROWS_AS(matmul_w4(s, x, w, y, {.workspace = small, .variant = "dequantise:3"}), invalid_argument);
  REQUIRE_THROWS_AS(matmul_w4(s, x, w, y, {.variant = "dequantise"}), invalid_argument);
}
