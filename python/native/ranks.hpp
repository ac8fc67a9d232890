#pragma once
// Ranks that the program connects, and the memory that they share: kaio.PeerWorkspace and kaio.PeerBuffer.

#include <kaio/c/kaio.h>
#include <nanobind/nanobind.h>

namespace kaio::python {

// Null: the object is another one.
const kaio_peer_workspace* workspace_of(nanobind::handle object) noexcept;
const kaio_peer_buffer* peer_buffer_of(nanobind::handle object) noexcept;

void bind_ranks(nanobind::module_& m);

}  // namespace kaio::python
