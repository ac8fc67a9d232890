// Collectives give what their definitions say, on 1 to 8 ranks, and refuse calls that do not match.

#include "tests/ops/distributed/support.hpp"

#include <kaio/runtime/budget.hpp>

#include <array>
#include <atomic>
#include <chrono>
#include <stdexcept>

using namespace kaio;
using namespace kaio::tests;

namespace {

// Element i of rank r.
float number(int r, std::size_t i) {
  return static_cast<float>((i * 7 + static_cast<std::size_t>(r) * 13) % 29) - 11;
}

inline constexpr auto write_one = kernel<"write_one", 32>([](thread t, out<f32> x) {
  if (auto first = t.when(t.global_id() == 0u)) x[0] = 1.0f;
});

template <class T>
std::vector<T> numbers(int r, std::size_t n) {
  std::vector<T> x(n);
  for (std::size_t i = 0; i < n; ++i) x[i] = from_float<T>(number(r, i) / 8);
  return x;
}

// The sum of all ranks, in f32, rank 0 first, rounded once.
template <class T>
T sum_of(int ranks, std::size_t i) {
  float sum = 0;
  for (int r = 0; r < ranks; ++r) sum += static_cast<float>(to_double(from_float<T>(number(r, i) / 8)));
  return from_float<T>(sum);
}

template <class T>
bool same_bits(const T& a, const T& b) {
  return std::memcmp(&a, &b, sizeof(T)) == 0;
}

}  // namespace

TEST_CASE("each collective moves what it says, for every number of ranks and both transports") {
  const int ranks = GENERATE(1, 2, 3, 4, 8);
  const bool direct = GENERATE(true, false);
  const std::size_t n = 24;
  run_all(group_of(ranks, direct), [&](int r, const communicator& c, const stream& s) {
    const auto world = static_cast<std::size_t>(ranks);
    must(c.ranks() == ranks, "ranks");
    must(c.rank() == r, "rank");
    must(c.transport_name() == (direct ? "peers" : "in_process"), "name");
    const auto mine = c.on().upload(numbers<f32>(r, n));
    auto all = c.on().allocate<f32>(n * world);
    c.all_gather(s, tensor_view(mine, n), tensor_view(all, world, n));
    auto turned = c.on().allocate<f32>(n * world);
    c.all_to_all(s, tensor_view(all, n * world), tensor_view(turned, n * world));
    auto shared = c.on().upload(numbers<i32>(r, n));
    const int root = ranks - 1;
    c.broadcast(s, tensor_view(shared, n), root);
    // To the next rank, and from the one before.
    const int next = (r + 1) % ranks, before = (r + ranks - 1) % ranks;
    auto came = c.on().allocate<f32>(n);
    const transfer to_next{tensor_view(mine, n), next}, from_before{tensor_view(came, n), before};
    c.exchange(s, {&to_next, 1}, {&from_before, 1});
    c.barrier(s);
    s.synchronize();
    const auto gathered = all.download(), exchanged = turned.download(), received = came.download();
    const auto broadcast = shared.download();
    bool right = true;
    for (int p = 0; p < ranks; ++p)
      for (std::size_t i = 0; i < n; ++i) {
        const std::size_t at = static_cast<std::size_t>(p) * n + i;
        right = right && gathered[at] == number(p, i) / 8 && exchanged[at] == number(r, i) / 8;
      }
    for (std::size_t i = 0; i < n; ++i)
      right = right && received[i] == number(before, i) / 8 && broadcast[i] == numbers<i32>(root, n)[i];
    must(right, "values");
    const std::array<std::int64_t, 2> own{r, 10 + r};
    const auto lists = c.gather_numbers("test", own);
    must(lists.size() == 2 * world, "count");
    must(lists[2 * world - 1] == 9 + ranks, "numbers");
  });
}

TEMPLATE_TEST_CASE("sums are f32, in the order of ranks, in several rounds, in place and not", "", f32, f16,
                   bf16) {
  const int ranks = GENERATE(1, 2, 3, 8);
  const std::size_t n = GENERATE(std::size_t{1}, std::size_t{37}, std::size_t{2056});
  const std::uint64_t staging = GENERATE(2048u, 65536u);
  run_all(group_of(ranks, true, 20, staging), [&](int r, const communicator& c, const stream& s) {
    const auto world = static_cast<std::size_t>(ranks), own = static_cast<std::size_t>(r);
    auto x = c.on().upload(numbers<TestType>(r, n * world));
    auto part = c.on().template allocate<TestType>(n), whole = c.on().template allocate<TestType>(n * world);
    c.reduce_scatter(s, tensor_view(x, n * world), tensor_view(part, n));
    c.all_reduce(s, tensor_view(x, n * world), tensor_view(whole, n * world));
    c.all_reduce(s, tensor_view(x, n * world), tensor_view(x, n * world));
    s.synchronize();
    const auto scattered = part.download(), reduced = whole.download(), in_place = x.download();
    bool right = true;
    for (std::size_t i = 0; i < n * world; ++i) {
      const TestType want = sum_of<TestType>(ranks, i);
      right = right && same_bits(reduced[i], want) && same_bits(in_place[i], want);
      if (i / n == own) right = right && same_bits(scattered[i % n], want);
    }
    must(right, "values");
  });
}

TEST_CASE("calls that differ are refused on all ranks, and the group remains usable") {
  const int kind = GENERATE(0, 1, 2, 3, 4);
  const auto outcomes = run_ranks(group_of(3), [&](int r, const communicator& c, const stream& s) {
    auto x = c.on().upload(numbers<f32>(r, 32)), y = c.on().allocate<f32>(96);
    auto half = c.on().allocate<f16>(96);
    const bool odd = r == 2;
    errc code = errc::driver_error;
    std::string text;
    try {
      switch (kind) {
        case 0:
          if (odd)
            c.barrier(s);
          else
            c.all_gather(s, tensor_view(x, 32), tensor_view(y, 96));
          break;
        case 1: {
          const std::size_t n = odd ? 16 : 32;
          c.all_gather(s, tensor_view(x.slice(0, n), n), tensor_view(y.slice(0, 3 * n), 3 * n));
          break;
        }
        case 2:
          if (odd)
            c.all_reduce(s, tensor_view(half, 96), tensor_view(half, 96));
          else
            c.all_reduce(s, tensor_view(y, 96), tensor_view(y, 96));
          break;
        case 3: c.all_gather(s, tensor_view(x, 32), tensor_view(y, odd ? 95 : 96)); break;
        default: {  // rank 2 sends nothing
          const transfer to{tensor_view(x, 32), (r + 1) % 3},
              from{tensor_view(y.slice(0, 32), 32), (r + 2) % 3};
          c.exchange(s, {&to, odd ? 0u : 1u}, {&from, 1});
        }
      }
    } catch (const error& e) {
      code = e.code();
      text = e.message();
    }
    must(code == errc::invalid_argument, "refused: " + text);
    must(text.find("rank") != std::string::npos, text);
    c.all_gather(s, tensor_view(x, 32), tensor_view(y, 96));
    s.synchronize();
    must(y.download()[95] == number(2, 31) / 8, "gathered");
  });
  for (const rank_outcome& o : outcomes) {
    INFO(o.error);
    CHECK(o.error.empty());
  }
}

TEST_CASE("a rank that does not come, goes, fails or aborts gives the others an error in time") {
  const int kind = GENERATE(0, 1, 2, 3);
  const auto begin = std::chrono::steady_clock::now();
  std::atomic<int> waiting{2};
  const auto outcomes =
      run_ranks(group_of(3, true, kind == 0 ? 0.2 : 20), [&](int r, const communicator& c, const stream& s) {
        auto x = c.on().upload(numbers<f32>(r, 32)), y = c.on().allocate<f32>(96);
        c.all_gather(s, tensor_view(x, 32), tensor_view(y, 96));
        if (r == 1) {
          if (kind == 0)  // waits for the others, which give up
            while (waiting != 0) std::this_thread::yield();
          if (kind == 1) throw std::runtime_error("killed");
          if (kind == 2) {
            s.synchronize();
            c.on().set_budget({.launch_instructions = 1});
            try {
              write_one.launch(s, over(1), y);
            } catch (const error&) {
            }
          }
          if (kind == 3) c.abort("the user ended it");
        }
        try {
          c.all_gather(s, tensor_view(x, 32), tensor_view(y, 96));
        } catch (const error&) {
          --waiting;
          throw;
        }
      });
  const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  CHECK(seconds < 10);
  for (int r : {0, 2}) {
    const rank_outcome& o = outcomes[static_cast<std::size_t>(r)];
    INFO(o.error);
    CHECK(o.code == errc::communication_failed);
  }
}
