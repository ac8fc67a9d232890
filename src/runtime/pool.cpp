#include "runtime/pool.hpp"

#include <kaio/runtime/error.hpp>

#include <algorithm>
#include <bit>
#include <compare>
#include <map>
#include <memory>
#include <new>
#include <string>
#include <utility>
#include <vector>

#include "runtime/base/log.hpp"
#include "runtime/base/text.hpp"
#include "runtime/context.hpp"

namespace kaio::runtime::detail {

namespace {

// CU_STREAM_PER_THREAD means another stream in each thread. Its serial is that of the thread.
bool is_per_thread(backend::native_stream stream) {
  return stream == reinterpret_cast<backend::native_stream>(std::uintptr_t{2});
}
std::uint64_t serial_of_thread() noexcept {
  static std::atomic<std::uint64_t> last{0};
  thread_local const std::uint64_t mine = ++last;
  return mine;
}

// The driver's pool.
class stream_ordered_pool final : public pool {
 public:
  stream_ordered_pool(context& device, const memory_pool_options& options)
      : pool(device, options), native_(device.use().create_pool(options.keep)) {
    try {
      device.add_native_pool(native_);
    } catch (...) {
      device.device().destroy_pool(native_);
      throw;
    }
  }
  ~stream_ordered_pool() override {
    give_back_at_the_end();
    device_.remove_native_pool(native_);
    device_.device().destroy_pool(native_);
  }

 private:
  std::uint64_t take(pool_block& block) override {
    block.reserved = block.bytes;
    return device_.use().allocate_from(native_, block.bytes, block.stream);
  }
  void give_back_in_order(std::uint64_t address, const pool_block& block) noexcept override {
    device_.device().free_async(address, block.stream);
  }
  void give_back_idle(std::uint64_t address, const pool_block&) noexcept override {
    device_.device().free(address);
  }
  void release_unused(std::uint64_t keep) override { device_.use().trim(native_, keep); }
  std::pair<std::uint64_t, std::uint64_t> reserved() override {
    const auto [now, most] = device_.use().reserved(native_);
    return {std::max(now, counted_.in_use), std::max(most, counted_.most_in_use)};
  }

  backend::native_pool native_;
};

// Lists of released blocks, by stream and size class.
class caching_pool final : public pool {
 public:
  caching_pool(context& device, const memory_pool_options& options) : pool(device, options) {}
  ~caching_pool() override {
    give_back_at_the_end();
    for (const auto& [key, blocks] : unused_)
      for (const std::uint64_t address : blocks) device_.device().free(address);
  }

 private:
  // A multiple of an eighth of the power of two below: at most 12.5 % are lost. The driver aligns to 512.
  static std::uint64_t class_of(std::uint64_t bytes) {
    const std::uint64_t step = std::max<std::uint64_t>(512, std::bit_floor(bytes) / 8);
    return (bytes + step - 1) / step * step;
  }

  std::uint64_t take(pool_block& block) override {
    block.reserved = class_of(block.bytes);
    {
      const std::scoped_lock lock(changing_);
      const auto found = unused_.find({block.stream, block.serial, block.reserved});
      if (found != unused_.end() && !found->second.empty()) {
        const std::uint64_t address = found->second.back();
        found->second.pop_back();
        unused_bytes_ -= block.reserved;
        return address;
      }
    }
    release_of_gone_streams();
    try {
      return fresh(block.reserved);
    } catch (const out_of_memory&) {
      release_unused(0);
      return fresh(block.reserved);
    }
  }
  std::uint64_t fresh(std::uint64_t bytes) {
    const std::uint64_t address = device_.use().allocate(bytes);
    const std::scoped_lock lock(changing_);
    reserved_ += bytes;
    most_reserved_ = std::max(most_reserved_, reserved_);
    return address;
  }

  void give_back_in_order(std::uint64_t address, const pool_block& block) noexcept override {
    try {
      const std::scoped_lock lock(changing_);
      if (unused_bytes_ + block.reserved <= options_.keep) {
        unused_[{block.stream, block.serial, block.reserved}].push_back(address);
        unused_bytes_ += block.reserved;
        return;
      }
    } catch (const std::bad_alloc&) {
      // There is no room for the list's entry.
    }
    give_back_idle(address, block);
  }
  void give_back_idle(std::uint64_t address, const pool_block& block) noexcept override {
    device_.device().free(address);  // waits for the device
    const std::scoped_lock lock(changing_);
    reserved_ -= block.reserved;
  }

  void release_unused(std::uint64_t keep) override {
    release_if([&](const size_class&) { return unused_bytes_ > keep; });
  }
  // Nothing orders the next use of their blocks.
  void release_of_gone_streams() {
    release_if([&](const size_class& key) {
      return key.serial != 0 && !is_per_thread(key.stream) && device_.serial_of(key.stream) != key.serial;
    });
  }
  // `wanted(key)` is asked before each block, with the lock held.
  template <class Wanted>
  void release_if(Wanted wanted) {
    std::vector<std::uint64_t> idle;
    {
      const std::scoped_lock lock(changing_);
      std::size_t most = 0;
      for (const auto& [key, blocks] : unused_) most += blocks.size();
      idle.reserve(most);  // before anything changes: each block is in one of the lists at any time
      for (auto at = unused_.begin(); at != unused_.end();) {
        auto& [key, blocks] = *at;
        while (!blocks.empty() && wanted(key)) {
          idle.push_back(blocks.back());
          blocks.pop_back();
          unused_bytes_ -= key.reserved;
          reserved_ -= key.reserved;
        }
        at = blocks.empty() ? unused_.erase(at) : std::next(at);
      }
    }
    for (const std::uint64_t address : idle) device_.device().free(address);
  }
  std::pair<std::uint64_t, std::uint64_t> reserved() override { return {reserved_, most_reserved_}; }

  struct size_class {
    backend::native_stream stream;
    std::uint64_t serial, reserved;
    auto operator<=>(const size_class&) const = default;
  };
  std::map<size_class, std::vector<std::uint64_t>> unused_;
  std::uint64_t unused_bytes_ = 0, reserved_ = 0, most_reserved_ = 0;
};

}  // namespace

void retain(pool* p) noexcept { p->references_.fetch_add(1, std::memory_order_relaxed); }
void release(pool* p) noexcept {
  if (p->references_.fetch_sub(1, std::memory_order_acq_rel) == 1) delete p;
}

pool* pool::make(context& device, const memory_pool_options& options) {
  std::unique_ptr<pool> made;
  if (options.kind == pool_kind::caching)
    made = std::make_unique<caching_pool>(device, options);
  else
    made = std::make_unique<stream_ordered_pool>(device, options);
  return made.release();
}

pool* pool::make_default(context& device) {
  try {
    return make(device, {});
  } catch (const unsupported_device& e) {
    log().info("{}", e.message());
    return make(device, {.kind = pool_kind::caching});
  }
}

bool pool::has_room(std::uint64_t bytes) const noexcept {
  return options_.limit == 0 ||
         (counted_.in_use <= options_.limit && bytes <= options_.limit - counted_.in_use);
}

std::uint64_t pool::allocate(std::uint64_t bytes, pool_block& block) {
  backend& on = device_.use();
  give_back_waiting();
  if (on.stream_is_capturing(block.stream)) {
    const std::string message =
        text("kaio: allocating ", readable_bytes(bytes), " from a pool on ", device_.description(),
             " in a stream that is captured into a graph; allocate before the capture begins");
    on.note_refused_in_capture(block.stream, message);
    throw stream_capturing(message);
  }
  {
    const std::scoped_lock lock(changing_);
    if (!has_room(bytes))
      throw out_of_memory(text("kaio: allocating ", readable_bytes(bytes), " from a pool on ",
                               device_.description(), " with ", readable_bytes(counted_.in_use),
                               " of its limit of ", readable_bytes(options_.limit),
                               " in use failed; release buffers, or create the pool with a larger limit"));
    counted_.in_use += bytes;  // before it is taken: the limit holds for threads at once
  }
  block.bytes = bytes;
  try {
    const std::uint64_t address = take(block);
    const std::scoped_lock lock(changing_);
    counted_.most_in_use = std::max(counted_.most_in_use, counted_.in_use);
    ++counted_.allocations;
    return address;
  } catch (...) {
    const std::scoped_lock lock(changing_);
    counted_.in_use -= bytes;
    throw;
  }
}

void pool::use_stream(pool_block& block, backend::native_stream stream, bool is_borrowed) const {
  block.stream = stream;
  block.is_borrowed = is_borrowed;
  block.serial = is_borrowed && is_per_thread(stream) ? serial_of_thread() : device_.serial_of(stream);
}

pool::stream_state pool::state_of(const pool_block& block) noexcept {
  pool_block now;
  use_stream(now, block.stream, block.is_borrowed);
  if (now.serial != block.serial) return stream_state::gone;
  try {
    return device_.device().stream_is_capturing(block.stream) ? stream_state::captured : stream_state::usable;
  } catch (const stream_capturing&) {
    return stream_state::captured;  // the legacy default stream, while one that it waits for is captured
  } catch (...) {
    return stream_state::gone;  // a borrowed one that was destroyed, or the device was lost
  }
}

void pool::free(std::uint64_t address, const pool_block& block) noexcept {
  give_back_waiting();
  {
    const std::scoped_lock lock(changing_);
    counted_.in_use -= block.bytes;
  }
  stream_state state = state_of(block);
  if (state == stream_state::captured) try {
      const std::scoped_lock lock(changing_);
      waiting_.push_back({address, block.without_pool()});
      has_waiting_ = true;
      return;
    } catch (const std::bad_alloc&) {
      state = stream_state::gone;
    }
  give_back(address, block, state);
}

void pool::give_back(std::uint64_t address, const pool_block& block, stream_state state) noexcept {
  if (state == stream_state::usable) return give_back_in_order(address, block);
  device_.device().drain();
  give_back_idle(address, block);
}

void pool::give_back_waiting() noexcept {
  if (!has_waiting_.load(std::memory_order_relaxed)) return;
  std::list<waiting_block> ready;
  {
    const std::scoped_lock lock(changing_);
    ready.swap(waiting_);
    has_waiting_ = false;
  }
  while (!ready.empty()) {
    const waiting_block& first = ready.front();
    const stream_state state = state_of(first.block);
    if (state == stream_state::captured) {
      const std::scoped_lock lock(changing_);
      waiting_.splice(waiting_.end(), ready, ready.begin());
      has_waiting_ = true;
    } else {
      give_back(first.address, first.block, state);
      ready.pop_front();
    }
  }
}

// A capture that goes on is ended by the wait: its pool is gone.
void pool::give_back_at_the_end() noexcept {
  give_back_waiting();
  for (const waiting_block& w : waiting_) give_back(w.address, w.block, stream_state::gone);
}

memory_pool_statistics pool::statistics() {
  give_back_waiting();
  const std::scoped_lock lock(changing_);
  memory_pool_statistics result = counted_;
  std::tie(result.reserved, result.most_reserved) = reserved();
  return result;
}

void pool::trim(std::uint64_t keep) {
  give_back_waiting();
  device_.use().synchronize();
  release_unused(keep);
}

}  // namespace kaio::runtime::detail

namespace kaio::runtime {

namespace {
[[noreturn]] void throw_null_pool(std::string_view operation) {
  throw invalid_argument(text("kaio: ", operation,
                              " of a null memory_pool; it was default-constructed: use device::create_pool"));
}
}  // namespace

memory_pool_statistics memory_pool::statistics() const {
  if (!pool_) throw_null_pool("statistics");
  return pool_->statistics();
}

void memory_pool::trim(std::uint64_t keep) const {
  if (!pool_) throw_null_pool("trim");
  pool_->trim(keep);
}

}  // namespace kaio::runtime
