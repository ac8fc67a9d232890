// A grid that does not end is stopped by its budgets of instructions and time, or from another thread. A terminal
// shows the progress of a long one.

#include "host/system/process.hpp"
#include "tests/emulator/kernel.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <chrono>
#include <cstdlib>
#include <thread>

using namespace emulator_test;
using namespace std::chrono_literals;

namespace {

// Its state never comes back, so that it is no livelock.
constexpr std::string_view endless = "for_ever: add.u64 %d1, %d1, 1; bra for_ever;";
// About 16 instructions with its loads; every block of them the same.
constexpr std::string_view short_one = "mad.lo.u64 %d1, %wide, 4, %p0; st.global.u32 [%d1], 7;";

// A launch of one body, run as often as a test likes.
struct launched {
  explicit launched(std::string_view body, std::uint32_t blocks = 1)
      : code(parsed_module(kernel_text(body))), out(global, std::size_t{blocks} * 32) {
    of.mod = &code;
    of.kernel = code.find("k");
    of.grid = {blocks, 1, 1};
    of.block = {32, 1, 1};
    const std::uint64_t pointer = out.address();
    of.parameters.resize(sizeof pointer);
    std::memcpy(of.parameters.data(), &pointer, sizeof pointer);
  }

  // Ends in a fault, whose report this is.
  fault_report fault_of_run() {
    try {
      run(of, global);
    } catch (const fault& e) {
      return e.report();
    }
    FAIL("no fault");
    return {};
  }
  std::uint64_t instructions() {
    std::atomic<std::uint64_t> executed{0};
    of.executed = &executed;
    run(of, global);
    of.executed = nullptr;
    return executed;
  }

  memory global;
  module code;
  array<std::uint32_t> out;
  launch of;
};

budget instructions(std::uint64_t limit) {
  return {budget_unit::warp_instructions, limit, nullptr, "the launch", "a test"};
}
budget time(std::chrono::nanoseconds limit) {
  return {budget_unit::nanoseconds, static_cast<std::uint64_t>(limit.count()), nullptr, "the launch",
          "a test"};
}

// The standard error stream as a terminal, or as a pipe, while it exists.
class error_stream {
 public:
  explicit error_stream(bool terminal) : before_(dup(STDERR_FILENO)) {
    int writer = -1;
    if (terminal) {
      reader_ = posix_openpt(O_RDWR | O_NOCTTY);
      REQUIRE(reader_ >= 0);
      REQUIRE(grantpt(reader_) == 0);
      REQUIRE(unlockpt(reader_) == 0);
      writer = open(ptsname(reader_), O_RDWR | O_NOCTTY);
      const winsize size{24, 40, 0, 0};
      ioctl(writer, TIOCSWINSZ, &size);
    } else {
      int both[2] = {-1, -1};
      REQUIRE(pipe(both) == 0);
      reader_ = both[0], writer = both[1];
    }
    REQUIRE(writer >= 0);
    fcntl(reader_, F_SETFL, O_NONBLOCK);
    dup2(writer, STDERR_FILENO);
    close(writer);
  }
  ~error_stream() {
    restore();
    close(reader_);
  }
  error_stream(const error_stream&) = delete;
  error_stream& operator=(const error_stream&) = delete;

  std::string text() {
    // A terminal passes its input on in parts, each a moment later. When this mark arrives, all of the input has arrived.
    constexpr char mark = '\0';
    REQUIRE(::write(STDERR_FILENO, &mark, 1) == 1);
    std::string all;
    pollfd ready{reader_, POLLIN, 0};
    while ((all.empty() || all.back() != mark) && ::poll(&ready, 1, 10'000) == 1) {
      std::array<char, 4096> part{};
      const auto bytes = ::read(reader_, part.data(), part.size());
      if (bytes <= 0) break;
      all.append(part.data(), static_cast<std::size_t>(bytes));
    }
    restore();
    REQUIRE(!all.empty());
    REQUIRE(all.back() == mark);
    all.pop_back();
    return all;
  }

 private:
  void restore() {
    if (before_ < 0) return;
    dup2(before_, STDERR_FILENO);
    close(before_);
    before_ = -1;
  }
  int before_, reader_ = -1;
};

}  // namespace

TEST_CASE("a budget of instructions ends a grid that does not end") {
  launched k(endless, 3);
  for (const unsigned threads : {1u, 2u}) {
    k.of.threads = threads;
    k.of.budgets = {instructions(100'000)};
    const fault_report r = k.fault_of_run();
    CHECK(r.kind == fault_kind::instruction_limit);
    CHECK(contains(r.detail, "the launch executed more than 100000 warp instructions"));
    CHECK(contains(r.detail, "a test sets"));
    CHECK(contains(r.ptx_text, "for_ever"));
  }
}

TEST_CASE("a budget of instructions is exact for a grid that ends, on any number of threads") {
  launched k(short_one, 5000);
  const std::uint64_t needed = k.instructions();
  for (const unsigned threads : {1u, 3u}) {
    k.of.threads = threads;
    k.of.budgets = {instructions(needed)};
    CHECK_NOTHROW(run(k.of, k.global));
    k.of.budgets = {instructions(needed - 1)};
    CHECK(k.fault_of_run().kind == fault_kind::instruction_limit);
  }
  // Where blocks take turns too.
  k.of.order = *schedule::parse("reverse");
  CHECK(k.fault_of_run().kind == fault_kind::instruction_limit);
}

TEST_CASE("a budget of time ends a grid within milliseconds, whatever it does") {
  // One block, many that never end, and blocks whose warps wait for each other.
  for (const auto& [body, blocks] : {std::pair<std::string_view, std::uint32_t>{endless, 1},
                                     {endless, 64},
                                     {"for_ever: add.u64 %d1, %d1, 1; bar.sync 0; bra for_ever;", 2},
                                     {"for_ever: atom.global.add.u32 %r1, [%p0], 1; bra for_ever;", 2}}) {
    INFO(body);
    launched k(body, blocks);
    k.of.budgets = {time(50ms)};
    const auto begin = std::chrono::steady_clock::now();
    const fault_report r = k.fault_of_run();
    const auto took = std::chrono::steady_clock::now() - begin;
    CHECK(r.kind == fault_kind::time_limit);
    CHECK(contains(r.detail, "the launch took longer than 0.05 s"));
    CHECK(took >= 50ms);
    CHECK(took < 10s);
  }
}

TEST_CASE("launches that share a budget use it up together") {
  launched k(short_one, 100);
  const std::uint64_t needed = k.instructions();
  budget shared = instructions(2 * needed);
  shared.used = std::make_shared<std::atomic<std::uint64_t>>(0);
  k.of.budgets = {shared};
  CHECK_NOTHROW(run(k.of, k.global));
  CHECK(*shared.used == needed);
  CHECK_NOTHROW(run(k.of, k.global));
  CHECK(k.fault_of_run().kind == fault_kind::instruction_limit);

  launched other(endless);
  budget seconds = time(60ms);
  seconds.used = std::make_shared<std::atomic<std::uint64_t>>(0);
  other.of.budgets = {time(40ms), seconds};
  CHECK(other.fault_of_run().kind == fault_kind::time_limit);
  CHECK(*seconds.used >= 40'000'000);
  CHECK(*seconds.used < 60'000'000 + 1'000'000'000);
  other.of.budgets = {seconds};
  CHECK(other.fault_of_run().kind == fault_kind::time_limit);
}

TEST_CASE("a grid is cancelled from another thread") {
  launched k(endless, 4);
  std::atomic<bool> wanted{false};
  k.of.cancelled = [&] { return wanted.load(); };
  std::thread other([&] {
    std::this_thread::sleep_for(20ms);
    wanted = true;
  });
  const fault_report r = k.fault_of_run();
  other.join();
  CHECK(r.kind == fault_kind::cancelled);
  CHECK(contains(r.detail, "cancelled"));
  CHECK(contains(r.ptx_text, "for_ever"));
  // The memory and the module are as good as before.
  launched next(short_one);
  next.of.cancelled = [] { return false; };
  CHECK_NOTHROW(run(next.of, next.global));
  CHECK(next.out.values()[31] == 7);
}

TEST_CASE("a terminal shows how far a long grid is, and nothing of it when it has ended") {
  const char* const before = std::getenv("TERM");
  const std::string kept = before == nullptr ? "" : before;
  kaio::host::set_environment("TERM", "xterm");
  const auto shown = [](bool terminal, std::chrono::nanoseconds after) {
    launched k(endless, 8);
    k.of.budgets = {time(100ms)};
    k.of.progress_after = after;
    error_stream errors(terminal);
    k.fault_of_run();
    return errors.text();
  };
  const std::string line = shown(true, 10ms);
  CHECK(contains(line, "\r\x1b[Kkaio: kernel 'k': 0 of 8 blocks in 0 s"));
  CHECK(line.ends_with("\r\x1b[K"));
  CHECK(shown(true, 10s).empty());
  CHECK(shown(true, std::chrono::nanoseconds::max()).empty());
  CHECK(shown(false, 10ms).empty());
  kaio::host::set_environment("TERM", "dumb");
  CHECK(shown(true, 10ms).empty());
  kept.empty() ? kaio::host::unset_environment("TERM") : kaio::host::set_environment("TERM", kept.c_str());
}
