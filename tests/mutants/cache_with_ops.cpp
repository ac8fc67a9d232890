// Mutants of append_kv and rotary: a sample of each kernel, on calls of their tests.

#include "mutants/calls.hpp"
#include "tests/ops/cache/append_case.hpp"
#include "tests/ops/cache/rotary_case.hpp"

using namespace kaio;
using namespace kaio::tests;
using namespace kaio::tests::mutants;

namespace {

constexpr harmless_statement without_effect[] = {
    {"shared/element_run.hpp", "const val count ="},  // of a run at the limit: none either way
    {"shared/element_run.hpp", "t.when(run.whole)"},  // elements one by one instead of together
    {"cache/append/quantise.hpp", "pack<Float8>"},    // at a border of ranges both ways of rounding agree
};

// Every kind of cache, of rows that do and do not begin at multiples of 16 bytes.
std::vector<append_case> appends() {
  std::vector<append_case> all;
  std::uint64_t seed = 1;
  for (const cache_form form : {cache_form::contiguous, cache_form::batch_index, cache_form::table,
                                cache_form::list, cache_form::last_page, cache_form::slots})
    for (const bool packed : {false, true}) {
      append_case c{.form = form, .page_rows = packed ? 3 : 16, .packed = packed, .seed = seed++};
      all.push_back(c);
      c.size = packed ? 7 : 40, c.v_size = packed ? 34 : 24;
      c.from = {packed, 3, 1}, c.kept = {!packed, 5, 2};
      c.seed = seed++;
      all.push_back(c);
      c.size = c.v_size = packed ? 40 : 34;
      c.pairs = packed ? 20 : 13, c.query_heads = packed ? 4 : 2;
      c.interleaved = packed, c.q_in_place = packed;
      c.positions = form == cache_form::slots || packed, c.wide_numbers = packed;
      c.q_at_first = !c.positions && form == cache_form::list;
      c.padding = form == cache_form::table || form == cache_form::contiguous;
      c.from = c.kept = {};
      c.seed = seed++;
      all.push_back(c);
    }
  for (i64 size = 1; size < 16; ++size) {  // runs of each length
    append_case c{
        .form = cache_form::contiguous, .batches = 1, .tokens = 2, .size = size, .v_size = 16 - size};
    c.from = {false, 1, 0}, c.kept = {size % 2 == 0, 2, 0};
    if (size > 8) c.pairs = static_cast<u32>(size - 8), c.query_heads = 2, c.size = 2 * size - 9;
    c.interleaved = size % 2 == 0;
    c.seed = seed++;
    all.push_back(c);
    if (size <= 8) continue;
    c.pairs = static_cast<u32>(size), c.size = 2 * size;  // a second run of each half
    c.interleaved = false;
    c.seed = seed++;
    all.push_back(c);
  }
  return all;
}

template <class T, class C>
void check_8_bits() {
  std::uint64_t seed = 100;
  for (append_case c : appends()) {
    c.scales = static_cast<scale_form>(++seed % 5);
    c.range = seed % 3 == 0 ? 60000.0f : 2.0f;
    check_append<T, C>(c);
  }
}

tally kill_append() {
  mutants_of_calls mutants({{"append_kv", 40}}, without_effect);
  mutants.on("sm_70", [] {
    for (const append_case& c : appends()) check_append<f16>(c);
    for (const append_case& c : appends()) check_append<bf16>(c);
    for (const append_case& c : appends()) check_append<f32>(c);
    check_8_bits<f16, e4m3>();
    check_8_bits<bf16, e5m2>();
    check_8_bits<f32, i8>();
  });
  return mutants.result();
}

// Tokens of several sequences, one of them empty, and tokens of no sequence.
void check_rotary_of_sequences() {
  const std::vector<i32> cu{2, 5, 6, 6, 13};
  const auto x = input_tensor<f16>(1, 14, 2, 24, {.pad = 8}, 11);
  const cache_tensor<f16> y(1, 14, 2, 24);
  const host_tables<f32> tables(30, 8, 0, 12);
  auto on_x = upload(x.host), on_y = upload(y.host);
  auto on_cos = upload(tables.cos), on_sin = upload(tables.sin);
  auto on_cu = upload(cu);
  rotary_varlen(under_test().stream(), x.packed<const f16>(on_x), y.packed(on_y), tables.view(on_cos),
                tables.view(on_sin), {.cu_seqlens = numbers_view(on_cu, 5)});
  cache_tensor<f16> want = y;
  for (std::size_t b = 0; b + 1 < cu.size(); ++b)
    for (i64 t = cu[b]; t < cu[b + 1]; ++t)
      for (i64 h = 0; h < 2; ++h) {
        for (i64 e = 0; e < 24; ++e) want.at(0, t, h, e) = x.at(0, t, h, e);
        rotate_on_host(&want.at(0, t, h, 0), tables, t - cu[b], false, false);
      }
  require_same(on_y.download(), want.host);
}

tally kill_rotary() {
  mutants_of_calls mutants({{"rotary", 60}}, without_effect);
  mutants.on("sm_80", [] {
    check_rotary_of_sequences();
    for (const bool interleaved : {false, true})
      for (const u32 pairs : {32u, 16u, 13u, 0u})
        for (const u32 positions : {0u, 1u, 2u}) {
          rotary_case c{.size = pairs == 13 ? 33 : 64,
                        .pairs = pairs,
                        .in_place = positions == 1,
                        .interleaved = interleaved,
                        .inverse = positions == 2,
                        .positions = positions,
                        .wide_positions = interleaved,
                        .offsets = positions == 0};
          check_rotary<f16, f32>(c);
          check_rotary<f32, bf16>(c);
          c.from = {true, 3, 1};
          c.to = {false, 8, 0};
          check_rotary<bf16, f16>(c);
          check_rotary<bf16, bf16>(c);
          check_rotary<f32, f32>(c);
        }
    for (u32 pairs = 9; pairs < 16;
         ++pairs) {  // after the last run of a half comes what another thread has written
      const rotary_case c{.batches = 1,
                          .tokens = 2,
                          .size = 2 * pairs,
                          .pairs = pairs,
                          .from = {false, 1, 0},
                          .to = {false, 1, 0}};
      check_rotary<f16, f16>(c);
      check_rotary<bf16, f32>(c);
      check_rotary<f32, bf16>(c);
    }
    for (u32 pairs = 1; pairs < 9; ++pairs)  // runs of each length
      for (const bool interleaved : {false, true}) {
        rotary_case c{.batches = 1, .tokens = 2, .size = 2 * pairs + 7 - pairs % 8, .pairs = pairs};
        c.interleaved = interleaved;
        c.from = c.to = {false, 1, 0};
        check_rotary<f16, f16>(c);
        check_rotary<bf16, f32>(c);
        check_rotary<f32, bf16>(c);
        c.size = 2 * pairs;  // the last run of a row: padding follows it
        check_rotary<f16, f16>(c);
        check_rotary<bf16, f32>(c);
        check_rotary<f32, bf16>(c);
      }
  });
  return mutants.result();
}

}  // namespace

TEST_CASE("mutants of append_kv and rotary are killed", "[mutants]") {
  tally all = kill_append();
  all += kill_rotary();
  // Runs that end before the last of their elements are one length in these calls, so which elements exist is seldom told
  // apart.
  check_rate("append_kv and rotary", all, 75);
}
