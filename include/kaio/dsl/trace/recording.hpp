#pragma once
// Recording: statements, scopes, instructions, labels, variables and arrays of the growing program.

#include <kaio/dsl/trace/tracer.hpp>

#include <cstdint>
#include <string_view>

namespace kaio::dsl {

constexpr tracer::tracer() {
  open_[0] = true;
  numbered_[0] = {};
  group_version_[0] = 0;
}

// --- faults

constexpr void tracer::fail(const char* message) {
  if (fault_.message != nullptr) return;
  fault_ = {message, here_.file, here_.line};
  probing_ = true;
  skipped_ = no_depth;
  make_room();
}

// After a fault, recording starts over, so that the rest of the kernel has room.
constexpr void tracer::make_room() {
  position_ = prologue_size;
  operand_count_ = 2 * prologue_size;
  value_count_ = constant_count_ = numbered_count_ = newest_numbered_ = 0;
  variable_count_ = group_count_ = scope_count_ = call_count_ = 0;
  program_.statement_count = program_.array_count = program_.data_words = 0;
  for (open_record& open : scope_stack_) open.newest_numbered = 0;
  for (std::uint32_t& first : bucket_) first = 0;
  for (std::uint32_t& first : constant_bucket_) first = 0;
}

constexpr void tracer::fail_next(const char* message) {
  if (fault_.message != nullptr) return;
  fail(message);
  fault_is_early_ = !right_side_is_open;
}

// A statement of a walk that records nothing.
constexpr void tracer::note(std::uint32_t line, const char* file) {
  here_ = {file, line};
  if (fault_is_early_ || (fault_.message != nullptr && fault_.line == 0))
    fault_ = {fault_.message, file, line};
  fault_is_early_ = false;
}

// --- statements

constexpr void tracer::statement(std::uint32_t line, const char* file) {
  if (lowering_ != 0) return;
  if (probing_) {
    if (line != 0) note(line, file);
    return see(line);
  }
  const std::uint32_t ahead = ahead_ == 0 ? position_ : ahead_;
  ahead_ = 0;
  if (line == 0 || line == statement_line_) return;
  std::uint32_t n = program_.statement_count;
  if (n == ptx::program::max_statements) {
    fail("kaio: the kernel has too many statements; split it into several kernels");
    n = 0;
  }
  statement_line_ = line;
  statement_ = static_cast<std::uint16_t>(n);
  here_ = {file, line};
  program_.statements[n] = here_;
  program_.statement_count = n + 1;
  for (std::uint32_t i = ahead; i < position_; ++i) program_.instructions[i].statement = statement_;
}

constexpr std::uint64_t tracer::all_events() const {
  std::uint64_t sum = 0;
  for (std::uint32_t d = 0; d <= deepest_; ++d) sum += events_[d];
  return sum;
}

constexpr void tracer::enter_body() {
  if (++depth_ == max_depth) {
    fail("kaio: guards and loops are nested too deeply; at most 63 levels");
    depth_ = 1;
  }
  if (!repeating_) account_ = depth_;
  if (deepest_ < depth_ && lowering_ == 0) deepest_ = depth_;
}

// --- scopes

constexpr void tracer::enter_scope() {
  if (scope_count_ + 1 == max_scopes) fail("kaio: the kernel has too many guarded bodies and loops (4095)");
  scope_stack_[scope_depth_++] = {scope_, newest_numbered_};
  if (scope_depth_ == 2 * max_depth) {
    fail("kaio: guards and loops are nested too deeply; at most 63 levels");
    scope_depth_ = 1;
  }
  scope_ = ++scope_count_;
  open_[scope_] = true;
}

constexpr void tracer::leave_scope() {
  open_[scope_] = false;
  const open_record outside = scope_stack_[--scope_depth_];
  scope_ = outside.outer;
  while (newest_numbered_ != outside.newest_numbered) {
    const numbered_record newest = numbered_[newest_numbered_];
    bucket_[newest.bucket] = newest.next;
    newest_numbered_ = newest.older;
  }
}

constexpr void tracer::enter_loop() {
  loop_starts_[++loop_depth_ % loop_places] = position_;
  ++loops_entered_;
  enter_scope();
}

constexpr void tracer::leave_loop() {
  leave_scope();
  --loop_depth_;
}

// --- values

constexpr type tracer::type_of(value v) const {
  return is_constant(v) ? constants_[v & constant_index].type : values_[v].source.type;
}

constexpr value tracer::new_register(type t) {
  require_room(position_, operand_count_, value_count_ + 1);
  const value v = value_count_ + 1;
  value_count_ = v;
  values_[v] = {{operand_kind::reg, t, v, 0}, 0, 0, 0, 0};
  return v;
}

// --- instructions

constexpr void tracer::require_room(std::uint32_t position, std::uint32_t operands, value v) {
  if (position >= ptx::program::max_instructions || v > max_values ||
      operands > ptx::program::max_operands - max_instruction_operands) {
    fail("kaio: the kernel is too large (8192 instructions); split it into several kernels");
    make_room();
  }
}

constexpr void tracer::begin(opcode op, modifier_list modifiers, type t0, type t1) {
  require_room(position_ + 1, operand_count_, value_count_);
  const std::uint32_t position = position_ + 1;
  const std::uint32_t first = operand_count_;
  program_.instructions[position - 1] = {op, modifiers, t0, t1, 0, false, false, statement_, first, {}};
  position_ = position;
}

constexpr value tracer::define(type t) {
  const value v = value_count_ + 1;
  const operand result{operand_kind::reg, t, v, 0};
  values_[v] = {result, position_, 0, 0, 0};
  value_count_ = v;
  program_.operands[operand_count_++] = result;
  return v;
}

constexpr value tracer::define_pack(type t, std::uint32_t count) {
  add({operand_kind::pack, type::none, count, 0});
  const value first = define(t);
  for (std::uint32_t i = 1; i < count; ++i) define(t);
  return first;
}

constexpr void tracer::use(value v) {
  const std::uint32_t n = operand_count_;
  operand_count_ = n + 1;
  if ((v & constant_flag) != 0) {
    const constant_record c = constants_[v & constant_index];
    program_.operands[n] = {operand_kind::immediate, c.type, 0, c.bits};
    return;
  }
  operand source = values_[v].source;
  const value_record& made = values_[source.index];
  if (made.variable != 0) {
    const variable_record from = variables_[made.variable];
    if (version_of(from) == made.version) source.index = from.reg;
  }
  program_.operands[n] = source;
  ++uses_[source.index];
}

constexpr void tracer::use_address(value base, std::int64_t offset) {
  const operand source = values_[base].source;
  ++uses_[source.index];
  add({operand_kind::address, source.type, source.index, static_cast<std::uint64_t>(offset)});
}

constexpr void tracer::read(std::uint32_t variable) {
  const variable_record from = variables_[variable];
  if (version_of(from) == loops_entered_) reads_unwritten_ = true;
  add(values_[from.reg].source);
}

constexpr void tracer::change(std::uint32_t variable) {
  ++variables_[variable].version;
  add(values_[variables_[variable].reg].source);
}

constexpr void tracer::change_together(std::uint32_t first, std::uint32_t count) {
  const variable_record changed = variables_[first];
  ++group_version_[changed.group];
  add({operand_kind::registers, values_[changed.reg].source.type, changed.reg, count});
}

constexpr void tracer::guard(value predicate, bool negated) {
  use(predicate);
  ptx::instruction& i = program_.instructions[position_ - 1];
  i.guarded = true;
  i.guard_negated = negated;
}

constexpr void tracer::remove_last() {
  ptx::instruction& i = program_.instructions[--position_];
  operand_count_ = i.first_operand;
  i = {};
}

// --- labels

constexpr void tracer::place(std::uint32_t label) {
  begin(opcode::label, 0, type::none);
  add({operand_kind::label, type::none, label, 0});
}

constexpr void tracer::branch(std::uint32_t label) {
  begin(opcode::bra, 0, type::none);
  add({operand_kind::label, type::none, label, 0});
}

constexpr void tracer::branch_if(value predicate, bool negated, std::uint32_t label) {
  branch(label);
  guard(predicate, negated);
}

// --- variables

constexpr std::uint32_t tracer::new_variable(type t) {
  if (variable_count_ == max_variables) fail("kaio: the kernel has too many variables (1024)");
  const std::uint32_t n = ++variable_count_;
  variables_[n] = {new_register(t), 0, 0, 0, 0, 0};
  return n;
}

constexpr std::uint32_t tracer::new_variables(type t, std::uint32_t count) {
  if (group_count_ == max_groups)
    fail("kaio: the kernel has too many accumulators of wgmma (64); reuse some of them");
  ++group_count_;
  group_version_[group_count_] = 0;
  const std::uint32_t first = variable_count_ + 1;
  for (std::uint32_t i = 0; i < count; ++i) variables_[new_variable(t)].group = group_count_;
  return first;
}

constexpr value tracer::snapshot(std::uint32_t variable) {
  const variable_record from = variables_[variable];
  const std::uint32_t version = version_of(from);
  if (from.snapshot != 0 && from.snapshot_version == version && open_[from.snapshot_scope])
    return from.snapshot;
  if (version == loops_entered_) reads_unwritten_ = true;
  const operand source = values_[from.reg].source;
  begin(opcode::mov, 0, move_type(source.type));
  const value s = define(source.type);
  add(source);
  values_[s].variable = variable;
  values_[s].version = version;
  variables_[variable] = {from.reg, from.group, from.version, s, version, scope_};
  return s;
}

constexpr bool tracer::forget_last(value v) {
  const value_record made = values_[v];
  if (made.numbered != 0) {
    if (made.numbered != newest_numbered_) return false;
    const numbered_record newest = numbered_[newest_numbered_];
    bucket_[newest.bucket] = newest.next;
    newest_numbered_ = newest.older;
  } else if (made.variable != 0) {
    return false;  // a snapshot: the variable remembers it
  }
  values_[v].definition = 0;
  return true;
}

constexpr void tracer::assign(std::uint32_t variable, value v, std::uint32_t statement_start) {
  const value to = variables_[variable].reg;
  const value from = is_constant(v) ? v : values_[v].source.index;
  const std::uint32_t made = is_constant(v) ? 0 : values_[from].definition;
  const bool is_last = made > statement_start && made == position_ &&
                       program_.operands[last().first_operand].kind == operand_kind::reg;
  if (is_last && (from == v || forget_last(v)) && forget_last(from)) {
    program_.operands[last().first_operand] = values_[to].source;
  } else {
    begin(opcode::mov, 0, move_type(values_[to].source.type));
    add(values_[to].source);
    use(v);
  }
  ++variables_[variable].version;
}

// --- arrays

constexpr std::uint32_t tracer::new_array(array_space space, std::uint64_t bytes, std::uint32_t alignment) {
  if (program_.array_count == ptx::program::max_arrays) fail("kaio: the kernel has too many arrays (64)");
  const std::uint32_t n = program_.array_count++;
  program_.arrays[n] = {space, static_cast<std::uint32_t>(bytes), alignment, program_.data_words};
  return n;
}

constexpr std::uint32_t tracer::new_shared(std::uint64_t bytes, std::uint32_t alignment) {
  if (large_shared) {
    if (bytes > max_large_shared) fail("kaio: a shared array may have at most 232448 bytes (227 KB)");
    const std::uint32_t n = new_array(array_space::large_shared, bytes, alignment);
    if (ptx::bytes_of(program_, array_space::large_shared) > max_large_shared)
      fail("kaio: the shared arrays of this kernel take more than 232448 bytes (227 KB) together");
    return n;
  }
  if (bytes > max_shared)
    fail(
        "kaio: a shared array may have at most 49152 bytes (48 KB), or with kernel_options{.large_shared = true} 232448");
  const std::uint32_t n = new_array(array_space::shared, bytes, alignment);
  if (ptx::bytes_of(program_, array_space::shared) > max_shared)
    fail(
        "kaio: the shared arrays of this kernel take more than 49152 bytes (48 KB) together; more is given by kernel_options{.large_shared = true}");
  return n;
}

constexpr void tracer::add_data(std::uint64_t word) {
  if (program_.data_words == ptx::program::max_data_words)
    fail("kaio: the constant tables and texts of this kernel take more than 8 KB together");
  program_.data[program_.data_words++] = word;
}

constexpr std::uint32_t tracer::text_array(std::string_view text) {
  const std::uint32_t words = static_cast<std::uint32_t>(text.size() / 8 + 1);
  for (std::uint32_t i = 0; i < program_.array_count; ++i)
    if (holds_text(program_.arrays[i], text, words)) return i;
  const std::uint32_t n = new_array(array_space::global, 8 * words, 8);
  for (std::uint32_t w = 0; w < words; ++w) add_data(text_word(text, w));
  return n;
}

constexpr std::uint32_t tracer::instruction_text(std::string_view text, const ptx::text_needs& needs) {
  const auto bytes = static_cast<std::uint32_t>(text.size());
  const std::uint32_t words = (bytes + 7) / 8;
  for (std::uint32_t i = 0; i < program_.array_count; ++i) {
    const ptx::memory_array& a = program_.arrays[i];
    if (a.space != array_space::instruction_text || a.bytes != bytes) continue;
    bool is_same = program_.data[a.first_word] == needs.word();
    for (std::uint32_t w = 0; w < words && is_same; ++w)
      is_same = program_.data[a.first_word + 1 + w] == text_word(text, w);
    if (is_same) return i;
  }
  const std::uint32_t n = new_array(array_space::instruction_text, bytes, 8);
  add_data(needs.word());
  for (std::uint32_t w = 0; w < words; ++w) add_data(text_word(text, w));
  return n;
}

constexpr std::uint32_t tracer::argument_buffer(std::uint32_t words) {
  std::uint32_t& known = argument_buffers_[words];
  if (known == 0) known = new_array(array_space::local, 8 * words, 8) + 1;
  return known - 1;
}

constexpr std::uint64_t tracer::text_word(std::string_view text, std::uint32_t word) {
  std::uint64_t bits = 0;
  for (std::size_t i = 8 * std::size_t{word}; i < text.size() && i < 8 * std::size_t{word} + 8; ++i)
    bits |= static_cast<std::uint64_t>(static_cast<unsigned char>(text[i])) << (8 * (i % 8));
  return bits;
}

constexpr bool tracer::holds_text(const ptx::memory_array& a, std::string_view text,
                                  std::uint32_t words) const {
  if (a.space != array_space::global || a.bytes != 8 * words) return false;
  for (std::uint32_t w = 0; w < words; ++w)
    if (program_.data[a.first_word + w] != text_word(text, w)) return false;
  return true;
}

}  // namespace kaio::dsl
