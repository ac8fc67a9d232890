#pragma once
// Arguments that all kinds of attention share: their checks, and the numbers that kernels get.

#include <kaio/ops/attention/common/arguments.hpp>
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

// Throws unsupported_device: no kernel runs a call of these head sizes, elements and output. `why` is the
// refusal of the last kernel for these elements.
[[noreturn]] void refuse_without_kernel(std::string_view operation, std::uint32_t qk_size,
                                        std::uint32_t v_size, element_kind type, element_kind output,
                                        const device_properties& device, std::string_view why);

// Strides of a view of (batches, rows, heads, elements). Throws invalid_argument if neighbours along the last
// dimension are not adjacent.
attention_strides strides_of(std::string_view operation, std::string_view name, const attention_view& v);

// Prepends a batch of one; a view of four dimensions stays as it is.
attention_view as_one_batch(const attention_view& v);

// Throws invalid_argument if one of them is out of range.
void check_scale_and_softcap(std::string_view operation, const std::optional<f32>& scale, f32 softcap);
// For `sequences` sequences along the rows of q. Throws invalid_argument if max_q is out of range, or 0
// although there are rows, as when it was forgotten.
void check_max_q(std::string_view operation, std::int64_t max_q, std::int64_t rows, std::int64_t sequences);
// Check slopes and sinks, if given, for `heads` heads and `batches` batches. Throw invalid_argument.
void check_alibi(const validation& check, const attention_view& alibi, std::int64_t heads,
                 std::int64_t batches);
void check_sinks(const validation& check, const attention_view& sinks, std::int64_t heads);

void take_alibi(attention_terms& terms, const attention_view& alibi);
void take_sinks(attention_problem& problem, const attention_view& sinks);
// `lse` is (batches, heads, queries).
void take_lse(attention_problem& problem, const attention_view& lse);

}  // namespace kaio::ops::detail
