#pragma once
// One kernel that matmul may run, as data: what it computes, its tile shape, and its launch function. Whether
// it can run a call, and its time there, follow from the data alone, per family.

#include <kaio/ops/matmul/call/call.hpp>
#include <kaio/ops/shared/ceil_div.hpp>
#include <kaio/ops/shared/kernel_choice.hpp>
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
  element_kind operand = element_kind::f32, output = element_kind::f32;
  matmul_precision precision = matmul_precision::ieee;
  line_direction a = line_direction::along_k, b = line_direction::along_k;
  bool general = true;                // the epilogue is `general`, else alpha alone
  bool adds_tile_terms = false;       // the epilogue is with_terms
  bool across = false;                // a tile of C^T: m counts columns of C, n rows
  std::uint32_t m = 0, n = 0, k = 0;  // a block's tile, and a step along K, in elements
  std::uint32_t stages = 1;
  std::uint32_t cluster_m = 1, cluster_n = 1;  // blocks that share what they load
  std::uint32_t cluster_splits = 1;            // blocks of a cluster that share a tile
  bool cluster_by_launch = false;              // the launch sets it, not the kernel
  std::uint32_t splits = 1;    // parts of K; a second kernel adds their sums from the workspace
  std::uint32_t resident = 1;  // blocks on a multiprocessor at once
  std::uint32_t a_alignment = 1, b_alignment = 1;  // bytes; every line begins at a multiple
  std::uint32_t c_alignment = 1;
  bool whole_vectors = false;      // line lengths of A and B are multiples of their alignment
  bool slow_copies = false;        // pieces of an element or a_alignment bytes, not 16
  bool halves = false;             // a last wave that is at most half full is computed in half tiles
  bool is_narrow = false;          // the launch gives n, fewer columns than the kernel's tile has
  std::uint32_t most_rows = 0;     // largest M; 0: no limit
  std::uint64_t most_batches = 0;  // 0: no limit
  // Measured; detail::take_fitted_costs sets them.
  double start_clocks = 0;  // from a block's start to its first multiplication
  double rate = 1;          // fraction of the device's operations per clock that the kernel reaches
  double step_clocks = 0;   // per step along K; only other resident blocks hide them

  // The kernel's name, and the number of splits of K if the kernel's name lacks it.
  std::string name() const;
  kernel_choice choice() const;
  std::uint64_t workspace_bytes(const matmul_call& call) const {
    return splits == 1 ? 0 : call.m * call.n * call.batches * splits * sizeof(f32);
  }
};

// Rows and columns of C in a tile.
constexpr std::uint32_t tile_rows(const matmul_variant& v) { return v.across ? v.n : v.m; }
constexpr std::uint32_t tile_columns(const matmul_variant& v) { return v.across ? v.m : v.n; }

// The images of all kernels that matmul, its gradients and its tuning may launch: to list them, or to load
// them early with device::warmup.
std::vector<const ptx::kernel_image*> matmul_kernels();

namespace detail {
// Sets a variant's costs to those measured for its configuration, or else for its family.
void take_fitted_costs(matmul_variant& v);
// Returns the index of the cheapest variant that accepts a call. Throws unsupported_device if none does.
std::size_t choose_among(std::string_view operation, const matmul_call& call,
                         std::span<const matmul_variant> variants, const device_properties& device);
}  // namespace detail

}  // namespace kaio::ops
