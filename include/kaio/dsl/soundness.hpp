#pragma once
// The soundness check of a kernel's control flow. A kernel is traced with every guard answering true; C++
// code that such a trace never runs (an else), or drops (what follows a break, continue or return in a
// guarded body), would be missing from the program without a word. So the kernel is walked again, once for
// each depth of guards, with the guards at that depth answering false. A body of else shows as statements
// while a guard is false; a body left early shows as different numbers of statements outside the guards. A
// walk records nothing, so it costs a fraction of the trace.

#include <kaio/dsl/trace/tracer.hpp>

#include <cstdint>

namespace kaio::dsl {

// How many statements a walk saw at each depth of guards.
struct walk {
  std::uint32_t events[recorder::max_depth] = {};
  std::uint32_t deepest = 0;
};

constexpr walk walk_of(const tracer& t) {
  walk w;
  w.deepest = t.deepest();
  for (std::uint32_t d = 0; d <= w.deepest; ++d) w.events[d] = t.events(d);
  return w;
}

// Compares the trace with the walk whose guards at `depth` (from 1) were false.
constexpr bool agree(const walk& trace, const walk& probe, std::uint32_t depth) {
  for (std::uint32_t d = 0; d < depth; ++d)
    if (trace.events[d] != probe.events[d])
      kernel_error(
          "kaio: a body of when() or otherwise() was left by return, break, continue or goto; "
          "guard the rest with otherwise(), or write l.break_if(condition)");
  return true;
}

}  // namespace kaio::dsl
