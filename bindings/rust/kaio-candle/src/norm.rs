//! Norms along the last dimension.

use crate::library::kaio;
use crate::operation::{apply, as_rows, neighbours, no_gradient, pointer, with_inputs, Operation};
use crate::storage::{Input, Output, Place};
use candle_core::{Result, Tensor};
use kaio_sys::{
    kaio_layer_norm_backward_options, kaio_layer_norm_options, kaio_rms_norm_backward_options,
    kaio_rms_norm_options,
};

/// Options of [`rms_norm_with`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RmsNormOptions {
    /// Added to the mean square.
    pub epsilon: f32,
    /// Added to the weight: 1 for Gemma.
    pub weight_offset: f32,
    /// Rounds the normalised number to the type of x before the weight multiplies it, as Hugging Face's Llama does.
    pub llama_rounding: bool,
}

impl Default for RmsNormOptions {
    fn default() -> Self {
        Self {
            epsilon: 1e-6,
            weight_offset: 0.0,
            llama_rounding: false,
        }
    }
}

/// `x / sqrt(mean(x²) + epsilon) · weight` for x (..., size) and weight (size), with gradients. Sums are f32.
pub fn rms_norm(x: &Tensor, weight: &Tensor, epsilon: f32) -> Result<Tensor> {
    rms_norm_with(
        x,
        weight,
        RmsNormOptions {
            epsilon,
            ..Default::default()
        },
    )
}

/// [`rms_norm`] with options.
pub fn rms_norm_with(x: &Tensor, weight: &Tensor, options: RmsNormOptions) -> Result<Tensor> {
    apply(RmsNorm(options), &[x, weight])
}

/// `h = x + residual` and its [`rms_norm`], in one kernel: returns (norm, h). For inference: tracked tensors are refused.
pub fn add_rms_norm(
    x: &Tensor,
    residual: &Tensor,
    weight: &Tensor,
    options: RmsNormOptions,
) -> Result<(Tensor, Tensor)> {
    no_gradient("add_rms_norm", &[Some(x), Some(residual), Some(weight)])?;
    with_inputs(&[x, weight, residual], |place, inputs| {
        let mut sum = place.output(inputs[0].dims(), inputs[0].dtype())?;
        let out = rms_norm_forward(place, inputs, options, Some(&mut sum))?;
        Ok((out.tensor(), sum.tensor()))
    })
}

/// `(x - mean) / sqrt(variance + epsilon) · weight + bias` for x (..., size), with gradients of all three.
pub fn layer_norm(x: &Tensor, weight: &Tensor, bias: &Tensor, epsilon: f32) -> Result<Tensor> {
    apply(LayerNorm { epsilon }, &[x, weight, bias])
}

struct RmsNorm(RmsNormOptions);

fn rms_norm_forward(
    place: &Place,
    inputs: &[Input],
    options: RmsNormOptions,
    sum: Option<&mut Output>,
) -> Result<Output> {
    let mut output = place.output(inputs[0].dims(), inputs[0].dtype())?;
    {
        let (x, out, weight) = (
            place.view(&inputs[0])?,
            output.view(place)?,
            place.view(&inputs[1])?,
        );
        let weight = weight.dl();
        let mut how = kaio_rms_norm_options {
            epsilon: options.epsilon,
            weight_offset: options.weight_offset,
            casting: i32::from(options.llama_rounding),
            ..Default::default()
        };
        if let Some(sum) = sum {
            let [x, out, residual, sum] = as_rows([x, out, place.view(&inputs[2])?, sum.view(place)?]);
            let (residual, sum) = (Some(residual.dl()), Some(sum.dl()));
            how.residual = pointer(&residual);
            how.residual_out = pointer(&sum);
            kaio!(kaio_rms_norm(place.stream(), &x.dl(), &weight, &out.dl(), &how));
        } else {
            let [x, out] = as_rows([x, out]);
            kaio!(kaio_rms_norm(place.stream(), &x.dl(), &weight, &out.dl(), &how));
        }
    }
    Ok(output)
}

impl Operation for RmsNorm {
    const NAME: &'static str = "kaio_rms_norm";

    fn forward(&self, place: &Place, inputs: &[Input]) -> Result<Output> {
        rms_norm_forward(place, inputs, self.0, None)
    }

    fn backward(&self, arguments: &[&Tensor], _: &Tensor, gradient: &Tensor) -> Result<Vec<Option<Tensor>>> {
        let gradient = neighbours(gradient)?;
        with_inputs(&[arguments[0], arguments[1], &gradient], |place, inputs| {
            let mut dx = place.output(inputs[0].dims(), inputs[0].dtype())?;
            let mut dweight = place.output(inputs[1].dims(), inputs[1].dtype())?;
            {
                let [x, dy, to] =
                    as_rows([place.view(&inputs[0])?, place.view(&inputs[2])?, dx.view(place)?]);
                let (weight, dweight) = (place.view(&inputs[1])?, dweight.view(place)?);
                let (x, weight, dy, to, dweight) = (x.dl(), weight.dl(), dy.dl(), to.dl(), dweight.dl());
                let mut bytes = 0;
                kaio!(kaio_rms_norm_backward_workspace_bytes(&x, &mut bytes));
                let mut memory = place.workspace(bytes)?;
                let memory = memory.view(place)?.aligned();
                let workspace = memory.dl();
                let how = kaio_rms_norm_backward_options {
                    epsilon: self.0.epsilon,
                    weight_offset: self.0.weight_offset,
                    workspace: &workspace,
                    ..Default::default()
                };
                kaio!(kaio_rms_norm_backward(
                    place.stream(),
                    &x,
                    &weight,
                    &dy,
                    &to,
                    &dweight,
                    &how
                ));
            }
            Ok(vec![Some(dx.tensor()), Some(dweight.tensor())])
        })
    }
}

struct LayerNorm {
    epsilon: f32,
}

impl Operation for LayerNorm {
    const NAME: &'static str = "kaio_layer_norm";

    fn forward(&self, place: &Place, inputs: &[Input]) -> Result<Output> {
        let mut output = place.output(inputs[0].dims(), inputs[0].dtype())?;
        {
            let [x, out] = as_rows([place.view(&inputs[0])?, output.view(place)?]);
            let (weight, bias) = (place.view(&inputs[1])?, place.view(&inputs[2])?);
            let how = kaio_layer_norm_options {
                epsilon: self.epsilon,
                ..Default::default()
            };
            kaio!(kaio_layer_norm(
                place.stream(),
                &x.dl(),
                &weight.dl(),
                &bias.dl(),
                &out.dl(),
                &how
            ));
        }
        Ok(output)
    }

    fn backward(&self, arguments: &[&Tensor], _: &Tensor, gradient: &Tensor) -> Result<Vec<Option<Tensor>>> {
        let gradient = neighbours(gradient)?;
        with_inputs(
            &[arguments[0], arguments[1], arguments[2], &gradient],
            |place, inputs| {
                let mut dx = place.output(inputs[0].dims(), inputs[0].dtype())?;
                let mut dweight = place.output(inputs[1].dims(), inputs[1].dtype())?;
                let mut dbias = place.output(inputs[2].dims(), inputs[2].dtype())?;
                {
                    let [x, dy, to] =
                        as_rows([place.view(&inputs[0])?, place.view(&inputs[3])?, dx.view(place)?]);
                    let weight = place.view(&inputs[1])?;
                    let (dweight, dbias) = (dweight.view(place)?, dbias.view(place)?);
                    let (x, weight, dy, to) = (x.dl(), weight.dl(), dy.dl(), to.dl());
                    let (dweight, dbias) = (dweight.dl(), dbias.dl());
                    let mut bytes = 0;
                    kaio!(kaio_layer_norm_backward_workspace_bytes(&x, &mut bytes));
                    let mut memory = place.workspace(bytes)?;
                    let memory = memory.view(place)?.aligned();
                    let workspace = memory.dl();
                    let how = kaio_layer_norm_backward_options {
                        epsilon: self.epsilon,
                        workspace: &workspace,
                        ..Default::default()
                    };
                    kaio!(kaio_layer_norm_backward(
                        place.stream(),
                        &x,
                        &weight,
                        &dy,
                        &to,
                        &dweight,
                        &dbias,
                        &how
                    ));
                }
                Ok(vec![
                    Some(dx.tensor()),
                    Some(dweight.tensor()),
                    Some(dbias.tensor()),
                ])
            },
        )
    }
}
