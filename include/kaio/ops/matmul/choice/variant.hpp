#pragma once
// One kernel that matmul may run, as data: what it computes, its tile shape, and the function that launches
// it. Which of them can run a call, and how long it takes there, follows from the data alone, by family.

#include <kaio/ops/matmul/call/call.hpp>
#include <kaio/ptx/kernel_image.hpp>
#include <kaio/runtime/properties.hpp>
#include <kaio/runtime/stream.hpp>

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace kaio::ops {

enum class matmul_family : std::uint8_t {
  sm90,        // persistent, tensor copies and wgmma
  sm90_split,  // the blocks of a cluster share a tile
  mma_sync,    // tensor cores by warps, from sm_70 on
  simt,        // multiply-adds
};

struct matmul_variant {
  const ptx::kernel_image* image = nullptr;
  void (*run)(const stream&, const matmul_call&, const matmul_variant&) = nullptr;
  matmul_family family = matmul_family::simt;
  matmul_type operand = matmul_type::f32, output = matmul_type::f32;
  matmul_precision precision = matmul_precision::ieee;
  line_direction a = line_direction::along_k, b = line_direction::along_k;
  bool general = true;                // the epilogue is `general`, else alpha alone
  bool adds_tile_terms = false;       // or what tile_terms can say
  bool across = false;                // the tile is one of C^T: m counts columns of C, n rows
  std::uint32_t m = 0, n = 0, k = 0;  // of the tile of a block, and of a step along K, in elements
  std::uint32_t stages = 1;
  std::uint32_t cluster_m = 1, cluster_n = 1;  // blocks that share what they load
  std::uint32_t cluster_splits = 1;            // blocks of a cluster that share a tile
  bool cluster_by_launch = false;              // the launch says how many, not the kernel
  std::uint32_t splits = 1;    // of K, each with sums in the workspace that a second kernel adds up
  std::uint32_t resident = 1;  // blocks on a multiprocessor at once
  std::uint32_t a_alignment = 1, b_alignment = 1;  // bytes, of every line of an operand
  std::uint32_t c_alignment = 1;
  bool whole_vectors = false;   // lines of A and B are a multiple of their alignment long
  bool slow_copies = false;     // element by element
  bool halves = false;          // the tiles of a last wave that is at most half full are computed in halves
  std::uint32_t most_rows = 0;  // of C; 0: any number
  std::uint64_t most_batches = 0;  // 0: any number
  // As they were measured; detail::take_fitted_costs gives them.
  double start_clocks = 0;  // of a block until its first multiplication
  double rate = 1;          // of the device's operations in a clock, the share that the kernel reaches
  double step_clocks = 0;   // of a step along K, what only other blocks of the multiprocessor hide

  // The kernel's name, and the number of splits of K where the kernel does not say it.
  std::string name() const;
  std::uint64_t workspace_bytes(const matmul_call& call) const {
    return splits == 1 ? 0 : call.m * call.n * call.batches * splits * sizeof(f32);
  }
};

// Rows and columns of C in a tile.
constexpr std::uint32_t tile_rows(const matmul_variant& v) { return v.across ? v.n : v.m; }
constexpr std::uint32_t tile_columns(const matmul_variant& v) { return v.across ? v.m : v.n; }
constexpr std::uint64_t quotient_up(std::uint64_t x, std::uint64_t by) {
  return x / by + (x % by != 0 ? 1 : 0);
}

// The images of all kernels that the library's matmul, its gradients and its tuning may launch: to list them,
// and to load them ahead with device::warmup.
std::vector<const ptx::kernel_image*> matmul_kernels();

namespace detail {
// Gives a variant what was measured of kernels of its configuration, or of its family where none was.
void take_fitted_costs(matmul_variant& v);
// The place of the variant that a call takes among some: the least cost of those that accept it. Throws
// unsupported_device where none does.
std::size_t choose_among(std::string_view operation, const matmul_call& call,
                         std::span<const matmul_variant> variants, const device_properties& device);
}  // namespace detail

}  // namespace kaio::ops
