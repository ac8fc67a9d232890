// The code that finds, loads and calls NCCL, with a library of the same functions (tests/fake_nccl).

#include "tests/environment.hpp"
#include "tests/ops/distributed/context_support.hpp"

#include <kaio/runtime/copy.hpp>

#include <dlfcn.h>

#include <filesystem>

using namespace kaio;
using namespace kaio::tests;

namespace {

// Next to the program of the tests.
std::string fake_library() {
  return (std::filesystem::read_symlink("/proc/self/exe").parent_path() / "fake_nccl/libnccl.so.2").string();
}

void copy_now(void* to, const void* from, std::size_t bytes) {
  const auto a = reinterpret_cast<std::uint64_t>(to), b = reinterpret_cast<std::uint64_t>(from);
  const device on = device::of_pointer(a), other = device::of_pointer(b);
  copy(on.stream(), device_pointer<u8>{a, bytes, on.identity()},
       device_pointer<u8>{b, bytes, other.identity()});
  on.stream().synchronize();
}

void load_fake() {
  ::setenv("KAIO_NCCL_LIBRARY", fake_library().c_str(), 1);
  void* const handle = ::dlopen(fake_library().c_str(), RTLD_NOW | RTLD_LOCAL);
  REQUIRE(handle != nullptr);
  reinterpret_cast<void (*)(void (*)(void*, const void*, std::size_t))>(
      ::dlsym(handle, "fake_nccl_set_copy"))(copy_now);
}

// Calls body(rank, communicator, stream) in threads that make their communicators themselves.
template <class Body>
std::vector<rank_outcome> run_nccl(int ranks, double time_limit, bool compare, const Body& body) {
  const std::vector<device> devices = emulated_devices(ranks);
  const nccl_id id = communicator::create_nccl_id();
  std::vector<rank_outcome> outcomes(devices.size());
  std::vector<std::thread> threads;
  for (std::size_t r = 0; r < devices.size(); ++r)
    threads.emplace_back([&, r] {
      try {
        const communicator c =
            communicator::nccl(id, ranks, static_cast<int>(r), devices[r],
                               {.time_limit = time_limit, .staging_bytes = 1 << 16, .compare = compare});
        const stream s = c.on().create_stream();
        body(static_cast<int>(r), c, s);
        s.synchronize();
      } catch (const error& e) {
        outcomes[r] = {std::string(e.message()), e.code()};
      } catch (const std::exception& e) {
        outcomes[r] = {e.what(), errc::driver_error};
      }
    });
  for (std::thread& t : threads) t.join();
  return outcomes;
}

}  // namespace

// First: a library is loaded once.
TEST_CASE("a missing or old library is refused by name") {
  {
    const environment none("KAIO_NCCL_LIBRARY", "/nowhere/libnccl.so.2");
    try {
      communicator::create_nccl_id();
      FAIL("no error");
    } catch (const error& e) {
      CHECK(e.code() == errc::unsupported_device);
      CHECK(std::string(e.message()).find("/nowhere/libnccl.so.2") != std::string::npos);
      CHECK(std::string(e.message()).find("KAIO_NCCL_LIBRARY") != std::string::npos);
    }
  }
  const environment chosen("KAIO_NCCL_LIBRARY", fake_library().c_str()), old("FAKE_NCCL_VERSION", "21602");
  try {
    communicator::create_nccl_id();
    FAIL("no error");
  } catch (const error& e) {
    CHECK(e.code() == errc::unsupported_device);
    CHECK(std::string(e.message()).find("21602") != std::string::npos);
  }
}

TEST_CASE("collectives by NCCL have the bits of those within a process") {
  load_fake();
  const int ranks = GENERATE(1, 2, 4);
  const bool compare = GENERATE(true, false);
  const std::size_t n = 40;
  for (const rank_outcome& o :
       run_nccl(ranks, 20, compare, [&](int r, const communicator& c, const stream& s) {
         const auto world = static_cast<std::size_t>(ranks);
         std::vector<f32> mine(n);
         for (std::size_t i = 0; i < n; ++i) mine[i] = static_cast<f32>(r + 1) * 0.37f + static_cast<f32>(i);
         must(c.transport_name() == "nccl", "name");
         auto x = c.on().upload(mine), all = c.on().allocate<f32>(n * world), sum = c.on().allocate<f32>(n);
         c.all_gather(s, tensor_view(x, n), tensor_view(all, world, n));
         c.all_reduce(s, tensor_view(x, n), tensor_view(sum, n));
         c.barrier(s);
         s.synchronize();
         const auto gathered = all.download(), reduced = sum.download();
         bool right = true;
         for (std::size_t i = 0; i < n; ++i) {
           f32 want = 0;
           for (std::size_t p = 0; p < world; ++p) {
             const f32 there = static_cast<f32>(p + 1) * 0.37f + static_cast<f32>(i);
             right = right && gathered[p * n + i] == there;
             want += there;
           }
           right = right && reduced[i] == want;
         }
         must(right, "values");
         bool refused = false;
         try {
           c.allocate(64);
         } catch (const unsupported_device&) {
           refused = true;
         }
         must(refused, "no memory that all ranks write");
       })) {
    INFO(o.error);
    CHECK(o.error.empty());
  }
}

TEST_CASE("context_attention by NCCL has the bits of the one within a process") {
  load_fake();
  const context_case p{.ranks = 4, .head_ranks = 2, .rows = 30, .heads = 4, .key_heads = 2};
  const context_tensors t = inputs_of<f32>(p), want = run_on_ranks<f32>(p, t, true);
  context_tensors got(p);
  std::mutex writes;
  for (const rank_outcome& o : run_nccl(4, 20, true, [&](int r, const communicator& c, const stream& s) {
         run_rank<f32>(p, t, got, writes, r, c, s, true);
       })) {
    INFO(o.error);
    CHECK(o.error.empty());
  }
  CHECK(got.out.x == want.out.x);
  CHECK(got.dq.x == want.dq.x);
  CHECK(got.dk.x == want.dk.x);
}

TEST_CASE("calls that differ, and ranks that do not come, are errors with NCCL too") {
  load_fake();
  const bool differ = GENERATE(true, false);
  const auto outcomes = run_nccl(3, 2, true, [&](int r, const communicator& c, const stream& s) {
    auto x = c.on().allocate<f32>(32), y = c.on().allocate<f32>(96);
    if (differ) {
      const std::size_t n = r == 1 ? 16 : 32;
      const auto part = x.slice(0, n), all = y.slice(0, 3 * n);
      bool refused = false;
      try {
        c.all_gather(s, tensor_view(part, n), tensor_view(all, 3 * n));
      } catch (const invalid_argument&) {
        refused = true;
      }
      must(refused, "refused");
    } else if (r == 1) {
      return;
    }
    c.all_gather(s, tensor_view(x, 32), tensor_view(y, 96));
  });
  for (const int r : {0, 2}) {
    const rank_outcome& o = outcomes[static_cast<std::size_t>(r)];
    INFO(o.error);
    CHECK(o.error.empty() == differ);
    if (!differ) CHECK(o.code == errc::communication_failed);
  }
}

TEST_CASE("a rank that never comes ends the making of a communicator within the time limit") {
  load_fake();
  const device gpu = device::open("emulator:0");
  try {
    communicator::nccl(communicator::create_nccl_id(), 2, 0, gpu, {.time_limit = 0.1});
    FAIL("no error");
  } catch (const error& e) {
    CHECK(e.code() == errc::communication_failed);
    CHECK(std::string(e.message()).find("time limit") != std::string::npos);
  }
}
