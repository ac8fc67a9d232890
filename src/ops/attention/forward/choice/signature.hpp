#pragma once
// The properties of a call that decide the choice of a variant: calls of one signature get the same variant.

#include <kaio/ops/attention/common/pair_biased_score.hpp>

#include <array>
#include <cstdint>
#include <string>

#include "ops/attention/forward/choice/table.hpp"
#include "ops/choice/signature.hpp"

namespace kaio::ops {

struct attention_signature {
  // queries, keys, batches, heads, heads of a group, head sizes, the kind, the band, blocks, their lists
  std::array<std::uint64_t, 10> words{};
  friend bool operator==(const attention_signature&, const attention_signature&) = default;

  // With batch_invariant everything that packing or other sequences of the call may change is 0.
  static attention_signature of(const attention_call& call) {
    const attention_problem& p = call.problem;
    std::uint64_t kind = 0;
    const auto add = [&](std::uint64_t value, unsigned bits) { kind = kind << bits | value; };
    add(static_cast<std::uint64_t>(call.type), 2);
    add(static_cast<std::uint64_t>(call.output), 2);
    add(static_cast<std::uint64_t>(call.precision), 1);
    add(call.in_blocks, 1);
    add(call.batch_invariant, 1);
    add(!call.batch_invariant && p.packed != 0, 1);
    add(call.terms.plain != 0, 1);
    add(call.terms.softcap != 0, 1);
    add(call.terms.alibi != 0, 1);
    for (const attention_score_tensor& x : {call.bias, call.keep}) add(x.address != 0, 1);
    // This condition is also in accept.cpp.
    add(!call.batch_invariant && score_pairs::of(call.bias, call.keep, p.keys).address != 0, 1);
    for (const attention_strides& s : {p.q, p.k, p.v, p.o}) {
      add(s.by_16, 1);
      add(((s.batch | s.row | s.head) >> 39) != 0, 1);  // roughly: strides that tensor copies cannot take
    }
    add(call.k.rows == 0, 1);
    const auto pair = [](auto high, auto low) {
      return static_cast<std::uint64_t>(static_cast<std::uint32_t>(high)) << 32 |
             static_cast<std::uint32_t>(low);
    };
    attention_signature result;
    result.words[5] = pair(p.qk_size, p.v_size);
    result.words[6] = kind;
    result.words[7] = pair(call.band.low, call.band.high);
    if (call.in_blocks) result.words[8] = pair(call.lists.queries, call.lists.keys);
    result.words[9] = call.band.top_left;
    if (call.batch_invariant) return result;
    result.words[0] = p.queries;
    result.words[1] = p.packed != 0 ? pair(call.q.rows, call.k.rows) : std::uint64_t{p.keys};
    result.words[2] = p.batches;
    result.words[3] = p.heads;
    result.words[4] = p.heads_of_group;
    if (call.in_blocks)
      result.words[9] |= (std::uint64_t{call.lists.partial.most} + call.lists.full.most) << 1;
    return result;
  }

  std::uint64_t hash() const { return hash_of_words(words); }
  // The text for a file that also holds signatures of other operations.
  std::string text() const { return "attention," + text_of_words(words); }
};

}  // namespace kaio::ops
