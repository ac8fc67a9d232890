#include "emulator/parse/parser_state.hpp"

#include "emulator/program/error.hpp"

#include <fmt/format.h>

#include <charconv>
#include <utility>

namespace kaio::emulator {

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

u64 parser_state::literal(std::string_view what, u64 most) {
  const token t = take();
  if (t.kind != token_kind::integer)
    throw failure(t.at, fmt::format("{} is a number, not {}", what, quoted(t)));
  if (t.bits > most) throw failure(t.at, fmt::format("{} is {}, more than {}", what, t.bits, most));
  return t.bits;
}

void parser_state::enter(const place& at) {
  if (++depth_ > budget_.nesting) throw failure(at, fmt::format("nested more than {} deep", budget_.nesting));
}

// ---- module ----

syntax::module parser_state::header() {
  version();
  module_.target = {};
  module_.target.sm = 0;
  do target();
  while (peek().is(".target"));
  if (peek().is(".address_size")) address_size();
  return module_;
}

syntax::module parser_state::module() {
  header();
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
  if (major < 1) throw failure(number.at, fmt::format("there is no PTX ISA {}.{}", major, minor));
  module_.version = {static_cast<std::uint8_t>(major), static_cast<std::uint8_t>(minor)};
}

void parser_state::target() {
  if (!peek().is(".target")) throw failure(peek().at, ".version must be followed by .target");
  take();
  bool have_sm = false;
  std::string_view texture_mode;
  do {
    const token name = identifier("a target");
    if (name.text.starts_with("sm_")) {
      std::string_view digits = name.text.substr(3);
      const bool architecture = digits.ends_with('a'), family = digits.ends_with('f');
      if (architecture || family) digits.remove_suffix(1);
      unsigned sm = 0;
      const auto parsed = std::from_chars(digits.data(), digits.data() + digits.size(), sm);
      if (parsed.ec != std::errc{} || parsed.ptr != digits.data() + digits.size() || sm < 10 || sm > 999)
        throw failure(name.at, fmt::format("{} is not an architecture", quoted(name)));
      have_sm = true;
      // If there are several, the module needs the newest.
      if (sm < module_.target.sm || (sm == module_.target.sm && !architecture && !family)) continue;
      module_.target.sm = static_cast<std::uint16_t>(sm);
      module_.target.arch_specific = architecture;
      module_.family_specific = family;
    } else if (name.is("map_f64_to_f32")) {
      throw failure(name.at,
                    "map_f64_to_f32 is not supported: it maps double to single precision on sm_12 and older");
    } else if (name.is("texmode_unified") || name.is("texmode_independent")) {
      if (!texture_mode.empty() && texture_mode != name.text)
        throw failure(name.at, fmt::format("'{}' and '{}' exclude each other", texture_mode, name.text));
      texture_mode = name.text;
    } else if (!name.is("debug")) {
      throw failure(name.at, fmt::format("{} is not a target", quoted(name)));
    }
  } while (accept(","));
  if (!have_sm) throw failure(peek().at, ".target names no architecture");
}

void parser_state::address_size() {
  take();
  const token size = take();
  if (size.kind != token_kind::integer || (size.bits != 32 && size.bits != 64))
    throw failure(size.at, ".address_size is 32 or 64");
  module_.address_bytes = static_cast<unsigned>(size.bits / 8);
}

void parser_state::module_item() {
  const token first = peek();
  if (first.is("@")) {  // @@DWARF lines of old compilers
    skip_line(first.at.line);
    return;
  }
  if (first.kind != token_kind::dotted)
    throw failure(first.at, fmt::format("expected a directive, not {}", quoted(first)));
  if (first.is(".target")) return target();
  if (first.is(".version") || first.is(".address_size"))
    throw failure(first.at, fmt::format("{} is given once, at the start of the module", first.text));
  if (skip_debugging()) return;
  if (first.is(".alias")) return alias();
  if (first.is(".tex"))
    throw failure(
        first.at,
        "variables for textures and surfaces are not supported by the emulator, and .tex not by PTX since ISA 1.5");
  const syntax::linkage link = linkage();
  const u32 aligned = alignment();
  if (peek().is(".entry") || peek().is(".func")) {
    function(link);
    return;
  }
  const token kind = peek();
  if (kind.is(".texref") || kind.is(".samplerref") || kind.is(".surfref"))
    throw failure(
        kind.at,
        "variables for textures and surfaces are not supported by the emulator; pass a texture or surface object");
  const syntax::state_space space = space_of(kind.text);
  // Without the ABI of PTX ISA 3.0 a module has .local variables too.
  const bool without_abi = module_.version < ptx::isa_version{3, 0};
  if (kind.kind == token_kind::dotted &&
      (space == syntax::state_space::reg || (space == syntax::state_space::local && !without_abi)))
    throw failure(
        kind.at,
        fmt::format("{} does not start a declaration of a module: it is declared in the body of a function",
                    quoted(kind)));
  if (kind.kind != token_kind::dotted || space == syntax::state_space::none ||
      space == syntax::state_space::param)
    throw failure(kind.at, fmt::format("{} does not start a declaration of a module", quoted(kind)));
  variables(space, link, module_.variables, budget_.variables, aligned);
}

// .alias name, function: another name of a function, declared before.
void parser_state::alias() {
  take();
  const token name = identifier("the name of a function");
  expect(",", "between the two names of .alias");
  const token of = identifier("the name of a function");
  expect(";", "after .alias");
  for (syntax::function& f : module_.functions) {
    if (f.name != name.text) continue;
    if (f.is_entry)
      throw failure(name.at, fmt::format("'{}' is a kernel; .alias names functions", name.text));
    if (f.has_body) throw failure(name.at, fmt::format("'{}' has a body and cannot be an alias", name.text));
    f.alias_of = of.text;
    f.alias_at = of.at;
    return;
  }
  throw failure(name.at,
                fmt::format("'{}' is not declared: an alias is declared as a function first", name.text));
}

// .file, .loc, .section and .pragma do not change results.
bool parser_state::skip_debugging() {
  const token first = peek();
  if (first.is(".loc")) {
    location();
    return true;
  }
  if (first.is(".file")) {  // .file index "name"{, timestamp, size}
    take();
    small_literal("the index of a file", 0x7fffffff);
    if (peek().kind != token_kind::string)
      throw failure(peek().at, fmt::format(".file needs a name in quotes, not {}", quoted(peek())));
    take();
    if (accept(",")) {
      unsigned_constant("a timestamp");
      expect(",", "after the timestamp of .file");
      unsigned_constant("the size of a file");
    }
    return true;
  }
  if (first.is(".pragma")) {
    take();
    do {
      if (peek().kind != token_kind::string)
        throw failure(peek().at, fmt::format(".pragma takes strings, not {}", quoted(peek())));
      take();
    } while (accept(","));
    expect(";", "after .pragma");
    return true;
  }
  if (first.is(".section")) {
    section();
    return true;
  }
  return false;
}

// .loc file line column{, function_name label{+offset}, inlined_at file line column}
void parser_state::location() {
  take();
  const auto position = [&] {
    for (const std::string_view what : {"the file of .loc", "the line of .loc", "the column of .loc"})
      small_literal(what, 0xffffffff);
  };
  position();
  if (!peek().is(",")) return;
  take();
  if (!peek().is("function_name"))
    throw failure(peek().at, fmt::format("expected function_name in .loc, not {}", quoted(peek())));
  take();
  identifier("a label of the debugging information");
  if (accept("+")) small_literal("an offset", 0xffffffff);
  expect(",", "before inlined_at");
  if (!peek().is("inlined_at"))
    throw failure(peek().at, fmt::format("expected inlined_at in .loc, not {}", quoted(peek())));
  take();
  position();
}

void parser_state::section() {
  const place at = take().at;
  if (peek().kind != token_kind::dotted)
    throw failure(peek().at, fmt::format(".section needs a name, not {}", quoted(peek())));
  take();
  if (!peek().is("{")) throw failure(at, ".section has no body");
  take();
  while (!accept("}")) {
    const token t = take();
    if (t.kind == token_kind::end) throw failure(at, ".section is not closed");
    if (t.kind == token_kind::identifier && accept(":")) continue;
    if (!t.is(".b8") && !t.is(".b16") && !t.is(".b32") && !t.is(".b64"))
      throw failure(t.at, fmt::format("{} has no place in a .section", quoted(t)));
    do section_value();
    while (accept(","));
  }
}

// A number, or a label or section with an offset.
void parser_state::section_value() {
  accept("-");
  const token t = take();
  if (t.kind == token_kind::integer) return;
  if (t.kind != token_kind::identifier &&
      (t.kind != token_kind::dotted || scalar_type(t.text) != ptx::type::none))
    throw failure(t.at, fmt::format("expected a value of a .section, not {}", quoted(t)));
  if (!accept("+") && !accept("-")) return;
  const token offset = take();
  if (offset.kind != token_kind::integer && offset.kind != token_kind::identifier)
    throw failure(offset.at, fmt::format("expected an offset, not {}", quoted(offset)));
}

void parser_state::skip_line(u32 line) {
  while (peek().kind != token_kind::end && peek().at.line == line) take();
}

}  // namespace kaio::emulator
