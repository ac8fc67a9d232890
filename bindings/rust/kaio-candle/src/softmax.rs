//! Softmax along the last dimension.

use crate::library::kaio;
use crate::operation::{apply, as_rows, neighbours, with_inputs, Operation};
use crate::storage::{Input, Output, Place};
use candle_core::{Result, Tensor};
use kaio_sys::{kaio_softmax_backward_options, kaio_softmax_options};

/// `e^(scale x) / sum` along the last dimension, with gradient. In f32, rounded once. A row of -infinity becomes 0.
pub fn softmax(x: &Tensor, scale: f32) -> Result<Tensor> {
    apply(
        Softmax {
            scale,
            logarithm: false,
        },
        &[x],
    )
}

/// The logarithm of [`softmax`], with gradient.
pub fn log_softmax(x: &Tensor, scale: f32) -> Result<Tensor> {
    apply(
        Softmax {
            scale,
            logarithm: true,
        },
        &[x],
    )
}

struct Softmax {
    scale: f32,
    logarithm: bool,
}

impl Operation for Softmax {
    const NAME: &'static str = "kaio_softmax";

    fn forward(&self, place: &Place, inputs: &[Input]) -> Result<Output> {
        let mut output = place.output(inputs[0].dims(), inputs[0].dtype())?;
        {
            let [x, y] = as_rows([place.view(&inputs[0])?, output.view(place)?]);
            let how = kaio_softmax_options {
                scale: self.scale,
                ..Default::default()
            };
            match self.logarithm {
                false => kaio!(kaio_softmax(place.stream(), &x.dl(), &y.dl(), &how)),
                true => kaio!(kaio_log_softmax(place.stream(), &x.dl(), &y.dl(), &how)),
            }
        }
        Ok(output)
    }

    fn backward(&self, _: &[&Tensor], result: &Tensor, gradient: &Tensor) -> Result<Vec<Option<Tensor>>> {
        let gradient = neighbours(gradient)?;
        with_inputs(&[result, &gradient], |place, inputs| {
            let mut output = place.output(inputs[0].dims(), inputs[0].dtype())?;
            {
                let [y, dy, dx] = as_rows([
                    place.view(&inputs[0])?,
                    place.view(&inputs[1])?,
                    output.view(place)?,
                ]);
                let (y, dy, dx) = (y.dl(), dy.dl(), dx.dl());
                let how = kaio_softmax_backward_options {
                    scale: self.scale,
                    ..Default::default()
                };
                match self.logarithm {
                    false => kaio!(kaio_softmax_backward(place.stream(), &y, &dy, &dx, &how)),
                    true => kaio!(kaio_log_softmax_backward(place.stream(), &y, &dy, &dx, &how)),
                }
            }
            Ok(vec![Some(output.tensor())])
        })
    }
}
