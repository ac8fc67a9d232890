// The check that no register is read before every path has written it, on programs made by hand. Kernels of the
// language always pass it, except for a fragment that nothing has filled.
#include <kaio/dsl/dsl.hpp>

using namespace kaio;
using ptx::opcode;
using ptx::operand;
using ptx::operand_kind;
using ptx::type;

namespace by_hand {

// Writes a program an instruction a call; the n-th has line 10 n.
struct author {
  ptx::program made;

  constexpr author& add(opcode op, std::initializer_list<operand> operands, bool guarded = false) {
    ptx::instruction& i = made.instructions[made.instruction_count++];
    i.op = op;
    i.guarded = guarded;
    i.operand_count = static_cast<std::uint8_t>(operands.size() - (guarded ? 1 : 0));
    i.first_operand = made.operand_count;
    i.statement = static_cast<std::uint16_t>(made.statement_count);
    made.statements[made.statement_count++] = {"", 10 * made.instruction_count};
    for (const operand& o : operands) made.operands[made.operand_count++] = o;
    return *this;
  }
  constexpr author& mov(u32 to) {
    return add(opcode::mov,
               {{operand_kind::reg, type::u32, to, 0}, {operand_kind::immediate, type::u32, 0, 1}});
  }
  constexpr author& mov(u32 to, u32 from) {
    return add(opcode::mov, {{operand_kind::reg, type::u32, to, 0}, {operand_kind::reg, type::u32, from, 0}});
  }
  constexpr author& store(u32 address, u32 from) {
    return add(opcode::st,
               {{operand_kind::address, type::u64, address, 4}, {operand_kind::reg, type::u32, from, 0}});
  }
  constexpr author& label(u32 n) { return add(opcode::label, {{operand_kind::label, type::none, n, 0}}); }
  constexpr author& jump(u32 n) { return add(opcode::bra, {{operand_kind::label, type::none, n, 0}}); }
  constexpr author& branch_if(u32 predicate, u32 n) {
    return add(opcode::bra,
               {{operand_kind::label, type::none, n, 0}, {operand_kind::reg, type::pred, predicate, 0}},
               true);
  }
};

// The line that reads too early.
constexpr u32 line(const author& a) { return find_unassigned(a.made).line; }
constexpr u32 jump_line(const author& a) { return find_unassigned(a.made).jump_into_loop; }

constexpr u32 p = 9, x = 1, y = 2;

static_assert(line(author().mov(x).mov(y, x)) == 0);
static_assert(line(author().mov(y, x)) == 10);
static_assert(line(author().mov(x).store(y, x)) == 20 && line(author().mov(y).store(y, x)) == 20);
static_assert(line(author().mov(x, x)) == 10);
static_assert(line(author().branch_if(p, 1).label(1)) == 10);

// A guarded body: its assignments do not count after it, unless the register was assigned before.
static_assert(line(author().mov(p).branch_if(p, 1).mov(x).mov(y, x).label(1)) == 0);
static_assert(line(author().mov(p).branch_if(p, 1).mov(x).label(1).mov(y, x)) == 50);
static_assert(line(author().mov(p).mov(x).branch_if(p, 1).mov(x).label(1).mov(y, x)) == 0);
// Both sides of a fork assign it, or one does not; a third way to the same label.
static_assert(line(author().mov(p).branch_if(p, 1).mov(x).jump(2).label(1).mov(x).label(2).mov(y, x)) == 0);
static_assert(line(author().mov(p).branch_if(p, 1).mov(x).jump(2).label(1).mov(y).label(2).mov(p, x)) == 80);
static_assert(line(author().mov(p).branch_if(p, 1).mov(y).jump(2).label(1).mov(x).label(2).mov(p, x)) == 80);
static_assert(
    line(author().mov(p).branch_if(p, 1).mov(x).jump(2).label(1).branch_if(p, 2).mov(x).label(2).mov(y, x)) ==
    90);
// A fork in a side of a fork.
static_assert(line(author()
                       .mov(p)
                       .branch_if(p, 1)
                       .branch_if(p, 3)
                       .mov(x)
                       .jump(4)
                       .label(3)
                       .mov(x)
                       .label(4)
                       .jump(2)
                       .label(1)
                       .mov(x)
                       .label(2)
                       .mov(y, x)) == 0);
static_assert(line(author().mov(p).branch_if(p, 1).mov(x).jump(2).label(1).mov(y, x).label(2)) == 60);

// Two branches to one label: what was assigned between them does not count.
static_assert(line(author().mov(p).branch_if(p, 1).mov(x).branch_if(p, 1).mov(y, x).label(1).mov(y, x)) ==
              70);

// Loops: assignments before the head are known in the loop. Assignments of its body are known after it (it
// ran), and not in the part before.
static_assert(line(author().mov(p).mov(x).label(1).mov(y, x).branch_if(p, 1).mov(x, y)) == 0);
static_assert(line(author().mov(p).label(1).mov(y, x).mov(x).branch_if(p, 1)) == 30);
// The loop that is skipped where its bound is computed: the class of error this check was written for.
static_assert(
    line(author().mov(p).branch_if(p, 2).mov(x).label(1).mov(y, x).branch_if(p, 1).label(2).mov(y, x)) == 80);
// A way into the loop past its head.
static_assert(jump_line(author().mov(p).mov(x).branch_if(p, 2).label(1).mov(x).label(2).mov(y, x).branch_if(
                  p, 1)) == 80);
static_assert(jump_line(author().mov(p).mov(x).label(1).branch_if(p, 2).mov(x).label(2).mov(y, x).branch_if(
                  p, 1)) == 0);

// An instruction under a guard may not run.
static_assert(line(author()
                       .mov(p)
                       .add(opcode::mov,
                            {{operand_kind::reg, type::u32, x, 0},
                             {operand_kind::immediate, type::u32, 0, 1},
                             {operand_kind::reg, type::pred, p, 0}},
                            true)
                       .mov(y, x)) == 30);
// Packs; the accumulators of wgmma are not followed.
static_assert(line(author()
                       .add(opcode::ld, {{operand_kind::pack, type::none, 2, 0},
                                         {operand_kind::reg, type::u32, x, 0},
                                         {operand_kind::reg, type::u32, y, 0},
                                         {operand_kind::symbol_address, type::u32, 0, 0}})
                       .mov(p, y)) == 0);
static_assert(line(author()
                       .mov(p, x + 3)
                       .add(opcode::wgmma_mma_async, {{operand_kind::registers, type::f32, x, 4},
                                                      {operand_kind::immediate, type::u64, 0, 0}})
                       .mov(p, x + 3)
                       .mov(p, x + 4)) == 40);

}  // namespace by_hand

// The kernels of the language.
namespace {

constexpr auto loops = kernel<"loops", 64>([](thread t, inout<u32> a, val<u32> n) {
  val i = t.global_id();
  var sum(t, 0u);
  val step = a[0];
  for (auto k : t.range(i, n, step)) sum += k;
  for (auto k : t.range(0u, n, step)) {
    k.continue_if(sum > k);
    if (auto g = t.when(k > 3u)) sum += a[k];
    if (auto g = t.otherwise()) sum -= 1u;
    k.break_if(sum > 100u);
  }
  for (auto k : t.range(i, n).unroll<4>()) sum += k;
  a[i] = sum;
});
static_assert(loops.is_well_formed());

constexpr auto unfilled = kernel<"unfilled", 32>([](thread t, out<f32> y) {
  mma_m16n8k16<f32, f16>::accumulator sum(t);
  y[t.global_id()] = sum.element(0);
});
static_assert(!unfilled.is_well_formed() && find_unassigned(unfilled.program()).line == __LINE__ - 2);

}  // namespace
