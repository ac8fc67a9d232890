#include "driver/driver_support.hpp"
#include "host/system/library.hpp"

#if !defined(_WIN32)
#include <dlfcn.h>
#endif

#include <cstdlib>

namespace driver_test {

namespace {

// The library's own functions, through the library that kaio loads too, and a few of the driver's.
struct library {
  decltype(&kaio_emulator_fail_call) fail_call;
  decltype(&kaio_emulator_fail_function) fail_function;
  decltype(&kaio_emulator_reset) reset;
  decltype(&kaio_emulator_count) count;
  decltype(&kaio_emulator_calls_of) calls_of;
  decltype(&kaio_emulator_alive) alive;
  decltype(&kaio_emulator_last_launch) last_launch;
  decltype(&kaio_emulator_set_machine) set_machine;
  int (*init)(unsigned);
  int (*get_current)(void**);
  int (*set_current)(void*);
  int (*create_context)(void**, unsigned, int);
  int (*destroy_context)(void*);
  int (*retain_primary)(void**, int);
  int (*release_primary)(int);
  int (*create_stream)(void**, unsigned);
  int (*destroy_stream)(void*);
  int (*begin_capture)(void*, int);
  int (*end_capture)(void*, void**);
  int (*destroy_graph)(void*);
  int (*instantiate_graph)(void**, void*, unsigned long long);
  int (*launch_graph)(void*, void*);
  int (*destroy_executable)(void*);
};

const library& driver() {
  static const library found = [] {
    const char* file = std::getenv("KAIO_CUDA_LIBRARY");
    if (!file) FAIL("set KAIO_CUDA_LIBRARY to libkaio_cuda_emulator.so");
    std::string reason;
    void* opened = kaio::host::open_library(file, reason);
    if (!opened) FAIL(reason);
    const auto find = [&]<class Function>(const char* name, Function& function) {
      function = reinterpret_cast<Function>(kaio::host::find_symbol(opened, name));
      if (!function) FAIL(name);
    };
    library l{};
    find("kaio_emulator_fail_call", l.fail_call);
    find("kaio_emulator_fail_function", l.fail_function);
    find("kaio_emulator_reset", l.reset);
    find("kaio_emulator_count", l.count);
    find("kaio_emulator_calls_of", l.calls_of);
    find("kaio_emulator_alive", l.alive);
    find("kaio_emulator_last_launch", l.last_launch);
    find("kaio_emulator_set_machine", l.set_machine);
    find("cuInit", l.init);
    find("cuCtxGetCurrent", l.get_current);
    find("cuCtxSetCurrent", l.set_current);
    find("cuCtxCreate_v2", l.create_context);
    find("cuCtxDestroy_v2", l.destroy_context);
    find("cuDevicePrimaryCtxRetain", l.retain_primary);
    find("cuDevicePrimaryCtxRelease_v2", l.release_primary);
    find("cuStreamCreate", l.create_stream);
    find("cuStreamDestroy_v2", l.destroy_stream);
    find("cuStreamBeginCapture_v2", l.begin_capture);
    find("cuStreamEndCapture", l.end_capture);
    find("cuGraphDestroy", l.destroy_graph);
    find("cuGraphInstantiateWithFlags", l.instantiate_graph);
    find("cuGraphLaunch", l.launch_graph);
    find("cuGraphExecDestroy", l.destroy_executable);
    return l;
  }();
  return found;
}

}  // namespace

bool has_a_sanitizer() {
#if defined(_WIN32)
  return false;
#else
  return dlsym(RTLD_DEFAULT, "__asan_init") != nullptr || dlsym(RTLD_DEFAULT, "__tsan_init") != nullptr;
#endif
}

fresh_driver::fresh_driver() {
  driver().reset();
  driver().init(0);
  set_current(nullptr);
  REQUIRE(alive() == 0);
  be(1);
  driver().reset();
}

fresh_driver::~fresh_driver() {
  CHECK(alive() == 0);
  CHECK(counted().misuses == 0);
  driver().reset();
}

kaio_emulator_counters fresh_driver::counted() const {
  kaio_emulator_counters now;
  driver().count(&now);
  return now;
}

long fresh_driver::alive() const {
  const kaio_emulator_counters now = counted();
  return static_cast<long>(driver().alive(&now));
}

long fresh_driver::calls_of(const char* function) const {
  return static_cast<long>(driver().calls_of(function));
}

kaio_emulator_launch fresh_driver::last() const {
  kaio_emulator_launch launch;
  REQUIRE(driver().last_launch(&launch) == 1);
  return launch;
}

void fresh_driver::reset() const { driver().reset(); }

void fresh_driver::fail(long call, int code, bool stay) const { driver().fail_call(call, code, stay); }

void fresh_driver::fail_next(const char* function, int code) const {
  REQUIRE(driver().fail_function(function, calls_of(function), code, 0) == 1);
}

void fresh_driver::be(int devices, const char* architecture, int version) const {
  const kaio_emulator_machine machine{devices, architecture, version, std::uint64_t{1} << 30};
  REQUIRE(driver().set_machine(&machine) == 1);
}

void* fresh_driver::current() const {
  void* context = nullptr;
  REQUIRE(driver().get_current(&context) == 0);
  return context;
}

void fresh_driver::set_current(void* context) const { REQUIRE(driver().set_current(context) == 0); }

void* fresh_driver::create_context(int ordinal) const {
  void* context = nullptr;
  REQUIRE(driver().create_context(&context, 0, ordinal) == 0);
  return context;
}

void* fresh_driver::retain_primary(int ordinal) const {
  void* context = nullptr;
  REQUIRE(driver().retain_primary(&context, ordinal) == 0);
  set_current(context);
  return context;
}

void fresh_driver::release_primary(int ordinal) const { REQUIRE(driver().release_primary(ordinal) == 0); }

void* fresh_driver::create_stream() const {
  void* stream = nullptr;
  REQUIRE(driver().create_stream(&stream, 1) == 0);  // CU_STREAM_NON_BLOCKING
  return stream;
}

void fresh_driver::destroy_stream(void* stream) const { REQUIRE(driver().destroy_stream(stream) == 0); }

void fresh_driver::destroy_context(void* context) const { REQUIRE(driver().destroy_context(context) == 0); }

void fresh_driver::begin_capture(void* stream) const { REQUIRE(driver().begin_capture(stream, 0) == 0); }

void fresh_driver::end_capture(void* stream) const {
  void* graph = nullptr;
  REQUIRE(driver().end_capture(stream, &graph) == 0);
  REQUIRE(driver().destroy_graph(graph) == 0);
}

void* fresh_driver::end_capture_as_graph(void* stream) const {
  void *graph = nullptr, *executable = nullptr;
  REQUIRE(driver().end_capture(stream, &graph) == 0);
  REQUIRE(driver().instantiate_graph(&executable, graph, 0) == 0);
  REQUIRE(driver().destroy_graph(graph) == 0);
  return executable;
}

void fresh_driver::launch_graph(void* executable, void* stream) const {
  REQUIRE(driver().launch_graph(executable, stream) == 0);
}

void fresh_driver::destroy_executable(void* executable) const {
  REQUIRE(driver().destroy_executable(executable) == 0);
}

}  // namespace driver_test
