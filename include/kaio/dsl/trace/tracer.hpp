#pragma once
// The tracer records a kernel. It holds the program that grows while the kernel's lambda runs, and the values
// in it. A trace is an ordinary constant evaluation, and nothing here is a template: a kernel costs its own
// types alone.
//
// A value is an immutable result (SSA), named by a number: a register, or a constant. A variable is a
// register that may be written again. Reading a variable makes a value, its snapshot. It costs a `mov` only
// if the variable changes while the snapshot lives. Otherwise uses are forwarded to the variable's register,
// and the unused `mov` is removed at the end.
//
// The tracer is one flat class, because compilers pay for each base class and each call of a constant
// expression. This header is its table of contents; the functions are defined by subject:
//
//   recording.hpp     statements, scopes, instructions, labels, variables, arrays
//   numbering.hpp     constants and pure instructions; equal ones are recorded once
//   conversion.hpp    between the types of the language          float8.hpp    of the 8-bit floats
//   arithmetic.hpp    the operations, and their simplification by constants
//   history.hpp       the history of values
//   memory.hpp        addresses, loads, stores, atomics          scratch.hpp   memory for exchanges in a block
//   finish.hpp        the finished program

#include <kaio/dsl/number/diagnostic.hpp>
#include <kaio/dsl/trace/fold.hpp>
#include <kaio/dsl/trace/instruction_types.hpp>
#include <kaio/dsl/trace/known_function.hpp>
#include <kaio/ptx/program.hpp>

#include <cstdint>
#include <string_view>

namespace kaio::dsl {

using ptx::array_space;
using ptx::in_order;
using ptx::modifier;
using ptx::modifier_list;
using ptx::opcode;
using ptx::operand;
using ptx::operand_kind;
using ptx::special_register;

using value = std::uint32_t;  // 0: no value

// An instruction apart from its operands: opcode, modifiers and types, and the type of the result.
struct form {
  opcode op;
  modifier_list modifiers;
  type t0;
  type t1;
  type result;
};

struct float8_kind;

class tracer {
 public:
  static constexpr std::uint32_t max_values = ptx::program::max_instructions + 4096;
  static constexpr std::uint32_t max_constants = 8192;
  static constexpr std::uint32_t max_variables = 1024;
  static constexpr std::uint32_t max_groups = 64;
  static constexpr std::uint32_t max_scopes = 4096;
  static constexpr std::uint32_t max_depth = 64;
  static constexpr std::uint32_t max_shared = 49152;         // of a block, static
  static constexpr std::uint32_t max_large_shared = 232448;  // of a block, by opt-in, on sm_90

  constexpr tracer();

  // --- options of the kernel's author

  bool contract = true;  // a*b+c becomes one fma if the product is an operand of the sum in one expression
  bool large_shared = false;  // shared arrays are in dynamic shared memory, which may be larger
  bool assertions = true;     // device_assert is recorded
  std::string_view kernel_name;
  ptx::dim3 cluster{0, 0, 0};    // blocks of a cluster; no blocks: not fixed
  std::uint32_t min_blocks = 0;  // resident on a multiprocessor at once; 0: not stated
  // The oldest architecture that the author claims. Newer instructions are not used if older ones do.
  ptx::target target = ptx::oldest_target;

  // The right-hand side of a store was lowered, its left-hand side follows: compilers differ in the order.
  bool right_side_is_open = false;

  // Products of wgmma are being issued and not committed yet.
  bool wgmma_batch_is_open = false;

  // --- faults

  // The kernel breaks a rule in the statement that is open, or in the next one. The first fault is kept, and the
  // rest of the kernel is walked without recording.
  constexpr void fail(const char* message);
  // For a fault in an operand, whose statement is often not open yet.
  constexpr void fail_next(const char* message);
  constexpr const kernel_fault& fault() const { return fault_; }
  // A declaration, which is no statement.
  constexpr void declare(std::uint32_t line, const char* file) { here_ = {file, line}; }
  // The depth of no body: all guards are taken.
  static constexpr std::uint32_t no_depth = 0xffffffffu;

  // --- statements

  // Every effect of a kernel starts with one.
  constexpr void statement(std::uint32_t line, const char* file);
  // A cell is read while the compiler builds the expression of a statement that is not open yet. What is recorded from
  // here on belongs to the next statement.
  constexpr void read_ahead() {
    if (lowering_ == 0 && ahead_ == 0) ahead_ = position_;
  }
  // While an expression is lowered, the statements of library functions belong to the user's statement.
  constexpr void begin_lowering() { ++lowering_; }
  constexpr void end_lowering() { --lowering_; }

  // --- probes (soundness.hpp)

  // A probe runs the kernel's C++ and records nothing: it sees statements and their operands. It leaves out
  // the first `count` bodies of guards and loops that are `depth` deep (from 1). If `depth` is 0, it leaves
  // out none and runs the bodies of device loops twice.
  static constexpr std::uint32_t all_bodies = 0xffffffff;
  constexpr void probe(std::uint32_t depth, std::uint32_t count = all_bodies) {
    probing_ = true;
    skipped_ = depth;
    skipped_bodies_ = count;
  }
  constexpr bool probing() const { return probing_; }
  constexpr bool repeats_bodies() const { return probing_ && skipped_ == 0 && !repeating_; }
  // Whether the body of a guard or a loop that begins here is run.
  constexpr bool body_is_run() { return depth_ + 1 != skipped_ || ++bodies_ > skipped_bodies_; }
  // The number of bodies of that depth that have begun.
  constexpr std::uint32_t bodies() const { return bodies_; }
  // The body with this number is refused where it begins.
  constexpr void refuse(std::uint32_t body) { refused_ = body; }
  constexpr bool is_refused() const { return refused_ != 0 && bodies_ == refused_; }
  constexpr void enter_body();
  constexpr void leave_body() {
    --depth_;
    if (!repeating_) account_ = depth_;
  }
  constexpr std::uint32_t deepest() const { return deepest_; }

  // A probe sees a word: the line of a statement, the hash of its operands.
  static constexpr std::uint64_t hash_factor = 0x9e3779b97f4a7c15u;
  constexpr void see(std::uint64_t word) {
    seen_ = (seen_ ^ word) * hash_factor;
    events_[account_] += seen_;
  }
  // Replaces a value while probing: equal in every walk that has seen the same before it.
  constexpr value identity() const { return static_cast<value>(seen_ >> 34) + 1; }
  constexpr value new_identity() {
    see(1);
    return identity();
  }
  // All that has been seen so far. see_again() restores it, so that the rest does not depend on a body.
  constexpr std::uint64_t seen() const { return seen_; }
  constexpr void see_again(std::uint64_t seen) { seen_ = seen; }
  // The second round of a body; its sum is kept apart.
  constexpr void begin_repeated() {
    repeating_ = true;
    account_ = max_depth;
    events_[max_depth] = 0;
  }
  constexpr std::uint64_t end_repeated() {
    repeating_ = false;
    account_ = depth_;
    return events_[max_depth];
  }
  constexpr std::uint64_t events(std::uint32_t depth) const { return events_[depth]; }
  constexpr std::uint64_t all_events() const;

  // --- scopes

  // A value may be used while the scope in which it was made is open.
  constexpr std::uint32_t scope() const { return scope_; }
  constexpr bool is_open(std::uint32_t scope) const { return open_[scope]; }
  constexpr void enter_scope();
  // Forgets the numbers made inside, which do not dominate what follows.
  constexpr void leave_scope();
  constexpr void enter_loop();
  constexpr void leave_loop();
  constexpr std::uint32_t loop_depth() const { return loop_depth_; }
  // The label at the end of a when() body, as long as nothing follows it: otherwise() goes there.
  constexpr void when_ended() { end_of_when_ = position_; }
  constexpr bool follows_when() const { return end_of_when_ != 0 && end_of_when_ == position_; }

  // --- values

  static constexpr bool is_constant(value v) { return (v & constant_flag) != 0; }
  constexpr type type_of(value v) const;
  // The bits of a constant.
  constexpr std::uint64_t bits_of(value v) const { return constants_[v & constant_index].bits; }
  constexpr value new_register(type t);

  // --- instructions

  // Room for reading the addresses of arrays at the beginning of the kernel.
  static constexpr std::uint32_t prologue_size = 32;
  // The most operands of one instruction: wgmma with 128 accumulators.
  static constexpr std::uint32_t max_instruction_operands = 160;

  constexpr std::uint32_t position() const { return position_; }
  constexpr const ptx::instruction& last() const { return program_.instructions[position_ - 1]; }
  constexpr const operand& operand_at(const ptx::instruction& i, std::uint32_t k) const {
    return program_.operands[i.first_operand + k];
  }

  // Begins an instruction; its operands are added next, the results first.
  constexpr void begin(opcode op, modifier_list modifiers, type t0, type t1 = type::none);
  // The shape of the matrix instruction that is being written.
  constexpr void shape(const ptx::matrix_shape& s) { program_.instructions[position_ - 1].shape = s; }
  constexpr void add(const operand& o) { program_.operands[operand_count_++] = o; }
  // A new value as the destination.
  constexpr value define(type t);
  // {new values}: they are consecutive; returns the first.
  constexpr value define_pack(type t, std::uint32_t count);
  // A value as a source. If the variable of a snapshot is unchanged since, the variable is read.
  constexpr void use(value v);
  constexpr void use_address(value base, std::int64_t offset);
  // A variable as a source, as it is now.
  constexpr void read(std::uint32_t variable);
  // A variable that the instruction changes, or reads and changes.
  constexpr void change(std::uint32_t variable);
  // Like change(), for variables that were made together, as one operand: {all of them}.
  constexpr void change_together(std::uint32_t first, std::uint32_t count);
  constexpr void guard(value predicate, bool negated);
  constexpr void remove_last();

  // --- labels

  constexpr std::uint32_t new_label() { return ++label_count_; }
  constexpr void place(std::uint32_t label);
  constexpr void branch(std::uint32_t label);
  constexpr void branch_if(value predicate, bool negated, std::uint32_t label);

  // --- variables

  constexpr std::uint32_t new_variable(type t);
  // Consecutive variables that instructions change together; returns the first.
  constexpr std::uint32_t new_variables(type t, std::uint32_t count);
  constexpr value snapshot(std::uint32_t variable);
  // Writes a variable. If this very statement has just computed the value, it is computed into the variable
  // instead.
  constexpr void assign(std::uint32_t variable, value v, std::uint32_t statement_start);
  constexpr value variable_register(std::uint32_t variable) const { return variables_[variable].reg; }

  // --- arrays

  constexpr std::uint32_t new_array(array_space space, std::uint64_t bytes, std::uint32_t alignment);
  // An array in the shared memory of the block.
  constexpr std::uint32_t new_shared(std::uint64_t bytes, std::uint32_t alignment);
  // Appends the next word of an array with contents.
  constexpr void add_data(std::uint64_t word);
  // A text in global memory, with a zero at its end; equal texts share one array.
  constexpr std::uint32_t text_array(std::string_view text);
  // The text of an instruction, which its record has in place of modifiers; equal texts are one.
  constexpr std::uint32_t instruction_text(std::string_view text, const ptx::text_needs& needs);
  // Memory of the thread for the arguments of a call, `words` of 8 bytes; calls share it.
  constexpr std::uint32_t argument_buffer(std::uint32_t words);
  // Every launch of the kernel must have all its blocks resident.
  constexpr auto require_cooperative() { program_.cooperative = true; }

  // --- leaves and pure instructions (numbering.hpp)

  constexpr value constant(type t, std::uint64_t bits);
  // A special register that never changes while the thread runs.
  constexpr value special(special_register r, type t = type::u32);
  // The address of an array, in its own state space; 64 bits if the space has 64-bit addresses. It is read
  // once, in the prologue, because ptxas would compute it again in each block of code that reads it.
  constexpr value array_address(std::uint32_t array, type t = type::u32);
  constexpr value parameter(type t, type memory, std::uint32_t index, std::uint32_t offset = 0);
  constexpr value global_pointer(std::uint32_t parameter_index);
  // The generic address of a parameter that is a struct.
  constexpr value parameter_address(std::uint32_t parameter_index);
  // The value of a pure instruction; missing operands are 0. Constants of 16-bit and packed floating types,
  // which PTX has no immediates for, come from registers.
  constexpr value pure(const form& f, value a, value b = 0, value c = 0, value d = 0);
  // A value in a register, for operands that cannot be constants.
  constexpr value in_register(value v);

  // --- conversions (conversion.hpp)

  // move_type: the type in mov and selp of a value. register_type: the type that its instructions compute in.
  static constexpr type move_type(type t) {
    return detail::instruction_type_table[static_cast<unsigned>(t)].move;
  }
  static constexpr type register_type(type t) {
    return detail::instruction_type_table[static_cast<unsigned>(t)].compute;
  }
  // Integers of 8 and 16 bits, and the 8-bit floats.
  static constexpr bool is_small(type t) { return register_type(t) != t; }
  // The low bits of a 32-bit integer as a small integer; other types are their own.
  constexpr value narrow(type t, value v);
  // C++'s conversion, rounded by `rounding` (rn, rz, rm, rp); floats saturate at an integer's range.
  constexpr value cast(type to, type from, value a, modifier rounding);
  // The nearest value of another integer type.
  constexpr value cast_saturated(type to, type from, value a);
  // C++'s conversion, rounded to the nearest even; a float becomes an integer toward zero.
  constexpr value cast(type to, type from, value a);
  // The bits of a value as another type of the same width.
  constexpr value reinterpret(type to, value a);
  // The halves of a value, and back.
  struct halves {
    value low, high;
  };
  constexpr halves split(value v, type half);
  constexpr value join(type t, value low, value high);
  constexpr value one(type t);

  // --- 8-bit floats (float8.hpp)

  // A number of another type as 8 bits, rounded once, with the semantics of .satfinite.
  constexpr value to_float8(const float8_kind& kind, type from, value a);
  // The value of 8 bits, exactly, in f32 or f16.
  constexpr value from_float8(const float8_kind& kind, type to, value a);
  // Two f32 as 16 bits, the first in the lower byte.
  constexpr value to_float8_pair(const float8_kind& kind, type from, value low, value high);
  // 16 bits as two f16.
  constexpr value from_float8_pair(const float8_kind& kind, value pair);
  // The two bytes of 16 bits, as values.
  constexpr halves bytes_of_pair(value pair);
  // Two bytes as 16 bits. If both are adjacent bytes of one word, that half of the word.
  constexpr value pair_of_bytes(value low, value high);
  // The word with the adjacent bytes `low`, at bit `at`, and `high`; 0 if there is none.
  constexpr value common_word(value low, value high, unsigned& at) const;

  // --- arithmetic (arithmetic.hpp)

  // Whether the architecture has a fused multiply-add of type t.
  constexpr bool fuses(type t) const;
  constexpr bool contracts(type t) const;
  constexpr value unary(operation op, type t, value a);
  constexpr value binary(operation op, type t, value a, value b);
  // eq to ge on operands of type t. NaN as in C++: every comparison is false, except !=, which is true.
  constexpr value compare(operation op, type t, value a, value b);
  constexpr value select(type t, value condition, value a, value b);
  // a * b + c with one rounding (floats), or modulo 2^n (integers).
  constexpr value multiply_add(type t, value a, value b, value c);
  // A product plus a value in one expression, if contracts() holds. In a large file g++ 12 may evaluate that
  // condition wrongly in the caller, depending on when it collects garbage.
  constexpr value contracted(type t, value a, value b, value c);
  // log2 of a constant that is a power of two, or not_a_power.
  static constexpr unsigned not_a_power = 64;
  constexpr unsigned power_of_two(type t, value v) const;

  // --- memory (memory.hpp)

  struct address {
    value base = 0;           // an address in a register; 0: the array itself
    std::int64_t offset = 0;  // bytes
    std::uint32_t array = 0;
  };
  // An instruction that accesses memory: ld or st with a state space, and the other words before the type.
  struct access {
    opcode op;
    modifier_list modifiers;
  };
  // base + index * size + offset, with the constant part of the index kept apart. A u32 index may wrap, so
  // `i + 1` is not split there. Signed overflow is undefined as in C++; 64 bits wrap exactly as addresses do.
  constexpr address global_place(value base, type index_type, value index, std::uint32_t size,
                                 std::int64_t offset = 0);
  // A place in an array of the kernel. Shared memory has addresses of 32 bits, which wrap as u32 indices do;
  // local and constant memory have 64.
  constexpr address array_place(std::uint32_t array, bool is_shared, type index_type, value index,
                                std::uint32_t size, std::int64_t offset = 0);
  // A u32 value without its constant summand, which is added to `summand`; 0 if nothing else remains.
  constexpr value without_summand(value v, std::int64_t& summand);
  // The place `bytes` further on.
  static constexpr address further(address at, std::int64_t bytes);
  // A load that may be shared: nothing writes its memory while the kernel runs, or after wait_for_grids().
  constexpr value load_read_only(const access& how, type t, const address& at);
  constexpr value load(const access& how, type t, const address& at);
  constexpr void store(const access& how, type t, const address& at, value v);
  // The elements of a vector (2 or 4) are consecutive values; returns the first.
  constexpr value load_vector(const access& how, type t, std::uint32_t count, const address& at);
  constexpr value load_vector_read_only(const access& how, type t, std::uint32_t count, const address& at);
  constexpr void store_vector(const access& how, type t, std::uint32_t count, const address& at,
                              const value* elements);
  // The address itself, as a value of the global state space.
  constexpr value address_value(const address& at);
  // A part of a struct parameter. It never changes, so it is loaded once in the scopes that need it.
  constexpr value parameter_member(type t, std::uint32_t parameter, std::uint32_t offset);
  constexpr void prefetch(modifier level, const address& at);
  constexpr void fence(modifier order, modifier scope);
  // Waits until the grids that this one depends on have ended.
  constexpr void wait_for_grids();
  // Replaces the value in memory by a function of it and a (and b); returns the old value, as `result`.
  constexpr value atomic(modifier_list modifiers, type t, type result, const address& at, value a,
                         value b = 0);
  // An atomic operation on each element of a vector; returns the first of the consecutive results.
  constexpr value atomic_vector(modifier_list modifiers, type t, std::uint32_t count, const address& at,
                                const value* elements);
  // Repeats compare and swap until no other thread comes between. A value `seen` of type t becomes `operand`
  // (exchange), or `seen op operand`. `bits`: u32, u64, or f16 for 16 bits; also the result's type.
  constexpr value atomic_loop(const access& load_first, modifier_list swap, type bits, type t,
                              const address& at, bool exchange, operation op, value operand);
  // An address as an operand of the instruction that is being written.
  constexpr void add_address(const address& at);
  // The name of a type in ld and st: bool is a byte, floats of 16 bits are bits.
  static constexpr type memory_type(type t);

  // --- the history of values, for derivatives (history.hpp)

  // The identity of a pure instruction: equal keys have equal values.
  struct key {
    form f;
    value a, b, c, d;
  };
  // A value that a mathematical function gave.
  struct call {
    known_function function;
    value result, a, b;
  };
  static constexpr std::uint32_t max_calls = 2048;

  // `result` is `function` of a, or of a and b.
  constexpr void computed(known_function function, value result, value a, value b = 0);
  constexpr std::uint32_t call_count() const { return call_count_; }  // max_calls: some may be missing
  constexpr const call& call_at(std::uint32_t n) const { return calls_[n]; }
  // The key of a numbered value; zeros for any other value.
  constexpr key made_of(value v) const { return numbered_[values_[v].numbered].made_of; }
  // The position, counted from 1, of the instruction that gives a value; 0: there is none.
  constexpr std::uint32_t definition_of(value v) const { return values_[v].definition; }
  // The instruction at such a position, the end of its operands, and its line.
  constexpr const ptx::instruction& recorded(std::uint32_t position) const {
    return program_.instructions[position - 1];
  }
  constexpr std::uint32_t operands_end(std::uint32_t position) const {
    return position < position_ ? program_.instructions[position].first_operand : operand_count_;
  }
  constexpr const operand& operand_of_program(std::uint32_t n) const { return program_.operands[n]; }
  constexpr ptx::source_line line_of(std::uint32_t position) const;
  // The variable that a value is a snapshot of; 0: it is none.
  constexpr std::uint32_t snapshot_of(value v) const { return values_[v].variable; }
  // Whether an instruction recorded after the position `from`, up to `to`, writes a register.
  constexpr bool is_written(value reg, std::uint32_t from, std::uint32_t to) const;
  // Whether one of them writes to the thread's local memory.
  constexpr bool writes_local(std::uint32_t from, std::uint32_t to) const;
  // Whether a loop that is open now was entered after a position.
  constexpr bool is_before_loop(std::uint32_t position) const {
    return loop_depth_ != 0 && loop_starts_[loop_depth_ % loop_places] >= position;
  }

  // --- threads (memory.hpp, scratch.hpp)

  // A special register that changes while the thread runs.
  constexpr value read_special(special_register r, type t);
  constexpr void barrier();

  struct scratch {
    std::uint32_t array = 0;
    bool needs_barrier = false;  // a thread may still read it: a barrier must be passed before it is written
    std::uint32_t buffer = 0;
  };
  constexpr scratch take_scratch(std::uint32_t bytes, std::uint32_t alignment);
  // The last read of an exchange has been emitted.
  constexpr void return_scratch(const scratch& s);
  // A barrier of the whole block has been emitted inside `loops` loops.
  constexpr void barrier_passed(std::uint32_t loops);

  // --- the end (finish.hpp)

  // The finished program: unused instructions removed, registers numbered by class in the order of the text.
  constexpr ptx::program finish(ptx::dim3 block);

 private:
  // --- conversions

  constexpr value choose(type t, value condition, value a, value b);
  // Rounds to f32 toward zero and sets the last bit if the result is inexact. A second rounding to fewer bits
  // then equals a single rounding. Source: Boldo and Melquiond, "Emulation of FMA and correctly rounded sums:
  // proved algorithms using rounding to odd".
  constexpr value to_odd_f32(type from, value a);
  constexpr value not_zero(type t, value a);
  // The modifier that rounds to an integral value in the same direction.
  static constexpr modifier integral(modifier rounding);
  // A small integer goes through s32, for which the manual states the result of NaN from every source.
  constexpr value to_integer(type to, type from, value a, modifier rounding);
  constexpr value cast_integer(type to, type from, value a);
  constexpr value low_word(type from, value a);
  constexpr value copy(type to, value a);
  constexpr value moved(const form& f, value a);
  constexpr value reinterpret_small(type to, type from, value a);
  constexpr value cast_float(type to, type from, value a);
  // bf16 is the upper half of f32.
  constexpr value from_bf16(value a);
  constexpr value to_bf16(type from, value a);
  constexpr value round_to_bf16(value a);
  // Rounds toward zero by dropping the lower half, or away from it if the sign is that of the direction.
  constexpr value round_to_bf16(value a, modifier rounding);
  // The upper half of the bits of `a`, an f32, after `more` was added to them; NaN stays NaN.
  constexpr value upper_half(value a, value bits, value more);
  // Integers that f32 holds exactly.
  static constexpr bool exact_in_f32(type from, std::uint64_t bits);

  // --- 8-bit floats

  // An f32 that rounds to 8 bits as the value does.
  constexpr value before_float8(type from, value a);
  static constexpr std::uint64_t folded_float8(const float8_kind& kind, std::uint64_t bits);
  // cvt takes the upper half as its first source.
  constexpr value float8_pair(const float8_kind& kind, value low, value high);
  constexpr value halves_of_pair(const float8_kind& kind, value pair);
  constexpr value byte_of(value pair);
  constexpr value byte_at(value word, unsigned bit);
  constexpr value taken_from(value byte, unsigned& at) const;
  // The bits of an f32 whose mantissa is rounded to its upper `digits`, ties to even, are the code, except
  // for the bias. Below the least normal number, a sum whose last place is the least number does the
  // rounding.
  constexpr value computed_float8(const float8_kind& kind, value x);
  // The bit at `place` alone, as 0 or 1.
  constexpr value bit_at(value bits, unsigned place);
  // e5m2 is the upper half of an f16. The value of e4m3 is its magnitude in the exponent and mantissa of an
  // f32, scaled by the difference of the biases.
  constexpr value computed_number(const float8_kind& kind, type to, value a);

  // --- arithmetic

  static constexpr bool commutes(operation op);
  // neg takes signed types; a negated unsigned number has the same bits.
  static constexpr type signed_form(type t);
  static constexpr modifier comparison(operation op, type t);
  // --- 16-bit floats
  // f32 has more than twice the digits of a 16-bit float plus two: its result of + - * / and sqrt, rounded
  // once more, equals a single rounding. Source: Figueroa, "When is double rounding innocuous?"
  constexpr value by_f32(operation op, type t, value a, value b);
  constexpr value half(operation op, type t, value a, value b);
  static constexpr std::uint64_t sign_bits(type t);
  constexpr value minus(type t, value v);
  // neg, abs and sqrt of bf16 on architectures that have no instruction for them.
  constexpr value bf16_sign(operation op, type t, value a);
  // --- simplification by constants
  // The simpler value of a op b for a constant b, or 0.
  constexpr value simplified(operation op, type t, value a, value b);
  // a / b for a constant b, without a division; 0 if b is 0.
  constexpr value quotient(type t, value a, value b);
  constexpr value remainder(type t, value a, value b);
  // A 64-bit product of 32-bit numbers by one instruction on those; 0 if it is no such product.
  constexpr value wide_product(type t, value a, value b);
  // The 32-bit value that was converted to this 64-bit one, or 0.
  constexpr value before_widening(type half, value v) const;
  constexpr value high_product(type t, value a, std::uint64_t multiplier);
  // The register of v, read as an integer of type t.
  constexpr value in(type t, value v);

  // --- memory

  static constexpr bool fits_offset(std::int64_t bytes);
  // Moves the constant summands of an index into the offset.
  constexpr void peel(value& index, std::uint32_t size, std::int64_t& offset);
  // The constant part of an index that is a sum, up to `depth` instructions deep; `without_constant_` is the
  // rest. (i + 1) * 17 + j has 17.
  constexpr std::int64_t take_constant(value index, unsigned depth);
  static constexpr std::int64_t max_distance = 0x10000000;
  // A constant summand. Sums of unsigned types wrap, so it counts as signed in its width.
  constexpr std::int64_t distance_of(type t, value v) const;
  // The distance is a value of its own: pointers with the same index share it, and ptxas joins it with the
  // sum.
  constexpr value wide_address(value base, type index_type, value index, std::uint32_t size);
  static constexpr modifier vector_of(std::uint32_t count);
  constexpr access after_waits(const access& how) const;
  constexpr key read_only_key(const access& how, type t, const address& at) const;
  static constexpr type loaded_type(type t);
  constexpr value from_memory(type t, value v);
  constexpr value to_memory(type t, value v);

  // --- scratch memory

  struct buffer {
    std::uint32_t array = 0;
    std::uint32_t last_read = 0;  // the position after a read that no barrier follows yet
    bool is_lost = false;         // a read may be followed by no barrier
    std::uint32_t scope = 0;      // the outermost scope of such reads; inner scopes have larger numbers
    constexpr bool is_read() const { return last_read != 0 || is_lost; }
  };
  static constexpr std::uint32_t max_buffers = 2;
  constexpr bool branches_since(std::uint32_t from) const;
  constexpr void grow(ptx::memory_array& array, std::uint32_t bytes, std::uint32_t alignment);

  // --- numbering

  static constexpr value no_value = 0xffffffffu;
  static constexpr std::uint32_t first_array_leaf = 64;  // after the special registers

  static constexpr bool is_same(const form& x, const form& y);
  static constexpr std::uint32_t bucket_of(opcode op, value a, value b, value c);
  // The value with this key, or 0.
  constexpr value find(const key& k) const;
  // Begins the instruction of a key, with its result; its operands are added next.
  constexpr value start(const key& k);
  // Registers a value under its key.
  constexpr void number(value v, const key& k);
  // Ensures that nothing else can use the newest value; false if something may.
  constexpr bool forget_last(value v);
  // A mov of a source that never changes while the thread runs; `identity` distinguishes such sources.
  constexpr value leaf(type t, std::uint32_t identity, const operand& source);
  // A new value, read from `source` by a mov in the prologue; 0 if the prologue is full.
  constexpr value read_in_prologue(type t, const operand& source);

  // --- recording

  constexpr void note(std::uint32_t line, const char* file);
  struct variable_record {
    value reg;
    std::uint32_t group;  // of variables that are changed together; 0: none
    std::uint32_t version;
    value snapshot;
    std::uint32_t snapshot_version;
    std::uint32_t snapshot_scope;
  };
  static constexpr std::uint64_t text_word(std::string_view text, std::uint32_t word);
  constexpr bool holds_text(const ptx::memory_array& a, std::string_view text, std::uint32_t words) const;
  // A number that differs after each change of the variable. A loop may change any variable further down and
  // come back, so nothing known about a variable holds inside.
  constexpr std::uint32_t version_of(const variable_record& v) const {
    return v.version + group_version_[v.group] + loops_entered_;
  }
  constexpr void make_room();
  // Fails if the kernel has no room for these positions, operands and values.
  constexpr void require_room(std::uint32_t position, std::uint32_t operands, value v);
  constexpr void remove_unused();
  constexpr void remove_uses(std::uint32_t from, std::uint32_t end);
  constexpr void number_registers(std::uint32_t first, std::uint32_t end);

  // --- state

  // A constant is its index with this bit set, so a test for constants needs no look at memory. Constants of
  // 16-bit and packed floating types have the second bit too.
  static constexpr value constant_flag = 0x80000000u;
  static constexpr value half_flag = 0x40000000u;
  static constexpr value constant_index = 0x3fffffffu;
  static constexpr std::uint32_t buckets = 4096;
  static constexpr std::uint32_t constant_buckets = 1021;

  struct value_record {
    operand source;            // another value's register if its bits are the same
    std::uint32_t definition;  // the instruction's position + 1; 0: not made by one instruction
    std::uint32_t variable;    // a snapshot: of this variable
    std::uint32_t version;
    std::uint32_t numbered;  // its place in numbered_; 0: none
  };
  struct constant_record {
    ptx::type type;
    std::uint64_t bits;
    value id;
    std::uint32_t next;  // of the same bucket
  };
  struct numbered_record {
    key made_of;
    value result;
    std::uint32_t bucket;
    std::uint32_t next;   // of the same bucket
    std::uint32_t older;  // the one numbered before it
  };
  struct open_record {
    std::uint32_t outer;
    std::uint32_t newest_numbered;
  };

  // The fields that the compiler touches most come first: it searches them in order.
  std::uint32_t position_ = prologue_size;
  std::uint32_t operand_count_ = 2 * prologue_size;
  std::uint32_t value_count_ = 0;
  bool probing_ = false;
  std::uint32_t lowering_ = 0;
  std::uint32_t scope_ = 0;
  std::uint16_t statement_ = ptx::no_statement;
  value_record values_[max_values + 1] = {};
  std::uint32_t uses_[max_values + 1] = {};  // as operands of instructions
  constant_record constants_[max_constants + 1] = {};
  numbered_record numbered_[max_values + 1] = {};
  std::uint32_t bucket_[buckets] = {};
  std::uint32_t constant_bucket_[constant_buckets] = {};
  ptx::program program_;
  variable_record variables_[max_variables + 1] = {};
  std::uint32_t group_version_[max_groups + 1] = {};
  bool open_[max_scopes] = {};

  std::uint32_t constant_count_ = 0;
  std::uint32_t numbered_count_ = 0;
  std::uint32_t newest_numbered_ = 0;
  std::uint32_t variable_count_ = 0;
  std::uint32_t group_count_ = 0;
  std::uint32_t loops_entered_ = 0;
  value last_together_ = 0;       // the registers that number_registers() has last seen as one operand
  bool reads_unwritten_ = false;  // a variable is read that nothing has written before
  std::uint32_t label_count_ = 0;
  std::uint32_t prologue_used_ = 0;
  value array_addresses_[ptx::program::max_arrays] = {};
  static constexpr std::uint32_t max_arguments = 32;
  std::uint32_t argument_buffers_[max_arguments + 1] = {};  // by words; the array's number + 1

  kernel_fault fault_;
  bool fault_is_early_ = false;  // the next statement is the one that is wrong
  ptx::source_line here_;        // the open statement's
  std::uint32_t statement_line_ = 0;
  std::uint32_t ahead_ =
      0;  // the position before the first instruction of the next statement; 0: there is none
  std::uint32_t depth_ = 0;  // of guards and loops
  std::uint32_t deepest_ = 0;
  std::uint32_t skipped_ = 0;
  std::uint32_t skipped_bodies_ = 0;
  std::uint32_t bodies_ = 0;
  std::uint32_t refused_ = 0;
  std::uint64_t seen_ = 0;
  std::uint32_t account_ = 0;                 // the depth, or max_depth in a second round
  std::uint64_t events_[max_depth + 1] = {};  // by depth: the sum of all that was seen
  bool repeating_ = false;
  open_record scope_stack_[2 * max_depth] = {};
  std::uint32_t scope_depth_ = 0;
  std::uint32_t scope_count_ = 0;
  std::uint32_t loop_depth_ = 0;
  std::uint32_t end_of_when_ = 0;
  value without_constant_ = 0;  // the rest that take_constant() leaves
  buffer buffers_[max_buffers] = {};
  std::uint32_t buffer_count_ = 0;
  call calls_[max_calls] = {};
  std::uint32_t call_count_ = 0;
  std::uint32_t waits_for_grids_ = 0;
  static constexpr std::uint32_t loop_places = 2 * max_depth;  // more loops are not nested
  std::uint32_t loop_starts_[loop_places] = {};  // by depth: the position where the open loop begins
};

}  // namespace kaio::dsl
