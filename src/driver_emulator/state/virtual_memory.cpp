#include "driver_emulator/state/virtual_memory.hpp"

#include "driver_emulator/state/contexts.hpp"
#include "driver_emulator/state/entry.hpp"

#include <algorithm>

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

namespace kaio::driver_emulator {
namespace {

void* host(CUdeviceptr address) { return reinterpret_cast<void*>(static_cast<std::uintptr_t>(address)); }

// The file of all physical memory, as long as some lives.
std::shared_ptr<page_file> shared_pages() {
  std::shared_ptr<page_file> pages = state().device_pages.lock();
  if (pages == nullptr) state().device_pages = pages = std::make_shared<page_file>();
  return pages;
}

}  // namespace

page_file::page_file() : file_(memfd_create("kaio device memory", MFD_CLOEXEC)) {
  require(file_ >= 0, CUDA_ERROR_OUT_OF_MEMORY);
}
page_file::~page_file() { close(file_); }

std::uint64_t page_file::take(std::uint64_t bytes) {
  const std::uint64_t offset = end_;
  require(ftruncate(file_, static_cast<off_t>(offset + bytes)) == 0, CUDA_ERROR_OUT_OF_MEMORY);
  end_ += bytes;
  return offset;
}

void page_file::give_back(std::uint64_t offset, std::uint64_t bytes) {
  // If the host refuses, the pages stay until the file ends.
  [[maybe_unused]] const int failed = fallocate(file_, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE,
                                                static_cast<off_t>(offset), static_cast<off_t>(bytes));
}

void page_file::show(CUdeviceptr at, std::uint64_t offset, std::uint64_t bytes) const {
  const void* shown = mmap(host(at), bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, file_,
                           static_cast<off_t>(offset));
  require(shown != MAP_FAILED, CUDA_ERROR_OUT_OF_MEMORY);
}

physical_memory::physical_memory(const CUmemAllocationProp& p, std::uint64_t size)
    : properties(p), bytes(size), where(&find_device(p.location.id)), pages(shared_pages()) {
  require(bytes <= where->memory_bytes - std::min(where->used_bytes, where->memory_bytes),
          CUDA_ERROR_OUT_OF_MEMORY);
  offset = pages->take(bytes);
  if (!emulator::host_reservation::shared().take(bytes)) {
    pages->give_back(offset, bytes);
    refuse(CUDA_ERROR_OUT_OF_MEMORY);
  }
  where->used_bytes += bytes;
}

physical_memory::~physical_memory() {
  where->used_bytes -= bytes;
  pages->give_back(offset, bytes);
  emulator::host_reservation::shared().give_back(bytes);
}

bool mapping::is_accessible() const {
  return std::any_of(access.begin(), access.end(),
                     [](const auto& a) { return a.second != CU_MEM_ACCESS_FLAGS_PROT_NONE; });
}

reservation::reservation(std::uint64_t size, std::uint64_t alignment) : bytes(size) {
  // The host aligns to its own pages only: what is too much at both ends is given back.
  const std::uint64_t whole = size + alignment;
  require(whole > size, CUDA_ERROR_OUT_OF_MEMORY);
  void* const got = mmap(nullptr, whole, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  require(got != MAP_FAILED, CUDA_ERROR_OUT_OF_MEMORY);
  const auto begin = reinterpret_cast<std::uintptr_t>(got);
  address = (begin + alignment - 1) / alignment * alignment;
  if (address != begin) munmap(got, address - begin);
  if (begin + whole != address + size) munmap(host(address + size), begin + whole - address - size);
}

reservation::~reservation() { munmap(host(address), bytes); }

std::vector<std::map<CUdeviceptr, mapping>::iterator> reservation::mappings_in(CUdeviceptr begin,
                                                                               std::uint64_t size) {
  std::vector<std::map<CUdeviceptr, mapping>::iterator> found;
  CUdeviceptr at = begin;
  while (at - begin < size) {
    const auto next = mappings.find(at);
    require(next != mappings.end());
    found.push_back(next);
    at += next->second.bytes;
  }
  require(!found.empty() && at - begin == size);
  return found;
}

void reservation::publish() {
  emulator::memory& memory = state().memory;
  for (const CUdeviceptr buffer : buffers) memory.free(buffer);
  buffers.clear();
  for (auto m = mappings.begin(); m != mappings.end();) {
    const CUdeviceptr begin = m->first;
    CUdeviceptr end = begin;
    while (m != mappings.end() && m->first == end && m->second.is_accessible()) {
      end += m->second.bytes;
      ++m;
    }
    if (end == begin)
      ++m;
    else
      buffers.push_back(memory.attach(host(begin), end - begin));
  }
}

void reservation::hide(CUdeviceptr at, std::uint64_t size) {
  const void* hidden =
      mmap(host(at), size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0);
  require(hidden != MAP_FAILED, CUDA_ERROR_OUT_OF_MEMORY);
}

std::shared_ptr<reservation> find_reservation(CUdeviceptr address) {
  const auto& all = state().reservations;
  auto above = all.upper_bound(address);
  if (above == all.begin()) return nullptr;
  --above;
  return address - above->first < above->second->bytes ? above->second : nullptr;
}

}  // namespace kaio::driver_emulator
