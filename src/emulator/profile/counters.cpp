#include "emulator/profile/counters.hpp"

#include "emulator/machine/cluster.hpp"
#include "emulator/machine/lanes.hpp"
#include "emulator/profile/transactions.hpp"
#include "emulator/program/source_map.hpp"

#include <algorithm>
#include <bit>
#include <exception>
#include <functional>
#include <limits>
#include <thread>
#include <utility>

namespace kaio::emulator::profile {

access_counters& access_counters::operator+=(const access_counters& other) {
  requests += other.requests;
  lanes += other.lanes;
  bytes += other.bytes;
  transactions += other.transactions;
  ideal += other.ideal;
  worst = std::max(worst, other.worst);
  atomics += other.atomics;
  atomic_turns += other.atomic_turns;
  return *this;
}

instruction_counters& instruction_counters::operator+=(const instruction_counters& other) {
  executions += other.executions;
  active += other.active;
  executed += other.executed;
  empty += other.empty;
  divergent += other.divergent;
  for (std::size_t i = 0; i < memory_places; ++i) memory[i] += other.memory[i];
  return *this;
}

namespace {

constexpr std::size_t most_shapes = 8;

u64 lanes_of(u32 mask) { return static_cast<u64>(std::popcount(mask)); }

// The counts of one host thread for a launch.
struct thread_counters {
  u64 blocks = 0, barriers = 0;
  std::vector<instruction_counters> counters;
};

template <class Bytes>
bool within(const std::byte* at, const Bytes& bytes) {
  const std::less<const std::byte*> below;
  return !below(at, bytes.data()) && below(at, bytes.data() + bytes.size());
}

}  // namespace

// The counters of one running grid.
class launch_counters {
 public:
  launch_counters(const grid& g, kernel_profile& to) : launched_(g), to_(to) {
    by_storage_ = g.snapshot->regions;
    std::sort(by_storage_.begin(), by_storage_.end(),
              [](const region& a, const region& b) { return std::less<const std::byte*>{}(a.data, b.data); });
  }

  const grid& launched() const { return launched_; }

  // The counters of the calling host thread.
  thread_counters& mine() {
    const std::lock_guard lock(mutex_);
    thread_counters& result = of_thread_[std::this_thread::get_id()];
    if (result.counters.empty()) result.counters.resize(launched_.kernel.code.size());
    return result;
  }

  // The buffer at an address of the host's memory.
  const region* buffer_at(const std::byte* at) const {
    const std::less<const std::byte*> below;
    auto above = std::upper_bound(by_storage_.begin(), by_storage_.end(), at,
                                  [&](const std::byte* a, const region& r) { return below(a, r.data); });
    return above == by_storage_.begin() ? nullptr : &*std::prev(above);
  }

  // `exceptions`: the result of std::uncaught_exceptions at the end.
  void add_up(int exceptions) {
    if (exceptions > exceptions_) ++to_.faulted;
    for (const auto& [thread, counted] : of_thread_) {
      to_.blocks += counted.blocks;
      to_.barriers += counted.barriers;
      to_.warps += counted.blocks * launched_.warps();
      to_.threads += counted.blocks * launched_.threads.count();
      for (std::size_t i = 0; i < counted.counters.size(); ++i) to_.counters[i] += counted.counters[i];
    }
  }

 private:
  const grid& launched_;
  kernel_profile& to_;
  const int exceptions_ = std::uncaught_exceptions();
  std::vector<region> by_storage_;  // buffers by address in the host's memory
  std::mutex mutex_;
  std::map<std::thread::id, thread_counters> of_thread_;
};

namespace {

// Counts for one block at a time.
class block_counters final : public observer {
 public:
  block_counters(launch_counters& of_launch, block& b)
      : launch_(of_launch), code_(b.launched.kernel.code.data()), size_(b.launched.kernel.code.size()) {}

  void start(block&) override {
    counted_ = &launch_.mine();
    ++counted_->blocks;
  }

  void before(warp& w, const instruction& i, u32 mask) override {
    instruction_counters& c = of(i);
    ++c.executions;
    c.active += lanes_of(w.active);
    c.executed += lanes_of(mask);
    if (mask == 0) ++c.empty;
    if (i.op == operation::bra && mask != 0 && mask != w.active) ++c.divergent;
    active_ = w.active;
  }

  void after(warp& w, const instruction& i, u32 mask) override {
    if (i.op == operation::brx && mask != 0 && w.active != active_) ++of(i).divergent;
    if (!copied_) return;
    copied_ = false;
    for (lane_copies& copies : copies_) {
      for (std::size_t place = 0; place < memory_places; ++place)
        if (copies.lanes[place] != 0)
          count(of(i).memory[place], static_cast<memory_place>(place), copies.address, copies.lanes[place],
                copies.bytes, access_kind::read);
      copies = {};
    }
  }

  void access(warp& w, const instruction& i, u32 mask, u32 bytes, access_kind kind,
              const std::byte* const (&at)[warp_lanes]) override {
    u64 address[warp_lanes];
    u32 lanes[memory_places] = {};
    for_lanes(mask, [&](unsigned lane) {
      lanes[static_cast<std::size_t>(place_of(w, lane, at[lane], address[lane]))] |= 1u << lane;
    });
    for (std::size_t place = 0; place < memory_places; ++place)
      if (lanes[place] != 0)
        count(of(i).memory[place], static_cast<memory_place>(place), address, lanes[place], bytes, kind);
  }

  // If lanes of a warp issue copies with one instruction, these are one request; a bulk copy is its own
  // request.
  void async_issued(const async_operation& operation) override {
    for (const async_range& range : operation.ranges) {
      if (range.bytes == 0 || operation.issued == nullptr) continue;
      u64 address = 0;
      const memory_place place = place_of(*operation.by, operation.lane, range.at, address);
      const auto bytes = static_cast<u32>(std::min<u64>(range.bytes, std::numeric_limits<u32>::max()));
      if (operation.completion == async_completion::copy_group) {
        lane_copies& copies = copies_[range.access == access_kind::read ? 0 : 1];
        copied_ = true;
        copies.address[operation.lane] = address;
        copies.lanes[static_cast<std::size_t>(place)] |= 1u << operation.lane;
        copies.bytes = std::max(copies.bytes, bytes);
      } else {
        const u64 only[warp_lanes] = {address};
        count(of(*operation.issued).at(place), place, only, 1, bytes, range.access);
      }
    }
  }

  void completed(block&, u32) override { ++counted_->barriers; }

 private:
  // A deferred instruction may be a copy of the one in the code; then its line identifies it.
  instruction_counters& of(const instruction& i) {
    const std::less<const instruction*> below;
    if (!below(&i, code_) && below(&i, code_ + size_))
      return counted_->counters[static_cast<std::size_t>(&i - code_)];
    const auto same = std::find_if(code_, code_ + size_, [&](const instruction& candidate) {
      return candidate.line == i.line && candidate.op == i.op;
    });
    return counted_->counters[same == code_ + size_ ? 0 : static_cast<std::size_t>(same - code_)];
  }

  // The memory of a lane's bytes, and their address or offset in it.
  memory_place place_of(const warp& w, unsigned lane, const std::byte* at, u64& address) {
    const block& b = *w.owner;
    const auto offset = [&](const auto& bytes) { return static_cast<u64>(at - bytes.data()); };
    if (within(at, b.shared)) {
      address = offset(b.shared);
      return memory_place::shared;
    }
    const std::less<const std::byte*> below;
    if (last_ != nullptr && !below(at, last_->data) && below(at, last_->data + last_->bytes)) {
      address = last_->address + static_cast<u64>(at - last_->data);
      return memory_place::global;
    }
    if (within(at, b.local)) {
      const u64 bytes_of_thread = b.launched.kernel.local_bytes;
      address = offset(b.local) - (u64{w.index} * warp_lanes + lane) * bytes_of_thread;
      return memory_place::local;
    }
    if (within(at, b.launched.constants)) {
      address = offset(b.launched.constants);
      return memory_place::constant;
    }
    if (within(at, b.launched.parameters)) {
      address = offset(b.launched.parameters);
      return memory_place::parameter;
    }
    for (const auto& other : b.group.blocks)
      if (within(at, other->shared)) {
        address = (u64{other->rank} << cluster_rank_bit) + offset(other->shared);
        return memory_place::cluster;
      }
    last_ = launch_.buffer_at(at);
    address = last_ != nullptr ? last_->address + static_cast<u64>(at - last_->data) : 0;
    return memory_place::global;
  }

  static void count(access_counters& c, memory_place place, const u64 (&address)[warp_lanes], u32 mask,
                    u32 bytes, access_kind kind) {
    transactions t{1, 1};
    switch (place) {
      case memory_place::global: t = sectors(address, mask, bytes); break;
      case memory_place::shared:
      case memory_place::cluster: t = wavefronts(address, mask, bytes); break;
      case memory_place::local: t = local_sectors(address, mask, bytes); break;
      case memory_place::constant:
      case memory_place::parameter: break;
    }
    ++c.requests;
    c.lanes += lanes_of(mask);
    c.bytes += lanes_of(mask) * bytes;
    c.transactions += t.count;
    c.ideal += t.ideal;
    c.worst = std::max(c.worst, t.count);
    if (kind != access_kind::atomic) return;
    ++c.atomics;
    c.atomic_turns += most_at_one_address(address, mask);
  }

  // One side of the copies: source or destination.
  struct lane_copies {
    u64 address[warp_lanes] = {};
    std::array<u32, memory_places> lanes{};
    u32 bytes = 0;
  };

  launch_counters& launch_;
  const instruction* code_;
  std::size_t size_;
  thread_counters* counted_ = nullptr;
  const region* last_ = nullptr;  // the last accessed buffer
  u32 active_ = 0;
  std::array<lane_copies, 2> copies_{};
  bool copied_ = false;  // copies_ is not empty
};

}  // namespace

collector::collector() = default;
collector::~collector() = default;

// Launches of one text count as one kernel, however often the text was loaded.
kernel_profile& collector::profile_of(const grid& g) {
  for (kernel_profile& p : kernels_)
    if (p.name == g.kernel.name && p.counters.size() == g.kernel.code.size() &&
        p.program.device().sm == g.program.device().sm &&
        (p.program.text().data() == g.program.text().data() || p.program.text() == g.program.text()))
      return p;
  kernel_profile& p = kernels_.emplace_back(kernel_profile{.name = g.kernel.name, .program = g.program});
  p.kernel = p.program.find(p.name);
  p.statement_of = statements(p.program, g.image);
  p.counters.resize(g.kernel.code.size());
  return p;
}

void collector::begin(const grid& g) {
  const std::lock_guard lock(mutex_);
  kernel_profile& p = profile_of(g);
  ++p.launches;
  const launch_shape shape{g.blocks, g.threads, g.cluster_blocks, g.dynamic_shared, 1};
  const auto same = std::find_if(p.shapes.begin(), p.shapes.end(), [&](const launch_shape& s) {
    return s.grid == shape.grid && s.block == shape.block && s.cluster == shape.cluster &&
           s.dynamic_shared == shape.dynamic_shared;
  });
  if (same != p.shapes.end())
    ++same->launches;
  else if (p.shapes.size() < most_shapes)
    p.shapes.push_back(shape);
  running_[g.id] = std::make_unique<launch_counters>(g, p);
}

std::unique_ptr<observer> collector::watch(block& b) {
  const std::lock_guard lock(mutex_);
  return std::make_unique<block_counters>(*running_.at(b.launched.id), b);
}

// Its blocks no longer exist here, even after a fault.
void collector::end(const grid& g) {
  const std::lock_guard lock(mutex_);
  const auto launch = running_.find(g.id);
  launch->second->add_up(std::uncaught_exceptions());
  running_.erase(launch);
}

}  // namespace kaio::emulator::profile
