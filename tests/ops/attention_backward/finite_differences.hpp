#pragma once
// Checks backward_reference in another way: finite differences of the attention itself in double precision. Its
// inputs are numbers that may be changed one by one.
#include "tests/ops/attention_backward/reference.hpp"

#include <cmath>
#include <vector>

namespace kaio::tests {

// All that has a gradient, in the order of it.
struct attention_numbers {
  std::vector<double> q, k, v, bias, sinks;
};

// The objective of the gradients: the sum of O * dO, and of lse * dlse.
inline double attention_objective(const backward_case& c, const attention_numbers& x,
                                  const std::vector<double>& dout, const host_score& f) {
  const bias_place of_bias(c);
  const auto dot = [](const double* a, const double* b, u32 size) {
    double sum = 0;
    for (u32 e = 0; e < size; ++e) sum += a[e] * b[e];
    return sum;
  };
  const auto score = [&](double s, u32 b, u32 h, u32 i, u32 j) {
    if (f.score) return f.score(s, b, h, i, j);
    if (c.softcap > 0) s = double(c.softcap) * std::tanh(s / double(c.softcap));
    s -= c.slope(b, h) * std::abs(double(i) + c.keys - c.queries - j);
    return c.bias.exists() ? s + x.bias[of_bias.at({b, h, i, j})] : s;
  };
  double objective = 0;
  for (u32 b = 0; b < c.batches; ++b)
    for (u32 h = 0; h < c.heads; ++h)
      for (u32 i = 0; i < c.queries; ++i) {
        const std::size_t row = (std::size_t{b} * c.queries + i) * c.heads + h;
        double total = c.sinks ? std::exp(x.sinks[h]) : 0, of_values = 0;
        for (u32 j = 0; j < c.keys; ++j) {
          if (!(f.mask ? f.mask(b, h, i, j) : c.keeps(b, h, i, j))) continue;
          const std::size_t key = (std::size_t{b} * c.keys + j) * c.key_heads + h / (c.heads / c.key_heads);
          const double s = c.true_scale() * dot(&x.q[row * c.qk_size], &x.k[key * c.qk_size], c.qk_size);
          const double p = std::exp(score(s, b, h, i, j));
          total += p;
          of_values += p * dot(&dout[row * c.v_size], &x.v[key * c.v_size], c.v_size);
        }
        if (total != 0) objective += of_values / total + std::log(total) * c.dlse_of(b, h, i);
      }
  return objective;
}

// Every element of every gradient of the reference.
inline void check_reference(const backward_case& c, const host_score& f = {}) {
  CAPTURE(c.text(), c.dlse);
  const attention_inputs<f32> inputs(c);
  tensor4<f32> dout(c.batches, c.queries, c.heads, c.v_size, false, 0);
  dout.fill(c.seed + 3, c.dout_range);
  const backward_reference<f32> want(c, inputs.q, inputs.k, inputs.v, dout, f);
  const auto numbers = [](const tensor4<f32>& x) {
    return std::vector<double>(x.host.begin(), x.host.end());
  };
  attention_numbers x{numbers(inputs.q), numbers(inputs.k), numbers(inputs.v), {}, {}};
  const bias_place of_bias(c);
  x.bias.resize(of_bias.count());
  for (u32 b = 0; b < c.batches; ++b)
    for (u32 h = 0; h < c.heads; ++h)
      for (u32 i = 0; i < c.queries; ++i)
        for (u32 j = 0; j < c.keys; ++j) x.bias[of_bias.at({b, h, i, j})] = c.bias_of(b, h, i, j);
  for (u32 h = 0; h < c.heads; ++h) x.sinks.push_back(c.sink(h));
  const std::vector<double> of_dout = numbers(dout);
  const auto check = [&](const char* name, std::vector<double>& of, const std::vector<double>& gradient) {
    REQUIRE(of.size() == gradient.size());
    double largest = 0;
    for (std::size_t i = 0; i < of.size(); ++i) {
      constexpr double step = 0x1p-13;
      const double before = of[i];
      of[i] = before + step;
      const double up = attention_objective(c, x, of_dout, f);
      of[i] = before - step;
      const double down = attention_objective(c, x, of_dout, f);
      of[i] = before;
      const double difference = (up - down) / (2 * step);
      largest = std::max(largest, std::abs(difference));
      if (std::abs(difference - gradient[i]) < 1e-6) continue;
      CAPTURE(name, i, difference, gradient[i]);
      REQUIRE(difference == gradient[i]);
    }
    CAPTURE(name);
    REQUIRE(largest > 0.01);
  };
  check("dq", x.q, want.dq.exact);
  check("dk", x.k, want.dk.exact);
  check("dv", x.v, want.dv.exact);
  if (c.dbias) check("dbias", x.bias, want.dbias.exact);
  if (c.dsinks) check("dsinks", x.sinks, want.dsinks.exact);
}

}  // namespace kaio::tests
