#pragma once
// The properties of a call that the choice of a variant depends on: on one device, calls with the same
// signature take the same variant.

#include <array>
#include <bit>
#include <cstdint>
#include <string>

#include "ops/choice/signature.hpp"
#include "ops/matmul/choice/table.hpp"

namespace kaio::ops {

struct call_signature {
  std::uint64_t m = 0, n = 0, k = 0, batches = 0;
  std::uint64_t kind = 0;    // types, precision, layouts, epilogue
  std::uint64_t memory = 0;  // alignments, repetitions, the splits of K that fit into the workspace
  friend bool operator==(const call_signature&, const call_signature&) = default;

  static call_signature of(const matmul_call& call) {
    call_signature result{call.m, call.n, call.k, call.batches, 0, 0};
    const auto add = [](std::uint64_t& to, std::uint64_t value, unsigned bits) { to = to << bits | value; };
    add(result.kind, static_cast<std::uint64_t>(call.operand), 4);
    add(result.kind, static_cast<std::uint64_t>(call.output), 4);
    add(result.kind, static_cast<std::uint64_t>(call.precision), 4);
    add(result.kind, call.a.lines == line_direction::across_k, 1);
    add(result.kind, call.b.lines == line_direction::across_k, 1);
    add(result.kind, call.terms.plain != 0 ? 1 : !has_tile_terms(call) ? 0 : adds_c(call) ? 3 : 2, 2);
    const std::uint64_t size = bytes_of(call.operand), c_size = bytes_of(call.output);
    const auto add_operand = [&](const matmul_operand& x, std::uint64_t element, std::uint64_t length) {
      // The greatest power of two, up to 16, that divides every line's address.
      add(result.memory,
          static_cast<std::uint64_t>(
              std::countr_zero(x.address | x.pitch * element | x.batch_pitch * element | 16)),
          3);
      add(result.memory, x.batch_pitch == 0, 1);
      add(result.memory, x.pitch < length, 1);
      add(result.memory, (x.pitch | x.batch_pitch) * element >> 40 != 0, 1);
    };
    add_operand(call.a, size, call.a.lines == line_direction::along_k ? call.k : call.m);
    add_operand(call.b, size, call.b.lines == line_direction::along_k ? call.k : call.n);
    add_operand(call.c, c_size, call.n);
    const std::uint64_t of_part = call.m * call.n * sizeof(f32);
    const bool usable = call.workspace.address != 0 && call.workspace.address % 16 == 0 && of_part != 0;
    const std::uint64_t splits = usable ? call.workspace.bytes / of_part : 0;
    std::uint64_t magnitude = 0;  // log2 of the splits, at most 4
    while (magnitude < 4 && splits >> (magnitude + 1) != 0) ++magnitude;
    add(result.memory, magnitude, 3);
    // 1 if an operand does not begin at a multiple of 16 bytes; other bits do not reach bits 62 and 63.
    const auto begins_apart = [](const matmul_operand& x) { return std::uint64_t{x.address % 16 != 0}; };
    result.memory |= begins_apart(call.a) << 63 | begins_apart(call.b) << 62;
    return result;
  }

  std::array<std::uint64_t, 6> words() const { return {m, n, k, batches, kind, memory}; }
  std::uint64_t hash() const { return hash_of_words(words()); }
  std::string text() const { return text_of_words(words()); }
};

}  // namespace kaio::ops
