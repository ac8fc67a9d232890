#include "emulator/sanitizer/state/origins.hpp"

#include <cstddef>
#include <unordered_map>

namespace kaio::emulator::sanitizing {
namespace {

// What a row holds, in all lanes and at all times: nothing yet, a number, a variable's address (its index in
// entry::known_addresses plus first_variable), or now this and now that.
using origin = u32;
constexpr origin nothing = 0, number = 1, mixed = 2, first_variable = 3;

origin joined(origin a, origin b) {
  if (a == nothing || a == b) return b;
  return b == nothing ? a : mixed;
}

origin sum(origin a, origin b) {
  if (a == nothing || b == nothing) return nothing;
  if (a == number) return b;
  return b == number ? a : mixed;
}

origin difference(origin a, origin b) {
  if (a == nothing || b == nothing) return nothing;
  if (b == number) return a;
  return a >= first_variable && b >= first_variable ? number : mixed;
}

class origin_analysis {
 public:
  explicit origin_analysis(const entry& kernel) : kernel_(kernel) {
    for (const instruction& i : kernel.code) for_results(i, [&](u32 row, bool) { at_[row] = nothing; });
    for (u32 k = 0; k < kernel.known_addresses.size(); ++k)
      if (const known_address& a = kernel.known_addresses[k]; a.row != no_row) at_[a.row] = variable_of(k);
    // Every pass that goes on raises a row by a step of three.
    for (bool changes = true; changes;) {
      changes = false;
      for (const instruction& i : kernel.code)
        for_results(i, [&](u32 row, bool followed) {
          origin& held = at_[row];
          const origin next = joined(held, followed ? result_of(i) : number);
          changes = changes || next != held;
          held = next;
        });
    }
  }

  origin of_row(u32 row) const {
    const auto found = at_.find(row);
    return found == at_.end() ? number : found->second;
  }

 private:
  // All known addresses of one variable have the number of the first.
  origin variable_of(u32 k) const {
    u32 first = 0;
    while (!kernel_.known_addresses[first].same_variable(kernel_.known_addresses[k])) ++first;
    return first_variable + first;
  }

  static bool is_followed(const instruction& i) {
    switch (i.op) {
      case operation::mov:
      case operation::add:
      case operation::sub:
      case operation::mad_lo:
      case operation::mad_wide:
      case operation::cvt:
      case operation::selp:
      case operation::to_generic:
      case operation::from_generic: return true;
      default: return false;
    }
  }

  // The rows that an instruction writes; `followed`: the first of them has the origin result_of().
  template <class Function>
  void for_results(const instruction& i, Function&& f) const {
    if (is_followed(i)) f(i.to[0], true);
    for (u32 k = 0; k < i.writes; ++k) {
      const u32 row = kernel_.register_rows[kernel_.uses[i.uses + i.reads + k]];
      if (!is_followed(i) || row != i.to[0]) f(row, false);
    }
    if (i.op != operation::call && i.op != operation::ret) return;
    const auto handed_over = [&](const std::vector<transfer>& places) {
      for (const transfer& t : places)
        if (t.row != no_row) f(t.row, false);
    };
    for (const callable& c : kernel_.functions) handed_over(c.parameters);
    for (const call_site& s : kernel_.calls) handed_over(s.results);
  }

  origin result_of(const instruction& i) const {
    const origin a = of_row(i.from[0]);
    switch (i.op) {
      case operation::add: return sum(a, of_row(i.from[1]));
      case operation::sub: return difference(a, of_row(i.from[1]));
      case operation::mad_lo:
      case operation::mad_wide: {
        const origin b = of_row(i.from[1]);
        if (a == nothing || b == nothing) return nothing;
        return a == number && b == number ? of_row(i.from[2]) : mixed;
      }
      case operation::selp: return joined(a, of_row(i.from[1]));
      default: return a;
    }
  }

  const entry& kernel_;
  std::unordered_map<u32, origin> at_;
};

bool accesses(const instruction& i) {
  return i.op == operation::ld || i.op == operation::st || i.op == operation::atom || i.op == operation::red;
}

}  // namespace

address_origins::address_origins(const entry& kernel) {
  if (kernel.known_addresses.empty()) return;
  of_site_.resize(kernel.sites);
  for (const known_address& a : kernel.known_addresses)
    if (a.row == no_row) of_site_[a.site] = &a;
  const origin_analysis rows(kernel);
  for (const instruction& i : kernel.code) {
    if (!accesses(i) || i.from_bytes == 0) continue;
    const origin o = rows.of_row(i.from[0]);
    if (o >= first_variable) of_site_[i.site] = &kernel.known_addresses[o - first_variable];
  }
}

}  // namespace kaio::emulator::sanitizing
