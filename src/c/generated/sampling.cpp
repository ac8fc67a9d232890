// Made by src/c/generate.py from src/c/operations/sampling.json.
// clang-format off

#include <kaio/c/sampling.h>
#include <kaio/ops/sample.hpp>
#include <kaio/ops/top_k.hpp>

#include "c/call/call.hpp"
#include "c/call/error.hpp"
#include "c/generated/structs.hpp"

namespace kaio::c {

static_assert(ops::sample_options{}.temperature == 1.0f);
static_assert(ops::sample_options{}.top_k == 0);
static_assert(ops::sample_options{}.top_p == 1.0f);
static_assert(ops::sample_options{}.min_p == 0.0f);

void read(call& in, const char* name, const kaio_sample_options* given, ops::sample_options& to) {
  kaio_sample_options from = kaio_sample_options_default();
  in.take(name, given, &from, sizeof from);
  in.zero("reserved_4", from.reserved_4);
  in.optional_tensor("seed", from.seed, {element::i64 | element::u64, 1, 1}, to.seed);
  in.optional_tensor("offset", from.offset, {element::i64 | element::u64, 1, 1}, to.offset);
  in.optional_tensor("offset_out", from.offset_out, {element::i64 | element::u64, 1, 1}, to.offset_out);
  to.temperature = from.temperature;
  to.top_k = from.top_k;
  to.top_p = from.top_p;
  to.min_p = from.min_p;
  in.optional_tensor("temperatures", from.temperatures, {element::f32, 1, 1}, to.temperatures);
  in.optional_tensor("top_ks", from.top_ks, {element::i32, 1, 1}, to.top_ks);
  in.optional_tensor("top_ps", from.top_ps, {element::f32, 1, 1}, to.top_ps);
  in.optional_tensor("min_ps", from.min_ps, {element::f32, 1, 1}, to.min_ps);
  in.optional_tensor("logprobs", from.logprobs, {element::f32, 1, 1}, to.logprobs);
  in.optional_tensor("lse", from.lse, {element::f32, 1, 1}, to.lse);
  in.optional_tensor("invalid_rows", from.invalid_rows, {element::i32, 1, 1}, to.invalid_rows);
}

}  // namespace kaio::c

using namespace kaio;
using namespace kaio::c;

extern "C" {

kaio_status kaio_sample(void* stream_handle, const DLTensor* logits_given, const DLTensor* tokens_given,
                        const kaio_sample_options* options_given) {
  return guarded([&] {
    call in("sample");
    ops::any_view logits;
    in.tensor("logits", logits_given, {element::f32 | element::f16 | element::bf16, 2, 2}, logits);
    ops::any_view tokens;
    in.tensor("tokens", tokens_given, {element::i32 | element::i64, 1, 1}, tokens);
    in.need("options", options_given);
    ops::sample_options options;
    read(in, "options", options_given, options);
    const runtime::stream& stream = in.stream(stream_handle);
    ops::detail::run_sample(stream, logits, tokens, options);
    in.finish();
  });
}

kaio_status kaio_sample_warmup(const DLTensor* logits_given, const DLTensor* tokens_given,
                               const kaio_sample_options* options_given) {
  return guarded([&] {
    call in("sample_warmup");
    ops::any_view logits;
    in.tensor("logits", logits_given, {element::f32 | element::f16 | element::bf16, 2, 2}, logits);
    ops::any_view tokens;
    in.tensor("tokens", tokens_given, {element::i32 | element::i64, 1, 1}, tokens);
    in.need("options", options_given);
    ops::sample_options options;
    read(in, "options", options_given, options);
    const runtime::stream& stream = in.loading();
    ops::detail::run_sample(stream, logits, tokens, options);
  });
}

kaio_status kaio_top_k(void* stream_handle, const DLTensor* x_given, const DLTensor* values_given,
                       const DLTensor* indices_given) {
  return guarded([&] {
    call in("top_k");
    ops::any_view x;
    in.tensor("x", x_given, {element::f32 | element::f16 | element::bf16, 2, 2}, x);
    ops::any_view values;
    in.tensor("values", values_given, {element::f32 | element::f16 | element::bf16, 2, 2}, values);
    in.same_elements("values", values_given, "x", x_given);
    ops::any_view indices;
    in.tensor("indices", indices_given, {element::i32 | element::i64, 2, 2}, indices);
    const runtime::stream& stream = in.stream(stream_handle);
    ops::detail::run_top_k(stream, x, values, indices);
    in.finish();
  });
}

kaio_status kaio_top_k_warmup(const DLTensor* x_given, const DLTensor* values_given,
                              const DLTensor* indices_given) {
  return guarded([&] {
    call in("top_k_warmup");
    ops::any_view x;
    in.tensor("x", x_given, {element::f32 | element::f16 | element::bf16, 2, 2}, x);
    ops::any_view values;
    in.tensor("values", values_given, {element::f32 | element::f16 | element::bf16, 2, 2}, values);
    in.same_elements("values", values_given, "x", x_given);
    ops::any_view indices;
    in.tensor("indices", indices_given, {element::i32 | element::i64, 2, 2}, indices);
    const runtime::stream& stream = in.loading();
    ops::detail::run_top_k(stream, x, values, indices);
  });
}
}
