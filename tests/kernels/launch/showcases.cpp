// The kernels of the showcases at sizes around those of their blocks, vectors and tiles, and at none.
#include "showcase/gelu_comparison/gelu_comparison.hpp"
#include "showcase/histogram/histogram.hpp"
#include "showcase/int8_dequant/int8_dequant.hpp"
#include "showcase/layer_norm/layer_norm.hpp"
#include "showcase/reduction/reduction.hpp"
#include "showcase/rms_norm/rms_norm.hpp"
#include "showcase/transpose/transpose.hpp"
#include "tests/kernels/support.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

using namespace kaio;
using namespace kaio::tests;

namespace {

// Numbers of both signs, a few of them large.
std::vector<f32> numbers(std::size_t count) {
  std::vector<f32> x(count);
  for (std::size_t i = 0; i < count; ++i) x[i] = static_cast<f32>(i * 37 % 101) * 0.11f - 5.0f;
  return x;
}

template <class T>
void require_poison(const std::vector<T>& got, std::size_t first) {
  for (std::size_t i = first; i < got.size(); ++i) REQUIRE(bits(got[i]) == 0xa5a5a5a5u);
}

double norm_error(const std::vector<f32>& got, const std::vector<f32>& x, u32 rows, u32 columns,
                  bool centred) {
  double error = 0;
  for (std::size_t first = 0; first < std::size_t{rows} * columns; first += columns) {
    double mean = 0;
    double variance = 0;
    for (u32 c = 0; c < columns; ++c) mean += centred ? x[first + c] / static_cast<double>(columns) : 0;
    for (u32 c = 0; c < columns; ++c)
      variance += std::pow(x[first + c] - mean, 2) / static_cast<double>(columns);
    for (u32 c = 0; c < columns; ++c) {
      const double want = (x[first + c] - mean) / std::sqrt(variance + 1e-5) * 2 + (centred ? 1 : 0);
      error = std::max(error, std::abs(got[first + c] - want));
    }
  }
  return error;
}

}  // namespace

TEST_CASE("both forms of GELU write exactly n elements, also after the last vector", "[showcases]") {
  for (const u32 n : {0u, 1u, 3u, 4u, 5u, 1023u, 1024u, 1027u, 5003u}) {
    const std::vector<f32> host = numbers(n);
    auto x = under_test().upload(host);
    auto exact = poisoned<f32>(n + 3), fast = poisoned<f32>(n + 3);
    const auto shape = over(n).per_thread(showcase::activation_share);
    showcase::exact_gelu.launch(under_test().stream(), shape, x, exact, n);
    showcase::fast_gelu.launch(under_test().stream(), shape, x, fast, n);
    const std::vector<f32> of_tanh = exact.download(), of_sigmoid = fast.download();
    for (u32 i = 0; i < n; ++i) {
      const double v = host[i];
      CAPTURE(n, i);
      REQUIRE(std::abs(of_tanh[i] - 0.5 * v * (1 + std::tanh(0.7978845608 * (v + 0.044715 * v * v * v)))) <
              2e-6);
      REQUIRE(std::abs(of_sigmoid[i] - v / (1 + std::exp(-1.702 * v))) < 2e-6);
    }
    require_poison(of_tanh, n);
    require_poison(of_sigmoid, n);
  }
}

TEST_CASE("the norms are right for rows around the sizes of their blocks", "[showcases]") {
  for (const u32 columns : {0u, 1u, 31u, 33u, 127u, 128u, 255u, 257u, 1023u, 1025u, 2053u}) {
    const u32 rows = 3;
    const std::vector<f32> host = numbers(std::size_t{rows} * columns);
    auto x = under_test().upload(host);
    auto two = under_test().upload(std::vector<f32>(columns, 2.0f)),
         one = under_test().upload(std::vector<f32>(columns, 1.0f));
    const auto check = [&](bool centred, auto launch) {
      auto y = poisoned<f32>(host.size() + 2);
      launch(y);
      const std::vector<f32> got = y.download();
      CAPTURE(columns, centred);
      REQUIRE(norm_error(got, host, rows, columns, centred) < 1e-5);
      require_poison(got, host.size());
    };
    const auto norms = [&](const auto& rms, const auto& layer) {
      check(false,
            [&](auto& y) { rms.launch(under_test().stream(), grid(rows), x, two, y, columns, 1e-5f); });
      check(true, [&](auto& y) {
        layer.launch(under_test().stream(), grid(rows), x, two, one, y, columns, 1e-5f);
      });
    };
    norms(showcase::rms_norm<32>, showcase::layer_norm<32>);
    norms(showcase::rms_norm<256>, showcase::layer_norm<256>);
  }
}

TEST_CASE("every code has its number, in its place in a word", "[showcases]") {
  for (const u32 n : {0u, 1u, 64u, 255u, 256u, 257u}) {
    std::vector<i32> words(n);
    for (u32 i = 0; i < 4 * n; ++i) words[i / 4] |= static_cast<i32>((i & 255u) << (8 * (i % 4)));
    auto on_gpu = under_test().upload(words);
    auto y = poisoned<f32>(4 * n + 4);
    showcase::int8_dequant.launch(under_test().stream(), over(n), on_gpu, y.reinterpret<f32x4>(), 0.5f, n);
    const std::vector<f32> got = y.download();
    for (u32 i = 0; i < 4 * n; ++i) REQUIRE(got[i] == 0.5f * static_cast<i8>(i & 255u));
    require_poison(got, 4 * std::size_t{n});
  }
}

TEST_CASE(
    "a sum is that of n numbers for any n and grid, and a later launch finds its counter as the first did",
    "[showcases]") {
  auto partial = under_test().allocate<f32>(700), sum = under_test().allocate<f32>(1);
  auto arrived = under_test().upload(std::vector<u32>{0});
  for (const u32 n : {0u, 1u, 3u, 4u, 255u, 1024u, 4099u, 20011u}) {
    std::vector<f32> host(n);
    for (u32 i = 0; i < n; ++i)
      host[i] = static_cast<f32>(i % 7) - 2.0f;  // whole: every order has the same sum
    auto x = under_test().upload(host);
    for (const u32 blocks : {1u, 2u, 7u, 600u}) {
      showcase::reduction.launch(under_test().stream(), grid(blocks), x, partial, arrived, sum, u64{n});
      CAPTURE(n, blocks);
      REQUIRE(sum.download()[0] == std::accumulate(host.begin(), host.end(), 0.0f));
    }
  }
}

TEST_CASE("a transpose moves every element of matrices of any size", "[showcases]") {
  for (const u32 rows : {1u, 31u, 32u, 33u, 97u})
    for (const u32 columns : {1u, 31u, 32u, 33u, 130u}) {
      const std::vector<f32> host = numbers(std::size_t{rows} * columns);
      auto x = under_test().upload(host);
      auto y = poisoned<f32>(host.size() + 2);
      showcase::transpose.launch(under_test().stream(), grid((columns + 31) / 32, (rows + 31) / 32), x, y,
                                 rows, columns);
      const std::vector<f32> got = y.download();
      CAPTURE(rows, columns);
      for (u32 r = 0; r < rows; ++r)
        for (u32 c = 0; c < columns; ++c)
          REQUIRE(got[std::size_t{c} * rows + r] == host[std::size_t{r} * columns + c]);
      require_poison(got, host.size());
    }
}

TEST_CASE("a histogram counts every byte once, also after the last vector", "[showcases]") {
  for (const u32 n : {0u, 1u, 15u, 16u, 17u, 4096u, 5003u}) {
    std::vector<u8> host(n);
    for (u32 i = 0; i < n; ++i) host[i] = static_cast<u8>(i % 3 == 0 ? 255u : i * 7u & 255u);
    std::vector<u32> want(showcase::histogram_bins);
    for (const u8 one : host) ++want[one];
    auto x = under_test().upload(host);
    for (const u32 blocks : {1u, 3u}) {
      auto counts = under_test().upload(std::vector<u32>(showcase::histogram_bins, 0u));
      showcase::histogram.launch(under_test().stream(), grid(blocks), x, counts, u64{n});
      CAPTURE(n, blocks);
      REQUIRE(counts.download() == want);
    }
  }
}
