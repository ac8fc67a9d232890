#pragma once
// The end of a trace: what nobody uses is removed, and the registers are numbered by class in the order of the
// text.

#include <kaio/dsl/trace/recording.hpp>

#include <cstdint>

namespace kaio::dsl {

constexpr ptx::program tracer::finish(ptx::dim3 block) {
  begin(opcode::ret, 0, type::none);
  remove_unused();
  std::uint32_t kept = 0;
  for (std::uint32_t i = 0; i < position_; ++i) {
    ptx::instruction it = program_.instructions[i];
    if (it.op == opcode::none) continue;
    const std::uint32_t end = end_of_operands(i);
    it.operand_count = static_cast<std::uint8_t>(end - it.first_operand - (it.guarded ? 1 : 0));
    program_.instructions[kept] = it;
    ++kept;
    if (reads_unwritten_)
      number_all(it, end);
    else if (it.operand_count != 0)
      number_results(it);
  }
  program_.instruction_count = kept;
  program_.operand_count = operand_count_;
  program_.block = block;
  program_.target = target;
  program_.cluster = cluster;
  program_.min_blocks = min_blocks;
  return program_;
}

// After the operands of an instruction, its guard among them.
constexpr std::uint32_t tracer::end_of_operands(std::uint32_t instruction) const {
  if (instruction < prologue_size) return 2 * instruction + 2;
  return instruction + 1 == position_ ? operand_count_ : program_.instructions[instruction + 1].first_operand;
}

// Turns the pure instructions whose results nobody uses into nothing. A value is used by instructions after its own,
// whose results have larger numbers, so one walk down sees all uses of a value that go before it comes to the value.
constexpr void tracer::remove_unused() {
  for (value v = value_count_; v != 0; --v) {
    if (uses_[v] != 0 || values_[v].definition == 0) continue;
    const std::uint32_t position = values_[v].definition;
    const ptx::instruction it = program_.instructions[position - 1];
    if (it.op == opcode::none || !ptx::facts(it.op).pure) continue;
    std::uint32_t k = it.first_operand;
    const operand first = program_.operands[k];
    std::uint32_t results = 1;
    if (first.kind == operand_kind::pack || first.kind == operand_kind::pair) {
      results = first.index;
      ++k;
    }
    bool needed = false;
    for (; results != 0; --results, ++k) {
      const value to = program_.operands[k].index;
      if (uses_[to] != 0 || values_[to].definition != position) needed = true;
    }
    if (needed) continue;
    remove_uses(it, k, end_of_operands(position - 1));
    program_.instructions[position - 1].op = opcode::none;
  }
}

// The operands of an instruction that goes, `from` on after its results, are used once less.
constexpr void tracer::remove_uses(const ptx::instruction& it, std::uint32_t from, std::uint32_t end) {
  for (; from < end - (it.guarded ? 1 : 0); ++from) {
    const operand used = program_.operands[from];
    if (used.kind == operand_kind::reg || used.kind == operand_kind::address) --uses_[used.index];
  }
}

// A register is first met as the result of an instruction, unless a variable is read that was never written.
constexpr void tracer::number_results(const ptx::instruction& it) {
  const std::uint32_t k = it.first_operand;
  const operand first = program_.operands[k];
  switch (first.kind) {
    case operand_kind::reg: return number_register(first.index, first.type);
    case operand_kind::registers: return number_all(it, k + 1);
    case operand_kind::pack:
    case operand_kind::pair: return number_all(it, k + 1 + first.index);
    default: return;
  }
}

constexpr void tracer::number_all(const ptx::instruction& it, std::uint32_t end) {
  for (std::uint32_t k = it.first_operand; k < end; ++k) {
    const operand o = program_.operands[k];
    if (o.kind == operand_kind::reg || o.kind == operand_kind::address)
      number_register(o.index, o.type);
    else if (o.kind == operand_kind::registers)
      for (std::uint32_t n = 0; n < o.bits; ++n) number_register(o.index + n, o.type);
  }
}

constexpr void tracer::number_register(std::uint32_t r, type t) {
  if (program_.register_number[r] == 0)
    program_.register_number[r] = ++program_.registers[static_cast<unsigned>(ptx::class_of(t))];
}

}  // namespace kaio::dsl
