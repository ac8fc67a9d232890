#pragma once
// Peer memory of the C interface.

#include <kaio/c/base.h>
#include <kaio/c/peers.h>
#include <kaio/ops/distributed/peer_workspace.hpp>

#include <cstdint>

#include "c/call/ranks.hpp"

struct kaio_peer_workspace {
  kaio::ops::peer_workspace memory;
};
struct kaio_peer_buffer {
  kaio::ops::peer_buffer memory;
};

namespace kaio::c {

kaio_peer_workspace* make_peer_workspace(const kaio_communicator* communicator,
                                         const ops::peer_workspace_options& options);
kaio_peer_buffer* make_peer_buffer(const kaio_communicator* communicator, std::uint64_t bytes);
void* pointer_of(const kaio_peer_buffer* buffer, std::int32_t rank);
void destroy(kaio_peer_workspace* workspace) noexcept;
void destroy(kaio_peer_buffer* buffer) noexcept;

}  // namespace kaio::c
