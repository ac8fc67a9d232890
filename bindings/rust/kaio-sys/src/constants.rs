// Made by bindings/rust/generate.py from include/kaio/c/*.h.

use crate::base::DLDeviceType;

/// Memory of the CPU, which emulator device_id uses in place.
pub const kDLCPU: DLDeviceType = 1;
/// Memory of GPU device_id.
pub const kDLCUDA: DLDeviceType = 2;
/// page-locked host memory, which GPU device_id reads in place.
pub const kDLCUDAHost: DLDeviceType = 3;
/// Memory of kaio's emulator device_id: an address that kaio_allocate returned.
pub const kDLExtDev: DLDeviceType = 12;
/// Managed memory, used on GPU device_id.
pub const kDLCUDAManaged: DLDeviceType = 13;
/// kDLInt.
pub const kDLInt: u8 = 0;
/// kDLUInt.
pub const kDLUInt: u8 = 1;
/// kDLFloat.
pub const kDLFloat: u8 = 2;
/// kDLBfloat.
pub const kDLBfloat: u8 = 4;
/// kDLBool.
pub const kDLBool: u8 = 6;
/// kDLFloat8_e4m3fn.
pub const kDLFloat8_e4m3fn: u8 = 10;
/// kDLFloat8_e5m2.
pub const kDLFloat8_e5m2: u8 = 12;
/// kDLFloat8_e8m0fnu.
pub const kDLFloat8_e8m0fnu: u8 = 14;
/// KAIO_OK.
pub const KAIO_OK: i32 = 0;
/// The call itself is wrong; nothing has run.
pub const KAIO_INVALID_ARGUMENT: i32 = 1;
/// The device has no kernel for the call.
pub const KAIO_UNSUPPORTED_DEVICE: i32 = 2;
/// Any code of the CUDA driver without a status of its own; the message has its name.
pub const KAIO_DRIVER: i32 = 3;
/// Of the device, or of the host.
pub const KAIO_OUT_OF_MEMORY: i32 = 4;
/// a fault of kaio.
pub const KAIO_INTERNAL: i32 = 5;
/// No NVIDIA driver, or one that cannot be used.
pub const KAIO_DRIVER_MISSING: i32 = 6;
/// There is a driver, but not this GPU.
pub const KAIO_NO_DEVICE: i32 = 7;
/// The driver's compiler refused a kernel.
pub const KAIO_JIT_FAILED: i32 = 8;
/// KAIO_LAUNCH_FAILED.
pub const KAIO_LAUNCH_FAILED: i32 = 9;
/// a kernel touched memory that it does not own; the device is lost.
pub const KAIO_ILLEGAL_ACCESS: i32 = 10;
/// An earlier failure has lost the device.
pub const KAIO_DEVICE_LOST: i32 = 11;
/// KAIO_STREAM_CAPTURING.
pub const KAIO_STREAM_CAPTURING: i32 = 12;
/// KAIO_DEVICE_ASSERT.
pub const KAIO_DEVICE_ASSERT: i32 = 13;
/// KAIO_LAUNCH_TIMEOUT.
pub const KAIO_LAUNCH_TIMEOUT: i32 = 14;
/// KAIO_CANCELLED.
pub const KAIO_CANCELLED: i32 = 15;
/// KAIO_UNREADABLE_FILE.
pub const KAIO_UNREADABLE_FILE: i32 = 16;
/// KAIO_DAMAGED_FILE.
pub const KAIO_DAMAGED_FILE: i32 = 17;
/// KAIO_UNSUPPORTED_FORMAT.
pub const KAIO_UNSUPPORTED_FORMAT: i32 = 18;
/// a rank of a group is missing, has gone or has failed.
pub const KAIO_COMMUNICATION_FAILED: i32 = 19;
/// a number or a struct, by value.
pub const KAIO_ACCESS_VALUE: i32 = 0;
/// Memory that is read, and not written while the kernel runs.
pub const KAIO_ACCESS_IN: i32 = 1;
/// Memory that is written.
pub const KAIO_ACCESS_OUT: i32 = 2;
/// Memory that is read and written.
pub const KAIO_ACCESS_INOUT: i32 = 3;
/// KAIO_GRID_UNIT_BLOCKS.
pub const KAIO_GRID_UNIT_BLOCKS: i32 = 0;
/// x elements, one for each thread, in blocks of one dimension; y and z are 1.
pub const KAIO_GRID_UNIT_ELEMENTS: i32 = 1;
/// Elements row by row, without gaps.
pub const KAIO_ARGUMENT_KIND_TENSOR: i32 = 0;
/// a tensor with any strides that are not negative: the kernel knows them.
pub const KAIO_ARGUMENT_KIND_STRIDED: i32 = 1;
/// a number of exactly the parameter's type.
pub const KAIO_ARGUMENT_KIND_SCALAR: i32 = 2;
/// An int64_t that the parameter's type holds; a floating type rounds it.
pub const KAIO_ARGUMENT_KIND_INTEGER: i32 = 3;
/// a uint64_t, likewise.
pub const KAIO_ARGUMENT_KIND_UNSIGNED: i32 = 4;
/// a double for a parameter of a floating type, which rounds it.
pub const KAIO_ARGUMENT_KIND_NUMBER: i32 = 5;
/// The bytes of a struct.
pub const KAIO_ARGUMENT_KIND_STRUCT: i32 = 6;
/// Of the interface that this crate is made from.
pub const KAIO_ABI_MAJOR: u32 = 0;
/// Of the interface that this crate is made from.
pub const KAIO_ABI_MINOR: u32 = 1;
