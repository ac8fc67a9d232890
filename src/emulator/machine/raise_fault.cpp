#include "emulator/machine/raise_fault.hpp"

#include <fmt/format.h>

#include <string>
#include <utility>

namespace kaio::emulator {

void identify(const warp& w, const instruction& i, unsigned lane, fault_report& report) {
  const block& b = *w.owner;
  report.kernel = b.launched.kernel.name;
  report.kernel_origin = b.launched.kernel_origin;
  report.ptx_line = i.line;
  report.ptx_text = std::string(text_of(b.launched, i));
  report.block = b.index;
  report.thread = thread_of(b.launched, w.index, lane);
  report.warp = w.index;
  report.lane = lane;
  if (const source_place from = source_of(b.launched, i); !from.file.empty()) {
    report.file = from.file;
    report.line = from.line;
  }
}

void raise_fault(const warp& w, const instruction& i, unsigned lane, fault_report report) {
  identify(w, i, lane, report);
  throw fault(std::move(report));
}

void raise_ended(const warp& w, const instruction& i, unsigned lane, const block& other,
                 fault_report report) {
  report.kind = fault_kind::use_after_free;
  report.detail = fmt::format(
      "a thread uses the shared memory of block {} of its cluster, which has ended: let each block wait at a barrier.cluster at its end, until the others have no more use for its shared memory",
      other.rank);
  raise_fault(w, i, lane, std::move(report));
}

}  // namespace kaio::emulator
