// A library with NCCL's functions, for ranks that are threads of one process: tests of the code that loads and calls NCCL run
// without GPUs. Memory is moved by a function of the test, within the call that ends a group, after all partners have come.
// A call whose partner has another size reports invalid usage on both; NCCL would hang.

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

namespace {

enum : int {
  success = 0,
  system_error = 2,
  invalid_argument = 4,
  invalid_usage = 5,
  remote_error = 6,
  in_progress = 7
};
using copy_function = void (*)(void* to, const void* from, std::size_t bytes);
copy_function copy_memory = nullptr;
constexpr std::chrono::seconds patience{1};  // with partners that do not come: NCCL would hang

struct message {
  const void* from;
  std::size_t bytes;
  bool taken = false;
};
struct world {
  std::mutex changing;
  std::condition_variable changed;
  int ranks = 0, present = 0;
  bool aborted = false, wrong = false;
  std::map<std::pair<int, int>, std::vector<std::shared_ptr<message>>> sent;  // by (from, to)
};
std::mutex worlds_changing;
std::map<std::string, std::shared_ptr<world>> worlds;
int ids = 0;

struct operation {
  bool sends;
  void* memory;
  std::size_t bytes;
  int peer;
};

}  // namespace

struct ncclComm {
  std::shared_ptr<world> of;
  int rank = 0, state = success;
};
struct ncclUniqueId {
  char internal[128];
};

namespace {

thread_local int depth = 0;
thread_local std::vector<std::pair<ncclComm*, operation>> pending;

int transfer(ncclComm* comm, const std::vector<operation>& list) {
  world& w = *comm->of;
  std::unique_lock lock(w.changing);
  std::vector<std::shared_ptr<message>> mine;
  for (const operation& o : list)
    if (o.sends) {
      mine.push_back(std::make_shared<message>(message{o.memory, o.bytes}));
      w.sent[{comm->rank, o.peer}].push_back(mine.back());
    }
  w.changed.notify_all();
  for (const operation& o : list) {
    if (o.sends) continue;
    auto& box = w.sent[{o.peer, comm->rank}];
    if (!w.changed.wait_for(lock, patience, [&] { return !box.empty() || w.aborted; }) || w.aborted)
      return remote_error;
    const std::shared_ptr<message> m = box.front();
    box.erase(box.begin());
    if (m->bytes == o.bytes)
      copy_memory(o.memory, m->from, o.bytes);
    else
      w.wrong = true;
    m->taken = true;
    w.changed.notify_all();
  }
  const bool ended = w.changed.wait_for(lock, patience, [&] {
    return w.aborted || std::all_of(mine.begin(), mine.end(), [](const auto& m) { return m->taken; });
  });
  return w.aborted || !ended ? remote_error : w.wrong ? invalid_usage : success;
}

int finish_group() {
  std::vector<std::pair<ncclComm*, operation>> all;
  all.swap(pending);
  if (all.empty()) return success;
  std::vector<operation> list;
  for (const auto& [comm, o] : all) list.push_back(o);
  return transfer(all.front().first, list);
}

int add(ncclComm* comm, operation o) {
  if (comm->of->aborted) return remote_error;
  pending.emplace_back(comm, o);
  return depth == 0 ? finish_group() : success;
}

}  // namespace

extern "C" {

void fake_nccl_set_copy(copy_function f) { copy_memory = f; }

int ncclGetVersion(int* version) {
  const char* const asked = std::getenv("FAKE_NCCL_VERSION");
  *version = asked != nullptr ? std::atoi(asked) : 22809;
  return success;
}
int ncclGetUniqueId(ncclUniqueId* id) {
  const std::scoped_lock lock(worlds_changing);
  std::memset(id->internal, 0, sizeof id->internal);
  std::snprintf(id->internal, sizeof id->internal, "fake %d", ++ids);
  return success;
}
// Not blocking: ncclCommGetAsyncError reports when all ranks have come.
int ncclCommInitRankConfig(ncclComm** comm, int ranks, ncclUniqueId id, int rank, void* config) {
  struct head {
    std::size_t size;
    unsigned magic, version;
    int blocking;
  };
  const head& given = *static_cast<const head*>(config);
  if (given.magic != 0xcafebeef || given.version != 22700 || given.size < sizeof(head))
    return invalid_argument;
  const std::scoped_lock lock(worlds_changing);
  std::shared_ptr<world>& of = worlds[std::string(id.internal, sizeof id.internal)];
  if (!of) of = std::make_shared<world>();
  of->ranks = ranks;
  ++of->present;
  *comm = new ncclComm{of, rank};
  return given.blocking != 0 ? invalid_argument : in_progress;
}
int ncclCommGetAsyncError(ncclComm* comm, int* result) {
  const std::scoped_lock lock(worlds_changing);
  *result = comm->of->aborted ? remote_error : comm->of->present < comm->of->ranks ? in_progress : success;
  return success;
}
int ncclCommDestroy(ncclComm* comm) {
  delete comm;
  return success;
}
// Real NCCL ends this rank's kernels only; the others find it by their time limits.
int ncclCommAbort(ncclComm* comm) {
  world& w = *comm->of;
  {
    const std::scoped_lock lock(w.changing);
    w.aborted = true;
    w.changed.notify_all();
  }
  return success;
}
const char* ncclGetErrorString(int result) {
  return result == remote_error ? "remote process exited or there was a network error"
                                : "an error of the fake library";
}
int ncclGroupStart() {
  ++depth;
  return success;
}
int ncclGroupEnd() { return --depth > 0 ? success : finish_group(); }
int ncclSend(const void* from, std::size_t count, int type, int peer, ncclComm* comm, void*) {
  return type > 1 ? invalid_argument : add(comm, {true, const_cast<void*>(from), count, peer});
}
int ncclRecv(void* to, std::size_t count, int type, int peer, ncclComm* comm, void*) {
  return type > 1 ? invalid_argument : add(comm, {false, to, count, peer});
}
int ncclAllGather(const void* send, void* receive, std::size_t count, int type, ncclComm* comm, void*) {
  if (type > 1) return invalid_argument;
  std::vector<operation> list;
  for (int r = 0; r < comm->of->ranks; ++r) {
    if (r == comm->rank) {
      if (send != static_cast<char*>(receive) + count * static_cast<std::size_t>(r))
        copy_memory(static_cast<char*>(receive) + count * static_cast<std::size_t>(r), send, count);
      continue;
    }
    list.push_back({true, const_cast<void*>(send), count, r});
    list.push_back({false, static_cast<char*>(receive) + count * static_cast<std::size_t>(r), count, r});
  }
  return transfer(comm, list);
}
}
