// Decodes moves (with special registers, symbols, packing and unpacking) and conversions.

#include "runtime/emulator/decode_half.hpp"

#include <fmt/format.h>

#include <optional>

namespace kaio::runtime::emulator {
namespace {

using enum ptx::type;

struct special_name {
  std::string_view name;
  special_form form;
  unsigned bytes;
  bool vector;  // .x .y .z follow
};

constexpr special_name specials[] = {
    {"%tid", special_form::tid_x, 4, true},
    {"%ntid", special_form::ntid_x, 4, true},
    {"%ctaid", special_form::ctaid_x, 4, true},
    {"%nctaid", special_form::nctaid_x, 4, true},
    {"%laneid", special_form::laneid, 4, false},
    {"%warpid", special_form::warpid, 4, false},
    {"%nwarpid", special_form::nwarpid, 4, false},
    {"%smid", special_form::smid, 4, false},
    {"%nsmid", special_form::nsmid, 4, false},
    {"%gridid", special_form::gridid, 8, false},
    {"%lanemask_eq", special_form::lanemask_eq, 4, false},
    {"%lanemask_le", special_form::lanemask_le, 4, false},
    {"%lanemask_lt", special_form::lanemask_lt, 4, false},
    {"%lanemask_ge", special_form::lanemask_ge, 4, false},
    {"%lanemask_gt", special_form::lanemask_gt, 4, false},
    {"%dynamic_smem_size", special_form::dynamic_smem_size, 4, false},
    {"%total_smem_size", special_form::total_smem_size, 4, false},
    {"%clusterid", special_form::clusterid_x, 4, true},
    {"%nclusterid", special_form::nclusterid_x, 4, true},
    {"%cluster_ctaid", special_form::cluster_ctaid_x, 4, true},
    {"%cluster_nctaid", special_form::cluster_nctaid_x, 4, true},
    {"%cluster_ctarank", special_form::cluster_ctarank, 4, false},
    {"%cluster_nctarank", special_form::cluster_nctarank, 4, false},
    {"%clock", special_form::clock, 4, false},
    {"%clock_hi", special_form::clock_hi, 4, false},
    {"%clock64", special_form::clock64, 8, false},
    {"%globaltimer", special_form::globaltimer, 8, false},
    {"%globaltimer_lo", special_form::globaltimer_lo, 4, false},
    {"%globaltimer_hi", special_form::globaltimer_hi, 4, false},
};

struct special_use {
  special_form form;
  unsigned bytes;
};

// The special register that an operand names; nothing if it names something else.
std::optional<special_use> special_operand(form& f, const syntax::operand& o) {
  if (o.kind != syntax::operand_kind::name || !o.name.starts_with('%') || o.negated || o.has_offset)
    return {};
  if (f.function.find(o.name) != nullptr) return {};
  if (o.name.starts_with("%envreg")) return special_use{special_form::zero, 4};
  for (const special_name& s : specials) {
    if (s.name != o.name) continue;
    if (s.vector != !o.member.empty())
      f.fail(o.at, s.vector ? fmt::format("'{}' needs .x, .y or .z", o.name)
                            : fmt::format("'{}' has no '{}'", o.name, o.member));
    if (!s.vector) return special_use{s.form, s.bytes};
    if (o.member == ".w") return special_use{special_form::zero, 4};
    constexpr std::string_view axes[] = {".x", ".y", ".z"};
    for (unsigned axis = 0; axis < 3; ++axis)
      if (axes[axis] == o.member)
        return special_use{static_cast<special_form>(static_cast<unsigned>(s.form) + axis), s.bytes};
    f.fail(o.at, fmt::format("'{}' has no '{}'", o.name, o.member));
  }
  return {};
}

void move_special(form& f, const special_use& special) {
  const unsigned width = ptx::size_of(f.type(0));
  const bool narrow =
      width == 2 && special.bytes == 4 && special.form <= special_form::nctaid_z;  // as in PTX 1.x
  const bool gridid = special.form == special_form::gridid && width == 4;
  if (ptx::is_floating(f.type(0)) || (width != special.bytes && !narrow && !gridid))
    f.fail(f.operand(1).at, fmt::format("'{}' has {} bits; '{}' moves {}", f.operand(1).name,
                                        special.bytes * 8, f.name(), ptx::suffix(f.type(0))));
  f.destination(0, 0, f.type(0));
  if (special.form < special_form::clock) {
    f.out.from[0] = f.function.special_row_of(special.form, width);
    f.emit(operation::mov);
    return;
  }
  f.out.form = static_cast<std::uint8_t>(special.form);
  f.emit(operation::read_special);
}

// The register rows of a vector operand, all of one width that divides the type's.
unsigned vector_width(form& f, const syntax::operand& o) {
  const std::size_t n = o.elements.size();
  if (n != 2 && n != 4)
    f.fail(o.at, fmt::format("a vector of '{}' has 2 or 4 elements, not {}", f.name(), n));
  const unsigned total = ptx::size_of(f.type(0));
  if (total < n) f.fail(o.at, fmt::format("'{}' has too many elements", f.name()));
  return total / static_cast<unsigned>(n);
}

ptx::type bits_type(unsigned bytes) { return bytes == 1 ? b8 : bytes == 2 ? b16 : bytes == 4 ? b32 : b64; }

void move_vector(form& f, bool pack) {
  f.allow(f.type(0), {b16, b32, b64, b128});
  const syntax::operand& vector = f.operand(pack ? 1 : 0);
  const ptx::type element = bits_type(vector_width(f, vector));
  f.out.count = static_cast<std::uint8_t>(vector.elements.size());
  f.out.source_type = element;
  for (std::size_t i = 0; i < vector.elements.size(); ++i) {
    const syntax::operand& e = vector.elements[i];
    if (pack)
      f.out.from[i] = f.source_row(e, element, false, nullptr);
    else if (e.kind == syntax::operand_kind::sink)
      f.out.to[i] = f.function.trash_row();
    else
      f.out.to[i] = f.destination_row(e, element, false, nullptr);
  }
  bool all_sinks = true;
  for (const syntax::operand& e : vector.elements)
    all_sinks = all_sinks && e.kind == syntax::operand_kind::sink;
  if (all_sinks) f.fail(vector.at, fmt::format("'{}' writes nothing", f.name()));
  if (pack)
    f.destination(0, 0, f.type(0));
  else
    f.source(0, 1, f.type(0));
  f.emit(pack ? operation::pack : operation::unpack);
}

// The address of a variable as a value.
void move_symbol(form& f, const syntax::operand& o, const symbol& s) {
  const unsigned width = ptx::size_of(f.type(0));
  if (ptx::is_floating(f.type(0)) || width < 4)
    f.fail(o.at, fmt::format("'{}' does not hold an address", f.name()));
  if (s.kind == symbol_kind::variable) {
    if (width != 8) f.fail(o.at, fmt::format("the address of '{}' has 64 bits", o.name));
    f.out.from[0] = f.function.address_row(static_cast<std::uint32_t>(s.value), o.offset, false);
  } else {
    const std::uint64_t value = s.value + o.offset;
    f.out.from[0] = f.function.constant_row(width, width == 4 ? value & 0xffffffff : value);
  }
  f.emit(operation::mov);
}

void decode_mov(form& f) {
  f.types(1);
  f.allow(f.type(0), {pred, b16, b32, b64, b128, u16, u32, u64, s16, s32, s64, f32, f64});
  f.arity(2);
  const syntax::operand& to = f.operand(0);
  const syntax::operand& from = f.operand(1);
  if (to.kind == syntax::operand_kind::vector) return move_vector(f, false);
  if (from.kind == syntax::operand_kind::vector) return move_vector(f, true);
  if (f.type(0) == pred) {
    bool negated = false;
    f.out.to[0] = f.predicate_row(to);
    f.out.from[0] = f.condition_row(from, negated);
    f.emit(negated ? operation::not_ : operation::mov);
    return;
  }
  if (const auto special = special_operand(f, from)) return move_special(f, *special);
  f.destination(0, 0, f.type(0));
  if (from.kind == syntax::operand_kind::name && from.member.empty() && !from.negated) {
    const symbol* s = f.function.find(from.name);
    if (s != nullptr && s->kind != symbol_kind::reg) return move_symbol(f, from, *s);
  }
  f.source(0, 1, f.type(0));
  f.emit(operation::mov);
}

void conversion_rounding(form& f, ptx::type to, ptx::type from) {
  constexpr rounding modes[] = {rounding::rn,  rounding::rz,  rounding::rm,  rounding::rp,
                                rounding::rni, rounding::rzi, rounding::rmi, rounding::rpi};
  const int i = f.accept_one({".rn", ".rz", ".rm", ".rp", ".rni", ".rzi", ".rmi", ".rpi"});
  if (i >= 0) f.out.round = modes[i];
  const bool to_float = ptx::is_floating(to), from_float = ptx::is_floating(from);
  const bool real_mode = i >= 0 && i < 4, integer_mode = i >= 4;
  if (to_float && !from_float) {
    if (i < 0) f.fail(fmt::format("'{}' needs a rounding modifier: one of .rn, .rz, .rm, .rp", f.name()));
    if (!real_mode)
      f.fail(fmt::format("'{}': a conversion to floating point rounds with .rn, .rz, .rm or .rp", f.name()));
  } else if (!to_float && from_float) {
    if (i < 0) f.fail(fmt::format("'{}' needs a rounding modifier: one of .rni, .rzi, .rmi, .rpi", f.name()));
    if (!integer_mode)
      f.fail(fmt::format("'{}': a conversion to an integer rounds with .rni, .rzi, .rmi or .rpi", f.name()));
  } else if (to == f32 && from == f64) {
    if (i < 0) f.fail(fmt::format("'{}' needs a rounding modifier: one of .rn, .rz, .rm, .rp", f.name()));
    if (!real_mode) f.fail(fmt::format("'{}': this conversion rounds with .rn, .rz, .rm or .rp", f.name()));
  } else if (to == from && to_float) {
    if (real_mode)
      f.fail(fmt::format("'{}': to an integral value one rounds with .rni, .rzi, .rmi or .rpi", f.name()));
  } else if (i >= 0) {
    f.fail(fmt::format("'{}' is exact and takes no rounding modifier", f.name()));
  }
}

// Every value of `from` is one of `to`: there is nothing to saturate.
bool holds_all_of(ptx::type to, ptx::type from) {
  const unsigned wide = ptx::size_of(to), narrow = ptx::size_of(from);
  return ptx::is_signed(to) == ptx::is_signed(from) ? wide >= narrow : ptx::is_signed(to) && wide > narrow;
}

void decode_cvt(form& f) {
  if (decode_special_conversion(f)) return;
  f.types(2);
  if (ptx::is_half(f.type(0)) || ptx::is_half(f.type(1))) return decode_half_conversion(f);
  for (std::size_t i = 0; i < 2; ++i) f.allow(f.type(i), {u8, u16, u32, u64, s8, s16, s32, s64, f32, f64});
  const ptx::type to = f.type(0), from = f.type(1);
  conversion_rounding(f, to, from);
  if (f.accept(".ftz")) {
    if (to != f32 && from != f32) f.fail(fmt::format("'{}': .ftz is for .f32 only", f.name()));
    f.out.flags.ftz = true;
  }
  f.sat_modifier();
  if (f.out.flags.sat && ptx::is_integer(to) && ptx::is_integer(from) && holds_all_of(to, from))
    f.fail(fmt::format("'{}': .sat has nothing to do; {} holds every {}", f.name(), ptx::suffix(to),
                       ptx::suffix(from)));
  f.arity(2);
  f.out.to[0] = f.destination_row(f.operand(0), to, true, &f.out.to_bytes);
  if (const auto special = special_operand(f, f.operand(1))) {
    if (special->form >= special_form::clock || special->bytes != ptx::size_of(from) ||
        ptx::is_floating(from))
      f.fail(f.operand(1).at, fmt::format("move '{}' to a register first", f.operand(1).name));
    f.out.from[0] = f.function.special_row_of(special->form, special->bytes);
    f.out.from_bytes = static_cast<std::uint8_t>(special->bytes);
  } else {
    f.out.from[0] = f.source_row(f.operand(1), from, true, &f.out.from_bytes);
  }
  f.emit(operation::cvt);
}

constexpr opcode_row rows[] = {{"mov", decode_mov}, {"cvt", decode_cvt}};

}  // namespace

std::span<const opcode_row> convert_opcodes() { return rows; }

}  // namespace kaio::runtime::emulator
