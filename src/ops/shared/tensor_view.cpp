#include <kaio/ops/shared/tensor_view.hpp>
#include <kaio/ops/shared/validation.hpp>
#include <kaio/runtime/detail/operation_scope.hpp>
#include <kaio/runtime/detail/reaches.hpp>
#include <kaio/runtime/error.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace kaio::ops {

namespace {

std::string shape_of(const std::int64_t* values, std::uint32_t rank) {
  std::string result;
  for (std::uint32_t d = 0; d < rank; ++d) result += (d == 0 ? "" : " x ") + std::to_string(values[d]);
  return result;
}

std::string dimension_name(std::size_t dimension) { return "extent " + std::to_string(dimension); }

bool is_empty(const detail::view_facts& view) {
  return std::any_of(view.extents, view.extents + view.rank, [](std::int64_t e) { return e == 0; });
}

// Bytes from the first element to the end of the last one; 0 for an empty view. Returns false on overflow.
bool span_of(const detail::view_facts& view, std::uint64_t& bytes) {
  bytes = 0;
  if (is_empty(view)) return true;
  std::int64_t last = 0;
  for (std::uint32_t d = 0; d < view.rank; ++d) {
    std::int64_t distance = 0;
    if (__builtin_mul_overflow(view.extents[d] - 1, view.strides[d], &distance) ||
        __builtin_add_overflow(last, distance, &last))
      return false;
  }
  return !__builtin_mul_overflow(static_cast<std::uint64_t>(last) + 1, view.element_bytes, &bytes);
}

// Whether the number of elements fits 63 bits.
bool count_fits(const detail::view_facts& view) {
  std::int64_t count = 1;
  for (std::uint32_t d = 0; d < view.rank; ++d)
    if (__builtin_mul_overflow(count, view.extents[d], &count)) return is_empty(view);
  return true;
}

}  // namespace

namespace detail {

void check_view(std::string_view what, const view_facts& view) {
  const std::string name(what);
  for (std::uint32_t d = 0; d < view.rank; ++d) {
    if (view.extents[d] < 0)
      throw invalid_argument("kaio: " + name + " of " + shape_of(view.extents, view.rank) +
                             " elements; extents are 0 or more and below 2^63");
    if (view.strides[d] < 0)
      throw invalid_argument("kaio: " + name + " with strides " + shape_of(view.strides, view.rank) +
                             "; strides are 0 or more and below 2^63");
  }
  std::uint64_t bytes = 0;
  if (!count_fits(view) || !span_of(view, bytes))
    throw invalid_argument("kaio: " + name + " of " + shape_of(view.extents, view.rank) +
                           " elements with strides " + shape_of(view.strides, view.rank) +
                           " spans more than 64 bits can count; give smaller extents");
  if (view.address == 0 && view.device == nullptr) return;  // operations refuse a null view
  if (bytes > view.bytes)
    throw invalid_argument("kaio: " + name + " of " + shape_of(view.extents, view.rank) +
                           " elements with strides " + shape_of(view.strides, view.rank) + " spans " +
                           std::to_string(bytes) + " bytes, and its memory has " +
                           std::to_string(view.bytes) + "; give the extents of the memory");
}

void row_major_strides(const std::int64_t* extents, std::uint32_t rank, std::int64_t* strides) {
  std::int64_t next = 1;
  for (std::uint32_t d = rank; d-- > 0;) {
    strides[d] = next;
    const std::int64_t factor = extents[d] == 0 ? 1 : extents[d];
    if (extents[d] >= 0 && __builtin_mul_overflow(next, factor, &next) && d != 0)
      throw invalid_argument("kaio: a tensor_view of " + shape_of(extents, rank) +
                             " elements spans more than 64 bits can count; give smaller extents");
  }
}

void check_dimensions(std::size_t rank, std::size_t a, std::size_t b) {
  const std::size_t largest = a > b ? a : b;
  if (largest >= rank)
    throw invalid_argument("kaio: dimension " + std::to_string(largest) + " of a tensor_view of " +
                           std::to_string(rank) + " dimensions; they count from 0");
}

void check_slice(const view_facts& view, std::size_t dimension, std::int64_t first, std::int64_t count) {
  if (dimension >= view.rank)
    throw invalid_argument("kaio: a slice of dimension " + std::to_string(dimension) +
                           " of a tensor_view of " + std::to_string(view.rank) +
                           " dimensions; they count from 0");
  const std::int64_t extent = view.extents[dimension];
  if (first < 0 || count < 0 || first > extent || count > extent - first)
    throw invalid_argument("kaio: a slice of " + std::to_string(count) + " from " + std::to_string(first) +
                           " of dimension " + std::to_string(dimension) + ", which has " +
                           std::to_string(extent) + "; slice within the tensor_view");
}

namespace {

// The greatest common divisor of the distances between a view's elements, in bytes; 0 for one element.
std::uint64_t common_distance(const view_facts& view) {
  std::uint64_t result = 0;
  for (std::uint32_t d = 0; d < view.rank; ++d)
    if (view.extents[d] > 1)
      result = std::gcd(result, static_cast<std::uint64_t>(view.strides[d]) * view.element_bytes);
  return result;
}

// Whether the view's elements fill every byte that it spans.
bool is_dense(const view_facts& view) {
  std::uint64_t bytes = 0;
  if (!span_of(view, bytes)) return false;
  std::uint64_t elements = 1;
  for (std::uint32_t d = 0; d < view.rank; ++d) elements *= static_cast<std::uint64_t>(view.extents[d]);
  return bytes == elements * view.element_bytes;
}

// A view as rows, along its longest stride.
struct rows {
  std::uint64_t stride = 0, count = 1;  // bytes from row to row
  std::uint64_t width = 0;              // bytes from the first element of a row to the end of the last
  bool dense = false;                   // a row's elements fill all of these bytes
};

rows rows_of(const view_facts& view) {
  rows result;
  std::uint32_t along = view.rank;
  for (std::uint32_t d = 0; d < view.rank; ++d) {
    const std::uint64_t stride = static_cast<std::uint64_t>(view.strides[d]) * view.element_bytes;
    if (view.extents[d] <= 1 || stride <= result.stride) continue;
    result.stride = stride;
    along = d;
  }
  if (along != view.rank) result.count = static_cast<std::uint64_t>(view.extents[along]);
  std::uint64_t last = 0, elements = 1;
  for (std::uint32_t d = 0; d < view.rank; ++d) {
    if (d == along || view.extents[d] <= 1) continue;
    const auto extent = static_cast<std::uint64_t>(view.extents[d]);
    last += (extent - 1) * static_cast<std::uint64_t>(view.strides[d]) * view.element_bytes;
    elements *= extent;
  }
  result.width = last + view.element_bytes;
  result.dense = result.width == elements * view.element_bytes;
  return result;
}

// pitch: greatest common divisor of the strides of at least `least` bytes. width: bytes that the other
// dimensions span, from the first element to the end of the last one.
struct parts_of_rows {
  std::uint64_t pitch = 0, width = 0;
};
parts_of_rows parts_of(const view_facts& view, std::uint64_t least) {
  parts_of_rows result;
  result.width = view.element_bytes;
  for (std::uint32_t d = 0; d < view.rank; ++d) {
    if (view.extents[d] <= 1) continue;
    const std::uint64_t stride = static_cast<std::uint64_t>(view.strides[d]) * view.element_bytes;
    if (stride >= least)
      result.pitch = std::gcd(result.pitch, stride);
    else
      result.width += static_cast<std::uint64_t>(view.extents[d] - 1) * stride;
  }
  return result;
}

// Whether rows of a common pitch, made of all strides of at least `least` bytes, keep two views apart.
bool apart_in_rows(const view_facts& a, const view_facts& b, std::uint64_t least) {
  const parts_of_rows of_a = parts_of(a, least), of_b = parts_of(b, least);
  const std::uint64_t pitch = std::gcd(of_a.pitch, of_b.pitch);
  if (pitch == 0 || of_a.width > pitch || of_b.width > pitch) return false;
  const std::uint64_t offset =
      a.address >= b.address ? (a.address - b.address) % pitch
                             : (pitch - (b.address - a.address) % pitch) % pitch;  // a's place in b's rows
  return offset >= of_b.width && offset + of_a.width <= pitch;
}

// Whether two views have different columns of shared rows, like two slices of one view along its last
// dimension. True if a view of both together has no two elements in one place: each stride reaches over
// everything inside it.
bool apart_in_neighbours(const view_facts& a, const view_facts& b) {
  if (a.rank != b.rank || a.element_bytes != b.element_bytes) return false;
  if (a.address > b.address) return apart_in_neighbours(b, a);
  std::uint64_t of_a = 0, of_b = 0;                             // columns of each
  std::vector<std::pair<std::uint64_t, std::uint64_t>> others;  // strides and extents
  for (std::uint32_t d = 0; d < a.rank; ++d) {
    const auto extent = static_cast<std::uint64_t>(std::max(a.extents[d], b.extents[d]));
    if (extent > 1 && a.strides[d] != b.strides[d]) return false;
    if (extent > 1 && a.strides[d] == 1 && of_a == 0) {
      of_a = static_cast<std::uint64_t>(a.extents[d]);
      of_b = static_cast<std::uint64_t>(b.extents[d]);
    } else if (extent > 1) {
      others.emplace_back(static_cast<std::uint64_t>(a.strides[d]), extent);
    }
  }
  const std::uint64_t bytes = b.address - a.address;
  if (of_a == 0 || bytes % a.element_bytes != 0 || bytes / a.element_bytes < of_a) return false;
  std::uint64_t reach = bytes / a.element_bytes + of_b;
  std::sort(others.begin(), others.end());
  for (const auto& [stride, extent] : others) {
    if (stride < reach) return false;
    reach += stride * (extent - 1);
  }
  return true;
}

}  // namespace

bool overlap(const view_facts& a, const view_facts& b) {
  std::uint64_t a_bytes = 0, b_bytes = 0;
  if (!span_of(a, a_bytes) || !span_of(b, b_bytes)) return true;
  if (a_bytes == 0 || b_bytes == 0) return false;
  if (a.address >= b.address ? a.address - b.address >= b_bytes : b.address - a.address >= a_bytes)
    return false;
  // Interleaved, like even and odd elements: in a common grid a's elements have one place, b's another.
  if (const std::uint64_t grid = std::gcd(common_distance(a), common_distance(b)); grid != 0) {
    const std::uint64_t place = a.address <= b.address ? (b.address - a.address) % grid
                                                       : (grid - (a.address - b.address) % grid) % grid;
    if (place >= a.element_bytes && place + b.element_bytes <= grid) return false;
  }
  // Both run through the same rows, of one matrix or of several: they may touch disjoint parts of each row.
  for (const view_facts* const view : {&a, &b})
    for (std::uint32_t d = 0; d < view->rank; ++d)
      if (view->extents[d] > 1 &&
          apart_in_rows(a, b, static_cast<std::uint64_t>(view->strides[d]) * view->element_bytes))
        return false;
  return !apart_in_neighbours(a, b);
}

namespace {

// Whether two views for which overlap() is true surely share an element, rather than possibly.
bool surely_meet(const view_facts& a, const view_facts& b) {
  if (a.address == b.address || (is_dense(a) && is_dense(b))) return true;
  if (a.address > b.address) return surely_meet(b, a);
  const rows of_a = rows_of(a), of_b = rows_of(b);
  if (of_a.stride != of_b.stride || of_a.stride == 0 || !of_a.dense || !of_b.dense) return false;
  // b's first part begins in this row of a, and may end in the next one.
  const std::uint64_t row = (b.address - a.address) / of_a.stride,
                      first = (b.address - a.address) % of_a.stride;
  return (row < of_a.count && first < of_a.width) ||
         (row + 1 < of_a.count && first + of_b.width > of_a.stride);
}

}  // namespace

}  // namespace detail

void validation::check_input(std::string_view name, const detail::view_facts& view) const {
  runtime::detail::note_argument(name, view.element, view.extents, view.rank);
  const std::string argument = std::string(operation_) + ": argument " + std::string(name);
  if (view.address == 0 && view.device == nullptr)
    throw invalid_argument(
        "kaio: " + argument +
        " is a null tensor_view; its buffer was never allocated, was released, or was moved from: make it of a buffer that has memory");
  if (device_ != nullptr && view.device != nullptr && !runtime::detail::reaches(device_, view.device))
    throw invalid_argument(
        "kaio: " + argument +
        " is memory of another device than the stream's; upload it to that device, or use a stream of its device");
  detail::check_view(argument, view);
  if (is_empty(view)) return;
  if (view.address == 0)
    throw invalid_argument("kaio: " + argument + " has address 0; make it of a buffer that has memory");
  if (view.address % view.element_bytes != 0)
    throw invalid_argument("kaio: " + argument +
                           " begins at an address that is no multiple of its elements' " +
                           std::to_string(view.element_bytes) + " bytes; align it");
}

void validation::check_output(std::string_view name, const detail::view_facts& view) const {
  check_input(name, view);
  if (is_empty(view)) return;
  const std::string argument = std::string(operation_) + ": output " + std::string(name);
  std::array<std::uint32_t, 8> order{};  // dimensions of more than one element, smallest stride first
  std::uint32_t count = 0;
  for (std::uint32_t d = 0; d < view.rank; ++d) {
    if (view.extents[d] <= 1) continue;
    std::uint32_t at = count++;
    for (; at != 0 && view.strides[order[at - 1]] > view.strides[d]; --at) order[at] = order[at - 1];
    order[at] = d;
  }
  std::int64_t inner = 0;  // distance from the first element to the last one of the dimensions inside
  for (std::uint32_t i = 0; i < count; ++i) {
    const std::int64_t stride = view.strides[order[i]];
    if (stride == 0)
      throw invalid_argument("kaio: " + argument + " has stride 0 in dimension " + std::to_string(order[i]) +
                             ", which has " + std::to_string(view.extents[order[i]]) +
                             " elements; an output has a place for each of them");
    if (stride <= inner)
      throw invalid_argument(
          "kaio: " + argument + " of " + shape_of(view.extents, view.rank) + " elements with strides " +
          shape_of(view.strides, view.rank) +
          " has elements that share a place; give each dimension a stride beyond those inside it");
    inner += (view.extents[order[i]] - 1) * stride;
  }
}

void validation::check_apart(std::string_view output, const detail::view_facts& to, std::string_view input,
                             const detail::view_facts& from) const {
  if (!detail::overlap(to, from)) return;
  if (to.device != nullptr && from.device != nullptr && to.device != from.device)
    return;  // equal addresses of different devices
  const std::string names = "kaio: " + std::string(operation_) + ": output " + std::string(output),
                    argument = "argument " + std::string(input);
  if (detail::surely_meet(to, from))
    throw invalid_argument(names + " shares memory with " + argument + "; write to memory of its own");
  throw invalid_argument(
      names + " is interleaved with " + argument +
      ", and their strides do not show that no element is in both; write to memory of its own");
}

void validation::workspace(std::string_view name, const workspace_facts& memory, std::uint64_t bytes,
                           std::uint64_t alignment) const {
  runtime::detail::note_workspace(bytes);
  if (bytes == 0) return;
  const std::string argument = std::string(operation_) + ": argument " + std::string(name);
  if (memory.address == 0)
    throw invalid_argument("kaio: " + argument + " is null, and this shape needs " + std::to_string(bytes) +
                           " bytes; give memory of that size");
  if (device_ != nullptr && memory.device != nullptr && !runtime::detail::reaches(device_, memory.device))
    throw invalid_argument("kaio: " + argument +
                           " is memory of another device than the stream's; allocate it on that device");
  if (memory.bytes < bytes)
    throw invalid_argument("kaio: " + argument + " has " + std::to_string(memory.bytes) +
                           " bytes, and this shape needs " + std::to_string(bytes) + "; give a larger one");
  if (memory.address % alignment != 0)
    throw invalid_argument("kaio: " + argument + " begins at an address that is no multiple of " +
                           std::to_string(alignment) + " bytes; align it");
}

void validation::throw_extent(std::string_view name, std::size_t dimension, std::int64_t came,
                              std::int64_t expected, std::string_view reason) const {
  throw invalid_argument("kaio: " + std::string(operation_) + ": argument " + std::string(name) + " has " +
                         dimension_name(dimension) + " of " + std::to_string(came) + ", and " +
                         std::to_string(expected) + " is expected: " + std::string(reason));
}

void validation::throw_empty(std::string_view name, std::size_t dimension) const {
  throw invalid_argument("kaio: " + std::string(operation_) + ": argument " + std::string(name) + " has " +
                         dimension_name(dimension) + " of 0; it needs one element or more");
}

void validation::throw_limit(std::string_view name, std::size_t dimension, std::int64_t came,
                             std::int64_t limit) const {
  throw invalid_argument("kaio: " + std::string(operation_) + ": argument " + std::string(name) + " has " +
                         dimension_name(dimension) + " of " + std::to_string(came) + ", and at most " +
                         std::to_string(limit) + " is supported; take it in parts");
}

}  // namespace kaio::ops
