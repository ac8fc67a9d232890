#include "c/call/call.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <limits>
#include <string>
#include <utility>

#include "c/call/devices.hpp"

namespace kaio::c {

namespace {

struct element_name {
  std::uint32_t bit;
  std::uint8_t code, bits;  // of DLPack
  ops::element_kind kind;
  const char* name;
};
constexpr std::array<element_name, 16> names{{
    {element::f32, kDLFloat, 32, ops::element_kind::f32, "f32"},
    {element::f16, kDLFloat, 16, ops::element_kind::f16, "f16"},
    {element::bf16, kDLBfloat, 16, ops::element_kind::bf16, "bf16"},
    {element::e4m3, kDLFloat8_e4m3fn, 8, ops::element_kind::e4m3, "e4m3"},
    {element::e5m2, kDLFloat8_e5m2, 8, ops::element_kind::e5m2, "e5m2"},
    {element::i8, kDLInt, 8, ops::element_kind::i8, "i8"},
    {element::i32, kDLInt, 32, ops::element_kind::i32, "i32"},
    {element::i64, kDLInt, 64, ops::element_kind::i64, "i64"},
    {element::u8, kDLUInt, 8, ops::element_kind::other, "u8"},
    {element::u32, kDLUInt, 32, ops::element_kind::other, "u32"},
    {element::u64, kDLUInt, 64, ops::element_kind::other, "u64"},
    {element::boolean, kDLBool, 8, ops::element_kind::other, "bool"},
    {element::e8m0, kDLFloat8_e8m0fnu, 8, ops::element_kind::other, "e8m0"},
    {element::f64, kDLFloat, 64, ops::element_kind::other, "f64"},
    {element::i16, kDLInt, 16, ops::element_kind::other, "i16"},
    {element::u16, kDLUInt, 16, ops::element_kind::other, "u16"},
}};

const element_name* find(const DLDataType& type) {
  for (const element_name& n : names)
    if (n.code == type.code && n.bits == type.bits && type.lanes == 1) return &n;
  return nullptr;
}

// "f32, f16 or bf16".
std::string list_of(std::uint32_t elements) {
  std::string text;
  for (const element_name& n : names) {
    if ((elements & n.bit) == 0) continue;
    elements &= ~n.bit;
    text += (text.empty() ? "" : elements == 0 ? " or " : ", ") + std::string(n.name);
  }
  return text;
}

std::string range_of(const tensor_rule& rule) {
  return rule.least_rank == rule.most_rank
             ? std::to_string(rule.least_rank)
             : std::to_string(rule.least_rank) + " to " + std::to_string(rule.most_rank);
}

constexpr std::uint64_t impossible = std::numeric_limits<std::uint64_t>::max();

// Bytes from the first element to the end of the last one; `impossible` if they overflow, or a number is negative.
std::uint64_t span_of(const ops::any_view& view) {
  std::uint64_t last = 0;
  for (std::uint32_t d = 0; d < view.rank; ++d) {
    if (view.extents[d] == 0) return 0;
    std::uint64_t reach = 0;
    if (view.extents[d] < 0 || view.strides[d] < 0 ||
        __builtin_mul_overflow(static_cast<std::uint64_t>(view.extents[d] - 1),
                               static_cast<std::uint64_t>(view.strides[d]), &reach) ||
        __builtin_add_overflow(last, reach, &last))
      return impossible;
  }
  std::uint64_t bytes = 0;
  if (__builtin_mul_overflow(last + 1, std::uint64_t{view.element_bytes()}, &bytes)) return impossible;
  return bytes;
}

constexpr std::size_t most_struct_bytes = 4096;

}  // namespace

std::string name_of(const DLDataType& type) {
  if (const element_name* const n = find(type)) return n->name;
  return "DLPack's code " + std::to_string(type.code) + " of " + std::to_string(type.bits) + " bits and " +
         std::to_string(type.lanes) + " lanes";
}

void call::device(const char* name, const DLDevice& given) {
  if (gpu_ != nullptr) {
    if (same_device(named_, given)) return;
    refuse(operation_, "arguments " + std::string(first_) + " and " + name +
                           " are on different devices; a call's tensors are all on one");
  }
  gpu_ = &device_of(operation_, name, given);
  first_ = name;
  named_ = given;
}

ops::any_view call::view_of(const char* name, const DLTensor& given, const tensor_rule& rule) {
  const std::string_view argument = name;
  const element_name* const type = find(given.dtype);
  if (type == nullptr || (type->bit & rule.elements) == 0)
    refuse(operation_, "argument " + std::string(argument) + " has elements of " + name_of(given.dtype) +
                           "; it takes " + list_of(rule.elements));
  if (given.ndim < rule.least_rank || given.ndim > rule.most_rank)
    refuse(operation_, "argument " + std::string(argument) + " has " + std::to_string(given.ndim) +
                           " dimensions; it has " + range_of(rule));
  if (given.shape == nullptr)
    refuse(operation_,
           "argument " + std::string(argument) + " has no shape; point DLTensor::shape to its extents");
  device(name, given.device);

  ops::any_view view;
  view.type = type->kind;
  view.other_bytes = type->bits / 8u;
  view.rank = static_cast<std::uint32_t>(given.ndim);
  view.device = gpu_->identity();
  view.address = reinterpret_cast<std::uintptr_t>(given.data) + given.byte_offset;
  std::int64_t packed = 1;
  for (std::uint32_t d = view.rank; d-- > 0;) {
    view.extents[d] = given.shape[d];
    view.strides[d] = given.strides != nullptr ? given.strides[d] : packed;
    if (view.extents[d] > 0 && __builtin_mul_overflow(packed, view.extents[d], &packed) && d != 0)
      refuse(operation_, "argument " + std::string(argument) + " has more elements than 63 bits can count");
  }
  view.bytes = span_of(view);
  if (view.bytes == impossible)
    ops::detail::check_view(std::string(operation_) + ": argument " + std::string(argument), view.facts());
  view.address = address(name, given, view.bytes);
  return view;
}

std::uint64_t call::address(const char* name, const DLTensor& given, std::uint64_t bytes) {
  device(name, given.device);
  const std::uint64_t first = reinterpret_cast<std::uintptr_t>(given.data) + given.byte_offset;
  if (bytes != 0 && first == 0)
    refuse(operation_, "argument " + std::string(name) + " has elements at address 0; give it memory");
  return given.device.device_type == kDLCPU && bytes != 0 ? host_.use(*gpu_, first, bytes) : first;
}

void call::refuse_capture_of_host_memory(const runtime::stream& s) const {
  if (s.is_capturing())
    refuse(operation_,
           "argument " + std::string(first_) +
               " is memory of the CPU, which a graph cannot keep; capture calls on memory of kaio_allocate");
}

void call::workspace(const char* name, const DLTensor* given, ops::workspace_view& to) {
  if (given == nullptr) return;
  constexpr std::uint32_t any = 0xffff;
  const ops::any_view view = view_of(name, *given, {any, 1, 5});
  std::uint64_t elements = 1;
  for (std::uint32_t d = 0; d < view.rank; ++d) {
    if (view.extents[d] < 0 ||
        __builtin_mul_overflow(elements, static_cast<std::uint64_t>(view.extents[d]), &elements))
      refuse(operation_, "argument " + std::string(name) + " has an impossible extent");
  }
  if (view.bytes != elements * view.element_bytes())
    refuse(operation_,
           "argument " + std::string(name) + " has gaps; a workspace is bytes that follow each other");
  if (view.bytes == 0) return;
  to.address = view.address;
  to.bytes = view.bytes;
  to.device = view.device;
}

void call::together(const char* name, const DLTensor* given, const char* other, const DLTensor* with) const {
  if ((given == nullptr) == (with == nullptr)) return;
  refuse(operation_,
         "one of the arguments " + std::string(name) + " and " + other + " is NULL; give both or none");
}

void call::same_elements(const char* name, const DLTensor* given, const char* other,
                         const DLTensor* like) const {
  if (given == nullptr || like == nullptr) return;
  const DLDataType &a = given->dtype, &b = like->dtype;
  if (a.code != b.code || a.bits != b.bits || a.lanes != b.lanes)
    refuse(operation_, "argument " + std::string(name) + " has elements of " + name_of(a) + ", and " + other +
                           " of " + name_of(b) + "; cast one of them");
}

void call::same_elements(const char* name, const DLTensor* given, const char* other, const DLTensor* like,
                         std::size_t count) const {
  for (std::size_t i = 0; i < count; ++i) same_elements(name, given + i, other, like + i);
}

void call::same_rank(const char* name, const DLTensor* given, const char* other, const DLTensor* like,
                     int more) const {
  if (given == nullptr || like == nullptr || given->ndim == like->ndim + more) return;
  refuse(operation_, "argument " + std::string(name) + " has " + std::to_string(given->ndim) +
                         " dimensions; with this " + other + " it has " + std::to_string(like->ndim + more));
}

bool call::flag(const char* name, std::int32_t given) const {
  if (given != 0 && given != 1) refuse_value(name, given, "0 or 1");
  return given == 1;
}

void call::take(const char* name, const void* given, void* known, std::size_t bytes) const {
  if (given == nullptr) return;
  std::uint32_t size = 0;
  std::memcpy(&size, given, sizeof size);
  const std::string of = "argument " + std::string(name);
  if (size < 8 || size % 8 != 0 || size > most_struct_bytes)
    refuse(operation_, of + " has size " + std::to_string(size) + "; set it to the sizeof of the struct");
  const auto* const first = static_cast<const unsigned char*>(given);
  if (size > bytes && std::any_of(first + bytes, first + size, [](unsigned char byte) { return byte != 0; }))
    refuse(operation_,
           of + " has a field that this version of the library does not know, and it is not 0; leave it 0, " +
               "or use a newer library");
  std::memcpy(known, given, std::min<std::size_t>(size, bytes));
}

void call::give(const char* name, void* to, const void* known, std::size_t bytes) const {
  require(operation_, name, to);
  std::uint32_t size = 0;
  std::memcpy(&size, to, sizeof size);
  if (size < 8 || size % 8 != 0 || size > most_struct_bytes)
    refuse(operation_, "argument " + std::string(name) + " has size " + std::to_string(size) +
                           "; set it to the sizeof of the struct before the call");
  auto* const first = static_cast<unsigned char*>(to);
  std::memcpy(first + sizeof size, static_cast<const unsigned char*>(known) + sizeof size,
              std::min<std::size_t>(size, bytes) - sizeof size);
  if (size > bytes) std::memset(first + bytes, 0, size - bytes);
}

void call::refuse_value(const char* name, std::int32_t given, const char* expected) const {
  refuse(operation_,
         "argument " + std::string(name) + " is " + std::to_string(given) + "; it has to be " + expected);
}

void call::refuse_text(const char* name, std::string_view text) const {
  refuse(operation_, "the " + std::string(name) + " '" + std::string(text) + "' is longer than its field");
}

}  // namespace kaio::c
