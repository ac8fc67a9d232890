// The gradients of softmax and log_softmax against double precision, in place of each input, for odd sizes
// and strides.
#include "tests/ops/cache/support.hpp"
#include "tests/ops/refusal.hpp"

#include <kaio/ops/softmax.hpp>

using namespace kaio;
using namespace kaio::tests;

namespace {

enum class written_to { dx, y, dy };

struct gradient_case {
  i64 batches = 1, tokens = 3, heads = 1, size = 64;
  bool is_log = false;
  written_to to = written_to::dx;
  float scale = 1;
  tensor_layout layout{};
  std::uint64_t seed = 1;
};

template <class T>
void check_gradient(const gradient_case& c) {
  CAPTURE(c.batches, c.tokens, c.heads, c.size, c.is_log, static_cast<int>(c.to), c.scale, c.layout.pad,
          c.layout.shift, c.seed, sizeof(T));
  auto y = input_tensor<T>(c.batches, c.tokens, c.heads, c.size, c.layout, c.seed, 1);
  y.for_each([&](T& one) {
    const float value = std::abs(static_cast<float>(to_double(one)));
    one = from_float<T>(c.is_log ? -8 * value : value / static_cast<float>(c.size));
  });
  const auto dy = input_tensor<T>(c.batches, c.tokens, c.heads, c.size, c.layout, c.seed + 1, 2);
  const cache_tensor<T> blank(c.batches, c.tokens, c.heads, c.size, c.layout);
  auto on_y = under_test().upload(y.host), on_dy = under_test().upload(dy.host),
       on_dx = under_test().upload(blank.host);
  const auto to = c.to == written_to::y    ? y.view(on_y)
                  : c.to == written_to::dy ? dy.view(on_dy)
                                           : blank.view(on_dx);
  const softmax_backward_options options{.scale = c.scale};
  const stream& s = under_test().stream();
  const auto from = y.template view<const T>(on_y), of = dy.template view<const T>(on_dy);
  c.is_log ? log_softmax_backward(s, from, of, to, options) : softmax_backward(s, from, of, to, options);
  const auto got = (c.to == written_to::y ? on_y : c.to == written_to::dy ? on_dy : on_dx).download();
  cache_tensor<T> out = c.to == written_to::y ? y : c.to == written_to::dy ? dy : blank;
  for (i64 b = 0; b < c.batches; ++b)
    for (i64 t = 0; t < c.tokens; ++t)
      for (i64 h = 0; h < c.heads; ++h) {
        double sum = 0, size = 0;
        for (i64 e = 0; e < c.size; ++e) {
          const double term = to_double(dy.at(b, t, h, e)) * (c.is_log ? 1 : to_double(y.at(b, t, h, e)));
          sum += term;
          size += std::abs(term);
        }
        for (i64 e = 0; e < c.size; ++e) {
          const double one = to_double(y.at(b, t, h, e)), of_y = to_double(dy.at(b, t, h, e));
          const double p = c.is_log ? std::exp(one) : one;
          const double want = (c.is_log ? of_y - p * sum : p * (of_y - sum)) * c.scale;
          const double parts =
              (c.is_log ? std::abs(of_y) + p * size : p * (std::abs(of_y) + size)) * std::abs(c.scale);
          const double bound = 3e-6 * parts + (sizeof(T) == 4 ? 0 : 0.51 * unit_in_last_place<T>(want)) +
                               (std::is_same_v<T, f16> ? 0x1p-25 : 0.0);
          const std::size_t at = out.index(b, t, h, e);
          out.host[at] = got[at];
          if (std::abs(to_double(got[at]) - want) <= bound) continue;
          CAPTURE(b, t, h, e);
          REQUIRE(to_double(got[at]) == want);
        }
      }
  require_same(got, out.host);
}

template <class T>
void check_sizes() {
  for (const bool is_log : {false, true}) {
    for (const i64 size : {1, 7, 8, 24, 100, 128, 257, 1000, 1032})
      check_gradient<T>({.size = size, .is_log = is_log});
    for (const written_to to : {written_to::y, written_to::dy}) {
      check_gradient<T>({.tokens = 2, .size = 2048 + 40, .is_log = is_log, .to = to});
      check_gradient<T>({.tokens = 5,
                         .size = 203,
                         .is_log = is_log,
                         .to = to,
                         .scale = -2,
                         .layout = {.pad = 3, .shift = 1}});
    }
    check_gradient<T>(
        {.batches = 2, .heads = 5, .size = 128, .is_log = is_log, .layout = {.heads_first = true}});
    check_gradient<T>({.tokens = 70, .size = 16, .is_log = is_log, .scale = 0.5f});
  }
  check_gradient<T>({.tokens = 0});
  check_gradient<T>({.size = 0});
}

}  // namespace

TEST_CASE("softmax_backward: f16", "[ops][softmax]") { check_sizes<f16>(); }
TEST_CASE("softmax_backward: bf16", "[ops][softmax]") { check_sizes<bf16>(); }
TEST_CASE("softmax_backward: f32", "[ops][softmax]") { check_sizes<f32>(); }

TEST_CASE("softmax_backward: rows of a cluster, and longer than shared memory", "[ops][softmax]") {
  check_gradient<bf16>({.tokens = 2, .size = 40000});
  check_gradient<bf16>({.tokens = 2, .size = 40001, .to = written_to::dy});
  check_gradient<f32>({.tokens = 1, .size = 140003, .is_log = true});
  check_gradient<bf16>({.tokens = 1, .size = 16 * 16384 + 4096, .to = written_to::y});
  check_gradient<f32>(
      {.tokens = 1, .size = 16 * 16384 + 1});  // more than two rows of elements in shared memory
}

TEST_CASE("softmax_backward: bad input", "[ops][softmax]") {
  const device& gpu = under_test();
  auto a = gpu.allocate<f16>(512), b = gpu.allocate<f16>(1024), c = gpu.allocate<f16>(512);
  const tensor_view<f16, 2> y(a, 8, 64), dy(b, 8, 64), dx(c, 8, 64);
  const auto refused = [&](const std::string& part, const tensor_view<f16, 2>& of,
                           const tensor_view<f16, 2>& to, f32 scale = 1) {
    require_refusal(errc::invalid_argument, "kaio: softmax_backward: ", part,
                    [&] { softmax_backward(gpu.stream(), y, of, to, {.scale = scale}); });
    require_refusal(errc::invalid_argument, "kaio: log_softmax_backward: ", part,
                    [&] { log_softmax_backward(gpu.stream(), y, of, to, {.scale = scale}); });
  };
  refused("argument dy has stride 2", tensor_view<f16, 2>(b, extents(8, 64), strides(128, 2)), dx);
  refused("dy has extent 0 of 7", dy.slice(0, 0, 7), dx);
  refused("dx has extent 1 of 63", dy, dx.slice(1, 0, 63));
  refused("output dx shares memory with argument dy", dy, tensor_view<f16, 2>(b, 16, 64).slice(0, 1, 8));
  refused("scale is not finite", dy, dx, std::numeric_limits<f32>::quiet_NaN());
}
