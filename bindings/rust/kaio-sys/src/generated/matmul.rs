// Made by bindings/rust/generate.py from src/c/operations/matmul.json.
use std::os::raw::c_char;
use crate::base::DLTensor;

// kaio_matmul_activation: The activation function of a product.
/// kaio_matmul_activation: none.
pub const KAIO_MATMUL_ACTIVATION_NONE: i32 = 0;
/// kaio_matmul_activation: relu.
pub const KAIO_MATMUL_ACTIVATION_RELU: i32 = 1;
/// By erf.
pub const KAIO_MATMUL_ACTIVATION_GELU: i32 = 2;
/// kaio_matmul_activation: gelu_tanh.
pub const KAIO_MATMUL_ACTIVATION_GELU_TANH: i32 = 3;
/// kaio_matmul_activation: silu.
pub const KAIO_MATMUL_ACTIVATION_SILU: i32 = 4;

// kaio_matmul_precision: How products of f32 are computed.
/// multiply-adds in f32.
pub const KAIO_MATMUL_PRECISION_IEEE: i32 = 0;
/// Tensor cores, inputs rounded to 11 significant bits.
pub const KAIO_MATMUL_PRECISION_TF32: i32 = 1;
/// Three products of such numbers: about 22 significant bits.
pub const KAIO_MATMUL_PRECISION_TF32X3: i32 = 2;

/// C = activation(alpha * A * B + beta * C + bias) + residual.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct kaio_matmul_options {
    /// `size_of::<kaio_matmul_options>()`.
    pub size: u32,
    /// Default 1; 0: A and B are not read.
    pub alpha: f32,
    /// 0: C is not read.
    pub beta: f32,
    /// kaio_matmul_activation.
    pub activation: i32,
    /// kaio_matmul_precision: for operands of f32.
    pub precision: i32,
    /// kaio_constant_inputs: a, b.
    pub constant: i32,
    /// 1: bias has a number for each row of C.
    pub bias_of_rows: i32,
    /// 0.
    pub reserved_28: i32,
    /// (n) or (batch, n); (m) or (batch, m) with bias_of_rows; f32, f16 or bf16.
    pub bias: *const DLTensor,
    /// (m, n) or (batch, m, n); f32, f16 or bf16; may be C itself.
    pub residual: *const DLTensor,
    /// kaio_matmul_workspace_bytes; without it, K is not split.
    pub workspace: *const DLTensor,
    /// The kernel to run, as kaio_matmul_choice names it; NULL: the best one.
    pub variant: *const c_char,
}

impl Default for kaio_matmul_options {
    fn default() -> Self {
        Self {
            size: core::mem::size_of::<Self>() as u32,
            alpha: 1.0,
            beta: 0.0,
            activation: 0,
            precision: 0,
            constant: 0,
            bias_of_rows: 0,
            reserved_28: 0,
            bias: core::ptr::null(),
            residual: core::ptr::null(),
            workspace: core::ptr::null(),
            variant: core::ptr::null(),
        }
    }
}

/// Options of the gradients of a product.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct kaio_matmul_backward_options {
    /// `size_of::<kaio_matmul_backward_options>()`.
    pub size: u32,
    /// Default 1; alpha of the product that is differentiated.
    pub alpha: f32,
    /// 1: adds to da and db.
    pub accumulate: i32,
    /// kaio_matmul_precision: for operands of f32.
    pub precision: i32,
    /// kaio_matmul_backward_workspace_bytes, at a multiple of 16 bytes; more of it lets K be split.
    pub workspace: *const DLTensor,
}

impl Default for kaio_matmul_backward_options {
    fn default() -> Self {
        Self {
            size: core::mem::size_of::<Self>() as u32,
            alpha: 1.0,
            accumulate: 0,
            precision: 0,
            workspace: core::ptr::null(),
        }
    }
}

/// Options of matmul_grouped.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct kaio_matmul_grouped_options {
    /// `size_of::<kaio_matmul_grouped_options>()`.
    pub size: u32,
    /// 0.
    pub reserved_4: i32,
    /// (rows); i32; row r of c is of row rows\[r\] of a; an index that is no row of a counts as a row of
    /// zeros.
    pub rows: *const DLTensor,
    /// (groups, n); f32; added to the sums.
    pub bias: *const DLTensor,
}

impl Default for kaio_matmul_grouped_options {
    fn default() -> Self {
        Self {
            size: core::mem::size_of::<Self>() as u32,
            reserved_4: 0,
            rows: core::ptr::null(),
            bias: core::ptr::null(),
        }
    }
}

/// Options of matmul_grouped_backward.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct kaio_matmul_grouped_backward_options {
    /// `size_of::<kaio_matmul_grouped_backward_options>()`.
    pub size: u32,
    /// 1: adds to db.
    pub accumulate: i32,
}

impl Default for kaio_matmul_grouped_backward_options {
    fn default() -> Self {
        Self {
            size: core::mem::size_of::<Self>() as u32,
            accumulate: 0,
        }
    }
}

/// Options of gate_up_grouped. gpt-oss has alpha 1.702, limit 7 and up_offset 1.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct kaio_gate_up_grouped_options {
    /// `size_of::<kaio_gate_up_grouped_options>()`.
    pub size: u32,
    /// Default 4; kaio_matmul_activation: not none.
    pub activation: i32,
    /// (rows); i32; row r of y is of row rows\[r\] of x; an index that is no row of x counts as a row of
    /// zeros.
    pub rows: *const DLTensor,
    /// (groups, n); f32.
    pub gate_bias: *const DLTensor,
    /// (groups, n); f32.
    pub up_bias: *const DLTensor,
    /// Default 1; silu is x / (1 + exp(-alpha x)); above 0.
    pub alpha: f32,
    /// The gate is at most limit, up is from -limit to limit; 0: none.
    pub limit: f32,
    /// Added to up.
    pub up_offset: f32,
    /// 0.
    pub reserved_44: i32,
}

impl Default for kaio_gate_up_grouped_options {
    fn default() -> Self {
        Self {
            size: core::mem::size_of::<Self>() as u32,
            activation: 4,
            rows: core::ptr::null(),
            gate_bias: core::ptr::null(),
            up_bias: core::ptr::null(),
            alpha: 1.0,
            limit: 0.0,
            up_offset: 0.0,
            reserved_44: 0,
        }
    }
}
