#pragma once
// A row of logits that threads read once, in batches of 8 or 16 elements a thread. A batch has pieces of 16
// bytes, `span` elements apart:
//
//   Vectors     rows of whole pieces at multiples of 16 bytes: a thread has neighbours
//   otherwise   a thread has every lanes-th element
//
// If pieces are vectors, a thread loads the next batch before it computes.

#include <kaio/ops/cross_entropy/common/problem.hpp>
#include <kaio/ops/rows/words.hpp>
#include <kaio/ops/shared/rows.hpp>

#include <cstdint>

namespace kaio::ops {

// The target of a row, and its place among the logits. Neither: `index` is a class.
struct row_target {
  val<i64> index, place;
  val<bool> is_ignored, is_wrong;
};

// Parts: the logits may be those of a part of the classes.
template <dsl::scalar T, std::uint32_t Sm, bool Vectors, u32 Batch, bool Parts = false>
class logits_row {
 public:
  static constexpr u32 batch_elements = Batch;
  using words = row_words<T, Sm>;
  static constexpr u32 width = words::width;
  static constexpr u32 pieces = batch_elements / width;

  // group: the number of the row's first block among those of all rows.
  constexpr logits_row(thread t, const val<cross_entropy_problem>& problem, const val<u32>& group)
      : t_(t),
        problem_(problem),
        lanes_log_(t.let(problem[&cross_entropy_problem::lanes_log])),
        lanes_(t.let(val<u32>(1u) << lanes_log_)),
        lane_(t.let(t.thread_rank() & (lanes_ - 1u))),
        row_(t.let(group * (val<u32>(row_threads) >> lanes_log_) + (t.thread_rank() >> lanes_log_))),
        exists_(t.let(row_ < problem[&cross_entropy_problem::rows])),
        size_(t.let(problem[&cross_entropy_problem::size])),
        span_(t.let(lanes_ * width)),
        softcap_(t.let(problem[&cross_entropy_problem::terms][&cross_entropy_terms::softcap])) {}

  constexpr const val<u32>& lanes() const { return lanes_; }
  constexpr const val<u32>& lane() const { return lane_; }
  constexpr const val<u32>& row() const { return row_; }
  constexpr const val<bool>& exists() const { return exists_; }
  constexpr const val<u32>& size() const { return size_; }
  // The number of all classes.
  constexpr val<u32> classes() const {
    if constexpr (Parts)
      return t_.let(problem_[&cross_entropy_problem::classes]);
    else
      return size_;
  }

  // The address of the row in a tensor of U.
  template <class U = T, class Rows>
  constexpr val<u64> address(const Rows& rows) const {
    return t_.let(rows[&row_numbers::address] +
                  cast<u64>(cast<i64>(row_) * rows[&row_numbers::stride]) * u64{sizeof(U)});
  }
  // The row's place among numbers of f32.
  template <class Numbers>
  constexpr auto number_at(const Numbers& numbers) const {
    const val at = t_.let(numbers[&row_numbers::address] +
                          cast<u64>(cast<i64>(row_) * numbers[&row_numbers::stride]) * u64{sizeof(f32)});
    return pointer_at<inout<f32>>(t_, at);
  }

  // Only for rows that exist.
  constexpr row_target target() const {
    thread t = t_;
    using p = cross_entropy_problem;
    const val place = t.let(cast<u64>(cast<i64>(row_) * problem_[&p::targets][&row_numbers::stride]));
    const val targets = t.let(problem_[&p::targets][&row_numbers::address]);
    var index(t, i64{0});
    if (auto wide = t.when(problem_[&p::has_wide_targets] != 0u)) {
      const val at = t.let(targets + place * u64{8});
      index = pointer_at<inout<i64>>(t, at)[0];
    }
    if (auto narrow = t.otherwise()) {
      const val at = t.let(targets + place * u64{4});
      index = cast<i64>(pointer_at<inout<i32>>(t, at)[0]);
    }
    const val result = t.let(index);
    const val is_ignored = t.let(result == problem_[&p::terms][&cross_entropy_terms::ignored]);
    const val is_wrong = t.let(all_of(!is_ignored, cast<u64>(result) >= cast<u64>(classes())));
    if constexpr (Parts) {
      const val place_here = t.let(result - cast<i64>(problem_[&p::first]));
      return {result, place_here, is_ignored, is_wrong};
    } else {
      return {result, result, is_ignored, is_wrong};
    }
  }
  // The address of the weights of the classes from the first one of these logits on.
  constexpr val<u64> weights_here() const {
    using p = cross_entropy_problem;
    const val weights = t_.let(problem_[&p::terms][&cross_entropy_terms::weights]);
    if constexpr (Parts)
      return t_.let(weights + cast<u64>(problem_[&p::first]) * u64{sizeof(f32)});
    else
      return weights;
  }
  // The weight of a class, or 1.
  constexpr val<f32> weight(const val<i64>& of) const {
    thread t = t_;
    const val weights = t.let(problem_[&cross_entropy_problem::terms][&cross_entropy_terms::weights]);
    var result(t, 1.0f);
    if (auto given = t.when(weights != u64{0})) {
      const val at = t.let(weights + cast<u64>(of) * u64{sizeof(f32)});
      result = pointer_at<inout<f32>>(t, at)[0];
    }
    return t.let(result);
  }

  // Element i of a batch whose first element is `first`, and whether it is in the row.
  constexpr val<u32> element(const val<u32>& first, u32 i) const {
    const u32 piece = i / width, of_piece = i % width;
    return Vectors ? t_.let(first + span_ * piece + of_piece)
                   : t_.let(first + span_ * piece + lanes_ * of_piece);
  }
  constexpr val<bool> is_inside(const val<u32>& first, u32 i) const {
    return t_.let(element(first, i) < size_);
  }
  // Whether a batch ends beyond the row.
  constexpr val<bool> is_partial(const val<u32>& first) const {
    return t_.let(element(first, batch_elements - 1) >= size_);
  }
  // Whether a batch of the row's lanes can have an element.
  constexpr val<bool> may_have(const val<u32>& first, const val<u32>& element) const {
    return t_.let(element - first < span_ * pieces);
  }

  // Calls f(first, words) for the batches of this thread. Elements at `limit` and beyond are not read. part,
  // parts_log: of the batches, of which 2^parts_log threads have every one.
  template <class F>
  constexpr void each_batch(const val<u64>& row, const val<u32>& limit, const val<u32>& part,
                            const val<u32>& parts_log, const F& f) const {
    thread t = t_;
    const val step = t.let(span_ * pieces << parts_log);
    const val own = Vectors ? t.let(lane_ * width) : t.let(lane_ + 0u);
    const val begin = t.let(own + part * (span_ * pieces));
    const val start = t.let(select(exists_, begin, size_));
    auto now = batch();
    if constexpr (Vectors) {
      load(row, start, limit, now);
      auto next = batch();
      for (auto first : t.range(start, size_, step).no_unroll()) {
        const val after = t.let(first + step);
        load(row, after, limit, next);
        f(first, now);
        for (u32 p = 0; p < pieces; ++p)
          for (u32 i = 0; i < 4; ++i) now[p][i] = next[p][i];
      }
    } else {
      for (auto first : t.range(start, size_, step).no_unroll()) {
        load(row, first, limit, now);
        f(first, now);
      }
    }
  }
  template <class Bits>
  constexpr void store(const val<u64>& row, const val<u32>& first, const Bits& from) const {
    thread t = t_;
    for (u32 p = 0; p < pieces; ++p) {
      const val at = t.let(first + span_ * p);
      if constexpr (Vectors) {
        if (auto inside = t.when(at < size_)) words::store(t, place(row, at), from[p]);
      } else {
        words::scatter(t, row, at, lanes_, size_, from[p]);
      }
    }
  }

  // Rounds a batch to Out, which has 16 bits, T having 32.
  template <dsl::scalar Out, class Values>
  constexpr void store_rounded(const val<u64>& row, const val<u32>& first, const Values& values) const {
    static_assert(Vectors && width == 4 && batch_elements == 8 && sizeof(Out) == 2);
    thread t = t_;
    const auto exact = row_words<Out, Sm>::rounded(t, values);
    for (u32 p = 0; p < pieces; ++p) {
      const val at = t.let(first + span_ * p);
      if (auto inside = t.when(at < size_)) {
        const val to = t.let(row + cast<u64>(at) * u64{sizeof(Out)});
        pointer_at<out<u32x2>>(t, to)[0] = make_vec(exact[2 * p], exact[2 * p + 1]);
      }
    }
  }

  // The elements of a batch, after the softcap.
  template <class Bits>
  constexpr auto values(const Bits& bits) const {
    thread t = t_;
    auto z =
        array_of<batch_elements>([&](u32 i) { return var(t, words::value(t, bits[i / width], i % width)); });
    if (auto caps = t.when(softcap_ != 0.0f))
      for (u32 i = 0; i < batch_elements; ++i) z[i] = capped(t.let(z[i]));
    return z;
  }
  // One element of the row, after the softcap.
  constexpr val<f32> value(const val<u64>& row, const val<i64>& element) const {
    thread t = t_;
    const val at = t.let(row + cast<u64>(element) * u64{sizeof(T)});
    const val one = t.let(pointer_at<inout<typename words::element>>(t, at)[0]);
    var z(t, words::elements::stored::read(one));
    if (auto caps = t.when(softcap_ != 0.0f)) z = capped(t.let(z));
    return t.let(z);
  }
  constexpr const val<f32>& softcap() const { return softcap_; }

 private:
  constexpr auto batch() const {
    return array_of<pieces>([&](u32) { return words::zeros(t_); });
  }
  constexpr val<u64> place(const val<u64>& row, const val<u32>& element) const {
    return t_.let(row + cast<u64>(element) * u64{sizeof(T)});
  }
  template <class Bits>
  constexpr void load(const val<u64>& row, const val<u32>& first, const val<u32>& limit, Bits& to) const {
    thread t = t_;
    for (u32 p = 0; p < pieces; ++p) {
      const val at = t.let(first + span_ * p);
      if constexpr (Vectors) {
        if (auto inside = t.when(at < limit)) words::load(t, place(row, at), to[p]);
      } else {
        words::gather(t, row, at, lanes_, limit, to[p]);
      }
    }
  }
  // c tanh(x / c) = c - 2 c / (1 + e^(2 x / c)).
  constexpr val<f32> capped(const val<f32>& x) const {
    thread t = t_;
    const val power =
        t.let(fast::ftz::exp2(x * problem_[&cross_entropy_problem::terms][&cross_entropy_terms::cap_scale]));
    const val part = t.let(fast::ftz::rcp(power + 1.0f));
    return t.let(fma(softcap_ * -2.0f, part, softcap_));
  }

  thread t_;
  val<cross_entropy_problem> problem_;
  val<u32> lanes_log_, lanes_, lane_, row_;
  val<bool> exists_;
  val<u32> size_, span_;
  val<f32> softcap_;
};

}  // namespace kaio::ops
