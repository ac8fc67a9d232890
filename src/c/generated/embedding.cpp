// Made by src/c/generate.py from src/c/operations/embedding.json.
// clang-format off

#include <kaio/c/embedding.h>
#include <kaio/ops/embedding.hpp>

#include "c/call/call.hpp"
#include "c/call/error.hpp"
#include "c/generated/structs.hpp"

namespace kaio::c {

static_assert(ops::embedding_backward_options{}.padding_index == -1);
static_assert(ops::embedding_backward_options{}.accumulate == false);

void read(call& in, const char* name, const kaio_embedding_options* given, ops::embedding_options& to) {
  kaio_embedding_options from = kaio_embedding_options_default();
  in.take(name, given, &from, sizeof from);
  in.zero("reserved_4", from.reserved_4);
  in.optional_tensor("errors", from.errors, {element::u32, 1, 1}, to.errors);
}

void read(call& in, const char* name, const kaio_embedding_backward_options* given, ops::embedding_backward_options& to) {
  kaio_embedding_backward_options from = kaio_embedding_backward_options_default();
  in.take(name, given, &from, sizeof from);
  in.zero("reserved_4", from.reserved_4);
  to.padding_index = from.padding_index;
  to.accumulate = in.flag("accumulate", from.accumulate);
  in.zero("reserved_20", from.reserved_20);
  in.workspace("workspace", from.workspace, to.workspace);
}

}  // namespace kaio::c

using namespace kaio;
using namespace kaio::c;

extern "C" {

kaio_status kaio_embedding(void* stream_handle, const DLTensor* indices_given, const DLTensor* weight_given,
                           const DLTensor* out_given, const kaio_embedding_options* options_given) {
  return guarded([&] {
    call in("embedding");
    ops::any_view indices;
    in.tensor("indices", indices_given, {element::i32 | element::i64, 1, 4}, indices);
    ops::any_view weight;
    in.tensor("weight", weight_given, {element::f32 | element::f16 | element::bf16, 2, 2}, weight);
    ops::any_view out;
    in.tensor("out", out_given, {element::f32 | element::f16 | element::bf16, 2, 5}, out);
    in.same_elements("out", out_given, "weight", weight_given);
    ops::embedding_options options;
    read(in, "options", options_given, options);
    const runtime::stream& stream = in.stream(stream_handle);
    ops::detail::run_embedding(stream, indices, weight, out, options);
    in.finish();
  });
}

kaio_status kaio_embedding_warmup(const DLTensor* indices_given, const DLTensor* weight_given,
                                  const DLTensor* out_given, const kaio_embedding_options* options_given) {
  return guarded([&] {
    call in("embedding_warmup");
    ops::any_view indices;
    in.tensor("indices", indices_given, {element::i32 | element::i64, 1, 4}, indices);
    ops::any_view weight;
    in.tensor("weight", weight_given, {element::f32 | element::f16 | element::bf16, 2, 2}, weight);
    ops::any_view out;
    in.tensor("out", out_given, {element::f32 | element::f16 | element::bf16, 2, 5}, out);
    in.same_elements("out", out_given, "weight", weight_given);
    ops::embedding_options options;
    read(in, "options", options_given, options);
    const runtime::stream& stream = in.loading();
    ops::detail::run_embedding(stream, indices, weight, out, options);
  });
}

kaio_status kaio_embedding_backward(void* stream_handle, const DLTensor* dout_given,
                                    const DLTensor* indices_given, const DLTensor* dweight_given,
                                    const kaio_embedding_backward_options* options_given) {
  return guarded([&] {
    call in("embedding_backward");
    ops::any_view dout;
    in.tensor("dout", dout_given, {element::f32 | element::f16 | element::bf16, 2, 5}, dout);
    ops::any_view indices;
    in.tensor("indices", indices_given, {element::i32 | element::i64, 1, 4}, indices);
    ops::any_view dweight;
    in.tensor("dweight", dweight_given, {element::f32 | element::f16 | element::bf16, 2, 2}, dweight);
    ops::embedding_backward_options options;
    read(in, "options", options_given, options);
    const runtime::stream& stream = in.stream(stream_handle);
    ops::detail::run_embedding_backward(stream, dout, indices, dweight, options);
    in.finish();
  });
}

kaio_status kaio_embedding_backward_warmup(const DLTensor* dout_given, const DLTensor* indices_given,
                                           const DLTensor* dweight_given,
                                           const kaio_embedding_backward_options* options_given) {
  return guarded([&] {
    call in("embedding_backward_warmup");
    ops::any_view dout;
    in.tensor("dout", dout_given, {element::f32 | element::f16 | element::bf16, 2, 5}, dout);
    ops::any_view indices;
    in.tensor("indices", indices_given, {element::i32 | element::i64, 1, 4}, indices);
    ops::any_view dweight;
    in.tensor("dweight", dweight_given, {element::f32 | element::f16 | element::bf16, 2, 2}, dweight);
    ops::embedding_backward_options options;
    read(in, "options", options_given, options);
    const runtime::stream& stream = in.loading();
    ops::detail::run_embedding_backward(stream, dout, indices, dweight, options);
  });
}

kaio_status kaio_embedding_backward_workspace_bytes(const DLTensor* indices_given,
                                                    const DLTensor* dweight_given, uint64_t* bytes) {
  return guarded([&] {
    call in("embedding_backward_workspace_bytes");
    in.need("bytes", bytes);
    ops::any_view indices;
    in.tensor("indices", indices_given, {element::i32 | element::i64, 1, 4}, indices);
    ops::any_view dweight;
    in.tensor("dweight", dweight_given, {element::f32 | element::f16 | element::bf16, 2, 2}, dweight);
    *bytes = ops::detail::embedding_backward_bytes(indices, dweight);
  });
}
}
