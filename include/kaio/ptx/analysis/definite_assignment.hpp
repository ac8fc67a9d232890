#pragma once
// Checks that a program reads no register before it is written, on any path. In SSA terms: every value is
// used only where its definition dominates, and every variable has a value. An unwritten register holds
// whatever another value left in it; neither ptxas nor the driver reports it.
//
//   static_assert(find_unassigned(program).line == 0);       // else the line that reads too early
//
// One pass in the order of the text. A loop is entered at its head alone, so registers assigned at the head
// are assigned after each jump back to it. Paths meet at a label. Registers are assigned there if they were
// before the first branch to it, or if both sides of a fork that ends there assign them. The accumulators of
// wgmma are not followed. A run-time predicate decides whether their first product reads them, and a loop of
// no rounds leaves them unwritten.

#include <kaio/ptx/program.hpp>

#include <cstdint>

namespace kaio::ptx {

// The lines of the faulty statements; 0: none, 1: a statement without a line.
struct assignment_fault {
  std::uint32_t line = 0;            // reads a register that some path has not written
  std::uint32_t jump_into_loop = 0;  // a loop not entered at its head: the check cannot follow it
  constexpr bool operator==(const assignment_fault&) const = default;
};

class definite_assignment {
 public:
  constexpr explicit definite_assignment(const program& p) : program_(p) {
    for (std::uint32_t i = 0; i < p.instruction_count; ++i)
      if (is_product(p.instructions[i].op)) exempt(p.operands[p.instructions[i].first_operand]);
    for (std::uint32_t i = 0; i < p.instruction_count; ++i) follow(p.instructions[i], i + 1);
  }
  constexpr const assignment_fault& fault() const { return fault_; }

 private:
  static constexpr std::uint32_t max_labels = program::max_instructions;  // each is placed once

  // Positions count instructions from 1.
  struct assignment {
    std::uint32_t reg = 0;
    std::uint32_t position = 0;
  };
  struct label {
    std::uint32_t position = 0;      // 0: not placed yet
    std::uint32_t first_branch = 0;  // forward, to it; 0: none
    std::uint32_t branches = 0;
  };

  static constexpr bool is_product(opcode op) {
    return op == opcode::wgmma_mma_async || op == opcode::wgmma_mma_async_sp;
  }
  constexpr void exempt(const operand& accumulator) {
    for (std::uint32_t k = 0; k < accumulator.bits; ++k) assigned_[accumulator.index + k] = true;
  }

  constexpr void follow(const instruction& i, std::uint32_t position) {
    const operand* const o = program_.operands + i.first_operand;
    if (i.op == opcode::label) return place(*o, position);
    if (i.guarded) read(o[i.operand_count], i);
    if (i.op == opcode::bra) return branch(*o, i, position);
    std::uint32_t results = 0;
    if (has_result(i.op) && i.operand_count != 0)
      results = o->kind == operand_kind::pack || o->kind == operand_kind::pair ? o->index + 1 : 1;
    for (std::uint32_t k = results; k < i.operand_count; ++k) read(o[k], i);
    if (i.guarded) return;  // it may not run
    for (std::uint32_t k = 0; k < results; ++k) write(o[k], position);
  }

  constexpr void read(const operand& o, const instruction& i) {
    if (o.kind != operand_kind::reg && o.kind != operand_kind::address) return;
    if (!assigned_[o.index]) note(fault_.line, i);
  }

  constexpr void write(const operand& o, std::uint32_t position) {
    if (o.kind != operand_kind::reg || assigned_[o.index]) return;
    assigned_[o.index] = true;
    history_[length_++] = {o.index, position};
  }

  constexpr void branch(const operand& to, const instruction& i, std::uint32_t position) {
    label& target = labels_[to.index];
    if (target.position == 0) {
      if (++target.branches != 1) return;
      target.first_branch = position;
      if (!i.guarded) end_side(to.index);
      pending_[pendings_++] = to.index;
      return;
    }
    // A jump back. It is a fault if a path from before the head has come in since.
    for (std::uint32_t n = placed_; n != 0 && labels_[order_[n - 1]].position > target.position; --n) {
      const label& inside = labels_[order_[n - 1]];
      if (inside.first_branch != 0 && inside.first_branch < target.position) note(fault_.jump_into_loop, i);
    }
  }

  // The first side of a fork jumps over the second one. It began after the last branch whose label is to
  // come.
  constexpr void end_side(std::uint32_t target) {
    const std::uint32_t begin = pendings_ == 0 ? 0 : labels_[pending_[pendings_ - 1]].first_branch;
    for (std::uint32_t k = length_; k != 0 && history_[k - 1].position > begin; --k)
      first_side_[history_[k - 1].reg] = target;
  }

  // Assignments since the first branch to here may not have happened, unless the other side makes them too.
  constexpr void place(const operand& at, std::uint32_t position) {
    label& here = labels_[at.index];
    here.position = position;
    order_[placed_++] = at.index;
    if (here.first_branch == 0) return;
    for (std::uint32_t k = pendings_; k != 0; --k)
      if (pending_[k - 1] == at.index) {
        for (--pendings_; k <= pendings_; ++k) pending_[k - 1] = pending_[k];
        break;
      }
    std::uint32_t kept = length_;
    while (kept != 0 && history_[kept - 1].position > here.first_branch) --kept;
    const std::uint32_t end = length_;
    length_ = kept;
    for (std::uint32_t k = kept; k < end; ++k) {
      const std::uint32_t reg = history_[k].reg;
      assigned_[reg] = here.branches == 1 && first_side_[reg] == at.index;
      if (assigned_[reg]) history_[length_++] = {reg, position};
    }
  }

  constexpr void note(std::uint32_t& line, const instruction& i) const {
    if (line == 0) line = i.statement == no_statement ? 1 : program_.statements[i.statement].line;
  }

  const program& program_;
  bool assigned_[program::max_registers + 1] = {};
  assignment history_[program::max_registers + 1] = {};  // of registers that are assigned here
  std::uint32_t length_ = 0;
  std::uint32_t first_side_[program::max_registers + 1] =
      {};                                       // the label that a side ends at which assigns it
  std::uint32_t pending_[max_labels + 1] = {};  // labels that have branches and are to come
  std::uint32_t pendings_ = 0;
  label labels_[max_labels + 1] = {};
  std::uint32_t order_[max_labels + 1] = {};  // of the labels in the text
  std::uint32_t placed_ = 0;
  assignment_fault fault_;
};

constexpr assignment_fault find_unassigned(const program& p) { return definite_assignment(p).fault(); }

}  // namespace kaio::ptx
