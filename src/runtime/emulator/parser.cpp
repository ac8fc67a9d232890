#include "runtime/emulator/parser.hpp"

#include "runtime/emulator/error.hpp"
#include "runtime/emulator/parser_state.hpp"

#include <fmt/format.h>

#include <charconv>
#include <utility>

namespace kaio::runtime::emulator {

namespace {

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

syntax::linkage linkage_of(std::string_view directive) {
  using enum syntax::linkage;
  if (directive == ".visible") return visible;
  if (directive == ".extern") return external;
  if (directive == ".weak") return weak;
  if (directive == ".common") return common;
  return none;
}

}  // namespace

// ---- tokens ----

const token& parser_state::peek(unsigned ahead) {
  while (pending_ <= ahead) buffer_[pending_++] = lexer_.next();
  return buffer_[ahead];
}

token parser_state::take() {
  token result = peek();
  buffer_[0] = buffer_[1];
  --pending_;
  return result;
}

ptx_error parser_state::failure(const place& at, std::string reason) {
  return {at.line, at.column, std::move(reason)};
}

std::string parser_state::quoted(const token& t) {
  if (t.kind == token_kind::end) return "the end of the text";
  return fmt::format("'{}'", t.text.substr(0, 40));
}

token parser_state::expect(std::string_view symbol, std::string_view where) {
  if (!peek().is(symbol))
    throw failure(peek().at, fmt::format("expected '{}' {}, not {}", symbol, where, quoted(peek())));
  return take();
}

bool parser_state::accept(std::string_view symbol) {
  if (!peek().is(symbol)) return false;
  take();
  return true;
}

token parser_state::identifier(std::string_view what) {
  if (peek().kind != token_kind::identifier)
    throw failure(peek().at, fmt::format("expected {}, not {}", what, quoted(peek())));
  return take();
}

u64 parser_state::unsigned_constant(std::string_view what) {
  const place at = peek().at;
  const constant value = constant_expression();
  if (value.real_bytes != 0) throw failure(at, fmt::format("{} must be an integer", what));
  return value.bits;
}

u32 parser_state::small_constant(std::string_view what, u64 most) {
  const place at = peek().at;
  const u64 value = unsigned_constant(what);
  if (value > most) throw failure(at, fmt::format("{} is {}, more than {}", what, value, most));
  return static_cast<u32>(value);
}

void parser_state::enter(const place& at) {
  if (++depth_ > budget_.nesting) throw failure(at, fmt::format("nested more than {} deep", budget_.nesting));
}

// ---- module ----

syntax::module parser_state::module() {
  version();
  target();
  while (peek().kind != token_kind::end) module_item();
  return std::move(module_);
}

void parser_state::version() {
  const token first = peek();
  if (!first.is(".version")) throw failure(first.at, "a module starts with .version");
  take();
  const token number = take();
  unsigned major = 0, minor = 0;
  const char* const end = number.text.data() + number.text.size();
  const auto head = std::from_chars(number.text.data(), end, major);
  bool good =
      number.kind == token_kind::real && head.ec == std::errc{} && head.ptr != end && *head.ptr == '.';
  if (good) {
    const auto tail = std::from_chars(head.ptr + 1, end, minor);
    good = tail.ec == std::errc{} && tail.ptr == end && major < 100 && minor < 100;
  }
  if (!good) throw failure(number.at, fmt::format(".version needs major.minor, not {}", quoted(number)));
  if (major < 1 || major > 9 || (major == 9 && minor > 0))
    throw failure(number.at,
                  fmt::format("PTX ISA {}.{} is not known; the emulator reads 1.0 to 9.0", major, minor));
  module_.version = {static_cast<std::uint8_t>(major), static_cast<std::uint8_t>(minor)};
}

void parser_state::target() {
  if (!peek().is(".target")) throw failure(peek().at, ".version must be followed by .target");
  take();
  bool have_sm = false;
  do {
    const token name = identifier("a target");
    if (name.text.starts_with("sm_")) {
      std::string_view digits = name.text.substr(3);
      if (digits.ends_with('a')) module_.target.arch_specific = true;
      if (digits.ends_with('f')) module_.family_specific = true;
      if (module_.target.arch_specific || module_.family_specific) digits.remove_suffix(1);
      unsigned sm = 0;
      const auto parsed = std::from_chars(digits.data(), digits.data() + digits.size(), sm);
      if (parsed.ec != std::errc{} || parsed.ptr != digits.data() + digits.size() || sm < 10 || sm > 200)
        throw failure(name.at, fmt::format("{} is not an architecture", quoted(name)));
      if (have_sm) throw failure(name.at, "a module has one architecture");
      module_.target.sm = static_cast<std::uint16_t>(sm);
      have_sm = true;
    } else if (!name.is("texmode_unified") && !name.is("texmode_independent") && !name.is("debug") &&
               !name.is("map_f64_to_f32")) {
      throw failure(name.at, fmt::format("{} is not a target", quoted(name)));
    } else if (name.is("map_f64_to_f32")) {
      throw failure(name.at,
                    "map_f64_to_f32 is not supported: it maps double to single precision on sm_12 and older");
    }
  } while (accept(","));
  if (!have_sm) throw failure(peek().at, ".target names no architecture");
}

void parser_state::module_item() {
  const token first = peek();
  if (first.is("@")) {  // @@DWARF lines of old compilers
    skip_line(first.at.line);
    return;
  }
  if (first.kind != token_kind::dotted)
    throw failure(first.at, fmt::format("expected a directive, not {}", quoted(first)));
  if (first.is(".address_size")) {
    take();
    const token size = take();
    if (size.kind != token_kind::integer || (size.bits != 32 && size.bits != 64))
      throw failure(size.at, ".address_size is 32 or 64");
    module_.address_bytes = static_cast<unsigned>(size.bits / 8);
    return;
  }
  if (skip_debugging()) return;
  if (first.is(".alias")) throw failure(first.at, ".alias is not supported by the emulator");
  if (first.is(".tex") || first.is(".texref") || first.is(".samplerref") || first.is(".surfref"))
    throw failure(first.at, "textures and surfaces are not supported by the emulator");

  syntax::linkage link = syntax::linkage::none;
  while (peek().kind == token_kind::dotted && linkage_of(peek().text) != syntax::linkage::none)
    link = linkage_of(take().text);
  if (peek().is(".entry") || peek().is(".func")) {
    function(link);
    return;
  }
  const syntax::state_space space = space_of(peek().text);
  if (peek().kind != token_kind::dotted || space == syntax::state_space::none ||
      space == syntax::state_space::reg || space == syntax::state_space::local ||
      space == syntax::state_space::param)
    throw failure(peek().at, fmt::format("{} does not start a declaration of a module", quoted(peek())));
  variables(space, link, module_.variables, budget_.variables);
}

// .file, .loc, .section and .pragma say nothing about what is computed.
bool parser_state::skip_debugging() {
  const token first = peek();
  if (first.is(".loc") || first.is(".file")) {
    skip_line(first.at.line);
    return true;
  }
  if (first.is(".pragma")) {
    take();
    while (!peek().is(";")) {
      if (peek().kind != token_kind::string && !peek().is(","))
        throw failure(peek().at, fmt::format(".pragma takes strings, not {}", quoted(peek())));
      take();
    }
    take();
    return true;
  }
  if (first.is(".section")) {
    while (!peek().is("{")) {
      if (peek().kind == token_kind::end) throw failure(first.at, ".section has no body");
      take();
    }
    unsigned depth = 0;
    do {
      if (peek().kind == token_kind::end) throw failure(first.at, ".section is not closed");
      const token t = take();
      if (t.is("{")) ++depth;
      if (t.is("}")) --depth;
    } while (depth != 0);
    return true;
  }
  return false;
}

void parser_state::skip_line(u32 line) {
  while (peek().kind != token_kind::end && peek().at.line == line) take();
}

// ---- declarations ----

void parser_state::variables(syntax::state_space space, syntax::linkage link,
                             std::vector<syntax::declaration>& to, std::size_t most) {
  take();  // the state space
  syntax::declaration common;
  common.space = space;
  common.link = link;
  type_of(common);
  do {
    syntax::declaration one = common;
    extents_.clear();
    declarator(one);
    if (to.size() >= most) throw failure(one.at, fmt::format("more than {} declarations", most));
    if (accept("=")) {
      if (space != syntax::state_space::global && space != syntax::state_space::constant)
        throw failure(one.at, "only .global and .const variables can be initialised");
      initialiser(one);
    }
    to.push_back(std::move(one));
  } while (accept(","));
  expect(";", "after a declaration");
}

void parser_state::type_of(syntax::declaration& d) {
  for (;;) {
    const token t = peek();
    if (t.kind != token_kind::dotted) throw failure(t.at, fmt::format("expected a type, not {}", quoted(t)));
    take();
    if (t.is(".align")) {
      d.alignment = small_constant("an alignment", 128);
      if (d.alignment == 0 || (d.alignment & (d.alignment - 1)) != 0)
        throw failure(t.at, "an alignment is a power of two");
    } else if (t.is(".attribute")) {
      expect("(", "after .attribute");
      while (!accept(")")) {
        if (peek().kind == token_kind::end) throw failure(t.at, ".attribute is not closed");
        take();
      }
    } else if (t.is(".v2") || t.is(".v4")) {
      d.vector = t.is(".v2") ? 2 : 4;
    } else {
      d.type = scalar_type(t.text);
      if (d.type == ptx::type::none) throw failure(t.at, fmt::format("{} is not a type", quoted(t)));
      if (d.type == ptx::type::bf16 || d.type == ptx::type::bf16x2)
        throw failure(t.at,
                      fmt::format("{} is a type of instructions only; registers and variables that hold "
                                  "it are {}",
                                  quoted(t), d.type == ptx::type::bf16 ? ".b16" : ".b32"));
      if (d.type == ptx::type::pred && d.space != syntax::state_space::reg)
        throw failure(t.at, "predicates live in registers only");
      return;
    }
  }
}

void parser_state::declarator(syntax::declaration& d) {
  const token name = identifier("a name");
  d.name = name.text;
  d.at = name.at;
  if (accept("<")) {
    if (d.space != syntax::state_space::reg) throw failure(name.at, "only registers are declared in numbers");
    d.count = small_constant("a number of registers", budget_.registers);
    expect(">", "after the number of registers");
    if (d.count == 0) throw failure(name.at, fmt::format("'{}' declares no register", d.name));
    return;
  }
  while (peek().is("[")) {
    const place at = take().at;
    if (d.space == syntax::state_space::reg) throw failure(at, "registers have no arrays");
    d.is_array = true;
    if (accept("]")) {
      if (d.unsized || d.elements != 1) throw failure(at, "only the first extent may be left out");
      d.unsized = true;
      continue;
    }
    const u64 extent = unsigned_constant("an extent");
    if (extent == 0 || extent > (u64{1} << 40) || d.elements > (u64{1} << 40) / extent)
      throw failure(at, fmt::format("'{}' has an impossible extent", d.name));
    d.elements *= extent;
    extents_.push_back(extent);
    expect("]", "after an extent");
  }
}

void parser_state::initialiser(syntax::declaration& d) {
  u64 index = 0;
  initialiser_list(d, index, 0);
  if (d.unsized) {
    d.elements = index == 0 ? 1 : index;
    d.unsized = false;
  }
  if (index > d.elements * d.vector)
    throw failure(d.at, fmt::format("'{}' has {} initial values for {} elements", d.name, index, d.elements));
}

void parser_state::initialiser_list(syntax::declaration& d, u64& index, unsigned level) {
  if (!peek().is("{")) {
    initial_value(d, index++);
    return;
  }
  enter(take().at);
  const u64 start = index;
  if (!peek().is("}")) {
    do {
      initialiser_list(d, index, level + 1);
    } while (accept(","));
  }
  expect("}", "after the initial values");
  leave();
  // A row of a nested initialiser may be shorter than the array's rows: the rest of it is zero.
  u64 row = d.vector;
  const std::size_t rank = extents_.size();
  for (std::size_t i = level; i < rank; ++i) row *= extents_[i];
  if (level > 0 && level < rank) {
    if (index - start > row)
      throw failure(d.at, fmt::format("a row of '{}' has too many initial values", d.name));
    index = start + row;
  }
}

void parser_state::initial_value(syntax::declaration& d, u64 index) {
  if (initial_values_++ >= budget_.initial_values)
    throw failure(peek().at, fmt::format("more than {} initial values", budget_.initial_values));
  syntax::initial_value value;
  value.at = peek().at;
  value.index = index;
  if (peek().kind == token_kind::identifier) {
    if (peek().is("generic") && peek(1).is("(")) {
      take();
      take();
      value.generic = true;
    }
    value.symbol = identifier("a symbol").text;
    if (value.generic) expect(")", "after the symbol");
    if (accept("+")) value.bits = unsigned_constant("an offset");
  } else {
    const constant c = constant_expression();
    value.bits = c.bits;
    value.real_bytes = c.real_bytes;
  }
  d.initial.push_back(value);
}

// ---- functions ----

void parser_state::function(syntax::linkage link) {
  syntax::function f;
  const token keyword = take();
  f.at = keyword.at;
  f.is_entry = keyword.is(".entry");
  f.link = link;
  // What .func declares is read and kept out of the way: the decoder rejects the calls.
  if (!f.is_entry && peek().is(".attribute")) {
    take();
    skip_parentheses();
  }
  if (!f.is_entry && peek().is("(")) skip_parentheses();
  const token name = identifier("the name of a function");
  f.name = name.text;
  f.at = name.at;
  if (peek().is("(")) {
    if (f.is_entry) {
      parameters(f);
    } else {
      skip_parentheses();
    }
  }
  function_directives(f);
  if (accept(";")) {
    if (f.is_entry && link != syntax::linkage::external)
      throw failure(f.at, fmt::format("'{}' has no body", f.name));
  } else {
    const token open = expect("{", "to open a body");
    f.has_body = true;
    enter(open.at);
    body(f);
    leave();
  }
  module_.functions.push_back(std::move(f));
}

void parser_state::skip_parentheses() {
  const place at = expect("(", "here").at;
  unsigned depth = 1;
  while (depth != 0) {
    if (peek().kind == token_kind::end) throw failure(at, "'(' is not closed");
    const token t = take();
    if (t.is("(")) ++depth;
    if (t.is(")")) --depth;
  }
}

void parser_state::parameters(syntax::function& f) {
  take();  // (
  if (accept(")")) return;
  do {
    if (f.parameters.size() >= budget_.parameters)
      throw failure(peek().at, fmt::format("more than {} parameters", budget_.parameters));
    expect(".param", "to declare a parameter");
    syntax::declaration d;
    d.space = syntax::state_space::param;
    type_of(d);
    if (accept(".ptr")) {  // .ptr{.space}{.align n}: what the pointer points to
      if (peek().kind == token_kind::dotted && space_of(peek().text) != syntax::state_space::none) take();
      if (accept(".align")) small_constant("an alignment", 1u << 20);
    }
    extents_.clear();
    declarator(d);
    if (d.unsized) throw failure(d.at, fmt::format("parameter '{}' has no size", d.name));
    f.parameters.push_back(std::move(d));
  } while (accept(","));
  expect(")", "after the parameters");
}

void parser_state::function_directives(syntax::function& f) {
  const auto extents_of = [&](syntax::dimensions& to, std::string_view what) {
    to.given = true;
    std::uint32_t* const axes[] = {&to.extent.x, &to.extent.y, &to.extent.z};
    for (unsigned i = 0; i < 3; ++i) {
      const place at = peek().at;
      *axes[i] = small_constant(what, 0x7fffffff);
      if (*axes[i] == 0) throw failure(at, fmt::format("{} must not be zero", what));
      if (i == 2 || !accept(",")) return;
    }
  };
  for (;;) {
    const token t = peek();
    if (t.is(".maxntid")) {
      take();
      extents_of(f.maximum_threads, ".maxntid");
    } else if (t.is(".reqntid")) {
      take();
      extents_of(f.required_threads, ".reqntid");
    } else if (t.is(".reqnctapercluster")) {
      take();
      extents_of(f.required_cluster, ".reqnctapercluster");
    } else if (t.is(".maxnreg") || t.is(".minnctapersm") || t.is(".maxnctapersm") ||
               t.is(".maxclusterrank")) {
      take();
      small_constant(t.text, 0x7fffffff);
    } else if (t.is(".explicitcluster") || t.is(".blocksareclusters") || t.is(".noreturn")) {
      take();
    } else if (!skip_debugging()) {
      return;
    }
  }
}

syntax::module parse(std::string_view text, const parse_budget& budget) {
  if (text.size() > budget.bytes)
    throw ptx_error(1, 1, fmt::format("the text has {} bytes, more than {}", text.size(), budget.bytes));
  return parser_state(text, budget).module();
}

}  // namespace kaio::runtime::emulator
