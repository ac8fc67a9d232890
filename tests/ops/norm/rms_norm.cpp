// rms_norm against double precision: the sum of x and residual bit for bit, its norm within a unit in the last
// place. Nothing else is read or written.
#include "tests/ops/cache/support.hpp"
#include "tests/ops/refusal.hpp"

#include <kaio/ops/rms_norm.hpp>

#include <bit>
#include <cmath>
#include <limits>
#include <random>
#include <vector>

using namespace kaio;
using namespace kaio::tests;

namespace {

enum class residual_is { none, added, written, in_place };

struct norm_case {
  i64 batches = 1, tokens = 3, heads = 1, size = 64;
  residual_is residual = residual_is::none;
  bool in_place = false;  // out is x
  tensor_layout layout{};
  float weight_offset = 0;
  f32 epsilon = 1e-3f;
};

template <class T>
void check_norm(const norm_case& c) {
  CAPTURE(c.batches, c.tokens, c.heads, c.size, static_cast<int>(c.residual), c.in_place, c.layout.pad,
          c.layout.shift, c.epsilon, sizeof(T));
  const auto x = input_tensor<T>(c.batches, c.tokens, c.heads, c.size, c.layout, 1, 4);
  const auto residual = input_tensor<T>(c.batches, c.tokens, c.heads, c.size, c.layout, 2, 4);
  const cache_tensor<T> blank(c.batches, c.tokens, c.heads, c.size, c.layout);
  const auto weight = input_tensor<T>(1, 1, 1, c.size, {}, 3, 2);
  auto on_x = under_test().upload(x.host), on_residual = under_test().upload(residual.host);
  auto on_sum = under_test().upload(blank.host), on_out = under_test().upload(blank.host);
  auto on_weight = under_test().upload(weight.host);
  rms_norm_options options{.epsilon = c.epsilon, .weight_offset = c.weight_offset};
  if (c.residual != residual_is::none) options.residual = residual.template view<const T>(on_residual);
  if (c.residual == residual_is::written) options.residual_out = blank.view(on_sum);
  if (c.residual == residual_is::in_place) options.residual_out = residual.view(on_residual);
  rms_norm(under_test().stream(), x.template view<const T>(on_x), tensor_view<const T, 1>(on_weight, c.size),
           c.in_place ? x.view(on_x) : blank.view(on_out), options);

  cache_tensor<T> sum = c.residual == residual_is::in_place ? residual : blank;
  cache_tensor<T> out = c.in_place ? x : blank;
  const std::vector<T> got = c.in_place ? on_x.download() : on_out.download();
  for (i64 b = 0; b < c.batches; ++b)
    for (i64 t = 0; t < c.tokens; ++t)
      for (i64 h = 0; h < c.heads; ++h) {
        double squares = 0;
        std::vector<T> row;
        for (i64 e = 0; e < c.size; ++e) {
          T one = x.at(b, t, h, e);
          if (c.residual != residual_is::none)
            one = from_float<T>(static_cast<float>(to_double(one) + to_double(residual.at(b, t, h, e))));
          row.push_back(one);
          squares += to_double(one) * to_double(one);
        }
        const double rms = std::sqrt(squares / static_cast<double>(c.size) + double{c.epsilon});
        for (i64 e = 0; e < c.size; ++e) {
          const T one = row[static_cast<std::size_t>(e)];
          sum.at(b, t, h, e) = one;
          const double factor = static_cast<double>(c.weight_offset) + to_double(weight.at(0, 0, 0, e));
          const double want = to_double(one) / rms * factor, is = to_double(got[out.index(b, t, h, e)]);
          const double smallest = std::is_same_v<T, f16> ? 0x1p-24 : 0.0;
          const double bound = std::max(unit_in_last_place<T>(want), 2e-6 * std::abs(want)) + smallest;
          out.at(b, t, h, e) = got[out.index(b, t, h, e)];
          if (std::abs(is - want) <= bound) continue;
          CAPTURE(b, t, h, e);
          REQUIRE(is == want);
        }
      }
  require_same(got, out.host);
  if (c.residual == residual_is::written) require_same(on_sum.download(), sum.host);
  if (c.residual == residual_is::in_place) require_same(on_residual.download(), sum.host);
  if (c.residual == residual_is::added) require_same(on_residual.download(), residual.host);
}

template <class T>
void check_sizes() {
  for (const i64 size : {1, 7, 8, 24, 100, 128, 300, 1000, 1032})
    check_norm<T>({.size = size, .residual = size % 3 == 0 ? residual_is::none : residual_is::written});
  for (const residual_is residual :
       {residual_is::none, residual_is::added, residual_is::written, residual_is::in_place}) {
    check_norm<T>(
        {.tokens = 2, .size = 8192 + 40, .residual = residual, .in_place = true});  // longer than held
    check_norm<T>({.tokens = 5, .size = 200, .residual = residual, .layout = {.pad = 8}});
    check_norm<T>(
        {.tokens = 5, .size = 200, .residual = residual, .in_place = true, .layout = {.pad = 3, .shift = 1}});
  }
  check_norm<T>({.batches = 2,
                 .tokens = 3,
                 .heads = 5,
                 .size = 128,
                 .layout = {.heads_first = true},
                 .weight_offset = 1});
  for (const f32 epsilon : {0.0f, 1e-30f, 1e30f})
    check_norm<T>({.tokens = 2, .size = 40, .epsilon = epsilon});
  check_norm<T>({.tokens = 70, .size = 16});  // rows of several blocks
  check_norm<T>({.tokens = 0});
}

}  // namespace

TEST_CASE("rms_norm: f16", "[ops][rms_norm]") { check_sizes<f16>(); }
TEST_CASE("rms_norm: bf16", "[ops][rms_norm]") { check_sizes<bf16>(); }
TEST_CASE("rms_norm: f32", "[ops][rms_norm]") { check_sizes<f32>(); }

// h of any bits of x and residual, near each other in size and far apart, is their sum in f32, rounded to T.
template <class T>
void check_sums_of_any_bits() {
  const i64 rows = 8, size = 1024;
  std::mt19937 engine(20261201);
  constexpr int fraction = std::is_same_v<T, f16> ? 10 : 7;
  std::vector<T> x, residual;
  for (i64 i = 0; i < rows * size; ++i) {
    const auto bits = static_cast<u32>(engine());
    const u32 near = (bits >> 20) % (3 * fraction) << fraction;  // of exponents, down to no common digit
    x.push_back(std::bit_cast<T>(static_cast<u16>(bits)));
    residual.push_back(
        std::bit_cast<T>(static_cast<u16>(i % 4 == 0 ? engine() : (bits - near) ^ (engine() & 0x807f))));
  }
  const auto on_x = upload(x), on_residual = upload(residual),
             on_weight = upload(std::vector<T>(static_cast<std::size_t>(size), T(1.0f)));
  auto on_sum = under_test().allocate<T>(x.size()), on_out = under_test().allocate<T>(x.size());
  rms_norm(under_test().stream(), tensor_view<const T, 2>(on_x, rows, size),
           tensor_view<const T, 1>(on_weight, size), tensor_view<T, 2>(on_out, rows, size),
           {.residual = tensor_view<const T, 2>(on_residual, rows, size),
            .residual_out = tensor_view<T, 2>(on_sum, rows, size)});
  const auto got = on_sum.download();
  for (std::size_t i = 0; i < x.size(); ++i) {
    const T want = from_float<T>(static_cast<f32>(x[i]) + static_cast<f32>(residual[i]));
    const bool is_same = std::isnan(to_double(want)) ? std::isnan(to_double(got[i]))
                                                     : std::bit_cast<u16>(got[i]) == std::bit_cast<u16>(want);
    if (is_same) continue;
    CAPTURE(i, std::bit_cast<u16>(x[i]), std::bit_cast<u16>(residual[i]), std::bit_cast<u16>(want));
    REQUIRE(std::bit_cast<u16>(got[i]) == std::bit_cast<u16>(want));
  }
}

TEST_CASE("rms_norm: the sum with a residual has the bits of one in f32 that is rounded", "[ops][rms_norm]") {
  check_sums_of_any_bits<f16>();
  check_sums_of_any_bits<bf16>();
}

TEST_CASE("rms_norm: a row has the same bits in every call, and NaN stays in its row", "[ops][rms_norm]") {
  const i64 rows = 9, size = 520;
  auto x = input_tensor<f16>(1, rows, 1, size, {}, 7);
  x.at(0, 4, 0, 17) = f16(std::numeric_limits<float>::quiet_NaN());
  const auto weight = input_tensor<f16>(1, 1, 1, size, {}, 8);
  auto on_x = under_test().upload(x.host), on_weight = under_test().upload(weight.host);
  auto all = under_test().allocate<f16>(rows * size), one = under_test().allocate<f16>(size);
  const stream& s = under_test().stream();
  const tensor_view<const f16, 2> from(on_x, rows, size);
  const tensor_view<const f16, 1> factors(on_weight, size);
  rms_norm(s, from, factors, tensor_view<f16, 2>(all, rows, size));
  const auto together = all.download();
  for (const i64 row : {0, 4, 8}) {
    rms_norm(s, from.slice(0, row, 1), factors, tensor_view<f16, 2>(one, 1, size));
    const auto alone = one.download();
    for (i64 e = 0; e < size; ++e) {
      const f16 a = alone[static_cast<std::size_t>(e)],
                b = together[static_cast<std::size_t>(row * size + e)];
      if (row == 4)
        REQUIRE(std::isnan(to_double(a)));
      else
        REQUIRE(to_double(a) == to_double(b));
    }
  }
}

TEST_CASE("rms_norm: bad input", "[ops][rms_norm]") {
  const device& gpu = under_test();
  auto a = gpu.allocate<f16>(512), b = gpu.allocate<f16>(512), c = gpu.allocate<f16>(512),
       w = gpu.allocate<f16>(64);
  auto other = gpu.allocate<bf16>(512);
  const tensor_view<f16, 2> x(a, 8, 64), out(b, 8, 64), third(c, 8, 64);
  const tensor_view<const f16, 1> weight(w, 64);
  const auto refused = [&](const std::string& part, const tensor_view<f16, 2>& from,
                           const tensor_view<const f16, 1>& of, const tensor_view<f16, 2>& to,
                           const rms_norm_options& options = {}) {
    require_refusal(errc::invalid_argument, "kaio: rms_norm: ", part,
                    [&] { rms_norm(gpu.stream(), from, of, to, options); });
  };
  refused("weight has extent 0 of 63", x, weight.slice(0, 0, 63), out);
  refused("out has extent 0 of 7", x, weight, out.slice(0, 0, 7));
  refused("argument x has stride 2", tensor_view<f16, 2>(a, extents(4, 64), strides(128, 2)), weight,
          out.slice(0, 0, 4));
  refused("output out shares memory with argument x", x.slice(0, 0, 4), weight, x.slice(0, 2, 4));
  refused("residual_out is given without residual", x, weight, out, {.residual_out = third});
  for (const f32 epsilon :
       {-1.0f, 1e-31f, std::numeric_limits<f32>::quiet_NaN(), std::numeric_limits<f32>::infinity()})
    refused("epsilon is neither 0 nor from 1e-30", x, weight, out, {.epsilon = epsilon});
  refused("residual has another element type", x, weight, out,
          {.residual = tensor_view<bf16, 2>(other, 8, 64)});
  refused("residual has 1 dimensions", x, weight, out, {.residual = weight});
  refused("output out shares memory with argument residual", x, weight, out, {.residual = out});
  refused("residual_out shares memory with argument x", x, weight, out,
          {.residual = third, .residual_out = x});
}
