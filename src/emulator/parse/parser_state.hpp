#pragma once
// The recursive-descent parser of parse(): one object per text, one member function per grammar rule. Its
// rules are in five files: parser_state.cpp (the module), parse_declaration.cpp (variables and initialisers),
// parse_function.cpp (functions and their directives), parse_body.cpp (statements and operands) and
// parse_constant.cpp (constant expressions).

#include "emulator/parse/lexer.hpp"
#include "emulator/parse/parse_budget.hpp"
#include "emulator/parse/syntax.hpp"
#include "emulator/program/error.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace kaio::emulator {

// The value of a constant expression: 64 bits, or a real number.
struct constant {
  u64 bits = 0;
  u8 real_bytes = 0;  // 0: an integer
  bool is_unsigned = false;
};

// A scalar type by its suffix; ptx::type::none for anything else.
ptx::type scalar_type(std::string_view suffix);

class parser_state {
 public:
  parser_state(std::string_view text, const parse_budget& budget, u32 first_line)
      : lexer_(text, first_line), budget_(budget) {}
  syntax::module module();
  syntax::module header();  // .version, .target and .address_size alone

 private:
  const token& peek(unsigned ahead = 0);
  token take();
  token expect(std::string_view symbol, std::string_view where);
  bool accept(std::string_view symbol);
  token identifier(std::string_view what);
  u64 unsigned_constant(std::string_view what);
  u64 literal(std::string_view what, u64 most);  // a number, not an expression
  u32 small_literal(std::string_view what, u64 most) { return static_cast<u32>(literal(what, most)); }
  static ptx_error failure(const place& at, std::string reason);
  static std::string quoted(const token& t);
  void enter(const place& at);
  void leave() { --depth_; }

  void version();
  void target();
  void address_size();
  void module_item();
  void alias();
  bool skip_debugging();
  void location();
  void section();
  void section_value();
  void skip_line(u32 line);

  syntax::linkage linkage();
  void variables(syntax::state_space space, syntax::linkage link, std::vector<syntax::declaration>& to,
                 std::size_t most, u32 alignment);
  void numbered(syntax::declaration one, std::vector<syntax::declaration>& to, std::size_t most);
  u32 alignment();
  void attributes(syntax::declaration* variable);
  void type_of(syntax::declaration& d);
  void declarator(syntax::declaration& d, bool nameless = false);
  void initialiser(syntax::declaration& d);
  void initialiser_list(syntax::declaration& d, u64& index, std::size_t level);
  void initial_value(syntax::declaration& d, u64 index);

  void function(syntax::linkage link);
  void formal_parameters(std::vector<syntax::declaration>& to, bool is_entry, bool nameless);
  void pointer_attributes(bool is_entry);
  void entry_directives(syntax::function& f);
  void function_directives();

  void body(syntax::function& f);
  void body_declaration(syntax::function& f);
  void labelled(syntax::function& f, const token& label);
  void instruction(syntax::function& f);
  void add(syntax::function& f, syntax::statement s);
  syntax::operand operand(std::size_t& count);
  syntax::operand simple_operand(std::size_t& count);
  syntax::operand address(std::size_t& count);
  syntax::operand group(std::size_t& count, syntax::operand_kind kind, std::string_view close);
  void count_operand(std::size_t& count, const place& at);

  constant constant_expression(unsigned level = 0);
  constant unary();
  constant primary();

  lexer lexer_;
  parse_budget budget_;
  token buffer_[2];
  unsigned pending_ = 0;
  unsigned depth_ = 0;
  std::size_t statements_ = 0, initial_values_ = 0, registers_ = 0, names_ = 0;
  std::vector<u64> extents_;  // for the current declarator
  syntax::module module_;
};

// The space of a directive; none for anything else.
syntax::state_space space_of(std::string_view directive);

}  // namespace kaio::emulator
