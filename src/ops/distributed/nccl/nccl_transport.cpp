#include "ops/distributed/nccl/nccl_transport.hpp"

#include <kaio/runtime/error.hpp>
#include <kaio/runtime/event.hpp>

#include <chrono>
#include <condition_variable>
#include <cstring>
#include <deque>
#include <exception>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "ops/distributed/common/record.hpp"
#include "ops/distributed/nccl/library.hpp"

namespace kaio::ops::detail {

namespace {

using clock = std::chrono::steady_clock;

class nccl_transport final : public transport {
 public:
  nccl_transport(const nccl_id& id, int ranks, int rank, const device& on,
                 const communicator_options& options)
      : nccl_(nccl::load()),
        ranks_(ranks),
        rank_(rank),
        on_(on),
        compares_(options.compare),
        limit_(
            std::chrono::duration_cast<clock::duration>(std::chrono::duration<double>(options.time_limit))),
        control_(on.create_stream()),
        compared_(on.create_event()),
        records_(on.allocate<u8>(sizeof(call_record) * static_cast<std::size_t>(ranks))),
        here_(on.allocate_host<u8>(sizeof(call_record) * static_cast<std::size_t>(ranks))) {
    const nccl::current_device current(ordinal());
    nccl::unique_id native{};
    std::memcpy(native.internal, id.bytes.data(), sizeof native.internal);
    nccl::configuration config;
    try {
      run("communicator::nccl", nccl_.call.init_rank(&comm_, ranks, native, rank, &config));
    } catch (...) {
      if (comm_ != nullptr && !aborted_) nccl_.call.abort(comm_);
      throw;
    }
    watcher_ = std::thread([this] { watch(); });
  }
  ~nccl_transport() override {
    {
      std::unique_lock lock(changing_);
      if (std::uncaught_exceptions() == 0) changed_.wait(lock, [&] { return queued_.empty() || aborted_; });
      ends_ = true;
    }
    changed_.notify_all();
    watcher_.join();
    if (aborted_) return;
    const nccl::current_device current(ordinal());
    // A rank that fails leaves work that waits for others: only abort ends it.
    if (queued_.empty())
      nccl_.call.destroy(comm_);
    else
      nccl_.call.abort(comm_);
  }

  std::string_view name() const noexcept override { return "nccl"; }
  int ranks() const noexcept override { return ranks_; }
  bool has_direct_access() const noexcept override { return false; }

  void agree(const call_of_rank& mine) override { compare(mine); }
  void exchange(const call_of_rank& mine) override {
    if (compares_ && !mine.call->matches)
      compare(mine);
    else if (!mine.call->refusal.empty())
      throw runtime::invalid_argument(mine.call->refusal);
    require_usable(mine.call->operation);
    const nccl::current_device current(ordinal());
    void* const s = mine.on->native_handle();
    move_here(mine, rank_);
    run(mine.call->operation, nccl_.call.group_start());
    for (const transfer& t : mine.sends)
      if (t.rank != rank_)
        run(mine.call->operation, nccl_.call.send(reinterpret_cast<const void*>(t.memory.address),
                                                  bytes_of(t.memory), nccl::uint8, t.rank, comm_, s));
    for (const transfer& t : mine.receives)
      if (t.rank != rank_)
        run(mine.call->operation, nccl_.call.receive(reinterpret_cast<void*>(t.memory.address),
                                                     bytes_of(t.memory), nccl::uint8, t.rank, comm_, s));
    run(mine.call->operation, nccl_.call.group_end());
    watch_work(mine.call->operation, *mine.on);
  }
  void barrier(const call_of_rank& mine) override {
    compare(mine);
    const nccl::current_device current(ordinal());
    const std::uint64_t own = records_.address() + static_cast<std::uint64_t>(rank_);
    control_.record(compared_);
    mine.on->wait(compared_);
    run("barrier",
        nccl_.call.all_gather(reinterpret_cast<const void*>(own), reinterpret_cast<void*>(records_.address()),
                              1, nccl::uint8, comm_, mine.on->native_handle()));
    watch_work("barrier", *mine.on);
    mine.on->record(compared_);
    control_.wait(compared_);  // the next comparison writes the same memory
  }
  void gather(const call_of_rank& mine) override {
    compare(mine);
    for (int r = 0; r < ranks_; ++r) {
      const call_record& of = record(r);
      for (std::int64_t i = 0; i < of.given; ++i)
        mine.gathered->push_back(of.numbers[static_cast<std::size_t>(of.compared + i)]);
    }
  }
  void allocate(const call_of_rank& mine, std::uint64_t, std::uint32_t) override {
    refuse_collective(mine.call->operation, "NCCL gives no memory that all ranks may write");
  }
  void abort(std::string_view why) noexcept override {
    fail(why.empty() ? "a rank called abort" : "a rank called abort: " + std::string(why));
  }

 private:
  int ordinal() const { return on_.properties().ordinal; }
  const call_record& record(int r) const { return reinterpret_cast<const call_record*>(here_.data())[r]; }

  // Gathers the calls of all ranks, and waits for them.
  void compare(const call_of_rank& mine) {
    const std::string_view operation = mine.call->operation;
    require_usable(operation);
    const call_record own = call_record::of(mine);
    const nccl::current_device current(ordinal());
    const std::size_t offset = sizeof own * static_cast<std::size_t>(rank_);
    std::memcpy(here_.data() + offset, &own, sizeof own);
    records_.copy_from(here_.data() + offset, sizeof own, control_, offset);
    run(operation, nccl_.call.all_gather(reinterpret_cast<const void*>(records_.address() + offset),
                                         reinterpret_cast<void*>(records_.address()), sizeof own, nccl::uint8,
                                         comm_, control_.native_handle()));
    records_.copy_to(here_.data(), here_.size(), control_);
    control_.record(compared_);
    const clock::time_point deadline = clock::now() + limit_;
    while (!compared_.is_done()) {
      require_usable(operation);
      check_async(operation);
      if (clock::now() > deadline) give_up(operation);
      std::this_thread::yield();
    }
    const std::string why = mismatch({&record(0), static_cast<std::size_t>(ranks_)});
    if (!mine.call->refusal.empty()) throw runtime::invalid_argument(mine.call->refusal);
    if (!why.empty()) refuse_collective(operation, why);
  }

  // Waits while NCCL goes on with a call, and throws what it reports.
  void run(std::string_view operation, int result) {
    const clock::time_point deadline = clock::now() + limit_;
    while (result == nccl::in_progress) {
      require_usable(operation);
      if (clock::now() > deadline) give_up(operation);
      std::this_thread::yield();
      result = async_state();
    }
    if (result != nccl::success) {
      fail(std::string("NCCL reports: ") + nccl_.call.error_text(result));
      throw_failure(operation);
    }
  }
  // Not while the thread that watches ends the communicator, which frees it.
  int async_state() {
    const std::scoped_lock lock(changing_);
    if (aborted_) return nccl::remote_error;
    int state = nccl::success;
    return nccl_.call.async_error(comm_, &state) == nccl::success ? state : nccl::system_error;
  }
  void check_async(std::string_view operation) {
    const int state = async_state();
    if (state != nccl::success && state != nccl::in_progress) run(operation, state);
  }
  [[noreturn]] void give_up(std::string_view operation) {
    fail("not all ranks came to " + std::string(operation) + " within the time limit");
    throw_failure(operation);
  }
  void require_usable(std::string_view operation) {
    const std::scoped_lock lock(changing_);
    if (!failure_.empty()) throw_failure_locked(operation);
  }
  [[noreturn]] void throw_failure(std::string_view operation) {
    const std::scoped_lock lock(changing_);
    throw_failure_locked(operation);
  }
  [[noreturn]] void throw_failure_locked(std::string_view operation) const {
    throw runtime::communication_error("kaio: " + std::string(operation) + ": " + failure_ +
                                       "; the communicators of this group are unusable, make new ones");
  }
  // Ends NCCL's kernels on this rank, so that streams do not wait for ranks that are gone.
  void fail(std::string why) noexcept {
    const std::scoped_lock lock(changing_);
    if (failure_.empty()) failure_ = std::move(why);
    if (!aborted_ && comm_ != nullptr) nccl_.call.abort(comm_);
    aborted_ = true;
    changed_.notify_all();
  }

  struct queued_work {
    event done;
    clock::time_point deadline;
    std::string operation;
  };
  void watch_work(std::string_view operation, const stream& s) {
    event done = take_event();
    s.record(done);
    const std::scoped_lock lock(changing_);
    queued_.push_back({std::move(done), clock::now() + limit_, std::string(operation)});
    changed_.notify_all();
  }
  event take_event() {
    const std::scoped_lock lock(changing_);
    if (unused_.empty()) return on_.create_event();
    event e = std::move(unused_.back());
    unused_.pop_back();
    return e;
  }
  void watch() {
    std::unique_lock lock(changing_);
    while (!ends_) {
      if (queued_.empty() || aborted_) {
        changed_.wait(lock);
        continue;
      }
      queued_work& first = queued_.front();
      bool done = true;
      try {
        done = first.done.is_done();
      } catch (const runtime::error&) {  // the device is lost: the caller's next call reports it
      }
      if (done) {
        unused_.push_back(std::move(first.done));
        queued_.pop_front();
        changed_.notify_all();
      } else if (clock::now() > first.deadline) {
        const std::string why = first.operation + " did not end within the time limit";
        lock.unlock();
        fail(why);
        lock.lock();
      } else {
        changed_.wait_for(lock, std::chrono::milliseconds(2));
      }
    }
  }

  const nccl::library& nccl_;
  const int ranks_, rank_;
  const device on_;
  const bool compares_;
  const clock::duration limit_;
  const stream control_;
  event compared_;
  buffer<u8> records_;
  runtime::host_buffer<u8> here_;
  nccl::communicator* comm_ = nullptr;

  std::mutex changing_;
  std::condition_variable changed_;
  std::deque<queued_work> queued_;
  std::vector<event> unused_;
  bool ends_ = false, aborted_ = false;
  std::string failure_;
  std::thread watcher_;
};

}  // namespace

nccl_id make_nccl_id() {
  const nccl::library& library = nccl::load();
  nccl::unique_id native{};
  if (const int result = library.call.get_unique_id(&native); result != nccl::success)
    throw runtime::communication_error(std::string("kaio: communicator::create_nccl_id: NCCL reports: ") +
                                       library.call.error_text(result));
  nccl_id id;
  std::memcpy(id.bytes.data(), native.internal, sizeof native.internal);
  return id;
}

std::unique_ptr<transport> nccl_transport_of(const nccl_id& id, int ranks, int rank, const device& on,
                                             const communicator_options& options) {
  return std::make_unique<nccl_transport>(id, ranks, rank, on, options);
}

}  // namespace kaio::ops::detail
