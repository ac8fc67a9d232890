// Decodes calls of the two functions that every CUDA system has, vprintf and __assertfail (CUDA C++
// programming guide, "Formatted Output" and "Assertion"), and the parameters that are made for a call. A
// .param variable of a body is a row of the register file like a register's.

#include "runtime/emulator/form.hpp"

#include <fmt/format.h>

namespace kaio::runtime::emulator {
namespace {

using enum ptx::type;

struct system_function {
  std::string_view name;
  operation op;
  bool returns;  // .b32
  std::initializer_list<ptx::type> parameters;
};

const system_function* find_system_function(std::string_view name) {
  static const system_function functions[] = {
      {"vprintf", operation::print, true, {b64, b64}},
      {"__assertfail", operation::assert_fail, false, {b64, b64, b32, b64, b64}},
  };
  for (const system_function& known : functions)
    if (known.name == name) return &known;
  return nullptr;
}

std::uint32_t parameter_row(form& f, const syntax::operand& o, ptx::type type) {
  const symbol* s = o.kind == syntax::operand_kind::name ? f.function.find(o.name) : nullptr;
  if (s == nullptr || (s->kind != symbol_kind::call_param && s->kind != symbol_kind::reg) || o.has_offset)
    f.fail(o.at, fmt::format("'{}' takes .param variables of this body here", f.name()));
  if (s->type == pred || ptx::size_of(s->type) != ptx::size_of(type))
    f.fail(o.at,
           fmt::format("'{}' is {}; the function takes {}", o.name, ptx::suffix(s->type), ptx::suffix(type)));
  return static_cast<std::uint32_t>(s->value);
}

void decode_call(form& f) {
  f.accept(".uni");
  f.arity(1, 4);
  std::size_t at = f.operand(0).kind == syntax::operand_kind::list ? 1 : 0;
  if (at == f.operands() || f.operand(at).kind != syntax::operand_kind::name)
    f.fail("'call' takes the name of a function");
  const syntax::operand& callee = f.operand(at);
  const system_function* known = find_system_function(callee.name);
  const syntax::function* declared = nullptr;
  for (const syntax::function& candidate : f.function.module().text.functions)
    if (candidate.name == callee.name) declared = &candidate;
  if (declared == nullptr) f.fail(callee.at, fmt::format("'{}' is not declared", callee.name));
  if (known == nullptr || declared->has_body || declared->is_entry)
    f.fail(callee.at,
           fmt::format("calls of functions but vprintf and __assertfail are not supported by the emulator, "
                       "and '{}' is called; let the compiler inline it",
                       callee.name));
  f.arity(at + 2);
  const std::size_t returned = at == 1 ? f.operand(0).elements.size() : 0;
  if (returned != (known->returns ? 1u : 0u))
    f.fail(f.text.at, fmt::format("'{}' returns {}", callee.name, known->returns ? "one value" : "nothing"));
  f.out.to[0] = known->returns ? parameter_row(f, f.operand(0).elements[0], b32) : f.function.trash_row();
  const syntax::operand& arguments = f.operand(at + 1);
  if (arguments.kind != syntax::operand_kind::list || arguments.elements.size() != known->parameters.size())
    f.fail(arguments.at,
           fmt::format("'{}' takes {} arguments in parentheses", callee.name, known->parameters.size()));
  std::size_t slot = 0;
  for (const ptx::type type : known->parameters) {
    f.out.from[slot] = parameter_row(f, arguments.elements[slot], type);
    ++slot;
  }
  // The lines of all blocks come in one order, on every machine.
  if (known->op == operation::print) f.function.result().blocks_communicate = true;
  f.emit(known->op);
}

constexpr opcode_row rows[] = {{"call", decode_call}};

}  // namespace

const symbol* call_parameter(form& f, std::size_t operand_index) {
  const syntax::operand& o = f.operand(operand_index);
  if (o.kind != syntax::operand_kind::address || o.elements.size() != 1) return nullptr;
  const syntax::operand& base = o.elements.front();
  if (base.kind != syntax::operand_kind::name) return nullptr;
  const symbol* s = f.function.find(base.name);
  if (s == nullptr || s->kind != symbol_kind::call_param) return nullptr;
  if (o.offset != 0 || f.out.count != 1 || ptx::size_of(f.type(0)) != ptx::size_of(s->type))
    f.fail(o.at,
           fmt::format("'{}' is {}, and is read and written as a whole", base.name, ptx::suffix(s->type)));
  return s;
}

std::span<const opcode_row> call_opcodes() { return rows; }

}  // namespace kaio::runtime::emulator
