#pragma once
// The settings of the command line.

#include "bench/matmul/problem.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace kaio::bench {

struct settings {
  bool json = false, quick = false, peers = true, python = true, energy = false;
  double seconds = 1;
  std::size_t random = 0;  // number of problems of random_problems
  std::uint64_t seed = 1;
  std::vector<element> types;
  std::vector<problem> shapes;  // of any type
  std::optional<std::string> layout;
  fused_epilogue epilogue = fused_epilogue::none;
};

}  // namespace kaio::bench
