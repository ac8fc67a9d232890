// Tensor copies: boxes inside, across the edges and outside of a tensor, in every swizzle and several types,
// to shared memory, back, and added; tensors of one to five dimensions.
#include "tests/kernels/async/async_tensor_kernels.hpp"
#include "tests/kernels/support.hpp"

using namespace kaio;
using namespace kaio::tests;

namespace {

bool has_tensor_copies() { return under_test().properties().target.sm >= 90; }

constexpr u32 height = 40, width = 96;  // of the tensors, row by row

template <class T>
T number(u32 i) {
  if constexpr (std::is_integral_v<T>)
    return static_cast<T>(i * 2654435761u);
  else
    return static_cast<T>(
        static_cast<float>(static_cast<i32>(i * 37 % 509) - 254));  // exact, doubled and added
}

template <class T>
std::vector<T> matrix(u32 first) {
  std::vector<T> x(height * width);
  for (u32 i = 0; i < x.size(); ++i) x[i] = number<T>(i + first);
  return x;
}

template <class T, u32 Rows, u32 Columns, class Layout>
encoded_tensor_map<T, 2> map_of(buffer<T>& x) {
  return tiled_tensor_map<2>(
      under_test(), x,
      {.extents = {width, height}, .box = {Columns, Rows}, .swizzle = swizzle_of(swizzle_bytes<Layout>)});
}

template <class T>
T plus(T a, T b) {
  if constexpr (std::is_integral_v<T>)
    return static_cast<T>(a + b);
  else
    return static_cast<T>(static_cast<float>(a) + static_cast<float>(b));
}

bool is_inside(i64 row, i64 column) { return row >= 0 && row < height && column >= 0 && column < width; }

// A box that is loaded begins at a multiple of 16 bytes, and these are for elements of a byte too.
constexpr i32 corners[][2] = {{0, 0}, {16, 3}, {-16, -2}, {80, 36}, {-16, 30}, {80, -7}, {208, 0}, {0, -100}};

template <class T, u32 Rows, u32 Columns, class Layout>
void check_load() {
  if (!has_tensor_copies()) return;
  const auto x = matrix<T>(1);
  auto device_x = under_test().upload(x);
  const auto map = map_of<T, Rows, Columns, Layout>(device_x);
  for (const auto& [column, row] : corners) {
    auto y = poisoned<T>(Rows * Columns);
    load_box<T, Rows, Columns, Layout>.launch(under_test().stream(), grid(1), map, y, column, row);
    const auto got = y.download();
    CAPTURE(Rows, Columns, column, row);
    for (u32 r = 0; r < Rows; ++r)
      for (u32 c = 0; c < Columns; ++c) {
        const i64 from_row = i64{row} + r, from_column = i64{column} + c;
        const T want = is_inside(from_row, from_column)
                           ? x[static_cast<std::size_t>(from_row * width + from_column)]
                           : T(0);
        REQUIRE(std::memcmp(&got[r * Columns + c], &want, sizeof(T)) == 0);
      }
  }
}

template <class T, u32 Rows, u32 Columns, class Layout>
void check_move() {
  if (!has_tensor_copies()) return;
  const auto x = matrix<T>(7), before = matrix<T>(11), sums = matrix<T>(5);
  auto device_x = under_test().upload(x);
  const auto from = map_of<T, Rows, Columns, Layout>(device_x);
  for (const auto& [column, row] : corners) {
    if (column < 0 || row < 0) continue;  // a box that is stored has no negative coordinates
    auto y = under_test().upload(before), z = under_test().upload(sums);
    move_box<T, Rows, Columns, Layout>.launch(under_test().stream(), grid(1), from,
                                              map_of<T, Rows, Columns, Layout>(y),
                                              map_of<T, Rows, Columns, Layout>(z), column, row);
    const auto got = y.download(), got_sums = z.download();
    CAPTURE(Rows, Columns, column, row);
    for (i32 r = 0; r < i32{height}; ++r)
      for (i32 c = 0; c < i32{width}; ++c) {
        const std::size_t i = static_cast<std::size_t>(r) * width + static_cast<std::size_t>(c);
        const bool moved = r >= row && r < row + i32{Rows} && c >= column && c < column + i32{Columns};
        const T want = moved ? plus(x[i], x[i]) : before[i];
        const T want_sum = moved ? plus(sums[i], x[i]) : sums[i];
        REQUIRE(std::memcmp(&got[i], &want, sizeof(T)) == 0);
        REQUIRE(std::memcmp(&got_sums[i], &want_sum, sizeof(T)) == 0);
      }
  }
}

// Tensors of 5 elements along the dimensions above the first, and 8 along that; boxes of 4.
template <u32 Rank>
void check_cube(i32 first) {
  if (!has_tensor_copies()) return;
  constexpr u32 box = 4;
  u32 extents[5] = {8, 5, 5, 5, 5}, count = 1, cells = 1;
  tensor_tiling<Rank> tiling;
  for (u32 d = 0; d < Rank; ++d) {
    tiling.extents[d] = extents[d];
    tiling.box[d] = box;
    count *= extents[d];
    cells *= box;
  }
  for (u32 d = 1; d < Rank; ++d) {
    tiling.strides[d - 1] = 8;
    for (u32 e = 1; e < d; ++e) tiling.strides[d - 1] *= 5;
  }
  std::vector<u32> x(count);
  for (u32 i = 0; i < count; ++i) x[i] = i * 7 + 1;
  auto device_x = under_test().upload(x);
  auto y = poisoned<u32>(cells);
  load_cube<Rank, box>.launch(under_test().stream(), grid(1),
                              tiled_tensor_map<Rank>(under_test(), device_x, tiling), y, first);
  const i32 of_rank[6][5] = {
      {}, {first}, {}, {first, 1, first - 1}, {first, -1, 0, first}, {first, 1, 0, 1, first}};
  const auto got = y.download();
  CAPTURE(Rank, first);
  for (u32 i = 0; i < cells; ++i) {
    u32 rest = i, stride = 1, at = 0;
    bool inside = true;
    for (u32 d = 0; d < Rank; ++d, rest /= box) {
      const i32 c = of_rank[Rank][d] + static_cast<i32>(rest % box);
      inside = inside && c >= 0 && c < static_cast<i32>(extents[d]);
      at += static_cast<u32>(c) * stride;
      stride *= extents[d];
    }
    REQUIRE(got[i] == (inside ? x[at] : 0));
  }
}

}  // namespace

TEST_CASE("a box reaches its tile in every layout, zeros outside", "[async]") {
  check_load<f16, 16, 64, swizzled<128>>();
  check_load<bf16, 32, 32, swizzled<64>>();
  check_load<f16, 24, 16, swizzled<32>>();
  check_load<f32, 16, 32, swizzled<128>>();
  check_load<u8, 16, 64, swizzled<64>>();
  check_load<i32, 9, 12, row_major>();
  check_load<u64, 8, 16, swizzled<128>>();
}

TEST_CASE("a box leaves its tile, and is added to another tensor", "[async]") {
  check_move<f16, 16, 64, swizzled<128>>();
  check_move<f32, 8, 16, swizzled<64>>();
  check_move<bf16, 8, 16, swizzled<32>>();
  check_move<u32, 10, 8, row_major>();
}

TEST_CASE("tensors have one to five dimensions", "[async]") {
  for (const i32 first : {0, 4, -4}) {
    check_cube<1>(first);
    check_cube<3>(first);
    check_cube<4>(first);
    check_cube<5>(first);
  }
}
