#include "emulator/memory/memory.hpp"

#include "emulator/memory/bit_ranges.hpp"
#include "emulator/memory/host_memory.hpp"
#include "emulator/memory/zeroed_bytes.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <new>
#include <string>
#include <utility>

namespace kaio::emulator {
namespace {

constexpr u64 gap = 64 * 1024;
constexpr std::size_t remembered_frees = 65536;

// Memory of the host keeps its own addresses. On Linux they are far from those of buffers. Windows gives low ones too: there
// buffers begin far above them.
#if defined(_WIN32)
constexpr u64 low_addresses = u64{1} << 46;
#else
constexpr u64 low_addresses = 0;
#endif

constexpr u64 align_up(u64 value) { return (value + buffer_alignment - 1) & ~(buffer_alignment - 1); }

// From this size on a buffer has its own pages: untouched pages cost nothing, whatever allocator the host
// program uses.
constexpr u64 own_pages = u64{1} << 20;

// Zeroed bytes, reserved from the host's memory while they live. Throws std::bad_alloc.
class buffer_storage {
 public:
  buffer_storage(host_reservation& host, u64 bytes) : reserved_(host, bytes) {
    if (bytes >= own_pages)
      pages_ = zeroed_bytes(bytes);
    else if (heap_.reset(static_cast<std::byte*>(std::calloc(bytes, 1))); heap_ == nullptr)
      throw std::bad_alloc();
  }
  std::byte* data() { return heap_ != nullptr ? heap_.get() : pages_.data(); }

 private:
  struct reservation {
    reservation(host_reservation& h, u64 n) : host(h), bytes(n) {
      if (!host.take(bytes)) throw std::bad_alloc();
    }
    ~reservation() { host.give_back(bytes); }
    reservation(const reservation&) = delete;
    reservation& operator=(const reservation&) = delete;
    host_reservation& host;
    const u64 bytes;
  };
  struct give_to_heap {
    void operator()(std::byte* p) const { std::free(p); }
  };
  const reservation reserved_;  // destroyed after the memory
  zeroed_bytes pages_;
  std::unique_ptr<std::byte, give_to_heap> heap_;
};

// nullptr: the host does not have that many bytes.
std::shared_ptr<std::byte> zeroed_storage(host_reservation& host, u64 bytes) {
  try {
    const auto storage = std::make_shared<buffer_storage>(host, bytes);
    return {storage, storage->data()};
  } catch (const std::bad_alloc&) {
    return nullptr;
  }
}

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

// Addresses rise. When they are used up, it takes the first gap between live buffers that is wide enough.
u64 memory::place(u64 bytes) {
  const u64 end_of_space = shared_window;
  const u64 need = align_up(bytes) + gap;
  // Attached host memory may be in the way.
  next_ = std::max(next_, first_address + low_addresses);
  for (auto b = buffers_.lower_bound(next_); b != buffers_.end() && b->first - next_ < need;
       b = buffers_.lower_bound(next_))
    next_ = align_up(b->first + b->second.bytes) + gap;
  if (next_ < end_of_space && need <= end_of_space - next_) {
    const u64 address = next_;
    next_ += need;
    return address;
  }
  u64 address = first_address + low_addresses;
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

u64 memory::allocate(u64 bytes, contents initial) {
  if (bytes == 0)
    throw memory_error(memory_error_kind::zero_size, 0, 0,
                       "kaio: an allocation of the emulator has at least one byte");
  const std::lock_guard lock(mutex_);
  const auto refuse = [&] {
    throw memory_error(memory_error_kind::out_of_memory, 0, bytes,
                       fmt::format("kaio: the emulator has no memory for {} bytes; {} of {} are free", bytes,
                                   free_bytes(), capacity_));
  };
  if (bytes > capacity_ - used_ || bytes > shared_window) refuse();
  std::shared_ptr<std::byte> storage = zeroed_storage(host_, bytes);
  if (storage == nullptr) refuse();
  std::shared_ptr<u8> defined;
  if (initial == contents::undefined) {
    defined.reset(static_cast<u8*>(std::calloc(bytes / 8 + 1, 1)), [](u8* p) { std::free(p); });
    if (defined == nullptr) refuse();
    some_undefined_ = true;
  }
  const u64 address = place(bytes);
  buffers_.emplace(address, live{bytes, std::move(storage), std::move(defined), true});
  used_ += bytes;
  snapshot_.reset();
  return address;
}

u64 memory::attach(void* host, u64 bytes) {
  if (bytes == 0)
    throw memory_error(memory_error_kind::zero_size, 0, 0,
                       "kaio: a range of the host that the emulator sees has at least one byte");
  return attach({static_cast<std::byte*>(host), [](std::byte*) {}}, bytes);
}

u64 memory::allocate_for_host(u64 bytes) {
  if (bytes == 0)
    throw memory_error(memory_error_kind::zero_size, 0, 0,
                       "kaio: an allocation of the emulator has at least one byte");
  const std::shared_ptr<std::byte> all =
      bytes > shared_window ? nullptr : zeroed_storage(host_, bytes + buffer_alignment);
  if (all == nullptr)
    throw memory_error(
        memory_error_kind::out_of_memory, 0, bytes,
        fmt::format("kaio: the emulator has no memory for {} bytes that the host sees", bytes));
  const u64 above = reinterpret_cast<std::uintptr_t>(all.get()) % buffer_alignment;
  return attach({all, all.get() + (above == 0 ? 0 : buffer_alignment - above)}, bytes);
}

u64 memory::attach(std::shared_ptr<std::byte> storage, u64 bytes) {
  const std::lock_guard lock(mutex_);
  u64 address = reinterpret_cast<std::uintptr_t>(storage.get());
  const auto above = buffers_.lower_bound(address);
  const bool taken =
      (above != buffers_.end() && above->first - address < bytes) ||
      (above != buffers_.begin() && address - std::prev(above)->first < std::prev(above)->second.bytes);
  if (taken || address >= shared_window || bytes > shared_window - address) address = place(bytes);
  buffers_.emplace(address, live{bytes, std::move(storage), {}, false});
  // The range is live again, so it is no longer freed.
  freed_.erase(freed_.lower_bound(address), freed_.lower_bound(address + bytes));
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
  if (found->second.counted) used_ -= found->second.bytes;
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

u64 memory::free_bytes() const { return std::min(capacity_ - used_, host_.left()); }

u64 memory::left() const {
  const std::lock_guard lock(mutex_);
  return free_bytes();
}

std::shared_ptr<const memory_snapshot> memory::snapshot() const {
  const std::lock_guard lock(mutex_);
  if (snapshot_ == nullptr) {
    auto fresh = std::make_shared<memory_snapshot>();
    fresh->regions.reserve(buffers_.size());
    fresh->storage.reserve(buffers_.size());
    for (const auto& [address, b] : buffers_) {
      fresh->regions.push_back({address, b.bytes, b.storage.get(), b.defined.get()});
      fresh->storage.push_back(b.storage);
      if (b.defined != nullptr) fresh->defined.push_back(b.defined);
    }
    snapshot_ = std::move(fresh);
  }
  return snapshot_;
}

void memory::assume_defined() {
  const std::lock_guard lock(mutex_);
  if (!some_undefined_) return;
  for (auto& [address, b] : buffers_) b.defined.reset();
  some_undefined_ = false;
  snapshot_.reset();
}

memory::piece memory::range(u64 address, u64 bytes) const {
  note_host_step();
  {
    const std::lock_guard lock(mutex_);
    auto above = buffers_.upper_bound(address);
    if (above != buffers_.begin()) {
      --above;
      const live& b = above->second;
      const u64 offset = address - above->first;
      if (offset <= b.bytes && bytes <= b.bytes - offset)
        return {b.storage, b.defined, b.storage.get() + offset, offset};
    }
  }
  const nearest_object object = nearest(address);
  throw memory_error(memory_error_kind::out_of_bounds, address, bytes,
                     fmt::format("kaio: {} bytes at {:#x} are not in one live buffer of the emulator; {}",
                                 bytes, address, where(object)));
}

void memory::read(void* to, u64 from, u64 bytes) const {
  if (bytes == 0) return;
  const piece source = range(from, bytes);
  std::memcpy(to, source.data, bytes);
}

void memory::write(u64 to, const void* from, u64 bytes) {
  if (bytes == 0) return;
  const piece target = range(to, bytes);
  std::memcpy(target.data, from, bytes);
  if (target.defined != nullptr) set_bits(target.defined.get(), target.offset, bytes, true);
}

void memory::copy(u64 to, u64 from, u64 bytes) {
  if (bytes == 0) return;
  const piece target = range(to, bytes), source = range(from, bytes);
  std::memmove(target.data, source.data, bytes);
  if (target.defined == nullptr) return;
  if (source.defined == nullptr)
    set_bits(target.defined.get(), target.offset, bytes, true);
  else
    copy_bits(target.defined.get(), target.offset, source.defined.get(), source.offset, bytes);
}

void memory::fill(u64 to, u8 value, u64 bytes) {
  if (bytes == 0) return;
  const piece target = range(to, bytes);
  std::memset(target.data, value, bytes);
  if (target.defined != nullptr) set_bits(target.defined.get(), target.offset, bytes, true);
}

void memory::fill(u64 to, u64 value, unsigned unit, u64 count) {
  if (count == 0) return;
  if (count > std::numeric_limits<u64>::max() / unit)
    throw memory_error(memory_error_kind::out_of_bounds, to, count, "kaio: the size of a fill wraps around");
  const piece target = range(to, count * unit);
  for (u64 i = 0; i < count; ++i) std::memcpy(target.data + i * unit, &value, unit);
  if (target.defined != nullptr) set_bits(target.defined.get(), target.offset, count * unit, true);
}

}  // namespace kaio::emulator
