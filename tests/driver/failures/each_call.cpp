// Whichever call of whichever flow fails, with whichever code, once or from then on: a typed error, no leak, no crash. A
// device that is not lost by it works again, and one that is lost keeps the first cause. The context that another user
// has made current on the thread stays current.

#include <cstdlib>
#include <iterator>
#include <set>
#include <string>

#include "driver/failures/flows.hpp"
#include "driver_abi/types.hpp"

using namespace driver_test;
using namespace kaio::driver_abi;

namespace driver_test {

place::place(std::size_t count) {
  for (std::size_t i = 0; i < count; ++i) devices[i] = kaio::device::open("cuda:" + std::to_string(i));
  if (count == 0) return;
  gpu().synchronize();  // its context is current from here on
  CUstream made = nullptr;
  CUdeviceptr address = 0;
  REQUIRE(cu().cuStreamCreateWithPriority(&made, CU_STREAM_NON_BLOCKING, 0) == CUDA_SUCCESS);
  REQUIRE(cu().cuMemAlloc_v2(&address, 4096) == CUDA_SUCCESS);
  stream = made;
  memory = address;
}

void place::end_capture() {
  CUstreamCaptureStatus status = CU_STREAM_CAPTURE_STATUS_NONE;
  if (stream == nullptr || cu().cuStreamIsCapturing(static_cast<CUstream>(stream), &status) != CUDA_SUCCESS ||
      status == CU_STREAM_CAPTURE_STATUS_NONE)
    return;
  CUgraph graph = nullptr;
  if (cu().cuStreamEndCapture(static_cast<CUstream>(stream), &graph) == CUDA_SUCCESS)
    cu().cuGraphDestroy(graph);
}

place::~place() {
  if (stream == nullptr) return;
  cu().cuStreamDestroy_v2(static_cast<CUstream>(stream));
  cu().cuMemFree_v2(memory);
}

}  // namespace driver_test

namespace {

struct failure_code {
  CUresult code;
  bool loses_the_device;
};
constexpr failure_code codes[] = {{CUDA_ERROR_INVALID_VALUE, false},
                                  {CUDA_ERROR_OUT_OF_MEMORY, false},
                                  {CUDA_ERROR_NOT_INITIALIZED, true},
                                  {CUDA_ERROR_DEVICE_UNAVAILABLE, false},
                                  {CUDA_ERROR_NO_DEVICE, false},
                                  {CUDA_ERROR_INVALID_IMAGE, false},
                                  {CUDA_ERROR_INVALID_CONTEXT, false},
                                  {CUDA_ERROR_NO_BINARY_FOR_GPU, false},
                                  {CUDA_ERROR_ECC_UNCORRECTABLE, true},
                                  {CUDA_ERROR_INVALID_PTX, false},
                                  {CUDA_ERROR_UNSUPPORTED_PTX_VERSION, false},
                                  {CUDA_ERROR_OPERATING_SYSTEM, false},
                                  {CUDA_ERROR_INVALID_HANDLE, false},
                                  {CUDA_ERROR_ILLEGAL_ADDRESS, true},
                                  {CUDA_ERROR_CONTEXT_IS_DESTROYED, true},
                                  {CUDA_ERROR_ASSERT, true},
                                  {CUDA_ERROR_LAUNCH_FAILED, true},
                                  {CUDA_ERROR_UNKNOWN, true}};

struct injected {
  long call;
  failure_code with;
  bool stays;
};

// Upload, launch and download.
void check_that_it_works(const kaio::device& gpu) {
  const auto x = gpu.upload(std::vector<float>{1, 2, 3, 4});
  const kaio::ptx::argument arguments[] = {x.as_argument(), {0x40000000u}, {4}};
  gpu.stream().launch(scale_at_once, {1, 1, 1}, arguments, 3);
  expect(x.download() == std::vector<float>{2, 4, 6, 8}, "the device computes other values");
}

// Runs one flow: first undisturbed, then with each failure.
class flow_runner {
 public:
  flow_runner(const fresh_driver& driver, const flow& f) : driver_(driver), flow_(f) {
    bystander_ = driver_.create_context();
    prepare();
    driver_.reset();
    flow_.run(*place_);
    calls_ = driver_.calls();
    forget_place();
    prepare();
  }
  ~flow_runner() {
    place_.reset();
    driver_.set_current(nullptr);
    if (foreign_ != nullptr) driver_.destroy_context(foreign_);
    driver_.destroy_context(bystander_);
    driver_.reset();
  }
  flow_runner(const flow_runner&) = delete;
  flow_runner& operator=(const flow_runner&) = delete;

  long calls() const { return calls_; }

  // Throws wrong_result.
  void run(const injected& failure) {
    driver_.reset();
    driver_.fail(failure.call, failure.with.code, failure.stays);
    const std::string error = error_of_flow();
    driver_.recover();
    check_thread(failure.stays);
    if (failure.stays) place_->end_capture();
    bool lost = false;
    for (std::size_t i = 0; i < place_->devices.size(); ++i)
      if (place_->devices[i]) lost |= is_lost(i, error, failure.with);
    errors_ += !error.empty();
    if (lost || is_renewed()) {
      forget_place();
      prepare();
    } else if (driver_.alive() != alive_) {
      throw wrong_result("objects are alive: " + what_is_alive());
    }
  }

  long errors() const { return errors_; }

 private:
  bool is_renewed() const { return flow_.needed != needs::one_device && flow_.needed != needs::two_devices; }

  void prepare() {
    driver_.reset();
    driver_.set_current(nullptr);
    if (flow_.needed == needs::a_foreign_context) foreign_ = driver_.create_context();
    const bool has_one = flow_.needed == needs::one_device || flow_.needed == needs::a_new_device;
    place_.emplace(flow_.needed == needs::two_devices ? 2 : has_one ? 1 : 0);
    current_ = foreign_ != nullptr ? foreign_ : flow_.needed == needs::no_context ? nullptr : bystander_;
    driver_.set_current(current_);
    if (is_renewed()) return;
    // What a device makes once is made.
    const auto run = [&] {
      flow_.run(*place_);
      check_devices();  // this waits, too
    };
    check_devices();  // this loads its kernel
    run();
    alive_ = driver_.alive();
    run();
    if (driver_.alive() != alive_) throw wrong_result("the flow leaves objects behind");
  }

  void check_devices() const {
    for (const auto& gpu : place_->devices)
      if (gpu) check_that_it_works(*gpu);
  }

  void forget_place() {
    place_.reset();
    if (foreign_ != nullptr) driver_.destroy_context(foreign_);
    foreign_ = nullptr;
    if (driver_.alive() != 1)  // the bystander
      throw wrong_result("objects are alive without a device: " + what_is_alive());
  }

  std::string what_is_alive() const {
    const kaio_emulator_counters now = driver_.counted();
    std::string all;
    for (const auto& [number, what] : {std::pair{now.contexts, "contexts"},
                                       {now.allocations, "allocations"},
                                       {now.host_allocations, "host allocations"},
                                       {now.streams, "streams"},
                                       {now.events, "events"},
                                       {now.modules, "modules"},
                                       {now.graphs, "graphs"},
                                       {now.pools, "pools"}})
      if (number != 0) all += (all.empty() ? "" : ", ") + std::to_string(number) + " " + what;
    return all;
  }

  // The text of the error that it ended with; empty: none.
  std::string error_of_flow() {
    try {
      flow_.run(*place_);
    } catch (const kaio::error& e) {
      const std::string message = e.what();
      expect(message.starts_with("kaio: "), "an error does not begin with kaio:");
      code_ = e.code();
      return message;
    }
    return {};
  }

  // The context that was current is, and captures of others are as safe as before.
  void check_thread(bool failure_stays) {
    CUstreamCaptureMode mode = CU_STREAM_CAPTURE_MODE_GLOBAL;
    REQUIRE(cu().cuThreadExchangeStreamCaptureMode(&mode) == CUDA_SUCCESS);
    if (!failure_stays) {
      expect(mode == CU_STREAM_CAPTURE_MODE_GLOBAL, "the thread has another capture mode");
      expect(current_ == nullptr || driver_.current() == current_, "another context is current");
    }
    driver_.set_current(current_);
  }

  // Whether device `i` is lost. It must be if the error says that a call on it failed with such a code.
  bool is_lost(std::size_t i, const std::string& error, const failure_code& with) const {
    const bool may_be = with.loses_the_device;
    const char* name = "";
    cu().cuGetErrorName(with.code, &name);
    const bool must_be = may_be && error.find("cuda:" + std::to_string(i) + " (") != std::string::npos &&
                         error.find(std::string("(") + name) != std::string::npos;
    try {
      check_that_it_works(*place_->devices[i]);
    } catch (const kaio::error& later) {
      const std::string message = later.what();
      if (!may_be) throw wrong_result("the device does not work again: " + message);
      if (message.find("is unusable since an earlier failure") == std::string::npos)
        throw wrong_result("the first cause was forgotten: " + message);
      if (must_be && later.code() != code_) throw wrong_result("there is another first cause: " + message);
      return true;
    }
    if (must_be) throw wrong_result("the device works after its loss");
    return false;
  }

  const fresh_driver& driver_;
  const flow& flow_;
  void *bystander_ = nullptr, *foreign_ = nullptr, *current_ = nullptr;
  std::optional<place> place_;
  long calls_ = 0, alive_ = 0, errors_ = 0;
  kaio::errc code_{};
};

// Each call fails with a third of the codes; three consecutive commits have all of them. KAIO_TURN is the commit's
// number (tests/turn.py), or `all`.
constexpr long parts = 3;
std::optional<long> part_of_codes() {
  const char* const turn = std::getenv("KAIO_TURN");
  if (turn != nullptr && std::string_view(turn) == "all") return std::nullopt;
  return turn != nullptr ? std::atol(turn) % parts : 0;
}

// The first wrong result of a flow ends it.
void fail_each_call(const flow& f) {
  const fresh_driver driver;
  driver.be(2);
  std::string failure = "undisturbed";
  try {
    flow_runner runner(driver, f);
    const std::optional<long> part = part_of_codes();
    for (long code = 0; code < std::ssize(codes); ++code)
      for (const bool stays : {false, true})
        for (long call = 0; call < runner.calls(); ++call) {
          if (part && (code + call + *part) % parts != 0) continue;
          const failure_code& with = codes[code];
          failure = "call " + std::to_string(call) + " of " + std::to_string(runner.calls()) +
                    " fails with " + std::to_string(with.code) + (stays ? " from then on" : "");
          runner.run({call, with, stays});
        }
    CHECK(runner.errors() > runner.calls() / 2);
    if (std::getenv("KAIO_FLOWS")) std::fprintf(stderr, "%s: %ld calls\n", f.name, runner.calls());
  } catch (const std::exception& e) {
    FAIL_CHECK(f.name << ": " << failure << ": " << e.what());
  }
}

void fail_each_call(std::span<const flow> flows) {
  for (const flow& f : flows) fail_each_call(f);
}

}  // namespace

TEST_CASE("whichever driver call fails: flows of devices") { fail_each_call(flows_of_devices()); }
TEST_CASE("whichever driver call fails: flows of memory") { fail_each_call(flows_of_memory()); }
TEST_CASE("whichever driver call fails: flows of streams and launches") {
  fail_each_call(flows_of_streams());
}
TEST_CASE("whichever driver call fails: flows of captures and graphs") { fail_each_call(flows_of_graphs()); }

TEST_CASE("there are at least 25 flows, each with a name of its own") {
  std::set<std::string> names;
  for (const auto& flows : {flows_of_devices(), flows_of_memory(), flows_of_streams(), flows_of_graphs()})
    for (const flow& f : flows) CHECK(names.insert(f.name).second);
  CHECK(names.size() >= 25);
}
