#pragma once
// Rows of two tensors in shared memory, for a block that has several rows in turn, and sums over these rows
// for each element. Each thread has the same elements of every row (rows/stage.hpp has the picture), so it
// shares neither its pieces nor its sums with others:
//
//   shared memory   x: `staged` pieces | dy: `staged` pieces | sums: `staged` words for each 4 elements
//
// A sum has 4 numbers of f32 in a word.

#include <kaio/dsl/async.hpp>
#include <kaio/dsl/cluster.hpp>
#include <kaio/dsl/dsl.hpp>
#include <kaio/ops/rows/division.hpp>
#include <kaio/ops/rows/stage.hpp>
#include <kaio/ops/rows/words.hpp>

#include <cstdint>

namespace kaio::ops {

template <dsl::scalar T, std::uint32_t Sm, bool Vectors, class Problem>
class row_pairs {
 public:
  using words = row_words<T, Sm>;
  static constexpr u32 width = words::width;
  static constexpr bool has_copies = Vectors && Sm >= 80;
  static constexpr bool has_far =
      Vectors || Sm < 80;  // otherwise a row that does not fit takes another kernel

  constexpr row_pairs(thread t, const Problem& problem)
      : t_(t),
        memory_(t),
        problem_(problem),
        size_(t.let(problem[&rows_problem::size])),
        lanes_log_(t.let(problem[&rows_problem::lanes_log])),
        blocks_(t.let(problem[&rows_problem::blocks])),
        staged_(t.let(problem[&rows_problem::staged])),
        lanes_(t.let(val<u32>(1u) << lanes_log_)),
        rank_(t.let(t.thread_rank())),
        lane_(t.let(rank_ & (lanes_ - 1u))),
        block_(t.let(block_idx_x() & (blocks_ - 1u))),
        begin_(t.let(block_ * problem[&rows_problem::share])),
        pieces_(find_pieces()) {}

  constexpr const val<u32>& size() const { return size_; }
  constexpr const val<u32>& lane() const { return lane_; }
  constexpr const val<u32>& lanes() const { return lanes_; }
  constexpr const val<u32>& blocks() const { return blocks_; }
  constexpr const val<u32>& block() const { return block_; }

  // The row of this thread in a group of rows.
  constexpr val<u32> row_in(const val<u32>& group) const {
    return t_.let(group * (val<u32>(row_threads) >> lanes_log_) + (rank_ >> lanes_log_));
  }
  constexpr val<bool> exists(const val<u32>& row) const {
    return t_.let(row < problem_[&rows_problem::rows]);
  }
  template <class Rows>
  constexpr val<u64> address(const val<u32>& row, const Rows& tensor) const {
    thread t = t_;
    var offset(t, cast<i64>(row) * tensor[&row_strides::head]);
    if (auto deep = t.when(problem_[&rows_problem::is_flat] == 0u)) {
      const quotient of_heads = divide(t, row, problem_[&rows_problem::heads]);
      const quotient of_tokens = divide(t, of_heads.whole, problem_[&rows_problem::tokens]);
      offset = cast<i64>(of_tokens.whole) * tensor[&row_strides::batch] +
               cast<i64>(of_tokens.rest) * tensor[&row_strides::token] +
               cast<i64>(of_heads.rest) * tensor[&row_strides::head];
    }
    return t.let(tensor[&row_strides::address] + cast<u64>(offset) * u64{sizeof(T)});
  }

  // Calls f(piece) for the pieces of this thread, if its row exists.
  template <class F>
  constexpr void each(const val<bool>& exists, const F& f) {
    thread t = t_;
    var slot(t, rank_);
    const val start = Vectors ? t.let(lane_ + 0u) : t.let(val<u32>(0u));
    const val step = Vectors ? t.let(lanes_ + 0u) : t.let(val<u32>(1u));
    const val end = t.let(select(exists, pieces_, 0u));
    for (auto i : t.range(start, end, step).no_unroll()) {
      const val first =
          Vectors ? t.let(begin_ + i * width) : t.let(begin_ + lane_ + (i * width << lanes_log_));
      f(staged_piece{t.let(slot + 0u), first});
      slot += row_threads;
    }
  }

  // Fills the slot of a piece from the rows at x and dy: asynchronously if it can.
  constexpr void copy(const val<u64>& x, const val<u64>& dy, const staged_piece& p) {
    thread t = t_;
    if (auto held = t.when(p.slot < staged_)) {
      const val second = t.let(p.slot + staged_);
      if constexpr (has_copies) {
        cp_async<16>(memory_[p.slot], pointer_at<inout<u32x4>>(t, at(x, p.first))[0]);
        cp_async<16>(memory_[second], pointer_at<inout<u32x4>>(t, at(dy, p.first))[0]);
      } else {
        auto of_x = words::zeros(t), of_dy = words::zeros(t);
        load(x, p, of_x);
        load(dy, p, of_dy);
        give(p.slot, of_x);
        give(second, of_dy);
      }
    }
  }
  // The piece of x, or of dy with Second, whose row is at `line`.
  template <bool Second>
  constexpr auto piece(const val<u64>& line, const staged_piece& p) {
    thread t = t_;
    auto own = words::zeros(t);
    const val slot = Second ? t.let(p.slot + staged_) : t.let(p.slot + 0u);
    if constexpr (has_far) {
      if (auto held = t.when(p.slot < staged_)) take(slot, own);
      if (auto beyond = t.when(p.slot >= staged_)) load(line, p, own);
    } else {
      take(slot, own);
    }
    return own;
  }

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
  // Elements of f32 of a piece, if the row at `row` has this type.
  template <class Numbers>
  constexpr void load_f32(const val<u64>& row, const staged_piece& p, Numbers& to) const {
    thread t = t_;
    const auto memory = pointer_at<inout<f32>>(t, row);
    if constexpr (Vectors) {
      for (u32 i = 0; i < width; i += 4) {
        const val four = load_vec<4>(memory[p.first + i]);
        for (u32 j = 0; j < 4; ++j) to[i + j] = four[j];
      }
    } else {
      for (u32 i = 0; i < width; ++i) {
        const val at = element(p, i);
        if (auto inside = t.when(at < size_)) to[i] = memory[at];
      }
    }
  }
  constexpr void prefetch_piece(const val<u64>& row, const staged_piece& p) const {
    if constexpr (Vectors) prefetch(pointer_at<inout<u32x4>>(t_, at(row, p.first))[0], cache_level::l2);
  }
  constexpr val<u32> element(const staged_piece& p, u32 i) const {
    return Vectors ? t_.let(p.first + i) : t_.let(p.first + lanes_ * i);
  }
  constexpr val<f32> or_zero(const staged_piece& p, u32 i, const val<f32>& x) const {
    if constexpr (Vectors)
      return x;
    else
      return t_.let(select(element(p, i) < size_, x, 0.0f));
  }

  // Sums over the rows that this thread has had, in f32, of `count` numbers for each element.
  constexpr void clear_sums(const val<u32>& count) {
    thread t = t_;
    each(t.let(val<bool>(true)), [&](const staged_piece& p) {
      const auto zero = words::zeros(t);
      for (auto part : t.range(0u, t.let(count * quads)).no_unroll())
        give(t.let(p.slot + staged_ * (part + 2u)), zero);
    });
  }
  template <class Numbers>
  constexpr void add(const staged_piece& p, const val<u32>& which, const Numbers& more) {
    for (u32 quad = 0; quad < quads; ++quad)
      add_to(slot_of(p, which, quad), [&](u32 i) { return more[4 * quad + i]; });
  }
  // Adds the sums of the block's rows in a tree, and stores them as row `partial` of (partials, size). Every
  // thread of the block calls it.
  constexpr void store_sums(const val<u32>& which, const val<u64>& to, const val<u32>& partial) {
    thread t = t_;
    const val number = t.let(rank_ >> lanes_log_);
    var distance(t, val<u32>(row_threads / 2) >> lanes_log_);
    for (auto step : t.loop()) {
      step.break_if(distance == 0u);
      t.barrier();
      const val others = t.let(distance << lanes_log_);
      each(t.let(number < distance), [&](const staged_piece& p) {
        for (u32 quad = 0; quad < quads; ++quad) {
          const val slot = slot_of(p, which, quad);
          auto more = words::zeros(t);
          take(t.let(slot + others), more);
          add_to(slot, [&](u32 i) { return t.let(bit_cast<f32>(more[i])); });
        }
      });
      distance = distance / 2u;
    }
    const val row = t.let(to + cast<u64>(partial) * cast<u64>(size_) * u64{sizeof(f32)});
    [[maybe_unused]] const auto memory = pointer_at<out<f32>>(t, row);
    each(t.let(number == 0u), [&](const staged_piece& p) {
      for (u32 quad = 0; quad < quads; ++quad) {
        auto own = words::zeros(t);
        take(slot_of(p, which, quad), own);
        if constexpr (Vectors) {
          words::store(t, t.let(row + cast<u64>(p.first + 4 * quad) * u64{sizeof(f32)}), own);
        } else {
          for (u32 i = 0; i < 4; ++i) {
            const val at = element(p, 4 * quad + i);
            if (auto inside = t.when(at < size_)) memory[at] = bit_cast<f32>(own[i]);
          }
        }
      }
    });
  }

 private:
  static constexpr u32 quads = width / 4;

  constexpr val<u32> find_pieces() const {
    thread t = t_;
    const val left = t.let(max(size_, begin_) - begin_);
    const val own = t.let(min(left, problem_[&rows_problem::share]));
    if constexpr (Vectors)
      return t.let(own / width);
    else
      return t.let((own + (lanes_ * width - 1u)) / width >> lanes_log_);
  }
  constexpr val<u64> at(const val<u64>& row, const val<u32>& element) const {
    return t_.let(row + cast<u64>(element) * u64{sizeof(T)});
  }
  constexpr val<u32> slot_of(const staged_piece& p, const val<u32>& which, u32 quad) const {
    return t_.let(p.slot + staged_ * (which * quads + (2 + quad)));
  }
  template <class More>
  constexpr void add_to(const val<u32>& slot, const More& more) {
    thread t = t_;
    auto sums = words::zeros(t);
    take(slot, sums);
    for (u32 i = 0; i < 4; ++i) {
      const val one = more(i);
      sums[i] = bit_cast<u32>(bit_cast<f32>(sums[i]) + one);
    }
    give(slot, sums);
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

  thread t_;
  dynamic_shared<u32x4> memory_;
  Problem problem_;
  val<u32> size_, lanes_log_, blocks_, staged_, lanes_, rank_, lane_, block_, begin_, pieces_;
};

}  // namespace kaio::ops
