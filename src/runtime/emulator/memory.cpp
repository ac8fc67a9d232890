#include "runtime/emulator/memory.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <string>
#include <utility>

namespace kaio::runtime::emulator {
namespace {

constexpr u64 gap = 64 * 1024;
constexpr std::size_t remembered_frees = 65536;

constexpr u64 align_up(u64 value) { return (value + buffer_alignment - 1) & ~(buffer_alignment - 1); }

std::string where(const nearest_object& object) {
  using relation = nearest_object::relation;
  const std::string_view freed = object.freed ? "freed " : "";
  switch (object.where) {
    case relation::inside:
      return fmt::format("it is {} bytes into the {}buffer of {} bytes at {:#x}", object.distance, freed,
                         object.bytes, object.address);
    case relation::before:
      return fmt::format("the nearest is the {}buffer of {} bytes at {:#x}, {} bytes further", freed,
                         object.bytes, object.address, object.distance);
    case relation::after:
      return fmt::format("the nearest is the {}buffer of {} bytes at {:#x}, whose end is {} bytes before",
                         freed, object.bytes, object.address, object.distance);
    case relation::none: break;
  }
  return "there is no buffer";
}

}  // namespace

const region* memory_snapshot::at_or_below(u64 address) const {
  const auto above = std::upper_bound(regions.begin(), regions.end(), address,
                                      [](u64 a, const region& r) { return a < r.address; });
  return above == regions.begin() ? nullptr : &*std::prev(above);
}

// Addresses rise; when they are used up, the first gap between live buffers that is wide enough is taken.
u64 memory::place(u64 bytes) {
  const u64 end_of_space = shared_window;
  const u64 need = align_up(bytes) + gap;
  if (need <= end_of_space - next_) {
    const u64 address = next_;
    next_ += need;
    return address;
  }
  u64 address = first_address;
  for (const auto& [start, b] : buffers_) {
    if (start > address && start - address >= need) break;
    address = std::max(address, start + align_up(b.bytes) + gap);
  }
  if (end_of_space < address || end_of_space - address < need)
    throw memory_error(memory_error_kind::out_of_memory, 0, bytes,
                       fmt::format("kaio: no room in the emulator's address space for {} bytes", bytes));
  freed_.clear();
  freed_order_.clear();
  return address;
}

u64 memory::allocate(u64 bytes) {
  if (bytes == 0)
    throw memory_error(memory_error_kind::zero_size, 0, 0,
                       "kaio: an allocation of the emulator has at least one byte");
  const std::lock_guard lock(mutex_);
  const auto refuse = [&] {
    throw memory_error(memory_error_kind::out_of_memory, 0, bytes,
                       fmt::format("kaio: the emulator has no memory for {} bytes; {} of {} are in use",
                                   bytes, used_, capacity_));
  };
  if (bytes > capacity_ - used_ || bytes > shared_window) refuse();
  // calloc gives zero pages that cost nothing until they are touched.
  std::shared_ptr<std::byte> storage(static_cast<std::byte*>(std::calloc(bytes, 1)),
                                     [](std::byte* p) { std::free(p); });
  if (storage == nullptr) refuse();
  const u64 address = place(bytes);
  buffers_.emplace(address, live{bytes, std::move(storage)});
  used_ += bytes;
  snapshot_.reset();
  return address;
}

void memory::free(u64 address) {
  const std::lock_guard lock(mutex_);
  const auto found = buffers_.find(address);
  if (found == buffers_.end()) {
    const bool twice = freed_.contains(address);
    throw memory_error(twice ? memory_error_kind::double_free : memory_error_kind::not_a_buffer, address, 0,
                       twice ? fmt::format("kaio: the buffer at {:#x} was freed before", address)
                             : fmt::format("kaio: no buffer starts at {:#x}", address));
  }
  freed_[address] = found->second.bytes;
  freed_order_.push_back(address);
  if (freed_order_.size() > remembered_frees) {
    freed_.erase(freed_order_.front());
    freed_order_.pop_front();
  }
  used_ -= found->second.bytes;
  buffers_.erase(found);
  snapshot_.reset();
}

nearest_object memory::nearest(u64 address) const {
  using relation = nearest_object::relation;
  const std::lock_guard lock(mutex_);
  nearest_object best;
  const auto consider = [&](u64 start, u64 bytes, bool freed) {
    nearest_object o{relation::inside, freed, start, bytes, 0, {}};
    if (address < start) {
      o.where = relation::before;
      o.distance = start - address;
    } else if (address - start >= bytes) {
      o.where = relation::after;
      o.distance = address - start - bytes;
    } else {
      o.distance = address - start;
    }
    const bool closer = o.where == relation::inside
                            ? best.where != relation::inside
                            : best.where != relation::inside && o.distance < best.distance;
    if (best.where == relation::none || closer) best = o;
  };
  const auto around = [&](const auto& map, auto bytes_of, bool freed) {
    auto above = map.upper_bound(address);
    if (above != map.end()) consider(above->first, bytes_of(above->second), freed);
    if (above != map.begin()) {
      --above;
      consider(above->first, bytes_of(above->second), freed);
    }
  };
  around(
      buffers_, [](const live& b) { return b.bytes; }, false);
  around(
      freed_, [](u64 bytes) { return bytes; }, true);
  return best;
}

std::optional<buffer> memory::find(u64 address) const {
  const std::lock_guard lock(mutex_);
  auto above = buffers_.upper_bound(address);
  if (above == buffers_.begin()) return {};
  --above;
  if (address - above->first >= above->second.bytes) return {};
  return buffer{above->first, above->second.bytes};
}

u64 memory::used() const {
  const std::lock_guard lock(mutex_);
  return used_;
}

std::shared_ptr<const memory_snapshot> memory::snapshot() const {
  const std::lock_guard lock(mutex_);
  if (snapshot_ == nullptr) {
    auto fresh = std::make_shared<memory_snapshot>();
    fresh->regions.reserve(buffers_.size());
    fresh->storage.reserve(buffers_.size());
    for (const auto& [address, b] : buffers_) {
      fresh->regions.push_back({address, b.bytes, b.storage.get()});
      fresh->storage.push_back(b.storage);
    }
    snapshot_ = std::move(fresh);
  }
  return snapshot_;
}

// The storage of a range, which stays alive while it is held.
std::shared_ptr<std::byte> memory::range(u64 address, u64 bytes, std::byte*& data) const {
  {
    const std::lock_guard lock(mutex_);
    auto above = buffers_.upper_bound(address);
    if (above != buffers_.begin()) {
      --above;
      const u64 offset = address - above->first;
      if (offset <= above->second.bytes && bytes <= above->second.bytes - offset) {
        data = above->second.storage.get() + offset;
        return above->second.storage;
      }
    }
  }
  const nearest_object object = nearest(address);
  throw memory_error(memory_error_kind::out_of_bounds, address, bytes,
                     fmt::format("kaio: {} bytes at {:#x} are not in one live buffer of the emulator; {}",
                                 bytes, address, where(object)));
}

void memory::read(void* to, u64 from, u64 bytes) const {
  if (bytes == 0) return;
  std::byte* data = nullptr;
  const auto storage = range(from, bytes, data);
  std::memcpy(to, data, bytes);
}

void memory::write(u64 to, const void* from, u64 bytes) {
  if (bytes == 0) return;
  std::byte* data = nullptr;
  const auto storage = range(to, bytes, data);
  std::memcpy(data, from, bytes);
}

void memory::copy(u64 to, u64 from, u64 bytes) {
  if (bytes == 0) return;
  std::byte *target = nullptr, *source = nullptr;
  const auto kept_target = range(to, bytes, target);
  const auto kept_source = range(from, bytes, source);
  std::memmove(target, source, bytes);
}

void memory::fill(u64 to, u8 value, u64 bytes) {
  if (bytes == 0) return;
  std::byte* data = nullptr;
  const auto storage = range(to, bytes, data);
  std::memset(data, value, bytes);
}

void memory::fill(u64 to, u64 value, unsigned unit, u64 count) {
  if (count == 0) return;
  if (count > std::numeric_limits<u64>::max() / unit)
    throw memory_error(memory_error_kind::out_of_bounds, to, count, "kaio: the size of a fill wraps around");
  std::byte* data = nullptr;
  const auto storage = range(to, count * unit, data);
  for (u64 i = 0; i < count; ++i) std::memcpy(data + i * unit, &value, unit);
}

}  // namespace kaio::runtime::emulator
