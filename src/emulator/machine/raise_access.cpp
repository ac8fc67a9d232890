#include "emulator/machine/raise_access.hpp"

#include "emulator/machine/cluster.hpp"
#include "emulator/machine/locate_object.hpp"
#include "emulator/machine/raise_fault.hpp"

#include <fmt/format.h>

#include <string_view>
#include <utility>

namespace kaio::emulator {

void raise_access(const warp& w, const instruction& i, unsigned lane, access_kind access, state_space space,
                  u64 address, u32 bytes, u32 alignment) {
  block& b = *w.owner;
  if (alignment == 0) alignment = bytes;
  fault_report report;
  report.access = access;
  report.address = address;
  report.bytes = bytes;
  const bool reads = access == access_kind::read;
  const std::string_view verb = reads ? "reads" : access == access_kind::write ? "writes" : "updates";

  state_space home = space;
  u64 offset = address;
  if (space == state_space::generic) {
    home = address < shared_window                 ? state_space::global
           : address < local_window                ? state_space::shared
           : address < constant_window             ? state_space::local
           : address < param_window                ? state_space::constant
           : address - param_window < window_bytes ? state_space::param
                                                   : state_space::generic;
    if (home != state_space::global && home != state_space::generic) offset = address & (window_bytes - 1);
  }
  if (u32 place = 0; home == state_space::shared && offset < window_bytes)
    if (const block* const other = b.group.find(b, static_cast<u32>(offset), place);
        other != nullptr && other != &b && has_ended(*other))
      raise_ended(w, i, lane, *other, std::move(report));
  const u64 total = locate_object(b, home, offset, address, report);

  const bool outside = home == state_space::global
                           ? report.object.where != nearest_object::relation::inside ||
                                 bytes > report.object.bytes - report.object.distance
                           : offset > total || bytes > total - offset;
  const bool read_only = !reads && (home == state_space::constant || home == state_space::param);
  if (report.object.freed && report.object.where == nearest_object::relation::inside) {
    report.kind = fault_kind::use_after_free;
    report.detail = fmt::format("a thread {} a buffer that was freed", verb);
  } else if (read_only) {
    report.kind = fault_kind::read_only;
    report.detail = fmt::format("a thread {} {} memory, which is read-only", verb, report.space);
  } else if (address % alignment != 0) {
    report.kind = fault_kind::misaligned;
    report.detail = fmt::format("a thread {} {} bytes at an address that is not a multiple of {}", verb,
                                bytes, alignment);
  } else if (outside) {
    report.kind = fault_kind::out_of_bounds;
    report.detail = fmt::format("a thread {} out of bounds", verb);
  } else {
    report.kind = fault_kind::out_of_bounds;
    report.detail = fmt::format("a thread {} a buffer that was allocated after the launch", verb);
  }
  raise_fault(w, i, lane, std::move(report));
}

}  // namespace kaio::emulator
