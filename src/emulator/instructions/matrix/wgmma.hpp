#pragma once
// The wgmma instructions: the contents of one, and what a warpgroup has in flight. A warpgroup is four warps
// whose first has a number that is a multiple of 4. Each of them issues its part of a product; it is computed
// when the last of them has. Its results are kept aside until the warp waits for the group that the product
// was committed in, so that a program which does not wait, or does not commit, sees that they are missing.

#include "emulator/machine/warp.hpp"
#include "emulator/program/program.hpp"

#include <array>
#include <bit>
#include <deque>
#include <unordered_map>
#include <vector>

namespace kaio::emulator {

inline constexpr u32 warps_of_a_warpgroup = 4;
inline constexpr u32 rows_of_a_warp = 16;  // of A and D
inline constexpr u32 row_bytes_of_a = 32;  // of A in K, as it is stored: without the zeros of a sparse matrix

enum class wgmma_element : u8 { f16, bf16, tf32, e4m3, e5m2, s8_, u8_, b1, f32_, s32_ };

constexpr u32 bits_of(wgmma_element e) {
  constexpr u32 bits[] = {16, 16, 32, 8, 8, 8, 8, 1, 32, 32};
  return bits[static_cast<unsigned>(e)];
}

// Of wgmma.mma_async: what instruction::immediate holds. entry::rows has the rows of D, then those of A where
// it is in registers. from[0] and from[1] are the descriptors of A and B, from[2] is scale-d and from[3] the
// metadata of a sparse A.
struct wgmma_form {
  enum : u8 { a_registers = 1, sparse = 2, negate_a = 4, negate_b = 8, trans_a = 16, trans_b = 32 };
  u16 columns = 0;
  wgmma_element a{}, b{}, d{};
  u8 flags = 0;
  u8 selector = 0;  // of the lanes that hold the metadata
  u8 unused = 0;

  bool has(u8 flag) const { return (flags & flag) != 0; }
  u32 registers() const { return d == wgmma_element::f16 ? columns / 4u : columns / 2u; }  // of D
  u32 row_bytes_of_b() const { return has(sparse) ? 2 * row_bytes_of_a : row_bytes_of_a; }
};
static_assert(sizeof(wgmma_form) == sizeof(s64));

inline wgmma_form form_of(const instruction& i) { return std::bit_cast<wgmma_form>(i.immediate); }

struct warpgroup {
  // A register that belongs to products in flight.
  struct reservation {
    u64 group = 0;             // the last that uses it
    bool destination = false;  // of D; otherwise of A, which is read
    bool computed = false;     // `value` is what it will hold
    std::array<u32, warp_lanes> value{};
  };

  struct member {
    u64 issued = 0;  // products
    u64 group = 0;   // number of the group that the next product is in; those below are committed
    std::unordered_map<u32, reservation> registers;  // by row
  };

  // A product that some of the warps have issued.
  struct product {
    const instruction* at = nullptr;
    u64 a = 0, b = 0;                               // descriptors
    bool accumulates = false;                       // scale-d
    u32 issued = 0;                                 // bit r: by the warp of rank r
    std::array<u64, warps_of_a_warpgroup> group{};  // of each warp
  };

  std::array<member, warps_of_a_warpgroup> members;
  std::deque<product> products;  // not all warps have issued them yet
  u64 first = 0;                 // number of products.front()
};

inline u32 rank_in_warpgroup(const warp& w) { return w.index % warps_of_a_warpgroup; }

// The four warps; throws fault if the block has not all of them.
warpgroup& warpgroup_of(warp& w, const instruction& i);

// Computes a product that all four warps have issued, from the first on.
void multiply(block& b, u32 first_warp, const warpgroup::product& p);

}  // namespace kaio::emulator
