#pragma once
// Launches the kernel that adds parts (kaio/ops/distributed/simt/sum_parts.hpp).

#include <kaio/dsl/number/scalar.hpp>
#include <kaio/ops/shared/any_view.hpp>
#include <kaio/runtime/device.hpp>
#include <kaio/runtime/stream.hpp>

#include <cstdint>

namespace kaio::ops::detail {

// Rows of `size` elements.
struct summed_rows {
  std::uint64_t address = 0;
  element_kind type = element_kind::f32;  // f32, f16 or bf16
  std::uint64_t row = 0;                  // bytes from one row to the next
};

// to = (accumulate ? to : 0) + the sum of `parts` parts of `from`, which are `part` bytes apart. Sums are f32.
void launch_sum(const stream& s, const summed_rows& to, const summed_rows& from, std::uint64_t part,
                u32 parts, std::uint64_t rows, std::uint64_t size, bool accumulate);
void sum_warmup(const device& gpu);

}  // namespace kaio::ops::detail
