#pragma once
// The gradients of an attention in double precision, by the formulas of attention_backward.hpp, and as the
// plain formula in the operand type gives them: scores, probabilities, dP and dS rounded to it, sums in f32.
#include "tests/ops/attention/support.hpp"

#include <cmath>
#include <limits>
#include <vector>

namespace kaio::tests {

// dx/ds of a test's own score.
struct host_score {
  std::function<double(double s, u32 b, u32 h, u32 i, u32 j)> score, derivative;
  std::function<bool(u32 b, u32 h, u32 i, u32 j)> mask;
};

struct backward_case : attention_case {
  bool dlse = false, dbias = false, dsinks = false;
  bool wants_dq = true, wants_dk = true, wants_dv = true;
  bool dbias_own_type = false;
  // The source of O and the log-sum-exp: the reference, or the operation, which may write O in f32.
  enum class out_of { reference, attention, attention_f32 } out = out_of::reference;
  float dout_range = 1;  // of the elements of dout

  double dlse_of(u32 b, u32 h, u32 i) const { return dlse ? 0.25 * ((b + 2 * h + 3 * i) % 7) - 0.75 : 0; }
};

// The element of dbias that a score's gradient is added to; dbias has the bias's shape.
struct bias_place {
  std::array<u32, 4> extent{1, 1, 1, 1};
  bias_place(const attention_case& c) {
    const std::array<u32, 4> scores{c.batches, c.heads, c.queries, c.keys};
    for (u32 d = 0; d < 4; ++d)
      if (d >= 4 - c.bias.rank && (c.bias.ones >> d & 1) == 0) extent[d] = scores[d];
  }
  std::size_t count() const { return std::size_t{extent[0]} * extent[1] * extent[2] * extent[3]; }
  std::size_t at(std::array<u32, 4> place) const {
    std::size_t result = 0;
    for (u32 d = 0; d < 4; ++d) result = result * extent[d] + (extent[d] == 1 ? 0 : place[d]);
    return result;
  }
};

// A result: exact, and the plain formula's.
struct compared_numbers {
  std::vector<double> exact, plain;
  explicit compared_numbers(std::size_t count) : exact(count), plain(count) {}
};

template <class T>
struct backward_reference {
  tensor4<T> out;        // exact, rounded
  std::vector<f32> lse;  // [batch][head][query]
  compared_numbers dq, dk, dv, dbias, dsinks;

  backward_reference(const backward_case& c, const tensor4<T>& q, const tensor4<T>& k, const tensor4<T>& v,
                     const tensor4<T>& dout, const host_score& f = {})
      : out(c.batches, c.queries, c.heads, c.v_size, c.heads_first, c.pad),
        lse(std::size_t{c.batches} * c.heads * c.queries),
        dq(std::size_t{c.batches} * c.queries * c.heads * c.qk_size),
        dk(std::size_t{c.batches} * c.keys * c.key_heads * c.qk_size),
        dv(std::size_t{c.batches} * c.keys * c.key_heads * c.v_size),
        dbias(bias_place(c).count()),
        dsinks(c.heads) {
    const auto rounded = [](double x) { return to_double(from_float<T>(static_cast<float>(x))); };
    const double nothing = -std::numeric_limits<double>::infinity();
    const reference_operand<T> of_q(q, false), of_k(k, false), of_v(v, false), of_dout(dout, false);
    const bias_place of_bias(c);
    const double scale = c.true_scale();
    std::vector<double> x(c.keys), y(c.keys), bend(c.keys), plain_bend(c.keys), dp(c.keys), plain_dp(c.keys);
    std::vector<double> sums(c.v_size);
    for (u32 b = 0; b < c.batches; ++b)
      for (u32 h = 0; h < c.heads; ++h)
        for (u32 i = 0; i < c.queries; ++i) {
          const u32 g = h / (c.heads / c.key_heads);
          const std::size_t q_row = of_q.row(b, i, h), o_row = of_dout.row(b, i, h);
          double largest = c.sinks ? c.sink(h) : nothing, largest_plain = largest;
          for (u32 j = 0; j < c.keys; ++j) {
            x[j] = y[j] = nothing;
            if (!(f.mask ? f.mask(b, h, i, j) : c.keeps(b, h, i, j))) continue;
            const std::size_t k_row = of_k.row(b, j, g), v_row = of_v.row(b, j, g);
            double dot = 0, product = 0;
            float sum = 0, plain_product = 0;
            for (u32 e = 0; e < c.qk_size; ++e) {
              dot += double(of_q.values[q_row + e]) * double(of_k.values[k_row + e]);
              sum += of_q.values[q_row + e] * of_k.values[k_row + e];
            }
            for (u32 e = 0; e < c.v_size; ++e) {
              product += double(of_dout.values[o_row + e]) * double(of_v.values[v_row + e]);
              plain_product += of_dout.values[o_row + e] * of_v.values[v_row + e];
            }
            const auto modified = [&](double score, double& derivative, auto round) {
              double s = round(score * scale);
              derivative = f.derivative ? round(f.derivative(s, b, h, i, j)) : 1;
              if (f.score) return round(f.score(s, b, h, i, j));
              if (c.softcap > 0) {
                const double bent = round(std::tanh(round(s / c.softcap)));
                derivative = round(1 - bent * bent);
                s = round(double(c.softcap) * bent);
              }
              s = round(s - c.slope(b, h) * std::abs(double(i) + c.keys - c.queries - j));
              return round(s + c.bias_of(b, h, i, j));
            };
            x[j] = modified(dot, bend[j], [](double z) { return z; });
            y[j] = modified(rounded(sum), plain_bend[j], rounded);
            dp[j] = product;
            plain_dp[j] = rounded(plain_product);
            largest = std::max(largest, x[j]);
            largest_plain = std::max(largest_plain, y[j]);
          }
          double total = c.sinks ? std::exp(c.sink(h) - largest) : 0;
          float total_plain = c.sinks ? static_cast<float>(std::exp(c.sink(h) - largest_plain)) : 0;
          for (u32 j = 0; j < c.keys; ++j) {
            if (x[j] == nothing) continue;
            total += std::exp(x[j] - largest);
            total_plain += static_cast<float>(std::exp(y[j] - largest_plain));
          }
          const bool empty = total == 0;
          const double row_lse = empty ? nothing : largest + std::log(total);
          lse[(std::size_t{b} * c.heads + h) * c.queries + i] = static_cast<f32>(row_lse);
          std::fill(sums.begin(), sums.end(), 0.0);
          for (u32 j = 0; j < c.keys; ++j)
            if (x[j] != nothing)
              for (u32 e = 0; e < c.v_size; ++e)
                sums[e] += std::exp(x[j] - row_lse) * double(of_v.values[of_v.row(b, j, g) + e]);
          double delta = -c.dlse_of(b, h, i);
          float plain_delta = static_cast<float>(delta);
          for (u32 e = 0; e < c.v_size; ++e) {
            out.at(b, i, h, e) = from_float<T>(static_cast<float>(sums[e]));
            delta += double(of_dout.values[o_row + e]) * sums[e];
            plain_delta += of_dout.values[o_row + e] * static_cast<float>(rounded(sums[e]));
          }
          if (empty) continue;
          if (c.sinks) {
            dsinks.exact[h] -= std::exp(c.sink(h) - row_lse) * delta;
            dsinks.plain[h] -=
                double(static_cast<float>(std::exp(c.sink(h) - largest_plain)) / total_plain * plain_delta);
          }
          for (u32 j = 0; j < c.keys; ++j) {
            if (x[j] == nothing) continue;
            const std::size_t k_row = of_k.row(b, j, g), v_row = of_v.row(b, j, g);
            const double p = std::exp(x[j] - row_lse), dx = p * (dp[j] - delta), ds = dx * bend[j];
            const double plain_p = rounded(static_cast<float>(std::exp(y[j] - largest_plain)) / total_plain);
            const double plain_dx = rounded(plain_p * (plain_dp[j] - plain_delta));
            const double plain_ds = rounded(plain_dx * plain_bend[j]);
            // Sums of f32, whose own error is far below the rounding of the operands of 16 bits.
            const auto add = [](compared_numbers& to, std::size_t at, double exact, double plain) {
              to.exact[at] += exact;
              to.plain[at] = double(static_cast<float>(to.plain[at] + plain));
            };
            for (u32 e = 0; e < c.qk_size; ++e) {
              add(dq, q_row + e, scale * ds * double(of_k.values[k_row + e]),
                  scale * plain_ds * double(of_k.values[k_row + e]));
              add(dk, k_row + e, scale * ds * double(of_q.values[q_row + e]),
                  scale * plain_ds * double(of_q.values[q_row + e]));
            }
            for (u32 e = 0; e < c.v_size; ++e)
              add(dv, v_row + e, p * double(of_dout.values[o_row + e]),
                  plain_p * double(of_dout.values[o_row + e]));
            if (c.dbias) add(dbias, of_bias.at({b, h, i, j}), dx, plain_dx);
          }
        }
    for (compared_numbers* one : {&dq, &dk, &dv})
      for (double& number : one->plain) number = rounded(number);
    if (c.dbias_own_type)
      for (double& number : dbias.plain) number = rounded(number);
    for (double& number : dsinks.plain) number = rounded(number);
  }
};

}  // namespace kaio::tests
