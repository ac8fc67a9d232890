// softmax and log_softmax against double precision: every type, sizes and strides that no vector fits, in
// place, rows of infinities and NaN. Nothing else is written.
#include "tests/ops/cache/support.hpp"
#include "tests/ops/refusal.hpp"

#include <kaio/ops/softmax.hpp>

#include <limits>

using namespace kaio;
using namespace kaio::tests;

namespace {

struct softmax_case {
  i64 batches = 1, tokens = 3, heads = 1, size = 64;
  bool is_log = false, in_place = false, has_lse = true;
  float scale = 1, range = 4;
  tensor_layout layout{};
  u32 lse_pad = 0;  // after the numbers of each token
  std::uint64_t seed = 1;
};

// The result of a row, and its lse.
template <class T>
std::vector<double> row_on_host(const std::vector<T>& x, const softmax_case& c, double& lse) {
  double largest = -std::numeric_limits<double>::infinity(), sum = 0;
  for (const T one : x) largest = std::max(largest, to_double(one) * c.scale);
  if (std::isinf(largest) && largest < 0) largest = 0;
  for (const T one : x) sum += std::exp(to_double(one) * c.scale - largest);
  lse = largest + std::log(sum);
  std::vector<double> y;
  for (const T one : x) {
    const double v = to_double(one) * c.scale - largest;
    if (c.is_log)
      y.push_back(sum == 0 ? v : v - std::log(sum));
    else
      y.push_back(sum == 0 ? 0 : std::exp(v) / sum);
  }
  return y;
}

template <class T>
double allowed(const softmax_case& c, double want) {
  const double exact =
      c.is_log ? 1e-6 + 4e-7 * std::abs(want) : (2e-6 + 2e-7 * std::abs(std::log(want))) * want + 0x1p-126;
  return sizeof(T) == 4
             ? exact
             : exact + 0.51 * unit_in_last_place<T>(want) + (std::is_same_v<T, f16> ? 0x1p-25 : 0.0);
}

template <class T>
void check_softmax(const softmax_case& c, cache_tensor<T> x) {
  CAPTURE(c.batches, c.tokens, c.heads, c.size, c.is_log, c.in_place, c.scale, c.layout.pad, c.layout.shift,
          c.seed, sizeof(T));
  const cache_tensor<T> blank(c.batches, c.tokens, c.heads, c.size, c.layout);
  const cache_tensor<float> blank_lse(1, c.batches, c.tokens, c.heads, {.pad = c.lse_pad});
  auto on_x = under_test().upload(x.host), on_y = under_test().upload(blank.host);
  auto on_lse = under_test().upload(blank_lse.host);
  softmax_options options{.scale = c.scale};
  if (c.has_lse) options.lse = blank_lse.packed(on_lse);
  const auto from = x.template view<const T>(on_x);
  const auto to = c.in_place ? x.view(on_x) : blank.view(on_y);
  c.is_log ? log_softmax(under_test().stream(), from, to, options)
           : softmax(under_test().stream(), from, to, options);
  const std::vector<T> got = c.in_place ? on_x.download() : on_y.download();
  const auto got_lse = on_lse.download();
  cache_tensor<T> out = c.in_place ? x : blank;
  cache_tensor<float> lse = blank_lse;
  for (i64 b = 0; b < c.batches; ++b)
    for (i64 t = 0; t < c.tokens; ++t)
      for (i64 h = 0; h < c.heads; ++h) {
        std::vector<T> row;
        for (i64 e = 0; e < c.size; ++e) row.push_back(x.at(b, t, h, e));
        double want_lse = 0;
        const auto want = row_on_host(row, c, want_lse);
        for (i64 e = 0; e < c.size; ++e) {
          const std::size_t at = out.index(b, t, h, e);
          const double is = to_double(got[at]), should = want[static_cast<std::size_t>(e)];
          out.host[at] = got[at];
          if (std::isnan(should) ? std::isnan(is)
                                 : is == should || std::abs(is - should) <= allowed<T>(c, should))
            continue;
          CAPTURE(b, t, h, e);
          REQUIRE(is == should);
        }
        if (c.has_lse && c.size != 0) {
          const std::size_t at = lse.index(0, b, t, h);
          const double is = got_lse[at];
          lse.host[at] = got_lse[at];
          if (std::isnan(want_lse)
                  ? std::isnan(is)
                  : is == want_lse || std::abs(is - want_lse) <= 1e-6 + 2e-7 * std::abs(want_lse))
            continue;
          CAPTURE(b, t, h);
          REQUIRE(is == want_lse);
        }
      }
  require_same(got, out.host);
  require_same(got_lse, lse.host);
}
template <class T>
void check_softmax(const softmax_case& c) {
  check_softmax<T>(c, input_tensor<T>(c.batches, c.tokens, c.heads, c.size, c.layout, c.seed, c.range));
}

template <class T>
void check_sizes() {
  for (const bool is_log : {false, true}) {
    for (const i64 size : {1, 7, 8, 24, 100, 128, 257, 1000, 1032})
      check_softmax<T>({.size = size, .is_log = is_log, .has_lse = size % 2 == 0});
    check_softmax<T>({.tokens = 2, .size = 2048 + 40, .is_log = is_log, .in_place = true});
    check_softmax<T>({.tokens = 5, .size = 200, .is_log = is_log, .scale = 0.25f, .layout = {.pad = 8}});
    check_softmax<T>({.tokens = 5,
                      .size = 203,
                      .is_log = is_log,
                      .in_place = true,
                      .scale = -3,
                      .layout = {.pad = 3, .shift = 1}});
    check_softmax<T>({.batches = 2,
                      .tokens = 3,
                      .heads = 5,
                      .size = 128,
                      .is_log = is_log,
                      .layout = {.heads_first = true}});
    check_softmax<T>({.batches = 2, .tokens = 3, .heads = 5, .size = 19, .is_log = is_log, .lse_pad = 2});
    check_softmax<T>({.tokens = 70, .size = 16, .is_log = is_log});  // rows of several blocks
    check_softmax<T>({.tokens = 2, .size = 90, .is_log = is_log, .scale = 0});
  }
  check_softmax<T>({.tokens = 0});
  check_softmax<T>({.size = 0});
}

}  // namespace

TEST_CASE("softmax: f16", "[ops][softmax]") { check_sizes<f16>(); }
TEST_CASE("softmax: bf16", "[ops][softmax]") { check_sizes<bf16>(); }
TEST_CASE("softmax: f32", "[ops][softmax]") { check_sizes<f32>(); }

TEST_CASE("softmax: rows of a cluster, and longer than shared memory", "[ops][softmax]") {
  check_softmax<bf16>({.tokens = 2, .size = 40000});
  check_softmax<bf16>({.tokens = 2, .size = 40001, .in_place = true});
  check_softmax<f32>({.tokens = 1, .size = 70000, .is_log = true});
  check_softmax<f32>({.tokens = 1, .size = 140003});
  check_softmax<bf16>({.tokens = 1, .size = 16 * 16384 + 4096, .in_place = true});
}

TEST_CASE("softmax: infinities, NaN and the ends of the range", "[ops][softmax]") {
  const auto special = []<class T>(T) {
    const float infinity = std::numeric_limits<float>::infinity(),
                nan = std::numeric_limits<float>::quiet_NaN();
    const float lowest = std::is_same_v<T, f16>   ? -65504.0f
                         : std::is_same_v<T, f32> ? -3.4028234e38f
                                                  : -3.3895314e38f;
    for (const i64 size : {40, 43})
      for (const bool is_log : {false, true}) {
        const softmax_case c{.tokens = 8, .size = size, .is_log = is_log};
        auto x = input_tensor<T>(1, c.tokens, 1, size, {}, 5);
        for (i64 e = 0; e < size; ++e) {
          x.at(0, 1, 0, e) = from_float<T>(-infinity);
          if (e != 3) x.at(0, 2, 0, e) = from_float<T>(-infinity);
          x.at(0, 6, 0, e) = from_float<T>(lowest);  // a row that is masked by the lowest number: uniform
        }
        x.at(0, 3, 0, 11) = from_float<T>(nan);
        x.at(0, 4, 0, 7) = from_float<T>(infinity);
        x.at(0, 5, 0, 9) = from_float<T>(-lowest);
        x.at(0, 7, 0, 1) = from_float<T>(lowest);
        check_softmax<T>(c, x);
      }
  };
  special(f16{});
  special(bf16{});
  special(f32{});
}

TEST_CASE("softmax: a row has the same bits alone and among others", "[ops][softmax]") {
  for (const i64 size : {520, 523}) {
    const i64 rows = 9;
    const auto x = input_tensor<f32>(1, rows, 1, size, {}, 7);
    auto on_x = under_test().upload(x.host);
    auto all = under_test().allocate<f32>(static_cast<std::size_t>(rows * size));
    const stream& s = under_test().stream();
    softmax(s, tensor_view<const f32, 2>(on_x, rows, size), tensor_view<f32, 2>(all, rows, size));
    const auto together = all.download();
    for (const i64 row : {0, 4, 8}) {
      const auto first = x.host.begin() + row * size;
      auto on_one = under_test().upload(std::vector<f32>(first, first + size));
      auto one = under_test().allocate<f32>(static_cast<std::size_t>(size));
      softmax(s, tensor_view<const f32, 2>(on_one, 1, size), tensor_view<f32, 2>(one, 1, size));
      const auto alone = one.download();
      for (i64 e = 0; e < size; ++e)
        REQUIRE(alone[static_cast<std::size_t>(e)] == together[static_cast<std::size_t>(row * size + e)]);
    }
  }
}

TEST_CASE("softmax: random problems", "[ops][softmax]") {
  const std::uint64_t first = std::random_device{}();
  for (std::uint64_t seed = first; seed < first + 20; ++seed) {
    CAPTURE(seed);
    std::mt19937_64 engine(seed);
    const auto below = [&](std::uint64_t n) { return static_cast<i64>(engine() % n); };
    const bool is_log = below(2) != 0, in_place = below(2) != 0, has_lse = below(2) != 0,
               heads_first = below(2) != 0;
    const u32 pad = static_cast<u32>(below(9)), shift = static_cast<u32>(below(3)),
              lse_pad = static_cast<u32>(below(2));
    const softmax_case c{.batches = 1 + below(2),
                         .tokens = 1 + below(6),
                         .heads = 1 + below(3),
                         .size = 1 + below(1 << below(12)),
                         .is_log = is_log,
                         .in_place = in_place,
                         .has_lse = has_lse,
                         .scale = static_cast<float>(below(5)) - 1.5f,
                         .layout = {.heads_first = heads_first, .pad = pad, .shift = shift},
                         .lse_pad = lse_pad,
                         .seed = seed};
    const i64 type = below(3);
    if (type == 0) check_softmax<f32>(c);
    if (type == 1) check_softmax<f16>(c);
    if (type == 2) check_softmax<bf16>(c);
  }
}

TEST_CASE("softmax: bad input", "[ops][softmax]") {
  const device& gpu = under_test();
  auto a = gpu.allocate<f16>(512), b = gpu.allocate<f16>(512);
  auto numbers = gpu.allocate<f32>(64);
  const tensor_view<f16, 2> x(a, 8, 64), y(b, 8, 64);
  const auto refused = [&](const std::string& part, const tensor_view<f16, 2>& from,
                           const tensor_view<f16, 2>& to, const softmax_options& options = {}) {
    require_refusal(errc::invalid_argument, "kaio: softmax: ", part,
                    [&] { softmax(gpu.stream(), from, to, options); });
    require_refusal(errc::invalid_argument, "kaio: log_softmax: ", part,
                    [&] { log_softmax(gpu.stream(), from, to, options); });
  };
  refused("argument x has stride 2", tensor_view<f16, 2>(a, extents(4, 64), strides(128, 2)),
          y.slice(0, 0, 4));
  refused("argument y has stride 2", x.slice(0, 0, 4),
          tensor_view<f16, 2>(b, extents(4, 64), strides(128, 2)));
  refused("y has extent 0 of 7", x, y.slice(0, 0, 7));
  refused("output y shares memory with argument x", x.slice(0, 0, 4), x.slice(0, 2, 4));
  refused("scale is not finite", x, y, {.scale = std::numeric_limits<f32>::infinity()});
  refused("lse has extent 0 of 7", x, y, {.lse = tensor_view<f32, 1>(numbers, 7)});
  refused("lse has 2 dimensions", x, y, {.lse = tensor_view<f32, 2>(numbers, 8, 1)});
  refused("lse has another element type", x, y, {.lse = tensor_view<f16, 1>(b, 8)});
  refused("x", {}, y);
  require_refusal(errc::invalid_argument, "kaio: softmax_warmup: ", "f32, f16 or bf16",
                  [&] { softmax_warmup(gpu, element_kind::i8); });
  softmax_warmup(gpu, element_kind::f16);
}
