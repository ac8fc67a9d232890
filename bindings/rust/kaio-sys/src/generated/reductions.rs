// Made by bindings/rust/generate.py from src/c/operations/reductions.json.
use crate::base::DLTensor;

// kaio_reduction: How elements are combined.
/// kaio_reduction: sum.
pub const KAIO_REDUCTION_SUM: i32 = 0;
/// kaio_reduction: mean.
pub const KAIO_REDUCTION_MEAN: i32 = 1;
/// NaN, if an element is NaN.
pub const KAIO_REDUCTION_MAX: i32 = 2;
/// NaN, if an element is NaN.
pub const KAIO_REDUCTION_MIN: i32 = 3;

/// Options of reduce.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct kaio_reduce_options {
    /// `size_of::<kaio_reduce_options>()`.
    pub size: u32,
    /// 0.
    pub reserved_4: i32,
    /// Default -1; below 0: counted from the last dimension.
    pub axis: i64,
    /// 1: reduces all dimensions.
    pub all: i32,
    /// 0.
    pub reserved_20: i32,
    /// kaio_reduce_workspace_bytes, at a multiple of 16 bytes.
    pub workspace: *const DLTensor,
}

impl Default for kaio_reduce_options {
    fn default() -> Self {
        Self {
            size: core::mem::size_of::<Self>() as u32,
            reserved_4: 0,
            axis: -1,
            all: 0,
            reserved_20: 0,
            workspace: core::ptr::null(),
        }
    }
}

/// Options of scan.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct kaio_scan_options {
    /// `size_of::<kaio_scan_options>()`.
    pub size: u32,
    /// 1: each sum is of the elements before its own.
    pub exclusive: i32,
    /// kaio_scan_workspace_bytes, at a multiple of 16 bytes.
    pub workspace: *const DLTensor,
}

impl Default for kaio_scan_options {
    fn default() -> Self {
        Self {
            size: core::mem::size_of::<Self>() as u32,
            exclusive: 0,
            workspace: core::ptr::null(),
        }
    }
}

/// Options of histogram.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct kaio_histogram_options {
    /// `size_of::<kaio_histogram_options>()`.
    pub size: u32,
    /// 0.
    pub reserved_4: i32,
    /// Integers: the value of the first bin.
    pub first: i64,
    /// f32: the lower edge of the first bin.
    pub low: f32,
    /// f32: the upper edge of the last bin, which includes it.
    pub high: f32,
    /// 1: adds to the counts.
    pub accumulate: i32,
    /// 0.
    pub reserved_28: i32,
    /// (3); u32; gets the number of elements below, above, and of NaN.
    pub outside: *const DLTensor,
}

impl Default for kaio_histogram_options {
    fn default() -> Self {
        Self {
            size: core::mem::size_of::<Self>() as u32,
            reserved_4: 0,
            first: 0,
            low: 0.0,
            high: 0.0,
            accumulate: 0,
            reserved_28: 0,
            outside: core::ptr::null(),
        }
    }
}
