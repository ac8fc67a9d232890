#pragma once
// Control flow. A guard's constructor emits the branch and its destructor the label, so a guarded body is an
// ordinary block; a loop object runs its body once, while tracing, between the loop's head and end.
//
//   if (auto in_range = t.when(i < n)) { ... }
//   if (auto out_of_range = t.otherwise()) { ... }        // directly after the body of a when()
//   for (auto k : t.range(0u, n, 32u)) { ... }            // k is a val<u32>
//   for (auto l : t.loop()) { l.break_if(done); ... }
//
// C++ takes its own decisions before the device ever runs, so what it skips would be missing from the program without
// a word: an `else`, and what follows a break, continue, return or goto. Both are compile errors: a loop notices that
// the end of its body was not reached, and the kernel is walked again with the guards answering false (soundness.hpp).

#include <kaio/dsl/val.hpp>

#include <cstdint>

namespace kaio::dsl {

// The body of a when() or an otherwise(). It converts to true where the body is to be traced.
class [[nodiscard]] guard {
 public:
  // Runs the body where `condition` holds.
  constexpr guard(tracer& t, value condition) : trace_(t) {
    if (!enter()) return;
    label_ = t.new_label();
    t.branch_if(t.in_register(condition), true, label_);
    t.enter_scope();
  }

  // Runs the body where the guard just before did not.
  constexpr explicit guard(tracer& t) : trace_(t) {
    if (!enter()) return;
    if (!t.follows_when()) kernel_error("kaio: otherwise() must directly follow the body of a when()");
    const std::uint32_t skipped = t.operand_at(t.last(), 0).index;
    t.remove_last();
    label_ = t.new_label();
    t.branch(label_);
    t.place(skipped);
    t.enter_scope();
    is_otherwise_ = true;
  }

  guard(const guard&) = delete;
  guard& operator=(const guard&) = delete;

  constexpr ~guard() {
    if (!taken_) {
      if (trace_.all_events() != events_)
        kernel_error(
            "kaio: a C++ else after when() or otherwise() is never run; write if (auto g = t.otherwise())");
      return;
    }
    trace_.leave_guard();
    if (trace_.probing()) return;
    trace_.leave_scope();
    trace_.place(label_);
    if (!is_otherwise_) trace_.when_ended();
  }

  constexpr explicit operator bool() const& { return taken_; }
  // A guard without a name would end before the body begins.
  template <std::same_as<bool> B>
  constexpr explicit operator B() && {
    static_assert(
        never<B>,
        "kaio: the guard needs a name to live as long as its body; write if (auto g = t.when(condition))");
    return false;
  }

 private:
  // Whether there is something to record.
  constexpr bool enter() {
    taken_ = trace_.guard_is_taken();
    if (!taken_)
      events_ = trace_.all_events();
    else
      trace_.enter_guard();
    return taken_ && !trace_.probing();
  }

  tracer& trace_;
  bool taken_ = true;
  bool is_otherwise_ = false;
  std::uint32_t label_ = 0;
  std::uint32_t events_ = 0;
};

// What the loops share: the labels, and a body that is run once and must reach its end.
class loop_body {
 public:
  constexpr explicit loop_body(tracer& t) : trace_(t) {}
  loop_body(const loop_body&) = delete;
  loop_body& operator=(const loop_body&) = delete;
  constexpr ~loop_body() {
    if (!finished_)
      kernel_error(
          "kaio: the body of a range() or loop() was left by break, return or goto; write "
          "l.break_if(condition)");
  }

  constexpr tracer& trace() const { return trace_; }
  constexpr bool is_finished() const { return finished_; }

  constexpr void jump_if(value condition, bool out) {
    std::uint32_t& label = out ? exit_ : next_;
    if (label == 0) label = trace_.new_label();
    trace_.branch_if(trace_.in_register(condition), false, label);
  }

 protected:
  constexpr void place_next() {
    if (next_ != 0) trace_.place(next_);
  }
  constexpr void place_exit() {
    if (exit_ != 0) trace_.place(exit_);
  }

  tracer& trace_;
  std::uint32_t head_ = 0;
  std::uint32_t next_ = 0;
  std::uint32_t exit_ = 0;
  bool finished_ = false;
};

// Leaving a loop early, and skipping to its next round, by a device condition.
class loop_control {
 public:
  constexpr explicit loop_control(loop_body& body) : body_(&body) {}

  template <device C>
  constexpr void break_if(const C& condition, std::uint32_t line = __builtin_LINE(),
                          const char* file = __builtin_FILE()) const {
    jump(condition, true, line, file);
  }
  template <device C>
  constexpr void continue_if(const C& condition, std::uint32_t line = __builtin_LINE(),
                             const char* file = __builtin_FILE()) const {
    jump(condition, false, line, file);
  }

 private:
  template <class C>
  constexpr void jump(const C& condition, bool out, std::uint32_t line, const char* file) const {
    static_assert(std::is_same_v<element<C>, bool>,
                  "kaio: break_if and continue_if take a condition; write x != 0");
    tracer& t = body_->trace();
    t.statement(line, file);
    const value c = lower(t, condition.node());
    if (!t.probing()) body_->jump_if(c, out);
  }

  loop_body* body_;
};

// The counter of a range(): a val that can also leave the loop.
template <scalar T>
class counter : public val<T>, public loop_control {
 public:
  constexpr counter(tracer& t, value id, loop_body& body) : val<T>(t, id), loop_control(body) {}
};

// A loop's body is run once: from begin() to the first ++, which ends the loop.
struct loop_end {};
template <class Loop>
struct loop_iterator {
  Loop* loop;
  constexpr auto operator*() const { return loop->current(); }
  constexpr void operator++() const { loop->finish(); }
  constexpr bool operator!=(loop_end) const { return !loop->is_finished(); }
};

// for (auto k : t.range(first, last, step)): k = first, first + step, ... while k < last (k > last for a
// negative step). As in C++, the step over the end must not overflow.
template <scalar T>
class [[nodiscard]] range_loop : public loop_body {
 public:
  // `step` is a device value of an unsigned type, or a constant.
  constexpr range_loop(tracer& t, value first, value last, value step)
      : loop_body(t), last_(last), step_(step) {
    if (t.probing()) return;
    constexpr ptx::type type = ptx_type<T>;
    if (t.is_constant(step)) {
      if (t.bits_of(step) == 0) kernel_error("kaio: the step of a range() is 0");
      down_ = ptx::is_signed(type) && static_cast<std::int64_t>(t.bits_of(step)) < 0;
    } else if (ptx::is_signed(type)) {
      kernel_error("kaio: the step of a signed range() must be a constant, so that its direction is known");
    }
    variable_ = t.new_variable(type);
    t.assign(variable_, first, t.position());
    const value enter = t.compare(down_ ? operation::gt : operation::lt, type, first, last);
    if (!t.is_constant(enter)) {
      exit_ = t.new_label();
      t.branch_if(enter, true, exit_);
    } else if (t.bits_of(enter) == 0) {
      exit_ = t.new_label();
      t.branch(exit_);
    }
    head_ = t.new_label();
    t.enter_loop();
    t.place(head_);
  }

  constexpr counter<T> current() {
    return counter<T>(trace_, trace_.probing() ? 0 : trace_.variable_register(variable_), *this);
  }
  constexpr loop_iterator<range_loop> begin() { return {this}; }
  constexpr loop_end end() const { return {}; }

  constexpr void finish() {
    finished_ = true;
    if (trace_.probing()) return;
    constexpr ptx::type type = ptx_type<T>;
    place_next();
    const value k = trace_.variable_register(variable_);
    trace_.leave_loop();
    const std::uint32_t start = trace_.position();
    trace_.assign(variable_, trace_.binary(operation::add, type, k, step_), start);
    trace_.branch_if(trace_.compare(down_ ? operation::gt : operation::lt, type, k, last_), false, head_);
    place_exit();
  }

 private:
  value last_;
  value step_;
  std::uint32_t variable_ = 0;
  bool down_ = false;
};

// for (auto l : t.loop()): repeats until l.break_if(condition).
class [[nodiscard]] endless_loop : public loop_body {
 public:
  constexpr explicit endless_loop(tracer& t) : loop_body(t) {
    if (t.probing()) return;
    head_ = t.new_label();
    t.enter_loop();
    t.place(head_);
  }

  constexpr loop_control current() { return loop_control(*this); }
  constexpr loop_iterator<endless_loop> begin() { return {this}; }
  constexpr loop_end end() const { return {}; }

  constexpr void finish() {
    finished_ = true;
    if (trace_.probing()) return;
    if (exit_ == 0)
      kernel_error("kaio: a loop() that nothing leaves; write l.break_if(condition) in its body");
    place_next();
    trace_.leave_loop();
    trace_.branch(head_);
    place_exit();
  }
};

}  // namespace kaio::dsl
