#pragma once
// Guarded bodies. A guard's constructor emits the branch and its destructor the label, so a guarded body is
// an ordinary block.
//
//   if (auto in_range = t.when(i < n)) { ... }
//   if (auto out_of_range = t.otherwise()) { ... }        // directly after the body of a when()
//
// C++ decides before the device runs. Code that it skips would silently be missing from the program: an `else`, and the
// code after a break, continue, return or goto. Both are compile errors: the kernel is walked again with bodies left
// out (soundness.hpp). A variable of the host (int, bool) belongs to the walk, not to the threads. If a guarded body
// assigns one that is used after it, that is an error too. A var keeps what threads decide.

#include <kaio/dsl/expression/expression.hpp>

#include <concepts>
#include <cstdint>

namespace kaio::dsl {

// The body of a when() or an otherwise(). It converts to true if the body is to be traced.
class [[nodiscard(
    "kaio: a guard without a name guards nothing; write if (auto g = t.when(condition))")]] guard {
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
    if (!t.follows_when()) t.fail("kaio: otherwise() must directly follow the body of a when()");
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
      if (trace_.seen() != seen_)
        trace_.fail(
            "kaio: a C++ else after when() or otherwise() is never run; write if (auto g = t.otherwise())");
      return;
    }
    trace_.leave_body();
    if (trace_.probing()) {
      trace_.see_again(seen_);
      return;
    }
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
    taken_ = trace_.body_is_run();
    if (!taken_ && trace_.is_refused())
      trace_.fail(
          "kaio: a body of when() or otherwise() was left by return, break, continue or goto, or assigns a variable of the host that is used after it; guard the rest with otherwise(), write l.break_if(condition), or use a var");
    if (trace_.probing()) seen_ = trace_.seen();
    if (taken_) trace_.enter_body();
    return taken_ && !trace_.probing();
  }

  tracer& trace_;
  bool taken_ = true;
  bool is_otherwise_ = false;
  std::uint32_t label_ = 0;
  std::uint64_t seen_ = 0;  // what a probe has seen before the body
};

}  // namespace kaio::dsl
