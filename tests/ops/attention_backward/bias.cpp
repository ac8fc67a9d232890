// ops::attention_backward: the gradient of a bias of every shape, also where tiles are masked as a whole, and
// without other gradients.
#include "tests/ops/attention_backward/support.hpp"

using namespace kaio;
using namespace kaio::tests;

namespace {

template <class T>
void check_bias(const score_tensor_shape& shape, bool own_type, bool alone) {
  backward_case c;
  c.batches = 2;
  c.heads = 2;
  c.key_heads = 1;
  c.queries = 70;
  c.keys = 132;
  c.qk_size = c.v_size = 16;
  c.causal = causal_alignment::top_left;
  c.window = {10, 0};
  c.softcap = 2;
  c.bias = shape;
  c.dbias = true;
  c.dbias_own_type = own_type;
  if (alone) c.wants_dq = c.wants_dk = c.wants_dv = false;
  check_backward<T>(c);
}

}  // namespace

TEST_CASE("attention_backward: gradients of biases", "[ops][attention_backward]") {
  const score_tensor_shape full{.rank = 4}, no_batches{.rank = 3, .own_type = true}, one_row{.rank = 1},
      keys_alone{.rank = 4, .ones = 0b0111}, queries_alone{.rank = 4, .ones = 0b1011};
  check_bias<f32>(full, false, false);
  check_bias<f16>(full, true, true);
  check_bias<bf16>(no_batches, true, false);
  check_bias<f32>(one_row, false, true);
  check_bias<f16>(keys_alone, false, false);
  check_bias<f32>(queries_alone, false, false);
}
