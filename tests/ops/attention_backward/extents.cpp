// ops::attention_backward where extents meet the edges of tiles from both sides, with masks, scores, heads
// that share keys, head sizes and subsets of the gradients. Each option varies independently. The emulator
// runs a part of the combinations, which covers pairs of options.
#include "tests/ops/attention/covering.hpp"
#include "tests/ops/attention_backward/support.hpp"

using namespace kaio;
using namespace kaio::tests;

namespace {

enum option : std::uint8_t {
  queries,
  keys,
  heads,
  qk_size,
  v_size,
  causal,
  window,
  score,
  sinks,
  dlse,
  wanted,
  layout,
  type
};
constexpr u32 extents_of_rows[] = {1, 5, 63, 64, 65, 127, 128, 129, 193, 257};
struct head_counts {
  u32 batches, queries, keys;
};
constexpr head_counts counts[] = {{1, 1, 1}, {2, 2, 2}, {1, 3, 1}, {2, 4, 2}, {1, 8, 1}};
constexpr u32 sizes[] = {8, 40, 64, 72, 96, 128, 136, 192, 256};
constexpr u32 v_sizes[] = {0, 24, 64, 128};  // 0: that of q and k
constexpr attention_window windows[] = {{}, {0, 0}, {5, 0}, {0, 3}, {-1, 2}, {127, 127}};
struct score_terms {
  f32 softcap;
  u32 alibi;  // dimensions
};
constexpr score_terms scores[] = {{0, 0}, {2, 0}, {0, 1}, {0, 2}, {3, 2}};
constexpr u32 subsets[] = {7, 1, 2, 4, 3, 5, 6};  // dq, dk, dv

backward_case case_of(const covering_cases::values& v) {
  backward_case c;
  c.queries = extents_of_rows[v[queries]];
  c.keys = extents_of_rows[v[keys]];
  c.batches = counts[v[heads]].batches;
  c.heads = counts[v[heads]].queries;
  c.key_heads = counts[v[heads]].keys;
  c.qk_size = c.v_size = sizes[v[qk_size]];
  if (v_sizes[v[v_size]] != 0) c.v_size = v_sizes[v[v_size]];
  c.causal = static_cast<causal_alignment>(v[causal]);
  c.window = windows[v[window]];
  c.softcap = scores[v[score]].softcap;
  c.alibi = scores[v[score]].alibi;
  c.sinks = v[sinks] != 0;
  // In f32 the error of a sum over all rows, of few heads, may be any number of times that of the plain formula.
  c.dsinks = v[sinks] == 2 && v[type] != 2;
  c.dlse = v[dlse] != 0;
  // A single key without a sink has gradients of 0, which say nothing: they are what rounding leaves of two equal sums.
  if (c.keys == 1) c.sinks = true;
  const bool in_f32 = v[type] == 2;
  // ALiBi makes scores of a hundred, and a log-sum-exp as large. In f32 their difference has a larger
  // rounding error than the plain formula. In the plain formula, both are the same number if a query has one
  // key. random.cpp draws ALiBi.
  if (in_f32) c.alibi = 0;
  // If a case has few rows, one may be right by chance in the plain formula: more batches give more rows. In
  // f32, where no result is rounded to fewer bits, each gradient needs several rows.
  const u32 fewest = in_f32 ? c.key_heads * std::min(c.queries, c.keys) : c.heads * c.queries;
  while (c.batches * fewest < 12) ++c.batches;
  c.wants_dq = (subsets[v[wanted]] & 1) != 0;
  c.wants_dk = (subsets[v[wanted]] & 2) != 0;
  c.wants_dv = (subsets[v[wanted]] & 4) != 0;
  if (v[layout] != 0) {
    c.heads_first = true;
    c.pad = 8;
  }
  return c;
}

void run(const covering_cases::values& v) {
  const backward_case c = case_of(v);
  switch (v[type]) {
    case 0: return check_backward<f16>(c);
    case 1: return check_backward<bf16>(c);
    default: return check_backward<f32>(c);
  }
}

// Millions of multiply-adds as the emulator runs them; those of f32 cost it more.
double emulated_cost(const covering_cases::values& v) {
  const backward_case c = case_of(v);
  const u32 longest = std::max(c.qk_size, c.v_size);
  const double depth = longest <= 64 ? 64 : longest <= 128 ? 128 : 256;
  return 1 + 5e-6 * depth * (c.keys + 64.0) * (c.queries + 64) * c.heads * c.batches * (v[type] == 2 ? 3 : 1);
}

covering_cases grid_of(double budget) {
  return covering_cases(
      {std::size(extents_of_rows), std::size(extents_of_rows), std::size(counts), std::size(sizes),
       std::size(v_sizes), 3, std::size(windows), std::size(scores), 3, 2, std::size(subsets), 2, 3},
      budget);
}

}  // namespace

TEST_CASE("attention_backward: extents, masks, scores, groups and head sizes", "[ops][attention_backward]") {
  const bool emulated = under_test().is_emulator();
  covering_cases grid = grid_of(emulated ? 1400 : 800);
  const auto cost = [&](const covering_cases::values& v) { return emulated ? emulated_cost(v) : 1.0; };
  while (const auto* values = grid.next(cost)) run(*values);
  for (std::size_t a = 0; a <= type; ++a)
    for (std::size_t b = 0; b <= type; ++b) {
      CAPTURE(a, b);
      // On the emulator: all values of all options, and all pairs of options that decide how a score is computed.
      if (a == b || !emulated || (a >= causal && b >= causal && a <= sinks && b <= sinks))
        REQUIRE(grid.covers(a, b));
    }
}
