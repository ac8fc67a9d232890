#pragma once
// One problem: random hidden states and weights, Q and a cache in pages, the call, the check of its results, and the
// times of the call and of the same steps by an operation each.

#include "bench/attention/measurement.hpp"

#include <kaio/kaio.hpp>
#include <kaio/ops/append_kv.hpp>
#include <kaio/ops/matmul.hpp>
#include <kaio/ops/matmul_fp8.hpp>
#include <kaio/ops/matmul_int8.hpp>
#include <kaio/ops/matmul_w8.hpp>
#include <kaio/ops/qkv_project.hpp>
#include <kaio/ops/rotary.hpp>

#include <algorithm>
#include <array>
#include <cstdio>
#include <limits>
#include <optional>
#include <random>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace kaio::bench {

// m tokens of K, up to 64 each in its own sequence, more in one sequence; heads of `size`.
//
//   weights    type
//   ""         that of x
//   w4         four bits in groups of 128
//   w8         integers by columns
//   i8, fp8    that of x too (fp8: e4m3), with scales of rows and columns
struct qkv_bench_problem {
  u32 k = 0, heads = 0, key_heads = 0, size = 128, m = 1;
  std::string weights;

  bool packed() const { return weights == "w4" || weights == "w8"; }
  bool bytewise() const { return weights == "i8" || weights == "fp8"; }
  u32 columns() const { return (heads + 2 * key_heads) * size; }
  u32 sequences() const { return m <= 64 ? m : 1; }
  u32 tokens() const { return m / sequences(); }
  std::string shape() const {
    return std::to_string(k) + "x" + std::to_string(heads) + "x" + std::to_string(key_heads) + "x" +
           std::to_string(size);
  }
  std::string work() const { return "m" + std::to_string(m) + weights; }
  double weight_bytes() const {
    return double(columns()) * k * (weights == "w4" ? 0.5 + 2.0 / 128 : weights.empty() ? 2 : 1);
  }
  // Bytes of weights, x, Q, K and V.
  double bytes() const { return weight_bytes() + (bytewise() ? 1.0 : 2.0) * m * k + 2.0 * m * columns(); }

  // KxHEADSxKEY_HEADSxSIZE, and mM with the weights after it.
  static std::optional<qkv_bench_problem> of(const std::string& shape, const std::string& work) {
    qkv_bench_problem p;
    char rest[8] = {}, more = 0;
    if (std::sscanf(shape.c_str(), "%ux%ux%ux%u%c", &p.k, &p.heads, &p.key_heads, &p.size, &more) != 4)
      return std::nullopt;
    if (std::sscanf(work.c_str(), "m%u%7s", &p.m, rest) < 1) return std::nullopt;
    p.weights = rest;
    const bool known = p.weights.empty() || p.packed() || p.bytewise();
    const bool fits =
        p.k != 0 && p.heads != 0 && p.key_heads != 0 && p.size != 0 && p.size % 16 == 0 && p.m != 0;
    return known && fits && (p.weights != "w4" || p.k % 128 == 0) && (p.m <= 64 || p.m % 2 == 0)
               ? std::optional(p)
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

  // Times the call ("kaio"), and three products with an append_kv that rotates ("three").
  std::vector<std::pair<std::string, measured>> measure(const qkv_bench_problem& p,
                                                        const std::string& variant, u32 parts) {
    prepare(p);
    std::vector<std::pair<std::string, measured>> all;
    all.emplace_back("kaio", run(p, variant, parts));
    all.emplace_back("three", run_three(p));
    return all;
  }

 private:
  // Columns of the product.
  struct range {
    u32 first, count;
  };
  // All columns; then those of Q, K and V.
  static std::array<range, 4> ranges_of(const qkv_bench_problem& p) {
    const u32 q = p.heads * p.size, k = p.key_heads * p.size;
    return {range{0, p.columns()}, range{0, q}, range{q, k}, range{q + k, k}};
  }
  struct set {
    buffer<T> x, w, q, k, v;
    buffer<i8> x_bytes, w_bytes;
    std::array<buffer<u8>, 4> packed;  // of ranges_of
  };

  void prepare(const qkv_bench_problem& p) {
    sets_.clear();
    const u64 of_weights = u64{p.columns()} * p.k;
    const u64 cache = gpu_.is_emulator() ? 1 : 2 * gpu_.properties().l2_bytes;
    const auto bytes = static_cast<u64>(p.weight_bytes());
    const u32 pages_of = (before + p.tokens() + page_rows - 1) / page_rows;
    std::mt19937 engine(p.k + p.m);
    draw(p, engine);
    pages_ = pages_of * p.sequences();
    for (u64 count = std::clamp<u64>((cache + bytes - 1) / bytes, 1, 16); count > 0; --count) {
      set one;
      if (p.bytewise()) {
        one.x_bytes = gpu_.upload(x_codes_);
        one.w_bytes = gpu_.upload(codes_);
      } else {
        one.x = normal(u64{p.m} * p.k);
        if (!p.packed()) one.w = normal(of_weights);
      }
      if (p.packed())
        for (std::size_t i = 0; i < one.packed.size(); ++i) one.packed[i] = pack(p, ranges_of(p)[i]);
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

  // Codes of weights and of x, and their scales.
  void draw(const qkv_bench_problem& p, std::mt19937& engine) {
    const u64 of_weights = u64{p.columns()} * p.k;
    const auto factor = [&] { return 1.0f + static_cast<f32>(engine() % 256) / 256.0f; };
    const auto random_bytes = [&](u64 count) {
      std::vector<i8> bytes(count);
      // e4m3 below 2, none of them NaN: the upper bits of the exponent are 0.
      for (i8& one : bytes) one = static_cast<i8>(engine() & (p.weights == "fp8" ? 0xbfu : 0xffu));
      return bytes;
    };
    words_.clear();
    scales_.clear();
    codes_.clear();
    columns_.clear();
    rows_.clear();
    if (p.weights == "w4") {
      words_.resize(of_weights / 8);
      for (i32& w : words_) w = static_cast<i32>(engine());
      for (u64 i = 0; i < of_weights / 128; ++i) scales_.push_back(T(factor() / 512));
    } else if (!p.weights.empty()) {
      codes_ = random_bytes(of_weights);
      for (u32 i = 0; i < p.columns(); ++i) columns_.push_back(factor() / 1024);
      on_columns_ = gpu_.upload(columns_);
    }
    if (!p.bytewise()) return;
    x_codes_ = random_bytes(u64{p.m} * p.k);
    for (u32 i = 0; i < p.m; ++i) rows_.push_back(p.weights == "i8" ? factor() / 64 : factor());
    on_rows_ = gpu_.upload(rows_);
  }

  static w4_shape shape_4(const qkv_bench_problem& p, u32 n) {
    return {.n = n,
            .k = p.k,
            .group = 128,
            .scales = std::is_same_v<T, f16> ? w4_scale_type::f16 : w4_scale_type::bf16};
  }
  static w8_shape shape_8(const qkv_bench_problem& p, u32 n) { return {.n = n, .k = p.k}; }
  buffer<u8> pack(const qkv_bench_problem& p, const range& of) {
    buffer<u8> memory;
    if (p.weights == "w4") {
      const auto on_words = gpu_.upload(words_);
      const auto on_scales = gpu_.upload(scales_);
      memory = gpu_.template allocate<u8>(packed_bytes(shape_4(p, of.count)));
      repack(stream_,
             gptq_w4{
                 .qweight =
                     tensor_view<const i32, 2>(on_words, p.k / 8, p.columns()).slice(1, of.first, of.count),
                 .scales =
                     tensor_view<const T, 2>(on_scales, p.k / 128, p.columns()).slice(1, of.first, of.count)},
             w4_weights{shape_4(p, of.count), memory});
      stream_.synchronize();
    } else {
      const auto on_codes = gpu_.upload(codes_);
      memory = gpu_.template allocate<u8>(packed_bytes(shape_8(p, of.count)));
      repack(
          stream_,
          int8_w8{
              .weight = tensor_view<const i8, 2>(on_codes, p.columns(), p.k).slice(0, of.first, of.count),
              .scales = tensor_view<const f32, 2>(on_columns_, p.columns(), 1).slice(0, of.first, of.count)},
          w8_weights{shape_8(p, of.count), memory});
      stream_.synchronize();
    }
    return memory;
  }

  template <std::size_t Rank>
  static tensor_view<const e4m3, Rank> e4m3_view(buffer<i8>& bytes, const extents<Rank>& e) {
    const ptx::argument a = bytes.as_argument();
    return {device_pointer<e4m3>{a.bits, a.bytes, a.device, true}, e};
  }
  // f(x) with x as the type that it has.
  template <std::size_t Rank, class F>
  void with_x(const qkv_bench_problem& p, std::size_t i, const extents<Rank>& e, const F& f) {
    if (p.weights == "i8")
      f(tensor_view<const i8, Rank>(sets_[i].x_bytes, e));
    else if (p.weights == "fp8")
      f(e4m3_view(sets_[i].x_bytes, e));
    else
      f(tensor_view<const T, Rank>(sets_[i].x, e));
  }
  tensor_view<const f32, 1> row_scales(const qkv_bench_problem& p) { return {on_rows_, p.m}; }
  tensor_view<const f32, 1> column_scales(const qkv_bench_problem& p, const range& of) {
    return tensor_view<const f32, 1>(on_columns_, p.columns()).slice(0, of.first, of.count);
  }
  qkv_weights weights_of(const qkv_bench_problem& p, std::size_t i) {
    set& one = sets_[i];
    const range all = ranges_of(p)[0];
    if (p.weights == "w4") return w4_weights{shape_4(p, all.count), one.packed[0]};
    if (p.weights == "w8") return w8_weights{shape_8(p, all.count), one.packed[0]};
    if (p.weights == "i8")
      return int8_weights{tensor_view<const i8, 2>(one.w_bytes, p.columns(), p.k), column_scales(p, all)};
    if (p.weights == "fp8")
      return fp8_weights{e4m3_view(one.w_bytes, extents(p.columns(), p.k)), column_scales(p, all)};
    return tensor_view<const T, 2>(one.w, p.columns(), p.k);
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
  tensor_view<T, 4> q_of(const qkv_bench_problem& p, std::size_t i) {
    return {sets_[i].q, extents(p.sequences(), p.tokens(), p.heads, p.size)};
  }

  measured run(const qkv_bench_problem& p, const std::string& variant, u32 parts) {
    qkv_project_options options;
    options.rotary = {.cos = tables_[0], .sin = tables_[1]};
    options.variant = variant;
    options.splits = parts;
    options.constant = constant_inputs::weights;
    if (p.bytewise()) options.x_scale = row_scales(p);
    const extents of_x(p.sequences(), p.tokens(), p.k);
    measured result;
    const qkv_outputs first{q_of(p, 0), cache_of(p, 0)};
    buffer<u8> memory;
    with_x(p, 0, of_x, [&](const auto& x) {
      result.kernel = ops::qkv_project_choice(stream_, x, weights_of(p, 0), first, options).name;
      memory = gpu_.template allocate<u8>(
          std::max<u64>(qkv_project_workspace_bytes(stream_, x, weights_of(p, 0), first, options), 1));
    });
    options.workspace = memory;
    contestant kaio{"kaio", [&](std::size_t i) {
                      with_x(p, i, of_x, [&](const auto& x) {
                        qkv_project(stream_, x, weights_of(p, i), {q_of(p, i), cache_of(p, i)}, options);
                      });
                    }};
    kaio.run(0);
    stream_.synchronize();
    result.error = distance(p);
    this->time(kaio, sets_.size(), result);
    return result;
  }

  // Multiplies x by the weights of Q, K or V; `part`: 1 to 3, of ranges_of.
  void multiply(const qkv_bench_problem& p, std::size_t i, std::size_t part, const tensor_view<T, 2>& y,
                const buffer<u8>& workspace) {
    const range of = ranges_of(p)[part];
    set& one = sets_[i];
    matmul_w4_options packed{.constant = constant_inputs::weights};
    packed.workspace = workspace;
    const tensor_view<const T, 2> x =
        p.bytewise() ? tensor_view<const T, 2>() : tensor_view<const T, 2>(one.x, p.m, p.k);
    if (p.weights == "w4")
      matmul_w4(stream_, x, w4_weights{shape_4(p, of.count), one.packed[part]}, y, packed);
    else if (p.weights == "w8")
      matmul_w8(stream_, x, w8_weights{shape_8(p, of.count), one.packed[part]}, y, packed);
    else if (p.weights == "i8")
      matmul_int8(
          stream_, tensor_view<const i8, 2>(one.x_bytes, p.m, p.k),
          tensor_view<const i8, 2>(one.w_bytes, p.columns(), p.k).slice(0, of.first, of.count).transposed(),
          y, {.scale_a = row_scales(p), .scale_b = column_scales(p, of), .constant = constant_inputs::b});
    else if (p.weights == "fp8")
      matmul_fp8(stream_, e4m3_view(one.x_bytes, extents(p.m, p.k)),
                 e4m3_view(one.w_bytes, extents(p.columns(), p.k)).slice(0, of.first, of.count).transposed(),
                 y,
                 {.scale_a = row_scales(p), .scale_b = column_scales(p, of), .constant = constant_inputs::b});
    else
      matmul(stream_, x,
             tensor_view<const T, 2>(one.w, p.columns(), p.k).slice(0, of.first, of.count).transposed(), y,
             {.constant = constant_inputs::b});
  }
  // The largest workspace of the products of packed weights, which run one after the other.
  u64 workspace_of_three(const qkv_bench_problem& p) {
    u64 bytes = 1;
    for (std::size_t part = 1; p.packed() && part < 4; ++part) {
      const u32 n = ranges_of(p)[part].count;
      const tensor_view<const T, 2> x(sets_[0].x, p.m, p.k);
      const buffer<u8>& memory = sets_[0].packed[part];
      const matmul_w4_options options{.constant = constant_inputs::weights};
      bytes = std::max(
          bytes, p.weights == "w4"
                     ? matmul_w4_workspace_bytes(stream_, x, w4_weights{shape_4(p, n), memory}, options)
                     : matmul_w8_workspace_bytes(stream_, x, w8_weights{shape_8(p, n), memory}, options));
    }
    return bytes;
  }

  // Three products, and append_kv with the rotation of K and Q.
  measured run_three(const qkv_bench_problem& p) {
    auto product = gpu_.template allocate<T>(u64{p.m} * p.columns());
    const auto workspace = gpu_.template allocate<u8>(workspace_of_three(p));
    const std::array<u32, 3> heads{p.heads, p.key_heads, p.key_heads};
    measured result{.kernel = "products, append_kv"};
    contestant three{"three", [&](std::size_t i) {
                       u64 at = 0;
                       std::array<tensor_view<T, 4>, 3> parts;
                       for (u32 part = 0; part < 3; ++part) {
                         const u32 n = heads[part] * p.size;
                         const auto memory = product.slice(at, u64{p.m} * n);
                         multiply(p, i, part + 1, tensor_view<T, 2>(memory, extents(p.m, n)), workspace);
                         parts[part] = tensor_view<T, 4>(
                             memory, extents(p.sequences(), p.tokens(), heads[part], p.size));
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

  // The relative error of samples of Q, K and V against double precision.
  double distance(const qkv_bench_problem& p) {
    const set& one = sets_[0];
    const auto q = one.q.download(), k = one.k.download(), v = one.v.download();
    const auto x = p.bytewise() ? std::vector<T>() : one.x.download();
    const auto w = p.weights.empty() ? one.w.download() : std::vector<T>();
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
             u32 column) const {
    const auto number = [&](i8 code) {
      return p.weights == "fp8" ? static_cast<double>(f32(e4m3::from_bits(static_cast<u8>(code))))
                                : static_cast<double>(code);
    };
    double y = 0;
    for (u32 i = 0; i < p.k; ++i) {
      const u64 of_w = u64{column} * p.k + i, of_x = u64{row} * p.k + i;
      double weight = 0;
      if (p.weights == "w4") {
        const auto word = static_cast<u32>(words_[u64{i / 8} * p.columns() + column]);
        weight = ((word >> (4 * (i % 8)) & 15u) - 8.0) *
                 static_cast<f32>(scales_[u64{i / 128} * p.columns() + column]);
      } else {
        weight = p.weights.empty() ? static_cast<double>(f32(w[of_w]))
                                   : number(codes_[of_w]) * static_cast<double>(columns_[column]);
      }
      y += weight * (p.bytewise() ? number(x_codes_[of_x]) * static_cast<double>(rows_[row])
                                  : static_cast<double>(f32(x[of_x])));
    }
    return y;
  }

  std::vector<set> sets_;
  std::vector<i32> words_, table_;
  std::vector<i8> codes_, x_codes_;
  std::vector<T> scales_;
  std::vector<f32> columns_, rows_;
  buffer<f32> on_columns_, on_rows_;
  u32 pages_ = 0;
  buffer<i32> on_table_, on_lengths_;
  buffer<f32> cos_, sin_;
  std::array<tensor_view<f32, 2>, 2> tables_;
};

}  // namespace kaio::bench
