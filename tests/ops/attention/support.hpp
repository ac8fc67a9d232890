#pragma once
// An attention of any shape, layout and options, run and compared with double precision. A result passes
// where its largest error is at most twice that of the plain formula in the operand type: scores rounded to
// it, probabilities rounded to it, sums in f32. Padding of inputs holds NaN, that of outputs a pattern that
// must still be there.
#include "tests/ops/attention/first_fit.hpp"
#include "tests/ops/attention/score_tensor.hpp"
#include "tests/ops/support.hpp"

#include <kaio/ops/attention.hpp>

#include <cmath>
#include <functional>
#include <limits>
#include <optional>
#include <random>
#include <string>

namespace kaio::tests {

// A tensor of (batch, row, head, element) in memory.
template <class T>
struct tensor4 {
  u32 batches = 0, rows = 0, heads = 0, size = 0;
  i64 batch = 0, row = 0, head = 0;  // strides
  std::vector<T> host;

  // heads_first: (batch, head, row, element) in memory. pad: elements after each row.
  tensor4(u32 b, u32 r, u32 h, u32 d, bool heads_first, u32 pad) : batches(b), rows(r), heads(h), size(d) {
    const i64 line = i64{d} + pad;
    row = heads_first ? line : line * h;
    head = heads_first ? line * r : line;
    batch = line * r * h;
    host.resize(static_cast<std::size_t>(batch * b));
    poison();
  }
  void poison() {
    if (!host.empty()) std::memset(static_cast<void*>(host.data()), 0xff, host.size() * sizeof(T));
  }
  std::size_t index(u32 b, u32 r, u32 h, u32 e) const {
    return static_cast<std::size_t>(b * batch + r * row + h * head + e);
  }
  T& at(u32 b, u32 r, u32 h, u32 e) { return host[index(b, r, h, e)]; }
  const T& at(u32 b, u32 r, u32 h, u32 e) const { return host[index(b, r, h, e)]; }
  void fill(std::uint64_t seed, float range) {
    std::mt19937_64 engine(seed);
    std::uniform_real_distribution<float> any(-range, range);
    for (u32 b = 0; b < batches; ++b)
      for (u32 r = 0; r < rows; ++r)
        for (u32 h = 0; h < heads; ++h)
          for (u32 e = 0; e < size; ++e) at(b, r, h, e) = from_float<T>(any(engine));
  }
  template <class U>
  tensor_view<U, 4> view(buffer<T>& memory) const {
    return tensor_view<U, 4>(memory, extents(batches, rows, heads, size), strides(batch, row, head, 1));
  }
};

// f16 and f32 have kernels on every architecture, bf16 from sm_80 on.
template <class T>
bool has_attention() {
  return !std::is_same_v<T, bf16> || under_test().properties().target.sm >= 80;
}

struct attention_case {
  u32 batches = 1, queries = 64, keys = 64, heads = 1, key_heads = 1, qk_size = 64, v_size = 64;
  bool heads_first = false;
  u32 pad = 0;
  causal_alignment causal = causal_alignment::none;
  attention_window window{};
  f32 softcap = 0;
  std::optional<f32> scale{};
  u32 alibi = 0;  // dimensions of the slopes
  score_tensor_shape bias{}, keep{};
  bool sinks = false;
  bool lse = true;
  bool f32_output = false;  // whatever the operands are
  float range = 1;          // of the elements of q and k
  attention_precision precision = attention_precision::ieee;
  std::uint64_t seed = 1;
  std::vector<u32> rows{};  // the queries that are compared; all where it is empty

  std::vector<u32> compared() const {
    std::vector<u32> result = rows;
    if (rows.empty())
      for (u32 i = 0; i < queries; ++i) result.push_back(i);
    return result;
  }
  double true_scale() const { return scale ? double(*scale) : 1 / std::sqrt(double(qk_size)); }
  double slope(u32 b, u32 h) const { return alibi == 0 ? 0 : 0.25 / (1 + h) + (alibi == 2 ? 0.125 * b : 0); }
  double bias_of(u32 b, u32 h, u32 i, u32 j) const {
    return bias.exists() ? bias_at(bias.at(0, b), bias.at(1, h), bias.at(2, i), bias.at(3, j)) : 0;
  }
  double sink(u32 h) const { return 1.5 - h; }
  bool keeps(u32 b, u32 h, u32 i, u32 j) const {
    if (keep.exists() && !keep_at(keep.at(0, b), keep.at(1, h), keep.at(2, i), keep.at(3, j))) return false;
    const i64 offset = causal == causal_alignment::top_left ? 0 : i64{keys} - i64{queries};
    const i64 own = i64{i} + offset;
    if (causal != causal_alignment::none && j > own) return false;
    if (window.left >= 0 && j < own - window.left) return false;
    if (causal == causal_alignment::none && window.right >= 0 && j > own + window.right) return false;
    return true;
  }
  std::string text() const {
    const auto n = [](auto x) { return std::to_string(x) + " "; };
    return "B " + n(batches) + "Sq " + n(queries) + "Sk " + n(keys) + "Hq " + n(heads) + "Hkv " +
           n(key_heads) + "D " + n(qk_size) + "Dv " + n(v_size) + (heads_first ? "BHSD " : "BSHD ") + "pad " +
           n(pad) + "causal " + n(static_cast<int>(causal)) + "window " + n(window.left) + n(window.right) +
           "softcap " + n(softcap) + "scale " + n(scale.value_or(0)) + "alibi " + n(alibi) + "bias " +
           bias.text() + " keep " + keep.text() + " sinks " + n(sinks) + "precision " +
           n(static_cast<int>(precision)) + "seed " + n(seed);
  }
};

// The nearest number of 11 significant bits.
inline double to_tf32(double x) {
  if (!std::isfinite(x)) return x;
  int exponent = 0;
  const double fraction = std::frexp(x, &exponent);
  return std::ldexp(std::round(std::ldexp(fraction, 11)), exponent - 11);
}

// A test's own functions: the score, and the mask of what is kept.
struct host_functions {
  std::function<double(double x, u32 b, u32 h, u32 i, u32 j)> score;
  std::function<bool(u32 b, u32 h, u32 i, u32 j)> mask;
};

// The elements of a tensor in the order of its indices: their values, and the values that a product reads.
template <class T>
struct reference_operand {
  std::vector<float> values, rounded;
  u32 rows, heads, size;

  reference_operand(const tensor4<T>& x, bool tf32) : rows(x.rows), heads(x.heads), size(x.size) {
    for (u32 b = 0; b < x.batches; ++b)
      for (u32 r = 0; r < x.rows; ++r)
        for (u32 h = 0; h < x.heads; ++h)
          for (u32 e = 0; e < x.size; ++e) values.push_back(static_cast<float>(to_double(x.at(b, r, h, e))));
    rounded = values;
    if (tf32)
      for (float& value : rounded) value = static_cast<float>(to_tf32(double(value)));
  }
  std::size_t row(u32 b, u32 r, u32 h) const { return ((std::size_t{b} * rows + r) * heads + h) * size; }
};

template <class T>
struct attention_reference {
  std::vector<double> exact, plain, lse;  // [batch][compared query][head][element], [batch][head][query]
  double lse_error = 0;                   // the largest one of the plain formula

  // K: the elements of k and v where they are others.
  template <class K = T>
  attention_reference(const attention_case& c, const tensor4<T>& q, const tensor4<K>& k, const tensor4<K>& v,
                      const host_functions& f = {}) {
    // Operands and probabilities of tf32 are rounded to it, scores are f32.
    const bool tf32 = c.precision == attention_precision::tf32;
    const auto rounded = [](double x) { return to_double(from_float<T>(static_cast<float>(x))); };
    const auto operand = [&](double x) { return static_cast<float>(tf32 ? to_tf32(x) : rounded(x)); };
    const double nothing = -std::numeric_limits<double>::infinity();
    const reference_operand<T> of_q(q, tf32);
    const reference_operand<K> of_k(k, tf32), of_v(v, tf32);
    const std::vector<u32> queries = c.compared();
    exact.resize(std::size_t{c.batches} * queries.size() * c.heads * c.v_size);
    plain.resize(exact.size());
    lse.resize(std::size_t{c.batches} * c.heads * queries.size());
    std::vector<double> x(c.keys), y(c.keys), sums(c.v_size);
    std::vector<float> plain_sums(c.v_size);
    for (u32 b = 0; b < c.batches; ++b)
      for (u32 h = 0; h < c.heads; ++h)
        for (std::size_t n = 0; n < queries.size(); ++n) {
          const u32 i = queries[n], g = h / (c.heads / c.key_heads);
          const std::size_t q_row = of_q.row(b, i, h);
          double largest = nothing, largest_plain = nothing;
          for (u32 j = 0; j < c.keys; ++j) {
            x[j] = y[j] = nothing;
            if (!(f.mask ? f.mask(b, h, i, j) : c.keeps(b, h, i, j))) continue;
            const std::size_t k_row = of_k.row(b, j, g);
            double dot = 0;
            float sum = 0;
            for (u32 e = 0; e < c.qk_size; ++e) {
              dot += double(of_q.values[q_row + e]) * double(of_k.values[k_row + e]);
              sum += of_q.rounded[q_row + e] * of_k.rounded[k_row + e];
            }
            const auto modified = [&](double score, auto round) {
              double s = round(score * c.true_scale());
              if (f.score) return round(f.score(s, b, h, i, j));
              if (c.softcap > 0) s = round(double(c.softcap) * round(std::tanh(round(s / c.softcap))));
              s = round(s - c.slope(b, h) * std::abs(double(i) + c.keys - c.queries - j));
              return round(s + c.bias_of(b, h, i, j));
            };
            x[j] = modified(dot, [](double z) { return z; });
            y[j] = modified(rounded(sum), rounded);
            largest = std::max(largest, x[j]);
            largest_plain = std::max(largest_plain, y[j]);
          }
          if (c.sinks) {
            largest = std::max(largest, c.sink(h));
            largest_plain = std::max(largest_plain, c.sink(h));
          }
          double total = c.sinks ? std::exp(c.sink(h) - largest) : 0;
          float total_plain = c.sinks ? static_cast<float>(std::exp(c.sink(h) - largest_plain)) : 0;
          for (u32 j = 0; j < c.keys; ++j) {
            if (x[j] == nothing) continue;
            total += std::exp(x[j] - largest);
            total_plain += static_cast<float>(std::exp(static_cast<float>(y[j] - largest_plain)));
          }
          lse[(std::size_t{b} * c.heads + h) * queries.size() + n] =
              total == 0 ? nothing : largest + std::log(total);
          if (total != 0)
            lse_error = std::max(lse_error, std::abs(largest_plain + std::log(double(total_plain)) - largest -
                                                     std::log(total)));
          std::fill(sums.begin(), sums.end(), 0.0);
          std::fill(plain_sums.begin(), plain_sums.end(), 0.0f);
          for (u32 j = 0; j < c.keys; ++j) {
            if (x[j] == nothing) continue;
            const double p = std::exp(x[j] - largest) / total;
            const float plain_p = operand(std::exp(y[j] - largest_plain) / total_plain);
            const std::size_t v_row = of_v.row(b, j, g);
            for (u32 e = 0; e < c.v_size; ++e) {
              sums[e] += p * double(of_v.values[v_row + e]);
              plain_sums[e] += plain_p * of_v.rounded[v_row + e];
            }
          }
          const std::size_t first = ((std::size_t{b} * queries.size() + n) * c.heads + h) * c.v_size;
          for (u32 e = 0; e < c.v_size; ++e) {
            exact[first + e] = sums[e];
            plain[first + e] = c.f32_output ? double(plain_sums[e]) : rounded(plain_sums[e]);
          }
        }
  }
};

template <class O, class T>
void compare_attention(const attention_case& c, const tensor4<O>& got, const tensor4<O>& before,
                       const attention_reference<T>& want) {
  double worst = 0, allowed = 0, largest = 0;
  std::vector<bool> is_element(got.host.size(), false);
  std::size_t n = 0;
  for (u32 b = 0; b < c.batches; ++b)
    for (const u32 i : c.compared())
      for (u32 h = 0; h < c.heads; ++h)
        for (u32 e = 0; e < c.v_size; ++e, ++n) {
          const double x = to_double(got.at(b, i, h, e)), exact = want.exact[n];
          if (std::isnan(x) != std::isnan(exact)) {
            CAPTURE(b, i, h, e, x, exact);
            REQUIRE(std::isnan(x) == std::isnan(exact));
          }
          if (std::isnan(x)) continue;
          worst = std::max(worst, std::abs(x - exact));
          allowed = std::max(allowed, std::abs(want.plain[n] - exact));
          largest = std::max(largest, std::abs(exact));
        }
  CAPTURE(worst, allowed, largest);
  // With few keys the plain formula may be right by chance, where another order of roundings is not. An
  // exponential has two units of f32 itself.
  const bool single = sizeof(T) == sizeof(f32);
  const double units = single ? 6 : 2;
  // Distances of ALiBi are large, and rounded once more: the kernel has them times log2 e.
  const double factor = single && c.alibi != 0 ? 3 : 2;
  REQUIRE(worst <= std::max(factor * allowed, units * unit_in_last_place<T>(largest)));
  for (u32 b = 0; b < c.batches; ++b)
    for (u32 i = 0; i < c.queries; ++i)
      for (u32 h = 0; h < c.heads; ++h)
        for (u32 e = 0; e < c.v_size; ++e) is_element[got.index(b, i, h, e)] = true;
  for (std::size_t i = 0; i < got.host.size(); ++i)
    if (!is_element[i] && std::memcmp(&got.host[i], &before.host[i], sizeof(O)) != 0) {
      CAPTURE(i);
      FAIL("a kernel wrote into the padding of its output");
    }
}

inline void compare_lse(const std::vector<f32>& got, const std::vector<double>& want, double allowed = 0) {
  for (std::size_t i = 0; i < want.size(); ++i) {
    CAPTURE(i, got[i], want[i]);
    if (std::isnan(want[i])) {
      REQUIRE(std::isnan(got[i]));
    } else if (std::isinf(want[i])) {
      REQUIRE(double(got[i]) == want[i]);
    } else {
      REQUIRE(std::abs(double(got[i]) - want[i]) <= allowed + 2e-5 * std::max(1.0, std::abs(want[i])));
    }
  }
}

// Q, K and V of a case. Cases with one shape, layout, range and seed may share them.
template <class T>
struct attention_inputs {
  tensor4<T> q, k, v;
  buffer<T> on_q, on_k, on_v;

  explicit attention_inputs(const attention_case& c)
      : q(c.batches, c.queries, c.heads, c.qk_size, c.heads_first, c.pad),
        k(c.batches, c.keys, c.key_heads, c.qk_size, c.heads_first, c.pad),
        v(c.batches, c.keys, c.key_heads, c.v_size, c.heads_first, c.pad) {
    q.fill(c.seed, c.range);
    k.fill(c.seed + 1, c.range);
    v.fill(c.seed + 2, 1);
    on_q = upload(q.host);
    on_k = upload(k.host);
    on_v = upload(v.host);
  }
};

// run(q, k, v, out, options) calls the operation.
template <class T, class O = T, class Run>
void check_attention_of(attention_inputs<T>& inputs, const attention_case& given, const Run& run,
                        const host_functions& f = {}) {
  attention_case c = given;
  c.f32_output = !std::is_same_v<O, T>;
  CAPTURE(c.text());
  auto& [q, k, v, on_q, on_k, on_v] = inputs;
  tensor4<O> o(c.batches, c.queries, c.heads, c.v_size, c.heads_first, c.pad);
  auto on_o = upload(o.host);
  std::vector<f32> slopes;
  for (u32 b = 0; b < (c.alibi == 2 ? c.batches : 1); ++b)
    for (u32 h = 0; h < c.heads; ++h) slopes.push_back(static_cast<f32>(c.slope(b, h)));
  auto on_slopes = upload(slopes);
  std::vector<T> sinks;
  for (u32 h = 0; h < c.heads; ++h) sinks.push_back(from_float<T>(static_cast<float>(c.sink(h))));
  auto on_sinks = upload(sinks);
  std::vector<f32> lse(std::size_t{c.batches} * c.heads * c.queries, -12345.0f);
  auto on_lse = upload(lse);

  attention_options options{.scale = c.scale, .causal = c.causal, .window = c.window, .softcap = c.softcap};
  options.precision = c.precision;
  if (c.alibi == 1) options.alibi = tensor_view<const f32, 1>(on_slopes, c.heads);
  if (c.alibi == 2) options.alibi = tensor_view<const f32, 2>(on_slopes, c.batches, c.heads);
  const std::array<u32, 4> scores{c.batches, c.heads, c.queries, c.keys};
  const auto nan = std::numeric_limits<float>::quiet_NaN();
  const auto bias_of = [](auto poison) {
    return [](u32 b, u32 h, u32 i, u32 j) {
      return from_float<decltype(poison)>(static_cast<float>(bias_at(b, h, i, j)));
    };
  };
  score_tensor<f32> bias(c.bias, scores, nan, bias_of(nan));
  score_tensor<T> own_bias(c.bias, scores, from_float<T>(nan), bias_of(from_float<T>(nan)));
  score_tensor<u8> keep(c.keep, scores, 77, [](u32 b, u32 h, u32 i, u32 j) { return keep_at(b, h, i, j); });
  if (c.bias.exists() && !c.bias.own_type) options.bias = bias.template view<ops::attention_bias>();
  if (c.bias.exists() && c.bias.own_type) options.bias = own_bias.template view<ops::attention_bias>();
  if (c.keep.exists()) options.keep = keep.template view<ops::attention_keep>();
  if (c.sinks) options.sinks = tensor_view<const T, 1>(on_sinks, c.heads);
  if (c.lse) options.lse = tensor_view<f32, 3>(on_lse, c.batches, c.heads, c.queries);
  run(q.template view<const T>(on_q), k.template view<const T>(on_k), v.template view<const T>(on_v),
      o.template view<O>(on_o), options);

  const attention_reference<T> want(c, q, k, v, f);
  tensor4<O> got = o;
  const auto downloaded = on_o.download();
  std::copy(downloaded.begin(), downloaded.begin() + static_cast<std::ptrdiff_t>(got.host.size()),
            got.host.begin());
  compare_attention(c, got, o, want);
  const bool tf32 = c.precision == attention_precision::tf32;
  if (!c.lse) return;
  const std::vector<f32> numbers = on_lse.download();
  std::vector<f32> compared;
  for (std::size_t head = 0; head < std::size_t{c.batches} * c.heads; ++head)
    for (const u32 i : c.compared()) compared.push_back(numbers[head * c.queries + i]);
  compare_lse(compared, want.lse, tf32 ? 2 * want.lse_error : 0);
}

template <class T, class O = T, class Run>
void check_attention_by(const attention_case& c, const Run& run, const host_functions& f = {}) {
  attention_inputs<T> inputs(c);
  check_attention_of<T, O>(inputs, c, run, f);
}

template <class T, class O = T>
void check_attention(const attention_case& c) {
  if (!has_attention<T>()) return;
  check_attention_by<T, O>(
      c, [](const auto& q, const auto& k, const auto& v, const auto& o, const attention_options& options) {
        attention_first_fit(under_test().stream(), q, k, v, o, options);
      });
}

}  // namespace kaio::tests
