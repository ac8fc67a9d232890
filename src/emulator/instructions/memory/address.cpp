#include "emulator/instructions/memory/address.hpp"

#include <cstdint>

#include "emulator/machine/block.hpp"
#include "emulator/machine/cluster.hpp"
#include "emulator/machine/lanes.hpp"
#include "emulator/machine/raise_access.hpp"

namespace kaio::emulator {
namespace {

u64 address_of(const warp& w, const instruction& i, unsigned lane) {
  const auto offset = static_cast<u64>(i.immediate);
  switch (i.from_bytes) {
    case 8: return get<u64>(w.file + i.from[0], lane) + offset;
    case 4: return static_cast<u32>(get<u32>(w.file + i.from[0], lane) + offset);
    default: return offset;
  }
}

bool fits(u64 offset, u32 bytes, u64 total) { return offset <= total && bytes <= total - offset; }

[[noreturn]] void refuse(warp& w, const instruction& i, unsigned lane, u32 bytes, access_kind access) {
  raise_access(w, i, lane, access, i.space, address_of(w, i, lane), bytes);
}

// One lane's bytes in global memory; nullptr if they are not all in one buffer.
std::byte* find_global(warp& w, const instruction& i, u64 address, u32 bytes) {
  const region*& known = w.owner->site_regions[i.site];
  const region* r = known;
  if (r == nullptr || address - r->address >= r->bytes) {
    r = w.owner->launched.snapshot->at_or_below(address);
    if (r == nullptr) return nullptr;
  }
  if (!fits(address - r->address, bytes, r->bytes) || address % bytes != 0) return nullptr;
  known = r;
  return r->data + (address - r->address);
}

// True if the addresses of all lanes, in a row of registers, are `bytes` apart.
template <class Address>
bool are_consecutive(const std::byte* row, u32 bytes) {
  const Address first = get<Address>(row, 0);
  if (get<Address>(row, 1) - first != bytes) return false;
  Address expected = first, differences = 0;
  for (unsigned lane = 0; lane < warp_lanes; ++lane, expected += bytes)
    differences |= get<Address>(row, lane) ^ expected;
  return differences == 0;
}

// Usually the lanes are in the buffer where this instruction found its bytes the last time.
bool locate_global(warp& w, const instruction& i, u32 mask, u32 bytes, access_kind access,
                   std::byte* (&at)[warp_lanes]) {
  const region* const r = w.owner->site_regions[i.site];
  if (r != nullptr && r->bytes >= bytes && i.from_bytes == 8) {
    const std::byte* const row = w.file + i.from[0];
    const u64 base = static_cast<u64>(i.immediate) - r->address;
    const u64 last = r->bytes - bytes;
    // A buffer starts at a multiple of 256, so an offset is aligned if its address is.
    u64 outside = 0, low_bits = 0;
    // An offset may be outside: a number may wrap, a pointer may not.
    const auto data = reinterpret_cast<std::uintptr_t>(r->data);
    const auto find = [&](unsigned lane) {
      const u64 offset = get<u64>(row, lane) + base;
      at[lane] = reinterpret_cast<std::byte*>(data + offset);
      outside |= offset | (last - offset);  // the top bit, if the offset is not in [0, last]
      low_bits |= offset;
    };
    if (mask == all_lanes)
      for (unsigned lane = 0; lane < warp_lanes; ++lane) find(lane);
    else
      for_lanes(mask, find);
    if (outside >> 63 == 0 && (low_bits & (bytes - 1)) == 0)
      return mask == all_lanes && are_consecutive<u64>(row, bytes);
  }
  for_lanes(mask, [&](unsigned lane) {
    at[lane] = find_global(w, i, address_of(w, i, lane), bytes);
    if (at[lane] == nullptr) refuse(w, i, lane, bytes, access);
  });
  return false;
}

// Finds shared memory of another block of the cluster.
std::byte* find_shared(warp& w, u64 address, u32 bytes) {
  u32 offset = 0;
  block* const home = address < window_bytes
                          ? w.owner->group.find_running(*w.owner, static_cast<u32>(address), offset)
                          : nullptr;
  if (home == nullptr || !fits(offset, bytes, home->shared.size())) return nullptr;
  return home->shared.data() + offset;
}

// Usually the lanes find their bytes in the block's own memory.
bool locate_shared(warp& w, const instruction& i, u32 mask, u32 bytes, access_kind access,
                   std::byte* (&at)[warp_lanes]) {
  block& b = *w.owner;
  if (i.from_bytes == 4 && b.shared.size() >= bytes) {
    const std::byte* const row = w.file + i.from[0];
    std::byte* const data = b.shared.data();
    const u32 base = static_cast<u32>(i.immediate), last = static_cast<u32>(b.shared.size()) - bytes;
    u32 outside = 0, low_bits = 0;
    const auto find = [&](unsigned lane) {
      const u32 offset = get<u32>(row, lane) + base;
      at[lane] = data + offset;
      outside |= offset | (last - offset);  // the top bit, if the offset is not in [0, last]
      low_bits |= offset;
    };
    if (mask == all_lanes)
      for (unsigned lane = 0; lane < warp_lanes; ++lane) find(lane);
    else
      for_lanes(mask, find);
    if (outside >> 31 == 0 && (low_bits & (bytes - 1)) == 0)
      return mask == all_lanes && are_consecutive<u32>(row, bytes);
  }
  for_lanes(mask, [&](unsigned lane) {
    const u64 address = address_of(w, i, lane);
    if (fits(address, bytes, b.shared.size()) && (address & (bytes - 1)) == 0) {
      at[lane] = b.shared.data() + address;
      return;
    }
    at[lane] = i.flags.cluster && (address & (bytes - 1)) == 0 ? find_shared(w, address, bytes) : nullptr;
    if (at[lane] == nullptr) refuse(w, i, lane, bytes, access);
  });
  return false;
}

// For a space that is one piece of memory, shared by all lanes.
void locate_piece(warp& w, const instruction& i, u32 mask, u32 bytes, access_kind access, std::byte* data,
                  u64 total, std::byte* (&at)[warp_lanes]) {
  for_lanes(mask, [&](unsigned lane) {
    const u64 offset = address_of(w, i, lane);
    if (!fits(offset, bytes, total) || (offset & (bytes - 1)) != 0) refuse(w, i, lane, bytes, access);
    at[lane] = data + offset;
  });
}

std::byte* local_of(const warp& w, unsigned lane) {
  block& b = *w.owner;
  return b.local.data() + (std::size_t{w.index} * warp_lanes + lane) * b.launched.kernel.local_bytes;
}

// Constant and parameter memory are only read: a write is refused before this.
std::byte* writable(const std::vector<std::byte>& bytes) { return const_cast<std::byte*>(bytes.data()); }

// Finds generic addresses within the windows; global memory is below them.
std::byte* find_in_window(warp& w, unsigned lane, u64 address, u32 bytes, access_kind access) {
  if (address % bytes != 0) return nullptr;
  block& b = *w.owner;
  const u64 offset = address & (window_bytes - 1);
  switch ((address - shared_window) / window_bytes) {
    case 0: return find_shared(w, offset, bytes);
    case 1: return fits(offset, bytes, b.launched.kernel.local_bytes) ? local_of(w, lane) + offset : nullptr;
    case 2:
      if (access != access_kind::read || !fits(offset, bytes, b.launched.constants.size())) return nullptr;
      return writable(b.launched.constants) + offset;
    case 3:
      if (access != access_kind::read || !fits(offset, bytes, b.launched.parameters.size())) return nullptr;
      return writable(b.launched.parameters) + offset;
    default: return nullptr;
  }
}

std::byte* find_generic(warp& w, const instruction& i, unsigned lane, u32 bytes, access_kind access) {
  const u64 address = address_of(w, i, lane);
  if (address < shared_window) return find_global(w, i, address, bytes);
  return find_in_window(w, lane, address, bytes, access);
}

bool find_lanes(warp& w, const instruction& i, u32 mask, u32 bytes, access_kind access,
                std::byte* (&at)[warp_lanes]) {
  block& b = *w.owner;
  switch (i.space) {
    case state_space::global: return locate_global(w, i, mask, bytes, access, at);
    case state_space::generic: {
      if (i.from_bytes == 8) {
        bool global = true;
        for_lanes(mask, [&](unsigned lane) { global = global && address_of(w, i, lane) < shared_window; });
        if (global) return locate_global(w, i, mask, bytes, access, at);
      }
      for_lanes(mask, [&](unsigned lane) {
        at[lane] = find_generic(w, i, lane, bytes, access);
        if (at[lane] == nullptr) refuse(w, i, lane, bytes, access);
      });
      return false;
    }
    case state_space::shared: return locate_shared(w, i, mask, bytes, access, at);
    case state_space::local:
      for_lanes(mask, [&](unsigned lane) {
        const u64 offset = address_of(w, i, lane);
        if (!fits(offset, bytes, b.launched.kernel.local_bytes) || offset % bytes != 0)
          refuse(w, i, lane, bytes, access);
        at[lane] = local_of(w, lane) + offset;
      });
      return false;
    case state_space::constant:
      locate_piece(w, i, mask, bytes, access, writable(b.launched.constants), b.launched.constants.size(),
                   at);
      return false;
    case state_space::param:
      locate_piece(w, i, mask, bytes, access, writable(b.launched.parameters), b.launched.parameters.size(),
                   at);
      return false;
  }
  return false;
}

}  // namespace

std::byte* locate_consecutive(const warp& w, const instruction& i, u32 bytes) {
  block& b = *w.owner;
  const std::byte* const row = w.file + i.from[0];
  if (!b.observers.empty()) return nullptr;
  if (i.space == state_space::shared) {
    if (i.from_bytes != 4 || !are_consecutive<u32>(row, bytes)) return nullptr;
    const u64 offset = get<u32>(row, 0) + static_cast<u32>(i.immediate);
    if (!fits(offset, bytes * warp_lanes, b.shared.size()) || (offset & (bytes - 1)) != 0) return nullptr;
    return b.shared.data() + offset;
  }
  if (i.from_bytes != 8 || (i.space != state_space::global && i.space != state_space::generic))
    return nullptr;
  const region* const r = b.site_regions[i.site];  // where this instruction found its bytes the last time
  if (r == nullptr || !are_consecutive<u64>(row, bytes)) return nullptr;
  const u64 offset = get<u64>(row, 0) + static_cast<u64>(i.immediate) - r->address;
  if (!fits(offset, bytes * warp_lanes, r->bytes) || (offset & (bytes - 1)) != 0) return nullptr;
  return r->data + offset;
}

const std::byte* readable(warp& w, const instruction& i, unsigned lane, u64 address, u32 bytes) {
  const std::byte* found = nullptr;
  if (address >= shared_window) {
    found = find_in_window(w, lane, address, bytes, access_kind::read);
  } else if (const region* r = w.owner->launched.snapshot->at_or_below(address);
             r != nullptr && fits(address - r->address, bytes, r->bytes) && address % bytes == 0) {
    found = r->data + (address - r->address);
  }
  if (found == nullptr) raise_access(w, i, lane, access_kind::read, state_space::generic, address, bytes);
  return found;
}

void locate_at(warp& w, const instruction& i, u32 mask, u32 bytes, access_kind access,
               const u64 (&addresses)[warp_lanes], std::byte* (&at)[warp_lanes]) {
  for_lanes(mask, [&](unsigned lane) {
    const u64 address = addresses[lane];
    switch (i.space) {
      case state_space::shared:
        at[lane] = address % bytes == 0 ? find_shared(w, address, bytes) : nullptr;
        break;
      case state_space::global: at[lane] = find_global(w, i, address, bytes); break;
      default:
        at[lane] = address < shared_window ? find_global(w, i, address, bytes)
                                           : find_in_window(w, lane, address, bytes, access);
    }
    if (at[lane] == nullptr) raise_access(w, i, lane, access, i.space, address, bytes);
  });
  for (const auto& o : w.owner->observers) o->access(w, i, mask, bytes, access, at);
}

bool locate(warp& w, const instruction& i, u32 mask, u32 bytes, access_kind access,
            std::byte* (&at)[warp_lanes]) {
  const bool consecutive = find_lanes(w, i, mask, bytes, access, at);
  for (const auto& o : w.owner->observers) o->access(w, i, mask, bytes, access, at);
  return consecutive;
}

}  // namespace kaio::emulator
