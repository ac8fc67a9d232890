// The face of communicators: checks of arguments, and collectives made of exchanges.

#include <kaio/ops/distributed/communicator.hpp>
#include <kaio/ops/shared/validation.hpp>
#include <kaio/runtime/copy.hpp>
#include <kaio/runtime/error.hpp>

#include <algorithm>
#include <cmath>
#include <memory>
#include <string>
#include <utility>

#include "ops/distributed/common/transport.hpp"
#include "ops/distributed/launch/environment.hpp"
#include "ops/distributed/nccl/nccl_transport.hpp"
#include "ops/distributed/process/process_transport.hpp"
#include "ops/distributed/program/program_transport.hpp"
#include "ops/distributed/simt/sum_parts.hpp"
#include "ops/shared/row_checks.hpp"
#include "runtime/stream_access.hpp"

namespace kaio::ops {

namespace {

using namespace detail;
constexpr std::int64_t most_ranks = 64;
constexpr std::uint64_t part_alignment = 256;

bool is_loading(const stream& s) { return runtime::detail::stream_access::is_loading(s); }

// A call of one rank: its checks, then its exchanges.
class collective {
 public:
  collective(const communicator& c, std::string_view operation, const stream& on)
      : rank(rank_access::of(c, operation)), s(on), traced(operation), check(operation, rank.on.identity()) {
    call.operation = operation;
    if (s.device_identity() != rank.on.identity())
      call.refusal = "the stream is not one of this rank's device, " + std::string(rank.on.description());
    else if (s.is_capturing())
      call.refusal = "the stream is captured into a graph";
  }

  // Runs checks that throw invalid_argument: all ranks throw it then.
  template <class Checks>
  void require(const Checks& checks) {
    if (!call.refusal.empty()) return;
    try {
      checks();
    } catch (const runtime::invalid_argument& e) {
      call.refusal = e.message();
    }
  }
  void dense(std::string_view name, const any_view& v, bool is_output) {
    require([&] {
      if (v.empty()) return;
      if (is_output)
        check.output(name, v);
      else
        check.input(name, v);
      std::int64_t next = 1;
      for (std::uint32_t d = v.rank; d-- > 0; next *= v.extents[d])
        if (v.extents[d] > 1 && v.strides[d] != next)
          refuse_collective(call.operation,
                            "argument " + std::string(name) + " has gaps; copy it to memory without");
    });
  }
  void same_type(std::string_view a_name, const any_view& a, std::string_view b_name, const any_view& b) {
    require([&] {
      if (a.type != b.type || a.element_bytes() != b.element_bytes())
        refuse_collective(call.operation, "arguments " + std::string(a_name) + " and " + std::string(b_name) +
                                              " have elements of two types");
    });
  }
  void count(std::string_view name, const any_view& v, std::int64_t expected) {
    require([&] {
      if (elements_of(v) != expected)
        refuse_collective(call.operation, "argument " + std::string(name) + " has " +
                                              std::to_string(elements_of(v)) + " elements; " +
                                              std::to_string(expected) + " are needed");
    });
  }
  void can_add(std::string_view name, const any_view& v) {
    require([&] {
      if (!is_wide(v.type))
        refuse_collective(call.operation,
                          "argument " + std::string(name) + " has elements that are not f32, f16 or bf16");
    });
  }
  void describe(const any_view& v) {
    call.numbers = {static_cast<std::int64_t>(v.type), v.element_bytes(), elements_of(v)};
  }
  // Throws the refusal of a call that sends nothing.
  bool only_loads() const {
    if (!is_loading(s)) return false;
    if (!call.refusal.empty()) throw runtime::invalid_argument("kaio: " + call.refusal);
    return true;
  }

  void exchange(std::span<const transfer> sends, std::span<const transfer> receives) const {
    rank.by->exchange({&call, &s, sends, receives});
    call.matches = true;  // later parts of the call
  }
  int ranks() const { return rank.by->ranks(); }

  group_rank& rank;
  const stream& s;
  const detail::operation_scope traced;
  const validation check;
  mutable collective_call call;
};

// `count` elements from element `first` on, as one row.
any_view elements(const any_view& v, std::int64_t first, std::int64_t count) {
  any_view part;
  part.type = v.type;
  part.other_bytes = v.other_bytes;
  part.rank = 1;
  part.address = v.address + static_cast<std::uint64_t>(first) * v.element_bytes();
  part.bytes = static_cast<std::uint64_t>(count) * v.element_bytes();
  part.device = v.device;
  part.extents[0] = count;
  part.strides[0] = 1;
  return part;
}
any_view bytes_as(const buffer<u8>& memory, const any_view& like, std::uint64_t first, std::int64_t count) {
  any_view whole = like;
  whole.address = memory.address();
  whole.device = memory.as_argument().device;
  any_view part = elements(whole, 0, count);
  part.address += first;
  return part;
}

// Adds parts of `from`, which are cut at `begins` (ranks + 1 numbers): part rank() of all ranks goes to `to`.
void reduce_parts(const collective& c, const any_view& from, const any_view& to,
                  std::span<const std::int64_t> begins) {
  const auto ranks = static_cast<std::size_t>(c.ranks()), own = static_cast<std::size_t>(c.rank.rank);
  const std::uint64_t slot = c.rank.staging.bytes() / ranks / part_alignment * part_alignment;
  const auto round = static_cast<std::int64_t>(slot / from.element_bytes());
  std::int64_t longest = 0;
  for (std::size_t r = 0; r < ranks; ++r) longest = std::max(longest, begins[r + 1] - begins[r]);
  std::vector<transfer> sends, receives;
  for (std::int64_t done = 0; done < longest; done += round) {
    const auto left = [&](std::size_t r) {
      return std::clamp<std::int64_t>(begins[r + 1] - begins[r] - done, 0, round);
    };
    sends.clear(), receives.clear();
    const std::int64_t count = left(own);
    for (std::size_t r = 0; r < ranks; ++r) {
      if (left(r) > 0) sends.push_back({elements(from, begins[r] + done, left(r)), static_cast<int>(r)});
      if (count > 0)
        receives.push_back({bytes_as(c.rank.staging, from, r * slot, count), static_cast<int>(r)});
    }
    c.exchange(sends, receives);
    launch_sum(c.s, {to.address + static_cast<std::uint64_t>(done) * to.element_bytes(), to.type, 0},
               {c.rank.staging.address(), from.type, 0}, slot, static_cast<u32>(ranks), 1,
               static_cast<std::uint64_t>(count), false);
  }
}

void check_options(std::string_view operation, const communicator_options& options, std::size_t ranks) {
  if (!(options.time_limit > 0) || !std::isfinite(options.time_limit))
    refuse_collective(operation, "the option time_limit is not a positive number of seconds");
  if (options.staging_bytes < ranks * part_alignment)
    refuse_collective(operation, "the option staging_bytes is below 256 bytes for each rank");
}

void check_rank(std::string_view operation, int ranks, int rank) {
  if (ranks < 1 || ranks > most_ranks || rank < 0 || rank >= ranks)
    refuse_collective(operation, "rank is " + std::to_string(rank) + " of " + std::to_string(ranks) +
                                     "; 1 to 64 ranks make a group");
}

std::vector<communicator> make_group(std::string_view operation, std::span<const device> devices,
                                     const communicator_options& options, bool direct) {
  if (devices.empty() || devices.size() > static_cast<std::size_t>(most_ranks))
    refuse_collective(operation, std::to_string(devices.size()) + " devices; 1 to 64 make a group");
  check_options(operation, options, devices.size());
  for (const device& d : devices)
    if (d.is_emulator() != devices[0].is_emulator())
      refuse_collective(operation, "GPUs and emulators; a group has one kind");
  if (direct)
    for (const device& a : devices)
      for (const device& b : devices)
        if (!(a == b)) a.enable_access(b);
  auto transports = process_transports(devices, direct, options.time_limit);
  std::vector<communicator> group;
  for (std::size_t r = 0; r < devices.size(); ++r)
    group.push_back(rank_access::make(std::move(transports[r]), devices[r], static_cast<int>(r), options));
  return group;
}

}  // namespace

namespace detail {

group_rank& rank_access::of(const communicator& c, std::string_view operation) {
  if (!c.rank_)
    refuse_collective(operation,
                      "the communicator is null; make one by communicator::peers or another function");
  return *c.rank_.get();
}
communicator rank_access::make(std::unique_ptr<transport> by, const device& on, int rank,
                               const communicator_options& options) {
  return communicator(rank_ref(new group_rank(std::move(by), on, rank, options)));
}

void retain(group_rank* r) noexcept { r->references_.fetch_add(1, std::memory_order_relaxed); }
void release(group_rank* r) noexcept {
  if (r->references_.fetch_sub(1, std::memory_order_acq_rel) == 1) delete r;
}
void retain(shared_memory* m) noexcept { m->references_.fetch_add(1, std::memory_order_relaxed); }
void release(shared_memory* m) noexcept {
  if (m->references_.fetch_sub(1, std::memory_order_acq_rel) == 1) delete m;
}

const shared_memory::part& shared_memory::of(int rank) const {
  if (rank < 0 || static_cast<std::size_t>(rank) >= parts_.size())
    refuse_collective("peer_buffer", "rank " + std::to_string(rank) + " of " + std::to_string(parts_.size()));
  return parts_[static_cast<std::size_t>(rank)];
}

}  // namespace detail

std::uint64_t peer_buffer::bytes() const noexcept { return memory_ ? memory_->bytes() : 0; }
std::uint32_t peer_buffer::signal_words() const noexcept { return memory_ ? memory_->words() : 0; }
runtime::device_pointer<u8> peer_buffer::pointer(int rank) const {
  if (!memory_) refuse_collective("peer_buffer", "it is null; make one by communicator::allocate");
  return memory_->of(rank).memory;
}
runtime::device_pointer<u32> peer_buffer::signals(int rank) const {
  if (!memory_) refuse_collective("peer_buffer", "it is null; make one by communicator::allocate");
  return memory_->of(rank).signals;
}

std::vector<communicator> communicator::in_process(std::span<const device> devices,
                                                   const communicator_options& options) {
  return make_group("communicator::in_process", devices, options, false);
}
std::vector<communicator> communicator::peers(std::span<const device> devices,
                                              const communicator_options& options) {
  return make_group("communicator::peers", devices, options, true);
}

nccl_id communicator::create_nccl_id() { return make_nccl_id(); }
communicator communicator::nccl(const nccl_id& id, int ranks, int rank, const device& on,
                                const communicator_options& options) {
  constexpr std::string_view operation = "communicator::nccl";
  check_rank(operation, ranks, rank);
  check_options(operation, options, static_cast<std::size_t>(ranks));
  return rank_access::make(nccl_transport_of(id, ranks, rank, on, options), on, rank, options);
}

communicator communicator::program(const communicator_means& means, int ranks, int rank, const device& on,
                                   const communicator_options& options) {
  constexpr std::string_view operation = "communicator::program";
  check_rank(operation, ranks, rank);
  check_options(operation, options, static_cast<std::size_t>(ranks));
  if (means.gather == nullptr) refuse_collective(operation, "the means have no gather; every rank needs it");
  if ((means.allocate == nullptr) != (means.release == nullptr))
    refuse_collective(operation, "the means have one of allocate and release; give both, or none");
  return rank_access::make(program_transport_of(means, ranks, rank, on, options), on, rank, options);
}

communicator communicator::from_environment(const communicator_options& options) {
  const launched_rank launched = rank_of_environment();
  check_options("communicator::from_environment", options, static_cast<std::size_t>(launched.ranks));
  const device on = device::open("cuda:" + std::to_string(launched.local_rank));
  const nccl_id id =
      exchange_id(launched, launched.rank == 0 ? create_nccl_id() : nccl_id(), options.time_limit);
  return nccl(id, launched.ranks, launched.rank, on, options);
}

int communicator::ranks() const { return rank_access::of(*this, "communicator::ranks").by->ranks(); }
int communicator::rank() const { return rank_access::of(*this, "communicator::rank").rank; }
const device& communicator::on() const { return rank_access::of(*this, "communicator::on").on; }
std::string_view communicator::transport_name() const {
  return rank_access::of(*this, "communicator::transport_name").by->name();
}
double communicator::time_limit() const {
  return rank_access::of(*this, "communicator::time_limit").options.time_limit;
}
bool communicator::has_direct_access() const {
  return rank_access::of(*this, "communicator::has_direct_access").by->has_direct_access();
}

void communicator::all_gather(const stream& s, const any_view& from, const any_view& to) const {
  collective c(*this, "all_gather", s);
  c.dense("from", from, false);
  c.dense("to", to, true);
  c.same_type("from", from, "to", to);
  const std::int64_t count = elements_of(from);
  c.count("to", to, count * c.ranks());
  c.require([&] {
    if (from.address != elements(to, count * c.rank.rank, count).address && !from.empty())
      c.check.apart("to", to, "from", from);
  });
  c.describe(from);
  if (c.only_loads()) return;
  std::vector<transfer> sends, receives;
  if (c.call.refusal.empty() && count > 0)
    for (int r = 0; r < c.ranks(); ++r) {
      sends.push_back({elements(from, 0, count), r});
      receives.push_back({elements(to, count * r, count), r});
    }
  c.exchange(sends, receives);
}

void communicator::reduce_scatter(const stream& s, const any_view& from, const any_view& to) const {
  collective c(*this, "reduce_scatter", s);
  c.dense("from", from, false);
  c.dense("to", to, true);
  c.same_type("from", from, "to", to);
  c.can_add("from", from);
  const std::int64_t count = elements_of(to);
  c.count("from", from, count * c.ranks());
  c.require([&] {
    if (to.address != elements(from, count * c.rank.rank, count).address && !to.empty())
      c.check.apart("to", to, "from", from);
  });
  c.describe(to);
  if (c.only_loads()) return sum_warmup(c.rank.on);
  if (!c.call.refusal.empty() || count == 0) return c.exchange({}, {});
  std::vector<std::int64_t> begins;
  for (int r = 0; r <= c.ranks(); ++r) begins.push_back(count * r);
  reduce_parts(c, from, to, begins);
}

void communicator::all_reduce(const stream& s, const any_view& from, const any_view& to) const {
  collective c(*this, "all_reduce", s);
  c.dense("from", from, false);
  c.dense("to", to, true);
  c.same_type("from", from, "to", to);
  c.can_add("from", from);
  const std::int64_t count = elements_of(from);
  c.count("to", to, count);
  c.require([&] {
    if (to.address != from.address && !to.empty()) c.check.apart("to", to, "from", from);
  });
  c.describe(from);
  if (c.only_loads()) return sum_warmup(c.rank.on);
  if (!c.call.refusal.empty() || count == 0) return c.exchange({}, {});
  // Each rank adds one part, then sends it to all.
  constexpr std::int64_t width = 8;
  const std::int64_t part = ((count + c.ranks() - 1) / c.ranks() + width - 1) / width * width;
  std::vector<std::int64_t> begins;
  for (int r = 0; r <= c.ranks(); ++r) begins.push_back(std::min(part * r, count));
  const auto part_of = [&](int r) {
    const auto i = static_cast<std::size_t>(r);
    return elements(to, begins[i], begins[i + 1] - begins[i]);
  };
  reduce_parts(c, from, part_of(c.rank.rank), begins);
  std::vector<transfer> sends, receives;
  for (int r = 0; r < c.ranks(); ++r) {
    if (r == c.rank.rank) continue;
    if (!part_of(c.rank.rank).empty()) sends.push_back({part_of(c.rank.rank), r});
    if (!part_of(r).empty()) receives.push_back({part_of(r), r});
  }
  c.exchange(sends, receives);
}

void communicator::all_to_all(const stream& s, const any_view& from, const any_view& to) const {
  collective c(*this, "all_to_all", s);
  c.dense("from", from, false);
  c.dense("to", to, true);
  c.same_type("from", from, "to", to);
  c.count("to", to, elements_of(from));
  const std::int64_t count = elements_of(from) / c.ranks();
  c.require([&] {
    if (count * c.ranks() != elements_of(from))
      refuse_collective("all_to_all", "argument from has " + std::to_string(elements_of(from)) +
                                          " elements; a multiple of the ranks is needed");
    if (!from.empty()) c.check.apart("to", to, "from", from);
  });
  c.describe(from);
  if (c.only_loads()) return;
  std::vector<transfer> sends, receives;
  if (c.call.refusal.empty() && count > 0)
    for (int r = 0; r < c.ranks(); ++r) {
      sends.push_back({elements(from, count * r, count), r});
      receives.push_back({elements(to, count * r, count), r});
    }
  c.exchange(sends, receives);
}

void communicator::broadcast(const stream& s, const any_view& memory, int root) const {
  collective c(*this, "broadcast", s);
  c.dense("memory", memory, true);
  c.require([&] {
    if (root < 0 || root >= c.ranks())
      refuse_collective("broadcast",
                        "root is " + std::to_string(root) + " of " + std::to_string(c.ranks()) + " ranks");
  });
  c.describe(memory);
  c.call.numbers.push_back(root);
  if (c.only_loads()) return;
  std::vector<transfer> sends, receives;
  const any_view all = elements(memory, 0, elements_of(memory));
  if (c.call.refusal.empty() && !memory.empty()) {
    if (c.rank.rank != root)
      receives.push_back({all, root});
    else
      for (int r = 0; r < c.ranks(); ++r)
        if (r != root) sends.push_back({all, r});
  }
  c.exchange(sends, receives);
}

void communicator::exchange(const stream& s, std::span<const transfer> sends,
                            std::span<const transfer> receives) const {
  collective c(*this, "exchange", s);
  std::vector<transfer> of_sends, of_receives;
  const auto add = [&](std::string_view name, std::span<const transfer> from, std::vector<transfer>& to,
                       bool received) {
    for (const transfer& t : from) {
      c.dense(name, t.memory, received);
      c.require([&] {
        if (t.rank < 0 || t.rank >= c.ranks())
          refuse_collective("exchange", std::string(name) + " has rank " + std::to_string(t.rank) + " of " +
                                            std::to_string(c.ranks()));
      });
      if (!t.memory.empty()) to.push_back({elements(t.memory, 0, elements_of(t.memory)), t.rank});
    }
  };
  add("sends", sends, of_sends, false);
  add("receives", receives, of_receives, true);
  if (c.only_loads()) return;
  if (!c.call.refusal.empty()) return c.exchange({}, {});
  c.exchange(of_sends, of_receives);
}

void communicator::barrier(const stream& s) const {
  collective c(*this, "barrier", s);
  if (c.only_loads()) return;
  c.rank.by->barrier({&c.call, &s, {}, {}});
}

void communicator::agree(std::string_view operation, std::span<const std::int64_t> numbers,
                         std::string_view refusal) const {
  group_rank& rank = rank_access::of(*this, operation);
  const collective_call call{operation, {numbers.begin(), numbers.end()}, std::string(refusal)};
  rank.by->agree({&call, nullptr, {}, {}});
}

std::vector<std::int64_t> communicator::gather_numbers(std::string_view operation,
                                                       std::span<const std::int64_t> numbers) const {
  group_rank& rank = rank_access::of(*this, operation);
  const collective_call call{operation, {static_cast<std::int64_t>(numbers.size())}, {}};
  std::vector<std::int64_t> all;
  call_of_rank mine{&call, nullptr, {}, {}};
  mine.numbers = numbers;
  mine.gathered = &all;
  rank.by->gather(mine);
  return all;
}

peer_buffer communicator::allocate(std::uint64_t bytes, std::uint32_t signal_words) const {
  constexpr std::string_view operation = "communicator::allocate";
  group_rank& rank = rank_access::of(*this, operation);
  if (!rank.by->has_direct_access())
    throw runtime::unsupported_device(
        "kaio: communicator::allocate: ranks of " + std::string(rank.by->name()) +
        " do not use each other's memory; make the group by communicator::peers, or by communicator::program "
        "with allocate");
  const collective_call call{operation, {static_cast<std::int64_t>(bytes), signal_words}, {}};
  shared_memory_ref memory;
  call_of_rank mine{&call, nullptr, {}, {}};
  mine.memory = &memory;
  rank.by->allocate(mine, bytes, signal_words);
  return peer_buffer(std::move(memory));
}

void communicator::abort(std::string_view why) const {
  rank_access::of(*this, "communicator::abort").by->abort(why);
}

void communicator::warmup(const device& gpu) { sum_warmup(gpu); }

}  // namespace kaio::ops
