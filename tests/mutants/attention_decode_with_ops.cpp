// Mutants of the kernels of attention_decode, and of those that add up the splits: a sample of each kernel, on calls
// of its tests.

#include "mutants/calls.hpp"
#include "tests/ops/attention_decode/merge_case.hpp"
#include "tests/ops/attention_decode/support.hpp"
#include "tests/ops/attention_decode/varlen_case.hpp"

using namespace kaio;
using namespace kaio::tests;
using namespace kaio::tests::mutants;
using ops::attention_combining;

namespace {

// Every kind of cache, masks, sequences that end at all places of a tile and of a page, splits.
std::vector<decode_case> cases() {
  std::vector<decode_case> all{
      {.lengths = {70, 1, 0, 64}, .left = {3, 0, 0, 63}, .sinks = true},
      {.queries = 5,
       .heads = 6,
       .key_heads = 3,
       .lengths = {300, 33},
       .kind = cache_kind::table,
       .page = 48,
       .causal = causal_alignment::bottom_right,
       .window = {40, 0},
       .softcap = 4,
       .alibi = 1},
      {.queries = 3,
       .heads = 8,
       .key_heads = 1,
       .lengths = {131, 20, 5},
       .kind = cache_kind::list,
       .page = 5,
       .by_last_page = true,
       .window = {20, 10},
       .alibi = 2,
       .sinks = true},
      {.lengths = {140, 129}, .kind = cache_kind::table, .page = 1, .room = 200, .shared = true},
      {.lengths = {20, 90}, .kind = cache_kind::list, .page = 16, .heads_first = true, .together = true},
      {.lengths = {128, 127}, .room = 150, .heads_first = true, .indexed = true, .pad = 8},
      {.queries = 19,
       .heads = 2,
       .key_heads = 1,
       .lengths = {100, 30},
       .causal = causal_alignment::bottom_right},
      {.queries = 70, .heads = 1, .key_heads = 1, .lengths = {200}, .causal = causal_alignment::bottom_right},
      {.lengths = {900, 300, 20, 0},
       .left = {3, 0, 19, 0},
       .kind = cache_kind::table,
       .page = 48,
       .sinks = true},
      {.lengths = {700, 20}, .splits = 5},
      {.heads = 1, .key_heads = 1, .qk_size = 8, .v_size = 256, .lengths = {2600}, .splits = 19},
      {.heads = 1, .key_heads = 1, .qk_size = 8, .v_size = 140, .lengths = {2600}, .splits = 11},
      {.lengths = {50, 90}, .kind = cache_kind::table, .max_length = 90},
      {.heads = 2, .key_heads = 1, .lengths = {600, 420}, .splits = 1},  // several tiles in one split
  };
  {  // A sequence ends at each column of a warp, in each row.
    decode_case& c = all.emplace_back();
    c = {.heads = 16, .key_heads = 1, .qk_size = 8, .v_size = 8, .lengths = {}};
    for (u32 length = 1; length <= 32; ++length) c.lengths.push_back(length);
  }
  // Both ends of the band pass the columns of a tile.
  for (const auto& [queries, apart] : {std::pair{16u, 7u}, {70u, 40u}}) {
    decode_case& c = all.emplace_back();
    c = {.queries = queries,
         .heads = 1,
         .key_heads = 1,
         .lengths = {},
         .causal = causal_alignment::bottom_right};
    c.window = {21, 0};
    for (u32 length = 130; length < 186; length += apart) c.lengths.push_back(length);
  }
  for (const u32 heads :
       {1u, 2u, 3u})  // and of each row the columns that come with other windows, or other groups
    all.push_back({.queries = 64 / heads,
                   .heads = heads,
                   .key_heads = 1,
                   .lengths = {140},
                   .causal = causal_alignment::bottom_right,
                   .window = {29, 0}});
  // Head sizes that end at different places of a row: by elements, by 16 bytes.
  for (const auto& [qk_size, v_size, keys] : {std::array{33u, 51u, 3u},
                                              {1u, 26u, 20u},
                                              {50u, 33u, 150u},
                                              {63u, 45u, 29u},
                                              {7u, 8u, 61u},
                                              {6u, 19u, 9u},
                                              {8u, 16u, 35u},
                                              {24u, 48u, 37u},
                                              {40u, 56u, 60u},
                                              {56u, 24u, 107u},
                                              {16u, 8u, 84u},
                                              {48u, 32u, 119u},
                                              {32u, 40u, 13u}})
    for (const auto& [queries, parts] :
         {std::pair{1u, 3u}, {1u, 1u}, {20u, 1u}})  // of 16 rows or fewer, of 64
      all.push_back({.queries = queries,
                     .heads = 3,
                     .key_heads = 1,
                     .qk_size = qk_size,
                     .v_size = v_size,
                     .lengths = {keys, 5},
                     .pad = qk_size % 8,
                     .splits = parts});
  for (const attention_combining how : {attention_combining::cluster, attention_combining::second_kernel}) {
    all.push_back(
        {.lengths = {600, 130, 3, 0}, .left = {3, 0, 1, 0}, .sinks = true, .splits = 4, .combining = how});
    all.push_back({.heads = 8,
                   .key_heads = 1,
                   .qk_size = 40,
                   .v_size = 56,
                   .lengths = {300, 65},
                   .kind = cache_kind::table,
                   .page = 5,
                   .softcap = 4,
                   .alibi = 1,
                   .splits = 4,
                   .combining = how});
  }
  for (const u32 parts : {2u, 8u})
    all.push_back({.heads = 3,
                   .key_heads = 1,
                   .qk_size = 48,
                   .v_size = 40,
                   .lengths = {128 * parts + 7, 30},
                   .splits = parts,
                   .combining = attention_combining::cluster});
  return all;
}

// Results of every type, of sizes around a warp's accesses.
template <class T>
void check_merges() {
  for (const u32 size : {7u, 33u, 34u, 64u, 65u, 256u}) {
    check_merge<T, f16>(2, 3, 3, size, size % 2, false, size);
    check_merge<T, bf16>(1, 5, 3, size, 8, true, size);
    check_merge<T, f32>(1, 4, 1, size, 3, true, size);
  }
}

// The outputs are one of the inputs: its O and its lse.
void merge_in_place() {
  constexpr u32 rows = 5, heads = 2, size = 40;
  std::vector<f32> a(rows * heads * size), b(a.size(), 3.0f), lse(heads * rows);
  for (std::size_t i = 0; i < a.size(); ++i) a[i] = static_cast<f32>(i % 11);
  for (std::size_t i = 0; i < lse.size(); ++i) lse[i] = static_cast<f32>(i % 3);
  auto on_a = upload(a), on_b = upload(b), on_lse = upload(lse), on_lse_b = upload(lse);
  const tensor_view<f32, 3> of_a(on_a, rows, heads, size), of_b(on_b, rows, heads, size);
  const tensor_view<f32, 2> lse_a(on_lse, heads, rows), lse_b(on_lse_b, heads, rows);
  merge_states(under_test().stream(), of_a, lse_a, of_b, lse_b, of_a, lse_a);
}

// Queries of several sequences in one tensor, some without queries; in one split and in several.
void check_packed() {
  for (const u32 parts : {1u, 3u}) {
    check_varlen<f16>({.queries = 9,
                       .heads = 2,
                       .key_heads = 1,
                       .qk_size = 16,
                       .v_size = 24,
                       .lengths = {300, 33, 0, 20},
                       .causal = causal_alignment::bottom_right,
                       .splits = parts},
                      {3, 9, 0, 1});
    check_varlen<f16>({.queries = 3,
                       .heads = 1,
                       .key_heads = 1,
                       .qk_size = 8,
                       .v_size = 8,
                       .lengths = {140, 9},
                       .splits = parts},
                      {1, 3});
  }
}

// Sinks of another type than the queries.
template <class S>
struct with_sinks : library_decode {
  tensor_view<const S, 1> sinks;

  template <class Q, class C, class O>
  void run(const stream& s, const Q& q, const kv_cache<C>& cache, const O& o,
           attention_decode_options options) const {
    options.sinks = sinks;
    attention_decode(s, q, cache, o, options);
  }
};
template <class T, class S, class C = T>
void check_sinks(decode_case c) {
  c.sinks = true;
  std::vector<S> sinks;
  for (u32 h = 0; h < c.heads; ++h) sinks.push_back(from_float<S>(static_cast<float>(c.sequence(0).sink(h))));
  const auto on_sinks = upload(sinks);
  decode_memory<T, C> memory(c);
  const with_sinks<S> call{{}, tensor_view<const S, 1>(on_sinks, extents(i64{c.heads}))};
  compare_decode(c, memory, run_decode<T, T>(c, memory, call));
}

bool is_for(const decode_case& c, bool has_clusters) {
  return has_clusters || c.combining != attention_combining::cluster;
}

constexpr harmless_statement without_effect[] = {
    // Elements one by one instead of together.
    {"common/copy_rows.hpp", "auto fast ="},
    {"shared/store_four.hpp", "auto at_once ="},
    {"decode/common/merge.hpp", "auto whole ="},
    // Ranges that are never empty.
    {"decode/common/cluster.hpp", "t.range(0u, splits)"},
    // Keys beyond the last one: their scores are masked. A tile without keys.
    {"decode/mma_sync/copies.hpp", "first_ + line_ + apart * i < last_"},
    {"decode/mma_sync/copies.hpp", "t_.when(first_ < last_)"},
    {"decode/mma_sync/copies.hpp", "first_ + key < last_"},
    {"decode/mma_sync_sm90/copies.hpp", "cp_async<16>(to, from)",
     [](std::string_view, std::string_view instruction) { return instruction.starts_with("off by one"); }},
    {"decode/mma_sync_sm90/copies.hpp", "auto whole ="},  // a whole tile, copied as a partial one
    // Elements beyond a row: they are not stored. Both sides of a border of log.
    {"decode/common/merge.hpp", "t.when(e < left)) add("},
    {"decode/common/combine.hpp", "t.when(all_of(is_row, column < size))"},
    {"common/exact_rows.hpp", "t.when(column + 32 * i < source.v_size)"},
    {"decode/common/merge.hpp", "shift + log(sum)"},
    // Logarithms of infinity: no sum is infinite.
    {"common/softmax.hpp", "return t.let(",
     [](std::string_view, std::string_view instruction) { return instruction.ends_with(" 2139095040;"); }},
    // A row whose result is stored: it always exists.
    {"common/block.hpp", "all_of(writes, address != 0u, query < block.query_limit)"},
    // Masking of a tile that the mask keeps whole: it changes nothing.
    {"decode/mma_sync/kernel.hpp", "const val is_whole ="},
    {"decode/mma_sync/queries.hpp", "auto fast ="},
    // Elements beyond the rows in shared memory: the thread's own copy of keys replaces them.
    {"decode/mma_sync/queries.hpp", "t.block_stride(Rows * Depth / step)"},
    // The first element of four neighbours: it always exists.
    {"shared/store_four.hpp", "t.when(e < left)",
     [](std::string_view, std::string_view instruction) {
       return instruction.find(" 0, ") != instruction.npos;
     }},
    // A cluster has two splits or more.
    {"decode/mma_sync_sm90/combine.hpp", "t_.when(splits > apart)",
     [](std::string_view, std::string_view instruction) { return instruction.ends_with(" 1;"); }},
    // The keys of a tile of 16 rows begin where those of its first row do: no row's begin at column 16 or later.
    {"common/mask.hpp", "from[s.row(i)] <=",
     [](std::string_view kernel, std::string_view instruction) {
       const std::string column(instruction.substr(instruction.rfind(' ')));
       return kernel.find("_16x") != kernel.npos && std::stoi(column) >= 16;
     }},
};

// Infinities that give a NaN to some queries: their rows are computed again.
template <class T, class C = T>
void run_with_infinities() {
  for (const u32 queries : {3u, 30u})
    for (const bool plain : {true, false}) {
      decode_case c{.queries = queries,
                    .heads = 2,
                    .key_heads = 1,
                    .qk_size = 40,
                    .v_size = 56,
                    .lengths = {170, 20},
                    .kind = cache_kind::table,
                    .page = 24,
                    .causal = causal_alignment::bottom_right,
                    .window = {60, 0},
                    .softcap = plain ? 0.0f : 4.0f,
                    .alibi = plain ? 0u : 1u,
                    .scales = scale_kind::keys};
      decode_memory<T, C> memory(c);
      const key_place at = memory.numbers.place(c, 0, 168);  // the last two queries read it
      if constexpr (std::is_same_v<T, C>) {
        for (const u32 element : {5u, 55u})
          memory.v.at(at.page, at.row, 0, element) = from_float<C>(INFINITY);
        memory.q.at(0, 1, 1, 7) = from_float<T>(INFINITY);
      } else {
        memory.v_scale.host[memory.v_scale.index(at, 0)] = INFINITY;
      }
      memory.upload_again();
      run_decode<T>(c, memory);
    }
}

tally kill_of_16_bits() {
  mutants_of_calls mutants({{"attention_decode_mma_16bit_d64", 15},
                            {"attention_decode_combine_sm", 15},
                            {"attention_merge_states", 20}},
                           without_effect);
  for (const char* const architecture : {"sm_80", "sm_90a"})
    mutants.on(architecture, [&] {
      for (const decode_case& c : cases())
        if (is_for(c, architecture == std::string_view("sm_90a"))) {
          check_decode<f16>(c);
          if (c.splits == 1) check_decode<f16, f32>(c);
          if (c.splits > 1) {  // what adds them up writes every type
            check_decode<f16, f32>(c);
            check_decode<bf16>(c);
          }
        }
      run_with_infinities<f16>();
      check_packed();
      for (const u32 queries : {1u, 20u})
        for (const u32 parts : {1u, 2u}) {
          const decode_case c{
              .queries = queries, .qk_size = 8, .v_size = 8, .lengths = {200, 7}, .splits = parts};
          check_sinks<f16, f32>(c);
          check_sinks<f16, bf16>(c);
        }
    });
  mutants.on("sm_90a", [] {
    merge_in_place();
    check_merges<f16>();
    check_merges<bf16>();
    check_merges<f32>();
  });
  return mutants.result();
}

template <class C>
void check_codes(bool has_clusters) {
  for (const scale_kind scales : {scale_kind::none, scale_kind::one, scale_kind::heads, scale_kind::keys})
    for (decode_case c : cases()) {
      if (!is_for(c, has_clusters)) continue;
      // Rows of 8 bits that do not begin at multiples of 16 bytes have no kernel with clusters.
      if (c.combining == attention_combining::cluster && (c.qk_size % 16 != 0 || c.v_size % 16 != 0))
        continue;
      // Each kind of scales with some of the cases.
      if (c.lengths[0] % 4 != static_cast<u32>(scales) && scales != scale_kind::keys) continue;
      c.scales = scales;
      check_decode<f16, f16, C>(c);
      if (c.splits == 1 && c.queries == 1) {
        check_decode<bf16, bf16, C>(c);
        check_decode<f16, f32, C>(c);
      }
    }
  check_sinks<f16, f32, C>({.qk_size = 16, .v_size = 16, .lengths = {20}});
  check_sinks<f16, bf16, C>({.qk_size = 16, .v_size = 16, .lengths = {20}});
  run_with_infinities<f16, C>();
}

tally kill_of_8_bits() {
  mutants_of_calls mutants({{"attention_decode_mma_8bit_", 8}}, without_effect);
  mutants.on("sm_80", [] {
    check_codes<i8>(false);
    check_codes<e4m3>(false);
    check_codes<e5m2>(false);
  });
  mutants.on("sm_90a", [] {
    check_codes<i8>(true);
    check_codes<e4m3>(true);
    check_codes<e5m2>(true);
  });
  return mutants.result();
}

}  // namespace

TEST_CASE("mutants of attention_decode are killed", "[mutants]") {
  tally all = kill_of_16_bits();
  all += kill_of_8_bits();
  // A kernel of both types of 16 bits is called for one.
  check_rate("attention_decode", all, 86);
}
