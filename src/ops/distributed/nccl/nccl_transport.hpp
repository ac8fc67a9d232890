#pragma once
// Ranks of one or several processes, by NCCL. Calls are compared by a small gather, for which the host waits. A thread of
// the rank watches the work that was queued, and ends the group if it takes longer than the time limit.

#include <kaio/ops/distributed/communicator.hpp>

#include <memory>

#include "ops/distributed/common/transport.hpp"

namespace kaio::ops::detail {

nccl_id make_nccl_id();
// Throws communication_error: the other ranks did not come within the time limit.
std::unique_ptr<transport> nccl_transport_of(const nccl_id& id, int ranks, int rank, const device& on,
                                             const communicator_options& options);

}  // namespace kaio::ops::detail
