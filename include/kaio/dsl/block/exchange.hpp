#pragma once
// Exchanges values between the warps of a block, through slots in shared memory. A slot holds a device value or an
// aggregate of vals. Reductions and scans of a block use it.
//
//   detail::exchange<S> slots(t, warps);
//   slots.store(warp, x, is_first_lane);
//   t.trace().barrier();
//   x = slots.load(lane);
//   slots.finish();

#include <kaio/dsl/warp/aggregate.hpp>
#include <kaio/dsl/warp/lanes.hpp>

#include <cstdint>

namespace kaio::dsl::detail {

template <exchangeable S>
class exchange {
  static constexpr std::uint32_t leaves = composition<S>::leaves;

 public:
  // Room for `slots` values of the types of `x`.
  constexpr exchange(tracer& t, std::uint32_t slots, const values_of<S>& x) : trace_(t) {
    std::uint32_t bytes = 0;
    std::uint32_t alignment = 1;
    for (std::uint32_t k = 0; k < leaves; ++k) {
      types_[k] = t.type_of(x.ids[k]);
      const std::uint32_t size = size_of(types_[k]);
      offsets_[k] = ptx::aligned(bytes, size);
      bytes = offsets_[k] + slots * size;
      if (alignment < size) alignment = size;
    }
    scratch_ = t.take_scratch(bytes, alignment);
    if (scratch_.needs_barrier) t.barrier();
  }

  // Writes a slot in the threads where the condition holds.
  constexpr void store(value slot, const values_of<S>& x, value condition) {
    condition = trace_.in_register(condition);
    for (std::uint32_t k = 0; k < leaves; ++k) {
      const tracer::address at = place(slot, k);
      trace_.store({opcode::st, in_order(modifier::shared)}, types_[k], at, x.ids[k]);
      trace_.guard(condition, false);
    }
  }

  constexpr values_of<S> load(value slot) {
    values_of<S> x;
    for (std::uint32_t k = 0; k < leaves; ++k)
      x.ids[k] = trace_.load({opcode::ld, in_order(modifier::shared)}, types_[k], place(slot, k));
    return x;
  }

  // Follows the last load. In a loop, a barrier keeps the next round from writing before all threads have read.
  constexpr void finish() {
    trace_.return_scratch(scratch_);
    if (trace_.loop_depth() != 0) trace_.barrier();
  }

 private:
  static constexpr std::uint32_t size_of(ptx::type t) { return ptx::size_of(tracer::memory_type(t)); }

  constexpr tracer::address place(value slot, std::uint32_t k) {
    const tracer::address first =
        trace_.array_place(scratch_.array, true, ptx::type::u32, slot, size_of(types_[k]));
    return tracer::further(first, offsets_[k]);
  }

  tracer& trace_;
  tracer::scratch scratch_;
  ptx::type types_[leaves] = {};
  std::uint32_t offsets_[leaves] = {};
};

// Values that a guarded body changes, kept in variables while it is recorded.
template <std::uint32_t N>
class changing {
 public:
  constexpr changing(tracer& t, const value_list<N>& x) : trace_(t) {
    for (std::uint32_t k = 0; k < N; ++k) variables_[k] = t.new_variable(t.type_of(x.ids[k]));
    *this = x;
  }
  constexpr void operator=(const value_list<N>& x) {
    for (std::uint32_t k = 0; k < N; ++k) {
      const bool is_condition = trace_.type_of(x.ids[k]) == ptx::type::pred;
      trace_.assign(variables_[k], is_condition ? trace_.in_register(x.ids[k]) : x.ids[k], trace_.position());
    }
  }
  constexpr value_list<N> get() {
    value_list<N> x;
    for (std::uint32_t k = 0; k < N; ++k) x.ids[k] = trace_.snapshot(variables_[k]);
    return x;
  }

 private:
  tracer& trace_;
  std::uint32_t variables_[N] = {};
};

// The number of warps of the block, and this thread's lane and warp.
struct block_warps {
  std::uint32_t count;
  value lane;
  value warp;
};

constexpr block_warps warps_of(const thread& t) {
  const value lane = lane_of(t);
  const value warp = lower(t.trace(), t.warp_rank().node());
  return {(t.block_size() + 31) / 32, lane, warp};
}

// Whether each warp of the block has at least `lanes` lanes.
constexpr bool every_warp_has(const thread& t, std::uint32_t lanes) {
  const std::uint32_t rest = t.block_size() % 32;
  return rest == 0 || rest >= lanes;
}

}  // namespace kaio::dsl::detail
