// Declarations of variables, registers and parameters, and initialisers.

#include "emulator/parse/parser_state.hpp"

#include <fmt/format.h>

#include <utility>

namespace kaio::emulator {
namespace {

constexpr u64 largest_array = u64{1} << 40;  // elements

syntax::linkage linkage_of(std::string_view directive) {
  using enum syntax::linkage;
  if (directive == ".visible") return visible;
  if (directive == ".extern") return external;
  if (directive == ".weak") return weak;
  if (directive == ".common") return common;
  return none;
}

bool is_texture_type(std::string_view type) {
  return type == ".texref" || type == ".samplerref" || type == ".surfref";
}

}  // namespace

syntax::state_space space_of(std::string_view directive) {
  using enum syntax::state_space;
  if (directive == ".reg") return reg;
  if (directive == ".global") return global;
  if (directive == ".shared" || directive == ".shared::cta") return shared;
  if (directive == ".local") return local;
  if (directive == ".const") return constant;
  if (directive == ".param" || directive == ".param::entry") return param;
  return none;
}

syntax::linkage parser_state::linkage() {
  syntax::linkage link = syntax::linkage::none;
  const token t = peek();
  if (t.kind != token_kind::dotted || linkage_of(t.text) == syntax::linkage::none) return link;
  link = linkage_of(take().text);
  const token next = peek();
  if (next.kind == token_kind::dotted && linkage_of(next.text) != syntax::linkage::none)
    throw failure(next.at, fmt::format("{} and {} exclude each other", t.text, next.text));
  if (link == syntax::linkage::common && (next.is(".entry") || next.is(".func")))
    throw failure(t.at, ".common is for variables");
  return link;
}

void parser_state::variables(syntax::state_space space, syntax::linkage link,
                             std::vector<syntax::declaration>& to, std::size_t most, u32 alignment) {
  const token keyword = take();
  syntax::declaration common;
  common.alignment = alignment;
  common.space = space;
  common.link = link;
  if (space == syntax::state_space::constant && peek().is("["))
    throw failure(peek().at, "banks of .const memory are not supported since PTX ISA 2.2");
  if (link == syntax::linkage::common && space != syntax::state_space::global)
    throw failure(keyword.at, ".common variables live in .global memory");
  type_of(common);
  if (accept(";")) return;  // a type without a name declares nothing
  do {
    syntax::declaration one = common;
    declarator(one);
    if (one.is_range && space != syntax::state_space::reg) {
      numbered(one, to, most);
      continue;
    }
    if (to.size() >= most) throw failure(one.at, fmt::format("more than {} declarations", most));
    if (accept("=")) {
      if (space != syntax::state_space::global && space != syntax::state_space::constant)
        throw failure(one.at, "only .global and .const variables can be initialised");
      if (link == syntax::linkage::external)
        throw failure(one.at, fmt::format("'{}' is external and has no initial value here", one.name));
      initialiser(one);
    }
    to.push_back(std::move(one));
  } while (accept(","));
  expect(";", "after a declaration");
}

// a<3>: the variables a0, a1 and a2.
void parser_state::numbered(syntax::declaration one, std::vector<syntax::declaration>& to, std::size_t most) {
  const u64 count = one.count;
  const std::string_view name = one.name;
  one.is_range = false;
  one.count = 0;
  for (u64 k = 0; k < count; ++k) {
    if (to.size() >= most) throw failure(one.at, fmt::format("more than {} declarations", most));
    one.name = module_.names->emplace_back(fmt::format("{}{}", name, k));
    to.push_back(one);
  }
}

// .align before a declaration; 0 if there is none.
u32 parser_state::alignment() {
  const token t = peek();
  if (!accept(".align")) return 0;
  const u32 bytes = small_literal("an alignment", 1u << 20);
  if (bytes == 0 || (bytes & (bytes - 1)) != 0) throw failure(t.at, "an alignment is a power of two");
  return bytes;
}

// .attribute(.managed) and .attribute(.unified(a, b)).
void parser_state::attributes(syntax::declaration* variable) {
  expect("(", "after .attribute");
  do {
    const token t = take();
    if (t.is(".managed")) {
      if (variable == nullptr || variable->space != syntax::state_space::global)
        throw failure(t.at, ".managed is for .global variables");
      variable->managed = true;
    } else if (t.is(".unified")) {
      expect("(", "after .unified");
      unsigned_constant("an identifier of .unified");
      expect(",", "in .unified");
      unsigned_constant("an identifier of .unified");
      expect(")", "after .unified");
    } else {
      throw failure(t.at, fmt::format("{} is not an attribute", quoted(t)));
    }
  } while (accept(","));
  expect(")", "after the attributes");
}

void parser_state::type_of(syntax::declaration& d) {
  for (;;) {
    const token t = peek();
    if (t.kind != token_kind::dotted) throw failure(t.at, fmt::format("expected a type, not {}", quoted(t)));
    if (t.is(".align")) {
      d.alignment = alignment();
      continue;
    }
    take();
    if (t.is(".attribute")) {
      attributes(&d);
    } else if (t.is(".v2") || t.is(".v4")) {
      if (d.vector != 1) throw failure(t.at, "the vector has two sizes");
      d.vector = t.is(".v2") ? 2 : 4;
    } else if (is_texture_type(t.text)) {
      throw failure(t.at,
                    fmt::format("{}: variables for textures and surfaces are not supported by the emulator",
                                quoted(t)));
    } else {
      d.type = scalar_type(t.text);
      if (d.type == ptx::type::none) throw failure(t.at, fmt::format("{} is not a type", quoted(t)));
      if (d.type == ptx::type::bf16 || d.type == ptx::type::bf16x2)
        throw failure(
            t.at,
            fmt::format("{} is a type of instructions only; registers and variables that hold it are {}",
                        quoted(t), d.type == ptx::type::bf16 ? ".b16" : ".b32"));
      if (d.type == ptx::type::pred && d.space != syntax::state_space::reg)
        throw failure(t.at, "predicates live in registers only");
      if (d.type == ptx::type::pred && d.vector != 1)
        throw failure(t.at, "there are no vectors of predicates");
      if (d.vector * ptx::size_of(d.type) > 16) throw failure(t.at, "a vector has at most 16 bytes");
      return;
    }
  }
}

void parser_state::declarator(syntax::declaration& d, bool nameless) {
  extents_.clear();
  const token name = peek();
  d.at = name.at;
  if (nameless && name.is("_")) {
    take();
  } else {
    if (name.is("_") || name.is("WARP_SZ"))
      throw failure(name.at, fmt::format("{} is not a name that can be declared", quoted(name)));
    d.name = identifier("a name").text;
  }
  if (accept("<")) {
    d.is_range = true;
    d.count = small_literal("a number of registers", budget_.registers);
    expect(">", "after the number of registers");
    return;
  }
  while (peek().is("[")) {
    const place at = take().at;
    if (d.space == syntax::state_space::reg) throw failure(at, "registers have no arrays");
    if (extents_.size() >= budget_.nesting) throw failure(at, "the array has too many extents");
    d.is_array = true;
    if (accept("]")) {
      if (!extents_.empty()) throw failure(at, "only the first extent may be left out");
      d.unsized = true;
      extents_.push_back(largest_array);
      continue;
    }
    const u64 extent = accept("WARP_SZ") ? warp_lanes : literal("an extent", ~u64{0});
    if (extent == 0 || extent > largest_array || d.elements > largest_array / extent)
      throw failure(at, fmt::format("'{}' has an impossible extent", d.name));
    d.elements *= extent;
    extents_.push_back(extent);
    expect("]", "after an extent");
  }
  d.rank = static_cast<u32>(extents_.size());
}

void parser_state::initialiser(syntax::declaration& d) {
  u64 index = 0;
  if (d.vector > 1) extents_.push_back(d.vector);
  initialiser_list(d, index, 0);
  if (!d.unsized) return;
  const u64 row = d.elements * d.vector;
  d.elements = (index == 0 ? 1 : (index + row - 1) / row) * d.elements;
  d.unsized = false;
}

// The values of one extent, in braces. If a list is shorter than its extent, the rest is zero.
void parser_state::initialiser_list(syntax::declaration& d, u64& index, std::size_t level) {
  if (level == extents_.size()) {
    if (peek().is("{"))
      throw failure(peek().at, fmt::format("'{}' has too many braces for its extents", d.name));
    initial_value(d, index++);
    return;
  }
  const token open = peek();
  if (!open.is("{"))
    throw failure(open.at, fmt::format("the values of each extent of '{}' must be in braces", d.name));
  enter(take().at);
  u64 row = 1;
  for (std::size_t i = level + 1; i < extents_.size(); ++i) row *= extents_[i];
  const u64 start = index;
  u64 count = 0;
  if (!peek().is("}")) {
    do {
      if (count == extents_[level])
        throw failure(peek().at, fmt::format("'{}' has more initial values than elements", d.name));
      index = start + count++ * row;
      initialiser_list(d, index, level + 1);
    } while (accept(","));
  }
  expect("}", "after the initial values");
  leave();
  index = start + (level == 0 && d.unsized ? count : extents_[level]) * row;
}

void parser_state::initial_value(syntax::declaration& d, u64 index) {
  if (initial_values_++ >= budget_.initial_values)
    throw failure(peek().at, fmt::format("more than {} initial values", budget_.initial_values));
  syntax::initial_value value;
  value.at = peek().at;
  value.index = index;
  if (peek().kind == token_kind::integer && peek(1).is("(")) {
    const token mask = take();
    take();
    value.masked = true;
    while (value.shift < 64 && mask.bits != u64{0xff} << value.shift) value.shift += 8;
    if (value.shift == 64)
      throw failure(mask.at, fmt::format("{} is not the mask of a byte, as 0xFF00 is", quoted(mask)));
  }
  if (value.masked || (peek().kind == token_kind::identifier && !peek().is("WARP_SZ"))) {
    if (peek().is("generic") && peek(1).is("(")) {
      take();
      take();
      value.generic = true;
    }
    value.symbol = identifier("a symbol").text;
    if (value.generic) expect(")", "after the symbol");
    if (accept("+")) value.bits = unsigned_constant("an offset");
    if (value.masked) expect(")", "after the masked address");
  } else {
    const constant c = constant_expression();
    value.bits = c.bits;
    value.real_bytes = c.real_bytes;
  }
  d.initial.push_back(value);
}

}  // namespace kaio::emulator
