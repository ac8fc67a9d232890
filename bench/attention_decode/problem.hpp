#pragma once
// A problem of the attention_decode benchmark: its extents, where its keys are, its text form, and random
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

//   contiguous    a cache of (batches, keys, heads, size), all sequences of the same length
//   pages_16      pages of 16 keys, in any order
//   pages_1       pages of one key
//   lengths       contiguous, lengths from 1 to all
//   four          contiguous, four queries, causal
//   append        pages_16; the last key is new: the call rotates it and the queries, and appends it
//   apart         append by three calls: append_kv, rotary, attention_decode
//   latent        pages_16, values are the first 512 elements of the keys (MLA): D from 257 to 576
enum class decode_work { contiguous, pages_16, pages_1, lengths, four, append, apart, latent };
inline constexpr std::array<std::string_view, 8> decode_work_names{
    "contiguous", "pages_16", "pages_1", "lengths", "four", "append", "apart", "latent"};
inline constexpr u32 random_works = 5;  // the first ones

struct decode_problem {
  u32 batches = 1, keys = 0, heads = 1, key_heads = 1, size = 128;
  decode_work what = decode_work::contiguous;

  u32 queries() const { return what == decode_work::four ? 4 : 1; }
  u32 page() const {
    return what == decode_work::pages_1 ? 1 : what == decode_work::pages_16 || is_late() ? 16 : keys;
  }
  bool is_late() const { return appends() || is_latent(); }
  bool appends() const { return what == decode_work::append || what == decode_work::apart; }
  bool is_latent() const { return what == decode_work::latent; }
  u32 v_size() const { return is_latent() ? std::min(size, 512u) : size; }
  u32 pages() const { return (keys + page() - 1) / page(); }  // of a sequence
  bool is_paged() const { return what == decode_work::pages_16 || what == decode_work::pages_1 || is_late(); }
  // Keys of each sequence; peers.py draws the same lengths.
  std::vector<u32> lengths() const {
    std::vector<u32> result(batches, keys);
    u32 state = 1;
    if (what == decode_work::lengths)
      for (u32& one : result) {
        state = state * 1664525u + 1013904223u;
        one = 1 + static_cast<u32>(u64{state} * keys >> 32);
      }
    return result;
  }
  // Bytes of the attended K and V, of Q and of O.
  double bytes(double of_element, double of_cached) const {
    double rows = 0;
    for (const u32 one : lengths()) rows += one;
    const double of_row = is_latent() ? size : 2.0 * size;
    return of_cached * of_row * rows * key_heads +
           of_element * (size + v_size()) * batches * queries() * heads;
  }
  std::string shape() const {
    return std::to_string(batches) + "x" + std::to_string(keys) + "x" + std::to_string(heads) + "x" +
           std::to_string(key_heads) + "x" + std::to_string(size);
  }
  std::string work_name() const { return std::string(decode_work_names[static_cast<std::size_t>(what)]); }
};

inline std::optional<decode_work> decode_work_of(std::string_view name) {
  const auto found = std::find(decode_work_names.begin(), decode_work_names.end(), name);
  if (found == decode_work_names.end()) return std::nullopt;
  return static_cast<decode_work>(found - decode_work_names.begin());
}
// BxSxHxHkvxD, S the keys of a sequence
inline std::optional<decode_problem> decode_problem_of(const char* shape) {
  decode_problem p;
  char rest = 0;
  if (std::sscanf(shape, "%ux%ux%ux%ux%u%c", &p.batches, &p.keys, &p.heads, &p.key_heads, &p.size, &rest) !=
      5)
    return std::nullopt;
  const bool exists = p.batches != 0 && p.keys != 0 && p.key_heads != 0 && p.size != 0;
  if (!exists || p.heads % p.key_heads != 0) return std::nullopt;
  return p;
}

// 1 to 128 sequences of 64 to 65,536 keys, log-uniform; up to 8 GiB of cache.
inline std::vector<decode_problem> random_decode_problems(u32 count, u32 seed) {
  std::mt19937 engine(seed);
  const auto below = [&](u32 n) { return static_cast<u32>(engine() % n); };
  const auto log_uniform = [&](double low, double high) {
    const double share = static_cast<double>(engine()) / 4294967296.0;
    return static_cast<u32>(low * std::pow(high / low, share));
  };
  constexpr std::array<u32, 6> sizes{64, 80, 96, 128, 128, 256};
  constexpr std::array<u32, 6> groups{1, 2, 4, 4, 7, 8};
  std::vector<decode_problem> result;
  while (result.size() < count) {
    decode_problem p;
    p.batches = log_uniform(1, 129);
    p.keys = log_uniform(64, 65536);
    p.key_heads = 1 + below(8);
    p.heads = p.key_heads * groups[below(groups.size())];
    p.size = sizes[below(sizes.size())];
    p.what = static_cast<decode_work>(below(random_works));
    if (2.0 * 2.0 * p.batches * p.keys * p.key_heads * p.size < 8.6e9) result.push_back(p);
  }
  return result;
}

}  // namespace kaio::bench
