// The reference that gradients are compared with, against finite differences: with every option that a gradient goes
// through, and the gradients of biases and sinks themselves.
#include "tests/ops/attention_backward/finite_differences.hpp"

using namespace kaio;
using namespace kaio::tests;

namespace {

backward_case small_case() {
  backward_case c;
  c.batches = 2;
  c.queries = 5;
  c.keys = 7;
  c.heads = 4;
  c.key_heads = 2;
  c.qk_size = 8;
  c.v_size = 6;
  return c;
}

}  // namespace

TEST_CASE("attention_backward: the reference by finite differences, options", "[ops][attention_backward]") {
  backward_case c = small_case();
  check_reference(c);
  c.scale = -0.75f;
  c.sinks = c.dsinks = true;
  for (const auto causal : {causal_alignment::top_left, causal_alignment::bottom_right}) {
    c.causal = causal;
    check_reference(c);
    c.dlse = true;
  }
  c.window = {2, 0};
  c.softcap = 1.5f;
  c.alibi = 2;
  check_reference(c);
  c.queries = 9;  // more than keys: queries without keys
  c.keep = {.rank = 4};
  check_reference(c);
}

TEST_CASE("attention_backward: the reference by finite differences, biases", "[ops][attention_backward]") {
  u32 turn = 0;
  for (const score_tensor_shape& shape :
       {score_tensor_shape{.rank = 4}, score_tensor_shape{.rank = 4, .ones = 0b0001},
        score_tensor_shape{.rank = 4, .ones = 0b0111}, score_tensor_shape{.rank = 4, .ones = 0b1011},
        score_tensor_shape{.rank = 4, .ones = 0b1101}, score_tensor_shape{.rank = 4, .ones = 0b1001},
        score_tensor_shape{.rank = 3}, score_tensor_shape{.rank = 3, .ones = 0b0110},
        score_tensor_shape{.rank = 2}, score_tensor_shape{.rank = 1}}) {
    backward_case c = small_case();
    c.bias = shape;
    c.dbias = true;
    if (turn++ % 2 != 0 || (shape.ones & 0b1000) != 0) {  // one number for all keys matters next to a sink
      c.causal = causal_alignment::bottom_right;
      c.softcap = 2;
      c.alibi = 1;
      c.sinks = c.dsinks = c.dlse = true;
    }
    check_reference(c);
  }
}
