// Products divided among ranks have the bits of the same products on one device: rows that are gathered, and parts that are
// added in the order of ranks.

#include "tests/ops/distributed/support.hpp"

#include <kaio/ops/all_gather_matmul.hpp>
#include <kaio/ops/matmul_all_reduce.hpp>
#include <kaio/ops/matmul_fp8.hpp>
#include <kaio/ops/matmul_reduce_scatter.hpp>

#include <chrono>
#include <vector>

using namespace kaio;
using namespace kaio::tests;

namespace {

template <class T>
std::vector<T> numbers(std::size_t n, std::uint32_t seed) {
  std::mt19937 engine(seed);
  std::uniform_real_distribution<float> any(-1, 1);
  std::vector<T> x(n);
  for (T& e : x) e = from_float<T>(any(engine));
  return x;
}

constexpr peer_workspace_options small{
    .sum_bytes = 1024, .one_shot_bytes = 512, .product_bytes = 32768, .blocks = 2};

std::vector<int> numbers_of_ranks(bool all) {
  return all ? std::vector<int>{1, 2, 3, 4, 8} : std::vector<int>{2, 3};
}

// Whether matmul has kernels for T on the emulated device.
template <class T>
bool has_products() {
  const auto sm = emulated_devices(1)[0].properties().target.sm;
  return std::is_same_v<T, bf16> ? sm >= 80 : std::is_same_v<T, e4m3> ? sm >= 89 : true;
}

// The first elements of a buffer.
template <class T>
tensor_view<T, 2> matrix(buffer<T>& memory, std::size_t rows, std::size_t columns) {
  return {memory.slice(0, rows * columns), extents(rows, columns)};
}

}  // namespace

TEMPLATE_TEST_CASE("all_gather_matmul: products of all ranks' rows", "", bf16, f16, e4m3) {
  using out_type = std::conditional_t<std::is_same_v<TestType, e4m3>, f32, TestType>;
  if (!has_products<TestType>()) return;
  const int ranks = GENERATE(from_range(numbers_of_ranks(std::is_same_v<TestType, bf16>)));
  run_all(group_of(ranks), [&](int r, const communicator& c, const stream& s) {
    const peer_workspace w = peer_workspace::make(c, small);
    const auto world = static_cast<std::size_t>(ranks);
    // The second rows have gaps between them and in the workspace; weights by columns.
    struct shape {
      std::size_t m, k, n, pitch;
    };
    std::uint32_t seed = 0;
    for (const auto [m, k, n, pitch] : {shape{16, 32, 24, 32}, shape{7, 20, 9, 23}, shape{16, 32, 24, 32}}) {
      seed += 100;
      std::vector<buffer<TestType>> shards;
      for (std::size_t p = 0; p < world; ++p)
        shards.push_back(c.on().upload(numbers<TestType>(m * pitch, seed + static_cast<std::uint32_t>(p))));
      const auto weights = c.on().upload(numbers<TestType>(n * k, seed + 50));
      const auto more = c.on().upload(numbers<out_type>(world * m * n, seed + 51));
      const auto bias = c.on().upload(numbers<f32>(world * m, seed + 52));
      auto y = c.on().template allocate<out_type>(world * m * n),
           want = c.on().template allocate<out_type>(world * m * n);
      const auto rows = [&](std::size_t p) {
        return tensor_view<const TestType, 2>(shards[p].view(), extents(m, k), strides(pitch, 1));
      };
      const tensor_view<const TestType, 2> b = tensor_view<const TestType, 2>(weights, n, k).transposed();
      const tensor_view<const out_type, 2> residual(more, world * m, n);
      const tensor_view<const f32, 1> of_rows(bias, world * m);
      all_gather_matmul(w, s, rows(static_cast<std::size_t>(r)), b, tensor_view(y, world * m, n),
                        {.bias = per_row(of_rows), .residual = residual});
      for (std::size_t p = 0; p < world; ++p) {
        const auto first = static_cast<std::int64_t>(p * m), count = static_cast<std::int64_t>(m);
        matmul(
            s, rows(p), b, tensor_view(want, world * m, n).slice(0, first, count),
            {.bias = per_row(of_rows.slice(0, first, count)), .residual = residual.slice(0, first, count)});
      }
      s.synchronize();
      must(same_bits(y.download(), want.download()), "the product of " + std::to_string(m) + " rows");
    }
  });
}

TEMPLATE_TEST_CASE("matmul_reduce_scatter: sums of all ranks' products, in the order of ranks", "", bf16, f16,
                   f32) {
  if (!has_products<TestType>()) return;
  const int ranks = GENERATE(from_range(numbers_of_ranks(std::is_same_v<TestType, bf16>)));
  const bool f32_parts = GENERATE(false, true);
  run_all(group_of(ranks), [&](int r, const communicator& c, const stream& s) {
    const peer_workspace w = peer_workspace::make(c, small);
    const auto world = static_cast<std::size_t>(ranks);
    const std::size_t m = 5, k = 24, n = 13;
    std::vector<float> sums(world * m * n);
    const auto a_of = [&](std::size_t p) {
      return numbers<TestType>(world * m * k, static_cast<std::uint32_t>(p));
    };
    const auto b_of = [&](std::size_t p) {
      return numbers<TestType>(k * n, 40 + static_cast<std::uint32_t>(p));
    };
    for (std::size_t p = 0; p < world; ++p) {
      const auto a = c.on().upload(a_of(p)), b = c.on().upload(b_of(p));
      for (std::size_t of = 0; of < world; ++of) {
        const auto add = [&]<class Part>(Part) {
          auto part = c.on().template allocate<Part>(m * n);
          matmul(s, tensor_view(a, world * m, k).slice(0, static_cast<std::int64_t>(of * m), m),
                 tensor_view(b, k, n), tensor_view(part, m, n));
          s.synchronize();
          const auto numbers_of_part = part.download();
          for (std::size_t i = 0; i < m * n; ++i)
            sums[of * m * n + i] += static_cast<float>(to_double(numbers_of_part[i]));
        };
        if (f32_parts)
          add(f32{});
        else
          add(TestType{});
      }
    }
    const auto own = static_cast<std::size_t>(r);
    const auto a = c.on().upload(a_of(own)), b = c.on().upload(b_of(own));
    auto y = c.on().template allocate<TestType>(m * n);
    for (int again = 0; again < 3; ++again)
      matmul_reduce_scatter(w, s, tensor_view(a, world * m, k), tensor_view(b, k, n), tensor_view(y, m, n),
                            {.f32_parts = f32_parts});
    auto all = c.on().template allocate<TestType>(world * m * n);
    matmul_all_reduce(w, s, tensor_view(a, world * m, k), tensor_view(b, k, n),
                      tensor_view(all, world * m, n), {.f32_parts = f32_parts});
    s.synchronize();
    const auto got = y.download();
    std::vector<TestType> want(m * n);
    for (std::size_t i = 0; i < m * n; ++i) want[i] = from_float<TestType>(sums[own * m * n + i]);
    must(same_bits(got, want), "the sum");
    // By rows of ranks if it is larger than the workspace's sums; else parts have c's type, and one product all rows.
    const bool by_rows = world * m * n * sizeof(TestType) > small.sum_bytes;
    const auto gathered = all.download();
    for (std::size_t i = 0; i < gathered.size(); ++i) {
      const float expected = sums[i];
      if (by_rows)
        must(to_double(gathered[i]) == to_double(from_float<TestType>(expected)), "the sum on all ranks");
      else
        must(std::abs(to_double(gathered[i]) - expected) < 0.05 * static_cast<double>(world),
             "about the sum on all ranks");
    }
  });
}

TEST_CASE("other products: fp8 with scales of rows, and any function of rows") {
  const int ranks = GENERATE(2, 4);
  run_all(group_of(ranks), [&](int r, const communicator& c, const stream& s) {
    const peer_workspace w = peer_workspace::make(c, small);
    const auto world = static_cast<std::size_t>(ranks), own = static_cast<std::size_t>(r);
    const std::size_t m = 8, k = 32, n = 16;
    const auto x = numbers<e4m3>(world * m * k, 1);
    const auto all = c.on().upload(x), weights = c.on().upload(numbers<e4m3>(n * k, 2));
    const auto scales = c.on().upload(numbers<f32>(world * m, 3));
    auto y = c.on().allocate<bf16>(world * m * n), want = c.on().allocate<bf16>(world * m * n);
    const auto b = tensor_view(weights, n, k).transposed();
    const tensor_view<const f32, 1> of_tokens(scales, world * m);
    const auto product = [&](const stream& on, std::size_t p, const tensor_view<const e4m3, 2>& rows,
                             const tensor_view<bf16, 2>& to) {
      const auto first = static_cast<std::int64_t>(p * m);
      matmul_fp8(on, rows, b, to, {.scale_a = of_tokens.slice(0, first, static_cast<std::int64_t>(m))});
    };
    const auto rows_of = [&](auto& memory, std::size_t p, std::size_t size) {
      return tensor_view(memory, world * m, size)
          .slice(0, static_cast<std::int64_t>(p * m), static_cast<std::int64_t>(m));
    };
    all_gather_with(
        w, s, rows_of(all, own, k), [&](const stream& on, int p, const tensor_view<const e4m3, 2>& rows) {
          product(on, static_cast<std::size_t>(p), rows, rows_of(y, static_cast<std::size_t>(p), n));
        });
    for (std::size_t p = 0; p < world; ++p) product(s, p, rows_of(all, p, k), rows_of(want, p, n));
    auto part = c.on().allocate<bf16>(m * n);
    reduce_scatter_with(
        w, s, tensor_view(part, m, n), [&](const stream& on, int p, const tensor_view<bf16, 2>& to) {
          product(on, static_cast<std::size_t>(p), rows_of(all, static_cast<std::size_t>(p), k), to);
        });
    s.synchronize();
    const auto gathered = y.download(), expected = want.download(), sum = part.download();
    must(same_bits(gathered, expected), "gathered rows");
    for (std::size_t i = 0; i < m * n; ++i)  // all ranks have the same products
      must(to_double(sum[i]) == ranks * to_double(expected[own * m * n + i]), "the sum of equal parts");
  });
}

TEST_CASE("products without an inner dimension are zeros and the bias; c may have no columns") {
  const int ranks = GENERATE(1, 3);
  run_all(group_of(ranks), [&](int r, const communicator& c, const stream& s) {
    const peer_workspace w = peer_workspace::make(c, small);
    const auto rows = static_cast<std::size_t>(ranks) * 4;
    auto x = c.on().upload(numbers<f16>(256, 1)), bias = c.on().upload(numbers<f16>(8, 2));
    auto y = c.on().upload(std::vector<f16>(rows * 8, f16(9.0f)));
    const auto all_are = [&](const std::vector<f16>& expected) {
      s.synchronize();
      const std::vector<f16> got = y.download();
      for (std::size_t i = 0; i < got.size(); ++i)
        must(to_double(got[i]) == to_double(expected[i % 8]), "element " + std::to_string(i));
    };
    all_gather_matmul(w, s, matrix(x, 4, 0), matrix(x, 0, 8), matrix(y, rows, 8),
                      {.bias = per_column(tensor_view(bias, 8))});
    all_are(bias.download());
    all_gather_matmul(w, s, matrix(x, 4, 0), matrix(x, 0, 8), matrix(y, rows, 8));
    all_are(std::vector<f16>(8));

    std::vector<int> called;  // once while kernels are loaded, then for each rank
    all_gather_with(w, s, matrix(x, 4, 0), [&](const stream&, int rank, auto) { called.push_back(rank); });
    must(called.size() == static_cast<std::size_t>(ranks) + 1, "calls of work");
    for (int step = 0; step < ranks; ++step)
      must(called[static_cast<std::size_t>(step) + 1] == (r + step) % ranks, "order of ranks");

    matmul_all_reduce(w, s, matrix(x, rows, 8), matrix(x, 8, 0), matrix(y, rows, 0));
    matmul_reduce_scatter(w, s, matrix(x, rows, 8), matrix(x, 8, 0), matrix(y, 4, 0));
  });
}

TEST_CASE("captured products are replayed, with other calls between") {
  const int ranks = 3;
  run_all(group_of(ranks), [&](int r, const communicator& c, const stream& s) {
    const peer_workspace w = peer_workspace::make(c, small);
    const std::size_t m = 4, k = 16, n = 8, world = 3;
    auto x = c.on().allocate<f16>(m * k);
    const auto weights = c.on().upload(numbers<f16>(k * n, 7));
    auto y = c.on().allocate<f16>(world * m * n), part = c.on().allocate<f16>(m * n);
    const tensor_view b(weights, k, n);
    const auto step = [&] {
      all_gather_matmul(w, s, tensor_view(x, m, k), b, tensor_view(y, world * m, n));
      // y has n columns: the next product is of them.
      matmul_reduce_scatter(w, s, tensor_view(y, world * m, n), tensor_view(weights, n, n),
                            tensor_view(part, m, n));
    };
    step();
    s.synchronize();
    const executable_graph replay = capture_graph(s, step).instantiate();
    for (std::uint32_t call = 0; call < 4; ++call) {
      copy(s, x.view(), c.on().upload(numbers<f16>(m * k, 10 * call + static_cast<std::uint32_t>(r))).view());
      s.synchronize();
      step();
      s.synchronize();
      const auto once = y.download(), sum = part.download();
      fill(s, y.view(), f16(0.0f));
      fill(s, part.view(), f16(0.0f));
      replay.launch(s);
      s.synchronize();
      must(same_bits(y.download(), once), "gathered, call " + std::to_string(call));
      must(same_bits(part.download(), sum), "reduced, call " + std::to_string(call));
      must(to_double(once[(world - 1) * m * n]) != 0, "numbers");
    }
  });
}

TEST_CASE("products that do not match are refused on all ranks before anything is sent") {
  const int kind = GENERATE(0, 1, 2, 3, 4, 5);
  run_all(group_of(2), [&](int r, const communicator& c, const stream& s) {
    const peer_workspace w = peer_workspace::make(c, small);
    auto x = c.on().upload(numbers<f16>(4096, 1)), y = c.on().allocate<f16>(4096);
    const bool odd = r == 1;
    const auto call = [&](std::size_t m, std::size_t k, std::size_t n, std::size_t rows) {
      all_gather_matmul(w, s, matrix(x, m, k), matrix(x, k, n), matrix(y, rows, n));
    };
    std::string text;
    try {
      switch (kind) {
        case 0: call(odd ? 8 : 4, 16, 8, odd ? 16 : 8); break;
        case 1: call(4, 16, 8, odd ? 7 : 8); break;
        case 2:
          if (odd)
            matmul_reduce_scatter(w, s, matrix(x, 8, 16), matrix(x, 16, 8), matrix(y, 4, 8));
          else
            call(4, 16, 8, 8);
          break;
        case 3: {
          const tensor_view<const f16, 2> by_columns =
              tensor_view<const f16, 2>(x.slice(0, 64), extents(16, 4)).transposed();
          all_gather_matmul(w, s, by_columns, matrix(x, 16, 8), matrix(y, 8, 8));
          break;
        }
        case 5:  // c has a's memory in the rows of the other rank
          all_gather_matmul(w, s, tensor_view<const f16, 2>(x.slice(odd ? 0 : 32, 32), extents(4, 8)),
                            matrix(y, 8, 8), matrix(x, 8, 8));
          break;
        default:  // needs more product_bytes
          matmul_reduce_scatter(w, s, matrix(x, 128, 1), matrix(x, 1, 64), tensor_view(y, 64, 64),
                                {.f32_parts = true});
      }
    } catch (const invalid_argument& e) {
      text = e.message();
    }
    must(text.find("rank") != std::string::npos, "refused: " + text);
    if (kind == 4) must(text.find("65536 are needed") != std::string::npos, text);
    call(4, 16, 8, 8);
    s.synchronize();
    must(to_double(y.download()[63]) != 0, "the next product");
  });
}
