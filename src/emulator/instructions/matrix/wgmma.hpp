#pragma once
// The wgmma instructions: the contents of one, and the products that a warpgroup has in flight. A warpgroup
// is four warps; the first one's number is a multiple of 4. Each warp issues its part of a product. When the
// last warp has issued, the product is computed. Its results are withheld until the warp waits for the
// product's group. So a program that does not wait or commit sees stale values.

#include "emulator/machine/warp.hpp"
#include "emulator/program/program.hpp"

#include <array>
#include <bit>
#include <deque>
#include <unordered_map>
#include <vector>

namespace kaio::emulator {

inline constexpr u32 warps_of_a_warpgroup = 4;
inline constexpr u32 rows_of_a_warp = 16;  // in A and D
inline constexpr u32 row_bytes_of_a = 32;  // in K, as stored: without the zeros of a sparse matrix

enum class wgmma_element : u8 { f16, bf16, tf32, e4m3, e5m2, s8_, u8_, b1, f32_, s32_ };

constexpr u32 bits_of(wgmma_element e) {
  constexpr u32 bits[] = {16, 16, 32, 8, 8, 8, 8, 1, 32, 32};
  return bits[static_cast<unsigned>(e)];
}

// The contents of instruction::immediate for wgmma.mma_async. entry::rows has the rows of D, then those of A
// if it is in registers. from[0] and from[1] are the descriptors of A and B, from[2] is scale-d and from[3]
// the metadata of a sparse A.
struct wgmma_form {
  enum : u8 { a_registers = 1, sparse = 2, negate_a = 4, negate_b = 8, trans_a = 16, trans_b = 32 };
  u16 columns = 0;
  wgmma_element a{}, b{}, d{};
  u8 flags = 0;
  u8 selector = 0;  // selects the lanes that hold the metadata
  u8 unused = 0;

  bool has(u8 flag) const { return (flags & flag) != 0; }
  u32 registers() const { return d == wgmma_element::f16 ? columns / 4u : columns / 2u; }  // for D
  u32 row_bytes_of_b() const { return has(sparse) ? 2 * row_bytes_of_a : row_bytes_of_a; }
};
static_assert(sizeof(wgmma_form) == sizeof(s64));

inline wgmma_form form_of(const instruction& i) { return std::bit_cast<wgmma_form>(i.immediate); }

struct warpgroup {
  // A register that belongs to products in flight.
  struct reservation {
    u64 group = 0;             // the last group that uses it
    bool destination = false;  // belongs to D; otherwise to A, which is read
    bool computed = false;     // `value` holds its future contents
    std::array<u32, warp_lanes> value{};
  };

  struct member {
    u64 issued = 0;  // products
    u64 group = 0;   // number of the next product's group; lower ones are committed
    std::unordered_map<u32, reservation> registers;  // by row
  };

  // A product that some of the four warps have issued.
  struct product {
    const instruction* at = nullptr;
    u64 a = 0, b = 0;                               // descriptors
    bool accumulates = false;                       // scale-d
    u32 issued = 0;                                 // bit r: issued by the warp of rank r
    std::array<u64, warps_of_a_warpgroup> group{};  // per warp
  };

  std::array<member, warps_of_a_warpgroup> members;
  std::deque<product> products;  // waiting for some of the warps
  u64 first = 0;                 // number of products.front()
};

inline u32 rank_in_warpgroup(const warp& w) { return w.index % warps_of_a_warpgroup; }

// The four warps; throws fault if the block does not have all of them.
warpgroup& warpgroup_of(warp& w, const instruction& i);

// Computes a product that all four warps have issued; `first_warp` is the first of them.
void multiply(block& b, u32 first_warp, const warpgroup::product& p);

}  // namespace kaio::emulator
