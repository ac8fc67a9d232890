// matmul_fp8_grouped and matmul_int8_grouped against products in double precision on the host: layouts,
// scales of rows, columns and parts of K, groups of any size, and calls that are refused. Numbers are small,
// so that sums are exact.
#include "tests/ops/refusal.hpp"
#include "tests/ops/support.hpp"

#include <kaio/ops/matmul_fp8_grouped.hpp>
#include <kaio/ops/matmul_int8_grouped.hpp>

#include <algorithm>
#include <cmath>
#include <random>
#include <type_traits>

using namespace kaio;
using namespace kaio::tests;

namespace {

enum class scales { none, one, each };

struct bytes_case {
  std::vector<i32> counts;
  i64 n, k;
  bool b_along_k = true;  // B in memory: (groups, n, k), else (groups, k, n)
  i64 pad = 0;            // bytes after each line of A and B
  i64 c_pad = 0;
  i64 before = 0, after = 0;  // rows of no group
  scales a = scales::each, b = scales::each;
  bool parts = false, bias = false;
  i64 tokens = -1;           // rows of A, which are gathered; -1: as many as C has, in order
  bool zero_points = false;  // of integers
  matmul_activation gate = matmul_activation::none;
  f32 alpha = 1, limit = 0, up_offset = 0;

  bool is_gathered() const { return tokens >= 0; }
  bool is_gated() const { return gate != matmul_activation::none; }
};

// The result for those of a gate and of its value.
double gated(const bytes_case& x, double gate, double up) {
  const double limit = x.limit == 0 ? INFINITY : to_double(x.limit);
  const double g = std::min(gate, limit), u = std::clamp(up, -limit, limit) + to_double(x.up_offset);
  switch (x.gate) {
    case matmul_activation::relu: return std::max(g, 0.0) * u;
    case matmul_activation::gelu: return 0.5 * g * std::erfc(-g / std::sqrt(2.0)) * u;
    case matmul_activation::gelu_tanh:
      return g / (1 + std::exp(-2 * std::sqrt(2 / std::acos(-1.0)) * (g + 0.044715 * g * g * g))) * u;
    default: return g / (1 + std::exp(-to_double(x.alpha) * g)) * u;
  }
}

std::size_t size(i64 count) { return static_cast<std::size_t>(count); }

template <class T>
std::vector<T> small_numbers(i64 count, std::mt19937_64& engine) {
  std::vector<T> result(size(count));
  for (T& x : result)
    if constexpr (std::is_same_v<T, i8>)
      x = static_cast<i8>(engine());
    else
      x = T(static_cast<float>(engine() % 9) / 4 - 1);
  return result;
}
std::vector<f32> powers(i64 count, std::mt19937_64& engine) {
  std::vector<f32> result(size(count));
  for (f32& x : result) x = std::ldexp(1.0f, static_cast<int>(engine() % 4) - 2);
  return result;
}

template <class A, class B, class Out>
void check_bytes(const bytes_case& x, u64 seed) {
  constexpr bool is_int8 = std::is_same_v<A, i8>, sums = std::is_same_v<Out, i32>;
  CAPTURE(x.n, x.k, x.b_along_k, x.pad, x.c_pad, x.before, x.after, x.parts, x.bias, seed, sizeof(Out));
  const device& gpu = under_test();
  std::mt19937_64 engine(seed);
  const auto groups = static_cast<i64>(x.counts.size());
  std::vector<i32> offsets{static_cast<i32>(x.before)};
  for (const i32 count : x.counts) offsets.push_back(offsets.back() + count);
  const i64 rows = offsets.back() + x.after, a_pitch = x.k + x.pad;
  const i64 of_c = x.is_gated() ? x.n / 2 : x.n, c_pitch = of_c + x.c_pad;
  const i64 tokens = x.is_gathered() ? x.tokens : rows;
  std::vector<i32> sources(size(rows));
  for (i32 r = 0; i32 & source : sources) {
    source = x.is_gathered() ? static_cast<i32>(engine() % static_cast<u64>(tokens + 2)) - 1 : r;
    ++r;
  }
  const i64 lines = x.b_along_k ? x.n : x.k, b_pitch = (x.b_along_k ? x.k : x.n) + x.pad;
  const i64 along = (x.k + 127) / 128, across = (x.n + 127) / 128;
  const auto a = small_numbers<A>(tokens * a_pitch, engine);
  const auto b = small_numbers<B>(groups * lines * b_pitch, engine);
  const auto scale_a = powers(x.a == scales::one ? 1 : tokens, engine);
  const auto scale_b = powers(groups * (x.b == scales::one ? 1 : x.n), engine);
  const auto groups_a = powers(tokens * along, engine), blocks_b = powers(groups * across * along, engine);
  const auto bias = powers(groups * x.n, engine);
  const std::vector<Out> before(size(rows * c_pitch), static_cast<Out>(-77));
  const auto a_memory = upload(a);
  const auto b_memory = upload(b);
  const auto offset_memory = upload(offsets);
  const auto on_a = upload(scale_a), on_b = upload(scale_b), on_groups = upload(groups_a),
             on_blocks = upload(blocks_b), on_bias = upload(bias);
  const auto on_rows = upload(sources);
  std::vector<i32> zero_a(size(tokens)), column_sums(size(groups * x.n));
  for (i32& zero : zero_a) zero = static_cast<i32>(engine() % 256) - 128;
  for (i64 g = 0; g < groups; ++g)
    for (i64 column = 0; column < x.n; ++column)
      for (i64 k = 0; k < x.k; ++k)
        column_sums[size(g * x.n + column)] += static_cast<i32>(to_double(
            b[size(g * lines * b_pitch + (x.b_along_k ? column * b_pitch + k : k * b_pitch + column))]));
  const auto on_zeros = upload(zero_a), on_sums = upload(column_sums);
  auto c_memory = upload(before);
  std::conditional_t<is_int8, matmul_int8_grouped_options, matmul_fp8_grouped_options> options;
  if (x.a != scales::none && !sums)
    options.scale_a = tensor_view<const f32, 1>(on_a, extents(static_cast<i64>(scale_a.size())));
  if (x.b != scales::none && !sums)
    options.scale_b = tensor_view<const f32, 2>(on_b, groups, x.b == scales::one ? 1 : x.n);
  if (x.bias && !sums) options.bias = tensor_view<const f32, 2>(on_bias, groups, x.n);
  if (x.is_gathered()) options.rows = tensor_view<const i32, 1>(on_rows, rows);
  options.gate = x.gate;
  options.alpha = x.alpha;
  options.limit = x.limit;
  options.up_offset = x.up_offset;
  if constexpr (is_int8)
    if (x.zero_points) {
      options.zero_a = tensor_view<const i32, 1>(on_zeros, extents(tokens));
      options.column_sums = tensor_view<const i32, 2>(on_sums, groups, x.n);
    }
  if constexpr (!is_int8)
    if (x.parts) {  // blocks in memory: (groups, n / 128, k / 128)
      options.groups_a = tensor_view<const f32, 2>(on_groups, tokens, along);
      options.blocks_b = tensor_view<const f32, 3>(on_blocks, groups, across, along).transposed();
    }
  const tensor_view<const A, 2> a_view(a_memory, extents(tokens, x.k), strides(a_pitch, i64{1}));
  const tensor_view<const B, 3> b_view(
      b_memory, extents(groups, x.k, x.n),
      x.b_along_k ? strides(lines * b_pitch, i64{1}, b_pitch) : strides(lines * b_pitch, b_pitch, i64{1}));
  const tensor_view<const i32, 1> of_groups(offset_memory, groups + 1);
  const tensor_view<Out, 2> c_view(c_memory, extents(rows, of_c), strides(c_pitch, i64{1}));
  if constexpr (is_int8)
    matmul_int8_grouped(gpu.stream(), a_view, b_view, of_groups, c_view, options);
  else
    matmul_fp8_grouped(gpu.stream(), a_view, b_view, of_groups, c_view, options);
  const std::vector<Out> got = c_memory.download();
  bool untouched = true;
  for (i64 r = 0; r < rows; ++r) {
    const bool has_group = r >= x.before && r < offsets.back();
    const auto group =
        std::upper_bound(offsets.begin(), offsets.end(), static_cast<i32>(r)) - offsets.begin() - 1;
    for (i64 column = 0; column < c_pitch; ++column) {
      const double result = to_double(got[size(r * c_pitch + column)]);
      if (!has_group || column >= of_c) {
        untouched &= result == -77;
        continue;
      }
      const auto result_at = [&](i64 of_b) {
        // Blocks are of weights with all gates first.
        const i64 block = !x.is_gated() ? of_b : of_b / 8 * 4 + of_b % 4 + of_b / 4 % 2 * of_c;
        double exact = 0;
        const i64 source = sources[size(r)];
        if (source >= 0 && source < tokens) {
          for (i64 k = 0; k < x.k; ++k) {
            const i64 place =
                group * lines * b_pitch + (x.b_along_k ? of_b * b_pitch + k : k * b_pitch + of_b);
            const double scale =
                x.parts ? to_double(groups_a[size(source * along + k / 128)]) *
                              to_double(blocks_b[size((group * across + block / 128) * along + k / 128)])
                        : 1;
            exact += to_double(a[size(source * a_pitch + k)]) * to_double(b[size(place)]) * scale;
          }
          if (is_int8 && x.zero_points)
            exact -= to_double(zero_a[size(source)]) * to_double(column_sums[size(group * x.n + of_b)]);
          if (x.a != scales::none && !sums)
            exact *= to_double(scale_a[x.a == scales::one ? 0 : size(source)]);
        }
        if (!sums) {
          if (x.b != scales::none)
            exact *= to_double(scale_b[size(x.b == scales::one ? group : group * x.n + of_b)]);
          if (x.bias) exact += to_double(bias[size(group * x.n + of_b)]);
        }
        return exact;
      };
      const double exact = x.is_gated() ? gated(x, result_at(column / 4 * 8 + column % 4),
                                                result_at(column / 4 * 8 + 4 + column % 4))
                                        : result_at(column);
      constexpr double smallest = std::is_same_v<Out, f16> ? 3e-8 : 1e-30;
      const double of_activation = x.is_gated() ? 1.0 / (1 << 15) : 0;
      const double allowed = sums ? 0
                                  : unit_in_last_place<std::conditional_t<sums, f32, Out>>(exact) * 0.51 +
                                        std::abs(exact) * of_activation + (x.is_gated() ? smallest : 0);
      if (std::abs(result - exact) <= allowed) continue;
      CAPTURE(r, column, group, exact);
      REQUIRE(result == exact);
    }
  }
  REQUIRE(untouched);
}

}  // namespace

TEST_CASE("matmul_fp8_grouped: groups of any size", "[ops][fp8][matmul_grouped]") {
  check_bytes<e4m3, e4m3, bf16>({.counts = {3, 0, 130, 64, 65, 1}, .n = 136, .k = 160, .bias = true}, 1);
  check_bytes<e4m3, e4m3, f32>({.counts = {0, 0, 70}, .n = 128, .k = 128, .a = scales::one, .b = scales::one},
                               2);
  check_bytes<e5m2, e4m3, f16>({.counts = {17, 2}, .n = 40, .k = 64, .a = scales::none}, 3);
  check_bytes<e4m3, e5m2, f32>({.counts = {5, 66}, .n = 24, .k = 48, .b = scales::none}, 4);
}

TEST_CASE("matmul_fp8_grouped: scales of parts of K", "[ops][fp8][matmul_grouped]") {
  check_bytes<e4m3, e4m3, bf16>(
      {.counts = {2, 0, 131}, .n = 264, .k = 400, .a = scales::none, .b = scales::none, .parts = true}, 5);
  check_bytes<e4m3, e4m3, f32>({.counts = {64, 1}, .n = 128, .k = 256, .parts = true, .bias = true}, 6);
  check_bytes<e5m2, e4m3, f32>({.counts = {9, 1}, .n = 136, .k = 200, .parts = true}, 7);
}

TEST_CASE("matmul_fp8_grouped: lines at any address", "[ops][fp8][matmul_grouped]") {
  check_bytes<e4m3, e4m3, bf16>({.counts = {70, 2, 0, 9}, .n = 67, .k = 35, .pad = 1, .c_pad = 1}, 8);
  check_bytes<e4m3, e4m3, f16>({.counts = {5, 66}, .n = 65, .k = 147, .b_along_k = false, .parts = true}, 9);
  check_bytes<e4m3, e4m3, f32>({.counts = {5, 6}, .n = 3, .k = 1}, 10);
  check_bytes<e4m3, e4m3, f32>({.counts = {3, 8}, .n = 20, .k = 24, .c_pad = 3, .before = 5, .after = 130},
                               11);
}

TEST_CASE("matmul_int8_grouped: groups of any size", "[ops][int8][matmul_grouped]") {
  check_bytes<i8, i8, bf16>({.counts = {3, 0, 130, 64, 65, 1}, .n = 136, .k = 160, .bias = true}, 12);
  check_bytes<i8, i8, i32>({.counts = {0, 2, 70}, .n = 128, .k = 512}, 13);
  check_bytes<i8, i8, f32>({.counts = {1, 2, 3}, .n = 24, .k = 48, .a = scales::one, .b = scales::none}, 14);
}

TEST_CASE("matmul_int8_grouped: lines at any address", "[ops][int8][matmul_grouped]") {
  check_bytes<i8, i8, f32>({.counts = {70, 2, 0, 9}, .n = 67, .k = 35, .pad = 1, .c_pad = 1}, 15);
  check_bytes<i8, i8, i32>({.counts = {5, 66}, .n = 65, .k = 17, .b_along_k = false}, 16);
  check_bytes<i8, i8, bf16>({.counts = {10, 20}, .n = 24, .k = 32, .before = 5, .after = 70}, 17);
}

TEST_CASE("matmul_fp8_grouped and matmul_int8_grouped: gathered rows", "[ops][fp8][int8][matmul_grouped]") {
  check_bytes<e4m3, e4m3, bf16>({.counts = {3, 0, 130, 64, 65, 1},
                                 .n = 136,
                                 .k = 160,
                                 .before = 2,
                                 .after = 3,
                                 .bias = true,
                                 .tokens = 40},
                                22);
  check_bytes<e4m3, e4m3, f32>({.counts = {2, 0, 131}, .n = 264, .k = 400, .parts = true, .tokens = 90}, 23);
  check_bytes<e5m2, e4m3, f32>({.counts = {9, 66}, .n = 136, .k = 200, .parts = true, .tokens = 10}, 24);
  check_bytes<e4m3, e4m3, f16>({.counts = {5, 66}, .n = 65, .k = 147, .b_along_k = false, .tokens = 9}, 25);
  check_bytes<e4m3, e4m3, f32>({.counts = {5, 6}, .n = 32, .k = 32, .parts = true, .bias = true, .tokens = 0},
                               26);
  check_bytes<i8, i8, bf16>({.counts = {70, 0, 3, 129}, .n = 72, .k = 96, .bias = true, .tokens = 33}, 27);
  check_bytes<i8, i8, i32>({.counts = {5, 66}, .n = 65, .k = 17, .pad = 1, .tokens = 9}, 28);
}

TEST_CASE("matmul_fp8_grouped and matmul_int8_grouped: gates", "[ops][fp8][int8][matmul_grouped]") {
  constexpr auto silu = matmul_activation::silu;
  check_bytes<e4m3, e4m3, bf16>({.counts = {3, 0, 130, 1}, .n = 272, .k = 160, .bias = true, .gate = silu},
                                29);
  check_bytes<e4m3, e4m3, f32>(
      {.counts = {2, 0, 131}, .n = 384, .k = 400, .parts = true, .tokens = 20, .gate = silu}, 30);
  check_bytes<e5m2, e4m3, f16>({.counts = {9, 66}, .n = 128, .k = 200, .parts = true, .gate = silu}, 31);
  check_bytes<e4m3, e4m3, bf16>({.counts = {5, 66},
                                 .n = 72,
                                 .k = 147,
                                 .b_along_k = false,
                                 .tokens = 9,
                                 .gate = silu,
                                 .alpha = 1.702f,
                                 .limit = 7,
                                 .up_offset = 1},
                                32);
  check_bytes<i8, i8, bf16>(
      {.counts = {70, 0, 3}, .n = 136, .k = 96, .c_pad = 4, .zero_points = true, .gate = silu}, 33);
  check_bytes<i8, i8, bf16>({.counts = {5, 66}, .n = 40, .k = 17, .pad = 1, .c_pad = 1, .gate = silu}, 34);
  for (const auto gate : {matmul_activation::gelu, matmul_activation::gelu_tanh, matmul_activation::relu})
    check_bytes<e4m3, e4m3, f32>({.counts = {4, 1}, .n = 24, .k = 48, .gate = gate}, 35);
}

TEST_CASE("matmul_int8_grouped: zero points", "[ops][int8][matmul_grouped]") {
  check_bytes<i8, i8, f32>({.counts = {3, 0, 130}, .n = 136, .k = 160, .bias = true, .zero_points = true},
                           36);
  check_bytes<i8, i8, i32>({.counts = {5, 66}, .n = 65, .k = 17, .pad = 1, .tokens = 9, .zero_points = true},
                           37);
  check_bytes<i8, i8, bf16>({.counts = {65, 2}, .n = 40, .k = 64, .tokens = 70, .zero_points = true}, 38);
}

TEST_CASE("matmul_fp8_grouped and matmul_int8_grouped: nothing to compute",
          "[ops][fp8][int8][matmul_grouped]") {
  check_bytes<e4m3, e4m3, f32>({.counts = {0, 0}, .n = 16, .k = 16, .after = 9}, 18);
  check_bytes<e4m3, e4m3, bf16>({.counts = {3, 4}, .n = 16, .k = 0, .parts = true, .bias = true}, 19);
  check_bytes<i8, i8, i32>({.counts = {3, 4}, .n = 16, .k = 0}, 20);
  check_bytes<i8, i8, f32>({.counts = {}, .n = 16, .k = 16, .after = 2}, 21);
}

TEST_CASE("matmul_fp8_grouped and matmul_int8_grouped: random problems",
          "[ops][fp8][int8][matmul_grouped][random]") {
  const u64 seed = std::random_device{}();
  CAPTURE(seed);
  std::mt19937_64 engine(seed);
  const auto below = [&](i64 n) { return static_cast<i64>(engine() % static_cast<u64>(n)); };
  for (int problem = 0; problem < 4; ++problem) {
    bytes_case x{.counts = std::vector<i32>(size(1 + below(7))),
                 .n = 8 * (1 + below(20)),
                 .k = 16 * (1 + below(14)),
                 .b_along_k = below(4) != 0,
                 .pad = problem % 2 == 0 ? 0 : 16 * below(2) + below(2),
                 .parts = below(2) == 0,
                 .bias = below(2) == 0,
                 .tokens = below(2) == 0 ? -1 : 1 + below(50),
                 .zero_points = below(2) == 0};
    if (below(2) == 0) {
      x.n *= x.parts ? 16 : 1;
      x.gate = static_cast<matmul_activation>(1 + below(4));
    }
    for (i32& count : x.counts) count = static_cast<i32>(below(3) == 0 ? below(90) : below(4));
    check_bytes<e4m3, e4m3, bf16>(x, engine());
    x.parts = false;
    check_bytes<i8, i8, f32>(x, engine());
  }
}

TEST_CASE("matmul_fp8_grouped: replays in a graph with other groups", "[ops][fp8][matmul_grouped]") {
  const device& gpu = under_test();
  const i64 rows = 96, n = 32, k = 64, groups = 3;
  std::vector<e4m3> ones(size(rows * k), e4m3(1.0f)), b;
  for (i64 g = 0; g < groups; ++g) b.insert(b.end(), size(n * k), e4m3(static_cast<float>(g + 1)));
  const auto a_memory = upload(ones), b_memory = upload(b);
  auto offset_memory = gpu.upload(std::vector<i32>{0, 0, 0, 0});
  auto c_memory = gpu.allocate<f32>(size(rows * n));
  matmul_fp8_grouped_warmup(gpu);
  const auto graph = capture_graph(gpu.stream(), [&] {
                       matmul_fp8_grouped(gpu.stream(), tensor_view<const e4m3, 2>(a_memory, rows, k),
                                          tensor_view<const e4m3, 3>(b_memory, groups, n, k).transposed(),
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
      for (i64 column = 0; column < n; ++column) right &= got[size(r * n + column)] == 64.0f * group;
    }
    REQUIRE(right);
  }
}

TEST_CASE("matmul_fp8_grouped and matmul_int8_grouped: bad input", "[ops][fp8][int8][matmul_grouped]") {
  const device& gpu = under_test();
  auto memory = gpu.allocate<e4m3>(8192), more = gpu.allocate<e4m3>(8192);
  auto results = gpu.allocate<f32>(4096), numbers = gpu.allocate<f32>(4096);
  auto ends = gpu.allocate<i32>(64);
  const tensor_view<const e4m3, 2> a(memory, 12, 32);
  const tensor_view<const e4m3, 3> b(more, 4, 32, 16);
  const tensor_view<const i32, 1> offsets(ends, 5);
  const tensor_view<f32, 2> c(results, 12, 16);
  using view_1 = tensor_view<const f32, 1>;
  using view_2 = tensor_view<const f32, 2>;
  const auto refused = [&](const std::string& part, const tensor_view<const e4m3, 2>& of_a,
                           const tensor_view<const e4m3, 3>& of_b, const tensor_view<const i32, 1>& of_groups,
                           const tensor_view<f32, 2>& to, const matmul_fp8_grouped_options& options = {}) {
    require_refusal(errc::invalid_argument, "kaio: matmul_fp8_grouped: ", part,
                    [&] { matmul_fp8_grouped(gpu.stream(), of_a, of_b, of_groups, to, options); });
  };
  refused("b has extent 1 of 31", a, b.slice(1, 0, 31), offsets, c);
  refused("offsets has extent 0 of 4", a, b, {ends, 4}, c);
  refused("c has extent 0 of 11", a, b, offsets, {results, 11, 16});
  refused("argument offsets has stride 2", a, b, {ends, extents(5), strides(2)}, c);
  refused("argument c has stride 12", a, b, offsets, {results, extents(12, 16), strides(1, 12)});
  refused("scale_a has extent 0 of 11", a, b, offsets, c, {.scale_a = view_1(numbers, extents(11))});
  refused("scale_b has extent 0 of 3", a, b, offsets, c, {.scale_b = view_2(numbers, 3, 16)});
  refused("bias has extent 1 of 1", a, b, offsets, c, {.bias = view_2(numbers, 4, 1)});
  refused("argument scale_b has 1 dimensions", a, b, offsets, c, {.scale_b = view_1(numbers, extents(4))});
  refused("give both, or neither", a, b, offsets, c, {.groups_a = view_2(numbers, 12, 1)});
  refused("argument rows is no (rows) of i32", a, b, offsets, c, {.rows = view_1(numbers, extents(12))});
  refused("rows has extent 0 of 11", a, b, offsets, c, {.rows = tensor_view<const i32, 1>(ends, 11)});
  refused("c has extent 1 of 16", a, b, offsets, c, {.gate = matmul_activation::silu});
  refused("no multiple of 64", a, b, offsets, c,
          {.groups_a = view_2(numbers, 12, 1),
           .blocks_b = tensor_view<const f32, 3>(numbers, 4, 1, 1),
           .gate = matmul_activation::silu});
  refused("option limit is not", a, b, offsets, c, {.gate = matmul_activation::silu, .limit = -1});
  refused("shares memory", a, b, offsets, c, {.scale_b = view_2(results, 4, 16)});
  require_refusal(errc::invalid_argument, "kaio: matmul_int8_grouped: ", "which holds the sums", [&] {
    auto integers = gpu.allocate<i8>(8192);
    auto sums = gpu.allocate<i32>(4096);
    matmul_int8_grouped(gpu.stream(), tensor_view<const i8, 2>(integers, 12, 32),
                        tensor_view<const i8, 3>(integers, 4, 32, 16), offsets,
                        tensor_view<i32, 2>(sums, 12, 16), {.scale_b = view_2(numbers, 4, 16)});
  });
}
