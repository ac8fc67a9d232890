#pragma once
// Sums of dy * y and of dy for each element over the rows of a block. A thread has the same elements in every
// row. If rows are copied ahead, its sums are in registers, and it has at most `rounds` pieces of a row;
// otherwise they are in shared memory:
//
//   sums over a thread's rows      registers, or `quads` words of shared memory for each piece
//   sums over the block's threads  shared memory, in a tree
//   partial sums                   row `partial` of (partials, size)

#include <kaio/ops/norm/backward/stage.hpp>

#include <cstdint>

namespace kaio::ops {

template <class Stage>
class row_sums {
  using words = typename Stage::words;
  static constexpr u32 width = words::width, quads = Stage::quads;
  static constexpr bool in_registers = Stage::has_copies;
  static constexpr u32 kept = in_registers ? Stage::rounds * width : 1;

 public:
  // of_weight, of_bias: the addresses of partial sums; 0: not wanted.
  constexpr row_sums(thread t, Stage& stage, const val<u64>& of_weight, const val<u64>& of_bias)
      : t_(t),
        stage_(stage),
        of_weight_(t.let(of_weight)),
        of_bias_(t.let(of_bias)),
        has_weight_(t.let(select(of_weight_ != u64{0}, 1u, 0u))),
        count_(t.let(has_weight_ + select(of_bias_ != u64{0}, 1u, 0u))),
        products_(array_of<kept>([&](u32) { return var(t, 0.0f); })),
        gradients_(array_of<kept>([&](u32) { return var(t, 0.0f); })) {
    if constexpr (!in_registers)
      stage.each_near(t.let(val<bool>(true)), [&](const staged_piece& p) {
        const auto zero = words::zeros(t);
        for (auto part : t.range(0u, t.let(count_ * quads)).no_unroll())
          stage.give(t.let(p.slot + stage.staged() * (part + Stage::sums_part)), zero);
      });
  }

  // Adds a row's piece, this thread's `round`-th: dy, and dy * y as scaled * distance.
  template <class Numbers>
  constexpr void add(const staged_piece& p, u32 round, const Numbers& dy, const Numbers& scaled,
                     const Numbers& distance) {
    thread t = t_;
    if constexpr (in_registers) {
      if (round >= Stage::rounds) return;  // far pieces have no sums
      if (auto wants = t.when(of_weight_ != u64{0}))
        for (u32 i = 0; i < width; ++i) {
          var<f32>& sum = products_[round * width + i];
          sum = fma(scaled[i], distance[i], sum);
        }
      if (auto wants = t.when(of_bias_ != u64{0}))
        for (u32 i = 0; i < width; ++i) {
          var<f32>& sum = gradients_[round * width + i];
          sum += dy[i];
        }
    } else {
      if (auto wants = t.when(of_weight_ != u64{0}))
        for (u32 quad = 0; quad < quads; ++quad)
          add_to(slot_of(p, t.let(val<u32>(0u)), quad),
                 [&](u32 i) { return t.let(scaled[4 * quad + i] * distance[4 * quad + i]); });
      if (auto wants = t.when(of_bias_ != u64{0}))
        for (u32 quad = 0; quad < quads; ++quad)
          add_to(slot_of(p, has_weight_, quad), [&](u32 i) { return dy[4 * quad + i]; });
    }
  }

  // Stores the partial sums of the block. Every thread of the block calls it, after its last row.
  constexpr void store(const val<u32>& partial) {
    thread t = t_;
    if constexpr (in_registers) {
      cp_async_wait_all(t);
      const auto keep = [&](const val<u32>& which, auto& sums) {
        stage_.each_round(t.let(val<bool>(true)), [&](const staged_piece& p, u32 round) {
          for (u32 quad = 0; quad < quads; ++quad) {
            const val slot = slot_of(p, which, quad);
            const auto own =
                array_of<4>([&](u32 i) { return t.let(bit_cast<u32>(sums[round * width + 4 * quad + i])); });
            stage_.give(slot, own);
          }
        });
      };
      if (auto wants = t.when(of_weight_ != u64{0})) keep(t.let(val<u32>(0u)), products_);
      if (auto wants = t.when(of_bias_ != u64{0})) keep(has_weight_, gradients_);
    }
    for (auto which : t.range(0u, count_).no_unroll()) {
      const val is_bias = t.let(all_of(of_bias_ != u64{0}, which == has_weight_));
      const val to = t.let(select(is_bias, of_bias_, of_weight_));
      store_one(t.let(which + 0u), to, partial);
    }
  }

 private:
  constexpr void store_one(const val<u32>& which, const val<u64>& to, const val<u32>& partial) {
    thread t = t_;
    const val number = stage_.number();
    var distance(t, val<u32>(row_threads / 2) >> stage_.lanes_log());
    for (auto step : t.loop()) {
      step.break_if(distance == 0u);
      t.barrier();
      const val others = t.let(distance << stage_.lanes_log());
      stage_.each_near(t.let(number < distance), [&](const staged_piece& p) {
        for (u32 quad = 0; quad < quads; ++quad) {
          const val slot = slot_of(p, which, quad);
          const auto more = stage_.taken(t.let(slot + others));
          add_to(slot, [&](u32 i) { return t.let(bit_cast<f32>(more[i])); });
        }
      });
      distance = distance / 2u;
    }
    const val row =
        t.let(to + cast<u64>(partial) * cast<u64>(partial_pitch(stage_.size())) * u64{sizeof(f32)});
    [[maybe_unused]] const auto memory = pointer_at<out<f32>>(t, row);
    stage_.each_near(t.let(number == 0u), [&](const staged_piece& p) {
      for (u32 quad = 0; quad < quads; ++quad) {
        const auto own = stage_.taken(slot_of(p, which, quad));
        if constexpr (Stage::has_vectors) {
          words::store(t, t.let(row + cast<u64>(p.first + 4 * quad) * u64{sizeof(f32)}), own);
        } else {
          for (u32 i = 0; i < 4; ++i) {
            const val at = stage_.element(p, 4 * quad + i);
            if (auto inside = t.when(at < stage_.size())) memory[at] = bit_cast<f32>(own[i]);
          }
        }
      }
    });
  }
  constexpr val<u32> slot_of(const staged_piece& p, const val<u32>& which, u32 quad) const {
    return t_.let(p.slot + stage_.staged() * (which * Stage::parts_of_sums + (Stage::sums_part + quad)));
  }
  template <class More>
  constexpr void add_to(const val<u32>& slot, const More& more) {
    thread t = t_;
    const auto sums = stage_.taken(slot);
    stage_.give(slot, array_of<4>([&](u32 i) {
                  const val one = more(i);
                  return t.let(bit_cast<u32>(bit_cast<f32>(sums[i]) + one));
                }));
  }

  using numbers = dsl::register_array<var<f32>, kept>;

  thread t_;
  Stage& stage_;
  val<u64> of_weight_, of_bias_;
  val<u32> has_weight_, count_;
  numbers products_, gradients_;
};

}  // namespace kaio::ops
