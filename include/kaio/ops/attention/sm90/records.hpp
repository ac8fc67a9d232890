#pragma once
// What the producer tells the consumers next to the tiles that it copies, in shared memory, so that finding it
// costs them no instructions. With a tile of queries: where it is. With a tile of keys: its first key, and what
// to do with its scores. The barrier of the copy orders both.

#include <kaio/dsl/dsl.hpp>
#include <kaio/ops/attention/common/block.hpp>

#include <cstdint>

namespace kaio::ops {

// Tiles of queries. A record outlives its tile of Q: it is read until O has left, when the producer may be two
// tiles of Q further on.
class query_records {
 public:
  static constexpr u32 count = 4;
  constexpr explicit query_records(thread t) : t_(t), words_(t) {}

  constexpr void put(const val<u32>& record, const attention_block& block, const key_range& keys) const {
    words_[record][exists_] = 1u;
    const auto numbers = array_of<9>([&](u32 i) {
      const val<u32>* const all[] = {&block.batch,        &block.head,        &block.group,
                                     &block.first_query,  &block.queries,     &block.keys,
                                     &block.tensor_batch, &block.first_q_row, &block.first_k_row};
      return *all[i];
    });
    for (u32 i = 0; i < 9; ++i) words_[record][batch_ + i] = numbers[i];
    words_[record][first_] = keys.first;
    words_[record][last_] = keys.last;
  }
  // There are no more tiles.
  constexpr void put_end(const val<u32>& record) const { words_[record][exists_] = 0u; }

  constexpr val<bool> exists(const val<u32>& record) const { return t_.let(words_[record][exists_] != 0u); }
  constexpr attention_block block(const val<u32>& record) const {
    const auto x = array_of<9>([&](u32 i) { return t_.let(words_[record][batch_ + i]); });
    return {x[0], x[1], x[2], x[3], x[4], x[5], x[6], x[7], x[8], t_.let(cast<i32>(x[5]) - cast<i32>(x[4]))};
  }
  // Those that any of the queries attends to.
  constexpr key_range keys(const val<u32>& record) const {
    return {t_.let(words_[record][first_]), t_.let(words_[record][last_]), t_.let(0u), t_.let(0u)};
  }

 private:
  static constexpr u32 exists_ = 0, batch_ = 1, first_ = 10, last_ = 11;
  thread t_;
  shared<u32, count, 12> words_;
};

// A tile of keys of a tile of queries.
struct key_step {
  static constexpr u32 needs_mask = 1, is_last = 2, has_no_keys = 4;
  val<u32> first_key, flags;
  constexpr val<bool> is(thread t, u32 flag) const { return t.let((flags & flag) != 0u); }
};

template <std::uint32_t Stages>
class key_records {
 public:
  constexpr explicit key_records(thread t) : t_(t), words_(t) {}
  constexpr void put(const val<u32>& stage, const key_step& step) const {
    words_[stage][0] = step.first_key;
    words_[stage][1] = step.flags;
  }
  constexpr key_step at(const val<u32>& stage) const {
    return {t_.let(words_[stage][0]), t_.let(words_[stage][1])};
  }

 private:
  thread t_;
  shared<u32, Stages, 2> words_;
};

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
constexpr key_step step_of(thread t, const key_range& keys, const key_tiles& tiles, const val<u32>& tile) {
  const val first = t.let(tile * Keys);
  const val partial = t.let(any_of(first<keys.whole_first, first + Keys> keys.whole_last));
  return {first, t.let(select(partial, key_step::needs_mask, 0u) |
                       select(tile + 1u == tiles.last, key_step::is_last, 0u) |
                       select(keys.first < keys.last, 0u, key_step::has_no_keys))};
}

}  // namespace kaio::ops
