#include "ops/distributed/program/program_transport.hpp"

#include <kaio/runtime/copy.hpp>
#include <kaio/runtime/error.hpp>

#include <algorithm>
#include <exception>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "ops/distributed/common/record.hpp"
#include "ops/distributed/program/staging.hpp"
#include "runtime/base/backend.hpp"
#include "runtime/context.hpp"
#include "runtime/stream_access.hpp"

namespace kaio::ops::detail {

namespace {

constexpr std::uint64_t alignment = 256;

// The program's functions, and why they cannot be used any more. The transport and its memory share it.
class connection {
 public:
  connection(const communicator_means& given, int of_ranks, int of_rank, const device& gpu, double limit)
      : means(given), ranks(of_ranks), rank(of_rank), on(gpu), time_limit(limit) {}

  void require_usable(std::string_view operation) {
    const std::scoped_lock lock(changing_);
    if (!failure_.empty())
      throw runtime::communication_error("kaio: " + std::string(operation) + ": " + failure_ +
                                         "; the communicators of this group are unusable, make new ones");
  }
  void fail(std::string why) noexcept {
    const std::scoped_lock lock(changing_);
    if (failure_.empty()) failure_ = std::move(why);
  }
  // Why a function of the program failed; empty: it did not.
  template <class Call>
  static std::string failure_of(std::string_view name, const Call& call) noexcept {
    const std::string said = "the program's " + std::string(name) + " failed";
    try {
      const int result = call();
      return result == 0 ? std::string() : said + " with " + std::to_string(result);
    } catch (const std::exception& e) {
      return said + ": " + e.what();
    } catch (...) {
      return said;
    }
  }

  // The calls of all ranks.
  std::vector<call_record> gather(const call_of_rank& mine) {
    const std::string_view operation = mine.call->operation;
    require_usable(operation);
    const call_record own = call_record::of(mine);
    std::vector<call_record> all(static_cast<std::size_t>(ranks));
    std::string why = failure_of(
        "gather", [&] { return means.gather(means.data, &own, sizeof own, all.data(), time_limit); });
    if (!why.empty()) fail(std::move(why) + " in " + std::string(operation));
    require_usable(operation);
    return all;
  }
  // Throws invalid_argument on all ranks if their calls differ.
  std::vector<call_record> compare(const call_of_rank& mine) {
    std::vector<call_record> all = gather(mine);
    const std::string why = mismatch(all);
    if (!mine.call->refusal.empty())
      refuse_collective(mine.call->operation,
                        "rank " + std::to_string(rank) + " refuses its arguments: " + mine.call->refusal);
    if (!why.empty()) refuse_collective(mine.call->operation, why);
    return all;
  }

  const communicator_means means;
  const int ranks, rank;
  const device on;
  const double time_limit;

 private:
  std::mutex changing_;
  std::string failure_;
};

runtime::backend& backend_of(const device& d) {
  return runtime::detail::stream_access::owner(d.stream()).get()->device();
}

// The device that has the memory, if one of this process has it.
std::optional<device> device_with(std::uint64_t address) {
  try {
    return device::of_pointer(address);
  } catch (const runtime::invalid_argument&) {
    return {};
  }
}

// Memory of the program, which it gets back.
class given_memory {
 public:
  explicit given_memory(std::shared_ptr<connection> by) : by_(std::move(by)) {}
  given_memory(const given_memory&) = delete;
  given_memory& operator=(const given_memory&) = delete;
  ~given_memory() {
    try {
      if (is_given_) by_->on.synchronize();
    } catch (const runtime::error&) {  // the device is lost: its work has ended
    }
    for (void* memory : of_host_) backend_of(by_->on).detach_host(memory);
    if (!is_given_) return;
    std::string why =
        connection::failure_of("release", [&] { return by_->means.release(by_->means.data, token_); });
    if (!why.empty()) by_->fail(std::move(why));
  }

  buffer<u64> table;  // of these addresses

  // The address of each rank's memory, as kernels use it. Throws what failed.
  std::vector<std::uint64_t> allocate(std::uint64_t bytes) {
    std::vector<void*> memory(static_cast<std::size_t>(by_->ranks));
    const std::string why = connection::failure_of(
        "allocate", [&] { return by_->means.allocate(by_->means.data, bytes, memory.data(), &token_); });
    if (!why.empty()) throw runtime::communication_error(why);
    is_given_ = true;
    std::vector<std::uint64_t> addresses;
    for (void* m : memory) {
      const std::uint64_t address = reinterpret_cast<std::uintptr_t>(m);
      if (address == 0 || address % alignment != 0)
        throw runtime::communication_error("the program's allocate gave memory that is no multiple of 256");
      addresses.push_back(by_->on.is_emulator() ? for_emulator(m, bytes) : address);
    }
    return addresses;
  }

 private:
  // The emulator's address of memory of an emulator, or of the host.
  std::uint64_t for_emulator(void* memory, std::uint64_t bytes) {
    if (const auto owner = device_with(reinterpret_cast<std::uintptr_t>(memory))) {
      by_->on.enable_access(*owner);
      return reinterpret_cast<std::uintptr_t>(memory);
    }
    of_host_.reserve(of_host_.size() + 1);
    const std::uint64_t address = backend_of(by_->on).attach_host(memory, bytes);
    of_host_.push_back(memory);
    return address;
  }

  const std::shared_ptr<connection> by_;
  void* token_ = nullptr;
  bool is_given_ = false;
  std::vector<void*> of_host_;
};

class program_transport final : public transport {
 public:
  program_transport(const communicator_means& means, int ranks, int rank, const device& on,
                    const communicator_options& options)
      : by_(std::make_shared<connection>(means, ranks, rank, on, options.time_limit)),
        staging_bytes_(options.staging_bytes) {}

  std::string_view name() const noexcept override { return "program"; }
  int ranks() const noexcept override { return by_->ranks; }
  bool has_direct_access() const noexcept override { return by_->means.allocate != nullptr; }

  void agree(const call_of_rank& mine) override { by_->compare(mine); }
  void gather(const call_of_rank& mine) override {
    for (const call_record& of : by_->compare(mine))
      mine.gathered->insert(mine.gathered->end(), of.numbers.begin() + of.compared,
                            of.numbers.begin() + of.compared + of.given);
  }
  void exchange(const call_of_rank& mine) override {
    std::vector<std::uint64_t> to(static_cast<std::size_t>(by_->ranks));
    for (const transfer& t : mine.sends)
      if (t.rank != by_->rank) to[static_cast<std::size_t>(t.rank)] += bytes_of(t.memory);
    const std::int64_t most[] = {static_cast<std::int64_t>(std::ranges::max(to))};
    call_of_rank with_most = mine;
    with_most.numbers = most;
    std::int64_t longest = 0;
    for (const call_record& of : by_->compare(with_most))
      longest = std::max(longest, of.numbers[static_cast<std::size_t>(of.compared)]);
    move_here(mine, by_->rank);
    if (longest > 0)
      moving(mine).exchange(*mine.on, mine.sends, mine.receives, static_cast<std::uint64_t>(longest));
  }
  void barrier(const call_of_rank& mine) override {
    by_->compare(mine);
    if (has_direct_access()) return moving(mine).barrier(*mine.on);
    mine.on->synchronize();
    by_->compare(mine);
  }
  void allocate(const call_of_rank& mine, std::uint64_t bytes, std::uint32_t words) override {
    by_->compare(mine);
    *mine.memory = memory_of(mine.call->operation, bytes, words);
  }
  void abort(std::string_view why) noexcept override {
    by_->fail(why.empty() ? "a rank called abort" : "a rank called abort: " + std::string(why));
  }

 private:
  // All ranks call it.
  shared_memory_ref memory_of(std::string_view operation, std::uint64_t bytes, std::uint32_t words) const {
    const auto owner = std::make_shared<given_memory>(by_);
    const std::uint64_t signals = (bytes + alignment - 1) / alignment * alignment;
    const std::uint64_t all = std::max(alignment, signals + words * sizeof(u32));
    std::vector<std::uint64_t> addresses;
    collective_call given{operation, {}, {}};
    try {
      addresses = owner->allocate(all);
      const device& on = by_->on;
      owner->table = on.upload(addresses);
      const runtime::device_pointer<u8> own{addresses[static_cast<std::size_t>(by_->rank)],
                                            static_cast<std::size_t>(all), on.identity()};
      const stream s = on.create_stream();
      fill(s, own, 0);
      s.synchronize();
    } catch (const runtime::error& e) {
      given.refusal = e.message();
    }
    // No rank writes memory of another one before that one has zeroed it.
    const std::vector<call_record> ended = by_->gather({&given, nullptr, {}, {}});
    for (std::size_t r = 0; r < ended.size(); ++r)
      if (ended[r].refused != 0) by_->fail("rank " + std::to_string(r) + " has no memory of all ranks");
    if (!given.refusal.empty())
      throw runtime::communication_error("kaio: " + std::string(operation) + ": " + given.refusal);
    by_->require_usable(operation);
    std::vector<shared_memory::part> parts;
    for (const std::uint64_t address : addresses)
      parts.push_back({{address, static_cast<std::size_t>(bytes), by_->on.identity()},
                       {address + signals, words, by_->on.identity()},
                       0});
    parts[static_cast<std::size_t>(by_->rank)].addresses = owner->table.address();
    return shared_memory_ref(new shared_memory(std::move(parts), bytes, words, owner));
  }
  const staging& moving(const call_of_rank& mine) {
    if (!has_direct_access())
      throw runtime::unsupported_device(
          "kaio: " + std::string(mine.call->operation) +
          ": the means of this group have no allocate, so no tensors move; give "
          "communicator::program memory of all ranks");
    if (!staging_) {
      const std::uint32_t words = staging::words(by_->ranks);
      staging_.emplace(memory_of(mine.call->operation, staging_bytes_, words), by_->on, by_->ranks, by_->rank,
                       by_->time_limit);
    }
    return *staging_;
  }

  const std::shared_ptr<connection> by_;
  const std::uint64_t staging_bytes_;
  std::optional<staging> staging_;
};

}  // namespace

std::unique_ptr<transport> program_transport_of(const communicator_means& means, int ranks, int rank,
                                                const device& on, const communicator_options& options) {
  return std::make_unique<program_transport>(means, ranks, rank, on, options);
}

}  // namespace kaio::ops::detail
