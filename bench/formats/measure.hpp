#pragma once
// One case: random bytes or numbers, the call, the check of its result, and its times next to those of a copy of
// equal size.

#include "bench/attention/measurement.hpp"
#include "bench/formats/check.hpp"
#include "bench/formats/problem.hpp"

#include <kaio/kaio.hpp>
#include <kaio/ops/weight_only/quantise_weights.hpp>

#include <algorithm>
#include <random>
#include <string>
#include <vector>

namespace kaio::bench {

struct measured_format {
  measured own, copy;
};

template <class T>
class format_bench : attention_measurement<T> {
  using base = attention_measurement<T>;
  using base::gpu_, base::normal, base::stream_;

  // One set of operands. The first output begins as NaN, or as bytes that no quantiser writes throughout.
  struct operands {
    buffer<T> matrix;
    buffer<u8> codes, powers;
    buffer<e4m3> numbers, small;
    buffer<f32> scales, global;
    buffer<i32> words;
    buffer<f16> halves;
  };

 public:
  using base::base;

  measured_format measure(const format_problem& p) {
    const auto all = static_cast<u64>(p.bytes(sizeof(T)));
    const u64 cache = gpu_.is_emulator() ? 1 : 2 * gpu_.properties().l2_bytes;
    const std::size_t count = std::clamp<u64>((cache + all - 1) / all, 1, 16);
    const std::vector<u8> bytes = random_codes(p);
    std::vector<operands> sets;
    for (std::size_t i = 0; i < count; ++i) sets.push_back(make(p, bytes));
    contestant own{"kaio", [&](std::size_t i) { run(p, sets[i]); }};
    own.run(0);
    stream_.synchronize();
    measured_format result;
    result.own.error = p.writes() ? error_of_codes(p, sets[0])
                                  : relative_error(decoded(p, bytes), sets[0].matrix.download());
    this->time(own, count, result.own);
    sets.clear();
    std::vector<buffer<u8>> from, to;
    for (std::size_t i = 0; i < count; ++i) {
      from.push_back(gpu_.template allocate<u8>(all / 2));
      to.push_back(gpu_.template allocate<u8>(all / 2));
    }
    contestant copy{"copy", [&](std::size_t i) { to[i].copy_from(from[i], stream_); }};
    copy.run(0);
    stream_.synchronize();
    this->time(copy, count, result.copy);
    return result;
  }

 private:
  template <class E>
  static tensor_view<E, 1> line(buffer<E>& memory, u64 count) {
    return {memory.slice(0, count), ops::extents<1>(count)};
  }
  template <class E>
  static tensor_view<E, 2> rows(buffer<E>& memory, i64 n, i64 k) {
    return {memory.slice(0, static_cast<u64>(n * k)), ops::extents<2>(n, k)};
  }

  // The numbers of 16 bits in blocks are small and finite; no e4m3 is NaN.
  static std::vector<u8> random_codes(const format_problem& p) {
    std::mt19937 engine(p.n + p.k);
    const ops::block_facts* const block = p.block();
    const u64 size = block != nullptr        ? packed_bytes(block->format, static_cast<i64>(p.elements()))
                     : p.what->work == "fp8" ? p.elements()
                                             : p.elements() / 2;
    std::vector<u8> bytes(size);
    for (u8& b : bytes) b = static_cast<u8>(engine());
    if (p.what->work == "fp8")
      for (u8& b : bytes) b = static_cast<u8>(b & 0xf7u);
    if (block != nullptr)
      for (u64 first = 0; first < size; first += block->bytes)
        // Each format's numbers of 16 bits are within its first and last four bytes.
        for (u32 at = 0; at < block->bytes; ++at)
          if (at < 4 || at + 4 >= block->bytes)
            bytes[first + at] = static_cast<u8>(bytes[first + at] & 0x2fu);
    if (block != nullptr && block->format == block_format::mxfp4)
      for (u64 first = 0; first < size; first += block->bytes) bytes[first] = static_cast<u8>(format_power);
    return bytes;
  }

  operands make(const format_problem& p, const std::vector<u8>& bytes) {
    const u64 elements = p.elements();
    operands x;
    if (p.writes()) {
      x.matrix = normal(elements);
      x.codes = gpu_.upload(std::vector<u8>(elements + elements / 16, 0xa5));
      x.words = gpu_.upload(std::vector<i32>(elements / 8, -1));
      x.halves = gpu_.template allocate<f16>(elements / 128);
    } else {
      x.matrix = gpu_.upload(std::vector<T>(elements, T(std::nanf(""))));
      x.codes = gpu_.upload(bytes);
    }
    if (p.what->work == "fp8") {
      std::vector<e4m3> numbers;
      for (const u8 b : bytes) numbers.push_back(e4m3::from_bits(b));
      x.numbers = gpu_.upload(numbers);
    }
    x.powers = gpu_.upload(std::vector<u8>(elements / 32, static_cast<u8>(format_power)));
    x.scales = gpu_.upload(std::vector<f32>(elements / 64, format_scale));
    x.small = gpu_.upload(std::vector<e4m3>(elements / 16, e4m3(format_small)));
    x.global = gpu_.upload(std::vector<f32>{1.0f});
    return x;
  }

  void run(const format_problem& p, operands& x) {
    const std::string& work = p.what->work;
    const i64 n = p.n, k = p.k;
    const u64 elements = p.elements();
    const auto w = rows(x.matrix, n, k);
    if (const ops::block_facts* const block = p.block()) {
      dequantise(stream_, block->format,
                 tensor_view<const u8, 1>(line(x.codes, packed_bytes(block->format, n * k))), w);
    } else if (work == "fp8") {
      const auto of_blocks = rows(x.scales, (n + 127) / 128, (k + 127) / 128);
      dequantise(stream_, scaled_bytes{.weight = rows(x.numbers, n, k), .scale = of_blocks}, w);
    } else if (!p.writes()) {
      decode_nibbles(work, x, n, k, w);
    } else if (work == "to:Q4_0" || work == "to:Q8_0") {
      const block_format to = work == "to:Q4_0" ? block_format::q4_0 : block_format::q8_0;
      quantise_weights(stream_, w, to, line(x.codes, packed_bytes(to, n * k)));
    } else if (work == "to:nf4") {
      quantise_weights(
          stream_, w,
          bnb_4bit_output{.weight = line(x.codes, elements / 2), .absmax = line(x.scales, elements / 64)});
    } else if (work == "to:mx") {
      quantise_weights(stream_, w,
                       mxfp4_output{.packed = rows(x.codes, n, k / 2), .scales = rows(x.powers, n, k / 32)});
    } else if (work == "to:nv") {
      quantise_weights(stream_, w,
                       nvfp4_output{.packed = rows(x.codes, n, k / 2),
                                    .scales = rows(x.small, n, k / 16),
                                    .global = line(x.global, 1)});
    } else {
      quantise_weights(
          stream_, w,
          w4_output{.weight_packed = rows(x.words, n, k / 8), .weight_scale = rows(x.halves, n, k / 128)});
    }
  }

  template <class E>
  void decode_nibbles(const std::string& work, operands& x, i64 n, i64 k, const tensor_view<E, 2>& w) {
    if (work == "nf4")
      dequantise(stream_,
                 bnb_4bit{.weight = line(x.codes, static_cast<u64>(n * k / 2)),
                          .absmax = line(x.scales, static_cast<u64>(n * k / 64))},
                 w);
    else if (work == "mx")
      dequantise(stream_,
                 mxfp4_tensors{.packed = rows(x.codes, n, k / 2), .scales = rows(x.powers, n, k / 32)}, w);
    else
      dequantise(stream_,
                 nvfp4_tensors{.packed = rows(x.codes, n, k / 2),
                               .scales = rows(x.small, n, k / 16),
                               .global = line(x.global, 1)},
                 w);
  }

  // The error of a quantiser: its decoded output against the numbers that it read.
  double error_of_codes(const format_problem& p, operands& x) {
    const std::string work = p.what->work.substr(3);
    const i64 n = p.n, k = p.k;
    auto memory = gpu_.template allocate<f32>(p.elements());
    const tensor_view<f32, 2> back(memory, n, k);
    if (work == "Q4_0" || work == "Q8_0") {
      const block_format from = block_format_named(work);
      dequantise(stream_, from, tensor_view<const u8, 1>(line(x.codes, packed_bytes(from, n * k))), back);
    } else if (work == "w4") {
      const w4_shape shape{.n = n, .k = k};
      const auto packed = gpu_.template allocate<u8>(packed_bytes(shape));
      const w4_weights weights{shape, packed};
      repack(stream_,
             compressed_tensors_w4{.weight_packed = rows(x.words, n, k / 8),
                                   .weight_scale = rows(x.halves, n, k / 128)},
             weights);
      dequantise(stream_, weights, back);
    } else {
      decode_nibbles(work, x, n, k, back);
    }
    stream_.synchronize();
    const std::vector<T> given = x.matrix.download();
    std::vector<double> want;
    for (const T number : given) want.push_back(static_cast<f32>(number));
    return relative_error(want, memory.download());
  }
};

}  // namespace kaio::bench
