#pragma once
// Bounds the host memory of all buffers. Pages are taken at their first touch, so an allocation could succeed and
// the system later end the program in the middle of a kernel. So every buffer of every emulated device of the
// process is reserved in full. The bound is the host's free memory at the first buffer (or at a later look, if that
// was more), less a sixteenth for the rest of the program. What other processes take later is noticed only by large
// allocations.
//
//   if (!host_reservation::shared().take(bytes)) ...   // out of memory
//   host_reservation::shared().give_back(bytes);

#include "emulator/program/scalar.hpp"

#include <functional>
#include <mutex>
#include <string>
#include <utility>

namespace kaio::emulator {

// Bytes that the host can give to this process without taking them from others: /proc/meminfo, reduced by the
// limit of a control group (version 1 or 2). `root` is the folder that contains /proc and /sys.
u64 available_host_memory(const std::string& root = "");

class host_reservation {
 public:
  // `available` returns the bytes that the host has left now.
  explicit host_reservation(std::function<u64()> available) : available_(std::move(available)) {}
  host_reservation(const host_reservation&) = delete;
  host_reservation& operator=(const host_reservation&) = delete;
  // The reservation of this process.
  static host_reservation& shared();

  // False, without a reservation, if the host does not have that many bytes.
  bool take(u64 bytes);
  void give_back(u64 bytes);
  u64 left();

 private:
  void look();

  std::mutex mutex_;
  const std::function<u64()> available_;
  bool looked_ = false;
  u64 most_ = 0;      // bytes that may be reserved
  u64 reserved_ = 0;  // bytes reserved
  u64 present_ = 0;   // bytes that the host had left at the last look
  u64 since_ = 0;     // taken since then
};

}  // namespace kaio::emulator
