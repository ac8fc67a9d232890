#pragma once
// Grids that may still run during the current one. A programmatically launched grid may begin once all blocks of the
// preceding grid have executed griddepcontrol.launch_dependents or ended. That grid may have begun in this way too.
// So until it has waited, such a grid is concurrent with a whole chain of grids (PTX ISA, "griddepcontrol"). The
// chain restarts if the host reads, writes or waits between two grids, and at a grid that is not launched
// programmatically. A chain begins at a grid whose blocks wait before they let others begin: the grids before it have
// ended then. For each word of a buffer this keeps the last users among the grids that let others begin.
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
  // Gives the buffers their words, if the grid has concurrent predecessors, or may be one.
  void begin(const grid& g, std::vector<piece>& buffers);

  // The number of the current grid.
  u32 present() const { return present_; }
  // True if the grid with this number may be concurrent with the current one; 0 is none.
  bool may_run(u32 number) const { return number >= first_ && number < present_; }
  std::string_view name_of(u32 number) const { return names_[number - first_]; }

 private:
  struct buffer_words {
    u64 bytes = 0;
    zeroed_bytes storage;
  };

  u32 present_ = 0, first_ = 0;
  std::vector<std::string> names_;  // from first_ to present_
  bool lets_others_begin_ = false;  // the current grid does
  bool waits_first_ = false;        // and each of its blocks has waited then
  u64 host_steps_ = 0;
  std::map<u64, buffer_words> words_;  // by address; addresses are not reused
};

}  // namespace kaio::emulator::sanitizing
