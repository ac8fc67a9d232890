// Rank 0 listens, and sends the id to each rank that connects and gives its number.

#include <kaio/runtime/error.hpp>

#ifndef _WIN32
#include <netdb.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>
#endif

#include <array>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <string>
#include <thread>
#include <vector>

#include "ops/distributed/launch/environment.hpp"

namespace kaio::ops::detail {

#ifdef _WIN32

nccl_id exchange_id(const launched_rank&, const nccl_id&, double) {
  throw runtime::unsupported_device(
      "kaio: communicator::from_environment needs NCCL, which Windows does not have");
}

#else

namespace {

using clock = std::chrono::steady_clock;
constexpr std::uint32_t greeting = 0x6b61696f;  // "kaio"

[[noreturn]] void fail(const std::string& what) {
  throw runtime::communication_error("kaio: communicator::from_environment: " + what);
}

class connection {
 public:
  explicit connection(int descriptor = -1) : descriptor_(descriptor) {}
  connection(connection&& other) noexcept : descriptor_(std::exchange(other.descriptor_, -1)) {}
  connection& operator=(connection&& other) noexcept {
    std::swap(descriptor_, other.descriptor_);
    return *this;
  }
  ~connection() {
    if (descriptor_ >= 0) ::close(descriptor_);
  }
  int descriptor() const noexcept { return descriptor_; }
  bool exists() const noexcept { return descriptor_ >= 0; }

  // Whether it can be read, or written, before the deadline.
  bool waits(short what, clock::time_point deadline) const {
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(deadline - clock::now()).count();
    pollfd asked{descriptor_, what, 0};
    return left > 0 && ::poll(&asked, 1, static_cast<int>(left)) > 0;
  }
  bool send(const void* data, std::size_t bytes, clock::time_point deadline) const {
    return move(bytes, deadline, POLLOUT, [&](std::size_t done) {
      return ::send(descriptor_, static_cast<const char*>(data) + done, bytes - done, MSG_NOSIGNAL);
    });
  }
  bool receive(void* data, std::size_t bytes, clock::time_point deadline) const {
    return move(bytes, deadline, POLLIN, [&](std::size_t done) {
      return ::recv(descriptor_, static_cast<char*>(data) + done, bytes - done, 0);
    });
  }

 private:
  template <class Step>
  bool move(std::size_t bytes, clock::time_point deadline, short what, const Step& step) const {
    for (std::size_t done = 0; done < bytes;) {
      if (!waits(what, deadline)) return false;
      const auto moved = step(done);
      if (moved <= 0) return false;
      done += static_cast<std::size_t>(moved);
    }
    return true;
  }
  int descriptor_;
};

struct addresses {
  addrinfo* list = nullptr;
  addresses(const char* host, std::uint16_t port, bool listens) {
    addrinfo wanted{};
    wanted.ai_family = AF_UNSPEC;
    wanted.ai_socktype = SOCK_STREAM;
    wanted.ai_flags = listens ? AI_PASSIVE : 0;
    if (::getaddrinfo(listens ? nullptr : host, std::to_string(port).c_str(), &wanted, &list) != 0)
      fail("the host " + std::string(host) + " is not known");
  }
  addresses(const addresses&) = delete;
  addresses& operator=(const addresses&) = delete;
  ~addresses() { ::freeaddrinfo(list); }
};

connection listen_at(std::uint16_t port) {
  const addresses found("", port, true);
  for (const addrinfo* a = found.list; a != nullptr; a = a->ai_next) {
    connection c(::socket(a->ai_family, a->ai_socktype, a->ai_protocol));
    const int on = 1;
    if (c.exists()) ::setsockopt(c.descriptor(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    if (c.exists() && ::bind(c.descriptor(), a->ai_addr, a->ai_addrlen) == 0 &&
        ::listen(c.descriptor(), 64) == 0)
      return c;
  }
  fail("rank 0 cannot listen at port " + std::to_string(port) + ": " + std::strerror(errno) +
       "; name another one in KAIO_RENDEZVOUS=HOST:PORT");
}

connection connect_to(const launched_rank& rank, clock::time_point deadline) {
  const addresses found(rank.host.c_str(), rank.port, false);
  for (;;) {  // rank 0 may begin later
    for (const addrinfo* a = found.list; a != nullptr; a = a->ai_next) {
      connection c(::socket(a->ai_family, a->ai_socktype, a->ai_protocol));
      if (c.exists() && ::connect(c.descriptor(), a->ai_addr, a->ai_addrlen) == 0) return c;
    }
    if (clock::now() > deadline)
      fail("rank 0 does not answer at " + rank.host + ":" + std::to_string(rank.port) +
           " within the time limit");
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
}

void serve(const launched_rank& rank, const nccl_id& id, clock::time_point deadline) {
  const connection listens = listen_at(rank.port);
  std::vector<bool> came(static_cast<std::size_t>(rank.ranks));
  came[0] = true;
  for (int left = rank.ranks - 1; left > 0;) {
    if (!listens.waits(POLLIN, deadline)) {
      std::string missing;
      for (std::size_t r = 0; r < came.size(); ++r)
        if (!came[r]) missing += (missing.empty() ? "rank " : ", rank ") + std::to_string(r);
      fail(missing + " did not come within the time limit");
    }
    const connection peer(::accept(listens.descriptor(), nullptr, nullptr));
    std::array<std::uint32_t, 3> hello{};  // greeting, ranks, rank
    if (!peer.exists() || !peer.receive(hello.data(), sizeof hello, deadline) || hello[0] != greeting)
      continue;
    if (hello[1] != static_cast<std::uint32_t>(rank.ranks) || hello[2] >= came.size() || came[hello[2]])
      fail("a process says that it is rank " + std::to_string(hello[2]) + " of " + std::to_string(hello[1]));
    if (!peer.send(id.bytes.data(), id.bytes.size(), deadline)) continue;
    came[hello[2]] = true;
    --left;
  }
}

}  // namespace

nccl_id exchange_id(const launched_rank& rank, const nccl_id& of_rank_0, double seconds) {
  const clock::time_point deadline =
      clock::now() + std::chrono::duration_cast<clock::duration>(std::chrono::duration<double>(seconds));
  if (rank.ranks == 1) return of_rank_0;
  if (rank.rank == 0) {
    serve(rank, of_rank_0, deadline);
    return of_rank_0;
  }
  const connection peer = connect_to(rank, deadline);
  const std::array<std::uint32_t, 3> hello{greeting, static_cast<std::uint32_t>(rank.ranks),
                                           static_cast<std::uint32_t>(rank.rank)};
  nccl_id id;
  if (!peer.send(hello.data(), sizeof hello, deadline) ||
      !peer.receive(id.bytes.data(), id.bytes.size(), deadline))
    fail("rank 0 did not send the id of the group within the time limit");
  return id;
}

#endif

}  // namespace kaio::ops::detail
