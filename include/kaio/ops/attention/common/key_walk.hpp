#pragma once
// The tiles of keys that a tile of queries visits, and whether the mask runs in each. A kernel asks its walk.
// The mask decides between two forms when the kernel is compiled, or the launch does (any_walk):
//
//   range_walk    adjacent tiles from the first to the last key that the mask may keep; the mask runs in
//                 tiles that it does not keep whole
//   block_walk    the blocks of two lists in device memory (block_lists.hpp), each from its first key on:
//
//                   list     | partial: 0, 3       | full: 1          blocks of 128 keys
//                   tiles    | 0  80 | 384  464    | 128  208         first keys of tiles of 80
//
//                 a tile that reaches beyond its block, or the sequence, is cut there
//
// A kernel uses it like this:
//
//   const auto range = walks.walk<keys of a tile>(t, block, queries of a tile);
//   for (auto i : t.range(range.first, range.last)) {
//     const auto found = range.find(t, i);        // reads memory if the walk needs it
//     const auto keys = range.tile(t, found);     // from keys.first; no query reads keys from keys.limit on
//     range.mask(t, keys, scores, origin, mask);  // if it has to run
//   }
//
// All its numbers are uniform over a block, so its branches do not diverge.

#include <kaio/ops/attention/common/block.hpp>
#include <kaio/ops/attention/common/block_sparse.hpp>

#include <cstdint>
#include <limits>

namespace kaio::ops {

// Scores of keys from `limit` on become -inf; `key` is the thread's first one.
template <class Scores>
constexpr void cut_scores(thread t, const Scores& s, const val<u32>& key, const val<u32>& limit) {
  const val room = t.let(cast<i32>(limit) - cast<i32>(key));
  for (std::uint32_t i = 0; i < s.size(); ++i)
    s[i] = select(room > static_cast<i32>(s.column(i)), s[i], -std::numeric_limits<f32>::infinity());
}

// The numbers of a walk besides its first and last tile, as any_walk stores them for either form.
using walk_numbers = dsl::register_array<val<u32>, 3>;

// Keys: keys of a tile.
template <std::uint32_t Keys>
class range_walk {
 public:
  static constexpr bool cuts_tiles = false;  // a tile without the mask never ends before its last key
  struct key_tile {
    val<u32> first;  // first key
    val<u32> limit;  // no query of the tile reads keys from here on
    val<u32> end;    // no keys exist from here on
  };
  val<u32> first, last;  // tile numbers: from first to before last

  constexpr range_walk(thread t, const attention_block& block, const key_range& keys)
      : first(t.let(keys.first / Keys)),
        last(t.let((keys.last + (Keys - 1)) / Keys)),
        end_(block.keys),
        keys_(keys) {}
  // A walk out of its numbers. They do not include the first key, since only each_key needs it.
  constexpr range_walk(const val<u32>& first_tile, const val<u32>& last_tile, const val<u32>& end,
                       const walk_numbers& x)
      : first(first_tile), last(last_tile), end_(end), keys_{first_tile, x[0], x[1], x[2]} {}
  constexpr walk_numbers numbers() const { return {{keys_.last, keys_.whole_first, keys_.whole_last}}; }

  constexpr val<u32> find(thread, const val<u32>& i) const { return i; }
  constexpr key_tile tile(thread t, const val<u32>& found) const {
    return {t.let(found * Keys), keys_.last, end_};
  }
  // The first tile; one without keys if there is none.
  constexpr key_tile begin(thread t) const { return tile(t, first); }
  // Tile i + 1, where `keys` is tile i.
  constexpr key_tile after(thread t, const val<u32>&, const key_tile& keys) const {
    return {t.let(keys.first + Keys), keys_.last, end_};
  }
  // Whether the mask has to run in a tile.
  constexpr val<bool> is_partial(thread t, const key_tile& keys) const {
    return t.let(any_of(keys.first<keys_.whole_first, keys.first + Keys> keys_.whole_last));
  }
  template <class Scores, class Origin, class ApplyMask>
  constexpr void mask(thread t, const key_tile& keys, const Scores& s, const Origin& origin,
                      const ApplyMask& mask) const {
    if (auto partial = t.when(is_partial(t, keys))) mask(s, origin);
  }
  // visit(key, where_masked) for each key in order; where_masked(f) calls f if the mask has to run.
  template <class Visit>
  constexpr void each_key(thread t, const Visit& visit) const {
    for (auto key : t.range(keys_.first, keys_.last).no_unroll()) visit(key, [](const auto& f) { f(); });
  }

 private:
  val<u32> end_;
  key_range keys_;
};

// each_key for a walk that finds tiles by number.
template <std::uint32_t Keys, template <std::uint32_t> class Walk, class Visit>
constexpr void visit_tiles(thread t, const Walk<Keys>& walk, const Visit& visit) {
  for (auto i : t.range(walk.first, walk.last).no_unroll()) {
    const auto keys = walk.find(t, i);
    for (auto key : t.range(keys.first, t.let(min(keys.first + Keys, keys.limit))).no_unroll())
      visit(key, [&](const auto& f) {
        if (auto partial = t.when(keys.masked)) f();
      });
  }
}

template <std::uint32_t Keys>
class block_walk {
 public:
  static constexpr bool cuts_tiles = true;
  struct key_tile {
    val<u32> first;
    val<u32> limit, end;  // the end of the block or of the sequence
    val<bool> masked;     // the mask has to run
  };
  val<u32> first, last;

  constexpr key_tile find(thread t, const val<u32>& i) const {
    const val of_list = t.let(i / tiles_);
    const val of_block = t.let(i - of_list * tiles_);
    const val is_partial = t.let(of_list < partial_);
    const val of_partial = numbers_of(t, lists_[&attention_block_lists::partial]);
    const val of_full = numbers_of(t, lists_[&attention_block_lists::full]);
    const val address = t.let(select(is_partial, of_partial, of_full));
    const val at = t.let(select(is_partial, of_list, of_list - partial_));
    const val size = t.let(lists_[&attention_block_lists::keys]);
    const val from = t.let(cast<u32>(pointer_at<in<i32>>(t, address)[at]) * size);
    const val limit = t.let(min(from + size, keys_));
    return {t.let(from + of_block * Keys), limit, limit, t.let(all_of(is_partial, masks(t)))};
  }
  constexpr key_tile tile(thread, const key_tile& found) const { return found; }
  constexpr key_tile begin(thread t) const {
    var key(t, 0u), limit(t, 0u);
    if (auto some = t.when(first < last)) {
      const key_tile found = find(t, first);
      key = found.first;
      limit = found.limit;
    }
    const val end = t.let(limit);
    return {t.let(key), end, end, masks(t)};
  }
  constexpr key_tile after(thread t, const val<u32>& i, const key_tile&) const {
    return find(t, t.let(i + 1u));
  }
  constexpr const val<bool>& is_partial(thread, const key_tile& keys) const { return keys.masked; }
  constexpr val<bool> is_cut(thread t, const key_tile& keys) const {
    return t.let(all_of(!keys.masked, keys.first + Keys > keys.limit));
  }
  template <class Scores, class Origin, class ApplyMask>
  constexpr void mask(thread t, const key_tile& keys, const Scores& s, const Origin& origin,
                      const ApplyMask& mask) const {
    if (auto partial = t.when(is_partial(t, keys))) mask(s, origin);
    if (auto cut = t.when(is_cut(t, keys))) cut_scores(t, s, origin.key, keys.limit);
  }
  template <class Visit>
  constexpr void each_key(thread t, const Visit& visit) const {
    visit_tiles(t, *this, visit);
  }

  constexpr block_walk(const val<attention_block_lists>& lists, const val<u32>& in_first,
                       const val<u32>& in_last, const val<u32>& keys, const val<u32>& batch,
                       const val<u32>& head, const walk_numbers& x)
      : first(in_first),
        last(in_last),
        lists_(lists),
        keys_(keys),
        batch_(batch),
        head_(head),
        query_block_(x[0]),
        tiles_(x[1]),
        partial_(x[2]) {}

  constexpr walk_numbers numbers() const { return {{query_block_, tiles_, partial_}}; }
  constexpr const val<u32>& keys() const { return keys_; }
  constexpr val<bool> exist(thread t) const { return t.let(lists_[&attention_block_lists::queries] != 0u); }

  // The walk for the block of queries that contains the tile.
  static constexpr block_walk of(thread t, const attention_block& block,
                                 const val<attention_block_lists>& lists) {
    const val query_block = t.let(block.first_query / lists[&attention_block_lists::queries]);
    const val partial = blocks_of(t, block, lists[&attention_block_lists::partial], query_block);
    const val full = blocks_of(t, block, lists[&attention_block_lists::full], query_block);
    const val size = t.let(lists[&attention_block_lists::keys]);
    const val tiles = t.let((size + (Keys - 1)) / Keys);
    return {lists,       t.let(0u),  t.let((partial + full) * tiles), block.keys,
            block.batch, block.head, {{query_block, tiles, partial}}};
  }

 private:
  constexpr val<bool> masks(thread t) const { return t.let(lists_[&attention_block_lists::masks] != 0u); }

  // Number of blocks in a list, limited to its room; 0 if the list or the tile does not exist.
  template <class List>
  static constexpr val<u32> blocks_of(thread t, const attention_block& block, const List& lists,
                                      const val<u32>& query_block) {
    const val counts = t.let(lists[&block_list::counts]);
    var count(t, 0u);
    if (auto exists = t.when(all_of(counts != 0u, block.first_query < block.query_limit))) {
      const val at = t.let(cast<i64>(block.batch) * lists[&block_list::counts_batch] +
                           cast<i64>(block.head) * lists[&block_list::counts_head] +
                           cast<i64>(query_block) * lists[&block_list::counts_row]);
      const val listed = t.let(pointer_at<in<i32>>(t, counts)[at]);
      count = min(cast<u32>(max(listed, 0)), lists[&block_list::most]);
    }
    return t.let(count);
  }
  // Address of a list's indices. Computed anew for each tile, so that it takes no registers in between.
  template <class List>
  constexpr val<u64> numbers_of(thread t, const List& lists) const {
    const val at = t.let(cast<i64>(batch_) * lists[&block_list::indices_batch] +
                         cast<i64>(head_) * lists[&block_list::indices_head] +
                         cast<i64>(query_block_) * lists[&block_list::indices_row]);
    return t.let(lists[&block_list::indices] + cast<u64>(at) * sizeof(i32));
  }

  val<attention_block_lists> lists_;
  val<u32> keys_;  // keys of the sequence
  val<u32> batch_, head_, query_block_;
  val<u32> tiles_;    // tiles per block of keys
  val<u32> partial_;  // blocks in the partial list
};

// Either form, chosen by the launch. Both visit tiles by number; a tile of a range is treated as one of a
// block that ends where the range does.
template <std::uint32_t Keys>
class any_walk {
 public:
  static constexpr bool cuts_tiles = true;
  using key_tile = typename block_walk<Keys>::key_tile;
  val<u32> first, last;

  // `numbers` are those of a block_walk if `lists` has blocks, else those of a range_walk.
  constexpr any_walk(const val<attention_block_lists>& lists, const val<u32>& in_first,
                     const val<u32>& in_last, const attention_block& block, const walk_numbers& numbers)
      : first(in_first),
        last(in_last),
        blocks_(lists, in_first, in_last, block.keys, block.batch, block.head, numbers) {}

  constexpr key_tile find(thread t, const val<u32>& i) const {
    const range_walk<Keys> range(first, last, blocks_.keys(), blocks_.numbers());
    const auto of_range = range.tile(t, i);
    var<u32> key(t, of_range.first), limit(t, of_range.limit), end(t, of_range.end);
    var<u32> masked(t, select(range.is_partial(t, of_range), 1u, 0u));
    if (auto listed = t.when(blocks_.exist(t))) {
      const key_tile of_block = blocks_.find(t, i);
      key = of_block.first;
      limit = of_block.limit;
      end = of_block.end;
      masked = select(of_block.masked, 1u, 0u);
    }
    return {t.let(key), t.let(limit), t.let(end), t.let(masked != 0u)};
  }
  constexpr key_tile tile(thread, const key_tile& found) const { return found; }
  constexpr key_tile begin(thread t) const {
    var<u32> key(t, 0u), limit(t, 0u);
    if (auto some = t.when(first < last)) {
      const key_tile found = find(t, first);
      key = found.first;
      limit = found.limit;
    }
    const val end = t.let(limit);
    return {t.let(key), end, end, blocks_.exist(t)};
  }
  constexpr key_tile after(thread t, const val<u32>& i, const key_tile&) const {
    return find(t, t.let(i + 1u));
  }
  constexpr const val<bool>& is_partial(thread, const key_tile& keys) const { return keys.masked; }
  constexpr val<bool> is_cut(thread t, const key_tile& keys) const { return blocks_.is_cut(t, keys); }
  template <class Scores, class Origin, class ApplyMask>
  constexpr void mask(thread t, const key_tile& keys, const Scores& s, const Origin& origin,
                      const ApplyMask& mask) const {
    blocks_.mask(t, keys, s, origin, mask);
  }
  template <class Visit>
  constexpr void each_key(thread t, const Visit& visit) const {
    visit_tiles(t, *this, visit);
  }

 private:
  block_walk<Keys> blocks_;
};

// How a kernel cuts the queries of a head into tiles of `rows`, and walks over the keys of a tile. This form
// uses the mask's range of keys.
template <class KeysOf>
struct range_walks {
  KeysOf keys;  // keys(block, first query, last query)

  constexpr val<u32> first_query(thread t, const var<u32>& tile, std::uint32_t rows) const {
    return t.let(tile * rows);
  }
  constexpr val<u32> query_limit(thread, const var<u32>&, const val<u32>& queries, std::uint32_t) const {
    return queries;
  }
  template <std::uint32_t Keys>
  constexpr range_walk<Keys> walk(thread t, const attention_block& block, std::uint32_t rows) const {
    return range_walk<Keys>(t, block, keys_of_block(t, block, rows, keys));
  }
};
template <class KeysOf>
range_walks(KeysOf) -> range_walks<KeysOf>;

// This form uses the lists of the tile's block of queries. A tile ends where the block does.
struct block_walks {
  val<attention_block_lists> lists;

  constexpr val<u32> first_query(thread t, const var<u32>& tile, std::uint32_t rows) const {
    const val size = t.let(lists[&attention_block_lists::queries]);
    const val tiles = t.let((size + (rows - 1)) / rows);
    const val block = t.let(tile / tiles);
    return t.let(block * size + (tile - block * tiles) * rows);
  }
  constexpr val<u32> query_limit(thread t, const var<u32>& tile, const val<u32>& queries,
                                 std::uint32_t rows) const {
    const val size = t.let(lists[&attention_block_lists::queries]);
    const val tiles = t.let((size + (rows - 1)) / rows);
    return t.let(min(queries, (tile / tiles + 1u) * size));
  }
  template <std::uint32_t Keys>
  constexpr block_walk<Keys> walk(thread t, const attention_block& block, std::uint32_t) const {
    return block_walk<Keys>::of(t, block, lists);
  }
};

// This form uses the lists if the launch has any, else the range.
template <class KeysOf>
struct any_walks {
  range_walks<KeysOf> of_range;
  block_walks of_blocks;

  constexpr val<bool> has_blocks(thread t) const {
    return t.let(of_blocks.lists[&attention_block_lists::queries] != 0u);
  }
  constexpr val<u32> first_query(thread t, const var<u32>& tile, std::uint32_t rows) const {
    var<u32> query(t, of_range.first_query(t, tile, rows));
    if (auto listed = t.when(has_blocks(t))) query = of_blocks.first_query(t, tile, rows);
    return t.let(query);
  }
  constexpr val<u32> query_limit(thread t, const var<u32>& tile, const val<u32>& queries,
                                 std::uint32_t rows) const {
    var<u32> limit(t, queries);
    if (auto listed = t.when(has_blocks(t))) limit = of_blocks.query_limit(t, tile, queries, rows);
    return t.let(limit);
  }
  template <std::uint32_t Keys>
  constexpr any_walk<Keys> walk(thread t, const attention_block& block, std::uint32_t rows) const {
    const auto range = of_range.template walk<Keys>(t, block, rows);
    var<u32> first(t, range.first), last(t, range.last);
    auto numbers = array_of<3>([&](u32 i) { return var(t, range.numbers()[i]); });
    if (auto listed = t.when(has_blocks(t))) {
      const auto blocks = of_blocks.template walk<Keys>(t, block, rows);
      first = blocks.first;
      last = blocks.last;
      for (u32 i = 0; i < 3; ++i) numbers[i] = blocks.numbers()[i];
    }
    return any_walk<Keys>{of_blocks.lists, t.let(first), t.let(last), block,
                          array_of<3>([&](u32 i) { return t.let(numbers[i]); })};
  }
};
template <class KeysOf>
any_walks(range_walks<KeysOf>, block_walks) -> any_walks<KeysOf>;

// The walks of a kernel with this mask; of_mask are its parameters.
template <class Mask, class... OfMask>
constexpr auto walks_of(thread t, const OfMask&... of_mask) {
  const auto lists = [](const val<attention_block_lists>& first, const auto&...) { return first; };
  if constexpr (is_block_sparse<Mask>) {
    return block_walks{lists(of_mask...)};
  } else if constexpr (is_in_any_blocks<Mask>) {
    return any_walks{range_walks{[t, &of_mask...](const attention_block& block, const val<u32>& first,
                                                  const val<u32>& last) {
                       return keys_of<Mask>(t, first, last, block.keys, block.offset, of_mask...);
                     }},
                     block_walks{lists(of_mask...)}};
  } else {
    return range_walks{
        [t, &of_mask...](const attention_block& block, const val<u32>& first, const val<u32>& last) {
          return keys_of<Mask>(t, first, last, block.keys, block.offset, of_mask...);
        }};
  }
}

}  // namespace kaio::ops
