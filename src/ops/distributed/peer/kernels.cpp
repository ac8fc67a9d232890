#include "ops/distributed/peer/kernels.hpp"

#include "ops/families.hpp"

namespace kaio::ops {

namespace detail {

void launch_peer_signal(const stream& s, const peer_signal_problem& problem) {
  peer_signal.launch(s, grid(1), problem);
}
void launch_peer_sum(const stream& s, std::uint32_t blocks, const peer_sum_problem& problem) {
  peer_sum.launch(s, grid(blocks), problem);
}
void launch_peer_norm(const stream& s, std::uint32_t blocks, const peer_norm_problem& problem) {
  peer_norm.launch(s, grid(blocks), problem);
}
void launch_peer_counts(const stream& s, const peer_count_problem& problem) {
  peer_counts.launch(s, grid(1), problem);
}
void launch_peer_send(const stream& s, std::uint32_t blocks, const peer_send_problem& problem) {
  peer_send.launch(s, grid(blocks), problem);
}
std::vector<const ptx::kernel_image*> peer_kernel_images() {
  return {&peer_signal.image(), &peer_sum.image(), &peer_norm.image(), &peer_counts.image(),
          &peer_send.image()};
}

void warmup_peer_kernels(const device& gpu) {
  for (const ptx::kernel_image* image : peer_kernel_images()) gpu.warmup(*image);
}

}  // namespace detail

void list_distributed_peer_kernels(std::vector<const ptx::kernel_image*>& list) {
  for (const ptx::kernel_image* image : detail::peer_kernel_images()) list.push_back(image);
}

}  // namespace kaio::ops
