#pragma once
// Arguments that attentions of all kinds have: their checks, and the numbers that kernels take of them.

#include <kaio/ops/attention/call/arguments.hpp>
#include <kaio/ops/attention/common/problem.hpp>
#include <kaio/ops/attention/common/terms.hpp>
#include <kaio/ops/tensor/validation.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace kaio::ops::detail {

[[noreturn]] void refuse_attention(std::string_view operation, const std::string& what);

// Of a view of (batches, rows, heads, elements). Throws invalid_argument where neighbours along the last
// dimension are not adjacent.
attention_strides strides_of(std::string_view operation, std::string_view name, const attention_view& v);

// A view with a batch of one before its dimensions; one of four dimensions as it is.
attention_view as_one_batch(const attention_view& v);

// Throws invalid_argument where one of them is none.
void check_scale_and_softcap(std::string_view operation, const std::optional<f32>& scale, f32 softcap);
// Slopes and sinks, where they are there: of so many heads and batches. Throws invalid_argument.
void check_alibi(const validation& check, const attention_view& alibi, std::int64_t heads,
                 std::int64_t batches);
void check_sinks(const validation& check, const attention_view& sinks, std::int64_t heads);

void take_alibi(attention_terms& terms, const attention_view& alibi);
void take_sinks(attention_problem& problem, const attention_view& sinks);
// A view of (batches, heads, queries).
void take_lse(attention_problem& problem, const attention_view& lse);

}  // namespace kaio::ops::detail
