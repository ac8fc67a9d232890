#pragma once
// Grids that may still run while the present one does. A grid that is launched programmatically may begin when all
// blocks of the grid before it have executed griddepcontrol.launch_dependents or ended, and that one may have begun
// so, too: until it has waited, such a grid is concurrent with a whole chain of others (PTX ISA, "griddepcontrol").
// The chain begins anew where the host reads, writes or waits between two grids, and with a grid that is not launched
// programmatically. What each word of a buffer had last, of the grids that let others begin, is kept here.
//
//   preceding.begin(g, pieces);          // pieces of buffers get their words
//   const auto& writer = p.users[word].writer;
//   if (preceding.may_run(writer.grid)) ... preceding.name_of(writer.grid)

#include "emulator/machine/grid.hpp"
#include "emulator/memory/zeroed_bytes.hpp"
#include "emulator/sanitizer/state/shadow.hpp"

#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace kaio::emulator::sanitizing {

class preceding_grids {
 public:
  // Gives the buffers their words, if the grid has others before it, or may be one of them.
  void begin(const grid& g, std::vector<piece>& buffers);

  // The number of the present grid.
  u32 present() const { return present_; }
  // Whether the grid of this number may run at the same time as the present one; 0 is none.
  bool may_run(u32 number) const { return number >= first_ && number < present_; }
  std::string_view name_of(u32 number) const { return names_[number - first_]; }

 private:
  struct buffer_words {
    u64 bytes = 0;
    zeroed_bytes storage;
  };

  u32 present_ = 0, first_ = 0;
  std::vector<std::string> names_;  // from first_ to present_
  bool lets_others_begin_ = false;  // the present one does
  u64 host_steps_ = 0;
  std::map<u64, buffer_words> words_;  // by address, which is not given out again
};

}  // namespace kaio::emulator::sanitizing
