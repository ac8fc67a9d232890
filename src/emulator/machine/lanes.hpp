#pragma once
// Turns an operation on scalars into an instruction on 32 lanes. A loop that the compiler can vectorise
// computes all lanes into a local array; the lanes of the mask then take their results. So source and
// destination may be the same register.
//
//   u32 sum(u32 a, u32 b) { return a + b; }
//   handler h = each_lane<&sum>;   // to[0] = sum(from[0], from[1])

#include "emulator/machine/warp.hpp"
#include "emulator/program/program.hpp"
#include "emulator/program/scalar.hpp"

#include <bit>
#include <cstddef>
#include <cstring>
#include <type_traits>
#include <utility>

namespace kaio::emulator {

template <class T>
T get(const std::byte* row, unsigned lane) {
  T value;
  std::memcpy(&value, row + lane * sizeof(T), sizeof(T));
  return value;
}

template <class T>
void put(std::byte* row, unsigned lane, T value) {
  std::memcpy(row + lane * sizeof(T), &value, sizeof(T));
}

inline u32 get_mask(const warp& w, u32 row) { return get<u32>(w.file + row, 0); }

inline void put_mask(warp& w, u32 row, u32 value, u32 lanes) {
  put<u32>(w.file + row, 0, (get_mask(w, row) & ~lanes) | (value & lanes));
}

// The predicate source in from[slot], with its `!`.
inline u32 condition(const warp& w, const instruction& i, unsigned slot) {
  return get_mask(w, i.from[slot]) ^ (i.flags.negated ? all_lanes : 0);
}

// The outcome of a comparison, combined with the predicate source in from[2] if there is one.
inline u32 combined(const warp& w, const instruction& i, u32 outcome) {
  switch (i.combine) {
    case combination::and_: return outcome & condition(w, i, 2);
    case combination::or_: return outcome | condition(w, i, 2);
    case combination::xor_: return outcome ^ condition(w, i, 2);
    default: return outcome;
  }
}

template <class Function>
void for_lanes(u32 mask, Function&& function) {
  for (; mask != 0; mask &= mask - 1) function(static_cast<unsigned>(std::countr_zero(mask)));
}

template <class T>
void commit(std::byte* row, const T (&result)[warp_lanes], u32 mask) {
  if (mask == all_lanes) {
    std::memcpy(row, result, sizeof result);
  } else {
    for_lanes(mask, [&](unsigned lane) { put(row, lane, result[lane]); });
  }
}

// One bit per lane from one byte (0 or 1) per lane.
inline u32 pack_bits(const u8 (&bytes)[warp_lanes]) {
  u32 result = 0;
  for (unsigned group = 0; group < 4; ++group) {
    u64 eight;
    std::memcpy(&eight, bytes + group * 8, 8);
    result |= static_cast<u32>((eight * 0x0102040810204080ull) >> 56) << (group * 8);
  }
  return result;
}

namespace detail {

template <auto Function, class Signature>
struct lane_map;

template <auto Function, class Result, class... Sources>
struct lane_map<Function, Result (*)(Sources...)> {
  static void all(warp& w, const instruction& i, u32 mask) {
    compute(w, i, mask, std::index_sequence_for<Sources...>{});
  }
  static void active(warp& w, const instruction& i, u32 mask) {
    compute_active(w, i, mask, std::index_sequence_for<Sources...>{});
  }
  static u32 test(const warp& w, const instruction& i) {
    return compare(w, i, std::index_sequence_for<Sources...>{});
  }

 private:
  template <std::size_t... Slot>
  static void compute(warp& w, const instruction& i, u32 mask, std::index_sequence<Slot...>) {
    const std::byte* const from[] = {w.file + i.from[Slot]...};
    Result result[warp_lanes];
    for (unsigned lane = 0; lane < warp_lanes; ++lane)
      result[lane] = Function(get<Sources>(from[Slot], lane)...);
    commit(w.file + i.to[0], result, mask);
  }
  template <std::size_t... Slot>
  static void compute_active(warp& w, const instruction& i, u32 mask, std::index_sequence<Slot...>) {
    const std::byte* const from[] = {w.file + i.from[Slot]...};
    for_lanes(mask, [&](unsigned lane) {
      put<Result>(w.file + i.to[0], lane, Function(get<Sources>(from[Slot], lane)...));
    });
  }
  template <std::size_t... Slot>
  static u32 compare(const warp& w, const instruction& i, std::index_sequence<Slot...>) {
    const std::byte* const from[] = {w.file + i.from[Slot]...};
    u8 result[warp_lanes];
    for (unsigned lane = 0; lane < warp_lanes; ++lane)
      result[lane] = Function(get<Sources>(from[Slot], lane)...) ? u8{1} : u8{0};
    return pack_bits(result);
  }
};

// A function that also takes the instruction, for its fields.
template <auto Function, class Result, class... Sources>
struct lane_map<Function, Result (*)(const instruction&, Sources...)> {
  static void all(warp& w, const instruction& i, u32 mask) {
    compute(w, i, mask, std::index_sequence_for<Sources...>{});
  }

 private:
  template <std::size_t... Slot>
  static void compute(warp& w, const instruction& i, u32 mask, std::index_sequence<Slot...>) {
    const std::byte* const from[] = {w.file + i.from[Slot]...};
    Result result[warp_lanes];
    for (unsigned lane = 0; lane < warp_lanes; ++lane)
      result[lane] = Function(i, get<Sources>(from[Slot], lane)...);
    commit(w.file + i.to[0], result, mask);
  }
};

}  // namespace detail

// to[0] = Function(from[0], from[1], ...) for every lane of the mask.
template <auto Function>
inline constexpr handler each_lane = &detail::lane_map<Function, decltype(Function)>::all;

// Like each_lane, for a function that is too slow to compute for inactive lanes.
template <auto Function>
inline constexpr handler each_active_lane = &detail::lane_map<Function, decltype(Function)>::active;

// A mask of the lanes for which Function(from[0], ...) is true. It is computed for all lanes, also outside
// the instruction's mask.
template <auto Function>
u32 lanes_where(const warp& w, const instruction& i) {
  return detail::lane_map<Function, decltype(Function)>::test(w, i);
}

}  // namespace kaio::emulator
