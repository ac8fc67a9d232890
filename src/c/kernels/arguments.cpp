#include "c/kernels/arguments.hpp"

#include <kaio/dsl/number/float8.hpp>
#include <kaio/dsl/number/half.hpp>

#include <cmath>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>

#include "c/call/error.hpp"

namespace kaio::c {

namespace {

using ptx::type_kind;

[[noreturn]] void refuse_argument(const kaio_kernel& kernel, const parameter& to, const std::string& what) {
  refuse(kernel.called.c_str(), "argument " + to.number + " " + what);
}

std::string kind_text(std::int32_t kind) {
  switch (kind) {
    case KAIO_ARGUMENT_KIND_TENSOR:
    case KAIO_ARGUMENT_KIND_STRIDED: return "a tensor";
    case KAIO_ARGUMENT_KIND_INTEGER:
    case KAIO_ARGUMENT_KIND_UNSIGNED: return "an integer";
    case KAIO_ARGUMENT_KIND_NUMBER: return "a floating-point number";
    case KAIO_ARGUMENT_KIND_STRUCT: return "a struct";
    default: return "a number";
  }
}

[[noreturn]] void refuse_kind(const kaio_kernel& kernel, const parameter& to, std::int32_t kind) {
  if (kind < KAIO_ARGUMENT_KIND_TENSOR || kind > KAIO_ARGUMENT_KIND_STRUCT)
    refuse_argument(kernel, to,
                    "is of kind " + std::to_string(kind) + "; it has to be one of the named constants");
  const std::string wanted = to.access != ptx::access::scalar        ? "a tensor"
                             : to.type.kind == type_kind::structure  ? "the bytes of the struct"
                             : to.type.kind == type_kind::tensor_map ? "an encoded tensor map, from C++"
                             : to.type.kind == type_kind::boolean    ? "a bool"
                             : to.element.code == kDLInt || to.element.code == kDLUInt ? "an integer"
                                                                                       : "a number";
  refuse_argument(kernel, to,
                  "is " + kind_text(kind) + ", and the parameter is " + to.text + "; pass " + wanted);
}

// ---- tensors ----

bool is_same(const DLDataType& a, const DLDataType& b) noexcept {
  return a.code == b.code && a.bits == b.bits && a.lanes == b.lanes;
}

std::string shape_text(const DLTensor& tensor) {
  const auto list = [&](const std::int64_t* numbers) {
    std::string text = "(";
    for (std::int32_t d = 0; d < tensor.ndim; ++d) text += (d == 0 ? "" : ", ") + std::to_string(numbers[d]);
    return text + ")";
  };
  return "the shape " + list(tensor.shape) +
         (tensor.strides != nullptr ? " and the strides " + list(tensor.strides) : "");
}

// The elements from the first one to the last; nothing if a number is negative, or the count overflows.
std::optional<std::uint64_t> span_of(const DLTensor& tensor, bool& is_dense) {
  std::uint64_t last = 0, packed = 1;
  bool is_empty = false;
  is_dense = true;
  for (std::int32_t d = tensor.ndim; d-- > 0;) {
    const std::int64_t extent = tensor.shape[d];
    const std::int64_t stride =
        tensor.strides != nullptr ? tensor.strides[d] : static_cast<std::int64_t>(packed);
    if (extent < 0) return {};
    if (extent == 0) is_empty = true;
    if (extent <= 1) continue;
    std::uint64_t reach = 0;
    if (stride < 0 ||
        __builtin_mul_overflow(static_cast<std::uint64_t>(extent - 1), static_cast<std::uint64_t>(stride),
                               &reach) ||
        __builtin_add_overflow(last, reach, &last))
      return {};
    is_dense = is_dense && static_cast<std::uint64_t>(stride) == packed;
    if (__builtin_mul_overflow(packed, static_cast<std::uint64_t>(extent), &packed) || packed >> 63 != 0)
      return {};
  }
  if (is_empty) is_dense = true;
  return is_empty ? 0 : last + 1;
}

ptx::argument read_tensor(call& in, const kaio_kernel& kernel, const parameter& to,
                          const kaio_kernel_argument& from) {
  if (from.data == nullptr) refuse_argument(kernel, to, "is a tensor at NULL; it is needed");
  const DLTensor& tensor = *static_cast<const DLTensor*>(from.data);
  DLDataType one = to.element;
  one.lanes = 1;
  if (to.element.bits != 0 && !is_same(tensor.dtype, to.element) && !is_same(tensor.dtype, one))
    refuse_argument(kernel, to,
                    "has elements of " + name_of(tensor.dtype) + ", and the parameter is " + to.text +
                        "; pass a tensor of " + name_of(one));
  if (tensor.ndim < 0 || (tensor.ndim != 0 && tensor.shape == nullptr))
    refuse_argument(kernel, to, "has no shape; point DLTensor::shape to its extents");
  bool is_dense = true;
  const std::optional<std::uint64_t> elements = span_of(tensor, is_dense);
  const std::uint64_t bytes_of_one = (std::uint64_t{tensor.dtype.bits} * tensor.dtype.lanes + 7) / 8;
  std::uint64_t bytes = 0;
  if (!elements || __builtin_mul_overflow(*elements, bytes_of_one, &bytes))
    refuse_argument(kernel, to,
                    "has " + shape_text(tensor) +
                        "; a kernel takes no negative ones, and no more than 63 bits can count: copy it");
  const bool is_strided = from.kind == KAIO_ARGUMENT_KIND_STRIDED;
  if (!is_dense && !is_strided)
    refuse_argument(kernel, to,
                    "has " + shape_text(tensor) +
                        ": gaps, or another order than row by row, which a kernel does not see; copy it, or "
                        "pass it as strided if the kernel takes its strides");
  if (to.type.bytes != 0 && !is_strided && bytes % to.type.bytes != 0)
    refuse_argument(kernel, to,
                    "has " + std::to_string(bytes) + " bytes, and the elements of " + to.text + " have " +
                        std::to_string(to.type.bytes) + " each; pass whole elements");
  ptx::argument made;
  made.bits = in.address(to.name(), tensor, bytes);
  made.device = in.gpu().identity();
  made.bytes = bytes;
  made.scattered = !is_dense;
  if (to.type.alignment > 1 && made.bits % to.type.alignment != 0)
    refuse_argument(kernel, to,
                    "begins at an address that is no multiple of " + std::to_string(to.type.alignment) +
                        ", which the elements of " + to.text + " need; copy it");
  return made;
}

// ---- numbers ----

[[noreturn]] void refuse_value(const kaio_kernel& kernel, const parameter& to, const std::string& value) {
  refuse_argument(kernel, to, "is " + value + ", which the parameter, " + to.text + ", cannot hold");
}

// Rounds once. A finite number that becomes infinite is refused.
std::uint64_t floating_bits(const kaio_kernel& kernel, const parameter& to, double value) {
  std::uint64_t bits = 0;
  double rounded = 0;
  switch (to.type.kind) {
    case type_kind::bfloat: {
      const bf16 made(value);
      bits = __builtin_bit_cast(std::uint16_t, made);
      rounded = static_cast<float>(made);
      break;
    }
    case type_kind::e4m3: {
      const e4m3 made(value);
      bits = made.bits();
      rounded = std::fabs(value) > 448.0 && !std::isinf(value) ? HUGE_VAL : static_cast<double>(made);
      break;
    }
    case type_kind::e5m2: {
      const e5m2 made(value);
      bits = made.bits();
      rounded = std::fabs(value) > 57344.0 && !std::isinf(value) ? HUGE_VAL : static_cast<double>(made);
      break;
    }
    default:
      if (to.type.bits == 64) return __builtin_bit_cast(std::uint64_t, value);
      if (to.type.bits == 16) {
        const f16 made(value);
        bits = __builtin_bit_cast(std::uint16_t, made);
        rounded = static_cast<float>(made);
      } else {
        const auto made = static_cast<float>(value);
        bits = __builtin_bit_cast(std::uint32_t, made);
        rounded = made;
      }
  }
  if (std::isinf(rounded) && !std::isinf(value)) refuse_value(kernel, to, std::to_string(value));
  return bits;
}

bool is_floating(type_kind kind) noexcept { return kind >= type_kind::floating && kind <= type_kind::e5m2; }

// A number of 64 bits with a sign, or without.
std::uint64_t integer_bits(const kaio_kernel& kernel, const parameter& to, std::uint64_t value,
                           bool is_signed) {
  const bool is_negative = is_signed && value >> 63 != 0;
  const auto text = [&] {
    return is_negative ? std::to_string(static_cast<std::int64_t>(value)) : std::to_string(value);
  };
  if (is_floating(to.type.kind)) {
    const double number = is_signed ? dsl::detail::sticky_double(static_cast<std::int64_t>(value))
                                    : dsl::detail::sticky_double(value);
    if (to.type.bits != 64) return floating_bits(kernel, to, number);
    return __builtin_bit_cast(std::uint64_t, is_signed ? static_cast<double>(static_cast<std::int64_t>(value))
                                                       : static_cast<double>(value));
  }
  if (to.type.kind == type_kind::boolean) {
    if (value > 1) refuse_value(kernel, to, text());
    return value;
  }
  const unsigned bits = to.type.bits;
  const std::uint64_t all = std::numeric_limits<std::uint64_t>::max() >> (64 - bits);
  if (to.type.kind == type_kind::unsigned_integer) {
    if (is_negative || value > all) refuse_value(kernel, to, text());
    return value;
  }
  const std::uint64_t most = all >> 1;
  if (is_negative ? ~value > most : value > most) refuse_value(kernel, to, text());
  return value & all;
}

// float8_storage and pairs cannot be made of a double; pairs are given by their bits.
ptx::argument read_number(const kaio_kernel& kernel, const parameter& to, const kaio_kernel_argument& from) {
  ptx::argument made;
  switch (from.kind) {
    case KAIO_ARGUMENT_KIND_SCALAR:
      if (!is_same(from.type, to.element))
        refuse_argument(
            kernel, to,
            "is a number of " + name_of(from.type) + ", and the parameter is " + to.text + "; convert it");
      made.bits = from.value & std::numeric_limits<std::uint64_t>::max() >> (64 - 8 * to.type.bytes);
      if (to.type.kind == type_kind::boolean) made.bits = made.bits != 0;
      return made;
    case KAIO_ARGUMENT_KIND_INTEGER:
    case KAIO_ARGUMENT_KIND_UNSIGNED:
      if (to.type.lanes != 1) break;
      made.bits = integer_bits(kernel, to, from.value, from.kind == KAIO_ARGUMENT_KIND_INTEGER);
      return made;
    case KAIO_ARGUMENT_KIND_NUMBER:
      if (to.type.lanes != 1 || !is_floating(to.type.kind)) break;
      made.bits = floating_bits(kernel, to, from.number);
      return made;
    default: break;
  }
  refuse_kind(kernel, to, from.kind);
}

ptx::argument read_struct(const kaio_kernel& kernel, const parameter& to, const kaio_kernel_argument& from) {
  if (from.data == nullptr) refuse_argument(kernel, to, "is a struct at NULL; it is needed");
  if (from.value != to.type.bytes)
    refuse_argument(kernel, to,
                    "is a struct of " + std::to_string(from.value) + " bytes, and the parameter is " +
                        to.text + "; pass the struct that the kernel declares");
  ptx::argument made;
  made.data = from.data;
  made.bytes = from.value;
  return made;
}

ptx::argument read(call& in, const kaio_kernel& kernel, const parameter& to,
                   const kaio_kernel_argument& from) {
  const bool is_tensor = from.kind == KAIO_ARGUMENT_KIND_TENSOR || from.kind == KAIO_ARGUMENT_KIND_STRIDED;
  if (to.access != ptx::access::scalar) {
    if (!is_tensor) refuse_kind(kernel, to, from.kind);
    return read_tensor(in, kernel, to, from);
  }
  const bool is_struct = to.type.kind == type_kind::structure;
  if (is_tensor || to.type.kind == type_kind::tensor_map ||
      is_struct != (from.kind == KAIO_ARGUMENT_KIND_STRUCT))
    refuse_kind(kernel, to, from.kind);
  return is_struct ? read_struct(kernel, to, from) : read_number(kernel, to, from);
}

}  // namespace

kernel_arguments::kernel_arguments(call& in, const kaio_kernel& kernel, const kaio_kernel_argument* given,
                                   std::size_t count) {
  const std::size_t wanted = kernel.parameters.size();
  if (count != wanted)
    refuse(kernel.called.c_str(), std::to_string(count) +
                                      (count == 1 ? " argument was given" : " arguments were given") +
                                      "; it takes " + std::to_string(wanted) + ": " + kernel.signature);
  if (count != 0) require(kernel.called.c_str(), "arguments", given);
  if (count > few_.size()) many_.resize(count);
  ptx::argument* const to = many_.empty() ? few_.data() : many_.data();
  for (std::size_t i = 0; i < count; ++i) to[i] = read(in, kernel, kernel.parameters[i], given[i]);
}

}  // namespace kaio::c
