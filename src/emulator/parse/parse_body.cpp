// The statements of a function's body and their operands.

#include "emulator/parse/parser_state.hpp"

#include <fmt/format.h>

#include <utility>

namespace kaio::emulator {

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
      labelled(f, t);
    } else if (t.kind == token_kind::identifier) {
      instruction(f);
    } else {
      throw failure(t.at, fmt::format("expected a statement, not {}", quoted(t)));
    }
  }
}

// A label, or a list that brx.idx and call name by a label.
void parser_state::labelled(syntax::function& f, const token& label) {
  if (label.is("_")) throw failure(label.at, "'_' is not a label");
  const token t = peek();
  if (!t.is(".branchtargets") && !t.is(".calltargets") && !t.is(".callprototype")) {
    add(f, {syntax::statement_kind::label, label.at, label.text, 0});
    return;
  }
  take();
  syntax::targets list;
  list.at = label.at;
  list.label = label.text;
  if (t.is(".callprototype")) {
    list.kind = syntax::targets_kind::prototype;
    if (peek().is("(")) formal_parameters(list.results, false, true);
    expect("_", "in the place of a function's name");
    if (peek().is("(")) formal_parameters(list.parameters, false, true);
    function_directives();
  } else {
    list.kind = t.is(".branchtargets") ? syntax::targets_kind::branch : syntax::targets_kind::call;
    do {
      const token name = identifier("a name");
      syntax::target_name target{name.text, name.at, 0};
      if (list.kind == syntax::targets_kind::branch && accept("<")) {
        target.count = small_literal("a number of labels", budget_.targets);
        if (target.count == 0) throw failure(name.at, fmt::format("'{}' names no label", name.text));
        expect(">", "after the number of labels");
      }
      names_ += target.count == 0 ? 1 : target.count;
      if (names_ > budget_.targets)
        throw failure(name.at, fmt::format("more than {} targets", budget_.targets));
      list.names.push_back(target);
    } while (accept(","));
  }
  expect(";", fmt::format("after {}", t.text));
  add(f, {syntax::statement_kind::targets, label.at, label.text, static_cast<u32>(f.lists.size())});
  f.lists.push_back(std::move(list));
}

void parser_state::body_declaration(syntax::function& f) {
  using enum syntax::state_space;
  const u32 aligned = alignment();
  const token t = peek();
  if (t.is(".extern") || t.is(".visible") || t.is(".weak") || t.is(".common"))
    throw failure(t.at, fmt::format("{} is for declarations of the module", t.text));
  const syntax::state_space space = t.is(".param::entry") ? none : space_of(t.text);
  if (space == none) throw failure(t.at, fmt::format("{} does not start a statement", quoted(t)));
  const std::size_t before = f.declarations.size();
  variables(space, syntax::linkage::none, f.declarations, budget_.registers, aligned);
  for (std::size_t i = before; i < f.declarations.size(); ++i) {
    const syntax::declaration& d = f.declarations[i];
    if (space == reg) {
      registers_ += d.is_range ? d.count : 1;
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
      const bool list = i.opcode == "call" && peek().is("(");
      i.operands.push_back(list ? group(count, syntax::operand_kind::list, ")") : operand(count));
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
  if (t.is("_")) {
    take();
    o.kind = kind::sink;
    return o;
  }
  if (t.is("!") && peek(1).kind == token_kind::identifier) {
    take();
    o = simple_operand(count);
    if (o.kind != kind::name || o.negated) throw failure(t.at, "'!' is allowed before a predicate only");
    o.negated = true;
    o.at = t.at;
    return o;
  }
  if (t.is("-") && peek(1).kind == token_kind::identifier && !peek(1).is("WARP_SZ")) {
    take();
    o = simple_operand(count);
    o.minus = true;
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
      enter(take().at);
      o.indexed = true;
      if (peek().kind == token_kind::identifier && !peek().is("WARP_SZ")) {
        o.elements.push_back(simple_operand(count));
        if (o.elements[0].kind != kind::name || o.elements[0].indexed)
          throw failure(o.elements[0].at, "an index is a register or a constant");
      } else {
        o.offset = unsigned_constant("an index");
      }
      expect("]", "after an index");
      leave();
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
  for (const syntax::operand& e : o.elements)
    if (e.minus || e.indexed)
      throw failure(e.at, e.minus ? "an address has no '-'" : "an indexed array takes no brackets");
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
      if (o.elements.back().minus || o.elements.back().indexed || o.elements.back().has_offset)
        throw failure(o.elements.back().at, "an element of a list is a register or a constant");
    } while (accept(","));
  }
  expect(close, "to close a list of operands");
  leave();
  return o;
}

}  // namespace kaio::emulator
