// Decodes calls: of the module's functions, by name or through a pointer, and of the functions of every CUDA
// system: vprintf and __assertfail (CUDA C++ programming guide, "Formatted Output" and "Assertion"), malloc
// and free. Arguments and results pass through the called function's frame; see program.hpp.

#include "emulator/decode/instruction_decoder.hpp"

#include <fmt/format.h>

#include <cstdint>
#include <initializer_list>
#include <string_view>
#include <utility>
#include <vector>

namespace kaio::emulator {
namespace call_decoding {
namespace {

using enum ptx::type;

struct system_function {
  std::string_view name;
  operation op;
  ptx::type result;
  std::initializer_list<ptx::type> parameters;
};

const system_function* find_system_function(std::string_view name) {
  static const system_function functions[] = {
      {"vprintf", operation::print, b32, {b64, b64}},
      {"__assertfail", operation::assert_fail, none, {b64, b64, b32, b64, b64}},
      {"malloc", operation::heap_allocate, b64, {b64}},
      {"free", operation::heap_free, none, {b64}},
  };
  for (const system_function& known : functions)
    if (known.name == name) return &known;
  return nullptr;
}

// The operands of `call {(results),} callee {, (arguments)} {, targets}`.
struct call_operands {
  const syntax::operand* results = nullptr;
  const syntax::operand* callee = nullptr;
  const syntax::operand* arguments = nullptr;
  const syntax::operand* targets = nullptr;

  std::size_t result_count() const { return results == nullptr ? 0 : results->elements.size(); }
  std::size_t argument_count() const { return arguments == nullptr ? 0 : arguments->elements.size(); }
};

call_operands operands_of(instruction_decoder& f) {
  f.arity(1, 4);
  const auto is = [&](std::size_t at, syntax::operand_kind kind) {
    return at < f.operands() && f.operand(at).kind == kind;
  };
  call_operands o;
  std::size_t at = 0;
  if (is(at, syntax::operand_kind::list)) o.results = &f.operand(at++);
  if (!is(at, syntax::operand_kind::name) || f.operand(at).has_offset || !f.operand(at).member.empty())
    f.fail("'call' takes the name of a function, or a register that holds the address of one");
  o.callee = &f.operand(at++);
  if (is(at, syntax::operand_kind::list)) o.arguments = &f.operand(at++);
  if (is(at, syntax::operand_kind::name)) o.targets = &f.operand(at++);
  if (at != f.operands()) f.fail(f.operand(at).at, "this is not an operand of 'call'");
  return o;
}

const symbol* parameter_symbol(instruction_decoder& f, const syntax::operand& o) {
  if (o.kind != syntax::operand_kind::name || o.has_offset || !o.member.empty() || o.negated) return nullptr;
  const symbol* const s = f.function.find(o.name);
  return s != nullptr && s->kind == symbol_kind::call_param ? s : nullptr;
}

// ---- functions of the system ----

std::uint32_t argument_row(instruction_decoder& f, const syntax::operand& o, ptx::type type) {
  const symbol* const s = parameter_symbol(f, o);
  if (s == nullptr) return f.source_row(o, type, false, nullptr);
  if (s->bytes != ptx::size_of(type))
    f.fail(o.at,
           fmt::format("'{}' has {} bytes; the function takes {}", o.name, s->bytes, ptx::suffix(type)));
  return f.load_from_frame(s->value, type);
}

void call_system(instruction_decoder& f, const call_operands& o, const system_function& known) {
  const std::size_t returned = known.result == none ? 0 : 1;
  if (o.result_count() != returned)
    f.fail(fmt::format("'{}' returns {}", known.name, returned == 1 ? "one value" : "nothing"));
  if (o.argument_count() != known.parameters.size())
    f.fail(o.arguments != nullptr ? o.arguments->at : f.text.at,
           fmt::format("'{}' takes {} argument{} in parentheses", known.name, known.parameters.size(),
                       known.parameters.size() == 1 ? "" : "s"));
  std::size_t slot = 0;
  for (const ptx::type type : known.parameters) {
    f.out.from[slot] = argument_row(f, o.arguments->elements[slot], type);
    ++slot;
  }
  // Blocks run in one order on every machine, so printed lines and heap pieces come in one order.
  if (known.op != operation::assert_fail) f.function.result().blocks_communicate = true;
  if (known.op == operation::heap_allocate || known.op == operation::heap_free)
    f.function.result().allocates = true;
  if (returned == 0) return f.emit(known.op);
  const syntax::operand& to = o.results->elements[0];
  const symbol* const s = parameter_symbol(f, to);
  if (s == nullptr) {
    f.out.to[0] = to.kind == syntax::operand_kind::sink ? f.function.trash_row()
                                                        : f.destination_row(to, known.result, false, nullptr);
    return f.emit(known.op);
  }
  if (s->bytes != ptx::size_of(known.result))
    f.fail(to.at, fmt::format("'{}' has {} bytes; '{}' returns {}", to.name, s->bytes, known.name,
                              ptx::suffix(known.result)));
  f.out.to[0] = f.function.temporary_row(ptx::size_of(known.result));
  f.emit(known.op);
  f.store_to_frame(s->value, known.result, f.out.to[0]);
}

// ---- functions of the module ----

// The argument of a call for one parameter of the function.
transfer argument(instruction_decoder& f, const syntax::operand& o, const syntax::declaration& d,
                  const frame_slot& slot) {
  transfer t{no_row, 0, 0, slot.offset, slot.bytes};
  if (const symbol* s = parameter_symbol(f, o)) {
    if (s->bytes != slot.bytes || s->alignment < (d.is_array ? alignment_of(d) : 1))
      f.fail(o.at, fmt::format("'{}' has {} bytes and the alignment {}; the function takes {} and {}", o.name,
                               s->bytes, s->alignment, slot.bytes, alignment_of(d)));
    t.place = static_cast<std::uint32_t>(s->value);
    return t;
  }
  if (d.is_array) f.fail(o.at, "the function takes an array here: a .param variable");
  t.row = f.source_row(o, d.type, false, nullptr);
  t.row_bytes = ptx::size_of(d.type);
  return t;
}

// Lists, for the elements of a vector register, their places in the frame of the called function.
template <class Row>
void elements(instruction_decoder& f, const syntax::operand& o, const syntax::declaration& d,
              const frame_slot& slot, std::vector<transfer>& to, Row&& row) {
  const symbol* const s = o.kind == syntax::operand_kind::name && o.member.empty() && !o.has_offset
                              ? f.function.find(o.name)
                              : nullptr;
  if (s == nullptr || s->kind != symbol_kind::vector_reg || s->count != d.vector)
    f.fail(o.at, fmt::format("'{}' has a vector register of {} elements here", o.name, d.vector));
  constexpr std::string_view members[] = {".x", ".y", ".z", ".w"};
  const std::uint32_t bytes = ptx::size_of(d.type);
  for (std::uint32_t k = 0; k < d.vector; ++k) {
    syntax::operand element = o;
    element.member = members[k];
    to.push_back({row(element), bytes, 0, slot.offset + k * bytes, bytes});
  }
}

// Returns false if the result is discarded.
bool result(instruction_decoder& f, const syntax::operand& o, const syntax::declaration& d,
            const frame_slot& slot, transfer& t) {
  t = {no_row, 0, 0, slot.offset, slot.bytes};
  if (o.kind == syntax::operand_kind::sink) return false;
  if (const symbol* s = parameter_symbol(f, o)) {
    if (s->bytes != slot.bytes)
      f.fail(o.at, fmt::format("'{}' has {} bytes; the function returns {}", o.name, s->bytes, slot.bytes));
    t.place = static_cast<std::uint32_t>(s->value);
    return true;
  }
  if (d.is_array) f.fail(o.at, "the function returns an array here: it needs a .param variable");
  t.row = f.destination_row(o, d.type, false, nullptr);
  t.row_bytes = ptx::size_of(d.type);
  return true;
}

void hand_over(instruction_decoder& f, const call_operands& o,
               const std::vector<syntax::declaration>& results,
               const std::vector<syntax::declaration>& parameters, call_site& site) {
  if (o.result_count() != results.size())
    f.fail(o.results != nullptr ? o.results->at : f.text.at,
           fmt::format("the function '{}' returns {} value{}, not {}", o.callee->name, results.size(),
                       results.size() == 1 ? "" : "s", o.result_count()));
  if (o.argument_count() != parameters.size())
    f.fail(o.arguments != nullptr ? o.arguments->at : f.text.at,
           fmt::format("the function '{}' takes {} argument{}, not {}", o.callee->name, parameters.size(),
                       parameters.size() == 1 ? "" : "s", o.argument_count()));
  // ptxas refuses such calls too: the ABI has no place for predicates.
  for (const auto* const list : {&results, &parameters})
    for (const syntax::declaration& d : *list)
      if (d.type == ptx::type::pred)
        f.fail(
            fmt::format("'{}' takes or returns a predicate, which a call cannot hand over", o.callee->name));
  std::uint64_t at = 0;
  for (std::size_t k = 0; k < results.size(); ++k) {
    const frame_slot slot = place_in_frame(results[k], at, site.signature, true);
    const syntax::operand& to = o.results->elements[k];
    if (results[k].vector != 1 && to.kind != syntax::operand_kind::sink) {
      elements(f, to, results[k], slot, site.results, [&](const syntax::operand& e) {
        return f.destination_row(e, results[k].type, false, nullptr);
      });
      continue;
    }
    transfer t;
    if (result(f, to, results[k], slot, t)) site.results.push_back(t);
  }
  for (std::size_t k = 0; k < parameters.size(); ++k) {
    const frame_slot slot = place_in_frame(parameters[k], at, site.signature, false);
    const syntax::operand& from = o.arguments->elements[k];
    if (parameters[k].vector == 1)
      site.arguments.push_back(argument(f, from, parameters[k], slot));
    else
      elements(f, from, parameters[k], slot, site.arguments,
               [&](const syntax::operand& e) { return f.source_row(e, parameters[k].type, false, nullptr); });
  }
}

void finish_call(instruction_decoder& f, call_site site, call_form form, bool back) {
  site.base_row = f.function.callee_base_row();
  site.base = f.function.callee_base();
  f.out.detail = f.function.add_call(std::move(site), back);
  f.out.form = static_cast<std::uint8_t>(form);
  f.emit(operation::call);
}

void call_function(instruction_decoder& f, const call_operands& o, std::uint32_t number) {
  const function_symbol& callee = f.function.module().functions.functions[number];
  if (callee.declared->is_entry)
    f.fail(o.callee->at, fmt::format("'{}' is a kernel, which cannot be called", o.callee->name));
  if (callee.defined == nullptr)
    f.fail(o.callee->at,
           fmt::format("the function '{}' is declared and not defined in the module", o.callee->name));
  if (o.targets != nullptr)
    f.fail(o.targets->at, "a prototype or a list of targets is for calls through a pointer");
  call_site site;
  site.function = f.function.kernel().index_of(number);
  hand_over(f, o, callee.declared->results, callee.declared->parameters, site);
  // A function decoded as the root is only checked; it has no index in entry::functions.
  finish_call(f, std::move(site), call_form::direct,
              f.function.kernel().may_return_to(f.function.number(), number));
}

void call_pointer(instruction_decoder& f, const call_operands& o) {
  const symbol* const s = f.function.find(o.callee->name);
  const ptx::type type = s != nullptr && ptx::size_of(s->type) == 4 ? b32 : b64;
  f.out.from[0] = f.source_row(*o.callee, type, false, nullptr);
  f.out.from_bytes = static_cast<std::uint8_t>(ptx::size_of(type));
  if (o.targets == nullptr)
    f.fail(o.callee->at,
           "a call through a pointer names a .callprototype or .calltargets as its last operand");
  const syntax::targets* const list = f.function.targets(o.targets->name);
  if (list == nullptr || list->kind == syntax::targets_kind::branch)
    f.fail(o.targets->at,
           fmt::format("'{}' is not a .callprototype or .calltargets declared before", o.targets->name));
  call_site site;
  const function_table& table = f.function.module().functions;
  for (const syntax::target_name& t : list->names) {
    const auto found = table.numbers.find(t.name);
    if (found == table.numbers.end() || table.functions[found->second].declared->is_entry)
      f.fail(t.at, fmt::format("'{}' is not a function", t.name));
    site.targets.push_back(found->second);
  }
  if (list->kind == syntax::targets_kind::prototype) {
    hand_over(f, o, list->results, list->parameters, site);
  } else {
    const syntax::function& first = *table.functions[site.targets.front()].declared;
    hand_over(f, o, first.results, first.parameters, site);
  }
  finish_call(f, std::move(site), call_form::indirect,
              f.function.kernel().pointers_may_return_to(f.function.number()));
}

void decode_call(instruction_decoder& f) {
  f.accept(".uni");
  const call_operands o = operands_of(f);
  const auto found = f.function.module().functions.numbers.find(o.callee->name);
  const symbol* const s = f.function.find(o.callee->name);
  if (s != nullptr && s->kind == symbol_kind::reg) return call_pointer(f, o);
  if (found == f.function.module().functions.numbers.end() || s == nullptr)
    f.fail(o.callee->at, s == nullptr ? fmt::format("'{}' is not declared", o.callee->name)
                                      : fmt::format("'{}' is not a function", o.callee->name));
  const function_symbol& callee = f.function.module().functions.functions[found->second];
  if (f.text.at.before(callee.declared->at))
    f.fail(o.callee->at, fmt::format("'{}' is called before it is declared", o.callee->name));
  const system_function* const known = find_system_function(o.callee->name);
  if (known != nullptr && callee.defined == nullptr) return call_system(f, o, *known);
  call_function(f, o, found->second);
}

// ---- the stack ----

void decode_alloca(instruction_decoder& f) {
  f.require("alloca");
  f.types(1);
  f.allow(f.type(0), {u32, u64});
  f.arity(2, 3);
  f.destination(0, 0, f.type(0));
  f.source(0, 1, f.type(0));
  f.out.immediate = 8;
  if (f.operands() == 3) {
    const syntax::operand& alignment = f.operand(2);
    const std::uint64_t value = alignment.bits;
    if (alignment.kind != syntax::operand_kind::integer || value == 0 || (value & (value - 1)) != 0 ||
        value > (std::uint64_t{1} << 23))
      f.fail(alignment.at, "the alignment of 'alloca' is a power of two up to 2^23");
    f.out.immediate = static_cast<std::int64_t>(value);
  }
  f.out.to[1] = f.function.top_row();
  f.out.detail = f.function.kernel().frame_alignment;
  f.emit(operation::alloca_);
}

void decode_stack(instruction_decoder& f, operation op) {
  f.require("alloca", f.text.opcode);
  f.types(1);
  f.allow(f.type(0), {u32, u64});
  f.arity(1);
  if (op == operation::stacksave)
    f.destination(0, 0, f.type(0));
  else
    f.source(0, 0, f.type(0));
  // If nothing is allocated there is nothing to restore.
  if (f.function.top_row() == no_row) {
    if (op == operation::stackrestore) return f.emit(operation::nop);
    f.out.from[0] = f.function.constant_row(ptx::size_of(f.type(0)), f.function.frame_bytes());
    return f.emit(operation::mov);
  }
  f.out.to[1] = f.function.top_row();
  f.emit(op);
}

void decode_stacksave(instruction_decoder& f) { decode_stack(f, operation::stacksave); }
void decode_stackrestore(instruction_decoder& f) { decode_stack(f, operation::stackrestore); }

constexpr opcode_row rows[] = {
    {"call", decode_call},
    {"alloca", decode_alloca},
    {"stacksave", decode_stacksave},
    {"stackrestore", decode_stackrestore},
};

}  // namespace
}  // namespace call_decoding

bool is_frame_parameter(instruction_decoder& f, std::size_t operand_index, access_kind access) {
  if (operand_index >= f.operands()) return false;
  const syntax::operand& o = f.operand(operand_index);
  if (o.kind != syntax::operand_kind::address || o.elements.size() != 1) return false;
  const syntax::operand& base = o.elements.front();
  if (base.kind != syntax::operand_kind::name) return false;
  const symbol* const s = f.function.find(base.name);
  if (s == nullptr) return false;
  if (s->kind == symbol_kind::reg) return !f.function.is_kernel();
  if (s->kind != symbol_kind::call_param) return false;
  if (access == access_kind::write && s->role == parameter_role::input)
    f.fail(base.at,
           fmt::format("'{}' is a parameter that the function takes, which is not written", base.name));
  if (access == access_kind::read && s->role == parameter_role::result)
    f.fail(base.at, fmt::format("'{}' is a result of the function, which is not read", base.name));
  return true;
}

std::span<const opcode_row> call_opcodes() { return call_decoding::rows; }

}  // namespace kaio::emulator
