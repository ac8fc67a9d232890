/* A program of the CUDA driver API for Windows, linked with nvcuda.dll. It adds two vectors on the emulator, checks the sum,
   and looks at the message for a wrong text. It knows nothing of kaio. */

#include <stdio.h>
#include <string.h>

typedef unsigned long long address;
int cuInit(unsigned flags);
int cuDriverGetVersion(int* version);
int cuDeviceGet(int* device, int ordinal);
int cuDeviceGetName(char* name, int length, int device);
int cuDevicePrimaryCtxRetain(void** context, int device);
int cuCtxSetCurrent(void* context);
int cuModuleLoadData(void** module, const void* image);
int cuModuleLoadDataEx(void** module, const void* image, unsigned count, int* options, void** values);
int cuModuleGetFunction(void** function, void* module, const char* name);
int cuMemAlloc_v2(address* pointer, size_t bytes);
int cuMemFree_v2(address pointer);
int cuMemcpyHtoD_v2(address to, const void* from, size_t bytes);
int cuMemcpyDtoH_v2(void* to, address from, size_t bytes);
int cuLaunchKernel(void* function, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by, unsigned bz, unsigned shared,
                   void* stream, void** parameters, void** extra);
int cuCtxSynchronize(void);

static const char* const vector_add =
    ".version 7.0\n.target sm_52\n.address_size 64\n"
    ".visible .entry vector_add(.param .u64 a, .param .u64 b, .param .u64 c, .param .u32 n)\n{\n"
    "  .reg .pred %p;\n  .reg .b32 %r<5>;\n  .reg .f32 %f<4>;\n  .reg .b64 %d<8>;\n"
    "  ld.param.u64 %d0, [a];\n  ld.param.u64 %d1, [b];\n  ld.param.u64 %d2, [c];\n  ld.param.u32 %r0, [n];\n"
    "  mov.u32 %r1, %ctaid.x;\n  mov.u32 %r2, %ntid.x;\n  mov.u32 %r3, %tid.x;\n"
    "  mad.lo.s32 %r4, %r1, %r2, %r3;\n  setp.ge.u32 %p, %r4, %r0;\n  @%p bra end;\n"
    "  mul.wide.u32 %d3, %r4, 4;\n  add.s64 %d4, %d0, %d3;\n  add.s64 %d5, %d1, %d3;\n  add.s64 %d6, %d2, %d3;\n"
    "  ld.global.f32 %f0, [%d4];\n  ld.global.f32 %f1, [%d5];\n  add.f32 %f2, %f0, %f1;\n"
    "  st.global.f32 [%d6], %f2;\nend:\n  ret;\n}\n";

#define CHECK(call)                                                  \
  do {                                                               \
    const int result = (call);                                       \
    if (result != 0) {                                               \
      fprintf(stderr, "line %d: %s: %d\n", __LINE__, #call, result); \
      return 1;                                                      \
    }                                                                \
  } while (0)

int main(void) {
  enum { elements = 1000, bytes = elements * 4, invalid_ptx = 218, error_log = 5, error_log_bytes = 6 };
  static float a[elements], b[elements], c[elements];
  int version = 0, device = 0;
  char name[100], log[1024] = "";
  void *context, *module, *function;
  address memory[3];
  unsigned n = elements;
  CHECK(cuInit(0));
  CHECK(cuDriverGetVersion(&version));
  CHECK(cuDeviceGet(&device, 0));
  CHECK(cuDeviceGetName(name, sizeof name, device));
  printf("%s, driver %d\n", name, version);
  CHECK(cuDevicePrimaryCtxRetain(&context, device));
  CHECK(cuCtxSetCurrent(context));
  int options[] = {error_log, error_log_bytes};
  void* values[] = {log, (void*)sizeof log};
  if (cuModuleLoadDataEx(&module, ".version 7.0\n.target sm_70\nbroken\n", 2, options, values) != invalid_ptx ||
      strstr(log, "line 3") == NULL) {
    fprintf(stderr, "a wrong text was taken, or its message is '%s'\n", log);
    return 1;
  }
  CHECK(cuModuleLoadData(&module, vector_add));
  CHECK(cuModuleGetFunction(&function, module, "vector_add"));
  for (int i = 0; i < elements; ++i) {
    a[i] = (float)i;
    b[i] = 0.5f;
  }
  for (int i = 0; i < 3; ++i) CHECK(cuMemAlloc_v2(&memory[i], bytes));
  CHECK(cuMemcpyHtoD_v2(memory[0], a, bytes));
  CHECK(cuMemcpyHtoD_v2(memory[1], b, bytes));
  void* arguments[] = {&memory[0], &memory[1], &memory[2], &n};
  CHECK(cuLaunchKernel(function, (n + 255) / 256, 1, 1, 256, 1, 1, 0, NULL, arguments, NULL));
  CHECK(cuCtxSynchronize());
  CHECK(cuMemcpyDtoH_v2(c, memory[2], bytes));
  for (int i = 0; i < elements; ++i)
    if (c[i] != a[i] + b[i]) {
      fprintf(stderr, "element %d is %f\n", i, (double)c[i]);
      return 1;
    }
  for (int i = 0; i < 3; ++i) CHECK(cuMemFree_v2(memory[i]));
  return 0;
}
