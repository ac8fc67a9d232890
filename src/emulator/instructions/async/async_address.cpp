#include "emulator/instructions/async/async_address.hpp"

#include "emulator/machine/block.hpp"
#include "emulator/machine/cluster.hpp"
#include "emulator/machine/lanes.hpp"
#include "emulator/machine/raise_access.hpp"

namespace kaio::emulator {
namespace {

bool fits(u64 offset, u64 bytes, u64 total) { return offset <= total && bytes <= total - offset; }

// Usually the bytes are in the buffer where this access found them the last time.
std::byte* find_global(block& b, u32 site, u64 address, u64 bytes) {
  const region*& known = b.site_regions[site];
  if (known == nullptr || address - known->address >= known->bytes) {
    const region* const r = b.launched.snapshot->at_or_below(address);
    if (r == nullptr) return nullptr;
    known = r;
  }
  return fits(address - known->address, bytes, known->bytes) ? known->data + (address - known->address)
                                                             : nullptr;
}

}  // namespace

u64 address_in(const warp& w, const address_operand& place, unsigned lane) {
  const auto offset = static_cast<u64>(place.offset);
  switch (place.bytes) {
    case 8: return get<u64>(w.file + place.row, lane) + offset;
    case 4: return static_cast<u32>(get<u32>(w.file + place.row, lane) + offset);
    default: return offset;
  }
}

address_operand address_operand_of(const instruction& i) {
  return {i.immediate, i.from[0], i.site, i.from_bytes, i.space, i.flags.cluster};
}

std::byte* find_global_bytes(const block& b, u64 address, u64 bytes) {
  const region* const r = b.launched.snapshot->at_or_below(address);
  return r != nullptr && fits(address - r->address, bytes, r->bytes) ? r->data + (address - r->address)
                                                                     : nullptr;
}

memory_location find_location(warp& w, const instruction& i, const address_operand& place, unsigned lane,
                              u32 bytes, u32 alignment, access_kind access) {
  block& b = *w.owner;
  const u64 address = address_in(w, place, lane);
  memory_location found;
  if (address % alignment == 0) {
    const bool generic = place.space == state_space::generic;
    const u64 in_window = generic ? address - shared_window : address;
    if (place.space == state_space::global || (generic && address < shared_window)) {
      found = {find_global(b, place.site, address, bytes), nullptr, address};
    } else if (in_window < window_bytes) {
      u32 offset = 0;
      block* const home = b.group.find_running(b, static_cast<u32>(in_window), offset);
      const bool allowed = home == &b || place.cluster || generic;
      if (home != nullptr && allowed && fits(offset, bytes, home->shared.size()))
        found = {home->shared.data() + offset, home, offset};
    }
  }
  if (found.at == nullptr) raise_access(w, i, lane, access, place.space, address, bytes, alignment);
  return found;
}

}  // namespace kaio::emulator
