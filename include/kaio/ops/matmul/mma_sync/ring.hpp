#pragma once
// The ring of one operand's tiles in shared memory, for the matmul kernel with the matrix instructions of a
// warp, and the parts that a warp reads from it. A tile is laid out as its operand is, so that nothing is
// transposed:
//
//   major::k     lines are rows of A (columns of B), along K; ldmatrix reads them as they are
//   major::mn    lines are steps of K, along M (N), in panels of one warp each; ldmatrix.trans reads elements
//                of 16 bits, others are read one by one
//
// Swizzles keep the eight rows of a matrix in different banks; without ldmatrix, padding does.

#include <kaio/ops/matmul/mma_sync/config.hpp>
#include <kaio/ops/matmul/mma_sync/product.hpp>

#include <cstdint>

namespace kaio::ops {

template <matrix_role Role, class Product, scalar T, std::uint32_t Extent, std::uint32_t WarpExtent,
          std::uint32_t K, std::uint32_t Stages, major Major>
class mma_sync_ring {
  static constexpr bool is_a = Role == matrix_role::a;

 public:
  using part = std::conditional_t<is_a, typename Product::a_part, typename Product::b_part>;
  using fragment_type = typename part::fragment_type;
  static constexpr std::uint32_t step = is_a ? Product::m : Product::n;  // rows of A or columns of B per part
  static constexpr std::uint32_t depth = Product::k;
  static constexpr std::uint32_t parts = WarpExtent / step;  // per warp
  static constexpr std::uint32_t slices = K / depth;         // per tile
  static constexpr bool along_k = Major == major::k;
  static constexpr std::uint32_t lines = along_k ? Extent : K;
  static constexpr std::uint32_t width = along_k ? K : Extent;
  static_assert(WarpExtent % step == 0 && K % depth == 0);

 private:
  static constexpr bool by_matrices = !Product::is_quad && (along_k || sizeof(T) == 2);
  // Columns that belong to one warp, and that one swizzle covers.
  static constexpr std::uint32_t panel = along_k                ? (K * sizeof(T) < 128 ? K : 128 / sizeof(T))
                                         : WarpExtent % 64 == 0 ? 64
                                         : WarpExtent % 32 == 0 ? 32
                                                                : 16;
  static constexpr std::uint32_t swizzle = panel * sizeof(T) < 32 || panel * sizeof(T) > 128
                                               ? 32
                                               : panel * sizeof(T);
  using layout_type = std::conditional_t<by_matrices, dsl::swizzled<swizzle>, dsl::padded<32 / sizeof(T)>>;
  using tiles_type = shared_tiles<T, lines, width, layout_type, Stages>;
  using panel_type = shared_tile<T, lines, by_matrices && !along_k ? panel : width, layout_type>;
  static constexpr std::uint32_t per_load = fragment_type::register_count <= 2 && by_matrices ? 2 : 1;
  static_assert(parts % per_load == 0, "kaio: a warp reads the parts of its operand in pairs");

 public:
  using tiles = tiles_type;
  using lane_type = typename panel_type::lane_type;

  // `warp`: the number of this warp along M (N).
  constexpr mma_sync_ring(thread t, const val<u32>& warp)
      : t_(t), tiles_(t), warp_(warp), lane_(first_lane(t, tiles_, warp)) {}

  constexpr const tiles_type& memory() const { return tiles_; }

  // Loads the parts of this warp at slice `slice` of the tile in stage `stage`.
  template <class Parts>
  constexpr void load(Parts& to, const val<u32>& stage, std::uint32_t slice) const {
    const auto tile = tiles_[stage];
    const std::uint32_t k = slice * depth;
    if constexpr (by_matrices && along_k) {
      for (std::uint32_t i = 0; i < parts; i += per_load) {
        if constexpr (per_load == 2)
          ldmatrix(to[i].f, to[i + 1].f, tile.at(lane_, i * step, k));
        else
          ldmatrix(to[i].f, tile.at(lane_, i * step, k));
      }
    } else if constexpr (by_matrices) {
      for (std::uint32_t p = 0; p < WarpExtent / panel; ++p) {
        const panel_type own = tile.panel(t_.let(warp_ * (WarpExtent / panel) + p));
        for (std::uint32_t x = 0; x < panel; x += per_load * step) {
          const std::uint32_t i = (p * panel + x) / step;
          if constexpr (per_load == 2)
            ldmatrix_trans(to[i].f, to[i + 1].f, own.at(lane_, k, x));
          else
            ldmatrix_trans(to[i].f, own.at(lane_, k, x));
        }
      }
    } else if constexpr (Product::is_quad) {
      for (std::uint32_t i = 0; i < parts; ++i) {
        const val four = load_vec<4>(tile.at(lane_, along_k ? i * step : k, along_k ? k : i * step));
        to[i].f.registers[0] = pack(four[0], four[1]);
        to[i].f.registers[1] = pack(four[2], four[3]);
      }
    } else {
      using place_in = typename fragment_type::layout;
      for (std::uint32_t i = 0; i < parts; ++i)
        for (std::uint32_t r = 0; r < fragment_type::register_count; ++r) {
          const std::uint32_t across = is_a ? place_in::element_row(r) : place_in::element_column(r);
          const std::uint32_t below = is_a ? place_in::element_column(r) : place_in::element_row(r);
          to[i].f.registers[r] = bit_cast<u32>(tile.at(lane_, k + below, i * step + across));
        }
    }
  }

 private:
  static constexpr lane_type first_lane(thread t, const tiles_type& all, const val<u32>& warp) {
    const val lane = t.lane_rank();
    const val first = t.let(warp * WarpExtent);
    if constexpr (by_matrices && along_k) {
      if constexpr (per_load == 2)
        return ldmatrix_lane<fragment_type, fragment_type>(all, first, 0);
      else
        return ldmatrix_lane<fragment_type>(all, first, 0);
    } else if constexpr (by_matrices) {
      const panel_type own = all[0].panel(0);
      if constexpr (per_load == 2)
        return ldmatrix_trans_lane<fragment_type, fragment_type>(own, 0, 0);
      else
        return ldmatrix_trans_lane<fragment_type>(own, 0, 0);
    } else if constexpr (Product::is_quad) {
      // The lane's quad is q = lane / 4 % 4: the lower bit of q selects rows of A, the upper one columns of
      // B.
      const val across = t.let(first + lane / (is_a ? 4u : 8u) % 2u * 8u + lane_across(lane));
      const val along = t.let(lane_along(lane));
      if constexpr (along_k)
        return all.lane(across, along);
      else
        return all.lane(along, across);
    } else {
      return all.lane(lane % 4u, first + lane / 4u);
    }
  }

  // Where a lane's elements begin along M (N), and along K.
  static constexpr auto lane_across(const val<u32>& lane) {
    if constexpr (is_a)
      return fragment_type::layout::lane_row(lane);
    else
      return fragment_type::layout::lane_column(lane);
  }
  static constexpr auto lane_along(const val<u32>& lane) {
    if constexpr (is_a)
      return fragment_type::layout::lane_column(lane);
    else
      return fragment_type::layout::lane_row(lane);
  }

  thread t_;
  tiles_type tiles_;
  val<u32> warp_;
  lane_type lane_;
};

}  // namespace kaio::ops
