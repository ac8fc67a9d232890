// Tensor maps are checked here, for every device alike, before the device encodes them: the driver itself
// reports only that some argument is invalid.

#include <kaio/runtime/tensor_map.hpp>

#include <kaio/runtime/error.hpp>

#include <string>
#include <string_view>

#include "runtime/base/text.hpp"
#include "runtime/context.hpp"
#include "runtime/stream_access.hpp"

namespace kaio::runtime::detail {

namespace {

constexpr std::uint64_t most_extent = std::uint64_t{1} << 32, stride_limit = std::uint64_t{1} << 40;
constexpr std::uint32_t most_box = 256, most_element_stride = 8;
constexpr std::uint32_t quantum = 16;  // bytes; addresses, strides and rows of a box are multiples of it

// "kaio: a tensor map of 4096 x 128 elements of 2 bytes at 0x7f0000000000": the innermost extent first.
std::string name_of(const tensor_description& t) {
  std::string extents;
  for (unsigned d = 0; d < t.rank; ++d) extents += text(d == 0 ? "" : " x ", t.extents[d]);
  return text("kaio: a tensor map of ", extents, " elements of ", unsigned{t.element_bytes}, " bytes at ",
              hexadecimal(t.address));
}

template <class... Pieces>
[[noreturn]] void refuse(const tensor_description& t, const Pieces&... pieces) {
  throw invalid_argument(text(name_of(t), " ", pieces...));
}

bool is_floating(tensor_element element) {
  return element >= tensor_element::float16 && element != tensor_element::none;
}

void check_memory(const tensor_description& t, const void* owner) {
  if (t.address == 0 && owner != nullptr && t.memory_bytes == 0)
    refuse(t, "has an empty buffer; a tensor of no elements needs no map, and no launch");
  if (t.address == 0)
    refuse(t, "has a null buffer; it was never allocated, was released, or was moved from: allocate one");
  if (t.address % quantum != 0)
    refuse(t, "does not begin at a multiple of 16 bytes; align the tensor, or copy it to memory that is");
}

void check_extents(const tensor_description& t) {
  for (unsigned d = 0; d < t.rank; ++d) {
    if (t.extents[d] == 0 || t.extents[d] > most_extent)
      refuse(t, "has an extent of ", t.extents[d], " in dimension ", d, ", which must be 1 to 2^32");
  }
  for (unsigned d = 1; d < t.rank; ++d) {
    const std::uint64_t stride = t.strides[d - 1];
    if (stride >= stride_limit)
      refuse(t, "has a stride of 2^40 bytes or more in dimension ", d, ", which must be less");
    if (stride % quantum != 0)
      refuse(t, "has a stride of ", stride, " bytes in dimension ", d,
             ", which must be a multiple of 16; pad the rows");
  }
}

void check_box(const tensor_description& t) {
  for (unsigned d = 0; d < t.rank; ++d) {
    if (t.box[d] == 0 || t.box[d] > most_box)
      refuse(t, "has a box of ", t.box[d], " elements in dimension ", d, ", which must be 1 to 256");
    if (t.element_strides[d] == 0 || t.element_strides[d] > most_element_stride)
      refuse(t, "has an element stride of ", t.element_strides[d], " in dimension ", d,
             ", which must be 1 to 8");
  }
  if (t.element_strides[0] != 1)
    refuse(t, "has an element stride of ", t.element_strides[0],
           " in dimension 0, where copies have none; write 1");
  const std::uint32_t row = t.box[0] * t.element_bytes;
  if (row % quantum != 0)
    refuse(t, "has a box whose rows are ", row, " bytes, which must be a multiple of 16");
  if (t.swizzle > tensor_swizzle::bytes_128) refuse(t, "has an unknown tensor_swizzle");
  if (t.swizzle != tensor_swizzle::none && row > bytes_of(t.swizzle))
    refuse(t, "has a box whose rows are ", row, " bytes, and the swizzle takes rows of at most ",
           bytes_of(t.swizzle), "; make the box narrower, and copy several side by side");
}

void check_format(const tensor_description& t) {
  if (t.element == tensor_element::none)
    refuse(t, "has a format of f32 elements, and these are others; write f32_format::f32");
  if (t.element > tensor_element::tfloat32_ftz) refuse(t, "has an unknown f32_format");
  if (t.promotion > l2_promotion::bytes_256) refuse(t, "has an unknown l2_promotion");
  if (t.fill > tensor_fill::nan) refuse(t, "has an unknown tensor_fill");
  if (t.fill == tensor_fill::nan && !is_floating(t.element))
    refuse(t, "is filled with NaN, but its elements are integers; write tensor_fill::zero");
}

// Extents and strides are checked by now: each product is below 2^72. One product beyond the memory suffices.
void check_reach(const tensor_description& t) {
  if (t.memory_bytes == 0) return;
  std::uint64_t last = 0;  // the byte after the last element
  for (unsigned d = 0; d < t.rank; ++d) {
    const std::uint64_t steps = t.extents[d] - 1, stride = d == 0 ? t.element_bytes : t.strides[d - 1];
    const bool beyond = stride != 0 && steps > t.memory_bytes / stride;
    last += beyond ? t.memory_bytes : steps * stride;
    if (last >= t.memory_bytes || last + t.element_bytes > t.memory_bytes)
      refuse(t, "reaches beyond its memory of ", t.memory_bytes,
             " bytes; correct the extents or the strides, which are counted in elements");
  }
}

void check_device(const device_properties& device, std::string_view description) {
  if (device.target.sm < 90)
    throw unsupported_device(text("kaio: tensor maps need sm_90 or newer, and ", description, " is sm_",
                                  device.target.sm,
                                  "; use a kernel variant that copies with cp.async or plain loads"));
}

}  // namespace

void encode_tensor_map(const stream& where, const void* owner, const tensor_description& tensor,
                       unsigned char* to) {
  context* const on = where.context_.get();
  if (on == nullptr) throw_null_stream("a tensor map");
  backend& device = on->use();
  if (owner != nullptr && owner != on)
    refuse(tensor, "is of another device's memory than the stream, which is ", on->description(),
           "; upload the tensor to that device, or encode on a stream of its device");
  if (on->tensor_maps().find(tensor, to)) return;
  check_device(on->properties(), on->description());
  check_memory(tensor, owner);
  check_extents(tensor);
  check_box(tensor);
  check_format(tensor);
  check_reach(tensor);
  device.encode_tensor_map(tensor, to);
  on->tensor_maps().insert(tensor, to);
}

}  // namespace kaio::runtime::detail
