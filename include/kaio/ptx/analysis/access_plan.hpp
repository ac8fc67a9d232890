#pragma once
// The plan for evaluating a program's addresses: the accesses to shared and global memory, the instructions
// that compute their addresses, and possible divergences of lanes. It is found once for all warps.
//
//   constexpr access_plan plan = plan_accesses(my_program);

#include <kaio/ptx/program.hpp>

#include <cstdint>

namespace kaio::ptx {

struct access_plan {
  static constexpr std::uint32_t max_registers = program::max_registers;
  static constexpr std::uint32_t max_divergences = 4096;

  struct place {
    std::uint32_t instruction = 0;
    std::uint32_t first_divergence = 0;  // of the operands of this instruction; 0: none
    bool is_access = false;
    bool is_step = false;  // its result is needed by an address
  };
  // If lanes take different ways by `predicate`, the register has different values afterwards.
  struct divergence {
    std::uint32_t reg = 0;
    std::uint32_t predicate = 0;
    std::uint32_t next = 0;
  };

  place places[program::max_instructions] = {};
  std::uint32_t place_count = 0;
  std::uint32_t access_count = 0;
  divergence divergences[max_divergences] = {};
  std::uint32_t divergence_count = 1;
  std::uint32_t slot_of[max_registers + 1] = {};  // the needed registers, numbered from 1
  std::uint32_t slot_count = 0;
  bool has_variables = false;  // a needed register is written more than once
  bool gives_up = false;       // more divergences than fit: no address is known
};

constexpr bool is_access(const instruction& i) {
  if (i.op == opcode::ld_nc) return true;
  if (i.op != opcode::ld && i.op != opcode::st && i.op != opcode::atom && i.op != opcode::red) return false;
  return contains(i.modifiers, modifier::shared) || contains(i.modifiers, modifier::global);
}

// The destinations of an instruction are its operands [first, end).
struct operand_span {
  std::uint32_t first, end;
};
constexpr operand_span destinations(const program& p, const instruction& i) {
  const std::uint32_t first = i.first_operand;
  switch (i.op) {
    case opcode::none:
    case opcode::label:
    case opcode::st:
    case opcode::red:
    case opcode::prefetch:
    case opcode::fence:
    case opcode::bar_sync:
    case opcode::bar_arrive:
    case opcode::bar_warp_sync:
    case opcode::nanosleep:
    case opcode::bra:
    case opcode::call_vprintf:
    case opcode::call_assertfail: return {first, first};
    default: break;
  }
  if (i.operand_count == 0) return {first, first};
  const operand& to = p.operands[first];
  if (to.kind == operand_kind::pack) return {first + 1, first + 1 + to.index};
  if (to.kind == operand_kind::pair) return {first + 1, first + 3};
  return {first, first + 1};
}

namespace detail {

class access_planner {
 public:
  constexpr explicit access_planner(const program& p) : p_(p) {}

  constexpr access_plan plan() {
    find_definitions();
    find_branches();
    for (std::uint32_t i = 0; i < p_.instruction_count; ++i)
      if (is_access(p_.instructions[i])) need_address(i);
    while (waiting_count_ != 0) {
      const std::uint32_t reg = waiting_[--waiting_count_];
      for (std::uint32_t d = first_definition_[reg]; d != 0; d = definitions_[d].next)
        need_operands(definitions_[d].instruction);
    }
    list_places();
    return plan_;
  }

 private:
  // Instructions that some lanes may leave out: [begin, end).
  struct region {
    std::uint32_t begin = 0, end = 0;
    std::uint32_t branch = 0;
    std::uint32_t predicate = 0;  // 0: all lanes that reach the branch take it
    constexpr bool contains(std::uint32_t i) const { return begin <= i && i < end; }
  };
  struct loop {
    std::uint32_t head = 0, back = 0;
    constexpr bool contains(std::uint32_t i) const { return head <= i && i <= back; }
  };
  struct definition {
    std::uint32_t instruction = 0;
    std::uint32_t next = 0;
  };

  constexpr bool is_variable(std::uint32_t reg) const {
    return definitions_[first_definition_[reg]].next != 0;
  }

  constexpr void find_definitions() {
    std::uint32_t count = 0;
    for (std::uint32_t i = 0; i < p_.instruction_count; ++i) {
      const operand_span to = destinations(p_, p_.instructions[i]);
      for (std::uint32_t k = to.first; k < to.end; ++k) {
        const operand& o = p_.operands[k];
        if (o.kind != operand_kind::reg && o.kind != operand_kind::registers) continue;
        const std::uint64_t together = o.kind == operand_kind::reg ? 1 : o.bits;
        for (std::uint32_t n = 0; n < together; ++n) {
          std::uint32_t& first = first_definition_[o.index + n];
          definitions_[++count] = {i, first};
          first = count;
        }
      }
    }
  }

  constexpr std::uint32_t target_of(const instruction& i) const {
    return label_at_[p_.operands[i.first_operand].index];
  }

  constexpr void find_branches() {
    for (std::uint32_t i = 0; i < p_.instruction_count; ++i)
      if (const instruction& it = p_.instructions[i]; it.op == opcode::label)
        label_at_[p_.operands[it.first_operand].index] = i;
    for (std::uint32_t i = 0; i < p_.instruction_count; ++i)
      if (const instruction& it = p_.instructions[i]; it.op == opcode::bra && target_of(it) <= i)
        loops_[loop_count_++] = {target_of(it), i};
    for (std::uint32_t i = 0; i < p_.instruction_count; ++i) {
      const instruction& it = p_.instructions[i];
      if (it.op != opcode::bra && !it.guarded) continue;
      region r{i, i + 1, i, it.guarded ? p_.operands[it.first_operand + it.operand_count].index : 0};
      if (it.op == opcode::bra) {
        const std::uint32_t to = target_of(it);
        if (to <= i) {
          if (!it.guarded) continue;
          r.begin = to;  // a lane that does not go back has made fewer rounds
        } else {
          r.end = to;
          for (std::uint32_t l = 0; l < loop_count_; ++l)
            if (loops_[l].contains(i) && to > loops_[l].back && loops_[l].head < r.begin)
              r.begin = loops_[l].head;
        }
      }
      regions_[region_count_++] = r;
    }
  }

  constexpr void need(std::uint32_t reg) {
    std::uint32_t& slot = plan_.slot_of[reg];
    if (slot != 0) return;
    slot = ++plan_.slot_count;
    waiting_[waiting_count_++] = reg;
    if (is_variable(reg)) plan_.has_variables = true;
  }

  constexpr void need_operand(std::uint32_t instruction, const operand& o) {
    if (o.kind != operand_kind::reg && o.kind != operand_kind::address) return;
    const std::uint32_t reg = o.index;
    need(reg);
    if (is_variable(reg)) find_divergences(instruction, reg);
  }

  constexpr void need_address(std::uint32_t i) {
    const instruction& it = p_.instructions[i];
    for (std::uint32_t k = it.first_operand; k < it.first_operand + it.operand_count; ++k)
      if (p_.operands[k].kind == operand_kind::address) need_operand(i, p_.operands[k]);
  }

  constexpr void need_operands(std::uint32_t i) {
    if (is_step_[i]) return;
    is_step_[i] = true;
    const instruction& it = p_.instructions[i];
    if (it.op == opcode::atom) return;  // its result is unknown, whatever its operands
    const std::uint32_t end = it.first_operand + it.operand_count;
    for (std::uint32_t k = destinations(p_, it).end; k < end; ++k)
      if (p_.operands[k].kind != operand_kind::address || !is_access(it)) need_operand(i, p_.operands[k]);
  }

  // Finds the branches that may give lanes different values of a variable that instruction `at` reads. They
  // surround a definition; the end of a scope, or the next round of a loop, separates it from the reader.
  constexpr void find_divergences(std::uint32_t at, std::uint32_t reg) {
    for (std::uint32_t d = first_definition_[reg]; d != 0; d = definitions_[d].next)
      for (std::uint32_t r = 0; r < region_count_; ++r) {
        const region& around = regions_[r];
        if (!around.contains(definitions_[d].instruction)) continue;
        std::uint32_t from = around.end;
        if (at < around.end) {
          bool comes_round = false;
          for (std::uint32_t l = 0; l < loop_count_; ++l) {
            const loop& outer = loops_[l];
            if (outer.head > around.begin || outer.back + 1 < around.end || !outer.contains(at)) continue;
            if (outer.head == around.begin && outer.back + 1 == around.end) continue;
            if (!comes_round || outer.head > from) from = outer.head;
            comes_round = true;
          }
          if (!comes_round) continue;
        }
        if (!is_written_between(reg, from, at)) diverge(at, reg, around);
      }
  }

  // Whether every lane that reaches `at` has written the register since `from`.
  constexpr bool is_written_between(std::uint32_t reg, std::uint32_t from, std::uint32_t at) const {
    for (std::uint32_t d = first_definition_[reg]; d != 0; d = definitions_[d].next) {
      const std::uint32_t i = definitions_[d].instruction;
      if (i < from || i >= at) continue;
      bool always = true;
      for (std::uint32_t r = 0; r < region_count_ && always; ++r)
        always = !regions_[r].contains(i) || regions_[r].contains(at);
      if (always) return true;
    }
    return false;
  }

  constexpr void diverge(std::uint32_t at, std::uint32_t reg, const region& around) {
    if (around.predicate != 0) return diverge(at, reg, around.predicate);
    for (std::uint32_t r = 0; r < region_count_; ++r)
      if (regions_[r].predicate != 0 && regions_[r].contains(around.branch))
        diverge(at, reg, regions_[r].predicate);
  }

  constexpr void diverge(std::uint32_t at, std::uint32_t reg, std::uint32_t predicate) {
    for (std::uint32_t d = divergence_of_[at]; d != 0; d = plan_.divergences[d].next)
      if (plan_.divergences[d].reg == reg && plan_.divergences[d].predicate == predicate) return;
    if (plan_.divergence_count == access_plan::max_divergences) {
      plan_.gives_up = true;
      return;
    }
    plan_.divergences[plan_.divergence_count] = {reg, predicate, divergence_of_[at]};
    divergence_of_[at] = plan_.divergence_count++;
    need(predicate);
  }

  constexpr void list_places() {
    for (std::uint32_t i = 0; i < p_.instruction_count; ++i) {
      const bool access = is_access(p_.instructions[i]);
      if (!access && !is_step_[i]) continue;
      plan_.places[plan_.place_count++] = {i, divergence_of_[i], access, is_step_[i]};
      if (access) ++plan_.access_count;
    }
  }

  const program& p_;
  access_plan plan_;
  definition definitions_[access_plan::max_registers + 1] = {};
  std::uint32_t first_definition_[access_plan::max_registers + 1] = {};
  std::uint32_t label_at_[program::max_instructions + 1] = {};
  region regions_[program::max_instructions] = {};
  std::uint32_t region_count_ = 0;
  loop loops_[program::max_instructions] = {};
  std::uint32_t loop_count_ = 0;
  std::uint32_t waiting_[access_plan::max_registers + 1] = {};
  std::uint32_t waiting_count_ = 0;
  std::uint32_t divergence_of_[program::max_instructions] = {};
  bool is_step_[program::max_instructions] = {};
};

}  // namespace detail

constexpr access_plan plan_accesses(const program& p) { return detail::access_planner(p).plan(); }

}  // namespace kaio::ptx
