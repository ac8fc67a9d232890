#pragma once
// Where a parameter's memory begins, for kernels that compute addresses themselves.

#include <kaio/dsl/dsl.hpp>

namespace kaio::ops {

// Pointer: in<T>, out<T> or inout<T>.
template <class Pointer>
constexpr val<u64> address_of(const Pointer& x) {
  return {*x.trace, x.base};
}

}  // namespace kaio::ops
