/* Kernels of a C++ program, by name, and the sanitizer of the emulator. Include <kaio/c/kaio.h>.
 *
 * A kernel library is a shared object in which KAIO_KERNEL_LIBRARY names kernels that are written with kaio's language
 * (kaio/tool/kernel_library.hpp). Opening it runs code of the file: open only files that you trust.
 *
 *   kaio_kernel_library* library;
 *   const kaio_kernel* saxpy;
 *   kaio_kernel_library_open("./libmy_kernels.so", &library);
 *   kaio_kernel_library_find(library, "saxpy", &saxpy);
 *   kaio_kernel_argument arguments[] = {kaio_argument_tensor(&x), kaio_argument_tensor(&y), kaio_argument_number(2.0),
 *                                       kaio_argument_integer(n)};
 *   kaio_kernel_grid grid = kaio_kernel_grid_over(n);
 *   kaio_kernel_launch(stream, saxpy, &grid, arguments, 4);
 */
#ifndef KAIO_C_KERNELS_H
#define KAIO_C_KERNELS_H

#include <kaio/c/base.h>

#ifdef __cplusplus
extern "C" {
#endif

/* A library, and a kernel of one. Several threads may use both at once. */
typedef struct kaio_kernel_library kaio_kernel_library;
typedef struct kaio_kernel kaio_kernel;

/* Opens a shared object. KAIO_UNREADABLE_FILE: it cannot be loaded. KAIO_UNSUPPORTED_FORMAT: it is no kernel library, or one
 * of another version of kaio's headers. A name without '/' is searched as dlopen does. */
KAIO_API kaio_status kaio_kernel_library_open(const char* file, kaio_kernel_library** library);
/* The library whose table this is: what a function kaio_kernel_library() of this program returns. */
KAIO_API kaio_status kaio_kernel_library_of_table(const void* table, kaio_kernel_library** library);
/* Closes the library and ends its kernels. Launches in flight and graphs keep what they need. NULL is closed without effect. */
KAIO_API kaio_status kaio_kernel_library_close(kaio_kernel_library* library);
/* The version of kaio that its kernels were written with: "0.1.0". */
KAIO_API const char* kaio_kernel_library_version(const kaio_kernel_library* library);
KAIO_API kaio_status kaio_kernel_library_count(const kaio_kernel_library* library, uint64_t* count);
/* Kernel `index`, in the order of KAIO_KERNEL_LIBRARY. It lives as long as the library. */
KAIO_API kaio_status kaio_kernel_library_at(const kaio_kernel_library* library, uint64_t index,
                                            const kaio_kernel** kernel);
/* The kernel of that name: its PTX entry's ("saxpy"), its C++ object's ("filters::saxpy", "scale<f32>"), or the latter
 * without its namespaces. If two kernels have the name, KAIO_INVALID_ARGUMENT. */
KAIO_API kaio_status kaio_kernel_library_find(const kaio_kernel_library* library, const char* name,
                                              const kaio_kernel** kernel);

/* kaio_access: how a kernel uses a parameter. */
enum {
  KAIO_ACCESS_VALUE = 0, /* a number or a struct, by value */
  KAIO_ACCESS_IN = 1,    /* memory that is read, and not written while the kernel runs */
  KAIO_ACCESS_OUT = 2,   /* memory that is written */
  KAIO_ACCESS_INOUT = 3  /* memory that is read and written */
};

/* What a kernel is. The texts live as long as its library. */
typedef struct kaio_kernel_info {
  uint32_t size; /* sizeof(kaio_kernel_info) */
  uint32_t parameters;
  const char* name;          /* of the PTX entry */
  const char* object;        /* the C++ expression that KAIO_KERNEL_LIBRARY has for it */
  const char* signature;     /* "saxpy(in<f32>, inout<f32>, val<f32>, val<u32>)" */
  uint32_t block[3];         /* threads */
  uint32_t cluster[3];       /* blocks of a cluster, if the kernel fixes them; else zeros */
  uint32_t shared_bytes;     /* static shared memory of a block */
  uint32_t architecture;     /* the least, as 10 * major + minor: 90 for sm_90 */
  uint32_t is_arch_specific; /* 1: exactly this architecture, as sm_90a */
  uint32_t is_cooperative;   /* 1: all blocks run at once */
} kaio_kernel_info;
static inline kaio_kernel_info kaio_kernel_info_default(void) {
  kaio_kernel_info it;
  it.size = sizeof(kaio_kernel_info);
  it.parameters = 0;
  it.name = it.object = it.signature = NULL;
  it.block[0] = it.block[1] = it.block[2] = 0;
  it.cluster[0] = it.cluster[1] = it.cluster[2] = 0;
  it.shared_bytes = it.architecture = it.is_arch_specific = it.is_cooperative = 0;
  return it;
}

/* A parameter. The text lives as long as the library. */
typedef struct kaio_kernel_parameter {
  uint32_t size;      /* sizeof(kaio_kernel_parameter) */
  int32_t access;     /* kaio_access */
  DLDataType type;    /* of the number, or of the elements: vec<f32, 4> has 4 lanes. bits 0: a struct */
  uint32_t bytes;     /* of the value, or of one element */
  uint32_t alignment; /* of the value, or of one element */
  uint32_t reserved_20;
  const char* text; /* "in<f32>" */
} kaio_kernel_parameter;
static inline kaio_kernel_parameter kaio_kernel_parameter_default(void) {
  kaio_kernel_parameter it;
  it.size = sizeof(kaio_kernel_parameter);
  it.access = KAIO_ACCESS_VALUE;
  it.type.code = it.type.bits = 0;
  it.type.lanes = 0;
  it.bytes = it.alignment = it.reserved_20 = 0;
  it.text = NULL;
  return it;
}

KAIO_API kaio_status kaio_kernel_info_of(const kaio_kernel* kernel, kaio_kernel_info* info);
KAIO_API kaio_status kaio_kernel_parameter_of(const kaio_kernel* kernel, uint64_t index,
                                              kaio_kernel_parameter* parameter);
/* The text of the kernel's PTX module, which ends in a zero and lives as long as the library. */
KAIO_API kaio_status kaio_kernel_ptx(const kaio_kernel* kernel, const char** text);

/* kaio_grid_unit: what a grid counts. */
enum {
  KAIO_GRID_UNIT_BLOCKS = 0,
  KAIO_GRID_UNIT_ELEMENTS = 1 /* x elements, one for each thread, in blocks of one dimension; y and z are 1 */
};

/* The grid of a launch. If an extent is 0, nothing is launched. */
typedef struct kaio_kernel_grid {
  uint32_t size; /* sizeof(kaio_kernel_grid) */
  int32_t unit;  /* kaio_grid_unit */
  uint64_t x, y, z;
  uint32_t per_thread;   /* elements of each thread, if the unit is elements; 0: one */
  uint32_t shared_bytes; /* dynamic shared memory of a block, beyond the kernel's own */
  uint32_t cluster[3];   /* blocks of a cluster; zeros: the kernel's own, or no clusters */
  int32_t programmatic;  /* 1: the launch may begin before the one before it has ended */
  DLDevice device;       /* where a kernel without tensors runs; {0, 0}: tensors name the device */
} kaio_kernel_grid;
static inline kaio_kernel_grid kaio_kernel_grid_default(void) {
  kaio_kernel_grid it;
  it.size = sizeof(kaio_kernel_grid);
  it.unit = KAIO_GRID_UNIT_BLOCKS;
  it.x = it.y = it.z = 1;
  it.per_thread = it.shared_bytes = 0;
  it.cluster[0] = it.cluster[1] = it.cluster[2] = 0;
  it.programmatic = 0;
  it.device.device_type = (DLDeviceType)0;
  it.device.device_id = 0;
  return it;
}
/* One thread for each of n elements. */
static inline kaio_kernel_grid kaio_kernel_grid_over(uint64_t n) {
  kaio_kernel_grid it = kaio_kernel_grid_default();
  it.unit = KAIO_GRID_UNIT_ELEMENTS;
  it.x = n;
  return it;
}
static inline kaio_kernel_grid kaio_kernel_grid_of(uint64_t x, uint64_t y, uint64_t z) {
  kaio_kernel_grid it = kaio_kernel_grid_default();
  it.x = x;
  it.y = y;
  it.z = z;
  return it;
}

/* kaio_argument_kind: what an argument is. */
enum {
  KAIO_ARGUMENT_KIND_TENSOR = 0,  /* elements row by row, without gaps */
  KAIO_ARGUMENT_KIND_STRIDED = 1, /* a tensor with any strides that are not negative: the kernel knows them */
  KAIO_ARGUMENT_KIND_SCALAR = 2,  /* a number of exactly the parameter's type */
  KAIO_ARGUMENT_KIND_INTEGER = 3, /* an int64_t that the parameter's type holds; a floating type rounds it */
  KAIO_ARGUMENT_KIND_UNSIGNED = 4, /* a uint64_t, likewise */
  KAIO_ARGUMENT_KIND_NUMBER = 5,   /* a double for a parameter of a floating type, which rounds it */
  KAIO_ARGUMENT_KIND_STRUCT = 6    /* the bytes of a struct */
};

/* An argument of a kernel; the functions below make one. */
typedef struct kaio_kernel_argument {
  int32_t kind;     /* kaio_argument_kind */
  DLDataType type;  /* of a scalar */
  const void* data; /* a DLTensor, or the bytes of a struct */
  uint64_t value;   /* the bits of a scalar or an integer; the bytes of a struct */
  double number;
} kaio_kernel_argument;
static inline kaio_kernel_argument kaio_argument_of(int32_t kind, const void* data, uint64_t value) {
  kaio_kernel_argument it;
  it.kind = kind;
  it.type.code = it.type.bits = 0;
  it.type.lanes = 1;
  it.data = data;
  it.value = value;
  it.number = 0;
  return it;
}
static inline kaio_kernel_argument kaio_argument_tensor(const DLTensor* tensor) {
  return kaio_argument_of(KAIO_ARGUMENT_KIND_TENSOR, tensor, 0);
}
static inline kaio_kernel_argument kaio_argument_strided(const DLTensor* tensor) {
  return kaio_argument_of(KAIO_ARGUMENT_KIND_STRIDED, tensor, 0);
}
static inline kaio_kernel_argument kaio_argument_scalar(DLDataType type, uint64_t bits) {
  kaio_kernel_argument it = kaio_argument_of(KAIO_ARGUMENT_KIND_SCALAR, NULL, bits);
  it.type = type;
  return it;
}
static inline kaio_kernel_argument kaio_argument_integer(int64_t value) {
  return kaio_argument_of(KAIO_ARGUMENT_KIND_INTEGER, NULL, (uint64_t)value);
}
static inline kaio_kernel_argument kaio_argument_unsigned(uint64_t value) {
  return kaio_argument_of(KAIO_ARGUMENT_KIND_UNSIGNED, NULL, value);
}
static inline kaio_kernel_argument kaio_argument_number(double value) {
  kaio_kernel_argument it = kaio_argument_of(KAIO_ARGUMENT_KIND_NUMBER, NULL, 0);
  it.number = value;
  return it;
}
static inline kaio_kernel_argument kaio_argument_struct(const void* data, uint64_t bytes) {
  return kaio_argument_of(KAIO_ARGUMENT_KIND_STRUCT, data, bytes);
}

/* Launches a kernel. Arguments are checked by their number, kind, element type, alignment and device; a message names the
 * kernel and the number of the argument, from 1. An `in` tensor may not overlap one that is written.
 *   stream     a CUstream of the tensors' device
 *   arguments  one for each parameter */
KAIO_API kaio_status kaio_kernel_launch(void* stream, const kaio_kernel* kernel, const kaio_kernel_grid* grid,
                                        const kaio_kernel_argument* arguments, uint64_t count);
/* Loads the kernel on a device: its first launch then takes no longer than others, and may be captured into a graph. */
KAIO_API kaio_status kaio_kernel_warmup(const kaio_kernel* kernel, DLDevice device);

/* Runs the emulator's sanitizer in all that this thread launches on emulators until kaio_sanitizer_end, kernels of kaio's
 * operations among them. A launch with reports fails, and kaio_last_error() has them; it does not lose the emulator.
 *   checks   NULL: all; or a list such as "memory,races" or "all,-async" (docs/emulator.md)
 *   reports  the number of reports after which a launch is stopped; 0: 1 */
KAIO_API kaio_status kaio_sanitizer_begin(const char* checks, uint64_t reports);
/* Ends it on this thread.
 *   launches  gets the number of launches that were checked; may be NULL
 *   failed    gets the number of those with reports; may be NULL
 *   text      gets the reports, "" if there are none, until the next kaio_sanitizer_end of this thread; may be NULL */
KAIO_API kaio_status kaio_sanitizer_end(uint64_t* launches, uint64_t* failed, const char** text);

#ifdef __cplusplus
}
#endif

#endif
