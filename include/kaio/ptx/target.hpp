#pragma once
// The demands of a PTX program on the machine: the `.target` (an SM architecture), the `.version` (PTX ISA),
// and the resources of a block. A program computes them from its instructions; the runtime compares them with
// a device before anything is loaded.

#include <kaio/ptx/standard.hpp>

#include <cstdint>

namespace kaio::ptx {

// `.target sm_90` is {90, false}. `.target sm_90a` is {90, true}: it runs on that architecture alone.
struct target {
  std::uint16_t sm = 70;
  bool arch_specific = false;
  friend constexpr bool operator==(target, target) = default;
};

// `.version 6.0` is {6, 0}.
struct isa_version {
  std::uint8_t major = 6;
  std::uint8_t minor = 0;
  friend constexpr bool operator==(isa_version, isa_version) = default;
  friend constexpr bool operator<(isa_version a, isa_version b) {
    return a.major != b.major ? a.major < b.major : a.minor < b.minor;
  }
};

// The oldest architecture that kaio emits code for.
inline constexpr target oldest_target{70, false};

// An extent or a coordinate of a grid or a block, as the driver counts them.
struct dim3 {
  std::uint32_t x = 1, y = 1, z = 1;
  friend constexpr bool operator==(const dim3&, const dim3&) = default;
  constexpr std::uint64_t count() const { return std::uint64_t{x} * y * z; }
};

struct needs {
  ptx::target target;              // the least SM; exactly this one if arch_specific
  isa_version version;             // the lowest sufficient `.version`
  std::uint32_t shared_bytes = 0;  // static shared memory of a block
  std::uint32_t max_threads = 0;   // threads of a block, `.maxntid`
  std::uint32_t instructions = 0;
  std::uint32_t dynamic_shared_bytes = 0;  // dynamic shared memory that every launch asks for
  bool cooperative = false;                // all blocks of the grid must be resident at once (grid barrier)
  bool prints = false;                     // calls vprintf
  bool asserts = false;                    // calls __assertfail
  bool waits_for_grids = false;            // executes griddepcontrol.wait: may be launched programmatically
  dim3 cluster = {0, 0, 0};  // blocks of a cluster if the kernel fixes them: the grid is in whole ones
  friend constexpr bool operator==(const needs&, const needs&) = default;
};

}  // namespace kaio::ptx
