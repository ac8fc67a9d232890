#pragma once
// Sets counts to 0 by a kernel of histogram.

#include <kaio/dsl/number/scalar.hpp>
#include <kaio/runtime/stream.hpp>

namespace kaio::runtime {
class device;
}

namespace kaio::ops::detail {

// `size` numbers of u32 that are `stride` apart.
void clear_counts(const stream& s, u64 address, i64 stride, u64 size);
void clear_counts_warmup(const runtime::device& gpu);

}  // namespace kaio::ops::detail
