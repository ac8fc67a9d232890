// ops::attention_backward_varlen: sequences of different lengths in one tensor give what attention_backward
// gives for each of them alone, bit for bit where its kernels are the same; other rows are left.
#include "tests/ops/attention_backward/varlen_case.hpp"

using namespace kaio;
using namespace kaio::tests;

namespace {

const std::vector<lengths> some{
    {70, 33, 70, 33}, {0, 5, 0, 5}, {9, 80, 5, 66}, {3, 0, 3, 0}, {65, 65, 64, 1}};

}  // namespace

TEST_CASE("attention_backward_varlen: each sequence as it is alone", "[ops][attention_backward]") {
  backward_case c;
  c.heads = 4;
  c.key_heads = 2;
  c.qk_size = 40;
  c.v_size = 24;
  c.pad = 8;
  for (const auto causal : {causal_alignment::none, causal_alignment::bottom_right}) {
    c.causal = causal;
    c.sinks = c.dsinks = causal != causal_alignment::none;
    check_varlen<f16>(c, some, 80);
    check_varlen<f32>(c, some, 0);
  }
  check_varlen<f16>(c, {{70, 33, 70, 33}, {0, 5, 0, 5}, {9, 80, 9, 80}}, 0);  // every row is used
  c.window = {7, 3};
  c.causal = causal_alignment::none;
  c.softcap = 2;
  c.heads_first = true;
  check_varlen<bf16>(c, some, 500);
}

TEST_CASE("attention_backward_varlen: each sequence as it is alone, d160", "[ops][attention_backward]") {
  backward_case c;
  c.heads = 2;
  c.qk_size = c.v_size = 160;
  c.causal = causal_alignment::bottom_right;
  c.sinks = c.dsinks = true;
  check_varlen<bf16>(c, {{9, 80, 5, 66}, {3, 0, 3, 0}, {130, 70, 129, 70}}, 0);
}
