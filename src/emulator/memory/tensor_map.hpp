#pragma once
// The tensor map: 128 bytes that describe a tensor in global memory, and the box of it that one tensor copy
// moves. CUDA does not define its layout; this is the emulator's own. A signature distinguishes it from other
// bytes, so a kernel that passes anything else to a copy gets a fault. The encoding functions take and check
// arguments in the order of the driver's cuTensorMapEncodeTiled and cuTensorMapEncodeIm2col (CUDA driver API,
// "Tensor Map Object Management").
//
//   tensor_map map;
//   const u64 sizes[] = {columns, rows}, strides[] = {columns * 4};
//   const u32 box[] = {32, 8}, steps[] = {1, 1};
//   const auto failure = encode_tiled(map, tensor_element::float32, 2, address, sizes, strides, box, steps,
//                                     tensor_interleave::none, tensor_swizzle::b128, 0, tensor_fill::zero);

#include "emulator/program/scalar.hpp"

#include <optional>
#include <string>
#include <type_traits>

namespace kaio::emulator {

// In the order of CUtensorMapDataType.
enum class tensor_element : u8 {
  uint8,
  uint16,
  uint32,
  int32,
  uint64,
  int64,
  float16,
  float32,
  float64,
  bfloat16,
  float32_ftz,
  tfloat32,
  tfloat32_ftz,
};

// In the order of CUtensorMapInterleave, CUtensorMapSwizzle and CUtensorMapFloatOOBfill.
enum class tensor_interleave : u8 { none, b16, b32 };
enum class tensor_swizzle : u8 { none, b32, b64, b128 };
enum class tensor_fill : u8 { zero, nan };

enum class tensor_mode : u8 { tiled, im2col };

inline constexpr unsigned most_tensor_dimensions = 5;

// Dimension 0 is the innermost. If interleaved, its unit is not an element but a slice of 16 or 32 bytes.
struct tensor_map {
  static constexpr u64 valid = 0x70616d5f6f69616bull;  // "kaio_map"

  alignas(64) u64 signature = 0;
  u64 address = 0;
  u64 strides[most_tensor_dimensions - 1] = {};  // bytes, from dimension 1 on
  u32 last[most_tensor_dimensions] = {};         // the greatest coordinate of each dimension
  u16 box[most_tensor_dimensions] = {};          // tiled: coordinates that the box spans
  u16 channels = 0, pixels = 0;                  // im2col: elements of a pixel, pixels of a column
  s16 lower[3] = {}, upper[3] = {};              // im2col: the corners of the bounding box, from W on
  u8 steps[most_tensor_dimensions] = {};         // traversal strides
  u8 rank = 0;
  tensor_element element = tensor_element::uint8;
  tensor_interleave interleave = tensor_interleave::none;
  tensor_swizzle swizzle = tensor_swizzle::none;
  tensor_fill fill = tensor_fill::zero;
  tensor_mode mode = tensor_mode::tiled;
  u8 promotion = 0;    // CUtensorMapL2promotion; has no effect here
  u8 unused[22] = {};  // pads to 128 bytes, so a program gets no unwritten bytes

  // Bytes of a unit of dimension 0.
  unsigned unit_bytes() const;
  // Coordinates that a tiled box moves along a dimension: ceil(box / step). For an interleaved tensor that is
  // one slice of channels, as given by the last dimension but one.
  u32 moved(unsigned dimension) const;
  // Units of a row of the box: along dimension 0, or the channels of a pixel.
  u32 row_units() const;
  // Bytes that one copy moves and its mbarrier counts, whatever part of the box is in the tensor.
  u64 bytes() const;
};
static_assert(sizeof(tensor_map) == 128 && std::has_unique_object_representations_v<tensor_map>);

unsigned size_of(tensor_element element);
bool is_floating(tensor_element element);

// The wrong argument of the driver's function, counted from 0, and the reason.
struct tensor_map_failure {
  unsigned argument;
  std::string reason;
};

// Like cuTensorMapEncodeTiled. `strides` has rank - 1 values, the other arrays have rank.
std::optional<tensor_map_failure> encode_tiled(tensor_map& to, tensor_element element, u32 rank, u64 address,
                                               const u64* sizes, const u64* strides, const u32* box,
                                               const u32* steps, tensor_interleave interleave,
                                               tensor_swizzle swizzle, u32 promotion, tensor_fill fill);

// Like cuTensorMapEncodeIm2col. `lower` and `upper` have rank - 2 values, the outermost dimension first.
std::optional<tensor_map_failure> encode_im2col(tensor_map& to, tensor_element element, u32 rank, u64 address,
                                                const u64* sizes, const u64* strides, const int* lower,
                                                const int* upper, u32 channels, u32 pixels, const u32* steps,
                                                tensor_interleave interleave, tensor_swizzle swizzle,
                                                u32 promotion, tensor_fill fill);

// Why a copy cannot use a tensor map, for example after tensormap.replace; empty if it can.
std::string problem_of(const tensor_map& map);

}  // namespace kaio::emulator
