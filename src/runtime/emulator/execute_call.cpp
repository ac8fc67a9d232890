// The functions of the system that a kernel calls: vprintf and __assertfail.

#include "runtime/emulator/address.hpp"
#include "runtime/emulator/block.hpp"
#include "runtime/emulator/execute.hpp"
#include "runtime/emulator/lanes.hpp"
#include "runtime/emulator/print.hpp"

#include <fmt/format.h>

#include <cstring>
#include <string>
#include <utility>

namespace kaio::runtime::emulator {
namespace {

constexpr std::size_t longest_text = std::size_t{1} << 16;

std::string text_at(warp& w, const instruction& i, unsigned lane, u64 address) {
  std::string result;
  for (; result.size() < longest_text; ++address) {
    const auto c = std::to_integer<char>(*readable(w, i, lane, address, 1));
    if (c == '\0') break;
    result += c;
  }
  return result;
}

void print(warp& w, const instruction& i, u32 mask) {
  std::string& out = *w.owner->launched.printed;
  for_lanes(mask, [&](unsigned lane) {
    const std::string format = text_at(w, i, lane, get<u64>(w.file + i.from[0], lane));
    u64 at = get<u64>(w.file + i.from[1], lane);
    print_source source;
    source.next = [&](u32 bytes) {
      at = (at + bytes - 1) & ~u64{bytes - 1};
      u64 value = 0;
      std::memcpy(&value, readable(w, i, lane, at, bytes), bytes);
      at += bytes;
      return value;
    };
    source.text = [&](u64 address) { return text_at(w, i, lane, address); };
    const u32 arguments = print_formatted(out, format, source);
    put(w.file + i.to[0], lane, arguments);
  });
}

void assert_fail(warp& w, const instruction& i, u32 mask) {
  const auto lane = static_cast<unsigned>(std::countr_zero(mask));
  const auto text = [&](unsigned slot) { return text_at(w, i, lane, get<u64>(w.file + i.from[slot], lane)); };
  fault_report report;
  report.kind = fault_kind::device_assert;
  const std::string message = text(0), file = text(1), function = text(3);
  report.detail = fmt::format("assertion '{}' failed at {}:{} in {}", message, file,
                              get<u32>(w.file + i.from[2], lane), function);
  w.owner->raise(w, i, lane, std::move(report));
}

}  // namespace

handler call_handler(const instruction& i) {
  switch (i.op) {
    case operation::print: return &print;
    case operation::assert_fail: return &assert_fail;
    default: return nullptr;
  }
}

}  // namespace kaio::runtime::emulator
