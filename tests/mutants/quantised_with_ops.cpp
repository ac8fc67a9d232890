// Mutants of the kernels of quantised products: a sample of each kernel, on calls of its tests.

#include "mutants/calls.hpp"
#include "tests/ops/matmul_8bit/fp8_support.hpp"
#include "tests/ops/matmul_8bit/int8_support.hpp"
#include "tests/ops/weight_only/codes_support.hpp"

#include <optional>
#include <span>

using namespace kaio;
using namespace kaio::tests;
using namespace kaio::tests::mutants;

namespace {

constexpr harmless_statement without_effect[] = {
    // Rows of x beyond the last one: they repeat it, and have no results.
    {"weight_only/mma_sync/copies.hpp", "const val exists = t_.let(of_x < m)"},
    // Elements of x beyond K: their weights are 0. Groups without a copy.
    {"weight_only/mma_sync/copies.hpp", "select(e < left, x[e], T(0.0f))"},
    {"skinny/copies.hpp", "select(at + 2 * w < k_"},
    {"skinny/copies.hpp", "select(at + (2 * w + 1) < k_"},
    {"weight_only/mma_sync/kernel.hpp", "cp_async_wait_group<0>(t)"},
    {"skinny/kernel.hpp", "cp_async_wait_group<0>(t)"},
    // Zeros of rows that x does not have: their products are dropped.
    {"skinny/copies.hpp", "make_vec(0u, 0u, 0u, 0u)"},
    // The kernel looks for further rows of x, scales and zeros, and finds none.
    {"skinny/copies.hpp", "rows_ > rows_of_pass"},
    // The first element of four neighbours: it always exists.
    {"weight_only/mma_sync/store.hpp", "t.when(e < left)",
     [](std::string_view, std::string_view instruction) {
       return instruction.find(" 0, ") != instruction.npos;
     }},
    {"shared/store_four.hpp", "t.when(e < left)",
     [](std::string_view, std::string_view instruction) {
       return instruction.find(" 0, ") != instruction.npos;
     }},
    // A tile beyond the block's own: nobody reads it.
    {"weight_only/mma_sync/copies.hpp", "t_.when(tile < block_.last)"},
    {"skinny/kernel.hpp", "t.when(next < block.last)"},
    {"skinny/copies.hpp", "t_.when(tile + i < last_)"},
    // The cluster's barrier orders as much in the emulator's model.
    {"weight_only/sm90/kernel.hpp", "ring.init("},
    {"weight_only/sm90/kernel.hpp", "fence_mbarrier_init(t)"},
    {"matmul/sm90/mainloop.hpp", "fence_mbarrier_init(t_)"},
    // More places than the block has rows: these are checked one by one.
    {"weight_only/sm90/sums.hpp", "own_rows * fours"},
    {"weight_only/mma_sync/store.hpp", "t.block_stride(rows * fours)"},
    // Four elements one by one instead of together.
    {"weight_only/mma_sync/store.hpp", "const val whole ="},
    {"shared/store_four.hpp", "auto at_once ="},
    {"matmul/common/store_strip.hpp", "by_four = t.when(aligned)"},
    {"matmul/common/store_strip.hpp", "whole = t.when(at.is_whole)"},
    {"matmul/common/store_strip.hpp", "whole = t.when(all_of(aligned, at.is_whole))"},
    {"matmul/common/term_values.hpp", "const val aligned ="},
    {"matmul/common/term_values.hpp", "const val at_once ="},
    {"matmul/common/term_values.hpp", "auto vectors ="},
    {"matmul/common/general.hpp", "const val by_four ="},
    {"matmul/common/strip.hpp", "columns_left >= Columns"},
    // A turn after the last one changes no element.
    {"matmul/common/general.hpp", "y[i] = select(turn == i / few"},
    // A row after the last one: it does not exist.
    {"matmul/common/store_strip.hpp", "memory_at<Size>(t, address)[j] =",
     [](std::string_view, std::string_view instruction) {
       return instruction.find("setp.lt") != instruction.npos;
     }},
    // Both ways of rounding agree at a border of two ranges.
    {"shared/e4m3_code.hpp", "cast<e4m3>"},
    // Ranges that have a number for every thread or block. A whole tile, copied as a partial one.
    {"matmul/sm90/kernel.hpp", "t.range(cluster, parts, clusters)"},
    {"matmul/sm90/split.hpp", "t.range(t.thread_rank() / of_row, own_rows"},
    {"matmul/sm90/promotion.hpp", "t_.range(0u, steps)"},
    {"matmul/mma_sync/kernel.hpp", "auto whole = t.when(all_of(inside, rest >= C.k))"},
    // Parts of the tile scheduler that a tile of one kind does not need.
    {"shared/tile_scheduler.hpp", "const val is_last ="},
    {"matmul/sm90/store.hpp", "bulk_wait_group_read<turns - 1>"},
    // A whole panel stored by threads.
    {"matmul/sm90/store.hpp", "first.is_own(Rows, Columns)"},
    // Lines that no copy brings are cleared before the copies, or not, or more lines are: their products are dropped.
    {"matmul/sm90/clear_rest.hpp", ""},
    // A half tile's copy of the other half of A: the stage has arrived before it in the emulator's order.
    {"matmul/sm90/mainloop.hpp", "whole = t_.when(part.is_whole)",
     [](std::string_view, std::string_view instruction) { return instruction.starts_with("unguarded"); }},
};

// A product of random weights of four bits.
struct w4_call {
  w4_shape shape{.n = 64, .k = 128, .group = 64};
  product_call product{};
  matmul_w4_options options{};
};

template <class T, class Out, class S>
void check_w4(const w4_call& c) {
  const auto model = w4_model<S>::random(c.shape, c.product.seed);
  const w4_on_device<S> on_device(model, w4_format::gptq_v2);
  check_w_product<T, Out>(
      c.product, c.shape.n, c.shape.k, [&](i64 row, i64 k) { return model.weight(k, row); },
      [&](const auto& x, const auto& y, const ops::any_view& bias) {
        const stream& s = under_test().stream();
        matmul_w4_options options = c.options;
        options.bias = bias;
        const std::uint64_t bytes = matmul_w4_workspace_bytes(s, x, on_device.weights(), options);
        auto workspace = upload(std::vector<u8>(std::max<std::uint64_t>(bytes, 1), 0xff));
        if (bytes != 0) options.workspace = workspace;
        matmul_w4(s, x, on_device.weights(), y, options);
      });
}

// Codes that come in bytes: nf4, fp4, e2m1.
template <class T, class Out>
void check_codes(w4_codes codes, const w4_call& c) {
  const auto model = byte_model::random(codes, c.shape, c.product.seed);
  const byte_weights on_device(model);
  product_call product = c.product;
  product.rounded = std::is_same_v<T, f16> ? 0x1p-11 : 0x1p-8;
  check_w_product<T, Out>(
      product, c.shape.n, c.shape.k, [&](i64 row, i64 k) { return model.weight(row, k); },
      [&](const auto& x, const auto& y, const ops::any_view& bias) {
        const stream& s = under_test().stream();
        matmul_w4_options options = c.options;
        options.bias = bias;
        const std::uint64_t bytes = matmul_w4_workspace_bytes(s, x, on_device.weights(), options);
        auto workspace = upload(std::vector<u8>(std::max<std::uint64_t>(bytes, 1), 0xff));
        if (bytes != 0) options.workspace = workspace;
        matmul_w4(s, x, on_device.weights(), y, options);
      });
}

// Rows of every kernel, groups of every kind, tails of N and K, zero points, orders of K, splits.
std::vector<w4_call> calls_of_few_rows() {
  std::vector<w4_call> all;
  std::uint64_t seed = 1;
  for (const i64 m : {1, 7, 8, 9, 16, 17, 32, 33, 64, 65}) {
    all.push_back({{.n = 40, .k = 256, .group = 128, .zero_points = m % 2 == 0},
                   {.m = m, .bias = m % 3 == 0, .seed = seed++},
                   {.splits = static_cast<u32>(1 + m % 3)}});
    all.push_back({{.n = 33 + 8 * (m % 5), .k = 16 * (3 + m % 7), .group = 16, .zero_points = m % 3 == 0},
                   {.m = m, .pad = m % 4, .shift = m % 3, .seed = seed++}});
    all.push_back({{.n = 71 - m, .k = 85 + m, .group = -1, .act_order = false},
                   {.m = m, .bias = true, .seed = seed++}});
    all.push_back({{.n = 64 + m, .k = 48 * (2 + m % 3), .group = 48, .zero_points = true, .act_order = true},
                   {.m = m, .pad = 8, .seed = seed++}});
  }
  // Every tail of N, and of K, of rows that begin at multiples of 16 bytes and of others.
  for (i64 i = 0; i < 8; ++i)
    for (const i64 pad : {0, 1})
      all.push_back({{.n = 33 + i, .k = 121 + i + 64 * pad, .group = -1, .zero_points = pad != 0},
                     {.m = 1 + i, .pad = pad == 0 ? 15 - i : 1, .bias = i % 2 == 0, .seed = seed++},
                     {.splits = static_cast<u32>(1 + (i + pad) % 2)}});
  for (i64 i = 0; i < 4; ++i)
    for (const i64 pad : {1, 8})
      all.push_back(
          {{.n = 37 + i, .k = 130, .group = -1}, {.m = 64 - i, .pad = pad, .bias = true, .seed = seed++}});
  for (i64 i = 0; i < 8; ++i)  // and of the last one of many tiles of K
    all.push_back(
        {{.n = 12 + i, .k = 1001 + i, .group = -1}, {.m = 1 + i, .pad = 1, .seed = seed++}, {.splits = 1}});
  all.push_back({{.n = 264, .k = 1664, .group = 64, .zero_points = true}, {.m = 2}});
  all.push_back({{.n = 70, .k = 704, .group = 64}, {.m = 8}, {.splits = 1}});
  all.push_back({{.n = 72, .k = 1664, .group = 64, .zero_points = true}, {.m = 12}, {.splits = 1}});
  return all;
}
std::vector<w4_call> calls_of_tiles() {
  std::vector<w4_call> all;
  std::uint64_t seed = 1;
  for (const i64 m : {17, 24, 33, 64, 65, 129})
    for (const i64 parts : {1, 2, 3, 4}) {
      const i64 group = std::array<i64, 4>{64, 128, 192, -1}[static_cast<std::size_t>(parts - 1)];
      all.push_back({{.n = parts % 2 == 0 ? 256 + parts / 2 + m % 2 : 24 + m % 9,
                      .k = group == -1 ? 1024 + 8 * (m % 5) : group * (parts == 1 ? 12 : 1024 / group + 1),
                      .group = group,
                      .zero_points = m % 2 == 0},
                     {.m = m, .pad = 8 * (parts % 3), .bias = parts == 3, .seed = seed++},
                     {.splits = static_cast<u32>(parts)}});
    }
  return all;
}

tally kill_w4() {
  mutants_of_calls mutants({{"matmul_w4_mma_f16_64", 30}, {"matmul_w4_combine_sm70", 20}}, without_effect);
  mutants.on("sm_80", [] {
    for (const w4_call& c : calls_of_few_rows()) check_w4<f16, f16, f16>(c);
    for (const w4_call& c : calls_of_few_rows())
      if (c.product.m <= 9 || c.product.m > 60) check_w4<f16, f32, bf16>(c);
    for (const w4_call& c : calls_of_few_rows())
      if (c.product.m <= 8 && c.options.splits > 1) {
        check_w4<bf16, bf16, f16>(c);
        check_w4<bf16, f32, bf16>(c);
        w4_call with_factors = c;
        with_factors.shape = {.n = c.shape.n, .k = 16 * (8 + c.product.m), .group = 16, .factors = true};
        check_codes<bf16, bf16>(w4_codes::e2m1, with_factors);
      }
    for (w4_call c : calls_of_few_rows()) {
      if (c.product.m > 9) continue;
      c.shape.zero_points = c.shape.act_order = false;
      c.shape.group = 64, c.shape.k = 64 * (2 + c.product.m);
      c.options.splits = std::min(c.options.splits, 2u);
      check_codes<f16, f16>(c.product.m % 2 == 0 ? w4_codes::nf4 : w4_codes::fp4, c);
      check_codes<f16, f32>(c.product.m % 2 == 0 ? w4_codes::nf4 : w4_codes::fp4, c);
      c.shape.group = 16, c.shape.factors = true;
      check_codes<f16, f16>(w4_codes::e2m1, c);
      check_codes<f16, f32>(w4_codes::e2m1, c);
    }
  });
  return mutants.result();
}

// With this K every warp has tiles in all stages, again and again. Rows of x by pieces and by elements, every tail of N.
std::vector<w4_call> calls_of_long_rows() {
  std::vector<w4_call> all;
  for (u32 m = 1; m <= 16; ++m)
    for (const bool by_pieces : {true, false}) {
      const i64 group = by_pieces ? std::array<i64, 4>{64, 128, 16, 32}[m % 4] : -1;
      all.push_back({{.n = 24 + m,
                      .k = by_pieces ? 128 * (32 + m) : 4000 + 8 * m + 1,
                      .group = group,
                      .zero_points = m % 2 == 0},
                     {.m = m, .pad = by_pieces ? 0 : m % 3, .bias = true, .seed = 200 + m},
                     {.splits = 1}});
    }
  return all;
}

// Rows of x that begin at multiples of 16 bytes, with whole tiles of K, are copied by pieces.
tally kill_few_rows() {
  mutants_of_calls mutants({{"matmul_w4_few_rows_f16_8_sm80", 30},
                            {"matmul_w4_few_rows_f16_16_sm80", 30},
                            {"matmul_w4_few_rows_table_f16_8_sm80", 30}},
                           without_effect);
  mutants.on("sm_80", [] {
    for (const w4_call& c : calls_of_few_rows())
      if (c.product.m <= 16) check_w4<f16, f16, f16>(c);
    for (u32 m = 1; m <= 16; m += m < 8 ? 1 : 4)
      for (const i64 group : {16, 32, 64, 128}) {
        const w4_call c{{.n = 40 + m, .k = 128 * (2 + m), .group = group, .zero_points = m % 2 == 0},
                        {.m = m, .pad = 8 * (m % 2), .bias = m % 3 == 0, .seed = 100 + m}};
        check_w4<f16, f32, f16>(c);
        if (group < 64) continue;
        w4_call codes = c;
        codes.shape.zero_points = false;
        check_codes<f16, f32>(m % 2 == 0 ? w4_codes::nf4 : w4_codes::fp4, codes);
      }
    for (const w4_call& c : calls_of_long_rows()) {
      check_w4<f16, f16, bf16>(c);
      w4_call codes = c;
      codes.shape.zero_points = false;
      if (c.shape.group < 64) codes.shape.group = 64;
      if (c.shape.group == -1) codes.shape.k = 64 * 65, codes.product.pad = 1;
      check_codes<f16, f16>(c.product.m % 2 == 0 ? w4_codes::nf4 : w4_codes::fp4, codes);
    }
  });
  return mutants.result();
}

tally kill_w4_sm90() {
  mutants_of_calls mutants({{"matmul_w4_sm90_f16", 8}}, without_effect);
  mutants.on("sm_90a", [] {
    for (const i64 m : {17, 33, 65, 129})  // every tail of N, with a bias, in one split
      for (i64 n = 25; n < 29; ++n) {
        const w4_call c{{.n = n, .k = 256, .group = 64}, {.m = m, .bias = true}, {.splits = 1}};
        check_w4<f16, f16, f16>(c);
        check_w4<f16, f32, f16>(c);
      }
    for (i64 m = 17; m <= 192; ++m)  // every tail of M in a split of K; its rows are checked one by one
      check_w4<f16, f32, f16>({{.n = 26, .k = 768, .group = 64}, {.m = m}, {.splits = 3}});
    for (const w4_call& c : calls_of_tiles()) check_w4<f16, f32, f16>(c);
  });
  return mutants.result();
}

// Numbers by pairs in shared memory, and splits of K in the blocks of clusters.
tally kill_pairs() {
  mutants_of_calls mutants({{"matmul_w4_few_rows_table_f16_8_sm90", 60}}, without_effect);
  mutants.on("sm_90", [] {
    for (u32 m = 1; m <= 8; ++m)
      for (const i64 parts : {1, 2, 3, 4}) {
        const w4_call c{{.n = 24 + 5 * m, .k = 64 * (4 * parts + m), .group = 64},
                        {.m = m, .pad = 8 * (m % 2) + m / 7, .bias = m % 3 != 0, .seed = 300 + m},
                        {.splits = static_cast<u32>(parts)}};
        check_codes<f16, f16>(m % 2 == 0 ? w4_codes::nf4 : w4_codes::fp4, c);
        check_codes<f16, f32>(m % 2 == 0 ? w4_codes::fp4 : w4_codes::nf4, c);
      }
    for (w4_call c : calls_of_long_rows()) {
      if (c.product.m > 8) continue;
      c.shape.zero_points = false;
      if (c.shape.group == -1) c.shape.k = 64 * 65, c.product.pad = 1;
      if (c.shape.group < 64) c.shape.group = 64;
      check_codes<f16, f16>(c.product.m % 2 == 0 ? w4_codes::nf4 : w4_codes::fp4, c);
    }
  });
  return mutants.result();
}

// Lines that begin at multiples of 16 bytes.
layout lines_by_16(const shape& s) {
  return {false, true, false, pad_to_16<i8>(s.k), pad_to_16<i8>(s.k), pad_to_16<i8>(s.n)};
}

// Their emulation takes a fraction of the time of the others.
bool is_for_sm90(std::string_view kernels) { return kernels.starts_with("matmul_sm90"); }

// By every kernel that runs the product and whose name begins so.
template <class Out>
void check_int8_by(std::string_view kernels, const shape& s, const layout& l,
                   const int8_terms_of_test& what) {
  const matrices<i8> a(1, s.m, s.k, false, l.a_pad), b(1, s.k, s.n, l.b_by_columns, l.b_pad);
  const matrices<Out> c(1, s.m, s.n, false, l.c_pad);
  auto da = upload(a.host), db = upload(b.host);
  auto dc = upload(c.host);
  const bool scales_alone =
      what.zero_a == per::none && !what.residual && what.activation == matmul_activation::none;
  for (const auto& v : ops::matmul_int8_variants(under_test().stream(), view_of<const i8>(da, a),
                                                 view_of<const i8>(db, b), view_of<Out>(dc, c)))
    if (v.refusal.empty() && std::string_view(v.name).starts_with(kernels) &&
        (scales_alone || std::string_view(v.name).ends_with("general")))
      check_int8<Out>(s, l, what, v.name);
}

// Every tail of N, few elements.
constexpr shape shapes_of_tails[] = {
    {1, 9, 61, 48}, {1, 66, 62, 40}, {1, 3, 127, 64}, {1, 16, 68, 16}, {1, 8, 67, 32}};
// Every tail of N, with a K that two blocks share.
constexpr shape split_tails[] = {
    {1, 9, 61, 1040}, {1, 40, 62, 1056}, {1, 3, 127, 1072}, {1, 33, 68, 1088}, {1, 8, 67, 1040}};
// K passes the ring of stages more than once, for few and for some rows.
constexpr shape long_shapes[] = {
    {1, 16, 20, 6000}, {1, 50, 20, 3600}, {1, 130, 129, 1700}, {1, 136, 200, 400}};
// Tiles on sm_90a are closer together than they are wide: a tile does not own all of its lines.
constexpr shape spaced_shapes[] = {{1, 24, 1200, 272}, {1, 1200, 24, 272}};
constexpr shape shapes_of_products[] = {{1, 65, 67, 129},   {1, 1, 130, 513}, {1, 17, 64, 1025},
                                        {1, 129, 257, 272}, {1, 35, 33, 16},  {1, 9, 141, 31},
                                        {1, 130, 264, 200}, {1, 64, 128, 64}};

void check_int8_kernels(std::string_view kernels) {
  for (const shape& s : shapes_of_products) {
    check_int8_by<f32>(kernels, s, lines_by_16(s), {.bias = true, .alpha = -0.5f});
    check_int8_by<bf16>(kernels, s, lines_by_16(s), {});
  }
  for (const shape& s : shapes_of_tails) {
    check_int8_by<f16>(kernels, s, lines_by_16(s), {});
    check_int8_by<i8>(kernels, s, lines_by_16(s), {.out_scale = 3});
    check_int8_by<i32>(kernels, s, lines_by_16(s), {.scale_a = per::none, .scale_b = per::none});
  }
  if (is_for_sm90(kernels))
    for (const shape& s : long_shapes) check_int8_by<f32>(kernels, s, lines_by_16(s), {});
}
// By the kernels with every epilogue, for every output; also if the lines are no multiples of four elements.
void check_int8_epilogues(std::string_view kernels, std::span<const shape> shapes) {
  for (const shape& s : shapes)
    for (const u32 pad : {pad_to_16<i8>(s.n), 1u, 2u}) {
      layout l = lines_by_16(s);
      l.c_pad = pad;
      const int8_terms_of_test rich{.scale_a = per::one,
                                    .zero_a = per::each,
                                    .bias = true,
                                    .residual = true,
                                    .activation = matmul_activation::relu,
                                    .alpha = 0.5f};
      check_int8_by<f32>(kernels, s, l, rich);
      check_int8_by<f16>(kernels, s, l, rich);
      check_int8_by<bf16>(kernels, s, l, {.zero_a = per::one});
      check_int8_by<i8>(kernels, s, l, {.residual = true, .out_scale = 3});
      check_int8_by<i32>(kernels, s, l, {.scale_a = per::none, .scale_b = per::none});
    }
  for (const layout& l : {layout{false, false, false, 1, 2, 3}, layout{false, true, false, 3, 1, 1}})
    check_int8_by<f16>(kernels, {1, 65, 67, 129}, l, {.zero_a = per::one});
}

// Terms that the host does not compute bit for bit, on one small product: the other activations, biases of rows,
// residuals of each type. run(options, c) is the call.
template <class Options, class Run>
void run_terms(const Options& plain, const shape& s, const Run& run) {
  std::vector<f32> numbers(std::size_t{s.m} * s.n);
  for (std::size_t i = 0; i < numbers.size(); ++i) numbers[i] = static_cast<f32>(i % 17) / 8 - 1;
  auto as_f32 = upload(numbers);
  auto as_bf16 = upload(std::vector<bf16>(numbers.begin(), numbers.end()));
  auto as_f16 = upload(std::vector<f16>(numbers.begin(), numbers.end()));
  auto c = upload(std::vector<f32>(numbers.size(), -7.0f));
  const tensor_view<f32, 2> to(c, s.m, s.n);
  for (const auto activation : {matmul_activation::relu, matmul_activation::gelu,
                                matmul_activation::gelu_tanh, matmul_activation::silu}) {
    Options options = plain;
    options.activation = activation;
    run(options, to);
  }
  Options options = plain;
  options.bias = per_row(tensor_view<const f32, 1>(as_f32, extents(s.m)));
  options.residual = tensor_view<const f32, 2>(as_f32, s.m, s.n);
  run(options, to);
  options.bias = per_column(tensor_view<const bf16, 1>(as_bf16, extents(s.n)));
  options.residual = tensor_view<const bf16, 2>(as_bf16, s.m, s.n);
  run(options, to);
  options.bias = per_row(tensor_view<const f16, 1>(as_f16, extents(s.m)));
  options.residual = tensor_view<const f16, 2>(as_f16, s.m, s.n);
  run(options, to);
}

// Scales of 16 bits, and the terms, by every kernel whose name begins so.
void run_int8_terms(std::string_view kernels, const shape& s) {
  std::vector<i8> a(std::size_t{s.m} * s.k), b(std::size_t{s.n} * s.k);
  for (std::size_t i = 0; i < a.size(); ++i) a[i] = static_cast<i8>(i * 37);
  for (std::size_t i = 0; i < b.size(); ++i) b[i] = static_cast<i8>(i * 91 + 5);
  auto da = upload(a), db = upload(b);
  auto scale_a = upload(std::vector<f16>(s.m, f16(0.004f)));
  auto scale_b = upload(std::vector<bf16>(s.n, bf16(0.01f)));
  const tensor_view<const i8, 2> of_a(da, s.m, s.k);
  const auto of_b = tensor_view<const i8, 2>(db, s.n, s.k).transposed();
  const stream& on = under_test().stream();
  matmul_int8_options options;
  options.scale_a = tensor_view<const f16, 1>(scale_a, extents(s.m));
  options.scale_b = tensor_view<const bf16, 1>(scale_b, extents(s.n));
  run_terms(options, s, [&](matmul_int8_options with, const tensor_view<f32, 2>& c) {
    for (const auto& v : ops::matmul_int8_variants(on, of_a, of_b, c, with))
      if (v.refusal.empty() && std::string_view(v.name).starts_with(kernels)) {
        with.variant = v.name;
        matmul_int8(on, of_a, of_b, c, with);
      }
  });
}

tally kill_int8() {
  mutants_of_calls mutants({{"matmul_mma_s8_s8_k32_any_nt", 10},
                            {"matmul_sm90_i8_f32", 6},
                            {"matmul_sm90_i8_any", 10},
                            {"matmul_sm90_splitn_i8", 6},
                            {"matmul_simt_i8", 8}},
                           without_effect);
  const auto check = [](std::string_view all, std::string_view general) {
    check_int8_kernels(all);
    check_int8_epilogues(general, shapes_of_tails);
    for (const u32 n : {20u, 21u}) run_int8_terms(all, {1, 9, n, 1040});
  };
  mutants.on("sm_80", [&] { check("matmul_mma_s8", "matmul_mma_s8"); });
  mutants.on("sm_90a", [&] {
    check("matmul_sm90", "matmul_sm90_i8_any");
    check_int8_epilogues("matmul_sm90_split", split_tails);
  });
  mutants.on("sm_70", [&] { check("matmul_simt_i8", "matmul_simt_i8"); });
  return mutants.result();
}

template <class Out>
void check_fp8_by(std::string_view kernels, const shape& s, const fp8_terms_of_test& what,
                  std::optional<u32> c_pad = {}) {
  layout l = fp8_aligned(s);
  l.c_pad = c_pad.value_or(l.c_pad);
  for (const std::string& name : fp8_case<e4m3, e4m3, Out>(s, l, what).variants())
    if (name.starts_with(kernels)) check_fp8<Out>(s, l, what, name);
}

void check_fp8_kernels(std::string_view kernels) {
  for (const bool groups : {false, true})
    for (const shape& s : shapes_of_products) {
      if (!is_for_sm90(kernels) && s.m * s.n > 20000) continue;
      check_fp8_by<f32>(kernels, s, {.groups = groups, .bias = true, .alpha = -0.5f});
      const fp8_terms_of_test scaled{.scale_a = groups ? fp8_scales::none : fp8_scales::each,
                                     .scale_b = groups ? fp8_scales::none : fp8_scales::each,
                                     .groups = groups,
                                     .groups_by_columns = s.m % 2 == 0,
                                     .alpha = 0.25f};
      check_fp8_by<bf16>(kernels, s, scaled);
      // Rows of C that begin anywhere.
      check_fp8_by<bf16>(kernels, s, scaled, 1);
    }
  if (is_for_sm90(kernels))
    for (const bool groups : {false, true}) {
      const fp8_terms_of_test scales{.scale_a = groups ? fp8_scales::none : fp8_scales::each,
                                     .scale_b = groups ? fp8_scales::none : fp8_scales::each,
                                     .groups = groups};
      for (const auto& shapes :
           {std::span<const shape>(long_shapes), std::span<const shape>(shapes_of_products),
            std::span<const shape>(spaced_shapes)})
        for (const shape& s : shapes) check_fp8_by<bf16>(kernels, s, scales);
    }
}
// By the kernels with every epilogue, for every output.
void check_fp8_epilogues(std::string_view kernels, std::span<const shape> shapes) {
  for (const bool groups : {false, true})
    for (const shape& s : shapes) {
      const fp8_terms_of_test rich{.scale_a = fp8_scales::one,
                                   .groups = groups,
                                   .bias = true,
                                   .residual = true,
                                   .activation = matmul_activation::relu,
                                   .alpha = 0.5f};
      check_fp8_by<f32>(kernels, s, rich);
      check_fp8_by<f16>(kernels, s, rich);
      check_fp8_by<bf16>(kernels, s, {.groups = groups});
      // Rows of C that begin anywhere.
      check_fp8_by<f16>(kernels, s, rich, 1);
      check_fp8_by<f32>(kernels, s, rich, 1);
      check_fp8_by<e4m3>(kernels, s, {.groups = groups, .residual = true, .out_scale = 3}, 1);
      check_fp8_by<e4m3>(kernels, s, {.groups = groups, .residual = true, .out_scale = 3});
    }
}

void run_fp8_terms(std::string_view kernels, const shape& s) {
  for (const bool groups : {false, true}) {
    fp8_case<e4m3, e4m3, f32> x(s, fp8_aligned(s), {.groups = groups});
    const stream& on = under_test().stream();
    run_terms(x.options, s, [&](matmul_fp8_options with, const tensor_view<f32, 2>& c) {
      const auto of_a = view_of<const e4m3>(x.da, x.a);
      const auto of_b = view_of<const e4m3>(x.db, x.b);
      for (const auto& v : ops::matmul_fp8_variants(on, of_a, of_b, c, with))
        if (v.refusal.empty() && std::string_view(v.name).starts_with(kernels)) {
          with.variant = v.name;
          matmul_fp8(on, of_a, of_b, c, with);
        }
    });
  }
}

tally kill_fp8() {
  mutants_of_calls mutants({{"matmul_mma_e4m3", 6},
                            {"matmul_mma_f16_f16_k16_any_nt_64x64x64_w32x16_s3_r1_c22_fp8", 5},
                            {"matmul_sm90_e4m3", 4},
                            {"matmul_sm90_splitn_e4m3", 4},
                            {"matmul_simt_fp8", 6}},
                           without_effect);
  const auto check = [](std::string_view kernels) {
    check_fp8_kernels(kernels);
    check_fp8_epilogues(kernels, shapes_of_tails);
    for (const u32 n : {20u, 21u}) run_fp8_terms(kernels, {1, 9, n, 1040});
  };
  mutants.on("sm_89", [&] { check("matmul_mma_e4m3"); });
  mutants.on("sm_80", [&] { check("matmul_mma_f16"); });
  mutants.on("sm_90a", [&] {
    check("matmul_sm90");
    check_fp8_epilogues("matmul_sm90_split", split_tails);
  });
  mutants.on("sm_70", [&] { check("matmul_simt"); });
  return mutants.result();
}

}  // namespace

TEST_CASE("mutants of matmul_w4 are killed", "[mutants]") { check_rate("matmul_w4", kill_w4(), 95); }
TEST_CASE("mutants of matmul_w4 of few rows are killed", "[mutants]") {
  check_rate("matmul_w4 of few rows", kill_few_rows(), 95);
}
TEST_CASE("mutants of matmul_w4 by tables in shared memory are killed", "[mutants]") {
  check_rate("matmul_w4 by tables in shared memory", kill_pairs(), 95);
}
TEST_CASE("mutants of matmul_w4 for sm_90a are killed", "[mutants]") {
  check_rate("matmul_w4 for sm_90a", kill_w4_sm90(), 95);
}
TEST_CASE("mutants of matmul_int8 are killed", "[mutants]") { check_rate("matmul_int8", kill_int8(), 95); }
TEST_CASE("mutants of matmul_fp8 are killed", "[mutants]") { check_rate("matmul_fp8", kill_fp8(), 90); }
