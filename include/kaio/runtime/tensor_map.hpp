#pragma once
// Tensor maps. A tensor copy of a kernel (TMA, sm_90 and newer) needs a map: it describes a tensor in global
// memory and the box of it that one copy moves. The host encodes a map; the kernel takes it as a parameter
// tensor_map<T, Rank>. Dimension 0 is the innermost: its elements are adjacent.
//
//   // a: rows x columns, row-major; copies move 128 rows of 64 elements into a swizzled tile
//   const auto map = tiled_tensor_map<2>(gpu, a, {.extents = {columns, rows}, .strides = {columns},
//                                                 .box = {64, 128}, .swizzle = tensor_swizzle::bytes_128});
//   copy.launch(gpu.stream(), grid(blocks), map, y);
//
// Encoding costs the host about a microsecond. Each device keeps the maps of the last few thousand
// descriptions; a known one costs some ten nanoseconds. An operation may therefore describe its tensors at
// every launch. Threads may encode maps at once. A map is bytes, and owns nothing: its memory must outlive the
// kernels that use it. Source: CUDA driver API, "Tensor Map Object Management"; PTX ISA, "Tensors".

#include <kaio/ptx/kernel_image.hpp>
#include <kaio/runtime/stream.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <type_traits>

namespace kaio {
class f16;
class bf16;
}  // namespace kaio

namespace kaio::runtime {

// How 16-byte chunks of a box's rows are permuted in shared memory. A row has at most this many bytes.
enum class tensor_swizzle : std::uint8_t { none, bytes_32, bytes_64, bytes_128 };
// The least that a copy fetches into the L2 cache on a miss.
enum class l2_promotion : std::uint8_t { none, bytes_64, bytes_128, bytes_256 };
// The value of elements outside of the tensor: 0, or, in floating-point tensors, a NaN.
enum class tensor_fill : std::uint8_t { zero, nan };
// How a copy converts f32 elements: not at all, or to tf32; _ftz flushes denormals to 0.
enum class f32_format : std::uint8_t { f32, f32_ftz, tf32, tf32_ftz };

// 128 for tensor_swizzle::bytes_128, ...; 0 for none.
constexpr std::uint32_t bytes_of(tensor_swizzle swizzle) {
  return swizzle == tensor_swizzle::none ? 0 : 16u << static_cast<std::uint32_t>(swizzle);
}
// The swizzle of a number of bytes: 32, 64 or 128, and none for any other.
constexpr tensor_swizzle swizzle_of(std::uint32_t bytes) {
  return bytes == 128  ? tensor_swizzle::bytes_128
         : bytes == 64 ? tensor_swizzle::bytes_64
         : bytes == 32 ? tensor_swizzle::bytes_32
                       : tensor_swizzle::none;
}

// The stride of a dimension that begins where the one below it ends: no padding.
inline constexpr std::uint64_t packed_stride = ~std::uint64_t{0};

inline constexpr std::uint32_t most_tensor_dimensions = 5;

namespace detail {

template <std::size_t N, class T>
constexpr std::array<T, N> filled(T with) {
  std::array<T, N> all{};
  for (std::size_t i = 0; i < N; ++i) all[i] = with;
  return all;
}

// In the order of CUtensorMapDataType.
enum class tensor_element : std::uint8_t {
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
  none = 0xff,
};

// Signs matter only to reductions, and there are none of 8- or 16-bit integers.
template <class T>
constexpr tensor_element tensor_element_of() {
  using enum tensor_element;
  if constexpr (std::is_same_v<T, f16>)
    return float16;
  else if constexpr (std::is_same_v<T, bf16>)
    return bfloat16;
  else if constexpr (std::is_same_v<T, float>)
    return float32;
  else if constexpr (std::is_same_v<T, double>)
    return float64;
  else if constexpr (std::is_integral_v<T>) {
    if constexpr (sizeof(T) == 4) return std::is_signed_v<T> ? int32 : uint32;
    if constexpr (sizeof(T) == 8) return std::is_signed_v<T> ? int64 : uint64;
    return sizeof(T) == 1 ? uint8 : uint16;
  } else if constexpr (sizeof(T) == 1 && std::is_trivially_copyable_v<T>)
    return uint8;  // 8-bit floats: copied as they are
  else
    return none;
}

// A map's full description, as words that compare and hash; unused dimensions are 0.
struct tensor_description {
  std::uint64_t address = 0;
  std::uint64_t memory_bytes = 0;  // of the buffer; 0: unknown
  std::uint64_t extents[most_tensor_dimensions] = {};
  std::uint64_t strides[most_tensor_dimensions - 1] = {};  // bytes, of dimensions 1 ...
  std::uint32_t box[most_tensor_dimensions] = {};
  std::uint32_t element_strides[most_tensor_dimensions] = {};
  tensor_element element = tensor_element::none;
  std::uint8_t rank = 0;
  std::uint8_t element_bytes = 0;
  tensor_swizzle swizzle = tensor_swizzle::none;
  l2_promotion promotion = l2_promotion::none;
  tensor_fill fill = tensor_fill::zero;
  std::uint8_t unused[2] = {};
};
static_assert(sizeof(tensor_description) == 136);

// Checks the description and encodes it for the device of the stream; `owner` is the identity of the memory's
// device, or null.
void encode_tensor_map(const stream& where, const void* owner, const tensor_description& tensor,
                       unsigned char* to);

template <class Place>
const stream& stream_of(const Place& where) {
  if constexpr (std::is_same_v<Place, stream>)
    return where;
  else
    return where.stream();
}

}  // namespace detail

// A tensor and the box of it that one copy moves. All arrays begin with the innermost dimension.
template <std::uint32_t Rank>
struct tensor_tiling {
  static_assert(Rank >= 1 && Rank <= most_tensor_dimensions, "kaio: a tensor map has 1 to 5 dimensions");
  std::array<std::uint64_t, Rank> extents{};  // elements, 1 to 2^32
  // Elements between neighbours along dimensions 1, 2, ...: multiples of 16 bytes below 2^40 bytes. 0 repeats
  // the same memory.
  std::array<std::uint64_t, Rank - 1> strides = detail::filled<Rank - 1>(packed_stride);
  std::array<std::uint32_t, Rank> box{};  // elements, 1 to 256; the innermost in multiples of 16 bytes
  // A copy moves every k-th element along a dimension, k = 1 to 8: ceil(box / k) elements. In dimension 0, k
  // is 1.
  std::array<std::uint32_t, Rank> element_strides = detail::filled<Rank>(std::uint32_t{1});
  tensor_swizzle swizzle = tensor_swizzle::none;
  l2_promotion promotion = l2_promotion::none;
  tensor_fill fill = tensor_fill::zero;
  f32_format format = f32_format::f32;  // for f32 elements only
};

// A map that tiled_tensor_map encoded: an argument for a kernel's parameter tensor_map<T, Rank>. It may be
// copied, and several launches may use it at once. A default-constructed map is null: launches refuse it.
template <class T, std::uint32_t Rank>
class encoded_tensor_map {
  static_assert(
      detail::tensor_element_of<T>() != detail::tensor_element::none,
      "kaio: the elements of a tensor map are 8- to 64-bit integers, f16, bf16, f32, f64 or 8-bit floats");

 public:
  using value_type = T;
  static constexpr std::uint32_t rank = Rank;
  static constexpr std::size_t size_bytes = 128;

  encoded_tensor_map() = default;
  // The map of `tensor` for the device of the stream. Users call tiled_tensor_map.
  encoded_tensor_map(const stream& where, const void* owner, const detail::tensor_description& tensor)
      : device_(where.device_identity()) {
    detail::encode_tensor_map(where, owner, tensor, bytes_);
  }

  bool is_null() const noexcept { return device_ == nullptr; }
  // The bytes that the parameter gets, aligned to 64.
  const unsigned char* data() const noexcept { return bytes_; }
  // Valid as long as this map is.
  ptx::argument as_argument() const noexcept {
    return {0, device_, size_bytes, is_null() ? nullptr : bytes_};
  }

 private:
  alignas(64) unsigned char bytes_[size_bytes] = {};
  const void* device_ = nullptr;
};

// Encodes the map of a tensor of Rank dimensions for kernels on the device of `where`, a stream or a device.
// `memory` is a buffer or a device_pointer that begins with the tensor's first element. Only the host works,
// so the stream may be captured meanwhile. Throws
//   invalid_argument    null memory, or of another device; an address or stride that is not a multiple of 16
//                       bytes; an extent, box or element stride out of its range; rows of the box wider than
//                       the swizzle; a tensor that reaches beyond its memory; a NaN fill of integers; an
//                       f32_format for elements other than f32
//   unsupported_device  the device is older than sm_90, or its driver older than 525
template <std::uint32_t Rank, class Place, class Memory>
auto tiled_tensor_map(const Place& where, const Memory& memory, const tensor_tiling<Rank>& tiling) {
  using stored = std::remove_cv_t<typename Memory::value_type>;
  constexpr std::uint64_t too_large = packed_stride;  // refused, whatever the element's size
  constexpr std::uint64_t limit = std::uint64_t{1} << 40;
  const ptx::argument from = memory.as_argument();
  detail::tensor_description tensor;
  tensor.address = from.bits;
  tensor.memory_bytes = from.bytes;
  std::uint64_t packed = sizeof(stored);
  for (std::uint32_t d = 0; d < Rank; ++d) {
    tensor.extents[d] = tiling.extents[d];
    tensor.box[d] = tiling.box[d];
    tensor.element_strides[d] = tiling.element_strides[d];
    if (d != 0) {
      const std::uint64_t given = tiling.strides[d - 1];
      packed = given == packed_stride ? packed : given < limit ? given * sizeof(stored) : too_large;
      tensor.strides[d - 1] = packed;
    }
    const double above = static_cast<double>(packed) * static_cast<double>(tiling.extents[d]);
    packed = above < static_cast<double>(limit) ? packed * tiling.extents[d] : too_large;
  }
  constexpr detail::tensor_element element = detail::tensor_element_of<stored>();
  constexpr std::uint32_t first_format = static_cast<std::uint32_t>(detail::tensor_element::float32_ftz) - 1;
  tensor.element =
      tiling.format == f32_format::f32
          ? element
          : static_cast<detail::tensor_element>(first_format + static_cast<std::uint32_t>(tiling.format));
  tensor.rank = static_cast<std::uint8_t>(Rank);
  tensor.element_bytes = static_cast<std::uint8_t>(sizeof(stored));
  tensor.swizzle = tiling.swizzle;
  tensor.promotion = tiling.promotion;
  tensor.fill = tiling.fill;
  if constexpr (element != detail::tensor_element::float32) {
    if (tiling.format != f32_format::f32) tensor.element = detail::tensor_element::none;  // refused
  }
  return encoded_tensor_map<stored, Rank>(detail::stream_of(where), from.device, tensor);
}

}  // namespace kaio::runtime

namespace kaio {
using runtime::encoded_tensor_map;
using runtime::f32_format;
using runtime::l2_promotion;
using runtime::packed_stride;
using runtime::swizzle_of;
using runtime::tensor_fill;
using runtime::tensor_swizzle;
using runtime::tensor_tiling;
using runtime::tiled_tensor_map;
}  // namespace kaio
