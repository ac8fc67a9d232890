// Every kernel of ops::matmul that this device has, at tiles that are whole and ragged, with small integers
// exactly and with an epilogue of every term.
#include "tests/ops/matmul/support.hpp"

#include <cstdlib>
#include <set>
#include <string>

using namespace kaio;
using namespace kaio::tests;

namespace {

// The variants for the types and layout of a call, by name.
template <class T, class Out>
std::vector<ops::matmul_variant_info> variants(const shape& s, const layout& l,
                                               const matmul_options& options) {
  matrices<T> a(s.batches, s.m, s.k, l.a_by_columns, l.a_pad),
      b(s.batches, s.k, s.n, l.b_by_columns, l.b_pad);
  matrices<Out> c(s.batches, s.m, s.n, l.c_by_columns, l.c_pad);
  auto da = upload(a.host), db = upload(b.host);
  auto dc = upload(c.host);
  return ops::matmul_variants(under_test().stream(), view_of<const T>(da, a), view_of<const T>(db, b),
                              view_of<Out>(dc, c), options);
}

bool has(const std::string& name, const char* part) { return name.find(part) != std::string::npos; }

// The shape that a kernel is run at, relative to one tile of it.
enum class kind { large, small, rows };
kind kind_of(const std::string& name) {
  if (has(name, "_across_") || has(name, "skinny")) return kind::rows;
  return has(name, "128x256") || has(name, "128x128") ? kind::large : kind::small;
}
shape shape_for(kind k) {
  if (k == kind::rows) return {1, 7, 136, 264};
  return k == kind::large ? shape{1, 136, 264, 136} : shape{1, 72, 136, 136};
}

// The sanitizer checks a kernel's memory accesses, and the element type of C and the terms do not change
// these. With it, a kernel that serves several of them is run once.
bool is_to_run(const std::string& name) {
  static const bool once = std::getenv("KAIO_SANITIZE") != nullptr;
  static std::set<std::string> seen;
  return !once || seen.insert(name).second;
}

template <class T, class Out>
void run_every_variant(matmul_precision precision = matmul_precision::ieee) {
  auto workspace = under_test().allocate<f32>(256 * 1024);
  std::size_t found = 0;
  for (const bool a_by_columns : {false, true})
    for (const bool b_by_columns : {false, true})
      for (const kind k : {kind::large, kind::small, kind::rows}) {
        const shape s = shape_for(k);
        layout l;
        l.a_by_columns = a_by_columns;
        l.b_by_columns = b_by_columns;
        l.a_pad = pad_to_16<T>(a_by_columns ? s.m : s.k);
        l.b_pad = pad_to_16<T>(b_by_columns ? s.k : s.n);
        l.c_pad = pad_to_16<Out>(s.n);
        host_epilogue scaled, all;
        scaled.alpha = 2;
        all.alpha = 0.5;
        all.beta = 2;
        all.activation = matmul_activation::relu;
        for (u32 i = 0; i < s.n; ++i) all.bias.push_back(static_cast<float>(i % 5) - 2);
        for (const bool is_general : {false, true}) {
          matmul_options options;
          options.precision = precision;
          options.workspace = workspace;
          // With an activation or a beta, kernels with alpha alone are refused; with both, kernels that add terms of tiles
          // (sm90_tile_terms.cpp).
          options.activation = is_general ? matmul_activation::relu : matmul_activation::none;
          options.beta = is_general ? 2 : 0;
          for (const auto& v : variants<T, Out>(s, l, options)) {
            if (!v.refusal.empty() || kind_of(v.name) != k) continue;
            ++found;
            if (!is_to_run(v.name)) continue;
            options.variant = v.name;
            check_matmul<T, Out>(s, l, content::integers, is_general ? all : scaled, is_general, options);
          }
        }
      }
  CAPTURE(found);
  if (under_test().properties().target.sm >= 90) REQUIRE(found > 0);
}

// The most blocks of a cluster that share an f32 tile of multiply-adds, with a part of a step for the last block.
void run_most_blocks_of_a_cluster() {
  const shape s{1, 40, 72, 249};
  std::size_t found = 0;
  for (const bool a_by_columns : {false, true})
    for (const bool b_by_columns : {false, true}) {
      layout l;
      l.a_by_columns = a_by_columns;
      l.b_by_columns = b_by_columns;
      matmul_options options;
      for (const auto& v : variants<f32, f32>(s, l, options)) {
        if (!v.refusal.empty() || !v.name.ends_with("_cluster16")) continue;
        ++found;
        options.variant = v.name;
        check_matmul<f32, f32>(s, l, content::integers, host_epilogue{}, false, options);
      }
    }
  if (under_test().properties().target.sm >= 90) REQUIRE(found >= 4);
}

// Rows of C, and of what is added to them, that begin anywhere: four neighbours are at all distances from a multiple of
// their size, and C ends inside of four, of a tile and of a panel.
template <class T, class Out>
void run_rows_that_begin_anywhere() {
  for (const shape& s : {shape{1, 136, 133, 72}, shape{1, 70, 35, 72}, shape{1, 7, 133, 264}})
    for (const u32 pad : {0u, 1u}) {
      layout l;
      l.b_by_columns = true;
      l.c_pad = pad;
      host_epilogue all;
      all.beta = 2;
      for (u32 i = 0; i < s.n; ++i) all.bias.push_back(static_cast<float>(i % 5) - 2);
      matmul_options options;
      options.activation = matmul_activation::relu;
      options.beta = 2;
      for (const auto& v : variants<T, Out>(s, l, options)) {
        if (!v.refusal.empty()) continue;
        options.variant = v.name;
        check_matmul<T, Out>(s, l, content::integers, all, true, options);
      }
    }
}

}  // namespace

TEST_CASE("every variant: f16 into f16", "[ops][matmul]") { run_every_variant<f16, f16>(); }
TEST_CASE("every variant: f16 into f32", "[ops][matmul]") { run_every_variant<f16, f32>(); }
TEST_CASE("every variant: f16 into bf16", "[ops][matmul]") { run_every_variant<f16, bf16>(); }
TEST_CASE("every variant: bf16 into bf16", "[ops][matmul]") { run_every_variant<bf16, bf16>(); }
TEST_CASE("every variant: bf16 into f32", "[ops][matmul]") { run_every_variant<bf16, f32>(); }
TEST_CASE("every variant: rows of C that begin anywhere", "[ops][matmul]") {
  run_rows_that_begin_anywhere<f16, f16>();
  run_rows_that_begin_anywhere<bf16, f32>();
}
TEST_CASE("every variant: e4m3", "[ops][matmul]") {
  run_every_variant<e4m3, f32>();
  run_every_variant<e4m3, bf16>();
}
TEST_CASE("every variant: e5m2", "[ops][matmul]") { run_every_variant<e5m2, f16>(); }
TEST_CASE("every variant: f32", "[ops][matmul]") {
  run_every_variant<f32, f32>();
  run_every_variant<f32, bf16>();
  run_most_blocks_of_a_cluster();
}
TEST_CASE("every variant: f32 by tensor cores", "[ops][matmul]") {
  run_every_variant<f32, f32>(matmul_precision::tf32);
  run_every_variant<f32, f32>(matmul_precision::tf32x3);
}
