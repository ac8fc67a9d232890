#pragma once
// The mbarriers in the shared memory of one block (PTX ISA, "mbarrier"). A phase is complete when all
// expected arrivals have come and asynchronous copies have written all expected bytes; then the next phase
// begins. CUDA does not define the 64 bits of an mbarrier. Here, from the low end:
//   20 bits expected arrivals | 20 pending arrivals | 21 pending bytes (plus 2^20) | 3 phase number
// A copy outside the memory detects an mbarrier that was never initialised, or was overwritten.
//
//   mbarriers phases(home);
//   phases.initialize({w, i, lane}, offset, 128);
//   const u64 token = phases.arrive({w, i, lane}, offset, {.count = 1});
//   if (!phases.is_complete({w, i, lane}, offset, token)) ...

#include "emulator/program/program.hpp"
#include "emulator/program/scalar.hpp"

#include <string>
#include <unordered_map>

namespace kaio::emulator {

struct block;
struct warp;

inline constexpr u32 most_arrivals = (1u << 20) - 1;
inline constexpr u32 most_transaction_bytes = (1u << 20) - 1;
inline constexpr u32 mbarrier_bytes = 8;

// The lane that executes an instruction, for reports. An asynchronous operation acts for its issuing lane.
struct performer {
  warp* by = nullptr;
  const instruction* executed = nullptr;
  unsigned lane = 0;
};

struct mbarrier_state {
  u32 expected = 0, pending = 0;  // arrivals
  s64 transactions = 0;           // bytes expected and not yet written
  u64 phase = 0;

  u64 encoded() const;
};

struct mbarrier_arrival {
  u32 count = 1;
  u32 expected_bytes = 0;
  bool drops = false;        // later phases do not expect these arrivals
  bool no_complete = false;  // the arrival must not complete the phase
};

class mbarriers {
 public:
  explicit mbarriers(block& home) : home_(home) {}
  void start() { states_.clear(); }

  // All of these throw fault if the use breaks the rules. `offset`: in the block's shared memory.
  void initialize(const performer& p, u32 offset, u32 count);
  void invalidate(const performer& p, u32 offset);
  u64 arrive(const performer& p, u32 offset, const mbarrier_arrival& arrival);  // returns the state before it
  void expect_bytes(const performer& p, u32 offset, u32 bytes);
  void complete_bytes(const performer& p, u32 offset, u32 bytes);
  // Announces an arrival beyond the expected ones: cp.async.mbarrier.arrive.
  void add_pending(const performer& p, u32 offset);

  // True if the phase of a state, or with a parity, is complete: the current phase or the previous one.
  // `phase`: its number.
  bool is_complete(const performer& p, u32 offset, u64 token, u64& phase);
  bool has_parity_completed(const performer& p, u32 offset, u32 parity, u64& phase);

  // Describes in text what the lanes at the phase wait for.
  std::string describe(u32 offset) const;

  static u32 pending_arrivals(u64 token) { return static_cast<u32>(token >> 20) & most_arrivals; }

 private:
  mbarrier_state& find(const performer& p, u32 offset);
  void store(u32 offset, const mbarrier_state& state);
  void settle(u32 offset, mbarrier_state& state);
  [[noreturn]] void refuse(const performer& p, std::string detail) const;
  std::string name(u32 offset) const;

  block& home_;
  std::unordered_map<u32, mbarrier_state> states_;
};

}  // namespace kaio::emulator
