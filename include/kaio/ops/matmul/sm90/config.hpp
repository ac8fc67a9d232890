#pragma once
// The shape of a matmul kernel for sm_90a: the tile of a block, the ring of stages that feeds it, and the
// cluster whose blocks share their loads. Everything that depends on it is a constant of the kernel.
//
//   constexpr sm90_config large{.m = 128, .n = 256, .stages = 4, .cluster_m = 2};
//   static_assert(large.threads() == 288);

#include <kaio/dsl/dsl.hpp>
#include <kaio/dsl/mma/wgmma.hpp>

#include <cstdint>
#include <type_traits>

namespace kaio::ops {

using dsl::major;
using dsl::scalar;

// The letters of BLAS: n for an operand as it is (row by row), t for a transposed one.
template <major A, major B>
inline constexpr auto layout_name = (A == major::k ? fixed_string("n") : fixed_string("t")) +
                                    (B == major::k ? fixed_string("t") : fixed_string("n"));
// The letters of a configuration, with an x for an operand whose direction the launch gives.
template <auto C>
inline constexpr auto layout_name_of = [] {
  constexpr auto letter = [](bool by_launch, bool is_n) {
    return by_launch ? fixed_string("x") : is_n ? fixed_string("n") : fixed_string("t");
  };
  return letter(C.a_by_launch, C.a == major::k) + letter(C.b_by_launch, C.b == major::mn);
}();

// The type that an operand's elements are multiplied as, for the names of kernels.
template <scalar T>
inline constexpr auto sm90_operand_name = type_name<T>;
template <>
inline constexpr auto sm90_operand_name<f32> = fixed_string("tf32");
// The type in a configuration's name.
template <auto C, scalar T>
inline constexpr auto sm90_operand_name_of = [] {
  if constexpr (C.type_by_launch)
    return fixed_string(sizeof(T) == 2 ? "half" : "f8xx");
  else
    return sm90_operand_name<T>;
}();
// The two types of one size that a kernel may serve: f16 and bf16, or e4m3 and e5m2.
template <scalar T>
using sm90_first_type = std::conditional_t<sizeof(T) == 2, f16, e4m3>;
template <scalar T>
using sm90_second_type = std::conditional_t<sizeof(T) == 2, bf16, e5m2>;
// The type that a kernel is compiled for.
template <auto C, scalar T>
using sm90_element = std::conditional_t<C.type_by_launch, sm90_first_type<T>, T>;

// Blocks of a cluster: those along M share their tiles of B, those along N their tiles of A.
struct sm90_cluster {
  std::uint32_t m = 1, n = 1;
  std::uint32_t columns = 0;  // of a tile; 0: those of the configuration
  constexpr std::uint32_t blocks() const { return m * n; }
  friend constexpr bool operator==(const sm90_cluster&, const sm90_cluster&) = default;
};

struct sm90_config {
  std::uint32_t m = 128;     // rows of C per block: 64 for each consumer warpgroup
  std::uint32_t n = 256;     // columns of C per block
  std::uint32_t stages = 4;  // tiles of A and B in flight
  std::uint32_t depth = 1;   // steps of 128 bytes along K per stage
  // See sm90_cluster. 0: the launch chooses 1 x 1 or 2 x 1, and with two consumers also 1 x 2 or 2 x 2, with
  // M along x.
  std::uint32_t cluster_m = 1, cluster_n = 1;
  bool planes = false;                    // clusters have planes along z, whose blocks share nothing
  std::uint32_t widths = 1;               // the launch chooses the columns of a tile: n, n - 32, ...
  std::uint32_t min_blocks = 1;           // per multiprocessor: one loads and stores while another multiplies
  std::uint32_t panels = 2;               // panels of C in flight, per warp
  bool whole_producer = false;            // a warpgroup, which leaves most of its registers to the consumers
  bool transposed = false;                // A and B are exchanged, and the tile is one of C^T
  bool loads_a = false, loads_b = false;  // operands of f32 that are loaded word by word, see word_loads.hpp
  major a = major::k;                     // directions of the operands in memory
  major b = major::k;
  // The launch gives the direction of lines (of 16-bit elements and of words), so that one kernel serves
  // both. By type_by_launch it also chooses between two types of one size; the kernel's own types name the
  // first.
  bool a_by_launch = false, b_by_launch = false, type_by_launch = false;

  static constexpr std::uint32_t row_bytes = 128;  // bytes of a swizzled row, K of one step
  static constexpr std::uint32_t warpgroup_rows = 64;

  constexpr std::uint32_t consumers() const { return m / warpgroup_rows; }
  // The consumer warpgroups, and after them one or four producer warps.
  constexpr std::uint32_t threads() const { return 128 * consumers() + (whole_producer ? 128 : 32); }
  constexpr bool by_launch() const { return cluster_m == 0; }
  constexpr std::uint32_t width(std::uint32_t i) const { return n - 32 * i; }
  constexpr sm90_cluster cluster() const { return {cluster_m, cluster_n}; }
  constexpr std::uint32_t most_cluster_m() const { return by_launch() ? 2 : cluster_m; }
  constexpr std::uint32_t most_cluster_n() const { return by_launch() ? consumers() : cluster_n; }
  constexpr bool has_cluster() const { return most_cluster_m() * cluster_n != 1; }
  // The blocks that the kernel fixes; 0: none.
  constexpr std::uint32_t cluster_blocks() const { return cluster_m * cluster_n; }
  constexpr std::uint32_t a_bytes() const { return m * row_bytes * depth; }  // per stage
  constexpr std::uint32_t stage_bytes() const { return (m + n) * row_bytes * depth; }
  constexpr bool loads_words() const { return loads_a || loads_b; }
  // Whether a tile can be computed in halves along M.
  constexpr bool halves() const { return consumers() == 2 && cluster_n == 1 && !loads_words(); }
  // The layout of stages: operands that are loaded word by word are along K there.
  constexpr sm90_config of_stages() const {
    sm90_config result = *this;
    if (loads_a) result.a = major::k, result.a_by_launch = false;
    if (loads_b) result.b = major::k, result.b_by_launch = false;
    result.loads_a = result.loads_b = false;
    return result;
  }

  // The configuration of the kernel, without what the launch gives.
  constexpr sm90_config of_kernel() const {
    sm90_config result = *this;
    if (a_by_launch) result.a = major::k;
    if (b_by_launch) result.b = major::k;
    return result;
  }

  constexpr bool valid() const {
    return (m == 64 || m == 128) && n % 8 == 0 && n >= 8 && n <= 256 && stages >= 2 && cluster_n >= 1 &&
           (!by_launch() || cluster_n == 1) && cluster_blocks() <= 8 && m % cluster_n == 0 &&
           n % most_cluster_m() == 0;
  }
  friend constexpr bool operator==(const sm90_config&, const sm90_config&) = default;
};

}  // namespace kaio::ops
