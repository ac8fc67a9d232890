#pragma once
// The arguments of kernel<Name, Block, Options>: the name of an entry, the threads of a block, and how the kernel is
// translated.

#include <kaio/dsl/trace/trace.hpp>
#include <kaio/ptx/target.hpp>

#include <cstdint>
#include <string_view>

namespace kaio::dsl {

constexpr bool is_entry_name(std::string_view name) {
  if (name.empty() || name.size() > 128 || (name[0] >= '0' && name[0] <= '9')) return false;
  for (const char c : name)
    if (!((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_'))
      return false;
  return true;
}

// Names with another meaning in the text of a kernel. PTX drops an operand `_`, and WARP_SZ is a constant. kaio calls
// two functions of the system, and names its labels L_1, L_2, ...
constexpr bool is_taken_name(std::string_view name) {
  if (name == "_" || name == "WARP_SZ" || name == "vprintf" || name == "__assertfail") return true;
  if (name.size() < 3 || name[0] != 'L' || name[1] != '_') return false;
  for (const char c : name.substr(2))
    if (c < '0' || c > '9') return false;
  return true;
}

// The threads of a block: kernel<"k", 256> or kernel<"k", block_size{32, 8}>.
struct block_size {
  std::uint32_t x, y, z;
  constexpr block_size(std::uint32_t in_x, std::uint32_t in_y = 1, std::uint32_t in_z = 1)
      : x(in_x), y(in_y), z(in_z) {}
  constexpr ptx::dim3 dimensions() const { return {x, y, z}; }
  constexpr bool valid() const {
    return x != 0 && y != 0 && z != 0 && x <= 1024 && y <= 1024 && z <= 64 && dimensions().count() <= 1024;
  }
};

// How a kernel is translated.
struct kernel_options {
  bool contract = true;                     // a*b+c in one expression is one fma
  ptx::target target = ptx::oldest_target;  // the oldest architecture that the author claims
  bool large_shared = false;                // shared arrays may take more than 48 KB together
  bool assertions = true;                   // device_assert is compiled in
  block_size cluster{0, 0, 0};              // blocks of a cluster, sm_90; by default the launch says, or none
  std::uint32_t min_blocks = 0;  // blocks that must fit on a multiprocessor at once: bounds the registers
};

// Gives a tracer the name and the options of its kernel, before the kernel runs.
constexpr void prepare(tracer& t, std::string_view name, const kernel_options& options) {
  t.contract = options.contract;
  t.target = options.target;
  t.large_shared = options.large_shared;
  t.assertions = options.assertions;
  t.cluster = options.cluster.dimensions();
  t.min_blocks = options.min_blocks;
  t.kernel_name = name;
}

}  // namespace kaio::dsl
