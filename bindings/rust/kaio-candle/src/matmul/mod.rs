//! Products of matrices, and linear layers.

mod product;
mod recorded;

use crate::operation::{apply, no_gradient, with_inputs, Held};
use candle_core::{DType, Result, Tensor};
use product::{product, Extra};
use recorded::Product;

/// How products of f32 are computed. Other types ignore it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Precision {
    /// Multiply-adds in f32.
    #[default]
    Ieee,
    /// Tensor cores; inputs are rounded to 11 significant bits.
    Tf32,
    /// Tensor cores, three products: about 22 significant bits. Attention takes it as `Ieee`.
    Tf32x3,
}

impl Precision {
    fn code(self) -> i32 {
        match self {
            Self::Ieee => kaio_sys::KAIO_MATMUL_PRECISION_IEEE,
            Self::Tf32 => kaio_sys::KAIO_MATMUL_PRECISION_TF32,
            Self::Tf32x3 => kaio_sys::KAIO_MATMUL_PRECISION_TF32X3,
        }
    }
}

/// The activation function after a product.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Epilogue {
    /// None.
    #[default]
    None,
    /// max(x, 0).
    Relu,
    /// GELU by erf.
    Gelu,
    /// GELU by tanh.
    GeluTanh,
    /// x / (1 + e^-x).
    Silu,
}

impl Epilogue {
    pub(crate) fn code(self) -> i32 {
        match self {
            Self::None => kaio_sys::KAIO_MATMUL_ACTIVATION_NONE,
            Self::Relu => kaio_sys::KAIO_MATMUL_ACTIVATION_RELU,
            Self::Gelu => kaio_sys::KAIO_MATMUL_ACTIVATION_GELU,
            Self::GeluTanh => kaio_sys::KAIO_MATMUL_ACTIVATION_GELU_TANH,
            Self::Silu => kaio_sys::KAIO_MATMUL_ACTIVATION_SILU,
        }
    }
}

/// Options of [`matmul_with`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct MatmulOptions {
    /// A factor of the product.
    pub alpha: f32,
    /// How products of f32 are computed.
    pub precision: Precision,
    /// The type of the result: that of the operands, or f32. None: that of the operands.
    pub out: Option<DType>,
}

impl Default for MatmulOptions {
    fn default() -> Self {
        Self {
            alpha: 1.0,
            precision: Precision::Ieee,
            out: None,
        }
    }
}

/// `a b` for a (..., m, k) and b (..., k, n) of f32, f16 or bf16, with gradients. Leading dimensions are broadcast.
///
/// Sums are f32, rounded once. Transposed, narrowed and broadcast tensors are read as they are: of the last two
/// strides, one is 1.
pub fn matmul(a: &Tensor, b: &Tensor) -> Result<Tensor> {
    matmul_with(a, b, MatmulOptions::default())
}

/// [`matmul`] with options.
pub fn matmul_with(a: &Tensor, b: &Tensor, options: MatmulOptions) -> Result<Tensor> {
    apply(
        Product {
            options,
            weight: false,
        },
        &[a, b],
    )
}

/// `x weightᵀ + bias` for x (..., k), weight (n, k) and bias (n), with gradients of all three.
pub fn linear(x: &Tensor, weight: &Tensor, bias: Option<&Tensor>) -> Result<Tensor> {
    let operation = Product {
        options: MatmulOptions::default(),
        weight: true,
    };
    match bias {
        Some(bias) => apply(operation, &[x, weight, bias]),
        None => apply(operation, &[x, weight]),
    }
}

/// `epilogue(x weightᵀ + bias) + residual` in one kernel, for inference: tracked tensors are refused.
pub fn linear_fused(
    x: &Tensor,
    weight: &Tensor,
    bias: Option<&Tensor>,
    epilogue: Epilogue,
    residual: Option<&Tensor>,
) -> Result<Tensor> {
    no_gradient("linear_fused", &[Some(x), Some(weight), bias, residual])?;
    with_inputs(&[x, weight], |place, inputs| {
        let (bias, residual) = (Held::of(bias), Held::of(residual));
        let extra = Extra {
            bias: bias.view(place)?,
            residual: residual.view(place)?,
            epilogue,
        };
        Ok(product(place, inputs, true, MatmulOptions::default(), &extra)?.tensor())
    })
}
