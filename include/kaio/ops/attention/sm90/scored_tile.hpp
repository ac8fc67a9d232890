#pragma once
// What a consumer knows of the tile of queries that its scores belong to, while it goes over the tiles of
// keys.

#include <kaio/dsl/dsl.hpp>
#include <kaio/ops/attention/common/block.hpp>

#include <cstdint>

namespace kaio::ops {

// Tiles of keys, from first to before last: at least one, all of which is masked where there are no keys.
struct key_tiles {
  val<u32> first, last;
};
template <std::uint32_t Keys>
constexpr key_tiles tiles_of(thread t, const key_range& keys) {
  const val first = t.let(keys.first / Keys);
  return {first, t.let(max((keys.last + (Keys - 1)) / Keys, first + 1u))};
}

template <std::uint32_t Keys>
struct scored_tile {
  thread t;
  var<u32> batch, head, query;  // query: the first one of the thread
  var<u32> last_query, last_key;
  var<i32> offset;
  var<u32> tile, end;  // the tile of keys that is next, and the one after the last
  var<u32> has_keys, whole_first, whole_last;

  constexpr explicit scored_tile(thread of)
      : t(of),
        batch(t, 0u),
        head(t, 0u),
        query(t, 0u),
        last_query(t, 0u),
        last_key(t, 0u),
        offset(t, 0),
        tile(t, 0u),
        end(t, 0u),
        has_keys(t, 0u),
        whole_first(t, 0u),
        whole_last(t, 0u) {}

  // `row`: of the thread in the tile of queries.
  constexpr void enter(const attention_block& block, const key_range& keys, const val<u32>& row) {
    const key_tiles tiles = tiles_of<Keys>(t, keys);
    batch = block.batch;
    head = block.head;
    query = block.first_query + row;
    last_query = block.queries - 1u;
    last_key = block.keys - 1u;
    offset = block.offset;
    tile = tiles.first;
    end = tiles.last;
    has_keys = select(keys.first < keys.last, 1u, 0u);
    whole_first = keys.whole_first;
    whole_last = keys.whole_last;
  }
  constexpr val<bool> is_at_last_keys() const { return t.let(tile + 1u == end); }
  // Not all queries attend to all of the keys.
  constexpr val<bool> is_partial() const {
    const val first = t.let(tile * Keys);
    return t.let(any_of(first<whole_first, first + Keys> whole_last));
  }
  // `column`: the thread's first one.
  constexpr score_origin<2> origin(const val<u32>& column) const {
    return {t.let(batch),
            t.let(head),
            array_of<2>([&](u32 r) { return t.let(query + 8 * r); }),
            t.let(tile * Keys + column),
            t.let(last_query),
            t.let(last_key),
            t.let(offset)};
  }
};

}  // namespace kaio::ops
