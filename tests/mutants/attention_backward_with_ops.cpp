// Mutants of the kernels of attention_backward: a sample of each kernel, on calls of its tests.

#include "mutants/calls.hpp"
#include "tests/ops/attention_backward/varlen_case.hpp"

using namespace kaio;
using namespace kaio::tests;
using namespace kaio::tests::mutants;

namespace {

// Head sizes and lengths that end at different places of a tile.
struct ends {
  u32 qk_size, v_size, queries, keys;
};
constexpr ends odd[] = {{33, 51, 6, 3}, {1, 26, 10, 20}, {23, 12, 20, 60}, {40, 7, 33, 46}, {57, 24, 1, 53}},
               odd_of_several_tiles[] = {{50, 33, 15, 197}, {63, 45, 40, 151}, {8, 62, 130, 13}},
               whole_16_bytes[] = {{8, 16, 6, 3},      {24, 48, 100, 37},  {40, 56, 190, 60},
                                   {56, 24, 63, 100},  {16, 8, 40, 84},    {48, 32, 17, 150},
                                   {64, 64, 128, 128}, {32, 40, 150, 115}, {64, 64, 64, 64}};

// Rows of few queries and keys that end at each element of a run of 16 bytes and of a thread's own.
std::vector<ends> every_end() {
  std::vector<ends> all;
  for (const auto& [one, other] : {std::pair{9u, 10u},
                                   {42u, 41u},
                                   {11u, 12u},
                                   {44u, 43u},
                                   {13u, 14u},
                                   {46u, 45u},
                                   {15u, 16u},
                                   {48u, 47u}}) {
    all.push_back({one, other, 3, 5});
    all.push_back({other, one, 5, 3});
  }
  return all;
}

backward_case shaped(const ends& e) {
  backward_case c;
  c.qk_size = e.qk_size;
  c.v_size = e.v_size;
  c.queries = e.queries;
  c.keys = e.keys;
  return c;
}

// Masks, heads that share keys, and the options that go with them.
std::vector<backward_case> options() {
  std::vector<backward_case> all;
  const auto add = [&](const ends& e) -> backward_case& { return all.emplace_back(shaped(e)); };
  {
    backward_case& c = add({64, 64, 70, 90});
    c.causal = causal_alignment::bottom_right;
    c.heads = 4;
    c.key_heads = 2;
    c.sinks = c.dsinks = c.dlse = true;
  }
  {
    backward_case& c = add({24, 40, 70, 131});
    c.softcap = 2;
    c.alibi = 2;
    c.batches = 2;
    c.window = {20, 30};
    c.pad = 8;
  }
  {
    backward_case& c = add({56, 8, 33, 20});
    c.causal = causal_alignment::top_left;
    c.heads_first = true;
    c.out = backward_case::out_of::attention_f32;
  }
  // Keys without queries.
  add({8, 8, 20, 200}).causal = causal_alignment::top_left;
  // Queries without keys.
  add({40, 48, 90, 30}).causal = causal_alignment::bottom_right;
  {  // Both ends of the band pass each column of a tile, in each row.
    backward_case& c = add({8, 8, 200, 200});
    c.causal = causal_alignment::top_left;
    c.window = {21, 0};
  }
  {  // and of the other rows of a thread
    backward_case& c = add({8, 8, 150, 158});
    c.causal = causal_alignment::bottom_right;
    c.window = {21, 0};
  }
  {  // Several tiles in both directions, some kept whole; heads of a group one after the other.
    backward_case& c = add({16, 16, 150, 260});
    c.window = {70, 70};
    c.heads = 4;
  }
  for (const u32 wanted : {1u, 2u, 4u}) {
    backward_case& c = add({16, 24, 40, 70});
    c.wants_dq = (wanted & 1) != 0;
    c.wants_dk = (wanted & 2) != 0;
    c.wants_dv = (wanted & 4) != 0;
  }
  return all;
}

// A bias with a gradient for each score, and for several together; a tensor of what is kept.
std::vector<backward_case> biases() {
  std::vector<backward_case> all;
  for (const ends& e : {ends{16, 8, 70, 90}, ends{8, 16, 33, 61}, ends{8, 8, 130, 38}})
    for (const bool own_type : {false, true}) {
      backward_case& c = all.emplace_back(shaped(e));
      c.heads = 2;
      c.bias = {.rank = 4, .own_type = own_type};
      c.dbias = true;
      c.dbias_own_type = own_type;
      if (own_type) c.causal = causal_alignment::bottom_right;
    }
  for (const u32 ones : {0b0101u, 0b1011u, 0b0111u, 0b0010u, 0b1000u}) {
    backward_case& c = all.emplace_back(shaped({24, 16, 70, 90}));
    c.batches = c.heads = 2;
    c.key_heads = 1;
    c.bias = {.rank = 4, .ones = ones};
    c.dbias = true;
    c.bias.own_type = c.dbias_own_type = ones % 2 == 0;
    if (ones == 0b1011) c.window = {10, 20};
  }
  for (const bool own_type :
       {false, true}) {  // a band that passes each column, of elements that sum up heads
    backward_case& c = all.emplace_back(shaped({8, 8, 140, 140}));
    c.heads = 2;
    c.key_heads = 1;
    c.bias = {.rank = 2, .own_type = own_type};
    c.dbias = true;
    c.dbias_own_type = own_type;
    c.causal = causal_alignment::top_left;
    c.window = {21, 0};
  }
  for (const u32 further : {8u, 16u, 32u, 48u}) {  // and each row of a thread, with sums of heads
    backward_case& c = all.emplace_back(shaped({8, 8, 64, 64 + further}));
    c.heads = 2;
    c.key_heads = 1;
    c.bias = {.rank = 2};
    c.dbias = true;
    c.causal = causal_alignment::bottom_right;
    c.window = {21, 0};
  }
  {  // head sizes of one piece and of two
    backward_case& c = all.emplace_back(shaped({64, 32, 20, 30}));
    c.heads = 2;
    c.bias = {.rank = 2};
    c.dbias = true;
  }
  backward_case& c = all.emplace_back(shaped({24, 40, 20, 70}));
  c.bias = {.rank = 3, .keys_first = true};
  c.keep = {.rank = 2};
  c.softcap = 2;
  c.alibi = 1;
  return all;
}

// Gradients of a bias: its last key is in each column of a thread, and its last query in each row of a thread.
std::vector<backward_case> biases_of_one_tile(bool own_type) {
  std::vector<backward_case> all;
  for (u32 n = 0; n < 16; ++n) {
    backward_case& c = all.emplace_back(shaped({8, 8, 3 + 4 * n, 8 * (n / 2) + n % 2 + 1}));
    c.bias = {.rank = 4, .own_type = own_type};
    c.dbias = true;
    c.dbias_own_type = own_type;
  }
  return all;
}

// dS beyond the numbers of 16 bits: blocks with such dS are computed again.
backward_case beyond_16_bits() {
  backward_case c = shaped({64, 64, 70, 70});
  c.dout_range = 60000;
  return c;
}

template <class T>
void check_sequences() {
  backward_case c = shaped({24, 16, 0, 0});
  c.heads = 2;
  c.sinks = c.dsinks = true;
  c.causal = causal_alignment::bottom_right;
  check_varlen<T>(c, {{70, 33, 70, 33}, {0, 5, 0, 5}, {9, 80, 5, 66}, {3, 0, 3, 0}, {65, 65, 64, 1}}, 80);
  check_varlen<T>(c, {{20, 33, 20, 33}, {64, 5, 64, 5}, {9, 70, 9, 70}}, 0);
}

template <class T>
void check_ends(std::span<const ends> shapes) {
  for (const ends& e : shapes) check_backward<T>(shaped(e));
}
template <class T>
void check_every_end() {
  for (const ends& e : every_end()) {
    backward_case c = shaped(e);
    c.pad = 1;
    check_backward<T>(c);
  }
}

constexpr harmless_statement without_effect[] = {
    // Ranges that are never empty.
    {"backward/simt/tiles.hpp", "t_.block_stride(C.tile * C.chunk)"},
    {"backward/simt/tiles.hpp", "t_.range(0u, a.size, C.chunk)"},
    {"backward/simt/bias.hpp", "t.block_stride(C.tile * C.tile)"},
    {"backward/simt/bias.hpp", "t.range(row, end_row)"},
    {"backward/simt/bias.hpp", "t.range(column, end_column)"},
    {"backward/common/prepare.hpp", "t.range(0u, t.let(problem[&attention_problem::batches]))"},
    // Queries that are not used have no share of a sink; kernels that read no keys do not ask how many are used.
    {"common/block.hpp", "t.when(used_q != 0u)",
     [](std::string_view kernel, std::string_view) { return kernel == "attention_backward_sinks"; }},
    {"common/block.hpp", "t.when(used_k != 0u)",
     [](std::string_view kernel, std::string_view) {
       return kernel == "attention_backward_sinks" || kernel.starts_with("attention_backward_last");
     }},
    {"backward/sm90/consumer.hpp", "t_.range(0u, own.one.share.rounds)"},  // of one or more
    // Elements of shared memory beyond the tile: those of the next tile replace them.
    {"backward/simt/tiles.hpp", "to[line][column_of] = x"},
    {"common/copy_rows.hpp", "t_.block_stride(Rows * Columns)"},
    {"common/block.hpp", "longest_first"},  // the order of tiles
    {"common/block.hpp", "head >= leading"},
    {"common/key_walk.hpp", "keys_.whole_first"},  // the mask runs in a tile that it keeps whole
    {"backward/common/key_block.hpp", "whole_last"},
    {"common/copy_rows.hpp", "auto fast ="},  // elements one by one instead of 16 bytes
    {"common/store_rows.hpp", "auto whole ="},
    {"common/store_rows.hpp", "t.range(t.lane_rank(), Rows * pieces, 32u)"},
    {"common/copy_rows.hpp", "cp_async_commit_group"},  // copies that have one wait in common
    {"backward/mma_sync/kernel.hpp", "origin.query[r] < block.query_limit"},  // rows of Q and dO that are 0
};

tally kill_simt_and_common() {
  mutants_of_calls mutants({{"attention_backward_simt_keys_d64", 5},
                            {"attention_backward_simt_queries_d64", 5},
                            {"attention_backward_prepare", 30},
                            {"attention_backward_sinks", 30},
                            {"attention_backward_bias", 12}},
                           without_effect);
  mutants.on("sm_70", [] {
    for (const backward_case& c : options()) check_backward<f32>(c);
    for (const backward_case& c : biases()) check_backward<f32>(c);
    check_every_end<f32>();
    for (const backward_case& c : biases_of_one_tile(false)) check_backward<f32>(c);
    for (const backward_case& c : biases_of_one_tile(true)) {
      check_backward<f16>(c);
      check_backward<bf16>(c);
    }
    check_every_end<f16>();
    check_every_end<bf16>();
    check_ends<f32>(odd);
    check_ends<f16>(odd);
    check_ends<bf16>(odd);
    for (const backward_case& c : biases()) check_backward<f16>(c);
    for (const backward_case& c : biases()) check_backward<bf16>(c);
    check_sequences<f32>();
    check_sequences<f16>();
    check_sequences<bf16>();
    backward_case none = shaped({8, 8, 5, 0});
    none.bias = {.rank = 4};
    none.sinks = none.dsinks = none.dbias = true;
    check_backward<f32>(none);
    none.queries = 0;
    none.keys = 4;
    check_backward<f32>(none);
  });
  // The common part of the kernels of f16 and bf16, with O of both types.
  mutants.on("sm_80", [] {
    for (backward_case c :
         {shaped({8, 24, 70, 20}), shaped({8, 40, 70, 20}), shaped({8, 64, 5, 3}), shaped({8, 5, 70, 20})}) {
      c.pad = 8;
      for (const auto out : {backward_case::out_of::reference, backward_case::out_of::attention_f32}) {
        c.out = out;
        check_backward<f16>(c);
        check_backward<bf16>(c);
        check_backward<f32>(c);
      }
    }
    for (const backward_case& c : biases()) check_backward<bf16>(c);
    backward_case many = shaped({8, 8, 320, 3});  // more queries than a block has threads
    many.heads = 2;
    many.sinks = many.dsinks = true;
    check_backward<f16>(many);
  });
  mutants.on("sm_90a", [] {
    check_backward<bf16>(beyond_16_bits());
    check_sequences<bf16>();
  });
  return mutants.result();
}

tally kill_mma() {
  mutants_of_calls mutants(
      {{"attention_backward_mma_keys_16bit_d64", 40}, {"attention_backward_mma_queries_16bit_d64", 40}},
      without_effect);
  mutants.on("sm_80", [] {
    check_every_end<f16>();
    for (const bool own_type : {false, true})
      for (const backward_case& c : biases_of_one_tile(own_type)) check_backward<f16>(c);
    for (const backward_case& c : options()) check_backward<f16>(c);
    for (const backward_case& c : biases()) check_backward<f16>(c);
    check_ends<f16>(odd);
    check_ends<f16>(odd_of_several_tiles);
    check_ends<f16>(whole_16_bytes);
    check_backward<f16>(beyond_16_bits());
    check_sequences<f16>();
  });
  return mutants.result();
}

tally kill_sm90() {
  mutants_of_calls mutants({{"attention_backward_sm90_bf16_d64", 10}, {"attention_backward_last", 10}},
                           without_effect);
  mutants.on("sm_90a", [] {
    // By each of the kernels: plain scores, a soft cap, a bias.
    for (const u32 kernel : {0u, 1u, 2u}) {
      const auto check = [&](backward_case c) {
        if (kernel == 1) c.softcap = 2;
        if (kernel == 2) c.bias = {.rank = 2};
        check_backward<bf16>(c);
      };
      for (const backward_case& c : options()) check(c);
      for (const ends& e : whole_16_bytes) check(shaped(e));
      if (kernel != 2) check(beyond_16_bits());
    }
    for (const backward_case& c : biases()) check_backward<bf16>(c);
    check_sequences<bf16>();
  });
  return mutants.result();
}

}  // namespace

// Among the survivors are faults in code that no call reaches:
//   - A gradient of a bias is stored as any type; a call has the type of q or f32.
//   - f32 dout with f32 out also has the branch for two types.
//   - A kernel for both 16-bit types is called for one.
TEST_CASE("mutants of attention_backward are killed", "[mutants]") {
  tally all = kill_simt_and_common();
  all += kill_mma();
  all += kill_sm90();
  check_rate("attention_backward", all, 86);
}
