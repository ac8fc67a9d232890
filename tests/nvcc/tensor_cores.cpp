// Matrix products, asynchronous copies, barriers in memory, clusters and tensor copies of CUDA programs. The
// elements are small integers, so that every product is exact.

#include "emulator/memory/tensor_map.hpp"
#include "nvcc/program.hpp"

#include <bit>

using namespace nvcc_test;

namespace {

// The bits of a small integer as an f16.
std::uint16_t half_of(int value) {
  const auto bits = std::bit_cast<std::uint32_t>(static_cast<float>(value));
  if (value == 0) return 0;
  return static_cast<std::uint16_t>((bits >> 16 & 0x8000) | ((bits >> 23 & 255) - 112) << 10 |
                                    (bits >> 13 & 0x3ff));
}

std::vector<std::uint16_t> halves_of(const std::vector<int>& values) {
  std::vector<std::uint16_t> result;
  for (const int v : values) result.push_back(half_of(v));
  return result;
}

// Element (row, column) of A * B, both n x n by rows.
int product(const std::vector<int>& a, const std::vector<int>& b, std::size_t n, std::size_t row,
            std::size_t column) {
  int sum = 0;
  for (std::size_t k = 0; k < n; ++k) sum += a[row * n + k] * b[k * n + column];
  return sum;
}

tensor_map map_of(tensor_element element, std::uint64_t address, std::uint64_t columns, std::uint64_t rows,
                  std::uint32_t box_columns, std::uint32_t box_rows, tensor_swizzle swizzle) {
  const std::uint64_t sizes[] = {columns, rows}, strides[] = {columns * size_of(element)};
  const std::uint32_t box[] = {box_columns, box_rows}, steps[] = {1, 1};
  tensor_map map;
  const auto failure = encode_tiled(map, element, 2, address, sizes, strides, box, steps,
                                    tensor_interleave::none, swizzle, 0, tensor_fill::zero);
  INFO((failure ? failure->reason : std::string()));
  REQUIRE(!failure);
  return map;
}

}  // namespace

TEST_CASE("nvcc: wmma", "[nvcc]") {
  program wmma("wmma");
  constexpr std::size_t n = 32;
  const auto a = random_values<int>(n * n, -8, 8), b = random_values<int>(n * n, -8, 8, 2);
  std::vector<int> columns(n * n);
  for (std::size_t k = 0; k < n; ++k)
    for (std::size_t c = 0; c < n; ++c) columns[c * n + k] = b[k * n + c];
  for (const schedule& order : schedules) {
    wmma.order = order;
    memory global;
    const array<std::uint16_t> left(global, halves_of(a)), right(global, halves_of(b)),
        right_columns(global, halves_of(columns)), half_product(global, n * n);
    const array<float> c(global, n * n);
    wmma.run(global, "wmma_half", {1, 2, 1}, {32, 2, 1}, 0, left, right_columns, c, static_cast<int>(n));
    wmma.run(global, "wmma_staged", {2, 2, 1}, {32, 1, 1}, 0, left, right, half_product, static_cast<int>(n));
    const array<signed char> left_bytes(global, std::vector<signed char>(a.begin(), a.end())),
        right_bytes(global, std::vector<signed char>(b.begin(), b.end()));
    const array<int> integers(global, n * n);
    wmma.run(global, "wmma_bytes", {1, 4, 1}, {32, 1, 1}, 0, left_bytes, right_bytes, integers,
             static_cast<int>(n));
    const auto floats = c.values();
    const auto halves = half_product.values();
    const auto words = integers.values();
    int wrong = 0;
    for (std::size_t row = 0; row < n; ++row)
      for (std::size_t column = 0; column < n; ++column) {
        const int want = product(a, b, n, row, column);
        const std::size_t at = row * n + column;
        wrong += floats[at] != 0.5f * static_cast<float>(want);
        wrong += words[at] != want;
        wrong += halves[at] != half_of(want);
      }
    CHECK(wrong == 0);
  }
}

TEST_CASE("nvcc: pipelines", "[nvcc]") {
  program pipelines("pipelines");
  for (const schedule& order : schedules) {
    pipelines.order = order;
    memory global;
    constexpr std::size_t n = 64;
    const auto a = random_values<int>(n * n, -8, 8), b = random_values<int>(n * n, -8, 8, 2);
    const array<float> left(global, std::vector<float>(a.begin(), a.end())),
        right(global, std::vector<float>(b.begin(), b.end())), c(global, n * n);
    pipelines.run(global, "matmul_async", {4, 4, 1}, {16, 16, 1}, 0, left, right, c, static_cast<int>(n));
    const auto have = c.values();
    int wrong = 0;
    for (std::size_t at = 0; at < n * n; ++at)
      wrong += have[at] != static_cast<float>(product(a, b, n, at / n, at % n));
    CHECK(wrong == 0);

    constexpr std::size_t size = 64, batches = 5;
    const auto values = random_values<int>(2 * batches * size, -1000, 1000);
    const array<int> x(global, values), y(global, values.size());
    pipelines.run(global, "doubled", {2, 1, 1}, {size, 1, 1}, 2 * size * 4, x, y, static_cast<int>(batches));
    auto result = y.values();
    for (std::size_t i = 0; i < values.size(); ++i)
      CHECK(result[i] == 2 * values[i / size * size + (i + 1) % size]);

    pipelines.run(global, "reversed", {10, 1, 1}, {size, 1, 1}, size * 4, x, y);
    result = y.values();
    for (std::size_t i = 0; i < values.size(); ++i)
      CHECK(result[i] == values[i / size * size + size - 1 - i % size]);
  }
}

TEST_CASE("nvcc: barriers in memory", "[nvcc]") {
  program barriers("barriers");
  for (const schedule& order : schedules) {
    barriers.order = order;
    memory global;
    constexpr std::size_t threads = 128, rounds = 4;
    const auto values = random_values<int>(threads * rounds, -100, 100);
    const array<int> x(global, values), y(global, threads);
    barriers.run(global, "arrive_and_wait", {1, 1, 1}, {threads, 1, 1}, 0, x, y, static_cast<int>(rounds));
    const auto have = y.values();
    for (std::size_t t = 0; t < threads; ++t) {
      int want = 0;
      for (std::size_t r = 0; r < rounds; ++r)
        want += static_cast<int>(r) + values[r * threads + (t + 7) % threads];
      CHECK(have[t] == want);
    }

    constexpr std::size_t batches = 7;
    const auto batch_values = random_values<int>(batches * 32, -100, 100, 2);
    const array<int> from(global, batch_values), to(global, 96);
    barriers.run(global, "producer_consumer", {1, 1, 1}, {128, 1, 1}, 0, from, to, static_cast<int>(batches));
    const auto consumed = to.values();
    for (std::size_t t = 0; t < 96; ++t) {
      int want = 0;
      for (std::size_t b = 0; b < batches; ++b) want += 3 * batch_values[b * 32 + t % 32];
      CHECK(consumed[t] == want);
    }

    const auto bulk = random_values<int>(3 * 512, -100, 100, 3);
    const array<int> in(global, bulk), out(global, bulk.size());
    barriers.run(global, "bulk_copies", {3, 1, 1}, {64, 1, 1}, 0, in, out);
    const auto copied = out.values();
    int wrong = 0;
    for (std::size_t i = 0; i < bulk.size(); ++i) wrong += copied[i] != bulk[i] + 1;
    CHECK(wrong == 0);
  }
}

TEST_CASE("nvcc: clusters", "[nvcc]") {
  program clusters("clusters");
  for (const schedule& order : schedules) {
    clusters.order = order;
    memory global;
    constexpr unsigned n = 3000;
    const auto values = random_values<unsigned>(n, 0, 1000000);
    const array<unsigned> x(global, values), bins(global, 64), inboxes(global, 4 * 2 * 2);
    clusters.run(global, "cluster_histogram", {8, 1, 1}, {64, 1, 1}, 0, x, bins, n);
    std::vector<unsigned> want(64);
    for (const unsigned v : values) ++want[v % 64];
    CHECK(bins.values() == want);

    clusters.run(global, "ring", {4, 2, 2}, {32, 1, 1}, 0, inboxes);
    const auto have = inboxes.values();
    for (unsigned z = 0; z < 2; ++z)
      for (unsigned y = 0; y < 2; ++y)
        for (unsigned c = 0; c < 4; ++c) {
          const unsigned rank = c % 2 + 2 * y;
          CHECK(have[(z * 2 + y) * 4 + c] == (rank + 3) % 4 * 100 + z);
        }
  }
}

TEST_CASE("nvcc: tensor copies", "[nvcc]") {
  program copies("tensor_copies");
  for (const schedule& order : schedules) {
    copies.order = order;
    memory global;
    constexpr std::uint64_t columns = 76, rows = 37;  // the last tiles are ragged
    const auto values = random_values<int>(columns * rows, -100000, 100000);
    const array<int> x(global, values), y(global, values.size());
    const tensor_map from =
        map_of(tensor_element::int32, x.address(), columns, rows, 32, 16, tensor_swizzle::none);
    const tensor_map to =
        map_of(tensor_element::int32, y.address(), columns, rows, 32, 16, tensor_swizzle::none);
    copies.run(global, "negate_tiles", {3, 3, 1}, {64, 1, 1}, 0, from, to);
    const auto have = y.values();
    int wrong = 0;
    for (std::size_t i = 0; i < values.size(); ++i) wrong += have[i] != -values[i] - 1;
    CHECK(wrong == 0);
  }
}

TEST_CASE("nvcc: a warp-specialised product by tensor copies and wgmma", "[nvcc]") {
  program copies("tensor_copies");
  constexpr std::size_t m = 128, n = 64, k = 320;
  const auto a = random_values<int>(m * k, -4, 4), b = random_values<int>(n * k, -4, 4, 2);
  for (const schedule& order : schedules) {
    copies.order = order;
    memory global;
    const array<std::uint16_t> left(global, halves_of(a)), right(global, halves_of(b));
    const array<float> c(global, m * n);
    const tensor_map of_a =
        map_of(tensor_element::float16, left.address(), k, m, 64, 64, tensor_swizzle::b128);
    const tensor_map of_b =
        map_of(tensor_element::float16, right.address(), k, n, 64, 64, tensor_swizzle::b128);
    copies.run(global, "hopper_product", {1, 2, 1}, {256, 1, 1}, 3 * 2 * 64 * 64 * 2 + 2048, of_a, of_b, c,
               static_cast<int>(n), static_cast<int>(k));
    const auto have = c.values();
    int wrong = 0;
    for (std::size_t row = 0; row < m; ++row)
      for (std::size_t column = 0; column < n; ++column) {
        int want = 0;
        for (std::size_t i = 0; i < k; ++i) want += a[row * k + i] * b[column * k + i];
        wrong += have[row * n + column] != static_cast<float>(want);
      }
    CHECK(wrong == 0);
  }
}
