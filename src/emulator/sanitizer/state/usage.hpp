#pragma once
// How each instruction of a kernel uses its registers, for the check of uninitialised values. Code may move a
// value about before it uses it. So a copy of an unwritten value counts as unwritten, and is reported at its
// use as a number, an address or a condition.

#include "emulator/program/program.hpp"

#include <unordered_map>
#include <vector>

namespace kaio::emulator::sanitizing {

enum class use : u8 {
  all,      // every register that is read must have been written
  merge,    // bits are combined: unwritten only if all sources are
  select,   // selp: one of two, by a predicate that must have been written
  shuffle,  // the value of another lane
  store,    // registers of the value, not the address
  load,
  call,  // the functions' registers are passed on
  ignore,
};

inline constexpr u32 no_register = 0xffffffffu;

struct usage {
  use how = use::all;
  u32 guard = no_register;
};

class usages {
 public:
  explicit usages(const entry& kernel);
  const usage& of(u32 pc) const { return table_[pc]; }
  u32 register_at(u32 row) const {
    const auto found = of_row_.find(row);
    return found == of_row_.end() ? no_register : found->second;
  }
  // Calls `f` for the registers into which a call or a return puts values.
  template <class Function>
  void for_handed_over(const entry& kernel, Function&& f) const {
    const auto each = [&](const std::vector<transfer>& places) {
      for (const transfer& t : places)
        if (const u32 reg = register_at(t.row); t.row != no_row && reg != no_register) f(reg);
    };
    for (const callable& c : kernel.functions) each(c.parameters);
    for (const call_site& s : kernel.calls) each(s.results);
  }

 private:
  std::vector<usage> table_;
  std::unordered_map<u32, u32> of_row_;
};

}  // namespace kaio::emulator::sanitizing
