// Each line of text knows the C++ line that it came from, stores and assignments too.
#include <kaio/dsl/dsl.hpp>
using namespace kaio;

// clang-format off
#line 100
inline constexpr auto k = kernel<"k", 32>([](thread t, in<f32> x, out<f32> y) {
  val i = t.global_id();
  y[i] =
      x[i] * 2.0f;
  var v = x[i];
  v += 1.0f;
  if (auto g = t.when(i < 7)) y[i] = v;
});
#line 16
// clang-format on

constexpr unsigned line_of(ptx::opcode op, ptx::type type, unsigned occurrence) {
  const ptx::program& p = k.program();
  for (unsigned i = 0; i < p.instruction_count; ++i)
    if (p.instructions[i].op == op && p.instructions[i].type0 == type && occurrence-- == 0)
      return p.statements[p.instructions[i].statement].line;
  return 0;
}
using ptx::opcode;
using ptx::type;
static_assert(line_of(opcode::mov, type::u32, 0) == 101);  // %ctaid
static_assert(line_of(opcode::mul, type::f32, 0) == 103);
static_assert(line_of(opcode::st, type::f32, 0) == 103);
static_assert(line_of(opcode::add, type::f32, 0) == 105);
static_assert(line_of(opcode::setp, type::u32, 0) == 106);
static_assert(line_of(opcode::st, type::f32, 1) == 106);

// The map of the image has one entry a line of text.
constexpr unsigned text_lines() {
  unsigned lines = 0;
  for (std::string_view segment : k.ptx())
    for (const char c : segment) lines += c == '\n' ? 1 : 0;
  return lines;
}
static_assert(k.image().line_count == text_lines());
static_assert(k.image().statement_of_line[0] == ptx::no_statement);
