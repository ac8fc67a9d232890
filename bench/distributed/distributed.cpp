// How long operations of several ranks take on the GPUs of this machine, next to the same work of one GPU.
//
//   distributed [--json] [--seconds S] [--emulate]
//
//   all_gather_matmul, matmul_reduce_scatter   a rank's part of M x N x K, next to its product alone
//   context_attention, its gradients           causal rings, next to one GPU with the whole sequence: the ratio is the
//                                              share of the speed that all GPUs have together
//   all_reduce_rms_norm                        few rows of 8192, with a residual; all_reduce alone is next to it
//
// A figure is the time of the slowest rank: bursts of equal calls between two events, the median of the bursts. Inputs are
// random. Sampled elements are compared with double precision, or with one GPU. Exits with 77 if there are fewer than two
// GPUs; --emulate takes two emulators and small problems, whose times say nothing.

#include "bench/median.hpp"

#include <kaio/kaio.hpp>
#include <kaio/ops/all_gather_matmul.hpp>
#include <kaio/ops/all_reduce.hpp>
#include <kaio/ops/all_reduce_rms_norm.hpp>
#include <kaio/ops/attention.hpp>
#include <kaio/ops/attention_backward.hpp>
#include <kaio/ops/context_attention.hpp>
#include <kaio/ops/matmul.hpp>
#include <kaio/ops/matmul_reduce_scatter.hpp>
#include <kaio/showcase.hpp>

#include <algorithm>
#include <array>
#include <barrier>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <functional>
#include <mutex>
#include <stdexcept>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

using namespace kaio;

namespace {

struct settings {
  bool json = false, emulate = false;
  double seconds = 0.2;  // of a figure
};

std::vector<bf16> random(std::size_t count, u32 seed) {
  const std::vector<f32> from = showcase::random_normal(count, seed);
  std::vector<bf16> to(count);
  std::transform(from.begin(), from.end(), to.begin(), [](f32 x) { return bf16(x); });
  return to;
}
double number(bf16 x) { return static_cast<double>(static_cast<f32>(x)); }

class ranks_bench {
 public:
  ranks_bench(std::vector<device> devices, const settings& how)
      : devices_(std::move(devices)),
        how_(how),
        group_(communicator::peers(devices_)),
        meet_(static_cast<std::ptrdiff_t>(devices_.size())) {}

  int ranks() const { return static_cast<int>(devices_.size()); }

  // a (M / ranks, K) of each rank, b (K, N / ranks), c (M, N / ranks).
  void gather(i64 m, i64 n, i64 k) {
    const i64 rows = m / ranks(), columns = n / ranks();
    const std::vector<bf16> a = random(extent(m * k), 1);
    figure one, all, together;
    run([&](const communicator& c) {
      const device& gpu = c.on();
      const stream s = gpu.create_stream();
      const std::vector<bf16> b_values = random(extent(k * columns), 2 + static_cast<u32>(c.rank()));
      const auto own = a.begin() + c.rank() * rows * k;
      auto whole = gpu.upload(a), part = gpu.upload(std::vector<bf16>(own, own + rows * k));
      auto b = gpu.upload(b_values);
      auto out = gpu.upload(std::vector<bf16>(extent(m * columns), bf16(NAN)));
      const tensor_view a_all(whole, m, k), a_own(part, rows, k), b_view(b, k, columns),
          out_view(out, m, columns);
      const peer_workspace w = peer_workspace::make(c, {.product_bytes = all_gather_bytes(c.ranks(), a_own)});
      time(one, c, s, [&] { matmul(s, a_all, b_view, out_view); });
      const auto compare = [&] {
        check(
            out.download(s),
            [&](i64 at) {
              double sum = 0;
              for (i64 i = 0; i < k; ++i)
                sum += number(a[extent(at / columns * k + i)]) *
                       number(b_values[extent(i * columns + at % columns)]);
              return sum;
            },
            std::sqrt(static_cast<double>(k)));
        out.fill_zero(s);
      };
      time(all, c, s, [&] { all_gather_matmul(w, s, a_own, b_view, out_view); });
      compare();
      if (gpu.properties().target.sm != 90) return;
      time(together, c, s,
           [&] { all_gather_matmul(w, s, a_own, b_view, out_view, {}, gather_schedule::one_launch); });
      compare();
    });
    report("all_gather_matmul", shape(m, n, k), all, "matmul", one);
    if (together.us > 0) report("all_gather_matmul, one launch", shape(m, n, k), together, "matmul", one);
  }

  // a (M, K / ranks) of each rank, b (K / ranks, N), c (M / ranks, N).
  void scatter(i64 m, i64 n, i64 k) {
    const i64 rows = m / ranks(), inner = k / ranks();
    std::vector<std::vector<bf16>> a, b;
    for (int r = 0; r < ranks(); ++r) {
      a.push_back(random(extent(m * inner), 10 + static_cast<u32>(r)));
      b.push_back(random(extent(inner * n), 30 + static_cast<u32>(r)));
    }
    figure one, all;
    run([&](const communicator& c) {
      const device& gpu = c.on();
      const stream s = gpu.create_stream();
      auto a_memory = gpu.upload(a[index(c)]), b_memory = gpu.upload(b[index(c)]);
      auto alone = gpu.allocate<bf16>(extent(m * n));
      auto out = gpu.upload(std::vector<bf16>(extent(rows * n), bf16(NAN)));
      const tensor_view a_view(a_memory, m, inner), b_view(b_memory, inner, n), alone_view(alone, m, n),
          out_view(out, rows, n);
      const peer_workspace w = peer_workspace::make(
          c, {.product_bytes = reduce_scatter_bytes(c.ranks(), out_view, ops::element_kind::bf16)});
      time(one, c, s, [&] { matmul(s, a_view, b_view, alone_view); });
      time(all, c, s, [&] { matmul_reduce_scatter(w, s, a_view, b_view, out_view); });
      check(
          out.download(s),
          [&](i64 at) {
            const i64 row = c.rank() * rows + at / n;
            double sum = 0;
            for (int r = 0; r < ranks(); ++r)
              for (i64 i = 0; i < inner; ++i)
                sum += number(a[static_cast<std::size_t>(r)][extent(row * inner + i)]) *
                       number(b[static_cast<std::size_t>(r)][extent(i * n + at % n)]);
            return sum;
          },
          std::sqrt(static_cast<double>(k)));
    });
    report("matmul_reduce_scatter", shape(m, n, k), all, "matmul", one);
  }

  // A causal ring of `tokens` on each rank; one GPU has them all.
  void ring(i64 tokens, i64 heads, i64 size) {
    const i64 length = tokens * ranks();
    const std::size_t row = extent(heads * size);
    std::vector<std::vector<bf16>> inputs;  // q, k, v, dout
    for (u32 i = 0; i < 4; ++i) inputs.push_back(random(extent(length) * row, 50 + i));
    std::vector<bf16> want;
    figure one, all, one_back, all_back;
    run([&](const communicator& c) {
      const device& gpu = c.on();
      const stream s = gpu.create_stream();
      if (c.rank() == 0) {  // one GPU, the whole sequence
        std::vector<buffer<bf16>> x;
        for (const auto& values : inputs) x.push_back(gpu.upload(values));
        for (int i = 0; i < 4; ++i) x.push_back(gpu.allocate<bf16>(extent(length) * row));
        const auto view = [&](int i) {
          return tensor_view(x[static_cast<std::size_t>(i)], 1, length, heads, size);
        };
        auto lse_memory = gpu.allocate<f32>(extent(length * heads));
        const tensor_view lse(lse_memory, 1, heads, length);
        attention_options options{.causal = causal_alignment::bottom_right, .lse = lse};
        time_alone(one, s, [&] { attention(s, view(0), view(1), view(2), view(4), options); });
        want = x[4].download(s);
        attention_backward_options back{.forward = {.causal = causal_alignment::bottom_right}};
        auto memory = gpu.allocate<u8>(attention_backward_workspace_bytes(s, view(0), view(1), view(2)));
        back.workspace = memory;
        time_alone(one_back, s, [&] {
          attention_backward(s, view(3), view(0), view(1), view(2), view(4), lse, view(5), view(6), view(7),
                             back);
        });
      }
      meet_.arrive_and_wait();
      const std::vector<i32> places = context_positions(context_layout::zigzag, length, c.ranks(), c.rank());
      const auto mine = static_cast<i64>(places.size());
      std::vector<buffer<bf16>> x;
      for (const auto& values : inputs) {
        std::vector<bf16> part;
        part.reserve(places.size() * row);
        for (const i32 at : places) {
          const auto from = values.begin() + static_cast<std::ptrdiff_t>(static_cast<std::size_t>(at) * row);
          part.insert(part.end(), from, from + static_cast<std::ptrdiff_t>(row));
        }
        x.push_back(gpu.upload(part));
      }
      for (int i = 0; i < 4; ++i) x.push_back(gpu.allocate<bf16>(places.size() * row));
      const auto view = [&](int i) {
        return tensor_view(x[static_cast<std::size_t>(i)], 1, mine, heads, size);
      };
      auto lse_memory = gpu.allocate<f32>(extent(mine * heads));
      const tensor_view lse(lse_memory, 1, heads, mine);
      context_attention_options options{.causal = causal_alignment::bottom_right, .lse = lse};
      auto memory =
          gpu.allocate<u8>(context_attention_workspace_bytes(c, s, view(0), view(1), view(2), options));
      options.workspace = memory;
      time(all, c, s, [&] { context_attention(c, s, view(0), view(1), view(2), view(4), options); });
      check(
          x[4].download(s),
          [&](i64 at) {
            const std::size_t place = static_cast<std::size_t>(at) / row;
            return number(
                want[static_cast<std::size_t>(places[place]) * row + static_cast<std::size_t>(at) % row]);
          },
          1);
      auto back_memory = gpu.allocate<u8>(
          context_attention_backward_workspace_bytes(c, s, view(0), view(1), view(2), options));
      options.workspace = back_memory;
      time(all_back, c, s, [&] {
        context_attention_backward(c, s, view(3), view(0), view(1), view(2), view(4), lse, view(5), view(6),
                                   view(7), options);
      });
    });
    const std::string of = std::to_string(ranks()) + "x" + std::to_string(tokens) + "x" +
                           std::to_string(heads) + "x" + std::to_string(size);
    report("context_attention", of, all, "attention", one, ranks());
    report("context_attention_backward", of, all_back, "attention_backward", one_back, ranks());
  }

  void reduce_norm(i64 rows, i64 size) {
    figure sum, both;
    run([&](const communicator& c) {
      const device& gpu = c.on();
      const stream s = gpu.create_stream();
      const std::size_t count = extent(rows * size);
      auto x = gpu.upload(random(count, 70 + static_cast<u32>(c.rank())));
      auto residual = gpu.upload(random(count, 90)), weight = gpu.upload(random(extent(size), 91));
      auto next = gpu.allocate<bf16>(count), y = gpu.upload(std::vector<bf16>(count, bf16(NAN)));
      const tensor_view x_view(x, rows, size), residual_view(residual, rows, size),
          next_view(next, rows, size), y_view(y, rows, size);
      const tensor_view weight_view(weight, size);
      const peer_workspace w = peer_workspace::make(c);
      time(sum, c, s, [&] { all_reduce(w, s, x_view, y_view); });
      time(both, c, s, [&] {
        all_reduce_rms_norm(w, s, x_view, weight_view, y_view,
                            {.residual = residual_view, .residual_out = next_view});
      });
      std::vector<std::vector<bf16>> parts;
      for (int r = 0; r < c.ranks(); ++r) parts.push_back(random(count, 70 + static_cast<u32>(r)));
      const std::vector<bf16> before = residual.download(s);
      check(
          next.download(s),
          [&](i64 at) {
            double all = number(before[extent(at)]);
            for (const auto& part : parts) all += number(part[extent(at)]);
            return all;
          },
          4);
    });
    report("all_reduce_rms_norm", std::to_string(rows) + "x" + std::to_string(size), both, "all_reduce", sum);
  }

 private:
  struct figure {
    std::mutex changing;
    double us = 0;  // of the slowest rank
    void note(double mine) {
      const std::scoped_lock lock(changing);
      us = std::max(us, mine);
    }
  };

  static std::size_t extent(i64 count) { return static_cast<std::size_t>(count); }
  static std::size_t index(const communicator& c) { return static_cast<std::size_t>(c.rank()); }
  static std::string shape(i64 m, i64 n, i64 k) {
    return std::to_string(m) + "x" + std::to_string(n) + "x" + std::to_string(k);
  }

  void run(const std::function<void(const communicator&)>& rank) {
    std::vector<std::exception_ptr> failures(devices_.size());
    std::vector<std::thread> threads;
    for (const communicator& c : group_)
      threads.emplace_back([&] {
        try {
          rank(c);
        } catch (...) {
          failures[index(c)] = std::current_exception();
          c.abort("another rank of the benchmark failed");
          meet_.arrive_and_drop();
        }
      });
    for (std::thread& t : threads) t.join();
    for (const std::exception_ptr& failure : failures)
      if (failure) std::rethrow_exception(failure);
  }

  // The median of bursts, in microseconds of a call.
  template <class Call, class Meet>
  double median_of_bursts(const stream& s, const device& gpu, int calls, const Call& call,
                          const Meet& meet) const {
    std::vector<double> times;
    event begin = gpu.create_event(), end = gpu.create_event();
    for (int burst = 0; burst < (how_.emulate ? 1 : 11); ++burst) {
      meet();
      s.record(begin);
      for (int i = 0; i < calls; ++i) call();
      s.record(end);
      times.push_back(elapsed_ms(begin, end) * 1e3 / calls);
    }
    return bench::median(times);
  }
  // Calls of a burst: all ranks have the same number.
  int calls_for(double us) const {
    return how_.emulate
               ? 1
               : static_cast<int>(std::clamp(how_.seconds * 1e6 / 11 / std::max(us, 1.0), 3.0, 500.0));
  }

  template <class Call>
  void time(figure& into, const communicator& c, const stream& s, const Call& call) {
    call();
    s.synchronize();
    const auto meet = [&] { c.barrier(s); };
    const auto first = static_cast<std::int64_t>(median_of_bursts(s, c.on(), 1, call, meet) * 1e3);
    const std::vector<std::int64_t> of_ranks = c.gather_numbers("benchmark", {&first, 1});
    const std::int64_t slowest = *std::max_element(of_ranks.begin(), of_ranks.end());
    into.note(median_of_bursts(s, c.on(), calls_for(static_cast<double>(slowest) * 1e-3), call, meet));
  }
  template <class Call>
  void time_alone(figure& into, const stream& s, const Call& call) {
    const device& gpu = devices_[0];
    call();
    s.synchronize();
    const auto meet = [&] { s.synchronize(); };
    into.note(median_of_bursts(s, gpu, calls_for(median_of_bursts(s, gpu, 1, call, meet)), call, meet));
  }

  // Compares 64 elements; `size`: the size of a usual one.
  template <class Want>
  static void check(const std::vector<bf16>& got, const Want& want, double size) {
    for (std::size_t i = 0; i < 64; ++i) {
      const std::size_t at = i * 7919 % got.size();
      const double right = want(static_cast<i64>(at));
      if (!(std::abs(number(got[at]) - right) <= 0x1p-6 * (std::abs(right) + size)))
        throw std::runtime_error("element " + std::to_string(at) + " is " + std::to_string(number(got[at])) +
                                 " rather than " + std::to_string(right));
    }
  }

  // share: how many GPUs the work alone would have.
  void report(const char* operation, const std::string& of, const figure& all, const char* alone,
              const figure& one, int share = 1) const {
    const std::string device(devices_[0].description());
    std::printf(
        how_.json
            ? "{\"benchmark\": \"distributed\", \"device\": \"%s\", \"ranks\": %d, \"operation\": \"%s\", \"shape\": \"%s\", \"us\": %.2f, \"alone\": \"%s\", \"alone_us\": %.2f, \"ratio\": %.4f}\n"
            : "%s, %d ranks: %s %s %.2f us, %s alone %.2f us, ratio %.3f\n",
        device.c_str(), ranks(), operation, of.c_str(), all.us, alone, one.us,
        share == 1 ? all.us / one.us : one.us / share / all.us);
    std::fflush(stdout);
  }

  const std::vector<device> devices_;
  const settings how_;
  const std::vector<communicator> group_;
  std::barrier<> meet_;
};

int measure(const settings& how) {
  if (!how.emulate && device::count() < 2) {
    std::puts("skipped: needs two GPUs");
    return 77;
  }
  std::vector<device> devices;
  for (int r = 0; r < (how.emulate ? 2 : device::count()); ++r)
    devices.push_back(device::open((how.emulate ? "emulator:" : "cuda:") + std::to_string(r)));
  ranks_bench all(std::move(devices), how);
  if (how.emulate) {
    all.gather(64, 32, 48);
    all.scatter(64, 32, 48);
    all.ring(24, 2, 16);
    all.reduce_norm(2, 64);
    return 0;
  }
  for (const auto& [m, n, k] : {std::array{8192, 8192, 8192}, {4096, 14336, 4096}}) {
    all.gather(m, n, k);
    all.scatter(m, n, k);
  }
  for (const i64 tokens : {16384, 65536}) all.ring(tokens, 16, 128);
  for (const i64 rows : {1, 16}) all.reduce_norm(rows, 8192);
  return 0;
}

}  // namespace

int main(int count, char** words) {
  settings how;
  for (int i = 1; i < count; ++i) {
    const std::string_view word = words[i];
    const double number = i + 1 < count ? std::atof(words[i + 1]) : 0;
    if (word == "--json") {
      how.json = true;
    } else if (word == "--emulate") {
      how.emulate = true;
    } else if (word == "--seconds" && number > 0 && number <= 60) {
      how.seconds = number;
      ++i;
    } else {
      std::fputs("usage: distributed [--json] [--seconds S] [--emulate]\n", stderr);
      return 2;
    }
  }
  return showcase::guarded([&] { return measure(how); });
}
