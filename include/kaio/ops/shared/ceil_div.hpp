#pragma once
// Division of counts, rounded up: the blocks, tiles or steps that an extent takes.

#include <kaio/ptx/standard.hpp>

#include <concepts>
#include <cstdint>
#include <type_traits>

namespace kaio::ops {

// x / by, rounded up, for x >= 0 and by > 0, in 64 bits: neither it nor a product of two such counts wraps around.
template <std::integral X, std::integral By>
constexpr auto ceil_div(X x, By by) {
  using wide = std::conditional_t<std::is_signed_v<std::common_type_t<X, By>>, std::int64_t, std::uint64_t>;
  const wide all = static_cast<wide>(x), each = static_cast<wide>(by);
  return static_cast<wide>(all / each + (all % each != 0 ? 1 : 0));
}

}  // namespace kaio::ops
