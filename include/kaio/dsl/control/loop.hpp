#pragma once
// The common part of loops. A loop object runs its body while tracing, between the loop's head and its end. The body is
// an ordinary block, traced once, or once for each copy of an unrolled loop.
//
//   for (auto l : t.loop()) { l.break_if(done); ... }     // until a condition
//   for (auto k : t.range(0u, n, 32u)) { ... }            // range.hpp
//
// A break, return or goto out of the body would leave it half recorded: the loop notices that its end was not reached.
// On the device, break_if leaves the loop.
//
// The compiler runs the body once for all rounds, so the body must do the same with variables of the host in each
// round. One probe of the kernel runs the body twice and compares what it sees; another one leaves it out
// (trace/soundness.hpp).

#include <kaio/dsl/expression/val.hpp>

#include <cstdint>

namespace kaio::dsl {

// The labels of a loop, and a body that must reach its end.
class loop_body {
 public:
  constexpr explicit loop_body(tracer& t) : trace_(t), scope_(t.scope()) {}
  loop_body(const loop_body&) = delete;
  loop_body& operator=(const loop_body&) = delete;
  constexpr ~loop_body() {
    if (progress_ == progress::running)
      trace_.fail(
          "kaio: the body of a range() or loop() was left by break, return or goto; write l.break_if(condition)");
  }

  constexpr tracer& trace() const { return trace_; }
  constexpr bool is_finished() const { return progress_ == progress::finished; }

  constexpr void jump_if(value condition, bool out) {
    std::uint32_t& label = out ? exit_ : next_;
    if (label == 0) label = trace_.new_label();
    trace_.branch_if(trace_.in_register(condition), false, label);
  }

 protected:
  constexpr void start() {
    if (progress_ != progress::waiting) trace_.fail_next("kaio: a range() or loop() runs once; make another");
    if (!trace_.is_open(scope_))
      trace_.fail_next("kaio: a range() or loop() was used outside the guarded body or loop that made it");
    progress_ = progress::running;
  }
  constexpr void set_finished() { progress_ = progress::finished; }

  constexpr void enter(bool keep_rolled = false) {
    head_ = trace_.new_label();
    trace_.enter_loop();
    trace_.place(head_);
    if (keep_rolled) trace_.begin(opcode::nounroll, 0, type::none);
  }
  constexpr void place_next() {
    if (next_ != 0) trace_.place(next_);
    next_ = 0;
  }
  constexpr void place_exit() {
    if (exit_ != 0) trace_.place(exit_);
  }

  // --- in a probe

  // Enters the body; false if this walk leaves it out.
  constexpr bool enter_probed() {
    if (!trace_.body_is_run()) {
      if (trace_.is_refused())
        trace_.fail(
            "kaio: the body of a range() or loop() assigns a variable of the host that is used after it; use a var for what the device decides");
      return false;
    }
    entry_ = trace_.seen();
    trace_.enter_body();
    begin_first_round();
    return true;
  }
  constexpr void begin_first_round() {
    trace_.see_again(entry_);
    events_ = trace_.all_events();
    is_second_round_ = false;
  }
  // Whether the body must run once more, in a second round.
  constexpr bool repeat_probed() {
    if (is_second_round_) {
      if (trace_.end_repeated() != events_)
        trace_.fail(
            "kaio: the body of a range() or loop() uses a variable of the host that it changes: the compiler runs the body once for all rounds; use a var, or unroll a range of known bounds");
      return false;
    }
    if (!trace_.repeats_bodies()) return false;
    events_ = trace_.all_events() - events_;
    trace_.see_again(entry_);
    trace_.begin_repeated();
    is_second_round_ = true;
    return true;
  }
  constexpr void leave_probed() {
    trace_.leave_body();
    trace_.see_again(entry_);
  }

  tracer& trace_;
  std::uint32_t head_ = 0;
  std::uint32_t next_ = 0;
  std::uint32_t exit_ = 0;

 private:
  enum class progress : std::uint8_t { waiting, running, finished };
  std::uint32_t scope_;
  progress progress_ = progress::waiting;
  bool is_second_round_ = false;
  std::uint64_t entry_ = 0;   // what was seen before the body
  std::uint64_t events_ = 0;  // of the first round; until it ends, of everything before it
};

// Leaves a loop early, or skips to its next round, on a device condition.
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
    if (t.probing()) return t.see(out);
    body_->jump_if(c, out);
  }

  loop_body* body_;
};

// The iterator of C++'s for loop: each ++ ends a traced body, and the last one ends the loop.
struct loop_end {};
template <class Loop>
struct loop_iterator {
  Loop* loop;
  constexpr auto operator*() const { return loop->current(); }
  constexpr void operator++() const { loop->finish(); }
  constexpr bool operator!=(loop_end) const { return !loop->is_finished(); }
};

// for (auto l : t.loop()): repeats until l.break_if(condition).
class [[nodiscard]] endless_loop : public loop_body {
 public:
  constexpr explicit endless_loop(tracer& t) : loop_body(t) {
    start();
    if (t.probing()) return;
    t.enter_body();
    enter();
  }

  constexpr loop_iterator<endless_loop> begin() {
    if (trace_.probing() && !enter_probed()) set_finished();
    return {this};
  }
  constexpr loop_end end() const { return {}; }
  constexpr loop_control current() { return loop_control(*this); }

  constexpr void finish() {
    if (trace_.probing()) {
      if (repeat_probed()) return;
      leave_probed();
      return set_finished();
    }
    set_finished();
    trace_.leave_body();
    if (exit_ == 0)
      trace_.fail("kaio: a loop() that nothing leaves; write l.break_if(condition) in its body");
    place_next();
    trace_.leave_loop();
    trace_.branch(head_);
    place_exit();
  }
};

}  // namespace kaio::dsl
