#pragma once
// The tile computations of the backward kernels of multiply-adds, with 16 x 16 threads. Operands of any type
// are f32 in shared memory, `chunk` columns at a time.
//
//   products      scores += A B^T: a thread has every 16th row and every 16th column
//   accumulate    sums += W^T B:   a thread has tile / 16 neighbouring rows, and four columns of each chunk
//
// W, which is P or dS, is in shared memory too. The sum runs over its rows.

#include <kaio/dsl/dsl.hpp>
#include <kaio/dsl/tile.hpp>
#include <kaio/ops/attention/common/block.hpp>
#include <kaio/ops/shared/any_element.hpp>

#include <cstdint>

namespace kaio::ops {

struct attention_backward_simt_config {
  std::uint32_t depth =
      64;  // columns of a gradient that a block sums; other blocks sum the other parts of longer rows
  std::uint32_t tile = 64;  // queries, and keys

  static constexpr std::uint32_t chunk = 64, side = 16, threads = side * side;
  constexpr bool valid() const {
    return depth % chunk == 0 && (tile == 32 || tile == 64) && tile * depth <= 8192;
  }
  constexpr std::uint32_t parts(std::uint32_t columns) const { return (columns + depth - 1) / depth; }
};

constexpr attention_backward_simt_config attention_backward_simt_for(std::uint32_t depth) {
  if (depth <= 64) return {.depth = 64, .tile = 64};
  if (depth <= 128) return {.depth = 128, .tile = 64};
  return {.depth = 256, .tile = 32};
}

// The rows of one head of a tensor.
struct attention_head_rows {
  val<u64> address;
  val<i64> first, pitch;  // in elements
  val<u32> size;          // elements of a row

  template <class Strides>
  static constexpr attention_head_rows of(thread t, const Strides& strides, const attention_block& block,
                                          const val<u32>& head, const val<u32>& first_row,
                                          const val<u32>& size) {
    return {t.let(strides[&attention_strides::address]), head_offset(t, strides, block, head, first_row),
            t.let(strides[&attention_strides::row]), size};
  }
};

template <attention_backward_simt_config C>
class backward_tiles {
  static_assert(C.valid(), "kaio: the kernel of attention_backward does not support this tile shape");

 public:
  static constexpr std::uint32_t each = C.tile / C.side, count = each * each;  // scores of a thread
  static constexpr std::uint32_t chunks = C.depth / C.chunk, sums_count = each * chunks * 4;
  using scores = dsl::register_array<var<f32>, count>;
  using sums = dsl::register_array<var<f32>, sums_count>;

  constexpr backward_tiles(thread t, const val<u32>& type)
      : row(t.let(t.thread_rank() / C.side)),
        column(t.let(t.thread_rank() % C.side)),
        t_(t),
        type_(type),
        a_(t),
        b_(t),
        weights_(t) {}

  val<u32> row, column;  // of the thread

  static constexpr scores zero_scores(thread t) {
    return array_of<count>([&](u32) { return var(t, 0.0f); });
  }
  static constexpr sums zero_sums(thread t) {
    return array_of<sums_count>([&](u32) { return var(t, 0.0f); });
  }

  // s += A B^T, for rows of A from a_first on and of B from b_first on. Rows from the limits on are zero.
  constexpr void products(scores& s, const attention_head_rows& a, const val<u32>& a_first,
                          const val<u32>& a_limit, const attention_head_rows& b, const val<u32>& b_first,
                          const val<u32>& b_limit) const {
    for (auto first : t_.range(0u, a.size, C.chunk).no_unroll()) {
      t_.barrier();
      load(a_, a, a_first, a_limit, first);
      load(b_, b, b_first, b_limit, first);
      t_.barrier();
      for (auto d : t_.range(0u, t_.let(min(a.size - first, C.chunk)), 4u).no_unroll()) {
        const auto of_a = array_of<each>([&](u32 r) { return load_vec<4>(a_[row + C.side * r][d]); });
        const auto of_b = array_of<each>([&](u32 c) { return load_vec<4>(b_[column + C.side * c][d]); });
        for (u32 i = 0; i < count; ++i)
          for (u32 e = 0; e < 4; ++e) s[i] = fma(of_a[i / each][e], of_b[i % each][e], s[i]);
      }
    }
  }

  // W = values, queries x keys, or keys x queries if transposed. Call it after a barrier or a product.
  constexpr void put(const scores& values, bool transposed) const {
    for (u32 i = 0; i < count; ++i) {
      const val query = t_.let(row + C.side * (i / each)), key = t_.let(column + C.side * (i % each));
      if (transposed)
        weights_[key][query] = values[i];
      else
        weights_[query][key] = values[i];
    }
  }

  constexpr val<f32> weight(const val<u32>& of_row, const val<u32>& of_column) const {
    return t_.let(weights_[of_row][of_column]);
  }

  // sum += W^T B, for columns of B from first_column on. A weight of 0 adds nothing, whatever B has there.
  constexpr void accumulate(sums& sum, const attention_head_rows& b, const val<u32>& b_first,
                            const val<u32>& b_limit, const val<u32>& first_column) const {
    for (u32 c = 0; c < chunks; ++c) {
      const val first = t_.let(first_column + C.chunk * c);
      if (auto exists = t_.when(first < b.size)) {
        t_.barrier();
        load(b_, b, b_first, b_limit, first);
        t_.barrier();
        for (auto inner : t_.range(0u, C.tile).no_unroll()) {
          const val w = load_vec<each>(weights_[inner][row * each]);
          const val x = load_vec<4>(b_[inner][column * 4u]);
          for (u32 r = 0; r < each; ++r)
            for (u32 e = 0; e < 4; ++e) {
              auto& to = sum[(r * chunks + c) * 4 + e];
              to = select(w[r] == 0.0f, to, fma(w[r], x[e], to));
            }
        }
      }
    }
  }

  // Stores factor * sum to rows [first, limit) of memory, from column first_column on.
  constexpr void store(const sums& sum, const attention_head_rows& to, const val<u32>& first,
                       const val<u32>& limit, const val<u32>& first_column, const val<f32>& factor) const {
    with_any_element(t_, type_, [&]<class A>(A) {
      const auto memory = pointer_at<out<typename A::stored>>(t_, to.address).from(to.first);
      for (u32 r = 0; r < each; ++r) {
        const val line = t_.let(first + row * each + r);
        if (auto exists = t_.when(line < limit)) {
          const auto of_row = memory.from(cast<i64>(line) * to.pitch);
          for (u32 c = 0; c < chunks; ++c)
            for (u32 e = 0; e < 4; ++e) {
              const val at = t_.let(first_column + column * 4u + (C.chunk * c + e));
              if (auto has = t_.when(at < to.size))
                of_row[at] = A::write(t_, t_.let(sum[(r * chunks + c) * 4 + e] * factor));
            }
        }
      }
    });
  }

 private:
  using operand = shared_tile<f32, C.tile, C.chunk, dsl::padded<4>>;

  template <class First>
  constexpr void load(const operand& to, const attention_head_rows& from, const val<u32>& first_row,
                      const val<u32>& limit, const First& first_column) const {
    with_any_element(t_, type_, [&]<class A>(A) {
      const auto memory = pointer_at<in<typename A::stored>>(t_, from.address).from(from.first);
      for (auto i : t_.block_stride(C.tile * C.chunk)) {
        const val line = t_.let(i / C.chunk), column_of = t_.let(i % C.chunk);
        const val at = t_.let(column_of + first_column);
        var x(t_, 0.0f);
        if (auto exists = t_.when(all_of(first_row + line < limit, at < from.size)))
          x = A::read(memory[cast<i64>(first_row + line) * from.pitch + cast<i64>(at)]);
        to[line][column_of] = x;
      }
    });
  }

  thread t_;
  val<u32> type_;
  operand a_, b_;
  shared_tile<f32, C.tile, C.tile, dsl::padded<4>> weights_;
};

}  // namespace kaio::ops
