//! Drawing tokens from logits.

use crate::library::kaio;
use crate::operation::{no_gradient, with_inputs};
use candle_core::{bail, DType, Result, Tensor};
use kaio_sys::kaio_sample_options;

/// Options of [`sample`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SampleOptions {
    /// 0: the largest logit.
    pub temperature: f32,
    /// 0: all tokens.
    pub top_k: usize,
    /// 1: all tokens.
    pub top_p: f32,
    /// 0: all tokens.
    pub min_p: f32,
}

impl Default for SampleOptions {
    fn default() -> Self {
        Self {
            temperature: 1.0,
            top_k: 0,
            top_p: 1.0,
            min_p: 0.0,
        }
    }
}

/// A token (rows) as I64 for each row of logits (rows, vocabulary): Philox-4x32-10 of `(seed[row], offset[row])`, both I64
/// (rows). Two draws differ if their offsets do; a token does not depend on other rows.
pub fn sample(logits: &Tensor, seed: &Tensor, offset: &Tensor, options: SampleOptions) -> Result<Tensor> {
    no_gradient("sample", &[Some(logits), Some(seed), Some(offset)])?;
    with_inputs(&[logits, seed, offset], |place, inputs| {
        let &[rows, _] = inputs[0].dims() else {
            bail!(
                "kaio: sample: logits have the shape {:?}, and (rows, vocabulary) is needed",
                inputs[0].dims()
            )
        };
        let mut output = place.output(&[rows], DType::I64)?;
        {
            let [logits, seed, offset] = [
                place.view(&inputs[0])?,
                place.view(&inputs[1])?,
                place.view(&inputs[2])?,
            ];
            let (logits, seed, offset, tokens) = (logits.dl(), seed.dl(), offset.dl(), output.view(place)?);
            let how = kaio_sample_options {
                seed: &seed,
                offset: &offset,
                temperature: options.temperature,
                top_k: i32::try_from(options.top_k).unwrap_or(0),
                top_p: options.top_p,
                min_p: options.min_p,
                ..Default::default()
            };
            kaio!(kaio_sample(place.stream(), &logits, &tokens.dl(), &how));
        }
        Ok(output.tensor())
    })
}

/// The k largest elements of each row of x (rows, size) and their indices as I64, the largest first. k is up to 1024.
pub fn top_k(x: &Tensor, k: usize) -> Result<(Tensor, Tensor)> {
    no_gradient("top_k", &[Some(x)])?;
    with_inputs(&[x], |place, inputs| {
        let &[rows, _] = inputs[0].dims() else {
            bail!(
                "kaio: top_k: x has the shape {:?}, and (rows, size) is needed",
                inputs[0].dims()
            )
        };
        let (mut values, mut indices) = (
            place.output(&[rows, k], inputs[0].dtype())?,
            place.output(&[rows, k], DType::I64)?,
        );
        {
            let (x, to, at) = (place.view(&inputs[0])?, values.view(place)?, indices.view(place)?);
            kaio!(kaio_top_k(place.stream(), &x.dl(), &to.dl(), &at.dl()));
        }
        Ok((values.tensor(), indices.tensor()))
    })
}
