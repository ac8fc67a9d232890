// The statements of a function's body and their operands.

#include "runtime/emulator/parser_state.hpp"

#include <fmt/format.h>

#include <utility>

namespace kaio::runtime::emulator {

void parser_state::add(syntax::function& f, syntax::statement s) {
  if (statements_++ >= budget_.statements)
    throw failure(s.at, fmt::format("more than {} statements", budget_.statements));
  f.body.push_back(s);
}

void parser_state::body(syntax::function& f) {
  using kind = syntax::statement_kind;
  for (unsigned scopes = 1; scopes != 0;) {
    const token t = peek();
    if (t.kind == token_kind::end) throw failure(t.at, fmt::format("the body of '{}' is not closed", f.name));
    if (t.is("{")) {
      enter(take().at);
      ++scopes;
      add(f, {kind::open, t.at, {}, 0});
    } else if (t.is("}")) {
      take();
      if (--scopes != 0) {
        leave();
        add(f, {kind::close, t.at, {}, 0});
      }
    } else if (t.is("@")) {
      instruction(f);
    } else if (t.kind == token_kind::dotted) {
      if (!skip_debugging()) body_declaration(f);
    } else if (t.kind == token_kind::identifier && peek(1).is(":")) {
      take();
      take();
      if (peek().is(".branchtargets") || peek().is(".calltargets") || peek().is(".callprototype"))
        throw failure(peek().at, fmt::format("{} is not supported by the emulator", peek().text));
      add(f, {kind::label, t.at, t.text, 0});
    } else if (t.kind == token_kind::identifier) {
      instruction(f);
    } else {
      throw failure(t.at, fmt::format("expected a statement, not {}", quoted(t)));
    }
  }
}

void parser_state::body_declaration(syntax::function& f) {
  using enum syntax::state_space;
  syntax::linkage link = syntax::linkage::none;
  if (accept(".extern")) link = syntax::linkage::external;
  const token t = peek();
  const syntax::state_space space = t.is(".reg")                              ? reg
                                    : t.is(".shared") || t.is(".shared::cta") ? shared
                                    : t.is(".local")                          ? local
                                    : t.is(".global")                         ? global
                                    : t.is(".const")                          ? constant
                                    : t.is(".param")                          ? param
                                                                              : none;
  if (space == none) throw failure(t.at, fmt::format("{} does not start a statement", quoted(t)));
  const std::size_t before = f.declarations.size();
  variables(space, link, f.declarations, budget_.registers);
  for (std::size_t i = before; i < f.declarations.size(); ++i) {
    const syntax::declaration& d = f.declarations[i];
    if (space == reg) {
      registers_ += d.count == 0 ? 1 : d.count;
      if (registers_ > budget_.registers)
        throw failure(d.at, fmt::format("more than {} registers", budget_.registers));
    }
    add(f, {syntax::statement_kind::declaration, d.at, {}, static_cast<u32>(i)});
  }
}

void parser_state::instruction(syntax::function& f) {
  syntax::instruction i;
  if (accept("@")) {
    i.guard_negated = accept("!");
    const token guard = identifier("a predicate");
    i.guard = guard.text;
    i.guard_at = guard.at;
  }
  const token opcode = identifier("an instruction");
  i.opcode = opcode.text;
  i.at = opcode.at;
  while (peek().kind == token_kind::dotted) {
    const token t = take();
    i.modifiers.push_back({t.text, t.at});
    if (i.modifiers.size() > 32) throw failure(t.at, "more than 32 modifiers");
  }
  std::size_t count = 0;
  if (!peek().is(";")) {
    do {
      i.operands.push_back(operand(count));
    } while (accept(","));
  }
  expect(";", fmt::format("after '{}'", i.opcode));
  add(f, {syntax::statement_kind::instruction, i.at, {}, static_cast<u32>(f.instructions.size())});
  f.instructions.push_back(std::move(i));
}

void parser_state::count_operand(std::size_t& count, const place& at) {
  if (++count > budget_.operands) throw failure(at, fmt::format("more than {} operands", budget_.operands));
}

// One operand, or a pair `d|p`.
syntax::operand parser_state::operand(std::size_t& count) {
  syntax::operand first = simple_operand(count);
  if (!peek().is("|")) return first;
  take();
  syntax::operand pair;
  pair.kind = syntax::operand_kind::pair;
  pair.at = first.at;
  pair.elements.push_back(std::move(first));
  pair.elements.push_back(simple_operand(count));
  return pair;
}

syntax::operand parser_state::simple_operand(std::size_t& count) {
  using kind = syntax::operand_kind;
  const token t = peek();
  count_operand(count, t.at);
  syntax::operand o;
  o.at = t.at;
  if (t.is("[")) return address(count);
  if (t.is("{")) return group(count, kind::vector, "}");
  if (t.is("(") && (peek(1).kind == token_kind::identifier || peek(1).is(")")))
    return group(count, kind::list, ")");
  if (t.is("_")) {
    take();
    o.kind = kind::sink;
    return o;
  }
  if (t.is("!") && peek(1).kind == token_kind::identifier) {
    take();
    o = simple_operand(count);
    if (o.kind != kind::name || o.negated) throw failure(t.at, "'!' stands before a predicate only");
    o.negated = true;
    o.at = t.at;
    return o;
  }
  if (t.kind == token_kind::identifier && !t.is("WARP_SZ")) {
    take();
    o.kind = kind::name;
    o.name = t.text;
    if (peek().kind == token_kind::dotted) o.member = take().text;
    if (accept("+")) {  // a negative offset is written [%rd1+-4]
      o.offset = unsigned_constant("an offset");
      o.has_offset = true;
    } else if (peek().is("[")) {
      take();
      o.offset = unsigned_constant("an index");
      o.has_offset = true;
      expect("]", "after an index");
    }
    return o;
  }
  const constant value = constant_expression();
  o.kind = value.real_bytes != 0 ? kind::real : kind::integer;
  o.bits = value.bits;
  o.real_bytes = value.real_bytes;
  return o;
}

syntax::operand parser_state::address(std::size_t& count) {
  syntax::operand o;
  o.kind = syntax::operand_kind::address;
  o.at = take().at;
  enter(o.at);
  do {
    o.elements.push_back(simple_operand(count));
  } while (accept(","));
  syntax::operand& base = o.elements.front();
  o.offset = base.offset;
  o.has_offset = base.has_offset;
  base.offset = 0;
  base.has_offset = false;
  expect("]", "to close an address");
  leave();
  return o;
}

syntax::operand parser_state::group(std::size_t& count, syntax::operand_kind kind, std::string_view close) {
  syntax::operand o;
  o.kind = kind;
  o.at = take().at;
  enter(o.at);
  if (!peek().is(close)) {
    do {
      o.elements.push_back(simple_operand(count));
    } while (accept(","));
  }
  expect(close, "to close a list of operands");
  leave();
  return o;
}

}  // namespace kaio::runtime::emulator
