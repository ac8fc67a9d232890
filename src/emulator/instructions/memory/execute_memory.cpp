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

// ---- vectors of all lanes ----
//
//   memory       lane 0: x y z w   lane 1: x y z w   ...
//   registers    row 0: x x ...    row 1: y y ...    row 2: z z ...    row 3: w w ...

// Vectors of four words, of four lanes.
using four_words [[gnu::vector_size(16)]] = u32;

struct square {
  four_words row[4];

  void transpose() {
    const four_words low0 = __builtin_shufflevector(row[0], row[1], 0, 4, 1, 5);
    const four_words low1 = __builtin_shufflevector(row[2], row[3], 0, 4, 1, 5);
    const four_words high0 = __builtin_shufflevector(row[0], row[1], 2, 6, 3, 7);
    const four_words high1 = __builtin_shufflevector(row[2], row[3], 2, 6, 3, 7);
    row[0] = __builtin_shufflevector(low0, low1, 0, 1, 4, 5);
    row[1] = __builtin_shufflevector(low0, low1, 2, 3, 6, 7);
    row[2] = __builtin_shufflevector(high0, high1, 0, 1, 4, 5);
    row[3] = __builtin_shufflevector(high0, high1, 2, 3, 6, 7);
  }
};

template <class M, class R, u32 Count>
constexpr bool is_square = sizeof(M) == 4 && sizeof(R) == 4 && Count == 4;

// Eight lanes at a time: their copies are a few vectors of the host.
constexpr unsigned lanes_at_a_time = 8;

template <class M, class R, u32 Count>
void to_rows(const std::byte* from, std::byte* file, const instruction& i) {
  if constexpr (is_square<M, R, Count>) {
    for (unsigned lane = 0; lane < warp_lanes; lane += 4) {
      square words;
      std::memcpy(&words, from + lane * sizeof(four_words), sizeof words);
      words.transpose();
      for (u32 element = 0; element < 4; ++element)
        std::memcpy(file + i.to[element] + lane * sizeof(u32), &words.row[element], sizeof(four_words));
    }
    return;
  }
  for (unsigned first = 0; first < warp_lanes; first += lanes_at_a_time) {
    M values[lanes_at_a_time * Count];
    R rows[Count][lanes_at_a_time];
    std::memcpy(values, from + first * Count * sizeof(M), sizeof values);
    for (unsigned lane = 0; lane < lanes_at_a_time; ++lane)
      for (u32 element = 0; element < Count; ++element)
        rows[element][lane] = static_cast<R>(values[lane * Count + element]);
    for (u32 element = 0; element < Count; ++element)
      std::memcpy(file + i.to[element] + first * sizeof(R), rows[element], sizeof rows[element]);
  }
}

template <class M, class R, u32 Count>
void from_rows(std::byte* to, const std::byte* file, const instruction& i) {
  if constexpr (is_square<M, R, Count>) {
    for (unsigned lane = 0; lane < warp_lanes; lane += 4) {
      square words;
      for (u32 element = 0; element < 4; ++element)
        std::memcpy(&words.row[element], file + i.to[element] + lane * sizeof(u32), sizeof(four_words));
      words.transpose();
      std::memcpy(to + lane * sizeof(four_words), &words, sizeof words);
    }
    return;
  }
  for (unsigned first = 0; first < warp_lanes; first += lanes_at_a_time) {
    M values[lanes_at_a_time * Count];
    R rows[Count][lanes_at_a_time];
    for (u32 element = 0; element < Count; ++element)
      std::memcpy(rows[element], file + i.to[element] + first * sizeof(R), sizeof rows[element]);
    for (unsigned lane = 0; lane < lanes_at_a_time; ++lane)
      for (u32 element = 0; element < Count; ++element)
        values[lane * Count + element] = static_cast<M>(rows[element][lane]);
    std::memcpy(to + first * Count * sizeof(M), values, sizeof values);
  }
}

// Loads `Count` values of type M for each of the 32 lanes, from `first` on or from at[lane].
template <class M, class R, u32 Count>
void load_vectors(warp& w, const instruction& i, const std::byte* first, std::byte* const (&at)[warp_lanes]) {
  if (first != nullptr) return to_rows<M, R, Count>(first, w.file, i);
  constexpr u32 bytes = sizeof(M) * Count;
  std::byte together[bytes * warp_lanes];
  for (unsigned lane = 0; lane < warp_lanes; ++lane) std::memcpy(together + lane * bytes, at[lane], bytes);
  to_rows<M, R, Count>(together, w.file, i);
}

// If lanes write one place, the last lane's whole vector wins.
template <class M, class R, u32 Count>
void store_vectors(const warp& w, const instruction& i, std::byte* first,
                   std::byte* const (&at)[warp_lanes]) {
  if (first != nullptr) return from_rows<M, R, Count>(first, w.file, i);
  constexpr u32 bytes = sizeof(M) * Count;
  std::byte together[bytes * warp_lanes];
  from_rows<M, R, Count>(together, w.file, i);
  for (unsigned lane = 0; lane < warp_lanes; ++lane) std::memcpy(at[lane], together + lane * bytes, bytes);
}

// Loads values of type M from memory into registers of type R.
template <class M, class R, bool Ordered>
void load(warp& w, const instruction& i, u32 mask) {
  std::byte* at[warp_lanes];
  const u32 bytes = static_cast<u32>(sizeof(M)) * i.count;
  std::byte* first = nullptr;
  if constexpr (!Ordered)
    if (mask == all_lanes) first = locate_consecutive(w, i, bytes);
  if (first == nullptr && locate(w, i, mask, bytes, access_kind::read, at)) first = at[0];
  if constexpr (!Ordered)
    if (mask == all_lanes) switch (i.count) {
        case 1: return load_vectors<M, R, 1>(w, i, first, at);
        case 2: return load_vectors<M, R, 2>(w, i, first, at);
        case 4: return load_vectors<M, R, 4>(w, i, first, at);
        default:
          if (first != nullptr)
            for (unsigned lane = 0; lane < warp_lanes; ++lane) at[lane] = first + lane * bytes;
      }
  for (unsigned element = 0; element < i.count; ++element) {
    std::byte* const row = w.file + i.to[element];
    for_lanes(mask, [&](unsigned lane) {
      const std::byte* const from = at[lane] + element * sizeof(M);
      M value;
      if constexpr (Ordered)
        value = __atomic_load_n(reinterpret_cast<const M*>(from), __ATOMIC_ACQUIRE);
      else
        std::memcpy(&value, from, sizeof value);
      put(row, lane, static_cast<R>(value));
    });
  }
}

template <class M, class R, bool Ordered>
void store(warp& w, const instruction& i, u32 mask) {
  std::byte* at[warp_lanes];
  ++w.owner->changes;
  const u32 bytes = static_cast<u32>(sizeof(M)) * i.count;
  std::byte* first = nullptr;
  if constexpr (!Ordered)
    if (mask == all_lanes) first = locate_consecutive(w, i, bytes);
  if (first == nullptr && locate(w, i, mask, bytes, access_kind::write, at)) first = at[0];
  if constexpr (!Ordered)
    if (mask == all_lanes) switch (i.count) {
        case 1: return store_vectors<M, R, 1>(w, i, first, at);
        case 2: return store_vectors<M, R, 2>(w, i, first, at);
        case 4: return store_vectors<M, R, 4>(w, i, first, at);
        default:
          if (first != nullptr)
            for (unsigned lane = 0; lane < warp_lanes; ++lane) at[lane] = first + lane * bytes;
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
