#pragma once
// The main loop of a matmul for sm_90a. One warp copies tiles of A and B to shared memory by tensor copies,
// consumer warpgroups multiply them by wgmma, and a ring of stages connects the two. A stage has two
// barriers: `full` (the bytes have arrived) and `empty` (all consumers have read them). In a cluster the
// blocks of a row share their tile of A, those of a column their tile of B: each block loads a part and sends
// it to all. The launch may choose blocks that are alone, in pairs along M or N, or 2 x 2.
//
//          K
//      +-----------+        +--- stage s ------------------------+
//    M | A  [m, k] |  TMA   | a: m x k   b: n x k (or k x n)     |  wgmma   acc: 64 x n a warpgroup
//      +-----------+ -----> +------------------------------------+ ------->
//                             full[s], empty[s]
//
// The layout and element type are constants of a wgmma instruction. If the launch gives them, the kernel has
// a loop along K for each combination; the loops share the code before and after: one kernel, not eight.
//
// f32 is multiplied as tf32; the tensor copies round it. An A of f32 that is mn-major goes through registers
// (register_product.hpp).
//
// Sources: PTX ISA, "Asynchronous Warpgroup Level Matrix Multiply-Accumulate", "cp.async.bulk.tensor";
// the pipeline of producer and consumers is that of CUTLASS 3 (warp-specialised mainloop).

#include <kaio/dsl/async.hpp>
#include <kaio/dsl/cluster.hpp>
#include <kaio/dsl/mma/wgmma.hpp>
#include <kaio/ops/matmul/common/epilogue.hpp>
#include <kaio/ops/matmul/sm90/by_launch.hpp>
#include <kaio/ops/matmul/sm90/clear_rest.hpp>
#include <kaio/ops/matmul/sm90/cluster_place.hpp>
#include <kaio/ops/matmul/sm90/config.hpp>
#include <kaio/ops/matmul/sm90/operand.hpp>
#include <kaio/ops/matmul/sm90/register_product.hpp>
#include <kaio/ops/matmul/sm90/ring_position.hpp>
#include <kaio/ops/matmul/sm90/tile_place.hpp>
#include <kaio/ops/matmul/sm90/tile_spacing.hpp>
#include <kaio/ops/shared/ceil_div.hpp>

#include <algorithm>
#include <cstdint>
#include <type_traits>

namespace kaio::ops {

// Halves: A along K arrives in boxes of 64 rows, so that tiles may be computed in halves; otherwise in boxes
// of a tile's rows, which takes fewer copies. Whole: the parts of tile_place.hpp are whole tiles; otherwise a
// part is what one box brings of A, and of B if it is across K.
template <sm90_config C, scalar T, bool Halves = C.halves(), bool Whole = false>
class sm90_mainloop {
 public:
  using operand_a = tensor_map<T, 3>;
  using operand_b = tensor_map<T, 3>;
  static constexpr std::uint32_t shares_of_a = Halves ? 2 : C.cluster_n;
  template <major A, class E = T>
  using a_along = sm90_operand<E, A, C.m, C.depth, shares_of_a>;
  template <major B, std::uint32_t Shares = C.most_cluster_m(), class E = T>
  using b_along = sm90_operand<E, B, C.n, C.depth, Shares>;
  using a_operand = a_along<C.a>;
  using b_operand = b_along<C.b>;
  using whole_b_operand = b_along<C.b, 1>;  // for a block that is alone
  using accumulator = wgmma_accumulator<sum_of<T>, C.n>;
  using a_ring = typename a_operand::template ring<C.stages>;
  using b_ring = typename b_operand::template ring<C.stages>;
  static constexpr std::uint32_t k = a_operand::k;
  static constexpr std::uint32_t stages = C.stages;
  // The smallest parts among the directions that the launch chooses from.
  static constexpr bool moves_halves = !Whole && (Halves || C.a == major::mn || C.a_by_launch);
  static constexpr std::uint32_t part_m = moves_halves ? sm90_config::warpgroup_rows : C.m,
                                 part_n = Whole || (C.b == major::k && !C.b_by_launch)
                                              ? C.n
                                              : std::min(C.n, b_operand::width);
  // Across K, parts begin at multiples of a sector: copies take lines of 32 bytes several times as fast as
  // others.
  static constexpr std::uint32_t sector = 32 / sizeof(T);
  // Whether a box of A may have any extent.
  static constexpr bool moves_a = !Halves && !Whole && shares_of_a == 1;
  // With few sums, they are cleared and one loop has all steps: a product that decides whether it adds takes
  // longer. With many, the first step is before the loop.
  static constexpr bool clears_sums = C.n <= 64;
  static constexpr bool a_in_registers = C.a == major::mn && sizeof(T) == 4;
  // Threads that free a stage together: a warpgroup, whose wgmma has read it, or a warp that has read A.
  static constexpr std::uint32_t reader = a_in_registers ? 32 : 128;
  static_assert(!C.type_by_launch || (sizeof(T) <= 2 && std::is_same_v<T, sm90_first_type<T>>));
  static_assert(!(C.a_by_launch || C.b_by_launch) || (sizeof(T) == 2 && !Whole),
                "kaio: wgmma transposes elements of 16 bits alone, so that the launch may say how lines run");
  static_assert(C.b == major::k || sizeof(T) == 2,
                "kaio: wgmma reads B across K only for 16-bit elements; exchange A and B");

  // With whole boxes, or with those that the launch has made.
  constexpr sm90_mainloop(thread t, const tensor_map<T, 3>& a, const tensor_map<T, 3>& b,
                          const val<bool>& is_second = val<bool>(false))
      : sm90_mainloop(
            t, a, b,
            tile_numbers{t.let(C.m), t.let(C.n), t.let(a_operand::box_lines), t.let(b_operand::box_lines),
                         val<bool>(C.a == major::mn), val<bool>(C.b == major::mn), is_second}) {
    static_assert(!C.a_by_launch && !C.b_by_launch);
  }
  constexpr sm90_mainloop(thread t, const tensor_map<T, 3>& a, const tensor_map<T, 3>& b,
                          const val<sm90_tile>& of)
      : sm90_mainloop(t, a, b,
                      tile_numbers{t.let(of[&sm90_tile::m]), t.let(of[&sm90_tile::n]),
                                   t.let(of[&sm90_tile::box_of_a]), t.let(of[&sm90_tile::box_of_b]),
                                   flag_of<C.a_by_launch, C.a == major::mn>(t, of[&sm90_tile::a_is_across]),
                                   flag_of<C.b_by_launch, C.b == major::mn>(t, of[&sm90_tile::b_is_across]),
                                   is_second_type(t, of)}) {}

  // This loop with another A, which has boxes of the same shape.
  constexpr sm90_mainloop reading(const operand_a& a) const {
    sm90_mainloop result = *this;
    result.a_map_ = a;
    return result;
  }

  // The boxes of whole tiles, if `shares` blocks load a share of B each.
  static constexpr sm90_boxes whole_boxes(std::uint32_t shares) {
    const auto of_b = shares == 1 ? whole_b_operand::box_of(whole_b_operand::box_lines)
                                  : b_operand::box_of(b_operand::box_lines);
    return {a_operand::box_of(a_operand::box_lines), of_b, C.m, C.n};
  }
  // The boxes for a product. Moves: parts of tiles may have any place. What no copy brings is cleared once;
  // this takes as long as one round of the ring saves.
  template <bool Moves>
  static constexpr sm90_boxes boxes_for(const sm90_extents& of, std::uint32_t shares,
                                        std::uint32_t columns = C.n) {
    sm90_boxes result = whole_boxes(shares);
    result.n = columns;
    if (Whole || (of.k_blocks <= C.stages && columns == C.n)) return result;
    const auto existing = [](std::uint32_t lines, std::uint64_t extent) {
      return static_cast<std::uint32_t>(std::min<std::uint64_t>(lines, (extent + 7) / 8 * 8));
    };
    if (Moves && shares == 1 && C.b == major::k) result.n = lines_of_tile(of.n, columns, of.m, of);
    const std::uint32_t lines = C.b == major::k ? existing(result.n / shares, ceil_div(of.n, shares))
                                                : existing(result.b.lines, of.n);
    result.b = shares == 1 ? whole_b_operand::box_of(lines) : b_operand::box_of(lines);
    if constexpr (moves_a) {
      if (Moves && C.a == major::k && of.n <= result.n) result.m = lines_of_tile(of.m, C.m, of.n, of);
      result.a = a_operand::box_of(existing(C.a == major::k ? result.m : result.a.lines, of.m));
    }
    return result;
  }

  // The distance between tiles.
  constexpr const val<u32>& tile_m() const { return tile_.m; }
  constexpr const val<u32>& tile_n() const { return tile_.n; }
  // The columns of the tile at `n`, if the last panel of an operand begins at `last`.
  constexpr val<u32> columns_at(const val<u32>& n, const val<u32>& last) const {
    return columns_of_tile<C, b_operand::width>(t_, tile_.b_is_across, tile_.n, n, last);
  }
  // The lines of a part: those of one box, or of several whole ones.
  constexpr val<u32> lines_of_part_m() const {
    if constexpr (moves_a && (C.a == major::k || a_operand::width == part_m))
      return tile_.box_of_a;
    else
      return t_.let(part_m);
  }
  constexpr val<u32> lines_of_part_n() const {
    if constexpr (Whole)
      return t_.let(part_n);
    else
      return t_.let(tile_.box_of_b *
                    number_for<C.b_by_launch, C.b>(t_, tile_.b_is_across, cluster_.size_m(), t_.let(1u)));
  }
  // The masks of a tile's parts, and the multiples at which parts begin.
  constexpr val<u32> parts_of_m() const {
    constexpr u32 halves = mask_of_part(sm90_config::warpgroup_rows, C.m);
    if constexpr (!moves_halves || Halves)
      return t_.let(mask_of_part(part_m, C.m));
    else
      return number_for<C.a_by_launch, C.a>(t_, tile_.a_is_across, t_.let(0u), t_.let(halves));
  }
  constexpr val<u32> parts_of_n() const {
    if constexpr (Whole)
      return t_.let(0u);
    else
      return number_for<C.b_by_launch, C.b>(t_, tile_.b_is_across, t_.let(0u),
                                            t_.let(mask_of_part(std::min(C.n, b_operand::width), C.n)));
  }
  constexpr val<u32> alignment_of_m() const {
    if constexpr (Whole)
      return t_.let(sector);
    else
      return number_for<C.a_by_launch, C.a>(t_, tile_.a_is_across, t_.let(1u), t_.let(sector));
  }
  constexpr val<u32> alignment_of_n() const {
    if constexpr (Whole)
      return t_.let(sector);
    else
      return number_for<C.b_by_launch, C.b>(t_, tile_.b_is_across, t_.let(1u), t_.let(sector));
  }

  // The place of this block in its cluster.
  constexpr const val<u32>& rank_m() const { return cluster_.rank_m(); }
  constexpr const val<u32>& rank_n() const { return cluster_.rank_n(); }
  // The blocks of the cluster along M and N.
  constexpr const val<u32>& size_m() const { return cluster_.size_m(); }
  constexpr const val<u32>& size_n() const { return cluster_.size_n(); }
  template <class Plane>
  constexpr val<u32> rank_in_plane(const Plane& plane) const {
    return cluster_.rank_in_plane(plane);
  }
  // Memory that is free after all stages, for sums.
  using free_ring = b_ring;
  constexpr const free_ring& free_tiles() const { return b_; }

  constexpr void prefetch_maps() const {
    prefetch(a_map_);
    prefetch(b_map_);
  }

  // One thread of the block calls it before the whole cluster passes a barrier. `filling`: arrivals that fill
  // a stage, in addition to the bytes of copies.
  constexpr void initialise(std::uint32_t filling = 1) const {
    for (std::uint32_t s = 0; s < C.stages; ++s) {
      full_[s].init(filling);
      empty_[s].init(C.consumers() * 128 / reader * cluster_.sharers());
    }
    fence_mbarrier_init(t_);
  }

  // All threads call it before the barrier that follows `initialise`. Clears what no copy brings of A and B.
  constexpr void clear_rest() const {
    constexpr std::uint32_t threads = C.threads();
    if constexpr (moves_a)
      for_direction<C.a_by_launch, C.a>(t_, tile_.a_is_across, [&]<major A>() {
        ops::clear_rest<a_along<A>, A, C.m, threads>(t_, a_, tile_.box_of_a);
      });
    for_direction<C.b_by_launch, C.b>(t_, tile_.b_is_across, [&]<major B>() {
      ops::clear_rest<b_along<B>, B, C.n, threads>(t_, b_, lines_of_part_n());
    });
  }

  // The shares of a tile that a block in a cluster of shape S copies in each step.
  template <sm90_cluster S, major A>
  using shares_of_a_along = dsl::register_array<typename a_along<A>::share, (S.n == 1 ? shares_of_a : 1)>;
  template <sm90_cluster S, major B>
  using share_of_b_along = typename b_along<B, (S.m == 1 ? 1 : C.most_cluster_m())>::share;
  // The shares for each direction that the launch chooses from.
  template <sm90_cluster S>
  struct shares {
    shares_of_a_along<S, C.a> of_a;
    share_of_b_along<S, C.b> of_b;
    val<u32> batch;
    shares_of_a_along<S, C.a_by_launch ? major::mn : C.a> of_a_across;
    share_of_b_along<S, C.b_by_launch ? major::mn : C.b> of_b_across;

    template <major A>
    constexpr const auto& a() const {
      if constexpr (A == C.a)
        return of_a;
      else
        return of_a_across;
    }
    template <major B>
    constexpr const auto& b() const {
      if constexpr (B == C.b)
        return of_b;
      else
        return of_b_across;
    }
  };
  template <sm90_cluster S = C.cluster()>
  constexpr shares<S> shares_of(const tile_origin& tile) const {
    const auto row = [&](const auto& of_tile) { return row_of(tile, of_tile); };
    const auto column = [&](const auto& of_tile) { return column_of(tile, of_tile); };
    const auto of_a = [&]<major A>() {
      return array_of<(S.n == 1 ? shares_of_a : 1)>([&](std::uint32_t i) {
        constexpr u32 lines = a_along<A>::box_rows;
        if constexpr (S.n == 1)
          return a_along<A>::share_of(t_, lines, i, row);
        else
          return a_along<A>::share_of(t_, lines, cluster_.rank_n(), row);
      });
    };
    const auto of_b = [&]<major B>() {
      using operand = b_along<B, (S.m == 1 ? 1 : C.most_cluster_m())>;
      if constexpr (B == major::k)
        return operand::share_of(t_, tile_.box_of_b, cluster_.rank_m(), column);
      else
        return operand::share_of(t_, u32{operand::box_rows}, cluster_.rank_m(), column);
    };
    const auto along_a = of_a.template operator()<C.a>();
    const auto along_b = of_b.template operator()<C.b>();
    // One thread computes the shares between two tiles, so it computes only those that it needs.
    const auto across_a = [&] {
      if constexpr (C.a_by_launch) {
        constexpr std::uint32_t count = S.n == 1 ? shares_of_a : 1;
        auto late = array_of<count>([&](u32) { return late_share<a_along<major::mn>>(t_); });
        if (auto needs = t_.when(tile_.a_is_across)) {
          const auto found = of_a.template operator()<major::mn>();
          for (u32 i = 0; i < count; ++i) late[i] = found[i];
        }
        return array_of<count>([&](u32 i) { return late[i].share(t_); });
      } else {
        return along_a;
      }
    }();
    const auto across_b = [&] {
      if constexpr (C.b_by_launch) {
        late_share<b_along<major::mn, (S.m == 1 ? 1 : C.most_cluster_m())>> late(t_);
        if (auto needs = t_.when(tile_.b_is_across)) late = of_b.template operator()<major::mn>();
        return late.share(t_);
      } else {
        return along_b;
      }
    }();
    return {along_a, along_b, tile.batch, across_a, across_b};
  }

  // The producer, one thread: copies the tiles of `k_blocks` stages along K, from stage `first` on.
  constexpr void load(ring_position& at, const tile_origin& tile, const val<u32>& first,
                      const val<u32>& k_blocks) const {
    cluster_.with_shape([&]<sm90_cluster S>() {
      const auto own = shares_of<S>(tile);
      for (auto block : t_.range(0u, k_blocks)) {
        wait_until_empty(at);
        expect(at.stage, stage_bytes_);
        const val from = t_.let(first + block);
        load_a(at.stage, own, from);
        load_b(at.stage, own, from);
        at.template advance<C.stages>();
      }
    });
  }
  // Copies all stages of a tile or of half a tile, which needs the first half of A.
  constexpr void load(ring_position& at, const tile_part& part, const val<u32>& k_blocks) const
    requires Halves
  {
    const val bytes = t_.let(select(part.is_whole, stage_bytes_, stage_bytes_ - C.a_bytes() / 2));
    cluster_.with_shape([&]<sm90_cluster S>() {
      const auto own = shares_of<S>(part.origin);
      for (auto block : t_.range(0u, k_blocks)) {
        wait_until_empty(at);
        expect(at.stage, bytes);
        const val from = t_.let(block);
        if constexpr (S.n == 1) {
          load_share_of_a(at.stage, own, from, 0);
          if (auto whole = t_.when(part.is_whole)) load_share_of_a(at.stage, own, from, 1);
        } else {
          load_a(at.stage, own, from);
        }
        load_b(at.stage, own, from);
        at.template advance<C.stages>();
      }
    });
  }

  // Copies the first `k_blocks` stages of a kernel, at most those of the ring, in two steps: first A, which
  // need not wait for other kernels' results, then B.
  constexpr void load_a_first(const tile_origin& tile, const val<u32>& first,
                              const val<u32>& k_blocks) const {
    const auto own = shares_of(tile);
    for (auto block : t_.range(0u, k_blocks)) {
      const val stage = t_.let(block);
      full_[stage].arrive_expect_tx(stage_bytes_);
      load_a(stage, own, t_.let(first + block));
    }
  }
  constexpr void load_b_behind(ring_position& at, const tile_origin& tile, const val<u32>& first,
                               const val<u32>& k_blocks) const {
    const auto own = shares_of(tile);
    for (auto block : t_.range(0u, k_blocks)) {
      load_b(at.stage, own, t_.let(first + block));
      at.template advance<C.stages>();
    }
  }

  // Waits until all blocks have read what this block's ring had: no other block arrives at its barriers any
  // more.
  constexpr void wait_for_readers(ring_position& at) const {
    for (std::uint32_t s = 0; s < C.stages; ++s) {
      wait_until_empty(at);
      at.template advance<C.stages>();
    }
  }

  // A consumer warpgroup: acc = A * B over `k_blocks` steps, at least one. One batch of wgmma is in flight
  // while the next one is issued, so a stage is released one step late.
  constexpr void multiply(ring_position& at, accumulator& acc, const val<u32>& warpgroup,
                          const val<u32>& k_blocks, const val<u32>& columns = val<u32>(C.n)) const {
    if constexpr (a_in_registers) {
      sm90_register_product<C, sm90_mainloop, a_ring, b_ring>(t_, *this, a_, b_)
          .multiply(at, acc, warpgroup, k_blocks);
    } else if constexpr (clears_sums) {
      acc.clear();
      add_steps(at, acc, warpgroup, k_blocks, columns);
    } else {
      add_steps(at, acc, warpgroup, k_blocks, columns, false);
    }
  }
  // Multiplies likewise, but adds to acc if it has begun.
  constexpr void multiply(ring_position& at, accumulator& acc, const val<u32>& warpgroup,
                          const val<u32>& k_blocks, const val<u32>& columns, const val<bool>& begun) const {
    static_assert(!a_in_registers);
    add_steps(at, acc, warpgroup, k_blocks, columns, begun);
  }

  // A consumer warpgroup that has no part in a tile, the last one of its block: its arriving threads free the
  // stages. Only they wait: without a product, nothing keeps the warps of the group in the same round.
  constexpr void pass(const ring_position& from, const val<u32>& k_blocks) const {
    const val rank = t_.thread_rank() % reader;
    const val peer = sharer(rank);
    if (auto arrives = t_.when(rank < cluster_.sharers())) {
      ring_position at(t_, from);
      for ([[maybe_unused]] auto block : t_.range(0u, k_blocks)) {
        full_[at.stage].wait(at.parity);
        arrive(at.stage, peer);
        at.template advance<C.stages>();
      }
    }
  }

  // The pieces of `multiply`, for other orders: the wait for a stage; use(batch, a warpgroup's rows of A, B)
  // with a stage that has arrived; the arrival at the barrier of a stage that was read.
  constexpr void wait(const ring_position& at) const { full_[at.stage].wait(at.parity); }
  template <major A = C.a, major B = C.b, class E = T, class Use>
  constexpr void issue(const var<u32>& stage, const val<u32>& warpgroup, const Use& use) const {
    const auto a = wgmma_operand<A>(seen_as<a_along<A, E>>(a_[stage])).rows(warpgroup * C.warpgroup_rows);
    const auto b = wgmma_operand<B>(seen_as<b_along<B, 1, E>>(b_[stage]));
    wgmma_batch mma(t_);
    use(mma, a, b);
  }
  constexpr void release(const var<u32>& stage, const val<u32>& rank, const val<u32>& peer) const {
    if (auto arrives = t_.when(rank < cluster_.sharers())) arrive(stage, peer);
  }
  // Thread i of a warpgroup notifies the i-th block that writes into this one's shared memory.
  constexpr val<u32> sharer(const val<u32>& i) const { return cluster_.sharer(i); }

 protected:
  static constexpr val<bool> is_second_type(thread t, const val<sm90_tile>& of) {
    return flag_of<C.type_by_launch, false>(t, of[&sm90_tile::is_second]);
  }
  // For a stage that others fill too.
  constexpr void wait_until_empty(const ring_position& at) const { empty_[at.stage].wait(at.parity ^ 1u); }
  constexpr void expect(const var<u32>& stage, const val<u32>& bytes) const {
    full_[stage].arrive_expect_tx(bytes);
  }
  constexpr void arrive_full(const var<u32>& stage) const { full_[stage].arrive(); }
  // The barrier of a stage's bytes, for copies of a derived class.
  constexpr auto full_of(const var<u32>& stage) const { return full_[stage]; }
  template <class Stage>
  constexpr auto tile_of_a(const Stage& stage) const {
    return a_[stage];
  }
  template <class Stage>
  constexpr auto tile_of_b(const Stage& stage) const {
    return b_[stage];
  }
  template <class Stage, sm90_cluster S, class... Option>
  constexpr void load_share_of_a(const Stage& stage, const shares<S>& own, const val<u32>& block,
                                 std::uint32_t i, const Option&... option) const {
    for_direction<C.a_by_launch, C.a>(t_, tile_.a_is_across, [&]<major A>() {
      const auto to = a_[stage].address();
      const auto full = full_[stage];
      a_along<A>::load(own.template a<A>()[i], to, a_map_, full, t_.let(block * k), own.batch, option...);
    });
  }
  template <class Stage, sm90_cluster S>
  constexpr void load_a(const Stage& stage, const shares<S>& own, const val<u32>& block) const {
    if constexpr (S.n == 1)
      for (std::uint32_t i = 0; i < shares_of_a; ++i) load_share_of_a(stage, own, block, i);
    else
      load_share_of_a(stage, own, block, 0, multicast(cluster_.template row_mask<S>()));
  }
  template <class Stage, sm90_cluster S>
  constexpr void load_b(const Stage& stage, const shares<S>& own, const val<u32>& block) const {
    const val first_k = t_.let(block * k);
    for_direction<C.b_by_launch, C.b>(t_, tile_.b_is_across, [&]<major B>() {
      const auto load = [&](const auto&... option) {
        const auto to = b_[stage].address();
        b_along<B, (S.m == 1 ? 1 : C.most_cluster_m())>::load(own.template b<B>(), to, b_map_, full_[stage],
                                                              first_k, own.batch, option...);
      };
      if constexpr (S.m == 1)
        load();
      else
        load(multicast(cluster_.template column_mask<S>()));
    });
  }

  // Where rows and columns of a tile are in A and B.
  template <class Row>
  constexpr val<u32> row_of(const tile_origin& tile, const Row& of_tile) const {
    return line_in_parts(t_, tile.row, tile.last_row, parts_of_m(), of_tile).at;
  }
  template <class Column>
  constexpr val<u32> column_of(const tile_origin& tile, const Column& of_tile) const {
    return line_in_parts(t_, tile.column, tile.last_column, parts_of_n(), of_tile).at;
  }

 private:
  struct tile_numbers {
    val<u32> m, n, box_of_a, box_of_b;
    val<bool> a_is_across, b_is_across, is_second;
  };
  // Calls f with the directions of A and B, the element type and the columns as constants.
  template <class F>
  constexpr void along_lines(const val<u32>& columns, const F& f) const {
    const auto of_type = [&]<class E>() {
      for_direction<C.a_by_launch, C.a>(t_, tile_.a_is_across, [&]<major A>() {
        for_direction<C.b_by_launch, C.b>(t_, tile_.b_is_across, [&]<major B>() {
          for_width<C>(t_, columns, [&]<std::uint32_t N>() { f.template operator()<A, B, E, N>(); });
        });
      });
    };
    if constexpr (C.type_by_launch) {
      if (auto second = t_.when(tile_.is_second)) of_type.template operator()<sm90_second_type<T>>();
      if (auto first = t_.otherwise()) of_type.template operator()<T>();
    } else {
      of_type.template operator()<T>();
    }
  }
  constexpr sm90_mainloop(thread t, const tensor_map<T, 3>& a, const tensor_map<T, 3>& b,
                          const tile_numbers& of)
      : t_(t),
        a_map_(a),
        b_map_(b),
        a_(t),
        b_(t),
        full_(t),
        empty_(t),
        cluster_(t),
        tile_(of),
        stage_bytes_(bytes_of_stage(t)) {}

  // The number of panels of an operand whose lines may be across K.
  template <std::uint32_t Lines, bool ByLaunch, major Fixed>
  static constexpr std::uint32_t panels_across =
      ByLaunch || Fixed == major::mn ? Lines / a_operand::width : 0;
  // Bytes that tensor copies bring to a stage.
  constexpr val<u32> bytes_of_stage(thread t) const {
    constexpr std::uint32_t of_line = sm90_config::row_bytes * C.depth,
                            of_column_of_b = panels_across<C.n, C.b_by_launch, C.b> * k * sizeof(T),
                            of_column_of_a = panels_across<C.m, C.a_by_launch, C.a> * k * sizeof(T);
    const val of_b = t.let(tile_.box_of_b * number_for<C.b_by_launch, C.b>(t_, tile_.b_is_across,
                                                                           t.let(cluster_.size_m() * of_line),
                                                                           t.let(of_column_of_b)));
    if constexpr (!moves_a)
      return t.let(of_b + C.a_bytes());
    else
      return t.let(tile_.box_of_a * number_for<C.a_by_launch, C.a>(t_, tile_.a_is_across, t.let(of_line),
                                                                   t.let(of_column_of_a)) +
                   of_b);
  }
  // acc += A * B. `adds`: whether the first step adds too; this step is then before the loop.
  template <class... Adds>
  constexpr void add_steps(ring_position& at, accumulator& acc, const val<u32>& warpgroup,
                           const val<u32>& k_blocks, const val<u32>& columns, const Adds&... adds) const {
    const val thread_in_group = t_.thread_rank() % 128u;
    const val peer = sharer(thread_in_group);
    constexpr u32 before = sizeof...(adds);
    along_lines(columns, [&]<major A, major B, class E, std::uint32_t N>() {
      var<u32> previous = at.stage;
      (step<A, B, E, N>(at, acc, warpgroup, adds), ...);
      if constexpr (before != 0) at.template advance<C.stages>();
      for (auto block : t_.range(before, k_blocks)) {
        step<A, B, E, N>(at, acc, warpgroup, true);
        wgmma_wait<1>(t_);
        if constexpr (before != 0)
          release(previous, thread_in_group, peer);
        else if (auto is_later = t_.when(block != 0u))
          release(previous, thread_in_group, peer);
        previous = at.stage;
        at.template advance<C.stages>();
      }
      wgmma_wait<0>(t_);
      release(previous, thread_in_group, peer);
    });
  }
  template <major A, major B, class E, std::uint32_t N, class Adds>
  constexpr void step(const ring_position& at, accumulator& acc, const val<u32>& warpgroup,
                      const Adds& adds) const {
    wait(at);
    issue<A, B, E>(at.stage, warpgroup, [&](const wgmma_batch& mma, const auto& a, const auto& b) {
      if constexpr (N == C.n) {
        mma.multiply_add(acc, a, b, adds);
      } else {
        auto columns = acc.template first<N>();
        mma.multiply_add(columns, a, b, adds);
        acc.set_value();
      }
    });
  }

  constexpr void arrive(const var<u32>& stage, const val<u32>& peer) const {
    if constexpr (C.has_cluster())
      empty_[stage].arrive_remote(peer, scope::block);
    else
      empty_[stage].arrive();
  }

  thread t_;
  tensor_map<T, 3> a_map_, b_map_;
  a_ring a_;
  b_ring b_;
  mbarriers<C.stages> full_, empty_;
  sm90_cluster_place<C> cluster_;
  tile_numbers tile_;
  val<u32> stage_bytes_;
};

}  // namespace kaio::ops
