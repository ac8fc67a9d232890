// Mutants of the kernels of attention: a sample of each kernel, with the small faults of mutation.hpp (killing.hpp).

#include "catch.hpp"
#include "mutants/attention_run.hpp"
#include "mutants/killing.hpp"
#include "mutants/reached.hpp"
#include "mutants/run.hpp"

#include <kaio/ops/attention/block_mask/kernel.hpp>

#include <algorithm>
#include <chrono>
#include <deque>
#include <functional>
#include <iostream>
#include <string>
#include <vector>

using namespace kaio;
using namespace kaio::tests::mutants;

namespace {

constexpr std::size_t ordinary_sample = 40, sample_of_slow = 5;

using result = std::optional<std::vector<std::byte>>;
// A kernel on one of its cases, as it is or with a fault.
using run_of_case = std::function<result(std::string_view text, const run_mode& mode)>;

constexpr harmless_statement without_effect[] = {
    {"common/block.hpp", "longest_first"},  // the order of tiles
    {"common/block.hpp", "head >= leading"},
    {"common/key_walk.hpp", "keys_.whole_first"},  // the mask runs in a tile that it keeps whole
    // Logarithms of infinity: no sum is infinite.
    {"common/softmax.hpp", "return t.let(",
     [](std::string_view, std::string_view instruction) { return instruction.ends_with(" 2139095040;"); }},
    {"common/store_rows.hpp", "auto whole ="},  // elements one by one instead of 16 bytes
    {"common/copy_rows.hpp", "auto fast ="},    // likewise for copies
    // Elements of shared memory beyond the tile: those of the next tile replace them. A tile without keys.
    {"common/copy_rows.hpp", "t_.block_stride(Rows * Columns)"},
    {"forward/simt/kernel.hpp", "t.range(range.first, range.last, groups)"},
    {"forward/simt/kernel.hpp", "t.range(0u, qk_size, C.chunk)"},  // at least one round
    {"simt/wide_kernel.hpp", "t.range(0u, qk_size, C.chunk)"},
    {"simt/wide_kernel.hpp", "t.range(0u, used, value_keys)"},
    {"simt/wide_kernel.hpp", "!isnan(result[r].inverse)"},  // rows beyond the last one are computed again
    {"common/store_rows.hpp", "t.range(t.lane_rank(), Rows * pieces, 32u)"},
    // Elements beyond a row, and rows beyond the last one: none is stored.
    {"common/exact_rows.hpp", "t.when(column + 32 * i < source.v_size)"},
    {"forward/mma_sync/finish.hpp", "warp.query[r] < block.query_limit"},
    {"block_mask/kernel.hpp", "const val outside ="},  // then every place of the block is asked
    {"block_mask/kernel.hpp", "const val inside ="},
    {"block_mask/kernel.hpp", "auto none ="},
    {"block_mask/kernel.hpp", "auto all ="},
    {"block_mask/kernel.hpp", "t.range(0u, others, warps)"},  // of at least one
    // One place more of a block that is known to keep some places and to drop others.
    {"block_mask/kernel.hpp", "t.range(first_query, end_query)"},
    {"block_mask/kernel.hpp", "t.range(first_key + t.lane_rank()"},
    {"block_mask/kernel.hpp", "dropped |= "},
    {"block_mask/kernel.hpp", "query.break_if"},
};
tally kill_mutants(const ptx::kernel_image& image, const std::vector<run_of_case>& cases,
                   std::size_t sample) {
  INFO(image.name);
  const auto begin = std::chrono::steady_clock::now();
  const std::string text = text_of(image);
  std::vector<result> right;
  std::deque<reached_lines> reached;
  for (const run_of_case& run : cases) {
    right.push_back(run(text, {.also = &reached.emplace_back(text)}));
    REQUIRE(right.back().has_value());
  }
  tally found;
  std::vector<bool> is_clean(cases.size());  // the kernel itself, where the sanitizer's word counts
  for (const mutation& m : sample_of(image, text, sample, without_effect)) {
    const std::string faulty = mutated(text, m);
    const auto differs = [&](std::size_t i, const run_mode& mode) {
      if (mode.is_sanitized && !is_clean[i]) {
        REQUIRE(cases[i](text, {}).has_value());
        is_clean[i] = true;
      }
      const result one = cases[i](faulty, mode);
      return !one || *one != *right[i];
    };
    std::vector<std::size_t> met;  // the cases that come to it
    for (std::size_t i = 0; i < cases.size(); ++i)
      if (reached[i].by(m)) met.push_back(i);
    const auto in_any = [&](const run_mode& mode) {
      return std::any_of(met.begin(), met.end(), [&](std::size_t i) { return differs(i, mode); });
    };
    bool dead = in_any({.is_sanitized = false}) || in_any({});
    if (m.kind == fault_of::order && !met.empty())
      for (std::size_t o = 1; o < std::size(orders) && !dead; ++o)
        dead = differs(met[0], {.order = orders[o]});
    found.add(image, m, dead, std::to_string(met.size()) + " cases came to it");
  }
  const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - begin;
  std::cout << image.name << ": " << found.killed << " of " << found.count << " mutants, " << seconds.count()
            << " s\n";
  return found;
}

const ops::attention_variant& kernel_named(std::span<const ops::attention_variant> table,
                                           std::string_view begin) {
  for (const ops::attention_variant& kernel : table)
    if (kernel.name().starts_with(begin)) return kernel;
  FAIL("no kernel " << begin);
  return table[0];
}

// Masks, tails of tiles in both directions, heads that share keys, all options that the kernel has.
std::vector<run_of_case> cases_of(const ops::attention_variant& kernel) {
  const bool aligned = kernel.copies_tensors;
  attention_shape all{.queries = kernel.queries + 6,
                      .keys = 154,
                      .causal = causal_alignment::bottom_right,
                      .window = {90, 0},
                      .softcap = kernel.plain ? 0.0f : 2.0f,
                      .alibi = !kernel.plain,
                      .sinks = 2,
                      .blocks_of_grid = aligned ? 2u : 0};
  std::vector<attention_shape> shapes;
  if (!kernel.plain && !kernel.in_blocks)  // slopes of each batch
    shapes.push_back({.batches = 2, .queries = 9, .keys = 20, .qk_size = 8, .v_size = 8, .alibi = true});
  // Head sizes that end at different places of a row, as do the last tiles of queries and keys.
  struct ends {
    u32 qk_size, v_size, queries, keys;
    bool f32_output = false;
  };
  const ends odd[] = {{33, 51, 6, 3},   {1, 26, 10, 20, true},   {50, 33, 15, 197},
                      {23, 12, 20, 60}, {63, 45, 40, 151, true}, {8, 62, 63, 13},
                      {40, 7, 33, 46},  {57, 24, 1, 53, true}};
  const ends even[] = {{8, 16, 6, 3}, {24, 48, 100, 37}, {40, 56, 190, 60}, {56, 24, 63, 100}};
  const auto add = [&](const ends& e) {
    shapes.push_back({.queries = e.queries,
                      .keys = e.keys,
                      .heads = 1,
                      .qk_size = e.qk_size,
                      .v_size = e.v_size,
                      .pad = 8,
                      .f32_output = e.f32_output && kernel.writes_f32});
  };
  for (const ends& e : even) add(e);
  if (!aligned) {
    for (const ends& e : odd) add(e);
    // A row of O that ends at each column.
    for (u32 v_size = 1; v_size < 64; v_size += kernel.writes_f32 ? 2 : 16)
      shapes.push_back({.queries = 5,
                        .keys = 3,
                        .heads = 1,
                        .qk_size = 8,
                        .v_size = v_size,
                        .pad = 8,
                        .f32_output = kernel.writes_f32});
  }
  for (const u32 keys : {20u, 90u, 180u})  // the last row of a tensor ends with it, in each tile
    shapes.push_back({.queries = 9, .keys = keys, .heads = 1, .qk_size = 40, .v_size = 24});
  // More tiles of keys than a ring has stages.
  if (aligned) shapes.push_back({.queries = 9, .keys = 600, .heads = 1, .qk_size = 24, .v_size = 40});
  shapes.push_back(all);
  if (kernel.writes_f32)
    shapes.push_back({.queries = 40, .keys = 30, .heads = 1, .planted = true, .f32_output = true});
  // Two tiles, both whole.
  shapes.push_back({.queries = kernel.queries, .keys = 256, .heads = 1});
  shapes.push_back({.queries = 30, .keys = 40, .causal = causal_alignment::top_left, .planted = true});
  shapes.push_back({.queries = 25,
                    .keys = 40,
                    .heads = 1,
                    .qk_size = 56,
                    .v_size = 48,
                    .causal = causal_alignment::bottom_right,
                    .softcap = all.softcap,
                    .alibi = all.alibi,
                    .sinks = 3,
                    .bias = kernel.is_biased,
                    .planted = true});
  attention_shape empty_rows{.batches = 2,
                             .queries = 90,
                             .keys = 30,
                             .causal = causal_alignment::bottom_right,
                             .blocks_of_grid = all.blocks_of_grid};
  // Both ends of the band pass each column of a tile, in each row.
  shapes.push_back({.queries = kernel.queries + 100,
                    .keys = kernel.queries + 100,
                    .heads = 1,
                    .causal = causal_alignment::top_left,
                    .window = {21, 0}});
  if (!aligned)  // and of each row of a thread
    for (const u32 further : {8u, 16u, 32u, 48u})
      shapes.push_back({.queries = kernel.queries,
                        .keys = kernel.queries + further,
                        .heads = 1,
                        .qk_size = 8,
                        .v_size = 8,
                        .causal = causal_alignment::bottom_right,
                        .window = {21, 0}});
  // Six of the eight heads lead; each head has two tiles.
  shapes.push_back({.queries = kernel.queries + 6,
                    .keys = 40,
                    .heads = 8,
                    .causal = causal_alignment::top_left,
                    .blocks_of_grid = all.blocks_of_grid});
  attention_shape none{.queries = 5, .keys = 0, .sinks = 1};
  if (!aligned) shapes.push_back(none);
  if (kernel.in_blocks) {
    for (attention_shape& shape : shapes) shape.block = 48;
    for (u32 n = 1; n <= 16; ++n)  // a block, and the keys, end at each column of a tile
      shapes.push_back({.queries = 10,
                        .keys = 4 * n - n % 2 + 3,
                        .causal = causal_alignment::bottom_right,
                        .window = {6, 0},
                        .block = 4 * n - n % 2});
    attention_shape large = all;
    large.keys = 300;
    large.block = 100;
    shapes.push_back(large);
  } else {
    shapes.push_back(empty_rows);
    shapes.push_back({.queries = 60,
                      .keys = 170,
                      .heads = 4,
                      .key_heads = 2,
                      .window = {30, 25},
                      .packed = true,
                      .blocks_of_grid = all.blocks_of_grid});
  }
  if (!kernel.in_blocks)
    shapes.push_back({.queries = aligned ? 420u : 210,
                      .keys = aligned ? 2709u : 693,
                      .heads = 1,
                      .packed = true,
                      .many = aligned ? 42u : 21,
                      .blocks_of_grid = all.blocks_of_grid});
  if (kernel.is_biased) {
    attention_shape tensors = all;
    tensors.bias = tensors.keep = true;
    tensors.queries = 20;
    tensors.keys = 70;
    shapes.push_back(tensors);
  }
  std::vector<run_of_case> cases;
  for (const attention_shape& shape : shapes)
    cases.push_back([&kernel, shape](std::string_view text, const run_mode& mode) {
      return run(kernel, shape, text, mode);
    });
  return cases;
}

tally kill_of(std::span<const ops::attention_variant> table, std::string_view begin) {
  const ops::attention_variant& kernel = kernel_named(table, begin);
  return kill_mutants(*kernel.image, cases_of(kernel),
                      kernel.copies_tensors ? sample_of_slow : ordinary_sample);
}

tally kill_make_block_mask() {
  const ptx::kernel_image& image = ops::block_mask_lists<ops::band_mask>.image();
  std::vector<run_of_case> cases;
  for (const block_mask_shape& shape :
       {block_mask_shape{150, 700, 16, 24, causal_alignment::bottom_right, {200, 0}},
        {130, 300, 32, 16, causal_alignment::top_left, {}, false},
        {100, 70, 7, 9, causal_alignment::none, {10, 20}, true, true},
        {100, 256, 32, 16, causal_alignment::bottom_right, {90, 0}},
        {300, 40, 16, 8, causal_alignment::bottom_right, {}, true, true}})
    cases.push_back([&image, shape](std::string_view text, const run_mode& mode) {
      return run(image, shape, text, mode);
    });
  return kill_mutants(image, cases, ordinary_sample);
}

}  // namespace

// Among the survivors are faults that no result shows: a wait of a warp whose lanes run together in the emulator.
TEST_CASE("mutants of attention are killed", "[mutants]") {
  tally all;
  all += kill_of(ops::attention_mma_f16(), "attention_mma_f16_d64");
  all += kill_of(ops::attention_mma_blocks_f16(), "attention_mma_f16_d64");
  all += kill_of(ops::attention_simt_f32(), "attention_simt_f32_d64");
  all += kill_of(ops::attention_simt_wide_f32(), "attention_simt_wide_f32_d64");
  all += kill_of(ops::attention_sm90_bf16(), "attention_sm90_bf16_d64_192x128");
  all += kill_of(ops::attention_sm90_bf16(), "attention_sm90_bf16_d64_192x112");
  all += kill_make_block_mask();
  // A kernel that serves both types of 16 bits, or lists of blocks too, has code that these calls of one type do not run.
  check_rate("attention", all, 90);
}
