// Made by bindings/rust/generate.py from src/c/operations/matmul_8bit.json.
use std::os::raw::c_char;
use crate::base::DLTensor;

/// C = activation(scale_a\[m\] * scale_b\[n\] * (A * B) * alpha + bias) + residual. Scales that are NULL
/// are 1.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct kaio_matmul_int8_options {
    /// `size_of::<kaio_matmul_int8_options>()`.
    pub size: u32,
    /// Default 1.
    pub alpha: f32,
    /// Default 1; c of i8 is the result / out_scale; above 0 and finite.
    pub out_scale: f32,
    /// kaio_matmul_activation.
    pub activation: i32,
    /// kaio_constant_inputs: a, b.
    pub constant: i32,
    /// 1: bias has a number for each row of C.
    pub bias_of_rows: i32,
    /// (m), (1) or (batch, m); f32, f16 or bf16; scales of the rows of A.
    pub scale_a: *const DLTensor,
    /// (n), (1) or (batch, n); f32, f16 or bf16; scales of the columns of B.
    pub scale_b: *const DLTensor,
    /// (m), (1) or (batch, m); i32; zero points of the rows of A; they need column_sums.
    pub zero_a: *const DLTensor,
    /// (n) or (batch, n); i32; the sums of B's columns, from kaio_int8_column_sums; with zero_a.
    pub column_sums: *const DLTensor,
    /// (n) or (batch, n); (m) or (batch, m) with bias_of_rows; f32, f16 or bf16.
    pub bias: *const DLTensor,
    /// (m, n) or (batch, m, n); f32, f16 or bf16; may be C itself.
    pub residual: *const DLTensor,
    /// The kernel to run, as kaio_matmul_int8_choice names it; NULL: the best one.
    pub variant: *const c_char,
}

impl Default for kaio_matmul_int8_options {
    fn default() -> Self {
        Self {
            size: core::mem::size_of::<Self>() as u32,
            alpha: 1.0,
            out_scale: 1.0,
            activation: 0,
            constant: 0,
            bias_of_rows: 0,
            scale_a: core::ptr::null(),
            scale_b: core::ptr::null(),
            zero_a: core::ptr::null(),
            column_sums: core::ptr::null(),
            bias: core::ptr::null(),
            residual: core::ptr::null(),
            variant: core::ptr::null(),
        }
    }
}

/// C = activation(scale_a\[m\] * scale_b\[n\] * (A * B) * alpha + bias) + residual. Scales that are NULL
/// are 1.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct kaio_matmul_fp8_options {
    /// `size_of::<kaio_matmul_fp8_options>()`.
    pub size: u32,
    /// Default 1.
    pub alpha: f32,
    /// Default 1; c of e4m3 is the result / out_scale; above 0 and finite.
    pub out_scale: f32,
    /// kaio_matmul_activation.
    pub activation: i32,
    /// kaio_constant_inputs: a, b.
    pub constant: i32,
    /// 1: bias has a number for each row of C.
    pub bias_of_rows: i32,
    /// (m), (1) or (batch, m); f32, f16 or bf16; scales of the rows of A.
    pub scale_a: *const DLTensor,
    /// (n), (1) or (batch, n); f32, f16 or bf16; scales of the columns of B.
    pub scale_b: *const DLTensor,
    /// (m, ceil(k / 128)) or (batch, m, ceil(k / 128)); f32; scales of 128 neighbours of a row of A; with
    /// blocks_b.
    pub groups_a: *const DLTensor,
    /// (ceil(k / 128), ceil(n / 128)), or with the batch first; f32; scales of blocks of 128 x 128 of B;
    /// with groups_a.
    pub blocks_b: *const DLTensor,
    /// (n) or (batch, n); (m) or (batch, m) with bias_of_rows; f32, f16 or bf16.
    pub bias: *const DLTensor,
    /// (m, n) or (batch, m, n); f32, f16 or bf16; may be C itself.
    pub residual: *const DLTensor,
    /// The kernel to run, as kaio_matmul_fp8_choice names it; NULL: the best one.
    pub variant: *const c_char,
}

impl Default for kaio_matmul_fp8_options {
    fn default() -> Self {
        Self {
            size: core::mem::size_of::<Self>() as u32,
            alpha: 1.0,
            out_scale: 1.0,
            activation: 0,
            constant: 0,
            bias_of_rows: 0,
            scale_a: core::ptr::null(),
            scale_b: core::ptr::null(),
            groups_a: core::ptr::null(),
            blocks_b: core::ptr::null(),
            bias: core::ptr::null(),
            residual: core::ptr::null(),
            variant: core::ptr::null(),
        }
    }
}

/// c\[r, :\] = scale_a\[r\] * scale_b\[g\]\[n\] * (A * B\[g\]) + bias\[g\]\[n\]. Scales that are NULL are
/// 1.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct kaio_matmul_int8_grouped_options {
    /// `size_of::<kaio_matmul_int8_grouped_options>()`.
    pub size: u32,
    /// 0.
    pub reserved_4: i32,
    /// (rows of A) or (1); f32, f16 or bf16; scales of the rows of A.
    pub scale_a: *const DLTensor,
    /// (groups, n) or (groups, 1); f32, f16 or bf16; scales of the columns of each B.
    pub scale_b: *const DLTensor,
    /// (groups, n); f32, f16 or bf16.
    pub bias: *const DLTensor,
    /// (rows); i32; row r of c is of row rows\[r\] of A; an index that is no row of A counts as a row of
    /// zeros.
    pub rows: *const DLTensor,
    /// kaio_matmul_activation: not none: columns 8 i to 8 i + 3 of B are gates, the next four their values,
    /// and c is (rows, n / 2).
    pub gate: i32,
    /// 0.
    pub reserved_44: i32,
    /// (rows of A) or (1); i32; zero points of the rows of A; with column_sums.
    pub zero_a: *const DLTensor,
    /// (groups, n); i32; the sums of the columns of each B; with zero_a.
    pub column_sums: *const DLTensor,
    /// Default 1; the gate's factor: silu is x / (1 + exp(-alpha x)); above 0.
    pub alpha: f32,
    /// a gate is at most limit, its value is from -limit to limit; 0: none.
    pub limit: f32,
    /// Added to a gate's value.
    pub up_offset: f32,
    /// 0.
    pub reserved_76: i32,
}

impl Default for kaio_matmul_int8_grouped_options {
    fn default() -> Self {
        Self {
            size: core::mem::size_of::<Self>() as u32,
            reserved_4: 0,
            scale_a: core::ptr::null(),
            scale_b: core::ptr::null(),
            bias: core::ptr::null(),
            rows: core::ptr::null(),
            gate: 0,
            reserved_44: 0,
            zero_a: core::ptr::null(),
            column_sums: core::ptr::null(),
            alpha: 1.0,
            limit: 0.0,
            up_offset: 0.0,
            reserved_76: 0,
        }
    }
}

/// c\[r, :\] = scale_a\[r\] * scale_b\[g\]\[n\] * (A * B\[g\]) + bias\[g\]\[n\]. Scales that are NULL are
/// 1.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct kaio_matmul_fp8_grouped_options {
    /// `size_of::<kaio_matmul_fp8_grouped_options>()`.
    pub size: u32,
    /// 0.
    pub reserved_4: i32,
    /// (rows of A) or (1); f32, f16 or bf16; scales of the rows of A.
    pub scale_a: *const DLTensor,
    /// (groups, n) or (groups, 1); f32, f16 or bf16; scales of the columns of each B.
    pub scale_b: *const DLTensor,
    /// (rows of A, ceil(k / 128)); f32; scales of 128 neighbours of a row of A; with blocks_b.
    pub groups_a: *const DLTensor,
    /// (groups, ceil(k / 128), ceil(n / 128)); f32; scales of blocks of 128 x 128 of each B; with groups_a.
    pub blocks_b: *const DLTensor,
    /// (groups, n); f32, f16 or bf16.
    pub bias: *const DLTensor,
    /// (rows); i32; row r of c is of row rows\[r\] of A; an index that is no row of A counts as a row of
    /// zeros.
    pub rows: *const DLTensor,
    /// kaio_matmul_activation: not none: columns 8 i to 8 i + 3 of B are gates, the next four their values,
    /// and c is (rows, n / 2).
    pub gate: i32,
    /// Default 1; the gate's factor: silu is x / (1 + exp(-alpha x)); above 0.
    pub alpha: f32,
    /// a gate is at most limit, its value is from -limit to limit; 0: none.
    pub limit: f32,
    /// Added to a gate's value.
    pub up_offset: f32,
}

impl Default for kaio_matmul_fp8_grouped_options {
    fn default() -> Self {
        Self {
            size: core::mem::size_of::<Self>() as u32,
            reserved_4: 0,
            scale_a: core::ptr::null(),
            scale_b: core::ptr::null(),
            groups_a: core::ptr::null(),
            blocks_b: core::ptr::null(),
            bias: core::ptr::null(),
            rows: core::ptr::null(),
            gate: 0,
            alpha: 1.0,
            limit: 0.0,
            up_offset: 0.0,
        }
    }
}
