// A call of attention_decode that was captured into a graph. A replay after lengths, tables, padding and the
// cache have changed computes with the new contents. Capturing it loads, allocates and reads nothing.

#include <kaio/kaio.hpp>
#include <kaio/ops/attention_decode.hpp>

#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "driver/driver_support.hpp"

using namespace driver_test;
using namespace kaio;

namespace {

constexpr std::uint32_t batches = 2, pages = 9, rows = 128, size = 16, width = 6, heads = 2;

// Queries are 0, so a result is the mean of the values that are attended to. The elements of a row of
// values are a number of its page and its place.
struct decode {
  const device& gpu;
  buffer<f16> q = gpu.upload(std::vector<f16>(batches * heads * size, f16(0.0f)));
  buffer<f16> k = gpu.upload(std::vector<f16>(pages * rows * size, f16(0.5f)));
  buffer<f16> v = gpu.upload(values());
  buffer<f32> o = gpu.allocate<f32>(batches * heads * size);
  buffer<i32> table = gpu.upload(std::vector<i32>(batches * width, -1));
  buffer<i32> lengths = gpu.upload(std::vector<i32>(batches, 0)),
              left = gpu.upload(std::vector<i32>(batches, 0));
  buffer<u8> memory{};
  tensor_view<const f16, 4> q_view{q, batches, 1, heads, size};
  tensor_view<f32, 4> o_view{o, batches, 1, heads, size};
  kv_cache<const f16> cache{.k = tensor_view<const f16, 4>(k, pages, rows, 1, size),
                            .v = tensor_view<const f16, 4>(v, pages, rows, 1, size),
                            .table = tensor_view<const i32, 2>(table, batches, width),
                            .lengths = tensor_view<const i32, 1>(lengths, batches),
                            .left_padding = tensor_view<const i32, 1>(left, batches)};
  attention_decode_options options{.causal = causal_alignment::bottom_right, .batch_invariant = true};

  static std::int32_t number(std::uint32_t page, std::uint32_t row) {
    return static_cast<std::int32_t>((page * 37 + row * 5) % 64);
  }
  static std::vector<f16> values() {
    std::vector<f16> host;
    for (std::uint32_t p = 0; p < pages; ++p)
      for (std::uint32_t r = 0; r < rows; ++r)
        for (std::uint32_t e = 0; e < size; ++e) host.push_back(f16(static_cast<float>(number(p, r))));
    return host;
  }
  void set(const std::vector<i32>& new_table, const std::vector<i32>& new_lengths,
           const std::vector<i32>& new_left) {
    const stream& s = gpu.stream();
    table.copy_from(new_table.data(), new_table.size(), s);
    lengths.copy_from(new_lengths.data(), new_lengths.size(), s);
    left.copy_from(new_left.data(), new_left.size(), s);
    s.synchronize();
  }
  void check(const std::vector<i32>& t, const std::vector<i32>& n, const std::vector<i32>& from) const {
    const std::vector<f32> got = o.download();
    for (std::uint32_t b = 0; b < batches; ++b) {
      double sum = 0;
      for (i32 j = from[b]; j < n[b]; ++j)
        sum += number(static_cast<std::uint32_t>(t[b * width + static_cast<std::uint32_t>(j) / rows]),
                      static_cast<std::uint32_t>(j) % rows);
      const double want = n[b] > from[b] ? sum / (n[b] - from[b]) : 0;
      for (std::uint32_t e = 0; e < heads * size; ++e) {
        CAPTURE(b, e, want, got[b * heads * size + e]);
        CHECK(std::abs(got[b * heads * size + e] - want) < 0.02);
      }
    }
  }
};

}  // namespace

TEST_CASE("attention_decode in a graph reads lengths and tables at each replay") {
  const fresh_driver driver;
  const device gpu = device::open("cuda:0");
  decode d{gpu};
  const stream& s = gpu.stream();
  const std::uint64_t bytes = attention_decode_workspace_bytes(s, d.q_view, d.cache, d.options);
  REQUIRE(bytes != 0);  // two kernels
  d.memory = gpu.allocate<u8>(bytes);
  d.options.workspace = d.memory;
  ops::attention_decode_warmup(gpu, d.q_view, d.cache, d.o_view, d.options);
  const long loads = driver.loads();
  driver.begin_capture(s.native_handle());
  CHECK_NOTHROW(attention_decode(s, d.q_view, d.cache, d.o_view, d.options));
  void* const graph = driver.end_capture_as_graph(s.native_handle());
  CHECK(driver.loads() == loads);
  const long launches = driver.launches();

  const auto replay = [&](const std::vector<i32>& table, const std::vector<i32>& lengths,
                          const std::vector<i32>& left) {
    d.set(table, lengths, left);
    driver.launch_graph(graph, s.native_handle());
    s.synchronize();
    d.check(table, lengths, left);
  };
  constexpr i32 none = -1, far = std::numeric_limits<i32>::max();
  replay({3, 0, 8, 1, 5, none, 2, none, far, far, none, none}, {600, 3}, {0, 0});
  replay({2, far, none, far, none, far, 7, 6, 3, 4, 8, 0}, {128, 768}, {5, 0});
  replay({none, none, none, none, none, none, 8, 1, none, none, none, none}, {0, 129}, {0, 100});
  CHECK(driver.launches() == launches + 6);
  driver.destroy_executable(graph);
}
