#pragma once
// A problem of linear_cross_entropy on the host: its losses and gradients in double precision, and the bounds of
// their errors.

#include "tests/ops/cross_entropy/support.hpp"

#include <kaio/ops/linear_cross_entropy.hpp>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <random>
#include <vector>

namespace kaio::tests {

struct linear_case {
  entropy_case loss{};  // without a layout of its logits
  i64 features = 24;
  bool has_bias = false, wide_gradients = false;  // of f32
  float scale = 1;
  std::uint64_t chunk = 64;  // 0: the default
  u32 pad = 0, shift = 0;    // elements after each row of x and weight, before the first one
};

struct near_number {
  double is = 0, bound = 0;
};

template <class T>
struct linear_problem {
  linear_case c;
  cache_tensor<T> x, weight;
  std::vector<f32> bias;
  entropy_problem<double> of;  // of the logits
  std::vector<near_number> dx, dweight, dbias;
  double of_logits = 0;  // the error of a logit in f32

  explicit linear_problem(const linear_case& in)
      : c(in),
        x(input_tensor<T>(1, in.loss.rows, 1, in.features, {.pad = in.pad, .shift = in.shift},
                          in.loss.seed + 7, in.loss.range / 2)),
        weight(input_tensor<T>(1, in.loss.classes, 1, in.features, {.pad = in.pad, .shift = in.shift},
                               in.loss.seed + 8, 1)),
        of(in.loss) {
    std::mt19937_64 engine(c.loss.seed + 9);
    std::uniform_real_distribution<float> any(-1, 1);
    for (i64 k = 0; k < c.loss.classes; ++k) bias.push_back(any(engine));
  }
  double x_at(i64 r, i64 i) const { return to_double(x.at(0, r, 0, i)); }
  double weight_at(i64 k, i64 i) const { return to_double(weight.at(0, k, 0, i)); }

  void solve() {
    double largest = 0;
    for (i64 r = 0; r < c.loss.rows; ++r)
      for (i64 k = 0; k < c.loss.classes; ++k) {
        double sum = 0, size = 0;
        for (i64 i = 0; i < c.features; ++i) {
          sum += x_at(r, i) * weight_at(k, i);
          size += std::abs(x_at(r, i) * weight_at(k, i));
        }
        const double own = c.has_bias ? bias[static_cast<std::size_t>(k)] : 0;
        of.logits.at(0, r, 0, k) = double{c.scale} * sum + own;
        if (std::isfinite(size))
          largest = std::max(largest, std::abs(double{c.scale}) * size + std::abs(own));
      }
    of_logits = 3e-7 * largest;
    of.solve();
    dx.resize(static_cast<std::size_t>(c.loss.rows * c.features));
    dweight.resize(static_cast<std::size_t>(c.loss.classes * c.features));
    dbias.resize(static_cast<std::size_t>(c.loss.classes));
    // The gradient of the logits is rounded to T.
    const double unit = sizeof(T) == 4 ? 0 : std::is_same_v<T, f16> ? 0x1p-11 : 0x1p-8;
    const double least = std::is_same_v<T, f16> ? 0x1p-25 : 0;
    const double capped = c.loss.softcap == 0 ? 0 : 3e-7 * static_cast<double>(c.loss.softcap);
    const auto add = [](near_number& to, double factor, double g, double bound) {
      to.is += factor * g;
      to.bound += std::abs(factor) * bound;
    };
    for (i64 r = 0; r < c.loss.rows; ++r)
      for (i64 k = 0; k < c.loss.classes; ++k) {
        const auto at = static_cast<std::size_t>(r * c.loss.classes + k);
        const double g = of.gradients[at];
        const double bound =
            (6e-6 + 4 * capped + 4 * of_logits) * of.parts[at] + (unit + 1e-6) * std::abs(g) + least;
        add(dbias[static_cast<std::size_t>(k)], 1, g, bound);
        for (i64 i = 0; i < c.features; ++i) {
          add(dx[static_cast<std::size_t>(r * c.features + i)], double{c.scale} * weight_at(k, i), g, bound);
          add(dweight[static_cast<std::size_t>(k * c.features + i)], double{c.scale} * x_at(r, i), g, bound);
        }
      }
  }
};

// What a call gave. Gradients of T are converted to f32.
struct linear_result {
  std::vector<f32> loss, lse, total, dx, dweight, dbias;
};

template <class T>
std::vector<f32> as_f32(const std::vector<T>& from) {
  std::vector<f32> result;
  for (const T& one : from) result.push_back(static_cast<f32>(to_double(one)));
  return result;
}

template <class T, class Gradient, class Target>
linear_result run_linear(const linear_problem<T>& problem) {
  const linear_case& c = problem.c;
  const device& gpu = under_test();
  const stream& s = gpu.stream();
  const auto count = [](i64 n) { return static_cast<std::size_t>(n); };
  const i64 rows = c.loss.rows, classes = c.loss.classes, features = c.features;
  const bool sums = c.loss.reduction != loss_reduction::none;
  const i64 numbers = sums ? 1 : rows;
  std::vector<Target> of_rows;
  for (const i64 one : problem.of.targets) of_rows.push_back(static_cast<Target>(one));
  auto on_x = gpu.upload(problem.x.host), on_weight = gpu.upload(problem.weight.host);
  auto on_targets = gpu.upload(of_rows);
  auto on_bias = gpu.upload(problem.bias), on_weights = gpu.upload(problem.of.weights),
       on_dloss = gpu.upload(problem.of.dloss);
  auto loss = gpu.allocate<f32>(count(numbers)), lse = gpu.allocate<f32>(count(rows)),
       total = gpu.allocate<f32>(1);
  auto dx = gpu.allocate<Gradient>(count(rows * features)),
       dweight = gpu.allocate<Gradient>(count(classes * features));
  auto dbias = gpu.allocate<Gradient>(count(classes));
  const auto x = tensor_view<const T, 2>(on_x.slice(c.shift, on_x.size() - c.shift), extents(rows, features),
                                         strides(features + c.pad, 1));
  const auto weight = tensor_view<const T, 2>(on_weight.slice(c.shift, on_weight.size() - c.shift),
                                              extents(classes, features), strides(features + c.pad, 1));
  const tensor_view<const Target, 1> targets(on_targets, rows);
  const tensor_view<const f32, 1> bias(on_bias, classes), weights(on_weights, classes),
      dlosses(on_dloss, numbers);
  const tensor_view<f32, 1> to_loss(loss, numbers), to_lse(lse, rows), to_total(total, 1);
  auto memory = gpu.allocate<u8>(linear_cross_entropy_workspace_bytes(x, weight, c.chunk));
  auto more = gpu.allocate<u8>(linear_cross_entropy_backward_workspace_bytes(x, weight, c.chunk));

  linear_cross_entropy_options options{.logit_scale = c.scale,
                                       .ignore_index = c.loss.ignore_index,
                                       .label_smoothing = c.loss.smoothing,
                                       .z_loss = c.loss.z_loss,
                                       .softcap = c.loss.softcap,
                                       .reduction = c.loss.reduction,
                                       .lse = to_lse,
                                       .workspace = memory};
  linear_cross_entropy_backward_options backward{.logit_scale = c.scale,
                                                 .ignore_index = c.loss.ignore_index,
                                                 .label_smoothing = c.loss.smoothing,
                                                 .z_loss = c.loss.z_loss,
                                                 .softcap = c.loss.softcap,
                                                 .reduction = c.loss.reduction,
                                                 .dbias = tensor_view<Gradient, 1>(dbias, classes),
                                                 .workspace = more};
  if (c.has_bias) options.bias = backward.bias = bias;
  if (c.loss.has_weights) options.weights = backward.weights = weights;
  if (sums) {
    options.total_weight = to_total;
    backward.total_weight = to_total;
  }
  linear_cross_entropy(s, x, weight, targets, to_loss, options);
  linear_cross_entropy_backward(s, x, weight, targets, to_lse, dlosses,
                                tensor_view<Gradient, 2>(dx, rows, features),
                                tensor_view<Gradient, 2>(dweight, classes, features), backward);
  return {loss.download(),
          lse.download(),
          total.download(),
          as_f32(dx.download()),
          as_f32(dweight.download()),
          as_f32(dbias.download())};
}

}  // namespace kaio::tests
