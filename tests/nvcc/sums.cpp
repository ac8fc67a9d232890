// Reductions, prefix sums and histograms of CUDA programs give the host's results, under every schedule.

#include "nvcc/program.hpp"

#include <algorithm>
#include <bit>
#include <numeric>

using namespace nvcc_test;

TEST_CASE("nvcc: reductions", "[nvcc]") {
  program reductions("reductions");
  for (const schedule& order : schedules) {
    reductions.order = order;
    memory global;
    constexpr unsigned n = 5000;
    const auto values = random_values<int>(n, -50, 50);
    const int total = std::accumulate(values.begin(), values.end(), 0);
    const array<int> x(global, values), sum(global, 1);

    const array<float> floats(global, std::vector<float>(values.begin(), values.end())), sums(global, 7);
    reductions.run(global, "tree_sum", {7, 1, 1}, {128, 1, 1}, 128 * 4, floats, sums, n);
    const auto of_block = sums.values();
    CHECK(std::accumulate(of_block.begin(), of_block.end(), 0.0f) == static_cast<float>(total));

    reductions.run(global, "shuffle_sum", {5, 1, 1}, {256, 1, 1}, 0, x, sum, n);
    CHECK(sum.values()[0] == total);

    const array<int> block_sums(global, 6), all(global, 1);
    const array<unsigned> arrived(global, 1);
    reductions.run(global, "last_block_sum", {6, 1, 1}, {256, 1, 1}, 0, x, block_sums, arrived, all, n);
    CHECK(all.values()[0] == total);

    const auto tenths = random_values<double>(1000, 17, 900000);
    const array<double> doubles(global, tenths);
    const array<std::uint64_t> least(global, std::vector<std::uint64_t>{~std::uint64_t{0} >> 1});
    reductions.run(global, "double_extremes", {4, 1, 1}, {256, 1, 1}, 0, doubles, least, 1000u);
    CHECK(std::bit_cast<double>(least.values()[0]) == *std::min_element(tenths.begin(), tenths.end()));
  }
}

TEST_CASE("nvcc: prefix sums", "[nvcc]") {
  program scans("scans");
  for (const schedule& order : schedules) {
    scans.order = order;
    memory global;
    constexpr unsigned n = 256 * 13 - 5;
    const auto values = random_values<unsigned>(256 * 13, 0, 1000);
    const array<unsigned> x(global, values), y(global, values.size());

    scans.run(global, "scan_block", {13, 1, 1}, {256, 1, 1}, 0, x, y);
    const auto blocks = y.values();
    std::vector<unsigned> want(values.size());
    for (std::size_t b = 0; b < want.size(); b += 256)
      std::partial_sum(values.begin() + static_cast<std::ptrdiff_t>(b),
                       values.begin() + static_cast<std::ptrdiff_t>(b + 256),
                       want.begin() + static_cast<std::ptrdiff_t>(b));
    CHECK(blocks == want);

    const array<std::uint64_t> state(global, 13);
    const array<unsigned> next(global, 1);
    scans.run(global, "scan_look_back", {13, 1, 1}, {256, 1, 1}, 0, x, y, state, next, n);
    std::partial_sum(values.begin(), values.end(), want.begin());
    auto have = y.values();
    have.resize(n);
    want.resize(n);
    CHECK(have == want);

    const auto small = random_values<float>(512, 0, 100);
    const array<float> from(global, small), to(global, 512);
    scans.run(global, "scan_tree", {1, 1, 1}, {256, 1, 1}, 512 * 4, from, to);
    std::vector<float> exclusive(512);
    std::exclusive_scan(small.begin(), small.end(), exclusive.begin(), 0.0f);
    CHECK(to.values() == exclusive);
  }
}

TEST_CASE("nvcc: histograms", "[nvcc]") {
  program histograms("histograms");
  constexpr unsigned n = 6000;
  const auto values = random_values<unsigned char>(n, 0, 40);
  std::vector<unsigned> want(256);
  for (const unsigned char v : values) ++want[v];
  for (const schedule& order : schedules) {
    histograms.order = order;
    memory global;
    const array<unsigned char> x(global, values);
    const array<unsigned> plain(global, 256), shared(global, 256), matched(global, 256);
    histograms.run(global, "histogram_global", {4, 1, 1}, {128, 1, 1}, 0, x, plain, n);
    histograms.run(global, "histogram_shared", {4, 1, 1}, {128, 1, 1}, 0, x, shared, n / 4);
    histograms.run(global, "histogram_matched", {47, 1, 1}, {128, 1, 1}, 0, x, matched, n);
    CHECK(plain.values() == want);
    CHECK(shared.values() == want);
    CHECK(matched.values() == want);
  }
}
