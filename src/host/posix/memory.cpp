#include "host/system/memory.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <system_error>

namespace kaio::host {
namespace {

class descriptor {
 public:
  explicit descriptor(int number) : number_(number) {}
  descriptor(const descriptor&) = delete;
  descriptor& operator=(const descriptor&) = delete;
  ~descriptor() {
    if (number_ >= 0) ::close(number_);
  }
  int number() const noexcept { return number_; }

 private:
  int number_;
};

std::string reason() { return std::generic_category().message(errno); }

constexpr int unused = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE;

}  // namespace

std::uint64_t physical_memory() {
  const long pages = sysconf(_SC_PHYS_PAGES), page = sysconf(_SC_PAGESIZE);
  return pages > 0 && page > 0 ? static_cast<std::uint64_t>(pages) * static_cast<std::uint64_t>(page)
                               : std::uint64_t{1} << 32;
}

// Linux says it in /proc, where emulator/memory/host_memory.cpp reads it together with the limits of control groups.
std::uint64_t available_memory() { return std::uint64_t{1} << 32; }

void* reserve_zeros(std::size_t bytes) {
  void* const pages = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, unused, -1, 0);
  return pages == MAP_FAILED ? nullptr : pages;
}

void release_zeros(void* pages, std::size_t bytes) { ::munmap(pages, bytes); }

bool clear_zeros(void* pages, std::size_t bytes) { return ::madvise(pages, bytes, MADV_DONTNEED) == 0; }

void* allocate_pages(std::size_t bytes) {
  constexpr std::size_t page = 4096;
  if (bytes > SIZE_MAX - page) return nullptr;
  const std::size_t whole = (bytes + page - 1) / page * page;
  void* const pages = std::aligned_alloc(page, whole);
  if (pages != nullptr) std::memset(pages, 0, whole);
  return pages;
}

void free_pages(void* pages) { std::free(pages); }

file_view view_file(const std::string& path) {
  // A pipe must not wait for its other end: it is refused below.
  const descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  struct stat facts {};
  if (file.number() < 0 || ::fstat(file.number(), &facts) != 0) return {{}, reason()};
  if (!S_ISREG(facts.st_mode)) return {{}, "it is not a regular file"};
  const auto size = static_cast<std::uint64_t>(facts.st_size);
  if (size == 0) return {};
  if (size > SIZE_MAX / 2) return {{}, "it is larger than the address space"};
  void* const at = ::mmap(nullptr, static_cast<std::size_t>(size), PROT_READ, MAP_PRIVATE, file.number(), 0);
  if (at == MAP_FAILED) return {{}, reason()};
  return {{static_cast<const std::byte*>(at), static_cast<std::size_t>(size)}, {}};
}

void end_view(std::span<const std::byte> bytes) {
  ::munmap(const_cast<std::byte*>(bytes.data()), bytes.size());
}

shared_memory::shared_memory() : file_(::memfd_create("kaio device memory", MFD_CLOEXEC)) {}
shared_memory::~shared_memory() {
  if (is_ready()) ::close(static_cast<int>(file_));
}
bool shared_memory::is_ready() const { return file_ >= 0; }

// The number of pages is their offset in the file.
std::uint64_t shared_memory::take(std::uint64_t bytes) {
  const std::uint64_t offset = end_;
  if (::ftruncate(static_cast<int>(file_), static_cast<off_t>(offset + bytes)) != 0) return none;
  end_ += bytes;
  return offset;
}

void shared_memory::give_back(std::uint64_t pages, std::uint64_t bytes) {
  // If the system refuses, the pages stay until the file ends.
  [[maybe_unused]] const int failed =
      ::fallocate(static_cast<int>(file_), FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE,
                  static_cast<off_t>(pages), static_cast<off_t>(bytes));
}

bool shared_memory::show(void* at, std::uint64_t pages, std::uint64_t offset, std::uint64_t bytes) const {
  return ::mmap(at, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, static_cast<int>(file_),
                static_cast<off_t>(pages + offset)) != MAP_FAILED;
}

void* reserve_addresses(std::uint64_t bytes, std::uint64_t alignment) {
  // The system aligns to its own pages only: what is too much at both ends is given back.
  const std::uint64_t whole = bytes + alignment;
  if (whole <= bytes) return nullptr;
  void* const got = ::mmap(nullptr, whole, PROT_NONE, unused, -1, 0);
  if (got == MAP_FAILED) return nullptr;
  const auto begin = reinterpret_cast<std::uintptr_t>(got);
  const std::uintptr_t address = (begin + alignment - 1) / alignment * alignment, end = address + bytes;
  if (address != begin) ::munmap(got, address - begin);
  if (begin + whole != end) ::munmap(reinterpret_cast<void*>(end), begin + whole - end);
  return reinterpret_cast<void*>(address);
}

void release_addresses(void* at, std::uint64_t bytes) { ::munmap(at, bytes); }

bool hide_addresses(void* at, std::uint64_t bytes) {
  return ::mmap(at, bytes, PROT_NONE, unused | MAP_FIXED, -1, 0) != MAP_FAILED;
}

}  // namespace kaio::host
