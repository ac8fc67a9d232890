// matmul_w4 against double precision: every kernel, extents around tiles and groups, splits of K, strides
// that are no multiples of 16 bytes, orders of K, and everything drawn at random.
#include "tests/ops/weight_only/support.hpp"

#include <algorithm>
#include <array>
#include <random>
#include <span>
#include <string>

using namespace kaio;
using namespace kaio::tests;

namespace {

struct w4_case {
  w4_shape shape{.n = 64, .k = 128, .group = 64};
  i64 m = 1;
  i64 pad = 0, shift = 0;  // elements after each row of x and y, before the first one
  bool bias = false;
  matmul_w4_options options{};
  w4_format format = w4_format::gptq_v2;
  std::uint64_t seed = 1;
  bool by_wgmma = false;  // where there is a kernel for the device
};

// If the kernel that runs rounds weights, the reference has each rounded to the nearest number of T.
template <class T, class Out, class S>
void check_w4(const w4_case& c) {
  if (is_without_bf16_products<T>(c.options.variant)) return;
  const stream& s = under_test().stream();
  const w4_model<S> model = w4_model<S>::random(c.shape, c.seed);
  const w4_on_device<S> on_device(model, c.format);
  std::mt19937_64 engine(c.seed);
  std::uniform_real_distribution<float> any(-1, 1);
  const i64 n = model.n(), k = model.k(), x_row = k + c.pad, y_row = n + c.pad;
  CAPTURE(c.m, n, k, c.shape.group, c.shape.zero_points, c.shape.act_order, c.pad, c.shift, c.bias, c.seed,
          c.options.splits);
  // Padding of x is NaN, that of y a pattern; nothing follows the last elements.
  std::vector<T> x(static_cast<std::size_t>(c.shift + (c.m - 1) * x_row + k));
  std::memset(static_cast<void*>(x.data()), 0xff, x.size() * sizeof(T));
  for (i64 r = 0; r < c.m; ++r)
    for (i64 i = 0; i < k; ++i) x[static_cast<std::size_t>(c.shift + r * x_row + i)] = T(any(engine));
  std::vector<T> bias;
  for (i64 i = 0; i < n; ++i) bias.push_back(T(any(engine)));
  std::vector<Out> y(static_cast<std::size_t>(c.shift + (c.m - 1) * y_row + n));
  std::memset(static_cast<void*>(y.data()), 0x5a, y.size() * sizeof(Out));
  const std::vector<Out> before = y;

  buffer<T> x_memory = upload(x), bias_memory = upload(bias);
  buffer<Out> y_memory = upload(y);
  const tensor_view<const T, 2> x_view(
      x_memory.slice(static_cast<std::size_t>(c.shift), x.size() - static_cast<std::size_t>(c.shift)),
      extents(c.m, k), strides(x_row, i64{1}));
  const tensor_view<Out, 2> y_view(
      y_memory.slice(static_cast<std::size_t>(c.shift), y.size() - static_cast<std::size_t>(c.shift)),
      extents(c.m, n), strides(y_row, i64{1}));
  matmul_w4_options options = c.options;
  if (c.bias) options.bias = tensor_view<const T, 1>(bias_memory, extents(n));
  const std::uint64_t bytes = matmul_w4_workspace_bytes(s, x_view, on_device.weights(), options);
  buffer<u8> workspace = under_test().upload(std::vector<u8>(std::max<std::uint64_t>(bytes, 1), 0xff));
  if (bytes != 0) options.workspace = workspace;
  const std::string_view kernel = matmul_w4_choice(s, x_view, on_device.weights(), options).name;
  const bool rounded = kernel.starts_with("dequantise") || kernel.find("rounded") != std::string_view::npos;
  if (c.by_wgmma && s.properties().target == ptx::target{90, true})
    CHECK(kernel.find("matmul_w4_sm90") != std::string_view::npos);
  matmul_w4(s, x_view, on_device.weights(), y_view, options);
  y = y_memory.download();

  std::vector<bool> written(y.size(), false);
  for (i64 r = 0; r < c.m; ++r)
    for (i64 column = 0; column < n; ++column) {
      double exact = c.bias ? to_double(bias[static_cast<std::size_t>(column)]) : 0.0, all = std::abs(exact);
      for (i64 i = 0; i < k; ++i) {
        const double weight = model.weight(i, column);
        const double product = to_double(x[static_cast<std::size_t>(c.shift + r * x_row + i)]) *
                               (rounded ? to_double(T(static_cast<float>(weight))) : weight);
        exact += product;
        all += std::abs(product);
      }
      const auto at = static_cast<std::size_t>(c.shift + r * y_row + column);
      written[at] = true;
      const double allowed = all * 0x1p-20 + unit_in_last_place<Out>(exact) * 0.51;
      if (std::abs(to_double(y[at]) - exact) <= allowed) continue;
      CAPTURE(r, column, exact);
      REQUIRE(to_double(y[at]) == exact);
    }
  for (std::size_t i = 0; i < y.size(); ++i)
    if (!written[i] && std::memcmp(&y[i], &before[i], sizeof(Out)) != 0)
      FAIL("matmul_w4 wrote into the padding of its output");
}

w4_case draw(std::uint64_t seed) {
  std::mt19937_64 engine(seed);
  const auto below = [&](u32 n) { return static_cast<i64>(engine() % n); };
  const auto chance = [&](u32 of) { return below(of) == 0; };
  constexpr i64 groups[] = {16, 32, 48, 64, 128, -1};
  w4_case c;
  c.seed = seed;
  const i64 group = groups[below(6)];
  c.shape = {.n = chance(3) ? 32 * (1 + below(9)) + below(3) - 1 : 1 + below(90),
             .k = group == -1 ? 1 + below(200) : group * (1 + below(static_cast<u32>(256 / group) + 1)),
             .group = group,
             .zero_points = chance(2),
             .act_order = chance(3)};
  c.m = chance(3) ? 1 : 1 + below(chance(3) ? 70 : 18);
  c.pad = chance(2) ? 0 : chance(2) ? 8 : below(9);
  c.shift = chance(3) ? below(9) : 0;
  c.bias = chance(2);
  c.options.splits = static_cast<u32>(std::min(below(4), (c.shape.k + 63) / 64));
  return c;
}

// The kernels for few rows have two or three stages. In a stage each of eight warps has two tiles of 64 k, with
// sixteen rows one.
void check_few_rows(i64 rows, std::span<const i64> tiles) {
  const u32 sm = under_test().stream().properties().target.sm;
  if (sm < 80) return;
  const std::string of_rows = "_" + std::to_string(rows);
  std::uint64_t seed = 0;
  for (const bool later : {false, true})
    for (const i64 k : tiles) {
      const std::uint64_t i = ++seed;
      if (later && sm < 90) continue;
      w4_case c{.shape = {.n = 8 + static_cast<i64>(i % 5) * 16,
                          .k = 64 * k - (i % 3 == 0 ? 16 : 0),
                          .group = i % 3 == 0   ? 16
                                   : i % 4 == 1 ? 32
                                                : 64,
                          .zero_points = i % 2 == 0,
                          .act_order = i % 5 == 0},
                .m = rows - 7 + static_cast<i64>(i * 3 % 8),
                .pad = i % 4 == 0 ? 3 : 8,
                .bias = i % 3 == 1,
                .options = {.splits = k < 3    ? 1u
                                      : k < 16 ? static_cast<u32>(1 + i % 3)
                                               : std::array<u32, 5>{1, 2, 3, 4, 8}[i % 5],
                            .constant = i % 2 == 0 ? constant_inputs::weights : constant_inputs::none},
                .seed = i};
      const std::string variant = std::string("matmul_w4_few_rows_") + (i % 2 == 0 ? "f16" : "bf16") +
                                  of_rows + (later ? "_sm90" : "_sm80");
      c.options.variant = variant;
      if (i % 2 == 0)
        check_w4<f16, f16, f16>(c);
      else
        check_w4<bf16, f32, f16>(c);
    }
}

}  // namespace

TEST_CASE("matmul_w4: every kernel, with one and several parts of K", "[ops][w4]") {
  for (const i64 m : {1, 8, 9, 16, 17, 32, 33, 64, 65})
    for (const i64 parts : {1, 2, 3, 4}) {  // of so short a K most are by the kernels for sm_80
      w4_case c{.shape = {.n = 40, .k = 256, .group = 128, .zero_points = m % 2 == 0},
                .m = m,
                .bias = parts == 3,
                .options = {.splits = static_cast<u32>(parts)},
                .seed = static_cast<std::uint64_t>(m)};
      if (m % 3 != 0)
        check_w4<f16, f16, f16>(c);
      else
        check_w4<bf16, bf16, bf16>(c);
    }
}

TEST_CASE("matmul_w4: one row by a kernel of its own", "[ops][w4]") {
  if (under_test().stream().properties().target.sm < 90) return;
  std::uint64_t seed = 100;
  for (const i64 k : {8, 64, 72, 520, 1088, 2200, 4352})
    for (const i64 parts : {1, 2, 4}) {
      const std::uint64_t i = ++seed;
      if (parts * 64 > k || k > parts * 4096) continue;  // a block has room for 4096 of x
      w4_case c{.shape = {.n = i % 4 == 0 ? 333 : 8 + static_cast<i64>(i % 5) * 17,
                          .k = k,
                          .group = std::array<i64, 3>{64, 128, -1}[i % 3],
                          .zero_points = i % 2 == 0},
                .shift = i % 3 == 0 ? 8 : 0,
                .bias = i % 3 == 1,
                .options = {.splits = static_cast<u32>(parts),
                            .constant = i % 2 == 0 ? constant_inputs::weights : constant_inputs::none},
                .seed = seed};
      const bool is_half = (k / 8 + parts) % 2 == 0;
      c.options.variant = is_half ? "matmul_w4_one_row_f16" : "matmul_w4_one_row_bf16";
      if (is_half)
        check_w4<f16, f16, bf16>(c);
      else
        check_w4<bf16, f32, f16>(c);
    }
}

// Clusters of several units, some with one unit more; more units than have room for their sums at once.
TEST_CASE("matmul_w4: one row by a kernel of its own, many columns", "[ops][w4]") {
  if (under_test().stream().properties().target.sm < 90) return;
  for (const i64 parts : {1, 2, 4}) {
    w4_case c{.shape = {.n = 4352, .k = 520, .group = 64, .zero_points = true},
              .bias = true,
              .options = {.splits = static_cast<u32>(parts), .variant = "matmul_w4_one_row_bf16"},
              .seed = static_cast<std::uint64_t>(parts)};
    check_w4<bf16, f32, f16>(c);
    c.shape = {.n = 7968, .k = 256, .group = 128};
    c.options.variant = "matmul_w4_one_row_f16";
    check_w4<f16, f16, f16>(c);
  }
  // Five batches of columns; in the last one, three blocks of a cluster own nothing.
  check_w4<f16, f16, f16>({.shape = {.n = 31000, .k = 256, .group = 128},
                           .options = {.splits = 4, .variant = "matmul_w4_one_row_f16"},
                           .seed = 5});
}

TEST_CASE("matmul_w4: up to eight rows, around the stages of a block", "[ops][w4]") {
  check_few_rows(8, std::array<i64, 11>{1, 2, 3, 15, 17, 32, 47, 48, 49, 96, 113});
}
TEST_CASE("matmul_w4: up to sixteen rows, around the stages of a block", "[ops][w4]") {
  check_few_rows(16, std::array<i64, 12>{1, 2, 7, 8, 9, 16, 23, 24, 25, 40, 48, 57});
}

TEST_CASE("matmul_w4: the tiles of sm_90a, with parts of K in clusters and by a second kernel", "[ops][w4]") {
  w4_case c{.shape = {.n = 257, .k = 1728, .group = 64, .zero_points = true}, .m = 129, .bias = true};
  c.by_wgmma = true;
  for (const u32 splits : {4u, 3u}) {
    c.options.splits = splits;
    check_w4<f16, f16, f16>(c);
  }
  for (std::uint64_t seed = 1; seed <= 9; ++seed) {
    std::mt19937_64 engine(seed);
    const auto below = [&](i64 n) { return static_cast<i64>(engine() % static_cast<std::uint64_t>(n)); };
    const i64 group = std::array<i64, 4>{64, 128, 192, -1}[static_cast<std::size_t>(below(4))];
    c.shape = {.n = 1 + below(seed % 2 == 0 ? 300 : 40),
               .k = group == -1 ? 256 + 8 * below(60) : group * (4 + below(5)),
               .group = group,
               .zero_points = below(2) == 0};
    // 32, 64 and 128 rows of a block; whole tiles, and last ones of few rows.
    c.m = seed % 3 == 1 ? 65 + below(80) : 17 + below(48);
    c.pad = 8 * below(3);
    c.bias = below(2) == 0;
    c.seed = seed;
    c.options.splits = static_cast<u32>(1 + below(std::min<i64>((c.shape.k + 255) / 256, 5)));
    if (seed % 2 == 0)
      check_w4<f16, f32, bf16>(c);
    else
      check_w4<bf16, bf16, f16>(c);
  }
}

// If a group has two neighbouring tiles of K, their sums are added as one.
TEST_CASE("matmul_w4: the tiles of sm_90a, by how many of K a group has and where its first one is",
          "[ops][w4]") {
  w4_case c{.shape = {.n = 136, .zero_points = true}};
  c.by_wgmma = true;
  for (const auto& [k, group] :
       {std::pair<i64, i64>{1024, 128},
        {1152, 128},  // the last step begins in the middle of another one
        {1088, 128},  // the last step begins within a group, and the last group is short
        {1280, 256},
        {1152, 256},
        {1152, 192},
        {768, -1}}) {
    c.shape.k = k;
    c.shape.group = group;
    c.options.splits = k == 1152 ? 2 : 1;
    for (const i64 m : {20, 40, 70}) {
      c.m = m;
      check_w4<f16, f16, f16>(c);
    }
  }
  c.m = 64;
  check_w4<bf16, bf16, bf16>(c);
}

TEST_CASE("matmul_w4: long K, as many parts as the device is filled by", "[ops][w4]") {
  w4_case c{.shape = {.n = 264, .k = 1664, .group = 64, .zero_points = true}, .m = 2};
  check_w4<f16, f16, f16>(c);
  c.options.splits = 1;
  check_w4<bf16, f32, f16>(c);  // more tiles than stages, in one split
}

TEST_CASE("matmul_w4: by a matrix in the workspace", "[ops][w4]") {
  w4_case c{.shape = {.n = 72, .k = 112, .group = 16, .zero_points = true, .act_order = true},
            .m = 33,
            .bias = true,
            .options = {.variant = "dequantise"}};
  check_w4<f16, f16, f16>(c);
  c.shape = {.n = 33, .k = 85, .group = -1};
  c.pad = 3;
  check_w4<bf16, f32, f16>(c);
}

// Groups of 128 of K = 224, and the like: elements beyond the last group belong to no other one.
TEST_CASE("matmul_w4: a last group with fewer codes, by every kernel", "[ops][w4]") {
  const ptx::target device = under_test().properties().target;
  std::uint64_t seed = 40;
  for (const auto& [k, group] :
       {std::pair{224, 128}, std::pair{200, 48}, std::pair{85, 16}, std::pair{896, 256}})
    for (const i64 m : {1, 8, 12, 17, 33, 65}) {
      ++seed;
      w4_case c{.shape = {.n = 40,
                          .k = k,
                          .group = group,
                          .zero_points = seed % 2 == 0,
                          .act_order = seed % 3 == 0 && k < 300},
                .m = m,
                .pad = k % 8 == 0 ? 0 : 3,
                .options = {.splits = static_cast<u32>(1 + seed % 2)},
                .seed = seed};
      if (seed % 2 == 0)
        check_w4<f16, f16, f16>(c);
      else
        check_w4<bf16, f32, f16>(c);
    }
  w4_case c{.shape = {.n = 40, .k = 224, .group = 128, .zero_points = true}, .m = 5};
  for (const std::string_view variant : {"matmul_w4_simt", "dequantise", "dequantise:2"}) {
    c.options.variant = variant;
    check_w4<f16, f16, f16>(c);
  }
  c.shape = {.n = 40, .k = 448, .group = 128, .zero_points = true};
  if (!(device == ptx::target{90, true})) return;
  c.m = 130;
  c.by_wgmma = true;
  for (const std::string_view variant :
       {"", "matmul_w4_sm90_rounded_f16_256", "matmul_w4_sm90_rounded_in_f32_f16_256_rows192"}) {
    c.options.variant = variant;
    c.options.exact_weights = variant.empty();
    if (variant.find("in_f32") == std::string_view::npos)
      check_w4<f16, f32, f16>(c);
    else
      check_w4<f16, f32, bf16>(c);
  }
}

// Slices of 32 columns, or of 256: whole tiles of the packed weights, the last slice shorter.
TEST_CASE("matmul_w4: by matrices of slices of the columns", "[ops][w4]") {
  w4_case c{.shape = {.n = 136, .k = 192, .group = 32, .zero_points = true},
            .m = 21,
            .bias = true,
            .options = {.variant = "dequantise:5"}};
  check_w4<f16, f16, f16>(c);
  c.options.constant = constant_inputs::weights;
  check_w4<bf16, f32, bf16>(c);
  c.pad = 5;  // rows of x and y that begin anywhere
  check_w4<bf16, bf16, f16>(c);
  c.pad = 0;
  c.shape.act_order = true;
  c.options.variant = "dequantise:3";
  check_w4<f16, f32, f16>(c);
  c.shape = {.n = 525, .k = 72, .group = -1};
  check_w4<f16, f16, bf16>(c);
}

// Blocks of 128 columns and 192 or 256 rows of x, or of 64 columns and fewer rows; stages of 128 of K.
TEST_CASE("matmul_w4: integers that the kernel for many rows rounds", "[ops][w4]") {
  if (!(under_test().properties().target == ptx::target{90, true})) return;
  w4_case c{.shape = {.n = 136, .k = 896, .group = 128, .zero_points = true}, .m = 257, .bias = true};
  c.by_wgmma = true;
  // By scales of the type of x, and of any.
  c.options.variant = "matmul_w4_sm90_rounded_f16_256";
  check_w4<f16, f16, f16>(c);
  c.options.variant = "matmul_w4_sm90_rounded_bf16_256";
  check_w4<bf16, f32, bf16>(c);
  c.options.variant = "matmul_w4_sm90_rounded_in_f32_f16_256_rows192";
  check_w4<f16, f16, bf16>(c);
  // Groups of 32, whose tiles have two scales; blocks that compute several tiles.
  c.options.variant = "matmul_w4_sm90_rounded_f16_128_rows64";
  c.shape = {.n = 3 * 64 - 10, .k = 352, .group = 32, .zero_points = true};
  c.m = 130;
  check_w4<f16, f16, f16>(c);
  c.options.variant = "matmul_w4_sm90_rounded_bf16_128";
  c.shape.zero_points = false;
  check_w4<bf16, f32, bf16>(c);
  c.options.variant = "matmul_w4_sm90_rounded_in_f32_bf16_128_rows64";
  check_w4<bf16, bf16, f16>(c);
  c.options.variant = "matmul_w4_sm90_rounded_f16_128_rows32";
  c.shape.n = 65;  // rows of y that begin anywhere
  c.m = 33;
  c.pad = 8;
  check_w4<f16, f16, f16>(c);
  check_w4<f16, f32, f16>(c);
  c.shape = {.n = 72, .k = 960, .group = 96, .zero_points = true};
  c.pad = 0;
  c.options.variant = "matmul_w4_sm90_rounded_f16_128:3";
  check_w4<f16, f16, f16>(c);
  c.options.splits = 2;  // by a second kernel
  c.shape = {.n = 40, .k = 1728, .group = 64};
  c.m = 30;
  c.pad = 8;
  c.options.variant = "matmul_w4_sm90_rounded_in_f32_bf16_256_rows192";
  check_w4<bf16, bf16, f16>(c);
  c.options.splits = 3;
  c.options.variant = "matmul_w4_sm90_rounded_f16_256";
  check_w4<f16, f32, f16>(c);
  c.shape = {.n = 129, .k = 256, .group = -1, .zero_points = true};
  c.options.splits = 1;
  check_w4<f16, f16, f16>(c);
}

// Whole tiles and last ones of few rows; an odd number of tiles of K; fewer and more stages than tiles.
TEST_CASE("matmul_w4: the launch chooses the rows of a block", "[ops][w4]") {
  if (!(under_test().properties().target == ptx::target{90, true})) return;
  w4_case c{.shape = {.n = 72, .k = 320, .group = 64, .zero_points = true}, .by_wgmma = true};
  const auto check = [&](i64 most, i64 rows) {
    const bool is_half = rows / 16 % 2 == 0;
    c.m = rows % 48 == 0 ? 2 * rows : rows % 48 == 16 ? rows + 5 : rows - 6;
    c.shape.k = rows % 64 == 0 ? 1216 : 320;
    c.bias = rows % 32 == 0;
    const std::string variant = std::string("matmul_w4_sm90_rounded_") + (is_half ? "f16_" : "bf16_") +
                                std::to_string(most) + (rows == most ? "" : "_rows" + std::to_string(rows)) +
                                ":" + std::to_string(1 + rows / 16 % 3);
    c.options.variant = variant;
    is_half ? check_w4<f16, f16, f16>(c) : check_w4<bf16, f32, bf16>(c);
  };
  for (i64 rows = 16; rows <= 128; rows += 16) check(128, rows);
  for (i64 rows = 128; rows <= 256; rows += 16) check(256, rows);
}

// Before sm_80 every other case too is by this kernel.
TEST_CASE("matmul_w4: by multiply-adds", "[ops][w4]") {
  for (std::uint64_t seed = 300; seed < 306; ++seed) {
    w4_case c = draw(seed);
    c.options.variant = "matmul_w4_simt";
    check_w4<f16, f16, f16>(c);
    check_w4<bf16, f32, bf16>(c);
  }
}

TEST_CASE("matmul_w4: random calls", "[ops][w4]") {
  for (std::uint64_t seed = 100; seed < 130; ++seed) {
    check_w4<f16, f16, f16>(draw(seed));
    check_w4<bf16, bf16, bf16>(draw(seed + 1000));
  }
  for (std::uint64_t seed = 200; seed < 206; ++seed) {
    check_w4<f16, f32, f16>(draw(seed));
    check_w4<bf16, f32, f16>(draw(seed + 1000));
    check_w4<f16, f16, bf16>(draw(seed + 2000));
  }
}
