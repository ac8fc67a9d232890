#pragma once
// Copies of an operand's tile to shared memory: asynchronous, by loads of 16 bytes, element by element from
// memory or a function, or by shifted vectors (shifted_copy.hpp). The threads share the 16-byte pieces of a
// tile's lines evenly. Elements outside the operand become zero.

#include <kaio/ops/matmul/mma_sync/ring.hpp>
#include <kaio/ops/matmul/mma_sync/source.hpp>

#include <cstdint>

namespace kaio::ops {

// The elements of the operand from a tile's first one on, along M (N) and along K.
struct operand_rest {
  val<u32> across, along;
};

// The pieces of a thread, `Bytes` each. Every tile has `count` of them, `lines_apart` lines from each other.
template <class Ring, scalar T, std::uint32_t Threads, std::uint32_t Bytes = 16>
struct tile_pieces {
  static constexpr std::uint32_t elements = Bytes / sizeof(T);
  static constexpr std::uint32_t of_line = Ring::width / elements;
  static constexpr std::uint32_t lines_apart = Threads / of_line;
  static constexpr std::uint32_t count = Ring::lines / lines_apart;
  // A swizzle repeats every 8 lines: only `places` pieces need addresses of their own, others are multiples
  // of 8 lines away.
  static constexpr std::uint32_t places =
      count == 1 || lines_apart >= 8 || !Ring::tiles::layout::is_swizzled ? 1 : 8 / lines_apart;
  static constexpr std::uint32_t place_lines = places * lines_apart;
  static_assert(
      Threads % of_line == 0 && Ring::lines % place_lines == 0 &&
          (count == places || place_lines % 8 == 0 || !Ring::tiles::layout::is_swizzled),
      "kaio: the threads of a block share the pieces of a tile evenly, of a swizzled one in steps of 8 lines");

  val<u32> line, column;  // place of the first piece
  dsl::register_array<typename Ring::tiles::lane_type, places> first;

  constexpr tile_pieces(thread t, const Ring& ring)
      : line(t.let(t.thread_rank() / of_line)),
        column(t.let(t.thread_rank() % of_line * elements)),
        first(array_of<places>(
            [&](u32 i) { return ring.memory().lane(t.let(line + i * lines_apart), column); })) {}

  // The place of piece `j` in a tile.
  template <class Tile>
  constexpr auto place(const Tile& tile, std::uint32_t j) const {
    return tile.at(first[j % places], j / places * place_lines);
  }
};

// Copies by cp.async of `Bytes`.
template <class Ring, scalar T, std::uint32_t Threads, std::uint32_t Bytes = 16>
class async_copy {
  using pieces = tile_pieces<Ring, T, Threads, Bytes>;

 public:
  // `x`: the batch's first element; `leading`: its leading dimension. The first tile begins at `across` along
  // M (N) and at `along` along K.
  template <class Leading>
  constexpr async_copy(thread t, const Ring& ring, const in<T>& x, const Leading& leading,
                       const val<u32>& across, const val<u32>& along)
      : t_(t),
        pieces_(t, ring),
        leading_(t.let(leading)),
        piece_step_(t.let(leading_ * pieces::lines_apart)),
        tile_step_(step_of_tile(t, leading_)),
        from_(x.from(t.let(cast<i64>(pieces_.line + (Ring::along_k ? across : along)) * leading_ +
                           cast<i64>(pieces_.column + (Ring::along_k ? along : across))))),
        walked_(t, i64{0}) {}

  // Copies the next tile into a stage. Ragged: part of it is outside the operand.
  template <bool Ragged>
  constexpr void copy(const Ring& ring, const val<u32>& stage, const operand_rest& rest) {
    copy_from<Ragged, 0>(ring, from_.from(walked_), stage, rest);
  }
  constexpr void advance() { walked_ += tile_step_; }

 private:
  static constexpr val<i64> step_of_tile(thread t, const val<i64>& leading) {
    if constexpr (Ring::along_k)
      return t.let(i64{Ring::width});
    else
      return t.let(leading * Ring::lines);
  }

  template <bool Ragged, std::uint32_t J>
  constexpr void copy_from(const Ring& ring, const in<T>& from, const val<u32>& stage,
                           const operand_rest& rest) {
    const auto to = pieces_.place(ring.memory()[stage], J);
    if constexpr (!Ragged) {
      cp_async<Bytes>(to, from[0]);
    } else {
      const val<u32>& lines_left = Ring::along_k ? rest.across : rest.along;
      const val<u32>& width_left = Ring::along_k ? rest.along : rest.across;
      const val numbers = t_.let(min(width_left - min(width_left, pieces_.column), pieces::elements));
      const val exists = t_.let(pieces_.line + J * pieces::lines_apart < lines_left);
      cp_async<Bytes>(to, from[0], t_.let(select(exists, numbers * sizeof(T), 0u)));
    }
    if constexpr (J + 1 < pieces::count) copy_from<Ragged, J + 1>(ring, from.from(piece_step_), stage, rest);
  }

  thread t_;
  pieces pieces_;
  val<i64> leading_, piece_step_, tile_step_;
  in<T> from_;
  var<i64> walked_;
};

// Copies through registers: the fetch functions load a tile's pieces, put() stores them. Ragged: part of the
// tile is outside the operand, and is not read.
template <class Ring, scalar T, std::uint32_t Threads>
class staged_copy {
  using pieces = tile_pieces<Ring, T, Threads>;
  static constexpr std::uint32_t per_word = 4 / sizeof(T);

 public:
  constexpr staged_copy(thread t, const Ring& ring)
      : t_(t), pieces_(t, ring), words_(array_of<4 * pieces::count>([&](u32) { return var(t, 0u); })) {}

  // Loads whole pieces from memory. `x`: the tile's first element; `leading`: elements from line to line.
  template <bool Ragged>
  constexpr void fetch_vectors(const in<T>& x, const val<i64>& leading, const operand_rest& rest) {
    const val<u32>& lines_left = Ring::along_k ? rest.across : rest.along;
    const val<u32>& width_left = Ring::along_k ? rest.along : rest.across;
    for (std::uint32_t j = 0; j < pieces::count; ++j) {
      const val line = t_.let(pieces_.line + j * pieces::lines_apart);
      const auto fetch = [&] {
        const in from = x.from(cast<i64>(line) * leading + cast<i64>(pieces_.column));
        const val four = load(in<u32x4>{{from.trace, from.base, from.scope, from.offset}}[0]);
        for (std::uint32_t w = 0; w < 4; ++w) words_[4 * j + w] = four[w];
      };
      if constexpr (Ragged) {
        for (std::uint32_t w = 0; w < 4; ++w) words_[4 * j + w] = 0u;
        if (auto exists = t_.when(all_of(line < lines_left, pieces_.column < width_left))) fetch();
      } else {
        fetch();
      }
    }
  }

  // Makes `Width` elements along K at a time by f(across, along) -> register_array<val<T>, Width>, for a
  // place in the tile.
  template <bool Ragged, std::uint32_t Width, class F>
  constexpr void fetch_elements(const F& f, const operand_rest& rest) {
    static_assert(Width == 1 || Ring::along_k);
    for (std::uint32_t j = 0; j < pieces::count; ++j) {
      const val line = t_.let(pieces_.line + j * pieces::lines_apart);
      if constexpr (Ragged)
        for (std::uint32_t w = 0; w < 4; ++w) words_[4 * j + w] = 0u;
      for (std::uint32_t first = 0; first < pieces::elements; first += Width) {
        const val column = t_.let(pieces_.column + first);
        const val<u32>& across = Ring::along_k ? line : column;
        const val<u32>& along = Ring::along_k ? column : line;
        if constexpr (Ragged) {
          if (auto exists = t_.when(all_of(across < rest.across, along < rest.along)))
            take<Ragged, Width>(f(across, along), j, first, along, rest.along);
        } else {
          take<Ragged, Width>(f(across, along), j, first, along, rest.along);
        }
      }
    }
  }

  constexpr void put(const Ring& ring, const val<u32>& stage) const {
    for (std::uint32_t j = 0; j < pieces::count; ++j) {
      const auto to = pieces_.place(ring.memory()[stage], j);
      dsl::place_of<ptx::access::inout, u32x4>(to.location()) =
          make_vec(words_[4 * j], words_[4 * j + 1], words_[4 * j + 2], words_[4 * j + 3]);
    }
  }

 private:
  // Packs elements `first` to first + Width - 1 of piece j; those from `along_left` on become zero.
  template <bool Ragged, std::uint32_t Width, class Values>
  constexpr void take(const Values& values, std::uint32_t j, std::uint32_t first, const val<u32>& along,
                      const val<u32>& along_left) {
    for (std::uint32_t i = 0; i < Width; ++i) {
      const std::uint32_t element = first + i;
      const val bits = Ragged && i != 0 ? t_.let(select(along + i < along_left, bits_of(values[i]), 0u))
                                        : bits_of(values[i]);
      var<u32>& word = words_[4 * j + element / per_word];
      if (element % per_word == 0)
        word = bits;
      else
        word = word | (bits << (element % per_word * 8 * sizeof(T)));
    }
  }

  static constexpr val<u32> bits_of(const val<T>& x) {
    if constexpr (sizeof(T) == 4)
      return bit_cast<u32>(x);
    else if constexpr (sizeof(T) == 2)
      return cast<u32>(bit_cast<u16>(x));
    else
      return cast<u32>(bit_cast<u8>(x));
  }

  thread t_;
  pieces pieces_;
  dsl::register_array<var<u32>, 4 * pieces::count> words_;
};

}  // namespace kaio::ops
