// Made by bindings/rust/generate.py from src/c/operations/shared.json.
use std::os::raw::c_char;

// kaio_constant_inputs: Inputs that no earlier work in the stream writes. A hint: a call may read them before that work has ended. They are added up.
/// kaio_constant_inputs: none.
pub const KAIO_CONSTANT_INPUTS_NONE: i32 = 0;
/// Operand a of a product.
pub const KAIO_CONSTANT_INPUTS_A: i32 = 1;
/// Operand b of a product.
pub const KAIO_CONSTANT_INPUTS_B: i32 = 2;
/// The weights of a layer.
pub const KAIO_CONSTANT_INPUTS_WEIGHTS: i32 = 2;
/// kaio_constant_inputs: both.
pub const KAIO_CONSTANT_INPUTS_BOTH: i32 = 3;
/// Lengths, page tables, lists and positions of sequences.
pub const KAIO_CONSTANT_INPUTS_INDICES: i32 = 4;

/// The kernel that a call runs.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct kaio_kernel_choice {
    /// `size_of::<kaio_kernel_choice>()`.
    pub size: u32,
    /// Default 1; parts of K, or of the keys of a decode step.
    pub splits: u32,
    /// 1: the splits of a tile are the blocks of a cluster.
    pub in_cluster: i32,
    /// 0.
    pub reserved_12: i32,
    /// a value for options.variant; empty: the call has nothing to do.
    pub name: [c_char; 256],
}

impl Default for kaio_kernel_choice {
    fn default() -> Self {
        Self {
            size: core::mem::size_of::<Self>() as u32,
            splits: 1,
            in_cluster: 0,
            reserved_12: 0,
            name: [0; 256],
        }
    }
}

/// How the kernels of a call are measured.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct kaio_tune_options {
    /// `size_of::<kaio_tune_options>()`.
    pub size: u32,
    /// Default 20; runs of each kernel; the median counts.
    pub repetitions: u32,
    /// Default 1; 0: measure only.
    pub remember: i32,
    /// Default 1; 0: the result holds for this process alone.
    pub use_files: i32,
}

impl Default for kaio_tune_options {
    fn default() -> Self {
        Self {
            size: core::mem::size_of::<Self>() as u32,
            repetitions: 20,
            remember: 1,
            use_files: 1,
        }
    }
}

/// What measuring has found. Names are empty if the call has nothing to do.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct kaio_tune_report {
    /// `size_of::<kaio_tune_report>()`.
    pub size: u32,
    /// 1: the result is in a file, for later processes.
    pub saved: i32,
    /// Time of the fastest kernel.
    pub seconds: f64,
    /// Time of the kernel that calls took until now.
    pub seconds_before: f64,
    /// The fastest kernel.
    pub variant: [c_char; 256],
    /// The kernel that calls took until now.
    pub variant_before: [c_char; 256],
}

impl Default for kaio_tune_report {
    fn default() -> Self {
        Self {
            size: core::mem::size_of::<Self>() as u32,
            saved: 0,
            seconds: 0.0,
            seconds_before: 0.0,
            variant: [0; 256],
            variant_before: [0; 256],
        }
    }
}

/// What a device is and can do.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct kaio_device_properties {
    /// `size_of::<kaio_device_properties>()`.
    pub size: u32,
    /// N of cuda:N; -1: an emulator.
    pub ordinal: i32,
    /// N of emulator:N; -1: a GPU.
    pub emulator: i32,
    /// The architecture: 90 for sm_90.
    pub sm: i32,
    /// 1: code for exactly this architecture, such as sm_90a, runs too.
    pub arch_specific: i32,
    /// multiprocessors.
    pub multiprocessors: u32,
    /// Max threads per block.
    pub max_threads_per_block: u32,
    /// 1: there are no clusters.
    pub max_blocks_per_cluster: u32,
    /// bytes.
    pub shared_per_block_optin: u32,
    /// bytes.
    pub shared_per_multiprocessor: u32,
    /// l2 bytes.
    pub l2_bytes: u32,
    /// The driver's CUDA version: 13000 is 13.0; 0: an emulator.
    pub driver_version: u32,
    /// bytes.
    pub total_memory: u64,
    /// "NVIDIA H200", "emulator".
    pub name: [c_char; 256],
}

impl Default for kaio_device_properties {
    fn default() -> Self {
        Self {
            size: core::mem::size_of::<Self>() as u32,
            ordinal: 0,
            emulator: 0,
            sm: 0,
            arch_specific: 0,
            multiprocessors: 0,
            max_threads_per_block: 0,
            max_blocks_per_cluster: 0,
            shared_per_block_optin: 0,
            shared_per_multiprocessor: 0,
            l2_bytes: 0,
            driver_version: 0,
            total_memory: 0,
            name: [0; 256],
        }
    }
}
