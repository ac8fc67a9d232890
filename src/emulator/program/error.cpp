#include "emulator/program/error.hpp"

#include "host/printable.hpp"

#include <fmt/format.h>

namespace kaio::emulator {
namespace {

std::string_view verb(access_kind access) {
  switch (access) {
    case access_kind::read: return "read";
    case access_kind::write: return "write";
    case access_kind::atomic: return "atomic";
    case access_kind::none: break;
  }
  return "access";
}

std::string describe(const nearest_object& object) {
  using relation = nearest_object::relation;
  if (object.where == relation::none) return "no buffer is near it";
  const std::string what =
      object.name.empty()
          ? fmt::format("the {}buffer of {} bytes at {:#x}", object.freed ? "freed " : "", object.bytes,
                        object.address)
          : fmt::format("'{}' of {} bytes at {:#x}", object.name, object.bytes, object.address);
  switch (object.where) {
    case relation::inside: return fmt::format("byte {} of {}", object.distance, what);
    case relation::before: return fmt::format("{} bytes before {}", object.distance, what);
    default: return fmt::format("{} bytes past the end of {}", object.distance, what);
  }
}

std::string describe(const other_access& o) {
  std::string text = fmt::format("\n  the other side: {}", o.how);
  if (!o.file.empty()) text += fmt::format(" from {}:{}\n   ", o.file, o.line);
  text += fmt::format(" at PTX line {}: {}", o.ptx_line, o.ptx_text);
  return text + fmt::format("\n    by block ({}, {}, {}), thread ({}, {}, {}), warp {}, lane {}", o.block.x,
                            o.block.y, o.block.z, o.thread.x, o.thread.y, o.thread.z, o.warp, o.lane);
}

std::string format(const fault_report& r) {
  const std::string origin = r.kernel_origin.empty() ? "" : fmt::format(" ({})", r.kernel_origin);
  std::string text = fmt::format("kaio: kernel '{}'{}: {}", r.kernel, origin, r.detail);
  if (r.access != access_kind::none)
    text += fmt::format("\n  {} of {} bytes of {} memory at {:#x}: {}", verb(r.access), r.bytes, r.space,
                        r.address, describe(r.object));
  if (!r.file.empty()) text += fmt::format("\n  from {}:{}", r.file, r.line);
  if (r.ptx_line != 0) text += fmt::format("\n  PTX line {}: {}", r.ptx_line, r.ptx_text);
  text += fmt::format("\n  block ({}, {}, {}), thread ({}, {}, {}), warp {}, lane {}", r.block.x, r.block.y,
                      r.block.z, r.thread.x, r.thread.y, r.thread.z, r.warp, r.lane);
  if (r.other.ptx_line != 0) text += describe(r.other);
  if (!r.advice.empty()) text += "\n  what to do: " + r.advice;
  for (std::size_t k = 0; k < r.more.size(); ++k)
    text += fmt::format("\nreport {} of {}:\n{}", k + 2, r.more.size() + 1, format(r.more[k]));
  return text;
}

}  // namespace

ptx_error::ptx_error(std::uint32_t line, std::uint32_t column, std::string reason)
    : line_(line),
      column_(column),
      reason_(std::move(reason)),
      message_(host::printable(fmt::format("kaio: PTX line {}, column {}: {}", line, column, reason_))) {}

launch_error::launch_error(std::string_view message) : message_(host::printable(message)) {}

memory_error::memory_error(memory_error_kind kind, std::uint64_t address, std::uint64_t bytes,
                           std::string_view message)
    : kind_(kind), address_(address), bytes_(bytes), message_(host::printable(message)) {}

fault::fault(fault_report report) : report_(std::move(report)), message_(host::printable(format(report_))) {}

}  // namespace kaio::emulator
