// histogram against counts of the host: all types, random extents and strides, bins in shared and in global memory,
// elements outside, NaN.
#include "tests/ops/reduce/support.hpp"
#include "tests/ops/refusal.hpp"

#include <kaio/ops/histogram.hpp>

#include <algorithm>
#include <limits>

using namespace kaio;
using namespace kaio::tests;

namespace {

struct histogram_case {
  u32 bins = 64;
  i64 first = 0;
  f32 low = -1, high = 1;
  bool accumulate = false;
  u32 counts_stride = 1;
  double least = 0, most = 100;  // of the elements
};

template <class T, std::size_t Rank>
void check(const std::array<i64, Rank>& e, const std::array<std::size_t, Rank>& order, i64 pad,
           std::uint64_t seed, const histogram_case& c) {
  CAPTURE(e, order, pad, seed, c.bins, c.first, c.accumulate, c.counts_stride, sizeof(T));
  std::mt19937_64 engine(seed);
  std::uniform_real_distribution<double> any(c.least, c.most);
  strided_tensor<T, Rank> x(e, order, pad, 0);
  std::vector<u32> want(c.bins * c.counts_stride, 7), outside(3, 7);
  if (!c.accumulate) {
    for (u32 b = 0; b < c.bins; ++b) want[b * c.counts_stride] = 0;
    outside = {0, 0, 0};
  }
  auto counts = under_test().upload(std::vector<u32>(c.bins * c.counts_stride, 7));
  auto on_outside = under_test().upload(std::vector<u32>(3, 7));
  x.each([&](const auto& i) {
    T one = static_cast<T>(any(engine));
    if constexpr (std::is_same_v<T, f32>) {
      if (engine() % 50 == 0) one = std::numeric_limits<f32>::quiet_NaN();
      if (engine() % 50 == 0) one = c.high;
      if (engine() % 50 == 0) one = std::numeric_limits<f32>::infinity();
      if (std::isnan(one))
        ++outside[2];
      else if (one < c.low || one > c.high)
        ++outside[one < c.low ? 0 : 1];
      else
        ++want[c.counts_stride *
               std::min(c.bins - 1,
                        static_cast<u32>((one - c.low) * (static_cast<f32>(c.bins) / (c.high - c.low))))];
    } else {
      const i64 bin = i64{one} - c.first;
      if (bin < 0 || bin >= c.bins)
        ++outside[bin < 0 ? 0 : 1];
      else
        ++want[static_cast<std::size_t>(bin) * c.counts_stride];
    }
    x.host[x.at(i)] = one;
  });
  auto on_x = under_test().upload(x.host);
  histogram(under_test().stream(), x.template view<const T>(on_x),
            tensor_view<u32, 1>(counts.view(), extents(c.bins), strides(c.counts_stride)),
            {.first = c.first,
             .low = c.low,
             .high = c.high,
             .accumulate = c.accumulate,
             .outside = tensor_view<u32, 1>(on_outside, 3)});
  REQUIRE(counts.download() == want);
  REQUIRE(on_outside.download() == outside);
}

template <std::size_t Rank>
void check_random(std::mt19937_64& engine) {
  const auto below = [&](i64 n) { return std::uniform_int_distribution<i64>(0, n - 1)(engine); };
  std::array<i64, Rank> e{};
  i64 size = 1;
  for (std::size_t d = Rank; d-- > 0;) {
    e[d] = std::min(std::max<i64>(20000 / size, 1), below(3) == 0 ? 1 + below(3000) : 1 + below(40));
    size *= e[d];
  }
  if (below(16) == 0) e[static_cast<std::size_t>(below(Rank))] = 0;
  auto order = strided_tensor<f32, Rank>::row_major();
  if (below(3) == 0) std::shuffle(order.begin(), order.end(), engine);
  const i64 pad = below(3) == 0 ? below(9) : 0;
  histogram_case c{.bins = static_cast<u32>(1 + below(below(4) == 0 ? 6000 : 300)),
                   .accumulate = below(2) == 0,
                   .counts_stride = static_cast<u32>(1 + below(3) / 2)};
  const std::uint64_t seed = engine();
  switch (below(4)) {
    case 0: c.first = below(20) - 10, c.most = 255; return check<u8>(e, order, pad, seed, c);
    case 1:
      c.first = below(200) - 100, c.least = -150, c.most = 400;
      return check<i32>(e, order, pad, seed, c);
    case 2: c.first = below(100), c.most = 5000; return check<u32>(e, order, pad, seed, c);
    default: c.least = -1.5, c.most = 1.5; return check<f32>(e, order, pad, seed, c);
  }
}

}  // namespace

TEST_CASE("histogram: random extents, strides and bins", "[ops][histogram]") {
  const std::uint64_t seed = std::random_device{}();
  CAPTURE(seed);
  std::mt19937_64 engine(seed);
  for (int i = 0; i < 12; ++i) {
    check_random<1>(engine);
    check_random<2>(engine);
    check_random<4>(engine);
  }
}

TEST_CASE("histogram: values at the ends of their types, several chunks", "[ops][histogram]") {
  const std::array<std::size_t, 1> order{0};
  check<u8>(std::array<i64, 1>{70001}, order, 0, 1, {.bins = 256, .most = 255.9});
  check<i32>(
      std::array<i64, 1>{1000}, order, 0, 2,
      {.bins = 9, .first = std::numeric_limits<i32>::min(), .least = -2147483648.0, .most = -2147483640.0});
  check<u32>(std::array<i64, 1>{1000}, order, 0, 3,
             {.bins = 9, .first = 4294967287, .least = 4294967280.0, .most = 4294967295.9});
  check<f32>(std::array<i64, 1>{40000}, order, 0, 4,
             {.bins = 5000, .low = -3, .high = 5, .least = -4, .most = 6});
}

TEST_CASE("histogram: bad input", "[ops][histogram]") {
  const device& gpu = under_test();
  auto a = gpu.allocate<i32>(512);
  auto f = gpu.allocate<f32>(512);
  auto b = gpu.allocate<u32>(64);
  const tensor_view<i32, 2> x(a, 8, 64);
  const tensor_view<f32, 1> y(f, 512);
  const tensor_view<u32, 1> counts(b, 64);
  const auto refused = [&](const std::string& part, const auto& from, const tensor_view<u32, 1>& to,
                           const histogram_options& options = {}) {
    require_refusal(errc::invalid_argument, "kaio: histogram: ", part,
                    [&] { histogram(gpu.stream(), from, to, options); });
  };
  refused("argument counts has extent 0 of 0", x, counts.slice(0, 0, 0));
  refused("first is 2147483647, and its 64 bins", x, counts, {.first = 2147483647});
  refused("low and high are not finite edges", y, counts);
  refused("low and high are not finite edges", y, counts, {.low = -3e38f, .high = 3e38f});
  refused("argument outside has extent 0 of 2", x, counts.slice(0, 0, 32),
          {.outside = tensor_view<u32, 1>(b, 64).slice(0, 32, 2)});
}
