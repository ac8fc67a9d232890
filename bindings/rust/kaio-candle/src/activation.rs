//! Activation functions, and gates of feed-forward blocks.

use crate::library::kaio;
use crate::operation::{apply, with_inputs, Operation};
use crate::storage::{Input, Output, Place};
use candle_core::{Result, Tensor};
use kaio_sys::kaio_gated_options;
use std::ptr::null;

/// A function of one number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Activation {
    /// x / (1 + e^-x).
    Silu,
    /// GELU by erf.
    Gelu,
    /// GELU by tanh.
    GeluTanh,
    /// x / (1 + e^(-1.702 x)).
    GeluSigmoid,
    /// max(x, 0).
    Relu,
    /// max(x, 0)².
    Relu2,
}

impl Activation {
    fn code(self) -> i32 {
        match self {
            Self::Silu => kaio_sys::KAIO_ACTIVATION_SILU,
            Self::Gelu => kaio_sys::KAIO_ACTIVATION_GELU,
            Self::GeluTanh => kaio_sys::KAIO_ACTIVATION_GELU_TANH,
            Self::GeluSigmoid => kaio_sys::KAIO_ACTIVATION_GELU_SIGMOID,
            Self::Relu => kaio_sys::KAIO_ACTIVATION_RELU,
            Self::Relu2 => kaio_sys::KAIO_ACTIVATION_RELU2,
        }
    }
}

/// `f(x)` for x of f32, f16 or bf16 and any strides, with gradient.
pub fn activate(x: &Tensor, f: Activation) -> Result<Tensor> {
    apply(Activate(f), &[x])
}

/// `f(gate) · up` for two tensors of one shape, with gradients. Halves of a packed tensor are given by `narrow`.
pub fn gated(gate: &Tensor, up: &Tensor, f: Activation) -> Result<Tensor> {
    apply(Gated(f), &[gate, up])
}

struct Activate(Activation);

impl Operation for Activate {
    const NAME: &'static str = "kaio_activate";

    fn forward(&self, place: &Place, inputs: &[Input]) -> Result<Output> {
        let mut output = place.output(inputs[0].dims(), inputs[0].dtype())?;
        {
            let (x, y) = (place.view(&inputs[0])?, output.view(place)?);
            kaio!(kaio_activate(place.stream(), self.0.code(), &x.dl(), &y.dl()));
        }
        Ok(output)
    }

    fn backward(&self, arguments: &[&Tensor], _: &Tensor, gradient: &Tensor) -> Result<Vec<Option<Tensor>>> {
        with_inputs(&[arguments[0], gradient], |place, inputs| {
            let mut output = place.output(inputs[0].dims(), inputs[0].dtype())?;
            {
                let (x, dy, dx) = (
                    place.view(&inputs[0])?,
                    place.view(&inputs[1])?,
                    output.view(place)?,
                );
                kaio!(kaio_activate_backward(
                    place.stream(),
                    self.0.code(),
                    &dy.dl(),
                    &x.dl(),
                    &dx.dl()
                ));
            }
            Ok(vec![Some(output.tensor())])
        })
    }
}

struct Gated(Activation);

impl Operation for Gated {
    const NAME: &'static str = "kaio_gated";

    fn forward(&self, place: &Place, inputs: &[Input]) -> Result<Output> {
        let mut output = place.output(inputs[0].dims(), inputs[0].dtype())?;
        {
            let (gate, up, y) = (
                place.view(&inputs[0])?,
                place.view(&inputs[1])?,
                output.view(place)?,
            );
            kaio!(kaio_gated(
                place.stream(),
                self.0.code(),
                &gate.dl(),
                &up.dl(),
                &y.dl(),
                null::<kaio_gated_options>()
            ));
        }
        Ok(output)
    }

    fn backward(&self, arguments: &[&Tensor], _: &Tensor, gradient: &Tensor) -> Result<Vec<Option<Tensor>>> {
        with_inputs(&[arguments[0], arguments[1], gradient], |place, inputs| {
            let mut dgate = place.output(inputs[0].dims(), inputs[0].dtype())?;
            let mut dup = place.output(inputs[1].dims(), inputs[1].dtype())?;
            {
                let (gate, up, dy) = (
                    place.view(&inputs[0])?,
                    place.view(&inputs[1])?,
                    place.view(&inputs[2])?,
                );
                let (to_gate, to_up) = (dgate.view(place)?, dup.view(place)?);
                let (gate, up, dy, to_gate, to_up) = (gate.dl(), up.dl(), dy.dl(), to_gate.dl(), to_up.dl());
                let how = kaio_gated_options::default();
                kaio!(kaio_gated_backward(
                    place.stream(),
                    self.0.code(),
                    &dy,
                    &gate,
                    &up,
                    &to_gate,
                    &to_up,
                    &how
                ));
            }
            Ok(vec![Some(dgate.tensor()), Some(dup.tensor())])
        })
    }
}
