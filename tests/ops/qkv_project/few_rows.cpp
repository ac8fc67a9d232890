// qkv_project of few rows in one launch, by packed weights and by f16 and bf16: against double precision, and
// the bits of a product and of the heads in two launches.
#include "tests/ops/qkv_project/support.hpp"
#include "tests/ops/refusal.hpp"

using namespace kaio;
using namespace kaio::tests;

namespace {

bool has_clusters() { return under_test().properties().target.sm >= 90; }

// The kernel for few rows, or the one that c names. The former is the chosen one, unless one row has its own kernel.
template <class T>
void check_few(qkv_case c, u32 bits, u32 parts) {
  c.bits = bits;
  c.splits = parts;
  const std::string chosen = "qkv_project_w" + std::to_string(bits) +
                             (std::is_same_v<T, f16> ? "_f16" : "_bf16") +
                             (c.batches * c.tokens <= 8 ? "_8" : "_16");
  const std::string name = *c.variant == 0 ? chosen : c.variant;
  CAPTURE(name, parts, c.group);
  qkv_run<T> run(c);
  run.check_tensors();
  const stream& s = under_test().stream();
  const auto bits_of = [&](const char* variant) {
    qkv_project_options o = run.options();
    o.variant = variant;
    const bool is_separate = std::string(variant) == "separate";
    if (is_separate) o.splits = 0;
    const cache_tensor<T> q(c.batches, c.tokens, c.q_heads, c.size, c.out),
        k(c.batches, c.tokens, c.k_heads, c.size, c.out), v(c.batches, c.tokens, c.v_heads, c.v_size, c.out);
    auto on_q = upload(q.host), on_k = upload(k.host), on_v = upload(v.host);
    const qkv_outputs to{q.view(on_q), k.view(on_k), v.view(on_v)};
    REQUIRE(ops::qkv_project_choice(s, run.x_view(), run.weights(), to, o).name ==
            (is_separate ? "separate" : name));
    REQUIRE((qkv_project_workspace_bytes(s, run.x_view(), run.weights(), to, o) == 0) == !is_separate);
    run.project(to, o);
    std::vector<T> all = on_q.download();
    for (const auto& more : {on_k.download(), on_v.download()})
      all.insert(all.end(), more.begin(), more.end());
    return all;
  };
  const std::vector<T> want = bits_of("separate");
  const bool may_be_one_row = bits != 16 && c.batches * c.tokens == 1;
  if (name == chosen && !may_be_one_row && (bits != 16 || parts != 0))
    REQUIRE(same_bits(bits_of(""), want));  // those of 16 bits run where asked for
  REQUIRE(same_bits(bits_of(name.c_str()), want));
}

}  // namespace

TEST_CASE("qkv_project: few rows in one launch", "[ops][qkv]") {
  if (!has_clusters()) return;
  u64 seed = 1;
  for (const u32 bits : {4u, 8u, 16u})
    for (const i64 rows : {1, 3, 8, 9, 16})
      for (const i64 size : {64, 128}) {
        // The last tile of 128 columns has one head of 64.
        qkv_case c{.k = 72, .q_heads = 3, .size = size, .v_size = size};
        c.seed = ++seed;
        c.batches = rows % 3 == 0 ? 3 : 1;
        c.tokens = rows / c.batches;
        c.biases = seed % 2 == 0;
        c.norms = seed % 3 != 0;
        c.pairs = seed % 4 == 0 ? 0 : size == 128 ? 64 : 16;
        c.interleaved = seed % 3 == 0;
        c.offsets = seed % 4 == 1;
        c.q_scale = seed % 2 == 0 ? 0.125f : 1.0f;
        c.out = {.pad = 8, .shift = 8};
        c.out.heads_first = seed % 3 == 1;
        if (bits == 16 && seed % 3 == 0) {  // a weight of three begins with a tile
          c.three = true;
          c.q_heads = 4;
          c.k_heads = c.v_heads = 2;
        }
        if (seed % 2 == 0)
          check_few<bf16>(c, bits, seed % 4 == 0 ? 2 : 1);
        else
          check_few<f16>(c, bits, seed % 4 == 1 ? 2 : 0);
      }
}

TEST_CASE("qkv_project: few rows in one launch, parts of K", "[ops][qkv]") {
  if (!has_clusters()) return;
  // Tiles of 64 that the splits and their warps share unevenly, more than are in flight at once; several
  // groups in a tile. Without biases: bf16 does not have such sums, which two launches round once more.
  const qkv_case deep{.tokens = 2, .k = 2832, .q_heads = 1, .pairs = 32, .seed = 5, .group = 16};
  check_few<bf16>(deep, 4, 1);
  check_few<bf16>(deep, 4, 2);
  check_few<f16>(deep, 8, 2);
  check_few<f16>(deep, 16, 1);
  check_few<bf16>(deep, 16, 2);
  qkv_case more = deep;
  more.tokens = 11;
  more.k = 1344;
  more.group = 32;
  for (const u32 parts : {1, 2, 4}) {
    check_few<f16>(more, 4, parts);
    check_few<bf16>(more, 8, parts);
    check_few<bf16>(more, 16, parts);
  }
  // More splits than tiles.
  check_few<f16>({.tokens = 1, .k = 40, .q_heads = 1, .seed = 3}, 4, 2);
  check_few<bf16>({.tokens = 10, .k = 64, .q_heads = 1, .seed = 3}, 8, 4);
  check_few<bf16>({.tokens = 10, .k = 64, .q_heads = 1, .seed = 3}, 16, 4);
  check_few<f16>({.tokens = 1, .k = 8, .q_heads = 1, .seed = 4}, 16, 2);
  // Rows of x that are no multiples of 16 bytes.
  check_few<f16>({.tokens = 3, .k = 300, .q_heads = 1, .seed = 7}, 8, 1);
  check_few<bf16>({.tokens = 1, .k = 300, .q_heads = 1, .seed = 8}, 8, 2);
}

TEST_CASE("qkv_project: one row in one launch", "[ops][qkv]") {
  if (!has_clusters()) return;
  const auto check = [](qkv_case c, auto type, u32 parts) {
    using T = decltype(type);
    c.batches = c.tokens = 1;
    for (const u32 bits : {4u, 8u}) {
      const std::string variant =
          "qkv_project_w" + std::to_string(bits) + "_one_row_" + (std::is_same_v<T, f16> ? "f16" : "bf16");
      c.variant = variant.c_str();
      check_few<T>(c, bits, parts);
    }
  };
  // Tiles of 64 that the splits and their warps share unevenly, and a K that ends within one. A block's split of K
  // begins in its second half, or some of its warps have no tile.
  const qkv_case deep{.k = 2816, .q_heads = 2, .pairs = 32, .seed = 5, .group = 64};
  for (const u32 parts : {0u, 1u, 2u, 4u}) check(deep, f16{}, parts);
  check({.k = 200, .q_heads = 2, .biases = true, .norms = true, .pairs = 16, .seed = 4}, bf16{}, 2);
  check({.k = 1480, .size = 128, .v_size = 128, .norms = true, .pairs = 64, .q_scale = 0.5f, .seed = 7},
        bf16{}, 1);
  check({.k = 8, .q_heads = 2, .offsets = true, .pairs = 32, .out = {.pad = 8, .shift = 8}, .seed = 9}, f16{},
        0);
  // More units of a cluster than there is room for sums.
  check({.k = 256, .q_heads = 74, .size = 128, .v_size = 128, .pairs = 64, .seed = 6}, f16{}, 4);
  check({.k = 256, .q_heads = 150, .size = 128, .v_size = 128, .pairs = 64, .seed = 6}, bf16{}, 4);
}

TEST_CASE("qkv_project: one row into pages, the bits of the kernel for few rows", "[ops][qkv]") {
  if (!has_clusters()) return;
  const device& gpu = under_test();
  const u32 bits = GENERATE(4u, 8u);
  qkv_run<f16> run(
      {.tokens = 1, .k = 320, .q_heads = 4, .k_heads = 2, .v_heads = 2, .pairs = 32, .bits = bits});
  const std::string names = "qkv_project_w" + std::to_string(bits);
  const i64 pages = 5, page_rows = 4;
  const auto on_table = upload(std::vector<i32>{3, 0, 4, 1});
  const auto on_lengths = upload(std::vector<i32>{9});
  const std::vector<f16> before(static_cast<std::size_t>(pages * page_rows * 2 * 64), f16(7.0f));
  const auto project = [&](const std::string& variant) {
    auto q = gpu.allocate<f16>(4 * 64), k = upload(before), v = upload(before);
    kv_cache<f16> cache{.k = {k, extents(pages, page_rows, 2, 64)},
                        .v = {v, extents(pages, page_rows, 2, 64)}};
    cache.table = tensor_view<const i32, 2>(on_table, 1, 4);
    cache.lengths = tensor_view<const i32, 1>(on_lengths, 1);
    qkv_project_options options = run.options();
    options.variant = variant;
    run.project({tensor_view<f16, 4>(q, 1, 1, 4, 64), cache}, options);
    std::vector<f16> all = q.download();
    for (const auto& more : {k.download(), v.download()}) all.insert(all.end(), more.begin(), more.end());
    return all;
  };
  const std::vector<f16> want = project(names + "_f16_8");
  REQUIRE(same_bits(project(names + "_one_row_f16"), want));
  REQUIRE(!same_bits(want, std::vector<f16>(want.size(), f16(7.0f))));
}

TEST_CASE("qkv_project: calls that one launch does not have", "[ops][qkv]") {
  if (!has_clusters()) return;
  const stream& s = under_test().stream();
  const auto choice = [&](const qkv_case& c) {
    qkv_run<f16> run(c);
    const cache_tensor<f16> q(c.batches, c.tokens, c.q_heads, c.size, c.out),
        k(c.batches, c.tokens, c.k_heads, c.size, c.out), v(c.batches, c.tokens, c.v_heads, c.v_size, c.out);
    auto on_q = upload(q.host), on_k = upload(k.host), on_v = upload(v.host);
    return ops::qkv_project_choice(s, run.x_view(), run.weights(), {q.view(on_q), k.view(on_k), v.view(on_v)},
                                   run.options())
        .name;
  };
  REQUIRE(choice({.tokens = 16, .bits = 4}) == "qkv_project_w4_f16_16");
  REQUIRE(choice({.tokens = 17, .bits = 4}) == "separate");
  REQUIRE(choice({.tokens = 8, .k_heads = 2, .v_heads = 2, .three = true}) == "qkv_project_w16_f16_8");
  REQUIRE(choice({.tokens = 17, .k_heads = 2, .v_heads = 2, .three = true}) != "qkv_project_w16_f16_16");
  REQUIRE(choice({.tokens = 8, .k_heads = 3, .three = true}) == "separate");
  REQUIRE(choice({.tokens = 8, .k_first = true}) == "separate");
  REQUIRE(choice({.tokens = 1, .size = 96, .v_size = 96, .bits = 4}) == "separate");
  REQUIRE(choice({.tokens = 1, .size = 64, .v_size = 128, .bits = 8}) == "separate");
  REQUIRE(choice({.tokens = 1, .pairs = 12, .bits = 8}) == "separate");
  REQUIRE(choice({.tokens = 1, .out = {.pad = 3}, .bits = 4}) == "separate");
  const qkv_case one{.tokens = 1, .k = 512, .q_heads = 2, .pairs = 32, .group = 64};
  const auto of_one = [&](u32 bits, const auto& change) {
    qkv_case c = one;
    c.bits = bits;
    change(c);
    return choice(c);
  };
  for (const u32 bits : {4u, 8u}) {
    const std::string names = "qkv_project_w" + std::to_string(bits);
    REQUIRE(of_one(bits, [](qkv_case&) {}) == names + "_one_row_f16");
    REQUIRE(of_one(bits, [](qkv_case& c) { c.splits = 4; }) == names + "_one_row_f16");
    REQUIRE(of_one(bits, [](qkv_case& c) { c.group = 16; }) == names + "_f16_8");
    REQUIRE(of_one(bits, [](qkv_case& c) { c.q_heads = 3; }) == names + "_f16_8");
    REQUIRE(of_one(bits, [](qkv_case& c) { c.tokens = 2; }) == names + "_f16_8");
  }
  const auto refused = [&](const char* what, const qkv_case& c) {
    require_refusal(errc::invalid_argument, "kaio: qkv_project_choice: ", what, [&] { choice(c); });
  };
  refused("x has more rows", {.tokens = 9, .variant = "qkv_project_w4_f16_8", .bits = 4});
  refused("no integers of 8 bits", {.tokens = 1, .variant = "qkv_project_w8_f16_8", .bits = 4});
  refused("neither nf4 nor fp4", {.tokens = 1, .variant = "qkv_project_w4_table_f16_8", .bits = 4});
  refused("there is no variant", {.tokens = 1, .variant = "qkv_project_w4_bf16_8", .bits = 4});
  const char* const of_row = "qkv_project_w4_one_row_f16";
  refused("x has more rows", {.tokens = 2, .variant = of_row, .bits = 4});
  refused("it needs groups of multiples of 64 codes",
          {.tokens = 1, .k = 64, .variant = of_row, .bits = 4, .group = 32});
  refused("the columns of the product are not a multiple of 128",
          {.tokens = 1, .q_heads = 3, .variant = of_row, .bits = 4});
  refused("a block has no room", {.tokens = 1, .k = 8200, .variant = of_row, .bits = 4, .splits = 1});
  refused("splits is given", {.tokens = 17, .bits = 4, .splits = 2});
  refused("4 splits of K", {.tokens = 1, .bits = 4, .splits = 4});
  refused("3 splits of K", {.tokens = 9, .bits = 4, .splits = 3});
}
