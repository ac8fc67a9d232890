#include "emulator/sanitizer/state/preceding.hpp"

#include <algorithm>

namespace kaio::emulator::sanitizing {
namespace {

bool executes(const entry& kernel, grid_dependency_form form) {
  return std::any_of(kernel.code.begin(), kernel.code.end(), [&](const instruction& i) {
    return i.op == operation::griddepcontrol && static_cast<grid_dependency_form>(i.form) == form;
  });
}

// True if no block lets others begin before it has waited itself: a wait without a guard or a branch before it leads.
bool waits_first(const entry& kernel) {
  for (const instruction& i : kernel.code) {
    switch (i.op) {
      case operation::griddepcontrol:
        return static_cast<grid_dependency_form>(i.form) == grid_dependency_form::wait && i.guard == 0 &&
               i.guard_inverted == 0;
      case operation::bra:
      case operation::brx:
      case operation::call:
      case operation::ret:
      case operation::exit:
      case operation::trap: return false;
      default: break;
    }
  }
  return false;
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
  } else if (waits_first_) {
    names_.erase(names_.begin(), names_.begin() + (present_ - 1 - first_));
    first_ = present_ - 1;
  }
  waits_first_ = waits_first(g.kernel);
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
