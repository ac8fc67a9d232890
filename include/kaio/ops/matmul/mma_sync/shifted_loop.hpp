#pragma once
// The loop along K of a matmul whose operands are copied by shifted vectors, with two tiles of each in shared
// memory. If a thread has few pieces, those of the next tile are all in flight while a tile is multiplied:
//
//   fetch      A, B
//   multiply   slice 0     slice 1     slice 2     slice 3
//   put                                                        A, B, barrier
//
// Otherwise a step loads one batch of pieces per slice. Each batch is in flight while a slice is multiplied,
// so that few registers serve all of them:
//
//   fetch      A 0         A 1         B 0         B 1
//   multiply   slice 0     slice 1     slice 2     slice 3
//   put                    A 0         A 1         B 0         B 1, barrier

#include <kaio/ops/matmul/mma_sync/shifted_copy.hpp>

#include <cstdint>

namespace kaio::ops {

// Both operands' tiles; CopyA and CopyB are shifted_copy into RingA and RingB.
template <class RingA, class CopyA, class RingB, class CopyB>
class shifted_loop {
  // A piece of 16 bytes comes out of two vectors of four registers.
  static constexpr bool whole_tiles = CopyA::count + CopyB::count <= 8;
  static constexpr std::uint32_t slices = RingA::slices;
  static constexpr std::uint32_t batches = whole_tiles ? 1 : slices / 2;  // per operand
  static_assert(RingA::tiles::count == 2 && RingB::tiles::count == 2,
                "kaio: copy_form::shifted takes two stages");
  static_assert(CopyA::count % batches == 0 && CopyB::count % batches == 0,
                "kaio: the slices of a step share its pieces evenly");
  static_assert(CopyA::count <= 16 && CopyB::count <= 16);
  static constexpr std::uint32_t count_a = CopyA::count / batches, count_b = CopyB::count / batches;
  static constexpr std::uint32_t depth = RingA::along_k ? RingA::width : RingA::lines;
  using batch = typename CopyA::template vectors<(count_a > count_b ? count_a : count_b)>;

  struct tile {
    typename CopyA::tile_rest a;
    typename CopyB::tile_rest b;
    val<bool> is_inner;
  };

 public:
  constexpr shifted_loop(thread t, const RingA& ring_a, CopyA& a, const RingB& ring_b, CopyB& b,
                         const val<u32>& k_first, const val<u32>& k_last)
      : t_(t),
        ring_a_(ring_a),
        ring_b_(ring_b),
        a_(a),
        b_(b),
        k_first_(k_first),
        k_last_(k_last),
        inner_left_(t.let(max(a.inner().left, b.inner().left))),
        stage_(t, 0u),
        unread_(t, 0u) {}

  // Copies the first tile, all of it at once.
  constexpr void fill() {
    const tile first = tile_at(k_first_, t_.let(any_of(k_first_ != 0u, a_.inner().first & b_.inner().first)));
    auto all = array_of<2 * batches>([&](u32) { return new_batch(); });
    each<2 * batches>([&]<std::uint32_t S>() { fetch<S>(all[S], first); });
    each<2 * batches>([&]<std::uint32_t S>() { put<S>(all[S], stage_, first); });
    mend(stage_, first);
    t_.barrier();
  }

  // Calls load(stage, slice) and multiply() for each slice, while the next tile, if any, is copied.
  template <class Load, class Multiply>
  constexpr void run(const Load& load, const Multiply& multiply) {
    auto vectors = array_of < whole_tiles ? 2 : 1 > ([&](u32) { return new_batch(); });
    for (auto step : t_.range(k_first_, k_last_, depth)) {
      const val now = stage_;
      const val next = t_.let(1u - now);
      const tile following = tile_at(t_.let(step + depth), val<bool>(true));
      const val more = t_.let(step + depth < k_last_);
      if constexpr (whole_tiles) {
        if (auto copies = t_.when(more)) each<2>([&]<std::uint32_t S>() { fetch<S>(vectors[S], following); });
        for (std::uint32_t slice = 0; slice < slices; ++slice) {
          load(now, slice);
          multiply();
        }
        if (auto copies = t_.when(more)) {
          each<2>([&]<std::uint32_t S>() { put<S>(vectors[S], next, following); });
          mend(next, following);
        }
      } else {
        each<slices>([&]<std::uint32_t S>() {
          load(now, S);
          if (auto copies = t_.when(more)) {
            if constexpr (S != 0) put<S - 1>(vectors[0], next, following);
            fetch<S>(vectors[0], following);
          }
          multiply();
        });
        if (auto copies = t_.when(more)) {
          put<slices - 1>(vectors[0], next, following);
          mend(next, following);
        }
      }
      t_.barrier();
      stage_ = next;
    }
  }

 private:
  template <class F, std::uint32_t... S>
  static constexpr void each(const F& f, dsl::index_list<S...>) {
    (f.template operator()<S>(), ...);
  }
  template <std::uint32_t Count, class F>
  static constexpr void each(const F& f) {
    each(f, dsl::indices<Count>{});
  }

  constexpr batch new_batch() const {
    return array_of<batch::size()>([&](u32) { return var(t_, 0u); });
  }

  constexpr tile tile_at(const val<u32>& along, const val<bool>& may_be_inner) const {
    const val left = t_.let(k_last_ - min(along, k_last_));
    return {a_.rest(along, left), b_.rest(along, left), t_.let(all_of(left >= inner_left_, may_be_inner))};
  }
  template <std::uint32_t S>
  constexpr void fetch(batch& to, const tile& of) {
    if constexpr (S < batches)
      a_.template fetch<S * count_a, count_a, 0>(to, of.is_inner, of.a, unread_);
    else
      b_.template fetch<(S - batches) * count_b, count_b, 16>(to, of.is_inner, of.b, unread_);
  }
  template <std::uint32_t S>
  constexpr void put(const batch& from, const val<u32>& stage, const tile& of) const {
    if constexpr (S < batches)
      a_.template put<S * count_a, count_a>(from, ring_a_, stage, of.a);
    else
      b_.template put<(S - batches) * count_b, count_b>(from, ring_b_, stage, of.b);
  }
  // Called after all pieces of a tile were put.
  constexpr void mend(const val<u32>& stage, const tile& of) {
    if (auto some = t_.when(unread_ != 0u)) {
      const val unread = unread_;
      a_.template mend<0>(ring_a_, stage, of.a, unread);
      b_.template mend<16>(ring_b_, stage, of.b, unread);
      unread_ = 0u;
    }
  }

  thread t_;
  const RingA& ring_a_;
  const RingB& ring_b_;
  CopyA& a_;
  CopyB& b_;
  val<u32> k_first_, k_last_, inner_left_;
  var<u32> stage_;
  var<u32>
      unread_;  // pieces of a thread that mend() makes: those of A in the lower half, of B in the upper one
};

}  // namespace kaio::ops
