#pragma once
// A staged row whose pieces are neighbours (stage.hpp). Each thread copies the pieces that it will use, so it waits for
// its own copies alone. Piece i is that of lane i % lanes:
//
//   bf16, 32 lanes, thread 0     elements 0..7, 256..263, ...
//
// The last pieces of a row that is longer than shared memory are far.

#include <kaio/dsl/async.hpp>
#include <kaio/ops/rows/piece.hpp>
#include <kaio/ops/rows/place.hpp>
#include <kaio/ops/rows/words.hpp>

#include <cstddef>
#include <cstdint>
#include <type_traits>

namespace kaio::ops {

template <dsl::scalar T, std::uint32_t Sm, class Problem>
class vector_stage : public row_place<Sm, Problem> {
  using place = row_place<Sm, Problem>;
  using words = row_words<T, Sm>;

 public:
  using piece = piece_of<words>;
  static constexpr u32 element_bytes = sizeof(T);

  // See stage_row and stage_rows. factors: an address; or a tensor like x, whose row is meant.
  template <class Tensor, class Factors, class Second = std::nullptr_t>
  constexpr vector_stage(thread t, const Problem& problem, const Tensor& x, const Factors& factors,
                         const Second& second = nullptr)
      : place(t, problem),
        memory_(t),
        factors_(factors_of(factors)),
        stages_factors_(t.let(problem[&rows_problem::has_staged_factors] != 0u)),
        pieces_(t.let(this->own_share() / width)),
        address_(place::row_of(x, sizeof(T))),
        second_(second_of(second)) {
    start_row<Sm>(t);
    const val none = t.let(0u);
    copy(address_, none);
    if constexpr (!std::is_null_pointer_v<Second>) copy(second_, staged_);
    if constexpr (has_copies) {
      if (auto also = t.when(stages_factors_)) {
        if constexpr (!dsl::device_of<Factors, u64>)
          copy(factors_, staged_);
        else if constexpr (std::is_null_pointer_v<Second>)
          copy_factors();
      }
      cp_async_wait_all(t);
    }
  }

  constexpr const val<u64>& address() const { return address_; }

  template <class F>
  constexpr void each_piece(const val<u64>& line, const F& f) {
    thread t = t_;
    each_slot([&](const piece& p) {
      auto own = words::zeros(t);
      read(line, p, own);
      f(p, own);
    });
  }
  // Factors that are not staged run ahead of their pieces by two rounds of the thread, through two slots of its own.
  template <class F>
  constexpr void each_with_factors(const val<u64>& line, const F& f) {
    thread t = t_;
    if constexpr (!has_copies) {
      each_piece(line, [&](const piece& p, auto& own) {
        auto factors = words::zeros(t);
        if (auto given = t.when(factors_ != u64{0})) load(factors_, p, factors);
        f(p, own, factors);
      });
    } else {
      const val runs_ahead = t.let(all_of(factors_ != u64{0}, !stages_factors_));
      const val base = t.let(staged_ + rank_);
      // Copies the factors of the lane's piece `number`, if there is one, to one of the two slots.
      const auto copy_ahead = [&](const val<u32>& number, const val<u32>& slot) {
        if (auto exists = t.when(number < pieces_))
          cp_async<16>(memory_[slot], pointer_at<inout<u32x4>>(t, at(factors_, begin_ + number * width))[0],
                       cache::ca);
        cp_async_commit_group(t);
      };
      if (auto ahead = t.when(runs_ahead)) {
        copy_ahead(lane_, base);
        copy_ahead(t.let(lane_ + lanes_), t.let(base + row_threads));
      }
      var turn(t, base);
      each_piece(line, [&](const piece& p, auto& own) {
        auto factors = words::zeros(t);
        if (auto staged = t.when(stages_factors_)) take(t.let(p.slot + staged_), factors);
        if (auto ahead = t.when(runs_ahead)) {
          cp_async_wait_group<1>(t);
          const val slot = t.let(turn);
          take(slot, factors);
          copy_ahead(t.let((p.first - begin_) / width + 2u * lanes_), slot);
          turn = base + (base + row_threads - slot);
        }
        f(p, own, factors);
      });
    }
  }
  template <class F>
  constexpr void each_pair(const F& f) {
    thread t = t_;
    each_slot([&](const piece& p) {
      auto own = words::zeros(t), other = words::zeros(t);
      if (auto held = t.when(p.slot < staged_)) {
        take(p.slot, own);
        const val slot = t.let(p.slot + staged_);
        take(slot, other);
      }
      if (auto beyond = t.when(p.slot >= staged_)) {
        load(address_, p, own);
        load(second_, p, other);
      }
      f(p, own, other);
    });
  }
  template <class Words>
  constexpr void put(const piece& p, const Words& from) {
    if (auto held = t_.when(!is_far(p))) give(p.slot, from);
  }
  template <class Words>
  constexpr void emit(const val<u64>& row, const piece& p, const Words& from) const {
    words::store(t_, at(row, p.first), from);
  }
  template <class Words>
  constexpr void keep(const val<u64>& row, const val<bool>& writes, const piece& p, const Words& from) {
    if (auto stores = t_.when(any_of(writes, is_far(p)))) emit(row, p, from);
    put(p, from);
  }
  constexpr void flush(const val<u64>&) const {}
  constexpr val<bool> is_far(const piece& p) const { return t_.let(p.slot >= staged_); }

  template <class Words>
  constexpr void load(const val<u64>& row, const piece& p, Words& to) const {
    words::load(t_, at(row, p.first), to);
  }
  constexpr val<u32> element(const piece& p, u32 i) const { return t_.let(p.first + i); }

 private:
  static constexpr u32 width = words::width;
  static constexpr bool has_copies = Sm >= 80;
  using place::t_, place::staged_, place::lanes_, place::lanes_log_, place::rank_, place::lane_,
      place::begin_;

  constexpr val<u64> at(const val<u64>& row, const val<u32>& element) const {
    return t_.let(row + cast<u64>(element) * u64{sizeof(T)});
  }
  template <class F>
  constexpr void each_slot(const F& f) {
    thread t = t_;
    var slot(t, rank_);
    for (auto i : t.range(lane_, pieces_, lanes_).no_unroll()) {
      const val first = t.let(begin_ + i * width);
      f(piece{{t.let(slot + 0u), first}});
      slot += row_threads;
    }
  }
  // A piece from its slot, or, if it is far, from the row at `line`.
  template <class Words>
  constexpr void read(const val<u64>& line, const piece& p, Words& to) {
    if (auto held = t_.when(p.slot < staged_)) take(p.slot, to);
    if (auto beyond = t_.when(p.slot >= staged_)) load(line, p, to);
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
  template <class Factors>
  constexpr val<u64> factors_of(const Factors& factors) const {
    thread t = t_;
    if constexpr (dsl::device_of<Factors, u64>) {
      return t.let(factors + u64{0});
    } else {
      var row(t, u64{0});
      if (auto given = t.when(factors[&row_strides::address] != u64{0}))
        row = place::row_of(factors, sizeof(T));
      return t.let(row);
    }
  }
  template <class Second>
  constexpr val<u64> second_of(const Second& second) const {
    if constexpr (std::is_null_pointer_v<Second>)
      return address_;
    else
      return place::row_of(second, sizeof(T));
  }
  // Copies the near pieces of a row to their slots, plus `shift`.
  constexpr void copy(const val<u64>& address, const val<u32>& shift) {
    thread t = t_;
    each_slot([&](const piece& p) {
      if (auto held = t.when(p.slot < staged_)) {
        if constexpr (has_copies) {
          cp_async<16>(memory_[p.slot + shift], pointer_at<inout<u32x4>>(t, at(address, p.first))[0]);
        } else {
          auto own = words::zeros(t);
          load(address, p, own);
          give(t.let(p.slot + shift), own);
        }
      }
    });
  }
  constexpr void copy_factors() {
    thread t = t_;
    each_slot([&](const piece& p) {
      if (auto held = t.when(p.slot < staged_))
        cp_async<16>(memory_[p.slot + staged_], pointer_at<inout<u32x4>>(t, at(factors_, p.first))[0],
                     cache::ca);
    });
  }

  dynamic_shared<u32x4> memory_;
  val<u64> factors_;
  val<bool> stages_factors_;
  val<u32> pieces_;
  val<u64> address_, second_;
};

}  // namespace kaio::ops
