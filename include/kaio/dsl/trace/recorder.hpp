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
#include <string_view>

namespace kaio::dsl {

using ptx::array_space;
using ptx::modifier;
using ptx::modifier_list;
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
  static constexpr std::uint32_t max_shared = 49152;         // of a block, static
  static constexpr std::uint32_t max_large_shared = 232448;  // of a block, by opt-in, on sm_90

  // Shared arrays lie in dynamic shared memory, which may be larger.
  bool large_shared = false;
  // Assertions are recorded.
  bool assertions = true;
  std::string_view kernel_name;
  ptx::dim3 cluster{0, 0, 0};    // blocks of a cluster; no blocks: not fixed
  std::uint32_t min_blocks = 0;  // resident on a multiprocessor at once; 0: not stated
  // The oldest architecture that the author claims: newer instructions are not used where older ones do.
  ptx::target target = ptx::oldest_target;
  // Products of wgmma are being issued that are not committed yet.
  bool wgmma_batch_is_open = false;

  // --- statements
  // Every effect of a kernel starts with one. How many there are and where, by depth of guards, is what the
  // soundness check compares.
  constexpr void statement(std::uint32_t line, const char* file) {
    if (lowering_ != 0) return;
    if (copies_ == 0) events_[depth_] += one_event + line;
    if (probing()) return;
    if (line == 0 || (statement_line_ == line && program_.statement_count != 0)) return;
    if (program_.statement_count == ptx::program::max_statements)
      kernel_error("kaio: the kernel has too many statements; split it into several kernels");
    statement_line_ = line;
    program_.statements[program_.statement_count++] = {file, line};
  }

  // The walks of the soundness check run the body of an unrolled loop once, so further copies do not count.
  constexpr void begin_copies() { ++copies_; }
  constexpr void end_copies() { --copies_; }

  // While an expression is lowered, the statements of library functions belong to the user's statement.
  constexpr void begin_lowering() { ++lowering_; }
  constexpr void end_lowering() { --lowering_; }

  // A probe walks the kernel without recording; guards at `depth` answer false.
  constexpr void probe(std::uint32_t depth) { probe_depth_ = depth; }
  constexpr bool probing() const { return probe_depth_ != 0; }
  constexpr bool guard_is_taken() const { return depth_ + 1 != probe_depth_; }
  constexpr std::uint64_t events(std::uint32_t depth) const { return events_[depth]; }
  constexpr std::uint64_t all_events() const {
    std::uint64_t sum = 0;
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
  // The addresses of arrays are read at the beginning of the kernel, where room is kept for it.
  static constexpr std::uint32_t prologue_size = 32;
  constexpr recorder() { program_.instruction_count = prologue_size; }

  // The most operands of one instruction: wgmma with 128 accumulators.
  static constexpr std::uint32_t max_instruction_operands = 160;

  constexpr std::uint32_t position() const { return program_.instruction_count; }
  constexpr const ptx::instruction& last() const { return program_.instructions[position() - 1]; }

  constexpr void begin(opcode op, modifier_list modifiers, type t0, type t1 = type::none) {
    if (program_.instruction_count == ptx::program::max_instructions ||
        program_.operand_count + max_instruction_operands > ptx::program::max_operands)
      kernel_error("kaio: the kernel is too large (8192 instructions); split it into several kernels");
    fill(program_.instructions[program_.instruction_count++], op, modifiers, t0, t1);
  }

  // A new value, read from `source` by a mov in the prologue; 0 where that is full.
  constexpr value read_in_prologue(type t, const operand& source) {
    if (prologue_used_ == prologue_size) return 0;
    ptx::instruction& i = program_.instructions[prologue_used_++];
    fill(i, opcode::mov, 0, t, type::none);
    i.operand_count = 2;
    const value v = new_register(t);
    values_[v].definition = prologue_used_;
    program_.operands[program_.operand_count++] = values_[v].source;
    program_.operands[program_.operand_count++] = source;
    return v;
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

  // The shape of the matrix instruction that is being written.
  constexpr void shape(const ptx::matrix_shape& s) {
    program_.instructions[program_.instruction_count - 1].shape = s;
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

  // A variable as a source, as it is now.
  constexpr void read(std::uint32_t variable) { use(variables_[variable].reg); }

  // A variable that the instruction which is being written changes, or reads and changes.
  constexpr void change(std::uint32_t variable) {
    variable_record& v = variables_[variable];
    ++values_[v.reg].uses;
    ++v.version;
    add(values_[v.reg].source);
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
    begin(opcode::label, 0, type::none);
    add({operand_kind::label, type::none, label, 0});
  }

  constexpr void branch(std::uint32_t label) {
    begin(opcode::bra, 0, type::none);
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
    begin(opcode::mov, 0, move_type(t));
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
      begin(opcode::mov, 0, move_type(type_of(to.reg)));
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

  // --- arrays
  constexpr std::uint32_t new_array(array_space space, std::uint64_t bytes, std::uint32_t alignment) {
    if (program_.array_count == ptx::program::max_arrays)
      kernel_error("kaio: the kernel has too many arrays (64)");
    const std::uint32_t n = program_.array_count++;
    program_.arrays[n] = {space, static_cast<std::uint32_t>(bytes), alignment, program_.data_words};
    return n;
  }

  // An array in the shared memory of the block.
  constexpr std::uint32_t new_shared(std::uint64_t bytes, std::uint32_t alignment) {
    if (large_shared) {
      if (bytes > max_large_shared)
        kernel_error("kaio: a shared array may have at most 232448 bytes (227 KB)");
      const std::uint32_t n = new_array(array_space::large_shared, bytes, alignment);
      if (ptx::bytes_of(program_, array_space::large_shared) > max_large_shared)
        kernel_error("kaio: the shared arrays of this kernel take more than 232448 bytes (227 KB) together");
      return n;
    }
    if (bytes > max_shared)
      kernel_error(
          "kaio: a shared array may have at most 49152 bytes (48 KB), or with kernel_options{.large_shared = "
          "true} "
          "232448");
    const std::uint32_t n = new_array(array_space::shared, bytes, alignment);
    if (ptx::bytes_of(program_, array_space::shared) > max_shared)
      kernel_error(
          "kaio: the shared arrays of this kernel take more than 49152 bytes (48 KB) together; more is given "
          "by "
          "kernel_options{.large_shared = true}");
    return n;
  }

  // What the next word of an array with contents holds.
  constexpr void add_data(std::uint64_t word) {
    if (program_.data_words == ptx::program::max_data_words)
      kernel_error("kaio: the constant tables and texts of this kernel take more than 8 KB together");
    program_.data[program_.data_words++] = word;
  }

  // A text in global memory, with a zero at its end; equal texts are one.
  constexpr std::uint32_t text_array(std::string_view text) {
    const std::uint32_t words = static_cast<std::uint32_t>(text.size() / 8 + 1);
    for (std::uint32_t i = 0; i < program_.array_count; ++i)
      if (holds_text(program_.arrays[i], text, words)) return i;
    const std::uint32_t n = new_array(array_space::global, 8 * words, 8);
    for (std::uint32_t w = 0; w < words; ++w) add_data(text_word(text, w));
    return n;
  }

  // Memory of the thread for the arguments of a call, `words` of 8 bytes; calls share it.
  constexpr std::uint32_t argument_buffer(std::uint32_t words) {
    std::uint32_t& known = argument_buffers_[words];
    if (known == 0) known = new_array(array_space::local, 8 * words, 8) + 1;
    return known - 1;
  }

  // Every launch of the kernel must have all its blocks resident.
  constexpr void require_cooperative() { program_.cooperative = true; }

  // The finished program: what nobody uses is removed, registers are numbered by class in the order of the
  // text.
  constexpr ptx::program finish(ptx::dim3 block) {
    begin(opcode::ret, 0, type::none);
    for (std::uint32_t i = program_.instruction_count; i-- != 0;) {
      ptx::instruction& it = program_.instructions[i];
      if (it.op == opcode::none || !ptx::facts(it.op).pure) continue;
      std::uint32_t k = it.first_operand;
      std::uint32_t results = 1;
      if (program_.operands[k].kind == operand_kind::pack || program_.operands[k].kind == operand_kind::pair)
        results = program_.operands[k++].index;
      bool needed = false;
      for (; results != 0; --results, ++k) {
        const operand& to = program_.operands[k];
        needed = needed || values_[to.index].definition != i + 1 || values_[to.index].uses != 0;
      }
      if (needed) continue;
      for (; k < it.first_operand + it.operand_count; ++k) {
        const operand& from = program_.operands[k];
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
        if (o.kind == operand_kind::reg || o.kind == operand_kind::address)
          o.index = register_number(o.index, o.type);
      }
      if (kept != i) program_.instructions[kept] = it;
      ++kept;
    }
    program_.instruction_count = kept;
    program_.block = block;
    program_.target = target;
    program_.cluster = cluster;
    program_.min_blocks = min_blocks;
    return program_;
  }

  // The type that mov and selp carry for a value: the registers' own class.
  static constexpr type move_type(type t) {
    switch (ptx::class_of(t)) {
      case ptx::register_class::b16: return type::b16;
      case ptx::register_class::b32: return type::b32;
      case ptx::register_class::b64: return type::b64;
      default: return t;
    }
  }

 protected:
  constexpr void fill(ptx::instruction& i, opcode op, modifier_list modifiers, type t0, type t1) const {
    i.op = op;
    i.modifiers = modifiers;
    i.type0 = t0;
    i.type1 = t1;
    i.statement = program_.statement_count == 0 ? ptx::no_statement
                                                : static_cast<std::uint16_t>(program_.statement_count - 1);
    i.first_operand = program_.operand_count;
  }

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
    value a = 0, b = 0, c = 0, d = 0;  // a numbered value: what it was computed from
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

  static constexpr std::uint64_t text_word(std::string_view text, std::uint32_t word) {
    std::uint64_t bits = 0;
    for (std::size_t i = 8 * std::size_t{word}; i < text.size() && i < 8 * std::size_t{word} + 8; ++i)
      bits |= static_cast<std::uint64_t>(static_cast<unsigned char>(text[i])) << (8 * (i % 8));
    return bits;
  }
  constexpr bool holds_text(const ptx::memory_array& a, std::string_view text, std::uint32_t words) const {
    if (a.space != array_space::global || a.bytes != 8 * words) return false;
    for (std::uint32_t w = 0; w < words; ++w)
      if (program_.data[a.first_word + w] != text_word(text, w)) return false;
    return true;
  }

  constexpr value forwarded(value v) const {
    const value_record& r = values_[v];
    return r.variable != 0 && variables_[r.variable].version == r.version ? variables_[r.variable].reg : v;
  }

  constexpr std::uint32_t register_number(value v, type t) {
    std::uint32_t& n = numbers_[v];
    if (n == 0) n = ++program_.registers[static_cast<unsigned>(ptx::class_of(t))];
    return n;
  }

  variable_record variables_[max_variables + 1] = {};
  std::uint32_t variable_count_ = 0;
  static constexpr std::uint32_t max_arguments = 32;
  std::uint32_t argument_buffers_[max_arguments + 1] = {};  // by words; the array's number + 1
  std::uint32_t label_count_ = 0;
  std::uint32_t numbers_[max_values + 1] = {};
  std::uint32_t prologue_used_ = 0;
  std::uint32_t statement_line_ = 0;
  std::uint32_t lowering_ = 0;
  std::uint32_t copies_ = 0;
  std::uint32_t probe_depth_ = 0;
  std::uint32_t depth_ = 0;
  std::uint32_t deepest_ = 0;
  static constexpr std::uint64_t one_event = std::uint64_t{1} << 32;  // beside it, the sum of their lines
  std::uint64_t events_[max_depth] = {};
  open_record scope_stack_[2 * max_depth] = {};
  std::uint32_t scope_depth_ = 0;
  std::uint32_t scope_ = 0;
  std::uint32_t scope_count_ = 0;
  bool closed_[max_scopes] = {};
};

}  // namespace kaio::dsl
