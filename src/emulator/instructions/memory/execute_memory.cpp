// Loads, stores and address conversions (PTX ISA, "Data Movement and Conversion Instructions").

#include "emulator/instructions/execute.hpp"
#include "emulator/instructions/memory/address.hpp"
#include "emulator/machine/block.hpp"
#include "emulator/machine/cluster.hpp"
#include "emulator/machine/lanes.hpp"
#include "emulator/machine/raise_access.hpp"

#include <bit>
#include <type_traits>
#include <vector>

namespace kaio::emulator {
namespace {

__extension__ using u128 = unsigned __int128;
__extension__ using s128 = __int128;

// Loads values of type M from memory into registers of type R.
template <class M, class R, bool Ordered>
void load(warp& w, const instruction& i, u32 mask) {
  std::byte* at[warp_lanes];
  const bool consecutive = locate(w, i, mask, static_cast<u32>(sizeof(M)) * i.count, access_kind::read, at);
  if constexpr (sizeof(M) == sizeof(R) && !Ordered)
    if (consecutive && i.count == 1) {
      std::memcpy(w.file + i.to[0], at[0], sizeof(M) * warp_lanes);
      return;
    }
  for (unsigned element = 0; element < i.count; ++element) {
    std::byte* const row = w.file + i.to[element];
    const auto one = [&](unsigned lane) {
      const std::byte* const from = at[lane] + element * sizeof(M);
      M value;
      if constexpr (Ordered)
        value = __atomic_load_n(reinterpret_cast<const M*>(from), __ATOMIC_ACQUIRE);
      else
        std::memcpy(&value, from, sizeof value);
      put(row, lane, static_cast<R>(value));
    };
    if (mask == all_lanes) {
      for (unsigned lane = 0; lane < warp_lanes; ++lane) one(lane);
    } else {
      for_lanes(mask, one);
    }
  }
}

template <class M, class R, bool Ordered>
void store(warp& w, const instruction& i, u32 mask) {
  std::byte* at[warp_lanes];
  ++w.owner->changes;
  const bool consecutive = locate(w, i, mask, static_cast<u32>(sizeof(M)) * i.count, access_kind::write, at);
  if constexpr (sizeof(M) == sizeof(R) && !Ordered)
    if (consecutive && i.count == 1) {
      std::memcpy(at[0], w.file + i.to[0], sizeof(M) * warp_lanes);
      return;
    }
  // Lane by lane, not element by element: if lanes write one place, the last lane's whole vector wins.
  for_lanes(mask, [&](unsigned lane) {
    for (unsigned element = 0; element < i.count; ++element) {
      std::byte* const to = at[lane] + element * sizeof(M);
      const M value = static_cast<M>(get<R>(w.file + i.to[element], lane));
      if constexpr (Ordered)
        __atomic_store_n(reinterpret_cast<M*>(to), value, __ATOMIC_RELEASE);
      else
        std::memcpy(to, &value, sizeof value);
    }
  });
}

void load_wide(warp& w, const instruction& i, u32 mask) {
  std::byte* at[warp_lanes];
  locate(w, i, mask, 16, access_kind::read, at);
  for_lanes(mask, [&](unsigned lane) { std::memcpy(w.file + i.to[0] + lane * 16, at[lane], 16); });
}

void store_wide(warp& w, const instruction& i, u32 mask) {
  std::byte* at[warp_lanes];
  ++w.owner->changes;
  locate(w, i, mask, 16, access_kind::write, at);
  for_lanes(mask, [&](unsigned lane) { std::memcpy(at[lane], w.file + i.to[0] + lane * 16, 16); });
}

// The contents of a discarded line are undefined: this writes a conspicuous pattern.
void discard(warp& w, const instruction& i, u32 mask) {
  constexpr u32 line = 128;
  std::byte* at[warp_lanes];
  locate(w, i, mask, line, access_kind::write, at);
  ++w.owner->changes;
  for_lanes(mask, [&](unsigned lane) { std::memset(at[lane], 0xd5, line); });
}

// A cache policy is a number that is only passed on.
void create_policy(warp& w, const instruction& i, u32 mask) {
  for_lanes(mask, [&](unsigned lane) { put(w.file + i.to[0], lane, u64{1} << 60); });
}

// Loads a parameter by its name: one value for all lanes.
template <class M, class R>
void load_parameter(warp& w, const instruction& i, u32 mask) {
  const std::vector<std::byte>& parameters = w.owner->launched.parameters;
  const auto offset = static_cast<u64>(i.immediate);
  const u32 bytes = static_cast<u32>(sizeof(M)) * i.count;
  if (offset > parameters.size() || bytes > parameters.size() - offset || offset % bytes != 0)
    raise_access(w, i, static_cast<unsigned>(std::countr_zero(mask)), access_kind::read, i.space, offset,
                 bytes);
  const std::byte* const from = parameters.data() + offset;
  for (unsigned element = 0; element < i.count; ++element) {
    M value;
    std::memcpy(&value, from + element * sizeof(M), sizeof value);
    R result[warp_lanes];
    for (R& r : result) r = static_cast<R>(value);
    commit(w.file + i.to[element], result, mask);
  }
}

// ---- address conversions ----

u64 window_of(state_space space) {
  switch (space) {
    case state_space::shared: return shared_window;
    case state_space::local: return local_window;
    case state_space::constant: return constant_window;
    case state_space::param: return param_window;
    default: return 0;
  }
}

u64 to_generic(const instruction& i, u64 address) { return address + window_of(i.space); }
u64 from_generic(const instruction& i, u64 address) { return address - window_of(i.space); }

void is_in_space(warp& w, const instruction& i, u32 mask) {
  const u64 window = window_of(i.space);
  u32 where = 0;
  for_lanes(mask, [&](unsigned lane) {
    const std::byte* const row = w.file + i.from[0];
    const u64 address = i.from_bytes == 8 ? get<u64>(row, lane) : get<u32>(row, lane);
    bool inside = i.space == state_space::global ? address < shared_window
                                                 : address >= window && address - window < window_bytes;
    if (i.space == state_space::shared && !i.flags.cluster && inside) {  // in this block alone
      u32 offset = 0;
      inside = w.owner->group.find(*w.owner, static_cast<u32>(address - window), offset) == w.owner;
    }
    if (inside) where |= 1u << lane;
  });
  put_mask(w, i.to[0], where, mask);
}

// Blocks that can observe each other's order run on one host thread (entry::blocks_communicate).
void fence(warp&, const instruction&, u32) {}

// Nobody counts the events of performance monitors.
void no_event(warp&, const instruction&, u32) {}

// ---- choice ----

template <class M, class R>
handler access(const instruction& i) {
  if (i.op == operation::st) return i.flags.ordered ? &store<M, R, true> : &store<M, R, false>;
  if (i.space == state_space::param && i.from_bytes == 0) return &load_parameter<M, R>;
  return i.flags.ordered ? &load<M, R, true> : &load<M, R, false>;
}

// The register is at least as wide as the value; a signed value is sign-extended.
template <class M>
handler by_register(const instruction& i) {
  constexpr bool is_signed = std::is_signed_v<M>;
  switch (i.to_bytes) {
    case 1:
      if constexpr (sizeof(M) <= 1)
        return access<M, std::conditional_t<is_signed, s8, u8>>(i);
      else
        return nullptr;
    case 2:
      if constexpr (sizeof(M) <= 2)
        return access<M, std::conditional_t<is_signed, s16, u16>>(i);
      else
        return nullptr;
    case 4:
      if constexpr (sizeof(M) <= 4)
        return access<M, std::conditional_t<is_signed, s32, u32>>(i);
      else
        return nullptr;
    case 8: return access<M, std::conditional_t<is_signed, s64, u64>>(i);
    case 16: return access<M, std::conditional_t<is_signed, s128, u128>>(i);
    default: return nullptr;
  }
}

handler by_type(const instruction& i) {
  switch (i.type) {
    case ptx::type::s8: return by_register<s8>(i);
    case ptx::type::s16: return by_register<s16>(i);
    case ptx::type::s32: return by_register<s32>(i);
    case ptx::type::b128: return i.op == operation::ld ? &load_wide : &store_wide;
    default: break;
  }
  switch (ptx::size_of(i.type)) {
    case 1: return by_register<u8>(i);
    case 2: return by_register<u16>(i);
    case 4: return by_register<u32>(i);
    default: return by_register<u64>(i);
  }
}

}  // namespace

handler memory_handler(const instruction& i) {
  switch (i.op) {
    case operation::ld:
    case operation::st: return by_type(i);
    case operation::to_generic: return each_lane<&to_generic>;
    case operation::from_generic: return each_lane<&from_generic>;
    case operation::isspacep: return &is_in_space;
    case operation::fence: return &fence;
    case operation::pmevent: return &no_event;
    case operation::discard: return &discard;
    case operation::create_policy: return &create_policy;
    default: return nullptr;
  }
}

}  // namespace kaio::emulator
