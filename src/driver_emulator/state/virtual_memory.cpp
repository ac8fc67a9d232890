#include "driver_emulator/state/virtual_memory.hpp"

#include "driver_emulator/state/contexts.hpp"
#include "driver_emulator/state/entry.hpp"

#include <algorithm>

namespace kaio::driver_emulator {
namespace {

void* pointer_to(CUdeviceptr address) {
  return reinterpret_cast<void*>(static_cast<std::uintptr_t>(address));
}

// The pages of all physical memory, as long as some lives.
std::shared_ptr<page_file> shared_pages() {
  std::shared_ptr<page_file> pages = state().device_pages.lock();
  if (pages == nullptr) {
    pages = std::make_shared<page_file>();
    require(pages->is_ready(), CUDA_ERROR_OUT_OF_MEMORY);
    state().device_pages = pages;
  }
  return pages;
}

}  // namespace

physical_memory::physical_memory(const CUmemAllocationProp& p, std::uint64_t size)
    : properties(p), bytes(size), where(&find_device(p.location.id)), pages(shared_pages()) {
  require(bytes <= where->memory_bytes - std::min(where->used_bytes, where->memory_bytes),
          CUDA_ERROR_OUT_OF_MEMORY);
  number = pages->take(bytes);
  require(number != page_file::none, CUDA_ERROR_OUT_OF_MEMORY);
  if (!emulator::host_reservation::shared().take(bytes)) {
    pages->give_back(number, bytes);
    refuse(CUDA_ERROR_OUT_OF_MEMORY);
  }
  where->used_bytes += bytes;
}

void physical_memory::show(CUdeviceptr at, std::uint64_t offset, std::uint64_t size) const {
  require(pages->show(pointer_to(at), number, offset, size), CUDA_ERROR_OUT_OF_MEMORY);
}

physical_memory::~physical_memory() {
  where->used_bytes -= bytes;
  pages->give_back(number, bytes);
  emulator::host_reservation::shared().give_back(bytes);
}

bool mapping::is_accessible() const {
  return std::any_of(access.begin(), access.end(),
                     [](const auto& a) { return a.second != CU_MEM_ACCESS_FLAGS_PROT_NONE; });
}

reservation::reservation(std::uint64_t size, std::uint64_t alignment) : bytes(size) {
  void* const got = host::reserve_addresses(size, alignment);
  require(got != nullptr, CUDA_ERROR_OUT_OF_MEMORY);
  address = reinterpret_cast<std::uintptr_t>(got);
}

reservation::~reservation() { host::release_addresses(pointer_to(address), bytes); }

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
      buffers.push_back(memory.attach(pointer_to(begin), end - begin));
  }
}

void reservation::hide(CUdeviceptr at, std::uint64_t size) {
  require(host::hide_addresses(pointer_to(at), size), CUDA_ERROR_OUT_OF_MEMORY);
}

std::shared_ptr<reservation> find_reservation(CUdeviceptr address) {
  const auto& all = state().reservations;
  auto above = all.upper_bound(address);
  if (above == all.begin()) return nullptr;
  --above;
  return address - above->first < above->second->bytes ? above->second : nullptr;
}

}  // namespace kaio::driver_emulator
