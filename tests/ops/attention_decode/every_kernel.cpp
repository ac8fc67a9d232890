// attention_decode: each kernel that the device can run, by its name, with the same problems; and which of them a call
// takes on each architecture.
#include "ops/attention/decode/choice/table.hpp"

#include <string>
#include <tuple>
#include <type_traits>
#include <utility>

#include "tests/ops/attention_decode/support.hpp"

using namespace kaio;
using namespace kaio::tests;

namespace {

bool fits_device(const ops::attention_decode_variant& kernel) {
  const device_properties& device = under_test().properties();
  const ptx::needs& needs = kernel.image->needs;
  return needs.target.sm <= device.target.sm &&
         std::max(needs.shared_bytes, needs.dynamic_shared_bytes) <= device.shared_per_block_optin;
}

template <class T, class C>
void run_one(const ops::attention_decode_variant& kernel, const decode_case& c) {
  CAPTURE(c.text());
  decode_memory<T, C> memory(c);
  if constexpr (std::is_same_v<T, C>)
    if (kernel.values_in_keys) share_values(memory);
  REQUIRE(decode_choice(c, memory).name == kernel.name());
  compare_decode(c, memory, run_decode<T>(c, memory));
}

// Two problems: all elements that the kernel has room for, and fewer of them with every option.
template <class T, class C = T>
void run_all(ops::element_kind type) {
  constexpr bool has_codes = !std::is_same_v<T, C>;
  u32 count = 0;
  for (const ops::attention_decode_variant& kernel : ops::attention_decode_variants()) {
    const bool is_of_type = kernel.any_type || (has_codes ? kernel.takes_codes : kernel.type == type);
    if (!is_of_type || (!has_codes && kernel.takes_codes) || (has_codes && kernel.values_in_keys) ||
        !fits_device(kernel))
      continue;
    ++count;
    const u32 v_size = kernel.values_in_keys ? kernel.depth_v : kernel.depth;
    decode_case c{.queries = kernel.most_rows != 0 || has_codes ? 3 : kernel.rows / 3 + 2,
                  .heads = 3,
                  .key_heads = 1,
                  .qk_size = kernel.depth,
                  .v_size = v_size,
                  .lengths = {2 * kernel.keys + 5, kernel.keys - 1, 0},
                  .kind = cache_kind::table,
                  .variant = kernel.name(),
                  .scales = scale_kind::heads};
    run_one<T, C>(kernel, c);
    c.qk_size -= 32;
    c.v_size = v_size - 16;
    c.kind = cache_kind::list;
    c.page = 7;
    c.pad = 16;
    c.left = {2, 0, 0};
    c.causal = causal_alignment::bottom_right;
    c.window = {kernel.keys + 20, 0};
    c.softcap = count % 2 == 0 ? 3 : 1e7f;  // which scores are far below
    c.alibi = 1;
    c.sinks = true;
    c.splits = 2;
    c.scales = scale_kind::keys;
    run_one<T, C>(kernel, c);
  }
  REQUIRE(count > 0);
}

// If a kernel of 16 bits is for sm_90 alone, the end of its name says so.
template <class T>
void check_names(const std::string& of_type) {
  const u32 sm = under_test().properties().target.sm;
  const auto name_of = [](u32 size, u32 queries) {
    return decode_choice<T>(
               {.queries = queries, .heads = 4, .qk_size = size, .v_size = size, .lengths = {40}})
        .name;
  };
  for (const auto& [size, few, many] :
       {std::tuple{64u, "64_16x128", "64_64x64"}, std::tuple{128u, "128_16x64", "128_64x64"},
        std::tuple{256u, "256_16x32", "256_64x32"}}) {
    const std::string begin = "attention_decode_mma_" + of_type + "_d";
    CAPTURE(size, sm);
    REQUIRE(name_of(size, 3) == (sm < 80 ? "attention_decode_simt" : begin + few + (sm < 90 ? "" : "_sm90")));
    REQUIRE(name_of(size, 20) == (sm < 80 ? "attention_decode_simt" : begin + many));
  }
}

}  // namespace

TEST_CASE("attention_decode: every kernel, f16", "[ops][attention_decode]") {
  run_all<f16>(ops::element_kind::f16);
}
TEST_CASE("attention_decode: every kernel, bf16", "[ops][attention_decode]") {
  run_all<bf16>(ops::element_kind::bf16);
}
TEST_CASE("attention_decode: every kernel, 8 bits", "[ops][attention_decode][codes]") {
  run_all<f16, e4m3>(ops::element_kind::f16);
  run_all<bf16, e4m3>(ops::element_kind::bf16);
  run_all<bf16, i8>(ops::element_kind::bf16);
}

TEST_CASE("attention_decode: every kernel, which one an architecture takes", "[ops][attention_decode]") {
  check_names<f16>("f16");
  check_names<bf16>("bf16");
  const u32 sm = under_test().properties().target.sm;
  const std::string of_codes = "attention_decode_mma_8bit_sm" +
                               std::to_string(sm < 89   ? 80
                                              : sm < 90 ? 89
                                                        : 90) +
                               "_d";
  for (const u32 size : {64u, 128u, 256u}) {
    const decode_case c{.qk_size = size, .v_size = size, .lengths = {40}};
    const std::string_view name = decode_choice<bf16, e4m3>(c).name;
    CAPTURE(size, sm, name);
    REQUIRE(name.starts_with(sm < 80 ? "attention_decode_simt" : of_codes + std::to_string(size) + "_16x"));
  }
}
