// Ranks that a launcher started: the variables that name them, and the exchange of the id of their group.

#include "tests/environment.hpp"
#include "tests/ops/distributed/support.hpp"

#include <chrono>
#include <optional>

#include "host/system/process.hpp"
#include "ops/distributed/launch/environment.hpp"

using namespace kaio;
using namespace kaio::tests;
using ops::detail::exchange_id;
using ops::detail::launched_rank;
using ops::detail::rank_of_environment;

namespace {

// The variables of all launchers, without values.
struct no_launcher {
  std::vector<std::unique_ptr<environment>> all;
  no_launcher() {
    for (const char* name : {"RANK", "WORLD_SIZE", "LOCAL_RANK", "MASTER_ADDR", "MASTER_PORT",
                             "KAIO_RENDEZVOUS", "OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "SLURM_NTASKS"})
      all.push_back(std::make_unique<environment>(name, nullptr));
  }
};

std::uint16_t any_port() { return static_cast<std::uint16_t>(20000 + host::process_number() % 20000); }

template <class F>
std::string error_of(const F& f) {
  try {
    f();
    return {};
  } catch (const error& e) {
    return std::string(e.message());
  }
}

}  // namespace

TEST_CASE("a rank finds its numbers in the variables of its launcher") {
  const no_launcher none;
  CHECK(error_of([] { rank_of_environment(); }).find("WORLD_SIZE") != std::string::npos);
  {
    const environment a("WORLD_SIZE", "8"), b("RANK", "5"), c("LOCAL_RANK", "1"), d("MASTER_ADDR", "node"),
        e("MASTER_PORT", "29500");
    const launched_rank r = rank_of_environment();
    CHECK((r.ranks == 8 && r.rank == 5 && r.local_rank == 1 && r.host == "node" && r.port == 29501));
    const environment chosen("KAIO_RENDEZVOUS", "other:1234");
    CHECK((rank_of_environment().host == "other" && rank_of_environment().port == 1234));
    const environment wrong("RANK", "8");
    CHECK(error_of([] { rank_of_environment(); }).find("rank is 8 of 8") != std::string::npos);
    const environment malformed("RANK", "two");
    CHECK(error_of([] { rank_of_environment(); }).find("'two'") != std::string::npos);
  }
  const environment a("OMPI_COMM_WORLD_SIZE", "2"), b("OMPI_COMM_WORLD_RANK", "1"),
      c("OMPI_COMM_WORLD_LOCAL_RANK", "0");
  CHECK((rank_of_environment().ranks == 2 && rank_of_environment().rank == 1 &&
         rank_of_environment().local_rank == 0));
}

#if !defined(_WIN32)  // NCCL has no library for Windows

TEST_CASE("rank 0 sends the id to all others, whoever begins first") {
  constexpr int ranks = 4;
  const std::uint16_t port = any_port();
  nccl_id id;
  for (std::size_t i = 0; i < id.bytes.size(); ++i) id.bytes[i] = static_cast<std::byte>(i * 3);
  std::vector<nccl_id> got(ranks);
  std::vector<std::string> errors(ranks);
  std::vector<std::thread> threads;
  for (int r = ranks - 1; r >= 0; --r)
    threads.emplace_back([&, r] {
      const auto n = static_cast<std::size_t>(r);
      errors[n] = error_of([&] {
        got[n] = exchange_id({ranks, r, r, "127.0.0.1", port}, r == 0 ? id : nccl_id(), 20);
      });
    });
  for (std::thread& t : threads) t.join();
  for (std::size_t r = 0; r < ranks; ++r) {
    INFO(errors[r]);
    CHECK(errors[r].empty());
    CHECK(got[r].bytes == id.bytes);
  }
}

TEST_CASE("processes that do not come are named when the time limit ends") {
  const std::uint16_t port = any_port();
  CHECK(error_of([&] {
          exchange_id({3, 0, 0, "127.0.0.1", port}, {}, 0.1);
        }).find("rank 1, rank 2") != std::string::npos);
  CHECK(error_of([&] {
          exchange_id({3, 2, 2, "127.0.0.1", port}, {}, 0.1);
        }).find("rank 0 does not answer") != std::string::npos);
}

#else

TEST_CASE("without NCCL no id is sent") {
  CHECK(error_of([] {
          exchange_id({2, 0, 0, "127.0.0.1", any_port()}, {}, 0.1);
        }).find("Windows") != std::string::npos);
}

#endif
