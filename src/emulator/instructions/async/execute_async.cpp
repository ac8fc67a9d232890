// cp.async and its groups (PTX ISA, "Data Movement and Conversion Instructions: cp.async"), and instructions
// without an effect of their own on one emulated device: proxy fences, griddepcontrol, setmaxnreg.

#include "emulator/instructions/async/execute_async.hpp"
#include "emulator/machine/raise_fault.hpp"

#include "emulator/instructions/async/async_address.hpp"
#include "emulator/machine/block.hpp"
#include "emulator/machine/cluster.hpp"
#include "emulator/machine/lanes.hpp"

#include <fmt/format.h>

#include <bit>
#include <utility>

namespace kaio::emulator {
namespace {

void copy(warp& w, const instruction& i, u32 mask) {
  const transfer_operands& operands = w.owner->launched.kernel.transfers[i.detail];
  const u32 ignored = condition(w, i, 2);
  thread_copy c;
  c.issued = &i;
  c.lanes = mask;
  c.bytes = i.count;
  for_lanes(mask, [&](unsigned lane) {
    const u32 given = get<u32>(w.file + i.from[1], lane);
    if (given > i.count) {
      fault_report report;
      report.kind = fault_kind::bulk_copy;
      report.detail = fmt::format("the source size {} of cp.async is greater than its size, {}", given,
                                  unsigned{i.count});
      raise_fault(w, i, lane, std::move(report));
    }
    const u32 bytes = (ignored >> lane & 1) != 0 ? 0 : given;
    c.to[lane] = find_location(w, i, operands.to, lane, i.count, i.count, access_kind::write).at;
    c.from[lane] =
        bytes == 0 ? nullptr : find_location(w, i, operands.from, lane, bytes, i.count, access_kind::read).at;
    c.read[lane] = static_cast<u8>(bytes);
  });
  w.owner->group.async.issue_copy(w, c);
}

void commit_group(warp& w, const instruction&, u32 mask) { w.owner->group.async.commit_copies(w, mask); }

void wait_group(warp& w, const instruction& i, u32 mask) {
  w.owner->group.async.wait_copies(w, i, mask, static_cast<u32>(i.immediate));
}

void wait_all(warp& w, const instruction& i, u32 mask) { w.owner->group.async.wait_all_copies(w, i, mask); }

void nothing(warp&, const instruction&, u32) {}

handler copy_handler(const instruction& i) {
  if (i.op == operation::cp_async) return &copy;
  if (i.op != operation::cp_async_group) return nullptr;
  switch (static_cast<copy_group_form>(i.form)) {
    case copy_group_form::commit: return &commit_group;
    case copy_group_form::wait: return &wait_group;
    case copy_group_form::wait_all: return &wait_all;
    default: return nullptr;
  }
}

handler effectless_handler(const instruction& i) {
  const bool effectless =
      i.op == operation::proxy_fence || i.op == operation::griddepcontrol || i.op == operation::setmaxnreg;
  return effectless ? &nothing : nullptr;
}

}  // namespace

handler async_handler(const instruction& i) {
  for (const auto family :
       {copy_handler, mbarrier_handler, bulk_handler, tensor_handler, tensormap_handler, effectless_handler})
    if (const handler h = family(i); h != nullptr) return h;
  return nullptr;
}

}  // namespace kaio::emulator
