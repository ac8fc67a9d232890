#pragma once
// A staged row that begins at any element (stage.hpp). Shared memory holds it at the distance from a multiple of 16 bytes
// that it has in global memory, so whole pieces are copied in both directions, whoever uses them:
//
//   global memory        ..|.......abcdefgh|ijklmnop|qrs.....|..      | multiples of 16 bytes; 8 elements of bf16
//   shared memory          |.......a|bcdefgh..                        pieces by one copy, a and q r s one by one
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
  static constexpr u32 part_size = 1;

  // See stage_row and stage_rows.
  template <class Tensor, class Second = std::nullptr_t>
  constexpr element_stage(thread t, const Problem& problem, const Tensor& x, const val<u64>& factors,
                          const Second& second = nullptr)
      : place(t, problem),
        pieces_(t),
        elements_(t),
        factors_(t.let(factors)),
        first_piece_(t.let((rank_ >> lanes_log_) * pitch())),
        own_(this->own_share()),
        near_(find_near()),
        address_(place::row_of(x, sizeof(T))),
        second_(second_of(second)),
        phase_(phase_of(address_)),
        begin_of_row_(t.let(first_piece_ * width + phase_)),
        to_second_(t.let(staged_ * width + phase_of(second_) - phase_)) {
    start_row<Sm>(t);
    const val none = t.let(0u);
    copy(address_, none);
    if constexpr (!std::is_null_pointer_v<Second>) copy(second_, staged_);
    if constexpr (has_copies) cp_async_wait_all(t);
    meet();
  }

  constexpr const val<u64>& address() const { return address_; }

  constexpr val<f32> first_number() const {
    thread t = t_;
    var result(t, 0.0f);
    if (auto has = t.when(lane_ < own_)) {
      using words = single_words<T, Sm, 1>;
      auto own = words::zeros(t);
      own[0] = elements_[begin_of_row_ + lane_];
      const val first = words::value(t, own, 0);
      result = first;
    }
    return t.let(result);
  }

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
  template <class F>
  constexpr void part(const val<u64>& line, const val<u32>& number, const F& f) {
    thread t = t_;
    using words = single_words<T, Sm, 1>;
    auto own = words::zeros(t);
    const val none = t.let(0u);
    read(line, piece_of<words>{{t.let(begin_of_row_ + number), t.let(begin_ + number)}}, none, own);
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
    const val line = begin_at(row), phase = phase_of(row);
    const val is_alike = t.let(phase == phase_);
    var head(t, near_), single(t, near_);  // without whole pieces
    if (auto alike = t.when(is_alike)) {
      const division parts = divide_near(phase);
      const val to = t.let(line + cast<u64>(parts.head) * u64{sizeof(T)});
      const val from = first_whole(phase, parts);
      const auto memory = pointer_at<out<u32x4>>(t, to);
      for (auto i : t.range(lane_, parts.whole, lanes_).no_unroll()) memory[i] = pieces_[from + i];
      head = parts.head;
      single = parts.single;
    }
    const auto memory = pointer_at<out<bits>>(t, line);
    each_single(t.let(head), t.let(single),
                [&](const val<u32>& at) { memory[at] = elements_[begin_of_row_ + at]; });
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
  template <class Piece, class Words>
  constexpr void load_factors(const Piece& p, Words& to) const {
    load(factors_, p, to);
  }
  template <class Piece>
  constexpr val<u32> element(const Piece& p, u32 i) const {
    return t_.let(p.first + lanes_ * i);
  }

 private:
  static constexpr u32 width = piece_bytes / sizeof(T);
  static constexpr bool has_copies = Sm >= 80;
  static constexpr bool has_far = Sm < 80;  // otherwise a row that does not fit takes another kernel
  using place::t_, place::staged_, place::lanes_, place::lanes_log_, place::rank_, place::lane_,
      place::begin_;

  // The near elements of a row: `head`, then `whole` pieces, then the rest; `single` are in no whole piece.
  struct division {
    val<u32> head, whole, single;
  };
  constexpr division divide_near(const val<u32>& phase) const {
    thread t = t_;
    const val head = t.let(min(near_, (width - phase) & (width - 1u)));
    const val whole = t.let((near_ - head) / width);
    return {head, whole, t.let(near_ - whole * width)};
  }
  // The place of the first whole piece in shared memory.
  constexpr val<u32> first_whole(const val<u32>& phase, const division& parts) const {
    return t_.let(first_piece_ + (phase + parts.head) / width);
  }
  // Calls f(number) for this lane's elements before and after the whole pieces.
  template <class F>
  constexpr void each_single(const val<u32>& head, const val<u32>& single, const F& f) const {
    thread t = t_;
    for (auto i : t.range(lane_, single, lanes_).no_unroll())
      f(t.let(select(i < head, i, near_ - single + i)));
  }

  // Pieces of a row in shared memory: one more than it has, for it may begin within one.
  constexpr val<u32> pitch() const {
    return t_.let(staged_ << lanes_log_ >> u32{std::countr_zero(row_threads)});
  }
  constexpr val<u32> find_near() const {
    thread t = t_;
    if constexpr (has_far) {
      const val room = t.let((pitch() - 1u) * width);
      const val rounds = t.let(lanes_ * at_once);
      return t.let(select(own_ <= room, own_, room & ~(rounds - 1u)));
    } else {
      return own_;
    }
  }
  constexpr val<u32> phase_of(const val<u64>& row) const {
    return t_.let(cast<u32>(row) % piece_bytes / u32{sizeof(T)});
  }
  constexpr val<u64> begin_at(const val<u64>& row) const {
    return t_.let(row + cast<u64>(begin_) * u64{sizeof(T)});
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
    const val span = t.let(lanes_ * at_once);
    const val full = t.let(own_ & ~(span - 1u));
    const auto call = [&]<u32 N>(const val<u32>& number) {
      f(piece_of<single_words<T, Sm, N>>{{t.let(begin_of_row_ + number), t.let(begin_ + number)}});
    };
    for (auto i : t.range(lane_, full, span).no_unroll()) call.template operator()<at_once>(t.let(i + 0u));
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
  // Copies the near elements of a row to their places, plus `shift` pieces.
  constexpr void copy(const val<u64>& row, const val<u32>& shift) {
    thread t = t_;
    const val line = begin_at(row), phase = phase_of(row);
    const division parts = divide_near(phase);
    const val from = t.let(line + cast<u64>(parts.head) * u64{sizeof(T)});
    const auto whole = pointer_at<inout<u32x4>>(t, from);
    const val to = t.let(first_whole(phase, parts) + shift);
    for (auto i : t.range(lane_, parts.whole, lanes_).no_unroll()) {
      if constexpr (has_copies)
        cp_async<16>(pieces_[to + i], whole[i]);
      else
        pieces_[to + i] = whole[i];
    }
    const auto memory = pointer_at<inout<bits>>(t, line);
    const val begin = t.let((first_piece_ + shift) * width + phase);
    each_single(parts.head, parts.single, [&](const val<u32>& at) { elements_[begin + at] = memory[at]; });
  }
  // The threads of the row see what all of them have written to shared memory.
  constexpr void meet() const {
    thread t = t_;
    if (auto several = t.when(lanes_ > 32u)) t.barrier();
    if (auto one = t.otherwise()) sync_warp(t);
  }

  dynamic_shared<u32x4> pieces_;
  dynamic_shared<bits> elements_;
  val<u64> factors_;
  val<u32> first_piece_, own_, near_;
  val<u64> address_, second_;
  val<u32> phase_, begin_of_row_, to_second_;
};

}  // namespace kaio::ops
