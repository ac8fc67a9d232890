#include "ops/distributed/peer/products.hpp"

#include <kaio/runtime/copy.hpp>

#include "ops/distributed/peer/kernels.hpp"

namespace kaio::ops::detail {

part_layout part_layout::of(const any_view& like, element_kind type) {
  const std::uint32_t element = type == element_kind::other ? like.element_bytes() : bytes_of(type);
  const std::uint64_t row = (static_cast<std::uint64_t>(like.extents[1]) * element + 15) / 16 * 16;
  return {element, row, (static_cast<std::uint64_t>(like.extents[0]) * row + 255) / 256 * 256};
}

void product_call::check(std::string_view operation, const peer_memory& m, std::uint64_t takes) {
  if (takes > m.options.product_bytes)
    refuse_collective(operation, "the workspace has product_bytes of " +
                                     std::to_string(m.options.product_bytes) + "; " + std::to_string(takes) +
                                     " are needed");
}

product_call::product_call(peer_memory& m, const stream& s)
    : m_(m), s_(s), half_(static_cast<std::uint32_t>(m.products++ & 1)) {
  peer_signal_problem p = signal();
  p.advance = 1;
  p.words = m_.words.done(half_);
  p.first = static_cast<u32>(after(1));
  p.count = static_cast<u32>(ranks() - 1);
  p.lag = 1;
  launch_peer_signal(s_, p);
}

peer_signal_problem product_call::signal() const {
  peer_signal_problem p{};
  p.peers = m_.table();
  p.counter = m_.words.product_counter(half_);
  return p;
}

any_view product_call::part(int rank, int slot, const any_view& like, element_kind type) const {
  const part_layout layout = part_layout::of(like, type);
  const auto memory = m_.memory.pointer(rank);
  any_view v = like;
  v.type = type;
  v.address = memory.address + 2 * m_.sum_half + half_ * m_.product_half +
              static_cast<std::uint64_t>(slot) * layout.bytes;
  v.bytes = static_cast<std::uint64_t>(like.extents[0]) * layout.row_bytes;
  v.device = memory.device;
  v.strides[0] = static_cast<std::int64_t>(layout.row_bytes / layout.element_bytes);
  v.strides[1] = 1;
  return v;
}

void product_call::allow_copies() const {
  s_.record(m_.ready);
  m_.copies.wait(m_.ready);
}

void product_call::send(int to, const any_view& part, const any_view& from) const {
  const std::uint32_t element = from.element_bytes();
  const auto lines = [&](const any_view& v) {
    return runtime::pitched<u8>{{v.address, static_cast<std::size_t>(v.bytes), v.device},
                                static_cast<std::size_t>(v.strides[0]) * element};
  };
  const std::size_t width = static_cast<std::size_t>(from.extents[1]) * element,
                    rows = static_cast<std::size_t>(from.extents[0]);
  if (lines(from).pitch == width && lines(part).pitch == width)
    copy(m_.copies, runtime::device_pointer<u8>{part.address, width * rows, part.device},
         runtime::device_pointer<u8>{from.address, width * rows, from.device});
  else
    runtime::copy_rows(m_.copies, lines(part), lines(from), width, rows);
  const auto word = [&](int rank, std::uint32_t index) {
    const auto signals = m_.memory.signals(rank);
    return runtime::device_pointer<u32>{signals.address + index * sizeof(u32), 1, signals.device};
  };
  copy(m_.copies, word(to, m_.words.arrived(half_) + static_cast<std::uint32_t>(rank())),
       word(rank(), m_.words.product_counter(half_)));
}

void product_call::wait(int first, int count) const {
  if (count == 0) return;
  peer_signal_problem p = signal();
  p.words = m_.words.arrived(half_);
  p.first = static_cast<u32>(first);
  p.count = static_cast<u32>(count);
  launch_peer_signal(s_, p);
}

peer_arrivals product_call::arrivals() const {
  return {m_.table(), m_.words.product_counter(half_), m_.words.arrived(half_)};
}

void product_call::end(int arrived) const {
  if (ranks() > 1) {
    m_.copies.record(m_.sent);
    s_.wait(m_.sent);
  }
  peer_signal_problem p = signal();
  p.peers.limit = 0;
  p.words = m_.words.arrived(half_);
  p.first = static_cast<u32>(after(1));
  p.count = static_cast<u32>(arrived);
  p.publishes = 1;
  p.publish = m_.words.done(half_) + static_cast<u32>(rank());
  launch_peer_signal(s_, p);
}

}  // namespace kaio::ops::detail
