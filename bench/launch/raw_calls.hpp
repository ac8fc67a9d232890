#pragma once
// The kernels of this benchmark, and the driver's own calls, next to which kaio's are measured.
//
//   const raw_kernel raw(count_one);
//   const raw_graph graph(s, [&] { raw.launch(s, parameters); });
//   graph.launch();

#include <kaio/runtime/runtime.hpp>

#include <stdexcept>
#include <string>
#include <string_view>

#include "runtime/driver/library.hpp"

namespace kaio::bench {

namespace driver = runtime::driver;

// Five parameters, and no work.
inline constexpr std::string_view nothing_text[] = {
    ".version 6.0\n.target sm_70\n.address_size 64\n"
    ".visible .entry nothing(.param .u64 nothing_param_0, .param .u64 nothing_param_1, .param .u64 "
    "nothing_param_2,\n"
    "  .param .f32 nothing_param_3, .param .u32 nothing_param_4)\n"
    ".maxntid 256, 1, 1\n{\n  ret;\n}\n"};
inline constexpr ptx::parameter nothing_parameters[] = {{ptx::type::f32, ptx::access::in},
                                                        {ptx::type::f32, ptx::access::in},
                                                        {ptx::type::f32, ptx::access::out},
                                                        {ptx::type::f32, ptx::access::scalar},
                                                        {ptx::type::u32, ptx::access::scalar}};
inline constexpr ptx::kernel_image nothing{.name = "nothing",
                                           .segments = nothing_text,
                                           .segment_count = 1,
                                           .parameters = nothing_parameters,
                                           .parameter_count = 5,
                                           .block = {256, 1, 1},
                                           .needs = {}};

// Adds 1 to a counter, which proves afterwards that each launch ran.
inline constexpr std::string_view count_one_text[] = {
    ".version 6.0\n.target sm_70\n.address_size 64\n"
    ".visible .entry count_one(.param .u64 count_one_param_0)\n"
    ".maxntid 1, 1, 1\n{\n  .reg .b64 %counter;\n"
    "  ld.param.u64 %counter, [count_one_param_0];\n  cvta.to.global.u64 %counter, %counter;\n"
    "  red.global.add.u32 [%counter], 1;\n  ret;\n}\n"};
inline constexpr ptx::parameter count_one_parameters[] = {{ptx::type::u32, ptx::access::inout}};
inline constexpr ptx::kernel_image count_one{.name = "count_one",
                                             .segments = count_one_text,
                                             .segment_count = 1,
                                             .parameters = count_one_parameters,
                                             .parameter_count = 1,
                                             .block = {1, 1, 1},
                                             .needs = {}};

inline void check(driver::CUresult result, const char* call) {
  if (result != driver::CUDA_SUCCESS)
    throw std::runtime_error(std::string("kaio: ") + call + " failed with code " +
                             std::to_string(static_cast<int>(result)));
}

// A kernel that the driver has loaded from the text of an image.
class raw_kernel {
 public:
  // A context is current: a call of kaio made it so.
  explicit raw_kernel(const ptx::kernel_image& image) : block_(image.block) {
    check(call_.cuModuleLoadDataEx(&module_, image.segments[0].data(), 0, nullptr, nullptr),
          "cuModuleLoadDataEx");
    check(call_.cuModuleGetFunction(&function_, module_, std::string(image.name).c_str()),
          "cuModuleGetFunction");
  }
  ~raw_kernel() { call_.cuModuleUnload(module_); }
  raw_kernel(const raw_kernel&) = delete;
  raw_kernel& operator=(const raw_kernel&) = delete;

  // One block. `parameters` has a pointer to the value of each parameter.
  void launch(driver::CUstream s, void** parameters) const {
    check(call_.cuLaunchKernel(function_, 1, 1, 1, block_.x, block_.y, block_.z, 0, s, parameters, nullptr),
          "cuLaunchKernel");
  }

 private:
  const driver::functions& call_ = driver::process_library().call;
  ptx::dim3 block_;
  driver::CUmodule module_ = nullptr;
  driver::CUfunction function_ = nullptr;
};

// The work that `enqueue` puts into a stream, captured and replayed by the driver's calls.
class raw_graph {
 public:
  template <class Enqueue>
  raw_graph(driver::CUstream s, const Enqueue& enqueue) : stream_(s) {
    if (call_.cuGraphInstantiateWithFlags == nullptr)
      throw std::runtime_error("kaio: the driver has no cuGraphInstantiateWithFlags; install 525 or newer");
    check(call_.cuStreamBeginCapture_v2(s, driver::CU_STREAM_CAPTURE_MODE_THREAD_LOCAL),
          "cuStreamBeginCapture");
    enqueue();
    driver::CUgraph captured = nullptr;
    check(call_.cuStreamEndCapture(s, &captured), "cuStreamEndCapture");
    check(call_.cuGraphInstantiateWithFlags(&executable_, captured, 0), "cuGraphInstantiateWithFlags");
    check(call_.cuGraphDestroy(captured), "cuGraphDestroy");
  }
  ~raw_graph() { call_.cuGraphExecDestroy(executable_); }
  raw_graph(const raw_graph&) = delete;
  raw_graph& operator=(const raw_graph&) = delete;

  void launch() const { check(call_.cuGraphLaunch(executable_, stream_), "cuGraphLaunch"); }

 private:
  const driver::functions& call_ = driver::process_library().call;
  driver::CUstream stream_;
  driver::CUgraphExec executable_ = nullptr;
};

}  // namespace kaio::bench
