#pragma once
// Ranks that are threads of one process, each with its device. Memory moves by copies between devices, which the stream
// of the receiving rank does; events order the streams.

#include <memory>
#include <span>
#include <vector>

#include "ops/distributed/common/transport.hpp"

namespace kaio::ops::detail {

// One transport for each device. direct: kernels of a rank may use the memory of all others.
std::vector<std::unique_ptr<transport>> process_transports(std::span<const device> devices, bool direct,
                                                           double time_limit);

}  // namespace kaio::ops::detail
