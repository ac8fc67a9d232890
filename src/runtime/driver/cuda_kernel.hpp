#pragma once
// A kernel that is loaded on a GPU: its function, what the driver allows it by now, and its occupancy as far as it
// was asked for.

#include <atomic>
#include <cstdint>
#include <mutex>
#include <optional>
#include <utility>
#include <vector>

#include "runtime/driver/cuda_backend.hpp"

namespace kaio::runtime::driver {

// A query of a kernel's blocks on the whole GPU. Answers are kept: the driver takes some microseconds for one,
// and persistent kernels need it at every launch.
struct occupancy_question {
  ptx::dim3 cluster;
  std::uint32_t dynamic_shared;
  friend bool operator==(const occupancy_question&, const occupancy_question&) = default;
};
class occupancy_answers {
 public:
  std::optional<std::uint64_t> find(const occupancy_question& question) {
    const std::scoped_lock lock(changing_);
    for (const auto& [asked, answer] : known_)
      if (asked == question) return answer;
    return std::nullopt;
  }
  std::uint64_t remember(const occupancy_question& question, std::uint64_t answer) {
    const std::scoped_lock lock(changing_);
    if (known_.size() == most) known_.clear();
    known_.emplace_back(question, answer);
    return answer;
  }

 private:
  static constexpr std::size_t most = 64;
  std::mutex changing_;
  std::vector<std::pair<occupancy_question, std::uint64_t>> known_;
};

class cuda_kernel final : public loaded_kernel {
 public:
  cuda_kernel(const ptx::kernel_image& kernel, cuda_backend& owner, CUmodule module, CUfunction function)
      : loaded_kernel(kernel), owner_(owner), module_(module), function_(function) {}
  ~cuda_kernel() override { owner_.unload(module_); }
  CUfunction function() const noexcept { return function_; }

  // The most dynamic shared memory that the driver allows the kernel by now; it only grows, under the mutex.
  mutable std::mutex allowing;
  mutable std::atomic<std::uint32_t> allowed{0};
  // Whether the driver allows the kernel clusters of more than 8 blocks by now.
  mutable std::atomic<bool> large_cluster_allowed{false};
  mutable occupancy_answers occupancy;

 private:
  cuda_backend& owner_;
  CUmodule module_;
  CUfunction function_;
};

inline CUfunction function_of(const loaded_kernel& code) {
  return static_cast<const cuda_kernel&>(code).function();
}

}  // namespace kaio::runtime::driver
