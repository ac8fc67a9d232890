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

TEST_CASE("attention_backward_varlen: gradients of the log-sum-exp, slopes of each sequence",
          "[ops][attention_backward]") {
  backward_case c;
  c.heads = 4;
  c.key_heads = 2;
  c.qk_size = c.v_size = 48;
  c.dlse = true;
  for (const u32 alibi : {1u, 2u}) {
    c.alibi = alibi;
    check_varlen<f16>(c, some, 80);
    c.causal = causal_alignment::bottom_right;
    check_varlen<f32>(c, some, 0);
  }
  c.sinks = c.dsinks = true;
  c.window = {30, 0};
  check_varlen<bf16>(c, {{70, 33, 70, 33}, {0, 5, 0, 5}, {9, 80, 9, 80}}, 0);
  c.alibi = 1;
  c.softcap = 3;
  check_varlen<bf16>(c, some, 80);
}

TEST_CASE("attention_backward_varlen: gradients that are not wanted", "[ops][attention_backward]") {
  backward_case c;
  c.heads = 2;
  c.qk_size = 64;
  c.v_size = 40;
  c.causal = causal_alignment::bottom_right;
  for (u32 wanted = 1; wanted < 7; ++wanted) {
    c.wants_dq = (wanted & 1) != 0;
    c.wants_dk = (wanted & 2) != 0;
    c.wants_dv = (wanted & 4) != 0;
    c.dlse = wanted % 3 == 0;
    check_varlen<f16>(c, {{9, 40, 5, 33}, {70, 66, 65, 66}}, 0, 3);
    if (wanted % 2 == 0) check_varlen<f32>(c, {{9, 40, 5, 33}, {70, 66, 65, 66}}, 80, 3);
  }
}

// Tiles of whole rows too: there the kernels of matrix instructions read rows of the next sequence.
TEST_CASE("attention_backward_varlen: rows that no sequence uses are NaN", "[ops][attention_backward]") {
  const std::vector<lengths> short_of_room{
      {70, 90, 66, 60}, {3, 4, 0, 0}, {5, 64, 3, 0}, {20, 70, 0, 65}, {130, 33, 65, 2}};
  backward_case c;
  c.heads = 2;
  c.key_heads = 1;
  c.qk_size = c.v_size = 64;
  check_varlen<f16>(c, short_of_room, 0, 7, true);
  check_varlen<f32>(c, short_of_room, 90, 7, true);
  c.causal = causal_alignment::bottom_right;
  c.dlse = c.sinks = c.dsinks = true;
  c.alibi = 2;
  check_varlen<bf16>(c, short_of_room, 90, 7, true);
  check_varlen<f32>(c, short_of_room, 0, 7, true);
  c.alibi = 0;
  c.qk_size = 136;
  c.v_size = 72;
  check_varlen<f16>(c, {{70, 90, 66, 60}, {5, 64, 3, 0}, {20, 70, 0, 65}}, 0, 7, true);
}
