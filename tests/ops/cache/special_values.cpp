// Conversion to 8 bits of each kind of number, and of scales: NaN, infinities, zeros, ties, the least and
// the greatest.
#include "tests/ops/cache/append_case.hpp"

using namespace kaio;
using namespace kaio::tests;

namespace {

// Appends one token of one head to one row, and returns the kept row.
template <class T, class C>
std::vector<C> kept_of(const std::vector<T>& row, std::vector<f32>& scale, bool computed) {
  const auto size = static_cast<i64>(row.size());
  auto x = upload(row);
  auto to_k = under_test().allocate<C>(row.size()), to_v = under_test().allocate<C>(row.size());
  auto lengths = upload(std::vector<i32>{0});
  auto scales = upload(scale);
  auto v_scales = upload(scale);
  const tensor_view<const T, 4> in(x, extents(1, 1, 1, size));
  kv_cache<C> cache{.k = {to_k, extents(1, 1, 1, size)}, .v = {to_v, extents(1, 1, 1, size)}};
  cache.lengths = numbers_view(lengths, 1);
  append_kv_options options;
  if (computed) {
    options.k_scale_out = tensor_view<f32, 3>(scales, extents(1, 1, 1));
    options.v_scale_out = tensor_view<f32, 3>(v_scales, extents(1, 1, 1));
  } else {
    options.k_scale = tensor_view<const f32, 1>(scales, extents(1));
    options.v_scale = tensor_view<const f32, 1>(v_scales, extents(1));
  }
  append_kv(under_test().stream(), in, in, cache, options);
  scale = scales.download();
  REQUIRE(same_bits(to_k.download(), to_v.download()));
  return to_k.download();
}

template <class C>
std::vector<f32> numbers() {
  const float inf = std::numeric_limits<float>::infinity(), nan = std::numeric_limits<float>::quiet_NaN();
  std::vector<f32> result{0.0f,   -0.0f,   inf,     -inf, nan,  1e-45f, -1e-40f, 3.4e38f, 127.4f,
                          127.5f, -127.5f, -128.0f, 0.5f, 1.5f, 2.5f,   -0.5f,   -2.5f,   126.5f};
  if constexpr (!std::is_same_v<C, i8>)
    for (unsigned bits = 0; bits < 0x7f; ++bits) {
      // Each number, half way to the next one, and next to that.
      const float x = static_cast<float>(C::from_bits(static_cast<std::uint8_t>(bits)));
      const float next = static_cast<float>(C::from_bits(static_cast<std::uint8_t>(bits + 1)));
      const float between = std::isfinite(next) ? (x + next) / 2 : x;
      for (const float y : {x, between, std::nextafter(between, 0.0f), std::nextafter(between, 1e9f)}) {
        result.push_back(y);
        result.push_back(-y);
      }
    }
  return result;
}

template <class C>
void check_numbers() {
  const std::vector<f32> all = numbers<C>();
  for (std::size_t first = 0; first < all.size(); first += 500) {
    const std::vector<f32> row(all.begin() + static_cast<std::ptrdiff_t>(first),
                               all.begin() + static_cast<std::ptrdiff_t>(std::min(first + 500, all.size())));
    for (const float given : {1.0f, 0.37f}) {
      std::vector<f32> scale{given};
      const auto got = kept_of<f32, C>(row, scale, false);
      for (std::size_t i = 0; i < row.size(); ++i) {
        const C want = kept_on_host<C>(row[i], given);
        CAPTURE(row[i], given, to_double(got[i]), to_double(want));
        REQUIRE(std::memcmp(&got[i], &want, 1) == 0);
      }
    }
  }
}

}  // namespace

TEST_CASE("append_kv: every kind of number in e4m3", "[ops][cache]") { check_numbers<e4m3>(); }
TEST_CASE("append_kv: every kind of number in e5m2", "[ops][cache]") { check_numbers<e5m2>(); }
TEST_CASE("append_kv: every kind of number in i8", "[ops][cache]") { check_numbers<i8>(); }

TEST_CASE("append_kv: computed scales of zeros, NaN, infinities and the least numbers", "[ops][cache]") {
  const float inf = std::numeric_limits<float>::infinity(), nan = std::numeric_limits<float>::quiet_NaN();
  std::vector<f32> scale{-1};
  const auto of = [&](const std::vector<f32>& row) { return kept_of<f32, i8>(row, scale, true); };
  REQUIRE(of({0.0f, -0.0f, 0.0f}) == std::vector<i8>{0, 0, 0});
  REQUIRE(scale[0] == 1);
  REQUIRE(of({nan, 254.0f, -1.0f, 3.0f}) == std::vector<i8>{0, 127, 0, 2});
  REQUIRE(scale[0] == 2);
  REQUIRE(of({inf, 254.0f, -inf, nan}) == std::vector<i8>{0, 0, 0, 0});
  REQUIRE(scale[0] == inf);
  REQUIRE(of({1e-45f, 0.0f}) == std::vector<i8>{0, 0});  // its scale would be 0
  REQUIRE(scale[0] == 1);
  const auto kept = kept_of<bf16, e4m3>({bf16(nan), bf16(-8.0f), bf16(4.0f)}, scale, true);
  REQUIRE((kept[0].bits() == 0x7f && float(kept[1]) == -448.0f && float(kept[2]) == 224.0f));
}
