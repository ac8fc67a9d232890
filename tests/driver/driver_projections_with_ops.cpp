// Projections that were captured into graphs: qkv_project into a cache in pages, at lengths that the device holds, and
// gate_up_project. Each replay has other hidden states, weights, lengths and tables in device memory, and is compared
// with double precision.

#include <kaio/kaio.hpp>
#include <kaio/ops/gate_up_project.hpp>
#include <kaio/ops/matmul_w4.hpp>
#include <kaio/ops/qkv_project.hpp>
#include <kaio/ops/rotary.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <numeric>
#include <random>
#include <string>
#include <vector>

#include "driver/driver_support.hpp"

using namespace driver_test;
using namespace kaio;

namespace {

constexpr u32 k = 64, group = 32;

double rounded(double x) { return double{float(f16(static_cast<float>(x)))}; }

// Numbers on the host, and where they are on the device.
template <class T>
struct numbers {
  std::vector<T> host;
  buffer<T> memory;

  numbers(const device& gpu, std::size_t count) : host(count), memory(gpu.allocate<T>(count)) {}
  template <class Draw>
  void draw(const stream& s, const Draw& one) {
    for (T& x : host) x = one();
    memory.copy_from(host.data(), host.size(), s);
  }
};

// Weights of (n, k), of f16 or of four bits. Their contents change, their memory stays.
struct changing_weights {
  u32 n;
  bool packed;
  numbers<f16> matrix, scales;  // (n, k); (k / group, n)
  numbers<u32> words;           // (n, k / 8)
  w4_shape shape{.n = n, .k = k, .group = group};
  buffer<u8> memory;

  changing_weights(const device& gpu, u32 columns, bool is_packed)
      : n(columns),
        packed(is_packed),
        matrix(gpu, n * k),
        scales(gpu, n * k / group),
        words(gpu, n * k / 8),
        memory(gpu.allocate<u8>(packed_bytes(shape))) {}
  ops::projection_weight get() const {
    if (packed) return w4_weights{shape, memory};
    return tensor_view<const f16, 2>(matrix.memory, n, k);
  }
  void draw(std::mt19937& engine, const stream& s) {
    std::uniform_real_distribution<float> any(-1, 1);
    matrix.draw(s, [&] { return f16(any(engine)); });
    scales.draw(s, [&] { return f16(any(engine) / 8); });
    words.draw(s, [&] { return static_cast<u32>(engine()); });
    repack(s,
           kaio_int4{.packed = tensor_view<const u32, 2>(words.memory, n, k / 8),
                     .scales = tensor_view<const f16, 2>(scales.memory, k / group, n)},
           w4_weights{shape, memory});
  }
  double number(u32 row, u32 column) const {
    if (!packed) return double{float(matrix.host[row * k + column])};
    const u32 code = words.host[row * (k / 8) + column / 8] >> 4 * (column % 8) & 15u;
    return double{float(scales.host[column / group * n + row])} * (code < 8 ? code : code - 16.0);
  }
  // Row `of_x` of x by row `row`.
  double product(const numbers<f16>& x, u32 of_x, u32 row) const {
    double sum = 0;
    for (u32 i = 0; i < k; ++i) sum += double{float(x.host[of_x * k + i])} * number(row, i);
    return rounded(sum);
  }
};

constexpr u32 batches = 2, heads = 2, size = 64, pages = 8, rows = 4, width = 3, positions = width * rows;

// One token of each sequence: Q, and K and V into pages.
struct qkv_step {
  const device& gpu;
  const stream& s = gpu.stream();
  std::mt19937 engine{11};
  changing_weights w;
  numbers<f16> x{gpu, batches* k}, of_k{gpu, pages* rows* size}, v{gpu, pages* rows* size};
  numbers<i32> table{gpu, batches* width}, lengths{gpu, batches};
  buffer<f16> q = gpu.allocate<f16>(batches * heads * size);
  buffer<f32> cos = gpu.allocate<f32>(positions * size / 2), sin = gpu.allocate<f32>(positions * size / 2);
  buffer<u8> memory{};
  kv_cache<f16> cache{.k = {of_k.memory, pages, rows, 1, size},
                      .v = {v.memory, pages, rows, 1, size},
                      .table = tensor_view<const i32, 2>(table.memory, batches, width),
                      .lengths = tensor_view<const i32, 1>(lengths.memory, batches)};
  tensor_view<const f16, 3> x_view{x.memory, batches, 1, k};
  qkv_outputs outputs{tensor_view<f16, 4>(q, batches, 1, heads, size), cache};
  qkv_project_options options{.q_scale = 0.25f};

  qkv_step(const device& on, bool packed) : gpu(on), w(gpu, (heads + 2) * size, packed) {
    std::uniform_real_distribution<float> any(-1, 1);
    of_k.draw(s, [&] { return f16(any(engine)); });
    v.draw(s, [&] { return f16(any(engine)); });
    const tensor_view<f32, 2> c(cos, positions, size / 2), d(sin, positions, size / 2);
    rotary_table(s, c, d);
    options.rotary = {.cos = c, .sin = d};
  }
  void run() { qkv_project(s, x_view, w.get(), outputs, options); }

  // New numbers, in the memory that the graph reads. Pages beyond a length are none.
  void change() {
    w.draw(engine, s);
    x.draw(s, [&] { return f16(static_cast<float>(engine() % 17) / 8 - 1); });
    lengths.draw(s, [&] { return static_cast<i32>(engine() % positions); });
    std::vector<i32> all(pages);
    std::iota(all.begin(), all.end(), 0);
    std::shuffle(all.begin(), all.end(), engine);
    u32 at = 0;
    table.draw(s, [&] {
      const u32 b = at / width, page = at % width;
      const bool is_used = page <= static_cast<u32>(lengths.host[b]) / rows;
      return is_used ? all[at++] : (++at, std::numeric_limits<i32>::max());
    });
  }
  // The row of head `head`: heads of Q first, then K, then V.
  std::vector<double> row(u32 b, u32 head) const {
    std::vector<double> y, turned;
    for (u32 e = 0; e < size; ++e) y.push_back(w.product(x, b, head * size + e));
    if (head > heads) return y;
    for (u32 e = 0; e < size; ++e) {
      const bool is_first = e < size / 2;
      const double angle = lengths.host[b] * std::pow(10000.0, -2.0 * (e % (size / 2)) / size);
      const double other = is_first ? -y[e + size / 2] : y[e - size / 2];
      turned.push_back((y[e] * std::cos(angle) + other * std::sin(angle)) * (head < heads ? 0.25 : 1.0));
    }
    return turned;
  }
  // Compares `got` with the row and copies it to `kept`, the cache.
  void check_row(u32 b, u32 head, const f16* got, f16* kept) const {
    const std::vector<double> want = row(b, head);
    double worst = 0;
    for (u32 e = 0; e < size; ++e) {
      worst = std::max(worst, std::abs(want[e] - double{float(got[e])}));
      if (kept != nullptr) kept[e] = got[e];
    }
    CAPTURE(b, head, lengths.host[b], worst);
    CHECK(worst <
          (w.packed ? 8e-3 : 1.6e-2));  // a unit in the last place of 8 and of 16, and one of the turned
  }
  void check() {
    const std::vector<f16> got_q = q.download(), got_k = of_k.memory.download(), got_v = v.memory.download();
    for (u32 b = 0; b < batches; ++b) {
      for (u32 h = 0; h < heads; ++h) check_row(b, h, &got_q[(b * heads + h) * size], nullptr);
      const auto length = static_cast<u32>(lengths.host[b]);
      const u32 place = static_cast<u32>(table.host[b * width + length / rows]) * rows + length % rows;
      check_row(b, heads, &got_k[place * size], &of_k.host[place * size]);
      check_row(b, heads + 1, &got_v[place * size], &v.host[place * size]);
    }
    const auto same = [](const std::vector<f16>& a, const std::vector<f16>& b) {
      return std::memcmp(a.data(), b.data(), a.size() * sizeof(f16)) == 0;
    };
    CHECK(same(got_k, of_k.host));  // nothing else was written
    CHECK(same(got_v, v.host));
  }
};

constexpr u32 tokens = 3, f = 64;

struct gate_up_step {
  const device& gpu;
  const stream& s = gpu.stream();
  std::mt19937 engine{12};
  changing_weights w;
  numbers<f16> x{gpu, tokens* k};
  buffer<f16> out = gpu.allocate<f16>(tokens * f);
  buffer<u8> memory{};
  tensor_view<const f16, 2> x_view{x.memory, tokens, k};
  tensor_view<f16, 2> out_view{out, tokens, f};
  gate_up_project_options options{};

  gate_up_step(const device& on, bool packed) : gpu(on), w(gpu, 2 * f, packed) {}
  void run() { gate_up_project(s, x_view, w.get(), out_view, options); }
  void change() {
    w.draw(engine, s);
    x.draw(s, [&] { return f16(static_cast<float>(engine() % 17) / 8 - 1); });
  }
  void check() const {
    const std::vector<f16> got = out.download();
    double worst = 0;
    for (u32 i = 0; i < tokens * f; ++i) {
      const double gate = w.product(x, i / f, i % f), up = w.product(x, i / f, i % f + f);
      const double want = gate / (1 + std::exp(-gate)) * up;
      worst = std::max(worst, std::abs(want - double{float(got[i])}) / std::max(std::abs(want), 0.5));
    }
    CAPTURE(worst);
    CHECK(worst < 0x1p-8);
  }
};

// launches_of_one: the launches of a replay; 0: more than one.
template <class Step>
void replay(const fresh_driver& driver, Step& step, long launches_of_one) {
  const long loads = driver.loads();
  driver.begin_capture(step.s.native_handle());
  CHECK_NOTHROW(step.run());
  void* const graph = driver.end_capture_as_graph(step.s.native_handle());
  CHECK(driver.loads() == loads);
  for (int i = 0; i < 4; ++i) {
    step.change();
    step.s.synchronize();
    const long launches = driver.launches();
    driver.launch_graph(graph, step.s.native_handle());
    step.s.synchronize();
    step.check();
    const long ran = driver.launches() - launches;
    CHECK((launches_of_one == 0 ? ran > 1 : ran == launches_of_one));
  }
  driver.destroy_executable(graph);
}

void replay_qkv(bool packed, const std::string& variant, long launches_of_one) {
  const fresh_driver driver;
  const device gpu = device::open("cuda:0");
  qkv_step one(gpu, packed);
  one.options.variant = variant;
  const std::uint64_t bytes =
      qkv_project_workspace_bytes(one.s, one.x_view, one.w.get(), one.outputs, one.options);
  one.memory = gpu.allocate<u8>(std::max<std::uint64_t>(bytes, 16));
  one.options.workspace = one.memory;
  qkv_project_warmup(gpu, one.x_view, one.w.get(), one.outputs, one.options);
  replay(driver, one, launches_of_one);
}

void replay_gate_up(bool packed, const std::string& variant, long launches_of_one) {
  const fresh_driver driver;
  const device gpu = device::open("cuda:0");
  gate_up_step one(gpu, packed);
  one.options.variant = variant;
  const std::uint64_t bytes =
      gate_up_project_workspace_bytes(one.s, one.x_view, one.w.get(), one.out_view, one.options);
  one.memory = gpu.allocate<u8>(std::max<std::uint64_t>(bytes, 16));
  one.options.workspace = one.memory;
  gate_up_project_warmup(gpu, one.x_view, one.w.get(), one.out_view, one.options);
  replay(driver, one, launches_of_one);
}

}  // namespace

TEST_CASE(
    "qkv_project into pages in a graph: other lengths, tables and contents at each replay, one launch") {
  replay_qkv(true, "", 1);
  replay_qkv(false, "", 1);
}

TEST_CASE("qkv_project into pages in a graph: other lengths, tables and contents at each replay, a product") {
  replay_qkv(true, "separate", 0);
  replay_qkv(false, "separate", 0);
}

TEST_CASE("gate_up_project in a graph: other contents at each replay") {
  replay_gate_up(true, "", 1);
  replay_gate_up(true, "separate", 0);
  replay_gate_up(false, "", 0);
}
