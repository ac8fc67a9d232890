#pragma once
// The end of a trace: unused instructions are removed, and the registers are numbered by class in the order
// of the text.

#include <kaio/dsl/trace/recording.hpp>

#include <cstdint>

namespace kaio::dsl {

constexpr ptx::program tracer::finish(ptx::dim3 block) {
  begin(opcode::ret, 0, type::none);
  program_.instructions[position_].first_operand = operand_count_;
  remove_unused();
  std::uint32_t kept = 0;
  for (std::uint32_t i = 0; i < position_; ++i) {
    // The rest of the prologue was never written; g++ 13 fails on the copy of such an element.
    if (i == prologue_used_) i = prologue_size;
    const ptx::instruction it = program_.instructions[i];
    if (it.op == opcode::none) continue;
    const std::uint32_t first = it.first_operand,
                        end = i < prologue_size ? first + 2 : program_.instructions[i + 1].first_operand;
    program_.instructions[kept] = it;
    program_.instructions[kept++].operand_count =
        static_cast<std::uint8_t>(it.guarded ? end - first - 1 : end - first);
    if (first == end) continue;
    // A register first occurs as the result of an instruction, unless a variable is read that nothing has
    // written.
    const operand result = program_.operands[first];
    if (result.kind == operand_kind::reg && !reads_unwritten_) {
      std::uint32_t& number = program_.register_number[result.index];
      if (number == 0) number = ++program_.registers[static_cast<unsigned>(ptx::class_of(result.type))];
    } else if (reads_unwritten_) {
      number_registers(first, end);
    } else if (result.kind == operand_kind::pack || result.kind == operand_kind::pair) {
      number_registers(first + 1, first + 1 + result.index);
    } else {
      number_registers(first, first + 1);
    }
  }
  program_.instruction_count = kept;
  program_.operand_count = operand_count_;
  program_.block = block;
  program_.target = target;
  program_.cluster = cluster;
  program_.min_blocks = min_blocks;
  return program_;
}

// Numbers the registers of these operands that have no number yet.
constexpr void tracer::number_registers(std::uint32_t first, std::uint32_t end) {
  for (std::uint32_t k = first; k < end; ++k) {
    const operand o = program_.operands[k];
    std::uint64_t count = o.kind == operand_kind::reg || o.kind == operand_kind::address ? 1 : 0;
    if (o.kind == operand_kind::registers) {
      if (o.index == last_together_) continue;
      last_together_ = o.index;
      count = o.bits;
    }
    for (std::uint32_t r = o.index; count != 0; --count, ++r)
      if (program_.register_number[r] == 0)
        program_.register_number[r] = ++program_.registers[static_cast<unsigned>(ptx::class_of(o.type))];
  }
}

// Removes the pure instructions whose results are unused. Instructions that use a value have results with
// larger numbers, so one walk down sees all uses of a value before the value.
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
    remove_uses(
        k, position <= prologue_size ? it.first_operand + 2 : program_.instructions[position].first_operand);
    program_.instructions[position - 1].op = opcode::none;
  }
}

// Lowers the use counts of the operands of a removed instruction; `from` is after its results.
constexpr void tracer::remove_uses(std::uint32_t from, std::uint32_t end) {
  for (; from < end; ++from) {
    const operand used = program_.operands[from];
    if (used.kind == operand_kind::reg || used.kind == operand_kind::address) --uses_[used.index];
  }
}

}  // namespace kaio::dsl
