// The matmul kernels for sm_90a, each at shapes that are no multiples of its tiles: layouts, types, clusters,
// stages of several steps, blocks that compute several tiles, sums that meet in distributed shared memory.
#include <kaio/ops/matmul/call/kernel_arguments.hpp>
#include <kaio/ops/matmul/sm90/launch.hpp>

#include <algorithm>
#include <bit>
#include <type_traits>

#include "tests/ops/support.hpp"

using namespace kaio;
using namespace kaio::ops;
using namespace kaio::tests;

namespace {

// Reads memory at the place of its element, so it takes the way through finish_strip.
struct biased {
  static constexpr dsl::fixed_string name = "biased";
  constexpr val<f32> operator()(thread t, val<f32> x, place at, in<f32> bias, val<f32> scale) const {
    return t.let(x * scale + bias[at.column]);
  }
};

struct shape {
  u32 batches, m, n, k;
};

bool has_tensor_cores() { return under_test().properties().target.sm == 90; }

// Lines of 16 bytes at least, as tensor copies need them.
template <class T>
u32 padding(u32 width) {
  constexpr u32 whole = 16 / sizeof(T);
  return (whole - width % whole) % whole + whole;
}

template <class T>
matrix_lines<T> lines_of(const matrices<T>& x, const buffer<T>& memory) {
  return {memory.view(),
          x.by_columns ? x.rows : x.columns,
          x.by_columns ? x.columns : x.rows,
          x.leading,
          x.batches,
          x.stride};
}

// The multiplied numbers: f32 is rounded to 11 significant bits, ties to even.
template <class T>
matrices<T> as_multiplied(matrices<T> x) {
  if constexpr (std::is_same_v<T, f32>)
    for (f32& e : x.host) {
      const auto bits = std::bit_cast<u32>(e);
      e = std::bit_cast<f32>((bits + 0xfff + (bits >> 13 & 1)) & 0xffffe000u);
    }
  return x;
}

// Runs `launch(a, b, c, bias)` on data of both kinds and checks C = 0.5 * A * B [+ bias]. Lines of A and B begin at
// multiples of 16 bytes, but `more_a` and `more_b` elements further apart.
template <class T, class Out, class Launch>
void check(const shape& s, bool a_by_columns, bool b_by_columns, bool with_bias, const Launch& launch,
           u32 more_a = 0, u32 more_b = 0) {
  u64 seed = s.m * 31 + s.n * 17 + s.k;
  for (const content what : {content::integers, content::random}) {
    CAPTURE(s.batches, s.m, s.n, s.k);
    matrices<T> a(s.batches, s.m, s.k, a_by_columns, padding<T>(a_by_columns ? s.m : s.k) + more_a, 16);
    matrices<T> b(s.batches, s.k, s.n, b_by_columns, padding<T>(b_by_columns ? s.k : s.n) + more_b, 16);
    matrices<Out> c(s.batches, s.m, s.n, false, padding<Out>(s.n), 16);
    a.fill(what, ++seed);
    b.fill(what, ++seed);
    std::vector<f32> bias(s.n);
    for (u32 i = 0; i < s.n; ++i) bias[i] = with_bias ? static_cast<f32>(i % 7) - 3 : 0;
    const matrices<Out> before = c;
    const auto a_memory = upload(a.host), b_memory = upload(b.host);
    const auto bias_memory = upload(bias);
    auto c_memory = upload(c.host);
    launch(lines_of(a, a_memory), lines_of(b, b_memory), lines_of(c, c_memory), bias_memory);
    c.host = c_memory.download();
    check_product(c, before,
                  product<Out>(as_multiplied(a), as_multiplied(b),
                               [&](auto x, u32, u32, u32 column) {
                                 return x * decltype(x)(0.5) + static_cast<decltype(x)>(bias[column]);
                               }),
                  what);
  }
}

// `clusters`: few, so that blocks have several tiles to compute. Tensor copies need rows of C that are
// multiples of 16 bytes.
template <sm90_config C, class T, class Out, class Epilogue = scaled>
void run(const shape& s, u64 clusters) {
  constexpr major of_a = C.transposed ? C.b : C.a, of_b = C.transposed ? C.a : C.b;
  check<T, Out>(
      s, of_a == major::mn, of_b == major::k, std::is_same_v<Epilogue, biased>,
      [&](const auto& a, const auto& b, const auto& c, const auto& bias) {
        const stream& on = under_test().stream();
        const auto &left = C.transposed ? b : a, &right = C.transposed ? a : b;
        if constexpr (std::is_same_v<Epilogue, biased>)
          launch_sm90<C, T, Out, biased>(on, left, right, c, s.k, clusters, 3, bias, 0.5f);
        else
          launch_sm90<C, T, Out, scaled>(on, left, right, c, s.k, clusters, 3, 0.5f);
      },
      C.loads_a ? 1 : 0, C.loads_b ? 3 : 0);
}

template <sm90_split_config C, class T, class Out>
void run_split(const shape& s, bool early) {
  constexpr major of_a = C.transposed ? C.b : C.a, of_b = C.transposed ? C.a : C.b;
  check<T, Out>(s, of_a == major::mn, of_b == major::k, true,
                [&](const auto& a, const auto& b, const auto& c, const auto& bias) {
                  const stream& on = under_test().stream();
                  if constexpr (C.transposed)
                    launch_sm90_split<C, T, Out, biased>(on, b, a, c, s.k, early, bias, 0.5f);
                  else
                    launch_sm90_split<C, T, Out, biased>(on, a, b, c, s.k, early, bias, 0.5f);
                });
}

// Elements of a line beyond a multiple of 16 bytes: `words` words if it is loaded word by word, else none.
template <class T>
constexpr u32 words_more(bool loads, u32 words) {
  return loads ? words * u32{4 / sizeof(T)} : 0;
}

// Here the launch says how many blocks share a tile.
template <sm90_split_config C, class T, class Out>
void run_splits(const shape& s, sm90_parts parts) {
  constexpr major of_a = C.transposed ? C.b : C.a, of_b = C.transposed ? C.a : C.b;
  check<T, Out>(
      s, of_a == major::mn, of_b == major::k, true,
      [&](const auto& a, const auto& b, const auto& c, const auto& bias) {
        const auto &left = C.transposed ? b : a, &right = C.transposed ? a : b;
        launch_sm90_splits<C, T, Out, biased>(under_test().stream(), left, right, c, s.k, false, parts, bias,
                                              0.5f);
      },
      words_more<T>(C.transposed ? C.loads_b : C.loads_a, 1),
      words_more<T>(C.transposed ? C.loads_a : C.loads_b, 3));
}

// Where the launch says how many blocks share tiles.
template <sm90_config C, class T, class Out>
void run_clusters(const shape& s, sm90_cluster cluster, u64 clusters) {
  check<T, Out>(s, C.a == major::mn, C.b == major::k, false,
                [&](const auto& a, const auto& b, const auto& c, const auto&) {
                  launch_sm90_clusters<C, T, Out, scaled>(under_test().stream(), a, b, c, s.k, cluster,
                                                          clusters, 3, 0.5f);
                });
}

constexpr major k = major::k, mn = major::mn;

}  // namespace

// Tiles that are closer together than they are wide; the distance follows from the number that runs at once.
TEST_CASE("sm_90a matmul of few rows or columns in as many tiles as run at once", "[ops][matmul]") {
  const sm90_extents of{64, 14336, 1, 128, 132};
  CHECK(lines_of_tile(14336, 128, 64, of) == 112);
  CHECK(lines_of_tile(14336, 64, 64, of) == 56);
  CHECK(lines_of_tile(14336, 128, 65, of) == 128);
  CHECK(lines_of_tile(132 * 128, 128, 64, of) == 128);
  CHECK(lines_of_tile(132 * 128 + 1, 128, 64, of) == 72);
  CHECK(lines_of_tile(8, 128, 64, of) == 64);
  CHECK(lines_of_tile(1000, 128, 64, {64, 1000, 12, 128, 132}) == 96);
  if (!has_tensor_cores()) return;
  for (const shape s : {shape{1, 3, 328, 300}, {2, 64, 136, 520}})
    for (const u64 clusters : {5, 40}) {
      run<sm90_config{.m = 64, .n = 64, .stages = 3, .a = k, .b = k}, f16, f16>(s, clusters);
      run<sm90_config{.m = 64, .n = 64, .stages = 3, .a = k, .b = mn}, f16, f16>(s, clusters);
      run<sm90_config{.m = 64, .n = 128, .stages = 3, .a = mn, .b = k}, bf16, f32>(s, clusters);
      run<sm90_config{.m = 64, .n = 64, .stages = 2, .depth = 2, .a = k, .b = mn}, f16, f32, biased>(
          s, clusters);
      run<sm90_config{.m = 128, .n = 128, .stages = 2, .a = k, .b = k}, f16, f16>(s, clusters);
      run<sm90_config{.m = 64, .n = 32, .stages = 2, .depth = 2, .a = k, .b = k}, f16, f16>(s, clusters);
      const shape tall{s.batches, s.n, s.m / 8 * 8 + 8, s.k};
      run<sm90_config{.m = 64, .n = 64, .stages = 3, .a = k, .b = k}, f16, f16>(tall, clusters);
      run<sm90_config{.m = 64, .n = 64, .stages = 3, .a = mn, .b = mn}, f16, f32, biased>(tall, clusters);
      run<sm90_config{.m = 64, .n = 64, .stages = 3, .a = mn, .b = k}, f32, f32>(tall, clusters);
    }
  for (const shape s : {shape{1, 20, 904, 650}, {3, 64, 328, 520}}) {
    run_split<sm90_split_config{.m = 64, .n = 32, .stages = 2, .splits = 2, .transposed = true}, f16, f16>(
        s, true);
    run_split<sm90_split_config{
                  .m = 64, .n = 64, .stages = 2, .splits = 2, .transposed = true, .a = mn, .b = k},
              f16, f16>(s, false);
    run_split<sm90_split_config{.m = 64, .n = 64, .stages = 2, .splits = 2}, f16, f32>(
        {s.batches, s.n, s.m, s.k}, false);
    run_splits<sm90_split_config{.m = 128, .n = 64, .stages = 4, .splits = 0, .reuses_ring = true}, bf16,
               bf16>(s, 4);
  }
}

TEST_CASE("sm_90a matmul in every layout", "[ops][matmul]") {
  if (!has_tensor_cores()) return;
  for (const shape s : {shape{1, 64, 64, 64}, {2, 61, 72, 129}, {1, 1, 8, 1}}) {
    run<sm90_config{.m = 64, .n = 64, .stages = 3, .a = k, .b = k}, f16, f16>(s, 8);
    run<sm90_config{.m = 64, .n = 64, .stages = 3, .a = k, .b = mn}, f16, f32>(s, 8);
    run<sm90_config{.m = 64, .n = 64, .stages = 3, .a = mn, .b = k}, bf16, bf16>(s, 8);
    run<sm90_config{.m = 64, .n = 64, .stages = 3, .a = mn, .b = mn}, bf16, f32>(s, 8);
  }
}

TEST_CASE("sm_90a matmul: blocks that compute several tiles", "[ops][matmul]") {
  if (!has_tensor_cores()) return;
  run<sm90_config{.m = 64, .n = 32, .stages = 4, .depth = 2}, f16, f16>({2, 197, 136, 64}, 2);
  run<sm90_config{.m = 64, .n = 64, .stages = 4}, f16, f32>({1, 264, 140, 200}, 2);
  run<sm90_config{.m = 128, .n = 128, .stages = 4}, bf16, bf16>({1, 300, 264, 136}, 3);
  run<sm90_config{.m = 64, .n = 64, .stages = 4}, f16, f16, biased>({1, 264, 137, 72}, 2);
}

TEST_CASE("sm_90a matmul: clusters share tiles of A and of B", "[ops][matmul]") {
  if (!has_tensor_cores()) return;
  const shape s{1, 264, 272, 136};
  run<sm90_config{.m = 128, .n = 256, .stages = 3, .cluster_m = 2}, f16, f16>(s, 1);
  run<sm90_config{.m = 128, .n = 256, .stages = 3, .cluster_m = 2, .a = mn, .b = mn}, bf16, f32>(s, 1);
  run<sm90_config{.m = 64, .n = 64, .stages = 4, .cluster_m = 2, .cluster_n = 2}, f16, f16>(s, 2);
  run<sm90_config{.m = 64, .n = 64, .stages = 2, .depth = 2, .cluster_n = 2, .a = mn, .b = mn}, f16, f16>(s,
                                                                                                          3);
  run<sm90_config{.m = 128, .n = 64, .stages = 4, .cluster_m = 4}, f16, f16, biased>(s, 1);
}

TEST_CASE("sm_90a matmul: the launch says whether blocks share tiles", "[ops][matmul]") {
  if (!has_tensor_cores()) return;
  for (const sm90_cluster cluster : {sm90_cluster{1, 1}, {2, 1}, {1, 2}, {2, 2}}) {
    // Tiles that are whole, and the last ones in halves.
    for (const u64 clusters : {1, 5}) {
      run_clusters<sm90_config{.m = 128, .n = 128, .stages = 3, .cluster_m = 0}, f16, f16>({1, 300, 264, 200},
                                                                                           cluster, clusters);
      run_clusters<sm90_config{.m = 128, .n = 192, .stages = 3, .cluster_m = 0, .a = mn, .b = mn}, bf16, f32>(
          {2, 300, 264, 72}, cluster, clusters);
    }
    // B has fewer columns than a tile, and than half of one.
    for (const u32 columns : {24u, 88u}) {
      run_clusters<sm90_config{.m = 128, .n = 128, .stages = 3, .cluster_m = 0}, f16, f16>(
          {1, 264, columns, 264}, cluster, 2);
      run_clusters<sm90_config{.m = 128, .n = 128, .stages = 3, .cluster_m = 0, .b = mn}, f16, f16>(
          {1, 264, columns, 264}, cluster, 2);
    }
    // Half a panel of B is half of its rows.
    for (const u32 columns : {24u, 72u})
      run_clusters<sm90_config{.m = 128, .n = 64, .stages = 3, .cluster_m = 0, .b = mn}, f16, f16>(
          {1, 264, columns, 264}, cluster, 2);
    // One consumer: blocks share tiles of B alone. The last pair has one row of tiles.
    if (cluster.n == 1)
      for (const u32 columns : {24u, 264u}) {
        run_clusters<sm90_config{.m = 64, .n = 128, .stages = 3, .cluster_m = 0}, f16, f16>(
            {1, 130, columns, 264}, cluster, 3);
        run_clusters<sm90_config{.m = 64, .n = 128, .stages = 3, .cluster_m = 0, .a = mn, .b = mn}, bf16,
                     bf16>({2, 136, columns, 72}, cluster, 2);
      }
  }
}

TEST_CASE("sm_90a matmul of 8-bit floats", "[ops][matmul]") {
  if (!has_tensor_cores()) return;
  run<sm90_config{.m = 64, .n = 64, .stages = 3}, e4m3, bf16>({2, 67, 136, 200}, 2);
  run<sm90_config{.m = 128, .n = 128, .stages = 3}, e5m2, bf16>({1, 130, 72, 136}, 2);
}

TEST_CASE("sm_90a matmul of f32 as tf32, along K and across it", "[ops][matmul]") {
  if (!has_tensor_cores()) return;
  for (const shape s : {shape{1, 64, 64, 32}, {2, 61, 72, 129}, {1, 1, 8, 1}}) {
    run<sm90_config{.m = 64, .n = 64, .stages = 3}, f32, f32>(s, 8);
    run<sm90_config{.m = 64, .n = 64, .stages = 3, .a = mn}, f32, f32>(s, 8);
    run<sm90_config{.m = 64, .n = 64, .stages = 3, .transposed = true, .a = mn}, f32, f32>(s, 8);
    run<sm90_config{.m = 64, .n = 64, .stages = 3, .transposed = true, .a = mn}, f32, bf16, biased>(s, 8);
  }
  run<sm90_config{.m = 64, .n = 32, .stages = 3, .depth = 2, .a = mn}, f32, f32>({1, 130, 100, 200}, 2);
  run<sm90_config{.m = 128, .n = 192, .stages = 3, .cluster_m = 2, .a = mn}, f32, f32>({1, 300, 264, 104}, 2);
  run<sm90_config{.m = 128, .n = 192, .stages = 3, .cluster_m = 2, .transposed = true, .a = mn}, f32, f32>(
      {1, 264, 300, 104}, 2);
  // Halves.
  run<sm90_config{.m = 128, .n = 128, .stages = 3, .transposed = true, .a = mn}, f32, f32>({1, 264, 300, 72},
                                                                                           7);
  run_split<sm90_split_config{.m = 64, .n = 16, .stages = 3, .splits = 2, .transposed = true, .a = mn}, f32,
            f32>({1, 13, 131, 520}, true);
  run_splits<sm90_split_config{.m = 128, .n = 64, .stages = 5, .splits = 0, .reuses_ring = true, .a = mn},
             f32, f32>({1, 131, 70, 530}, 4);
}

TEST_CASE("sm_90a matmul of f32 that is loaded word by word", "[ops][matmul]") {
  if (!has_tensor_cores()) return;
  // Blocks with several tiles, each of an odd number of steps, so that the loading warps change turns.
  constexpr sm90_config both{.m = 64, .n = 64, .stages = 3, .loads_a = true, .loads_b = true};
  constexpr sm90_config one{.m = 128, .n = 128, .stages = 3, .loads_b = true, .b = mn};
  for (const u32 depth : {1u, 32u, 33u, 72u, 170u}) {
    run<both, f32, f32, biased>({2, 131, 68, depth}, 3);
    run<one, f32, f32, biased>({1, 260, 270, depth}, 2);
  }
  run<with_lines<one>(mn, mn), f32, bf16, biased>({1, 260, 270, 72}, 2);
  run_splits<sm90_split_config{.m = 64,
                               .n = 64,
                               .stages = 3,
                               .splits = 0,
                               .reuses_ring = true,
                               .loads_a = true,
                               .loads_b = true,
                               .a = mn,
                               .b = mn},
             f32, f32>({2, 67, 131, 230}, 4);
}

TEST_CASE("sm_90a matmul: a NaN in an operand of f32 reaches its row", "[ops][matmul]") {
  if (!has_tensor_cores()) return;
  const u32 size = 64;
  matrices<f32> a(1, size, size, false), b(1, size, size, true), c(1, size, size, false);
  std::fill(a.host.begin(), a.host.end(), 1.0f);
  std::fill(b.host.begin(), b.host.end(), 1.0f);
  for (const u32 bits :
       {0x7fffffffu, 0x7f800001u}) {  // the second one is an infinity if its low bits are cut off
    a.host[5 * size + 7] = std::bit_cast<f32>(bits);
    const auto a_memory = upload(a.host), b_memory = upload(b.host);
    auto c_memory = upload(c.host);
    launch_sm90<sm90_config{.m = 64, .n = 64, .stages = 3}, f32, f32, scaled>(
        under_test().stream(), lines_of(a, a_memory), lines_of(b, b_memory), lines_of(c, c_memory), size, 8,
        3, 1.0f);
    const auto got = c_memory.download();
    for (u32 i = 0; i < size * size; ++i) {
      CAPTURE(bits, i / size, i % size);
      REQUIRE((i / size == 5 ? std::isnan(got[i]) : got[i] == 64.0f));
    }
  }
}

TEST_CASE("sm_90a matmul: blocks of a cluster have parts of K", "[ops][matmul]") {
  if (!has_tensor_cores()) return;
  run_split<sm90_split_config{.m = 64, .n = 64, .stages = 3, .splits = 1}, f16, f16>({2, 67, 131, 72}, false);
  run_split<sm90_split_config{.m = 64, .n = 64, .stages = 3, .splits = 2, .b = mn}, f16, f32>(
      {1, 67, 131, 200}, true);
  run_split<sm90_split_config{.m = 128, .n = 32, .stages = 3, .splits = 4}, bf16, bf16>({1, 131, 35, 520},
                                                                                        true);
  run_split<sm90_split_config{.m = 64, .n = 16, .stages = 2, .depth = 2, .splits = 2, .a = mn}, f16, f16>(
      {1, 131, 13, 520}, false);
}

TEST_CASE("sm_90a matmul: the sums of a cluster meet in the ring", "[ops][matmul]") {
  if (!has_tensor_cores()) return;
  run_split<sm90_split_config{.m = 64, .n = 64, .stages = 3, .splits = 1, .reuses_ring = true}, f16, f16>(
      {2, 67, 131, 72}, false);
  run_split<sm90_split_config{.m = 64, .n = 32, .stages = 5, .splits = 8, .reuses_ring = true}, f16, f32>(
      {1, 67, 35, 1000}, true);
  run_split<sm90_split_config{.m = 128, .n = 256, .stages = 4, .splits = 4, .reuses_ring = true, .b = mn},
            bf16, bf16>({1, 131, 260, 520}, true);
}

TEST_CASE("sm_90a matmul: the launch says how many blocks share a tile", "[ops][matmul]") {
  if (!has_tensor_cores()) return;
  for (const u32 splits : {2u, 4u, 8u}) {
    run_splits<sm90_split_config{.m = 128, .n = 64, .stages = 5, .splits = 0, .reuses_ring = true, .a = mn},
               f16, f32>({2, 131, 70, 530}, splits);
    // Fewer columns than a panel of B.
    run_splits<sm90_split_config{
                   .m = 128, .n = 64, .stages = 5, .splits = 0, .reuses_ring = true, .a = mn, .b = mn},
               f16, f16>({1, 131, 24, 1540}, splits);
  }
  for (const u32 splits : {1u, 2u, 4u, 8u}) {
    run_splits<
        sm90_split_config{
            .m = 64, .n = 16, .stages = 5, .splits = 0, .transposed = true, .reuses_ring = true, .a = mn},
        bf16, bf16>({2, 13, 131, 530}, splits);
    run_splits<sm90_split_config{.m = 64,
                                 .n = 64,
                                 .stages = 4,
                                 .splits = 0,
                                 .transposed = true,
                                 .reuses_ring = true,
                                 .a = mn,
                                 .b = mn},
               f16, f16>({1, 61, 131, 530}, splits);
  }
}

TEST_CASE("sm_90a matmul: short lines across K", "[ops][matmul]") {
  if (!has_tensor_cores()) return;
  constexpr sm90_split_config rows{.m = 64,
                                   .n = 64,
                                   .stages = 4,
                                   .splits = 0,
                                   .transposed = true,
                                   .reuses_ring = true,
                                   .loads_b = true,
                                   .b = mn};
  constexpr sm90_split_config columns{
      .m = 64, .n = 64, .stages = 5, .splits = 0, .reuses_ring = true, .loads_b = true, .a = mn, .b = mn};
  // K takes one stage, fewer stages than are in flight, or several rounds. Lines have a last element alone,
  // or several tiles.
  for (const u32 depth : {1u, 64u, 130u, 1000u}) {
    run_splits<rows, f16, f16>({2, 27, 131, depth}, 1);
    run_splits<columns, bf16, bf16>({1, 131, 70, depth}, 1);
  }
  run_splits<rows, bf16, bf16>({1, 9, 200, 1000}, 8);
  run_splits<columns, f16, f16>({2, 70, 24, 530}, 4);
}

// Clusters of blocks along M x blocks along N x parts of K; some blocks have a tile outside C, or one step of K.
// The ends of C are inside a tile, at its end, and where panels of 64 columns overlap.
TEST_CASE("sm_90a matmul: the launch says how many columns a tile has", "[ops][matmul]") {
  if (!has_tensor_cores()) return;
  constexpr sm90_config wide{.m = 128, .n = 192, .stages = 3, .cluster_m = 0, .widths = 2};
  constexpr sm90_config pair{.m = 128, .n = 128, .stages = 3, .cluster_m = 2, .widths = 2};
  constexpr sm90_config several{.m = 128, .n = 128, .stages = 3, .cluster_m = 0, .widths = 3};
  for (const u32 columns : {24u, 264u, 320u, 368u}) {
    // Panels of C have 32 columns of f32: narrow tiles leave out one or two of four.
    for (const sm90_cluster cluster : {sm90_cluster{1, 1, 64}, {2, 1, 96}, {1, 2, 64}, {2, 2, 96}, {1, 1, 0}})
      run_clusters<several, f16, f32>({1, 136, columns, 264}, cluster, 2);
    for (const sm90_cluster cluster : {sm90_cluster{1, 1, 160}, {2, 1, 160}, {2, 2, 160}, {1, 2, 0}}) {
      run_clusters<wide, f16, f16>({1, 136, columns, 264}, cluster, 2);
      run_clusters<with_lines<wide>(mn, mn), bf16, bf16>({1, 136, columns, 264}, cluster, 2);
    }
    run_clusters<with_lines<pair>(k, mn), f16, f32>({2, 72, columns, 136}, {2, 1, 96}, 1);
    run_clusters<pair, f16, f16>({1, 72, columns, 264}, {2, 1, 96}, 2);
  }
}

TEST_CASE("sm_90a matmul: blocks with the same part of K share tiles", "[ops][matmul]") {
  if (!has_tensor_cores()) return;
  constexpr sm90_split_config square{
      .m = 128, .n = 128, .stages = 4, .splits = 0, .reuses_ring = true, .shares = true};
  constexpr sm90_split_config narrow{
      .m = 128, .n = 64, .stages = 5, .splits = 0, .reuses_ring = true, .shares = true};
  for (const sm90_parts parts : {sm90_parts{2, {1, 1}},
                                 {2, {2, 1}},
                                 {2, {1, 2}},
                                 {2, {2, 2}},
                                 {4, {2, 1}},
                                 {4, {1, 2}},
                                 {8, {1, 1}}}) {
    run_splits<square, f16, f16>({2, 300, 264, 530}, parts);
    run_splits<with_lines<narrow>(mn, mn), bf16, f32>({1, 136, 200, 1000}, parts);
    run_splits<with_lines<narrow>(k, mn), f16, f16>({1, 130, 24, 520}, parts);
    run_splits<with_lines<square>(mn, k), bf16, bf16>({1, 40, 72, 520}, parts);
  }
}

TEST_CASE("sm_90a matmul: the last tiles are computed in halves", "[ops][matmul]") {
  if (!has_tensor_cores()) return;
  // There are 6 tiles: 4 clusters compute two of them in halves, 5 clusters one, 8 clusters none.
  const shape s{1, 300, 264, 200};
  for (const u64 clusters : {4, 5, 8})
    run<sm90_config{.m = 128, .n = 192, .stages = 3}, f16, f16>({1, 300, 264, 520}, clusters);
  run<sm90_config{.m = 128, .n = 128, .stages = 3, .a = mn, .b = mn}, bf16, f32>(s, 7);
  run<sm90_config{.m = 128, .n = 128, .stages = 3}, f16, f16, biased>(s, 7);
  for (const u64 clusters : {3, 5}) {
    run<sm90_config{.m = 128, .n = 192, .stages = 3, .cluster_m = 2}, f16, f16>({2, 300, 264, 200}, clusters);
    run<sm90_config{.m = 128, .n = 128, .stages = 3, .cluster_m = 2, .a = mn}, bf16, bf16>({2, 300, 264, 72},
                                                                                           clusters);
  }
}

TEST_CASE("sm_90a matmul of few rows, computed transposed", "[ops][matmul]") {
  if (!has_tensor_cores()) return;
  for (const bool early : {false, true}) {
    run_split<sm90_split_config{.m = 64, .n = 8, .stages = 4, .depth = 2, .splits = 1, .transposed = true},
              f16, f16>({1, 1, 133, 712}, early);
    run_split<sm90_split_config{.m = 64, .n = 8, .stages = 3, .splits = 2, .transposed = true, .a = mn}, f16,
              f32>({2, 7, 133, 328}, early);
    run_split<sm90_split_config{.m = 64, .n = 32, .stages = 3, .splits = 2, .transposed = true}, bf16, bf16>(
        {1, 29, 133, 264}, early);
  }
}

TEST_CASE("sm_90a matmul gives the same bits every time", "[ops][matmul]") {
  if (!has_tensor_cores()) return;
  const u32 repeats = under_test().properties().is_emulator() ? 2 : 250;
  matrices<f16> a(1, 200, 400, false), b(1, 400, 136, true);
  const auto a_memory = upload(a.fill(content::random, 1).host),
             b_memory = upload(b.fill(content::random, 2).host);
  const auto bias = upload(std::vector<f32>(136, 1.0f));
  matrices<f16> c(1, 200, 136, false);
  std::vector<f16> first, first_of_split;
  for (u32 i = 0; i < repeats; ++i) {
    auto whole = upload(c.host), split = upload(c.host);
    const stream& on = under_test().stream();
    launch_sm90<sm90_config{.m = 64, .n = 64, .stages = 4}, f16, f16, scaled>(
        on, lines_of(a, a_memory), lines_of(b, b_memory), lines_of(c, whole), 400, 5, 2, 0.5f);
    launch_sm90_split<sm90_split_config{.m = 64, .n = 64, .stages = 3, .splits = 2}, f16, f16, biased>(
        on, lines_of(a, a_memory), lines_of(b, b_memory), lines_of(c, split), 400, true, bias, 0.5f);
    if (i == 0) {
      first = whole.download();
      first_of_split = split.download();
    } else {
      REQUIRE(same_bits(whole.download(), first));
      REQUIRE(same_bits(split.download(), first_of_split));
    }
  }
}
