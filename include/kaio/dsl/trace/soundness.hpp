#pragma once
// The soundness check of a kernel's control flow. A kernel is traced with every guard answering true; C++
// code that such a trace never runs (an else), or drops (what follows a break, continue or return in a
// guarded body), would silently be missing from the program. So the kernel is walked again, once for
// each depth of guards, with the guards at that depth answering false. A body of else shows as statements
// while a guard is false; a body left early, or one that the host's own variables steer, shows as other
// statements outside the guards. A walk records nothing, so it costs a fraction of the trace.

#include <kaio/dsl/trace/trace.hpp>

#include <cstdint>

namespace kaio::dsl {

// What statements a walk saw at each depth of guards: how many, and the sum of their lines.
struct walk {
  std::uint64_t events[tracer::max_depth] = {};
  std::uint32_t deepest = 0;
  kernel_fault fault;
};

constexpr walk walk_of(const tracer& t) {
  walk w;
  w.deepest = t.deepest();
  for (std::uint32_t d = 0; d <= w.deepest; ++d) w.events[d] = t.events(d);
  w.fault = t.fault();
  return w;
}

// Compares the trace with the walk whose guards at `depth` (from 1) were false.
constexpr bool agree(const walk& trace, const walk& probe, std::uint32_t depth) {
  for (std::uint32_t d = 0; d < depth; ++d)
    if (trace.events[d] != probe.events[d]) return false;
  return true;
}

// The guard after which two walks that do not agree part: `all` took every guard, `probe` none at `depth`.
constexpr ptx::source_line parting(const statement_log& all, const statement_log& probe,
                                   std::uint32_t depth) {
  ptx::source_line guard;
  std::uint32_t seen = 0;
  for (std::uint32_t i = 0; i < all.count; ++i) {
    const statement_log::entry& e = all.entries[i];
    if (e.depth >= depth) continue;
    while (seen < probe.count && probe.entries[seen].depth >= depth) ++seen;
    if (seen == probe.count || probe.entries[seen].at.line != e.at.line) break;
    ++seen;
    if (e.is_guard && e.depth + 1 == depth) guard = e.at;
  }
  return guard;
}

inline constexpr const char* left_early =
    "kaio: a body of when() or otherwise() was left by return, break, continue or goto, or assigns a variable of the host; guard the rest with otherwise(), write l.break_if(condition), or use a var";

}  // namespace kaio::dsl
