// The statements of a function: the part of function_decoder that decodes its instructions. The function of
// its family decodes each one.

#include "emulator/decode/decode_special.hpp"
#include "emulator/decode/function_decoder.hpp"
#include "emulator/decode/instruction_decoder.hpp"
#include "emulator/program/unsupported.hpp"
#include "host/lasting.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace kaio::emulator {
namespace {

const std::unordered_map<std::string_view, decode_function>& opcodes() {
  // Never destroyed, because destructors of static objects load kernels too.
  static const auto& table = *[] {
    auto* const all = host::make_lasting<std::unordered_map<std::string_view, decode_function>>();
    for (const auto& family :
         {arithmetic_opcodes(), floating_opcodes(), bit_opcodes(), compare_opcodes(), convert_opcodes(),
          memory_opcodes(), atomic_opcodes(), cache_opcodes(), call_opcodes(), control_opcodes(),
          warp_opcodes(), cluster_opcodes(), mma_opcodes(), matrix_opcodes(), wgmma_opcodes(),
          async_opcodes(), video_opcodes(), texture_opcodes(), surface_opcodes()})
      for (const opcode_row& row : family) all->emplace(row.opcode, row.decode);
    return all;
  }();
  return table;
}

// mov.v2 and mov.v4, which take a whole special register.
bool is_vector_move(const syntax::instruction& i) {
  return std::any_of(i.modifiers.begin(), i.modifiers.end(),
                     [](const syntax::modifier& m) { return m.text == ".v2" || m.text == ".v4"; });
}

bool is_index(ptx::type t) {
  const unsigned bytes = ptx::size_of(t);
  return (bytes == 4 || bytes == 8) && !ptx::is_floating(t);
}

}  // namespace

void function_decoder::statements() {
  current_ = 0;
  for (const syntax::statement& s : text_.body) {
    here_ = s.at;
    switch (s.kind) {
      case syntax::statement_kind::open: current_ = static_cast<int>(scope_of_open_[opened_++]); break;
      case syntax::statement_kind::close:
        current_ = scopes_[static_cast<std::size_t>(current_)].parent;
        break;
      case syntax::statement_kind::label:
        label_index_[label(s.label, s.at)] = static_cast<u32>(result().code.size());
        break;
      case syntax::statement_kind::declaration: declare(text_.declarations[s.index]); break;
      case syntax::statement_kind::targets: {
        scope& in = scopes_[static_cast<std::size_t>(current_)];
        if (text_.lists[s.index].kind == syntax::targets_kind::branch)
          for (const syntax::target_name& t : text_.lists[s.index].names)
            if (t.count == 0) label(t.name, t.at);
        if (in.labels.contains(s.label) || !in.lists.emplace(s.label, &text_.lists[s.index]).second)
          fail(s.at, fmt::format("label '{}' is defined twice", s.label));
        break;
      }
      case syntax::statement_kind::instruction: instruction_statement(text_.instructions[s.index]); break;
    }
  }
}

// `name[index]` in mov, ld and st: the address of an element.
void function_decoder::indexed_instruction(const syntax::instruction& i) {
  syntax::instruction spelled = i;
  for (syntax::operand& o : spelled.operands) {
    if (!o.indexed) continue;
    const symbol* const s = find(o.name);
    if (s == nullptr) fail(o.at, fmt::format("'{}' is not declared", o.name));
    if (s->element_bytes == 0 ||
        (i.opcode != "mov" && i.opcode != "ld" && i.opcode != "st" && i.opcode != "cvta"))
      fail(o.at, fmt::format("'{}' takes no indexed array here", i.opcode));
    o.indexed = false;
    o.has_offset = true;
    o.offset *= s->element_bytes;
    if (!o.elements.empty()) {
      const syntax::operand index = o.elements[0];
      if (s->kind == symbol_kind::call_param)
        fail(index.at, fmt::format("the parameter '{}' of a call is indexed by a constant", o.name));
      const symbol* const r = find(index.name);
      if (r == nullptr || r->kind != symbol_kind::reg || !is_index(r->type) || index.negated)
        fail(index.at, fmt::format("'{}' is not a register that holds an index", index.name));
      u32 row = static_cast<u32>(r->value);
      if (ptx::size_of(r->type) == 4)
        row = add_instruction(operation::cvt, ptx::type::u64, {row},
                              ptx::is_signed(r->type) ? ptx::type::s32 : ptx::type::u32);
      const u64 addend = index.offset * s->element_bytes;
      row = add_instruction(operation::mad_lo, ptx::type::u64,
                            {row, constant_row(8, s->element_bytes), symbol_row(*s, addend, 8)});
      // The sum is a register without a name in the text.
      const std::string& name = element_names_.emplace_back(fmt::format("{}[{}]", o.name, index.name));
      symbol& sum = scopes_[static_cast<std::size_t>(current_)].names[name];
      sum = {symbol_kind::reg, ptx::type::b64, true, row, 8};
      o.name = name;
      o.has_offset = false;
      o.elements.clear();
    }
    if (i.opcode == "mov" || i.opcode == "cvta") continue;
    syntax::operand address;
    address.kind = syntax::operand_kind::address;
    address.at = o.at;
    address.has_offset = o.has_offset;
    address.offset = o.offset;
    o.has_offset = false;
    o.offset = 0;
    address.elements.push_back(o);
    o = address;
  }
  instruction_statement(spelled);
}

void function_decoder::instruction_statement(const syntax::instruction& i) {
  kernel_.count_instruction(i.at);
  const auto found = opcodes().find(i.opcode);
  if (found == opcodes().end()) {
    const syntax::module& m = module().text;
    fail(i.at, reason_not_executed(i.opcode, m.target, m.version));
  }
  if (std::any_of(i.operands.begin(), i.operands.end(), [](const syntax::operand& o) { return o.indexed; }))
    return indexed_instruction(i);
  if (has_special(i)) return special_instruction(i);
  const auto is_vector = [&](const syntax::operand& o) {
    if (o.kind != syntax::operand_kind::name || !o.member.empty()) return false;
    const symbol* const s = find(o.name);
    return s != nullptr && s->kind == symbol_kind::vector_reg;
  };
  if (std::none_of(i.operands.begin(), i.operands.end(), is_vector)) {
    instruction_decoder f(*this, i);
    found->second(f);
    return;
  }
  // A vector register means the list of its elements.
  constexpr std::string_view members[] = {".x", ".y", ".z", ".w"};
  syntax::instruction spelled = i;
  for (syntax::operand& o : spelled.operands) {
    if (!is_vector(o)) continue;
    const u32 count = find(o.name)->count;
    syntax::operand element = o;
    o.kind = syntax::operand_kind::vector;
    for (u32 k = 0; k < count; ++k) {
      element.member = members[k];
      o.elements.push_back(element);
    }
  }
  instruction_decoder f(*this, spelled);
  found->second(f);
}

bool function_decoder::names_special(const syntax::operand& o) {
  return o.kind == syntax::operand_kind::name && !o.has_offset && is_special(o.name) &&
         find(o.name) == nullptr;
}

// True if a special register is the guard, an element of a list, or an operand that mov unpacks or negates. Each is
// first moved to a register.
bool function_decoder::has_special(const syntax::instruction& i) {
  const auto special = [&](const syntax::operand& o) { return names_special(o); };
  if (is_special(i.guard) && find(i.guard) == nullptr) return true;
  if (i.opcode == "mov" && i.operands.size() == 2 && special(i.operands[1]) &&
      (i.operands[1].negated || (i.operands[0].kind == syntax::operand_kind::vector && !is_vector_move(i))))
    return true;
  // The first operand is a destination, or an address.
  return i.operands.size() > 1 && std::any_of(i.operands.begin() + 1, i.operands.end(), [&](const auto& o) {
           return o.kind == syntax::operand_kind::vector &&
                  std::any_of(o.elements.begin(), o.elements.end(), special);
         });
}

void function_decoder::special_instruction(const syntax::instruction& i) {
  syntax::instruction spelled = i;
  const auto move = [&](syntax::operand& o) {
    if (!names_special(o)) return;
    syntax::instruction read;
    read.at = o.at;
    read.opcode = "mov";
    read.operands = {o, o};
    read.operands[1].negated = false;
    instruction_decoder probe(*this, read);
    const unsigned bytes = special_operand(probe, read.operands[1])->bytes;
    const ptx::type type = bytes == 0 ? ptx::type::pred : bytes == 4 ? ptx::type::b32 : ptx::type::b64;
    read.modifiers = {{ptx::suffix(type), o.at}};
    const std::string& name =
        element_names_.emplace_back(fmt::format("{}{} {}", o.name, o.member, element_names_.size()));
    scopes_[static_cast<std::size_t>(current_)].names[name] = {symbol_kind::reg, type, true,
                                                               kernel_.allocate_row(bytes, o.at), bytes};
    read.operands[0] = {};
    read.operands[0].kind = syntax::operand_kind::name;
    read.operands[0].at = o.at;
    read.operands[0].name = o.name = name;
    o.member = {};
    instruction_statement(read);
  };
  if (is_special(i.guard) && find(i.guard) == nullptr) {
    syntax::operand guard;
    guard.kind = syntax::operand_kind::name;
    guard.at = i.guard_at;
    guard.name = i.guard;
    move(guard);
    if (find(guard.name)->type != ptx::type::pred)
      fail(i.guard_at, fmt::format("'{}' is not a predicate", i.guard));
    spelled.guard = guard.name;
  }
  for (std::size_t k = 1; k < spelled.operands.size(); ++k) {
    syntax::operand& o = spelled.operands[k];
    if (o.kind == syntax::operand_kind::vector) std::for_each(o.elements.begin(), o.elements.end(), move);
    if (i.opcode == "mov" && !is_vector_move(i)) move(o);
  }
  instruction_statement(spelled);
}

}  // namespace kaio::emulator
