/* Kernels of a library by name: what they are, launches with every kind of argument, each refused argument, the sanitizer. The
 * library is kernel_library.cpp, in the folder that is the program's argument. */
#include "tensors.h"

static DLDataType f32, f64;
static kaio_kernel_library* library;
static float x[4096], y[4096], got[4096];

static const kaio_kernel* named(const char* name) {
  const kaio_kernel* kernel = NULL;
  SUCCEEDS(kaio_kernel_library_find(library, name, &kernel));
  return kernel;
}

static void what_a_library_has(void) {
  uint64_t count = 0;
  const char* text = NULL;
  const kaio_kernel* kernel = NULL;
  kaio_kernel_info info = kaio_kernel_info_default();
  kaio_kernel_parameter parameter = kaio_kernel_parameter_default();
  SUCCEEDS(kaio_kernel_library_count(library, &count));
  CHECK(count == 10);
  CHECK(strcmp(kaio_kernel_library_version(library), kaio_version()) == 0);
  SUCCEEDS(kaio_kernel_library_at(library, 0, &kernel));
  CHECK(kernel == named("saxpy") && kernel == named("tests::saxpy"));
  SUCCEEDS(kaio_kernel_info_of(kernel, &info));
  CHECK(strcmp(info.name, "saxpy") == 0 && strcmp(info.object, "tests::saxpy") == 0);
  CHECK(strcmp(info.signature, "saxpy(in<f32>, inout<f32>, val<f32>, val<u32>)") == 0);
  CHECK(info.parameters == 4 && info.block[0] == 256 && info.block[1] == 1 && info.cluster[0] == 0);
  CHECK(info.architecture == 70 && info.is_arch_specific == 0 && info.is_cooperative == 0);
  SUCCEEDS(kaio_kernel_parameter_of(kernel, 1, &parameter));
  CHECK(parameter.access == KAIO_ACCESS_INOUT && strcmp(parameter.text, "inout<f32>") == 0 && parameter.bytes == 4);
  CHECK(parameter.type.code == kDLFloat && parameter.type.bits == 32 && parameter.type.lanes == 1);
  SUCCEEDS(kaio_kernel_parameter_of(named("negate4"), 0, &parameter));
  CHECK(parameter.type.lanes == 4 && parameter.alignment == 16 && strcmp(parameter.text, "inout<vec<f32, 4>>") == 0);
  SUCCEEDS(kaio_kernel_parameter_of(named("apply"), 1, &parameter));
  CHECK(parameter.type.bits == 0 && parameter.bytes == 12 && strcmp(parameter.text, "val<struct of 12 bytes>") == 0);
  SUCCEEDS(kaio_kernel_parameter_of(named("numbers"), 10, &parameter));
  CHECK(parameter.type.code == kDLFloat8_e4m3fn && strcmp(parameter.text, "val<e4m3>") == 0);
  SUCCEEDS(kaio_kernel_ptx(kernel, &text));
  CHECK(strncmp(text, ".version", 8) == 0 && strstr(text, ".entry saxpy") != NULL);
  CHECK(named("twice<f32>") != named("tests::twice<i32>"));

  REFUSED(kaio_kernel_library_find(library, "twice", &kernel), "two kernels of the name 'twice'", "tests::twice<i32>");
  REFUSED(kaio_kernel_library_find(library, "saxpi", &kernel), "no kernel 'saxpi'", "saxpy, numbers");
  REFUSED(kaio_kernel_library_find(NULL, "saxpy", &kernel), "argument library", "NULL");
  REFUSED(kaio_kernel_library_at(library, 10, &kernel), "index is 10", "10 kernels");
  REFUSED(kaio_kernel_parameter_of(named("saxpy"), 4, &parameter), "index is 4", "kernel saxpy has 4 parameters");
  info.size = 3;
  REFUSED(kaio_kernel_info_of(named("saxpy"), &info), "argument info has size 3", "sizeof");
}

/* What is no library of this version, with the layout of its table. */
static void other_files(const char* self) {
  struct {
    uint32_t format, count;
    const char* version;
    uint64_t layout;
    const void* kernels;
    const char* names;
  } table = {2, 1, "0.0.9", 7, NULL, "a"};
  kaio_kernel_library* other = NULL;
  CHECK(kaio_kernel_library_open("./no_such_library.so", &other) == KAIO_UNREADABLE_FILE);
  CHECK(strstr(kaio_last_error(), "no_such_library.so cannot be loaded") != NULL);
  CHECK(kaio_kernel_library_open(self, &other) == KAIO_UNSUPPORTED_FORMAT);
  CHECK(strstr(kaio_last_error(), "KAIO_KERNEL_LIBRARY") != NULL);
  CHECK(kaio_kernel_library_of_table(&table, &other) == KAIO_UNSUPPORTED_FORMAT);
  CHECK(strstr(kaio_last_error(), "table of format 2") != NULL && strstr(kaio_last_error(), kaio_version()) != NULL);
  table.format = 1;
  CHECK(kaio_kernel_library_of_table(&table, &other) == KAIO_UNSUPPORTED_FORMAT);
  CHECK(strstr(kaio_last_error(), "built with kaio 0.0.9 (layout 00000007)") != NULL);
  REFUSED(kaio_kernel_library_of_table(NULL, &other), "argument table", "NULL");
  SUCCEEDS(kaio_kernel_library_close(NULL));
  CHECK(other == NULL);
}

/* y += 2 x, on the device under test, captured into a graph, and in memory of the CPU. */
static void launches(void) {
  const int64_t n = 1000;
  int64_t shape = n;
  int i, wrong = 0;
  DLTensor on_cpu[2];
  kaio_stream* stream = NULL;
  kaio_capture* capture = NULL;
  kaio_graph* graph = NULL;
  kaio_kernel_argument arguments[4];
  kaio_kernel_grid grid = kaio_kernel_grid_over((uint64_t)n);
  shaped a, b;
  SHAPED(&a, f32, n);
  SHAPED(&b, f32, n);
  randomise(&a, x, 1);
  randomise(&b, y, 2);
  SUCCEEDS(kaio_kernel_warmup(named("saxpy"), device));
  arguments[0] = kaio_argument_tensor(&a.tensor);
  arguments[1] = kaio_argument_tensor(&b.tensor);
  arguments[2] = kaio_argument_number(2.0);
  arguments[3] = kaio_argument_integer(n);
  SUCCEEDS(kaio_kernel_launch(NULL, named("saxpy"), &grid, arguments, 4));
  receive(&b, got);
  for (i = 0; i < n; ++i) wrong += got[i] != y[i] + 2 * x[i];
  CHECK(wrong == 0);

  SUCCEEDS(kaio_stream_create(device, &stream));
  SUCCEEDS(kaio_capture_begin(device, kaio_stream_handle(stream), &capture));
  SUCCEEDS(kaio_kernel_launch(kaio_stream_handle(stream), named("saxpy"), &grid, arguments, 4));
  SUCCEEDS(kaio_capture_end(capture, &graph));
  SUCCEEDS(kaio_graph_launch(graph, kaio_stream_handle(stream)));
  SUCCEEDS(kaio_graph_destroy(graph));
  receive(&b, got);
  for (i = 0; i < n; ++i) wrong += got[i] != y[i] + 2 * x[i] + 2 * x[i];
  CHECK(wrong == 0);
  SUCCEEDS(kaio_stream_destroy(stream));
  drop(&a);
  drop(&b);

  for (i = 0; i < 2; ++i) {
    on_cpu[i] = a.tensor;
    on_cpu[i].device.device_type = kDLCPU;
    on_cpu[i].device.device_id = 0;
    on_cpu[i].shape = &shape;
    on_cpu[i].data = i == 0 ? x : y;
    arguments[i] = kaio_argument_tensor(&on_cpu[i]);
  }
  memcpy(got, y, sizeof got);
  SUCCEEDS(kaio_kernel_launch(NULL, named("saxpy"), &grid, arguments, 4));
  for (i = 0; i < n; ++i) wrong += y[i] != got[i] + 2 * x[i];
  CHECK(wrong == 0);
  shape = 0;
  grid.x = 0;
  SUCCEEDS(kaio_kernel_launch(NULL, named("saxpy"), &grid, arguments, 4));
}

/* A number of each type, given exactly or as a number that the type holds. */
static void numbers_of_all_types(void) {
  const double wanted[10] = {0.1f, 1.5, 1.0078125, 0.1, -128, 65535, -1e15, 1.8446744073709552e19, 1, 448};
  double values[10];
  int i;
  kaio_kernel_argument arguments[11];
  kaio_kernel_grid grid = kaio_kernel_grid_of(1, 1, 1);
  shaped out;
  SHAPED(&out, f64, 10);
  arguments[0] = kaio_argument_tensor(&out.tensor);
  arguments[1] = kaio_argument_number(0.1);
  arguments[2] = kaio_argument_number(1.5);
  arguments[3] = kaio_argument_number(1.0052);
  arguments[4] = kaio_argument_number(0.1);
  arguments[5] = kaio_argument_integer(-128);
  arguments[6] = kaio_argument_integer(65535);
  arguments[7] = kaio_argument_integer(-1000000000000000);
  arguments[8] = kaio_argument_unsigned(UINT64_MAX);
  arguments[9] = kaio_argument_integer(1);
  arguments[10] = kaio_argument_number(448);
  SUCCEEDS(kaio_kernel_launch(NULL, named("numbers"), &grid, arguments, 11));
  receive(&out, values);
  for (i = 0; i < 10; ++i) CHECK(values[i] == wanted[i]);

  arguments[1] = kaio_argument_scalar(f32, 0x40490fdb);
  arguments[2] = kaio_argument_integer(3);
  arguments[5] = kaio_argument_scalar(type_of(kDLInt, 8), 0xffffffffffffff80u);
  arguments[9] = kaio_argument_scalar(type_of(kDLBool, 8), 1);
  SUCCEEDS(kaio_kernel_launch(NULL, named("numbers"), &grid, arguments, 11));
  receive(&out, values);
  CHECK(values[0] == 3.14159274101257324 && values[1] == 3 && values[4] == -128 && values[8] == 1);

#define REFUSED_NUMBER(index, argument, one, other) \
  do { \
    const kaio_kernel_argument kept = arguments[index]; \
    arguments[index] = argument; \
    REFUSED(kaio_kernel_launch(NULL, named("numbers"), &grid, arguments, 11), one, other); \
    arguments[index] = kept; \
  } while (0)
  REFUSED_NUMBER(5, kaio_argument_integer(128), "kernel numbers: argument 6 is 128", "val<i8>, cannot hold");
  REFUSED_NUMBER(5, kaio_argument_integer(-129), "is -129", "cannot hold");
  REFUSED_NUMBER(6, kaio_argument_integer(-1), "argument 7 is -1", "val<u16>");
  REFUSED_NUMBER(6, kaio_argument_integer(65536), "is 65536", "val<u16>");
  REFUSED_NUMBER(7, kaio_argument_unsigned(UINT64_MAX), "is 18446744073709551615", "val<i64>");
  REFUSED_NUMBER(9, kaio_argument_integer(2), "argument 10 is 2", "val<bool>");
  REFUSED_NUMBER(9, kaio_argument_number(1), "a floating-point number", "pass a bool");
  REFUSED_NUMBER(7, kaio_argument_number(1), "is a floating-point number, and the parameter is val<i64>", "pass an integer");
  REFUSED_NUMBER(1, kaio_argument_number(1e39), "argument 2 is", "val<f32>, cannot hold");
  REFUSED_NUMBER(2, kaio_argument_integer(70000), "argument 3 is 70000", "val<f16>, cannot hold");
  REFUSED_NUMBER(10, kaio_argument_number(500), "argument 11 is 500", "val<e4m3>, cannot hold");
  REFUSED_NUMBER(1, kaio_argument_scalar(f64, 0), "a number of f64, and the parameter is val<f32>", "convert it");
  REFUSED_NUMBER(1, kaio_argument_tensor(&out.tensor), "argument 2 is a tensor, and the parameter is val<f32>", "pass a number");
  REFUSED_NUMBER(1, kaio_argument_struct(x, 4), "argument 2 is a struct", "val<f32>");
  REFUSED_NUMBER(1, kaio_argument_of(7, NULL, 0), "is of kind 7", "named constants");
  drop(&out);
}

/* A struct, vectors, strides, a kernel without tensors, a template. */
static void other_parameters(void) {
  const struct {
    float scale, offset;
    uint32_t n;
  } affine = {2, 1, 100};
  int i, j, wrong = 0;
  int64_t strides[2] = {20, 1};
  kaio_kernel_argument arguments[6];
  kaio_kernel_grid grid = kaio_kernel_grid_over(100);
  shaped a, b, integers;
  SHAPED(&a, f32, 20, 20);
  SHAPED(&b, f32, 10, 20);
  randomise(&a, x, 3);
  arguments[0] = kaio_argument_tensor(&a.tensor);
  arguments[1] = kaio_argument_struct(&affine, sizeof affine);
  SUCCEEDS(kaio_kernel_launch(NULL, named("apply"), &grid, arguments, 2));
  receive(&a, got);
  for (i = 0; i < 400; ++i) wrong += got[i] != (i < 100 ? x[i] * 2 + 1 : x[i]);
  CHECK(wrong == 0);
  arguments[1] = kaio_argument_struct(&affine, 8);
  REFUSED(kaio_kernel_launch(NULL, named("apply"), &grid, arguments, 2), "argument 2 is a struct of 8 bytes", "12 bytes");
  arguments[1] = kaio_argument_struct(NULL, 12);
  REFUSED(kaio_kernel_launch(NULL, named("apply"), &grid, arguments, 2), "argument 2 is a struct at NULL", "needed");
  arguments[1] = kaio_argument_integer(3);
  REFUSED(kaio_kernel_launch(NULL, named("apply"), &grid, arguments, 2), "argument 2 is an integer", "the bytes of the struct");

  send(&a, x);
  grid = kaio_kernel_grid_over(400);
  grid.per_thread = 4;
  arguments[1] = kaio_argument_integer(100);
  SUCCEEDS(kaio_kernel_launch(NULL, named("negate4"), &grid, arguments, 2));
  receive(&a, got);
  for (i = 0; i < 400; ++i) wrong += got[i] != -x[i];
  CHECK(wrong == 0);
  a.tensor.byte_offset = 4;
  a.shape[0] = 19;
  REFUSED(kaio_kernel_launch(NULL, named("negate4"), &grid, arguments, 2), "argument 1 begins at an address", "multiple of 16");
  a.tensor.byte_offset = 0;
  a.shape[0] = 1;
  a.shape[1] = 3;
  REFUSED(kaio_kernel_launch(NULL, named("negate4"), &grid, arguments, 2), "argument 1 has 12 bytes", "whole elements");

  /* the left half of a, transposed */
  a.shape[0] = a.shape[1] = 20;
  send(&a, x);
  a.shape[1] = 10;
  a.tensor.strides = strides;
  grid = kaio_kernel_grid_of(2, 3, 1);
  arguments[0] = kaio_argument_strided(&a.tensor);
  arguments[1] = kaio_argument_integer(20);
  arguments[2] = kaio_argument_tensor(&b.tensor);
  arguments[3] = kaio_argument_integer(20);
  arguments[4] = kaio_argument_integer(20);
  arguments[5] = kaio_argument_integer(10);
  SUCCEEDS(kaio_kernel_launch(NULL, named("transpose"), &grid, arguments, 6));
  receive(&b, got);
  for (i = 0; i < 20; ++i)
    for (j = 0; j < 10; ++j) wrong += got[j * 20 + i] != x[i * 20 + j];
  CHECK(wrong == 0);
  arguments[0] = kaio_argument_tensor(&a.tensor);
  REFUSED(kaio_kernel_launch(NULL, named("transpose"), &grid, arguments, 6), "argument 1 has the shape (20, 10) and the strides (20, 1)", "strided");
  strides[0] = -20;
  arguments[0] = kaio_argument_strided(&a.tensor);
  REFUSED(kaio_kernel_launch(NULL, named("transpose"), &grid, arguments, 6), "the strides (-20, 1)", "no negative ones");
  a.tensor.strides = NULL;

  grid = kaio_kernel_grid_of(1, 1, 1);
  arguments[0] = kaio_argument_integer(0);
  REFUSED(kaio_kernel_launch(NULL, named("nothing"), &grid, arguments, 1), "kernel nothing: no argument is a tensor", "device");
  grid.device = device;
  SUCCEEDS(kaio_kernel_launch(NULL, named("nothing"), &grid, arguments, 1));

  NUMBERS(&integers, 1, 2, 3);
  grid = kaio_kernel_grid_over(3);
  arguments[0] = kaio_argument_tensor(&integers.tensor);
  arguments[1] = kaio_argument_integer(3);
  SUCCEEDS(kaio_kernel_launch(NULL, named("twice<i32>"), &grid, arguments, 2));
  receive(&integers, got);
  CHECK(memcmp(got, (int32_t[]){2, 4, 6}, 12) == 0);
  REFUSED(kaio_kernel_launch(NULL, named("twice<f32>"), &grid, arguments, 2),
          "kernel twice: argument 1 has elements of i32, and the parameter is inout<f32>", "pass a tensor of f32");
  drop(&a);
  drop(&b);
  drop(&integers);
}

static void refused_launches(void) {
  kaio_kernel_argument arguments[4];
  kaio_kernel_grid grid = kaio_kernel_grid_over(64);
  DLDevice elsewhere;
  DLTensor moved;
  shaped a, b;
  SHAPED(&a, f32, 64);
  SHAPED(&b, f32, 64);
  arguments[0] = kaio_argument_tensor(&a.tensor);
  arguments[1] = kaio_argument_tensor(&b.tensor);
  arguments[2] = kaio_argument_number(2.0);
  arguments[3] = kaio_argument_integer(64);
  REFUSED(kaio_kernel_launch(NULL, named("saxpy"), &grid, arguments, 3), "kernel saxpy: 3 arguments were given; it takes 4",
          "saxpy(in<f32>, inout<f32>, val<f32>, val<u32>)");
  REFUSED(kaio_kernel_launch(NULL, named("saxpy"), &grid, NULL, 4), "argument arguments", "NULL");
  REFUSED(kaio_kernel_launch(NULL, NULL, &grid, arguments, 4), "argument kernel", "NULL");
  REFUSED(kaio_kernel_launch(NULL, named("saxpy"), NULL, arguments, 4), "argument grid", "NULL");
  arguments[0] = kaio_argument_number(1);
  REFUSED(kaio_kernel_launch(NULL, named("saxpy"), &grid, arguments, 4),
          "argument 1 is a floating-point number, and the parameter is in<f32>", "pass a tensor");
  arguments[0] = kaio_argument_tensor(NULL);
  REFUSED(kaio_kernel_launch(NULL, named("saxpy"), &grid, arguments, 4), "argument 1 is a tensor at NULL", "needed");
  arguments[0] = kaio_argument_tensor(&b.tensor);
  REFUSED(kaio_kernel_launch(NULL, named("saxpy"), &grid, arguments, 4), "argument 1 of kernel saxpy is the memory of argument 2", "in<T>");
  moved = a.tensor;
  SUCCEEDS(kaio_device_open("emulator:5", &elsewhere));
  moved.device = elsewhere;
  arguments[0] = kaio_argument_tensor(&moved);
  REFUSED(kaio_kernel_launch(NULL, named("saxpy"), &grid, arguments, 4), "kernel saxpy: arguments 1 and 2", "different devices");
  moved = a.tensor;
  moved.data = NULL;
  REFUSED(kaio_kernel_launch(NULL, named("saxpy"), &grid, arguments, 4), "argument 1 has elements at address 0", "memory");
  arguments[0] = kaio_argument_tensor(&a.tensor);

  grid.y = 2;
  REFUSED(kaio_kernel_launch(NULL, named("saxpy"), &grid, arguments, 4), "a grid of elements", "y and z are 1");
  grid.y = 1;
  grid.unit = 2;
  REFUSED(kaio_kernel_launch(NULL, named("saxpy"), &grid, arguments, 4), "the grid's unit is 2", "named constants");
  grid.unit = KAIO_GRID_UNIT_BLOCKS;
  grid.x = (uint64_t)1 << 40;
  REFUSED(kaio_kernel_launch(NULL, named("saxpy"), &grid, arguments, 4), "grid of 1099511627776", "at most");
  grid = kaio_kernel_grid_over(64);
  grid.programmatic = 1;
  REFUSED(kaio_kernel_launch(NULL, named("saxpy"), &grid, arguments, 4), "launched programmatically", "never waits");
  grid.programmatic = 2;
  REFUSED(kaio_kernel_launch(NULL, named("saxpy"), &grid, arguments, 4), "programmatic is 2", "0 or 1");
  drop(&a);
  drop(&b);
}

/* On the CPU, whatever the device under test. */
static void sanitizer(void) {
  uint64_t launches_checked = 0, failed = 0;
  int64_t n = 64;
  const char* text = NULL;
  DLTensor a, b;
  kaio_kernel_argument arguments[2];
  kaio_kernel_grid grid = kaio_kernel_grid_over(64);
  memset(&a, 0, sizeof a);
  a.data = x;
  a.device.device_type = kDLCPU;
  a.ndim = 1;
  a.dtype = f32;
  a.shape = &n;
  b = a;
  b.data = y;
  arguments[0] = kaio_argument_tensor(&a);
  arguments[1] = kaio_argument_tensor(&b);
  SUCCEEDS(kaio_kernel_launch(NULL, named("rotate"), &grid, arguments, 1)); /* a race that happens to work */
  SUCCEEDS(kaio_sanitizer_begin(NULL, 0));
  REFUSED(kaio_sanitizer_begin(NULL, 0), "checked already", "end");
  CHECK(kaio_kernel_launch(NULL, named("rotate"), &grid, arguments, 1) == KAIO_LAUNCH_FAILED);
  CHECK(strstr(kaio_last_error(), "a race in shared memory") != NULL && strstr(kaio_last_error(), "kernel_library.cpp:") != NULL);
  CHECK(kaio_kernel_launch(NULL, named("beyond"), &grid, arguments, 2) == KAIO_ILLEGAL_ACCESS);
  CHECK(strstr(kaio_last_error(), "past the end") != NULL && strstr(kaio_last_error(), "kernel_library.cpp:") != NULL);
  arguments[1] = kaio_argument_integer(64);
  SUCCEEDS(kaio_kernel_launch(NULL, named("twice<f32>"), &grid, arguments, 2)); /* no launch has lost the emulator */
  SUCCEEDS(kaio_sanitizer_end(&launches_checked, &failed, &text));
  CHECK(launches_checked == 3 && failed == 2);
  CHECK(strstr(text, "kernel 'rotate'") != NULL && strstr(text, "kernel 'beyond'") != NULL);
  REFUSED(kaio_sanitizer_end(NULL, NULL, NULL), "not checked", "begin");
  SUCCEEDS(kaio_kernel_launch(NULL, named("rotate"), &grid, arguments, 1));
  REFUSED(kaio_sanitizer_begin("memory,speed", 0), "'speed' is no check", "races");
  SUCCEEDS(kaio_sanitizer_begin("memory,indices", 2));
  SUCCEEDS(kaio_kernel_launch(NULL, named("rotate"), &grid, arguments, 1));
  SUCCEEDS(kaio_sanitizer_end(&launches_checked, &failed, &text));
  CHECK(launches_checked == 1 && failed == 0 && *text == '\0');
}

int main(int count, char** words) {
  char file[4096];
  f32 = type_of(kDLFloat, 32);
  f64 = type_of(kDLFloat, 64);
  if (count < 2 || kaio_device_open(NULL, &device) != KAIO_OK) {
    fprintf(stderr, "%s\n", kaio_last_error());
    return 1;
  }
  snprintf(file, sizeof file, "%s/libkernels.so", words[1]);
  SUCCEEDS(kaio_kernel_library_open(file, &library));
  if (library == NULL) return finish();
  what_a_library_has();
  snprintf(file, sizeof file, "%s/libempty.so", words[1]);
  other_files(file);
  launches();
  numbers_of_all_types();
  other_parameters();
  refused_launches();
  sanitizer();
  SUCCEEDS(kaio_kernel_library_close(library));
  return finish();
}
