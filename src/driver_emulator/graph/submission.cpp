#include "driver_emulator/graph/submission.hpp"

#include "driver_emulator/graph/captures.hpp"
#include "driver_emulator/state/entry.hpp"
#include "driver_emulator/state/streams.hpp"

namespace kaio::driver_emulator {

void submit(const std::shared_ptr<stream>& where, work what, CUgraphNodeType type) {
  const std::shared_ptr<context> c = where->owner.lock();
  require(c != nullptr && c->active, CUDA_ERROR_CONTEXT_IS_DESTROYED);
  if (where->captured != nullptr) return capture_work(*where, std::move(what), type);
  if (where->kind == stream_kind::legacy) forbid_implicit_order(*c);
  const stream_point point = put_in(where, std::move(what));
  if (!state().delayed_streams) run_until({point}, false);
  if (state().blocking_launches) synchronize(where);
}

void submit_and_wait(const std::shared_ptr<stream>& where, work what) {
  forbid_captured(*where);
  const std::shared_ptr<context> c = where->owner.lock();
  require(c != nullptr && c->active, CUDA_ERROR_CONTEXT_IS_DESTROYED);
  if (where->kind == stream_kind::legacy) forbid_implicit_order(*c);
  run_until({put_in(where, std::move(what))}, true);
  if (c->lost != CUDA_SUCCESS) refuse(c->lost);
}

}  // namespace kaio::driver_emulator
