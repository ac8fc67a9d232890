#pragma once
// Philox-4x32-10: random words that are a function of a key and a counter.
//
// Source: Salmon et al., "Parallel Random Numbers: As Easy as 1, 2, 3", 2011.

#include <kaio/dsl/dsl.hpp>

namespace kaio::ops {

// Words 0 (low) and 1 (high) of the block of key `seed` and counter (offset, 0), both low word first.
constexpr val<u64> philox_of(thread t, const val<u64>& seed, const val<u64>& offset) {
  auto key = array_of<2>([&](u32 i) { return var(t, cast<u32>(seed >> (32 * i))); });
  auto counter = array_of<4>([&](u32) { return var(t, 0u); });
  for (u32 i = 0; i < 2; ++i) counter[i] = cast<u32>(offset >> (32 * i));
  for ([[maybe_unused]] auto round : t.range(0u, 10u).no_unroll()) {
    const val first = t.let(mul_wide(counter[0], 0xd2511f53u));
    const val second = t.let(mul_wide(counter[2], 0xcd9e8d57u));
    counter[0] = cast<u32>(second >> 32) ^ counter[1] ^ key[0];
    counter[1] = cast<u32>(second);
    counter[2] = cast<u32>(first >> 32) ^ counter[3] ^ key[1];
    counter[3] = cast<u32>(first);
    key[0] += 0x9e3779b9u;
    key[1] += 0xbb67ae85u;
  }
  return t.let(cast<u64>(counter[1]) << 32 | cast<u64>(counter[0]));
}

}  // namespace kaio::ops
