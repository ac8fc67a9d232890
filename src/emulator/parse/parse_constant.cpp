// Constant expressions (PTX ISA, "Constant Expressions"): C's operators over 64-bit signed and unsigned
// integers. Reals have sums, products, comparisons and unary minus.

#include "emulator/parse/parser_state.hpp"

#include <fmt/format.h>

#include <bit>
#include <limits>
#include <string>
#include <string_view>
#include <utility>

namespace kaio::emulator {
namespace {

// Binary operators from the weakest to the strongest binding, as in C.
struct level_of_operators {
  std::string_view symbols[4];
};
constexpr level_of_operators levels[] = {
    {{"||"}},
    {{"&&"}},
    {{"|"}},
    {{"^"}},
    {{"&"}},
    {{"==", "!="}},
    {{"<", "<=", ">", ">="}},
    {{"<<", ">>"}},
    {{"+", "-"}},
    {{"*", "/", "%"}},
};
constexpr unsigned level_count = sizeof(levels) / sizeof(levels[0]);

constexpr std::string_view operator_at(unsigned level, const token& t) {
  if (t.kind == token_kind::punctuation)
    for (std::string_view symbol : levels[level].symbols)
      if (!symbol.empty() && symbol == t.text) return symbol;
  return {};
}

double real_value(const constant& c) {
  return c.real_bytes == 4 ? static_cast<double>(std::bit_cast<float>(static_cast<u32>(c.bits)))
                           : std::bit_cast<double>(c.bits);
}

// Sums and products of real constants are computed in double precision.
constant real_operation(const token& at, std::string_view op, const constant& a, const constant& b) {
  const auto refuse = [&](std::string reason) {
    return ptx_error(at.at.line, at.at.column, std::move(reason));
  };
  if (a.real_bytes == 0 || b.real_bytes == 0)
    throw refuse(fmt::format("'{}' has an integer on one side and a real constant on the other", op));
  const double x = real_value(a), y = real_value(b);
  if (op == "+") return {std::bit_cast<u64>(x + y), 8, false};
  if (op == "-") return {std::bit_cast<u64>(x - y), 8, false};
  if (op == "*") return {std::bit_cast<u64>(x * y), 8, false};
  if (op == "/") return {std::bit_cast<u64>(x / y), 8, false};
  const auto truth = [](bool holds) { return constant{holds ? u64{1} : u64{0}, 0, false}; };
  if (op == "<") return truth(x < y);
  if (op == "<=") return truth(x <= y);
  if (op == ">") return truth(x > y);
  if (op == ">=") return truth(x >= y);
  if (op == "==") return truth(x == y);
  if (op == "!=") return truth(x != y);
  throw refuse(fmt::format("'{}' is not an operator of real constants", op));
}

}  // namespace

ptx::type scalar_type(std::string_view suffix) {
  for (unsigned i = 1; i <= static_cast<unsigned>(ptx::type::f64); ++i)
    if (ptx::suffix(static_cast<ptx::type>(i)) == suffix) return static_cast<ptx::type>(i);
  return ptx::type::none;
}

constant parser_state::constant_expression(unsigned level) {
  if (level == 0) enter(peek().at);
  constant left = level + 1 < level_count ? constant_expression(level + 1) : unary();
  for (;;) {
    const token t = peek();
    const std::string_view op = operator_at(level, t);
    // If no constant is to the right, `a|b` and `<` belong to operands and declarations.
    if (op.empty()) break;
    if (peek(1).kind != token_kind::integer && peek(1).kind != token_kind::real && !peek(1).is("WARP_SZ") &&
        !peek(1).is("(") && !peek(1).is("-") && !peek(1).is("~") && !peek(1).is("!") && !peek(1).is("+"))
      break;
    take();
    const constant right = level + 1 < level_count ? constant_expression(level + 1) : unary();
    if (left.real_bytes != 0 || right.real_bytes != 0) {
      left = real_operation(t, op, left, right);
      continue;
    }
    const bool is_unsigned = left.is_unsigned || right.is_unsigned;
    const u64 a = left.bits, b = right.bits;
    const s64 sa = static_cast<s64>(a), sb = static_cast<s64>(b);
    constant result{0, 0, is_unsigned};
    if (op == "+")
      result.bits = a + b;
    else if (op == "-")
      result.bits = a - b;
    else if (op == "*")
      result.bits = a * b;
    else if (op == "/" || op == "%") {
      if (b == 0) throw failure(t.at, "division by zero in a constant expression");
      if (is_unsigned)
        result.bits = op == "/" ? a / b : a % b;
      else if (sb == -1)
        result.bits = op == "/" ? 0 - a : 0;
      else
        result.bits = static_cast<u64>(op == "/" ? sa / sb : sa % sb);
    } else if (op == "<<")
      result.bits = b < 64 ? a << b : 0;
    else if (op == ">>")
      result.bits = left.is_unsigned ? (b < 64 ? a >> b : 0) : static_cast<u64>(sa >> (b < 64 ? b : 63));
    else if (op == "&")
      result.bits = a & b;
    else if (op == "|")
      result.bits = a | b;
    else if (op == "^")
      result.bits = a ^ b;
    else {
      bool truth = false;
      if (op == "==")
        truth = a == b;
      else if (op == "!=")
        truth = a != b;
      else if (op == "&&")
        truth = a != 0 && b != 0;
      else if (op == "||")
        truth = a != 0 || b != 0;
      else if (op == "<")
        truth = is_unsigned ? a < b : sa < sb;
      else if (op == "<=")
        truth = is_unsigned ? a <= b : sa <= sb;
      else if (op == ">")
        truth = is_unsigned ? a > b : sa > sb;
      else
        truth = is_unsigned ? a >= b : sa >= sb;
      result = {truth ? u64{1} : u64{0}, 0, false};
    }
    left = result;
  }
  if (level == 0) {
    if (accept("?")) {
      const constant yes = constant_expression();
      expect(":", "in a conditional constant");
      const constant no = constant_expression();
      left = left.bits != 0 ? yes : no;
    }
    leave();
  }
  return left;
}

constant parser_state::unary() {
  const token t = peek();
  if (!t.is("-") && !t.is("+") && !t.is("~") && !t.is("!")) return primary();
  take();
  enter(t.at);
  constant value = unary();
  leave();
  if (value.real_bytes != 0) {
    if (t.is("-"))
      value.bits ^= value.real_bytes == 4 ? u64{1} << 31 : u64{1} << 63;
    else if (!t.is("+"))
      throw failure(t.at, fmt::format("'{}' is not an operator of real constants", t.text));
    return value;
  }
  if (t.is("-")) value.bits = 0 - value.bits;
  if (t.is("~")) value.bits = ~value.bits;
  if (t.is("!")) value = {value.bits == 0 ? u64{1} : u64{0}, 0, false};
  return value;
}

constant parser_state::primary() {
  const token t = peek();
  if (t.kind == token_kind::integer) {
    take();
    // A decimal literal that does not fit a signed 64-bit integer is unsigned.
    return {t.bits, 0, t.is_unsigned || t.bits > static_cast<u64>(std::numeric_limits<s64>::max())};
  }
  if (t.kind == token_kind::real) {
    take();
    return {t.bits, t.real_bytes, false};
  }
  if (t.is("(")) {
    enter(take().at);
    if (peek().is(".s64") || peek().is(".u64")) {  // a cast: (.s64) or (.u64)
      const bool is_unsigned = take().is(".u64");
      expect(")", "after a cast");
      constant value = unary();
      if (value.real_bytes != 0) throw failure(t.at, "a real constant is not cast");
      value.is_unsigned = is_unsigned;
      leave();
      return value;
    }
    const constant value = constant_expression();
    expect(")", "in a constant expression");
    leave();
    return value;
  }
  if (t.is("WARP_SZ")) {
    take();
    return {warp_lanes, 0, false};
  }
  throw failure(t.at, fmt::format("expected a constant, not {}", quoted(t)));
}

}  // namespace kaio::emulator
