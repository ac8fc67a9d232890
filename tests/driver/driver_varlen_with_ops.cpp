// attention_varlen and its gradients, captured into a graph. A replay after the numbers in device memory have changed
// computes the new sequences, as double precision does.

#include <kaio/kaio.hpp>
#include <kaio/ops/attention.hpp>
#include <kaio/ops/attention_backward.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "driver/driver_support.hpp"

using namespace driver_test;
using namespace kaio;

namespace {

constexpr u32 sequences = 3, rows_q = 150, rows_k = 190, max_q = 100, max_k = 140, heads = 2, size = 64;
constexpr double scale = 0.125;  // 1 / sqrt(size)

// Rows of all sequences on the device, and as numbers.
struct tensor {
  u32 rows;
  std::vector<double> host;
  buffer<f16> memory;

  tensor(const device& gpu, u32 of_rows, u32 of_heads, u32 seed) : rows(of_rows) {
    std::mt19937 engine(seed);
    std::uniform_real_distribution<float> any(-1, 1);
    std::vector<f16> elements;
    for (std::size_t i = 0; i < std::size_t{rows} * of_heads * size; ++i)
      elements.push_back(f16(any(engine)));
    for (const f16 x : elements) host.push_back(double{float(x)});
    memory = gpu.upload(elements);
  }
};

struct lengths {
  std::vector<i32> cu_q, cu_k, used_q, used_k;
};

// Two heads of queries share one of keys; causal, aligned at the last key.
struct varlen_call {
  const device& gpu;
  const stream& s = gpu.stream();
  tensor q{gpu, rows_q, heads, 1}, k{gpu, rows_k, 1, 2}, v{gpu, rows_k, 1, 3}, dout{gpu, rows_q, heads, 4};
  buffer<f16> o = gpu.allocate<f16>(std::size_t{rows_q} * heads * size), dq = gpu.allocate<f16>(o.size());
  buffer<f16> dk = gpu.allocate<f16>(std::size_t{rows_k} * size), dv = gpu.allocate<f16>(dk.size());
  buffer<f32> lse = gpu.allocate<f32>(std::size_t{rows_q} * heads);
  buffer<i32> cu_q = gpu.upload(std::vector<i32>(sequences + 1, 0)),
              cu_k = gpu.upload(std::vector<i32>(sequences + 1, 0)),
              used_q = gpu.upload(std::vector<i32>(sequences, 0)),
              used_k = gpu.upload(std::vector<i32>(sequences, 0));
  attention_sequences of{.cu_q = tensor_view<const i32, 1>(cu_q, sequences + 1),
                         .cu_k = tensor_view<const i32, 1>(cu_k, sequences + 1),
                         .max_q = max_q,
                         .used_q = tensor_view<const i32, 1>(used_q, sequences),
                         .used_k = tensor_view<const i32, 1>(used_k, sequences),
                         .max_k = max_k};
  attention_options options{.causal = causal_alignment::bottom_right,
                            .lse = tensor_view<f32, 2>(lse, heads, rows_q)};
  attention_backward_options backward{.forward = {.causal = causal_alignment::bottom_right}};
  buffer<u8> memory{};

  explicit varlen_call(const device& on) : gpu(on) {
    memory = gpu.allocate<u8>(std::max<std::uint64_t>(
        attention_backward_varlen_workspace_bytes(s, queries(q.memory), keys(k.memory), keys(v.memory), of),
        16));
    backward.workspace = memory;
  }
  static tensor_view<const f16, 3> queries(const buffer<f16>& x) { return {x, rows_q, heads, size}; }
  static tensor_view<const f16, 3> keys(const buffer<f16>& x) { return {x, rows_k, 1, size}; }
  tensor_view<f16, 3> out() { return {o, rows_q, heads, size}; }
  tensor_view<f16, 3> of_k(buffer<f16>& x) { return {x, rows_k, 1, size}; }
  tensor_view<f16, 3> of_q(buffer<f16>& x) { return {x, rows_q, heads, size}; }
  tensor_view<const f32, 2> sums() const { return {lse, heads, rows_q}; }

  std::string_view kernel() {
    return ops::attention_varlen_choice(s, queries(q.memory), keys(k.memory), keys(v.memory), out(), of,
                                        options)
        .name;
  }
  void warm_up() {
    attention_varlen_warmup(gpu, queries(q.memory), keys(k.memory), keys(v.memory), out(), of, options);
    attention_backward_varlen_warmup(gpu, queries(dout.memory), queries(q.memory), keys(k.memory),
                                     keys(v.memory), queries(o), sums(), of_q(dq), of_k(dk), of_k(dv), of,
                                     backward);
  }
  void run() {
    attention_varlen(s, queries(q.memory), keys(k.memory), keys(v.memory), out(), of, options);
    attention_backward_varlen(s, queries(dout.memory), queries(q.memory), keys(k.memory), keys(v.memory),
                              queries(o), sums(), of_q(dq), of_k(dk), of_k(dv), of, backward);
  }
  // New numbers, in the memory that the graph reads. Outputs hold 7, and rows of no sequence keep it.
  void change(const lengths& to) {
    cu_q.copy_from(to.cu_q.data(), to.cu_q.size(), s);
    cu_k.copy_from(to.cu_k.data(), to.cu_k.size(), s);
    used_q.copy_from(to.used_q.data(), to.used_q.size(), s);
    used_k.copy_from(to.used_k.data(), to.used_k.size(), s);
    const std::vector<f16> seven(o.size(), f16(7.0f));
    const std::vector<f32> sevens(lse.size(), 7.0f);
    for (buffer<f16>* const x : {&o, &dq, &dk, &dv}) x->copy_from(seven.data(), x->size(), s);
    lse.copy_from(sevens.data(), sevens.size(), s);
    s.synchronize();
  }
};

void close(const char* what, const std::vector<f16>& got, const std::vector<double>& want) {
  double worst = 0, largest = 0;
  REQUIRE(got.size() == want.size());
  for (std::size_t i = 0; i < want.size(); ++i) {
    const double difference = std::abs(double{float(got[i])} - want[i]);
    worst = difference <= worst ? worst : difference;  // NaN too
    if (want[i] != 7) largest = std::max(largest, std::abs(want[i]));
  }
  CAPTURE(what, worst, largest);
  CHECK(worst < 4e-3 * std::max(largest, 1.0));
}

// All results in double precision, and 7 where no sequence has a row.
void check(const varlen_call& c, const lengths& n) {
  std::vector<double> o(c.o.size(), 7), dq(c.dq.size(), 7), dk(c.dk.size(), 7), dv(c.dv.size(), 7);
  std::vector<double> lse(c.lse.size(), 7);
  for (u32 b = 0; b < sequences; ++b) {
    const auto first_q = static_cast<std::size_t>(n.cu_q[b]), first_k = static_cast<std::size_t>(n.cu_k[b]);
    const i32 queries = n.used_q[b], keys = n.used_k[b];
    for (i32 j = 0; j < keys; ++j)
      for (u32 e = 0; e < size; ++e)
        dk[(first_k + static_cast<std::size_t>(j)) * size + e] =
            dv[(first_k + static_cast<std::size_t>(j)) * size + e] = 0;
    for (i32 i = 0; i < queries; ++i)
      for (u32 h = 0; h < heads; ++h) {
        const std::size_t row = ((first_q + static_cast<std::size_t>(i)) * heads + h) * size;
        const i32 end = std::clamp(i + keys - queries + 1, 0, keys);
        std::vector<double> p;
        double total = 0, delta = 0;
        for (i32 j = 0; j < end; ++j) {
          const std::size_t at = (first_k + static_cast<std::size_t>(j)) * size;
          double dot = 0;
          for (u32 e = 0; e < size; ++e) dot += c.q.host[row + e] * c.k.host[at + e];
          p.push_back(std::exp(scale * dot));
          total += p.back();
        }
        lse[h * rows_q + first_q + static_cast<std::size_t>(i)] =
            end == 0 ? -std::numeric_limits<double>::infinity() : std::log(total);
        for (u32 e = 0; e < size; ++e) {
          o[row + e] = dq[row + e] = 0;
          for (i32 j = 0; j < end; ++j)
            o[row + e] += p[static_cast<std::size_t>(j)] / total *
                          c.v.host[(first_k + static_cast<std::size_t>(j)) * size + e];
          delta += o[row + e] * c.dout.host[row + e];
        }
        for (i32 j = 0; j < end; ++j) {
          const std::size_t at = (first_k + static_cast<std::size_t>(j)) * size;
          double dp = 0;
          for (u32 e = 0; e < size; ++e) dp += c.dout.host[row + e] * c.v.host[at + e];
          const double weight = p[static_cast<std::size_t>(j)] / total, ds = scale * weight * (dp - delta);
          for (u32 e = 0; e < size; ++e) {
            dq[row + e] += ds * c.k.host[at + e];
            dk[at + e] += ds * c.q.host[row + e];
            dv[at + e] += weight * c.dout.host[row + e];
          }
        }
      }
  }
  close("out", c.o.download(), o);
  close("dq", c.dq.download(), dq);
  close("dk", c.dk.download(), dk);
  close("dv", c.dv.download(), dv);
  const std::vector<f32> got = c.lse.download();
  for (std::size_t i = 0; i < lse.size(); ++i) {
    const bool same = double{got[i]} == lse[i] || std::abs(double{got[i]} - lse[i]) < 1e-4;
    if (same) continue;
    CAPTURE(i, got[i], lse[i]);
    CHECK(same);
  }
}

void replay_with(const std::string& variant) {
  CAPTURE(variant);
  const fresh_driver driver;
  const device gpu = device::open("cuda:0");
  varlen_call c(gpu);
  c.options.variant = variant;
  CHECK(c.kernel().starts_with(variant.empty() ? "attention_sm90_" : variant));
  c.warm_up();
  const long loads = driver.loads(), before = driver.launches();
  driver.begin_capture(c.s.native_handle());
  CHECK_NOTHROW(c.run());
  void* const graph = driver.end_capture_as_graph(c.s.native_handle());
  CHECK(driver.loads() == loads);
  const long launches = driver.launches(), of_call = launches - before;
  const lengths all[] = {
      {{0, 70, 70, 150}, {0, 90, 100, 190}, {70, 0, 65}, {90, 10, 90}},
      {{0, 1, 101, 150},
       {0, 140, 140, 180},
       {1, 100, 20},
       {139, 0, 33}},                                                // rows of keys after the last sequence
      {{10, 40, 40, 41}, {5, 30, 60, 61}, {30, 0, 1}, {25, 3, 1}}};  // and before the first one
  for (const lengths& to : all) {
    c.change(to);
    driver.launch_graph(graph, c.s.native_handle());
    c.s.synchronize();
    check(c, to);
  }
  CHECK(driver.launches() == launches + 3 * of_call);
  CHECK(driver.loads() == loads);
  driver.destroy_executable(graph);
}

}  // namespace

TEST_CASE("attention_varlen and its gradients in a graph: other lengths at each replay") { replay_with({}); }

TEST_CASE("attention_varlen in a graph: other lengths at each replay, by the kernel for sm_80") {
  replay_with("attention_mma_f16_d64_64x64_biased_band");
}
