#pragma once
// One call whose parts are copied between ranks while others are computed: the halves of the workspace's memory for
// products, copies to other ranks, and signals.

#include <kaio/ops/shared/any_view.hpp>
#include <kaio/runtime/stream.hpp>

#include <cstdint>
#include <string_view>

#include "ops/distributed/peer/peer_memory.hpp"

namespace kaio::ops::detail {

// A matrix of the extents of `like` in the workspace's memory: lines begin at multiples of 16 bytes.
struct part_layout {
  std::uint32_t element_bytes;
  std::uint64_t row_bytes, bytes;  // from one line to the next; of the part, a multiple of 256
  static part_layout of(const any_view& like, element_kind type);
};

class product_call {
 public:
  // `takes` bytes of a half. Refuses a workspace that has less.
  static void check(std::string_view operation, const peer_memory& m, std::uint64_t takes);

  // Waits, in `s`, until the other ranks have read the half's last contents.
  product_call(peer_memory& m, const stream& s);

  int ranks() const { return m_.group.ranks(); }
  int rank() const { return m_.group.rank(); }
  int after(int steps) const { return (rank() + steps + ranks()) % ranks(); }
  // Part `slot` of rank `rank`'s half, with the extents of `like` and elements of `type`.
  any_view part(int rank, int slot, const any_view& like, element_kind type) const;

  // Copies begin after the work that is queued in `s` now.
  void allow_copies() const;
  // Copies a part to another rank, and then signals it.
  void send(int to, const any_view& part, const any_view& from) const;
  // Later work of `s` may read what `count` ranks have sent, from rank `first` on.
  void wait(int first, int count) const;
  // The signals for which a kernel may wait itself.
  peer_arrivals arrivals() const;
  // The others may write this rank's half again, and later work of `s` the memory that was sent. Stops with an error if
  // one of the `arrived` ranks after this one has not come by then.
  void end(int arrived = 0) const;

 private:
  peer_signal_problem signal() const;

  peer_memory& m_;
  const stream& s_;
  std::uint32_t half_;
};

}  // namespace kaio::ops::detail
