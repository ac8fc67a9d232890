#pragma once
// The recorder: the program that grows while a kernel is traced, and the values in it. It knows registers,
// instructions, statements and scopes; what an expression means is the business of `tracer`.
//
// A value is an immutable result (SSA), named by a number; a variable is a register that may be written
// again. Reading a variable makes a value, its snapshot, which costs a `mov` only where the variable changes
// while the snapshot lives: otherwise uses are forwarded to the variable's register and the unused `mov` is
// removed at the end.

#include <kaio/dsl/diagnostic.hpp>
#include <kaio/ptx/program.hpp>

#include <cstdint>

namespace kaio::dsl {

using ptx::modifier;
using ptx::opcode;
using ptx::operand;
using ptx::operand_kind;
using ptx::type;

using value = std::uint32_t;  // 0: no value

class recorder {
 public:
  static constexpr std::uint32_t max_values = ptx::program::max_instructions + 4096;
  static constexpr std::uint32_t max_variables = 1024;
  static constexpr std::uint32_t max_scopes = 4096;
  static constexpr std::uint32_t max_depth = 32;

  // --- statements
  // Every effect of a kernel starts with one. Their number, by depth of guards, is what the soundness check
  // compares.
  constexpr void statement(std::uint32_t line, const char* file) {
    if (lowering_ != 0) return;
    ++events_[depth_];
    if (probing()) return;
    if (line == 0 || (statement_line_ == line && program_.statement_count != 0)) return;
    if (program_.statement_count == ptx::program::max_statements)
      kernel_error("kaio: the kernel has too many statements; split it into several kernels");
    statement_line_ = line;
    program_.statements[program_.statement_count++] = {file, line};
  }

  // While an expression is lowered, the statements of library functions belong to the user's statement.
  constexpr void begin_lowering() { ++lowering_; }
  constexpr void end_lowering() { --lowering_; }

  // A probe walks the kernel without recording; guards at `depth` answer false.
  constexpr void probe(std::uint32_t depth) { probe_depth_ = depth; }
  constexpr bool probing() const { return probe_depth_ != 0; }
  constexpr bool guard_is_taken() const { return depth_ + 1 != probe_depth_; }
  constexpr std::uint32_t events(std::uint32_t depth) const { return events_[depth]; }
  constexpr std::uint32_t all_events() const {
    std::uint32_t sum = 0;
    for (std::uint32_t d = 0; d <= deepest_; ++d) sum += events_[d];
    return sum;
  }
  constexpr std::uint32_t deepest() const { return deepest_; }
  constexpr void enter_guard() {
    if (++depth_ == max_depth)
      kernel_error("kaio: when() and otherwise() are nested too deeply; at most 31 levels");
    if (deepest_ < depth_) deepest_ = depth_;
  }
  constexpr void leave_guard() { --depth_; }

  // --- scopes
  // A value may be used while the scope in which it was made is open.
  constexpr std::uint32_t scope() const { return scope_; }
  constexpr bool is_open(std::uint32_t scope) const { return !closed_[scope]; }

  // --- values
  constexpr type type_of(value v) const { return values_[v].source.type; }
  constexpr bool is_constant(value v) const { return values_[v].source.kind == operand_kind::immediate; }
  constexpr std::uint64_t bits_of(value v) const { return values_[v].source.bits; }

  // The instruction that made a value, or nullptr.
  constexpr const ptx::instruction* definition(value v) const {
    return values_[v].definition == 0 ? nullptr : &program_.instructions[values_[v].definition - 1];
  }
  constexpr const operand& operand_at(const ptx::instruction& i, std::uint32_t k) const {
    return program_.operands[i.first_operand + k];
  }

  constexpr value new_register(type t) {
    if (value_count_ == max_values)
      kernel_error("kaio: the kernel is too large; split it into several kernels");
    const value v = ++value_count_;
    values_[v].source = {operand_kind::reg, t, v, 0};
    return v;
  }

  // --- instructions
  constexpr std::uint32_t position() const { return program_.instruction_count; }
  constexpr const ptx::instruction& last() const { return program_.instructions[position() - 1]; }

  constexpr void begin(opcode op, modifier m, type t0, type t1) {
    if (program_.instruction_count == ptx::program::max_instructions ||
        program_.operand_count + 16 > ptx::program::max_operands)
      kernel_error("kaio: the kernel is too large (8192 instructions); split it into several kernels");
    ptx::instruction& i = program_.instructions[program_.instruction_count++];
    i.op = op;
    i.mod = m;
    i.type0 = t0;
    i.type1 = t1;
    i.statement = program_.statement_count == 0 ? ptx::no_statement
                                                : static_cast<std::uint16_t>(program_.statement_count - 1);
    i.first_operand = program_.operand_count;
  }

  constexpr void add(const operand& o) {
    program_.operands[program_.operand_count++] = o;
    ++program_.instructions[program_.instruction_count - 1].operand_count;
  }

  // A value as a source; the snapshot of a variable that has not changed since is read from the variable.
  constexpr void use(value v) {
    const value from = forwarded(v);
    ++values_[from].uses;
    add(values_[from].source);
  }

  constexpr void use_address(value base, std::int64_t offset) {
    ++values_[base].uses;
    add({operand_kind::address, type_of(base), base, static_cast<std::uint64_t>(offset)});
  }

  // A new value as the destination of the instruction that is being written.
  constexpr value define(type t) {
    const value v = new_register(t);
    values_[v].definition = program_.instruction_count;
    add(values_[v].source);
    return v;
  }

  constexpr void guard(value predicate, bool negated) {
    const value from = forwarded(predicate);
    ++values_[from].uses;
    program_.operands[program_.operand_count++] = values_[from].source;
    ptx::instruction& i = program_.instructions[program_.instruction_count - 1];
    i.guarded = true;
    i.guard_negated = negated;
  }

  constexpr void remove_last() {
    ptx::instruction& i = program_.instructions[--program_.instruction_count];
    program_.operand_count = i.first_operand;
    i = {};
  }

  // --- labels
  constexpr std::uint32_t new_label() { return ++label_count_; }

  constexpr void place(std::uint32_t label) {
    begin(opcode::label, modifier::none, type::none, type::none);
    add({operand_kind::label, type::none, label, 0});
  }

  constexpr void branch(std::uint32_t label) {
    begin(opcode::bra, modifier::none, type::none, type::none);
    add({operand_kind::label, type::none, label, 0});
  }

  constexpr void branch_if(value predicate, bool negated, std::uint32_t label) {
    branch(label);
    guard(predicate, negated);
  }

  // --- variables
  constexpr std::uint32_t new_variable(type t) {
    if (variable_count_ == max_variables) kernel_error("kaio: the kernel has too many variables (1024)");
    const std::uint32_t n = ++variable_count_;
    variables_[n].reg = new_register(t);
    return n;
  }

  constexpr value snapshot(std::uint32_t variable) {
    variable_record& v = variables_[variable];
    if (v.snapshot != 0 && v.snapshot_version == v.version && is_open(v.snapshot_scope)) return v.snapshot;
    const type t = type_of(v.reg);
    begin(opcode::mov, modifier::none, move_type(t), type::none);
    const value s = define(t);
    add(values_[v.reg].source);
    values_[s].variable = variable;
    values_[s].version = v.version;
    v.snapshot = s;
    v.snapshot_version = v.version;
    v.snapshot_scope = scope_;
    return s;
  }

  // Writes a variable. A result that this very statement has just computed is computed into the variable
  // instead.
  constexpr void assign(std::uint32_t variable, value v, std::uint32_t statement_start) {
    variable_record& to = variables_[variable];
    const value_record& from = values_[v];
    if (from.definition > statement_start && from.definition == position() && from.uses == 0 &&
        forget_last(v)) {
      program_.operands[last().first_operand] = values_[to.reg].source;
    } else {
      begin(opcode::mov, modifier::none, move_type(type_of(to.reg)), type::none);
      add(values_[to.reg].source);
      use(v);
    }
    ++to.version;
  }

  // A loop may change a variable further down and come back: nothing known about one holds inside.
  constexpr void forget_variables() {
    for (std::uint32_t i = 1; i <= variable_count_; ++i) ++variables_[i].version;
  }

  constexpr value variable_register(std::uint32_t variable) const { return variables_[variable].reg; }

  // --- shared memory
  constexpr std::uint32_t new_shared(std::uint64_t bytes, std::uint32_t alignment) {
    if (program_.shared_count == ptx::program::max_shared_arrays)
      kernel_error("kaio: the kernel has too many shared arrays (64)");
    if (bytes > 49152) kernel_error("kaio: a shared array may have at most 49152 bytes (48 KB)");
    const std::uint32_t n = program_.shared_count++;
    program_.shared[n] = {static_cast<std::uint32_t>(bytes), alignment};
    if (ptx::shared_bytes(program_) > 49152)
      kernel_error("kaio: the shared arrays of this kernel take more than 49152 bytes (48 KB) together");
    return n;
  }

  // The finished program: what nobody uses is removed, registers are numbered by class in the order of the
  // text.
  constexpr ptx::program finish(ptx::dim3 block, ptx::target target) {
    begin(opcode::ret, modifier::none, type::none, type::none);
    for (std::uint32_t i = program_.instruction_count; i-- != 0;) {
      ptx::instruction& it = program_.instructions[i];
      if (!ptx::facts(it.op).pure) continue;
      const operand& to = program_.operands[it.first_operand];
      if (values_[to.index].definition != i + 1 || values_[to.index].uses != 0) continue;
      for (std::uint32_t k = 1; k < it.operand_count; ++k) {
        const operand& from = program_.operands[it.first_operand + k];
        if (from.kind == operand_kind::reg || from.kind == operand_kind::address) --values_[from.index].uses;
      }
      it.op = opcode::none;
    }
    std::uint32_t kept = 0;
    for (std::uint32_t i = 0; i < program_.instruction_count; ++i) {
      const ptx::instruction& it = program_.instructions[i];
      if (it.op == opcode::none) continue;
      const std::uint32_t end = it.first_operand + it.operand_count + (it.guarded ? 1 : 0);
      for (std::uint32_t k = it.first_operand; k < end; ++k) {
        operand& o = program_.operands[k];
        if (o.kind == operand_kind::reg || o.kind == operand_kind::address) o.index = number(o.index, o.type);
      }
      if (kept != i) program_.instructions[kept] = it;
      ++kept;
    }
    program_.instruction_count = kept;
    program_.block = block;
    program_.target = target;
    return program_;
  }

  // The type that mov and selp carry for a value: the registers' own class.
  static constexpr type move_type(type t) { return ptx::is_integer(t) ? ptx::bits_of(t) : t; }

 protected:
  // Sees to it that nothing else can come to use the newest value; false where something may.
  constexpr bool forget_last(value v) {
    if (values_[v].a != 0) {
      if (numbered_count_ == 0 || numbered_[numbered_count_ - 1].result != v) return false;
      table_[numbered_[--numbered_count_].slot] = 0;
    } else if (values_[v].variable != 0) {
      return false;  // a snapshot: the variable remembers it
    }
    values_[v].definition = 0;
    return true;
  }

  struct numbered {
    value result = 0;
    std::uint32_t slot = 0;
  };
  static constexpr std::uint32_t table_size = 16384;

  constexpr void open_scope() {
    if (scope_count_ + 1 == max_scopes)
      kernel_error("kaio: the kernel has too many guarded bodies and loops (4095)");
    scope_stack_[scope_depth_++] = {scope_, numbered_count_};
    if (scope_depth_ == 2 * max_depth)
      kernel_error("kaio: guards and loops are nested too deeply; at most 63 levels");
    scope_ = ++scope_count_;
  }

  // What was numbered inside is forgotten: it does not dominate what follows.
  constexpr void close_scope() {
    closed_[scope_] = true;
    scope_ = scope_stack_[--scope_depth_].outer;
    while (numbered_count_ != scope_stack_[scope_depth_].numbered_count)
      table_[numbered_[--numbered_count_].slot] = 0;
  }

  struct value_record {
    operand source;
    std::uint32_t definition = 0;  // the instruction's position + 1; 0: not made by one instruction
    std::uint32_t uses = 0;
    std::uint32_t variable = 0;  // a snapshot: of this variable
    std::uint32_t version = 0;
    value a = 0, b = 0, c = 0;  // a numbered value: what it was computed from
  };

  ptx::program program_;
  value_record values_[max_values + 1] = {};
  std::uint32_t value_count_ = 0;
  value table_[table_size] = {};
  numbered numbered_[max_values] = {};
  std::uint32_t numbered_count_ = 0;

 private:
  struct variable_record {
    value reg = 0;
    std::uint32_t version = 0;
    value snapshot = 0;
    std::uint32_t snapshot_version = 0;
    std::uint32_t snapshot_scope = 0;
  };
  struct open_record {
    std::uint32_t outer = 0;
    std::uint32_t numbered_count = 0;
  };

  constexpr value forwarded(value v) const {
    const value_record& r = values_[v];
    return r.variable != 0 && variables_[r.variable].version == r.version ? variables_[r.variable].reg : v;
  }

  constexpr std::uint32_t number(value v, type t) {
    std::uint32_t& n = numbers_[v];
    if (n == 0) n = ++program_.registers[static_cast<unsigned>(ptx::class_of(t))];
    return n;
  }

  variable_record variables_[max_variables + 1] = {};
  std::uint32_t variable_count_ = 0;
  std::uint32_t label_count_ = 0;
  std::uint32_t numbers_[max_values + 1] = {};
  std::uint32_t statement_line_ = 0;
  std::uint32_t lowering_ = 0;
  std::uint32_t probe_depth_ = 0;
  std::uint32_t depth_ = 0;
  std::uint32_t deepest_ = 0;
  std::uint32_t events_[max_depth] = {};
  open_record scope_stack_[2 * max_depth] = {};
  std::uint32_t scope_depth_ = 0;
  std::uint32_t scope_ = 0;
  std::uint32_t scope_count_ = 0;
  bool closed_[max_scopes] = {};
};

}  // namespace kaio::dsl
