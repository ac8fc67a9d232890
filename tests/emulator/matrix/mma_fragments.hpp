#pragma once
// Where the lanes of a warp have the elements of A, B, C and D, formula by formula as the PTX ISA manual
// gives them ("Matrix Fragments for mma..." and "... for sparse mma..."), for the tests of mma.sync.

#include <cstdint>
#include <functional>
#include <stdexcept>
#include <string>

namespace mma_fragments {

struct place {
  unsigned row, column;
};

// Element i of a lane, of `count`.
struct part {
  unsigned count;
  std::function<place(unsigned lane, unsigned i)> at;
};

inline unsigned group(unsigned lane) { return lane >> 2; }
inline unsigned member(unsigned lane) { return lane % 4; }

// `bits`: of an element.
inline part a_of(unsigned m, unsigned k, unsigned bits) {
  if (m == 8) {
    const unsigned count = bits == 64 ? 1 : 32 / bits;
    return {count, [=](unsigned l, unsigned i) { return place{group(l), member(l) * count + i}; }};
  }
  const auto row = [](unsigned l, bool low) { return low ? group(l) : group(l) + 8; };
  switch (bits) {
    case 64:
      return {k / 2, [=](unsigned l, unsigned i) {
                return place{row(l, i % 2 == 0), (i % 2 == 0 ? i * 2 : i * 2 - 2) + member(l)};
              }};
    case 32:
      return {k / 2, [=](unsigned l, unsigned i) {
                return place{row(l, i == 0 || i == 2), member(l) + (i < 2 ? 0 : 4)};
              }};
    case 16:
      return {k / 2, [=](unsigned l, unsigned i) {
                return place{row(l, i < 2 || (i >= 4 && i < 6)), member(l) * 2 + (i & 1) + (i < 4 ? 0 : 8)};
              }};
    case 8:
      return {k / 2, [=](unsigned l, unsigned i) {
                return place{row(l, i < 4 || (i >= 8 && i < 12)), member(l) * 4 + (i & 3) + (i < 8 ? 0 : 16)};
              }};
    case 4:
      return {
          k / 2, [=](unsigned l, unsigned i) {
            return place{row(l, i < 8 || (i >= 16 && i < 24)), member(l) * 8 + (i & 7) + (i < 16 ? 0 : 32)};
          }};
    case 1:
      return {k / 2, [=](unsigned l, unsigned i) {
                return place{row(l, i < 32 || (i >= 64 && i < 96)),
                             member(l) * 32 + (i & 31) + (i < 64 ? 0 : 128)};
              }};
  }
  throw std::logic_error("no such A");
}

inline part b_of(unsigned k, unsigned bits) {
  switch (bits) {
    case 64:
    case 32: return {k / 4, [](unsigned l, unsigned i) { return place{member(l) + i * 4, group(l)}; }};
    case 16:
      return {k / 4, [](unsigned l, unsigned i) {
                return place{member(l) * 2 + (i & 1) + i / 2 * 8, group(l)};
              }};
    case 8:
      return {k / 4, [](unsigned l, unsigned i) {
                return place{member(l) * 4 + (i & 3) + i / 4 * 16, group(l)};
              }};
    case 4:
      return {k / 4, [](unsigned l, unsigned i) {
                return place{member(l) * 8 + (i & 7) + i / 8 * 32, group(l)};
              }};
    case 1:
      return {k / 4, [](unsigned l, unsigned i) {
                return place{member(l) * 32 + (i & 31) + i / 32 * 128, group(l)};
              }};
  }
  throw std::logic_error("no such B");
}

inline part c_of(unsigned m) {
  return {m / 4, [](unsigned l, unsigned i) {
            return place{i < 2 ? group(l) : group(l) + 8, member(l) * 2 + (i & 1)};
          }};
}

// ---- sparse A: the chunk of a kept element, and its number among the kept elements ----

struct kept_place {
  unsigned row, chunk, number;
};

inline kept_place sparse_a(unsigned bits, unsigned lane, unsigned i) {
  const auto row = [&](bool low) { return low ? group(lane) : group(lane) + 8; };
  switch (bits) {
    case 32: return {row(i == 0 || i == 2), member(lane) + (i < 2 ? 0 : 4), 0};
    case 16: return {row(i < 2 || (i >= 4 && i < 6)), member(lane) + (i < 4 ? 0 : 4), i & 1};
    case 8:
      return {row(i < 4 || (i >= 8 && i < 12)), member(lane) * 2 + (i & 3) / 2 + (i < 8 ? 0 : 8), i & 1};
    default:
      return {row(i < 8 || (i >= 16 && i < 24)), member(lane) * 2 + (i & 7) / 4 + (i < 16 ? 0 : 8), i & 3};
  }
}

// ---- m8n8k4 of f16: the lanes of computation q are 4q to 4q+3 and 4q+16 to 4q+19 ----

inline unsigned computation(unsigned lane) { return lane % 16 / 4; }

inline place quad_a(unsigned lane, unsigned i, bool row_major) {
  const unsigned high = lane < 16 ? 0 : 4;
  return row_major ? place{lane % 4 + high, i} : place{i % 4 + high, lane % 4};
}
inline place quad_b(unsigned lane, unsigned i, bool row_major) {
  const unsigned high = lane < 16 ? 0 : 4;
  return row_major ? place{lane % 4, i + high} : place{i, lane % 4 + high};
}
inline place quad_c(unsigned lane, unsigned i, bool half) {
  const unsigned high = lane < 16 ? 0 : 4;
  if (half) return {lane % 4 + high, i};
  return {(lane & 1) + (i & 2) + high, (i & 4) + (lane & 2) + (i & 1)};
}

}  // namespace mma_fragments
