#pragma once
// The copies of a grouped product for sm_90a that matmul does not have: rows of A by their indices, and tiles of B
// whose halves are of two matrices.
//
//   gather    Tensor copies cannot gather rows, so four warps copy 16 bytes a thread, some steps ahead.
//             A step's bytes reach wgmma by a fence of each thread and an arrival of each warp.
//   pairs     columns 0 to n / 2 - 1 of a tile are of the first matrix, the others of the second one
//
//   thread p of 128: piece p % 8 of rows p / 8, p / 8 + 16, ... p / 8 + 112

#include <kaio/ops/matmul/sm90/mainloop.hpp>
#include <kaio/ops/matmul_grouped/common/terms.hpp>
#include <kaio/ops/matmul_grouped/common/tiles.hpp>

#include <cstdint>

namespace kaio::ops {

// A as threads read it.
struct grouped_rows_of_a {
  u64 address;
  u32 pitch;  // pieces of 16 bytes from row to row
  u32 k;      // elements of a row
  grouped_gather gather;
};

template <sm90_config C, scalar T, bool Paired>
class grouped_mainloop : public sm90_mainloop<C, T> {
  using base = sm90_mainloop<C, T>;
  static constexpr u32 pieces = 8, lines = 16, rows = C.m / lines;
  // Steps in flight: consumers read one stage meanwhile, and one is filled.
  static constexpr u32 lag = C.stages - 2;
  static constexpr u32 b_bytes = C.n * sm90_config::row_bytes * C.depth;
  static constexpr u32 vector = 16 / sizeof(T);  // elements of a piece
  static_assert(C.depth == 1 && C.whole_producer && C.stages > lag && !C.has_cluster());

 public:
  // Arrivals that fill a stage: the thread of the tensor copies, and a thread of each warp that gathers.
  static constexpr u32 arrivals = 1, gathering_arrivals = 5;

  constexpr grouped_mainloop(thread t, const tensor_map<T, 3>& a, const tensor_map<T, 3>& b,
                             const tensor_map<T, 3>& second, const val<sm90_tile>& of)
      : base(t, a, b, of),
        t_(t),
        b_map_(b),
        second_map_(second),
        b_is_across_(flag_of<C.b_by_launch, C.b == major::mn>(t, of[&sm90_tile::b_is_across])),
        done_(t),
        pending_(t, 0u) {}

  // One thread: copies all stages of a tile, or of a half.
  constexpr void copy(ring_position& at, const tile_part& part, const val<u32>& k_blocks) const {
    if constexpr (!Paired) {
      this->load(at, part, k_blocks);
    } else {
      const auto own = this->shares_of(part.origin);
      const val bytes = t_.let(select(part.is_whole, C.a_bytes(), C.a_bytes() / 2) + b_bytes);
      for (auto block : t_.range(0u, k_blocks)) {
        this->wait_until_empty(at);
        this->expect(at.stage, bytes);
        const val from = t_.let(block);
        this->load_share_of_a(at.stage, own, from, 0);
        if (auto whole = t_.when(part.is_whole)) this->load_share_of_a(at.stage, own, from, 1);
        copy_b(at.stage, part.origin, own, from);
        at.template advance<C.stages>();
      }
    }
  }

  // Four warps: gather the rows of A of all stages of a tile, or of a half; one thread copies B.
  template <class Rows>
  constexpr void gather(ring_position& at, const tile_part& part, const val<u32>& k_blocks,
                        const grouped_tile& tile, const Rows& of_a) {
    const val rank = t_.let(t_.thread_rank() % 128u);
    const val column = t_.let(rank % pieces * vector), line = t_.let(rank / pieces);
    const val address = t_.let(of_a[&grouped_rows_of_a::address]);
    const val size_k = t_.let(of_a[&grouped_rows_of_a::k]), pitch = t_.let(of_a[&grouped_rows_of_a::pitch]);
    const auto indices = of_a[&grouped_rows_of_a::gather];
    // Where a row is, in pieces of 16 bytes; `none`: there is no row.
    constexpr u32 none = ~0u;
    auto places = array_of<rows>([&](u32) { return var(t_, none); });
    for (u32 i = 0; i < rows; ++i) {
      const val row = t_.let(tile.row + (line + lines * i));
      if (auto exists = t_.when(row < tile.end)) {
        const val source = grouped_gather::source(t_, indices, row);
        if (auto is_row = t_.when(source < indices[&grouped_gather::count])) places[i] = source * pitch;
      }
    }
    const auto own = this->shares_of(part.origin);
    const auto to = this->tile_of_a(0u).lane(line, column);
    for (auto block : t_.range(0u, k_blocks).no_unroll()) {
      const val from = t_.let(block);
      this->wait_until_empty(at);
      // The warps take turns: the copies of B take as long as those of a warp's rows.
      if (auto one = t_.when(rank == from % 4u * 32u)) {
        this->expect(at.stage, t_.let(u32{b_bytes}));
        copy_b(at.stage, part.origin, own, from);
      }
      const val first = t_.let(from * base::k + column);
      const val bytes = t_.let((min(size_k, first + vector) - min(size_k, first)) * u32{sizeof(T)});
      const val line_of_k = t_.let(address + mul_wide(first, u32{sizeof(T)}));
      const auto tile_of_a = this->tile_of_a(at.stage);
      const auto copy_row = [&](u32 i) {
        const val piece = t_.let(line_of_k + mul_wide(places[i], 16u));
        cp_async<16>(tile_of_a.at(to, lines * i, 0), pointer_at<in<T>>(t_, piece)[0],
                     t_.let(select(places[i] != none, bytes, 0u)));
      };
      for (u32 i = 0; i < rows / 2; ++i) copy_row(i);
      if (auto whole = t_.when(part.is_whole))
        for (u32 i = rows / 2; i < rows; ++i) copy_row(i);
      cp_async_commit_group(t_);
      at.template advance<C.stages>();
      pending_ += 1u;
      if (auto full = t_.when(pending_ > lag)) {
        cp_async_wait_group<lag>(t_);
        arrive_oldest();
      }
    }
  }
  // The gathering warps, after all tiles.
  constexpr void finish_gather() {
    cp_async_wait_all(t_);
    for (u32 i = 0; i < lag; ++i)
      if (auto some = t_.when(pending_ != 0u)) arrive_oldest();
  }

 private:
  template <class Shares>
  constexpr void copy_b(const var<u32>& stage, const tile_origin& origin, const Shares& own,
                        const val<u32>& block) const {
    if constexpr (Paired)
      load_pair(stage, origin, block);
    else
      this->load_b(stage, own, block);
  }
  // The oldest step in flight has arrived.
  constexpr void arrive_oldest() {
    fence_proxy_async(t_);
    sync_warp(t_);
    if (auto one = t_.when(lane_id() == 0u)) this->arrive_full(done_.stage);
    done_.template advance<C.stages>();
    pending_ -= 1u;
  }
  constexpr void load_pair(const var<u32>& stage, const tile_origin& origin, const val<u32>& block) const {
    const val first_k = t_.let(block * base::k);
    for_direction<C.b_by_launch, C.b>(t_, b_is_across_, [&]<major Lines>() {
      using half = sm90_operand<T, Lines, C.n / 2, C.depth, 1>;
      const auto own = half::share_of(t_, half::box_rows, 0u, [&](const auto& of_tile) {
        return val<u32>(t_.let(origin.column + of_tile));
      });
      const auto full = this->full_of(stage);
      const val first = t_.let(this->tile_of_b(stage).address() + 0u);
      half::load(own, first, b_map_, full, first_k, origin.batch);
      half::load(own, t_.let(first + b_bytes / 2), second_map_, full, first_k, origin.batch);
    });
  }

  thread t_;
  tensor_map<T, 3> b_map_, second_map_;
  val<bool> b_is_across_;
  ring_position done_;
  var<u32> pending_;
};

}  // namespace kaio::ops
