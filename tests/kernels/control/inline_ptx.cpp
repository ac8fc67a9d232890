// ptx_op: instructions by their text compute what PTX says of them, and one that PTX does not have is refused
// where the kernel is loaded.
#include "tests/kernels/control/inline_ptx_kernels.hpp"

#include "tests/kernels/support.hpp"

#include <string>

using namespace kaio;
using namespace kaio::tests;

namespace {

// The place of the n-th set bit, from bit `base` on.
u32 set_bit(u32 x, u32 base, u32 n) {
  for (u32 bit = base; bit < 32; ++bit)
    if ((x >> bit & 1) != 0 && --n == 0) return bit;
  return 0xffffffffu;
}

constexpr auto unknown_instruction =
    ptx_op<"frobnicate.u32", u32(u32), ptx_effect::pure, ptx_since{.target = {70}, .version = {6, 0}}>;
constexpr auto frobnicated = kernel<"frobnicated", 32>([](thread t, out<u32> y) {
  val i = t.global_id();
  y[i] = unknown_instruction(i);
});

}  // namespace

TEST_CASE("instructions by their text are expressions", "[inline_ptx]") {
  const u32 n = 1000;
  std::vector<u32> x;
  std::vector<f32> f;
  std::mt19937 engine(3);
  for (u32 i = 0; i < n; ++i) {
    x.push_back(i < 40 ? i : static_cast<u32>(engine()));
    f.push_back((i % 3 == 0 ? 0x1p-130f : 1.0f) * static_cast<f32>(static_cast<i32>(i) - 500));
  }
  auto in_x = under_test().upload(x);
  auto in_f = under_test().upload(f);
  auto y = poisoned<u32>(std::size_t{expression_rows} * n);
  inline_expressions.launch(under_test().stream(), over(n), in_x, in_f, y, n);
  const std::vector<u32> got = y.download();
  for (u32 i = 0; i < n; ++i) {
    const u32 a = x[i];
    INFO("element " << i << ", " << a << ", " << f[i]);
    REQUIRE(got[i] == set_bit(a, 0, 3));
    REQUIRE(got[i + n] == 2 * set_bit(a, 8, 1));
    REQUIRE(got[i + n * 2] == 31u << (a & 31));
    REQUIRE(got[i + n * 3] == (std::fpclassify(f[i]) == FP_SUBNORMAL ? 1u : 0u));
    REQUIRE(got[i + n * 4] == a >> 31);
    REQUIRE(got[i + n * 5] == ((a + i) & 0xffffu));
    REQUIRE(got[i + n * 6] == ((a + 65535) & 0xffffu));
    REQUIRE(got[i + n * 7] == (f[i] < 0 ? 7u : a));
    REQUIRE(got[i + n * 8] == (i % 32 == 31 ? 0u : 0xffffffffu << (i % 32 + 1)));
  }
}

TEST_CASE("an instruction by its text on pairs", "[inline_ptx]") {
  const f16 nan = std::bit_cast<f16>(std::uint16_t{0x7e00});
  const std::vector<f16x2> x{{f16(1), f16(2)}, {f16(-3), nan}, {nan, f16(1.75f)}};
  auto in = under_test().upload(x);
  auto y = under_test().upload(std::vector<f16x2>(3));
  inline_pairs.launch(under_test().stream(), over(3), in, y, 3u);
  const std::vector<f16x2> got = y.download();
  CHECK(static_cast<f32>(got[0].low) == 1.0f);
  CHECK(static_cast<f32>(got[0].high) == 1.5f);
  CHECK(static_cast<f32>(got[1].low) == -3.0f);
  CHECK(std::isnan(static_cast<f32>(got[1].high)));
  CHECK(std::isnan(static_cast<f32>(got[2].low)));
  CHECK(static_cast<f32>(got[2].high) == 1.5f);
}

TEST_CASE("instructions by their text are statements", "[inline_ptx]") {
  std::vector<u32> x;
  std::mt19937 engine(4);
  for (u32 i = 0; i < 128; ++i) x.push_back(static_cast<u32>(engine()));
  auto in = under_test().upload(x);
  auto y = poisoned<u32>(std::size_t{statement_rows} * 64);
  auto pairs = poisoned<u32>(128);
  inline_statements.launch(under_test().stream(), grid(1), in, y, pairs);
  const std::vector<u32> got = y.download();
  const std::vector<u32> swapped = pairs.download();
  for (u32 i = 0; i < 64; ++i) {
    const u32 a = x[2 * i], b = x[2 * i + 1];
    const u64 product = u64{a} * b;
    INFO("thread " << i);
    REQUIRE(got[i] == a + b);
    REQUIRE(got[i + 64] == b + (a + b < a ? 1 : 0));
    REQUIRE(got[i + 64 * 2] == 0);
    REQUIRE(got[i + 64 * 3] == 0xffffffffu);
    REQUIRE(got[i + 64 * 4] == static_cast<u32>(product));
    REQUIRE(got[i + 64 * 5] == static_cast<u32>(product >> 32));
    REQUIRE(got[i + 64 * 6] == (a ^ b));
    REQUIRE(got[i + 64 * 7] == b);
    REQUIRE(got[i + 64 * 8] == x[2 * (63 - i)]);
    REQUIRE(got[i + 64 * 9] == x[10]);
    REQUIRE(got[i + 64 * 10] == 63);
    REQUIRE(swapped[2 * i] == b);
    REQUIRE(swapped[2 * i + 1] == a);
  }
}

TEST_CASE("an instruction by its text with fourteen operands", "[inline_ptx]") {
  auto y = poisoned<f32>(128);
  inline_matrix.launch(under_test().stream(), grid(1), y);
  const std::vector<f32> got = y.download();
  for (u32 lane = 0; lane < 32; ++lane) {
    for (u32 k = 0; k < 3; ++k) REQUIRE(got[4 * lane + k] == 8 + static_cast<f32>(lane));
    REQUIRE(got[4 * lane + 3] == 8.5f);
  }
}

TEST_CASE("an instruction that PTX does not have is refused when it is loaded", "[inline_ptx]") {
  auto y = under_test().allocate<u32>(32);
  try {
    frobnicated.launch(under_test().stream(), grid(1), y);
    under_test().stream().synchronize();
    FAIL("it was loaded");
  } catch (const jit_error& e) {
    CHECK(std::string(e.what()).find("frobnicate") != std::string::npos);
  }
}
