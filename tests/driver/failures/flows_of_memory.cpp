// Flows of memory: copies, fills, host memory, pools and memory of others.

#include "driver/failures/flows.hpp"

#include <vector>

namespace driver_test {

namespace {

void upload_and_download(place& p) {
  const auto x = p.gpu().upload(many(2.0f));
  auto zero = p.gpu().allocate<float>(1024);
  expect(all_are(x.download(), 2.0f) && all_are(zero.download(), 0.0f), "other values");
  const kaio::stream s = p.gpu().create_stream();
  expect(all_are(x.download(s), 2.0f), "other values");
  zero.release();
}

void asynchronous_copies(place& p) {
  const kaio::stream s = p.gpu().create_stream();
  auto from = p.gpu().allocate_host<float>(1024), to = p.gpu().allocate_host<float>(1024);
  auto x = p.gpu().allocate<float>(1024, kaio::uninitialised), y = p.gpu().allocate<float>(1024);
  from[1023] = 7.0f;
  x.copy_from(from.data(), 1024, s);
  y.copy_from(x, s);
  y.copy_to(to.data(), 1024, s);
  s.synchronize();
  expect(to[1023] == 7.0f && to[0] == 0.0f, "another copy");
}

void rows(place& p) {
  const kaio::stream s = p.gpu().create_stream();
  const auto x = p.gpu().upload(many(5.0f));
  auto y = p.gpu().allocate<float>(1024);
  copy_rows(s, kaio::pitched<float>{y.view(), 32}, kaio::pitched<float>{x.view(), 16}, 16, 32);
  const auto back = y.download(s);
  expect(back[0] == 5.0f && back[16] == 0.0f && back[32 * 31] == 5.0f, "other rows");
}

void fills(place& p) {
  const kaio::stream s = p.gpu().create_stream();
  auto bytes = p.gpu().allocate<std::uint8_t>(64);
  auto words = p.gpu().allocate<std::uint16_t>(64);
  auto floats = p.gpu().allocate<float>(1024);
  fill(s, bytes.view(), 3);
  fill(s, words.view(), 4);
  fill(s, floats.view(), 5.0f);
  floats.fill_zero(s);
  fill(s, floats.slice(0, 1), 6.0f);
  expect(bytes.download(s)[63] == 3 && words.download(s)[63] == 4 && floats.download(s)[0] == 6.0f,
         "other values");
}

void host_memory(place& p) {
  auto one = p.gpu().allocate_host<std::uint64_t>(512);
  auto two = p.gpu().allocate_host<std::uint64_t>(512);
  one[0] = 1;
  two = std::move(one);
  expect(two[0] == 1 && one.empty(), "it was not moved");
}

void in_a_pool(place& p, const kaio::memory_pool& pool) {
  const kaio::stream s = p.gpu().create_stream();
  auto x = pool.allocate<float>(1024, s), y = pool.allocate<float>(1024, s, kaio::uninitialised);
  fill(s, x.view(), 2.0f);
  scale_all(s, x);
  y.copy_from(x, s);
  x.release();
  x = pool.allocate<float>(1024, s);
  expect(all_are(y.download(s), 4.0f) && all_are(x.download(s), 0.0f), "other values");
  const kaio::stream t = p.gpu().create_stream();
  y.release(t);
  expect(pool.statistics().in_use == 4096, "another number of bytes is in use");
}

void stream_ordered_pool(place& p) { in_a_pool(p, p.gpu().create_pool()); }
void caching_pool(place& p) { in_a_pool(p, p.gpu().create_pool({.kind = kaio::pool_kind::caching})); }

void blocks_of_streams_that_are_gone(place& p) {
  for (const auto kind : {kaio::pool_kind::stream_ordered, kaio::pool_kind::caching}) {
    const kaio::memory_pool pool = p.gpu().create_pool({.kind = kind});
    kaio::buffer<float> left;
    {
      const kaio::stream s = p.gpu().create_stream();
      pool.allocate<float>(1024, s);
      left = pool.allocate<float>(1024, s);
    }
    left = {};
    const kaio::stream s = p.gpu().create_stream();
    expect(all_are(pool.allocate<float>(1024, s).download(s), 0.0f), "other values");
    expect(pool.statistics().in_use == 0, "bytes are in use");
  }
}

void limits_and_statistics(place& p) {
  const kaio::stream s = p.gpu().create_stream();
  for (const auto kind : {kaio::pool_kind::stream_ordered, kaio::pool_kind::caching}) {
    const kaio::memory_pool pool = p.gpu().create_pool({.kind = kind, .limit = 8192, .keep = 4096});
    const auto x = pool.allocate<float>(1024, s);
    expect_error(kaio::errc::out_of_memory, [&] { pool.allocate<float>(1025, s); });
    pool.allocate<float>(1024, s);
    const auto now = pool.statistics();
    expect(now.in_use == 4096 && now.most_in_use == 8192 && now.allocations == 2, "other statistics");
    pool.trim();
    pool.trim(1024);
  }
}

void default_pool(place& p) {
  const kaio::stream s = p.gpu().create_stream();
  {
    const auto x = p.gpu().allocate<float>(1024, s), y = p.gpu().allocate<float>(16, s, kaio::uninitialised);
    expect(all_are(x.download(s), 0.0f), "other values");
  }
  p.gpu().set_pool(p.gpu().create_pool({.kind = kaio::pool_kind::caching}));
  const auto x = p.gpu().allocate<float>(1024, s);
  expect(all_are(x.download(s), 0.0f), "other values");
}

// Buffers of a pool that go while their stream is captured are given back after the capture.
void release_in_a_capture(place& p) {
  const kaio::memory_pool pool = p.gpu().create_pool();
  kaio::buffer<float> x;  // after its stream, with which goes a capture that cannot be ended
  const kaio::stream s = p.gpu().create_stream();
  x = pool.allocate<float>(1024, s);
  const kaio::graph g = capture_graph(s, [&] {
    x.fill_zero(s);
    x.release();
  });
  expect(g.size() == 1, "other nodes");
  pool.allocate<float>(1024, s);
  expect(pool.statistics().in_use == 0, "bytes are in use");
}

void adopted_memory(place& p) {
  int released = 0;
  {
    const auto x = p.gpu().adopt<float>(
        p.memory, 1024, [](void* count, std::uint64_t) noexcept { ++*static_cast<int*>(count); }, &released);
    const kaio::stream s = p.gpu().create_stream();
    fill(s, x.view(), 2.0f);
    scale_all(s, x);
    expect(all_are(x.download(s), 4.0f), "other values");
  }
  expect(released == 1, "it was not released once");
  expect_error(kaio::errc::invalid_argument, [&] {
    p.gpu().adopt<float>(
        0x40, 1, [](void*, std::uint64_t) noexcept {}, nullptr);
  });
}

}  // namespace

std::span<const flow> flows_of_memory() {
  static constexpr flow all[] = {
      {"upload and download", needs::one_device, upload_and_download},
      {"asynchronous copies", needs::one_device, asynchronous_copies},
      {"copies of rows", needs::one_device, rows},
      {"fills", needs::one_device, fills},
      {"host buffers", needs::one_device, host_memory},
      {"a stream-ordered pool", needs::one_device, stream_ordered_pool},
      {"a caching pool", needs::one_device, caching_pool},
      {"pools and streams that are gone", needs::one_device, blocks_of_streams_that_are_gone},
      {"limits and statistics of pools", needs::one_device, limits_and_statistics},
      {"the default pool", needs::a_new_device, default_pool},
      {"release in a capture", needs::one_device, release_in_a_capture},
      {"adopted memory", needs::one_device, adopted_memory},
  };
  return all;
}

}  // namespace driver_test
