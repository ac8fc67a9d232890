#pragma once
// Memory that operations of several ranks share: the sums of all_reduce and all_reduce_rms_norm, and the parts of
// all_gather_matmul and matmul_reduce_scatter. Each rank makes one from its communicator, once, and passes it to calls.
//
//   peer_workspace w = peer_workspace::make(c, {.product_bytes = 256 << 20});   // every rank calls it
//   all_reduce(w, s, x, y);
//
// Calls of one workspace are made by all ranks in the same order, in one stream at a time; they may be captured
// into graphs, which all ranks replay in the same order. Before a call sends anything, all ranks compare it on the host:
// if a rank calls another operation, with another shape or type, or refuses its arguments, all throw invalid_argument,
// and the workspace remains usable. If a rank does not come, the others throw communication_error within the time limit
// of the communicator.
//
// Kernels that wait for another rank stop at that time limit too: assertion_failed, after which a GPU is lost. This happens
// if a rank ends between the comparison and its work, if a graph is not replayed by all ranks, or if calls that are not
// compared (compares_repeated_calls) do not match.

#include <kaio/ops/distributed/communicator.hpp>
#include <kaio/runtime/detail/context_ref.hpp>

#include <cstdint>
#include <utility>

namespace kaio::ops {

namespace detail {
class peer_memory;
class peer_memory_access;
void retain(peer_memory* m) noexcept;
void release(peer_memory* m) noexcept;
using peer_memory_ref = runtime::detail::counted_ref<peer_memory>;
}  // namespace detail

struct peer_workspace_options {
  // The largest tensor that all_reduce and all_reduce_rms_norm add by peer memory. A rank has 4 * sum_bytes for it, or
  // 2 * ranks * one_shot_bytes + 2 * sum_bytes if that is more.
  std::uint64_t sum_bytes = std::uint64_t{8} << 20;
  std::uint64_t one_shot_bytes = std::uint64_t{512}
                                 << 10;  // up to here every rank adds all; sum_bytes at most
  // Memory for the parts of one product; a rank has twice as much. The pages of the products say what they need.
  std::uint64_t product_bytes = 0;
  std::uint32_t blocks = 64;  // of kernels that add; 1 to 1024
  // False: a call that all ranks have made before on this workspace is not compared again. This saves some 10 us of the
  // host's time. If ranks then make different calls, they stop at the time limit.
  bool compares_repeated_calls = true;
};

// A handle of one rank; copies refer to the same memory. It belongs to one thread at a time.
class peer_workspace {
 public:
  peer_workspace() = default;  // null: its use throws invalid_argument

  // Every rank calls it with the same options. Throws invalid_argument: options out of range; unsupported_device: the
  // communicator has no direct access.
  static peer_workspace make(const communicator& c, const peer_workspace_options& options = {});

  const communicator& group() const;
  const peer_workspace_options& options() const;

  // Loads the kernels of all operations that take a workspace, except for those of the products.
  static void warmup(const device& gpu);

 private:
  friend class detail::peer_memory_access;
  explicit peer_workspace(detail::peer_memory_ref memory) noexcept : memory_(std::move(memory)) {}
  detail::peer_memory_ref memory_;
};

}  // namespace kaio::ops

namespace kaio {
using ops::peer_workspace;
using ops::peer_workspace_options;
}  // namespace kaio
