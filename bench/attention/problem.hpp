#pragma once
// A problem of the attention benchmark: its extents, its mask and score, its text form, and random
// problems.

#include <kaio/kaio.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <optional>
#include <random>
#include <string>
#include <string_view>
#include <vector>

namespace kaio::bench {

//   full            every key
//   causal          keys up to the query's own
//   window          the query's own key and the 1023 before it
//   softcap         every key, scores capped at 20
//   alibi           every key, less a slope times the distance
//   causal_alibi    both
//   documents       keys of the query's document: a mask in C++, and the block mask that is made of it
//   varlen          the documents are sequences that share tensors
//   varlen_causal   varlen, causal
//   bias            every key, and a number in memory for each head, query and key, of q's element type
//   padding         keys that a mask in memory keeps: the first half or more of each batch
enum class work {
  full,
  causal,
  window,
  softcap,
  alibi,
  causal_alibi,
  documents,
  varlen,
  varlen_causal,
  bias,
  padding
};
inline constexpr std::array<std::string_view, 11> work_names{
    "full",      "causal", "window",        "softcap", "alibi",  "causal_alibi",
    "documents", "varlen", "varlen_causal", "bias",    "padding"};

struct problem {
  static constexpr u32 window = 1024;
  static constexpr f32 softcap = 20;

  u32 batches = 1, length = 0, heads = 1, key_heads = 1, size = 64;
  work what = work::full;

  bool is_causal() const {
    return what == work::causal || what == work::window || what == work::causal_alibi ||
           what == work::varlen_causal;
  }
  bool is_packed() const { return what == work::varlen || what == work::varlen_causal; }
  bool has_documents() const { return what == work::documents || is_packed(); }
  bool has_slopes() const { return what == work::alibi || what == work::causal_alibi; }
  // Keys of a batch without its padding; peers.py uses the same numbers.
  u32 kept(u32 batch) const { return length - batch * 7919u % (length / 2 + 1); }
  static f32 slope(u32 head, u32 heads) {
    return std::exp2(-8.0f * static_cast<f32>(head + 1) / static_cast<f32>(heads));
  }

  // Lengths of documents, 1 to 2047; peers.py uses the same ones. Packed: those of all batches, one after the other.
  std::vector<u32> documents() const {
    std::vector<u32> lengths;
    u32 state = 1;
    for (u64 left = u64{length} * (is_packed() ? batches : 1); left > 0; left -= lengths.back()) {
      state = state * 1664525u + 1013904223u;
      lengths.push_back(static_cast<u32>(std::min<u64>(1 + (state >> 16) % 2047, left)));
    }
    return lengths;
  }
  // Counts two operations for each multiply-add of Q K^T and P V, over the pairs of query and key that the
  // mask keeps. Causal problems count half of the square, as is usual.
  double operations() const {
    const auto square = [](double n) { return n * n; };
    double pairs = batches * square(length);
    if (has_documents()) {
      pairs = 0;
      for (const u32 n : documents()) pairs += square(n);
      if (!is_packed()) pairs *= batches;
    }
    if (is_causal()) pairs /= 2;
    if (what == work::window && length > window) pairs -= batches * square(length - window) / 2;
    return 4.0 * pairs * heads * size;
  }
  std::string shape() const {
    return std::to_string(batches) + "x" + std::to_string(length) + "x" + std::to_string(heads) + "x" +
           std::to_string(key_heads) + "x" + std::to_string(size);
  }
  std::string_view work_name() const { return work_names[static_cast<std::size_t>(what)]; }
};

inline std::optional<work> work_of(std::string_view name) {
  const auto found = std::find(work_names.begin(), work_names.end(), name);
  if (found == work_names.end()) return std::nullopt;
  return static_cast<work>(found - work_names.begin());
}
// BxSxHxHkvxD
inline std::optional<problem> problem_of(const char* shape) {
  problem p;
  char rest = 0;
  if (std::sscanf(shape, "%ux%ux%ux%ux%u%c", &p.batches, &p.length, &p.heads, &p.key_heads, &p.size, &rest) !=
      5)
    return std::nullopt;
  const bool exists = p.batches != 0 && p.length != 0 && p.key_heads != 0 && p.size != 0;
  if (!exists || p.heads % p.key_heads != 0) return std::nullopt;
  return p;
}

// Draws lengths from 64 to 16384 (log-uniform), head sizes of models, and 2,048 to 32,768 rows of all batches.
inline std::vector<problem> random_problems(u32 count, u32 seed) {
  std::mt19937 engine(seed);
  const auto below = [&](u32 n) { return static_cast<u32>(engine() % n); };
  const auto log_uniform = [&](double low, double high) {
    const double share = static_cast<double>(engine()) / 4294967296.0;
    return static_cast<u32>(low * std::pow(high / low, share));
  };
  constexpr std::array<u32, 8> sizes{64, 64, 80, 96, 128, 128, 128, 256};
  constexpr std::array<u32, 5> groups{1, 1, 2, 4, 8};
  std::vector<problem> result;
  while (result.size() < count) {
    problem p;
    p.length = log_uniform(64, 16384);
    p.batches = std::max(log_uniform(2048, 32768) / p.length, 1u);
    p.key_heads = 1 + below(8);
    p.heads = p.key_heads * groups[below(groups.size())];
    p.size = sizes[below(sizes.size())];
    p.what = below(2) == 0 ? work::full : work::causal;
    if (p.operations() < 2e12) result.push_back(p);
  }
  return result;
}

// Draws problems for the choice of a kernel: every legal head size, any number of rows, and more works.
// Packed sequences and documents have one kernel each.
inline std::vector<problem> random_choices(u32 count, u32 seed) {
  std::mt19937 engine(seed);
  const auto below = [&](u32 n) { return static_cast<u32>(engine() % n); };
  const auto log_uniform = [&](double low, double high) {
    const double share = static_cast<double>(engine()) / 4294967296.0;
    return static_cast<u32>(low * std::pow(high / low, share));
  };
  constexpr std::array<u32, 9> sizes{32, 64, 64, 80, 128, 128, 192, 256, 512};
  constexpr std::array<u32, 5> groups{1, 1, 2, 4, 8};
  constexpr std::array works{work::full,    work::full,  work::causal,       work::causal,
                             work::softcap, work::alibi, work::causal_alibi, work::window};
  std::vector<problem> result;
  while (result.size() < count) {
    problem p;
    p.length = log_uniform(8, 16384);
    p.batches = std::max(log_uniform(8, 32768) / p.length, 1u);
    p.key_heads = 1 + below(8);
    p.heads = p.key_heads * groups[below(groups.size())];
    p.size = sizes[below(sizes.size())];
    p.what = works[below(works.size())];
    if (p.operations() < 5e11) result.push_back(p);
  }
  return result;
}

}  // namespace kaio::bench
