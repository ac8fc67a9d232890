#pragma once
// A staged row that begins at any element (stage.hpp). Shared memory holds it at the distance from a multiple of 16 bytes
// that it has in global memory, so whole pieces are copied in both directions, whoever uses them:
//
//   global memory        ..|.......abcdefgh|ijklmnop|qrs.....|..      | multiples of 16 bytes; 8 elements of bf16
//   shared memory          |.......a|bcdefgh..                        pieces by one copy, a and q r s one by one
//
// Rows of a block that follow each other without gaps are copied as one, by all threads of the block.
//
// A thread uses every lanes-th element, so that lanes have neighbours: 8 at once, then the rest one by one. Other
// elements do not exist for it, and no loop asks where the row ends.
//
//   32 lanes, thread 0     elements 0 32 64 ... 224, 256 288 ... 480 | 512 | 544 | ...
//
// Results replace elements in shared memory (`emit`) until `flush` writes them.

#include <kaio/dsl/async.hpp>
#include <kaio/dsl/warp.hpp>
#include <kaio/ops/rows/piece.hpp>
#include <kaio/ops/rows/place.hpp>
#include <kaio/ops/rows/words.hpp>

#include <bit>
#include <cstddef>
#include <cstdint>
#include <type_traits>

namespace kaio::ops {

template <dsl::scalar T, std::uint32_t Sm, class Problem>
class element_stage : public row_place<Sm, Problem> {
  using place = row_place<Sm, Problem>;
  static constexpr u32 at_once = 8;
  using bits = typename single_words<T, Sm, 1>::bits;

 public:
  static constexpr u32 element_bytes = sizeof(T);

  // See stage_row and stage_rows.
  template <class Tensor, class Second = std::nullptr_t>
  constexpr element_stage(thread t, const Problem& problem, const Tensor& x, const val<u64>& factors,
                          const Second& second = nullptr)
      : place(t, problem),
        pieces_(t),
        elements_(t),
        factors_(t.let(factors)),
        number_(t.let(rank_ >> lanes_log_)),
        own_(this->own_share()),
        near_(find_near()),
        address_(place::row_of(x, sizeof(T))),
        second_(second_of(second)),
        is_dense_(t.let(problem[&rows_problem::is_dense] != 0u)),
        slot_(slot_of(address_)),
        to_second_(t.let(staged_ * width + slot_of(second_) - slot_)) {
    start_row<Sm>(t);
    copy(span_of(address_, slot_));
    if constexpr (!std::is_null_pointer_v<Second>) copy(span_of(second_, t.let(slot_ + to_second_)));
    if constexpr (has_copies) cp_async_wait_all(t);
    meet();
  }

  constexpr const val<u64>& address() const { return address_; }

  template <class F>
  constexpr void each_piece(const val<u64>& line, const F& f) {
    each_slot([&](const auto& p) {
      using words = words_of<decltype(p)>;
      auto own = words::zeros(t_);
      const val none = t_.let(0u);
      read(line, p, none, own);
      f(p, own);
    });
  }
  template <class F>
  constexpr void each_with_factors(const val<u64>& line, const F& f) {
    each_piece(line, [&](const auto& p, auto& own) {
      using words = words_of<decltype(p)>;
      auto factors = words::zeros(t_);
      if (auto given = t_.when(factors_ != u64{0})) load(factors_, p, factors);
      f(p, own, factors);
    });
  }
  template <class F>
  constexpr void each_pair(const F& f) {
    each_slot([&](const auto& p) {
      using words = words_of<decltype(p)>;
      auto own = words::zeros(t_), other = words::zeros(t_);
      const val none = t_.let(0u);
      read(address_, p, none, own);
      read(second_, p, to_second_, other);
      f(p, own, other);
    });
  }
  // Calls f(x) for an element of the block's share, whichever thread has it. After a barrier, if lanes of several warps
  // have a row.
  template <class F>
  constexpr void element_of_share(const val<u64>& line, const val<u32>& number, const F& f) {
    thread t = t_;
    using words = single_words<T, Sm, 1>;
    auto own = words::zeros(t);
    const val none = t.let(0u);
    read(line, piece_of<words>{{t.let(slot_ + number), t.let(begin_ + number)}}, none, own);
    f(words::value(t, own, 0));
  }

  template <class Piece, class Words>
  constexpr void put(const Piece& p, const Words& from) {
    if (auto held = t_.when(!is_far(p)))
      for (u32 i = 0; i < words_of<Piece>::width; ++i) elements_[p.slot + lanes_ * i] = from[i];
  }
  template <class Piece, class Words>
  constexpr void emit(const val<u64>& row, const Piece& p, const Words& from) {
    put(p, from);
    if constexpr (has_far)
      if (auto beyond = t_.when(is_far(p))) {
        const auto memory = pointer_at<out<bits>>(t_, row);
        for (u32 i = 0; i < words_of<Piece>::width; ++i) memory[element(p, i)] = from[i];
      }
  }
  template <class Piece, class Words>
  constexpr void keep(const val<u64>& row, const val<bool>&, const Piece& p, const Words& from) {
    emit(row, p, from);
  }
  constexpr void flush(const val<u64>& row) {
    thread t = t_;
    meet();
    const span all = span_of(row, slot_);
    const val is_alike = t.let(phase_of(all.line) == all.slot % width);
    var head(t, all.count), single(t, all.count);  // without whole pieces
    if (auto alike = t.when(is_alike)) {
      const division parts = divide(all);
      const val to = t.let(all.line + cast<u64>(parts.head) * u64{sizeof(T)});
      const val from = t.let((all.slot + parts.head) / width);
      const auto memory = pointer_at<out<u32x4>>(t, to);
      for (auto i : t.range(all.lane, parts.whole, all.lanes).no_unroll()) memory[i] = pieces_[from + i];
      head = parts.head;
      single = parts.single;
    }
    const auto memory = pointer_at<out<bits>>(t, all.line);
    const val first = t.let(head), last = t.let(single);
    each_single(all, first, last, [&](const val<u32>& at) { memory[at] = elements_[all.slot + at]; });
    meet();
  }
  template <class Piece>
  constexpr val<bool> is_far(const Piece& p) const {
    return has_far ? t_.let(p.first - begin_ >= near_) : t_.let(val<bool>(false));
  }

  template <class Piece, class Words>
  constexpr void load(const val<u64>& row, const Piece& p, Words& to) const {
    thread t = t_;
    const val first = t.let(row + cast<u64>(p.first) * u64{sizeof(T)});
    const val step = t.let(lanes_ * u32{sizeof(T)});
    for (u32 i = 0; i < words_of<Piece>::width; ++i)
      to[i] = pointer_at<inout<bits>>(t, t.let(first + cast<u64>(step) * u64{i}))[0];
  }
  template <class Piece>
  constexpr val<u32> element(const Piece& p, u32 i) const {
    return t_.let(p.first + lanes_ * i);
  }

 private:
  static constexpr u32 width = piece_bytes / sizeof(T);
  static constexpr bool has_copies = Sm >= 80;
  static constexpr bool has_far = Sm < 80;  // otherwise a row that does not fit takes another kernel
  using place::rank_, place::lane_, place::row_, place::begin_;
  using place::t_, place::problem_, place::size_, place::staged_, place::lanes_, place::lanes_log_;

  // Elements that are neighbours in global memory, from `line` on, and in shared memory, from `slot` on; and the threads
  // that copy them: those of a row, or the block's if its rows follow each other without gaps.
  struct span {
    val<u64> line;
    val<u32> slot, count, lane, lanes;
  };
  constexpr span span_of(const val<u64>& row, const val<u32>& slot) const {
    thread t = t_;
    const val before = t.let(number_ * size_);  // elements of the block's rows before this one
    const val rows = t.let(min(problem_[&rows_problem::rows] - (row_ - number_), rows_of_block()));
    const val line = t.let(row + cast<u64>(begin_) * u64{sizeof(T)});
    return {t.let(select(is_dense_, line - cast<u64>(before) * u64{sizeof(T)}, line)),
            t.let(select(is_dense_, slot - before, slot)), t.let(select(is_dense_, rows * size_, near_)),
            t.let(select(is_dense_, rank_, lane_)), t.let(select(is_dense_, row_threads, lanes_))};
  }
  constexpr val<u32> slot_of(const val<u64>& row) const {
    thread t = t_;
    const val phase = phase_of(t.let(row + cast<u64>(begin_) * u64{sizeof(T)}));
    const val before = t.let(number_ * size_);
    const val dense = t.let(before + (phase - before) % width);
    return t.let(select(is_dense_, dense, number_ * pitch() * width + phase));
  }
  // Elements before the first whole piece, whole pieces, and elements that are in none.
  struct division {
    val<u32> head, whole, single;
  };
  constexpr division divide(const span& all) const {
    thread t = t_;
    const val head = t.let(min(all.count, (width - all.slot) % width));
    const val whole = t.let((all.count - head) / width);
    return {head, whole, t.let(all.count - whole * width)};
  }
  // Calls f(number) for this thread's elements before and after the whole pieces.
  template <class F>
  constexpr void each_single(const span& all, const val<u32>& head, const val<u32>& single,
                             const F& f) const {
    thread t = t_;
    for (auto i : t.range(all.lane, single, all.lanes).no_unroll())
      f(t.let(select(i < head, i, all.count - single + i)));
  }

  constexpr val<u32> rows_of_block() const { return t_.let(val<u32>(row_threads) >> lanes_log_); }
  // Pieces of a row in shared memory: one more than it has, for it may begin within one.
  constexpr val<u32> pitch() const {
    return t_.let(staged_ << lanes_log_ >> u32{std::countr_zero(row_threads)});
  }
  constexpr val<u32> room() const { return t_.let((pitch() - 1u) * width); }  // elements of a row
  constexpr val<u32> find_near() const {
    thread t = t_;
    if constexpr (has_far) {
      const val rounds = t.let(lanes_ * at_once);
      return t.let(select(own_ <= room(), own_, room() & ~(rounds - 1u)));
    } else {
      return own_;
    }
  }
  constexpr val<u32> phase_of(const val<u64>& line) const {
    return t_.let(cast<u32>(line) % piece_bytes / u32{sizeof(T)});
  }
  template <class Second>
  constexpr val<u64> second_of(const Second& second) const {
    if constexpr (std::is_null_pointer_v<Second>)
      return address_;
    else
      return place::row_of(second, sizeof(T));
  }

  template <class F>
  constexpr void each_slot(const F& f) const {
    thread t = t_;
    const val step = t.let(lanes_ * at_once);
    const val full = t.let(own_ & ~(step - 1u));
    const auto call = [&]<u32 N>(const val<u32>& number) {
      f(piece_of<single_words<T, Sm, N>>{{t.let(slot_ + number), t.let(begin_ + number)}});
    };
    for (auto i : t.range(lane_, full, step).no_unroll()) call.template operator()<at_once>(t.let(i + 0u));
    for (auto i : t.range(t.let(full + lane_), own_, lanes_).no_unroll())
      call.template operator()<1>(t.let(i + 0u));
  }
  // A piece at `distance` from its slot, or, if it is far, from the row at `line`.
  template <class Piece, class Words>
  constexpr void read(const val<u64>& line, const Piece& p, const val<u32>& distance, Words& to) const {
    const auto take = [&] {
      const val slot = t_.let(p.slot + distance);
      for (u32 i = 0; i < words_of<Piece>::width; ++i) to[i] = elements_[slot + lanes_ * i];
    };
    if constexpr (has_far) {
      if (auto held = t_.when(!is_far(p))) take();
      if (auto beyond = t_.when(is_far(p))) load(line, p, to);
    } else {
      take();
    }
  }
  constexpr void copy(const span& all) {
    thread t = t_;
    const division parts = divide(all);
    const val from = t.let(all.line + cast<u64>(parts.head) * u64{sizeof(T)});
    const auto whole = pointer_at<inout<u32x4>>(t, from);
    const val to = t.let((all.slot + parts.head) / width);
    for (auto i : t.range(all.lane, parts.whole, all.lanes).no_unroll()) {
      if constexpr (has_copies)
        cp_async<16>(pieces_[to + i], whole[i]);
      else
        pieces_[to + i] = whole[i];
    }
    const auto memory = pointer_at<inout<bits>>(t, all.line);
    each_single(all, parts.head, parts.single,
                [&](const val<u32>& at) { elements_[all.slot + at] = memory[at]; });
  }
  // The threads of the row see what all of them have written to shared memory.
  constexpr void meet() const {
    thread t = t_;
    if (auto several = t.when(any_of(lanes_ > 32u, is_dense_))) t.barrier();
    if (auto one = t.otherwise()) sync_warp(t);
  }

  dynamic_shared<u32x4> pieces_;
  dynamic_shared<bits> elements_;
  val<u64> factors_;
  val<u32> number_, own_, near_;  // of the row in its block; of its elements here, and in shared memory
  val<u64> address_, second_;
  val<bool> is_dense_;
  val<u32> slot_, to_second_;  // of the row's first element
};

}  // namespace kaio::ops
