#pragma once
// The pointer that an address is, where a kernel finds addresses in memory or in a struct that it is launched with:
//
//   const val x = pointer_at<in<f32>>(t, addresses[batch])[i];

#include <kaio/dsl/dsl.hpp>

namespace kaio::ops {

template <class Pointer>
constexpr Pointer pointer_at(thread t, const val<u64>& address) {
  if (t.trace().probing()) return {{&t.trace(), 0}};
  return {{&t.trace(), dsl::lower(t.trace(), address.node()), t.trace().scope()}};
}

}  // namespace kaio::ops
