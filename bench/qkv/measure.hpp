#pragma once
// One problem: random hidden states and weights, Q and a cache in pages, the call, the check of its results, and the
// times of the call and of the same steps by an operation each.

#include "bench/attention/measurement.hpp"

#include <kaio/kaio.hpp>
#include <kaio/ops/append_kv.hpp>
#include <kaio/ops/matmul.hpp>
#include <kaio/ops/matmul_w8.hpp>
#include <kaio/ops/qkv.hpp>
#include <kaio/ops/rotary.hpp>

#include <algorithm>
#include <array>
#include <cstdio>
#include <limits>
#include <optional>
#include <random>
#include <string>
#include <utility>
#include <vector>

namespace kaio::bench {

// m tokens of K, each of a sequence of its own (m up to 64), else of one; heads of `size`.
struct qkv_bench_problem {
  u32 k = 0, heads = 0, key_heads = 0, size = 128, m = 1;
  u32 bits = 16;  // of weights: 16, 8 with a scale for each output, 4 with one for each 128

  u32 columns() const { return (heads + 2 * key_heads) * size; }
  u32 sequences() const { return m <= 64 ? m : 1; }
  u32 tokens() const { return m / sequences(); }
  std::string shape() const {
    return std::to_string(k) + "x" + std::to_string(heads) + "x" + std::to_string(key_heads) + "x" +
           std::to_string(size);
  }
  std::string work() const {
    return "m" + std::to_string(m) + (bits == 16 ? "" : "w" + std::to_string(bits));
  }
  // Of weights, x, Q, K and V.
  double bytes() const {
    const double weights = double(columns()) * k * (bits == 4 ? 0.5 + 2.0 / 128 : bits / 8.0);
    return weights + 2.0 * m * (k + columns());
  }

  // KxHEADSxKEY_HEADSxSIZE, and mM, mMw8 or mMw4.
  static std::optional<qkv_bench_problem> of(const std::string& shape, const std::string& work) {
    qkv_bench_problem p;
    char rest[8] = {}, more = 0;
    if (std::sscanf(shape.c_str(), "%ux%ux%ux%u%c", &p.k, &p.heads, &p.key_heads, &p.size, &more) != 4)
      return std::nullopt;
    const int found = std::sscanf(work.c_str(), "m%u%7s", &p.m, rest);
    if (found == 2) p.bits = std::string(rest) == "w4" ? 4 : std::string(rest) == "w8" ? 8 : 0;
    if (found < 1 || p.bits == 0) return std::nullopt;
    const bool fits =
        p.k != 0 && p.heads != 0 && p.key_heads != 0 && p.size != 0 && p.size % 16 == 0 && p.m != 0;
    return fits && (p.bits != 4 || p.k % 128 == 0) && (p.m <= 64 || p.m % 2 == 0) ? std::optional(p)
                                                                                  : std::nullopt;
  }
};

template <class T>
class qkv_bench : attention_measurement<T> {
  using base = attention_measurement<T>;
  using base::gpu_, base::normal, base::stream_;
  static constexpr u32 page_rows = 16, before = 1000;

 public:
  using base::base;

  // The call, and three products with an append_kv that rotates: "separate".
  std::vector<std::pair<std::string, measured>> measure(const qkv_bench_problem& p,
                                                        const std::string& variant, u32 parts) {
    prepare(p);
    std::vector<std::pair<std::string, measured>> all;
    all.emplace_back("kaio", run(p, variant, parts));
    if (p.bits == 16) all.emplace_back("three", run_three(p));
    return all;
  }

 private:
  struct set {
    buffer<T> x, w, q, k, v;
    buffer<u8> packed;
  };

  void prepare(const qkv_bench_problem& p) {
    sets_.clear();
    const u64 of_weights = u64{p.columns()} * p.k;
    const u64 cache = gpu_.is_emulator() ? 1 : 2 * gpu_.properties().l2_bytes;
    const u64 bytes = of_weights * p.bits / 8;
    const u32 pages_of = (before + p.tokens() + page_rows - 1) / page_rows;
    std::mt19937 engine(p.k + p.m);
    words_.clear();
    scales_.clear();
    codes_.resize(p.bits == 8 ? of_weights : 0);
    for (i8& one : codes_) one = static_cast<i8>(engine());
    if (p.bits == 4) {
      words_.resize(of_weights / 8);
      for (i32& w : words_) w = static_cast<i32>(engine());
      scales_.resize(of_weights / 128);
      for (T& s : scales_) s = T((1.0f + static_cast<f32>(engine() % 256) / 256.0f) / 512.0f);
    }
    shape_ = {.n = p.columns(),
              .k = p.k,
              .group = 128,
              .scales = std::is_same_v<T, f16> ? w4_scale_type::f16 : w4_scale_type::bf16};
    pages_ = pages_of * p.sequences();
    for (u64 count = std::clamp<u64>((cache + bytes - 1) / bytes, 1, 16); count > 0; --count) {
      set one{normal(u64{p.m} * p.k), {}, {}, {}, {}, {}};
      if (p.bits == 8) {
        one.packed = gpu_.template allocate<u8>(packed_bytes(shape_8(p)));
        const auto on_codes = gpu_.upload(codes_);
        const auto on_scales = gpu_.upload(std::vector<f32>(p.columns(), scale_8));
        repack(stream_,
               int8_w8{.weight = tensor_view<const i8, 2>(on_codes, p.columns(), p.k),
                       .scales = tensor_view<const f32, 2>(on_scales, p.columns(), 1)},
               w8_weights{shape_8(p), one.packed});
        stream_.synchronize();
      } else if (p.bits == 4) {
        one.packed = gpu_.template allocate<u8>(packed_bytes(shape_));
        const auto on_words = gpu_.upload(words_);
        const auto on_scales = gpu_.upload(scales_);
        repack(stream_,
               gptq_w4{.qweight = tensor_view<const i32, 2>(on_words, p.k / 8, p.columns()),
                       .scales = tensor_view<const T, 2>(on_scales, p.k / 128, p.columns())},
               w4_weights{shape_, one.packed});
        stream_.synchronize();
      } else {
        one.w = normal(of_weights);
      }
      one.q = poisoned(u64{p.m} * p.heads * p.size);
      one.k = poisoned(u64{pages_} * page_rows * p.key_heads * p.size);
      one.v = poisoned(u64{pages_} * page_rows * p.key_heads * p.size);
      sets_.push_back(std::move(one));
    }
    std::vector<i32> table;
    for (u32 i = 0; i < pages_; ++i) table.push_back(static_cast<i32>(i));
    std::shuffle(table.begin(), table.end(), engine);
    table_ = table;
    on_table_ = gpu_.upload(table);
    on_lengths_ = gpu_.upload(std::vector<i32>(p.sequences(), static_cast<i32>(before)));
    const u32 positions = before + p.tokens() + 1;
    cos_ = gpu_.template allocate<f32>(u64{positions} * p.size / 2);
    sin_ = gpu_.template allocate<f32>(u64{positions} * p.size / 2);
    tables_ = {tensor_view<f32, 2>(cos_, positions, p.size / 2),
               tensor_view<f32, 2>(sin_, positions, p.size / 2)};
    rotary_table(stream_, tables_[0], tables_[1], {.base = 500000});
  }
  buffer<T> poisoned(u64 count) {
    return gpu_.upload(std::vector<T>(count, T(std::numeric_limits<float>::quiet_NaN())));
  }

  kv_cache<T> cache_of(const qkv_bench_problem& p, std::size_t i) {
    const auto view = [&](buffer<T>& memory) {
      return tensor_view<T, 4>(memory, pages_, page_rows, p.key_heads, p.size);
    };
    kv_cache<T> cache{.k = view(sets_[i].k), .v = view(sets_[i].v)};
    cache.table = tensor_view<const i32, 2>(on_table_, p.sequences(), pages_ / p.sequences());
    cache.lengths = tensor_view<const i32, 1>(on_lengths_, p.sequences());
    return cache;
  }
  tensor_view<const T, 3> x_of(const qkv_bench_problem& p, std::size_t i) {
    return {sets_[i].x, extents(p.sequences(), p.tokens(), p.k)};
  }
  tensor_view<T, 4> q_of(const qkv_bench_problem& p, std::size_t i) {
    return {sets_[i].q, extents(p.sequences(), p.tokens(), p.heads, p.size)};
  }

  measured run(const qkv_bench_problem& p, const std::string& variant, u32 parts) {
    qkv_options options;
    options.rotary = {.cos = tables_[0], .sin = tables_[1]};
    options.variant = variant;
    options.parts = parts;
    options.constant_weights = true;
    const auto weights = [&](std::size_t i) -> qkv_weights {
      if (p.bits == 8) return w8_weights{shape_8(p), sets_[i].packed};
      if (p.bits == 4) return w4_weights{shape_, sets_[i].packed};
      return tensor_view<const T, 2>(sets_[i].w, p.columns(), p.k);
    };
    measured result;
    const qkv_outputs first{q_of(p, 0), cache_of(p, 0)};
    result.kernel = ops::qkv_project_choice(stream_, x_of(p, 0), weights(0), first, options);
    auto memory = gpu_.template allocate<u8>(
        std::max<u64>(qkv_project_workspace_bytes(stream_, x_of(p, 0), weights(0), first, options), 1));
    options.workspace = memory;
    contestant kaio{"kaio", [&](std::size_t i) {
                      qkv_project(stream_, x_of(p, i), weights(i), {q_of(p, i), cache_of(p, i)}, options);
                    }};
    kaio.run(0);
    stream_.synchronize();
    result.error = distance(p);
    this->time(kaio, sets_.size(), result);
    return result;
  }

  // Three products, and append_kv with the rotation of K and Q.
  measured run_three(const qkv_bench_problem& p) {
    auto product = gpu_.template allocate<T>(u64{p.m} * p.columns());
    const std::array<u32, 3> heads{p.heads, p.key_heads, p.key_heads};
    measured result{.kernel = "matmul, append_kv"};
    contestant three{"three", [&](std::size_t i) {
                       u64 row = 0, at = 0;
                       std::array<tensor_view<T, 4>, 3> parts;
                       for (u32 part = 0; part < 3; ++part) {
                         const u32 n = heads[part] * p.size;
                         tensor_view<T, 2> y(product.view(at, u64{p.m} * n), extents(p.m, n));
                         matmul(stream_, tensor_view<const T, 2>(sets_[i].x, p.m, p.k),
                                tensor_view<const T, 2>(sets_[i].w, p.columns(), p.k)
                                    .slice(0, static_cast<i64>(row), n)
                                    .transposed(),
                                y, {.constant = constant_operands::b});
                         parts[part] =
                             tensor_view<T, 4>(product.view(at, u64{p.m} * n),
                                               extents(p.sequences(), p.tokens(), heads[part], p.size));
                         row += n;
                         at += u64{p.m} * n;
                       }
                       append_kv_options options;
                       options.rotary = {.cos = tables_[0], .sin = tables_[1], .q = {parts[0], q_of(p, i)}};
                       append_kv(stream_, parts[1], parts[2], cache_of(p, i), options);
                     }};
    sets_[0].q = poisoned(u64{p.m} * p.heads * p.size);
    sets_[0].k = poisoned(u64{pages_} * page_rows * p.key_heads * p.size);
    sets_[0].v = poisoned(u64{pages_} * page_rows * p.key_heads * p.size);
    three.run(0);
    stream_.synchronize();
    result.error = distance(p);
    this->time(three, sets_.size(), result);
    return result;
  }

  // Of samples of Q, K and V, to double precision.
  double distance(const qkv_bench_problem& p) {
    const set& one = sets_[0];
    const auto x = one.x.download(), q = one.q.download(), k = one.k.download(), v = one.v.download();
    const auto w = p.bits != 16 ? std::vector<T>() : one.w.download();
    const auto cosines = cos_.download(), sines = sin_.download();
    double difference = 0, all = 0;
    for (u32 sample = 0; sample < 192; ++sample) {
      const u32 row = sample * 37u % p.m, column = sample * 7919u % p.columns();
      const u32 head = column / p.size, e = column % p.size, half = p.size / 2;
      const u32 sequence = row / p.tokens(), token = row % p.tokens(), position = before + token;
      double y = sum(p, x, w, row, column);
      if (head < p.heads + p.key_heads) {
        const u32 pair = e % half;
        const double c = cosines[u64{position} * half + pair], s = sines[u64{position} * half + pair];
        const double other = sum(p, x, w, row, e < half ? column + half : column - half);
        y = e < half ? y * c - other * s : y * c + other * s;
      }
      double got = 0;
      if (head < p.heads) {
        got = static_cast<f32>(q[(u64{row} * p.heads + head) * p.size + e]);
      } else {
        const u32 of_kv = (head - p.heads) % p.key_heads;
        const auto page =
            static_cast<u64>(table_[sequence * (pages_ / p.sequences()) + position / page_rows]);
        const u64 at = ((page * page_rows + position % page_rows) * p.key_heads + of_kv) * p.size + e;
        got = static_cast<f32>((head < p.heads + p.key_heads ? k : v)[at]);
      }
      difference += (y - got) * (y - got);
      all += y * y;
    }
    return std::isfinite(difference) ? std::sqrt(difference / all) : 1e30;
  }
  double sum(const qkv_bench_problem& p, const std::vector<T>& x, const std::vector<T>& w, u32 row,
             u32 column) {
    double y = 0;
    for (u32 i = 0; i < p.k; ++i) {
      double weight = 0;
      if (p.bits == 8) {
        weight = codes_[u64{column} * p.k + i] * static_cast<double>(scale_8);
      } else if (p.bits == 4) {
        const auto word = static_cast<u32>(words_[u64{i / 8} * p.columns() + column]);
        weight = ((word >> (4 * (i % 8)) & 15u) - 8.0) *
                 static_cast<f32>(scales_[u64{i / 128} * p.columns() + column]);
      } else {
        weight = static_cast<f32>(w[u64{column} * p.k + i]);
      }
      y += static_cast<f32>(x[u64{row} * p.k + i]) * weight;
    }
    return y;
  }

  std::vector<set> sets_;
  static constexpr f32 scale_8 = 1.0f / 4096;
  static w8_shape shape_8(const qkv_bench_problem& p) { return {.n = p.columns(), .k = p.k}; }

  std::vector<i32> words_, table_;
  std::vector<i8> codes_;
  std::vector<T> scales_;
  w4_shape shape_;
  u32 pages_ = 0;
  buffer<i32> on_table_, on_lengths_;
  buffer<f32> cos_, sin_;
  std::array<tensor_view<f32, 2>, 2> tables_;
};

}  // namespace kaio::bench
