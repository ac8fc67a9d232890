#include "emulator/sanitizer/checks/indices.hpp"

#include "emulator/machine/lanes.hpp"
#include "emulator/machine/raise_fault.hpp"

#include <fmt/format.h>

#include <bit>
#include <string>
#include <utility>

namespace kaio::emulator::sanitizing {
namespace {

u64 zero_extended(u32 v) { return v; }
u64 sign_extended(u32 v) { return static_cast<u64>(static_cast<s64>(static_cast<s32>(v))); }

bool is_of_words(const instruction& i) {
  return i.type == ptx::type::u32 || i.type == ptx::type::s32 || i.type == ptx::type::b32;
}
bool is_plain(const instruction& i) { return !i.flags.carry_in && !i.flags.carry_out && !i.flags.sat; }

// The number of operands if the exact result of this operation is checked; 0 otherwise.
unsigned operands_of_product(const instruction& i) {
  if (!is_of_words(i) || !is_plain(i)) return 0;
  switch (i.op) {
    case operation::mul_lo:
    case operation::shl: return 2;
    case operation::mad_lo: return 3;
    default: return 0;
  }
}

u64 result_of(const instruction& i, u64 a, u64 b, u64 c) {
  switch (i.op) {
    case operation::add: return a + b;
    case operation::sub: return a - b;
    case operation::mul_lo: return a * b;
    case operation::mad_lo: return a * b + c;
    case operation::shl: return b < 32 ? a << b : 0;
    default: return a;
  }
}

}  // namespace

index_check::index_check(watched_block& b) : grid_(b.grid), block_(b) { warps_.resize(b.warps); }

void index_check::start() {
  for (registers_of_warp& r : warps_) {
    r.registers.clear();
    r.held = 0;
  }
}

index_check::marks* index_check::at_row(registers_of_warp& r, u32 row) const {
  const u32 number = grid_.uses.register_at(row);
  return number == no_register || r.registers.empty() ? nullptr : &r.registers[number];
}

// `c` changes the marks of a register's lanes in `mask`.
template <class Change>
void index_check::change(registers_of_warp& r, u32 row, u32 mask, Change&& c) {
  if (r.registers.empty()) r.registers.resize(block_.of.launched.kernel.register_rows.size());
  marks* const m = at_row(r, row);
  if (m == nullptr) return;
  const bool had = m->all() != 0;
  m->inexact &= ~mask, m->wrong &= ~mask, m->accepted &= ~mask;
  c(*m);
  if (m->inexact == 0) m->values.reset();
  if (!had && m->all() != 0) ++r.held;
  if (had && m->all() == 0) --r.held;
}

void index_check::clear(registers_of_warp& r, u32 number, u32 mask) {
  marks& m = r.registers[number];
  if ((m.all() & mask) == 0) return;
  m.inexact &= ~mask, m.wrong &= ~mask, m.accepted &= ~mask;
  if (m.all() == 0) --r.held;
}

void index_check::before(const warp& w, const instruction& i, u32 mask) {
  if (mask == 0 || !grid_.reports.wants(check::indices)) return;
  registers_of_warp& r = warps_[w.index];
  if (r.held != 0) {
    compute(w, i, mask);
    return;
  }
  const unsigned operands = operands_of_product(i);
  if (operands == 0) return;
  // Usually nothing wraps.
  const std::byte *const a = w.file + i.from[0], *const b = w.file + i.from[1],
                         *const c = w.file + i.from[operands == 3 ? 2 : 0];
  bool fits = true;
  for_lanes(mask, [&](unsigned lane) {
    const u32 x = get<u32>(a, lane), y = get<u32>(b, lane), z = get<u32>(c, lane);
    const u64 exact = result_of(i, x, y, z);
    const u64 with_sign = i.op == operation::shl
                              ? result_of(i, sign_extended(x), y, z)
                              : result_of(i, sign_extended(x), sign_extended(y), sign_extended(z));
    fits = fits && exact == zero_extended(static_cast<u32>(exact)) &&
           with_sign == sign_extended(static_cast<u32>(exact));
  });
  if (!fits) narrow(w, i, mask, operands);
}

void index_check::compute(const warp& w, const instruction& i, u32 mask) {
  switch (i.op) {
    case operation::ld:
    case operation::st:
    case operation::atom:
    case operation::red:
    case operation::cp_async: {
      registers_of_warp& r = warps_[w.index];
      u32 row = i.from[0];
      u32 bytes = i.from_bytes;
      if (i.op == operation::cp_async) {
        const address_operand& from = block_.of.launched.kernel.transfers[i.detail].from;
        row = from.row, bytes = from.bytes;
      }
      if (bytes == 8)
        if (const marks* const m = at_row(r, row); m != nullptr && (m->wrong & mask) != 0)
          use(w, i, m->wrong & mask, *m);
      break;
    }
    case operation::add:
    case operation::sub:
      if (is_of_words(i) && is_plain(i)) return narrow(w, i, mask, 2);
      break;
    case operation::mul_lo:
    case operation::shl:
    case operation::mad_lo:
      if (const unsigned operands = operands_of_product(i); operands != 0)
        return narrow(w, i, mask, operands);
      break;
    case operation::mul_wide: return widen(w, i, mask, 2, i.type == ptx::type::s32);
    case operation::mad_wide: return widen(w, i, mask, 2, i.type == ptx::type::s32);
    case operation::cvt:
      if (ptx::size_of(i.type) == 8 && (i.source_type == ptx::type::u32 || i.source_type == ptx::type::s32) &&
          !ptx::is_floating(i.type))
        return widen(w, i, mask, 1, i.source_type == ptx::type::s32);
      if (ptx::size_of(i.type) == ptx::size_of(i.source_type) && !ptx::is_floating(i.type) &&
          !ptx::is_floating(i.source_type))
        return copy(w, i, mask, i.from[0]);
      break;
    case operation::mov: return copy(w, i, mask, i.from[0]);
    case operation::selp: {
      const u32 first = condition(w, i, 2);
      copy(w, i, mask & first, i.from[0]);
      return copy(w, i, mask & ~first, i.from[1]);
    }
    case operation::call:
    case operation::ret: {
      registers_of_warp& r = warps_[w.index];
      grid_.uses.for_handed_over(block_.of.launched.kernel, [&](u32 number) { clear(r, number, mask); });
      return;
    }
    default: break;
  }
  follow(w, i, mask);
}

// A 32-bit result, and the exact one.
void index_check::narrow(const warp& w, const instruction& i, u32 mask, unsigned operands) {
  registers_of_warp& r = warps_[w.index];
  const marks* from[3] = {};
  u32 accepted = 0, pc = static_cast<u32>(&i - w.code);
  for (unsigned k = 0; k < operands; ++k) {
    from[k] = at_row(r, i.from[k]);
    if (from[k] == nullptr) continue;
    accepted |= (from[k]->accepted | from[k]->wrong) & mask;
    if ((from[k]->inexact & mask) != 0) pc = from[k]->pc;
  }
  exact_values values;
  u32 inexact = 0;
  for_lanes(mask & ~accepted, [&](unsigned lane) {
    u64 without_sign[3] = {}, with_sign[3] = {};
    for (unsigned k = 0; k < operands; ++k) {
      const u32 v = get<u32>(w.file + i.from[k], lane);
      const bool has_exact = from[k] != nullptr && (from[k]->inexact >> lane & 1) != 0;
      const bool is_shift = i.op == operation::shl && k == 1;
      without_sign[k] = has_exact ? from[k]->values->without_sign[lane] : zero_extended(v);
      with_sign[k] = has_exact ? from[k]->values->with_sign[lane] : is_shift ? v : sign_extended(v);
    }
    if (i.op == operation::shl && without_sign[1] >= 32) {
      accepted |= 1u << lane;
      return;
    }
    u32 operand[3] = {};
    for (unsigned k = 0; k < operands; ++k) operand[k] = get<u32>(w.file + i.from[k], lane);
    const auto result = static_cast<u32>(result_of(i, operand[0], operand[1], operand[2]));
    values.without_sign[lane] = result_of(i, without_sign[0], without_sign[1], without_sign[2]);
    values.with_sign[lane] = result_of(i, with_sign[0], with_sign[1], with_sign[2]);
    if (values.without_sign[lane] != zero_extended(result) || values.with_sign[lane] != sign_extended(result))
      inexact |= 1u << lane;
  });
  if ((inexact | accepted) == 0 && r.held == 0) return;
  change(r, i.to[0], mask, [&](marks& m) {
    m.accepted |= accepted;
    m.inexact |= inexact;
    if (inexact == 0) return;
    m.pc = pc;
    if (m.values == nullptr) m.values = std::make_unique<exact_values>();
    for_lanes(inexact, [&](unsigned lane) {
      m.values->without_sign[lane] = values.without_sign[lane];
      m.values->with_sign[lane] = values.with_sign[lane];
    });
  });
}

// A 64-bit result from `factors` 32-bit operands, and for a multiply-add from[2] of 64 bits.
void index_check::widen(const warp& w, const instruction& i, u32 mask, unsigned factors, bool is_signed) {
  registers_of_warp& r = warps_[w.index];
  u32 accepted = 0, wrong = 0, pc = 0;
  u64 index = 0, exact = 0;
  bool of_signed = is_signed;
  for (unsigned k = 0; k < factors; ++k) {
    const marks* const m = at_row(r, i.from[k]);
    if (m == nullptr || (m->all() & mask) == 0) continue;
    accepted |= (m->accepted | m->wrong) & mask;
    for_lanes(m->inexact & mask, [&](unsigned lane) {
      const u32 v = get<u32>(w.file + i.from[k], lane);
      const u64 wide = is_signed ? sign_extended(v) : zero_extended(v);
      if (wide == m->values->without_sign[lane] || wide == m->values->with_sign[lane]) return;
      const bool is_first = wrong == 0;
      wrong |= 1u << lane;
      if (!is_first) return;
      pc = m->pc, index = wide;
      exact = is_signed ? m->values->with_sign[lane] : m->values->without_sign[lane];
    });
  }
  if (i.op == operation::mad_wide)
    if (const marks* const m = at_row(r, i.from[2]); m != nullptr && (m->all() & mask) != 0) {
      accepted |= m->accepted & mask;
      if (wrong == 0) pc = m->pc, index = m->index, exact = m->exact, of_signed = m->is_signed;
      wrong |= m->wrong & mask;
    }
  wrong &= ~accepted;
  change(r, i.to[0], mask, [&](marks& m) {
    m.accepted |= accepted;
    m.wrong |= wrong;
    if (wrong != 0) m.pc = pc, m.index = index, m.exact = exact, m.is_signed = of_signed;
  });
}

void index_check::copy(const warp& w, const instruction& i, u32 mask, u32 row) {
  registers_of_warp& r = warps_[w.index];
  const marks* const source = at_row(r, row);
  if (source == nullptr || (source->all() & mask) == 0 ||
      grid_.uses.register_at(row) == grid_.uses.register_at(i.to[0])) {
    if (source == nullptr || (source->all() & mask) == 0) change(r, i.to[0], mask, [](marks&) {});
    return;
  }
  const u32 inexact = source->inexact & mask, wrong = source->wrong & mask,
            accepted = source->accepted & mask;
  change(r, i.to[0], mask, [&](marks& m) {
    m.inexact |= inexact, m.wrong |= wrong, m.accepted |= accepted;
    m.pc = source->pc, m.index = source->index, m.exact = source->exact, m.is_signed = source->is_signed;
    if (inexact == 0) return;
    if (m.values == nullptr) m.values = std::make_unique<exact_values>();
    for_lanes(inexact, [&](unsigned lane) {
      m.values->without_sign[lane] = source->values->without_sign[lane];
      m.values->with_sign[lane] = source->values->with_sign[lane];
    });
  });
}

// For all other instructions: 64-bit sums stay wrong, loaded or compared values are new, and the rest is accepted.
void index_check::follow(const warp& w, const instruction& i, u32 mask) {
  registers_of_warp& r = warps_[w.index];
  const usage& u = grid_.uses.of(static_cast<u32>(&i - w.code));
  const u32* const reads = block_.of.launched.kernel.uses.data() + i.uses;
  const u32* const writes = reads + i.reads;
  const bool is_computation = (i.op < operation::ld && i.op != operation::setp) ||
                              i.op == operation::to_generic || i.op == operation::from_generic;
  u32 some = 0, wrong = 0, accepted = 0, pc = 0;
  u64 index = 0, exact = 0;
  bool is_signed = false;
  const auto add = [&](const marks& m, u32 lanes) {
    some |= m.all() & lanes;
    accepted |= (m.accepted | m.inexact) & lanes;
    if ((m.wrong & lanes) != 0) pc = m.pc, index = m.index, exact = m.exact, is_signed = m.is_signed;
    wrong |= m.wrong & lanes;
  };
  if (is_computation) {
    for (u32 k = 0; k < i.reads; ++k)
      if (reads[k] != u.guard) add(r.registers[reads[k]], mask);
  }
  const bool keeps = ptx::size_of(i.type) == 8 && !ptx::is_floating(i.type) &&
                     (i.op == operation::add || i.op == operation::sub || i.op == operation::mul_lo ||
                      i.op == operation::mad_lo || i.op == operation::shl || i.op == operation::to_generic ||
                      i.op == operation::from_generic);
  const bool is_address = i.op == operation::to_generic || i.op == operation::from_generic;
  if (!keeps && !is_address) accepted |= some, wrong = 0;
  wrong &= ~accepted;
  for (u32 k = 0; k < i.writes; ++k) {
    clear(r, writes[k], mask);
    marks& m = r.registers[writes[k]];
    if ((wrong | accepted) == 0) continue;
    if (m.all() == 0) ++r.held;
    m.wrong |= wrong, m.accepted |= accepted;
    if (wrong != 0) m.pc = pc, m.index = index, m.exact = exact, m.is_signed = is_signed;
  }
}

void index_check::use(const warp& w, const instruction& i, u32 lanes, const marks& m) {
  fault_report r;
  r.kind = fault_kind::wrapped_index;
  identify(w, i, static_cast<unsigned>(std::countr_zero(lanes)), r);
  if (!grid_.reports.is_new(check::indices, r.ptx_line)) return;
  const instruction& product = w.code[m.pc];
  const source_place from = source_of(block_.of.launched, product);
  const std::string where = from.file.empty() ? "" : fmt::format(", from {}:{}", from.file, from.line);
  const auto number = [&](u64 v) {
    return m.is_signed ? fmt::format("{}", static_cast<s64>(v)) : fmt::format("{}", v);
  };
  r.detail = fmt::format(
      "the address of an access comes from an index of 32 bits that wrapped: it is {} in place of {}, from the product at PTX line {}: {}{}",
      number(m.index), number(m.exact), product.line, text_of(block_.of.launched, product), where);
  r.advice = "compute the index in 64 bits: cast<u64>(row) * cast<u64>(pitch) + cast<u64>(column)";
  grid_.reports.report(check::indices, std::move(r));
}

}  // namespace kaio::emulator::sanitizing
