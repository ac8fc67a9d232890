// Made by src/c/generate.py from src/c/operations/qk_norm_rotary.json.
// clang-format off

#include <kaio/c/qk_norm_rotary.h>
#include <kaio/ops/qk_norm_rotary.hpp>

#include "c/call/call.hpp"
#include "c/call/error.hpp"
#include "c/generated/structs.hpp"

namespace kaio::c {

static_assert(ops::qk_norm_rotary_options{}.epsilon == 1e-6f);
static_assert(ops::qk_norm_rotary_options{}.weight_offset == 0.0f);

void read(call& in, const char* name, const kaio_qk_norm_rotary_options* given, ops::qk_norm_rotary_options& to) {
  kaio_qk_norm_rotary_options from = kaio_qk_norm_rotary_options_default();
  in.take(name, given, &from, sizeof from);
  in.zero("reserved_4", from.reserved_4);
  in.optional_tensor("q_norm", from.q_norm, {element::f32 | element::f16 | element::bf16, 1, 1}, to.q_norm);
  in.optional_tensor("k_norm", from.k_norm, {element::f32 | element::f16 | element::bf16, 1, 1}, to.k_norm);
  to.epsilon = from.epsilon;
  to.weight_offset = from.weight_offset;
  in.optional_tensor("cos", from.cos, {element::f32 | element::f16 | element::bf16, 2, 2}, to.cos);
  in.optional_tensor("sin", from.sin, {element::f32 | element::f16 | element::bf16, 2, 2}, to.sin);
  if (from.rotary != nullptr) read(in, "rotary", from.rotary, to.rotary);
}

}  // namespace kaio::c

using namespace kaio;
using namespace kaio::c;

extern "C" {

kaio_status kaio_qk_norm_rotary(void* stream_handle, const DLTensor* q_given, const DLTensor* k_given,
                                const DLTensor* q_out_given, const DLTensor* k_out_given,
                                const kaio_qk_norm_rotary_options* options_given) {
  return guarded([&] {
    call in("qk_norm_rotary");
    ops::any_view q;
    in.tensor("q", q_given, {element::f32 | element::f16 | element::bf16, 3, 4}, q);
    ops::any_view k;
    in.optional_tensor("k", k_given, {element::f32 | element::f16 | element::bf16, 3, 4}, k);
    in.same_elements("k", k_given, "q", q_given);
    ops::any_view q_out;
    in.tensor("q_out", q_out_given, {element::f32 | element::f16 | element::bf16, 3, 4}, q_out);
    in.same_elements("q_out", q_out_given, "q", q_given);
    in.same_rank("q_out", q_out_given, "q", q_given, 0);
    ops::any_view k_out;
    in.optional_tensor("k_out", k_out_given, {element::f32 | element::f16 | element::bf16, 3, 4}, k_out);
    in.same_elements("k_out", k_out_given, "q", q_given);
    in.need("options", options_given);
    ops::qk_norm_rotary_options options;
    read(in, "options", options_given, options);
    const runtime::stream& stream = in.stream(stream_handle);
    ops::detail::run_qk_norm_rotary(stream, q, k, q_out, k_out, options);
    in.finish();
  });
}

kaio_status kaio_qk_norm_rotary_warmup(const DLTensor* q_given, const DLTensor* k_given,
                                       const DLTensor* q_out_given, const DLTensor* k_out_given,
                                       const kaio_qk_norm_rotary_options* options_given) {
  return guarded([&] {
    call in("qk_norm_rotary_warmup");
    ops::any_view q;
    in.tensor("q", q_given, {element::f32 | element::f16 | element::bf16, 3, 4}, q);
    ops::any_view k;
    in.optional_tensor("k", k_given, {element::f32 | element::f16 | element::bf16, 3, 4}, k);
    in.same_elements("k", k_given, "q", q_given);
    ops::any_view q_out;
    in.tensor("q_out", q_out_given, {element::f32 | element::f16 | element::bf16, 3, 4}, q_out);
    in.same_elements("q_out", q_out_given, "q", q_given);
    in.same_rank("q_out", q_out_given, "q", q_given, 0);
    ops::any_view k_out;
    in.optional_tensor("k_out", k_out_given, {element::f32 | element::f16 | element::bf16, 3, 4}, k_out);
    in.same_elements("k_out", k_out_given, "q", q_given);
    in.need("options", options_given);
    ops::qk_norm_rotary_options options;
    read(in, "options", options_given, options);
    const runtime::stream& stream = in.loading();
    ops::detail::run_qk_norm_rotary(stream, q, k, q_out, k_out, options);
  });
}
}
