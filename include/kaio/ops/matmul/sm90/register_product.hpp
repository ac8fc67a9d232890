#pragma once
// The product of a consumer warpgroup whose A is f32 across K. wgmma transposes only elements of 16 bits, so A
// goes through registers, half of a stage at a time:
//
//   loads    0.l   0.r      1.l      1.r
//   wgmma          | 0.l    | 0.r    | 1.l    | 1.r    |

#include <kaio/dsl/async.hpp>
#include <kaio/dsl/dsl.hpp>
#include <kaio/dsl/mma/wgmma.hpp>
#include <kaio/ops/matmul/sm90/config.hpp>
#include <kaio/ops/matmul/sm90/ring_position.hpp>

#include <cstdint>

namespace kaio::ops {

// Loop: sm90_mainloop, which waits for stages and releases them; a, b: its rings.
template <sm90_config C, class Loop, class A, class B>
class sm90_register_product {
 public:
  constexpr sm90_register_product(thread t, const Loop& loop, const A& a, const B& b)
      : t_(t), loop_(loop), a_(a), b_(b) {}

  // acc = A * B over `k_blocks` steps, one half of a stage after the other.
  template <class Accumulator>
  constexpr void multiply(ring_position& at, Accumulator& acc, const val<u32>& warpgroup,
                          const val<u32>& k_blocks) const {
    const val rank = t_.thread_rank() % Loop::reader;
    const val peer = loop_.sharer(rank);
    const auto places = places_of_fragments(warpgroup, t_.let(t_.thread_rank() % 128u));
    const auto free = [&](const var<u32>& stage) {
      sync_warp(t_);
      loop_.release(stage, rank, peer);
    };
    loop_.wait(at);
    multiply_half(at.stage, acc, places, 0, false);
    multiply_half(at.stage, acc, places, 1, true);
    wgmma_wait<1>(t_);
    var<u32> previous = at.stage;
    at.template advance<C.stages>();
    for ([[maybe_unused]] auto block : t_.range(1u, k_blocks)) {
      loop_.wait(at);
      multiply_half(at.stage, acc, places, 0, true);
      wgmma_wait<1>(t_);
      free(previous);
      multiply_half(at.stage, acc, places, 1, true);
      wgmma_wait<1>(t_);
      previous = at.stage;
      at.template advance<C.stages>();
    }
    wgmma_wait<0>(t_);
    free(previous);
  }

 private:
  // The places of a thread's four elements of a fragment in a tile of A. Register q has row lane / 4 + 8 (q
  // mod 2) of the warp's 16 and k = lane mod 4 + 4 (q / 2) of a slice's 8.
  constexpr auto places_of_fragments(const val<u32>& warpgroup, const val<u32>& thread_in_group) const {
    const val k_of_lane = t_.let(thread_in_group % 4u);
    const val row =
        t_.let(warpgroup * C.warpgroup_rows + thread_in_group / 32u * 16u + thread_in_group / 4u % 8u);
    return array_of<4>([&](std::uint32_t q) {
      const val first_k = t_.let(k_of_lane + q / 2 * 4);
      const val first_row = t_.let(row + q % 2 * 8);
      return a_.lane(first_k, first_row);
    });
  }
  template <class Accumulator, class Places>
  constexpr void multiply_half(const var<u32>& stage, Accumulator& acc, const Places& places,
                               std::uint32_t half, bool accumulate) const {
    constexpr std::uint32_t depth = dsl::wgmma_depth<tf32>, slices = Loop::k / depth / 2;
    const auto tile = a_[stage];                            // k x m
    const auto a = array_of<slices>([&](std::uint32_t i) {  // 64 x depth per slice
      const auto of = array_of<4>([&](std::uint32_t q) {
        return t_.let(bit_cast<u32>(tile.at(places[q], (half * slices + i) * depth)));
      });
      return wgmma_register_operand<tf32>(of);
    });
    const auto b = wgmma_operand<C.b>(b_[stage]);  // n x k
    wgmma_batch mma(t_);
    for (std::uint32_t i = 0; i < slices; ++i)
      mma.multiply_add(acc, a[i], b.slice(half * slices + i), accumulate || i != 0);
  }

  thread t_;
  const Loop& loop_;
  const A& a_;
  const B& b_;
};

}  // namespace kaio::ops
