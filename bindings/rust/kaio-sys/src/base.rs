//! What the C headers declare by hand: DLPack's tensors, handles, and the structs of kernels.

use std::os::raw::{c_char, c_void};

use crate::{KAIO_ACCESS_VALUE, KAIO_GRID_UNIT_BLOCKS};

/// The kind of a device: `kDLCUDA`, `kDLExtDev` (an emulator) and others.
pub type DLDeviceType = i32;

/// `KAIO_OK`, or why a call failed.
pub type kaio_status = i32;

/// A device of DLPack.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct DLDevice {
    /// The kind.
    pub device_type: DLDeviceType,
    /// The number.
    pub device_id: i32,
}

/// The type of an element.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct DLDataType {
    /// `kDLFloat` and others.
    pub code: u8,
    /// Bits.
    pub bits: u8,
    /// 1.
    pub lanes: u16,
}

/// A tensor of DLPack.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct DLTensor {
    /// The memory.
    pub data: *mut c_void,
    /// Where it is.
    pub device: DLDevice,
    /// The number of dimensions.
    pub ndim: i32,
    /// The type of an element.
    pub dtype: DLDataType,
    /// `ndim` extents.
    pub shape: *mut i64,
    /// `ndim` strides in elements; NULL: row by row, without gaps.
    pub strides: *mut i64,
    /// From `data` to the first element.
    pub byte_offset: u64,
}

macro_rules! handles {
    ($($(#[$said:meta])* $name:ident;)*) => {$(
        $(#[$said])*
        #[repr(C)]
        pub struct $name {
            opaque: [u8; 0],
        }
    )*};
}

handles! {
    /// A stream of kaio's own.
    kaio_stream;
    /// A mark in the work of a stream.
    kaio_event;
    /// Work of a stream that is being recorded.
    kaio_capture;
    /// Recorded work.
    kaio_graph;
    /// A pool of device memory.
    kaio_pool;
    /// A shared object with kernels.
    kaio_kernel_library;
    /// A kernel of a library.
    kaio_kernel;
}

/// What a kernel is. The texts live as long as its library.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct kaio_kernel_info {
    /// `size_of::<kaio_kernel_info>()`.
    pub size: u32,
    /// The number of parameters.
    pub parameters: u32,
    /// The PTX entry.
    pub name: *const c_char,
    /// The C++ expression that the library has for it.
    pub object: *const c_char,
    /// As `saxpy(in<f32>, inout<f32>, val<f32>, val<u32>)`.
    pub signature: *const c_char,
    /// Threads.
    pub block: [u32; 3],
    /// Blocks of a cluster, if the kernel fixes them; else zeros.
    pub cluster: [u32; 3],
    /// Static shared memory of a block.
    pub shared_bytes: u32,
    /// The least, as 10 * major + minor.
    pub architecture: u32,
    /// 1: exactly this architecture, as sm_90a.
    pub is_arch_specific: u32,
    /// 1: all blocks run at once.
    pub is_cooperative: u32,
}

impl Default for kaio_kernel_info {
    fn default() -> Self {
        Self {
            size: std::mem::size_of::<Self>() as u32,
            parameters: 0,
            name: std::ptr::null(),
            object: std::ptr::null(),
            signature: std::ptr::null(),
            block: [0; 3],
            cluster: [0; 3],
            shared_bytes: 0,
            architecture: 0,
            is_arch_specific: 0,
            is_cooperative: 0,
        }
    }
}

/// A parameter of a kernel. The text lives as long as the library.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct kaio_kernel_parameter {
    /// `size_of::<kaio_kernel_parameter>()`.
    pub size: u32,
    /// `KAIO_ACCESS_VALUE` and others.
    pub access: i32,
    /// The number's or the elements' type; 0 bits: a struct.
    pub type_: DLDataType,
    /// Bytes of the value, or of one element.
    pub bytes: u32,
    /// Its alignment.
    pub alignment: u32,
    /// 0.
    pub reserved_20: u32,
    /// As `in<f32>`.
    pub text: *const c_char,
}

impl Default for kaio_kernel_parameter {
    fn default() -> Self {
        Self {
            size: std::mem::size_of::<Self>() as u32,
            access: KAIO_ACCESS_VALUE,
            type_: DLDataType {
                code: 0,
                bits: 0,
                lanes: 0,
            },
            bytes: 0,
            alignment: 0,
            reserved_20: 0,
            text: std::ptr::null(),
        }
    }
}

/// The grid of a launch. If an extent is 0, nothing is launched.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct kaio_kernel_grid {
    /// `size_of::<kaio_kernel_grid>()`.
    pub size: u32,
    /// `KAIO_GRID_UNIT_BLOCKS` or `KAIO_GRID_UNIT_ELEMENTS`.
    pub unit: i32,
    /// Blocks or elements along x.
    pub x: u64,
    /// Blocks along y.
    pub y: u64,
    /// Blocks along z.
    pub z: u64,
    /// Elements of each thread; 0: one.
    pub per_thread: u32,
    /// Dynamic shared memory of a block.
    pub shared_bytes: u32,
    /// Blocks of a cluster; zeros: the kernel's own, or none.
    pub cluster: [u32; 3],
    /// 1: the launch may begin before the one before it has ended.
    pub programmatic: i32,
    /// Where a kernel without tensors runs; zeros: tensors name the device.
    pub device: DLDevice,
}

impl Default for kaio_kernel_grid {
    fn default() -> Self {
        Self {
            size: std::mem::size_of::<Self>() as u32,
            unit: KAIO_GRID_UNIT_BLOCKS,
            x: 1,
            y: 1,
            z: 1,
            per_thread: 0,
            shared_bytes: 0,
            cluster: [0; 3],
            programmatic: 0,
            device: DLDevice {
                device_type: 0,
                device_id: 0,
            },
        }
    }
}

/// An argument of a kernel.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct kaio_kernel_argument {
    /// `KAIO_ARGUMENT_KIND_TENSOR` and others.
    pub kind: i32,
    /// The type of a scalar.
    pub type_: DLDataType,
    /// A `DLTensor`, or the bytes of a struct.
    pub data: *const c_void,
    /// The bits of a scalar or an integer; the number of bytes of a struct.
    pub value: u64,
    /// A number.
    pub number: f64,
}
