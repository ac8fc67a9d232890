// Calls and returns, stack memory, and the system functions that a kernel calls: vprintf, __assertfail,
// malloc and free.

#include "emulator/instructions/control/print.hpp"
#include "emulator/instructions/execute.hpp"
#include "emulator/instructions/memory/address.hpp"
#include "emulator/machine/block.hpp"
#include "emulator/machine/lanes.hpp"
#include "emulator/machine/raise_fault.hpp"

#include <fmt/format.h>

#include <bit>
#include <cstring>
#include <string>
#include <utility>

namespace kaio::emulator {
namespace {

// ---- frames ----

constexpr std::size_t most_kept_bytes = std::size_t{256} << 10;  // per lane

const entry& kernel_of(const warp& w) { return w.owner->launched.kernel; }

std::byte* local_of(const warp& w, unsigned lane, u64 offset) {
  return w.owner->local.data() + (std::size_t{w.index} * warp_lanes + lane) * kernel_of(w).local_bytes +
         offset;
}

u64 frame_of(const warp& w, unsigned lane) { return get<u64>(w.file + kernel_of(w).frame_row, lane); }

std::byte* lane_of(const warp& w, u32 row, u32 row_bytes, unsigned lane) {
  return w.file + row + std::size_t{lane} * row_bytes;
}

// Copies between a register and memory; a predicate is one bit of its row and a byte in memory.
void to_memory(const warp& w, u32 row, u32 row_bytes, unsigned lane, std::byte* to) {
  if (row_bytes == 0)
    *to = static_cast<std::byte>(get_mask(w, row) >> lane & 1);
  else
    std::memcpy(to, lane_of(w, row, row_bytes, lane), row_bytes);
}

void from_memory(warp& w, u32 row, u32 row_bytes, unsigned lane, const std::byte* from) {
  if (row_bytes == 0)
    put_mask(w, row, *from != std::byte{0} ? all_lanes : 0, 1u << lane);
  else
    std::memcpy(lane_of(w, row, row_bytes, lane), from, row_bytes);
}

u32 bytes_of(const kept_row& r) { return r.bytes == 0 ? 1 : r.bytes; }

[[noreturn]] void overflow(const warp& w, const instruction& i, unsigned lane, std::string what) {
  fault_report report;
  report.kind = fault_kind::stack_overflow;
  report.detail = fmt::format(
      "{}: a thread has {} bytes of local memory in the emulator, and is {} calls deep", std::move(what),
      kernel_of(w).local_bytes, w.calls.empty() ? 0 : w.calls[lane].frames.size());
  raise_fault(w, i, lane, std::move(report));
}

// Notifies observers of the places where a call writes local memory.
class writes_of_call {
 public:
  writes_of_call(warp& w, const instruction& i, u32 lanes) : warp_(w), instruction_(i), lanes_(lanes) {}

  template <class Place>
  void tell(u32 bytes, Place&& place) {
    if (warp_.owner->observers.empty()) return;
    const std::byte* at[warp_lanes] = {};
    for_lanes(lanes_, [&](unsigned lane) { at[lane] = place(lane); });
    for (const auto& o : warp_.owner->observers)
      o->access(warp_, instruction_, lanes_, bytes, access_kind::write, at);
  }

 private:
  warp& warp_;
  const instruction& instruction_;
  u32 lanes_;
};

// ---- calls and returns ----

const std::vector<kept_row>& rows_of(const warp& w, const call_site& site) {
  return kernel_of(w).functions[site.keeper].kept;
}

void keep(warp& w, const instruction& i, const std::vector<kept_row>& rows, unsigned lane) {
  std::size_t bytes = 0;
  for (const kept_row& r : rows) bytes += bytes_of(r);
  std::vector<std::byte>& kept = w.calls[lane].kept;
  if (kept.size() + bytes > most_kept_bytes) overflow(w, i, lane, "a function calls itself too often");
  const std::size_t start = kept.size();
  kept.resize(start + bytes);
  std::byte* to = kept.data() + start;
  for (const kept_row& r : rows) {
    to_memory(w, r.row, r.bytes, lane, to);
    to += bytes_of(r);
  }
}

void restore(warp& w, const std::vector<kept_row>& rows, unsigned lane) {
  std::size_t bytes = 0;
  for (const kept_row& r : rows) bytes += bytes_of(r);
  std::vector<std::byte>& kept = w.calls[lane].kept;
  const std::byte* from = kept.data() + (kept.size() - bytes);
  for (const kept_row& r : rows) {
    from_memory(w, r.row, r.bytes, lane, from);
    from += bytes_of(r);
  }
  kept.resize(kept.size() - bytes);
}

void move_to(warp& w, u32 lanes, u32 target) {
  if (lanes == w.active) {
    w.pc = target;
    return;
  }
  w.park(lanes, target);
  w.leave(lanes);
}

void enter(warp& w, const instruction& i, u32 lanes, const callable& function) {
  const entry& kernel = kernel_of(w);
  const call_site& site = kernel.calls[i.detail];
  if (w.calls.empty()) w.calls.resize(warp_lanes);
  u64 frames[warp_lanes] = {};
  for_lanes(lanes, [&](unsigned lane) {
    const u64 base = site.base_row == no_row ? 0 : get<u64>(w.file + site.base_row, lane);
    const u64 frame = base + site.base;
    if (frame + function.frame_bytes > kernel.local_bytes)
      overflow(w, i, lane, fmt::format("the call of '{}' overflows the stack", function.name));
    frames[lane] = frame;
    w.calls[lane].frames.push_back({i.detail, w.pc, frame_of(w, lane)});
    if (site.keeper != no_function) keep(w, i, rows_of(w, site), lane);
  });
  if (!w.owner->observers.empty()) {
    const std::byte* at[warp_lanes] = {};
    for_lanes(lanes, [&](unsigned lane) { at[lane] = local_of(w, lane, frames[lane]); });
    for (const auto& o : w.owner->observers) o->called(w, i, lanes, function.frame_bytes, at);
  }
  writes_of_call writes(w, i, lanes);
  for (const transfer& t : site.arguments) {
    writes.tell(t.bytes, [&](unsigned lane) { return local_of(w, lane, frames[lane] + t.frame_place); });
    for_lanes(lanes, [&](unsigned lane) {
      std::byte* const to = local_of(w, lane, frames[lane] + t.frame_place);
      if (t.row != no_row)
        to_memory(w, t.row, t.row_bytes, lane, to);
      else
        std::memcpy(to, local_of(w, lane, frame_of(w, lane) + t.place), t.bytes);
    });
  }
  for_lanes(lanes, [&](unsigned lane) { put(w.file + kernel.frame_row, lane, frames[lane]); });
  move_to(w, lanes, function.start);
}

void call(warp& w, const instruction& i, u32 mask) {
  const entry& kernel = kernel_of(w);
  enter(w, i, mask, kernel.functions[kernel.calls[i.detail].function]);
}

const callable& function_at(const warp& w, const instruction& i, unsigned lane, u64 address) {
  const entry& kernel = kernel_of(w);
  const call_site& site = kernel.calls[i.detail];
  const auto refuse = [&](std::string detail) {
    fault_report report;
    report.kind = fault_kind::invalid_pc;
    report.address = address;
    report.detail = std::move(detail);
    raise_fault(w, i, lane, std::move(report));
  };
  const u64 offset = address - code_window;
  const u64 number = offset / code_step - 1;
  const callable* found = nullptr;
  if (address >= code_window && offset % code_step == 0)
    for (const callable& c : kernel.functions)
      if (c.number == number) found = &c;
  if (found == nullptr)
    refuse(fmt::format("a thread calls a function at {:#x}, which is not the address of one", address));
  if (found->signature != site.signature)
    refuse(fmt::format("a thread calls '{}'; its parameters differ from the call's", found->name));
  bool listed = site.targets.empty();
  for (const u32 target : site.targets) listed = listed || target == number;
  if (!listed) refuse(fmt::format("a thread calls '{}', which .calltargets does not list", found->name));
  return *found;
}

// A 32-bit pointer holds the low half of the address.
u64 pointer_of(const warp& w, const instruction& i, unsigned lane) {
  const std::byte* const row = w.file + i.from[0];
  return i.from_bytes == 8 ? get<u64>(row, lane) : code_window + get<u32>(row, lane);
}

void call_pointer(warp& w, const instruction& i, u32 mask) {
  for (u32 left = mask; left != 0;) {
    const auto first = static_cast<unsigned>(std::countr_zero(left));
    const u64 address = pointer_of(w, i, first);
    const callable& function = function_at(w, i, first, address);
    u32 lanes = 0;
    for_lanes(left, [&](unsigned lane) {
      if (pointer_of(w, i, lane) == address) lanes |= 1u << lane;
    });
    left &= ~lanes;
    enter(w, i, lanes, function);
  }
}

// Loads parameters that are registers from the frame.
void take_parameters(warp& w, const instruction& i, u32 mask) {
  for (const transfer& t : kernel_of(w).functions[i.detail].parameters)
    for_lanes(mask, [&](unsigned lane) {
      from_memory(w, t.row, t.row_bytes, lane, local_of(w, lane, frame_of(w, lane) + t.frame_place));
    });
}

// Returns lanes that were called from one place.
void leave(warp& w, const instruction& i, u32 lanes, u32 return_pc, u32 number) {
  const entry& kernel = kernel_of(w);
  const call_site& site = kernel.calls[number];
  u64 frames[warp_lanes] = {};
  for_lanes(lanes, [&](unsigned lane) {
    frames[lane] = frame_of(w, lane);
    for (const transfer& t : kernel.functions[i.detail].results)
      to_memory(w, t.row, t.row_bytes, lane, local_of(w, lane, frames[lane] + t.frame_place));
    call_stack& stack = w.calls[lane];
    put(w.file + kernel.frame_row, lane, stack.frames.back().base);
    stack.frames.pop_back();
    if (site.keeper != no_function) restore(w, rows_of(w, site), lane);
  });
  writes_of_call writes(w, i, lanes);
  for (const transfer& t : site.results) {
    const auto place = [&](unsigned lane) { return local_of(w, lane, frame_of(w, lane) + t.place); };
    if (t.row == no_row) writes.tell(t.bytes, place);
    for_lanes(lanes, [&](unsigned lane) {
      const std::byte* const from = local_of(w, lane, frames[lane] + t.frame_place);
      if (t.row != no_row)
        from_memory(w, t.row, t.row_bytes, lane, from);
      else
        std::memcpy(place(lane), from, t.bytes);
    });
  }
  move_to(w, lanes, return_pc);
}

void return_to_caller(warp& w, const instruction& i, u32 mask) {
  for (u32 left = mask; left != 0;) {
    const call_stack::frame to = w.calls[static_cast<unsigned>(std::countr_zero(left))].frames.back();
    u32 lanes = 0;
    for_lanes(left, [&](unsigned lane) {
      if (w.calls[lane].frames.back().return_pc == to.return_pc) lanes |= 1u << lane;
    });
    left &= ~lanes;
    leave(w, i, lanes, to.return_pc, to.site);
  }
}

// ---- the stack ----

u64 source(const warp& w, const instruction& i, unsigned lane) {
  const std::byte* const row = w.file + i.from[0];
  return i.type == ptx::type::u64 ? get<u64>(row, lane) : get<u32>(row, lane);
}

void put_address(warp& w, const instruction& i, unsigned lane, u64 address) {
  if (i.type == ptx::type::u64)
    put(w.file + i.to[0], lane, address);
  else
    put(w.file + i.to[0], lane, static_cast<u32>(address));
}

void allocate(warp& w, const instruction& i, u32 mask) {
  const u64 end_alignment = i.detail;  // called functions' frames begin there
  const auto alignment = static_cast<u64>(i.immediate);
  for_lanes(mask, [&](unsigned lane) {
    const u64 total = kernel_of(w).local_bytes;
    const u64 bytes = source(w, i, lane);
    const u64 top = get<u64>(w.file + i.to[1], lane);
    const u64 at = (top + alignment - 1) / alignment * alignment;
    if (bytes > total || at > total - bytes)
      overflow(w, i, lane, fmt::format("alloca of {} bytes overflows the stack", bytes));
    put(w.file + i.to[1], lane, (at + bytes + end_alignment - 1) / end_alignment * end_alignment);
    put_address(w, i, lane, at);
  });
}

void save_stack(warp& w, const instruction& i, u32 mask) {
  for_lanes(mask, [&](unsigned lane) { put_address(w, i, lane, get<u64>(w.file + i.to[1], lane)); });
}

void restore_stack(warp& w, const instruction& i, u32 mask) {
  for_lanes(mask, [&](unsigned lane) {
    const u64 to = source(w, i, lane), top = get<u64>(w.file + i.to[1], lane);
    if (to > top) {
      fault_report report;
      report.kind = fault_kind::stack_overflow;
      report.detail = fmt::format("stackrestore of {:#x}, which stacksave did not give", to);
      raise_fault(w, i, lane, std::move(report));
    }
    put(w.file + i.to[1], lane, to);
  });
}

// ---- functions of the system ----

constexpr std::size_t longest_text = std::size_t{1} << 16;
// Further output of a grid is lost, as on a GPU with a full buffer.
constexpr std::size_t most_printed = std::size_t{64} << 20;

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
    if (out.size() > most_printed) return put(w.file + i.to[0], lane, ~0u);
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
  raise_fault(w, i, lane, std::move(report));
}

void heap_allocate(warp& w, const instruction& i, u32 mask) {
  for_lanes(mask, [&](unsigned lane) {
    put(w.file + i.to[0], lane,
        w.owner->launched.heap->allocate(get<u64>(w.file + i.from[0], lane), w.owner->launched.id));
  });
}

void heap_free(warp& w, const instruction& i, u32 mask) {
  for_lanes(mask, [&](unsigned lane) {
    const u64 address = get<u64>(w.file + i.from[0], lane);
    if (w.owner->launched.heap->free(address)) return;
    fault_report report;
    report.kind = fault_kind::use_after_free;
    report.address = address;
    report.detail =
        fmt::format("a thread frees {:#x}, which malloc did not return or was freed before", address);
    raise_fault(w, i, lane, std::move(report));
  });
}

handler call_form_handler(const instruction& i) {
  switch (static_cast<call_form>(i.form)) {
    case call_form::direct: return &call;
    case call_form::indirect: return &call_pointer;
    case call_form::enter: return &take_parameters;
  }
  return nullptr;
}

}  // namespace

handler call_handler(const instruction& i) {
  switch (i.op) {
    case operation::call: return call_form_handler(i);
    case operation::ret: return &return_to_caller;
    case operation::alloca_: return &allocate;
    case operation::stacksave: return &save_stack;
    case operation::stackrestore: return &restore_stack;
    case operation::print: return &print;
    case operation::assert_fail: return &assert_fail;
    case operation::heap_allocate: return &heap_allocate;
    case operation::heap_free: return &heap_free;
    default: return nullptr;
  }
}

}  // namespace kaio::emulator
