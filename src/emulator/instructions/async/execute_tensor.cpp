// Tensor copies and reductions: move a box of a tensor between global and shared memory (PTX ISA,
// "cp.async.bulk.tensor", "cp.reduce.async.bulk.tensor").

#include "emulator/instructions/async/async_address.hpp"
#include "emulator/instructions/async/execute_async.hpp"
#include "emulator/instructions/async/tensor_box.hpp"
#include "emulator/instructions/memory/address.hpp"
#include "emulator/instructions/memory/reduction.hpp"
#include "emulator/machine/block.hpp"
#include "emulator/machine/cluster.hpp"
#include "emulator/machine/lanes.hpp"
#include "emulator/machine/raise_access.hpp"
#include "emulator/machine/raise_fault.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace kaio::emulator {
namespace {

constexpr u32 shared_alignment = 128;
constexpr u32 chunk_bytes = 16;  // a swizzle moves these as a whole

// The 16-bit pattern for places outside a floating-point tensor if NaN is requested, as a device of compute
// capability 12.0 fills them.
constexpr u16 outside_nan = 0x7ff7;

[[noreturn]] void refuse(const performer& p, fault_kind kind, std::string detail) {
  fault_report report;
  report.kind = kind;
  report.detail = std::move(detail);
  raise_fault(*p.by, *p.executed, p.lane, std::move(report));
}

ptx::type type_of(tensor_element element, bool bitwise) {
  if (bitwise) {
    if (is_floating(element)) return ptx::type::none;
    return size_of(element) == 4 ? ptx::type::b32 : size_of(element) == 8 ? ptx::type::b64 : ptx::type::none;
  }
  switch (element) {
    case tensor_element::uint32: return ptx::type::u32;
    case tensor_element::int32: return ptx::type::s32;
    case tensor_element::uint64: return ptx::type::u64;
    case tensor_element::int64: return ptx::type::s64;
    case tensor_element::float16: return ptx::type::f16;
    case tensor_element::bfloat16: return ptx::type::bf16;
    case tensor_element::float32:
    case tensor_element::float32_ftz:
    case tensor_element::tfloat32:
    case tensor_element::tfloat32_ftz: return ptx::type::f32;
    case tensor_element::float64: return ptx::type::f64;
    default: return ptx::type::none;
  }
}

// Rounds to 10 bits of fraction, to nearest, ties to even; every NaN becomes one NaN.
u32 rounded_to_tf32(u32 bits) {
  if ((bits & 0x7fffffff) > 0x7f800000) return 0x7fffe000;
  if ((bits & 0x7f800000) == 0x7f800000) return bits;
  return (bits + 0xfff + (bits >> 13 & 1)) & 0xffffe000u;
}

class tensor_task : public async_task {
 public:
  tensor_task(const performer& p, const tensor_map& map, std::vector<tensor_row> rows, block& home,
              u32 shared, bool loads, reduction combine)
      : map_(map), rows_(std::move(rows)), home_(home), shared_(shared), loads_(loads), combine_(combine) {
    about.by = p.by;
    about.issued = p.executed;
    about.lane = p.lane;
    row_bytes_ = map_.unit_bytes() * map_.row_units();
    payload_.resize(std::size_t{row_bytes_} * rows_.size());
    const u64 extent = shared_extent(map_, rows_.size());
    const access_kind in_global = loads                ? access_kind::read
                                  : combine != nullptr ? access_kind::atomic
                                                       : access_kind::write;
    if (shared_ > home.shared.size() || extent > home.shared.size() - shared_)
      raise_access(*p.by, *p.executed, p.lane, loads ? access_kind::write : access_kind::read,
                   state_space::shared, shared_, static_cast<u32>(extent), shared_alignment);
    if (about.by->owner->observers.empty()) return;
    for_each_run([&](std::byte* at, std::byte*, u32 bytes) {
      about.ranges.push_back({nullptr, at, bytes, in_global});
    });
    for_each_chunk([&](std::byte* at, std::byte*, u32 bytes) {
      about.ranges.push_back({&home_, at, bytes, loads_ ? access_kind::write : access_kind::read});
    });
  }

  void read() override {
    if (!loads_) {
      for_each_chunk(
          [](std::byte* shared, std::byte* taken, u32 bytes) { std::memcpy(taken, shared, bytes); });
      return;
    }
    if (map_.fill == tensor_fill::nan)
      for (std::size_t k = 0; k + sizeof outside_nan <= payload_.size(); k += sizeof outside_nan)
        std::memcpy(payload_.data() + k, &outside_nan, sizeof outside_nan);
    const bool rounds =
        map_.element == tensor_element::tfloat32 || map_.element == tensor_element::tfloat32_ftz;
    for_each_run([&](std::byte* global, std::byte* taken, u32 bytes) {
      std::memcpy(taken, global, bytes);
      for (u32 k = 0; rounds && k < bytes; k += 4) {
        u32 word;
        std::memcpy(&word, taken + k, sizeof word);
        word = rounded_to_tf32(word);
        std::memcpy(taken + k, &word, sizeof word);
      }
    });
  }

  void write() override {
    if (loads_) {
      for_each_chunk(
          [](std::byte* shared, std::byte* taken, u32 bytes) { std::memcpy(shared, taken, bytes); });
      ++home_.changes;
      return;
    }
    for_each_run([&](std::byte* global, std::byte* taken, u32 bytes) {
      if (combine_ != nullptr)
        combine_(global, taken, bytes);
      else
        std::memcpy(global, taken, bytes);
    });
  }

  void signal() override {
    if (about.barrier == nullptr) return;
    about.by->owner->group.async.phases(*about.barrier)
        .complete_bytes(issuer(), about.barrier_offset, static_cast<u32>(payload_.size()));
  }

 private:
  // The pieces inside the tensor: function(place in global memory, place in the payload, bytes).
  template <class Function>
  void for_each_run(Function&& function) {
    const u32 unit = map_.unit_bytes();
    for (std::size_t r = 0; r < rows_.size(); ++r) {
      const tensor_row& row = rows_[r];
      if (row.first == row.end) continue;
      const bool dense = row.stride == unit;
      const u32 bytes = dense ? (row.end - row.first) * unit : unit;
      const u32 pieces = dense ? 1 : row.end - row.first;
      for (u32 k = 0; k < pieces; ++k)
        function(global_bytes(row.address + k * row.stride, bytes),
                 payload_.data() + r * row_bytes_ + (row.first + k) * unit, bytes);
    }
  }

  // The pieces in shared memory: function(place there, place in the payload, bytes).
  template <class Function>
  void for_each_chunk(Function&& function) {
    const u32 pitch = row_pitch(map_);
    std::byte* const shared = home_.shared.data();
    if (map_.swizzle == tensor_swizzle::none) return function(shared + shared_, payload_.data(), size());
    for (std::size_t r = 0; r < rows_.size(); ++r)
      for (u32 k = 0; k < row_bytes_; k += chunk_bytes)
        function(shared + swizzled(map_.swizzle, shared_ + static_cast<u32>(r) * pitch + k),
                 payload_.data() + r * row_bytes_ + k, std::min(chunk_bytes, row_bytes_ - k));
  }

  std::byte* global_bytes(u64 address, u32 bytes) const {
    block& b = *about.by->owner;
    std::byte* const at = find_global_bytes(b, address, bytes);
    if (at == nullptr)
      raise_access(*about.by, *about.issued, about.lane, loads_ ? access_kind::read : access_kind::write,
                   state_space::global, address, bytes, 1);
    return at;
  }

  u32 size() const { return static_cast<u32>(payload_.size()); }

  tensor_map map_;
  std::vector<tensor_row> rows_;
  block& home_;
  u32 shared_;
  bool loads_;
  reduction combine_;
  u32 row_bytes_ = 0;
  std::vector<std::byte> payload_;
};

tensor_map map_of(const performer& p, const transfer_operands& operands, const address_operand& place) {
  warp& w = *p.by;
  const u64 address = address_in(w, place, p.lane);
  if (address % 64 != 0)
    refuse(p, fault_kind::tensor_map,
           fmt::format("the tensor map at {:#x} is not at a multiple of 64", address));
  if (address >= shared_window && address < constant_window)
    refuse(p, fault_kind::tensor_map,
           fmt::format(
               "the tensor map is at {:#x}, in {} memory; it must be in parameter, constant or global memory",
               address, address < local_window ? "shared" : "local"));
  tensor_map map;
  // Two halves: an access of one lane is aligned to its size, and a parameter only to 64 bytes.
  auto* const bytes = reinterpret_cast<std::byte*>(&map);
  std::memcpy(bytes, readable(w, *p.executed, p.lane, address, 64), 64);
  std::memcpy(bytes + 64, readable(w, *p.executed, p.lane, address + 64, 64), 64);
  if (std::string wrong = problem_of(map); !wrong.empty())
    refuse(p, fault_kind::tensor_map,
           fmt::format("a tensor copy with the tensor map at {:#x}: {}", address, wrong));
  if (map.rank != operands.dimensions)
    refuse(p, fault_kind::tensor_map,
           fmt::format("a tensor copy of {} dimensions with the tensor map of a tensor of {}",
                       operands.dimensions, map.rank));
  if ((map.mode == tensor_mode::im2col) != operands.im2col)
    refuse(p, fault_kind::tensor_map,
           fmt::format("a tensor copy in {} mode with a tensor map for {} mode",
                       operands.im2col ? "im2col" : "tiled", operands.im2col ? "tiled" : "im2col"));
  return map;
}

tensor_coordinates coordinates_of(const performer& p, const transfer_operands& operands, bool stores) {
  const warp& w = *p.by;
  const u32* rows = w.owner->launched.kernel.rows.data() + p.executed->rows;
  tensor_coordinates c;
  for (unsigned d = 0; d < operands.dimensions; ++d) c.at[d] = get<s32>(w.file + *rows++, p.lane);
  if (operands.im2col && !stores)
    for (unsigned k = 0; k + 2 < operands.dimensions; ++k) c.offsets[k] = get<u16>(w.file + *rows++, p.lane);
  return c;
}

void load(const performer& p, const transfer_operands& operands, const tensor_map& map,
          const tensor_coordinates& c) {
  warp& w = *p.by;
  cluster& group = w.owner->group;
  const memory_location to =
      find_location(w, *p.executed, operands.to, p.lane, 0, shared_alignment, access_kind::write);
  const memory_location barrier = find_location(w, *p.executed, operands.barrier, p.lane, mbarrier_bytes,
                                                mbarrier_bytes, access_kind::atomic);
  const auto issue = [&](block& home, block& tells) {
    auto task = std::make_unique<tensor_task>(p, map, rows_of(map, c), home, static_cast<u32>(to.address),
                                              true, nullptr);
    task->about.completion = async_completion::phase;
    task->about.barrier = &tells;
    task->about.barrier_offset = static_cast<u32>(barrier.address);
    group.async.issue(std::move(task));
  };
  if (!operands.multicast) {
    if (to.home != barrier.home)
      refuse(
          p, fault_kind::bulk_copy,
          fmt::format(
              "the box goes to block {} of the cluster, and its mbarrier is in block {}; they must be in the same one",
              to.home->rank, barrier.home->rank));
    return issue(*to.home, *barrier.home);
  }
  const u32 blocks = get<u16>(w.file + p.executed->from[2], p.lane);
  if (blocks >> group.blocks.size() != 0)
    refuse(p, fault_kind::bulk_copy,
           fmt::format("the mask {:#06x} of a multicast names blocks beyond the cluster's {}", blocks,
                       group.blocks.size()));
  for_lanes(blocks, [&](unsigned rank) {
    block& home = *group.blocks[rank];
    if (has_ended(home)) raise_ended(w, *p.executed, p.lane, home);
    issue(home, home);
  });
}

void store(const performer& p, const transfer_operands& operands, const tensor_map& map,
           const tensor_coordinates& c) {
  reduction combine = nullptr;
  if (operands.reduces) {
    const bool bitwise = operands.reduction == atomic_form::and_ || operands.reduction == atomic_form::or_ ||
                         operands.reduction == atomic_form::xor_;
    combine = reduction_of(operands.reduction, type_of(map.element, bitwise));
    if (combine == nullptr)
      refuse(p, fault_kind::tensor_map, "there is no such reduction of elements of this tensor map's type");
  }
  warp& w = *p.by;
  const memory_location from =
      find_location(w, *p.executed, operands.from, p.lane, 0, shared_alignment, access_kind::read);
  auto task = std::make_unique<tensor_task>(p, map, rows_of(map, c, combine == nullptr), *from.home,
                                            static_cast<u32>(from.address), false, combine);
  task->about.completion = async_completion::bulk_group;
  task->about.group = w.owner->group.async.open_bulk_group(w, p.lane);
  w.owner->group.async.issue(std::move(task));
}

void copy_tensor(warp& w, const instruction& i, u32 mask) {
  const transfer_operands& operands = w.owner->launched.kernel.transfers[i.detail];
  const bool stores = operands.to.space == state_space::generic && !operands.prefetches;
  for_lanes(mask, [&](unsigned lane) {
    const performer p{&w, &i, lane};
    const tensor_map map = map_of(p, operands, stores ? operands.to : operands.from);
    const tensor_coordinates c = coordinates_of(p, operands, stores);
    if (const std::string wrong = problem_of(map, c, stores); !wrong.empty())
      refuse(p, fault_kind::tensor_map, "a tensor copy: " + wrong);
    if (operands.prefetches) return;
    if (stores)
      store(p, operands, map, c);
    else
      load(p, operands, map, c);
  });
}

}  // namespace

handler tensor_handler(const instruction& i) {
  return i.op == operation::tensor_copy ? &copy_tensor : nullptr;
}

}  // namespace kaio::emulator
