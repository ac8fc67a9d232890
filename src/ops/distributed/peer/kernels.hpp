#pragma once
// Launches the kernels of peer memory (kaio/ops/distributed/peer/), which are compiled once.

#include <kaio/ops/distributed/peer/experts.hpp>
#include <kaio/ops/distributed/peer/reduce_norm.hpp>
#include <kaio/ptx/kernel_image.hpp>
#include <kaio/runtime/device.hpp>
#include <kaio/runtime/stream.hpp>

#include <cstdint>
#include <vector>

namespace kaio::ops::detail {

void launch_peer_signal(const stream& s, const peer_signal_problem& problem);
void launch_peer_sum(const stream& s, std::uint32_t blocks, const peer_sum_problem& problem);
void launch_peer_norm(const stream& s, std::uint32_t blocks, const peer_norm_problem& problem);
void launch_peer_counts(const stream& s, const peer_count_problem& problem);
void launch_peer_send(const stream& s, std::uint32_t blocks, const peer_send_problem& problem);
std::vector<const ptx::kernel_image*> peer_kernel_images();
void warmup_peer_kernels(const device& gpu);

}  // namespace kaio::ops::detail
