#include "emulator/sanitizer/state/preceding.hpp"

#include <algorithm>

namespace kaio::emulator::sanitizing {
namespace {

bool executes(const entry& kernel, grid_dependency_form form) {
  return std::any_of(kernel.code.begin(), kernel.code.end(), [&](const instruction& i) {
    return i.op == operation::griddepcontrol && static_cast<grid_dependency_form>(i.form) == form;
  });
}

}  // namespace

void preceding_grids::begin(const grid& g, std::vector<piece>& buffers) {
  const u64 steps = g.global.host_steps();
  const bool follows = g.programmatic && lets_others_begin_ && steps == host_steps_;
  host_steps_ = steps;
  ++present_;
  if (!follows) {
    first_ = present_;
    names_.clear();
    words_.clear();
  }
  names_.push_back(g.kernel.name);
  lets_others_begin_ = executes(g.kernel, grid_dependency_form::launch_dependents);
  if (!follows && !lets_others_begin_) return;
  for (piece& p : buffers) {
    buffer_words& words = words_[p.address];
    if (words.bytes != p.bytes) words = {p.bytes, zeroed_bytes((p.bytes + 3) / 4 * sizeof(word_users))};
    p.users = reinterpret_cast<word_users*>(words.storage.data());
  }
}

}  // namespace kaio::emulator::sanitizing
