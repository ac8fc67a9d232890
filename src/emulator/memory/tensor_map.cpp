#include "emulator/memory/tensor_map.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <utility>

namespace kaio::emulator {
namespace {

constexpr u64 most_size = u64{1} << 32;
constexpr u64 stride_limit = u64{1} << 40;
constexpr u32 most_box = 256, most_step = 8, most_channels = 256, most_pixels = 1024;

// The positions of the arguments in the driver's functions.
struct places {
  unsigned steps, interleave, swizzle, promotion, fill;
};
constexpr unsigned element_place = 1, rank_place = 2, address_place = 3, sizes_place = 4, strides_place = 5;
constexpr unsigned box_place = 6, lower_place = 6, upper_place = 7, channels_place = 8, pixels_place = 9;

using failure = std::optional<tensor_map_failure>;

template <class... Values>
failure fail(unsigned argument, fmt::format_string<Values...> text, Values&&... values) {
  return tensor_map_failure{argument, fmt::format(text, std::forward<Values>(values)...)};
}

unsigned swizzle_bytes(tensor_swizzle swizzle) {
  return swizzle == tensor_swizzle::none ? 0 : 16u << static_cast<unsigned>(swizzle);
}

// Encodes the fields that both kinds share.
failure encode_tensor(tensor_map& to, const places& at, tensor_element element, u32 rank, u64 address,
                      const u64* sizes, const u64* strides, const u32* steps, tensor_interleave interleave,
                      tensor_swizzle swizzle, u32 promotion, tensor_fill fill) {
  if (element > tensor_element::tfloat32_ftz)
    return fail(element_place, "data type {} is not one of compute capability 9.0",
                static_cast<unsigned>(element));
  if (rank == 0 || rank > most_tensor_dimensions) return fail(rank_place, "the rank is {}, not 1 to 5", rank);
  if (interleave > tensor_interleave::b32) return fail(at.interleave, "the interleave is not one of 0 to 2");
  if (swizzle > tensor_swizzle::b128) return fail(at.swizzle, "the swizzle is not one of 0 to 3");
  if (promotion > 3) return fail(at.promotion, "the L2 promotion is not one of 0 to 3");
  if (fill > tensor_fill::nan) return fail(at.fill, "the fill is not one of 0 and 1");
  if (interleave != tensor_interleave::none && rank < 3)
    return fail(rank_place, "the rank is {}; an interleaved tensor has at least 3 dimensions", rank);
  const u64 alignment = interleave == tensor_interleave::b32 ? 32 : 16;
  if (address % alignment != 0)
    return fail(address_place, "address {:#x} is not a multiple of {}", address, alignment);
  for (u32 d = 0; d < rank; ++d)
    if (sizes[d] == 0 || sizes[d] > most_size)
      return fail(sizes_place, "size {} of dimension {} is not 1 to 2^32", sizes[d], d);
  for (u32 d = 1; d < rank; ++d)
    if (strides[d - 1] % alignment != 0 || strides[d - 1] >= stride_limit)
      return fail(strides_place, "stride {} of dimension {} is not a multiple of {} below 2^40",
                  strides[d - 1], d, alignment);
  for (u32 d = 0; d < rank; ++d)
    if (steps[d] == 0 || steps[d] > most_step)
      return fail(at.steps, "element stride {} of dimension {} is not 1 to 8", steps[d], d);
  if (interleave == tensor_interleave::b32 && swizzle != tensor_swizzle::b32)
    return fail(at.swizzle, "an interleave of 32 bytes needs the swizzle of 32 bytes");
  if (fill == tensor_fill::nan && !is_floating(element))
    return fail(at.fill, "only floating-point elements can be filled with NaN");

  to = {};
  to.signature = tensor_map::valid;
  to.address = address;
  to.rank = static_cast<u8>(rank);
  to.element = element;
  to.interleave = interleave;
  to.swizzle = swizzle;
  to.fill = fill;
  to.promotion = static_cast<u8>(promotion);
  for (u32 d = 0; d < rank; ++d) {
    to.last[d] = static_cast<u32>(sizes[d] - 1);
    // The hardware has no traversal stride for dimension 0 of a tensor that is not interleaved.
    to.steps[d] = d == 0 && interleave == tensor_interleave::none ? u8{1} : static_cast<u8>(steps[d]);
    if (d != 0) to.strides[d - 1] = strides[d - 1];
  }
  return {};
}

// Checks the innermost extent of a box that is not interleaved.
failure check_inner(unsigned argument, tensor_element element, u32 elements, tensor_interleave interleave,
                    tensor_swizzle swizzle) {
  if (interleave != tensor_interleave::none) return {};
  const u64 bytes = u64{elements} * size_of(element);
  if (bytes % 16 != 0)
    return fail(argument, "the innermost extent of the box is {} bytes, not a multiple of 16", bytes);
  if (swizzle != tensor_swizzle::none && bytes > swizzle_bytes(swizzle))
    return fail(argument, "the innermost extent of the box is {} bytes; the swizzle allows {}", bytes,
                swizzle_bytes(swizzle));
  return {};
}

}  // namespace

unsigned size_of(tensor_element element) {
  switch (element) {
    case tensor_element::uint8: return 1;
    case tensor_element::uint16:
    case tensor_element::float16:
    case tensor_element::bfloat16: return 2;
    case tensor_element::uint64:
    case tensor_element::int64:
    case tensor_element::float64: return 8;
    default: return 4;
  }
}

bool is_floating(tensor_element element) { return element >= tensor_element::float16; }

unsigned tensor_map::unit_bytes() const {
  return interleave == tensor_interleave::none  ? size_of(element)
         : interleave == tensor_interleave::b16 ? 16
                                                : 32;
}

u32 tensor_map::moved(unsigned dimension) const {
  if (interleave != tensor_interleave::none && dimension + 2u == rank) return 1;
  return (u32{box[dimension]} + steps[dimension] - 1) / steps[dimension];
}

u32 tensor_map::row_units() const {
  if (mode == tensor_mode::tiled) return moved(0);
  return interleave == tensor_interleave::none ? channels : 1u;
}

u64 tensor_map::bytes() const {
  u64 total = u64{unit_bytes()} * row_units();
  if (mode == tensor_mode::im2col) return total * pixels;
  for (unsigned d = 1; d < rank; ++d) total *= moved(d);
  return total;
}

std::optional<tensor_map_failure> encode_tiled(tensor_map& to, tensor_element element, u32 rank, u64 address,
                                               const u64* sizes, const u64* strides, const u32* box,
                                               const u32* steps, tensor_interleave interleave,
                                               tensor_swizzle swizzle, u32 promotion, tensor_fill fill) {
  constexpr places at{.steps = 7, .interleave = 8, .swizzle = 9, .promotion = 10, .fill = 11};
  tensor_map map;
  if (failure f = encode_tensor(map, at, element, rank, address, sizes, strides, steps, interleave, swizzle,
                                promotion, fill))
    return f;
  map.mode = tensor_mode::tiled;
  for (u32 d = 0; d < rank; ++d) {
    if (box[d] == 0 || box[d] > most_box)
      return fail(box_place, "the box spans {} elements of dimension {}, not 1 to 256", box[d], d);
    map.box[d] = static_cast<u16>(box[d]);
  }
  if (failure f = check_inner(box_place, element, box[0], interleave, swizzle)) return f;
  to = map;
  return {};
}

std::optional<tensor_map_failure> encode_im2col(tensor_map& to, tensor_element element, u32 rank, u64 address,
                                                const u64* sizes, const u64* strides, const int* lower,
                                                const int* upper, u32 channels, u32 pixels, const u32* steps,
                                                tensor_interleave interleave, tensor_swizzle swizzle,
                                                u32 promotion, tensor_fill fill) {
  constexpr places at{.steps = 10, .interleave = 11, .swizzle = 12, .promotion = 13, .fill = 14};
  tensor_map map;
  if (rank < 3 || rank > most_tensor_dimensions) return fail(rank_place, "the rank is {}, not 3 to 5", rank);
  if (failure f = encode_tensor(map, at, element, rank, address, sizes, strides, steps, interleave, swizzle,
                                promotion, fill))
    return f;
  map.mode = tensor_mode::im2col;
  const u32 spatial = rank - 2;
  const int least = spatial == 1 ? -32768 : spatial == 2 ? -128 : -16;
  for (u32 k = 0; k < spatial; ++k) {
    const u32 d = spatial - 1 - k;  // the caller names D, H, W
    if (lower[k] < least || lower[k] > -least - 1)
      return fail(lower_place, "lower corner {} is not {} to {}", lower[k], least, -least - 1);
    if (upper[k] < least || upper[k] > -least - 1)
      return fail(upper_place, "upper corner {} is not {} to {}", upper[k], least, -least - 1);
    if (static_cast<s64>(map.last[d + 1]) + upper[k] < lower[k])
      return fail(upper_place, "the bounding box from {} to {} of dimension {} is empty", lower[k],
                  static_cast<s64>(map.last[d + 1]) + upper[k], d + 1);
    map.lower[d] = static_cast<s16>(lower[k]);
    map.upper[d] = static_cast<s16>(upper[k]);
  }
  if (channels == 0 || channels > most_channels)
    return fail(channels_place, "{} channels of a pixel, not 1 to 256", channels);
  if (pixels == 0 || pixels > most_pixels)
    return fail(pixels_place, "{} pixels of a column, not 1 to 1024", pixels);
  if (failure f = check_inner(channels_place, element, channels, interleave, swizzle)) return f;
  map.channels = static_cast<u16>(channels);
  map.pixels = static_cast<u16>(pixels);
  to = map;
  return {};
}

std::string problem_of(const tensor_map& map) {
  if (map.signature != tensor_map::valid) return "these 128 bytes are not a tensor map";
  const auto values = [](const auto& from) {
    std::array<u32, most_tensor_dimensions> result{};
    std::copy(std::begin(from), std::end(from), result.begin());
    return result;
  };
  std::array<u64, most_tensor_dimensions> sizes{};
  for (unsigned d = 0; d < most_tensor_dimensions; ++d) sizes[d] = u64{map.last[d]} + 1;
  tensor_map again;
  failure f;
  if (map.mode == tensor_mode::tiled) {
    f = encode_tiled(again, map.element, map.rank, map.address, sizes.data(), map.strides,
                     values(map.box).data(), values(map.steps).data(), map.interleave, map.swizzle,
                     map.promotion, map.fill);
  } else {
    std::array<int, 3> lower{}, upper{};
    const unsigned spatial = map.rank < 3 ? 0 : std::min<unsigned>(map.rank - 2u, 3);
    for (unsigned k = 0; k < spatial; ++k) {
      lower[k] = map.lower[spatial - 1 - k];
      upper[k] = map.upper[spatial - 1 - k];
    }
    f = encode_im2col(again, map.element, map.rank, map.address, sizes.data(), map.strides, lower.data(),
                      upper.data(), map.channels, map.pixels, values(map.steps).data(), map.interleave,
                      map.swizzle, map.promotion, map.fill);
  }
  return f ? f->reason : std::string();
}

}  // namespace kaio::emulator
