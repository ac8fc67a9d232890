// Clusters: positions of blocks, the shared memory of other blocks by every kind of access, and pipelines
// whose copies reach all blocks of a cluster.
#include "tests/kernels/async/cluster_kernels.hpp"
#include "tests/kernels/support.hpp"

using namespace kaio;
using namespace kaio::tests;

namespace {

bool has_clusters() { return under_test().properties().target.sm >= 90; }

template <u32 X, u32 Y, u32 Z>
void check_places(u32 gx, u32 gy, u32 gz) {
  if (!has_clusters()) return;
  auto y = poisoned<u32>(16 * gx * gy * gz);
  cluster_places<X, Y, Z>.launch(under_test().stream(), grid(gx, gy, gz), y);
  const auto got = y.download();
  for (u32 z = 0; z < gz; ++z)
    for (u32 by = 0; by < gy; ++by)
      for (u32 x = 0; x < gx; ++x) {
        const u32* const at = got.data() + 16 * ((z * gy + by) * gx + x);
        const std::vector<u32> want = {((z % Z) * Y + by % Y) * X + x % X,
                                       X * Y * Z,
                                       x % X,
                                       by % Y,
                                       z % Z,
                                       X,
                                       Y,
                                       Z,
                                       x / X,
                                       by / Y,
                                       z / Z,
                                       gx / X,
                                       gy / Y,
                                       gz / Z};
        CAPTURE(x, by, z);
        REQUIRE(std::vector<u32>(at, at + 14) == want);
      }
}

template <u32 Blocks>
void check_histogram(u32 n) {
  if (!has_clusters()) return;
  std::mt19937 engine(n);
  std::vector<u32> x(n + 1);
  for (u32& v : x) v = static_cast<u32>(engine()) >> (engine() % 20);
  auto y = under_test().upload(std::vector<u32>(64 * Blocks));
  cluster_histogram<Blocks>.launch(under_test().stream(), grid(2 * Blocks), under_test().upload(x), y, n);
  std::vector<u32> want(64 * Blocks);
  for (u32 i = 0; i < n; ++i) ++want[x[i] % (64 * Blocks)];
  CAPTURE(Blocks, n);
  CHECK(y.download() == want);
}

template <u32 Blocks, u32 Stages>
void check_multicast() {
  if (under_test().properties().target != ptx::target{90, true}) return;
  for (const u32 steps : {1u, Stages, Stages + 1, 3 * Stages + 1}) {
    std::vector<f32> x(steps * 16 * 64);
    for (u32 i = 0; i < x.size(); ++i) x[i] = static_cast<f32>(static_cast<i32>(i * 37 % 61) - 30);
    auto device_x = under_test().upload(x);
    const u32 blocks = 2 * Blocks;
    auto y = poisoned<f32>(64 * blocks);
    const auto map =
        tiled_tensor_map<2>(under_test(), device_x, {.extents = {64, steps * 16}, .box = {64, 16 / Blocks}});
    multicast_sums<Blocks, Stages>.launch(under_test().stream(), grid(blocks), map, y, steps);
    const auto got = y.download();
    CAPTURE(Blocks, Stages, steps);
    for (u32 b = 0; b < blocks; ++b)
      for (u32 c = 0; c < 64; ++c) {
        f32 want = 0;
        for (u32 r = 0; r < steps * 16; ++r) want += x[r * 64 + c] * static_cast<f32>(r % 16 + b + 1);
        REQUIRE(got[b * 64 + c] == want);
      }
  }
}

}  // namespace

TEST_CASE("blocks know where they are in their cluster and in the grid", "[cluster]") {
  check_places<1, 1, 1>(3, 2, 1);
  check_places<2, 1, 1>(6, 2, 1);
  check_places<2, 2, 1>(4, 4, 2);
  check_places<1, 4, 2>(2, 8, 4);
  check_places<8, 1, 1>(8, 1, 1);
}

TEST_CASE("atomic operations reach the shared memory of other blocks", "[cluster]") {
  for (const u32 n : {0u, 1u, 1000u}) {
    check_histogram<1>(n);
    check_histogram<2>(n);
    check_histogram<8>(n);
  }
}

TEST_CASE("loads, stores, asynchronous stores and bulk copies reach other blocks", "[cluster]") {
  if (!has_clusters()) return;
  constexpr u32 blocks = 8, n = 32 * blocks;
  std::mt19937 engine(3);
  std::vector<u32> x(n);
  for (u32& v : x) v = static_cast<u32>(engine());
  auto y = poisoned<u32>(4 * n);
  auto f = poisoned<f32>(n);
  auto u = poisoned<u64>(n);
  cluster_exchange.launch(under_test().stream(), grid(blocks), under_test().upload(x), y, f, u);
  const auto got = y.download();
  const auto floats = f.download();
  const auto wide = u.download();
  for (u32 b = 0; b < blocks; ++b)
    for (u32 i = 0; i < 32; ++i) {
      const auto of = [&](u32 rank, u32 k) { return x[(b / 4 * 4 + rank % 4) * 32 + k]; };
      const u32 at = b * 32 + i, rank = b % 4;
      CAPTURE(b, i);
      REQUIRE(got[4 * at] == of(rank + 3, 31 - i));
      REQUIRE(got[4 * at + 1] == of(rank + 3, i) + 1);
      REQUIRE(got[4 * at + 2] == of(rank + 1, 31 - i));
      REQUIRE(got[4 * at + 3] == of(rank + 3, i));
      f32 want = 0;
      for (u32 k = 0; k < 4; ++k)
        want += static_cast<f32>(of(rank + 1, 4 * (i % 8) + k) % 1000) * static_cast<f32>(k + 1);
      REQUIRE(floats[at] == want);
      REQUIRE(wide[at] == u64{of(3 - rank, i)} * 3);
    }
}

TEST_CASE("a pipeline whose copies reach all blocks of the cluster", "[cluster]") {
  check_multicast<1, 2>();
  check_multicast<2, 1>();
  check_multicast<2, 3>();
  check_multicast<4, 2>();
}
