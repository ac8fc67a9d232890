#pragma once
// The kernel that a call runs: what every <operation>_choice returns.

#include <kaio/ptx/standard.hpp>

#include <cstdint>
#include <string_view>

namespace kaio::ops {

struct kernel_choice {
  // A value for options.variant, which lives as long as the library; empty: the call has nothing to do.
  std::string_view name;
  std::uint32_t splits = 1;  // of K, or of the keys of attention_decode
  // The splits of a tile are the blocks of a cluster; else a second kernel adds them up.
  bool in_cluster = false;
};

}  // namespace kaio::ops
