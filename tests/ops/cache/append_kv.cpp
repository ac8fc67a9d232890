// append_kv into caches of each kind, kept as they come, in 8 bits, rotated on the way.
#include "tests/ops/cache/append_case.hpp"

using namespace kaio;
using namespace kaio::tests;

namespace {

constexpr std::array<cache_form, 6> forms{cache_form::contiguous, cache_form::batch_index, cache_form::table,
                                          cache_form::list,       cache_form::last_page,   cache_form::slots};

append_case draw(std::uint64_t seed) {
  std::mt19937_64 engine(seed);
  const auto below = [&](u64 n) { return static_cast<u32>(engine() % n); };
  const std::array<i64, 9> sizes{8, 16, 40, 64, 80, 96, 128, 7, 34};
  const std::array<i64, 5> page_rows{1, 3, 16, 100, 64};
  append_case c;
  c.seed = seed;
  c.form = forms[below(forms.size())];
  c.batches = below(4) + 1;
  c.tokens = below(5) + 1;
  c.heads = below(3) + 1;
  c.size = sizes[below(sizes.size())];
  c.v_size = below(2) == 0 ? c.size : sizes[below(sizes.size())];
  c.page_rows = page_rows[below(page_rows.size())];
  c.pages_of_sequence = below(4) + 1;
  c.packed = below(3) == 0;
  c.wide_numbers = below(2) == 0;
  c.from = {below(2) == 0, below(2) * below(17), below(2) * below(9)};
  c.kept = {below(2) == 0, below(2) * below(17), below(2) * below(9)};
  c.pairs = below(2) == 0   ? 0
            : below(2) == 0 ? static_cast<u32>(c.size / 2)
                            : below(static_cast<u64>(c.size / 2) + 1);
  if (c.pairs != 0) {
    c.interleaved = below(2) == 0;
    c.query_heads = below(2) == 0 ? 0 : c.heads * (below(3) + 1);
    c.q_in_place = below(3) == 0;
    c.positions = c.form == cache_form::slots || below(4) == 0;
    c.q_at_first = !c.positions && below(3) == 0;
  }
  c.padding = below(3) == 0 && c.form != cache_form::slots;
  return c;
}

}  // namespace

TEST_CASE("append_kv: caches of each kind and page sizes", "[ops][cache]") {
  for (const cache_form form : forms)
    for (const i64 page_rows : {i64{1}, i64{3}, i64{16}, i64{100}})
      for (const bool packed : {false, true})
        check_append<f16>({.form = form,
                           .size = 64,
                           .v_size = 32,
                           .page_rows = page_rows,
                           .packed = packed,
                           .seed = static_cast<u64>(page_rows)});
}

TEST_CASE("append_kv: random calls", "[ops][cache]") {
  for (std::uint64_t seed = 1; seed <= 60; ++seed) {
    const append_case c = draw(seed);
    if (seed % 3 == 0) check_append<f32>(c);
    if (seed % 3 == 1) check_append<f16>(c);
    if (seed % 3 == 2) check_append<bf16>(c);
  }
}

TEST_CASE("append_kv: random calls in 8 bits", "[ops][cache]") {
  for (std::uint64_t seed = 101; seed <= 160; ++seed) {
    append_case c = draw(seed);
    c.scales = static_cast<scale_form>(seed % 5);
    c.range = seed % 7 == 0 ? 60000.0f : 2.0f;
    if (seed % 3 == 0) check_append<f16, e4m3>(c);
    if (seed % 3 == 1) check_append<bf16, e5m2>(c);
    if (seed % 3 == 2) check_append<f32, i8>(c);
  }
}

TEST_CASE("append_kv: scales of sequences", "[ops][cache]") {
  for (const cache_form form : forms) {
    if (form == cache_form::slots) continue;  // of no sequence
    for (const bool packed : {false, true})
      check_append<f16, e4m3>({.form = form,
                               .batches = 4,
                               .size = 64,
                               .v_size = 32,
                               .packed = packed,
                               .scales = scale_form::sequences,
                               .pairs = packed ? 16u : 0u,
                               .seed = static_cast<u64>(form) + 5});
  }
  check_append<bf16, i8>({.heads = 3, .packed = true, .scales = scale_form::sequences, .seed = 9});
}

TEST_CASE("append_kv: heads of 512, one element, nothing to do", "[ops][cache]") {
  check_append<f16>({.tokens = 2, .heads = 1, .size = 512, .v_size = 512, .pairs = 256, .query_heads = 2});
  check_append<bf16, e4m3>(
      {.tokens = 2, .heads = 1, .size = 512, .v_size = 511, .scales = scale_form::computed, .pairs = 256});
  check_append<f32, i8>({.heads = 1, .size = 1, .v_size = 1, .scales = scale_form::computed});
  check_append<f16>({.tokens = 0});
  check_append<f16>({.tokens = 0, .packed = true});
  check_append<f16>({.form = cache_form::contiguous, .batches = 0});
  check_append<f16>({.heads = 0});
  check_append<f16>({.size = 0, .v_size = 0});
  check_append<f16>({.size = 0, .v_size = 8});
}
