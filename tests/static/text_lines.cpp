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

// A cell is read before the statement that it belongs to is open: it is of that statement all the same.
// clang-format off
#line 200
inline constexpr auto reads = kernel<"reads", 32>([](thread t, in<f32> x, inout<f32> y) {
  shared<f32, 32> part(t);
  part[t.thread_rank()] = x[t.global_id()];
  t.barrier();
  var sum(t, 0.0f);
  sum += part[31u - t.thread_rank()];
  val old = y[t.global_id()];
  y[t.global_id()] = sum + old;
});
#line 57
// clang-format on
constexpr unsigned line_of_load(unsigned occurrence) {
  const ptx::program& p = reads.program();
  for (unsigned i = 0; i < p.instruction_count; ++i)
    if (p.instructions[i].op == opcode::ld && p.instructions[i].modifiers != 0 && occurrence-- == 0)
      return p.statements[p.instructions[i].statement].line;
  return 0;
}
static_assert(line_of_load(0) == 205);  // of shared memory
static_assert(line_of_load(1) == 206);  // of an inout parameter
