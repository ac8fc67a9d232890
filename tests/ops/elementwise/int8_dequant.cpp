// int8_dequant gives codes times scales: one, one for each row, one for each group; of words too.
#include "tests/ops/elementwise/support.hpp"

#include <kaio/ops/int8_dequant.hpp>

using namespace kaio;
using namespace kaio::tests;

namespace {

template <class T>
void check_one(i64 rows, i64 columns, const std::array<u32, 2>& order, i64 pad) {
  CAPTURE(rows, columns, pad, sizeof(T));
  strided_tensor<i8, 2> codes({rows, columns}, order, pad);
  strided_tensor<T, 2> x({rows, columns});
  auto on_codes = upload(codes.fill(1).host);
  auto on_x = upload(x.host);
  int8_dequant(under_test().stream(), codes.view<const i8>(on_codes), 0.0125f, x.view(on_x));
  x.each([&](const auto& at) { x.at(at) = from_float<T>(static_cast<float>(codes.at(at)) * 0.0125f); });
  REQUIRE(same_memory(on_x.download(), x.host));
}

}  // namespace

TEST_CASE("int8_dequant: one scale", "[ops][int8_dequant]") {
  for (const i64 columns : {64, 37}) {
    check_one<f32>(9, columns, {0, 1}, 0);
    check_one<f16>(9, columns, {0, 1}, 8);
    check_one<bf16>(9, columns, {1, 0}, 0);
  }
  check_one<f32>(0, 8, {0, 1}, 0);
}

TEST_CASE("int8_dequant: words of four codes", "[ops][int8_dequant]") {
  const std::vector<u32> words{0xff7f8001u, 0x00010203u};
  auto on_words = under_test().upload(words);
  auto on_x = under_test().allocate<f32>(8);
  int8_dequant(under_test().stream(), int8_words(tensor_view<const u32, 1>(on_words, 2)), 2.0f,
               tensor_view(on_x, 8));
  REQUIRE(on_x.download() == std::vector<f32>{2, -256, 254, -2, 6, 4, 2, 0});
}

TEST_CASE("int8_dequant: scales of rows and groups", "[ops][int8_dequant]") {
  const i64 rows = 6, columns = 96;
  strided_tensor<i8, 2> codes({rows, columns});
  auto on_codes = upload(codes.fill(3).host);
  for (const i64 groups : {1, 3})
    for (const i64 scaled_rows : {i64{1}, rows}) {
      CAPTURE(groups, scaled_rows);
      strided_tensor<f32, 2> scales({scaled_rows, groups}), x({rows, columns});
      auto on_scales = upload(scales.fill(4).host), on_x = upload(x.host);
      int8_dequant(under_test().stream(), codes.view<const i8>(on_codes), scales.view<const f32>(on_scales),
                   x.view(on_x));
      x.each([&](const auto& at) {
        x.at(at) = static_cast<float>(codes.at(at)) *
                   scales.at({scaled_rows == 1 ? 0 : at[0], at[1] / (columns / groups)});
      });
      REQUIRE(same_memory(on_x.download(), x.host));
    }
}

TEST_CASE("int8_dequant: bad input", "[ops][int8_dequant]") {
  auto codes = under_test().allocate<i8>(64);
  auto x = under_test().allocate<f32>(64);
  require_refusal(errc::invalid_argument, "kaio: int8_dequant: ", "scale is not finite", [&] {
    int8_dequant(under_test().stream(), tensor_view(codes, 8, 8), std::numeric_limits<f32>::infinity(),
                 tensor_view(x, 8, 8));
  });
  require_refusal(errc::invalid_argument, "kaio: int8_dequant: ", "other extents than x", [&] {
    int8_dequant(under_test().stream(), tensor_view(codes, 8, 8), 1.0f, tensor_view(x, 8, 8).slice(0, 0, 7));
  });
}
