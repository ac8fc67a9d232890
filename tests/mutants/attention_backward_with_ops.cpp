// Mutants of the kernels of attention_backward: of each a sample, on calls of its tests.

#include "mutants/calls.hpp"
#include "tests/ops/attention_backward/support.hpp"

using namespace kaio;
using namespace kaio::tests;
using namespace kaio::tests::mutants;

namespace {

backward_case shaped(u32 queries, u32 keys, u32 qk_size, u32 v_size) {
  backward_case c;
  c.queries = queries;
  c.keys = keys;
  c.qk_size = qk_size;
  c.v_size = v_size;
  return c;
}

// Options, masks, tails of tiles of both directions, heads that share keys.
std::vector<backward_case> cases() {
  std::vector<backward_case> all;
  const auto add = [&](backward_case c, const auto& change) {
    change(c);
    all.push_back(c);
  };
  add(shaped(70, 90, 64, 64), [](backward_case& c) {
    c.causal = causal_alignment::bottom_right;
    c.heads = 4;
    c.key_heads = 2;
    c.sinks = c.dsinks = c.dlse = true;
  });
  add(shaped(70, 131, 24, 40), [](backward_case& c) {
    c.softcap = 2;
    c.alibi = 2;
    c.batches = 2;
    c.window = {20, 30};
    c.pad = 8;
  });
  add(shaped(33, 20, 56, 8), [](backward_case& c) {
    c.causal = causal_alignment::top_left;
    c.heads_first = true;
    c.out = backward_case::out_of::attention_f32;
  });
  add(shaped(90, 30, 40, 48), [](backward_case& c) { c.causal = causal_alignment::bottom_right; });
  return all;
}

constexpr harmless_statement without_effect[] = {
    {"common/block.hpp", "longest_first"},
};

tally kill_simt() {
  return kill_in_calls("sm_80",
                       {{"attention_backward_simt_keys_d64", 40}, {"attention_backward_simt_queries_d64", 40},
                        {"attention_backward_prepare", 40}, {"attention_backward_sinks", 40},
                        {"attention_backward_bias", 40}},
                       without_effect, [] {
                         for (const backward_case& c : cases()) check_backward<f32>(c);
                         for (const u32 ones : {0b0101u, 0b1110u, 0b0001u}) {
                           backward_case c = shaped(40, 70, 24, 16);
                           c.batches = c.heads = 2;
                           c.key_heads = 1;
                           c.bias = {.rank = 4, .ones = ones};
                           c.dbias = true;
                           check_backward<f32>(c);
                         }
                       });
}

tally kill_mma() {
  return kill_in_calls(
      "sm_80", {{"attention_backward_mma_keys_f16_d64", 40}, {"attention_backward_mma_queries_f16_d64", 40}},
      without_effect, [] {
        for (const backward_case& c : cases()) check_backward<f16>(c);
      });
}

tally kill_sm90() {
  return kill_in_calls("sm_90a", {{"attention_backward_sm90_", 5}}, without_effect, [] {
    for (const backward_case& c : cases()) check_backward<bf16>(c);
  });
}

}  // namespace

TEST_CASE("mutants of attention_backward are killed", "[mutants]") {
  tally all = kill_simt();
  all += kill_mma();
  all += kill_sm90();
  std::cout << all.killed << " of " << all.count << " mutants of attention_backward killed\n";
  CHECK(all.killed * 100 >= all.count * 95);
}
