#pragma once
// Ranks that a program connects: its functions gather bytes on the host, and give memory of all ranks. Tensors move through
// a part of that memory.

#include <kaio/ops/distributed/communicator.hpp>

#include <memory>

#include "ops/distributed/common/transport.hpp"

namespace kaio::ops::detail {

std::unique_ptr<transport> program_transport_of(const communicator_means& means, int ranks, int rank,
                                                const device& on, const communicator_options& options);

}  // namespace kaio::ops::detail
