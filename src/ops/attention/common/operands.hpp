#pragma once
// Arguments that attentions of all kinds have: their checks, and the numbers that kernels take of them.

#include <kaio/ops/attention/forward/call/arguments.hpp>
#include <kaio/ops/attention/common/problem.hpp>
#include <kaio/ops/attention/common/terms.hpp>
#include <kaio/ops/shared/validation.hpp>
#include <kaio/runtime/properties.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace kaio::ops::detail {

[[noreturn]] void refuse_attention(std::string_view operation, const std::string& what);

// "f16".
const char* name_of(attention_type type);
// Throws unsupported_device: no kernel runs a call of these head sizes, elements and output; `why` is why the last
// one that is made for its elements does not.
[[noreturn]] void refuse_without_kernel(std::string_view operation, std::uint32_t qk_size,
                                        std::uint32_t v_size, attention_type type, attention_type output,
                                        const device_properties& device, const char* why);

// Of a view of (batches, rows, heads, elements). Throws invalid_argument where neighbours along the last
// dimension are not adjacent.
attention_strides strides_of(std::string_view operation, std::string_view name, const attention_view& v);

// A view with a batch of one before its dimensions; one of four dimensions as it is.
attention_view as_one_batch(const attention_view& v);

// Throws invalid_argument where one of them is none.
void check_scale_and_softcap(std::string_view operation, const std::optional<f32>& scale, f32 softcap);
// Of `sequences` sequences that follow each other along the rows of q. Throws invalid_argument where max_q is out of
// range, or 0 next to rows, which is what it is when it was forgotten.
void check_max_q(std::string_view operation, std::int64_t max_q, std::int64_t rows, std::int64_t sequences);
// Slopes and sinks, where they are there: of so many heads and batches. Throws invalid_argument.
void check_alibi(const validation& check, const attention_view& alibi, std::int64_t heads,
                 std::int64_t batches);
void check_sinks(const validation& check, const attention_view& sinks, std::int64_t heads);

void take_alibi(attention_terms& terms, const attention_view& alibi);
void take_sinks(attention_problem& problem, const attention_view& sinks);
// A view of (batches, heads, queries).
void take_lse(attention_problem& problem, const attention_view& lse);

}  // namespace kaio::ops::detail
