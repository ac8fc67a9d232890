//! Products of numbers of eight bits, and rounding to them. candle has no i8: its bytes are in U8 tensors.

use crate::library::kaio;
use crate::operation::{dl, no_gradient, pointer, with_inputs, Held};
use candle_core::{bail, DType, Result, Tensor};
use kaio_sys::{kaio_matmul_fp8_options, kaio_matmul_int8_options};
use std::ptr::null;

/// Options of [`matmul_int8`] and [`matmul_fp8`].
#[derive(Clone, Debug)]
pub struct EightBitOptions {
    /// A factor of the product.
    pub alpha: f32,
    /// Scales of the rows of a: (m) or (1), f32.
    pub scale_a: Option<Tensor>,
    /// Scales of the columns of b: (n) or (1), f32.
    pub scale_b: Option<Tensor>,
    /// (n) of f32, f16 or bf16.
    pub bias: Option<Tensor>,
    /// f32, f16 or bf16.
    pub out: DType,
}

impl Default for EightBitOptions {
    fn default() -> Self {
        Self {
            alpha: 1.0,
            scale_a: None,
            scale_b: None,
            bias: None,
            out: DType::F32,
        }
    }
}

/// `alpha · scale_a[m] · scale_b[n] · (a b) + bias` for bytes of i8, a (m, k) and b (k, n). Sums are exact in i32.
///
/// A weight that is stored (n, k) is given as `weight.t()?`, which is the fast way. Without gradient.
pub fn matmul_int8(a: &Tensor, b: &Tensor, options: &EightBitOptions) -> Result<Tensor> {
    product(a, b, options, true)
}

/// [`matmul_int8`] for F8E4M3, with sums in f32.
pub fn matmul_fp8(a: &Tensor, b: &Tensor, options: &EightBitOptions) -> Result<Tensor> {
    product(a, b, options, false)
}

fn product(a: &Tensor, b: &Tensor, options: &EightBitOptions, integers: bool) -> Result<Tensor> {
    let EightBitOptions {
        scale_a,
        scale_b,
        bias,
        ..
    } = options;
    no_gradient(
        "8-bit matmul",
        &[
            Some(a),
            Some(b),
            scale_a.as_ref(),
            scale_b.as_ref(),
            bias.as_ref(),
        ],
    )?;
    with_inputs(&[a, b], |place, inputs| {
        let (&[m, _], &[_, n]) = (inputs[0].dims(), inputs[1].dims()) else {
            bail!(
                "kaio: 8-bit matmul: operands have the shapes {:?} and {:?}, and matrices are needed",
                inputs[0].dims(),
                inputs[1].dims()
            )
        };
        let mut output = place.output(&[m, n], options.out)?;
        {
            let held = [scale_a, scale_b, bias].map(|tensor| Held::of(tensor.as_ref()));
            let views = [held[0].view(place)?, held[1].view(place)?, held[2].view(place)?];
            let [scale_a, scale_b, bias] = [dl(&views[0]), dl(&views[1]), dl(&views[2])];
            let (a, b, c) = (
                place.view(&inputs[0])?,
                place.view(&inputs[1])?,
                output.view(place)?,
            );
            if integers {
                let how = kaio_matmul_int8_options {
                    alpha: options.alpha,
                    scale_a: pointer(&scale_a),
                    scale_b: pointer(&scale_b),
                    bias: pointer(&bias),
                    ..Default::default()
                };
                let (a, b) = (a.as_i8(), b.as_i8());
                kaio!(kaio_matmul_int8(place.stream(), &a.dl(), &b.dl(), &c.dl(), &how));
            } else {
                let how = kaio_matmul_fp8_options {
                    alpha: options.alpha,
                    scale_a: pointer(&scale_a),
                    scale_b: pointer(&scale_b),
                    bias: pointer(&bias),
                    ..Default::default()
                };
                kaio!(kaio_matmul_fp8(place.stream(), &a.dl(), &b.dl(), &c.dl(), &how));
            }
        }
        Ok(output.tensor())
    })
}

/// Rounds x (rows, columns) to bytes of i8 with a scale for each row, max |x| / 127: returns (codes as U8, scales).
pub fn quantise_int8(x: &Tensor) -> Result<(Tensor, Tensor)> {
    rounded(x, DType::U8)
}

/// Rounds x (rows, columns) to F8E4M3 with a scale for each row, max |x| / 448: returns (codes, scales).
pub fn quantise_fp8(x: &Tensor) -> Result<(Tensor, Tensor)> {
    rounded(x, DType::F8E4M3)
}

fn rounded(x: &Tensor, dtype: DType) -> Result<(Tensor, Tensor)> {
    no_gradient("quantise", &[Some(x)])?;
    with_inputs(&[x], |place, inputs| {
        let &[rows, _] = inputs[0].dims() else {
            bail!(
                "kaio: quantise: x has the shape {:?}, and a matrix is needed",
                inputs[0].dims()
            )
        };
        let (mut codes, mut scales) = (
            place.output(inputs[0].dims(), dtype)?,
            place.output(&[rows], DType::F32)?,
        );
        {
            let (x, codes, scales) = (
                place.view(&inputs[0])?,
                codes.view(place)?.as_i8(),
                scales.view(place)?,
            );
            let (x, codes, scales) = (x.dl(), codes.dl(), scales.dl());
            match dtype {
                DType::U8 => kaio!(kaio_quantise_int8(
                    place.stream(),
                    &x,
                    &codes,
                    &scales,
                    null(),
                    1.0
                )),
                _ => kaio!(kaio_quantise_fp8(place.stream(), &x, &codes, &scales, 1.0)),
            }
        }
        Ok((codes.tensor(), scales.tensor()))
    })
}
