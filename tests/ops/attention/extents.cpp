// ops::attention where extents meet the edges of tiles from both sides, with every mask, numbers of heads
// that share keys, and head sizes. Each option varies independently. The emulator runs a part of the
// combinations, which covers pairs of options.
#include "tests/ops/attention/covering.hpp"
#include "tests/ops/attention/support.hpp"

using namespace kaio;
using namespace kaio::tests;

namespace {

enum option : std::uint8_t { queries, keys, causal, window, group, size, type };
constexpr u32 extents_of_rows[] = {0, 1, 2, 5, 63, 64, 65, 127, 128, 129, 257, 1000};
constexpr attention_window windows[] = {{}, {0, 0}, {5, 0}, {0, 3}, {-1, 2}, {127, 127}};
constexpr u32 groups[] = {1, 3, 7, 8, 16};  // query heads that share a head of keys
constexpr u32 sizes[] = {8, 40, 64, 72, 80, 96, 104, 128, 160, 192, 256};

attention_case case_of(const covering_cases::values& v) {
  attention_case c{.queries = extents_of_rows[v[queries]],
                   .keys = extents_of_rows[v[keys]],
                   .heads = groups[v[group]],
                   .qk_size = sizes[v[size]],
                   .v_size = sizes[v[size]],
                   .causal = static_cast<causal_alignment>(v[causal]),
                   .window = windows[v[window]]};
  if (v[type] == 3) c.precision = attention_precision::tf32;
  // A long case is compared at some rows: next to the edges of tiles and between them.
  if (c.queries > 257)
    for (u32 i = 0; i < c.queries; i += 61) c.rows.push_back(i);
  if (c.queries > 257) c.rows.push_back(c.queries - 1);
  return c;
}

void run(const covering_cases::values& v) {
  const attention_case c = case_of(v);
  switch (v[type]) {
    case 0: return check_attention<f16>(c);
    case 1: return check_attention<bf16>(c);
    default: return check_attention<f32>(c);
  }
}

// As in FlashAttention's grid: millions of multiply-adds on the emulator.
double emulated_cost(const covering_cases::values& v) {
  const attention_case c = case_of(v);
  const double depth = c.qk_size <= 64 ? 64 : c.qk_size <= 128 ? 128 : 256;
  const double visited = v[window] == 0 || v[window] == 4 ? c.keys + 64.0 : std::min(c.keys + 64.0, 300.0);
  return 1 + 2e-6 * depth * visited * (c.queries + 64) * c.heads * (v[type] >= 2 ? 3 : 1);
}

// More tiles of keys than a block has stages, for one tile of queries and for several. Tensor copies first
// bring all columns to each stage, then only those that exist.
template <class T>
void many_tiles(u32 size) {
  CAPTURE(size);
  check_attention<T>({.queries = 3,
                      .keys = 20,
                      .heads = 3 * under_test().properties().multiprocessors + 5,
                      .key_heads = 1,
                      .qk_size = size,
                      .v_size = size});
  check_attention<T>({.queries = 3, .keys = 700, .qk_size = size, .v_size = size});
  check_attention<T>({.queries = 3, .keys = 700, .qk_size = size, .v_size = 40, .window = {20, 0}});
}

// All batches and heads read the same numbers, by strides of 0, and give the same bits as one does alone.
template <class T>
void many(u32 batches, u32 heads) {
  const u32 rows = 9, depth = 64;
  CAPTURE(batches, heads);
  attention_inputs<T> x({.queries = rows, .keys = rows});
  const auto repeated = [&](buffer<T>& memory) {
    return tensor_view<const T, 4>(memory, extents(batches, rows, heads, depth), strides(0, depth, 0, 1));
  };
  const std::size_t elements = std::size_t{batches} * rows * heads * depth;
  auto all = under_test().allocate<T>(elements), one = under_test().allocate<T>(std::size_t{rows} * depth);
  attention_first_fit(under_test().stream(), repeated(x.on_q), repeated(x.on_k), repeated(x.on_v),
                      tensor_view<T, 4>(all, batches, heads, rows, depth).exchanged(1, 2));
  attention_first_fit(under_test().stream(), x.q.template view<const T>(x.on_q),
                      x.k.template view<const T>(x.on_k), x.v.template view<const T>(x.on_v),
                      tensor_view<T, 4>(one, 1, rows, 1, depth));
  const std::vector<T> got = all.download(), want = one.download();
  std::size_t wrong = 0;
  for (std::size_t first = 0; first < elements; first += want.size())
    wrong += std::memcmp(&got[first], want.data(), want.size() * sizeof(T)) != 0;
  REQUIRE(wrong == 0);
}

}  // namespace

TEST_CASE("attention: extents, masks, groups and head sizes", "[ops][attention]") {
  const bool emulated = under_test().is_emulator();
  covering_cases grid({std::size(extents_of_rows), std::size(extents_of_rows), 3, std::size(windows),
                       std::size(groups), std::size(sizes), 4},
                      emulated ? 900 : 4000);
  const auto cost = [&](const covering_cases::values& v) { return emulated ? emulated_cost(v) : 1.0; };
  while (const auto* values = grid.next(cost)) run(*values);
  for (std::size_t a = 0; a <= type; ++a)
    for (std::size_t b = 0; b <= type; ++b) {
      CAPTURE(a, b);
      if (a == b || !emulated || (a >= causal && b >= causal && a < group && b < group))
        REQUIRE(grid.covers(a, b));
    }
}

TEST_CASE("attention: head sizes that are no multiple of a box, more tiles than stages", "[ops][attention]") {
  for (const u32 size : {40u, 72u, 160u}) many_tiles<f16>(size);
  many_tiles<bf16>(104);
}

TEST_CASE("attention: all extents with all masks", "[ops][attention]") {
  if (under_test().is_emulator()) return;  // 2592 cases
  std::mt19937_64 engine(1);
  const auto any = [&](std::size_t count) { return static_cast<u32>(engine() % count); };
  for (u32 q = 0; q < std::size(extents_of_rows); ++q)
    for (u32 k = 0; k < std::size(extents_of_rows); ++k)
      for (u32 c = 0; c < 3; ++c)
        for (u32 w = 0; w < std::size(windows); ++w)
          run({q, k, c, w, any(std::size(groups)), any(std::size(sizes)), any(4)});
}

TEST_CASE("attention: more batches and heads than a grid's second and third extent", "[ops][attention]") {
  if (under_test().is_emulator()) {  // which takes minutes for more
    many<f16>(3, 5);
    many<f32>(5, 3);
    return;
  }
  for (const u32 count : {65535u, 65536u, 65537u}) {
    many<f16>(count, 1);
    many<f16>(1, count);
    many<f32>(count, 1);
    many<f32>(1, count);
  }
}
