#pragma once
// The history of values, for derivative(): the mathematical function that gave a value, and the registers
// written between two positions of the program.

#include <kaio/dsl/trace/recording.hpp>

#include <cstdint>

namespace kaio::dsl {

// A result that is older than its operands was found, not computed; it has a history of its own.
constexpr void tracer::computed(known_function function, value result, value a, value b) {
  if (is_constant(result) || (!is_constant(a) && result <= a) || (!is_constant(b) && result <= b)) return;
  if (call_count_ == max_calls || (call_count_ != 0 && calls_[call_count_ - 1].result == result)) return;
  calls_[call_count_++] = {function, result, a, b};
}

constexpr ptx::source_line tracer::line_of(std::uint32_t position) const {
  const std::uint16_t statement = recorded(position).statement;
  return statement == ptx::no_statement ? ptx::source_line{} : program_.statements[statement];
}

constexpr bool tracer::is_written(value reg, std::uint32_t from, std::uint32_t to) const {
  if (from < prologue_size) from = prologue_size;  // reads of unchanging values
  for (std::uint32_t position = from + 1; position <= to; ++position) {
    if (!ptx::has_result(recorded(position).op)) continue;
    const std::uint32_t first = recorded(position).first_operand;
    if (first == operands_end(position)) continue;
    const operand result = program_.operands[first];
    if (result.kind == operand_kind::reg && result.index == reg) return true;
    if (result.kind == operand_kind::registers && reg >= result.index && reg < result.index + result.bits)
      return true;
    if (result.kind == operand_kind::pack || result.kind == operand_kind::pair)
      for (std::uint32_t k = 1; k <= result.index; ++k)
        if (program_.operands[first + k].index == reg) return true;
  }
  return false;
}

constexpr bool tracer::writes_local(std::uint32_t from, std::uint32_t to) const {
  if (from < prologue_size) from = prologue_size;
  for (std::uint32_t position = from + 1; position <= to; ++position)
    if (recorded(position).op == opcode::st && contains(recorded(position).modifiers, modifier::local))
      return true;
  return false;
}

}  // namespace kaio::dsl
