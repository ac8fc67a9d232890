#pragma once
// The tiles of keys of a persistent block of the backward for sm_90a, one after the other. The copying thread
// takes a ticket (turns.hpp) as soon as the copies of the tile before have been issued. A record in shared
// memory passes on what the other warps need to know of the tile. K, V and the first steps of a tile are
// therefore copied while the block still computes the tile before, or stores its sums.
//
//   copies      tile 0 ......... ticket 1 | tile 1 ......... ticket 2 | tile 2 ...
//   consumers     tile 0 ............ store | tile 1 ............ store | tile 2 ...
//   adds dq          tile 0 ................... | tile 1 ................... |
//
// The smallest unfinished ticket is always being worked on, since its block has finished its earlier tickets.
// Hence no block waits forever for a turn.

#include <kaio/dsl/async.hpp>
#include <kaio/dsl/dsl.hpp>
#include <kaio/ops/attention/backward/common/key_block.hpp>
#include <kaio/ops/attention/backward/sm90/steps.hpp>

#include <cstdint>

namespace kaio::ops {

template <std::uint32_t Queries>
struct backward_tile {
  attention_key_block keys;
  query_range_walk<Queries> walk;
  earlier_additions<Queries> before;
  backward_share share;  // its steps
};

// Many: a block takes several tiles; otherwise it takes one ticket.
template <std::uint32_t Queries, bool Many>
class backward_tile_records {
 public:
  using tile = backward_tile<Queries>;
  // readers: the number of warps that read the records.
  constexpr backward_tile_records(thread t, std::uint32_t readers)
      : t_(t), readers_(readers), barriers_(t), words_(t) {}

  // Called by one thread; a barrier of the block follows.
  constexpr void init() const {
    for (u32 i = 0; i < 2; ++i) {
      barriers_[i].init(1);
      barriers_[2 + i].init(readers_);
    }
  }

  // Called by one thread: f(tile, n) for each tile, after its record has been written. `next` has the number
  // of tiles, takes tickets, and finds the tile of a ticket. Each part goes to shared memory at once, which
  // takes few registers.
  template <class Next, class F>
  constexpr void pass_on(const Next& next, const F& f) const {
    if constexpr (Many) {
      var<u32> n(t_, 0u);
      for (auto tiles : t_.loop()) {
        const val ticket = next.ticket(t_.let(n));
        const val is_last = t_.let(ticket >= next.count());
        const val record = t_.let(n & 1u);
        empty(record).wait(t_.let((n >> 1 & 1u) ^ 1u));
        words_[record][0] = select(is_last, 0u, 1u);
        if (auto end = t_.when(is_last)) full(record).arrive();
        tiles.break_if(is_last);
        put(next, ticket, record);
        f(at(record), t_.let(n));
        n += 1u;
      }
    } else {
      const val zero = t_.let(0u);
      put(next, next.ticket(zero), zero);
      f(at(zero), zero);
    }
  }

  // Called by all threads of a warp: f(tile) for each tile.
  template <class F>
  constexpr void for_each(const F& f) const {
    walk([&](const val<u32>& record, const val<u32>&) {
      const tile one = at(record);
      release(record);
      f(one);
    });
  }
  // f(tile, n, again) for the n-th tile, whose record is kept until f returns; again.keys() and again.part()
  // reread it.
  template <class F>
  constexpr void for_each_held(const F& f) const {
    walk([&](const val<u32>& record, const val<u32>& n) {
      f(at(record), n, reread{*this, record});
      release(record);
    });
  }

 private:
  // Offsets in the words of a record. Word 0 is 1 if there is a tile.
  static constexpr u32 of_keys = 1, of_walk = 10, of_before = 14, of_share = 16, of_part = 19, numbers = 20;

  struct reread {
    const backward_tile_records& records;
    const val<u32>& record;
    constexpr attention_key_block keys() const { return records.keys(record); }
    constexpr val<u32> part() const { return records.word(record, of_part); }
  };

  template <class F>
  constexpr void walk(const F& f) const {
    if constexpr (Many) {
      var<u32> n(t_, 0u);
      for (auto tiles : t_.loop()) {
        const val record = t_.let(n & 1u);
        full(record).wait(t_.let(n >> 1 & 1u));
        tiles.break_if(t_.let(words_[record][0] == 0u));
        f(record, t_.let(n));
        n += 1u;
      }
    } else {
      const val zero = t_.let(0u);
      full(zero).wait(0u);
      f(zero, zero);
    }
  }
  constexpr void release(const val<u32>& record) const {
    if (!Many) return;
    sync_warp(t_);
    if (auto leads = t_.when(t_.lane_rank() == 0u)) empty(record).arrive();
  }

  constexpr mbarrier full(const val<u32>& record) const { return barriers_[record]; }
  // The index runs backwards, so that no address is kept from full() on: registers are scarce.
  constexpr mbarrier empty(const val<u32>& record) const { return barriers_[t_.let(3u - record)]; }

  template <class Next>
  constexpr void put(const Next& next, const val<u32>& ticket, const val<u32>& record) const {
    words_[record][of_part] = next.part(ticket);
    {
      const key_place place = next.place(ticket);
      put_words(record, of_keys, {place.batch, place.group, place.first_key});
    }
    {
      const attention_key_block own =
          next.keys({word(record, of_keys), word(record, of_keys + 1), word(record, of_keys + 2)});
      put_words(record, of_keys + 3,
                {own.queries, own.keys, own.query_limit, own.tensor_batch, own.first_q_row, own.first_k_row});
    }
    {
      const query_range_walk<Queries> walk = next.walk(keys(record));
      put_words(record, of_walk, {walk.first, walk.last, walk.whole_first, walk.whole_last});
      const attention_key_block own = keys(record);
      const val<u32> part = word(record, of_part);
      const backward_share share = next.share(own, walk, part);
      put_words(record, of_share, {share.head, share.end, share.rounds});
    }
    const earlier_additions<Queries> before = next.before(keys(record));
    put_words(record, of_before, {before.first, before.last});
    full(record).arrive();
  }
  template <u32 Count>
  constexpr void put_words(const val<u32>& record, u32 first, const val<u32> (&words)[Count]) const {
    for (u32 i = 0; i < Count; ++i) words_[record][first + i] = words[i];
  }
  constexpr val<u32> word(const val<u32>& record, u32 i) const { return t_.let(words_[record][i]); }
  constexpr attention_key_block keys(const val<u32>& record) const {
    const auto x = array_of<9>([&](u32 i) { return word(record, of_keys + i); });
    return {x[0], x[1], x[2], x[3], x[4], x[5], x[6], x[7], x[8], t_.let(cast<i32>(x[4]) - cast<i32>(x[3]))};
  }
  constexpr tile at(const val<u32>& record) const {
    const auto x = array_of<9>([&](u32 i) { return word(record, of_walk + i); });
    return {keys(record), {x[0], x[1], x[2], x[3]}, {t_, x[4], x[5]}, {x[6], x[7], x[8]}};
  }

  thread t_;
  std::uint32_t readers_;
  mbarriers<4> barriers_;  // two full, two empty
  shared<u32, 2, numbers> words_;
};

}  // namespace kaio::ops
