// The layouts of tiles and fragments keep their promises. Each byte is used once, and pieces of 16 bytes stay
// whole. Rows and columns meet the banks as documented. Swizzles are those of the emulator's tensor copies.
// Fragments hold each element where the PTX ISA places it.

#include "catch.hpp"
#include "emulator/instructions/async/tensor_box.hpp"
#include "tests/emulator/matrix/mma_fragments.hpp"

#include <kaio/dsl/tile/fragment_layout.hpp>
#include <kaio/dsl/tile/layout.hpp>

#include <algorithm>
#include <array>
#include <cstdint>
#include <set>
#include <type_traits>
#include <vector>

using namespace kaio;
using std::uint32_t;

namespace {

struct alignas(16) sixteen_bytes {
  std::uint64_t halves[2];
};

template <class Test, class... Layout>
void each(const Test& test) {
  (test(Layout{}), ...);
}

// Tiles of one to many panels, of all element sizes, square and not.
template <class Test>
void each_tile(const Test& test) {
  each<Test, tile_layout<std::uint8_t, 16, 32, row_major>, tile_layout<std::uint16_t, 128, 64, row_major>,
       tile_layout<float, 7, 5, row_major>, tile_layout<std::uint16_t, 24, 40, column_major>,
       tile_layout<double, 5, 3, column_major>, tile_layout<std::uint16_t, 64, 64, padded<8>>,
       tile_layout<float, 32, 32, padded<1>>, tile_layout<std::uint8_t, 64, 64, padded<16>>,
       tile_layout<std::uint16_t, 128, 64, swizzled<128>>, tile_layout<std::uint16_t, 64, 256, swizzled<128>>,
       tile_layout<std::uint8_t, 64, 128, swizzled<128>>, tile_layout<std::uint8_t, 8, 384, swizzled<128>>,
       tile_layout<float, 32, 32, swizzled<128>>, tile_layout<float, 24, 96, swizzled<128>>,
       tile_layout<double, 16, 32, swizzled<128>>, tile_layout<sixteen_bytes, 16, 16, swizzled<128>>,
       tile_layout<std::uint16_t, 3, 64, swizzled<128>>, tile_layout<std::uint16_t, 64, 32, swizzled<64>>,
       tile_layout<std::uint16_t, 40, 96, swizzled<64>>, tile_layout<std::uint8_t, 64, 64, swizzled<64>>,
       tile_layout<float, 16, 48, swizzled<64>>, tile_layout<std::uint16_t, 64, 16, swizzled<32>>,
       tile_layout<std::uint16_t, 16, 80, swizzled<32>>, tile_layout<std::uint8_t, 24, 64, swizzled<32>>,
       tile_layout<float, 32, 8, swizzled<32>>>(test);
}

// The wavefronts of one access: the largest number of different 4-byte words that it asks of one bank.
uint32_t wavefronts(const std::vector<uint32_t>& words) {
  std::array<std::set<uint32_t>, 32> asked;
  uint32_t most = 0;
  for (const uint32_t word : words) {
    asked[word % 32].insert(word);
    most = std::max(most, static_cast<uint32_t>(asked[word % 32].size()));
  }
  return most;
}

// One 8 x 8 matrix of ldmatrix: 16 bytes from each of eight rows.
template <class Tile>
uint32_t matrix_wavefronts(uint32_t first_row, uint32_t first_column) {
  std::vector<uint32_t> words;
  for (uint32_t r = 0; r < 8; ++r)
    for (uint32_t w = 0; w < 4; ++w) words.push_back(Tile::offset_bytes(first_row + r, first_column) / 4 + w);
  return wavefronts(words);
}

// A lane for each row, all at one column.
template <class Tile>
uint32_t column_wavefronts(uint32_t rows, uint32_t column) {
  std::vector<uint32_t> words;
  for (uint32_t r = 0; r < rows; ++r) words.push_back(Tile::offset_bytes(r, column) / 4);
  return wavefronts(words);
}

}  // namespace

TEST_CASE("every byte of a tile belongs to at most one element, and to one where nothing is padded") {
  each_tile([](auto tile) {
    using layout = decltype(tile);
    std::vector<int> owners(layout::bytes);
    for (uint32_t r = 0; r < layout::rows; ++r)
      for (uint32_t c = 0; c < layout::columns; ++c) {
        const uint32_t at = layout::offset_bytes(r, c);
        REQUIRE(at + layout::element_bytes <= layout::bytes);
        REQUIRE(at % layout::element_bytes == 0);
        for (uint32_t b = 0; b < layout::element_bytes; ++b) ++owners[at + b];
      }
    const auto used = static_cast<uint32_t>(std::count(owners.begin(), owners.end(), 1));
    const auto unused = static_cast<uint32_t>(std::count(owners.begin(), owners.end(), 0));
    CHECK(used + unused == layout::bytes);
    CHECK(used == layout::rows * layout::columns * layout::element_bytes);
    CHECK(unused == layout::rows * layout::facts::padding * layout::element_bytes);
  });
}

TEST_CASE("a tile is aligned for its layout, and each of its panels is") {
  each_tile([](auto tile) {
    using layout = decltype(tile);
    CHECK(layout::alignment == (layout::is_swizzled ? 8 * layout::swizzle : 128));
    if (layout::panels > 1) CHECK(layout::panel_bytes % layout::alignment == 0);
    CHECK(layout::panels * layout::panel_columns == layout::columns);
    CHECK(layout::panels * layout::panel_bytes == layout::bytes);
  });
}

TEST_CASE("a piece of 16 bytes of a row stays whole and aligned") {
  each_tile([](auto tile) {
    using layout = decltype(tile);
    constexpr uint32_t piece = 16 / layout::element_bytes;
    if (layout::by_columns || layout::pitch % 16 != 0) return;
    for (uint32_t r = 0; r < layout::rows; ++r)
      for (uint32_t c = 0; c < layout::columns; ++c) {
        const uint32_t start = layout::offset_bytes(r, c - c % piece);
        CHECK(start % 16 == 0);
        CHECK(layout::offset_bytes(r, c) == start + c % piece * layout::element_bytes);
      }
  });
}

TEST_CASE("a swizzled tile of several panels is panels side by side") {
  each_tile([](auto tile) {
    using layout = decltype(tile);
    if constexpr (layout::is_swizzled) {
      using element = typename layout::element_type;
      using panel = tile_layout<element, layout::rows, layout::panel_columns, typename layout::layout_type>;
      STATIC_REQUIRE(panel::panels == 1);
      for (uint32_t r = 0; r < layout::rows; ++r)
        for (uint32_t c = 0; c < layout::columns; ++c)
          CHECK(layout::offset_bytes(r, c) ==
                c / panel::columns * panel::bytes + panel::offset_bytes(r, c % panel::columns));
    }
  });
}

TEST_CASE("a swizzled tile is as the emulator's tensor copies write it") {
  using emulator::tensor_swizzle;
  each_tile([](auto tile) {
    using layout = decltype(tile);
    if constexpr (layout::is_swizzled) {
      const tensor_swizzle mode = layout::swizzle == 128  ? tensor_swizzle::b128
                                  : layout::swizzle == 64 ? tensor_swizzle::b64
                                                          : tensor_swizzle::b32;
      for (uint32_t r = 0; r < layout::rows; ++r)
        for (uint32_t c = 0; c < layout::columns; ++c) {
          const uint32_t across = c * layout::element_bytes;
          const uint32_t box = across / layout::swizzle * layout::rows * layout::swizzle;
          const uint32_t plain = box + r * layout::swizzle + across % layout::swizzle;
          // At a place of shared memory that has exactly the layout's alignment.
          const uint32_t base = 7 * layout::alignment;
          CHECK(layout::offset_bytes(r, c) + base == emulator::swizzled(mode, base + plain));
        }
    }
  });
}

TEST_CASE("ldmatrix meets no bank twice in any swizzle") {
  each_tile([](auto tile) {
    using layout = decltype(tile);
    if constexpr (layout::is_swizzled) {
      for (uint32_t r = 0; r + 8 <= layout::rows; r += 8)
        for (uint32_t c = 0; c < layout::columns; c += 16 / layout::element_bytes)
          CHECK(matrix_wavefronts<layout>(r, c) == 1);
    }
  });
}

TEST_CASE("what the layouts cost where they are not swizzled is as documented") {
  CHECK(matrix_wavefronts<tile_layout<std::uint16_t, 64, 64, row_major>>(8, 16) == 8);
  CHECK(matrix_wavefronts<tile_layout<std::uint16_t, 64, 32, row_major>>(8, 16) == 4);
  CHECK(matrix_wavefronts<tile_layout<std::uint16_t, 64, 64, padded<8>>>(8, 16) == 1);
  CHECK(matrix_wavefronts<tile_layout<std::uint8_t, 64, 64, padded<16>>>(8, 16) == 1);
  CHECK(column_wavefronts<tile_layout<float, 32, 32, row_major>>(32, 5) == 32);
  CHECK(column_wavefronts<tile_layout<float, 32, 32, padded<1>>>(32, 5) == 1);
  CHECK(column_wavefronts<tile_layout<float, 32, 32, column_major>>(32, 5) == 1);
}

TEST_CASE("a column of eight rows meets each bank once, one of 32 rows as often as eight go into 32") {
  for (uint32_t c = 0; c < 32; ++c) {
    CHECK(column_wavefronts<tile_layout<float, 32, 32, swizzled<128>>>(8, c) == 1);
    CHECK(column_wavefronts<tile_layout<float, 32, 32, swizzled<128>>>(32, c) == 4);
  }
  for (uint32_t c = 0; c < 32; ++c)
    CHECK(column_wavefronts<tile_layout<std::uint16_t, 64, 32, swizzled<64>>>(8, c) == 1);
  for (uint32_t c = 0; c < 16; ++c)
    CHECK(column_wavefronts<tile_layout<std::uint16_t, 64, 16, swizzled<32>>>(8, c) == 1);
}

namespace {

// Every element of the matrix is held once, by one lane in one place; `matrix` is its index where there are
// several.
template <class Layout, class Matrix>
void check_cover(uint32_t matrices, const Matrix& matrix) {
  std::vector<int> held(matrices * Layout::rows * Layout::columns);
  for (uint32_t lane = 0; lane < Layout::lanes; ++lane)
    for (uint32_t e = 0; e < Layout::elements; ++e) {
      const matrix_place at = Layout::place(lane, e);
      REQUIRE(at.row < Layout::rows);
      REQUIRE(at.column < Layout::columns);
      ++held[(matrix(lane) * Layout::rows + at.row) * Layout::columns + at.column];
    }
  CHECK(std::all_of(held.begin(), held.end(), [](int n) { return n == 1; }));
}

template <class Layout>
void check_cover() {
  check_cover<Layout>(1, [](uint32_t) { return 0u; });
}

template <class Layout>
void check_part(const mma_fragments::part& part) {
  check_cover<Layout>();
  REQUIRE(Layout::elements == part.count);
  for (uint32_t lane = 0; lane < 32; ++lane)
    for (uint32_t e = 0; e < Layout::elements; ++e) {
      const mma_fragments::place expected = part.at(lane, e);
      CHECK(Layout::place(lane, e) == matrix_place{expected.row, expected.column});
    }
}

template <uint32_t M, uint32_t K, uint32_t Bits>
void check_mma() {
  check_part<mma_a_layout<M, K, Bits>>(mma_fragments::a_of(M, K, Bits));
  check_part<mma_b_layout<K, Bits>>(mma_fragments::b_of(K, Bits));
  check_part<mma_accumulator_layout<M, Bits == 64 ? 64 : 32>>(mma_fragments::c_of(M));
}

}  // namespace

TEST_CASE("fragments of mma.sync hold the elements that the PTX ISA names") {
  check_mma<16, 8, 16>();
  check_mma<16, 16, 16>();
  check_mma<16, 4, 32>();
  check_mma<16, 8, 32>();
  check_mma<8, 16, 8>();
  check_mma<16, 16, 8>();
  check_mma<16, 32, 8>();
  check_mma<8, 32, 4>();
  check_mma<16, 32, 4>();
  check_mma<16, 64, 4>();
  check_mma<8, 128, 1>();
  check_mma<16, 128, 1>();
  check_mma<16, 256, 1>();
  check_mma<8, 4, 64>();
  check_mma<16, 4, 64>();
  check_mma<16, 8, 64>();
  check_mma<16, 16, 64>();
  STATIC_REQUIRE(mma_a_layout<16, 16, 16>::registers == 4);
  STATIC_REQUIRE(mma_b_layout<16, 16>::registers == 2);
  STATIC_REQUIRE(mma_a_layout<16, 32, 8>::registers == 4);
  STATIC_REQUIRE(mma_accumulator_layout<16, 16>::registers == 2);
  STATIC_REQUIRE(mma_a_layout<16, 16, 64>::registers == 8);
}

TEST_CASE("fragments of mma.m8n8k4 hold the elements that the PTX ISA names, for each of four products") {
  const auto check = [](auto layout, const auto& expected) {
    using L = decltype(layout);
    check_cover<L>(4, mma_fragments::computation);
    for (uint32_t lane = 0; lane < 32; ++lane)
      for (uint32_t e = 0; e < L::elements; ++e) {
        const mma_fragments::place at = expected(lane, e);
        CHECK(L::place(lane, e) == matrix_place{at.row, at.column});
      }
  };
  using namespace mma_fragments;
  check(mma_m8n8k4_a_layout<false>{}, [](uint32_t l, uint32_t e) { return quad_a(l, e, true); });
  check(mma_m8n8k4_a_layout<true>{}, [](uint32_t l, uint32_t e) { return quad_a(l, e, false); });
  check(mma_m8n8k4_b_layout<false>{}, [](uint32_t l, uint32_t e) { return quad_b(l, e, true); });
  check(mma_m8n8k4_b_layout<true>{}, [](uint32_t l, uint32_t e) { return quad_b(l, e, false); });
  check(mma_m8n8k4_accumulator_layout<16>{}, [](uint32_t l, uint32_t e) { return quad_c(l, e, true); });
  check(mma_m8n8k4_accumulator_layout<32>{}, [](uint32_t l, uint32_t e) { return quad_c(l, e, false); });
}

namespace {

template <class Layout>
void check_wgmma_accumulator() {
  check_cover<Layout>();
  for (uint32_t thread = 0; thread < 128; ++thread)
    for (uint32_t i = 0; i < Layout::elements; ++i)
      CHECK(Layout::place(thread, i) == matrix_place{16 * (thread / 32) + 8 * (i / 2 % 2) + thread % 32 / 4,
                                                     8 * (i / 4) + 2 * (thread % 4) + i % 2});
}

// Each warp's 16 rows have the fragment of mma.sync.
template <uint32_t Bits>
void check_wgmma_a() {
  using layout = wgmma_a_layout<Bits>;
  check_cover<layout>();
  const mma_fragments::part part = mma_fragments::a_of(16, 256 / Bits, Bits);
  REQUIRE(layout::elements == part.count);
  CHECK(layout::registers == 4);
  for (uint32_t thread = 0; thread < 128; ++thread)
    for (uint32_t i = 0; i < layout::elements; ++i) {
      const mma_fragments::place at = part.at(thread % 32, i);
      CHECK(layout::place(thread, i) == matrix_place{thread / 32 * 16 + at.row, at.column});
    }
}

}  // namespace

TEST_CASE("fragments of wgmma hold the elements that the PTX ISA names") {
  check_wgmma_accumulator<wgmma_accumulator_layout<8>>();
  check_wgmma_accumulator<wgmma_accumulator_layout<24>>();
  check_wgmma_accumulator<wgmma_accumulator_layout<128, 16>>();
  check_wgmma_accumulator<wgmma_accumulator_layout<256>>();
  STATIC_REQUIRE(wgmma_accumulator_layout<256>::registers == 128);
  STATIC_REQUIRE(wgmma_accumulator_layout<256, 16>::registers == 64);
  check_wgmma_a<16>();
  check_wgmma_a<8>();
  check_wgmma_a<32>();
}

TEST_CASE("a register of ldmatrix holds two neighbours of a row, or of a column") {
  check_cover<matrix_layout<false>>();
  check_cover<matrix_layout<true>>();
  for (uint32_t lane = 0; lane < 32; ++lane)
    for (uint32_t e = 0; e < 2; ++e) {
      CHECK(matrix_layout<false>::place(lane, e) == matrix_place{lane / 4, lane % 4 * 2 + e});
      CHECK(matrix_layout<true>::place(lane, e) == matrix_place{lane % 4 * 2 + e, lane / 4});
    }
}
