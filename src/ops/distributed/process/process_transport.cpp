#include "ops/distributed/process/process_transport.hpp"

#include <kaio/runtime/copy.hpp>
#include <kaio/runtime/event.hpp>

#include <algorithm>
#include <utility>

#include "ops/distributed/process/meeting.hpp"

namespace kaio::ops::detail {

namespace {

// What the ranks of a group share.
struct process_group {
  meeting place;
  std::vector<device> devices;
  bool direct;
  std::vector<event> ready, done;  // of each rank, used by the rank that does the work

  process_group(std::span<const device> on, bool in_direct, double time_limit)
      : place(static_cast<int>(on.size()), time_limit), devices(on.begin(), on.end()), direct(in_direct) {
    for (const device& d : devices) {
      ready.push_back(d.create_event());
      done.push_back(d.create_event());
    }
  }
};

runtime::device_pointer<u8> memory_of(const transfer& t) {
  return {t.memory.address, static_cast<std::size_t>(bytes_of(t.memory)), t.memory.device};
}

// The transfer of `to` that receives number `number` from rank `from`.
const transfer& receiver_of(const call_of_rank& to, int from, std::size_t number) {
  for (const transfer& t : to.receives)
    if (t.rank == from && number-- == 0) return t;
  return to.receives.front();  // the calls match
}

void move(process_group& group, std::span<const call_of_rank* const> calls) {
  const std::size_t ranks = calls.size();
  std::vector<std::vector<bool>> moves(ranks, std::vector<bool>(ranks));  // [from][to]
  for (std::size_t a = 0; a < ranks; ++a)
    for (const transfer& t : calls[a]->sends) moves[a][static_cast<std::size_t>(t.rank)] = true;
  for (std::size_t r = 0; r < ranks; ++r) calls[r]->on->record(group.ready[r]);
  for (std::size_t b = 0; b < ranks; ++b) {
    const stream& s = *calls[b]->on;
    // The nearest lower rank first, so that no rank serves all others at once.
    for (std::size_t step = 0; step < ranks; ++step) {
      const std::size_t a = (b + ranks - step) % ranks;
      if (!moves[a][b]) continue;
      if (a != b) s.wait(group.ready[a]);
      std::size_t number = 0;
      for (const transfer& t : calls[a]->sends)
        if (static_cast<std::size_t>(t.rank) == b)
          copy(s, memory_of(receiver_of(*calls[b], static_cast<int>(a), number++)), memory_of(t));
    }
    s.record(group.done[b]);
  }
  for (std::size_t a = 0; a < ranks; ++a)
    for (std::size_t b = 0; b < ranks; ++b)
      if (a != b && moves[a][b]) calls[a]->on->wait(group.done[b]);
}

void order(process_group& group, std::span<const call_of_rank* const> calls) {
  for (std::size_t r = 0; r < calls.size(); ++r) calls[r]->on->record(group.ready[r]);
  for (std::size_t a = 0; a < calls.size(); ++a)
    for (std::size_t b = 0; b < calls.size(); ++b)
      if (a != b) calls[a]->on->wait(group.ready[b]);
}

class process_transport final : public transport {
 public:
  process_transport(std::shared_ptr<process_group> group, int rank) : group_(std::move(group)), rank_(rank) {}
  ~process_transport() override { group_->place.leave(rank_); }

  std::string_view name() const noexcept override { return group_->direct ? "peers" : "in_process"; }
  int ranks() const noexcept override { return group_->place.ranks(); }
  bool has_direct_access() const noexcept override { return group_->direct; }

  void agree(const call_of_rank& mine) override {
    group_->place.meet(rank_, mine, [](auto) {});
  }
  void exchange(const call_of_rank& mine) override {
    group_->place.meet(rank_, mine, [&](auto calls) { move(*group_, calls); });
  }
  void barrier(const call_of_rank& mine) override {
    group_->place.meet(rank_, mine, [&](auto calls) { order(*group_, calls); });
  }
  void gather(const call_of_rank& mine) override {
    group_->place.meet(rank_, mine, [](auto calls) {
      std::vector<std::int64_t> all;
      for (const call_of_rank* c : calls) all.insert(all.end(), c->numbers.begin(), c->numbers.end());
      for (const call_of_rank* c : calls) *c->gathered = all;
    });
  }
  void allocate(const call_of_rank& mine, std::uint64_t bytes, std::uint32_t words) override {
    group_->place.meet(rank_, mine, [&](auto calls) {
      struct owned {
        std::vector<buffer<u8>> memory;
        std::vector<buffer<u32>> signals;
        std::vector<buffer<u64>> tables;
      };
      const auto owner = std::make_shared<owned>();
      std::vector<shared_memory::part> parts;
      std::vector<u64> addresses;
      for (const device& d : group_->devices) {
        owner->memory.push_back(d.allocate<u8>(static_cast<std::size_t>(bytes)));
        owner->signals.push_back(d.allocate<u32>(words));
        parts.push_back({owner->memory.back().view(), owner->signals.back().view(), 0});
        addresses.push_back(owner->memory.back().address());
      }
      for (std::size_t r = 0; r < parts.size(); ++r) {
        owner->tables.push_back(group_->devices[r].upload(addresses));
        parts[r].addresses = owner->tables.back().address();
      }
      const shared_memory_ref memory(new shared_memory(std::move(parts), bytes, words, owner));
      for (const call_of_rank* c : calls) *c->memory = memory;
    });
  }
  void abort(std::string_view why) noexcept override { group_->place.abort(why); }

 private:
  const std::shared_ptr<process_group> group_;
  const int rank_;
};

}  // namespace

std::vector<std::unique_ptr<transport>> process_transports(std::span<const device> devices, bool direct,
                                                           double time_limit) {
  const auto group = std::make_shared<process_group>(devices, direct, time_limit);
  std::vector<std::unique_ptr<transport>> all;
  for (std::size_t r = 0; r < devices.size(); ++r)
    all.push_back(std::make_unique<process_transport>(group, static_cast<int>(r)));
  return all;
}

}  // namespace kaio::ops::detail
