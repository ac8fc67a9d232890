// Arrays that run-time values index: local, constant, dynamic and large shared memory.
#include "tests/kernels/memory/memory_kernels.hpp"
#include "tests/kernels/support.hpp"

using namespace kaio;
using namespace kaio::tests;

TEST_CASE("local arrays and constant tables", "[memory]") {
  const u32 n = 96;
  std::vector<u32> x(n);
  for (u32 i = 0; i < n; ++i) x[i] = i * 7 % 41;
  auto in = under_test().upload(x);
  auto y = poisoned<f32>(2 * n);
  auto z = poisoned<i16>(n);
  auto w = poisoned<f64>(n);
  auto b = under_test().allocate<bool>(n);
  indexed_arrays.launch(under_test().stream(), over(n), in, y, z, w, b, n);
  const auto got_y = y.download();
  const auto got_z = z.download();
  const auto got_w = w.download();
  const std::vector<bool> got_b = b.download();
  const f32 table[] = {0.5f, -1.5f, 2.5f};
  const bool flags[] = {true, false, false, true, true};
  for (u32 i = 0; i < n; ++i) {
    CAPTURE(i);
    f32 own[16];
    for (u32 k = 0; k < 16; ++k) own[k] = static_cast<f32>(x[i] + k * k);
    f32 sum = 0;
    for (u32 k = 0; k < 8; ++k) sum = std::fma(own[(x[i] + k) % 16], table[(x[i] + k) % 3], sum);
    REQUIRE(got_y[i] == sum);
    REQUIRE(got_z[i] == static_cast<i16>(odd_numbers[x[i] % 6] + odd_numbers[2]));
    REQUIRE(got_w[i] == static_cast<f64>(x[i] % 3) + (x[i] % 3 % 2 == 0 ? 1e300 : -0.0));
    REQUIRE(got_b[i] == flags[x[i] % 5]);
    own[i % 16] = -1.0f;
    REQUIRE(got_y[i + n] == own[x[i] % 16]);
  }
}

TEST_CASE("dynamic shared memory has the size that the launch gives", "[memory]") {
  std::vector<u32> x(64);
  for (u32 i = 0; i < 64; ++i) x[i] = i * i + 1;
  auto in = under_test().upload(x);
  for (const u32 rounds : {1u, 4u, 160u}) {
    auto y = poisoned<u32>(64);
    const u32 bytes = rounds * 256;
    if (rounds == 4)
      dynamic_arrays.launch(under_test().stream(), grid(1).shared_bytes(bytes), in, y, rounds);
    else
      dynamic_arrays.launch(under_test().stream(), over(64).shared_bytes(bytes), in, y, rounds);
    const auto got = y.download();
    for (u32 i = 0; i < 64; ++i) {
      const u32 first = rounds * 64 - 4 - i / 4 * 4;
      const u32 want =
          x[first % 64] * 3 + first / 64 + x[(first + 3) % 64] * 3 + (first + 3) / 64 + x[63 - i];
      REQUIRE(got[i] == want);
    }
  }
}

TEMPLATE_TEST_CASE("indices of several dimensions have any integer types", "[memory]", (std::pair<u8, u8>),
                   (std::pair<u8, u32>), (std::pair<u64, u8>), (std::pair<i8, i8>), (std::pair<i32, u32>),
                   (std::pair<u16, i64>), (std::pair<i32, i32>), (std::pair<i16, u64>)) {
  using row_index = typename TestType::first_type;
  using column_index = typename TestType::second_type;
  std::vector<row_index> row_indices(64);
  std::vector<column_index> column_indices(64);
  for (u32 i = 0; i < 64; ++i) {
    row_indices[i] = static_cast<row_index>(39 - i * 7 % 40);
    column_indices[i] = static_cast<column_index>(49 - i * 11 % 50);
  }
  auto r = under_test().upload(row_indices);
  auto c = under_test().upload(column_indices);
  auto y = poisoned<u32>(4 * 64);
  mixed_indices<row_index, column_index>.launch(under_test().stream(), grid(1), r, c, y);
  const auto got = y.download();
  for (u32 i = 0; i < 64; ++i) {
    CAPTURE(i);
    const auto at_row = static_cast<u32>(row_indices[i]), at_column = static_cast<u32>(column_indices[i]);
    REQUIRE(got[4 * i] == 2 * 2000 + at_row * 50 + at_column);
    REQUIRE(got[4 * i + 1] == i % 3 * 2000 + at_row * 50 + 49);
    REQUIRE(got[4 * i + 2] == at_row % 3 * 2000 + 39 * 50 + at_column);
    REQUIRE(got[4 * i + 3] == 2000 + 7 * 50 + at_column);
  }
}

TEST_CASE("static shared arrays beyond 48 KB by opt-in", "[memory]") {
  static_assert(large_arrays.needs().dynamic_shared_bytes == 66560 && large_arrays.needs().shared_bytes == 0);
  std::vector<u32> x(256);
  for (u32 i = 0; i < 256; ++i) x[i] = i * 2654435761u;
  auto in = under_test().upload(x);
  auto y = poisoned<u32>(256);
  large_arrays.launch(under_test().stream(), grid(1).shared_bytes(1024), in, y);
  const auto got = y.download();
  for (u32 i = 0; i < 256; ++i) {
    const u32 o = x[255 - i];
    u32 sum = 0;
    for (u32 k = 0; k < 60; ++k) sum += o + k;
    for (u32 k = 0; k < 5; ++k) sum = sum * 7 + o * k;
    REQUIRE(got[i] == sum + (o ^ 0x5555u));
  }
}
