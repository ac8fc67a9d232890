#pragma once
// Random problems of gate_up_project, qkv_project and rms_norm.

#include "bench/regression/draws.hpp"
#include "bench/regression/harness.hpp"
#include "bench/regression/quantised.hpp"

#include <kaio/kaio.hpp>
#include <kaio/ops/gate_up_project.hpp>
#include <kaio/ops/qkv_project.hpp>
#include <kaio/ops/rms_norm.hpp>
#include <kaio/ops/rotary.hpp>

#include <algorithm>
#include <numeric>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

namespace kaio::bench {

// The weights of a projection: "" of the type of x; w4 in groups of 128 and w8, packed; i8 and fp8 with hidden states of
// that type, scales of rows and columns.
inline constexpr std::string_view projection_names[] = {"", "", "w4", "w8", "i8", "fp8"};

// Weights, n x k, and the hidden states that they are multiplied with, m x k.
template <class T>
class projection {
 public:
  projection(harness& h, std::string_view weights, i64 m, i64 n, i64 k)
      : weights_(weights),
        m_(m),
        n_(n),
        k_(k),
        sets_(h.sets_of(static_cast<double>(n * k * (weights.empty() ? 2 : 1)))) {
    if (weights == "w4" || weights == "w8") {
      packed_.emplace(h, weights == "w4" ? bench_codes::int4 : bench_codes::int8, n, k, 128);
      sets_ = packed_->sets();
    }
    of_rows_ = h.scales(m, weights == "i8" ? 1.0f / 64 : 1.0f);
    of_columns_ = h.scales(n, weights == "i8" ? 1.0f / 2048 : 1.0f / 32);
    if (weights == "i8") {
      x_codes_ = h.normal<i8>(m * k, sets_);
      codes_ = h.normal<i8>(n * k, sets_);
    } else if (weights == "fp8") {
      x_floats_ = h.normal<e4m3>(m * k, sets_);
      floats_ = h.normal<e4m3>(n * k, sets_);
    } else {
      x_ = h.normal<T>(m * k, sets_);
      if (weights.empty()) plain_ = h.normal<T>(n * k, sets_, 0x1p-4f);
    }
  }
  std::size_t sets() const { return sets_; }
  bool is_bytewise() const { return weights_ == "i8" || weights_ == "fp8"; }
  std::string text() const {
    return name_of_type<T>() + (weights_.empty() ? "" : ", " + std::string(weights_));
  }
  tensor_view<const f32, 1> x_scale() const { return {of_rows_, extents(m_)}; }

  projection_weight weight(std::size_t i) {
    const tensor_view<const f32, 1> scale(of_columns_, extents(n_));
    if (weights_ == "w4") return packed_->four(i);
    if (weights_ == "w8") return packed_->eight(i);
    if (weights_ == "i8")
      return int8_weights{.matrix = tensor_view<const i8, 2>(codes_[i], extents(n_, k_)), .scale = scale};
    if (weights_ == "fp8")
      return fp8_weights{.matrix = tensor_view<const e4m3, 2>(floats_[i], extents(n_, k_)), .scale = scale};
    return tensor_view<const T, 2>(plain_[i], extents(n_, k_));
  }
  // f(x) with x of the type and the extents that it has.
  template <std::size_t Rank, class F>
  auto with_x(std::size_t i, const extents<Rank>& e, const F& f) const {
    if (weights_ == "i8") return f(tensor_view<const i8, Rank>(x_codes_[i], e));
    if (weights_ == "fp8") return f(tensor_view<const e4m3, Rank>(x_floats_[i], e));
    return f(tensor_view<const T, Rank>(x_[i], e));
  }

 private:
  std::string_view weights_;
  i64 m_, n_, k_;
  std::size_t sets_;
  std::optional<packed_weights<T>> packed_;
  rotated<T> x_, plain_;
  rotated<i8> x_codes_, codes_;
  rotated<e4m3> x_floats_, floats_;
  buffer<f32> of_rows_, of_columns_;
};

template <class T>
void run_gate_up(harness& h, draws& random, std::string_view weights) {
  const i64 m = random.extent(1, 512), k = random.multiple(128, 512, 8192),
            f = random.multiple(64, 256, 8192);
  projection<T> p(h, weights, m, 2 * f, k);
  const auto memory_of_out = h.unwritten<T>(m * f, p.sets());
  const auto out = [&](std::size_t i) { return tensor_view<T, 2>(memory_of_out[i], extents(m, f)); };
  gate_up_project_options options;
  options.constant = constant_inputs::weights;
  if (p.is_bytewise()) options.x_scale = p.x_scale();
  const extents of_x(m, k);
  const std::string kernel = p.with_x(0, of_x, [&](const auto& x) {
    return std::string(ops::gate_up_project_choice(h.on(), x, p.weight(0), out(0), options).name);
  });
  const auto memory = h.workspace(p.with_x(0, of_x, [&](const auto& x) {
    return ops::gate_up_project_workspace_bytes(h.on(), x, p.weight(0), out(0), options);
  }));
  options.workspace = memory;
  h.measure(
      {"gate_up",
       p.text() + ", rows " + std::to_string(m) + ", K " + std::to_string(k) + ", F " + std::to_string(f),
       kernel, 2 * rounding<T>},
      p.sets(),
      [&](std::size_t i) {
        p.with_x(i, of_x, [&](const auto& x) { gate_up_project(h.on(), x, p.weight(i), out(i), options); });
      },
      [&] { h.digest(memory_of_out[0], m * f); });
}

inline void random_gate_up(harness& h, draws& random) {
  const std::string_view weights = random.one_of(projection_names);
  // Products of two sums of w8 exceed f16.
  if (weights != "w8" && random.percent(50))
    run_gate_up<f16>(h, random, weights);
  else
    run_gate_up<bf16>(h, random, weights);
}

// Tokens of sequences of their own, up to 64, or of one sequence, into a cache in pages, with rotation.
template <class T>
void run_qkv(harness& h, draws& random) {
  constexpr i64 groups[] = {1, 4, 8};
  constexpr i64 sizes[] = {64, 128};
  constexpr i64 page = 16;
  const std::string_view weights = random.one_of(projection_names);
  const i64 m = random.extent(1, 512), k = random.multiple(128, 512, 8192);
  const i64 size = random.one_of(sizes), key_heads = random.extent(1, 8),
            heads = key_heads * random.one_of(groups), columns = (heads + 2 * key_heads) * size;
  const i64 sequences = m <= 64 ? m : 1, tokens = m / sequences, before = h.is_emulated() ? 40 : 1000;
  const i64 pages_of = (before + tokens + page - 1) / page, pages = pages_of * sequences;
  projection<T> p(h, weights, m, columns, k);
  const auto q = h.unwritten<T>(m * heads * size, p.sets());
  const i64 of_cache = pages * page * key_heads * size;
  const auto keys = h.normal<T>(of_cache, p.sets()), values = h.normal<T>(of_cache, p.sets());
  std::vector<i32> table(static_cast<std::size_t>(pages));
  std::iota(table.begin(), table.end(), 0);
  for (std::size_t i = table.size(); i > 1; --i) std::swap(table[i - 1], table[random.below(i)]);
  const auto on_table = h.gpu().upload(table);
  const auto on_lengths =
      h.gpu().upload(std::vector<i32>(static_cast<std::size_t>(sequences), static_cast<i32>(before)));
  const i64 positions = before + tokens + 1;
  const auto cosines = h.unwritten<f32>(positions * size / 2, 1),
             sines = h.unwritten<f32>(positions * size / 2, 1);
  const tensor_view<f32, 2> cos(cosines[0], extents(positions, size / 2)),
      sin(sines[0], extents(positions, size / 2));
  rotary_table(h.on(), cos, sin, {.base = 500000});

  const auto outputs = [&](std::size_t i) {
    const extents of_pages(pages, page, key_heads, size);
    kv_cache<T> cache{.k = tensor_view<T, 4>(keys[i], of_pages), .v = tensor_view<T, 4>(values[i], of_pages)};
    cache.table = tensor_view<const i32, 2>(on_table, extents(sequences, pages_of));
    cache.lengths = tensor_view<const i32, 1>(on_lengths, extents(sequences));
    return qkv_outputs(tensor_view<T, 4>(q[i], extents(sequences, tokens, heads, size)), cache);
  };
  qkv_project_options options;
  options.rotary = {.cos = cos, .sin = sin};
  options.constant = constant_inputs::weights;
  if (p.is_bytewise()) options.x_scale = p.x_scale();
  const extents of_x(sequences, tokens, k);
  const std::string kernel = p.with_x(0, of_x, [&](const auto& x) {
    return std::string(ops::qkv_project_choice(h.on(), x, p.weight(0), outputs(0), options).name);
  });
  const auto memory = h.workspace(p.with_x(0, of_x, [&](const auto& x) {
    return ops::qkv_project_workspace_bytes(h.on(), x, p.weight(0), outputs(0), options);
  }));
  options.workspace = memory;
  h.measure(
      {"qkv",
       p.text() + ", tokens " + std::to_string(m) + ", K " + std::to_string(k) + ", Hq " +
           std::to_string(heads) + ", Hkv " + std::to_string(key_heads) + ", D " + std::to_string(size),
       kernel, rounding<T>},
      p.sets(),
      [&](std::size_t i) {
        p.with_x(i, of_x, [&](const auto& x) { qkv_project(h.on(), x, p.weight(i), outputs(i), options); });
      },
      [&] {
        h.digest(q[0], m * heads * size);
        h.digest(keys[0], of_cache);
        h.digest(values[0], of_cache);
      });
}

inline void random_qkv(harness& h, draws& random) {
  if (random.percent(50))
    run_qkv<f16>(h, random);
  else
    run_qkv<bf16>(h, random);
}

template <class T>
void run_norm(harness& h, draws& random) {
  constexpr std::string_view outputs[] = {"", "", "i8", "e4m3"};
  const std::string_view codes = random.one_of(outputs);
  const bool has_residual = random.percent(60);
  const i64 rows = random.extent(1, 16384),
            width = random.percent(70) ? random.multiple(8, 64, 16384) : random.extent(64, 16384);
  const i64 count = rows * width;
  const std::size_t sets = h.sets_of(static_cast<double>(count * i64{sizeof(T)} * (has_residual ? 4 : 2)));
  const auto x = h.normal<T>(count, sets), weight = h.normal<T>(width, 1);
  const auto residual = h.normal<T>(has_residual ? count : 1, sets);
  const auto sum = h.unwritten<T>(has_residual ? count : 1, sets),
             out = h.unwritten<T>(codes.empty() ? count : 1, sets);
  const auto ints = h.unwritten<i8>(codes == "i8" ? count : 1, sets);
  const auto floats = h.unwritten<e4m3>(codes == "e4m3" ? count : 1, sets);
  const auto scales = h.unwritten<f32>(rows, sets);
  const extents all(rows, width);
  const auto run = [&](std::size_t i) {
    rms_norm_options options;
    if (has_residual) {
      options.residual = tensor_view<const T, 2>(residual[i], all);
      options.residual_out = tensor_view<T, 2>(sum[i], all);
    }
    const auto norm = [&](const auto&... to) {
      rms_norm(h.on(), tensor_view<const T, 2>(x[i], all), tensor_view<const T, 1>(weight[0], extents(width)),
               to..., options);
    };
    const tensor_view<f32, 1> of_rows(scales[i], extents(rows));
    if (codes == "i8")
      norm(tensor_view<i8, 2>(ints[i], all), of_rows);
    else if (codes == "e4m3")
      norm(tensor_view<e4m3, 2>(floats[i], all), of_rows);
    else
      norm(tensor_view<T, 2>(out[i], all));
  };
  const auto check = [&] {
    if (codes == "i8") h.digest(ints[0], count);
    if (codes == "e4m3") h.digest(floats[0], count);
    if (codes.empty()) h.digest(out[0], count);
    if (!codes.empty()) h.digest(scales[0], rows);
    if (has_residual) h.digest(sum[0], count);
  };
  std::string text = name_of_type<T>() + (codes.empty() ? "" : " -> " + std::string(codes)) + ", " +
                     std::to_string(rows) + " x " + std::to_string(width) +
                     (has_residual ? ", residual" : "");
  h.measure({"norm", std::move(text), "", codes.empty() ? rounding<T> : rounding<e4m3>}, sets, run, check);
}

inline void random_norm(harness& h, draws& random) {
  switch (random.below(3)) {
    case 0: return run_norm<f16>(h, random);
    case 1: return run_norm<bf16>(h, random);
    default: return run_norm<f32>(h, random);
  }
}

}  // namespace kaio::bench
