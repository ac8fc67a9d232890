#pragma once
// Measures every kernel that can run a call, and remembers the fastest for this shape: for this process, and
// in a file for the next one. Calls of the same shape, layout and types take it from then on.
//
//   tune_report r = tune(gpu, a, b, c, {.activation = matmul_activation::silu});
//   std::cout << r.variant << ": " << r.seconds * 1e6 << " us, was " << r.seconds_before * 1e6 << '\n';
//   matmul(gpu.stream(), a, b, c, {.activation = matmul_activation::silu});    // runs r.variant
//
// The views say shape, strides and types alone: measuring takes memory of its own, filled with random
// numbers, and never touches the caller's. Kernels differ in the order in which they add up a sum, so a
// result may differ in its last bits between variants; each of them keeps the error bounds of the operation,
// and repeats its bits.
//
// Files are in $XDG_CACHE_HOME/kaio/tune (or ~/.cache/kaio/tune), which must belong to the user and be
// writable by no other; each is written anew and renamed, and carries checksums. A file that is damaged,
// foreign or of another device, driver or version is a miss, never an error; where it cannot be written, the
// results hold for this process alone. Programs with elevated rights use no files. Threads may tune, forget and call
// operations at once.

#include <kaio/ops/matmul.hpp>
#include <kaio/runtime/device.hpp>

#include <cstdint>
#include <string>
#include <vector>

namespace kaio::ops {

struct tune_options {
  std::uint32_t repetitions = 20;  // of each variant; the median counts
  bool remember = true;            // false: measure only
  bool use_files = true;           // false: for this process alone
};

struct tune_entry {
  std::string variant;
  double seconds = 0;  // median
};
struct tune_report {
  std::string variant;  // the fastest
  double seconds = 0;
  std::string variant_before;  // the one that calls took until now
  double seconds_before = 0;
  bool saved = false;               // in a file
  std::vector<tune_entry> entries;  // all that were measured, the fastest first
};

// Waits for the device. Throws what the call would, and out_of_memory.
tune_report tune(const device& gpu, const matmul_view& a, const matmul_view& b, const matmul_view& c,
                 const matmul_options& options = {}, const tune_options& how = {});

// Forgets the results of this process and reads the files again when they are needed.
void forget_tuning() noexcept;
// The folder of the files; empty where there is none that may be used.
std::string tuning_folder();

}  // namespace kaio::ops

namespace kaio {
using ops::tune;
}  // namespace kaio
