#pragma once
// The order in which warps run, and blocks that take turns. If a kernel's result depends on it, the kernel
// has a race or is documented to depend on it. So each order is repeatable, and there are several to try.
//
//   schedule s = schedule::parse("random:42");

#include "emulator/program/scalar.hpp"

#include <optional>
#include <string_view>

namespace kaio::emulator {

enum class schedule_kind : u8 {
  round_robin,  // by index, long turns
  reverse,      // by falling index
  starve,       // the warp and the block with number `seed` run seldom while others can
  random,       // any order, any length of turn; also the diverged lanes of a warp
};

// SplitMix64. Source: Steele, Lea, Flood, "Fast Splittable Pseudorandom Number Generators" (2014).
struct random_source {
  u64 state = 0;
  u64 next() {
    u64 z = state += 0x9e3779b97f4a7c15ull;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ull;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebull;
    return z ^ (z >> 31);
  }
  u64 below(u64 bound) { return next() % bound; }
};

struct schedule {
  schedule_kind kind = schedule_kind::round_robin;
  u64 seed = 0;

  // "round_robin", "reverse", "starve:N" or "random:N"; nothing for any other text.
  static std::optional<schedule> parse(std::string_view text);
  bool is_default() const { return kind == schedule_kind::round_robin; }
};

}  // namespace kaio::emulator
