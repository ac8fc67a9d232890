#include "emulator/decode/instruction_decoder.hpp"

#include "emulator/parse/parser_state.hpp"
#include "emulator/program/unsupported.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>

namespace kaio::emulator {
namespace {

bool is_bits(ptx::type t) { return t >= ptx::type::b8 && t <= ptx::type::b128; }

std::string mismatch(std::string_view operand, std::string_view instruction, ptx::type wanted,
                     std::string_view found) {
  return fmt::format("'{}' is {}; '{}' takes {} here", operand, found, instruction, ptx::suffix(wanted));
}

}  // namespace

bool compatible(ptx::type instruction_type, ptx::type register_type, bool wider) {
  if (instruction_type == ptx::type::pred || register_type == ptx::type::pred)
    return instruction_type == register_type;
  const unsigned wanted = ptx::size_of(instruction_type), have = ptx::size_of(register_type);
  if (have == wanted) {
    if (is_bits(instruction_type) || is_bits(register_type)) return true;
    if (ptx::is_integer(instruction_type))
      return ptx::is_integer(register_type) || register_type == ptx::type::f16x2;  // ptxas accepts the same
    return instruction_type == register_type;
  }
  if (!wider || have < wanted) return false;
  return is_bits(instruction_type) || is_bits(register_type) ||
         (ptx::is_integer(instruction_type) &&
          (ptx::is_integer(register_type) || register_type == ptx::type::f16x2));
}

instruction_decoder::instruction_decoder(function_decoder& f, const syntax::instruction& t)
    : function(f), text(t) {
  out.line = text.at.line;
  out.guard = f.always_row();
  for (const syntax::operand& o : text.operands) no_minus(o);
  if (!text.guard.empty()) {
    const symbol* s = f.find(text.guard);
    if (s == nullptr) fail(text.guard_at, fmt::format("'{}' is not declared", text.guard));
    if (s->kind != symbol_kind::reg || s->type != ptx::type::pred)
      fail(text.guard_at, fmt::format("'{}' is not a predicate", text.guard));
    out.guard = static_cast<u32>(s->value);
    reads_.push_back(out.guard);
    out.guard_inverted = text.guard_negated ? all_lanes : 0;
  }
}

void instruction_decoder::no_minus(const syntax::operand& o) const {
  if (o.minus && text.opcode != "vmad")
    fail(o.at, fmt::format("'{}': '-' is allowed before a source of vmad only", text.opcode));
  for (const syntax::operand& e : o.elements) no_minus(e);
}

std::string instruction_decoder::name() const {
  std::string result(text.opcode);
  for (const syntax::modifier& m : text.modifiers) result += m.text;
  return result;
}

void instruction_decoder::fail_newer(const place& at, std::string_view form, ptx::target first) const {
  fail(at, reason_newer(form, first, function.module().text.target));
}

// ---- modifiers ----

bool instruction_decoder::accept(std::string_view modifier) {
  bool found = false;
  for (std::size_t i = 0; i < text.modifiers.size(); ++i) {
    if (text.modifiers[i].text != modifier || (used_ >> i & 1) != 0) continue;
    if (found) fail(text.modifiers[i].at, fmt::format("'{}' is given twice", modifier));
    used_ |= u64{1} << i;
    found = true;
  }
  return found;
}

int instruction_decoder::accept_one(std::initializer_list<std::string_view> from) {
  int found = -1, i = 0;
  for (std::string_view modifier : from) {
    if (accept(modifier)) {
      if (found >= 0)
        fail(fmt::format("'{}' and '{}' exclude each other", *(from.begin() + found), modifier));
      found = i;
    }
    ++i;
  }
  return found;
}

int instruction_decoder::need_one(std::initializer_list<std::string_view> from, std::string_view what) {
  const int found = accept_one(from);
  if (found < 0) {
    std::string list;
    for (std::string_view modifier : from) list += fmt::format("{}{}", list.empty() ? "" : ", ", modifier);
    fail(fmt::format("'{}' needs {}: one of {}", name(), what, list));
  }
  return found;
}

int instruction_decoder::need_first(std::initializer_list<std::string_view> from, std::string_view what) {
  const int found = need_one(from, what);
  const std::string_view modifier = *(from.begin() + found);
  if (text.modifiers.front().text != modifier)
    fail(fmt::format("'{}': '{}' must directly follow '{}'", name(), modifier, text.opcode));
  return found;
}

std::vector<std::string_view> instruction_decoder::accept_all(std::initializer_list<std::string_view> from) {
  std::vector<std::string_view> found;
  for (std::size_t i = 0; i < text.modifiers.size(); ++i) {
    const std::string_view m = text.modifiers[i].text;
    if ((used_ >> i & 1) != 0 || std::find(from.begin(), from.end(), m) == from.end()) continue;
    used_ |= u64{1} << i;
    found.push_back(m);
  }
  return found;
}

void instruction_decoder::types(std::size_t least, std::size_t most) {
  types_read_ = true;
  for (std::size_t i = 0; i < text.modifiers.size(); ++i) {
    const ptx::type t = scalar_type(text.modifiers[i].text);
    if (t == ptx::type::none || (used_ >> i & 1) != 0) continue;
    if (type_count_ == most) fail(text.modifiers[i].at, fmt::format("'{}' has too many types", name()));
    types_[type_count_++] = t;
    used_ |= u64{1} << i;
  }
  for (const syntax::modifier& m : text.modifiers)
    if (m.text == ".u8x4" || m.text == ".s8x4") fail_newer(m.at, name(), {107, true});
  if (type_count_ < least) fail(fmt::format("'{}' needs {} type{}", name(), least, least == 1 ? "" : "s"));
  if (type_count_ > 0) out.type = types_[0];
  if (type_count_ > 1) out.source_type = types_[1];
}

void instruction_decoder::allow(ptx::type type, std::initializer_list<ptx::type> allowed) {
  if (std::find(allowed.begin(), allowed.end(), type) != allowed.end()) return;
  fail(fmt::format("'{}' has no form of type {}", text.opcode, ptx::suffix(type)));
}

void instruction_decoder::rounding_modifier(bool required) {
  constexpr rounding modes[] = {rounding::rn, rounding::rz, rounding::rm, rounding::rp};
  const int i = accept_one({".rn", ".rz", ".rm", ".rp"});
  if (i >= 0)
    out.round = modes[i];
  else if (required)
    fail(fmt::format("'{}' needs a rounding modifier: one of .rn, .rz, .rm, .rp", name()));
}

void instruction_decoder::ftz_modifier(ptx::type type) {
  // GPUs of sm_1x had no subnormal numbers of single precision; ptxas makes .FTZ instructions of their texts.
  if (type == ptx::type::f32 && function.module().text.target.sm < 20) out.flags.ftz = true;
  if (!accept(".ftz")) return;
  if (type != ptx::type::f32 && type != ptx::type::f16 && type != ptx::type::f16x2)
    fail(fmt::format("'{}': .ftz is for .f32, .f16 and .f16x2 only", name()));
  out.flags.ftz = true;
}

void instruction_decoder::finish_modifiers() {
  if (!types_read_) types(0, 0);
  for (std::size_t i = 0; i < text.modifiers.size(); ++i)
    if ((used_ >> i & 1) == 0)
      fail(text.modifiers[i].at,
           fmt::format("'{}' does not take the modifier '{}'", text.opcode, text.modifiers[i].text));
}

state_space instruction_decoder::space_modifier() {
  struct choice {
    std::string_view text;
    state_space space;
  };
  constexpr choice choices[] = {
      {".global", state_space::global},      {".shared", state_space::shared},
      {".shared::cta", state_space::shared}, {".local", state_space::local},
      {".const", state_space::constant},     {".param", state_space::param},
      {".param::entry", state_space::param}, {".param::func", state_space::param},
  };
  state_space found = state_space::generic;
  if (accept(".shared::cluster")) {
    require("scope.cluster", ".shared::cluster");
    found = state_space::shared;
    out.flags.cluster = true;
  }
  for (const choice& c : choices) {
    if (!accept(c.text)) continue;
    if (found != state_space::generic) fail(fmt::format("'{}' names two state spaces", name()));
    found = c.space;
    if (c.text == ".shared::cta") require("shared::cta", c.text);
    if (c.text.starts_with(".param::")) require("param::entry", c.text);
  }
  return found;
}

// ---- operands ----

void instruction_decoder::arity(std::size_t least, std::size_t most) {
  const std::size_t have = text.operands.size();
  if (have >= least && have <= most) return;
  fail(least == most
           ? fmt::format("'{}' takes {} operand{}, not {}", name(), least, least == 1 ? "" : "s", have)
           : fmt::format("'{}' takes {} to {} operands, not {}", name(), least, most, have));
}

const symbol& instruction_decoder::register_symbol(const syntax::operand& o) const {
  if (!o.member.empty()) {
    if (const symbol* element = function.find_element(o.name, o.member)) return *element;
    const symbol* const whole = function.find(o.name);
    fail(o.at, fmt::format(
                   "'{}{}': {}", o.name, o.member,
                   whole != nullptr && whole->kind == symbol_kind::vector_reg
                       ? fmt::format("the vector has the elements .x to .{}", "xyzw"[whole->count - 1])
                   : whole == nullptr && o.name.starts_with('%') ? "special registers are read by 'mov' only"
                                                                 : "only vector registers have elements"));
  }
  const symbol* s = function.find(o.name);
  if (s == nullptr) fail(o.at, fmt::format("'{}' is not declared", o.name));
  if (s->kind != symbol_kind::reg || o.has_offset)
    fail(o.at, fmt::format("'{}' needs a register or a constant here, not the symbol '{}'", name(), o.name));
  return *s;
}

void instruction_decoder::destination(std::size_t slot, std::size_t operand_index, ptx::type type) {
  out.to[slot] = destination_row(operand(operand_index), type, false, slot == 0 ? &out.to_bytes : nullptr);
}

void instruction_decoder::source(std::size_t slot, std::size_t operand_index, ptx::type type) {
  out.from[slot] = source_row(operand(operand_index), type, false, slot == 0 ? &out.from_bytes : nullptr);
}

void instruction_decoder::word_destination(std::size_t slot, std::size_t operand_index, ptx::type type) {
  const syntax::operand& o = operand(operand_index);
  if (o.kind == syntax::operand_kind::name && !o.negated && ptx::is_floating(register_symbol(o).type))
    fail(o.at, mismatch(o.name, name(), type, ptx::suffix(register_symbol(o).type)));
  destination(slot, operand_index, type);
}

void instruction_decoder::word_source(std::size_t slot, std::size_t operand_index, ptx::type type) {
  const syntax::operand& o = operand(operand_index);
  if (o.kind == syntax::operand_kind::name && !o.negated && !is_sum(o) &&
      ptx::is_floating(register_symbol(o).type))
    fail(o.at, mismatch(o.name, name(), type, ptx::suffix(register_symbol(o).type)));
  if (o.kind == syntax::operand_kind::real)
    fail(o.at, fmt::format("'{}' takes an integer constant here", name()));
  source(slot, operand_index, type);
}

void instruction_decoder::bit_position(std::size_t slot, std::size_t operand_index) {
  const syntax::operand& o = operand(operand_index);
  if (o.kind == syntax::operand_kind::integer && o.bits > 255)
    fail(o.at, fmt::format("'{}': {} is out of range; positions and lengths are 0 to 255", name(),
                           static_cast<s64>(o.bits)));
  word_source(slot, operand_index, ptx::type::u32);
}

void instruction_decoder::bits_register(const syntax::operand& o, ptx::type bits, ptx::type other) const {
  if (o.kind != syntax::operand_kind::name || o.negated)
    fail(o.at, fmt::format("'{}' takes a {} register here", name(), ptx::suffix(bits)));
  const ptx::type have = register_symbol(o).type;
  if (have != bits && (have != other || other == ptx::type::none))
    fail(o.at, mismatch(o.name, name(), bits, ptx::suffix(have)));
}

void instruction_decoder::bits_destination(std::size_t slot, std::size_t operand_index, ptx::type bits,
                                           ptx::type other) {
  bits_register(operand(operand_index), bits, other);
  destination(slot, operand_index, bits);
}

void instruction_decoder::bits_source(std::size_t slot, std::size_t operand_index, ptx::type bits,
                                      ptx::type other) {
  bits_register(operand(operand_index), bits, other);
  source(slot, operand_index, bits);
}

u32 instruction_decoder::destination_row(const syntax::operand& o, ptx::type type, bool wider, u8* bytes) {
  if (o.kind != syntax::operand_kind::name || o.negated)
    fail(o.at, fmt::format("the destination of '{}' is a register", name()));
  const symbol& s = register_symbol(o);
  if (!compatible(type, s.type, wider)) fail(o.at, mismatch(o.name, name(), type, ptx::suffix(s.type)));
  if (bytes != nullptr) *bytes = static_cast<u8>(ptx::size_of(s.type));
  writes_.push_back(static_cast<u32>(s.value));
  return static_cast<u32>(s.value);
}

u32 instruction_decoder::source_row(const syntax::operand& o, ptx::type type, bool wider, u8* bytes) {
  const unsigned size = ptx::size_of(type);
  if (bytes != nullptr) *bytes = static_cast<u8>(size);
  if (ptx::is_half(type) && o.kind != syntax::operand_kind::name)
    fail(o.at, fmt::format("'{}' takes a register here; there are no constants of type {}", name(),
                           ptx::suffix(type)));
  switch (o.kind) {
    case syntax::operand_kind::name: {
      if (o.negated) fail(o.at, "'!' is allowed before a predicate only");
      if (is_sum(o)) return sum_row(o, type, wider, bytes);
      const symbol& s = register_symbol(o);
      if (!compatible(type, s.type, wider)) fail(o.at, mismatch(o.name, name(), type, ptx::suffix(s.type)));
      if (bytes != nullptr) *bytes = static_cast<u8>(ptx::size_of(s.type));
      reads_.push_back(static_cast<u32>(s.value));
      return static_cast<u32>(s.value);
    }
    case syntax::operand_kind::integer: {
      if (ptx::is_floating(type))
        fail(o.at,
             fmt::format("'{}' takes a floating-point constant here, such as 0f3F800000 or 1.0", name()));
      if (type == ptx::type::pred) fail(o.at, fmt::format("'{}' takes a predicate here", name()));
      if (size == 16) return function.constant_row(16, o.bits, static_cast<s64>(o.bits) < 0 ? ~u64{0} : 0);
      return function.constant_row(size, size == 8 ? o.bits : o.bits & ((u64{1} << size * 8) - 1));
    }
    case syntax::operand_kind::real: {
      if (type != ptx::type::f32 && type != ptx::type::f64 && (!is_bits(type) || size != o.real_bytes))
        fail(o.at,
             fmt::format("'{}' takes an integer constant here, or a 0f or 0d constant of its width", name()));
      if (size == 4) {
        const u32 bits = o.real_bytes == 4
                             ? static_cast<u32>(o.bits)
                             : std::bit_cast<u32>(static_cast<float>(std::bit_cast<double>(o.bits)));
        return function.constant_row(4, bits);
      }
      if (size == 8) {
        const u64 bits =
            o.real_bytes == 8
                ? o.bits
                : std::bit_cast<u64>(static_cast<double>(std::bit_cast<float>(static_cast<u32>(o.bits))));
        return function.constant_row(8, bits);
      }
      fail(o.at, fmt::format("'{}' takes an integer constant here", name()));
    }
    default: break;
  }
  fail(o.at, fmt::format("'{}' needs a register or a constant here", name()));
}

// A name plus a constant, or the address of a function.
bool instruction_decoder::is_sum(const syntax::operand& o) const {
  if (o.kind != syntax::operand_kind::name || o.negated) return false;
  if (o.has_offset) return true;
  const symbol* const s = o.member.empty() ? function.find(o.name) : nullptr;
  return s != nullptr && s->kind == symbol_kind::function;
}

// As in ptxas, a value may be a register plus a constant, in the register's width, or the address of a
// variable plus a constant. Only mov takes the address alone.
u32 instruction_decoder::sum_row(const syntax::operand& o, ptx::type type, bool wider, u8* bytes) {
  if (ptx::is_floating(type) || type == ptx::type::pred || ptx::size_of(type) > 8)
    fail(o.at, fmt::format("'{}' takes {} here, and a sum with a constant is an integer", name(),
                           ptx::suffix(type)));
  const unsigned size = ptx::size_of(type);
  const symbol* const s = o.member.empty() ? function.find(o.name) : nullptr;
  if (s == nullptr || s->kind == symbol_kind::reg) {
    syntax::operand base = o;
    base.has_offset = false;
    base.offset = 0;
    const symbol& of = register_symbol(base);
    const unsigned width = ptx::size_of(of.type);
    if (width < 2 || width > 8 || ptx::is_floating(of.type))
      fail(o.at, fmt::format("'{}' is {}: a constant is added to integers of 16 to 64 bits", o.name,
                             ptx::suffix(of.type)));
    const u32 row = source_row(base, type, wider, bytes);
    const ptx::type word = width == 2 ? ptx::type::u16 : width == 4 ? ptx::type::u32 : ptx::type::u64;
    const u64 addend = width == 8 ? o.offset : o.offset & ((u64{1} << width * 8) - 1);
    return function.add_instruction(operation::add, word, {row, function.constant_row(width, addend)});
  }
  if (s->kind == symbol_kind::vector_reg)
    fail(o.at, fmt::format("'{}' is a vector; a constant is added to one register", o.name));
  if (s->kind == symbol_kind::function && o.has_offset)
    fail(o.at, fmt::format("the address of the function '{}' takes no offset", o.name));
  if (s->kind == symbol_kind::call_param && s->role != parameter_role::input)
    fail(o.at, fmt::format("the parameter '{}' has no address", o.name));
  if (bytes != nullptr) *bytes = static_cast<u8>(size);
  if (size >= 4) return function.symbol_row(*s, o.offset, size);
  return function.add_instruction(operation::cvt, size == 1 ? ptx::type::u8 : ptx::type::u16,
                                  {function.symbol_row(*s, o.offset, 4)}, ptx::type::u32);
}

u32 instruction_decoder::predicate_row(const syntax::operand& o, bool sink) {
  if (o.kind == syntax::operand_kind::sink && sink) return function.trash_row();
  return destination_row(o, ptx::type::pred, false, nullptr);
}

u32 instruction_decoder::condition_row(const syntax::operand& o, bool& negated) {
  negated = false;
  if (o.kind == syntax::operand_kind::integer) return function.predicate_constant_row(o.bits != 0);
  if (o.kind != syntax::operand_kind::name) fail(o.at, fmt::format("'{}' takes a predicate here", name()));
  const symbol& s = register_symbol(o);
  if (s.type != ptx::type::pred) fail(o.at, mismatch(o.name, name(), ptx::type::pred, ptx::suffix(s.type)));
  negated = o.negated;
  reads_.push_back(static_cast<u32>(s.value));
  return static_cast<u32>(s.value);
}

// Fills from[0], from_bytes, immediate and the number of the access. `out.space` must be set.
void instruction_decoder::address(std::size_t operand_index) {
  const syntax::operand& o = operand(operand_index);
  if (o.kind != syntax::operand_kind::address)
    fail(o.at, fmt::format("'{}' takes an address in brackets here", name()));
  if (o.elements.size() != 1) fail(o.at, fmt::format("'{}' takes one address", name()));
  const syntax::operand& base = o.elements.front();
  const u64 offset = o.offset;
  out.immediate = static_cast<s64>(offset);
  out.from_bytes = 0;
  out.site = function.result().sites++;
  if (base.kind == syntax::operand_kind::integer) {
    if (out.space != state_space::local) fail(base.at, "a constant address is for .local memory only");
    out.immediate = static_cast<s64>(base.bits + offset);
    return;
  }
  if (base.kind != syntax::operand_kind::name || base.negated || !base.member.empty())
    fail(base.at, "an address is a register, a symbol or a constant, with an offset");
  const symbol* s = function.find(base.name);
  if (s == nullptr) fail(base.at, fmt::format("'{}' is not declared", base.name));
  const auto misplaced = [&](std::string_view where) {
    fail(base.at,
         fmt::format("'{}' lives in {} memory, which '{}' does not access", base.name, where, name()));
  };
  switch (s->kind) {
    case symbol_kind::reg: {
      const unsigned bytes = ptx::size_of(s->type);
      if (s->type == ptx::type::pred || ptx::is_floating(s->type) || (bytes != 4 && bytes != 8))
        fail(base.at, fmt::format("'{}' is {}; an address has 32 or 64 integer bits", base.name,
                                  ptx::suffix(s->type)));
      if (bytes == 4 && (out.space == state_space::global || out.space == state_space::generic))
        fail(base.at, fmt::format("'{}' has 32 bits; addresses of {} memory have 64", base.name,
                                  out.space == state_space::global ? "global" : "generic"));
      out.from[0] = static_cast<u32>(s->value);
      out.from_bytes = static_cast<u8>(bytes);
      reads_.push_back(out.from[0]);
      return;
    }
    case symbol_kind::shared:
    case symbol_kind::param: {
      const bool shared = s->kind == symbol_kind::shared;
      // If the instruction has no state space, the symbol gives it.
      if (shared && out.space == state_space::generic) out.space = state_space::shared;
      if (out.space != (shared ? state_space::shared : state_space::param))
        misplaced(shared ? "shared" : "parameter");
      out.immediate = static_cast<s64>(s->value + offset);
      if (shared) function.kernel().note_access(*s, out.site);
      return;
    }
    case symbol_kind::local:
    case symbol_kind::call_param:
      if (s->kind == symbol_kind::local && out.space == state_space::generic) out.space = state_space::local;
      if (out.space != state_space::local) misplaced(s->kind == symbol_kind::local ? "local" : "parameter");
      out.immediate = static_cast<s64>(s->value + offset);
      if (s->absolute || function.frame_row() == no_row) {
        if (s->kind == symbol_kind::local) function.kernel().note_access(*s, out.site);
        return;
      }
      out.from[0] = function.frame_row();
      out.from_bytes = 8;
      return;
    case symbol_kind::function: misplaced("code"); break;
    case symbol_kind::vector_reg:
      fail(base.at, fmt::format("'{}' is a vector; an address is one register", base.name));
    case symbol_kind::variable: {
      const state_space home = function.module().decoded->variables[s->value].space;
      const bool generic = out.space == state_space::generic && home == state_space::global;
      if (out.space != home && !generic) misplaced(home == state_space::global ? "global" : "constant");
      out.from[0] = function.address_row(static_cast<u32>(s->value), 0, out.space == state_space::generic);
      out.from_bytes = 8;
      return;
    }
  }
}

instruction instruction_decoder::frame_access(operation op, u64 place, ptx::type type) {
  instruction i;
  i.op = op;
  i.guard = out.guard;
  i.guard_inverted = out.guard_inverted;
  i.line = out.line;
  i.type = type;
  i.to_bytes = static_cast<u8>(ptx::size_of(type));
  i.space = state_space::local;
  i.immediate = static_cast<s64>(place);
  i.site = function.result().sites++;
  i.flags.weak = true;
  if (function.frame_row() == no_row) return i;
  i.from[0] = function.frame_row();
  i.from_bytes = 8;
  return i;
}

u32 instruction_decoder::load_from_frame(u64 place, ptx::type type) {
  instruction i = frame_access(operation::ld, place, type);
  i.to[0] = function.temporary_row(i.to_bytes);
  function.result().code.push_back(i);
  return i.to[0];
}

void instruction_decoder::store_to_frame(u64 place, ptx::type type, u32 row) {
  instruction i = frame_access(operation::st, place, type);
  i.to[0] = row;
  function.result().code.push_back(i);
}

void instruction_decoder::list_row(u32 row) {
  std::vector<u32>& rows = function.result().rows;
  if (!listed_) out.rows = static_cast<u32>(rows.size());
  listed_ = true;
  rows.push_back(row);
}

void instruction_decoder::emit(operation op) {
  finish_modifiers();
  out.op = op;
  function.note_uses(out, reads_, writes_);
  function.result().code.push_back(out);
}

}  // namespace kaio::emulator
