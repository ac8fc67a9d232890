// The cost of the address of a tile's element. Values that the host knows cost nothing, a row's part is
// computed once, and each further column of a swizzled row is one XOR.
#include <kaio/dsl/dsl.hpp>

#include <cstddef>
using namespace kaio;

template <class K>
constexpr std::size_t times(const K& k, std::string_view part) {
  return k.ptx().count(part);
}

// Row and column of the host: the address is the tile's own.
inline constexpr auto constants = kernel<"constants", 32>([](thread t, out<f32> y) {
  shared_tile<f32, 16, 64, swizzled<128>> tile(t);
  tile[3][33] = 1.0f;
  y[0] = tile[9][0];
});
static_assert(constants.ptx().contains("st.shared.f32 [shared_0+2484]"));
static_assert(constants.ptx().contains("ld.shared.f32 %f1, [shared_0+1168]"));
static_assert(tile_layout<f32, 16, 64, swizzled<128>>::offset_bytes(3, 33) == 2484);
static_assert(tile_layout<f32, 16, 64, swizzled<128>>::offset_bytes(9, 0) == 1168);
static_assert(times(constants, "xor") == 0 && times(constants, "add.") == 0 && times(constants, "shl") == 0);

// Four places along a row, in two blocks of eight rows: the swizzle of the row once, one XOR for each column
// but the first; rows and panels are constants of the instructions.
inline constexpr auto along_a_row = kernel<"along_a_row", 32>([](thread t, out<f16> y) {
  shared_tile<f16, 32, 128, swizzled<128>> tile(t);
  val row = t.let(thread_idx_x() % 8);
  for (u32 c = 0; c < 128; c += 16) {
    tile[row][c] = 1.0f;
    tile[row + 16][c] = 1.0f;
  }
  y[0] = tile[0][0];
});
static_assert(times(along_a_row, "xor.b32") == 3);
static_assert(times(along_a_row, "st.shared") == 16 && times(along_a_row, "+6144], %rs") == 4);
static_assert(times(along_a_row, "add.u32") == 2 && times(along_a_row, "shr.u32") == 1);

// A lane is computed outside of the loop; in it, a stage costs its base, the sum, and an XOR for each column.
inline constexpr auto lanes = kernel<"lanes", 32>([](thread t, out<f16> y, val<u32> n) {
  shared_tiles<f16, 64, 64, swizzled<128>, 4> ring(t);
  const auto lane = ring.lane(t.thread_rank() % 16, t.thread_rank() / 16 * 8, 16);
  for (auto i : t.range(0u, n)) {
    const auto tile = ring[i % 4];
    for (u32 k = 0; k < 64; k += 16) {
      tile.at(lane, 0, k) = 1.0f;
      tile.at(lane, 48, k) = 1.0f;
    }
  }
  y[0] = ring[0][0][0];
});
static_assert(times(lanes, "xor.b32") == 1 + 3);
static_assert(times(lanes, "st.shared") == 8 && times(lanes, "+6144], %rs") == 4);

// A padded row is a product and a sum; the constant part is in the instruction.
inline constexpr auto padded_rows = kernel<"padded_rows", 32>([](thread t, out<f32> y) {
  shared_tile<f32, 32, 32, padded<1>> tile(t);
  val i = t.let(thread_idx_x());
  tile[i][0] = 1.0f;
  tile[i][7] = 1.0f;
  tile[i - 4][7] = 1.0f;
  y[0] = tile[0][0];
});
static_assert(times(padded_rows, "mul.lo.u32") == 1 && times(padded_rows, "add.u32") == 1);
static_assert(times(padded_rows, "+28], 0f") == 1 && times(padded_rows, "+-500], 0f") == 1);

// A tile is aligned as its swizzle asks, whatever is declared before it; one over another takes no memory.
inline constexpr auto aligned = kernel<"aligned", 32>([](thread t, out<f32> y) {
  shared<f32, 3> small(t);
  shared_tile<f32, 8, 32, swizzled<128>> tile(t);
  const auto again = shared_tile<f16, 8, 64, swizzled<128>>::over(tile);
  small[0] = 1.0f;
  again[0][0] = 1.0f;
  y[0] = tile[0][0];
});
static_assert(aligned.ptx().contains(".align 1024 .b8 shared_1[1024]"));
static_assert(aligned.needs().shared_bytes == 2048);
