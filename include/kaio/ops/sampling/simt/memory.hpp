#pragma once
// Shared memory of a block of sample.

#include <kaio/dsl/dsl.hpp>
#include <kaio/ops/sampling/common/problem.hpp>

namespace kaio::ops {

inline constexpr u32 sample_candidates = sample_threads;  // that the first block holds
inline constexpr u32 sample_bins = 2048;
inline constexpr u32 sample_shared_bytes = 4 * sample_bins * sizeof(u32);  // of `bins`, two words each

enum class sample_word : u32 { candidates, invalid, first, done, bin, entry, quota, token };
enum class sample_mass : u32 { all, rest, above };
constexpr u32 index_of(sample_word of) { return static_cast<u32>(of); }

struct sample_memory {
  dynamic_shared<u64> pool;                          // candidates of the first block
  dynamic_shared<u32> bins;                          // the same memory: two histograms
  shared<f32, sample_threads> largest;               // of groups of lanes
  shared<u64, sample_blocks * sample_warps> masses;  // in the first block: of each warp's part
  shared<u32, sample_blocks * sample_warps> ties;    // as masses: logits that are the threshold
  shared<u64, 4> sums;
  shared<u32, 8> words;

  constexpr explicit sample_memory(thread t)
      : pool(t), bins(t), largest(t), masses(t), ties(t), sums(t), words(t) {}
  constexpr auto word(sample_word of) const { return words[index_of(of)]; }
  constexpr auto sum(sample_mass of) const { return sums[static_cast<u32>(of)]; }
};

}  // namespace kaio::ops
