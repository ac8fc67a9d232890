// matmul_grouped against products in double precision on the host, on each of its kernels.
#include "tests/ops/refusal.hpp"
#include "tests/ops/support.hpp"

#include <kaio/ops/matmul_grouped.hpp>

#include <algorithm>
#include <numeric>
#include <random>

using namespace kaio;
using namespace kaio::tests;

namespace {

// Memory with gaps of NaN: what a kernel must not read.
template <class T>
std::vector<T> numbers(std::size_t count, u64 seed) {
  std::mt19937_64 engine(seed);
  std::uniform_real_distribution<float> any(-1, 1);
  std::vector<T> result(count);
  for (T& x : result) x = from_float<T>(any(engine));
  return result;
}

struct grouped_case {
  std::vector<i32> counts;
  i64 n, k;
  bool b_along_k = true;  // B in memory: (groups, n, k), else (groups, k, n)
  i64 pad = 0;            // elements after each line of A and B
  i64 c_pad = 0;
  i64 before = 0, after = 0;  // rows of no group
  bool gathers = false, has_bias = false;
};

template <class T, class Out = T>
void check_grouped(const grouped_case& x, u64 seed) {
  CAPTURE(x.n, x.k, x.b_along_k, x.pad, x.c_pad, x.before, x.after, x.gathers, x.has_bias, seed, sizeof(Out));
  const device& gpu = under_test();
  const auto groups = static_cast<i64>(x.counts.size());
  std::vector<i32> offsets{static_cast<i32>(x.before)};
  for (const i32 count : x.counts) offsets.push_back(offsets.back() + count);
  const i64 rows = offsets.back() + x.after;
  const i64 a_pitch = x.k + x.pad, c_pitch = x.n + x.c_pad;
  const i64 lines = x.b_along_k ? x.n : x.k, b_pitch = (x.b_along_k ? x.k : x.n) + x.pad;
  const auto size = [](i64 count) { return static_cast<std::size_t>(count); };
  // Every fifth row has an index that is no row.
  const i64 tokens = x.gathers ? rows / 2 + 1 : rows;
  std::vector<i32> sources(size(rows));
  std::mt19937_64 engine(seed + 2);
  for (i64 r = 0; r < rows; ++r)
    sources[size(r)] = !x.gathers          ? static_cast<i32>(r)
                       : engine() % 5 == 0 ? (engine() % 2 == 0 ? -1 : static_cast<i32>(tokens))
                                           : static_cast<i32>(engine() % static_cast<u64>(tokens));
  const std::vector<f32> bias = numbers<f32>(size(groups * (x.n + 1)), seed + 3);
  const std::vector<T> a = numbers<T>(size(tokens * a_pitch), seed),
                       b = numbers<T>(size(groups * lines * b_pitch), seed + 1);
  const std::vector<Out> before(size(rows * c_pitch), from_float<Out>(-77));
  auto a_memory = gpu.upload(a);
  auto b_memory = gpu.upload(b);
  auto offset_memory = gpu.upload(offsets);
  auto c_memory = gpu.upload(before);
  auto source_memory = gpu.upload(sources);
  auto bias_memory = gpu.upload(bias);
  matmul_grouped_options options;
  if (x.gathers) options.rows = tensor_view<const i32, 1>(source_memory, rows);
  if (x.has_bias)
    options.bias = tensor_view<const f32, 2>(bias_memory, extents(groups, x.n), strides(x.n + 1, 1));
  const tensor_view<const T, 3> of_b =
      x.b_along_k ? tensor_view<const T, 3>(b_memory, extents(groups, x.k, x.n),
                                            strides(lines * b_pitch, i64{1}, b_pitch))
                  : tensor_view<const T, 3>(b_memory, extents(groups, x.k, x.n),
                                            strides(lines * b_pitch, b_pitch, i64{1}));
  matmul_grouped(gpu.stream(), tensor_view<const T, 2>(a_memory, extents(tokens, x.k), strides(a_pitch, 1)),
                 of_b, tensor_view<const i32, 1>(offset_memory, groups + 1),
                 tensor_view<Out, 2>(c_memory, extents(rows, x.n), strides(c_pitch, 1)), options);
  const std::vector<Out> got = c_memory.download();
  double worst = 0, allowed = 0, largest = 0;
  bool untouched = true;
  i64 group = -1;
  for (i64 r = 0; r < rows; ++r) {
    while (group + 1 < groups && r >= offsets[size(group + 1)]) ++group;
    const bool has_group = group >= 0 && r < offsets.back();
    for (i64 c = 0; c < c_pitch; ++c) {
      const double result = to_double(got[size(r * c_pitch + c)]);
      if (!has_group || c >= x.n) {
        untouched &= result == -77;
        continue;
      }
      double exact = 0;
      float plain = 0;
      const i64 source = sources[size(r)];
      const bool is_row = source >= 0 && source < tokens;
      for (i64 k = 0; is_row && k < x.k; ++k) {
        const i64 place = group * lines * b_pitch + (x.b_along_k ? c * b_pitch + k : k * b_pitch + c);
        const double p = to_double(a[size(source * a_pitch + k)]), q = to_double(b[size(place)]);
        exact += p * q;
        plain += static_cast<float>(p) * static_cast<float>(q);
      }
      if (x.has_bias) {
        exact += to_double(bias[size(group * (x.n + 1) + c)]);
        plain += bias[size(group * (x.n + 1) + c)];
      }
      if (std::isnan(result)) {
        CAPTURE(r, c, group);
        REQUIRE(!std::isnan(result));
      }
      worst = std::max(worst, std::abs(result - exact));
      allowed = std::max(allowed, std::abs(to_double(from_float<Out>(plain)) - exact));
      largest = std::max(largest, std::abs(exact));
    }
  }
  CAPTURE(worst, allowed, largest);
  REQUIRE(untouched);
  // Tensor cores cut off what a sum of eight products adds below the last place of the largest.
  const double cut_off = static_cast<double>(x.k) / 8 * 0x1p-23 * largest;
  REQUIRE(worst <= std::max(2 * allowed, unit_in_last_place<Out>(largest)) + cut_off);
}

}  // namespace

TEST_CASE("matmul_grouped: groups of any size", "[ops][matmul_grouped]") {
  check_grouped<f16>({.counts = {3, 0, 130, 64, 65, 1}, .n = 136, .k = 72}, 1);
  check_grouped<bf16>({.counts = {0, 0, 200}, .n = 128, .k = 64, .b_along_k = false}, 2);
  check_grouped<bf16, f32>({.counts = {17}, .n = 40, .k = 512}, 3);
  check_grouped<f16, f32>({.counts = {1, 2, 3, 4}, .n = 264, .k = 16, .b_along_k = false, .c_pad = 3}, 4);
}

TEST_CASE("matmul_grouped: gathers rows and adds a bias", "[ops][matmul_grouped]") {
  check_grouped<f16>({.counts = {3, 0, 130, 64, 65, 1}, .n = 136, .k = 72, .gathers = true}, 21);
  check_grouped<bf16>(
      {.counts = {0, 140, 9}, .n = 128, .k = 456, .b_along_k = false, .gathers = true, .has_bias = true}, 22);
  check_grouped<bf16, f32>(
      {.counts = {17, 70}, .n = 42, .k = 132, .pad = 4, .gathers = true, .has_bias = true}, 23);
  check_grouped<f16>({.counts = {1, 70, 66}, .n = 264, .k = 4104, .gathers = true, .has_bias = true}, 24);
  check_grouped<f16>({.counts = {2, 0, 5}, .n = 24, .k = 40, .before = 3, .after = 70, .gathers = true}, 25);
  check_grouped<bf16>({.counts = {9, 70}, .n = 67, .k = 35, .pad = 1, .gathers = true, .has_bias = true}, 26);
  check_grouped<f16>({.counts = {9, 70}, .n = 72, .k = 40, .c_pad = 8, .has_bias = true}, 27);
}

TEST_CASE("matmul_grouped: many groups", "[ops][matmul_grouped]") {
  std::vector<i32> counts(150, 0);
  std::mt19937_64 engine(5);
  for (i32& count : counts)
    if (engine() % 3 == 0) count = static_cast<i32>(engine() % 5);
  check_grouped<bf16>({.counts = counts, .n = 16, .k = 32}, 5);
  std::fill(counts.begin(), counts.end() - 1, 0);  // the last group alone
  check_grouped<f16>({.counts = counts, .n = 8, .k = 24}, 6);
}

TEST_CASE("matmul_grouped: groups of several bands of tiles", "[ops][matmul_grouped]") {
  check_grouped<f16>({.counts = {5, 2300, 1}, .n = 136, .k = 16}, 16);
  check_grouped<bf16>({.counts = {1100, 70}, .n = 66, .k = 3}, 17);
}

TEST_CASE("matmul_grouped: a long k", "[ops][matmul_grouped]") {
  check_grouped<f16>({.counts = {2, 0, 66}, .n = 136, .k = 4096}, 18);
  check_grouped<bf16>({.counts = {9, 1}, .n = 136, .k = 4104, .b_along_k = false}, 19);
}

TEST_CASE("matmul_grouped: lines at any address", "[ops][matmul_grouped]") {
  check_grouped<f16>({.counts = {70, 2, 0, 9}, .n = 67, .k = 35, .pad = 1, .c_pad = 1}, 7);
  check_grouped<bf16>({.counts = {5, 66}, .n = 65, .k = 17, .b_along_k = false}, 8);
  check_grouped<bf16, f32>({.counts = {5, 6}, .n = 3, .k = 1}, 9);
}

TEST_CASE("matmul_grouped: rows of no group are not written", "[ops][matmul_grouped]") {
  check_grouped<f16>({.counts = {10, 20}, .n = 24, .k = 32, .before = 5, .after = 140}, 10);
  check_grouped<bf16>({.counts = {10, 20}, .n = 23, .k = 31, .before = 5, .after = 70}, 11);
}

TEST_CASE("matmul_grouped: nothing to compute", "[ops][matmul_grouped]") {
  check_grouped<f16>({.counts = {0, 0}, .n = 16, .k = 16}, 12);
  check_grouped<f16>({.counts = {0, 0}, .n = 16, .k = 16, .after = 9}, 13);
  check_grouped<bf16>({.counts = {3, 4}, .n = 16, .k = 0}, 14);
  check_grouped<bf16>({.counts = {}, .n = 16, .k = 8, .after = 2}, 15);
}

TEST_CASE("matmul_grouped: random problems", "[ops][matmul_grouped][random]") {
  const u64 seed = std::random_device{}();
  CAPTURE(seed);
  std::mt19937_64 engine(seed);
  const auto below = [&](i64 n) { return static_cast<i64>(engine() % static_cast<u64>(n)); };
  for (int problem = 0; problem < 4; ++problem) {
    grouped_case x{.counts = std::vector<i32>(static_cast<std::size_t>(1 + below(9))),
                   .n = 8 * (1 + below(20)),
                   .k = 8 * (1 + below(14)),
                   .b_along_k = below(2) == 0,
                   .pad = problem % 2 == 0 ? 0 : 8 * below(2) + below(2)};
    for (i32& count : x.counts) count = static_cast<i32>(below(3) == 0 ? below(90) : below(4));
    check_grouped<bf16>(x, engine());
    check_grouped<f16, f32>(x, engine());
  }
}

TEST_CASE("matmul_grouped: replays in a graph with other groups", "[ops][matmul_grouped]") {
  const device& gpu = under_test();
  const i64 rows = 96, n = 32, k = 64, groups = 3;
  std::vector<f16> ones(static_cast<std::size_t>(rows * k), f16(1.0f)), b;
  for (i64 g = 0; g < groups; ++g)
    b.insert(b.end(), static_cast<std::size_t>(n * k), f16(static_cast<float>(g + 1)));
  auto a_memory = gpu.upload(ones), b_memory = gpu.upload(b);
  auto offset_memory = gpu.upload(std::vector<i32>{0, 0, 0, 0});
  auto c_memory = gpu.allocate<f32>(static_cast<std::size_t>(rows * n));
  matmul_grouped_warmup(gpu);
  const auto graph = capture_graph(gpu.stream(), [&] {
                       matmul_grouped(gpu.stream(), tensor_view<const f16, 2>(a_memory, rows, k),
                                      tensor_view<const f16, 3>(b_memory, groups, n, k).transposed(),
                                      tensor_view<const i32, 1>(offset_memory, groups + 1),
                                      tensor_view<f32, 2>(c_memory, rows, n));
                     }).instantiate();
  for (const auto& offsets : {std::vector<i32>{0, 70, 70, 96}, std::vector<i32>{0, 1, 95, 96}}) {
    offset_memory.copy_from(offsets.data(), offsets.size(), gpu.stream());
    graph.launch(gpu.stream());
    const auto got = c_memory.download();
    bool right = true;
    for (i64 r = 0; r < rows; ++r) {
      const auto next = std::upper_bound(offsets.begin(), offsets.end(), static_cast<i32>(r));
      const auto group = static_cast<float>(next - offsets.begin());
      for (i64 c = 0; c < n; ++c) right &= got[static_cast<std::size_t>(r * n + c)] == 64.0f * group;
    }
    REQUIRE(right);
  }
}

TEST_CASE("matmul_grouped: offsets that are wrong write no other memory", "[ops][matmul_grouped]") {
  const device& gpu = under_test();
  const i64 rows = 40, n = 16, k = 32;
  auto a = gpu.allocate<bf16>(static_cast<std::size_t>(rows * k)),
       b = gpu.allocate<bf16>(static_cast<std::size_t>(3 * n * k));
  auto c = gpu.allocate<bf16>(static_cast<std::size_t>(rows * n));
  for (const auto& wrong : {std::vector<i32>{-5, 100, 7, 1000}, std::vector<i32>{50, 40, 30, 20}}) {
    auto offsets = gpu.upload(wrong);
    matmul_grouped(gpu.stream(), tensor_view<const bf16, 2>(a, rows, k),
                   tensor_view<const bf16, 3>(b, 3, n, k).transposed(), tensor_view<const i32, 1>(offsets, 4),
                   tensor_view<bf16, 2>(c, rows, n));
    REQUIRE(c.download().size() == static_cast<std::size_t>(rows * n));  // the device is well
  }
}

TEST_CASE("matmul_grouped: bad input", "[ops][matmul_grouped]") {
  const device& gpu = under_test();
  auto memory = gpu.allocate<f16>(8192), more = gpu.allocate<f16>(8192);
  auto results = gpu.allocate<f32>(4096);
  auto ends = gpu.allocate<i32>(64);
  const tensor_view<const f16, 2> a(memory, 12, 32);
  const tensor_view<const f16, 3> b(more, 4, 32, 16);
  const tensor_view<const i32, 1> offsets(ends, 5);
  const tensor_view<f32, 2> c(results, 12, 16);
  const auto refused = [&](const std::string& part, const tensor_view<const f16, 2>& of_a,
                           const tensor_view<const f16, 3>& of_b, const tensor_view<const i32, 1>& of_groups,
                           const tensor_view<f32, 2>& to) {
    require_refusal(errc::invalid_argument, "kaio: matmul_grouped: ", part,
                    [&] { matmul_grouped(gpu.stream(), of_a, of_b, of_groups, to); });
  };
  refused("b has extent 1 of 31", a, b.slice(1, 0, 31), offsets, c);
  refused("offsets has extent 0 of 4", a, b, {ends, 4}, c);
  refused("c has extent 0 of 11", a, b, offsets, {results, 11, 16});
  refused("c has extent 1 of 15", a, b, offsets, {results, 12, 15});
  refused("argument offsets has stride 2", a, b, {ends, extents(5), strides(2)}, c);
  require_refusal(errc::invalid_argument, "kaio: matmul_grouped: ", "output c shares memory",
                  [&] { matmul_grouped(gpu.stream(), a, b, offsets, tensor_view<f16, 2>(memory, 12, 16)); });
}
