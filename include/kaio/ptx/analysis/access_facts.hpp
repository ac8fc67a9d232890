#pragma once
// The banks and sectors of a kernel's accesses to shared and global memory, computed while the compiler runs,
// so that a static_assert can check them.
//
//   static_assert(transpose.bank_conflicts() == 0);
//   static_assert(transpose.coalesced());
//   static_assert(transpose.accesses()[1].sectors == 4);      // in the order of the text
//
// The address of every load, store and atomic operation is evaluated, for each lane of each warp of a block:
//   known    computed from thread indices and constants
//   shift    equal in all lanes: parameters, block indices, loop counters, loads from one address
//   unknown  depends on data, or multiplies a thread index by a parameter
// Assumptions: all lanes are active; buffers begin at multiples of 256 bytes; indices do not wrap. A shift is
// a multiple of 32 bytes in global memory and of 4 in shared memory.

#include <kaio/ptx/analysis/warp_evaluation.hpp>
#include <kaio/ptx/program.hpp>

#include <cstdint>
#include <utility>

namespace kaio::ptx {

enum class access_kind : std::uint8_t { load, store, atomic };

// One instruction; if warps differ, the worst of them.
struct access_fact {
  source_line source;   // the C++ statement
  bool shared = false;  // in shared memory; otherwise in global memory
  access_kind kind = access_kind::load;
  std::uint32_t bytes = 0;      // of one lane
  bool known = false;           // the address is known as far as the counts below need it
  std::uint32_t conflicts = 0;  // shared: wavefronts beyond those of the same bytes without conflicts
  std::uint32_t sectors = 0;    // global: sectors of 32 bytes that a warp touches
  std::uint32_t ideal = 0;      // global: sectors that can hold the same number of different bytes

  constexpr std::uint32_t line() const { return source.line; }
  constexpr bool coalesced() const { return !shared && known && sectors == ideal; }
};

template <std::uint32_t N>
struct access_list {
  access_fact facts[N == 0 ? 1 : N] = {};

  static constexpr std::uint32_t size() { return N; }
  constexpr const access_fact* begin() const { return facts; }
  constexpr const access_fact* end() const { return facts + N; }
  constexpr const access_fact& operator[](std::uint32_t i) const { return facts[i]; }
};

// The addresses of a warp's lanes.
struct warp_addresses {
  std::uint64_t lane[warp_lanes] = {};
};

// A warp's wavefronts in shared memory beyond the least. There are 32 banks, each 4 bytes wide; lanes that
// ask for the same word get it at once. A request of 8 bytes a lane is served by half warps, of 16 bytes by
// quarters. Waits of atomic operations on one address are not counted. Source: CUDA C++ Programming Guide,
// "Shared Memory".
constexpr std::uint32_t bank_conflicts(const warp_addresses& address, std::uint32_t bytes) {
  const std::uint32_t words = bytes <= 4 ? 1 : bytes / 4;
  const std::uint32_t lanes = warp_lanes / words;
  std::uint32_t conflicts = 0;
  for (std::uint32_t first = 0; first < warp_lanes; first += lanes) {
    std::uint64_t word[warp_lanes] = {};
    std::uint32_t before[warp_lanes] = {};  // the word that the same bank found before, + 1
    std::uint32_t last_of_bank[warp_lanes] = {};
    std::uint32_t depth[warp_lanes] = {};
    std::uint32_t deepest = 1;
    for (std::uint32_t n = 0; n < lanes * words; ++n) {
      word[n] = (address.lane[first + n / words] >> 2) + n % words;
      const auto bank = static_cast<std::uint32_t>(word[n] % 32);
      std::uint32_t k = last_of_bank[bank];
      while (k != 0 && word[k - 1] != word[n]) k = before[k - 1];
      if (k != 0) continue;
      before[n] = last_of_bank[bank];
      last_of_bank[bank] = n + 1;
      if (++depth[bank] > deepest) deepest = depth[bank];
    }
    conflicts += deepest - 1;
  }
  return conflicts;
}

namespace detail {

// A set of at most 64 numbers.
class number_set {
 public:
  constexpr void insert(std::uint64_t n) {
    std::uint32_t i = static_cast<std::uint32_t>(n % capacity);
    for (; used_[i]; i = (i + 1) % capacity)
      if (numbers_[i] == n) return;
    used_[i] = true;
    numbers_[i] = n;
    ++size_;
  }
  constexpr std::uint32_t size() const { return size_; }

 private:
  static constexpr std::uint32_t capacity = 127;
  std::uint64_t numbers_[capacity] = {};
  bool used_[capacity] = {};
  std::uint32_t size_ = 0;
};

}  // namespace detail

// Counts the 32-byte sectors that a warp's request to global memory touches, and the least that hold its
// bytes.
constexpr void count_sectors(const warp_addresses& address, access_fact& fact) {
  constexpr std::uint32_t sector = 32;
  detail::number_set sectors;
  detail::number_set addresses;
  for (std::uint32_t i = 0; i < warp_lanes; ++i) {
    sectors.insert(address.lane[i] / sector);
    sectors.insert((address.lane[i] + fact.bytes - 1) / sector);
    addresses.insert(address.lane[i]);
  }
  fact.sectors = sectors.size();
  fact.ideal = (addresses.size() * fact.bytes + sector - 1) / sector;
}

constexpr access_fact describe_access(const program& p, const instruction& it) {
  access_fact fact;
  if (it.statement != no_statement) fact.source = p.statements[it.statement];
  fact.shared = it.op != opcode::ld_nc && contains(it.modifiers, modifier::shared);
  if (it.op == opcode::st) fact.kind = access_kind::store;
  if (it.op == opcode::atom || it.op == opcode::red) fact.kind = access_kind::atomic;
  fact.bytes = size_of(it.type0);
  if (contains(it.modifiers, modifier::v2)) fact.bytes *= 2;
  if (contains(it.modifiers, modifier::v4)) fact.bytes *= 4;
  if (contains(it.modifiers, modifier::v8)) fact.bytes *= 8;
  return fact;
}

namespace detail {

// Counts for addresses; a pattern that occurred before is not counted again.
class access_counter {
 public:
  template <class Lanes>
  constexpr void count(const Lanes& lanes, const lane_value& address, access_fact& fact) {
    fact.known = address.is_known();
    if (!fact.known) return;
    const std::uint64_t first = address.base % 32;
    for (std::uint32_t k = 0; k < count_; ++k) {
      const pattern& earlier = patterns_[k];
      if (earlier.shape != address.shape || earlier.scale != address.scale || earlier.first != first ||
          earlier.counts.shared != fact.shared || earlier.counts.bytes != fact.bytes)
        continue;
      fact.conflicts = earlier.counts.conflicts;
      fact.sectors = earlier.counts.sectors;
      fact.ideal = earlier.counts.ideal;
      return;
    }
    lane_value moved = address;
    moved.base = std::uint64_t{1} << 48 | first;  // distances below 0 stay addresses
    warp_addresses all;
    for (std::uint32_t i = 0; i < warp_lanes; ++i) all.lane[i] = lanes.at(moved, i);
    if (fact.shared)
      fact.conflicts = bank_conflicts(all, fact.bytes);
    else
      count_sectors(all, fact);
    patterns_[next_] = {address.shape, address.scale, first, fact};
    next_ = (next_ + 1) % capacity;
    if (count_ != capacity) ++count_;
  }

 private:
  static constexpr std::uint32_t capacity = 16;
  struct pattern {
    std::uint32_t shape = 0;
    std::uint64_t scale = 0;
    std::uint64_t first = 0;
    access_fact counts;
  };
  pattern patterns_[capacity] = {};
  std::uint32_t count_ = 0;
  std::uint32_t next_ = 0;
};

}  // namespace detail

// The facts of a kernel, which is a type with a static function program(). Each warp is a constant expression
// of its own, because compilers bound the work of one.
template <class Kernel>
class access_analysis {
  static constexpr access_plan plan = plan_accesses(Kernel::program());
  using list = access_list<plan.access_count>;

  static constexpr list facts_of_warp(std::uint32_t warp) {
    const program& p = Kernel::program();
    list result;
    warp_evaluator<plan.slot_count, plan.place_count> evaluator(p, plan, warp);
    if (!plan.gives_up) evaluator.run();
    detail::access_counter counter;
    std::uint32_t n = 0;
    for (std::uint32_t k = 0; k < plan.place_count; ++k) {
      if (!plan.places[k].is_access) continue;
      access_fact& fact = result.facts[n++];
      fact = describe_access(p, p.instructions[plan.places[k].instruction]);
      if (!plan.gives_up) counter.count(evaluator.lanes(), evaluator.address(plan.places[k]), fact);
    }
    return result;
  }

  template <std::uint32_t Warp>
  static constexpr list of_warp = facts_of_warp(Warp);

  static constexpr void take_worse(list& worst, const list& other) {
    for (std::uint32_t i = 0; i < list::size(); ++i) {
      access_fact& a = worst.facts[i];
      const access_fact& b = other.facts[i];
      if (!a.known) continue;
      const bool more_sectors = b.sectors + a.ideal > a.sectors + b.ideal;
      if (!b.known || (a.shared ? b.conflicts > a.conflicts : more_sectors)) a = b;
    }
  }

  template <std::uint32_t... Warp>
  static constexpr list worst_of(std::integer_sequence<std::uint32_t, Warp...>) {
    list worst = of_warp<0>;
    (take_worse(worst, of_warp<Warp>), ...);
    return worst;
  }

  static constexpr std::uint32_t warps =
      static_cast<std::uint32_t>((Kernel::program().block.count() + warp_lanes - 1) / warp_lanes);

 public:
  static constexpr list accesses = worst_of(std::make_integer_sequence<std::uint32_t, warps>{});

  static constexpr std::uint32_t bank_conflicts() {
    std::uint32_t all = 0;
    for (const access_fact& fact : accesses) all += fact.conflicts;
    return all;
  }
  static constexpr bool coalesced() {
    for (const access_fact& fact : accesses)
      if (!fact.shared && !fact.coalesced()) return false;
    return true;
  }
  static constexpr bool accesses_known() {
    for (const access_fact& fact : accesses)
      if (!fact.known) return false;
    return true;
  }
};

}  // namespace kaio::ptx
