// ldmatrix, stmatrix and movmatrix: 8 x 8 matrices of 16-bit elements, one register per lane each. Lane 4 r +
// c holds elements 2 c and 2 c + 1 of row r. In memory each row is 16 bytes at its own address: lane 8 m + r
// gives the address of row r of matrix m.

#include "emulator/barrier/aligned.hpp"
#include "emulator/instructions/execute.hpp"
#include "emulator/instructions/matrix/wmma.hpp"
#include "emulator/instructions/memory/address.hpp"
#include "emulator/machine/block.hpp"
#include "emulator/machine/lanes.hpp"
#include "emulator/machine/raise_access.hpp"

#include <cstring>

namespace kaio::emulator {
namespace {

constexpr u32 extent = 8, row_bytes = 16;

struct matrix {
  u16 rows[extent][extent];
};
static_assert(sizeof(matrix) == warp_lanes * sizeof(u32));

matrix transposed(const matrix& m) {
  matrix result;
  for (u32 r = 0; r < extent; ++r)
    for (u32 c = 0; c < extent; ++c) result.rows[r][c] = m.rows[c][r];
  return result;
}

// A row of the register file holds the rows of a matrix one after another.
matrix of_registers(const std::byte* row) {
  matrix m;
  std::memcpy(&m, row, sizeof m);
  return m;
}

// Locates the rows of all matrices; a generic address must be in the block's own shared memory.
void locate_rows(warp& w, const instruction& i, access_kind access, std::byte* (&at)[warp_lanes]) {
  const u32 lanes = i.count == 4 ? all_lanes : (1u << i.count * extent) - 1;
  locate(w, i, lanes, row_bytes, access, at);
  if (i.space == state_space::shared) return;
  const std::byte* const shared = w.owner->shared.data();
  for_lanes(lanes, [&](unsigned lane) {
    if (at[lane] >= shared && at[lane] < shared + w.owner->shared.size()) return;
    const u64 address = get<u64>(w.file + i.from[0], lane) + static_cast<u64>(i.immediate);
    raise_access(w, i, lane, access, state_space::shared, address, row_bytes);
  });
}

void load(warp& w, const instruction& i, u32 lanes) {
  if (!assemble(w, i, lanes)) return;
  std::byte* at[warp_lanes];
  locate_rows(w, i, access_kind::read, at);
  for (u32 m = 0; m < i.count; ++m) {
    matrix to;
    for (u32 r = 0; r < extent; ++r) std::memcpy(to.rows[r], at[m * extent + r], row_bytes);
    if (i.form != 0) to = transposed(to);
    std::memcpy(w.file + i.to[m], &to, sizeof to);
  }
}

void store(warp& w, const instruction& i, u32 lanes) {
  if (!assemble(w, i, lanes)) return;
  std::byte* at[warp_lanes];
  locate_rows(w, i, access_kind::write, at);
  for (u32 m = 0; m < i.count; ++m) {
    matrix from = of_registers(w.file + i.to[m]);
    if (i.form != 0) from = transposed(from);
    for (u32 r = 0; r < extent; ++r) std::memcpy(at[m * extent + r], from.rows[r], row_bytes);
  }
  ++w.owner->changes;
}

void move(warp& w, const instruction& i, u32 lanes) {
  if (!assemble(w, i, lanes)) return;
  const matrix result = transposed(of_registers(w.file + i.from[0]));
  std::memcpy(w.file + i.to[0], &result, sizeof result);
}

}  // namespace

handler matrix_handler(const instruction& i) {
  switch (i.op) {
    case operation::ldmatrix: return &load;
    case operation::stmatrix: return &store;
    case operation::movmatrix: return &move;
    default: return wmma_handler(i);
  }
}

}  // namespace kaio::emulator
