#pragma once
// Finds misused registers of wgmma. A product in flight owns its registers until a wgmma.wait_group has
// waited for it. A register that the warp wrote may be given to a product only after the next wgmma.fence.
// Each warp's fences are counted, and each register has the count at its last write.

#include "emulator/sanitizer/state/watched.hpp"

#include <string>
#include <vector>

namespace kaio::emulator::sanitizing {

class matrix_check {
 public:
  explicit matrix_check(watched_block& b);

  // False if the kernel has no wgmma, or its check was not requested.
  bool needed() const { return !fences_.empty(); }
  void start();
  void before(warp& w, const instruction& i);

 private:
  void report(warp& w, const instruction& i, u32 row, std::string detail, std::string advice);

  watched_grid& grid_;
  watched_block& block_;
  const std::size_t register_count_;
  std::vector<u32> fences_;   // per warp: the number of executed fences, plus 1
  std::vector<u32> touched_;  // the count at each register's last write, warp by warp
};

}  // namespace kaio::emulator::sanitizing
