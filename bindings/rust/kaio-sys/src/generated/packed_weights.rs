// Made by bindings/rust/generate.py from src/c/operations/packed_weights.json.
use std::os::raw::c_char;
use crate::base::DLTensor;

// kaio_w4_codes: The number that a code of four bits means; the scale of its group multiplies it.
/// Code - 8, or code - zero point of its group.
pub const KAIO_W4_CODES_INT4: i32 = 0;
/// nf4 of bitsandbytes.
pub const KAIO_W4_CODES_NF4: i32 = 1;
/// fp4 of bitsandbytes.
pub const KAIO_W4_CODES_FP4: i32 = 2;
/// Codes of MXFP4 and NVFP4.
pub const KAIO_W4_CODES_E2M1: i32 = 3;

// kaio_w4_scale_type: The element type of the scales of packed weights.
/// kaio_w4_scale_type: f16.
pub const KAIO_W4_SCALE_TYPE_F16: i32 = 0;
/// kaio_w4_scale_type: bf16.
pub const KAIO_W4_SCALE_TYPE_BF16: i32 = 1;
/// kaio_w4_scale_type: f32.
pub const KAIO_W4_SCALE_TYPE_F32: i32 = 2;
/// kaio_w4_scale_type: e8m0.
pub const KAIO_W4_SCALE_TYPE_E8M0: i32 = 3;
/// kaio_w4_scale_type: e4m3.
pub const KAIO_W4_SCALE_TYPE_E4M3: i32 = 4;

// kaio_w8_codes: The number that a code of eight bits means.
/// kaio_w8_codes: int8.
pub const KAIO_W8_CODES_INT8: i32 = 0;
/// kaio_w8_codes: e4m3.
pub const KAIO_W8_CODES_E4M3: i32 = 1;

/// Packed weights W of y = x W^T, n outputs by k inputs: W\[n\]\[k\] = scale\[g\]\[n\] * (q\[n\]\[k\] -
/// zero\[g\]\[n\]) with g = k / group. kaio_repack_..._w4 writes the memory, everything else reads it.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct kaio_w4_weights {
    /// `size_of::<kaio_w4_weights>()`.
    pub size: u32,
    /// kaio_w4_codes.
    pub codes: i32,
    /// n.
    pub n: i64,
    /// k.
    pub k: i64,
    /// Default 128; a multiple of 16; or k, also given as -1.
    pub group: i64,
    /// kaio_w4_scale_type: int4 f16 or bf16, with offsets f32; nf4 and fp4 f32; e2m1 e8m0 in groups of 32,
    /// or e4m3 in groups of 16.
    pub scales: i32,
    /// 1: one for each group and column; else all are 8.
    pub zero_points: i32,
    /// 1: an index gives the groups of k.
    pub act_order: i32,
    /// 1: an f32 multiplies each W\[n\], such as the tensor scale of NVFP4.
    pub factors: i32,
    /// 1: W = scale * (q - zero) + offset\[g\]\[n\], for int4 with scales of f32.
    pub offsets: i32,
    /// Default 8; with offsets; else 8.
    pub zero: u32,
    /// kaio_w4_packed_bytes bytes, at a multiple of 16.
    pub memory: *const DLTensor,
}

impl Default for kaio_w4_weights {
    fn default() -> Self {
        Self {
            size: core::mem::size_of::<Self>() as u32,
            codes: 0,
            n: 0,
            k: 0,
            group: 128,
            scales: 0,
            zero_points: 0,
            act_order: 0,
            factors: 0,
            offsets: 0,
            zero: 8,
            memory: core::ptr::null(),
        }
    }
}

/// Packed weights W of y = x W^T, n outputs by k inputs: W\[n\]\[k\] = scale\[g\]\[n\] * (q\[n\]\[k\] -
/// zero\[g\]\[n\]) with g = k / group. kaio_repack_..._w8 writes the memory, everything else reads it.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct kaio_w8_weights {
    /// `size_of::<kaio_w8_weights>()`.
    pub size: u32,
    /// kaio_w8_codes.
    pub codes: i32,
    /// n.
    pub n: i64,
    /// k.
    pub k: i64,
    /// Default -1; a multiple of 16 (int8) or 64 (e4m3); or k, also given as -1.
    pub group: i64,
    /// 1: one for each group and column, for int8.
    pub zero_points: i32,
    /// 1: an index gives the groups of k.
    pub act_order: i32,
    /// 1: W = scale * q + offset\[g\]\[n\], for int8.
    pub offsets: i32,
    /// 0.
    pub reserved_44: i32,
    /// kaio_w8_packed_bytes bytes, at a multiple of 16.
    pub memory: *const DLTensor,
}

impl Default for kaio_w8_weights {
    fn default() -> Self {
        Self {
            size: core::mem::size_of::<Self>() as u32,
            codes: 0,
            n: 0,
            k: 0,
            group: -1,
            zero_points: 0,
            act_order: 0,
            offsets: 0,
            reserved_44: 0,
            memory: core::ptr::null(),
        }
    }
}

/// Options of products with packed weights, of four and of eight bits.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct kaio_matmul_w4_options {
    /// `size_of::<kaio_matmul_w4_options>()`.
    pub size: u32,
    /// Parts of K; 0: the number that fills the device best.
    pub splits: u32,
    /// kaio_constant_inputs: weights.
    pub constant: i32,
    /// 1: no weight is rounded to the type of x, as may be faster from 17 rows of x on.
    pub exact_weights: i32,
    /// (n); f16 or bf16; the element type of x.
    pub bias: *const DLTensor,
    /// ..._workspace_bytes bytes, at a multiple of 16.
    pub workspace: *const DLTensor,
    /// The kernel to run, as ..._choice names it; NULL: the best one.
    pub variant: *const c_char,
}

impl Default for kaio_matmul_w4_options {
    fn default() -> Self {
        Self {
            size: core::mem::size_of::<Self>() as u32,
            splits: 0,
            constant: 0,
            exact_weights: 0,
            bias: core::ptr::null(),
            workspace: core::ptr::null(),
            variant: core::ptr::null(),
        }
    }
}

/// Options of grouped products with packed weights, of four and of eight bits.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct kaio_matmul_w4_grouped_options {
    /// `size_of::<kaio_matmul_w4_grouped_options>()`.
    pub size: u32,
    /// 0.
    pub reserved_4: i32,
    /// (groups, n); f16 or bf16; the element type of x.
    pub bias: *const DLTensor,
    /// The kernel to run, as ..._choice names it; NULL: the best one.
    pub variant: *const c_char,
    /// (rows); i32; row r of out is of row rows\[r\] of x; an index that is no row of x counts as a row of
    /// zeros.
    pub rows: *const DLTensor,
    /// kaio_matmul_activation: not none: even columns of the weights are gates, odd ones their values, and
    /// out is (rows, n / 2).
    pub gate: i32,
    /// Default 1; the gate's factor: silu is x / (1 + exp(-alpha x)); above 0.
    pub alpha: f32,
    /// a gate is at most limit, its value is from -limit to limit; 0: none.
    pub limit: f32,
    /// Added to a gate's value.
    pub up_offset: f32,
}

impl Default for kaio_matmul_w4_grouped_options {
    fn default() -> Self {
        Self {
            size: core::mem::size_of::<Self>() as u32,
            reserved_4: 0,
            bias: core::ptr::null(),
            variant: core::ptr::null(),
            rows: core::ptr::null(),
            gate: 0,
            alpha: 1.0,
            limit: 0.0,
            up_offset: 0.0,
        }
    }
}
