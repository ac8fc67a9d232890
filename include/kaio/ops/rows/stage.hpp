#pragma once
// A row in shared memory. Each thread copies the pieces that it will use, so that it waits for its own copies alone,
// and passes over the row as often as an operation needs:
//
//   auto stage = stage_row<T, Sm, Vectors>(t, problem[&my_problem::rows], problem[&my_problem::x]);
//   stage.each_piece(stage.address(), [&](const row_piece_here& p, auto& words) { ... });
//
// A piece has 16 bytes. Its elements depend on where rows begin:
//
//   Vectors     at multiples of 16 bytes, in whole pieces: neighbours. Piece i is that of lane i % lanes.
//   otherwise   anywhere: every lanes-th element, so that the lanes of a warp have neighbours.
//
//   bf16, 32 lanes, thread 0     Vectors: 0..7, 256..263, ...     otherwise: 0 32 64 ... 224, 256 288 ...
//
// Elements beyond the row's end are 0, or -infinity if asked for. If a row is longer than shared memory, its last
// pieces are far: each pass reads them again. stage_rows stages the rows of two tensors: a piece of the second is
// `staged` slots after that of the first, so the launch has twice the shared memory.

#include <kaio/dsl/async.hpp>
#include <kaio/dsl/cluster.hpp>
#include <kaio/dsl/dsl.hpp>
#include <kaio/ops/rows/division.hpp>
#include <kaio/ops/rows/words.hpp>

#include <cstddef>
#include <cstdint>
#include <type_traits>

namespace kaio::ops {

// A piece of a row, as the thread that has it sees it.
struct staged_piece {
  val<u32> slot;   // place in shared memory
  val<u32> first;  // number of its first element
};

template <dsl::scalar T, std::uint32_t Sm, bool Vectors, class Problem>
class row_stage {
 public:
  using words = row_words<T, Sm>;
  static constexpr u32 width = words::width;
  static constexpr u32 element_bytes = sizeof(T);

  // Finds the row of this thread, and copies its pieces. factors: the address of numbers of x's type, one for each
  // element of a row, that are copied too; 0: there are none. lowest: elements beyond the end are -infinity.
  // second: a tensor whose rows are staged too, or nullptr.
  template <class Tensor, class Second = std::nullptr_t>
  constexpr row_stage(thread t, const Problem& problem, const Tensor& x, const val<u64>& factors, bool lowest,
                      const Second& second = nullptr)
      : t_(t),
        memory_(t),
        problem_(problem),
        lowest_(lowest),
        factors_(t.let(factors)),
        stages_factors_(t.let(problem[&rows_problem::has_staged_factors] != 0u)),
        size_(t.let(problem[&rows_problem::size])),
        lanes_log_(t.let(problem[&rows_problem::lanes_log])),
        blocks_(t.let(problem[&rows_problem::blocks])),
        staged_(t.let(problem[&rows_problem::staged])),
        lanes_(t.let(val<u32>(1u) << lanes_log_)),
        rank_(t.let(t.thread_rank())),
        lane_(t.let(rank_ & (lanes_ - 1u))),
        block_(find_block()),
        row_(t.let(block_idx_x() / blocks_ * (val<u32>(row_threads) >> lanes_log_) + (rank_ >> lanes_log_))),
        exists_(t.let(row_ < problem[&rows_problem::rows])),
        index_(find_index()),
        begin_(find_begin()),
        pieces_(find_pieces()),
        address_(row_of(x, sizeof(T))),
        second_(second_of(second)) {
    if constexpr (Sm >= 90) {
      launch_dependents(t);
      grid_dependency_wait(t);
    }
    const val none = t.let(0u);
    copy(address_, none);
    if constexpr (!std::is_null_pointer_v<Second>) copy(second_, staged_);
    if constexpr (Vectors && has_copies) {
      if (auto also = t.when(stages_factors_)) {
        if constexpr (std::is_null_pointer_v<Second>) copy_factors();
      }
      cp_async_wait_all(t);
    }
  }

  constexpr const val<u32>& size() const { return size_; }
  constexpr const val<bool>& exists() const { return exists_; }
  constexpr const val<u32>& row() const { return row_; }
  constexpr const val<u32>& lane() const { return lane_; }      // of a block's threads for the row
  constexpr const val<u32>& lanes() const { return lanes_; }    // of a block, for a row
  constexpr const val<u32>& blocks() const { return blocks_; }  // of a cluster, for a row
  constexpr const val<u32>& block() const { return block_; }    // of these
  // The block's first element, and how many a row has there; a row beyond the last one has as many.
  constexpr const val<u32>& begin() const { return begin_; }
  constexpr val<u32> share() const {
    return t_.let(min(max(size_, begin_) - begin_, problem_[&rows_problem::share]));
  }
  constexpr const val<u64>& address() const { return address_; }

  // The address of this row of a tensor whose elements have `bytes` bytes.
  template <class Rows>
  constexpr val<u64> row_of(const Rows& tensor, u32 bytes) const {
    thread t = t_;
    var offset(t, cast<i64>(index_.head) * tensor[&row_strides::head]);
    if (auto deep = t.when(problem_[&rows_problem::is_flat] == 0u))
      offset = offset + cast<i64>(index_.batch) * tensor[&row_strides::batch] +
               cast<i64>(index_.token) * tensor[&row_strides::token];
    return t.let(tensor[&row_strides::address] + cast<u64>(offset) * u64{bytes});
  }

  // Calls f(piece, its words) for the pieces of this thread. Far pieces come from the row at `line`. f may `put`
  // other words.
  template <class F>
  constexpr void each_piece(const val<u64>& line, const F& f) {
    thread t = t_;
    each_slot([&](const staged_piece& p) {
      auto own = words::zeros(t);
      read(line, p, own);
      f(p, own);
    });
  }
  // Calls f(x) for the numbers of a part of the block's share, whichever thread has it: a piece of neighbours, or one
  // element (parts_of_block). After a barrier, if lanes of several warps have a row. The row at `line` as above.
  template <class F>
  constexpr void part(const val<u64>& line, const val<u32>& number, const F& f) {
    thread t = t_;
    const val lane = t.let(number & (lanes_ - 1u)), round = t.let(number >> lanes_log_);
    auto own = words::zeros(t);
    if constexpr (Vectors) {
      read(line, {t.let(rank_ - lane_ + lane + round * row_threads), t.let(begin_ + number * width)}, own);
      for (u32 i = 0; i < width; ++i) f(words::value(t, own, i));
    } else {
      using bits = typename words::bits;
      const dynamic_shared<bits> elements(t);
      const val slot = t.let(rank_ - lane_ + lane + round / width * row_threads);
      const val at = t.let(slot * width + round % width);
      if constexpr (has_far) {
        if (auto held = t.when(slot < staged_)) own[0] = cast<u32>(elements[at]);
        if (auto beyond = t.when(slot >= staged_))
          own[0] = cast<u32>(pointer_at<inout<bits>>(t, line)[begin_ + number]);
      } else {
        own[0] = cast<u32>(elements[at]);
      }
      f(words::value(t, own, 0));
    }
  }
  static constexpr u32 part_size = Vectors ? width : 1;  // elements of a part
  // Calls f(piece, its words, the second tensor's words) for the pieces of this thread.
  template <class F>
  constexpr void each_pair(const F& f) {
    thread t = t_;
    each_slot([&](const staged_piece& p) {
      auto own = words::zeros(t), other = words::zeros(t);
      const auto take_both = [&] {
        take(p.slot, own);
        const val slot = t.let(p.slot + staged_);
        take(slot, other);
      };
      if constexpr (has_far) {
        if (auto held = t.when(p.slot < staged_)) take_both();
        if (auto beyond = t.when(p.slot >= staged_)) {
          load(address_, p, own);
          load(second_, p, other);
          fill(p, own);
        }
      } else {
        take_both();
      }
      f(p, own, other);
    });
  }
  // Replaces a piece, unless it is far.
  template <class Words>
  constexpr void put(const staged_piece& p, const Words& from) {
    if (auto held = t_.when(!is_far(p))) give(p.slot, from);
  }
  constexpr val<bool> is_far(const staged_piece& p) const {
    return has_far ? t_.let(p.slot >= staged_) : t_.let(val<bool>(false));
  }

  // The factors of a piece's elements, which exist.
  template <class Words>
  constexpr void load_factors(const staged_piece& p, Words& to) {
    thread t = t_;
    if constexpr (Vectors && has_copies) {
      const val held = t.let(all_of(stages_factors_, !is_far(p)));
      if (auto staged = t.when(held)) take(t.let(p.slot + staged_), to);
      if (auto beyond = t.when(!held)) load(factors_, p, to);
    } else {
      load(factors_, p, to);
    }
  }

  // The elements of a piece in another row of this size and alignment; 0 beyond the end.
  template <class Words>
  constexpr void load(const val<u64>& row, const staged_piece& p, Words& to) {
    thread t = t_;
    if constexpr (Vectors)
      words::load(t, at(row, p.first), to);
    else
      words::gather(t, row, p.first, lanes_, size_, to);
  }
  template <class Words>
  constexpr void store(const val<u64>& row, const staged_piece& p, const Words& from) {
    thread t = t_;
    if constexpr (Vectors)
      words::store(t, at(row, p.first), from);
    else
      words::scatter(t, row, p.first, lanes_, size_, from);
  }
  // The number of element i of a piece, and whether it is in the row.
  constexpr val<u32> element(const staged_piece& p, u32 i) const {
    thread t = t_;
    return Vectors ? t.let(p.first + i) : t.let(p.first + lanes_ * i);
  }
  constexpr val<bool> is_inside(const staged_piece& p, u32 i) const {
    thread t = t_;
    if constexpr (Vectors)
      return t.let(val<bool>(true));
    else
      return t.let(element(p, i) < size_);
  }
  // x, which belongs to element i of a piece; 0 if that is not in the row.
  constexpr val<f32> or_zero(const staged_piece& p, u32 i, const val<f32>& x) const {
    if constexpr (Vectors)
      return x;
    else
      return t_.let(select(is_inside(p, i), x, 0.0f));
  }

 private:
  static constexpr bool has_copies = Sm >= 80;
  static constexpr bool has_far =
      Vectors || Sm < 80;  // otherwise a row that does not fit takes another kernel
  struct place {
    val<u32> head, token, batch;
  };

  constexpr val<u32> find_block() const {
    thread t = t_;
    if constexpr (Sm >= 90)
      return t.let(block_idx_x() & (blocks_ - 1u));
    else
      return t.let(val<u32>(0u));
  }
  constexpr place find_index() const {
    thread t = t_;
    var head(t, row_), token(t, 0u), batch(t, 0u);
    if (auto deep = t.when(problem_[&rows_problem::is_flat] == 0u)) {
      const quotient of_heads = divide(t, row_, problem_[&rows_problem::heads]);
      const quotient of_tokens = divide(t, of_heads.whole, problem_[&rows_problem::tokens]);
      head = of_heads.rest;
      token = of_tokens.rest;
      batch = of_tokens.whole;
    }
    return {t.let(head), t.let(token), t.let(batch)};
  }
  // The first element of the block's share, and this thread's slots: for Vectors the pieces of the share, else its
  // rounds of `width` elements of each lane.
  constexpr val<u32> find_begin() const { return t_.let(block_ * problem_[&rows_problem::share]); }
  constexpr val<u32> find_pieces() const {
    thread t = t_;
    const val left = t.let(max(size_, begin_) - begin_);
    const val own = t.let(select(exists_, min(left, problem_[&rows_problem::share]), 0u));
    if constexpr (Vectors)
      return t.let(own / width);
    else
      return t.let((own + (lanes_ * width - 1u)) / width >> lanes_log_);
  }
  constexpr val<u64> at(const val<u64>& row, const val<u32>& element) const {
    return t_.let(row + cast<u64>(element) * u64{sizeof(T)});
  }
  template <class F>
  constexpr void each_slot(const F& f) {
    thread t = t_;
    var slot(t, rank_);
    const val start = Vectors ? t.let(lane_ + 0u) : t.let(val<u32>(0u));
    const val step = Vectors ? t.let(lanes_ + 0u) : t.let(val<u32>(1u));
    for (auto i : t.range(start, pieces_, step).no_unroll()) {
      const val first =
          Vectors ? t.let(begin_ + i * width) : t.let(begin_ + lane_ + (i * width << lanes_log_));
      f(staged_piece{t.let(slot + 0u), first});
      slot += row_threads;
    }
  }
  // A piece from its slot, or, if it is far, from the row at `line`.
  template <class Words>
  constexpr void read(const val<u64>& line, const staged_piece& p, Words& to) {
    thread t = t_;
    if constexpr (has_far) {
      if (auto held = t.when(p.slot < staged_)) take(p.slot, to);
      if (auto beyond = t.when(p.slot >= staged_)) {
        load(line, p, to);
        fill(p, to);
      }
    } else {
      take(p.slot, to);
    }
  }
  template <class Words>
  constexpr void take(const val<u32>& slot, Words& to) {
    const val four = memory_[slot];
    for (u32 i = 0; i < 4; ++i) to[i] = four[i];
  }
  template <class Words>
  constexpr void give(const val<u32>& slot, const Words& from) {
    memory_[slot] = make_vec(from[0], from[1], from[2], from[3]);
  }
  template <class Second>
  constexpr val<u64> second_of(const Second& second) const {
    if constexpr (std::is_null_pointer_v<Second>)
      return address_;
    else
      return row_of(second, sizeof(T));
  }
  // Copies the near pieces of a row to their slots, plus `shift`.
  constexpr void copy(const val<u64>& address, const val<u32>& shift) {
    thread t = t_;
    each_slot([&](const staged_piece& p) {
      if (auto held = t.when(p.slot < staged_)) {
        if constexpr (Vectors && has_copies) {
          cp_async<16>(memory_[p.slot + shift], pointer_at<inout<u32x4>>(t, at(address, p.first))[0]);
        } else {
          auto own = words::zeros(t);
          load(address, p, own);
          fill(p, own);
          give(t.let(p.slot + shift), own);
        }
      }
    });
  }
  constexpr void copy_factors() {
    thread t = t_;
    each_slot([&](const staged_piece& p) {
      if (auto held = t.when(p.slot < staged_))
        cp_async<16>(memory_[p.slot + staged_], pointer_at<inout<u32x4>>(t, at(factors_, p.first))[0],
                     cache::ca);
    });
  }
  // Elements beyond the end become -infinity.
  template <class Words>
  constexpr void fill(const staged_piece& p, Words& bits) {
    if constexpr (!Vectors)
      if (lowest_) {
        constexpr u32 of_word = 4 / sizeof(T);
        const u32 lowest = std::is_same_v<T, f32> ? 0xff800000u : std::is_same_v<T, f16> ? 0xfc00u : 0xff80u;
        for (u32 i = 0; i < width; ++i) {
          const u32 mask = lowest << 16 * (i % of_word);
          bits[i / of_word] = select(is_inside(p, i), bits[i / of_word] | 0u, bits[i / of_word] | mask);
        }
      }
  }

  thread t_;
  dynamic_shared<u32x4> memory_;
  Problem problem_;
  bool lowest_;
  val<u64> factors_;
  val<bool> stages_factors_;
  val<u32> size_, lanes_log_, blocks_, staged_, lanes_, rank_, lane_, block_, row_;
  val<bool> exists_;
  place index_;
  val<u32> begin_, pieces_;
  val<u64> address_, second_;
};

// The end of a kernel's name.
template <bool Vectors>
inline constexpr auto row_kernel_suffix = [] {
  if constexpr (Vectors)
    return dsl::fixed_string("_vectors");
  else
    return dsl::fixed_string("_elements");
}();

template <dsl::scalar T, std::uint32_t Sm, bool Vectors, class Problem, class Tensor>
constexpr auto stage_row(thread t, const Problem& problem, const Tensor& x, const val<u64>& factors) {
  return row_stage<T, Sm, Vectors, Problem>(t, problem, x, factors, false);
}
template <dsl::scalar T, std::uint32_t Sm, bool Vectors, class Problem, class Tensor>
constexpr auto stage_row(thread t, const Problem& problem, const Tensor& x, bool lowest = false) {
  return row_stage<T, Sm, Vectors, Problem>(t, problem, x, t.let(val<u64>(u64{0})), lowest);
}

template <dsl::scalar T, std::uint32_t Sm, bool Vectors, class Problem, class Tensor, class Second>
constexpr auto stage_rows(thread t, const Problem& problem, const Tensor& x, const Second& second) {
  return row_stage<T, Sm, Vectors, Problem>(t, problem, x, t.let(val<u64>(u64{0})), false, second);
}

}  // namespace kaio::ops
