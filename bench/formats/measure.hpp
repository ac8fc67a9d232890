#pragma once
// One format: random codes or numbers, the call, the check of its result, and its times next to a copy's.

#include "bench/attention/measurement.hpp"

#include <kaio/kaio.hpp>
#include <kaio/ops/dequantise.hpp>
#include <kaio/ops/quantise_weights.hpp>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <functional>
#include <optional>
#include <random>
#include <string>
#include <vector>

namespace kaio::bench {

// A matrix of n x k in a format: bytes of codes and scales for each element.
struct format_case {
  std::string work;         // "Q4_K", "nf4", "to:Q4_0"
  double bytes_of_element;  // of the format
};
inline const std::vector<format_case>& format_cases() {
  static const std::vector<format_case> all = [] {
    std::vector<format_case> cases;
    for (const ops::block_facts& f : ops::block_formats)
      cases.push_back({std::string(f.name), double(f.bytes) / f.elements});
    for (const format_case& c :
         {format_case{"nf4", 0.5 + 4 / 64.0}, {"mx", 0.5 + 1 / 32.0}, {"nv", 0.5 + 1 / 16.0}})
      cases.push_back(c);
    cases.push_back({"fp8", 1.0 + 4 / 16384.0});
    for (const format_case& c : {format_case{"to:Q4_0", 18 / 32.0},
                                 {"to:Q8_0", 34 / 32.0},
                                 {"to:nf4", 0.5 + 4 / 64.0},
                                 {"to:mx", 0.5 + 1 / 32.0},
                                 {"to:nv", 0.5 + 1 / 16.0},
                                 {"to:w4", 0.5 + 2 / 128.0}})
      cases.push_back(c);
    return cases;
  }();
  return all;
}

struct format_problem {
  u32 n = 0, k = 0;
  const format_case* what = nullptr;
  std::string shape() const { return std::to_string(n) + "x" + std::to_string(k); }
  u64 elements() const { return u64{n} * k; }
  // What is read and written; a quantiser with a scale of the whole matrix reads that twice.
  double bytes(std::size_t element) const {
    const double reads = what->work == "to:nv" ? 2.0 : 1.0;
    return static_cast<double>(elements()) * (what->bytes_of_element + reads * static_cast<double>(element));
  }
  static std::optional<format_problem> of(const std::string& shape, const std::string& work) {
    format_problem p;
    char rest = 0;
    if (std::sscanf(shape.c_str(), "%ux%u%c", &p.n, &p.k, &rest) != 2) return std::nullopt;
    for (const format_case& c : format_cases())
      if (c.work == work) p.what = &c;
    return p.what != nullptr && p.n != 0 && p.k != 0 && p.k % 256 == 0 ? std::optional(p) : std::nullopt;
  }
};

struct measured_format {
  measured own, copy;
};

template <class T>
class format_bench : attention_measurement<T> {
  using base = attention_measurement<T>;
  using base::gpu_, base::normal, base::stream_;

 public:
  using base::base;

  measured_format measure(const format_problem& p) {
    const u64 codes = p.elements() / 2, all = static_cast<u64>(p.bytes(sizeof(T)));
    const u64 cache = gpu_.is_emulator() ? 1 : 2 * gpu_.properties().l2_bytes;
    const std::size_t sets = std::clamp<u64>((cache + all - 1) / all, 1, 16);
    const std::string& work = p.what->work;
    const ops::block_facts* block = nullptr;
    for (const ops::block_facts& f : ops::block_formats)
      if (f.name == work) block = &f;
    const u64 packed_size = block != nullptr ? packed_bytes(block->format, static_cast<i64>(p.elements()))
                            : work == "fp8"  ? p.elements()
                                             : codes;
    std::vector<buffer<u8>> packed, bytes;
    std::vector<buffer<T>> matrices;
    std::vector<buffer<f32>> scales;
    std::vector<buffer<e4m3>> small, tiny;
    const bool writes = work.rfind("to:", 0) == 0;
    const std::vector<T> poison(p.elements(), T(std::nanf("")));
    const std::vector<u8> random = random_codes(block, packed_size);
    std::vector<e4m3> as_float;
    if (work == "fp8")
      for (const u8 b : random) as_float.push_back(e4m3::from_bits(b));
    for (std::size_t i = 0; i < sets; ++i) {
      matrices.push_back(writes   ? normal(p.elements())
                         : i == 0 ? gpu_.upload(poison)
                                  : gpu_.template allocate<T>(p.elements()));
      if (writes)
        packed.push_back(gpu_.upload(
            std::vector<u8>(packed_bytes(block_format::q8_0, static_cast<i64>(p.elements())), 0xa5)));
      else
        packed.push_back(gpu_.upload(random));
      bytes.push_back(gpu_.upload(std::vector<u8>(p.elements() / 32, 120)));
      scales.push_back(gpu_.upload(std::vector<f32>(p.elements() / 64, 0.03125f)));
      small.push_back(gpu_.upload(std::vector<e4m3>(p.elements() / 16, e4m3(2.0f))));
      if (work == "fp8") tiny.push_back(gpu_.upload(as_float));
    }
    auto global = gpu_.upload(std::vector<f32>{1.0f});
    auto words = gpu_.template allocate<i32>(writes ? p.elements() / 8 : 1);
    auto halves = gpu_.template allocate<f16>(p.elements() / 128);
    const auto line = [](auto& memory, u64 count) {
      using element = typename std::remove_cvref_t<decltype(memory.view())>::value_type;
      return tensor_view<element, 1>(memory.view(0, count), ops::extents<1>(count));
    };
    const i64 n = p.n, k = p.k;
    contestant own{
        "kaio", [&](std::size_t i) {
          const tensor_view<T, 2> w(matrices[i], n, k);
          const tensor_view<u8, 2> nibbles(packed[i].view(0, codes), ops::extents<2>(n, k / 2));
          const tensor_view<u8, 2> powers(bytes[i], n, k / 32);
          const tensor_view<e4m3, 2> sixteenths(small[i], n, k / 16);
          const auto absmax = line(scales[i], p.elements() / 64);
          if (block != nullptr) {
            dequantise(stream_, block->format, line(packed[i], packed_size), w);
          } else if (work == "nf4") {
            dequantise(stream_, bnb_4bit{.weight = line(packed[i], codes), .absmax = absmax}, w);
          } else if (work == "mx") {
            dequantise(stream_, mxfp4_tensors{.packed = nibbles, .scales = powers}, w);
          } else if (work == "nv") {
            dequantise(stream_,
                       nvfp4_tensors{.packed = nibbles, .scales = sixteenths, .global = line(global, 1)}, w);
          } else if (work == "fp8") {
            const i64 rows = (n + 127) / 128, columns = (k + 127) / 128;
            const tensor_view<f32, 2> of_blocks(scales[i].view(0, static_cast<u64>(rows * columns)),
                                                ops::extents<2>(rows, columns));
            dequantise(stream_,
                       scaled_bytes{.weight = tensor_view<e4m3, 2>(tiny[i], n, k), .scale = of_blocks}, w);
          } else if (work == "to:Q4_0" || work == "to:Q8_0") {
            const block_format to = work == "to:Q4_0" ? block_format::q4_0 : block_format::q8_0;
            quantise_weights(stream_, w, to, line(packed[i], packed_bytes(to, n * k)));
          } else if (work == "to:nf4") {
            quantise_weights(stream_, w, bnb_4bit_output{.weight = line(packed[i], codes), .absmax = absmax});
          } else if (work == "to:mx") {
            quantise_weights(stream_, w, mxfp4_output{.packed = nibbles, .scales = powers});
          } else if (work == "to:nv") {
            quantise_weights(
                stream_, w, nvfp4_output{.packed = nibbles, .scales = sixteenths, .global = line(global, 1)});
          } else {
            quantise_weights(stream_, w,
                             w4_output{.weight_packed = tensor_view<i32, 2>(words, n, k / 8),
                                       .weight_scale = tensor_view<f16, 2>(halves, n, k / 128)});
          }
        }};
    own.run(0);
    stream_.synchronize();
    measured_format result;
    result.own.error = distance(p, block, random, packed[0], matrices[0], scales[0], bytes[0], small[0],
                                global, words, halves);
    this->time(own, sets, result.own);
    const u64 half = all / 2;
    std::vector<buffer<u8>> from, to;
    for (std::size_t i = 0; i < sets; ++i) {
      from.push_back(gpu_.template allocate<u8>(half));
      to.push_back(gpu_.template allocate<u8>(half));
    }
    contestant copy{"copy", [&](std::size_t i) { to[i].copy_from(from[i], stream_); }};
    copy.run(0);
    stream_.synchronize();
    this->time(copy, sets, result.copy);
    return result;
  }

 private:
  // The numbers of 16 bits of blocks are small and finite.
  static std::vector<u8> random_codes(const ops::block_facts* block, u64 size);
  static double distance(const format_problem& p, const ops::block_facts* block,
                         const std::vector<u8>& random, const buffer<u8>& packed, const buffer<T>& matrix,
                         const buffer<f32>& scales, const buffer<u8>& powers, const buffer<e4m3>& small,
                         const buffer<f32>& global, const buffer<i32>& words, const buffer<f16>& halves);
};

}  // namespace kaio::bench
