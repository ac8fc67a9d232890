// The kernels of attention_backward for sm_90a. In calls of several tiles of keys and of queries, blocks wait
// for each other's turns. Some calls are left to the kernels of multiply-adds.
#include "tests/ops/attention_backward/support.hpp"

using namespace kaio;
using namespace kaio::tests;

namespace {

constexpr const char* of_sm90 = "attention_backward_sm90_";

bool has_sm90() {
  const ptx::target target = under_test().properties().target;
  return target.sm == 90 && target.arch_specific;
}

// Where the device is one of sm_90a, by its kernels.
template <class T>
void check_sm90(const backward_case& c) {
  check_backward_by<T>(c, [](const auto&... arguments) {
    const stream& s = under_test().stream();
    REQUIRE(ops::attention_backward_choice(s, arguments...).name.starts_with(of_sm90) == has_sm90());
    attention_backward(s, arguments...);
  });
}

backward_case shaped(u32 queries, u32 keys, u32 size) {
  backward_case c;
  c.queries = queries;
  c.keys = keys;
  c.qk_size = c.v_size = size;
  return c;
}

template <class T>
void check_shapes(u32 size) {
  check_sm90<T>(shaped(330, 300, size));
  backward_case causal = shaped(390, 260, size - 8);
  causal.causal = causal_alignment::bottom_right;
  check_sm90<T>(causal);
  backward_case window = shaped(200, 400, size);
  window.causal = causal_alignment::top_left;
  window.window = {50, 0};
  window.heads_first = true;
  window.pad = 8;
  check_sm90<T>(window);
  backward_case later = shaped(260, 390, size);
  later.window = {-1, 30};
  later.v_size = 40;
  check_sm90<T>(later);
  backward_case general = shaped(140, 270, size);
  general.softcap = size == 128 ? 1e7f : 2;
  general.alibi = 1;
  general.causal = causal_alignment::bottom_right;
  check_sm90<T>(general);
  backward_case groups = shaped(150, 140, size);
  groups.batches = 2;
  groups.heads = 4;
  groups.key_heads = 2;
  groups.causal = causal_alignment::top_left;
  groups.dlse = groups.sinks = groups.dsinks = true;
  check_sm90<T>(groups);
}

}  // namespace

TEST_CASE("attention_backward for sm_90a: several tiles, d64", "[ops][attention_backward]") {
  check_shapes<f16>(64);
}
TEST_CASE("attention_backward for sm_90a: several tiles, d128", "[ops][attention_backward]") {
  check_shapes<bf16>(128);
}

TEST_CASE("attention_backward for sm_90a: several tiles, d256", "[ops][attention_backward]") {
  check_shapes<f16>(256);
}

// Copies bring the existing columns of each row. The other columns of a tile are zeros, even a whole panel of them.
TEST_CASE("attention_backward for sm_90a: head sizes that are no multiple of a box",
          "[ops][attention_backward]") {
  for (const u32 size : {24u, 72u, 136u, 184u}) check_sm90<f16>(shaped(270, 150, size));
  backward_case shorter = shaped(200, 90, 104);
  shorter.v_size = 40;
  shorter.causal = causal_alignment::bottom_right;
  check_sm90<bf16>(shorter);
  shorter.qk_size = 48;
  shorter.v_size = 216;
  check_sm90<bf16>(shorter);
}

// More tiles than there are multiprocessors, some of them with no query.
TEST_CASE("attention_backward for sm_90a: blocks of several tiles", "[ops][attention_backward]") {
  const u32 heads = under_test().properties().multiprocessors / 4 + 1;
  for (const u32 size : {64u, 128u}) {
    backward_case c = shaped(size == 64 ? 150 : 90, size == 64 ? 200 : 260, size);
    c.batches = 2;
    c.heads = c.key_heads = heads;
    if (size == 128) c.causal = causal_alignment::top_left;
    check_sm90<bf16>(c);
  }
}

TEST_CASE("attention_backward for sm_90a: d_v is another one, of long rows", "[ops][attention_backward]") {
  backward_case c = shaped(100, 130, 192);
  c.v_size = 128;
  c.heads = 2;
  c.alibi = 2;
  c.batches = 2;
  check_sm90<bf16>(c);
  backward_case wider = shaped(65, 64, 64);
  wider.v_size = 256;
  wider.causal = causal_alignment::top_left;
  check_sm90<f16>(wider);
}

template <class T>
void check_biases(u32 size) {
  backward_case own = shaped(70, 200, size);
  own.bias = {.rank = 3, .own_type = true};
  own.heads = 2;
  own.key_heads = 1;
  own.causal = causal_alignment::bottom_right;
  check_sm90<T>(own);
  backward_case strided = shaped(130, 70, size);
  strided.bias = {.rank = 4, .keys_first = true};
  strided.keep = {.rank = 2};
  strided.softcap = 3;
  strided.alibi = 1;
  check_sm90<T>(strided);
  backward_case summed = shaped(40, 50, size);
  summed.bias = {.rank = 4, .ones = 0b0111};
  summed.dbias = true;
  check_sm90<T>(summed);
}
TEST_CASE("attention_backward for sm_90a: a bias and a mask in memory", "[ops][attention_backward]") {
  check_biases<f16>(64);
  check_biases<bf16>(128);
}

TEST_CASE("attention_backward for sm_90a: gradients that are not wanted", "[ops][attention_backward]") {
  for (u32 wanted = 1; wanted < 7; ++wanted) {
    backward_case c = wanted < 5 ? shaped(70, 140, 64) : shaped(60, 72, 256);
    c.wants_dq = (wanted & 1) != 0;
    c.wants_dk = (wanted & 2) != 0;
    c.wants_dv = (wanted & 4) != 0;
    check_sm90<bf16>(c);
  }
}

TEST_CASE("attention_backward for sm_90a: dS beyond f16", "[ops][attention_backward]") {
  for (const u32 size : {64u, 128u, 256u}) {
    backward_case c = shaped(3, 4, size);
    c.dout_range = 60000;
    check_sm90<f16>(c);
  }
}
