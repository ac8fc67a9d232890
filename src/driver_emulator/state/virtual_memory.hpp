#pragma once
// Virtual memory management: physical memory, reserved addresses, and what is mapped where. Physical memory is
// shared memory of the host. So its pages can be mapped at several addresses, and neighbouring mappings are one range
// for copies and kernels, as on a GPU. An address is that of the host.

#include "driver_emulator/state/objects.hpp"
#include "host/system/memory.hpp"

namespace kaio::driver_emulator {

// Addresses, sizes and offsets are multiples of this.
inline constexpr std::uint64_t mapping_granularity = std::uint64_t{2} << 20;

// The pages of all physical memory.
class page_file : public host::shared_memory {};

// Lives until it is released and no longer mapped.
struct physical_memory {
  CUmemAllocationProp properties{};
  std::uint64_t bytes = 0;
  std::uint64_t number = 0;  // of its pages
  device* where = nullptr;
  CUmemGenericAllocationHandle handle = 0;
  std::uint64_t references = 0;  // of the handle
  std::shared_ptr<page_file> pages;

  // Throws failure: no memory.
  physical_memory(const CUmemAllocationProp& p, std::uint64_t size);
  ~physical_memory();
  physical_memory(const physical_memory&) = delete;
  physical_memory& operator=(const physical_memory&) = delete;

  // Puts a part of it at an address of the host, in place of what is there. Throws failure.
  void show(CUdeviceptr at, std::uint64_t offset, std::uint64_t size) const;
};

struct mapping {
  std::uint64_t bytes = 0, offset = 0;
  std::shared_ptr<physical_memory> memory;
  std::map<CUdevice, CUmemAccess_flags> access;  // by device, or `processor`
  bool is_accessible() const;
};

// A range of addresses. The host has it for itself, without access where nothing is accessible.
struct reservation {
  CUdeviceptr address = 0;
  std::uint64_t bytes = 0;
  std::map<CUdeviceptr, mapping> mappings;
  std::vector<CUdeviceptr> buffers;  // of driver_state::memory: runs of accessible mappings

  // Throws failure: the host has no such range.
  reservation(std::uint64_t size, std::uint64_t alignment);
  ~reservation();
  reservation(const reservation&) = delete;
  reservation& operator=(const reservation&) = delete;

  // The mappings of a range that they fill. Throws failure: they do not, or the range ends in one.
  std::vector<std::map<CUdeviceptr, mapping>::iterator> mappings_in(CUdeviceptr begin, std::uint64_t size);
  // Makes the accessible mappings, and nothing else, buffers that kernels and copies see.
  void publish();
  // Takes a mapping out of the host's view.
  static void hide(CUdeviceptr at, std::uint64_t size);
};

// The reservation that an address is in, or null.
std::shared_ptr<reservation> find_reservation(CUdeviceptr address);

}  // namespace kaio::driver_emulator
