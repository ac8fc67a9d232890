#pragma once
// A call of rotary of any layout, pairing and positions, next to the formula on the host, bit by bit.
#include "tests/ops/cache/support.hpp"

#include <kaio/ops/rotary.hpp>

namespace kaio::tests {

struct rotary_case {
  i64 batches = 2, tokens = 3, heads = 2, size = 64;
  u32 pairs = 32, table_rows = 40, table_pad = 0;
  tensor_layout from{}, to{};
  bool in_place = false, interleaved = false, inverse = false;
  u32 positions = 0;  // 0: none, 1: (tokens), 2: (batches, tokens)
  bool wide_positions = false, offsets = false;
  std::uint64_t seed = 1;
};

template <class T, class Of>
void check_rotary(const rotary_case& c) {
  CAPTURE(c.batches, c.tokens, c.heads, c.size, c.pairs, c.interleaved, c.inverse, c.in_place, c.positions,
          c.offsets, c.from.pad, c.from.shift, c.seed);
  auto x = input_tensor<T>(c.batches, c.tokens, c.heads, c.size, c.from, c.seed);
  cache_tensor<T> y = c.in_place ? x : cache_tensor<T>(c.batches, c.tokens, c.heads, c.size, c.to);
  const host_tables<Of> tables(c.table_rows, c.pairs, c.table_pad, c.seed + 1);
  std::mt19937_64 engine(c.seed + 2);
  // Some positions that the tables do not have.
  const auto any_position = [&] { return static_cast<i64>(engine() % (c.table_rows + 2)) - 1; };
  std::vector<i64> positions(static_cast<std::size_t>(c.positions == 2 ? c.batches * c.tokens : c.tokens));
  for (i64& p : positions) p = any_position();
  std::vector<i32> narrow(positions.begin(), positions.end()), offsets(static_cast<std::size_t>(c.batches));
  for (i32& o : offsets) o = static_cast<i32>(any_position());

  auto on_x = upload(x.host), on_y = upload(y.host);
  auto on_cos = upload(tables.cos), on_sin = upload(tables.sin);
  auto on_narrow = upload(narrow), on_offsets = upload(offsets);
  auto on_wide = upload(positions);
  rotary_options options{.interleaved = c.interleaved, .inverse = c.inverse};
  if (c.positions == 1 && c.wide_positions)
    options.positions = tensor_view<const i64, 1>(on_wide, extents(c.tokens));
  else if (c.positions == 1)
    options.positions = tensor_view<const i32, 1>(on_narrow, extents(c.tokens));
  else if (c.positions == 2 && c.wide_positions)
    options.positions = tensor_view<const i64, 2>(on_wide, extents(c.batches, c.tokens));
  else if (c.positions == 2)
    options.positions = tensor_view<const i32, 2>(on_narrow, extents(c.batches, c.tokens));
  if (c.offsets) options.offsets = numbers_view(on_offsets, c.batches);
  rotary(under_test().stream(), c.in_place ? y.template view<const T>(on_y) : x.template view<const T>(on_x),
         y.view(on_y), tables.view(on_cos), tables.view(on_sin), options);

  cache_tensor<T> want = y;
  for (i64 b = 0; b < c.batches; ++b)
    for (i64 t = 0; t < c.tokens; ++t)
      for (i64 h = 0; h < c.heads; ++h) {
        if (c.size == 0) continue;
        T* const row = &want.at(b, t, h, 0);
        for (i64 e = 0; e < c.size; ++e) row[e] = x.at(b, t, h, e);
        const i64 position = c.positions == 2   ? positions[static_cast<std::size_t>(b * c.tokens + t)]
                             : c.positions == 1 ? positions[static_cast<std::size_t>(t)]
                             : c.offsets        ? offsets[static_cast<std::size_t>(b)] + t
                                                : t;
        rotate_on_host(row, tables, position, c.interleaved, c.inverse);
      }
  require_same(on_y.download(), want.host);
}

}  // namespace kaio::tests
