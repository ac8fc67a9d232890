#pragma once
// Checks the output of the timed calls in double precision: the first elements of a decoded matrix by the format's
// formula, and the numbers that a quantiser's output decodes to.

#include "bench/formats/problem.hpp"

#include <kaio/kaio.hpp>
#include <kaio/ops/weight_only/dequantise.hpp>
#include <kaio/weights/weights.hpp>

#include <cmath>
#include <span>
#include <vector>

namespace kaio::bench {

constexpr u64 checked_elements = 4096;

inline constexpr double e2m1_number[16] = {0, 0.5, 1, 1.5, 2, 3, 4, 6, -0.0, -0.5, -1, -1.5, -2, -3, -4, -6};
inline constexpr double nf4_number[16] = {-1.0,
                                          -0.6961928009986877,
                                          -0.5250730514526367,
                                          -0.39491748809814453,
                                          -0.28444138169288635,
                                          -0.18477343022823334,
                                          -0.09105003625154495,
                                          0.0,
                                          0.07958029955625534,
                                          0.16093020141124725,
                                          0.24611230194568634,
                                          0.33791524171829224,
                                          0.44070982933044434,
                                          0.5626170039176941,
                                          0.7229568362236023,
                                          1.0};

// Decodes the first elements of random bytes, with the scales of the benchmark.
inline std::vector<double> decoded(const format_problem& p, const std::vector<u8>& bytes) {
  const u64 count = std::min<u64>(checked_elements, p.elements());
  std::vector<double> result;
  if (p.block() != nullptr) {
    tensor_entry entry;
    for (const weights::format_facts& f : weights::weight_formats())
      if (f.name == p.block()->name) entry.format = f.format;
    entry.elements = p.elements();
    entry.bytes = std::as_bytes(std::span(bytes));
    std::vector<float> values(count);
    read_values(entry, values);
    return {values.begin(), values.end()};
  }
  for (u64 i = 0; i < count; ++i) {
    const std::string& work = p.what->work;
    const u32 pair = bytes[work == "fp8" ? i : i / 2], even = pair & 15u, odd = pair >> 4;
    if (work == "nf4") result.push_back(nf4_number[i % 2 == 0 ? odd : even] * format_scale);
    if (work == "mx")
      result.push_back(e2m1_number[i % 2 == 0 ? even : odd] * std::ldexp(1.0, format_power - 127));
    if (work == "nv") result.push_back(e2m1_number[i % 2 == 0 ? even : odd] * format_small);
    if (work == "fp8")
      result.push_back(double{static_cast<f32>(e4m3::from_bits(static_cast<u8>(pair)))} * format_scale);
  }
  return result;
}

// The root of the mean square of the differences, relative to that of `want`; 1e30 where one is not finite.
template <class T>
double relative_error(const std::vector<double>& want, const std::vector<T>& got) {
  double difference = 0, all = 0;
  for (std::size_t i = 0; i < want.size(); ++i) {
    const double d = want[i] - static_cast<f32>(got[i]);
    difference += d * d;
    all += want[i] * want[i];
  }
  return std::isfinite(difference) ? std::sqrt(difference / all) : 1e30;
}

}  // namespace kaio::bench
