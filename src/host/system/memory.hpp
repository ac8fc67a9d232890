#pragma once
// Virtual memory: pages that cost nothing until they are used, files seen as memory, and memory that is seen at several
// addresses.

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

namespace kaio::host {

// The memory of this machine in bytes.
std::uint64_t physical_memory();

// The bytes that this machine can give to a process without taking them from others; 4 GiB if it does not say.
std::uint64_t available_memory();

// Pages of zeros that are taken at their first touch. Null: the system has no such range of addresses.
void* reserve_zeros(std::size_t bytes);
void release_zeros(void* pages, std::size_t bytes);
// All pages are zero again, and cost nothing until the next touch. False: the system refuses, and nothing has changed.
bool clear_zeros(void* pages, std::size_t bytes);

// Whole pages of 4 KiB, all zero; null: there is no memory.
void* allocate_pages(std::size_t bytes);
void free_pages(void* pages);

// A regular file, seen for reading. Without bytes the file is empty or, with a reason, cannot be seen.
struct file_view {
  std::span<const std::byte> bytes;
  std::string reason;
};
file_view view_file(const std::string& path);
void end_view(std::span<const std::byte> bytes);

// Memory that can be seen at several addresses. All sizes, offsets and addresses are multiples of 64 KiB.
class shared_memory {
 public:
  // Ready is false if the system has none.
  shared_memory();
  ~shared_memory();
  shared_memory(const shared_memory&) = delete;
  shared_memory& operator=(const shared_memory&) = delete;
  bool is_ready() const;

  static constexpr std::uint64_t none = ~std::uint64_t{0};
  // Fresh pages of zeros, by a number for `show` and `give_back`; none: there is no memory.
  std::uint64_t take(std::uint64_t bytes);
  void give_back(std::uint64_t pages, std::uint64_t bytes);
  // Puts a part of the pages at reserved addresses, in place of what is there. False: the system refuses.
  bool show(void* at, std::uint64_t pages, std::uint64_t offset, std::uint64_t bytes) const;

 private:
  std::intptr_t file_ = -1;
  std::uint64_t end_ = 0;
};

// A range of addresses without access; null: there is none. `alignment` is a power of two.
void* reserve_addresses(std::uint64_t bytes, std::uint64_t alignment);
void release_addresses(void* at, std::uint64_t bytes);
// Takes away what is shown in a part of such a range. False: the system refuses.
bool hide_addresses(void* at, std::uint64_t bytes);

}  // namespace kaio::host
