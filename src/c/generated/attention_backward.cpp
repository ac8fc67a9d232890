// Made by src/c/generate.py from src/c/operations/attention_backward.json.
// clang-format off

#include <kaio/c/attention_backward.h>
#include <kaio/ops/attention_backward.hpp>

#include "c/call/call.hpp"
#include "c/call/error.hpp"
#include "c/generated/structs.hpp"

namespace kaio::c {

void read(call& in, const char* name, const kaio_attention_backward_options* given, ops::attention_backward_options& to) {
  kaio_attention_backward_options from = kaio_attention_backward_options_default();
  in.take(name, given, &from, sizeof from);
  in.zero("reserved_4", from.reserved_4);
  if (from.forward != nullptr) read(in, "forward", from.forward, to.forward);
  in.optional_tensor("dlse", from.dlse, {element::f32, 2, 3}, to.dlse.view);
  in.optional_tensor("dbias", from.dbias, {element::f32 | element::f16 | element::bf16, 1, 4}, to.dbias.view);
  in.optional_tensor("dsinks", from.dsinks, {element::f32 | element::f16 | element::bf16, 1, 1}, to.dsinks.view);
  in.workspace("workspace", from.workspace, to.workspace);
}

}  // namespace kaio::c

using namespace kaio;
using namespace kaio::c;

extern "C" {

kaio_status kaio_attention_backward(void* stream_handle, const DLTensor* dout_given, const DLTensor* q_given,
                                    const DLTensor* k_given, const DLTensor* v_given,
                                    const DLTensor* out_given, const DLTensor* lse_given,
                                    const DLTensor* dq_given, const DLTensor* dk_given,
                                    const DLTensor* dv_given,
                                    const kaio_attention_backward_options* options_given) {
  return guarded([&] {
    call in("attention_backward");
    ops::attention_view dout;
    in.tensor("dout", dout_given, {element::f32 | element::f16 | element::bf16, 4, 4}, dout);
    in.same_elements("dout", dout_given, "q", q_given);
    ops::attention_view q;
    in.tensor("q", q_given, {element::f32 | element::f16 | element::bf16, 4, 4}, q);
    ops::attention_view k;
    in.tensor("k", k_given, {element::f32 | element::f16 | element::bf16, 4, 4}, k);
    in.same_elements("k", k_given, "q", q_given);
    ops::attention_view v;
    in.tensor("v", v_given, {element::f32 | element::f16 | element::bf16, 4, 4}, v);
    in.same_elements("v", v_given, "q", q_given);
    ops::attention_view out;
    in.tensor("out", out_given, {element::f32 | element::f16 | element::bf16, 4, 4}, out);
    ops::attention_row_input lse;
    in.tensor("lse", lse_given, {element::f32, 3, 3}, lse.view);
    ops::attention_gradient dq;
    in.optional_tensor("dq", dq_given, {element::f32 | element::f16 | element::bf16, 4, 4}, dq.view);
    in.same_elements("dq", dq_given, "q", q_given);
    ops::attention_gradient dk;
    in.optional_tensor("dk", dk_given, {element::f32 | element::f16 | element::bf16, 4, 4}, dk.view);
    in.same_elements("dk", dk_given, "q", q_given);
    ops::attention_gradient dv;
    in.optional_tensor("dv", dv_given, {element::f32 | element::f16 | element::bf16, 4, 4}, dv.view);
    in.same_elements("dv", dv_given, "q", q_given);
    in.need("options", options_given);
    ops::attention_backward_options options;
    read(in, "options", options_given, options);
    const runtime::stream& stream = in.stream(stream_handle);
    ops::attention_backward(stream, dout, q, k, v, out, lse, dq, dk, dv, options);
    in.finish();
  });
}

kaio_status kaio_attention_backward_warmup(const DLTensor* dout_given, const DLTensor* q_given,
                                           const DLTensor* k_given, const DLTensor* v_given,
                                           const DLTensor* out_given, const DLTensor* lse_given,
                                           const DLTensor* dq_given, const DLTensor* dk_given,
                                           const DLTensor* dv_given,
                                           const kaio_attention_backward_options* options_given) {
  return guarded([&] {
    call in("attention_backward_warmup");
    ops::attention_view dout;
    in.tensor("dout", dout_given, {element::f32 | element::f16 | element::bf16, 4, 4}, dout);
    in.same_elements("dout", dout_given, "q", q_given);
    ops::attention_view q;
    in.tensor("q", q_given, {element::f32 | element::f16 | element::bf16, 4, 4}, q);
    ops::attention_view k;
    in.tensor("k", k_given, {element::f32 | element::f16 | element::bf16, 4, 4}, k);
    in.same_elements("k", k_given, "q", q_given);
    ops::attention_view v;
    in.tensor("v", v_given, {element::f32 | element::f16 | element::bf16, 4, 4}, v);
    in.same_elements("v", v_given, "q", q_given);
    ops::attention_view out;
    in.tensor("out", out_given, {element::f32 | element::f16 | element::bf16, 4, 4}, out);
    ops::attention_row_input lse;
    in.tensor("lse", lse_given, {element::f32, 3, 3}, lse.view);
    ops::attention_gradient dq;
    in.optional_tensor("dq", dq_given, {element::f32 | element::f16 | element::bf16, 4, 4}, dq.view);
    in.same_elements("dq", dq_given, "q", q_given);
    ops::attention_gradient dk;
    in.optional_tensor("dk", dk_given, {element::f32 | element::f16 | element::bf16, 4, 4}, dk.view);
    in.same_elements("dk", dk_given, "q", q_given);
    ops::attention_gradient dv;
    in.optional_tensor("dv", dv_given, {element::f32 | element::f16 | element::bf16, 4, 4}, dv.view);
    in.same_elements("dv", dv_given, "q", q_given);
    in.need("options", options_given);
    ops::attention_backward_options options;
    read(in, "options", options_given, options);
    const runtime::stream& stream = in.loading();
    ops::attention_backward(stream, dout, q, k, v, out, lse, dq, dk, dv, options);
  });
}

kaio_status kaio_attention_backward_workspace_bytes(const DLTensor* q_given, const DLTensor* k_given,
                                                    const DLTensor* v_given, uint64_t* bytes) {
  return guarded([&] {
    call in("attention_backward_workspace_bytes");
    in.need("bytes", bytes);
    ops::attention_view q;
    in.tensor("q", q_given, {element::f32 | element::f16 | element::bf16, 4, 4}, q);
    ops::attention_view k;
    in.tensor("k", k_given, {element::f32 | element::f16 | element::bf16, 4, 4}, k);
    in.same_elements("k", k_given, "q", q_given);
    ops::attention_view v;
    in.tensor("v", v_given, {element::f32 | element::f16 | element::bf16, 4, 4}, v);
    in.same_elements("v", v_given, "q", q_given);
    const runtime::stream& stream = in.gpu().stream();
    *bytes = ops::attention_backward_workspace_bytes(stream, q, k, v);
  });
}

kaio_status kaio_attention_backward_choice(const DLTensor* dout_given, const DLTensor* q_given,
                                           const DLTensor* k_given, const DLTensor* v_given,
                                           const DLTensor* out_given, const DLTensor* lse_given,
                                           const DLTensor* dq_given, const DLTensor* dk_given,
                                           const DLTensor* dv_given,
                                           const kaio_attention_backward_options* options_given,
                                           kaio_kernel_choice* choice) {
  return guarded([&] {
    call in("attention_backward_choice");
    ops::attention_view dout;
    in.tensor("dout", dout_given, {element::f32 | element::f16 | element::bf16, 4, 4}, dout);
    in.same_elements("dout", dout_given, "q", q_given);
    ops::attention_view q;
    in.tensor("q", q_given, {element::f32 | element::f16 | element::bf16, 4, 4}, q);
    ops::attention_view k;
    in.tensor("k", k_given, {element::f32 | element::f16 | element::bf16, 4, 4}, k);
    in.same_elements("k", k_given, "q", q_given);
    ops::attention_view v;
    in.tensor("v", v_given, {element::f32 | element::f16 | element::bf16, 4, 4}, v);
    in.same_elements("v", v_given, "q", q_given);
    ops::attention_view out;
    in.tensor("out", out_given, {element::f32 | element::f16 | element::bf16, 4, 4}, out);
    ops::attention_row_input lse;
    in.tensor("lse", lse_given, {element::f32, 3, 3}, lse.view);
    ops::attention_gradient dq;
    in.optional_tensor("dq", dq_given, {element::f32 | element::f16 | element::bf16, 4, 4}, dq.view);
    in.same_elements("dq", dq_given, "q", q_given);
    ops::attention_gradient dk;
    in.optional_tensor("dk", dk_given, {element::f32 | element::f16 | element::bf16, 4, 4}, dk.view);
    in.same_elements("dk", dk_given, "q", q_given);
    ops::attention_gradient dv;
    in.optional_tensor("dv", dv_given, {element::f32 | element::f16 | element::bf16, 4, 4}, dv.view);
    in.same_elements("dv", dv_given, "q", q_given);
    in.need("options", options_given);
    ops::attention_backward_options options;
    read(in, "options", options_given, options);
    const runtime::stream& stream = in.gpu().stream();
    give(in, "choice", ops::attention_backward_choice(stream, dout, q, k, v, out, lse, dq, dk, dv, options), choice);
  });
}

kaio_status kaio_attention_backward_varlen(void* stream_handle, const DLTensor* dout_given,
                                           const DLTensor* q_given, const DLTensor* k_given,
                                           const DLTensor* v_given, const DLTensor* out_given,
                                           const DLTensor* lse_given, const DLTensor* dq_given,
                                           const DLTensor* dk_given, const DLTensor* dv_given,
                                           const kaio_attention_sequences* sequences_given,
                                           const kaio_attention_backward_options* options_given) {
  return guarded([&] {
    call in("attention_backward_varlen");
    ops::attention_view dout;
    in.tensor("dout", dout_given, {element::f32 | element::f16 | element::bf16, 3, 3}, dout);
    in.same_elements("dout", dout_given, "q", q_given);
    ops::attention_view q;
    in.tensor("q", q_given, {element::f32 | element::f16 | element::bf16, 3, 3}, q);
    ops::attention_view k;
    in.tensor("k", k_given, {element::f32 | element::f16 | element::bf16, 3, 3}, k);
    in.same_elements("k", k_given, "q", q_given);
    ops::attention_view v;
    in.tensor("v", v_given, {element::f32 | element::f16 | element::bf16, 3, 3}, v);
    in.same_elements("v", v_given, "q", q_given);
    ops::attention_view out;
    in.tensor("out", out_given, {element::f32 | element::f16 | element::bf16, 3, 3}, out);
    ops::attention_row_input lse;
    in.tensor("lse", lse_given, {element::f32, 2, 2}, lse.view);
    ops::attention_gradient dq;
    in.optional_tensor("dq", dq_given, {element::f32 | element::f16 | element::bf16, 3, 3}, dq.view);
    in.same_elements("dq", dq_given, "q", q_given);
    ops::attention_gradient dk;
    in.optional_tensor("dk", dk_given, {element::f32 | element::f16 | element::bf16, 3, 3}, dk.view);
    in.same_elements("dk", dk_given, "q", q_given);
    ops::attention_gradient dv;
    in.optional_tensor("dv", dv_given, {element::f32 | element::f16 | element::bf16, 3, 3}, dv.view);
    in.same_elements("dv", dv_given, "q", q_given);
    in.need("sequences", sequences_given);
    ops::attention_sequences sequences;
    read(in, "sequences", sequences_given, sequences);
    in.need("options", options_given);
    ops::attention_backward_options options;
    read(in, "options", options_given, options);
    const runtime::stream& stream = in.stream(stream_handle);
    ops::attention_backward_varlen(stream, dout, q, k, v, out, lse, dq, dk, dv, sequences, options);
    in.finish();
  });
}

kaio_status kaio_attention_backward_varlen_warmup(const DLTensor* dout_given, const DLTensor* q_given,
                                                  const DLTensor* k_given, const DLTensor* v_given,
                                                  const DLTensor* out_given, const DLTensor* lse_given,
                                                  const DLTensor* dq_given, const DLTensor* dk_given,
                                                  const DLTensor* dv_given,
                                                  const kaio_attention_sequences* sequences_given,
                                                  const kaio_attention_backward_options* options_given) {
  return guarded([&] {
    call in("attention_backward_varlen_warmup");
    ops::attention_view dout;
    in.tensor("dout", dout_given, {element::f32 | element::f16 | element::bf16, 3, 3}, dout);
    in.same_elements("dout", dout_given, "q", q_given);
    ops::attention_view q;
    in.tensor("q", q_given, {element::f32 | element::f16 | element::bf16, 3, 3}, q);
    ops::attention_view k;
    in.tensor("k", k_given, {element::f32 | element::f16 | element::bf16, 3, 3}, k);
    in.same_elements("k", k_given, "q", q_given);
    ops::attention_view v;
    in.tensor("v", v_given, {element::f32 | element::f16 | element::bf16, 3, 3}, v);
    in.same_elements("v", v_given, "q", q_given);
    ops::attention_view out;
    in.tensor("out", out_given, {element::f32 | element::f16 | element::bf16, 3, 3}, out);
    ops::attention_row_input lse;
    in.tensor("lse", lse_given, {element::f32, 2, 2}, lse.view);
    ops::attention_gradient dq;
    in.optional_tensor("dq", dq_given, {element::f32 | element::f16 | element::bf16, 3, 3}, dq.view);
    in.same_elements("dq", dq_given, "q", q_given);
    ops::attention_gradient dk;
    in.optional_tensor("dk", dk_given, {element::f32 | element::f16 | element::bf16, 3, 3}, dk.view);
    in.same_elements("dk", dk_given, "q", q_given);
    ops::attention_gradient dv;
    in.optional_tensor("dv", dv_given, {element::f32 | element::f16 | element::bf16, 3, 3}, dv.view);
    in.same_elements("dv", dv_given, "q", q_given);
    in.need("sequences", sequences_given);
    ops::attention_sequences sequences;
    read(in, "sequences", sequences_given, sequences);
    in.need("options", options_given);
    ops::attention_backward_options options;
    read(in, "options", options_given, options);
    const runtime::stream& stream = in.loading();
    ops::attention_backward_varlen(stream, dout, q, k, v, out, lse, dq, dk, dv, sequences, options);
  });
}

kaio_status kaio_attention_backward_varlen_workspace_bytes(const DLTensor* q_given, const DLTensor* k_given,
                                                           const DLTensor* v_given,
                                                           const kaio_attention_sequences* sequences_given,
                                                           uint64_t* bytes) {
  return guarded([&] {
    call in("attention_backward_varlen_workspace_bytes");
    in.need("bytes", bytes);
    ops::attention_view q;
    in.tensor("q", q_given, {element::f32 | element::f16 | element::bf16, 3, 3}, q);
    ops::attention_view k;
    in.tensor("k", k_given, {element::f32 | element::f16 | element::bf16, 3, 3}, k);
    in.same_elements("k", k_given, "q", q_given);
    ops::attention_view v;
    in.tensor("v", v_given, {element::f32 | element::f16 | element::bf16, 3, 3}, v);
    in.same_elements("v", v_given, "q", q_given);
    in.need("sequences", sequences_given);
    ops::attention_sequences sequences;
    read(in, "sequences", sequences_given, sequences);
    const runtime::stream& stream = in.gpu().stream();
    *bytes = ops::attention_backward_varlen_workspace_bytes(stream, q, k, v, sequences);
  });
}

kaio_status kaio_attention_backward_varlen_choice(const DLTensor* dout_given, const DLTensor* q_given,
                                                  const DLTensor* k_given, const DLTensor* v_given,
                                                  const DLTensor* out_given, const DLTensor* lse_given,
                                                  const DLTensor* dq_given, const DLTensor* dk_given,
                                                  const DLTensor* dv_given,
                                                  const kaio_attention_sequences* sequences_given,
                                                  const kaio_attention_backward_options* options_given,
                                                  kaio_kernel_choice* choice) {
  return guarded([&] {
    call in("attention_backward_varlen_choice");
    ops::attention_view dout;
    in.tensor("dout", dout_given, {element::f32 | element::f16 | element::bf16, 3, 3}, dout);
    in.same_elements("dout", dout_given, "q", q_given);
    ops::attention_view q;
    in.tensor("q", q_given, {element::f32 | element::f16 | element::bf16, 3, 3}, q);
    ops::attention_view k;
    in.tensor("k", k_given, {element::f32 | element::f16 | element::bf16, 3, 3}, k);
    in.same_elements("k", k_given, "q", q_given);
    ops::attention_view v;
    in.tensor("v", v_given, {element::f32 | element::f16 | element::bf16, 3, 3}, v);
    in.same_elements("v", v_given, "q", q_given);
    ops::attention_view out;
    in.tensor("out", out_given, {element::f32 | element::f16 | element::bf16, 3, 3}, out);
    ops::attention_row_input lse;
    in.tensor("lse", lse_given, {element::f32, 2, 2}, lse.view);
    ops::attention_gradient dq;
    in.optional_tensor("dq", dq_given, {element::f32 | element::f16 | element::bf16, 3, 3}, dq.view);
    in.same_elements("dq", dq_given, "q", q_given);
    ops::attention_gradient dk;
    in.optional_tensor("dk", dk_given, {element::f32 | element::f16 | element::bf16, 3, 3}, dk.view);
    in.same_elements("dk", dk_given, "q", q_given);
    ops::attention_gradient dv;
    in.optional_tensor("dv", dv_given, {element::f32 | element::f16 | element::bf16, 3, 3}, dv.view);
    in.same_elements("dv", dv_given, "q", q_given);
    in.need("sequences", sequences_given);
    ops::attention_sequences sequences;
    read(in, "sequences", sequences_given, sequences);
    in.need("options", options_given);
    ops::attention_backward_options options;
    read(in, "options", options_given, options);
    const runtime::stream& stream = in.gpu().stream();
    give(in, "choice", ops::attention_backward_varlen_choice(stream, dout, q, k, v, out, lse, dq, dk, dv, sequences, options), choice);
  });
}
}
