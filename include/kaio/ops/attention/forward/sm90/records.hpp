#pragma once
// Records that the producer passes to the consumers with its copies, in shared memory, so that they need not
// compute them. A tile of queries brings its place. A tile of keys brings its first key, and flags for its
// scores. The barrier of the copy orders both.

#include <kaio/dsl/dsl.hpp>
#include <kaio/dsl/tile.hpp>
#include <kaio/ops/attention/common/key_walk.hpp>

#include <cstdint>

namespace kaio::ops {

// Records of tiles of queries. A record outlives its tile of Q: it is read until O is stored. The ring of Q
// has stages for one tile and one more, and the producer acquires a tile's first stage before it writes the
// record. The producer is thus at most three tiles ahead.
class query_records {
 public:
  static constexpr u32 count = 4;
  constexpr explicit query_records(thread t) : t_(t), words_(t) {}

  constexpr void put(const val<u32>& record, const attention_block& block) const {
    const dsl::register_array<val<u32>, numbers> all{
        {block.batch, block.head, block.group, block.first_query, block.query_limit, block.queries,
         block.keys, block.tensor_batch, block.first_q_row, block.first_k_row}};
    const auto place = words_.lane(record, 0u);
    words_.at(place) = 1u;
    for (u32 i = 0; i < numbers; ++i) words_.at(place, 0, 1 + i) = all[i];
  }
  // Marks the end of the tiles.
  constexpr void put_end(const val<u32>& record) const { words_[record][0] = 0u; }

  constexpr val<bool> exists(const val<u32>& record) const { return t_.let(words_[record][0] != 0u); }
  constexpr attention_block block(const val<u32>& record) const {
    const auto place = words_.lane(record, 0u);
    const auto x = array_of<numbers>([&](u32 i) { return t_.let(words_.at(place, 0, 1 + i)); });
    return {x[0],
            x[1],
            x[2],
            x[3],
            x[4],
            x[5],
            x[6],
            x[7],
            x[8],
            x[9],
            t_.let(cast<i32>(x[6]) - cast<i32>(x[5]))};
  }

 private:
  static constexpr u32 numbers = 10;
  thread t_;
  shared_tile<u32, count, numbers + 1, dsl::row_major> words_;
};

// A tile of keys, for one tile of queries.
struct key_step {
  static constexpr u32 needs_mask = 1, needs_cut = 2, is_last = 4, has_no_keys = 8;
  val<u32> first_key, end;  // keys from `end` on do not exist
  val<u32> flags;
};

template <std::uint32_t Stages>
class key_records {
 public:
  constexpr explicit key_records(thread t) : t_(t), words_(t) {}
  constexpr void put(const val<u32>& stage, const key_step& step) const {
    const auto place = words_.lane(stage, 0u);
    words_.at(place) = step.first_key;
    words_.at(place, 0, 1) = step.end;
    words_.at(place, 0, 2) = step.flags;
  }
  constexpr key_step at(const val<u32>& stage) const {
    const auto place = words_.lane(stage, 0u);
    return {t_.let(words_.at(place)), t_.let(words_.at(place, 0, 1)), t_.let(words_.at(place, 0, 2))};
  }

 private:
  thread t_;
  shared_tile<u32, Stages, 3, dsl::row_major> words_;
};

// Step `tile` of a walk over keys (key_walk.hpp); the block has the steps before `last`. A walk without steps
// gets one without keys.
template <class Walk>
constexpr key_step step_of(thread t, const Walk& walk, const val<u32>& tile, const val<u32>& last) {
  var<u32> first(t, 0u), end(t, 0u), flags(t, key_step::has_no_keys);
  if (auto exists = t.when(tile < last)) {
    const auto keys = walk.tile(t, walk.find(t, tile));
    first = keys.first;
    end = keys.end;
    flags = select(walk.is_partial(t, keys), key_step::needs_mask, 0u);
    if constexpr (Walk::cuts_tiles) flags = flags | select(walk.is_cut(t, keys), key_step::needs_cut, 0u);
  }
  flags = flags | select(tile + 1u >= last, key_step::is_last, 0u);
  return {t.let(first), t.let(end), t.let(flags)};
}

}  // namespace kaio::ops
