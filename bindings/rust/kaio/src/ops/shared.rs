// Made by bindings/rust/generate.py from src/c/operations/shared.json.
//! What several operations share.

use super::*;
use crate::call::*;

/// Inputs that no earlier work in the stream writes. A hint: a call may read them before that work has
/// ended. They are added up.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct ConstantInputs(pub(crate) i32);

impl ConstantInputs {
    /// none.
    pub const NONE: ConstantInputs = ConstantInputs(0);
    /// Operand a of a product.
    pub const A: ConstantInputs = ConstantInputs(1);
    /// Operand b of a product.
    pub const B: ConstantInputs = ConstantInputs(2);
    /// The weights of a layer.
    pub const WEIGHTS: ConstantInputs = ConstantInputs(2);
    /// both.
    pub const BOTH: ConstantInputs = ConstantInputs(3);
    /// Lengths, page tables, lists and positions of sequences.
    pub const INDICES: ConstantInputs = ConstantInputs(4);
}

impl std::ops::BitOr for ConstantInputs {
    type Output = ConstantInputs;
    fn bitor(self, other: ConstantInputs) -> ConstantInputs {
        ConstantInputs(self.0 | other.0)
    }
}

/// The kernel that a call runs.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct KernelChoice {
    /// Parts of K, or of the keys of a decode step.
    pub splits: u32,
    /// True: the splits of a tile are the blocks of a cluster.
    pub in_cluster: bool,
    /// a value for options.variant; empty: the call has nothing to do.
    pub name: String,
}

impl KernelChoice {
    /// Texts are those of the library, which end in a zero.
    pub(crate) fn from_raw(raw: &sys::kaio_kernel_choice) -> Result<Self> {
        Ok(KernelChoice {
            splits: raw.splits,
            in_cluster: raw.in_cluster != 0,
            name: array_text(&raw.name),
        })
    }
}

/// How the kernels of a call are measured.
#[derive(Clone, Debug)]
pub struct TuneOptions {
    repetitions: u32,
    remember: bool,
    use_files: bool,
}

impl TuneOptions {
    /// Everything that is not set has its default.
    pub fn new() -> Self {
        TuneOptions {
            repetitions: 20,
            remember: true,
            use_files: true,
        }
    }

    setters! {
        /// Runs of each kernel; the median counts; default 20.
        value repetitions(u32) => repetitions;
        /// False: measure only; default true.
        value remember(bool) => remember;
        /// False: the result holds for this process alone; default true.
        value use_files(bool) => use_files;
    }

    pub(crate) fn raw(&self, _hold: &Hold) -> Result<sys::kaio_tune_options> {
        Ok(sys::kaio_tune_options {
            repetitions: self.repetitions,
            remember: i32::from(self.remember),
            use_files: i32::from(self.use_files),
            ..Default::default()
        })
    }
}

impl Default for TuneOptions {
    fn default() -> Self {
        Self::new()
    }
}

/// What measuring has found. Names are empty if the call has nothing to do.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct TuneReport {
    /// True: the result is in a file, for later processes.
    pub saved: bool,
    /// Time of the fastest kernel.
    pub seconds: f64,
    /// Time of the kernel that calls took until now.
    pub seconds_before: f64,
    /// The fastest kernel.
    pub variant: String,
    /// The kernel that calls took until now.
    pub variant_before: String,
}

impl TuneReport {
    /// Texts are those of the library, which end in a zero.
    pub(crate) fn from_raw(raw: &sys::kaio_tune_report) -> Result<Self> {
        Ok(TuneReport {
            saved: raw.saved != 0,
            seconds: raw.seconds,
            seconds_before: raw.seconds_before,
            variant: array_text(&raw.variant),
            variant_before: array_text(&raw.variant_before),
        })
    }
}

/// What a device is and can do.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct DeviceProperties {
    /// N of cuda:N; -1: an emulator.
    pub ordinal: i32,
    /// N of emulator:N; -1: a GPU.
    pub emulator: i32,
    /// The architecture: 90 for sm_90.
    pub sm: i32,
    /// True: code for exactly this architecture, such as sm_90a, runs too.
    pub arch_specific: bool,
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
    pub name: String,
}

impl DeviceProperties {
    /// Texts are those of the library, which end in a zero.
    pub(crate) fn from_raw(raw: &sys::kaio_device_properties) -> Result<Self> {
        Ok(DeviceProperties {
            ordinal: raw.ordinal,
            emulator: raw.emulator,
            sm: raw.sm,
            arch_specific: raw.arch_specific != 0,
            multiprocessors: raw.multiprocessors,
            max_threads_per_block: raw.max_threads_per_block,
            max_blocks_per_cluster: raw.max_blocks_per_cluster,
            shared_per_block_optin: raw.shared_per_block_optin,
            shared_per_multiprocessor: raw.shared_per_multiprocessor,
            l2_bytes: raw.l2_bytes,
            driver_version: raw.driver_version,
            total_memory: raw.total_memory,
            name: array_text(&raw.name),
        })
    }
}
