#pragma once
// One problem: random hidden states and weights, the call, the check of its results, and the times of the call
// with one weight of both, and with two.

#include "bench/attention/measurement.hpp"

#include <kaio/kaio.hpp>
#include <kaio/ops/gate_up_project.hpp>
#include <kaio/ops/matmul_w8.hpp>

#include <algorithm>
#include <cstdio>
#include <limits>
#include <optional>
#include <random>
#include <string>
#include <utility>
#include <vector>

namespace kaio::bench {

// m rows of K, F columns.
//
//   weights    type
//   ""         that of x
//   w4         four bits in groups of 128
//   w8         integers by columns
//   i8, fp8    that of x too (fp8: e4m3), with scales of rows and columns
struct gate_up_bench_problem {
  u32 k = 0, f = 0, m = 1;
  std::string weights;

  bool packed() const { return weights == "w4" || weights == "w8"; }
  bool bytewise() const { return weights == "i8" || weights == "fp8"; }
  std::string shape() const { return std::to_string(k) + "x" + std::to_string(f); }
  std::string work() const { return "m" + std::to_string(m) + weights; }
  // Bytes of weights, x and out.
  double bytes() const {
    const double of_weights = 2.0 * f * k * (weights == "w4" ? 0.5 + 2.0 / 128 : weights.empty() ? 2 : 1);
    return of_weights + (bytewise() ? 1.0 : 2.0) * m * k + 2.0 * m * f;
  }

  // KxF, and mM with the weights after it.
  static std::optional<gate_up_bench_problem> of(const std::string& shape, const std::string& work) {
    gate_up_bench_problem p;
    char rest[8] = {}, more = 0;
    if (std::sscanf(shape.c_str(), "%ux%u%c", &p.k, &p.f, &more) != 2) return std::nullopt;
    if (std::sscanf(work.c_str(), "m%u%7s", &p.m, rest) < 1) return std::nullopt;
    p.weights = rest;
    const bool known = p.weights.empty() || p.packed() || p.bytewise();
    const bool fits = p.k != 0 && p.f != 0 && p.m != 0 && (p.weights.empty() || p.k % 128 == 0);
    return known && fits ? std::optional(p) : std::nullopt;
  }
};

template <class T>
class gate_up_bench : attention_measurement<T> {
  using base = attention_measurement<T>;
  using base::gpu_, base::normal, base::stream_;

 public:
  using base::base;

  std::vector<std::pair<std::string, measured>> measure(const gate_up_bench_problem& p,
                                                        const std::string& variant) {
    prepare(p);
    std::vector<std::pair<std::string, measured>> all;
    all.emplace_back("kaio", run(p, variant, false));
    all.emplace_back("two", run(p, {}, true));
    return all;
  }

 private:
  struct set {
    buffer<T> x, w, out;
    buffer<i8> x_bytes, w_bytes;
    std::vector<buffer<u8>> packed;  // both; gate; up
  };

  void prepare(const gate_up_bench_problem& p) {
    sets_.clear();
    std::mt19937 engine(p.k + p.m);
    const u64 elements = 2 * u64{p.f} * p.k;
    const auto random_bytes = [&](u64 count) {
      std::vector<i8> bytes(count);
      for (u64 i = 0; i < count; i += 4) {
        const auto four = static_cast<u32>(engine());
        for (u64 e = i; e < std::min(i + 4, count); ++e) bytes[e] = static_cast<i8>(four >> (8 * (e - i)));
      }
      // e4m3 below 2, none of them NaN: the upper bits of the exponent are 0.
      if (p.weights == "fp8")
        for (i8& one : bytes) one = static_cast<i8>(one & 0xbf);
      return bytes;
    };
    codes_.clear();
    words_.clear();
    scales_.clear();
    if (p.weights == "w4") {
      words_.resize(elements / 8);
      for (i32& one : words_) one = static_cast<i32>(engine());
      for (u64 i = 0; i < elements / 128; ++i) scales_.push_back(T(factor(engine) / 512));
    } else if (!p.weights.empty()) {
      codes_ = random_bytes(elements);
      columns_.clear();
      for (u32 i = 0; i < 2 * p.f; ++i) columns_.push_back(factor(engine) / 1024);
      on_columns_ = gpu_.upload(columns_);
    }
    rows_.clear();
    x_codes_ = p.bytewise() ? random_bytes(u64{p.m} * p.k) : std::vector<i8>();
    for (u32 i = 0; i < p.m; ++i) rows_.push_back(p.weights == "i8" ? factor(engine) / 64 : factor(engine));
    on_rows_ = gpu_.upload(rows_);

    const u64 cache = gpu_.is_emulator() ? 1 : 2 * gpu_.properties().l2_bytes;
    const auto bytes = static_cast<u64>(p.bytes());
    for (u64 count = std::clamp<u64>((cache + bytes - 1) / bytes, 1, 16); count > 0; --count) {
      set one;
      one.out = gpu_.upload(std::vector<T>(u64{p.m} * p.f, T(std::numeric_limits<float>::quiet_NaN())));
      if (p.bytewise()) {
        one.x_bytes = gpu_.upload(x_codes_);
        one.w_bytes = gpu_.upload(codes_);
      } else {
        one.x = normal(u64{p.m} * p.k);
        if (p.packed())
          for (const auto& [first, n] : {std::pair{0u, 2 * p.f}, std::pair{0u, p.f}, std::pair{p.f, p.f}})
            one.packed.push_back(pack(p, first, n));
        else
          one.w = normal(elements);
      }
      sets_.push_back(std::move(one));
    }
  }
  static f32 factor(std::mt19937& engine) { return 1.0f + static_cast<f32>(engine() % 256) / 256.0f; }

  w4_shape shape4(const gate_up_bench_problem& p, u32 n) const {
    return {.n = n,
            .k = p.k,
            .group = 128,
            .scales = std::is_same_v<T, f16> ? w4_scale_type::f16 : w4_scale_type::bf16};
  }
  w8_shape shape8(const gate_up_bench_problem& p, u32 n) const { return {.n = n, .k = p.k}; }
  buffer<u8> pack(const gate_up_bench_problem& p, u32 first, u32 n) {
    if (p.weights == "w4") {
      const auto on_words = gpu_.upload(words_);
      const auto on_scales = gpu_.upload(scales_);
      auto memory = gpu_.template allocate<u8>(packed_bytes(shape4(p, n)));
      repack(stream_,
             kaio_int4{.packed = tensor_view<const i32, 2>(on_words, 2 * p.f, p.k / 8).slice(0, first, n),
                       .scales = tensor_view<const T, 2>(on_scales, p.k / 128, 2 * p.f).slice(1, first, n)},
             w4_weights{shape4(p, n), memory});
      stream_.synchronize();
      return memory;
    }
    const auto on_codes = gpu_.upload(codes_);
    auto memory = gpu_.template allocate<u8>(packed_bytes(shape8(p, n)));
    repack(stream_,
           int8_w8{.weight = tensor_view<const i8, 2>(on_codes, 2 * p.f, p.k).slice(0, first, n),
                   .scales = tensor_view<const f32, 2>(on_columns_, 2 * p.f, 1).slice(0, first, n)},
           w8_weights{shape8(p, n), memory});
    stream_.synchronize();
    return memory;
  }

  // part: 0 both, 1 gate, 2 up.
  projection_weight weight(const gate_up_bench_problem& p, std::size_t i, u32 part) {
    const u32 first = part == 2 ? p.f : 0, n = part == 0 ? 2 * p.f : p.f;
    set& one = sets_[i];
    if (p.weights == "w4") return w4_weights{shape4(p, n), one.packed[part]};
    if (p.weights == "w8") return w8_weights{shape8(p, n), one.packed[part]};
    if (p.weights.empty()) return tensor_view<const T, 2>(one.w, 2 * p.f, p.k).slice(0, first, n);
    const auto scale = tensor_view<const f32, 1>(on_columns_, 2 * p.f).slice(0, first, n);
    if (p.weights == "i8")
      return int8_weights{tensor_view<const i8, 2>(one.w_bytes, 2 * p.f, p.k).slice(0, first, n), scale};
    return fp8_weights{e4m3_view(one.w_bytes, 2 * p.f, p.k).slice(0, first, n), scale};
  }
  static tensor_view<const e4m3, 2> e4m3_view(buffer<i8>& bytes, u32 rows, u32 columns) {
    const ptx::argument a = bytes.as_argument();
    device_pointer<e4m3> memory{a.bits, a.bytes, a.device, true};
    return {memory, rows, columns};
  }
  // f(x) with x as the type that it has.
  template <class F>
  void with_x(const gate_up_bench_problem& p, std::size_t i, const F& f) {
    if (p.weights == "i8")
      f(tensor_view<const i8, 2>(sets_[i].x_bytes, p.m, p.k));
    else if (p.weights == "fp8")
      f(e4m3_view(sets_[i].x_bytes, p.m, p.k));
    else
      f(tensor_view<const T, 2>(sets_[i].x, p.m, p.k));
  }

  measured run(const gate_up_bench_problem& p, const std::string& variant, bool two) {
    gate_up_project_options options{.constant = constant_inputs::weights, .variant = variant};
    if (p.bytewise()) options.x_scale = tensor_view<const f32, 1>(on_rows_, p.m);
    const auto weights = [&](std::size_t i) {
      return two ? gate_up_weights(weight(p, i, 1), weight(p, i, 2)) : gate_up_weights(weight(p, i, 0));
    };
    const auto out = [&](std::size_t i) { return tensor_view<T, 2>(sets_[i].out, p.m, p.f); };
    buffer<u8> memory;
    measured result;
    with_x(p, 0, [&](const auto& x) {
      result.kernel = ops::gate_up_project_choice(stream_, x, weights(0), out(0), options).name;
      memory = gpu_.template allocate<u8>(
          std::max<u64>(gate_up_project_workspace_bytes(stream_, x, weights(0), out(0), options), 1));
    });
    options.workspace = memory;
    contestant call{
        two ? "two" : "kaio", [&](std::size_t i) {
          with_x(p, i, [&](const auto& x) { gate_up_project(stream_, x, weights(i), out(i), options); });
        }};
    sets_[0].out = gpu_.upload(std::vector<T>(u64{p.m} * p.f, T(std::numeric_limits<float>::quiet_NaN())));
    call.run(0);
    stream_.synchronize();
    result.error = distance(p);
    this->time(call, sets_.size(), result);
    return result;
  }

  // The relative error of samples against double precision.
  double distance(const gate_up_bench_problem& p) {
    const auto out = sets_[0].out.download();
    const auto x = p.bytewise() ? std::vector<T>() : sets_[0].x.download();
    const auto w = p.weights.empty() ? sets_[0].w.download() : std::vector<T>();
    double difference = 0, all = 0;
    for (u32 sample = 0; sample < 192; ++sample) {
      const u32 row = sample * 37u % p.m, column = sample * 7919u % p.f;
      const double gate = sum(p, x, w, row, column), up = sum(p, x, w, row, column + p.f);
      const double want = gate / (1 + std::exp(-gate)) * up;
      const double got = static_cast<f32>(out[u64{row} * p.f + column]);
      difference += (want - got) * (want - got);
      all += want * want;
    }
    return std::isfinite(difference) ? std::sqrt(difference / all) : 1e30;
  }
  double sum(const gate_up_bench_problem& p, const std::vector<T>& x, const std::vector<T>& w, u32 row,
             u32 column) const {
    const auto number = [&](i8 code) {
      return p.weights == "fp8" ? static_cast<double>(f32(e4m3::from_bits(static_cast<u8>(code))))
                                : static_cast<double>(code);
    };
    double y = 0;
    for (u32 i = 0; i < p.k; ++i) {
      const u64 at = u64{column} * p.k + i;
      double weight = 0;
      if (p.weights == "w4") {
        const u32 code = static_cast<u32>(words_[at / 8]) >> (4 * (i % 8)) & 15u;
        weight = (code < 8 ? code : code - 16.0) *
                 static_cast<double>(f32(scales_[u64{i / 128} * 2 * p.f + column]));
      } else {
        weight = p.weights.empty() ? static_cast<double>(f32(w[at]))
                                   : number(codes_[at]) * static_cast<double>(columns_[column]);
      }
      const u64 of_x = u64{row} * p.k + i;
      y += weight * (p.bytewise() ? number(x_codes_[of_x]) * static_cast<double>(rows_[row])
                                  : static_cast<double>(f32(x[of_x])));
    }
    return y;
  }

  std::vector<set> sets_;
  std::vector<i32> words_;
  std::vector<T> scales_;
  std::vector<i8> codes_, x_codes_;
  std::vector<f32> columns_, rows_;
  buffer<f32> on_columns_, on_rows_;
};

}  // namespace kaio::bench
