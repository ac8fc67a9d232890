#pragma once
// Finds misused registers of wgmma. A product under way owns its registers until a wgmma.wait_group has
// waited for it, and a register that the warp wrote may only be given to a product after the next
// wgmma.fence. The fences of each warp are counted, and each register has the count at its last write.

#include "emulator/sanitizer/state/watched.hpp"

#include <string>
#include <vector>

namespace kaio::emulator::sanitizing {

class matrix_check {
 public:
  explicit matrix_check(watched_block& b);

  // False if the kernel has no wgmma, or its check was not asked for.
  bool needed() const { return !fences_.empty(); }
  void start();
  void before(warp& w, const instruction& i);

 private:
  void report(warp& w, const instruction& i, u32 row, std::string detail, std::string advice);

  watched_grid& grid_;
  watched_block& block_;
  const std::size_t register_count_;
  std::vector<u32> fences_;   // how many each warp has executed, plus 1
  std::vector<u32> touched_;  // at which count each register was written, warp by warp
};

}  // namespace kaio::emulator::sanitizing
