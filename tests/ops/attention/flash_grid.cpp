// The grid over which FlashAttention is tested (tests/test_flash_attn.py there, test_flash_attn_output): head
// sizes, lengths, heads, masks, soft cap, ALiBi, types. On a GPU each shape with some options; on the emulator a part in
// which every value of every option occurs, and every pair of masks, soft cap, ALiBi and types.
#include "tests/ops/attention/covering.hpp"
#include "tests/ops/attention/support.hpp"

#include <cstdlib>
#include <string>

using namespace kaio;
using namespace kaio::tests;

namespace {

enum option : std::uint8_t { size, lengths, heads, causal, local, softcap, alibi, type };
constexpr u32 sizes[] = {32, 40, 59, 64, 80, 96, 111, 128, 160, 192, 224, 256};
struct query_and_key_rows {
  u32 queries, keys;
};
constexpr query_and_key_rows all_lengths[] = {{113, 203},   {128, 217},  {113, 211},   {108, 256},
                                              {256, 512},   {512, 256},  {1024, 1024}, {1023, 1024},
                                              {1024, 1023}, {2048, 2048}};
struct head_counts {
  u32 queries, keys;
};
// Heads of their own, one for all, groups.
constexpr head_counts on_gpu[] = {{6, 6}, {6, 1}, {6, 2}}, on_emulator[] = {{2, 2}, {2, 1}, {4, 2}};
constexpr u32 types = 4;  // f16, bf16, f32, tf32

attention_case case_of(const covering_cases::values& v, bool emulated) {
  std::mt19937_64 engine(v[size] * 1000 + v[lengths] * 100 + v[causal] * 10 + v[alibi]);
  const auto [queries, keys] = all_lengths[v[lengths]];
  const auto [query_heads, key_heads] = emulated ? on_emulator[v[heads]] : on_gpu[v[heads]];
  attention_case c{.batches = emulated ? 1u : 2u,
                   .queries = queries,
                   .keys = keys,
                   .heads = query_heads,
                   .key_heads = key_heads,
                   .qk_size = sizes[v[size]],
                   .v_size = sizes[v[size]]};
  c.range = 2;
  if (v[causal] != 0) c.causal = causal_alignment::bottom_right;
  const u32 widest = emulated ? 64 : keys;  // of a window; short ones leave most tiles out
  if (v[local] != 0) c.window = {static_cast<i64>(engine() % widest), static_cast<i64>(engine() % widest)};
  if (v[softcap] != 0) c.softcap = 2;
  if (v[alibi] != 0) c.alibi = 2;
  if (v[type] == 3) c.precision = attention_precision::tf32;
  return c;
}

// Multiply-adds of a case as the emulator runs them, in millions; those without matrix instructions cost it
// more.
double emulated_cost(const covering_cases::values& v) {
  const attention_case c = case_of(v, true);
  const double depth = c.qk_size <= 64 ? 64 : c.qk_size <= 128 ? 128 : 256;
  double visited = c.keys;
  if (v[causal] != 0) visited = visited / 2 + 64;
  if (v[local] != 0) visited = std::min(visited, 300.0);
  return 1 + 2e-6 * depth * visited * (c.queries + 64) * c.heads * (v[type] >= 2 ? 3 : 1);
}

// f(T) with the element type of `which`.
template <class F>
void with_type(u32 which, const F& f) {
  if (which == 0)
    f(f16{});
  else if (which == 1)
    f(bf16{});
  else
    f(f32{});
}

template <class T>
void check(attention_inputs<T>& inputs, const attention_case& c) {
  check_attention_of<T>(
      inputs, c,
      [](const auto& q, const auto& k, const auto& v, const auto& o, const attention_options& options) {
        attention_first_fit(under_test().stream(), q, k, v, o, options);
      });
}

void a_part() {
  covering_cases grid({std::size(sizes), std::size(all_lengths), 3, 2, 2, 2, 2, types}, 1300);
  while (const auto* values = grid.next(emulated_cost))
    with_type((*values)[type], [&]<class T>(T) {
      if (!has_attention<T>()) return;
      const attention_case c = case_of(*values, true);
      attention_inputs<T> inputs(c);
      check(inputs, c);
    });
  for (std::size_t a = 0; a <= type; ++a)
    for (std::size_t b = 0; b <= type; ++b) {
      CAPTURE(a, b);
      if (a == b || (a > heads && b > heads)) REQUIRE(grid.covers(a, b));
    }
}

// Each shape runs with one random combination of the options: the host's reference takes most of the time.
// KAIO_FLASH_GRID=all runs all combinations, which takes an hour. Each case compares the first or the last
// query, and a random one.
void all_of_it(u32 which) {
  std::mt19937_64 engine(1);
  const char* const asked = std::getenv("KAIO_FLASH_GRID");
  const bool whole = asked != nullptr && std::string(asked) == "all";
  for (u32 s = 0; s < std::size(sizes); ++s)
    for (u32 l = 0; l < std::size(all_lengths); ++l)
      for (u32 h = 0; h < std::size(on_gpu); ++h)
        with_type(which, [&]<class T>(T) {
          if (!has_attention<T>()) return;
          attention_inputs<T> inputs(case_of({s, l, h, 0, 0, 0, 0, which}, false));
          const u32 turn = engine() % 16;
          for (u32 options = 0; options < 16; ++options) {
            if (!whole && options != turn) continue;
            attention_case c = case_of(
                {s, l, h, options & 1, options >> 1 & 1, options >> 2 & 1, options >> 3 & 1, which}, false);
            const auto any = [&] { return static_cast<u32>(engine() % c.queries); };
            c.rows = {any(), engine() % 2 == 0 ? 0u : c.queries - 1};
            check(inputs, c);
          }
        });
}

}  // namespace

TEST_CASE("attention: a part of FlashAttention's grid", "[ops][attention]") {
  if (under_test().is_emulator()) a_part();
}
TEST_CASE("attention: FlashAttention's grid", "[ops][attention]") {
  if (under_test().is_emulator()) return;  // it would take hours
  for (u32 which = 0; which < types; ++which) all_of_it(which);
}
