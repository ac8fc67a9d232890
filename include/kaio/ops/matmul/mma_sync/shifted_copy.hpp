#pragma once
// Copies of a tile to shared memory for operands whose lines begin anywhere; elements have 16 bits. For each
// piece of 16 bytes a thread loads the one or two aligned vectors that cover it, and shifts them into place:
//
//   memory   | . . . a b c d e | f g h . . . . . |     two aligned vectors, of 8 elements each
//   piece    |       a b c d e   f g h |               the shift is 3
// The shift is the same for all pieces of a thread, in every tile. They are multiples of 8 lines or of 8
// elements apart, hence multiples of 16 bytes, whatever the leading dimension is.
//
// An aligned vector is loaded if all of it is between the operand's first and last element, in the order of
// addresses. That memory is one allocation, because it is within one matrix of a view. Elements between two
// lines may belong to another tensor; they are shifted or masked out. A vector that crosses the first or last
// element is not loaded: the few pieces that need it are made element by element (mend). Elements outside the
// operand become zero in the tile.

#include <kaio/ops/matmul/common/address_of.hpp>
#include <kaio/ops/matmul/mma_sync/copy.hpp>

#include <cstdint>

namespace kaio::ops {

template <class Ring, scalar T, std::uint32_t Threads>
class shifted_copy {
  static_assert(sizeof(T) == 2,
                "kaio: copy_form::shifted is for elements of 16 bits; take copy_form::elements");
  using pieces = tile_pieces<Ring, T, Threads>;
  static constexpr std::uint32_t elements = pieces::elements;  // per vector, and per piece
  static constexpr std::uint32_t depth = Ring::along_k ? Ring::width : Ring::lines;
  static constexpr std::uint32_t extent_of_tile = Ring::along_k ? Ring::lines : Ring::width;
  static_assert((pieces::count == 1 || pieces::lines_apart % elements == 0) && depth % elements == 0,
                "kaio: the pieces of a thread are multiples of 16 bytes apart");
  // Distances to the ends of the operand saturate here: at two vectors.
  static constexpr std::uint32_t distant = 2 * elements;
  static constexpr std::uint32_t never = 0x7fffff00;

 public:
  static constexpr std::uint32_t count = pieces::count;  // per thread and tile

  // Registers for the vectors of Count pieces, as they are in memory.
  template <std::uint32_t Count>
  using vectors = dsl::register_array<var<u32>, 8 * Count>;

  // The tiles that are inside the operand with all of their vectors. At least `left` steps of K must be left.
  // A tile at the first step also needs `first`.
  struct inner_tiles {
    val<bool> first;
    val<u32> left;
  };

  // `x`: the batch's first element; `leading`: its leading dimension; `extent`: its extent along M (N). The
  // first tile begins at `across` along M (N) and at `along` along K.
  constexpr shifted_copy(thread t, const Ring& ring, const in<T>& x, const val<i64>& leading,
                         const val<u32>& across, const val<u32>& along, const val<u32>& extent)
      : t_(t),
        pieces_(t, ring),
        across_(across),
        left_across_(t.let(extent - across)),
        leading_(leading),
        near_leading_(t.let(cast<u32>(min(leading, i64{distant})))),
        inner_(inner_of(t.let((address_of(x) & u64{15}) == u64{0}))),
        at_(t, address_of(x) + cast<u64>(first_piece(leading, along)) * u64{sizeof(T)}),
        shift_(t.let(cast<u32>(at_ & u64{15}) / u32{sizeof(T)})) {
    at_ = at_ & ~u64{15};
  }
  constexpr const inner_tiles& inner() const { return inner_; }

  // The elements of the operand from a tile's first one on.
  struct tile_rest {
    val<u32> along;         // where the tile begins along K
    val<u32> lines, width;  // lines that are left, and elements of each
    val<u32> numbers;       // elements of this thread's pieces that exist, if their line does
  };
  constexpr tile_rest rest(const val<u32>& along, const val<u32>& left) const {
    const val<u32>& width = Ring::along_k ? left : left_across_;
    return {along, Ring::along_k ? left_across_ : left, width,
            t_.let(min(width - min(width, pieces_.column), elements))};
  }

  // Loads the next Count pieces of a tile, after the First fetched before. `is_inner`: the tile is one of
  // inner_tiles. If a piece needs a vector that is not all inside the operand, bit FirstBit + number of
  // `unread` is set.
  template <std::uint32_t First, std::uint32_t Count, std::uint32_t FirstBit, class Vectors>
  constexpr void fetch(Vectors& to, const val<bool>& is_inner, const tile_rest& rest, var<u32>& unread) {
    const auto load_vector = [&](const val<u64>& address, std::uint32_t j, std::uint32_t v) {
      const val four = load(pointer_at<in<u32x4>>(t_, address)[v]);
      for (std::uint32_t w = 0; w < 4; ++w) to[8 * j + 4 * v + w] = four[w];
    };
    if (auto whole = t_.when(is_inner)) {
      const auto address = array_of<Count>([&](u32 j) { return next_piece(First + j); });
      for (std::uint32_t j = 0; j < Count; ++j) load_vector(address[j], j, 0);
      if (auto shifted = t_.when(shift_ != 0u))
        for (std::uint32_t j = 0; j < Count; ++j) load_vector(address[j], j, 1);
    }
    if (auto ragged = t_.otherwise()) {
      for (std::uint32_t w = 0; w < 8 * Count; ++w) to[w] = 0u;
      const val lines = t_.let(select(rest.numbers != 0u, rest.lines, 0u));
      const val needs_second = t_.let(shift_ + rest.numbers > elements);
      const val before = t_.let(elements_before(rest));
      for (std::uint32_t j = 0; j < Count; ++j) {
        const val address = next_piece(First + j);
        const val line = t_.let(pieces_.line + (First + j) * pieces::lines_apart);
        const val exists = t_.let(line < lines);
        // Elements from the first vector's first one to the operand's last one.
        const val after = t_.let(min(rest.lines - 1u - line, distant) * near_leading_ + rest.width -
                                 pieces_.column + shift_);
        const val first = t_.let(all_of(before + line * near_leading_ >= shift_, after >= elements));
        const val second = t_.let(all_of(needs_second, after >= distant));
        if (auto loads = t_.when(all_of(exists, first))) load_vector(address, j, 0);
        if (auto loads = t_.when(all_of(exists, second))) load_vector(address, j, 1);
        const val misses = t_.let(all_of(exists, any_of(!first, needs_second & !second)));
        unread = unread | select(misses, 1u << (FirstBit + First + j), 0u);
      }
    }
  }

  // Stores the pieces that fetch<First, Count> loaded. The code that waits for the loads has a body of its
  // own, so that ptxas does not mix it with the multiplications before it.
  template <std::uint32_t First, std::uint32_t Count, class Vectors>
  constexpr void put(const Vectors& from, const Ring& ring, const val<u32>& stage,
                     const tile_rest& rest) const {
    const auto store = [&](const auto& word) {
      for (std::uint32_t j = 0; j < Count; ++j) {
        const auto to = pieces_.place(ring.memory()[stage], First + j);
        const auto words = array_of<4>([&](u32 w) { return word(j, w); });
        dsl::place_of<ptx::access::inout, u32x4>(to.location()) =
            make_vec(words[0], words[1], words[2], words[3]);
      }
    };
    if (auto some = t_.when(rest.numbers != 0u)) {
      const auto piece = array_of<Count>([&](u32 j) { return shifted(from, 8 * j); });
      if (auto all = t_.when(rest.numbers == elements)) store([&](u32 j, u32 w) { return piece[j][w]; });
      if (auto cut = t_.otherwise()) {
        const auto mask = array_of<4>([&](u32 w) {
          const val numbers = t_.let(min(max(rest.numbers, 2 * w) - 2 * w, 2u));
          return t_.let(~(~0u << (numbers * 16u)));
        });
        store([&](u32 j, u32 w) { return t_.let(piece[j][w] & mask[w]); });
      }
    }
    if (auto none = t_.otherwise()) store([&](u32, u32) { return t_.let(0u); });
  }

  // Makes the pieces in `unread` element by element, after all pieces of the tile were put.
  template <std::uint32_t FirstBit>
  constexpr void mend(const Ring& ring, const val<u32>& stage, const tile_rest& rest,
                      const val<u32>& unread) const {
    var left(t_, bit_extract(unread, FirstBit, count));
    if (auto some = t_.when(left != 0u)) {
      for (auto piece : t_.loop()) {
        const val number = t_.let(ctz(left));
        const val address =
            t_.let(at_ - tile_bytes() + line_step() * cast<u64>(number) + cast<u64>(shift_ * u32{sizeof(T)}));
        const in from = pointer_at<in<T>>(t_, address);
        auto bits = array_of<elements>([&](u32) { return var(t_, 0u); });
        for (std::uint32_t e = 0; e < elements; ++e)
          if (auto exists = t_.when(rest.numbers > e)) bits[e] = cast<u32>(bit_cast<u16>(from[e]));
        const val line = t_.let(pieces_.line + number * pieces::lines_apart);
        const auto to = ring.memory()[stage][line][pieces_.column];
        const auto words = array_of<4>([&](u32 w) { return t_.let(bits[2 * w] | (bits[2 * w + 1] << 16)); });
        dsl::place_of<ptx::access::inout, u32x4>(to.location()) =
            make_vec(words[0], words[1], words[2], words[3]);
        left = left & (left - 1u);
        piece.break_if(left == 0u);
      }
    }
  }

 private:
  constexpr auto first_piece(const val<i64>& leading, const val<u32>& along) const {
    const val<u32>& line = Ring::along_k ? across_ : along;
    const val<u32>& column = Ring::along_k ? along : across_;
    return cast<i64>(line + pieces_.line) * leading + cast<i64>(column + pieces_.column);
  }
  // Bytes from a piece to the next one. Computed on every use: it is a shift of a kernel parameter.
  constexpr auto line_step() const { return cast<u64>(leading_ * i64{pieces::lines_apart * sizeof(T)}); }
  // Bytes from a tile to the next one. If lines are steps of K, the next tile's first piece follows this
  // tile's last one.
  constexpr auto tile_bytes() const {
    if constexpr (Ring::along_k)
      return u64{Ring::width * sizeof(T)};
    else
      return line_step() * u64{count};
  }
  // A piece's vectors begin and end less than `elements` elements from the piece. A tile keeps that distance
  // from the operand's ends if it neither begins at the first step of K nor ends at the last ones. This fails
  // if all steps are at one place (step_elements() is 0).
  constexpr inner_tiles inner_of(const val<bool>& begins_aligned) const {
    const val before = t_.let(across_elements(across_));
    const val after = t_.let(across_elements(left_across_ - min(left_across_, extent_of_tile)));
    const val first = t_.let(any_of(begins_aligned, before >= elements));
    const val last = t_.let(after >= elements);
    const val some =
        t_.let(all_of(left_across_ >= extent_of_tile, any_of(step_elements() != 0u, first & last)));
    return {first, t_.let(select(some, select(last, depth, depth + elements), never))};
  }
  // Returns the first vector of piece `number`, which must be the next one, and advances to the one after it.
  constexpr val<u64> next_piece(std::uint32_t number) {
    const val here = at_;
    if (number + 1 == count && Ring::along_k)
      at_ = here - line_step() * u64{count - 1} + tile_bytes();
    else
      at_ = here + line_step();
    return here;
  }
  // The distance of `count_across` rows of A (columns of B), in elements: from line to line, or in a line.
  // Saturates at `distant` rows, and for lines at `distant` elements per line.
  constexpr auto across_elements(const val<u32>& count_across) const {
    if constexpr (Ring::along_k)
      return min(count_across, distant) * near_leading_;
    else
      return min(count_across, distant);
  }
  // Four words of the eight from `first` on, after the shift.
  template <class Vectors>
  constexpr auto shifted(const Vectors& from, std::uint32_t first) const {
    const auto x = array_of<6>(
        [&](u32 w) { return t_.let(select((shift_ & 4u) != 0u, from[first + w + 2], from[first + w])); });
    const auto y = array_of<5>([&](u32 w) { return t_.let(select((shift_ & 2u) != 0u, x[w + 1], x[w])); });
    return array_of<4>(
        [&](u32 w) { return t_.let(funnel_shift_right(y[w], y[w + 1], (shift_ & 1u) * 16u)); });
  }
  // Elements from one step of K to the next, at most `distant`.
  constexpr val<u32> step_elements() const {
    if constexpr (Ring::along_k)
      return 1;
    else
      return near_leading_;
  }
  // Elements from the operand's first one to this thread's piece in the first line of a tile.
  constexpr auto elements_before(const tile_rest& rest) const {
    return across_elements(across_) + min(rest.along, distant) * step_elements() + pieces_.column;
  }
  thread t_;
  pieces pieces_;
  val<u32> across_, left_across_;
  val<i64> leading_;
  val<u32> near_leading_;
  inner_tiles inner_;
  var<u64> at_;  // address of the next piece's first vector
  val<u32> shift_;
};

}  // namespace kaio::ops
