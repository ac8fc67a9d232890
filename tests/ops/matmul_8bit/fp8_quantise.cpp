// quantise_fp8: codes and scales, bit for bit, by aligned rows and by others.
#include <kaio/ops/matmul_8bit/quantise_fp8.hpp>

#include "tests/ops/matmul/support.hpp"
#include "tests/ops/refusal.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <vector>

using namespace kaio;
using namespace kaio::tests;

namespace {

enum class quantised { by_scale, rows, groups, blocks };

template <class T>
void check_quantise(u32 rows, u32 columns, u32 x_pad, u32 codes_pad, quantised form) {
  CAPTURE(rows, columns, x_pad, codes_pad, static_cast<int>(form));
  matrices<T> x(1, rows, columns, false, x_pad);
  x.fill(content::random, rows * 31 + columns);
  if (rows > 3 && columns > 130) {
    x.at(0, 1, 3) = from_float<T>(std::nanf(""));
    for (u32 k = 0; k < columns; ++k) x.at(0, 2, k) = from_float<T>(0.0f);
    x.at(0, 0, columns - 1) = from_float<T>(std::numeric_limits<float>::infinity());
    x.at(0, 3, 7) = from_float<T>(-100.0f);
  }
  const u32 tile_rows = form == quantised::blocks ? 128 : 1;
  const u32 tile_columns =
      form == quantised::blocks || form == quantised::groups ? 128 : std::max(columns, 1u);
  const u32 down = (rows + tile_rows - 1) / tile_rows;
  const u32 across = form == quantised::rows ? 1 : (columns + tile_columns - 1) / tile_columns;
  matrices<e4m3> codes(1, rows, columns, false, codes_pad);
  const matrices<e4m3> before = codes;
  std::vector<f32> want_scales(std::size_t{down} * across * 2, -7.0f);
  auto dx = upload(x.host);
  auto dcodes = upload(codes.host);
  auto scales = upload(want_scales);
  const stream& s = under_test().stream();
  const auto from = view_of<const T>(dx, x);
  const auto to = view_of<e4m3>(dcodes, codes);
  // Every second element, by columns.
  const tensor_view<f32, 2> matrix(scales, extents(down, across), strides(2, 2 * down));
  if (form == quantised::by_scale) quantise_fp8(s, from, to, 0.05f);
  if (form == quantised::rows)
    quantise_fp8(s, from, to, tensor_view<f32, 1>(scales, extents(down), strides(2)));
  if (form == quantised::groups) quantise_fp8(s, from, to, matrix);
  if (form == quantised::blocks) quantise_fp8_blocks(s, from, to, matrix);
  if (!codes.host.empty()) codes.host = dcodes.download();
  matrices<e4m3> want = before;
  for (u32 i = 0; i < down; ++i)
    for (u32 j = 0; j < across; ++j) {
      const u32 last_row = std::min((i + 1) * tile_rows, rows);
      const u32 last_column = std::min((j + 1) * tile_columns, columns);
      float largest = 0, scale = 0.05f;
      for (u32 r = i * tile_rows; r < last_row; ++r)
        for (u32 k = j * tile_columns; k < last_column; ++k)
          largest = std::fmax(largest, std::abs(static_cast<float>(x.at(0, r, k))));
      if (form != quantised::by_scale) {
        scale = largest / 448;
        if (scale == 0) scale = 1;
        want_scales[2 * (std::size_t{j} * down + i)] = scale;
      }
      for (u32 r = i * tile_rows; r < last_row; ++r)
        for (u32 k = j * tile_columns; k < last_column; ++k)
          want.at(0, r, k) = e4m3(static_cast<float>(x.at(0, r, k)) / scale);
    }
  if (!want_scales.empty()) REQUIRE(same_bits(scales.download(), want_scales));
  REQUIRE(same_bits(codes.host, want.host));
}

}  // namespace

TEMPLATE_TEST_CASE("quantise_fp8: every form", "[ops][fp8]", f32, f16, bf16) {
  for (const quantised form : {quantised::by_scale, quantised::rows, quantised::groups, quantised::blocks}) {
    check_quantise<TestType>(3, 1030, 2, 2, form);   // rows of 1032: fours, and two more
    check_quantise<TestType>(4, 133, 0, 0, form);    // one by one
    check_quantise<TestType>(130, 260, 0, 0, form);  // more rows than a block of weights has
    check_quantise<TestType>(1, 1, 0, 3, form);
    check_quantise<TestType>(2, 0, 4, 4, form);
  }
}

// Ties, subnormal codes, numbers above 448, and NaN: all of f16, by a scale of 1.
TEST_CASE("quantise_fp8: every f16", "[ops][fp8]") {
  constexpr u32 count = 65536;
  std::vector<f16> x(count);
  for (u32 i = 0; i < count; ++i) x[i] = f16::from_bits(static_cast<std::uint16_t>(i));
  auto dx = upload(x);
  auto codes = under_test().allocate<e4m3>(count);
  quantise_fp8(under_test().stream(), tensor_view<const f16, 2>(dx, 16, count / 16),
               tensor_view<e4m3, 2>(codes, 16, count / 16), 1.0f);
  const auto got = codes.download();
  for (u32 i = 0; i < count; ++i) {
    CAPTURE(i);
    REQUIRE(got[i].bits() == e4m3(x[i]).bits());
  }
}

TEST_CASE("quantise_fp8: bad input", "[ops][fp8]") {
  auto x = under_test().allocate<f32>(64);
  auto codes = under_test().allocate<e4m3>(64);
  auto scales = under_test().allocate<f32>(8);
  const tensor_view<const f32, 2> from(x, 4, 8);
  const tensor_view<e4m3, 2> to(codes, 4, 8);
  const stream& s = under_test().stream();
  const auto refuses = [](const std::string& part, const std::function<void()>& f,
                          const std::string& operation = "quantise_fp8") {
    require_refusal(errc::invalid_argument, "kaio: " + operation + ": ", part, f);
  };
  refuses("the columns of x", [&] { quantise_fp8(s, from, tensor_view<e4m3, 2>(codes, 4, 7), 1.0f); });
  refuses("the rows of x", [&] { quantise_fp8(s, from, to, tensor_view<f32, 1>(scales, 5)); });
  refuses("argument groups", [&] { quantise_fp8(s, from, to, tensor_view<f32, 2>(scales, 4, 2)); });
  refuses("argument groups", [&] { quantise_fp8(s, from, to, tensor_view<f32, 2>{}); });
  refuses(
      "argument blocks", [&] { quantise_fp8_blocks(s, from, to, tensor_view<f32, 2>(scales, 4, 1)); },
      "quantise_fp8_blocks");
  refuses("not contiguous",
          [&] { quantise_fp8(s, tensor_view<const f32, 2>(x, 8, 4).transposed(), to, 1.0f); });
  refuses("codes has rows that are not contiguous",
          [&] { quantise_fp8(s, from, tensor_view<e4m3, 2>(codes, 8, 4).transposed(), 1.0f); });
  for (const float scale : {0.0f, -1.0f, std::nanf("")})
    refuses("scale is not", [&] { quantise_fp8(s, from, to, scale); });
  refuses("scales", [&] { quantise_fp8(s, from, to, tensor_view<f32, 1>(x, 4)); });
}
