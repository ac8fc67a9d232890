#pragma once
// Ranges of bits in an array of bytes: bit k belongs to byte k of some memory and is set once that byte is
// written. Grids that run at the same time may set neighbouring bits.
//
//   set_bits(defined, offset, 4, true);
//   if (!all_bits(defined, offset, 4)) ...

#include "emulator/program/scalar.hpp"

#include <cstring>

namespace kaio::emulator {

inline bool test_bit(const u8* bits, u64 at) { return (bits[at / 8] >> (at % 8) & 1) != 0; }

inline void put_bit(u8* bits, u64 at, bool value) {
  const u8 bit = static_cast<u8>(1u << at % 8);
  if (value)
    __atomic_fetch_or(bits + at / 8, bit, __ATOMIC_RELAXED);
  else
    __atomic_fetch_and(bits + at / 8, static_cast<u8>(~bit), __ATOMIC_RELAXED);
}

inline void set_bits(u8* bits, u64 first, u64 count, bool value) {
  while (count != 0 && first % 8 != 0) put_bit(bits, first++, value), --count;
  std::memset(bits + first / 8, value ? 0xff : 0, count / 8);
  for (first += count & ~u64{7}, count &= 7; count != 0; --count) put_bit(bits, first++, value);
}

inline void copy_bits(u8* to, u64 first, const u8* from, u64 source, u64 count) {
  if (first % 8 == 0 && source % 8 == 0) {
    std::memmove(to + first / 8, from + source / 8, count / 8);
    first += count & ~u64{7}, source += count & ~u64{7}, count &= 7;
  } else if (to == from && first > source) {
    while (count-- != 0) put_bit(to, first + count, test_bit(from, source + count));
    return;
  }
  for (; count != 0; --count) put_bit(to, first++, test_bit(from, source++));
}

// The bits of up to 32 bytes of memory. An access of 1, 2, 4 or 8 bytes is aligned, so its bits are in one
// byte of the array.
inline u32 get_bits(const u8* bits, u64 first, u32 count) {
  if (count <= 8 && first % 8 + count <= 8) return bits[first / 8] >> first % 8 & ((1u << count) - 1);
  u32 result = 0;
  for (u32 k = 0; k < count; ++k) result |= u32{test_bit(bits, first + k)} << k;
  return result;
}

inline bool all_bits(const u8* bits, u64 first, u64 count) {
  while (count != 0 && first % 8 != 0) {
    if (!test_bit(bits, first++)) return false;
    --count;
  }
  for (; count >= 8; count -= 8, first += 8)
    if (bits[first / 8] != 0xff) return false;
  for (; count != 0; --count)
    if (!test_bit(bits, first++)) return false;
  return true;
}

}  // namespace kaio::emulator
