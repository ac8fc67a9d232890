#pragma once
// Blocks that share a tile of keys. With few tiles of keys, most multiprocessors would be idle. Then each tile
// has several parts: each part is a block with a run of the tile's steps (steps.hpp). All parts but the last
// leave their f32 sums of dK and dV in the workspace. The last part adds them to its own, in order, and
// stores dK and dV.
//
//   ticket            0             1             2             3
//   tile, part        0, 0          0, 1          1, 0          1, 1
//                     steps, leave  steps, add, store
//
// The last part has the largest ticket of its tile. It therefore waits only for blocks that are at work
// (turns.hpp).
//
//   sums in memory    for each tile, part and warpgroup: registers 0 to 3 of its threads, registers 4 to 7, ...

#include <kaio/dsl/dsl.hpp>
#include <kaio/dsl/memory.hpp>
#include <kaio/ops/attention/backward/common/key_block.hpp>
#include <kaio/ops/attention/backward/common/problem.hpp>
#include <kaio/ops/attention/backward/common/turns.hpp>

#include <cstdint>

namespace kaio::ops {

inline constexpr std::uint32_t part_owners = 2;  // warpgroups of a block that hold sums of dK and dV

template <auto C>
class backward_parts {
 public:
  static constexpr std::uint32_t floats_of_owner = C.keys * (C.depth_qk + C.depth_v) / part_owners;

  // owner: the rank of the warpgroup among those with sums.
  constexpr backward_parts(thread t, const val<attention_gradients>& gradients,
                           const attention_key_block& keys, const val<u32>& part, const val<u32>& owner)
      : t_(t),
        gradients_(gradients),
        part_(part),
        others_(t.let(gradients[&attention_gradients::query_parts] - 1u)),
        first_(t.let(((keys.batch * gradients[&attention_gradients::key_heads] + keys.group) *
                          gradients[&attention_gradients::key_tiles] +
                      keys.first_key / u32{C.keys}) *
                         others_ * part_owners +
                     owner)) {}

  constexpr val<bool> is_last() const { return t_.let(part_ == others_); }

  // Leaves the sums of this part. sync() is a barrier of the warpgroup.
  template <class Sync, class... Sums>
  constexpr void leave(const Sync& sync, Sums&... sums) const {
    const val slot = t_.let(first_ + part_ * part_owners);
    each_four(
        slot,
        [](const auto& at, auto& x, u32 i) { store_vec(at, make_vec(x[i], x[i + 1], x[i + 2], x[i + 3])); },
        sums...);
    sync();
    if (auto leads = t_.when(t_.thread_rank() % 128u == 0u))
      store(word_of(slot), t_.let(1u), order::release, scope::device);
  }
  // Adds the sums of all other parts.
  template <class Sync, class... Sums>
  constexpr void add(const Sync& sync, Sums&... sums) const {
    for (auto other : t_.range(0u, others_).no_unroll()) {
      const val slot = t_.let(first_ + other * part_owners);
      if (auto leads = t_.when(t_.thread_rank() % 128u == 0u)) await_turn(t_, word_of(slot), t_.let(1u));
      each_four(
          slot,
          [&](const auto& at, auto& x, u32 i) {
            if (i == 0)
              sync();  // also keeps loads of the next sums from beginning early: registers are scarce
            const auto four = load_vec<4>(at);
            for (u32 j = 0; j < 4; ++j) x[i + j] += four[j];
          },
          sums...);
    }
  }

 private:
  constexpr auto word_of(const val<u32>& slot) const {
    return pointer_at<inout<u32>>(t_, t_.let(gradients_[&attention_gradients::turns]))[t_.let(
        slot + gradients_[&attention_gradients::first_part])];
  }
  // f(place, x, i) for each four registers of a thread.
  template <class F, class... Sums>
  constexpr void each_four(const val<u32>& slot, const F& f, Sums&... sums) const {
    const auto memory =
        pointer_at<inout<f32>>(t_, t_.let(gradients_[&attention_gradients::part_sums]))
            .from(cast<u64>(slot) * u64{floats_of_owner} + cast<u64>(t_.thread_rank() % 128u * 4u));
    u32 row = 0;
    const auto all = [&](auto& x) {
      for (u32 i = 0; i < x.size(); i += 4) f(memory[512 * row++], x, i);
    };
    (all(sums), ...);
  }

  thread t_;
  const val<attention_gradients>& gradients_;
  val<u32> part_, others_, first_;  // first_: the slot of part 0
};

}  // namespace kaio::ops
