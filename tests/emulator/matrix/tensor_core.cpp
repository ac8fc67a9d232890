// The results of a tensor core, bit for bit, against a second model in double precision and against values
// that were worked out by hand, where architectures differ.

#include "emulator/instructions/matrix/tensor_core.hpp"
#include "tests/emulator/matrix/mma_model.hpp"

namespace {

using namespace kaio::emulator;
using codes = std::vector<std::uint32_t>;

struct case_of_format {
  tensor_format format;
  const mma_model::number_format& model;
};

const case_of_format formats[] = {{tensor_format::f16, mma_model::f16},
                                  {tensor_format::bf16, mma_model::bf16},
                                  {tensor_format::tf32, mma_model::tf32},
                                  {tensor_format::e4m3, mma_model::e4m3},
                                  {tensor_format::e5m2, mma_model::e5m2}};

std::uint32_t result(unsigned sm, tensor_format fa, const codes& a, tensor_format fb, const codes& b,
                     std::uint32_t c, bool half, tensor_path path = tensor_path::warp) {
  const tensor_model model = tensor_model_of(sm, fa, path);
  const auto depth = static_cast<std::uint32_t>(a.size());
  tensor_operand x(model, fa, 3, depth), y(model, fb, 2, depth);
  for (std::uint32_t k = 0; k < depth; ++k) {
    x.set(2, k, a[k]);
    y.set(1, k, b[k]);
  }
  if (half) return dot_f16(model, x, 2, y, 1, static_cast<std::uint16_t>(c));
  return dot_f32(model, x, 2, y, 1, c);
}

codes filled(std::size_t depth, std::initializer_list<std::pair<std::size_t, double>> values,
             const mma_model::number_format& f) {
  codes c(depth);
  for (const auto& [k, value] : values) c[k] = mma_model::code_of(value, f);
  return c;
}

}  // namespace

TEST_CASE("a dot product of every format is that of the published model") {
  std::mt19937 random(1);
  for (unsigned sm : {70u, 75u, 80u, 86u, 89u, 90u})
    for (const case_of_format& fa : formats)
      for (const case_of_format& fb : formats) {
        const bool eight = fa.model.bits == 8 && fb.model.bits == 8;
        if (fa.format != fb.format && !eight) continue;
        if (sm < (eight ? 89u : fa.format == tensor_format::f16 ? 70u : 80u)) continue;
        for (bool warpgroup : {false, true}) {
          if (warpgroup && sm < 90) continue;
          for (bool half : {false, true}) {
            if (half && fa.format != tensor_format::f16 && !eight) continue;
            for (mma_model::kind kind : mma_model::all_kinds)
              for (int round = 0; round < 200; ++round) {
                const std::size_t depth = eight ? (round % 2 != 0 ? 16 : 32) : fa.model.bits == 32 ? 8 : 16;
                if (eight && warpgroup && depth == 16) continue;
                codes a, b;
                for (std::size_t k = 0; k < depth; ++k) {
                  a.push_back(mma_model::random_code(random, fa.model, kind));
                  b.push_back(mma_model::random_code(random, fb.model, kind));
                }
                const auto& fc = half ? mma_model::f16 : mma_model::f32;
                const std::uint32_t c = mma_model::random_code(random, fc, kind);
                const std::uint32_t want = mma_model::dot(sm, fa.model, a, fb.model, b, c, half, warpgroup);
                const std::uint32_t have = result(sm, fa.format, a, fb.format, b, c, half,
                                                  warpgroup ? tensor_path::warpgroup : tensor_path::warp);
                if (have != want) {
                  INFO("sm_" << sm << " " << fa.model.name << " " << fb.model.name << " half " << half
                             << " warpgroup " << warpgroup << " kind " << static_cast<int>(kind));
                  REQUIRE(have == want);
                }
              }
          }
        }
      }
  SUCCEED();
}

TEST_CASE("bits that alignment cuts off distinguish architectures") {
  // 1 + 2 * 2^-24: the small terms are one place below the bits that sm_70 keeps.
  const codes a = filled(4, {{0, 1}, {1, 0x1p-12}, {2, 0x1p-12}}, mma_model::f16);
  for (auto [sm, want] : {std::pair{70u, 0x3f800000u},
                          {75u, 0x3f800001u},
                          {80u, 0x3f800001u},
                          {89u, 0x3f800001u},
                          {90u, 0x3f800001u}})
    CHECK(result(sm, tensor_format::f16, a, tensor_format::f16, a, 0, false) == want);
  // 1 + 4 * 2^-25: one place below what sm_80 keeps.
  const codes left =
      filled(8, {{0, 1}, {1, 0x1p-12}, {2, 0x1p-12}, {3, 0x1p-12}, {4, 0x1p-12}}, mma_model::f16);
  const codes right =
      filled(8, {{0, 1}, {1, 0x1p-13}, {2, 0x1p-13}, {3, 0x1p-13}, {4, 0x1p-13}}, mma_model::f16);
  for (auto [sm, want] :
       {std::pair{75u, 0x3f800000u}, {80u, 0x3f800000u}, {89u, 0x3f800000u}, {90u, 0x3f800001u}})
    CHECK(result(sm, tensor_format::f16, left, tensor_format::f16, right, 0, false) == want);
}

TEST_CASE("the length of a group distinguishes architectures") {
  // 1 + 2^-24 at k = 1, and 2^-24 more at k = 8: a group of 8 rounds each of them away.
  const codes a = filled(16, {{0, 1}, {1, 0x1p-12}, {8, 0x1p-12}}, mma_model::f16);
  CHECK(result(80, tensor_format::f16, a, tensor_format::f16, a, 0, false) == 0x3f800000);
  CHECK(result(90, tensor_format::f16, a, tensor_format::f16, a, 0, false) == 0x3f800001);
  const codes b = filled(8, {{0, 1}, {1, 0x1p-12}, {4, 0x1p-12}}, mma_model::tf32);
  CHECK(result(80, tensor_format::tf32, b, tensor_format::tf32, b, 0, false) == 0x3f800000);
  CHECK(result(90, tensor_format::tf32, b, tensor_format::tf32, b, 0, false) == 0x3f800001);
}

TEST_CASE("products far below f32 are aligned to a least exponent") {
  // Just below the least f32, and two halves of the difference: kept down to 2^-156 on sm_80, and down to
  // 2^-158 on sm_90.
  const auto sum = [](unsigned sm, double first, double second, double third) {
    const codes a =
        filled(8, {{0, first * 0x1p75}, {1, second * 0x1p80}, {2, third * 0x1p80}}, mma_model::bf16);
    const codes b = filled(8, {{0, 0x1p-75}, {1, 0x1p-80}, {2, 0x1p-80}}, mma_model::bf16);
    return result(sm, tensor_format::bf16, a, tensor_format::bf16, b, 0, false);
  };
  CHECK(sum(80, 0x1p-149 - 0x1p-156, 0x1p-156, 0) == 1);
  CHECK(sum(80, 0x1p-149 - 0x1p-156, 0x1p-157, 0x1p-157) == 0);
  CHECK(sum(90, 0x1p-149 - 0x1p-157, 0x1p-158, 0x1p-158) == 1);
  CHECK(sum(90, 0x1p-149 - 0x1p-157, 0x1p-157, 0) == 1);
  CHECK(sum(90, 0x1p-149 - 0x1p-156, 0x1p-157, 0x1p-158) == 0);
}

TEST_CASE("terms and results are cut toward zero") {
  const codes one = filled(4, {{0, 1}, {1, 0x1p-13}}, mma_model::f16);
  const codes minus = filled(4, {{0, 1}, {1, -0x1p-13}}, mma_model::f16);
  CHECK(result(80, tensor_format::f16, one, tensor_format::f16, minus, 0, false) == 0x3f800000);
  // -1 - 2^-24 is kept exactly, and rounded to -1, not to the even neighbour below.
  const codes left = filled(4, {{0, 1}, {1, 0x1p-12}}, mma_model::f16);
  const codes right = filled(4, {{0, -1}, {1, -0x1p-12}}, mma_model::f16);
  CHECK(result(80, tensor_format::f16, left, tensor_format::f16, right, 0, false) == 0xbf800000);
  // 1.5 * 1.5 has exponent 0, as 1 * 1 has: a term 24 places below that is kept.
  const codes wide = filled(4, {{0, 1.5}, {1, 1.5}, {2, 0x1p-12}}, mma_model::f16);
  const codes cancels = filled(4, {{0, 1.5}, {1, -1.5}, {2, 0x1p-12}}, mma_model::f16);
  CHECK(result(80, tensor_format::f16, wide, tensor_format::f16, cancels, 0, false) == 0x33800000);
}

TEST_CASE("sums of 8-bit products keep 13 bits on sm_89, and in wgmma") {
  const codes one = filled(32, {{0, 1}}, mma_model::e4m3), none(32);
  const std::uint32_t c = std::bit_cast<std::uint32_t>(1 + 0x1p-13f + 0x1p-14f);
  CHECK(result(89, tensor_format::e4m3, none, tensor_format::e4m3, none, c, false) == 0x3f800400);
  CHECK(result(90, tensor_format::e4m3, none, tensor_format::e4m3, none, c, false, tensor_path::warpgroup) ==
        0x3f800400);
  CHECK(result(90, tensor_format::e4m3, none, tensor_format::e4m3, none, c, false) == c);
  CHECK(result(89, tensor_format::e4m3, one, tensor_format::e4m3, one, c, false) == 0x40000000);
  // 1 + 4 * 2^-14: each of the small terms is cut; mma.sync of sm_90 has wide sums.
  const codes a = filled(32, {{0, 1}, {1, 0x1p-7}, {2, 0x1p-7}, {3, 0x1p-7}, {4, 0x1p-7}}, mma_model::e5m2);
  CHECK(result(89, tensor_format::e5m2, a, tensor_format::e5m2, a, 0, false) == 0x3f800000);
  CHECK(result(90, tensor_format::e5m2, a, tensor_format::e5m2, a, 0, false, tensor_path::warpgroup) ==
        0x3f800000);
  CHECK(result(90, tensor_format::e5m2, a, tensor_format::e5m2, a, 0, false) == 0x3f800800);
}

TEST_CASE("8-bit mma.sync of sm_90 adds c last") {
  // 2^25 + 3: in one sum with c it would be cut to 2^25; the addition rounds to nearest.
  const codes a = filled(16, {{0, 1}, {2, 1}, {5, 1}}, mma_model::e4m3);
  const std::uint32_t c = std::bit_cast<std::uint32_t>(0x1p25f);
  CHECK(result(90, tensor_format::e4m3, a, tensor_format::e4m3, a, c, false) ==
        std::bit_cast<std::uint32_t>(0x1p25f + 4));
}

TEST_CASE("f16 accumulators are rounded to nearest even once a group") {
  // 2048 + 1 is a tie to even; 2048 + 1 + 2^-10 is above it.
  const codes tie = filled(4, {{0, 1}}, mma_model::f16);
  CHECK(result(80, tensor_format::f16, tie, tensor_format::f16, tie, 0x6800, true) == 0x6800);
  const codes above = filled(4, {{0, 1}, {1, 0x1p-5}}, mma_model::f16);
  CHECK(result(80, tensor_format::f16, above, tensor_format::f16, above, 0x6800, true) == 0x6801);
  // Half of the least subnormal number, exactly and with more.
  const codes half = filled(4, {{0, 0x1p-12}}, mma_model::f16),
              other = filled(4, {{0, 0x1p-13}}, mma_model::f16);
  CHECK(result(80, tensor_format::f16, half, tensor_format::f16, other, 0, true) == 0x0000);
  CHECK(result(80, tensor_format::f16, half, tensor_format::f16, other, 0x0001, true) == 0x0002);
  // 65504 + 16 rounds to infinity.
  const codes four = filled(4, {{0, 4}}, mma_model::f16);
  CHECK(result(80, tensor_format::f16, four, tensor_format::f16, four, 0x7bff, true) == 0x7c00);
}

TEST_CASE("special values give infinity or the canonical NaN") {
  const auto one_product = [](std::uint32_t x, std::uint32_t y, std::uint32_t c, bool half) {
    return result(90, tensor_format::f16, {x, 0, 0, 0}, tensor_format::f16, {y, 0, 0, 0}, c, half);
  };
  constexpr std::uint32_t infinity = 0x7c00, minus = 0xfc00, one = 0x3c00, nan = 0x7e01;
  CHECK(one_product(infinity, one, 0, false) == 0x7f800000);
  CHECK(one_product(infinity, minus, 0, false) == 0xff800000);
  CHECK(one_product(infinity, 0, 0, false) == 0x7fffffff);
  CHECK(one_product(infinity, one, 0xff800000, false) == 0x7fffffff);
  CHECK(one_product(nan, one, 0, false) == 0x7fffffff);
  CHECK(one_product(0, nan, 0xff800000, false) == 0x7fffffff);
  CHECK(one_product(one, one, 0xffc12345, false) == 0x7fffffff);
  CHECK(one_product(one, one, 0xff800000, false) == 0xff800000);
  CHECK(one_product(infinity, one, 0, true) == 0x7c00);
  CHECK(one_product(infinity, minus, 0x7c00, true) == 0x7fff);
  // A sum beyond the greatest f32 is infinite, though it is rounded toward zero.
  const codes big = filled(8, {{0, 0x1p127}, {1, 0x1p127}}, mma_model::bf16);
  const codes one_each = filled(8, {{0, 1}, {1, 1}}, mma_model::bf16);
  CHECK(result(80, tensor_format::bf16, big, tensor_format::bf16, one_each, 0, false) == 0x7f800000);
  // Products beyond f32 that cancel.
  const codes other = filled(8, {{0, 0x1p100}, {1, -0x1p100}}, mma_model::bf16);
  CHECK(result(80, tensor_format::bf16, big, tensor_format::bf16, other, 0x3f800000, false) == 0);
  // The NaN of tf32 whose payload is in bits that do not count is an infinity.
  CHECK(result(80, tensor_format::tf32, {0x7f800001, 0, 0, 0}, tensor_format::tf32, {0x3f800000, 0, 0, 0}, 0,
               false) == 0x7f800000);
}

TEST_CASE("a sparse product multiplies what was chosen, and nothing else") {
  const tensor_model model = tensor_model_of(90, tensor_format::f16, tensor_path::warp);
  tensor_operand a(model, tensor_format::f16, 1, 4), b(model, tensor_format::f16, 1, 8), chosen;
  for (std::uint32_t k = 0; k < 4; ++k) a.set(0, k, mma_model::code_of(k + 1.0, mma_model::f16));
  for (std::uint32_t k = 0; k < 8; ++k) b.set(0, k, k == 3 ? 0x7c00u : mma_model::code_of(k, mma_model::f16));
  const std::uint8_t columns[] = {0, 2, 5, 4};
  chosen.gather(b, 0, columns);
  CHECK(dot_f32(model, a, 0, chosen, 0, 0) == std::bit_cast<std::uint32_t>(35.0f));
}

TEST_CASE("the exact result of an integer product wraps or is clamped") {
  CHECK(integer_result(0x80000000ll, false) == INT32_MIN);
  CHECK(integer_result(0x80000000ll, true) == INT32_MAX);
  CHECK(integer_result(-0x80000001ll, false) == INT32_MAX);
  CHECK(integer_result(-0x80000001ll, true) == INT32_MIN);
  CHECK(integer_result(-0x80000000ll, true) == INT32_MIN);
}
