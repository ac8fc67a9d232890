// Comparison of f16 and bf16 (PTX ISA, "Half Precision Comparison Instructions"). A pair has two outcomes:
// setp writes each to its own predicate, set to its half of the destination.

#include "emulator/instructions/execute.hpp"
#include "emulator/machine/lanes.hpp"
#include "emulator/program/half.hpp"

namespace kaio::emulator {
namespace {

// Each lane is in one of these masks, or in none if the first operand is greater.
struct relations {
  u32 less = 0, equal = 0, unordered = 0;
};

u32 outcome(comparison compare, const relations& r) {
  const u32 ordered = ~r.unordered;
  switch (compare) {
    case comparison::eq: return r.equal;
    case comparison::ne: return ordered & ~r.equal;
    case comparison::lt: return r.less;
    case comparison::le: return r.less | r.equal;
    case comparison::gt: return ordered & ~(r.less | r.equal);
    case comparison::ge: return ordered & ~r.less;
    case comparison::equ: return r.unordered | r.equal;
    case comparison::neu: return ~r.equal;
    case comparison::ltu: return r.unordered | r.less;
    case comparison::leu: return r.unordered | r.less | r.equal;
    case comparison::gtu: return ~(r.less | r.equal);
    case comparison::geu: return ~r.less;
    case comparison::num: return ordered;
    default: return r.unordered;
  }
}

// Element `part` of every lane of the sources.
template <class Half, bool Ftz, unsigned Elements>
u32 compared(const warp& w, const instruction& i, unsigned part) {
  u8 less[warp_lanes], equal[warp_lanes], unordered[warp_lanes];
  const std::byte* const first = w.file + i.from[0];
  const std::byte* const second = w.file + i.from[1];
  for (unsigned lane = 0; lane < warp_lanes; ++lane) {
    const Half x = get<Half>(first, lane * Elements + part), y = get<Half>(second, lane * Elements + part);
    const f32 a = single_of(Ftz ? flushed(x) : x), b = single_of(Ftz ? flushed(y) : y);
    less[lane] = a < b ? u8{1} : u8{0};
    equal[lane] = a == b ? u8{1} : u8{0};
    unordered[lane] = is_nan(x) || is_nan(y) ? u8{1} : u8{0};
  }
  return combined(w, i, outcome(i.compare, {pack_bits(less), pack_bits(equal), pack_bits(unordered)}));
}

template <class Half, bool Ftz, unsigned Elements>
void set_predicates(warp& w, const instruction& i, u32 mask) {
  const u32 p = compared<Half, Ftz, Elements>(w, i, 0);
  const u32 q = Elements == 2 && i.flags.has_second ? compared<Half, Ftz, Elements>(w, i, 1) : 0;
  put_mask(w, i.to[0], p, mask);
  if (i.flags.has_second) put_mask(w, i.to[1], q, mask);
}

u32 truth(ptx::type type) {
  switch (type) {
    case ptx::type::f16:
    case ptx::type::f16x2: return 0x3c00;
    case ptx::type::bf16:
    case ptx::type::bf16x2: return 0x3f80;
    default: return 0xffffffff;
  }
}

template <class Half, bool Ftz, unsigned Elements>
void set_values(warp& w, const instruction& i, u32 mask) {
  std::byte* const to = w.file + i.to[0];
  const u32 yes = truth(i.type);
  const u32 low = compared<Half, Ftz, Elements>(w, i, 0);
  const u32 high = Elements == 2 ? compared<Half, Ftz, Elements>(w, i, Elements - 1) : 0;
  for_lanes(mask, [&](unsigned lane) {
    const u32 first = (low >> lane & 1) != 0 ? yes : 0;
    const u32 second = (high >> lane & 1) != 0 ? yes : 0;
    if constexpr (Elements == 2)
      put(to, lane, (first & 0xffff) | second << 16);
    else if (i.to_bytes == 2)
      put(to, lane, static_cast<u16>(first));
    else
      put(to, lane, first);
  });
}

template <class Half, bool Ftz, unsigned Elements>
handler consumer(const instruction& i) {
  return i.op == operation::setp ? &set_predicates<Half, Ftz, Elements> : &set_values<Half, Ftz, Elements>;
}

}  // namespace

handler half_compare_handler(const instruction& i) {
  if (i.op != operation::setp && i.op != operation::set) return nullptr;
  switch (i.op == operation::setp ? i.type : i.source_type) {
    case ptx::type::f16: return i.flags.ftz ? consumer<f16, true, 1>(i) : consumer<f16, false, 1>(i);
    case ptx::type::f16x2: return i.flags.ftz ? consumer<f16, true, 2>(i) : consumer<f16, false, 2>(i);
    case ptx::type::bf16: return consumer<bf16, false, 1>(i);
    case ptx::type::bf16x2: return consumer<bf16, false, 2>(i);
    default: return nullptr;
  }
}

}  // namespace kaio::emulator
