#pragma once
// The sum of a tensor over ranks, by peer memory.
//
//   all_reduce(w, s, x, y);       // y = the sum of x of all ranks; peer_workspace w, of this rank
//   all_reduce(w, s, x, x);       // in place
//
//   bytes                          how
//   up to one_shot_bytes (512 KiB) one kernel: every rank sends all to all, and adds all
//   up to sum_bytes (8 MiB)        one kernel: rank p adds part p of all, and sends the sums to all
//   more                           communicator::all_reduce, which is not captured
//
// Elements are f32, f16 or bf16. Sums are f32, added in the order of ranks from 0 on, and rounded once: all ranks have
// equal bits, those of communicator::all_reduce. Nothing is allocated or waited for but the comparison of
// peer_workspace.hpp. Throws invalid_argument, which names the argument, on all ranks, before anything is sent;
// communication_error; and what a launch throws.
//
// Source of one-shot and two-shot: NVIDIA, TensorRT-LLM, customAllReduceKernels.

#include <kaio/ops/distributed/peer_workspace.hpp>
#include <kaio/ops/shared/any_view.hpp>
#include <kaio/ops/shared/output_view.hpp>
#include <kaio/ptx/kernel_image.hpp>
#include <kaio/runtime/stream.hpp>

#include <vector>

namespace kaio::ops {

// from, to: views without gaps, with the same number of elements of one type. `to` is `from`, or apart from it.
void all_reduce(const peer_workspace& w, const stream& s, const any_view& from, const output_view& to);

// The images of the kernels that use peer memory.
std::vector<const ptx::kernel_image*> peer_kernels();

}  // namespace kaio::ops

namespace kaio {
using ops::all_reduce;
}  // namespace kaio
