#pragma once
// Cuts PTX text into tokens (PTX ISA, "Syntax"). A token is a view of the text with its place, so a later
// rejection can name line and column. Comments and white space are dropped here.
//
//   lexer source("add.f32 %f1, %f2, 0f3F800000;");
//   source.next();   // identifier "add", then dotted ".f32", identifier "%f1", punctuation ",", ...

#include "emulator/program/scalar.hpp"

#include <string_view>

namespace kaio::emulator {

struct place {
  u32 line = 0, column = 0;  // from 1; columns count bytes

  bool before(const place& other) const {
    return line != other.line ? line < other.line : column < other.column;
  }
};

enum class token_kind : u8 {
  end,
  identifier,   // add, %r1, $L__BB0_2
  dotted,       // .f32, .global, .L1::evict_last
  integer,      // bits, is_unsigned
  real,         // bits of a double, or of a float where real_bytes == 4 (0f3F800000)
  string,       // without its quotes
  punctuation,  // one operator or bracket: << >> <= >= == != && || are one token
};

struct token {
  token_kind kind = token_kind::end;
  std::string_view text;
  place at;
  u64 bits = 0;
  bool is_unsigned = false;  // 123U
  u8 real_bytes = 0;         // 4 for 0f..., 8 for 0d... and decimal literals

  bool is(std::string_view symbol) const { return text == symbol && kind != token_kind::string; }
};

class lexer {
 public:
  // `first_line`: the number of the text's first line.
  explicit lexer(std::string_view text, u32 first_line = 1) : text_(text), place_{first_line, 1} {}

  // The next token; at the end always token_kind::end. Throws ptx_error.
  token next();

 private:
  std::size_t line_marker() const;
  void skip_blank();
  void advance(std::size_t count);
  char peek(std::size_t ahead = 0) const { return at_ + ahead < text_.size() ? text_[at_ + ahead] : '\0'; }
  token number();
  bool is_fraction() const;
  bool has_exponent(std::size_t at) const;
  token take(token_kind kind, std::size_t length);

  std::string_view text_;
  std::size_t at_ = 0;
  place place_;
};

}  // namespace kaio::emulator
