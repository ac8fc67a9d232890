#pragma once
// The shadow memory of the sanitizer: the last write and the reads since, and for every byte whether it was
// written. Each piece of memory has one: a buffer, the shared memory of a block, the local memory of its
// threads. Untouched pages cost nothing.
//
// If half warps access whole 64-byte lines, lane after lane, a line has one record for a write and one for a
// read. Fast kernels do this. After any other access each of the line's 4-byte words has its own cell.

#include "emulator/memory/zeroed_bytes.hpp"
#include "emulator/program/program.hpp"
#include "emulator/program/scalar.hpp"

#include <array>
#include <cstddef>
#include <deque>
#include <map>
#include <memory>
#include <vector>

namespace kaio::emulator::sanitizing {

// The strength of an access; weak accesses order nothing.
enum class strength : u8 { weak, strong, atomic };

// The reach of a scope, or the distance between two blocks.
enum class reach : u8 { block, cluster, device };

constexpr reach reach_of(memory_scope scope) {
  return scope == memory_scope::cta       ? reach::block
         : scope == memory_scope::cluster ? reach::cluster
                                          : reach::device;
}

// One access of one or several lanes of a warp, by one instruction, to bytes of a word or to a line.
struct record {
  u32 time = 0;  // 0: none
  u32 actor = 0;
  u32 lanes = 0;  // for a line: its pattern
  u32 pc : 23 = 0;
  u32 bytes : 4 = 0;  // bit k: byte k of the word
  u32 write : 1 = 0;
  u32 strength_bits : 2 = 0;
  u32 reach_bits : 2 = 0;

  strength how() const { return static_cast<strength>(strength_bits); }
  reach scope() const { return static_cast<reach>(reach_bits); }
};
static_assert(sizeof(record) == 16);

inline constexpr u32 pc_mask = (1u << 23) - 1;

inline constexpr u32 words_of_a_line = 16;

// The lanes that access the words of a line. Word w: lane base + (w >> shift). If `both` halves of the warp
// do, also the lane 16 above.
struct pattern {
  u32 base = 0, shift = 0;
  bool both = false;

  u32 encoded() const { return base | shift << 8 | (both ? 1u << 16 : 0u); }
  static u32 lanes_of(u32 encoded, u32 word) {
    const u32 lane = 1u << ((encoded & 31) + (word >> (encoded >> 8 & 3)));
    return (encoded >> 16 & 1) != 0 ? lane | lane << 16 : lane;
  }
};

struct cell {
  record write, read;
  u32 more = 0;          // further records, in record_pool
  u32 synchronises = 0;  // a thread may have published something here
};

struct line {
  record write, read;  // with cells, the read's time is the last access to any of them
  u32 more = 0;        // further reads
  u32 cells = 0;       // in record_pool; 0: none
};

// Holds the records beyond the two of a cell or line, and the cells of lines.
class record_pool {
 public:
  using list = std::vector<record>;
  using cells = std::array<cell, words_of_a_line>;

  void clear();
  list& at(u32 number) { return lists_[number]; }
  u32 allocate();
  void release(u32& number);
  cells& cells_at(u32 number) { return cells_[number]; }
  u32 allocate_cells();
  void release_cells(u32& number);

 private:
  std::deque<list> lists_{1};
  std::deque<cells> cells_{1};
  std::vector<u32> free_, free_cells_;
};

struct watched_block;

// The last grids that used a word of a buffer (preceding.hpp).
struct word_users {
  struct user {
    u32 grid : 28 = 0;  // its number; 0: none
    u32 bytes : 4 = 0;  // bit k: byte k of the word
  };
  user writer, reader;
};

struct piece {
  const std::byte* data = nullptr;
  u64 bytes = 0;
  state_space space = state_space::global;
  u64 address = 0;                // in global memory
  u8* defined = nullptr;          // a bit per byte; nullptr: all are
  line* lines = nullptr;          // nullptr: used by one thread alone, or never written
  u32 origin = 0;                 // records up to this time belong to an earlier owner
  const char* input = nullptr;    // a buffer that the kernel may only read
  u32* constant_loads = nullptr;  // per word: checks/constant_loads.hpp; nullptr: not followed
  u32* writes = nullptr;
  word_users* users = nullptr;    // per word: checks/grids.hpp; nullptr: not followed
  watched_block* home = nullptr;  // for shared and local memory

  bool contains(const std::byte* at) const { return at >= data && at < data + bytes; }
};

// The lines of buffers, by the place of their storage, kept from grid to grid.
class line_store {
 public:
  line* lines_of(const std::byte* data, u64 bytes);
  // Drops the lines of buffers that are not in `live`.
  void keep_only(const std::vector<const std::byte*>& live);
  void clear() { known_.clear(); }

 private:
  struct entry {
    u64 bytes = 0;
    zeroed_bytes storage;
  };
  std::map<const std::byte*, entry> known_;
};

}  // namespace kaio::emulator::sanitizing
