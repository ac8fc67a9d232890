#pragma once
// A hash of the state of a block or a cluster, without the memory that other blocks see. Equal states without
// a change of memory between them repeat for ever.

#include "emulator/machine/cluster.hpp"

namespace kaio::emulator {

u64 fingerprint(const block& b);
u64 fingerprint(const cluster& c);

}  // namespace kaio::emulator
