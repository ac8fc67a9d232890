#pragma once
// all_reduce after its checks, for operations that end with it.

#include <kaio/ops/shared/any_view.hpp>
#include <kaio/runtime/stream.hpp>

#include <cstdint>
#include <string_view>

#include "ops/distributed/peer/peer_memory.hpp"

namespace kaio::ops::detail {

// Refuses a view with gaps.
void check_dense(std::string_view operation, std::string_view name, const any_view& v);
// Whether the sum of such a tensor goes by peer memory.
bool sums_by_peers(const peer_memory& m, const any_view& v);
// All ranks have agreed on the call; or the stream only loads.
void queue_sum(peer_memory& m, const stream& s, const any_view& from, const any_view& to);

}  // namespace kaio::ops::detail
