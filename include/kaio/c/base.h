/* The C interface of kaio, its ground: DLPack's tensors, statuses and messages, versions. Include <kaio/c/kaio.h>.
 *
 * Every function that can fail returns a kaio_status. If that is not KAIO_OK, kaio_last_error() says what happened to
 * which argument. No exception leaves the library.
 *
 * Structs whose first field is `size` grow in later versions. A caller sets it to its own sizeof, which the functions
 * kaio_..._default() do. The library takes the default for each field after the caller's size. A field means what it
 * holds: in a struct of zeros and its size, a factor such as alpha is 0. Begin with kaio_..._default(). Fields
 * `reserved_...` are 0.
 */
#ifndef KAIO_C_BASE_H
#define KAIO_C_BASE_H

#include <stddef.h>
#include <stdint.h>

#if defined(_WIN32)
#define KAIO_API
#else
#define KAIO_API __attribute__((visibility("default")))
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* DLPack 1.x (https://github.com/dmlc/dlpack), the same declarations. A file that needs more of DLPack includes its
 * dlpack.h before this header. */
#ifndef DLPACK_DLPACK_H_
#ifdef __cplusplus
typedef enum : int32_t {
#else
typedef enum {
#endif
  kDLCPU = 1,         /* memory of the CPU, which emulator device_id uses in place */
  kDLCUDA = 2,        /* memory of GPU device_id */
  kDLCUDAHost = 3,    /* page-locked host memory, which GPU device_id reads in place */
  kDLExtDev = 12,     /* memory of kaio's emulator device_id: an address that kaio_allocate returned */
  kDLCUDAManaged = 13 /* managed memory, used on GPU device_id */
} DLDeviceType;

typedef struct {
  DLDeviceType device_type;
  int32_t device_id;
} DLDevice;

typedef enum {
  kDLInt = 0,
  kDLUInt = 1,
  kDLFloat = 2,
  kDLBfloat = 4,
  kDLBool = 6,
  kDLFloat8_e4m3fn = 10,
  kDLFloat8_e5m2 = 12,
  kDLFloat8_e8m0fnu = 14
} DLDataTypeCode;

typedef struct {
  uint8_t code; /* a DLDataTypeCode */
  uint8_t bits;
  uint16_t lanes; /* 1 */
} DLDataType;

typedef struct {
  void* data;
  DLDevice device;
  int32_t ndim;
  DLDataType dtype;
  int64_t* shape;
  int64_t* strides;     /* in elements; NULL: row by row, without gaps */
  uint64_t byte_offset; /* from data to the first element */
} DLTensor;
#endif

typedef int32_t kaio_status;
enum {
  KAIO_OK = 0,
  KAIO_INVALID_ARGUMENT = 1,   /* the call itself is wrong; nothing has run */
  KAIO_UNSUPPORTED_DEVICE = 2, /* the device has no kernel for the call */
  KAIO_DRIVER = 3,             /* any code of the CUDA driver without a status of its own; the message has its name */
  KAIO_OUT_OF_MEMORY = 4,      /* of the device, or of the host */
  KAIO_INTERNAL = 5,           /* a fault of kaio */
  KAIO_DRIVER_MISSING = 6,     /* no NVIDIA driver, or one that cannot be used */
  KAIO_NO_DEVICE = 7,          /* there is a driver, but not this GPU */
  KAIO_JIT_FAILED = 8,         /* the driver's compiler refused a kernel */
  KAIO_LAUNCH_FAILED = 9,
  KAIO_ILLEGAL_ACCESS = 10, /* a kernel touched memory that it does not own; the device is lost */
  KAIO_DEVICE_LOST = 11,    /* an earlier failure has lost the device */
  KAIO_STREAM_CAPTURING = 12,
  KAIO_DEVICE_ASSERT = 13,
  KAIO_LAUNCH_TIMEOUT = 14,
  KAIO_CANCELLED = 15,
  KAIO_UNREADABLE_FILE = 16,
  KAIO_DAMAGED_FILE = 17,
  KAIO_UNSUPPORTED_FORMAT = 18,
  KAIO_COMMUNICATION_FAILED = 19 /* a rank of a group is missing, has gone or has failed */
};

/* The text of the last failure on the calling thread: "kaio: matmul: argument a ...". It is never NULL, is empty
 * before the first failure, and lives until the next failure on this thread. */
KAIO_API const char* kaio_last_error(void);
/* "invalid_argument" for KAIO_INVALID_ARGUMENT; "unknown" for a number that is no status. */
KAIO_API const char* kaio_status_name(kaio_status status);

/* The interface that a program is compiled against, and the library's own. Within a major version, functions and fields
 * are only added, which raises the minor version. A library serves callers of the same major version. */
#define KAIO_ABI_MAJOR 0
#define KAIO_ABI_MINOR 1
#define KAIO_ABI_VERSION (((uint32_t)KAIO_ABI_MAJOR << 16) | (uint32_t)KAIO_ABI_MINOR)
KAIO_API uint32_t kaio_abi_version(void);
/* The version of the library: "0.1.0". */
KAIO_API const char* kaio_version(void);

#ifdef __cplusplus
}
#endif

#endif
