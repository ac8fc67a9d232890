#include "emulator/sanitizer/checks/matrices.hpp"

#include "emulator/instructions/matrix/wgmma.hpp"
#include "emulator/machine/raise_fault.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <utility>

namespace kaio::emulator::sanitizing {

matrix_check::matrix_check(watched_block& b)
    : grid_(b.grid), block_(b), register_count_(b.of.launched.kernel.register_rows.size()) {
  const auto& code = b.of.launched.kernel.code;
  const auto multiplies = [](const instruction& i) { return i.op == operation::wgmma_mma; };
  if (!grid_.reports.wants(check::async) || std::none_of(code.begin(), code.end(), multiplies)) return;
  fences_.resize(b.warps);
  touched_.resize(register_count_ * b.warps);
}

void matrix_check::start() {
  std::fill(fences_.begin(), fences_.end(), 1u);
  std::fill(touched_.begin(), touched_.end(), 1u);  // the first product needs a fence
}

void matrix_check::report(warp& w, const instruction& i, u32 row, std::string detail, std::string advice) {
  fault_report r;
  r.kind = fault_kind::asynchronous;
  identify(w, i, static_cast<unsigned>(std::countr_zero(w.active)), r);
  const u32 reg = grid_.uses.register_at(row);
  r.detail = fmt::format("register {} {}",
                         reg == no_register ? "" : block_.of.launched.kernel.register_names[reg], detail);
  r.advice = std::move(advice);
  grid_.reports.report(check::async, std::move(r));
}

// Registers of products in flight belong to these. Registers that the warp wrote belong to products after the
// next wgmma.fence.
void matrix_check::before(warp& w, const instruction& i) {
  const entry& kernel = block_.of.launched.kernel;
  const u32* const reads = kernel.uses.data() + i.uses;
  const auto touched = [&](u32 reg) -> u32& {
    return touched_[std::size_t{w.index} * register_count_ + reg];
  };
  u32& fences = fences_[w.index];
  if (i.op == operation::wgmma_fence) {
    ++fences;
    return;
  }
  if (i.op == operation::wgmma_mma) {
    const wgmma_form form = form_of(i);
    const u32 count = form.registers() + (form.has(wgmma_form::a_registers) ? 4 : 0);
    for (u32 k = 0; k < count; ++k) {
      const u32 row = kernel.rows[i.rows + k], reg = grid_.uses.register_at(row);
      if (reg != no_register && touched(reg) == fences)
        report(
            w, i, row,
            std::string(
                fences == 1
                    ? grid_.say("is given to the kernel's first product outside of a wgmma_batch",
                                "is given to the first wgmma.mma_async of the kernel without a wgmma.fence")
                    : grid_.say(
                          "was written since the last wgmma_batch was opened, and is given to a product",
                          "was written since the last wgmma.fence and is given to wgmma.mma_async")),
            std::string(grid_.say(
                "open a wgmma_batch after the last write of the registers of a product",
                "execute wgmma.fence.sync.aligned between the last write of the registers of a product and its wgmma.mma_async, and before the first one")));
    }
    return;
  }
  const bool busy = w.matrices != nullptr && !w.matrices->members[rank_in_warpgroup(w)].registers.empty();
  for (u32 k = 0; k < u32{i.reads} + i.writes; ++k) {
    const u32 reg = reads[k];
    if (k >= i.reads) touched(reg) = fences;
    if (!busy) continue;
    const u32 row = kernel.register_rows[reg];
    const auto& registers = w.matrices->members[rank_in_warpgroup(w)].registers;
    const auto found = registers.find(row);
    if (found == registers.end() || (k < i.reads && !found->second.destination)) continue;
    report(w, i, row,
           fmt::format("is {} while a {} that uses it is under way", k < i.reads ? "read" : "written",
                       grid_.say("product", "wgmma.mma_async")),
           std::string(grid_.say(
               "end the C++ block of the product's wgmma_batch and call wgmma_wait<0>(t) first",
               "commit the product with wgmma.commit_group and wait for it with wgmma.wait_group first")));
  }
}

}  // namespace kaio::emulator::sanitizing
