// An element of a tile is where its layout places it, however the kernel addresses it. Its indices are
// numbers of the host or the device; it is reached through a lane, a ring, a panel or a block of rows. A
// tensor copy puts it there too.
#include "tests/kernels/mma/tile_kernels.hpp"

#include "tests/kernels/support.hpp"

#include <cstdint>
#include <vector>

using namespace kaio;
using namespace kaio::tests;

namespace {

template <class T>
std::vector<T> numbers(std::size_t count) {
  std::vector<T> host(count);
  for (std::size_t i = 0; i < count; ++i) host[i] = static_cast<T>(static_cast<float>(i % 251 + 1));
  return host;
}

template <class T, u32 Rows, u32 Columns, class Layout>
void check_places() {
  using layout = tile_layout<T, Rows, Columns, Layout>;
  INFO((tile_places<T, Rows, Columns, Layout>.name()));
  constexpr u32 n = Rows * Columns;
  constexpr u32 cells = layout::bytes / sizeof(T);
  std::vector<T> host = numbers<T>(n + 1);
  host[n] = T{0};
  auto x = under_test().upload(host);
  auto offsets = poisoned<u32>(6 * n + 1);
  auto plain = poisoned<T>(cells), back = poisoned<T>(n);
  tile_places<T, Rows, Columns, Layout>.launch(under_test().stream(), grid(1), x, offsets, plain, back);
  const auto at = offsets.download();
  const auto memory = plain.download(), read = back.download();
  std::vector<T> expected(cells, T{0});
  for (u32 r = 0; r < Rows; ++r)
    for (u32 c = 0; c < Columns; ++c) {
      const u32 i = r * Columns + c;
      CHECK(at[i] == layout::offset_bytes(r, c));
      CHECK(at[n + i] == layout::offset_bytes((r + 5) % Rows, c));
      if (r + 8 < Rows) CHECK(at[2 * n + i] == layout::offset_bytes(r + 8, c));
      if (r + 3 < Rows) CHECK(at[3 * n + i] == layout::offset_bytes(r + 3, c));
      CHECK(at[4 * n + i] == layout::offset_bytes(Rows - 1, c));
      CHECK(at[5 * n + i] == layout::offset_bytes(r, Columns - 1));
      expected[layout::offset_bytes(r, c) / sizeof(T)] = host[i];
    }
  CHECK(at[6 * n] == layout::offset_bytes(Rows / 2, Columns / 2));
  CHECK(memory == expected);
  CHECK(read == std::vector<T>(host.begin(), host.end() - 1));
}

template <class T, u32 Rows, u32 Columns, class Layout>
void check_pieces() {
  INFO((tile_pieces<T, Rows, Columns, Layout>.name()));
  const std::vector<T> host = numbers<T>(Rows * Columns);
  auto x = under_test().upload(host);
  auto y = poisoned<T>(host.size()), z = poisoned<T>(host.size());
  tile_pieces<T, Rows, Columns, Layout>.launch(under_test().stream(), grid(1), x, y, z);
  CHECK(y.download() == host);
  CHECK(z.download() == host);
}

template <class T, u32 Rows, u32 Columns, class Layout, u32 Count>
void check_ring() {
  INFO((tile_ring<T, Rows, Columns, Layout, Count>.name()));
  using ring = dsl::shared_tiles<T, Rows, Columns, Layout, Count>;
  using layout = typename ring::layout;
  constexpr u32 span = 16 / sizeof(T), steps = Columns / span;
  auto offsets = poisoned<u32>(Count * steps * 64);
  auto y = poisoned<T>(Count * 32);
  tile_ring<T, Rows, Columns, Layout, Count>.launch(under_test().stream(), grid(1), offsets, y);
  const auto at = offsets.download();
  const auto read = y.download();
  for (u32 s = 0; s < Count; ++s) {
    for (u32 k = 0; k < steps; ++k)
      for (u32 l = 0; l < 32; ++l) {
        const u32 tile = s * ring::stage_bytes;
        CHECK(at[((s * steps + k) * 2) * 32 + l] == tile + layout::offset_bytes(l % 8, k * span));
        CHECK(at[((s * steps + k) * 2 + 1) * 32 + l] ==
              tile + layout::offset_bytes(l % 8 + 8 + Rows - 16, l % span + k * span));
      }
    for (u32 l = 0; l < 32; ++l) CHECK(static_cast<float>(read[s * 32 + l]) == static_cast<float>(s + 1));
  }
}

template <class T, u32 Rows, u32 Columns, class Layout>
void check_tensor_copy() {
  INFO((tile_by_tensor_copy<T, Rows, Columns, Layout>.name()));
  using layout = tile_layout<T, Rows, Columns, Layout>;
  const std::vector<T> host = numbers<T>(Rows * Columns);
  auto x = under_test().upload(host);
  auto y = poisoned<T>(host.size());
  const auto map = tiled_tensor_map<2>(under_test(), x,
                                       {.extents = {Columns, Rows},
                                        .strides = {Columns},
                                        .box = {layout::panel_columns, Rows},
                                        .swizzle = swizzle_of(layout::swizzle)});
  tile_by_tensor_copy<T, Rows, Columns, Layout>.launch(under_test().stream(), grid(1), map, y);
  CHECK(y.download() == host);
}

}  // namespace

TEST_CASE("an element is where its layout says, however row and column are given", "[tile]") {
  check_places<f32, 7, 5, row_major>();
  check_places<f16, 24, 10, column_major>();
  check_places<f32, 16, 20, padded<4>>();
  check_places<f16, 32, 128, swizzled<128>>();
  check_places<u8, 16, 128, swizzled<128>>();
  check_places<f64, 16, 8, swizzled<64>>();
  check_places<bf16, 16, 96, swizzled<64>>();
  check_places<f32, 24, 24, swizzled<32>>();
}

TEST_CASE("16 bytes of a row are one piece in every layout by rows", "[tile]") {
  check_pieces<f16, 16, 64, row_major>();
  check_pieces<f16, 16, 64, padded<8>>();
  check_pieces<f16, 16, 128, swizzled<128>>();
  check_pieces<f32, 16, 16, swizzled<64>>();
  check_pieces<u8, 16, 32, swizzled<32>>();
}

TEST_CASE("a lane is one place in every tile of a ring, and goes on by rows and columns", "[tile]") {
  check_ring<f16, 32, 64, swizzled<128>, 3>();
  check_ring<f16, 16, 128, swizzled<128>, 2>();
  check_ring<u8, 24, 64, swizzled<64>, 2>();
  check_ring<f32, 16, 24, swizzled<32>, 4>();
  check_ring<f16, 32, 24, padded<8>, 3>();
  check_ring<f16, 17, 16, row_major, 2>();
}

TEST_CASE("panels, blocks of rows and tiles over other tiles are parts of the same memory", "[tile]") {
  auto offsets = poisoned<u32>(192);
  auto y = poisoned<f16>(96);
  tile_parts.launch(under_test().stream(), grid(1), offsets, y);
  const auto at = offsets.download();
  const auto read = y.download();
  using layout = tile_layout<f16, 32, 128, swizzled<128>>;
  using numbers = tile_layout<f32, 16, 32, swizzled<128>>;
  using wide = tile_layout<f16, 32, 256, swizzled<128>>;
  for (u32 l = 0; l < 32; ++l) {
    const u32 half = l / 16;
    CHECK(at[l] == layout::offset_bytes(l, 64 + 7));
    CHECK(at[32 + l] == layout::offset_bytes(l, 64 * half + l));
    CHECK(at[64 + l] == layout::offset_bytes(16 + l % 16, 64 + 9));
    CHECK(at[96 + l] == layout::offset_bytes(16 * half + l % 16, 64 * half + l));
    CHECK(at[128 + l] == 2048 + numbers::offset_bytes(l % 16, l));
    CHECK(at[160 + l] == wide::offset_bytes(l, 128 * half + 64 + l));
    CHECK(static_cast<float>(read[l]) == static_cast<float>(l));
    CHECK(static_cast<float>(read[32 + l]) == static_cast<float>(half + 100));
    CHECK(static_cast<float>(read[64 + l]) == static_cast<float>(l + 200));
  }
}

TEST_CASE("a block is transposed through a tile of any layout", "[tile]") {
  const std::vector<f32> host = numbers<f32>(1024);
  std::vector<f32> expected(1024);
  for (u32 r = 0; r < 32; ++r)
    for (u32 c = 0; c < 32; ++c) expected[c * 32 + r] = host[r * 32 + c];
  auto x = under_test().upload(host);
  const auto check = [&](const auto& kernel) {
    auto y = poisoned<f32>(1024);
    kernel.launch(under_test().stream(), grid(1), x, y);
    CHECK(y.download() == expected);
  };
  check(tile_transpose<row_major>);
  check(tile_transpose<padded<4>>);
  check(tile_transpose<swizzled<128>>);
}

// The compiler and the layouts agree on bank conflicts: 16-byte pieces of rows meet no bank twice; a column
// of 32 rows takes 32 wavefronts by rows, and four padded by 16 bytes or swizzled.
static_assert(tile_transpose<row_major>.bank_conflicts() == 4 * 31);
static_assert(tile_transpose<padded<4>>.bank_conflicts() == 4 * 3);
static_assert(tile_transpose<swizzled<128>>.bank_conflicts() == 4 * 3);

TEST_CASE("a tensor copy lays a box down as the tile of its swizzle has it", "[tile]") {
  if (under_test().properties().target.sm < 90) return;
  check_tensor_copy<f16, 16, 40, row_major>();
  check_tensor_copy<f16, 24, 192, swizzled<128>>();
  check_tensor_copy<f32, 64, 32, swizzled<128>>();
  check_tensor_copy<u8, 16, 128, swizzled<128>>();
  check_tensor_copy<e4m3, 16, 256, swizzled<128>>();
  check_tensor_copy<bf16, 40, 64, swizzled<64>>();
  check_tensor_copy<f32, 16, 40, swizzled<32>>();
}
