#pragma once
// A pointer from an address that the kernel read from memory, or from a struct argument. Nothing checks what
// is at the address.
//
//   const val x = pointer_at<in<f32>>(t, addresses[batch])[i];   // in<u64> addresses

#include <kaio/dsl/control/thread.hpp>
#include <kaio/dsl/memory/pointer.hpp>

namespace kaio::dsl {

// Pointer: in<T>, out<T> or inout<T>. `address` is that of its element 0, a multiple of the size of T.
template <class Pointer>
constexpr Pointer pointer_at(thread t, const val<u64>& address) {
  return {{&t.trace(), lower(t.trace(), address.node()), t.trace().scope()}};
}

}  // namespace kaio::dsl

namespace kaio {
using dsl::pointer_at;
}  // namespace kaio
