// attention_decode over caches of 8 bits: every format with every kind of scales, in every kernel; and a cache
// as append_kv writes it.
#include "tests/ops/attention_decode/support.hpp"

#include <kaio/ops/append_kv.hpp>

using namespace kaio;
using namespace kaio::tests;

namespace {

constexpr std::string_view simt = "attention_decode_simt";

// In the kernel that the device takes, in the one for sm_80, and in the one for all.
template <class T, class C>
void check_codes(decode_case c) {
  check_decode<T, T, C>(c);
  const std::string before =
      "attention_decode_mma_8bit_sm80_d" + std::to_string(std::max(c.qk_size, c.v_size) <= 64    ? 64
                                                          : std::max(c.qk_size, c.v_size) <= 128 ? 128
                                                                                                 : 256);
  const std::string tile = std::max(c.qk_size, c.v_size) <= 64    ? "_16x128"
                           : std::max(c.qk_size, c.v_size) <= 128 ? "_16x64"
                                                                  : "_16x32";
  const std::string older = before + tile;
  c.variant = older;
  if (under_test().properties().target.sm >= 89) check_decode<T, T, C>(c);
  c.variant = simt;
  check_decode<T, T, C>(c);
}

template <class C>
void check_format() {
  check_codes<f16, C>({.lengths = {70, 1, 0, 64}});
  check_codes<bf16, C>({.lengths = {33, 129}, .room = 200, .scales = scale_kind::one});
  check_codes<f16, C>({.queries = 3,
                       .heads = 6,
                       .qk_size = 128,
                       .v_size = 96,
                       .lengths = {100, 31},
                       .kind = cache_kind::table,
                       .page = 24,
                       .causal = causal_alignment::bottom_right,
                       .scales = scale_kind::heads});
  check_codes<bf16, C>({.heads = 2,
                        .qk_size = 256,
                        .v_size = 256,
                        .lengths = {90, 17},
                        .kind = cache_kind::list,
                        .page = 7,
                        .heads_first = true,
                        .scales = scale_kind::keys});
  check_codes<f16, C>({.lengths = {300}, .kind = cache_kind::table, .page = 1, .scales = scale_kind::keys});
}

}  // namespace

TEST_CASE("attention_decode: a cache of e4m3", "[ops][attention_decode][codes]") { check_format<e4m3>(); }
TEST_CASE("attention_decode: a cache of e5m2", "[ops][attention_decode][codes]") { check_format<e5m2>(); }
TEST_CASE("attention_decode: a cache of i8", "[ops][attention_decode][codes]") { check_format<i8>(); }
