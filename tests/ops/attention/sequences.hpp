#pragma once
// Sequences of different lengths in one tensor.
#include "tests/ops/attention/support.hpp"

namespace kaio::tests {

struct lengths {
  u32 queries, keys;            // rows
  u32 used_queries, used_keys;  // of these
};

// The rows of a sequence as a tensor of its own.
template <class T>
tensor4<T> rows_of(const tensor4<T>& from, u32 first, u32 rows) {
  tensor4<T> result(1, rows, from.heads, from.size, false, 0);
  for (u32 r = 0; r < rows; ++r)
    for (u32 h = 0; h < from.heads; ++h)
      for (u32 e = 0; e < from.size; ++e) result.at(0, r, h, e) = from.at(0, first + r, h, e);
  return result;
}

}  // namespace kaio::tests
