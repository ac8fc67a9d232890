#pragma once
// The timed formats, and the bytes that a case reads and writes.

#include <kaio/kaio.hpp>
#include <kaio/ops/weight_only/formats/block_format.hpp>

#include <cstdio>
#include <optional>
#include <string>
#include <vector>

namespace kaio::bench {

// Scales of formats that keep them in tensors of their own: f32, the power of two of MXFP4, e4m3.
inline constexpr f32 format_scale = 0.03125f, format_small = 2.0f;
inline constexpr int format_power = 120;

// "Q4_K", "nf4": dequantise. "to:Q4_0": quantise_weights.
struct format_case {
  std::string work;
  double bytes;  // of codes and scales for each element
};
inline const std::vector<format_case>& format_cases() {
  static const std::vector<format_case> all = [] {
    std::vector<format_case> cases;
    for (const ops::block_facts& f : ops::block_formats)
      cases.push_back({std::string(f.name), static_cast<double>(f.bytes) / f.elements});
    cases.push_back({"nf4", 0.5 + 4 / 64.0});
    cases.push_back({"mx", 0.5 + 1 / 32.0});
    cases.push_back({"nv", 0.5 + 1 / 16.0});
    cases.push_back({"fp8", 1.0 + 4 / 16384.0});
    cases.push_back({"to:Q4_0", 18 / 32.0});
    cases.push_back({"to:Q8_0", 34 / 32.0});
    cases.push_back({"to:nf4", 0.5 + 4 / 64.0});
    cases.push_back({"to:mx", 0.5 + 1 / 32.0});
    cases.push_back({"to:nv", 0.5 + 1 / 16.0});
    cases.push_back({"to:w4", 0.5 + 2 / 128.0});
    return cases;
  }();
  return all;
}

struct format_problem {
  u32 n = 0, k = 0;
  const format_case* what = nullptr;

  std::string shape() const { return std::to_string(n) + "x" + std::to_string(k); }
  u64 elements() const { return u64{n} * k; }
  bool writes() const { return what->work.rfind("to:", 0) == 0; }
  const ops::block_facts* block() const {
    for (const ops::block_facts& f : ops::block_formats)
      if (f.name == what->work) return &f;
    return nullptr;
  }
  // Bytes read and written. NVFP4 has a scale of the whole matrix, so quantising reads the matrix twice.
  double bytes(u64 element) const {
    const double passes = what->work == "to:nv" ? 2.0 : 1.0;
    return static_cast<double>(elements()) * (what->bytes + passes * static_cast<double>(element));
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

}  // namespace kaio::bench
