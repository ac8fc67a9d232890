// quantise_int8: codes, scales and zero points, bit for bit, by aligned rows and by others.
#include <kaio/ops/matmul_8bit/quantise_int8.hpp>

#include "tests/ops/matmul/support.hpp"
#include "tests/ops/refusal.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>
#include <string>
#include <vector>

using namespace kaio;
using namespace kaio::tests;

namespace {

enum class quantised { by_scale, symmetric, asymmetric };

int rounded_to(float x, int most) {
  if (std::isnan(x)) return 0;
  return static_cast<int>(std::nearbyint(std::clamp(x, -static_cast<float>(most), static_cast<float>(most))));
}

// A row as the header describes it.
struct row_on_host {
  float scale = 0.05f;
  int zero = 0;
  template <class T>
  row_on_host(const matrices<T>& x, u32 row, quantised form) {
    float low = 0, high = 0;
    for (u32 k = 0; k < x.columns; ++k) {
      const auto number = static_cast<float>(x.at(0, row, k));
      low = std::fmin(low, number);
      high = std::fmax(high, number);
    }
    if (form == quantised::by_scale) return;
    scale = form == quantised::symmetric ? std::max(-low, high) / 127 : (high - low) / 255;
    if (scale == 0) scale = 1;
    if (form == quantised::asymmetric) zero = std::clamp(rounded_to(-128 - low / scale, 1024), -128, 127);
  }
  i8 code(float x) const {
    return static_cast<i8>(std::clamp(rounded_to(x / scale, 1024) + zero, -128, 127));
  }
};

template <class T>
void check_quantise(u32 rows, u32 columns, u32 x_pad, u32 codes_pad, quantised form) {
  CAPTURE(rows, columns, x_pad, codes_pad, static_cast<int>(form));
  matrices<T> x(1, rows, columns, false, x_pad);
  x.fill(content::random, rows * 31 + columns);
  if (rows > 2 && columns > 4) {
    x.at(0, 1, 3) = from_float<T>(std::nanf(""));
    for (u32 k = 0; k < columns; ++k) x.at(0, 2, k) = from_float<T>(0.0f);
    x.at(0, 0, columns - 1) = from_float<T>(std::numeric_limits<float>::infinity());
  }
  matrices<i8> codes(1, rows, columns, false, codes_pad);
  const matrices<i8> before = codes;
  auto dx = upload(x.host);
  auto dcodes = upload(codes.host);
  auto scales = upload(std::vector<f32>(rows, -7.0f));
  auto zeros = upload(std::vector<i32>(rows, -7));
  const stream& s = under_test().stream();
  const auto from = view_of<const T>(dx, x);
  const auto to = view_of<i8>(dcodes, codes);
  if (form == quantised::by_scale) quantise_int8(s, from, to, 0.05f);
  if (form == quantised::symmetric) quantise_int8(s, from, to, tensor_view<f32, 1>(scales, rows));
  if (form == quantised::asymmetric)
    quantise_int8(s, from, to, tensor_view<f32, 1>(scales, rows), tensor_view<i32, 1>(zeros, rows));
  if (!codes.host.empty()) codes.host = dcodes.download();
  const auto got_scales = scales.download();
  const auto got_zeros = zeros.download();
  matrices<i8> want = before;
  for (u32 r = 0; r < rows; ++r) {
    const row_on_host row(x, r, form);
    CAPTURE(r);
    REQUIRE(got_scales[r] == (form == quantised::by_scale ? -7.0f : row.scale));
    REQUIRE(got_zeros[r] == (form == quantised::asymmetric ? row.zero : -7));
    for (u32 k = 0; k < columns; ++k) want.at(0, r, k) = row.code(static_cast<float>(x.at(0, r, k)));
  }
  REQUIRE(same_bits(codes.host, want.host));
}

}  // namespace

TEMPLATE_TEST_CASE("quantise_int8: every form", "[ops][int8]", f32, f16, bf16) {
  for (const quantised form : {quantised::by_scale, quantised::symmetric, quantised::asymmetric}) {
    check_quantise<TestType>(3, 1030, 2, 2, form);  // rows of 1032: fours, and two more
    check_quantise<TestType>(4, 33, 0, 0, form);    // one by one
    check_quantise<TestType>(5, 64, 1, 0, form);
    check_quantise<TestType>(1, 1, 0, 3, form);
    check_quantise<TestType>(2, 0, 4, 4, form);
  }
}

TEST_CASE("quantise_int8: bad input", "[ops][int8]") {
  auto x = under_test().allocate<f32>(64);
  auto codes = under_test().allocate<i8>(64);
  auto scales = under_test().allocate<f32>(8);
  const tensor_view<const f32, 2> from(x, 4, 8);
  const tensor_view<i8, 2> to(codes, 4, 8);
  const stream& s = under_test().stream();
  const auto refuses = [](const std::string& part, const std::function<void()>& f) {
    require_refusal(errc::invalid_argument, "kaio: quantise_int8: ", part, f);
  };
  refuses("the columns of x", [&] { quantise_int8(s, from, tensor_view<i8, 2>(codes, 4, 7), 1.0f); });
  refuses("the rows of x", [&] { quantise_int8(s, from, to, tensor_view<f32, 1>(scales, 5)); });
  refuses("not contiguous",
          [&] { quantise_int8(s, tensor_view<const f32, 2>(x, 8, 4).transposed(), to, 1.0f); });
  refuses("codes has rows that are not contiguous",
          [&] { quantise_int8(s, from, tensor_view<i8, 2>(codes, 8, 4).transposed(), 1.0f); });
  for (const float scale : {0.0f, -1.0f, std::nanf("")})
    refuses("scale is not", [&] { quantise_int8(s, from, to, scale); });
  refuses("scales", [&] { quantise_int8(s, from, to, tensor_view<f32, 1>(x, 4)); });
}
