// matmul_w4_grouped and matmul_w8_grouped against products in double precision: every kernel and every kind
// of packed weights, groups of any size, and calls that are refused.
#include "tests/ops/refusal.hpp"
#include "tests/ops/weight_only/packed_support.hpp"

#include <kaio/ops/matmul_w8_grouped.hpp>

#include <algorithm>
#include <numeric>
#include <optional>
#include <random>
#include <string>

using namespace kaio;
using namespace kaio::tests;

namespace {

using weights_of_groups = std::vector<packed_weights>;

packed_weights random_e4m3(i64 n, i64 k, std::uint64_t seed) {
  std::mt19937_64 engine(seed);
  std::vector<u8> codes(static_cast<std::size_t>(n * k));
  for (u8& code : codes) code = static_cast<u8>(engine() % 0x60 | (engine() % 2) << 7);
  std::vector<f32> scales;
  for (i64 row = 0; row < n; ++row) scales.push_back(static_cast<f32>(1 + engine() % 7) / 64);
  const w8_shape shape{.n = n, .k = k, .codes = w8_codes::e4m3};
  buffer<u8> memory = under_test().upload(std::vector<u8>(packed_bytes(shape), 0xff));
  const auto on_codes = upload(codes);
  const auto on_scales = upload(scales);
  const stream& s = under_test().stream();
  repack(s,
         e4m3_w8{.weight = tensor_view<const u8, 2>(on_codes, n, k),
                 .scales = tensor_view<const f32, 1>(on_scales, n)},
         w8_weights{shape, memory});
  s.synchronize();
  return {shape, std::move(memory), [&](i64 row, i64 column) {
            return to_double(scales[static_cast<std::size_t>(row)]) *
                   number_of_e4m3(codes[static_cast<std::size_t>(row * k + column)]);
          }};
}

// Integers of eight bits with offsets, of GGUF's Q5_1.
packed_weights random_q5_1(i64 n, i64 k, std::uint64_t seed) {
  std::mt19937_64 engine(seed);
  std::vector<u8> blocks(static_cast<std::size_t>(n * k / 32 * 24));
  for (u8& byte : blocks) byte = static_cast<u8>(engine());
  for (std::size_t first = 0; first < blocks.size(); first += 24)
    for (const std::size_t high : {first + 1, first + 3})
      blocks[high] = 0x2c;  // scale and offset: about 1 / 16
  const auto on_bytes = upload(blocks);
  const w8_shape shape = w8_shape_of(block_format::q5_1, n, k);
  buffer<u8> memory = under_test().upload(std::vector<u8>(packed_bytes(shape), 0xff));
  auto numbers = under_test().allocate<f32>(static_cast<std::size_t>(n * k));
  const stream& s = under_test().stream();
  repack(s,
         gguf_blocks{block_format::q5_1,
                     tensor_view<const u8, 1>(on_bytes, extents(static_cast<i64>(blocks.size())))},
         w8_weights{shape, memory});
  dequantise(s, w8_weights{shape, memory}, tensor_view<f32, 2>(numbers, n, k));
  const std::vector<f32> all = numbers.download();
  return {shape, std::move(memory),
          [&](i64 row, i64 column) { return to_double(all[static_cast<std::size_t>(row * k + column)]); }};
}

constexpr int more_kinds = 2;  // e4m3 and q5_1, after packed_kinds
constexpr int all_kinds = static_cast<int>(std::size(packed_kinds)) + more_kinds;
packed_weights weights_of(int kind, i64 n, i64 k, std::uint64_t seed) {
  constexpr int packed = static_cast<int>(std::size(packed_kinds));
  return kind < packed    ? random_weights(packed_kinds[kind], n, k, seed)
         : kind == packed ? random_e4m3(n, k, seed)
                          : random_q5_1(n, k, seed);
}

struct grouped_case {
  std::vector<i32> counts;
  i64 n = 72, k = 128;
  i64 pad = 0;                // elements after each row of x and of y
  i64 before = 0, after = 0;  // rows of no group
  bool bias = false;
  i64 tokens = -1;  // rows of x, which are gathered; -1: as many as y has, in order
  matmul_activation gate = matmul_activation::none;
  f32 alpha = 1, limit = 0, up_offset = 0;

  bool is_gathered() const { return tokens >= 0; }
  bool is_gated() const { return gate != matmul_activation::none; }
  i64 columns() const { return is_gated() ? n / 2 : n; }
};

// The row of x for each row of y: some have none.
std::vector<i32> rows_of_x(const grouped_case& c, i64 rows, u64 seed) {
  std::vector<i32> result(static_cast<std::size_t>(rows));
  std::mt19937_64 engine(seed);
  for (i32 r = 0; i32 & row : result) {
    row = !c.is_gathered() ? r : static_cast<i32>(engine() % static_cast<u64>(c.tokens + 2)) - 1;
    ++r;
  }
  return result;
}

// y for sums of a gate and of its value, by f64, and the error that the errors of the sums allow.
template <class Out>
exact_sum gated_sum(const grouped_case& c, const exact_sum& gate, const exact_sum& up) {
  constexpr double smallest = std::is_same_v<Out, f16> ? 3e-8 : 1e-30;
  const double limit = c.limit == 0 ? INFINITY : to_double(c.limit);
  const double x = std::min(gate.value, limit);
  const double u = std::clamp(up.value, -limit, limit) + to_double(c.up_offset);
  const double activated = [&] {
    switch (c.gate) {
      case matmul_activation::relu: return std::max(x, 0.0);
      case matmul_activation::gelu: return 0.5 * x * std::erfc(-x / std::sqrt(2.0));
      case matmul_activation::gelu_tanh:
        return x / (1 + std::exp(-2 * std::sqrt(2 / std::acos(-1.0)) * (x + 0.044715 * x * x * x)));
      default: return x / (1 + std::exp(-to_double(c.alpha) * x));
    }
  }();
  constexpr double steepest = 1.2,
                   relative = 1.0 / (1 << 15);  // of the activations, and of their approximations
  const double y = activated * u;
  return {y, steepest * gate.error * std::abs(u) + std::abs(activated) * up.error + std::abs(y) * relative +
                 smallest};
}

// The weights of all groups on the device.
struct grouped_memory {
  grouped_w4_weights w;
  buffer<u8> memory;

  explicit grouped_memory(const weights_of_groups& groups) {
    w.shape = groups.front().weight.packed.shape;
    w.groups = static_cast<i64>(groups.size());
    std::vector<u8> all;
    for (const packed_weights& one : groups) {
      const std::vector<u8> bytes = one.memory.download();
      all.insert(all.end(), bytes.begin(), bytes.end());
    }
    REQUIRE(all.size() == packed_bytes(w.shape, w.groups));
    memory = upload(all);
    w.memory = memory;
  }
};

// The kernels that the device has for a call, each by its name.
std::vector<std::string> kernels_for(const ops::any_view& x, const grouped_w4_weights& w,
                                     matmul_w4_grouped_options options) {
  std::vector<std::string> names;
  for (const auto* image : ops::w4_grouped_kernels()) try {
      options.variant = image->name;
      names.emplace_back(matmul_w4_grouped_choice(under_test().stream(), x, w, options).name);
    } catch (const error& e) {
      REQUIRE(e.code() == errc::invalid_argument);
    }
  return names;
}

template <class T, class Out = T>
void check_grouped(const grouped_case& c, const weights_of_groups& groups, u64 seed,
                   bool every_kernel = false) {
  const stream& s = under_test().stream();
  const grouped_memory packed(groups);
  const i64 n = c.columns(), k = c.k, x_row = k + c.pad, y_row = n + c.pad;
  std::vector<i32> offsets{static_cast<i32>(c.before)};
  for (const i32 count : c.counts) offsets.push_back(offsets.back() + count);
  const i64 rows = offsets.back() + c.after;
  const i64 tokens = c.is_gathered() ? c.tokens : rows;
  const std::vector<i32> sources = rows_of_x(c, rows, seed + 2);
  const auto size = [](i64 count) { return static_cast<std::size_t>(count); };
  std::vector<T> x(size(tokens * x_row), from_float<T>(NAN));
  const std::vector<T> numbers = random_eighths<T>(tokens * k, seed);
  for (i64 r = 0; r < tokens; ++r) std::copy_n(numbers.begin() + r * k, size(k), x.begin() + r * x_row);
  const std::vector<T> bias = random_eighths<T>(packed.w.groups * c.n, seed + 1);
  const std::vector<Out> before(size(rows * y_row), from_float<Out>(-77));
  const auto x_memory = upload(x);
  const auto bias_memory = upload(bias);
  const auto offset_memory = upload(offsets);
  const auto row_memory = upload(sources);
  const tensor_view<const T, 2> x_view(x_memory, extents(tokens, k), strides(x_row, i64{1}));
  matmul_w4_grouped_options options{
      .gate = c.gate, .alpha = c.alpha, .limit = c.limit, .up_offset = c.up_offset};
  if (c.bias) options.bias = tensor_view<const T, 2>(bias_memory, packed.w.groups, c.n);
  if (c.is_gathered()) options.rows = tensor_view<const i32, 1>(row_memory, rows);
  std::vector<std::string> kernels = kernels_for(x_view, packed.w, options);
  REQUIRE(!kernels.empty());
  if (!every_kernel) kernels = {""};
  for (const std::string& kernel : kernels) {
    CAPTURE(n, k, c.pad, c.before, c.after, c.bias, c.tokens, c.is_gated(), seed, kernel, sizeof(Out));
    auto y_memory = upload(before);
    options.variant = kernel;
    matmul_w4_grouped(s, x_view, packed.w, tensor_view<const i32, 1>(offset_memory, packed.w.groups + 1),
                      tensor_view<Out, 2>(y_memory, extents(rows, n), strides(y_row, i64{1})), options);
    const std::vector<Out> y = y_memory.download();
    bool untouched = true;
    for (i64 r = 0; r < rows; ++r) {
      const bool has_group = r >= c.before && r < offsets.back();
      for (i64 column = 0; column < y_row; ++column) {
        const double result = to_double(y[size(r * y_row + column)]);
        if (!has_group || column >= n) {
          untouched &= result == -77;
          continue;
        }
        const auto own =
            std::upper_bound(offsets.begin(), offsets.end(), static_cast<i32>(r)) - offsets.begin() - 1;
        const auto sum_at = [&](i64 of_w) {
          const i64 source = sources[size(r)];
          exact_sum sum{};
          if (source >= 0 && source < tokens) sum = sum_of(groups[size(own)], numbers, source, of_w);
          if (c.bias) sum.value += to_double(bias[size(own * c.n + of_w)]);
          return sum;
        };
        const exact_sum exact =
            c.is_gated() ? gated_sum<Out>(c, sum_at(2 * column), sum_at(2 * column + 1)) : sum_at(column);
        const double allowed = exact.error + unit_in_last_place<Out>(exact.value) * 0.51;
        if (std::abs(result - exact.value) <= allowed) continue;
        CAPTURE(r, column, own, exact.value, allowed);
        REQUIRE(result == exact.value);
      }
    }
    REQUIRE(untouched);
  }
}

weights_of_groups some_groups(int kind, std::size_t count, i64 n, i64 k, u64 seed) {
  weights_of_groups groups;
  for (std::size_t g = 0; g < count; ++g) groups.push_back(weights_of(kind, n, k, seed + g));
  return groups;
}

template <class T, class Out = T>
void check_kind(int kind, const grouped_case& c, u64 seed, bool every_kernel = false) {
  CAPTURE(kind);
  check_grouped<T, Out>(c, some_groups(kind, c.counts.size(), c.n, c.k, seed), seed, every_kernel);
}

}  // namespace

TEST_CASE("matmul_w4_grouped: every kernel and every kind of weights", "[ops][w4][matmul_grouped]") {
  const grouped_case c{.counts = {3, 0, 19, 1}, .n = 136, .k = 320, .bias = true};
  for (int kind = 0; kind < all_kinds; ++kind) {
    check_kind<f16>(kind, c, 1, true);
    check_kind<bf16, f32>(kind, c, 2, true);
  }
}

TEST_CASE("matmul_w4_grouped: groups of any size", "[ops][w4][matmul_grouped]") {
  constexpr int integers = 1, mxfp4 = 7, bytes = 4;
  check_kind<f16>(integers, {.counts = {0, 0, 70, 8, 0, 9, 64}}, 3, true);
  check_kind<bf16>(mxfp4, {.counts = {1, 1, 1, 0, 1}}, 4, true);
  check_kind<bf16, f32>(mxfp4, {.counts = {131, 2}, .k = 192}, 5, true);
  check_kind<f16>(bytes, {.counts = {17}, .n = 40}, 6, true);
  check_kind<f16>(bytes, {.counts = {0, 33, 1, 0}, .n = 24}, 7, true);
}

TEST_CASE("matmul_w4_grouped: gathered rows", "[ops][w4][matmul_grouped]") {
  constexpr int kinds[] = {
      1, 2, 4, 7, 8, 9, all_kinds - 1};  // with zero points, act-order, bytes, tables and offsets
  for (const int kind : kinds)
    check_kind<bf16, f32>(kind, {.counts = {3, 0, 19, 1}, .n = 72, .k = 320, .bias = true, .tokens = 7}, 21,
                          true);
  check_kind<f16>(7, {.counts = {70, 0, 5}, .k = 192, .pad = 8, .before = 2, .after = 3, .tokens = 300}, 22,
                  true);
  check_kind<bf16>(1, {.counts = {9, 33}, .n = 40, .pad = 1, .tokens = 5}, 23, true);
  check_kind<f16>(7, {.counts = {2, 0, 20}, .tokens = 0}, 24, true);  // no row exists
}

TEST_CASE("matmul_w4_grouped: gates", "[ops][w4][matmul_grouped]") {
  constexpr int kinds[] = {0, 4, 7, 8, 9};
  for (const int kind : kinds)
    check_kind<bf16, f32>(
        kind, {.counts = {3, 0, 19, 1}, .n = 136, .k = 128, .bias = true, .gate = matmul_activation::silu},
        25, true);
  check_kind<bf16>(7,
                   {.counts = {40, 1},
                    .k = 320,
                    .bias = true,
                    .tokens = 9,
                    .gate = matmul_activation::silu,
                    .alpha = 1.702f,
                    .limit = 0.75f,
                    .up_offset = 1},
                   26, true);
  for (const auto gate : {matmul_activation::gelu, matmul_activation::gelu_tanh, matmul_activation::relu})
    check_kind<f16>(1, {.counts = {5, 0, 2}, .n = 76, .pad = 1, .before = 1, .after = 2, .gate = gate}, 27,
                    true);
}

TEST_CASE("matmul_w4_grouped: many groups", "[ops][w4][matmul_grouped]") {
  std::vector<i32> counts(300, 0);  // more than a search reads at once
  std::mt19937_64 engine(8);
  for (i32& count : counts)
    if (engine() % 3 == 0) count = static_cast<i32>(engine() % 5);
  check_kind<bf16>(7, {.counts = counts, .n = 32, .k = 64}, 8);
  std::fill(counts.begin(), counts.end() - 1, 0);  // the last group alone
  check_kind<f16>(0, {.counts = counts, .n = 32, .k = 64}, 9);
}

TEST_CASE("matmul_w4_grouped: rows at any address, and rows of no group", "[ops][w4][matmul_grouped]") {
  for (const int kind : {1, 4, 7, 8}) {
    check_kind<f16>(kind, {.counts = {5, 20}, .pad = 1, .before = 3, .after = 9}, 10, true);
    check_kind<bf16, f32>(kind, {.counts = {5, 0, 2}, .pad = 8, .before = 1, .after = 70, .bias = true}, 11);
  }
}

TEST_CASE("matmul_w4_grouped: random problems", "[ops][w4][matmul_grouped][random]") {
  const u64 seed = std::random_device{}();
  CAPTURE(seed);
  std::mt19937_64 engine(seed);
  const auto below = [&](i64 n) { return static_cast<i64>(engine() % static_cast<u64>(n)); };
  for (int problem = 0; problem < 4; ++problem) {
    grouped_case c{.counts = std::vector<i32>(static_cast<std::size_t>(1 + below(6))),
                   .n = 8 * (1 + below(20)),
                   .k = 64 * (1 + below(5)),
                   .pad = below(2) * (1 + below(8)),
                   .bias = below(2) == 0,
                   .tokens = below(2) == 0 ? -1 : 1 + below(20),
                   .gate = static_cast<matmul_activation>(below(2) * below(5))};
    for (i32& count : c.counts) count = static_cast<i32>(below(3) == 0 ? below(90) : below(4));
    check_kind<bf16>(static_cast<int>(below(all_kinds)), c, engine());
    check_kind<f16, f32>(static_cast<int>(below(all_kinds)), c, engine());
  }
}

TEST_CASE("matmul_w4_grouped: nothing to compute", "[ops][w4][matmul_grouped]") {
  check_kind<f16>(0, {.counts = {0, 0}}, 12);
  check_kind<f16>(7, {.counts = {0, 0}, .after = 9}, 13);
  const device& gpu = under_test();
  auto x = gpu.allocate<f16>(64), y = gpu.allocate<f16>(32);
  auto offsets = gpu.allocate<i32>(1);
  const grouped_w4_weights none{{.n = 32, .k = 64, .group = 64}, 0, {}};
  matmul_w4_grouped(gpu.stream(), tensor_view<const f16, 2>(x, 1, 64), none,
                    tensor_view<const i32, 1>(offsets, 1), tensor_view<f16, 2>(y, 1, 32));
}

TEST_CASE("matmul_w4_grouped: replays in a graph with other groups", "[ops][w4][matmul_grouped]") {
  const device& gpu = under_test();
  const i64 rows = 48, n = 32, k = 64;
  const weights_of_groups groups = some_groups(7, 3, n, k, 14);
  const grouped_memory packed(groups);
  const std::vector<f16> x = random_eighths(rows * k, 15);
  auto x_memory = upload(x);
  auto offset_memory = gpu.upload(std::vector<i32>{0, 0, 0, 0});
  auto y_memory = gpu.allocate<f32>(static_cast<std::size_t>(rows * n));
  const tensor_view<const f16, 2> x_view(x_memory, rows, k);
  matmul_w4_grouped_warmup(gpu, x_view, packed.w);
  const auto graph =
      capture_graph(gpu.stream(), [&] {
        matmul_w4_grouped(gpu.stream(), x_view, packed.w, tensor_view<const i32, 1>(offset_memory, 4),
                          tensor_view<f32, 2>(y_memory, rows, n));
      }).instantiate();
  for (const auto& offsets : {std::vector<i32>{0, 30, 30, 48}, std::vector<i32>{0, 1, 47, 48}}) {
    offset_memory.copy_from(offsets.data(), offsets.size(), gpu.stream());
    graph.launch(gpu.stream());
    const auto got = y_memory.download();
    for (i64 r = 0; r < rows; ++r) {
      const auto next = std::upper_bound(offsets.begin(), offsets.end(), static_cast<i32>(r));
      const exact_sum exact =
          sum_of(groups[static_cast<std::size_t>(next - offsets.begin() - 1)], x, r, r % n);
      const double result = to_double(got[static_cast<std::size_t>(r * n + r % n)]);
      REQUIRE(std::abs(result - exact.value) <= exact.error + 1e-6);
    }
  }
}

TEST_CASE("matmul_w8_grouped: by the kernels of matmul_w4_grouped", "[ops][w8][matmul_grouped]") {
  const device& gpu = under_test();
  const i64 rows = 5, n = 40, k = 96, of_group = 32;
  const std::vector<i32> offsets{0, 2, 5};
  const w8_shape shape{.n = n, .k = k, .group = of_group, .zero_points = true};
  weights_of_groups groups;
  for (const u64 seed : {u64{16}, u64{17}}) groups.push_back(random_w8(n, k, of_group, seed));
  const grouped_memory packed(groups);
  const grouped_w8_weights w{shape, 2, packed.memory};
  REQUIRE(w[1].memory.address - w[0].memory.address == packed_bytes(shape));
  const std::vector<bf16> x = random_eighths<bf16>(rows * k, 18);
  auto x_memory = upload(x);
  auto offset_memory = upload(offsets);
  auto y = gpu.allocate<f32>(static_cast<std::size_t>(rows * n));
  const tensor_view<const bf16, 2> x_view(x_memory, rows, k);
  matmul_w8_grouped_warmup(gpu, x_view, w);
  REQUIRE(!matmul_w8_grouped_choice(gpu.stream(), x_view, w).name.empty());
  matmul_w8_grouped(gpu.stream(), x_view, w, tensor_view<const i32, 1>(offset_memory, 3),
                    tensor_view<f32, 2>(y, rows, n));
  const auto got = y.download();
  for (i64 r = 0; r < rows; ++r)
    for (i64 column = 0; column < n; ++column) {
      const exact_sum exact = sum_of(groups[r < 2 ? 0 : 1], x, r, column);
      REQUIRE(std::abs(to_double(got[static_cast<std::size_t>(r * n + column)]) - exact.value) <=
              exact.error + 1e-6);
    }
  require_refusal(errc::invalid_argument, "kaio: packed weights: ", "group 2 of 2", [&] { (void)w[2]; });
}

TEST_CASE("matmul_w4_grouped: offsets that are wrong write no other memory", "[ops][w4][matmul_grouped]") {
  const i64 rows = 40, n = 32, k = 64;
  const grouped_memory packed(some_groups(1, 3, n, k, 19));
  const auto x = upload(random_eighths(rows * k, 20));
  auto y = under_test().allocate<f16>(static_cast<std::size_t>(rows * n));
  for (const auto& wrong : {std::vector<i32>{-5, 100, 7, 1000}, std::vector<i32>{50, 40, 30, 20}}) {
    const auto offsets = upload(wrong);
    matmul_w4_grouped(under_test().stream(), tensor_view<const f16, 2>(x, rows, k), packed.w,
                      tensor_view<const i32, 1>(offsets, 4), tensor_view<f16, 2>(y, rows, n));
    REQUIRE(y.download().size() == static_cast<std::size_t>(rows * n));  // the device is well
  }
}

TEST_CASE("matmul_w4_grouped: bad input", "[ops][w4][matmul_grouped]") {
  const device& gpu = under_test();
  auto memory = gpu.allocate<f16>(4096), out = gpu.allocate<f16>(4096);
  auto ends = gpu.allocate<i32>(64);
  const w4_shape shape{.n = 32, .k = 64, .group = 32};
  auto codes = gpu.allocate<u8>(packed_bytes(shape, 4));
  const grouped_w4_weights w{shape, 4, codes};
  const tensor_view<const f16, 2> x(memory, 12, 64);
  const tensor_view<const i32, 1> offsets(ends, 5);
  const tensor_view<f16, 2> y(out, 12, 32);
  const auto refused = [&](const std::string& part, const tensor_view<const f16, 2>& of_x,
                           const grouped_w4_weights& of_w, const tensor_view<const i32, 1>& of_groups,
                           const tensor_view<f16, 2>& to, const matmul_w4_grouped_options& options = {}) {
    require_refusal(errc::invalid_argument, "kaio: matmul_w4_grouped: ", part,
                    [&] { matmul_w4_grouped(gpu.stream(), of_x, of_w, of_groups, to, options); });
  };
  refused("x has extent 1 of 60", x.slice(1, 0, 60), w, offsets, y);
  refused("offsets has extent 0 of 4", x, w, {ends, 4}, y);
  refused("argument offsets has stride 2", x, w, {ends, extents(5), strides(2)}, y);
  refused("out has extent 0 of 11", x, w, offsets, {out, 11, 32});
  refused("out has extent 1 of 31", x, w, offsets, {out, 12, 31});
  refused("weights of -1 groups", x, {shape, -1, codes}, offsets, y);
  refused("weights", x, {shape, 5, codes}, {ends, 6}, y);  // no room for the fifth
  refused("shares memory", x, w, offsets, {memory, 12, 32});
  refused("no variant nothing", x, w, offsets, y, {.variant = "nothing"});
  refused("argument bias is no (groups, n)", x, w, offsets, y,
          {.bias = tensor_view<const f16, 1>(memory, extents(32))});
  refused("argument rows is no (rows) of i32", x, w, offsets, y,
          {.rows = tensor_view<const f16, 1>(memory, extents(12))});
  refused("out has extent 0 of 12", x, w, offsets, y, {.rows = tensor_view<const i32, 1>(ends, 11)});
  refused("out has extent 1 of 32", x, w, offsets, y, {.gate = matmul_activation::relu});
  refused("option alpha is not", x, w, offsets, y, {.gate = matmul_activation::silu, .alpha = 0});
  refused("bias has extent 0 of 3", x, w, offsets, y, {.bias = tensor_view<const f16, 2>(memory, 3, 32)});
  refused("own codes", x, {{.n = 32, .k = 64, .group = 32, .codes = ops::w4_codes::own}, 4, codes}, offsets,
          y);
}
