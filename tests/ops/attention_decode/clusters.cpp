// attention_decode: splits that a cluster adds up, on sm_90, and the same splits by a second kernel; and the choice
// by the model of their times.
#include "tests/ops/attention_decode/support.hpp"
#include "thrown.hpp"

using namespace kaio;
using namespace kaio::tests;
using ops::attention_combining;

namespace {

bool has_clusters() { return under_test().properties().target.sm >= 90; }

template <class T, class C = T>
void check_cluster(decode_case c, u32 parts) {
  if (!has_clusters()) return;
  c.splits = parts;
  c.combining = attention_combining::cluster;
  const auto info = decode_choice<T, C>(c);
  REQUIRE(info.in_cluster);
  REQUIRE(info.splits == parts);
  check_decode<T, T, C>(c);
}

}  // namespace

TEST_CASE("attention_decode: parts in a cluster", "[ops][attention_decode][clusters]") {
  // A sequence with keys in every split, in some splits, in one, in none.
  check_cluster<f16>({.lengths = {1000, 130, 3, 0}, .left = {3, 0, 1, 0}, .sinks = true}, 4);
  check_cluster<bf16>({.heads = 8,
                       .key_heads = 1,
                       .qk_size = 128,
                       .v_size = 96,
                       .lengths = {300, 65},
                       .kind = cache_kind::table,
                       .page = 5,
                       .softcap = 4,
                       .alibi = 1},
                      8);
  check_cluster<f16>({.queries = 5,
                      .heads = 2,
                      .key_heads = 1,
                      .qk_size = 200,
                      .v_size = 256,
                      .lengths = {90, 31},
                      .causal = causal_alignment::bottom_right,
                      .window = {40, 0}},
                     2);
  check_cluster<bf16>({.heads = 2, .key_heads = 1, .qk_size = 16, .v_size = 32, .lengths = {2100}}, 16);
}

TEST_CASE("attention_decode: clusters of every size", "[ops][attention_decode][clusters]") {
  for (const u32 parts : {2u, 4u, 8u, 16u})
    for (const u32 size : {48u, 64u, 96u, 128u}) {
      // Up to 8 rows of a tile, and more; an odd number of them.
      check_cluster<f16>({.heads = 6,
                          .key_heads = 2,
                          .qk_size = size,
                          .v_size = size,
                          .lengths = {size * parts / 2 + 5, 0, 130},
                          .left = {0, 0, 100},
                          .sinks = parts == 4,
                          .seed = parts},
                         parts);
      check_cluster<bf16>({.queries = 2,
                           .heads = 7,
                           .key_heads = 1,
                           .qk_size = size,
                           .v_size = size == 128 ? 64 : size,
                           .lengths = {64 * parts + 1, 40},
                           .kind = parts == 8 ? cache_kind::list : cache_kind::table,
                           .page = parts,
                           .causal = causal_alignment::bottom_right,
                           .seed = size},
                          parts);
    }
}

TEST_CASE("attention_decode: calls that the kernels for sm_90 leave to those for sm_80",
          "[ops][attention_decode][clusters]") {
  // Rows of keys that begin anywhere: neither copies them.
  const decode_case odd{.qk_size = 64, .lengths = {130, 7}, .kind = cache_kind::table, .pad = 4};
  REQUIRE(decode_choice<f16>(odd).name == "attention_decode_simt");
  check_decode<f16>(odd);
  if (!has_clusters()) return;
  decode_case c{.qk_size = 128, .v_size = 128, .lengths = {100}};
  REQUIRE(decode_choice<f16>(c).name == "attention_decode_mma_f16_d128_16x64_sm90");
  c.pad = 8;  // 16 bytes
  REQUIRE(decode_choice<f16>(c).name == "attention_decode_mma_f16_d128_16x64_sm90");
  // Rows of queries that begin anywhere.
  c = {.queries = 2,
       .qk_size = 128,
       .v_size = 128,
       .lengths = {130, 7},
       .kind = cache_kind::table,
       .q_pad = 4};
  REQUIRE(decode_choice<f16>(c).name == "attention_decode_mma_f16_d128_16x64");
  check_decode<f16>(c);
  c.qk_size = c.v_size = 64;
  REQUIRE(decode_choice<bf16>(c).name == "attention_decode_mma_bf16_d64_16x128");
  check_decode<bf16>(c);
  check_decode<bf16, bf16, e4m3>(c);
}

TEST_CASE("attention_decode: parts in a cluster over a cache of 8 bits",
          "[ops][attention_decode][codes][clusters]") {
  check_cluster<f16, e4m3>({.lengths = {500, 1}, .scales = scale_kind::keys}, 4);
  check_cluster<bf16, i8>({.qk_size = 128, .v_size = 128, .lengths = {140}, .scales = scale_kind::one}, 2);
  check_cluster<bf16, e5m2>({.heads = 2, .qk_size = 256, .v_size = 256, .lengths = {130, 0}}, 4);
}

TEST_CASE("attention_decode: the same parts by a second kernel", "[ops][attention_decode][clusters]") {
  for (const char* const variant : {"", "attention_decode_mma_f16_d64_16x128_sm90"}) {
    if (*variant != 0 && !has_clusters()) continue;
    check_decode<f16>({.lengths = {1000, 130, 3, 0},
                       .variant = variant,
                       .splits = 4,
                       .combining = attention_combining::second_kernel});
    check_decode<f16>({.lengths = {300, 20}, .invariant = true, .variant = variant});
  }
  // A number of splits that no cluster has.
  check_decode<f16>({.lengths = {700, 20}, .splits = 5});
}

TEST_CASE("attention_decode: which calls run in clusters", "[ops][attention_decode][clusters]") {
  if (!has_clusters()) return;
  const auto in_cluster = [](i64 keys, u32 batches, bool invariant = false) {
    decode_case c{.heads = 32, .key_heads = 8, .qk_size = 16, .v_size = 16, .kind = cache_kind::table};
    c.lengths.assign(batches, 1);
    c.room = static_cast<u32>(keys / c.page);
    c.invariant = invariant;
    return decode_choice<f16>(c);
  };
  REQUIRE(!in_cluster(32768, 1).in_cluster);  // more splits than a cluster has
  REQUIRE(in_cluster(1024, 1).in_cluster);
  REQUIRE(in_cluster(1024, 4).in_cluster);
  REQUIRE(!in_cluster(1 << 20, 64).in_cluster);
  REQUIRE(!in_cluster(8192, 1, true).in_cluster);
  REQUIRE(in_cluster(64, 1).splits == 1);
}

TEST_CASE("attention_decode: parts that do not fit", "[ops][attention_decode][clusters]") {
  const auto refuses = [](errc code, std::string_view text, decode_case c) {
    const thrown error = catch_error([&] { check_decode<f16>(c); });
    CAPTURE(text, error.message);
    REQUIRE(error.code == code);
    REQUIRE(error.says("kaio: attention_decode"));
    REQUIRE(error.says(text));
  };
  refuses(errc::invalid_argument, "splits is 257", {.splits = 257});
  refuses(errc::invalid_argument, "batch_invariant excludes splits", {.invariant = true, .splits = 2});
  refuses(errc::invalid_argument, "a cluster of 3 splits",
          {.splits = 3, .combining = attention_combining::cluster});
  refuses(errc::unsupported_device, "a second kernel adds up its splits",
          {.queries = 20, .combining = attention_combining::cluster});
}
