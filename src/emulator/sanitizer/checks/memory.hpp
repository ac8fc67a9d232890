#pragma once
// Finds reads of bytes that were never written, and writes to buffers that are only to be read. Each byte of
// memory has a bit that is set when the byte is written. A number with missing bytes is reported at its load,
// each element of a vector by itself. Whole elements of a vector may be the padding of a struct: they are
// reported at their use. So are a thread's loads from its local memory, where compilers copy structs. Accesses
// that leave the shared or local variable of their address are reported too. For all checks it finds the piece
// of memory that an access goes to.

#include "emulator/machine/observer.hpp"
#include "emulator/sanitizer/checks/registers.hpp"
#include "emulator/sanitizer/state/watched.hpp"

#include <vector>

namespace kaio::emulator::sanitizing {

class memory_check {
 public:
  // `registers`: the destination of loaded values, and the source of stored ones.
  memory_check(watched_block& b, register_check& registers);

  // nullptr: constants and parameters. An instruction nearly always accesses one piece.
  const piece* find(const std::byte* at, u32 site) {
    const piece*& known = site_pieces_[site < site_pieces_.size() ? site : 0];
    if (known != nullptr && known->contains(at)) return known;
    const piece* const p = search(at);
    if (p != nullptr) known = p;
    return p;
  }
  // The lanes of `mask` access this piece; `consecutive`: all lanes access it, one after the other.
  void access(warp& w, const instruction& i, u32 mask, u32 bytes, access_kind kind, const piece& p,
              const std::byte* const (&at)[warp_lanes], bool consecutive);
  // An asynchronous operation issued by a lane accesses these bytes.
  void issued(const async_operation& o, const async_range& range, const piece& p, u64 offset);
  // Lanes call a function: its frames hold no written bytes.
  void called(u32 lanes, u32 bytes, const std::byte* const (&frame)[warp_lanes]);

 private:
  const piece* search(const std::byte* at) const;
  void read(warp& w, const instruction& i, u32 mask, u32 bytes, const piece& p,
            const std::byte* const (&at)[warp_lanes], bool consecutive);
  void write(const instruction& i, u32 mask, u32 bytes, const piece& p,
             const std::byte* const (&at)[warp_lanes], bool consecutive);
  void report_read(warp& w, const instruction& i, unsigned lane, u32 bytes, const piece& p, u64 offset);
  void check_variable(warp& w, const instruction& i, u32 mask, u32 bytes, access_kind kind, const piece& p,
                      const std::byte* const (&at)[warp_lanes]);
  void report_input(warp& w, const instruction& i, unsigned lane, u32 bytes, access_kind kind, const piece& p,
                    u64 offset);

  watched_grid& grid_;
  watched_block& block_;
  register_check& registers_;
  std::vector<const piece*> site_pieces_;  // the last piece of each instruction
};

}  // namespace kaio::emulator::sanitizing
