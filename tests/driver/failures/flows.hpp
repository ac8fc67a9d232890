#pragma once
// What programs do with the runtime, as flows of calls: failures/each_call.cpp makes each driver call of each flow fail. A
// flow leaves nothing behind. What it needs is made before, and stays.
//
//   void upload_and_download(place& p) {
//     auto x = p.gpu().upload(std::vector<float>(1024, 2.0f));
//     expect(x.download()[0] == 2.0f);
//   }

#include <array>
#include <deque>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

#include "driver/driver_support.hpp"
#include "runtime/driver/library.hpp"

namespace driver_test {

// Another user of the driver in the process: kaio's pointers to the driver's functions, called without kaio.
inline const kaio::runtime::driver::functions& cu() { return kaio::runtime::driver::process_library().call; }

// What the flows of a device share: the device, and the objects of another user.
struct place {
  explicit place(std::size_t count);
  ~place();
  place(const place&) = delete;
  place& operator=(const place&) = delete;

  kaio::device& gpu(std::size_t i = 0) { return *devices[i]; }
  std::array<std::optional<kaio::device>, 2> devices;
  // What its owner does if kaio could not.
  void end_capture();
  // Another user's, in the primary context of the first GPU: a stream and 4096 bytes.
  void* stream = nullptr;
  std::uint64_t memory = 0;
};

enum class needs : std::uint8_t {
  one_device,
  two_devices,
  a_new_device,       // for what takes place once for a device
  a_foreign_context,  // the flow opens it, and it is destroyed after the flow
  nothing,            // the flow opens devices itself
  no_context,         // the same, and no context is current before it
};

struct flow {
  const char* name;
  needs needed;
  void (*run)(place& p);
};

// A result of a flow is wrong: no failure of the driver excuses that.
struct wrong_result : std::logic_error {
  using std::logic_error::logic_error;
};
inline void expect(bool right, const char* what) {
  if (!right) throw wrong_result(what);
}
// What is to be thrown is thrown, or the error that was injected is.
template <class Call>
void expect_error(kaio::errc code, Call call) {
  try {
    call();
  } catch (const kaio::error& e) {
    if (e.code() != code) throw;
    return;
  }
  throw wrong_result("nothing was thrown");
}

// 1024 times a value, and twice that after scale_all.
inline std::vector<float> many(float value) { return std::vector<float>(1024, value); }
inline bool all_are(const std::vector<float>& values, float value) {
  return values.size() == 1024 && values.front() == value && values.back() == value;
}

// Waits for a stream, also if a flow ends by an error. Memory of one device may only be freed after the work of
// another one with it.
class drained {
 public:
  explicit drained(const kaio::stream& s) : native_(s.native_handle()) {}
  ~drained() { cu().cuStreamSynchronize(static_cast<kaio::driver_abi::CUstream>(native_)); }
  drained(const drained&) = delete;
  drained& operator=(const drained&) = delete;

 private:
  void* native_;
};

// For host functions. Work that a failed flow left may call one later: a counter stays.
inline int& counter() {
  static std::deque<int> all;
  return all.emplace_back(0);
}
inline void count_call(void* calls) { ++*static_cast<int*>(calls); }

// `scale` in one block, which the emulated driver runs on the calling thread: flows run some hundred thousand times.
constexpr kaio::ptx::kernel_image in_one_block() {
  kaio::ptx::kernel_image kernel = scale;
  kernel.block = {1024, 1, 1};
  return kernel;
}
inline constexpr kaio::ptx::kernel_image scale_at_once = in_one_block();

// x[i] *= 2, in a stream or on a position of a graph.
template <class Where>
void scale_all(Where& where, const kaio::buffer<float>& x) {
  const kaio::ptx::argument arguments[] = {x.as_argument(), {0x40000000u}, {1024}};
  where.launch(scale_at_once, {1, 1, 1}, arguments, 3);
}

std::span<const flow> flows_of_devices();
std::span<const flow> flows_of_memory();
std::span<const flow> flows_of_streams();
std::span<const flow> flows_of_graphs();

}  // namespace driver_test
