#pragma once
// Counted loops, of every integer type.
//
//   for (auto k : t.range(first, last, step)) { ... }     // k is a val, first, first + step, ... before last
//   for (auto k : t.range(0u, n).unroll<4>()) { ... }     // four rounds at a time, then one at a time
//   for (auto k : t.range(0, 8).unroll()) { ... }         // eight copies, in each k is a constant
//   for (auto k : t.range(0u, n).no_unroll()) { ... }     // ptxas must not unroll it either
//
// With a constant step and a type of 32 or 64 bits, the loop is that of C++, which ptxas unrolls well. The sum of the
// last counter and the step must then fit the type. Elsewhere (8 and 16 bits, run-time steps, several rounds at a time)
// no sum overflows: the counter is compared with `last` moved back by whole steps. Such a range ends for all bounds
// and all steps but 0. An unrolled body is traced once for each copy, and so are its statements of the host. Without
// other rounds, a host counter counts the copies. If the loop has more rounds, the counter must have its old value after
// the copies of one round.

#include <kaio/dsl/control/loop.hpp>

#include <cstdint>
#include <type_traits>

namespace kaio::dsl {

// The counter of a range(): a val that can also leave the loop.
template <scalar T>
class counter : public val<T>, public loop_control {
 public:
  constexpr counter(tracer& t, value id, loop_body& body) : val<T>(t, id), loop_control(body) {}
};

// The bounds of a range, and the comparisons that find how many rounds are left.
struct range_bounds {
  ptx::type type = ptx::type::none;
  value first = 0;
  value last = 0;
  value step = 0;
  bool down = false;

  // If the counter k is before limit(n), at least n rounds are left, its own included.
  constexpr value limit(tracer& t, std::uint64_t n) const {
    const std::uint64_t steps = n - 1;
    if (steps == 0) return last;
    const value end = t.constant(type, down ? highest() : lowest());  // no counter is before it
    if (!t.is_constant(step)) {
      const value distance = t.binary(operation::mul, type, step, t.constant(type, steps));
      const value raised = t.binary(operation::max, type, last, distance);
      const value back = t.binary(operation::sub, type, raised, distance);
      if (steps == 1) return back;
      const value longest = t.constant(type, highest() / steps);
      return t.select(type, t.compare(operation::gt, type, step, longest), t.constant(type, 0), back);
    }
    const std::uint64_t width = magnitude(t);
    const std::uint64_t span = canonical(unsigned_type(), ~std::uint64_t{0});
    if (steps > span || width > span / steps) return end;
    const std::uint64_t distance = canonical(type, width * steps);
    const auto moved = [&](operation clamp, std::uint64_t bound, operation move) {
      const value clamped = t.binary(clamp, type, last, t.constant(type, canonical(type, bound)));
      return t.binary(move, type, clamped, t.constant(type, distance));
    };
    return down ? moved(operation::min, highest() - width * steps, operation::add)
                : moved(operation::max, lowest() + width * steps, operation::sub);
  }
  constexpr value before(tracer& t, value k, value bound) const {
    return t.compare(down ? operation::gt : operation::lt, type, k, bound);
  }

  // k + n * step.
  constexpr value after(tracer& t, value k, std::uint64_t n) const {
    return t.binary(operation::add, type, k, distance(t, n));
  }
  constexpr value distance(tracer& t, std::uint64_t n) const {
    return t.binary(operation::mul, type, step, t.constant(type, canonical(type, n)));
  }

  // Whether the sum of a counter and the step may be compared with `last`.
  constexpr bool sum_fits(const tracer& t) const {
    return t.is_constant(step) && (magnitude(t) == 1 || ptx::size_of(type) >= 4);
  }

  constexpr bool is_known(const tracer& t) const {
    return t.is_constant(first) && t.is_constant(last) && t.is_constant(step);
  }
  // The number of rounds of a known range.
  constexpr std::uint64_t rounds(tracer& t) const {
    if (t.bits_of(before(t, first, last)) == 0) return 0;
    const std::uint64_t a = t.bits_of(first), b = t.bits_of(last);
    const std::uint64_t span = canonical(unsigned_type(), down ? a - b : b - a);
    return (span - 1) / magnitude(t) + 1;
  }

  constexpr ptx::type unsigned_type() const {
    switch (ptx::size_of(type)) {
      case 1: return ptx::type::u8;
      case 2: return ptx::type::u16;
      case 4: return ptx::type::u32;
      default: return ptx::type::u64;
    }
  }

 private:
  constexpr std::uint64_t magnitude(const tracer& t) const {
    return down ? std::uint64_t{0} - t.bits_of(step) : t.bits_of(step);
  }
  constexpr std::uint64_t lowest() const {
    return ptx::is_signed(type) ? canonical(type, std::uint64_t{1} << (8 * ptx::size_of(type) - 1)) : 0;
  }
  constexpr std::uint64_t highest() const { return canonical(type, lowest() - 1); }
};

// The part of a range that does not depend on the type of its counter.
class range_body : public loop_body {
 public:
  constexpr range_body(tracer& t, const range_bounds& bounds) : loop_body(t), bounds_(bounds) {
    if (t.is_constant(bounds.step)) {
      if (t.bits_of(bounds.step) == 0)
        t.fail("kaio: the step of a range() is 0; write one that is not, or t.loop()");
      bounds_.down = ptx::is_signed(bounds.type) && static_cast<std::int64_t>(t.bits_of(bounds.step)) < 0;
    }
  }

  constexpr void finish() {
    if (trace_.probing()) return end_probed_copy();
    end_copy();
  }

 protected:
  constexpr range_body(const range_body& other)
      : loop_body(other.trace_), bounds_(other.bounds_), mirror_(other.mirror_), layout_(other.layout_) {}

  // If the sign of the step is not known, counts upwards by distance; current_counter() turns it into the counter.
  constexpr void mirror() {
    tracer& t = trace_;
    if (t.is_constant(bounds_.step) || t.probing()) return;
    const ptx::type type = bounds_.type;
    const ptx::type distance = bounds_.unsigned_type();
    const value zero = t.constant(type, 0);
    const value up = t.compare(operation::gt, type, bounds_.step, zero);
    const value low = t.select(type, up, bounds_.first, bounds_.last);
    const value high = t.select(type, up, bounds_.last, bounds_.first);
    const value top = t.binary(operation::max, type, high, low);
    const value span = t.binary(operation::sub, type, top, low);
    const value opposite = t.unary(operation::neg, type, bounds_.step);
    const value step = t.select(type, up, bounds_.step, opposite);
    const value all_ones = t.constant(distance, canonical(distance, ~std::uint64_t{0}));
    mirror_.sign = t.select(distance, up, t.constant(distance, 1), all_ones);
    mirror_.first = t.cast(distance, type, bounds_.first);
    bounds_.first = t.constant(distance, 0);
    bounds_.last = t.cast(distance, type, span);
    bounds_.step = t.cast(distance, type, step);
    bounds_.type = distance;
  }

  constexpr void set_copies(std::uint32_t copies) {
    if (copies == 0 || copies > most_copies)
      trace_.fail("kaio: unroll() takes a number of copies from 1 to 256");
    layout_.copies = copies;
  }
  constexpr void set_whole() { layout_.whole = true; }
  constexpr void set_rolled() { layout_.rolled = true; }

  constexpr void begin_loop() {
    start();
    const bool known = bounds_.is_known(trace_);
    const std::uint64_t rounds = known ? bounds_.rounds(trace_) : 0;
    if (layout_.whole && !known && !trace_.probing())
      trace_.fail("kaio: unroll() needs constant bounds and step; write unroll<4>() for four copies");
    if (layout_.whole && rounds > most_copies)
      trace_.fail("kaio: unroll() makes at most 256 copies; write unroll<4>() for four copies and a loop");
    if (rounds != 0 && (layout_.whole || (layout_.copies != 1 && rounds <= layout_.copies)))
      return begin_straight(static_cast<std::uint32_t>(rounds));
    if (trace_.probing()) return begin_probed(rounds);
    trace_.enter_body();
    variable_ = trace_.new_variable(bounds_.type);
    trace_.assign(variable_, bounds_.first, trace_.position());
    skip_unless(bounds_.before(trace_, bounds_.first, bounds_.last));
    if (layout_.copies == 1 || (known && rounds == 0)) return begin_single();
    begin_main(rounds);
  }

  // The counter in the copy that is being traced, in the type of the loop.
  constexpr value current_counter(ptx::type type) {
    tracer& t = trace_;
    if (t.probing()) return t.new_identity();
    const value first = part_ == part::straight ? bounds_.first : t.variable_register(variable_);
    const value k = copy_ == 0 ? first : bounds_.after(t, first, copy_);
    if (mirror_.sign == 0) return k;
    return t.cast(type, bounds_.type, t.multiply_add(bounds_.type, k, mirror_.sign, mirror_.first));
  }

 private:
  static constexpr std::uint32_t most_copies = 256;

  // Where the traced body is: copies one after another, a loop of one copy, the loop of several copies.
  enum class part : std::uint8_t { straight, single, main };

  constexpr void skip_unless(value condition) {
    if (trace_.is_constant(condition) && trace_.bits_of(condition) != 0) return;
    if (exit_ == 0) exit_ = trace_.new_label();
    if (trace_.is_constant(condition))
      trace_.branch(exit_);
    else
      trace_.branch_if(condition, true, exit_);
  }

  constexpr void begin_straight(std::uint32_t copies) {
    part_ = part::straight;
    copies_ = copies;
    if (!trace_.probing()) trace_.enter_scope();
  }

  constexpr void begin_single() {
    part_ = part::single;
    copies_ = 1;
    copy_ = 0;
    // Threads that skip the loop do not have the values computed from here on.
    trace_.enter_scope();
    limit_ = bounds_.sum_fits(trace_) ? bounds_.last : bounds_.limit(trace_, 2);
    enter(layout_.rolled || layout_.copies != 1);
  }

  // The loop of several copies. `rounds`: those of the whole range; 0: not known.
  constexpr void begin_main(std::uint64_t rounds) {
    tracer& t = trace_;
    part_ = part::main;
    copies_ = layout_.copies;
    rest_known_ = rounds != 0;
    has_rest_ = !rest_known_ || rounds % copies_ != 0;
    t.enter_scope();
    if (!rest_known_) {
      rest_ = t.new_label();
      t.branch_if(t.in_register(bounds_.before(t, bounds_.first, bounds_.limit(t, copies_))), true, rest_);
    }
    limit_ = bounds_.limit(t, 2 * std::uint64_t{copies_});
    enter(true);
  }

  constexpr void end_copy() {
    tracer& t = trace_;
    if (++copy_ != copies_) {
      if (next_ == 0) return;
      // A thread that skipped the rest of this copy lacks its values, so the next copy must not reuse them.
      t.leave_scope();
      place_next();
      t.enter_scope();
      return;
    }
    place_next();
    if (part_ == part::straight) {
      t.leave_scope();
      return end_loop();
    }
    t.leave_loop();
    if (part_ == part::single) {
      end_round(1);
      t.leave_scope();
      return end_loop();
    }
    end_round(copies_);
    if (has_rest_ && !rest_known_) {
      const value k = t.variable_register(variable_);
      const value old = t.binary(operation::sub, bounds_.type, k, bounds_.distance(t, copies_));
      const std::uint64_t with_rest = std::uint64_t{copies_} + 1;
      skip_unless(bounds_.before(t, old, bounds_.limit(t, with_rest)));
    }
    t.leave_scope();
    if (!has_rest_) return end_loop();
    if (rest_ != 0) t.place(rest_);
    begin_single();
  }

  // Goes on to the next `copies` rounds while at least that many are left.
  constexpr void end_round(std::uint32_t copies) {
    tracer& t = trace_;
    const value k = t.variable_register(variable_);
    const bool compare_after = copies == 1 && bounds_.sum_fits(t);
    value more = compare_after ? 0 : bounds_.before(t, k, limit_);
    const std::uint32_t start = t.position();
    t.assign(variable_, bounds_.after(t, k, copies), start);
    if (compare_after) more = bounds_.before(t, k, limit_);
    t.branch_if(t.in_register(more), false, head_);
  }

  constexpr void end_loop() {
    if (part_ != part::straight) trace_.leave_body();
    place_exit();
    set_finished();
  }

  // --- in a probe: the same copies, and each round once or twice

  constexpr void begin_probed(std::uint64_t rounds) {
    part_ = layout_.copies == 1 ? part::single : part::main;
    copies_ = layout_.copies;
    has_rest_ = rounds == 0 || rounds % copies_ != 0;
    if (layout_.whole) return begin_straight(1);  // the number of copies is known to the trace alone
    if (!enter_probed()) set_finished();
  }

  constexpr void end_probed_copy() {
    if (++copy_ < copies_) return;
    copy_ = 0;
    if (part_ == part::straight) return set_finished();
    // A rest of at most one round is not repeated.
    const bool runs_once = part_ == part::single && layout_.copies == 2;
    if (!runs_once && repeat_probed()) return;
    if (part_ == part::main && has_rest_) {
      part_ = part::single;
      copies_ = 1;
      return begin_first_round();
    }
    leave_probed();
    set_finished();
  }

  struct reflection {
    value sign = 0;  // 1 or -1; no value: the counter is that of the bounds
    value first = 0;
  };
  struct layout {
    std::uint32_t copies = 1;
    bool whole = false;
    bool rolled = false;
  };

  range_bounds bounds_;
  reflection mirror_;
  layout layout_;
  part part_ = part::single;
  std::uint32_t variable_ = 0;
  std::uint32_t copies_ = 1;
  std::uint32_t copy_ = 0;
  std::uint32_t rest_ = 0;
  value limit_ = 0;
  bool has_rest_ = false;
  bool rest_known_ = false;
};

// for (auto k : t.range(first, last, step)): k = first, first + step, ... while k < last (k > last for a
// negative step). A step that is not a constant may have either sign, and must not be 0.
template <scalar T>
class [[nodiscard(
    "kaio: a range() does nothing by itself; write for (auto k : t.range(first, last))")]] range_loop
    : public range_body {
 public:
  constexpr range_loop(tracer& t, value first, value last, value step)
      : range_body(t, {ptx_type<T>, first, last, step}) {
    if constexpr (std::is_signed_v<T>) mirror();
  }

  // `step` is positive, and no counter is negative.
  static constexpr range_loop upward(tracer& t, value first, value last, value step) {
    return range_loop(t, {ptx_type<T>, first, last, step});
  }

  // Several rounds in each round of the loop, then a loop for the remaining ones.
  template <std::uint32_t Copies>
  constexpr range_loop unroll() const {
    return unroll(Copies);
  }
  constexpr range_loop unroll(std::uint32_t copies) const {
    range_loop result(*this);
    result.set_copies(copies);
    return result;
  }
  // All rounds, one after the other; their number must be known.
  constexpr range_loop unroll() const {
    range_loop result(*this);
    result.set_whole();
    return result;
  }
  // One round at a time, for ptxas too.
  constexpr range_loop no_unroll() const {
    range_loop result(*this);
    result.set_rolled();
    return result;
  }

  constexpr counter<T> current() {
    const value k = this->current_counter(ptx_type<T>);
    return counter<T>(trace_, k, *this);
  }
  constexpr loop_iterator<range_loop> begin() {
    this->begin_loop();
    return {this};
  }
  constexpr loop_end end() const { return {}; }

 private:
  constexpr range_loop(tracer& t, const range_bounds& bounds) : range_body(t, bounds) {}
  constexpr range_loop(const range_loop&) = default;
};

}  // namespace kaio::dsl
