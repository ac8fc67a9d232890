#pragma once
// An operand of the main loop for sm_90a: its tiles in shared memory, and the boxes of the tensor copies that
// fill them.

#include <kaio/dsl/async.hpp>
#include <kaio/dsl/mma/wgmma.hpp>
#include <kaio/dsl/tile.hpp>
#include <kaio/ops/matmul/sm90/config.hpp>

#include <cstdint>
#include <type_traits>

namespace kaio::ops {

// The box of a tensor map, innermost dimension first, and its lines: its extent along M or N.
struct sm90_box {
  std::uint32_t lines;
  std::uint32_t sizes[3];
};
// The boxes of A and B, and the distances between tiles of C along M and N.
struct sm90_boxes {
  sm90_box a, b;
  std::uint32_t m, n;
};
// The numbers of these boxes that a kernel takes.
struct sm90_tile {
  u32 m, n, box_of_a, box_of_b;
  // Read only if the launch gives them. 1: the lines are across K; the elements are of the second type.
  u32 a_is_across, b_is_across, is_second, unused = 0;
  template <class T>
  static constexpr sm90_tile of(const sm90_boxes& x, major a, major b) {
    const auto as_number = [](bool is) { return is ? 1u : 0u; };
    return {x.m,
            x.n,
            x.a.lines,
            x.b.lines,
            as_number(a == major::mn),
            as_number(b == major::mn),
            as_number(std::is_same_v<T, sm90_second_type<T>>)};
  }
};

// One operand of a stage in shared memory, and the boxes that it arrives in. It has `Shares` shares: each
// block of a cluster loads one, or a block alone loads them one by one.
//   major::k   Rows x K elements, in panels of 128 bytes along K; a box is Rows / Shares rows of a panel
//   major::mn  K x Rows elements, in panels of 128 bytes along Rows; a box is a panel, or a part of its rows
template <scalar T, major Major, std::uint32_t Rows, std::uint32_t Depth, std::uint32_t Shares>
struct sm90_operand {
  static constexpr std::uint32_t width = sm90_config::row_bytes / sizeof(T);  // elements per line of a panel
  static constexpr std::uint32_t k = width * Depth;
  template <std::uint32_t Stages>
  using ring = std::conditional_t<Major == major::k, shared_tiles<T, Rows, k, swizzled<128>, Stages>,
                                  shared_tiles<T, k, Rows, swizzled<128>, Stages>>;
  static_assert(Major == major::k || (sizeof(T) != 1 && Rows % width == 0),
                "kaio: operands across K have elements of 16 or 32 bits, in panels of 128 bytes");

  using tile = typename ring<1>::tile_type;

  static constexpr std::uint32_t panels = Major == major::k ? Depth : Rows / width;
  static constexpr std::uint32_t panel_rows = Major == major::k ? Rows : k;
  static constexpr std::uint32_t panel_bytes = panel_rows * sm90_config::row_bytes;
  // If there are enough panels along Rows, whole panels are shared out, else the rows of each.
  static constexpr bool shares_panels = Major == major::mn && panels % Shares == 0;
  static constexpr std::uint32_t boxes = shares_panels ? panels / Shares : panels;
  static constexpr std::uint32_t box_rows = shares_panels ? panel_rows : panel_rows / Shares;
  // The box of the tensor map, innermost dimension first.
  static constexpr std::uint32_t box[3] = {width, box_rows, 1};
  // The box with fewer lines. Its elements have the places that they have in a whole box.
  static constexpr sm90_box box_of(std::uint32_t lines) {
    return Major == major::k ? sm90_box{lines, {width, lines, 1}} : sm90_box{lines, {lines, box_rows, 1}};
  }
  static constexpr std::uint32_t box_lines = Major == major::k ? box_rows : width;
  static_assert(box_rows % 8 == 0 && box_rows <= 256);

  // A share of a tile, the same in all steps along K: where its boxes begin across K in the operand, and in
  // the tile.
  struct share {
    dsl::register_array<val<u32>, (Major == major::k ? 1 : boxes)> across;
    val<u32> line, offset;  // first box: its line of a panel; bytes from the tile's start
  };
  // The share of the block `rank`, in boxes of `lines` lines. place(line): where a row (or column) of the
  // tile is in the operand.
  template <class Lines, class Rank, class Place>
  static constexpr share share_of(thread t, const Lines& lines, const Rank& rank, const Place& place) {
    const auto panel = rank * (shares_panels ? boxes : 0);
    const auto line = rank * (shares_panels ? Lines(0u) : lines);
    const auto across = array_of<(Major == major::k ? 1 : boxes)>([&](std::uint32_t i) {
      if constexpr (Major == major::k)
        return place(line);
      else
        return place((panel + i) * width);
    });
    return {across, t.let(line), t.let(panel * panel_bytes + line * sm90_config::row_bytes)};
  }
  // Loads the share to a tile, from `first_k` on.
  template <class... Option>
  static constexpr void load(const share& own, const val<u32>& tile, const tensor_map<T, 3>& map,
                             const mbarrier& arrived, const val<u32>& first_k, const val<u32>& batch,
                             const Option&... option) {
    for (std::uint32_t i = 0; i < boxes; ++i) {
      const auto to = tile + own.offset + i * panel_bytes;
      if constexpr (Major == major::k)
        copy_tensor(to, map, coordinates(first_k + i * width, own.across[0], batch), arrived, option...);
      else
        copy_tensor(to, map, coordinates(own.across[i], first_k + own.line, batch), arrived, option...);
    }
  }
};

// A tile of a ring, seen as an operand of other elements or lines.
template <class Operand, class Tile>
constexpr auto seen_as(const Tile& tile) {
  if constexpr (std::is_same_v<typename Operand::tile, Tile>)
    return tile;
  else
    return Operand::tile::over(tile);
}

// A share that is computed in a branch and used after it.
template <class Operand>
class late_share {
  using result = typename Operand::share;
  static constexpr std::uint32_t count = decltype(result::across)::size();

 public:
  constexpr explicit late_share(thread t)
      : across_(array_of<count>([&](u32) { return var(t, 0u); })), line_(t, 0u), offset_(t, 0u) {}
  constexpr void operator=(const result& x) {
    for (u32 i = 0; i < count; ++i) across_[i] = x.across[i];
    line_ = x.line;
    offset_ = x.offset;
  }
  constexpr result share(thread t) const {
    return {array_of<count>([&](u32 i) { return val<u32>(t.let(across_[i])); }), val<u32>(t.let(line_)),
            val<u32>(t.let(offset_))};
  }

 private:
  dsl::register_array<var<u32>, count> across_;
  var<u32> line_, offset_;
};

}  // namespace kaio::ops
