#pragma once
// A hash of the state of a block or a cluster, without memory that other blocks see. If memory does not
// change between two equal states, they repeat for ever.

#include "emulator/machine/cluster.hpp"

namespace kaio::emulator {

u64 fingerprint(const block& b);
u64 fingerprint(const cluster& c);

}  // namespace kaio::emulator
