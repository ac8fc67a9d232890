// A step of generation that was captured into a graph: rotary, append_kv and attention_decode over a cache in pages,
// in one call. Each replay has other queries, keys, values, lengths and tables in device memory, and is compared with
// double precision. And a call with a mask of the user's own, captured after its warmup.

#include <kaio/kaio.hpp>
#include <kaio/ops/attention_decode.hpp>
#include <kaio/ops/attention_decode_with.hpp>
#include <kaio/ops/rotary.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <numeric>
#include <random>
#include <utility>
#include <vector>

#include "driver/driver_support.hpp"

using namespace driver_test;
using namespace kaio;

namespace {

constexpr u32 batches = 2, pages = 20, rows = 16, size = 64, width = 9, heads = 4, key_heads = 2,
              positions = width * rows;

// (i, j) of the f64 rotation of a row by its position.
std::vector<double> turned(const std::vector<double>& x, i32 position) {
  std::vector<double> y = x;
  for (u32 i = 0; i < size / 2; ++i) {
    const double angle = position * std::pow(10000.0, -2.0 * i / size);
    y[i] = x[i] * std::cos(angle) - x[i + size / 2] * std::sin(angle);
    y[i + size / 2] = x[i + size / 2] * std::cos(angle) + x[i] * std::sin(angle);
  }
  return y;
}

// Numbers on the host, and where they are on the device.
struct numbers {
  std::vector<f16> host;
  buffer<f16> memory;

  numbers(const device& gpu, std::size_t count) : host(count), memory(gpu.allocate<f16>(count)) {}
  void draw(std::mt19937& engine, const stream& s) {
    std::uniform_real_distribution<float> any(-1, 1);
    for (f16& x : host) x = f16(any(engine));
    memory.copy_from(host.data(), host.size(), s);
  }
  std::vector<double> row(std::size_t index) const {
    std::vector<double> x;
    for (u32 e = 0; e < size; ++e) x.push_back(double{float(host[index * size + e])});
    return x;
  }
};

struct step {
  const device& gpu;
  const stream& s = gpu.stream();
  std::mt19937 engine{5};
  numbers q{gpu, batches* heads* size}, k_new{gpu, batches* key_heads* size},
      v_new{gpu, batches* key_heads* size}, k{gpu, pages* rows* key_heads* size},
      v{gpu, pages* rows* key_heads* size};
  std::vector<std::vector<double>> k_rows, v_rows;  // what the cache holds
  buffer<f16> o = gpu.allocate<f16>(batches * heads * size);
  buffer<i32> table = gpu.upload(std::vector<i32>(batches * width, -1)),
              lengths = gpu.upload(std::vector<i32>(batches, 0));
  buffer<f32> cos = gpu.allocate<f32>(positions * size / 2), sin = gpu.allocate<f32>(positions * size / 2);
  buffer<u8> memory{};
  kv_cache<f16> cache{.k = {k.memory, pages, rows, key_heads, size},
                      .v = {v.memory, pages, rows, key_heads, size},
                      .table = tensor_view<const i32, 2>(table, batches, width),
                      .lengths = tensor_view<const i32, 1>(lengths, batches)};
  tensor_view<const f16, 4> q_view{q.memory, batches, 1, heads, size};
  tensor_view<f16, 4> o_view{o, batches, 1, heads, size};
  attention_decode_options options{.causal = causal_alignment::bottom_right};

  explicit step(const device& on) : gpu(on) {
    k.draw(engine, s);
    v.draw(engine, s);
    for (u32 i = 0; i < pages * rows * key_heads; ++i) {
      k_rows.push_back(k.row(i));
      v_rows.push_back(v.row(i));
    }
    const tensor_view<f32, 2> c(cos, positions, size / 2), d(sin, positions, size / 2);
    rotary_table(s, c, d);
    options.append = {.k = tensor_view<const f16, 4>(k_new.memory, batches, 1, key_heads, size),
                      .v = tensor_view<const f16, 4>(v_new.memory, batches, 1, key_heads, size),
                      .rotary = {.cos = c, .sin = d}};
  }
  void run() { attention_decode(s, q_view, cache, o_view, options); }

  std::vector<i32> of_table, before;  // on the host, until they are copied

  // New numbers, in the memory that the graph reads. Pages beyond a length are none.
  void change() {
    q.draw(engine, s);
    k_new.draw(engine, s);
    v_new.draw(engine, s);
    std::vector<i32> all(pages);
    of_table.assign(batches * width, std::numeric_limits<i32>::max());
    before.clear();
    std::iota(all.begin(), all.end(), 0);
    std::shuffle(all.begin(), all.end(), engine);
    for (u32 b = 0; b < batches; ++b) {
      before.push_back(static_cast<i32>(engine() % (width * rows)));
      for (u32 p = 0; p <= static_cast<u32>(before[b]) / rows; ++p)
        of_table[b * width + p] = all[b * width + p];
    }
    table.copy_from(of_table.data(), of_table.size(), s);
    lengths.copy_from(before.data(), before.size(), s);
  }
  void check() {
    const std::vector<f16> got = o.download();
    for (u32 b = 0; b < batches; ++b) {
      const auto place = [&](i32 key, u32 head) {
        const auto page = static_cast<u32>(of_table[b * width + static_cast<u32>(key) / rows]);
        return (page * rows + static_cast<u32>(key) % rows) * key_heads + head;
      };
      for (u32 h = 0; h < key_heads; ++h) {
        k_rows[place(before[b], h)] = turned(k_new.row(b * key_heads + h), before[b]);
        v_rows[place(before[b], h)] = v_new.row(b * key_heads + h);
      }
      for (u32 h = 0; h < heads; ++h) {
        const std::vector<double> query = turned(q.row(b * heads + h), before[b]);
        std::vector<double> sum(size, 0.0);
        double total = 0;
        for (i32 j = 0; j <= before[b]; ++j) {
          const u32 at = place(j, h / (heads / key_heads));
          const double dot = std::inner_product(query.begin(), query.end(), k_rows[at].begin(), 0.0);
          const double weight = std::exp(dot / std::sqrt(double{size}));
          total += weight;
          for (u32 e = 0; e < size; ++e) sum[e] += weight * v_rows[at][e];
        }
        double worst = 0;
        for (u32 e = 0; e < size; ++e)
          worst = std::max(worst, std::abs(sum[e] / total - double{float(got[(b * heads + h) * size + e])}));
        CAPTURE(b, h, before[b], worst);
        CHECK(worst < 2e-3);
      }
    }
  }
};

void replay_with(ops::attention_combining combining, long launches_of_one) {
  const fresh_driver driver;
  const device gpu = device::open("cuda:0");
  step one(gpu);
  one.options.combining = combining;
  one.options.splits = 2;
  one.memory = gpu.allocate<u8>(std::max<std::uint64_t>(
      attention_decode_workspace_bytes(one.s, one.q_view, one.cache, one.options), 16));
  one.options.workspace = one.memory;
  ops::attention_decode_warmup(gpu, one.q_view, one.cache, one.o_view, one.options);
  const long loads = driver.loads();
  driver.begin_capture(one.s.native_handle());
  CHECK_NOTHROW(one.run());
  void* const graph = driver.end_capture_as_graph(one.s.native_handle());
  CHECK(driver.loads() == loads);
  const long launches = driver.launches();
  constexpr int replays = 4;
  for (int i = 0; i < replays; ++i) {
    one.change();
    driver.launch_graph(graph, one.s.native_handle());
    one.s.synchronize();
    one.check();
  }
  CHECK(driver.launches() == launches + replays * launches_of_one);
  driver.destroy_executable(graph);
}

struct first_keys {
  static constexpr fixed_string name = "first_keys_of_a_graph";
  static constexpr bool reads_nothing = true;
  constexpr val<bool> operator()(thread t, ops::attention_place at) const { return t.let(at.key < 5u); }
};

}  // namespace

TEST_CASE("append, rotary and decode in a graph: other lengths and tables at each replay, a second kernel") {
  replay_with(ops::attention_combining::second_kernel, 3);
}

TEST_CASE("append, rotary and decode in a graph: other lengths and tables at each replay, clusters") {
  replay_with(ops::attention_combining::cluster, 2);
}

TEST_CASE("attention_decode_with is captured after its warmup") {
  const fresh_driver driver;
  const device gpu = device::open("cuda:0");
  const stream& s = gpu.stream();
  constexpr u32 keys = 600, elements = 4;
  std::vector<f32> values;
  for (u32 i = 0; i < keys * elements; ++i) values.push_back(static_cast<f32>(i / elements));
  auto q = gpu.upload(std::vector<f32>(elements, 0.0f)), k = gpu.upload(values);
  auto o = gpu.allocate<f32>(elements);
  const tensor_view<const f32, 4> q_view(q, 1, 1, 1, elements), k_view(k, 1, keys, 1, elements);
  const tensor_view<f32, 4> o_view(o, 1, 1, 1, elements);
  const kv_cache<const f32> cache{.k = k_view, .v = k_view};
  attention_decode_options options{.batch_invariant = true};
  const auto memory = gpu.allocate<u8>(attention_decode_with_workspace_bytes<64>(
      s, q_view, cache, ops::general_score{}, first_keys{}, options));
  options.workspace = memory;
  attention_decode_with_warmup<64>(gpu, q_view, cache, o_view, ops::general_score{}, first_keys{}, options);
  const long loads = driver.loads();
  driver.begin_capture(s.native_handle());
  CHECK_NOTHROW(
      attention_decode_with<64>(s, q_view, cache, o_view, ops::general_score{}, first_keys{}, options));
  void* const graph = driver.end_capture_as_graph(s.native_handle());
  CHECK(driver.loads() == loads);
  driver.launch_graph(graph, s.native_handle());
  s.synchronize();
  for (const f32 x : o.download()) CHECK(std::abs(x - 2) < 1e-6f);  // the mean of 0 to 4
  driver.destroy_executable(graph);
}
