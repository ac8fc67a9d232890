// Gradients of rms_norm and layer_norm against double precision, and against differences of the norm itself.
// Nothing else is read or written; equal calls have equal bits.
#include "tests/ops/cache/support.hpp"
#include "tests/ops/refusal.hpp"

#include <kaio/ops/norm_backward.hpp>

#include <functional>
#include <limits>

using namespace kaio;
using namespace kaio::tests;

namespace {

enum class weight_is { none, own, single };

struct backward_case {
  bool is_layer = false;
  i64 batches = 1, tokens = 3, heads = 1, size = 64;
  tensor_layout layout{};
  weight_is weight = weight_is::own;
  bool dweight = true, dbias = true, single_sums = false;
  bool dh = false, in_place = false;  // dx is dh
  f32 weight_offset = 0, epsilon = 1e-3f;
  unsigned seed = 1;
};

struct row_gradient {
  double mean, inverse;
  std::vector<double> dx, y;
  double scale;  // of dx: rounding errors are parts of it
};

// x, g: a row and dy * weight.
row_gradient gradient_of(const std::vector<double>& x, const std::vector<double>& g, bool is_layer,
                         double epsilon) {
  const auto n = static_cast<double>(x.size());
  row_gradient r{};
  if (is_layer)
    for (const double one : x) r.mean += one / n;
  double squares = 0, sum = 0, products = 0, size = 0;
  for (const double one : x) squares += (one - r.mean) * (one - r.mean);
  r.inverse = 1 / std::sqrt(squares / n + epsilon);
  for (std::size_t i = 0; i < x.size(); ++i) {
    r.y.push_back((x[i] - r.mean) * r.inverse);
    if (is_layer) sum += g[i] / n;
    products += g[i] * r.y[i] / n;
    size += (std::abs(g[i]) + std::abs(g[i] * r.y[i])) / n;
  }
  r.scale = 0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    r.dx.push_back(r.inverse * (g[i] - sum - r.y[i] * products));
    r.scale = std::max(r.scale, r.inverse * (std::abs(g[i]) + size * (1 + std::abs(r.y[i]))));
  }
  return r;
}

template <class T>
double rounding(double x) {
  return unit_in_last_place<T>(x) + (std::is_same_v<T, f16> ? 0x1p-24 : 0.0);
}

template <class T>
void check_sums(const std::vector<T>& got, const std::vector<double>& want, const std::vector<double>& size) {
  for (std::size_t e = 0; e < want.size(); ++e) {
    const double is = to_double(got[e]);
    if (std::abs(is - want[e]) <= rounding<T>(want[e]) + 4e-6 * size[e]) continue;
    CAPTURE(e, size[e]);
    REQUIRE(is == want[e]);
  }
}

template <class T, class Sum>
void check_backward(const backward_case& c) {
  CAPTURE(c.is_layer, c.batches, c.tokens, c.heads, c.size, c.layout.pad, c.layout.shift,
          static_cast<int>(c.weight), c.dweight, c.dbias, c.dh, c.in_place, c.seed, sizeof(T), sizeof(Sum));
  const device& gpu = under_test();
  const stream& s = gpu.stream();
  const auto make = [&](unsigned n) {
    return input_tensor<T>(c.batches, c.tokens, c.heads, c.size, c.layout, 10 * c.seed + n, 3);
  };
  const auto x = make(1), dy = make(2), dh = make(3);
  const cache_tensor<T> blank(c.batches, c.tokens, c.heads, c.size, c.layout);
  const auto own = input_tensor<T>(1, 1, 1, c.size, {}, c.seed, 2);
  const auto single = input_tensor<f32>(1, 1, 1, c.size, {}, c.seed, 2);
  auto on_x = gpu.upload(x.host), on_dy = gpu.upload(dy.host), on_dh = gpu.upload(dh.host),
       on_own = gpu.upload(own.host);
  auto on_dx = gpu.upload(blank.host);
  auto on_single = gpu.upload(single.host);
  const auto count = static_cast<std::size_t>(c.size);
  auto on_dweight = gpu.upload(std::vector<Sum>(count + 1, from_float<Sum>(7)));
  auto on_dbias = gpu.upload(std::vector<Sum>(count + 1, from_float<Sum>(7)));
  const auto x_view = x.template view<const T>(on_x), dy_view = dy.template view<const T>(on_dy);
  auto memory = gpu.allocate<u8>(norm_backward_workspace_bytes(s, x_view) + 1);
  ops::any_view weight;
  if (c.weight == weight_is::own) weight = tensor_view<const T, 1>(on_own, c.size);
  if (c.weight == weight_is::single) weight = tensor_view<const f32, 1>(on_single, c.size);
  const auto of_sums = [&](bool wanted, buffer<Sum>& to) {
    return wanted ? ops::output_view(tensor_view<Sum, 1>(to, c.size)) : ops::output_view();
  };
  const auto dx_view = c.in_place ? dh.view(on_dh) : blank.view(on_dx);
  rms_norm_backward_options of_rms{
      .epsilon = c.epsilon, .weight_offset = c.weight_offset, .workspace = memory};
  if (c.dh) of_rms.dh = dh.template view<const T>(on_dh);
  const layer_norm_backward_options of_layer{of_rms.epsilon, of_rms.weight_offset, of_rms.dh,
                                             of_rms.workspace};
  const auto call = [&] {
    if (c.is_layer)
      layer_norm_backward(s, x_view, weight, dy_view, dx_view, of_sums(c.dweight, on_dweight),
                          of_sums(c.dbias, on_dbias), of_layer);
    else
      rms_norm_backward(s, x_view, weight, dy_view, dx_view, of_sums(c.dweight, on_dweight), of_rms);
  };
  call();
  const std::vector<T> got = c.in_place ? on_dh.download() : on_dx.download();
  const std::vector<Sum> dweight = on_dweight.download(), dbias = on_dbias.download();

  cache_tensor<T> want = c.in_place ? dh : blank;
  std::vector<double> products(count), gradients(count), products_size(count), gradients_size(count);
  for (i64 b = 0; b < c.batches; ++b)
    for (i64 t = 0; t < c.tokens; ++t)
      for (i64 h = 0; h < c.heads; ++h) {
        std::vector<double> row, g, upstream;
        for (i64 e = 0; e < c.size; ++e) {
          const double factor = c.weight == weight_is::none
                                    ? 1.0
                                    : static_cast<double>(c.weight_offset) +
                                          (c.weight == weight_is::own ? to_double(own.at(0, 0, 0, e))
                                                                      : to_double(single.at(0, 0, 0, e)));
          row.push_back(to_double(x.at(b, t, h, e)));
          upstream.push_back(to_double(dy.at(b, t, h, e)));
          g.push_back(upstream.back() * factor);
        }
        const row_gradient of = gradient_of(row, g, c.is_layer, static_cast<double>(c.epsilon));
        for (i64 e = 0; e < c.size; ++e) {
          const auto i = static_cast<std::size_t>(e);
          const double more = c.dh ? to_double(dh.at(b, t, h, e)) : 0.0;
          const double right = of.dx[i] + more, is = to_double(got[want.index(b, t, h, e)]);
          want.at(b, t, h, e) = got[want.index(b, t, h, e)];
          products[i] += upstream[i] * of.y[i];
          gradients[i] += upstream[i];
          products_size[i] += std::abs(upstream[i] * of.y[i]);
          gradients_size[i] += std::abs(upstream[i]);
          if (std::abs(is - right) <= rounding<T>(right) + 4e-6 * (of.scale + std::abs(more))) continue;
          CAPTURE(b, t, h, e, of.scale);
          REQUIRE(is == right);
        }
      }
  require_same(got, want.host);
  if (c.dweight) check_sums(dweight, products, products_size);
  if (c.is_layer && c.dbias) check_sums(dbias, gradients, gradients_size);
  REQUIRE(to_double(dweight[count]) == 7.0);
  REQUIRE(to_double(dbias[count]) == 7.0);
  if (c.in_place) return;
  call();
  require_same(on_dx.download(), got);
  require_same(on_dweight.download(), dweight);
  require_same(on_dbias.download(), dbias);
}

template <class T>
void check_sizes(bool is_layer) {
  for (const i64 size : {1, 7, 8, 24, 100, 128, 300, 1000, 1032})
    check_backward<T, f32>({.is_layer = is_layer, .tokens = 5, .size = size});
  check_backward<T, T>({.is_layer = is_layer, .tokens = 3, .size = 8192 + 40, .dh = true});  // a cluster
  check_backward<T, T>({.is_layer = is_layer, .tokens = 2, .size = 8191, .weight = weight_is::single});
  check_backward<T, f32>(
      {.is_layer = is_layer, .tokens = 300, .size = 40, .weight = weight_is::single, .weight_offset = 1});
  check_backward<T, T>({.is_layer = is_layer, .tokens = 70, .size = 16, .weight = weight_is::none});
  check_backward<T, T>({.is_layer = is_layer,
                        .batches = 2,
                        .tokens = 3,
                        .heads = 5,
                        .size = 128,
                        .layout = {.heads_first = true},
                        .weight_offset = 1});
  check_backward<T, f32>({.is_layer = is_layer, .tokens = 5, .size = 200, .layout = {.pad = 8}, .dh = true});
  check_backward<T, f32>({.is_layer = is_layer,
                          .batches = 2,
                          .tokens = 5,
                          .heads = 2,
                          .size = 200,
                          .layout = {.pad = 3, .shift = 1},
                          .dh = true,
                          .in_place = true});
  for (const bool dweight : {false, true})
    check_backward<T, f32>({.is_layer = is_layer, .size = 520, .dweight = dweight, .dbias = !dweight});
  check_backward<T, f32>({.is_layer = is_layer, .size = 264, .dweight = false, .dbias = false});
  check_backward<T, f32>({.is_layer = is_layer, .tokens = 0});
}

}  // namespace

TEST_CASE("norm_backward: rms_norm, f16", "[ops][norm_backward]") { check_sizes<f16>(false); }
TEST_CASE("norm_backward: rms_norm, bf16", "[ops][norm_backward]") { check_sizes<bf16>(false); }
TEST_CASE("norm_backward: rms_norm, f32", "[ops][norm_backward]") { check_sizes<f32>(false); }
TEST_CASE("norm_backward: layer_norm, f16", "[ops][norm_backward]") { check_sizes<f16>(true); }
TEST_CASE("norm_backward: layer_norm, bf16", "[ops][norm_backward]") { check_sizes<bf16>(true); }
TEST_CASE("norm_backward: layer_norm, f32", "[ops][norm_backward]") { check_sizes<f32>(true); }

TEST_CASE("norm_backward: columns that do not fit shared memory", "[ops][norm_backward]") {
  check_backward<bf16, f32>({.is_layer = true, .tokens = 2, .size = 480'000});
  check_backward<f32, f32>({.tokens = 2, .size = 400'001, .dh = true});
}

// More rows than all blocks have at once: each block copies rows ahead, and adds their sums.
TEST_CASE("norm_backward: blocks that have several rows in turn", "[ops][norm_backward]") {
  check_backward<bf16, f32>({.tokens = 700, .size = 4104});
  check_backward<f32, f32>({.is_layer = true, .tokens = 300, .size = 4104});  // clusters
  check_backward<f16, f32>({.is_layer = true, .tokens = 30'000, .size = 33});
  check_backward<bf16, f32>({.is_layer = true,
                             .batches = 3,
                             .tokens = 1500,
                             .heads = 17,
                             .size = 40,
                             .layout = {.heads_first = true},
                             .dweight = false,
                             .dh = true});
}

TEST_CASE("norm_backward: the workspace of x serves operands that begin anywhere", "[ops][norm_backward]") {
  const device& gpu = under_test();
  const stream& s = gpu.stream();
  const i64 rows = 101'376, size = 8;
  const std::vector<f16> ones(static_cast<std::size_t>(rows * (size + 1)), f16(1.0f));
  auto x = gpu.upload(ones), dy = gpu.upload(ones), dx = gpu.upload(ones);
  auto dweight = gpu.allocate<f32>(size), dbias = gpu.allocate<f32>(size);
  const tensor_view<const f16, 2> from(x, rows, size), all_dy(dy, rows, size + 1);
  const tensor_view<f16, 2> all_dx(dx, rows, size + 1);
  auto memory = gpu.allocate<u8>(norm_backward_workspace_bytes(s, from));
  layer_norm_backward(s, from, {}, all_dy.slice(1, 1, size), all_dx.slice(1, 1, size),
                      tensor_view<f32, 1>(dweight, size), tensor_view<f32, 1>(dbias, size),
                      {.workspace = memory});
  for (const f32 sum : dbias.download()) REQUIRE(sum == static_cast<f32>(rows));
}

TEST_CASE("norm_backward: random problems", "[ops][norm_backward]") {
  std::mt19937_64 engine(2026);
  const auto any = [&](i64 least, i64 most) {
    return std::uniform_int_distribution<i64>(least, most)(engine);
  };
  for (unsigned n = 0; n < 40; ++n) {
    backward_case c{.is_layer = any(0, 1) == 1,
                    .batches = any(1, 3),
                    .tokens = any(1, 9),
                    .heads = any(1, 4),
                    .size = any(1, n % 8 == 0 ? 9000 : 400),
                    .layout = {.heads_first = any(0, 1) == 1,
                               .pad = static_cast<u32>(any(0, 9)),
                               .shift = static_cast<u32>(any(0, 3))},
                    .weight = static_cast<weight_is>(any(0, 2)),
                    .dweight = any(0, 3) != 0,
                    .dbias = any(0, 3) != 0,
                    .dh = any(0, 1) == 1,
                    .seed = 100 + n};
    if (n % 3 == 0) c.layout = {};
    if (n % 3 == 0) check_backward<f16, f32>(c);
    if (n % 3 == 1) check_backward<bf16, bf16>(c);
    if (n % 3 == 2) check_backward<f32, f32>(c);
  }
}

// The norm itself, in double precision: the gradient formula above is that of a sum of y * w * dy.
TEST_CASE("norm_backward: the reference is the derivative of the norm", "[ops][norm_backward]") {
  std::mt19937_64 engine(5);
  std::uniform_real_distribution<double> any(-2, 2);
  for (const bool is_layer : {false, true}) {
    std::vector<double> x(9), g(9);
    for (double& one : x) one = any(engine);
    for (double& one : g) one = any(engine);
    const auto total = [&](const std::vector<double>& at) {
      const row_gradient of = gradient_of(at, g, is_layer, 1e-3);
      double sum = 0;
      for (std::size_t i = 0; i < at.size(); ++i) sum += of.y[i] * g[i];
      return sum;
    };
    const row_gradient of = gradient_of(x, g, is_layer, 1e-3);
    for (std::size_t i = 0; i < x.size(); ++i) {
      constexpr double step = 1e-5;
      std::vector<double> more = x, less = x;
      more[i] += step;
      less[i] -= step;
      const double slope = (total(more) - total(less)) / (2 * step);
      REQUIRE(std::abs(slope - of.dx[i]) < 1e-8);
    }
  }
}

TEST_CASE("norm_backward: a row has the same bits in every call, and NaN stays in its row of dx",
          "[ops][norm_backward]") {
  const device& gpu = under_test();
  const stream& s = gpu.stream();
  const i64 rows = 9, size = 520;
  auto x = input_tensor<f16>(1, rows, 1, size, {}, 7);
  x.at(0, 4, 0, 17) = f16(std::numeric_limits<float>::quiet_NaN());
  const auto dy = input_tensor<f16>(1, rows, 1, size, {}, 8),
             weight = input_tensor<f16>(1, 1, 1, size, {}, 9);
  auto on_x = gpu.upload(x.host), on_dy = gpu.upload(dy.host), on_weight = gpu.upload(weight.host);
  auto all = gpu.allocate<f16>(rows * size), one = gpu.allocate<f16>(size);
  auto sums = gpu.allocate<f32>(size);
  const tensor_view<const f16, 2> from(on_x, rows, size), upstream(on_dy, rows, size);
  const tensor_view<const f16, 1> factors(on_weight, size);
  auto memory = gpu.allocate<u8>(norm_backward_workspace_bytes(s, from));
  layer_norm_backward(s, from, factors, upstream, tensor_view<f16, 2>(all, rows, size),
                      tensor_view<f32, 1>(sums, size), {}, {.workspace = memory});
  const auto together = all.download();
  for (const f32 sum : sums.download()) REQUIRE(std::isnan(sum));
  for (const i64 row : {0, 4, 8}) {
    layer_norm_backward(s, from.slice(0, row, 1), factors, upstream.slice(0, row, 1),
                        tensor_view<f16, 2>(one, 1, size), {}, {});
    const auto alone = one.download();
    for (i64 e = 0; e < size; ++e) {
      const double a = to_double(alone[static_cast<std::size_t>(e)]),
                   b = to_double(together[static_cast<std::size_t>(row * size + e)]);
      if (row == 4)
        REQUIRE((std::isnan(a) && std::isnan(b)));
      else
        REQUIRE(a == b);
    }
  }
}

TEST_CASE("norm_backward: bad input", "[ops][norm_backward]") {
  const device& gpu = under_test();
  auto a = gpu.allocate<f16>(512), b = gpu.allocate<f16>(512), c = gpu.allocate<f16>(512),
       d = gpu.allocate<f16>(512), w = gpu.allocate<f16>(64), other = gpu.allocate<f16>(64);
  auto wrong = gpu.allocate<bf16>(512);
  auto memory = gpu.allocate<u8>(1 << 20);
  const tensor_view<f16, 2> x(a, 8, 64), dy(b, 8, 64), dx(c, 8, 64), dh(d, 8, 64);
  const tensor_view<f16, 1> weight(w, 64), dweight(other, 64);
  const auto refused = [&](const std::string& part, const std::function<void()>& call) {
    require_refusal(errc::invalid_argument, "kaio: rms_norm_backward: ", part, call);
  };
  const stream& s = gpu.stream();
  const rms_norm_backward_options options{.workspace = memory};
  refused("weight has extent 0 of 63",
          [&] { rms_norm_backward(s, x, weight.slice(0, 0, 63), dy, dx, {}, options); });
  refused("dy has extent 0 of 7",
          [&] { rms_norm_backward(s, x, weight, dy.slice(0, 0, 7), dx, {}, options); });
  refused("argument dx has stride 2", [&] {
    rms_norm_backward(s, x.slice(0, 0, 4), weight, dy.slice(0, 0, 4),
                      tensor_view<f16, 2>(c, extents(4, 64), strides(128, 2)), {}, options);
  });
  refused("output dx shares memory with argument dy",
          [&] { rms_norm_backward(s, x, weight, dy, dy, {}, options); });
  refused("output dx shares memory with argument x",
          [&] { rms_norm_backward(s, x, weight, dy, x, {}, options); });
  refused("output dweight shares memory with argument weight",
          [&] { rms_norm_backward(s, x, weight, dy, dx, weight, options); });
  refused("dh has another element type",
          [&] { rms_norm_backward(s, x, weight, dy, dx, {}, {.dh = tensor_view<bf16, 2>(wrong, 8, 64)}); });
  refused("dweight is neither f32 nor of the element type of x", [&] {
    rms_norm_backward(s, x, weight, dy, dx, tensor_view<bf16, 1>(wrong.slice(0, 64), 64), options);
  });
  refused("weight has 2 dimensions", [&] { rms_norm_backward(s, x, dh, dy, dx, {}, options); });
  refused("epsilon is neither 0 nor from 1e-30",
          [&] { rms_norm_backward(s, x, weight, dy, dx, {}, {.epsilon = -1}); });
  refused("workspace", [&] { rms_norm_backward(s, x, weight, dy, dx, dweight); });
  refused("workspace",
          [&] { rms_norm_backward(s, x, weight, dy, dx, dweight, {.workspace = memory.slice(0, 16)}); });
}
