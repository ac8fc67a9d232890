#include "c/call/peers.hpp"

namespace kaio::c {

kaio_peer_workspace* make_peer_workspace(const kaio_communicator* communicator,
                                         const ops::peer_workspace_options& options) {
  return new kaio_peer_workspace{ops::peer_workspace::make(communicator->rank, options)};
}
kaio_peer_buffer* make_peer_buffer(const kaio_communicator* communicator, std::uint64_t bytes) {
  return new kaio_peer_buffer{communicator->rank.allocate(bytes)};
}
void* pointer_of(const kaio_peer_buffer* buffer, std::int32_t rank) {
  return reinterpret_cast<void*>(static_cast<std::uintptr_t>(buffer->memory.pointer(rank).address));
}
void destroy(kaio_peer_workspace* workspace) noexcept { delete workspace; }
void destroy(kaio_peer_buffer* buffer) noexcept { delete buffer; }

}  // namespace kaio::c
