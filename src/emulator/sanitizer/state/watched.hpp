#pragma once
// State that the checks share. For the running grid: its memory, its blocks and the order of its actors. For
// each running block: its number and its memory. State for one check alone is in that check.

#include "emulator/machine/block.hpp"
#include "emulator/sanitizer/report/report.hpp"
#include "emulator/sanitizer/state/causality.hpp"
#include "emulator/sanitizer/state/origins.hpp"
#include "emulator/sanitizer/state/preceding.hpp"
#include "emulator/sanitizer/state/publications.hpp"
#include "emulator/sanitizer/state/shadow.hpp"
#include "emulator/sanitizer/state/usage.hpp"

#include <unordered_map>
#include <vector>

namespace kaio::emulator::sanitizing {

struct watched_block;
class barrier_check;
class async_check;

inline constexpr u32 asynchronous_actor = u32{1} << 31;  // not a warp
inline constexpr u32 single_operation = u32{1} << 30;    // one of these, with a phase of its own

// Reads of bytes not yet written. They are reported when the readers have met the writers, or at the end. If
// an unordered writer comes later, the race is the better report.
class early_reads {
 public:
  static constexpr u32 no_block = 0xffffffffu;

  explicit early_reads(reporter& r) : reports_(r) {}

  // `block`: the owner of the shared memory; no_block: a buffer. Keeps the first read of each PTX line.
  void add(const std::byte* at, u32 block, fault_report r);
  bool has(std::uint32_t ptx_line) const;
  // Drops the reads of bytes of this word.
  void drop(const std::byte* word);
  void report(u32 block);
  void report_all();

 private:
  struct early_read {
    const std::byte* at;
    u32 block;
    fault_report report;
  };
  void report_at(std::size_t k);

  reporter& reports_;
  std::vector<early_read> reads_;
};

struct watched_grid {
  watched_grid(const grid& g, reporter& r, causality& c, record_pool& pool, line_store& store,
               preceding_grids& before);

  // The buffer that holds this byte; nullptr: none.
  const piece* buffer_at(const std::byte* at) const;
  // A number for the statement of a PTX line: the first line that has its C++ place; without one, the line.
  u32 statement_of(u32 line);
  // "main.cpp:12" if the C++ place is known, else "PTX line 12".
  std::string place_of(const instruction& i) const;
  // Text in the words of the kernel's language: kaio, or PTX and CUDA.
  std::string_view say(std::string_view kaio, std::string_view ptx) const { return of_kaio ? kaio : ptx; }
  // nullptr: the block is not watched.
  watched_block* watched(const block& b) const {
    const auto found = running.find(&b);
    return found == running.end() ? nullptr : found->second;
  }

  const grid& launched;
  const bool of_kaio;  // the image has C++ statements: only kernels of the language do
  reporter& reports;
  causality& order;
  record_pool& pool;
  line_store& store;
  preceding_grids& preceding;
  const usages uses;
  const address_origins origins;
  u32 start = 0;               // time
  std::vector<piece> buffers;  // by their place in the host's memory
  struct started_block {
    ptx::dim3 index;
    u32 cluster = 0;
  };
  std::vector<started_block> blocks;  // by number
  u32 clusters = 0;
  std::unordered_map<const block*, watched_block*> running;
  publications published;
  early_reads early;
  u32 operations = 0;                    // single operations
  std::unordered_map<u32, u32> issuers;  // the warp of a single operation

 private:
  std::vector<u32> statements_;      // by PTX line; empty: not asked for yet
  std::vector<zeroed_bytes> words_;  // for buffers: piece::constant_loads and ::writes
};

// A block object is reused for the next block: `start` gives it the next number.
struct watched_block {
  watched_block(watched_grid& g, block& b);
  watched_block(const watched_block&) = delete;
  watched_block& operator=(const watched_block&) = delete;
  ~watched_block();
  void start();

  u32 actor_of(const warp& w) const { return first_actor + w.index; }
  u32 block_of(u32 actor) const { return actor / warps; }
  // The distance to the block with this number.
  reach distance(u32 other) const;
  // Describes for a report the place of this block's access, and its contents.
  void describe_place(const piece& p, u64 offset, u32 bytes, access_kind kind, fault_report& r) const;

  watched_grid& grid;
  block& of;
  const u32 warps;
  u32 number = 0;  // in the order of start
  u32 first_actor = 0;
  u32 origin = 0;  // time of its start
  piece shared, local;

  // The checks that other blocks of the cluster call.
  barrier_check* barriers = nullptr;
  async_check* async = nullptr;

 private:
  std::vector<u8> shared_defined_;
  zeroed_bytes local_defined_, shared_lines_;
};

}  // namespace kaio::emulator::sanitizing
