#include <kaio/runtime/copy.hpp>

#include <kaio/runtime/detail/reaches.hpp>
#include <kaio/runtime/error.hpp>

#include <limits>

#include "runtime/base/text.hpp"
#include "runtime/checked_memory.hpp"
#include "runtime/context.hpp"
#include "runtime/open_devices.hpp"
#include "runtime/stream_access.hpp"
#include "runtime/trace/work.hpp"
#include "runtime/validate.hpp"

namespace kaio::runtime::detail {

void check_memory(const char* operation, const char* which, const ptx::argument& memory, const context& on) {
  const bool empty = memory.device != nullptr && memory.bytes == 0;
  if (memory.bits == 0 && !empty)
    throw invalid_argument(
        text("kaio: ", operation, ' ', which,
             " null memory; it was never allocated, was released, or was moved from: allocate "
             "or upload a buffer"));
  if (memory.device != nullptr && !reaches(&on, memory.device))
    throw invalid_argument(text("kaio: ", operation, ' ', which, " memory of another device than ",
                                on.description(),
                                "; call device::enable_access first, or use a stream of that device"));
}

void check_copy(const ptx::argument& to, const ptx::argument& from) {
  if (to.bytes != from.bytes)
    throw invalid_argument(text("kaio: copy of ", from.bytes, " bytes into ", to.bytes,
                                " bytes; both must have the same size: slice the larger one"));
  if (overlap(to, from) && to.bits != from.bits)
    throw invalid_argument(text("kaio: copy of ", from.bytes,
                                " bytes between ranges that overlap; copy through "
                                "another buffer"));
}

namespace {

// The device that has the memory: that of the stream, or another open one of the same kind, which `keep` holds.
context& owner_of(const char* which, const ptx::argument& memory, context& on, context_ref& keep) {
  if (memory.device == nullptr || memory.device == &on) return on;
  keep = find_open(memory.device);
  const bool same_kind = keep && keep->properties().is_emulator() == on.properties().is_emulator();
  if (!same_kind)
    throw invalid_argument(text("kaio: copy ", which, " memory of ",
                                keep ? keep->description() : "a closed device", " in a stream of ",
                                on.description(), "; download it and upload it there"));
  return *keep.get();
}

void check_rows(const char* which, const pitched_bytes& p, std::uint64_t width, std::uint64_t rows) {
  if (rows > 1 && p.pitch < width)
    throw invalid_argument(text("kaio: copy_rows ", which, " rows that are ", p.pitch,
                                " bytes apart and have ", width, "; the pitch must be at least the width"));
  if (rows == 0 || width == 0) return;
  const bool fits = width <= p.memory.bytes && (rows == 1 || rows - 1 <= (p.memory.bytes - width) / p.pitch);
  if (!fits)
    throw invalid_argument(text("kaio: copy_rows ", which, ' ', rows, " rows of ", width,
                                " bytes with a pitch of ", p.pitch, " in memory of ", p.memory.bytes,
                                " bytes; the rows must be inside of it"));
}

}  // namespace

void copy(const stream& s, const ptx::argument& to, const ptx::argument& from) {
  context& on = device_of(s, "copy");
  backend& device = on.use();
  context_ref keep_to, keep_from;
  context& target = owner_of("into", to, on, keep_to);
  context& source = owner_of("from", from, on, keep_from);
  check_memory("copy", "into", to, target);
  check_memory("copy", "from", from, source);
  check_copy(to, from);
  if (to.bytes == 0 || (to.bits == from.bits && &target == &source) || stream_access::is_loading(s)) return;
  const backend::native_stream native = stream_access::native(s);
  const bool here = &target == &on && &source == &on;
  const trace::work traced(device, native,
                           [&] { return trace::copy(here ? "on device" : "between devices", to.bytes); });
  if (here)
    device.copy_on_device(to.bits, from.bits, to.bytes, native);
  else
    device.copy_between(to.bits, target.use(), from.bits, source.use(), to.bytes, native);
}

void copy_rows(const stream& s, const pitched_bytes& to, const pitched_bytes& from, std::uint64_t width,
               std::uint64_t rows) {
  context& on = device_of(s, "copy_rows");
  backend& device = on.use();
  check_memory("copy_rows", "into", to.memory, on);
  check_memory("copy_rows", "from", from.memory, on);
  check_rows("into", to, width, rows);
  check_rows("from", from, width, rows);
  if (width == 0 || rows == 0 || stream_access::is_loading(s)) return;
  const trace::work traced(device, stream_access::native(s),
                           [&] { return trace::copy("rows on device", width * rows); });
  device.copy_rows({.to = to.memory.bits,
                    .from = from.memory.bits,
                    .width = width,
                    .rows = rows,
                    .to_pitch = to.pitch,
                    .from_pitch = from.pitch},
                   stream_access::native(s));
}

void fill(const stream& s, const ptx::argument& to, std::uint32_t value, std::uint32_t unit) {
  context& on = device_of(s, "fill");
  backend& device = on.use();
  check_memory("fill", "of", to, on);
  check_fill(to, unit);
  if (to.bytes == 0 || stream_access::is_loading(s)) return;
  const trace::work traced(device, stream_access::native(s), [&] { return trace::fill(to.bytes, value); });
  device.fill({.to = to.bits, .value = value, .unit = unit, .count = to.bytes / unit},
              stream_access::native(s));
}

void check_fill(const ptx::argument& to, std::uint32_t unit) {
  if (to.bits % unit != 0)
    throw invalid_argument(text("kaio: fill of elements of ", unit, " bytes at ", hexadecimal(to.bits),
                                ", which is no multiple of ", unit,
                                "; pass memory that is aligned to its elements"));
}

}  // namespace kaio::runtime::detail
