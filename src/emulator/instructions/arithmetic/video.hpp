#pragma once
// The fields of a decoded video instruction beyond the usual ones of `instruction`: `form` is a video_form,
// `type` that of d and c, `source_type` that of a, `count` the elements (1, 2 halves, 4 bytes), and
// `immediate` the bits of video_details. Source: PTX ISA, "Video Instructions".
//
//   const video_details v = details_of(i);

#include "emulator/program/program.hpp"

#include <bit>

namespace kaio::emulator {

enum class video_form : u8 { add, sub, absolute_difference, min, max, average, shl, shr, mad, set };

// Combines the result with c: nothing, sum, minimum, maximum; for several elements, add sums all into c.
enum class video_second : u8 { none, add, min, max };

// A part of a register: the whole word, a byte, or a half.
enum class video_part : u8 { word, b0, b1, b2, b3, h0, h1 };

struct video_details {
  // One element: a video_part. Several elements: four bits each, the index of a half or byte in the pair (a,
  // b).
  u16 select_a = 0, select_b = 0;
  u8 into = 0;  // one element: a video_part; several: a bit for each written one
  video_second second = video_second::none;
  u8 shift = 0;  // .shr7, .shr15
  bool signed_b : 1 = false;
  bool negate_product : 1 = false;  // vmad: one of a and b is negated
  bool negate_c : 1 = false;
  bool plus_one : 1 = false;  // .po
};
static_assert(sizeof(video_details) == 8);

inline video_details details_of(const instruction& i) { return std::bit_cast<video_details>(i.immediate); }

}  // namespace kaio::emulator
