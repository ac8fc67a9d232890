// Transposes, warp intrinsics, functions and cooperative groups of CUDA programs.

#include "nvcc/program.hpp"

#include <algorithm>
#include <bit>

using namespace nvcc_test;

TEST_CASE("nvcc: transposes", "[nvcc]") {
  program transposes("transposes");
  for (const schedule& order : schedules) {
    transposes.order = order;
    memory global;
    constexpr int width = 70, height = 45;
    const auto values = random_values<float>(width * height, 0, 1000000);
    const array<float> x(global, values), y(global, values.size());
    transposes.run(global, "transpose_tile", {3, 2, 1}, {32, 8, 1}, 0, x, y, width, height);
    const auto have = y.values();
    int wrong = 0;
    for (std::size_t r = 0; r < height; ++r)
      for (std::size_t c = 0; c < width; ++c) wrong += have[c * height + r] != values[r * width + c];
    CHECK(wrong == 0);

    constexpr std::size_t side = 64;
    const auto square = random_values<float>(side * side, 0, 1000000, 2);
    const array<float> from(global, square), to(global, square.size());
    transposes.run(global, "transpose_vectors", {2, 2, 1}, {8, 8, 1}, 0, from, to,
                   static_cast<int>(side / 4));
    const auto turned = to.values();
    wrong = 0;
    for (std::size_t r = 0; r < side; ++r)
      for (std::size_t c = 0; c < side; ++c) wrong += turned[c * side + r] != square[r * side + c];
    CHECK(wrong == 0);
  }
}

TEST_CASE("nvcc: warp intrinsics", "[nvcc]") {
  program warps("warps");
  const auto values = random_values<int>(32, -4, 4);
  const auto ballot = [&](auto condition, std::uint32_t lanes = 0xffffffffu) {
    std::uint32_t result = 0;
    for (unsigned lane = 0; lane < 32; ++lane)
      if ((lanes >> lane & 1) != 0 && condition(values[lane])) result |= 1u << lane;
    return result;
  };
  for (const schedule& order : schedules) {
    warps.order = order;
    memory global;
    const array<int> x(global, values);
    const array<unsigned> y(global, 32 * 8);
    warps.run(global, "votes", {1, 1, 1}, {32, 1, 1}, 0, x, y);
    const auto have = y.values();
    for (unsigned lane = 0; lane < 32; ++lane) {
      INFO("lane " << lane);
      const unsigned* const row = &have[lane * 8];
      CHECK(row[0] == ballot([](int v) { return v > 0; }));
      CHECK(row[1] == 1);
      CHECK(row[2] == (ballot([](int v) { return v == 3; }) != 0 ? 1u : 0u));
      CHECK(row[3] == ballot([&](int v) { return v == values[lane]; }));
      CHECK(row[4] == 0xffffffffu);
      CHECK(row[5] == 1);
      if (lane % 2 == 0) {
        CHECK(row[7] == ballot([](int v) { return v > 2; }, 0x55555555u));
      } else {
        CHECK(row[6] == static_cast<unsigned>(values[5]));
        CHECK(row[7] ==
              static_cast<unsigned>(std::popcount(ballot([](int v) { return v < 0; }, 0xaaaaaaaau))));
      }
    }

    const array<int> reduced(global, 32 * 6);
    warps.run(global, "reductions", {1, 1, 1}, {32, 1, 1}, 0, x, reduced);
    int sum = 0, all = -1, any = 0, odd = 0;
    for (const int v : values) sum += v, all &= v, any |= v, odd ^= v;
    const auto most = *std::max_element(values.begin(), values.end(), [](int a, int b) {
      return static_cast<unsigned>(a) < static_cast<unsigned>(b);
    });
    const std::vector<int> want = {sum, *std::min_element(values.begin(), values.end()), most, all, any, odd};
    const auto got = reduced.values();
    for (std::size_t lane = 0; lane < 32; ++lane)
      CHECK(std::vector<int>(got.begin() + static_cast<std::ptrdiff_t>(lane * 6),
                             got.begin() + static_cast<std::ptrdiff_t>(lane * 6 + 6)) == want);

    auto many = random_values<int>(128, -1000, 1000, 3);
    const array<int> unsorted(global, many), sorted(global, 128);
    warps.run(global, "sort_warp", {2, 1, 1}, {64, 1, 1}, 0, unsorted, sorted);
    for (auto warp = many.begin(); warp != many.end(); warp += 32) std::sort(warp, warp + 32);
    CHECK(sorted.values() == many);

    const array<int> lock(global, 1), counter(global, 1);
    warps.run(global, "locked_counter", {3, 1, 1}, {64, 1, 1}, 0, lock, counter);
    CHECK(counter.values()[0] == 192);
  }
}

namespace {

struct triple {
  double a;
  int b;
  short c;
};

}  // namespace

TEST_CASE("nvcc: functions", "[nvcc]") {
  program functions("functions");
  for (const schedule& order : schedules) {
    functions.order = order;
    memory global;
    const array<unsigned> numbers(global, 64);
    functions.run(global, "recursive", {1, 1, 1}, {64, 1, 1}, 0, numbers);
    constexpr unsigned fibonacci[] = {0, 1, 1, 2, 3, 5, 8, 13, 21, 34, 55, 89};
    for (std::size_t i = 0; i < 64; ++i) CHECK(numbers.values()[i] == fibonacci[i % 12]);

    const auto values = random_values<float>(100, -30, 30);
    const array<float> x(global, values), y(global, 128);
    functions.run(global, "by_address", {2, 1, 1}, {64, 1, 1}, 0, x, y, 100);
    auto have = y.values();
    for (std::size_t i = 0; i < 100; ++i) {
      const float v = values[i];
      CHECK(have[i] == (i % 3 == 0 ? 2 * v : i % 3 == 1 ? v * v : -v));
    }

    functions.run(global, "virtual_calls", {1, 1, 1}, {64, 1, 1}, 0, x, y);
    have = y.values();
    for (std::size_t i = 0; i < 64; ++i)
      CHECK(have[i] == (i % 2 != 0 ? values[i] * 3 : values[i] * values[i]));

    const array<triple> triples(global, 32);
    functions.run(global, "by_value", {1, 1, 1}, {32, 1, 1}, 0, triple{1.5, 70000, 3}, triples);
    const auto results = triples.values();
    for (std::size_t i = 0; i < 32; ++i) {
      CHECK(results[i].a == 1.5 * static_cast<double>(i));
      CHECK(results[i].b == 70003);
      CHECK(results[i].c == static_cast<short>(70000));
    }

    const auto numbers_in = random_values<int>(200, -1000, 1000, 5);
    const array<int> in(global, numbers_in), out(global, 200);
    functions.run(global, "many_ways", {4, 1, 1}, {64, 1, 1}, 0, in, out, 200);
    const auto ways = out.values();
    for (std::size_t i = 0; i < 200; ++i) {
      const int v = numbers_in[i];
      int want = std::popcount(static_cast<unsigned>(v));
      switch (v & 7) {
        case 0: want = v + 10; break;
        case 1: want = v * 3; break;
        case 2: want = -v; break;
        case 3: want = v ^ 0x55; break;
        case 4: want = v * 4; break;
        case 5: want = v / 7; break;
        case 6: want = v % 7; break;
        default: break;
      }
      CHECK(ways[i] == want);
    }
  }
}

TEST_CASE("nvcc: cooperative groups", "[nvcc]") {
  program groups("groups");
  for (const schedule& order : schedules) {
    groups.order = order;
    groups.cooperative = false;
    memory global;
    const auto values = random_values<int>(256, -9, 9);
    const array<int> x(global, values), y(global, 256), count(global, 1);
    groups.run(global, "tile_sums", {2, 1, 1}, {128, 1, 1}, 0, x, y);
    auto have = y.values();
    for (std::size_t i = 0; i < 256; ++i) {
      int sum = 0;
      for (std::size_t j = 0; j < 8; ++j) sum += values[i / 8 * 8 + j];
      CHECK(have[i] == sum);
    }
    groups.run(global, "tile_scans", {2, 1, 1}, {128, 1, 1}, 0, x, y);
    have = y.values();
    for (std::size_t i = 0, sum = 0; i < 256; ++i) {
      sum = (i % 32 == 0 ? 0 : sum) + static_cast<std::size_t>(values[i]);
      CHECK(have[i] == static_cast<int>(sum));
    }
    groups.run(global, "aggregated", {2, 1, 1}, {128, 1, 1}, 0, x, count, 250);
    CHECK(count.values()[0] ==
          std::count_if(values.begin(), values.begin() + 250, [](int v) { return v > 0; }));

    constexpr int n = 300, steps = 6;
    std::vector<float> a = random_values<float>(n, 0, 100), b(n);
    const array<float> first(global, a), second(global, n);
    groups.cooperative = true;
    groups.run(global, "diffusion", {4, 1, 1}, {64, 1, 1}, 0, first, second, n, steps);
    for (int s = 0; s < steps; ++s) {
      for (std::size_t i = 0; i < n; ++i)
        b[i] = 0.25f * a[i > 0 ? i - 1 : 0] + 0.5f * a[i] + 0.25f * a[i < n - 1 ? i + 1 : n - 1];
      std::swap(a, b);
    }
    const auto result = first.values();
    for (std::size_t i = 0; i < n; ++i) CHECK(std::abs(result[i] - a[i]) < 1e-4f);
  }
}
