#pragma once
// Where the threads of one process meet for a call: the last one to come compares the calls of all, and does the work of
// all while they wait.

#include <condition_variable>
#include <cstdint>
#include <functional>
#include <mutex>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "ops/distributed/common/call.hpp"

namespace kaio::ops::detail {

class meeting {
 public:
  meeting(int ranks, double time_limit);

  int ranks() const noexcept { return static_cast<int>(calls_.size()); }

  using work = std::function<void(std::span<const call_of_rank* const> calls)>;
  // Returns on all ranks when the last one has done its `work`. Throws invalid_argument on all if calls differ;
  // communication_error on all if the work fails, a rank does not come, has gone, or abort is called. The group is
  // unusable then.
  void meet(int rank, const call_of_rank& mine, const work& last);
  void leave(int rank) noexcept;
  void abort(std::string_view why) noexcept;

 private:
  void finish(std::unique_lock<std::mutex>& lock, std::string_view operation, const work& last);
  void fail(std::string why) noexcept;
  std::string missing() const;
  [[noreturn]] void throw_failure(std::string_view operation) const;

  const double time_limit_;
  std::mutex changing_;
  std::condition_variable changed_;
  std::vector<const call_of_rank*> calls_;  // of the ranks that have come
  std::vector<bool> gone_;
  int present_ = 0;
  bool works_ = false;            // the last rank does the work
  std::uint64_t generation_ = 0;  // calls that have ended
  std::string difference_;        // of the last call that ended: why calls did not match
  bool failed_ = false;           // the last call that ended
  std::string failure_;           // why the group is unusable; empty: it is usable
};

}  // namespace kaio::ops::detail
