// mbarriers (PTX ISA, "Parallel Synchronization and Communication Instructions: mbarrier"). Lanes act in the
// order of their numbers.

#include "emulator/instructions/async/async_address.hpp"
#include "emulator/instructions/async/execute_async.hpp"
#include "emulator/machine/block.hpp"
#include "emulator/machine/cluster.hpp"
#include "emulator/machine/lanes.hpp"
#include "emulator/machine/raise_fault.hpp"

#include <fmt/format.h>

#include <array>
#include <bit>
#include <memory>
#include <utility>

namespace kaio::emulator {
namespace {

struct located {
  mbarriers& of;
  block& home;
  u32 offset;
};

located locate_mbarrier(warp& w, const instruction& i, unsigned lane, access_kind access) {
  const memory_location place =
      find_location(w, i, address_operand_of(i), lane, mbarrier_bytes, mbarrier_bytes, access);
  if (place.home == nullptr) {
    fault_report report;
    report.kind = fault_kind::mbarrier;
    report.detail =
        fmt::format("{:#x} is an address of global memory; mbarriers are in shared memory", place.address);
    raise_fault(w, i, lane, std::move(report));
  }
  return {w.owner->group.async.phases(*place.home), *place.home, static_cast<u32>(place.address)};
}

u32 operand_of(const warp& w, const instruction& i, unsigned lane) {
  return get<u32>(w.file + i.from[1], lane);
}

void initialize(warp& w, const instruction& i, u32 mask) {
  for_lanes(mask, [&](unsigned lane) {
    const located b = locate_mbarrier(w, i, lane, access_kind::write);
    b.of.initialize({&w, &i, lane}, b.offset, operand_of(w, i, lane));
  });
}

void invalidate(warp& w, const instruction& i, u32 mask) {
  for_lanes(mask, [&](unsigned lane) {
    const located b = locate_mbarrier(w, i, lane, access_kind::write);
    b.of.invalidate({&w, &i, lane}, b.offset);
  });
}

template <mbarrier_form Form>
void arrive_on(warp& w, const instruction& i, u32 mask) {
  using enum mbarrier_form;
  constexpr bool expects = Form == arrive_expect_tx || Form == drop_expect_tx;
  for_lanes(mask, [&](unsigned lane) {
    const located b = locate_mbarrier(w, i, lane, access_kind::atomic);
    const u32 value = operand_of(w, i, lane);
    const u64 before =
        b.of.arrive({&w, &i, lane}, b.offset,
                    {.count = expects ? 1 : value,
                     .expected_bytes = expects ? value : 0,
                     .drops = Form == drop || Form == drop_no_complete || Form == drop_expect_tx,
                     .no_complete = Form == arrive_no_complete || Form == drop_no_complete});
    if (i.flags.has_second) put(w.file + i.to[0], lane, before);
  });
}

void expect(warp& w, const instruction& i, u32 mask) {
  for_lanes(mask, [&](unsigned lane) {
    const located b = locate_mbarrier(w, i, lane, access_kind::atomic);
    b.of.expect_bytes({&w, &i, lane}, b.offset, operand_of(w, i, lane));
  });
}

void complete(warp& w, const instruction& i, u32 mask) {
  for_lanes(mask, [&](unsigned lane) {
    const located b = locate_mbarrier(w, i, lane, access_kind::atomic);
    b.of.complete_bytes({&w, &i, lane}, b.offset, operand_of(w, i, lane));
  });
}

// Lanes whose phase is complete continue with `true`. The others continue with `false` if they test, and wait
// for the end of the phase if they try.
template <bool Parity, bool Waits>
void test(warp& w, const instruction& i, u32 mask) {
  u32 complete = 0;
  std::array<u32, warp_lanes> offsets{};
  for_lanes(mask, [&](unsigned lane) {
    const located b = locate_mbarrier(w, i, lane, access_kind::read);
    if (&b.home != w.owner) {
      fault_report report;
      report.kind = fault_kind::mbarrier;
      report.detail = fmt::format(
          "a thread waits at the mbarrier at {:#x} of block {} of its cluster; threads wait at mbarriers of their own block only",
          b.offset, b.home.rank);
      raise_fault(w, i, lane, std::move(report));
    }
    const performer p{&w, &i, lane};
    u64 phase = 0;
    offsets[lane] = b.offset;
    const bool done = Parity ? b.of.has_parity_completed(p, b.offset, operand_of(w, i, lane), phase)
                             : b.of.is_complete(p, b.offset, get<u64>(w.file + i.from[1], lane), phase);
    if (!done) return;
    complete |= 1u << lane;
    for (const auto& o : w.owner->observers) o->phase_seen(w, i, 1u << lane, b.home, b.offset, phase);
  });
  put_mask(w, i.to[0], complete, mask);
  if (!Waits) {
    if (complete != mask) w.yield();  // usually a loop: others have their turn first
    return;
  }
  for (u32 left = mask & ~complete; left != 0;) {
    const u32 offset = offsets[static_cast<unsigned>(std::countr_zero(left))];
    u32 together = 0;
    for_lanes(left, [&](unsigned lane) {
      if (offsets[lane] == offset) together |= 1u << lane;
    });
    w.wait(together, wait_reason::phase, offset);
    left &= ~together;
  }
}

void count_pending(warp& w, const instruction& i, u32 mask) {
  for_lanes(mask, [&](unsigned lane) {
    put(w.file + i.to[0], lane, mbarriers::pending_arrivals(get<u64>(w.file + i.from[1], lane)));
  });
}

// ---- cp.async.mbarrier.arrive ----

// Arrives for a lane when all of its earlier copies are complete.
class arrival_of_copies : public async_task {
 public:
  arrival_of_copies(warp& w, const instruction& i, unsigned lane, const located& b) {
    about.by = &w;
    about.issued = &i;
    about.lane = lane;
    about.completion = async_completion::phase;
    about.barrier = &b.home;
    about.barrier_offset = b.offset;
  }
  void write() override { about.by->owner->group.async.complete_copies(*about.by, about.lane, about.number); }
  void signal() override {
    about.by->owner->group.async.phases(*about.barrier).arrive(issuer(), about.barrier_offset, {});
  }
};

template <bool Counted>
void arrive_after_copies(warp& w, const instruction& i, u32 mask) {
  for_lanes(mask, [&](unsigned lane) {
    const located b = locate_mbarrier(w, i, lane, access_kind::atomic);
    if (Counted) b.of.add_pending({&w, &i, lane}, b.offset);
    w.owner->group.async.issue(std::make_unique<arrival_of_copies>(w, i, lane, b));
  });
}

}  // namespace

handler mbarrier_handler(const instruction& i) {
  if (i.op == operation::cp_async_group) {
    const auto form = static_cast<copy_group_form>(i.form);
    if (form == copy_group_form::arrive) return &arrive_after_copies<true>;
    return form == copy_group_form::arrive_noinc ? &arrive_after_copies<false> : nullptr;
  }
  if (i.op != operation::mbarrier) return nullptr;
  using enum mbarrier_form;
  switch (static_cast<mbarrier_form>(i.form)) {
    case init: return &initialize;
    case inval: return &invalidate;
    case arrive: return &arrive_on<arrive>;
    case arrive_no_complete: return &arrive_on<arrive_no_complete>;
    case arrive_expect_tx: return &arrive_on<arrive_expect_tx>;
    case drop: return &arrive_on<drop>;
    case drop_no_complete: return &arrive_on<drop_no_complete>;
    case drop_expect_tx: return &arrive_on<drop_expect_tx>;
    case expect_tx: return &expect;
    case complete_tx: return &complete;
    case test_wait: return &test<false, false>;
    case test_wait_parity: return &test<true, false>;
    case try_wait: return &test<false, true>;
    case try_wait_parity: return &test<true, true>;
    case pending_count: return &count_pending;
  }
  return nullptr;
}

}  // namespace kaio::emulator
