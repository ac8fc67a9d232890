// top_k against a stable sort on the host: indices and bits are equal.
#include "tests/ops/refusal.hpp"
#include "tests/ops/support.hpp"

#include <kaio/ops/top_k.hpp>

#include <algorithm>
#include <numeric>
#include <random>

using namespace kaio;
using namespace kaio::tests;

namespace {

template <class T, class Index>
void check_top_k(i64 rows, i64 size, i64 k, u64 seed, float step, float special = 0) {
  CAPTURE(rows, size, k, seed, step, special, sizeof(T));
  const device& gpu = under_test();
  std::mt19937_64 engine(seed);
  const i64 pitch = size + static_cast<i64>(seed % 4), out_pitch = k + static_cast<i64>(seed % 3);
  std::vector<T> host(static_cast<std::size_t>(rows * pitch), from_float<T>(1e4f));
  std::normal_distribution<float> normal(0, 3);
  const auto at = [&](i64 r, i64 i) -> T& { return host[static_cast<std::size_t>(r * pitch + i)]; };
  for (i64 r = 0; r < rows; ++r)
    for (i64 i = 0; i < size; ++i) {
      const float x = normal(engine);
      at(r, i) = from_float<T>(step > 0 ? std::round(x / step) * step : x);
      if (special != 0 && engine() % 3 != 0)
        at(r, i) = from_float<T>(engine() % 2 == 0 ? -std::numeric_limits<float>::infinity() : std::nanf(""));
    }
  const auto outputs = static_cast<std::size_t>(rows * out_pitch);
  auto memory = gpu.upload(host);
  auto values = gpu.upload(std::vector<T>(outputs, from_float<T>(-5)));
  auto indices = gpu.upload(std::vector<Index>(outputs, Index{-7}));
  top_k(gpu.stream(), tensor_view<const T, 2>(memory, extents(rows, size), strides(pitch, 1)),
        tensor_view<T, 2>(values, extents(rows, k), strides(out_pitch, 1)),
        tensor_view<Index, 2>(indices, extents(rows, k), strides(out_pitch, 1)));
  const auto got = values.download();
  const auto places = indices.download();
  for (i64 r = 0; r < rows; ++r) {
    std::vector<i64> order(static_cast<std::size_t>(size));
    std::iota(order.begin(), order.end(), i64{0});
    const auto number = [&](i64 i) {
      const double x = to_double(at(r, i));
      return std::isnan(x) ? -std::numeric_limits<double>::infinity() : x;
    };
    std::stable_sort(order.begin(), order.end(), [&](i64 a, i64 b) { return number(a) > number(b); });
    for (i64 i = 0; i < out_pitch; ++i) {
      const auto place = static_cast<std::size_t>(r * out_pitch + i);
      CAPTURE(r, i);
      const T want = i < k ? at(r, order[static_cast<std::size_t>(i)]) : from_float<T>(-5);
      REQUIRE(static_cast<i64>(places[place]) == (i < k ? order[static_cast<std::size_t>(i)] : -7));
      REQUIRE(std::memcmp(&got[place], &want, sizeof(T)) == 0);
    }
  }
}

}  // namespace

TEST_CASE("top_k: rows of a list", "[ops][top_k]") {
  check_top_k<f32, i32>(70, 64, 8, 1, 0);
  check_top_k<bf16, i64>(9, 256, 8, 2, 1);
  check_top_k<f16, i32>(3, 1000, 1000, 3, 0.5f);
  check_top_k<f32, i64>(5, 1, 1, 4, 0);
  check_top_k<f16, i64>(4, 600, 7, 5, 0, 1);
}

TEST_CASE("top_k: long rows", "[ops][top_k]") {
  check_top_k<f32, i32>(3, 5003, 50, 6, 0);
  check_top_k<bf16, i32>(2, 20011, 300, 7, 0);    // clusters
  check_top_k<f16, i64>(2, 20011, 1024, 8, 0);    // too many for candidates
  check_top_k<f32, i32>(3, 9000, 40, 9, 4);       // equal ones
  check_top_k<f32, i32>(2, 1100, 500, 10, 0, 1);  // fewer than k above -inf
}

TEST_CASE("top_k: random problems", "[ops][top_k][random]") {
  const u64 seed = std::random_device{}();
  CAPTURE(seed);
  std::mt19937_64 engine(seed);
  for (int problem = 0; problem < 12; ++problem) {
    const i64 size = 1 + static_cast<i64>(engine() % 5000);
    const i64 k = 1 + static_cast<i64>(engine() % static_cast<u64>(std::min<i64>(size, 1024)));
    const float step = engine() % 2 == 0 ? 0.0f : 0.25f, special = engine() % 3 == 0 ? 1.0f : 0.0f;
    check_top_k<bf16, i32>(2, size, k, engine(), step, special);
    check_top_k<f32, i64>(2, size, k, engine(), step, special);
  }
}

TEST_CASE("top_k: no rows and no elements", "[ops][top_k]") {
  check_top_k<f32, i32>(0, 8, 3, 1, 0);
  check_top_k<f32, i32>(3, 8, 0, 0, 0);
}

TEST_CASE("top_k: bad input", "[ops][top_k]") {
  const device& gpu = under_test();
  auto memory = gpu.allocate<f32>(4096), more = gpu.allocate<f32>(4096);
  auto numbers = gpu.allocate<i32>(4096);
  const tensor_view<const f32, 2> x(memory, 2, 2048);
  const tensor_view<f32, 2> values(more, 2, 8);
  const tensor_view<i32, 2> indices(numbers, 2, 8);
  const auto refused = [&](const std::string& part, const tensor_view<const f32, 2>& from,
                           const tensor_view<f32, 2>& to, const tensor_view<i32, 2>& places) {
    require_refusal(errc::invalid_argument, "kaio: top_k: ", part,
                    [&] { top_k(gpu.stream(), from, to, places); });
  };
  refused("values has extent 0 of 1", x, values.slice(0, 0, 1), indices);
  refused("indices has extent 1 of 7", x, values, indices.slice(1, 0, 7));
  refused("k is 1025", x, {more, 2, 1025}, {numbers, 2, 1025});
  refused("k is 8", x.slice(1, 0, 7), values, indices);
  refused("argument x has stride 2", {memory, extents(2, 8), strides(100, 2)}, values, indices);
  refused("output values shares memory", x, {memory, 2, 8}, indices);
}
