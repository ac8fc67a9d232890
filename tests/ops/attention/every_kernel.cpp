// Each kernel of attention that the device can run, whether a call would take it or not, with the same
// problems.
#include <map>
#include <set>
#include <string_view>
#include <utility>

#include "ops/attention/forward/choice/table.hpp"
#include "tests/ops/attention/block_support.hpp"

using namespace kaio;
using namespace kaio::tests;

namespace {

template <class T>
void run_one(const ops::attention_variant& kernel, const attention_case& c) {
  CAPTURE(std::string(kernel.name()));
  const auto run = [&](const auto& q, const auto& k, const auto& v, const auto& o,
                       const attention_options& options) {
    const stream& s = under_test().stream();
    const ops::attention_call call =
        ops::detail::resolve_attention(s.device_identity(), {"attention", q, k, v, o, &options});
    const std::array only{kernel};
    REQUIRE(ops::detail::choose_attention("attention", call, only, s.properties()) == 0);
    kernel.run(s, call);
  };
  if (!kernel.in_blocks) return check_attention_by<T>(c, run);
  check_in_blocks_by<T>(c, {.key_size = 64}, run);
  check_in_blocks_by<T>(c, {.query_size = 80, .key_size = 40, .one_head = true}, run);
}

template <class T>
void run_all(ops::element_kind type) {
  const device_properties& properties = under_test().properties();
  const ptx::target device = properties.target;
  for (const ops::attention_variant& kernel : ops::all_attention_variants()) {
    const ptx::needs& needs = kernel.image->needs;
    const ptx::target target = needs.target;
    const bool fits =
        target.arch_specific ? target.sm == device.sm && device.arch_specific : target.sm <= device.sm;
    const bool has_room =
        std::max(needs.shared_bytes, needs.dynamic_shared_bytes) <= properties.shared_per_block_optin;
    if (kernel.type != type || !fits || !has_room) continue;
    for (const u32 smaller : {0u, 24u}) {
      const attention_case c{.queries = kernel.queries + 10,
                             .keys = 150,
                             .heads = 2,
                             .key_heads = 1,
                             .qk_size = kernel.depth_qk - smaller,
                             .v_size = kernel.depth_v - smaller,
                             .precision = kernel.precision};
      attention_case other = c;
      other.causal = causal_alignment::bottom_right;
      other.window = {100, 0};
      if (kernel.has_terms()) {
        other.softcap = smaller == 0 ? 2 : 1e7f;  // which scores are far below
        other.alibi = 1;
      }
      other.heads_first = true;
      other.v_size = 40;
      if (kernel.reads_pairs) {  // it needs a bias or keep in pairs
        for (attention_case one : {c, other}) {
          one.bias = {.rank = 4, .own_type = true};
          run_one<T>(kernel, one);
          one.bias = {.rank = 3, .ones = 4, .own_type = true};
          run_one<T>(kernel, one);
          one.keys = 152;  // by vectors
          run_one<T>(kernel, one);
          one.bias = {};
          one.keep = {.rank = 4, .ones = 6};
          run_one<T>(kernel, one);
        }
        continue;
      }
      run_one<T>(kernel, c);
      run_one<T>(kernel, other);
      if (kernel.division > 1) {  // with keys for all the parts that a launch may make
        attention_case divided = smaller == 0 ? c : other;
        divided.keys = kernel.keys * kernel.division + 50;
        divided.sinks = true;
        run_one<T>(kernel, divided);
      }
      if (!kernel.is_biased) continue;
      other.bias = {.rank = 4, .own_type = true};
      other.keep = {.rank = 2};
      run_one<T>(kernel, other);
      other.bias = {.rank = 3, .keys_first = true};
      run_one<T>(kernel, other);
    }
  }
}

}  // namespace

TEST_CASE("attention: every kernel, f16", "[ops][attention]") { run_all<f16>(ops::element_kind::f16); }
TEST_CASE("attention: every kernel, bf16", "[ops][attention]") { run_all<bf16>(ops::element_kind::bf16); }
TEST_CASE("attention: every kernel, f32", "[ops][attention]") { run_all<f32>(ops::element_kind::f32); }

// Rows of the table that share a kernel differ in type or in lists of blocks, and in their names.
TEST_CASE("attention: each variant has a name of its own, and each kernel is listed once",
          "[ops][attention]") {
  std::set<std::string_view> names;
  std::map<const ptx::kernel_image*, std::set<std::pair<ops::element_kind, bool>>> uses;
  for (const ops::attention_variant& v : ops::all_attention_variants()) {
    CAPTURE(std::string(v.name()));
    CHECK(names.insert(v.name()).second);
    CHECK(uses[v.image].insert({v.type, v.in_blocks}).second);
    CHECK((v.own_name.empty() || v.has_lists));
  }
  const auto kernels = ops::attention_kernels();
  CHECK(std::set(kernels.begin(), kernels.end()).size() == kernels.size());
  CHECK(uses.size() == kernels.size());
  CHECK(kernels.size() < names.size());
}
