// Made by bindings/rust/generate.py from src/c/operations/elementwise.json.

// kaio_activation: A function of one number.
/// kaio_activation: silu.
pub const KAIO_ACTIVATION_SILU: i32 = 0;
/// By erf.
pub const KAIO_ACTIVATION_GELU: i32 = 1;
/// kaio_activation: gelu_tanh.
pub const KAIO_ACTIVATION_GELU_TANH: i32 = 2;
/// x / (1 + e^(-1.702 x)).
pub const KAIO_ACTIVATION_GELU_SIGMOID: i32 = 3;
/// kaio_activation: relu.
pub const KAIO_ACTIVATION_RELU: i32 = 4;
/// The square of relu.
pub const KAIO_ACTIVATION_RELU2: i32 = 5;

/// Options of gates: y = f(min(gate, limit)) * (clamp(up, -limit, limit) + up_offset).
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct kaio_gated_options {
    /// `size_of::<kaio_gated_options>()`.
    pub size: u32,
    /// Above 0 and finite, 0: none; 7 for gpt-oss.
    pub limit: f32,
    /// Finite; 1 for gpt-oss.
    pub up_offset: f32,
    /// 0.
    pub reserved_12: i32,
}

impl Default for kaio_gated_options {
    fn default() -> Self {
        Self {
            size: core::mem::size_of::<Self>() as u32,
            limit: 0.0,
            up_offset: 0.0,
            reserved_12: 0,
        }
    }
}
