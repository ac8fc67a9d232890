#pragma once
// What the host can give to buffers. Their pages are taken when they are first touched, so more could be handed out
// than there is, and the system would end the program in the middle of a kernel. So every buffer of every emulated
// device of the process is reserved whole, against what the host had when the first was made (or has now, if that is
// more), less a sixteenth for the rest of the program. What other processes take later is only noticed by large
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

// Bytes that the host can give to this process without taking them from others: /proc/meminfo, and less where a
// control group (version 1 or 2) allows less. `root` is the folder that /proc and /sys are in.
u64 available_host_memory(const std::string& root = "");

class host_reservation {
 public:
  // `available` gives the bytes that the host has left at the moment.
  explicit host_reservation(std::function<u64()> available) : available_(std::move(available)) {}
  host_reservation(const host_reservation&) = delete;
  host_reservation& operator=(const host_reservation&) = delete;
  // The one of this process.
  static host_reservation& shared();

  // False, and nothing is reserved, if the host does not have as much.
  bool take(u64 bytes);
  void give_back(u64 bytes);
  u64 left();

 private:
  void look();

  std::mutex mutex_;
  const std::function<u64()> available_;
  bool looked_ = false;
  u64 most_ = 0;      // that may be reserved
  u64 reserved_ = 0;  // of these
  u64 present_ = 0;   // what the host had left at the last look
  u64 since_ = 0;     // taken since then
};

}  // namespace kaio::emulator
