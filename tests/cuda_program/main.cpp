// An ordinary program of the CUDA driver API, written as C programs are: it opens libcuda.so.1 or, with LINKED
// defined, is linked with -lcuda. It adds two vectors, checks the sum, and looks at the compiler's message for a
// wrong text. It knows nothing of kaio.

#include <cuda.h>
#include <dlfcn.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>

static void* library;

static void* entry(const char* name) {
  void* address = dlsym(library, name);
  if (!address) {
    fprintf(stderr, "there is no %s\n", name);
    exit(1);
  }
  return address;
}

// cuda.h maps each name to its newest form; so does this.
#define TEXT_OF(name) #name
#define NAME_OF(name) TEXT_OF(name)
#if defined(LINKED)
#define CU(name) name
#else
#define CU(name) (reinterpret_cast<decltype(&name)>(entry(NAME_OF(name))))
#endif
#define CHECK(call)                                                        \
  do {                                                                     \
    const CUresult result = (call);                                        \
    if (result != CUDA_SUCCESS) {                                          \
      const char* text = "?";                                              \
      CU(cuGetErrorString)(result, &text);                                 \
      fprintf(stderr, "%s:%d: %s: %s\n", __FILE__, __LINE__, #call, text); \
      exit(1);                                                             \
    }                                                                      \
  } while (0)
#define EXPECT(condition)                                             \
  do {                                                                \
    if (!(condition)) {                                               \
      fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, #condition); \
      exit(1);                                                        \
    }                                                                 \
  } while (0)

static const char* const vector_add =
    ".version 7.0\n.target sm_52\n.address_size 64\n"
    ".visible .entry vector_add(.param .u64 a, .param .u64 b, .param .u64 c, .param .u32 n)\n{\n"
    "  .reg .pred %p;\n  .reg .b32 %r<5>;\n  .reg .f32 %f<4>;\n  .reg .b64 %d<8>;\n"
    "  ld.param.u64 %d0, [a];\n  ld.param.u64 %d1, [b];\n  ld.param.u64 %d2, [c];\n  ld.param.u32 %r0, [n];\n"
    "  mov.u32 %r1, %ctaid.x;\n  mov.u32 %r2, %ntid.x;\n  mov.u32 %r3, %tid.x;\n"
    "  mad.lo.s32 %r4, %r1, %r2, %r3;\n  setp.ge.u32 %p, %r4, %r0;\n  @%p bra end;\n"
    "  mul.wide.u32 %d3, %r4, 4;\n  add.s64 %d4, %d0, %d3;\n  add.s64 %d5, %d1, %d3;\n  add.s64 %d6, %d2, "
    "%d3;\n"
    "  ld.global.f32 %f0, [%d4];\n  ld.global.f32 %f1, [%d5];\n  add.f32 %f2, %f0, %f1;\n"
    "  st.global.f32 [%d6], %f2;\nend:\n  ret;\n}\n";

int main() {
  library = dlopen("libcuda.so.1", RTLD_NOW);
  if (!library) {
    fprintf(stderr, "%s\n", dlerror());
    return 1;
  }
#if defined(LINKED)
  // What is linked and what is opened are one library.
  EXPECT(entry(NAME_OF(cuMemAlloc)) == reinterpret_cast<void*>(cuMemAlloc));
#endif
  CHECK(CU(cuInit)(0));
  int version = 0, count = 0, major = 0;
  CHECK(CU(cuDriverGetVersion)(&version));
  CHECK(CU(cuDeviceGetCount)(&count));
  EXPECT(version >= 12000 && count >= 1);
  CUdevice device;
  char name[100];
  CHECK(CU(cuDeviceGet)(&device, 0));
  CHECK(CU(cuDeviceGetName)(name, sizeof name, device));
  CHECK(CU(cuDeviceGetAttribute)(&major, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, device));
  printf("%s, compute capability %d.x, driver %d\n", name, major, version);
  CUcontext context;
  CHECK(CU(cuDevicePrimaryCtxRetain)(&context, device));
  CHECK(CU(cuCtxSetCurrent)(context));

  CUmodule module;
  char log[1024] = "";
  CUjit_option options[] = {CU_JIT_ERROR_LOG_BUFFER, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES};
  void* values[] = {log, reinterpret_cast<void*>(sizeof log)};
  EXPECT(CU(cuModuleLoadDataEx)(&module, ".version 7.0\n.target sm_70\nbroken\n", 2, options, values) ==
         CUDA_ERROR_INVALID_PTX);
  EXPECT(strstr(log, "line 3") != nullptr);
  CHECK(CU(cuModuleLoadData)(&module, vector_add));
  CUfunction function;
  CHECK(CU(cuModuleGetFunction)(&function, module, "vector_add"));

  enum { elements = 1000, bytes = elements * 4 };
  static float a[elements], b[elements], c[elements];
  for (int i = 0; i < elements; ++i) {
    a[i] = static_cast<float>(i);
    b[i] = 0.5f;
  }
  CUdeviceptr on_device[3];
  for (CUdeviceptr& p : on_device) CHECK(CU(cuMemAlloc)(&p, bytes));
  CUstream stream;
  CUevent begin, end;
  CHECK(CU(cuStreamCreate)(&stream, CU_STREAM_NON_BLOCKING));
  CHECK(CU(cuEventCreate)(&begin, CU_EVENT_DEFAULT));
  CHECK(CU(cuEventCreate)(&end, CU_EVENT_DEFAULT));
  CHECK(CU(cuMemcpyHtoDAsync)(on_device[0], a, bytes, stream));
  CHECK(CU(cuMemcpyHtoDAsync)(on_device[1], b, bytes, stream));
  unsigned n = elements;
  void* arguments[] = {&on_device[0], &on_device[1], &on_device[2], &n};
  int grid = 0, block = 0;
  CHECK(CU(cuOccupancyMaxPotentialBlockSize)(&grid, &block, function, nullptr, 0, 256));
  EXPECT(block == 256);
  CHECK(CU(cuEventRecord)(begin, stream));
  CHECK(CU(cuLaunchKernel)(function, (n + 255) / 256, 1, 1, 256, 1, 1, 0, stream, arguments, nullptr));
  CHECK(CU(cuEventRecord)(end, stream));
  CHECK(CU(cuMemcpyDtoHAsync)(c, on_device[2], bytes, stream));
  CHECK(CU(cuStreamSynchronize)(stream));
  for (int i = 0; i < elements; ++i) EXPECT(c[i] == a[i] + b[i]);
  float milliseconds = -1;
  CHECK(CU(cuEventElapsedTime)(&milliseconds, begin, end));
  EXPECT(milliseconds >= 0);

  // Captures the launch as a graph.
  CUgraph graph;
  CUgraphExec executable;
  CHECK(CU(cuStreamBeginCapture)(stream, CU_STREAM_CAPTURE_MODE_GLOBAL));
  CHECK(CU(cuMemsetD32Async)(on_device[2], 0, elements, stream));
  CHECK(CU(cuLaunchKernel)(function, (n + 255) / 256, 1, 1, 256, 1, 1, 0, stream, arguments, nullptr));
  CHECK(CU(cuMemcpyDtoHAsync)(c, on_device[2], bytes, stream));
  CHECK(CU(cuStreamEndCapture)(stream, &graph));
  CHECK(CU(cuGraphInstantiate)(&executable, graph, 0));
  memset(c, 0, sizeof c);
  CHECK(CU(cuGraphLaunch)(executable, stream));
  CHECK(CU(cuStreamSynchronize)(stream));
  for (int i = 0; i < elements; ++i) EXPECT(c[i] == a[i] + b[i]);
  CHECK(CU(cuGraphExecDestroy)(executable));
  CHECK(CU(cuGraphDestroy)(graph));

  for (const CUdeviceptr p : on_device) CHECK(CU(cuMemFree)(p));
  CHECK(CU(cuEventDestroy)(begin));
  CHECK(CU(cuEventDestroy)(end));
  CHECK(CU(cuStreamDestroy)(stream));
  CHECK(CU(cuModuleUnload)(module));
  CHECK(CU(cuDevicePrimaryCtxRelease)(device));
  return 0;
}
