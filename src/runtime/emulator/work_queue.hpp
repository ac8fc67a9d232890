#pragma once
// The work of a stream whose kernel polls memory that others write. Usually a stream has none: its work runs within the
// call. A kernel that polls goes on on a thread of its own (emulator/waiting/launch_threads.hpp). Then the stream's later
// work follows it on that thread.
//
//   if (!q->put(work)) work();      // nothing runs: within the call
//   q->run(launch);                 // within the call, or asynchronous if it polls
//   q->wait();                      // until all has ended

#include <deque>
#include <exception>
#include <functional>
#include <memory>
#include <mutex>

#include "emulator/waiting/memory_wait.hpp"

namespace kaio::runtime::emulated {

// The wait of the work that this thread runs; nullptr: it has none, for it runs within a call.
emulator::memory_wait* wait_of_thread() noexcept;

class work_queue : public std::enable_shared_from_this<work_queue> {
 public:
  using work = std::function<void()>;

  // Puts work after the work that runs. After a failure only work that is `always` done runs. False: nothing runs.
  bool put(const work& what, bool always = false);
  // Runs work that may poll. Throws what it throws, if it ends within this call.
  void run(work first, bool always = false);
  bool is_idle();
  // Returns when nothing runs.
  void wait();
  // Throws the first failure since the last call.
  void check();

 private:
  struct item {
    work run;
    bool always;
  };
  void serve(const item& first) noexcept;
  std::exception_ptr take_failure();

  std::mutex changing_;
  std::deque<item> items_;
  bool runs_ = false;
  std::exception_ptr failure_;
};

}  // namespace kaio::runtime::emulated
