#include "ops/distributed/process/meeting.hpp"

#include <kaio/runtime/error.hpp>

#include <chrono>
#include <exception>
#include <utility>

namespace kaio::ops::detail {

meeting::meeting(int ranks, double time_limit)
    : time_limit_(time_limit),
      calls_(static_cast<std::size_t>(ranks)),
      gone_(static_cast<std::size_t>(ranks)) {}

void meeting::throw_failure(std::string_view operation) const {
  throw runtime::communication_error("kaio: " + std::string(operation) + ": " + failure_ +
                                     "; the communicators of this group are unusable, make new ones");
}

void meeting::fail(std::string why) noexcept {
  if (failure_.empty()) failure_ = std::move(why);
  changed_.notify_all();
}

std::string meeting::missing() const {
  std::string list;
  for (std::size_t r = 0; r < calls_.size(); ++r)
    if (calls_[r] == nullptr) list += (list.empty() ? "rank " : ", rank ") + std::to_string(r);
  return list;
}

void meeting::meet(int rank, const call_of_rank& mine, const work& last) {
  std::unique_lock lock(changing_);
  const std::string_view operation = mine.call->operation;
  for (std::size_t r = 0; r < gone_.size(); ++r)
    if (gone_[r]) fail("rank " + std::to_string(r) + " has gone");
  if (!failure_.empty()) throw_failure(operation);
  const auto own = static_cast<std::size_t>(rank);
  if (calls_[own] != nullptr)
    refuse_collective(operation, "rank " + std::to_string(rank) + " is used by two threads at once");
  calls_[own] = &mine;
  if (++present_ == ranks()) {
    finish(lock, operation, last);
  } else {
    const std::uint64_t before = generation_;
    const auto deadline =
        std::chrono::steady_clock::now() + std::chrono::duration_cast<std::chrono::steady_clock::duration>(
                                               std::chrono::duration<double>(time_limit_));
    const auto ended = [&] { return generation_ != before || (!failure_.empty() && !works_); };
    if (!changed_.wait_until(lock, deadline, ended)) {
      if (works_) {
        changed_.wait(lock, ended);
      } else {
        fail(missing() + " did not come to " + std::string(operation) + " within " +
             std::to_string(time_limit_) + " seconds");
      }
    }
  }
  if (calls_[own] == &mine || failed_) throw_failure(operation);  // not ended, or ended by a failure
  if (!difference_.empty()) refuse_collective(operation, difference_);
}

void meeting::finish(std::unique_lock<std::mutex>& lock, std::string_view operation, const work& last) {
  works_ = true;
  const std::vector<const call_of_rank*> calls = calls_;
  lock.unlock();
  std::string difference, failure;
  try {
    difference = mismatch(calls);
    if (difference.empty()) last(calls);
  } catch (const std::exception& e) {
    failure = std::string(operation) + " failed: " + e.what();
  }
  lock.lock();
  works_ = false;
  for (const call_of_rank*& c : calls_) c = nullptr;
  present_ = 0;
  difference_ = std::move(difference);
  ++generation_;
  failed_ = !failure.empty();
  if (failed_) fail(std::move(failure));
  changed_.notify_all();
}

void meeting::leave(int rank) noexcept {
  const std::scoped_lock lock(changing_);
  gone_[static_cast<std::size_t>(rank)] = true;
  if (present_ > 0 && !works_) fail("rank " + std::to_string(rank) + " has gone");
}

void meeting::abort(std::string_view why) noexcept {
  const std::scoped_lock lock(changing_);
  fail(why.empty() ? "a rank called abort" : "a rank called abort: " + std::string(why));
}

}  // namespace kaio::ops::detail
