//! The cross entropy of logits, and of a linear layer without its logits in memory.

use crate::library::kaio;
use crate::operation::{apply, no_gradient, with_inputs, Held, Operation};
use crate::storage::{Input, Output, Place};
use candle_core::{bail, DType, Error, Result, Tensor};
use kaio_sys::{
    kaio_cross_entropy_backward_options, kaio_cross_entropy_options,
    kaio_linear_cross_entropy_backward_options, kaio_linear_cross_entropy_options,
};
use std::sync::Mutex;

/// Options of [`cross_entropy`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CrossEntropyOptions {
    /// Rows with this target count for nothing.
    pub ignore_index: i64,
    /// 0 to 1.
    pub label_smoothing: f32,
    /// z_loss · lse² is added to a row's loss.
    pub z_loss: f32,
    /// Above 0: logits become softcap · tanh(x / softcap).
    pub softcap: f32,
}

impl Default for CrossEntropyOptions {
    fn default() -> Self {
        Self {
            ignore_index: -100,
            label_smoothing: 0.0,
            z_loss: 0.0,
            softcap: 0.0,
        }
    }
}

/// The mean cross entropy of logits (rows, classes) with classes (rows) of I64, I32 or U32 as targets: a scalar of f32,
/// with the gradient of the logits. A target that is no class gives NaN.
pub fn cross_entropy(logits: &Tensor, targets: &Tensor, options: CrossEntropyOptions) -> Result<Tensor> {
    no_gradient("cross_entropy", &[Some(targets)])?;
    apply(
        CrossEntropy {
            targets: targets.clone(),
            options,
            kept: Mutex::new(None),
        },
        &[logits],
    )
}

struct CrossEntropy {
    targets: Tensor,
    options: CrossEntropyOptions,
    /// lse of the rows, and the number that the mean was divided by.
    kept: Mutex<Option<(Tensor, Tensor)>>,
}

impl Operation for CrossEntropy {
    const NAME: &'static str = "kaio_cross_entropy";

    fn forward(&self, place: &Place, inputs: &[Input]) -> Result<Output> {
        let &[rows, _] = inputs[0].dims() else {
            bail!(
                "kaio: cross_entropy: logits have the shape {:?}, and (rows, classes) is needed",
                inputs[0].dims()
            )
        };
        let mut loss = place.output(&[], DType::F32)?;
        let (mut lse, mut total) = (
            place.output(&[rows], DType::F32)?,
            place.output(&[1], DType::F32)?,
        );
        {
            let (held, logits) = (Held::of(Some(&self.targets)), place.view(&inputs[0])?);
            let targets = held.view(place)?.map(|view| view.as_index());
            let Some(targets) = targets else {
                bail!("kaio: cross_entropy: targets are needed")
            };
            let (to, lse, total) = (
                loss.view(place)?.reshaped(&[1]),
                lse.view(place)?,
                total.view(place)?,
            );
            let (logits, targets, to, lse, total) =
                (logits.dl(), targets.dl(), to.dl(), lse.dl(), total.dl());
            let mut bytes = 0;
            kaio!(kaio_cross_entropy_workspace_bytes(&logits, &mut bytes));
            let mut memory = place.workspace(bytes)?;
            let memory = memory.view(place)?.aligned();
            let workspace = memory.dl();
            let how = kaio_cross_entropy_options {
                ignore_index: self.options.ignore_index,
                label_smoothing: self.options.label_smoothing,
                z_loss: self.options.z_loss,
                softcap: self.options.softcap,
                lse: &lse,
                total_weight: &total,
                workspace: &workspace,
                ..Default::default()
            };
            kaio!(kaio_cross_entropy(place.stream(), &logits, &targets, &to, &how));
        }
        *self.kept.lock().map_err(Error::msg)? = Some((lse.tensor(), total.tensor()));
        Ok(loss)
    }

    fn backward(&self, arguments: &[&Tensor], _: &Tensor, gradient: &Tensor) -> Result<Vec<Option<Tensor>>> {
        let kept = self.kept.lock().map_err(Error::msg)?.clone();
        let Some((lse, total)) = kept else {
            bail!("kaio: cross_entropy: there is no lse of a forward call")
        };
        with_inputs(
            &[arguments[0], &self.targets, &lse, gradient, &total],
            |place, inputs| {
                let mut output = place.output(inputs[0].dims(), inputs[0].dtype())?;
                {
                    let (logits, targets) = (place.view(&inputs[0])?, place.view(&inputs[1])?.as_index());
                    let (lse, dloss) = (place.view(&inputs[2])?, place.view(&inputs[3])?.reshaped(&[1]));
                    let (total, to) = (place.view(&inputs[4])?, output.view(place)?);
                    let (logits, targets, lse, dloss) = (logits.dl(), targets.dl(), lse.dl(), dloss.dl());
                    let (total, to) = (total.dl(), to.dl());
                    let how = kaio_cross_entropy_backward_options {
                        ignore_index: self.options.ignore_index,
                        label_smoothing: self.options.label_smoothing,
                        z_loss: self.options.z_loss,
                        softcap: self.options.softcap,
                        total_weight: &total,
                        ..Default::default()
                    };
                    kaio!(kaio_cross_entropy_backward(
                        place.stream(),
                        &logits,
                        &targets,
                        &lse,
                        &dloss,
                        &to,
                        &how
                    ));
                }
                Ok(vec![Some(output.tensor())])
            },
        )
    }
}

/// [`cross_entropy`] of the logits `x weightᵀ` for x (rows, features) and weight (classes, features), with gradients of
/// both. The logits are never in memory as a whole.
pub fn linear_cross_entropy(
    x: &Tensor,
    weight: &Tensor,
    targets: &Tensor,
    options: CrossEntropyOptions,
) -> Result<Tensor> {
    no_gradient("linear_cross_entropy", &[Some(targets)])?;
    apply(
        LinearCrossEntropy {
            targets: targets.clone(),
            options,
            kept: Mutex::new(None),
        },
        &[x, weight],
    )
}

struct LinearCrossEntropy {
    targets: Tensor,
    options: CrossEntropyOptions,
    /// lse of the rows, and the number that the mean was divided by.
    kept: Mutex<Option<(Tensor, Tensor)>>,
}

impl Operation for LinearCrossEntropy {
    const NAME: &'static str = "kaio_linear_cross_entropy";

    fn forward(&self, place: &Place, inputs: &[Input]) -> Result<Output> {
        let &[rows, _] = inputs[0].dims() else {
            bail!(
                "kaio: linear_cross_entropy: x has the shape {:?}, and a matrix is needed",
                inputs[0].dims()
            )
        };
        let mut loss = place.output(&[], DType::F32)?;
        let (mut lse, mut total) = (
            place.output(&[rows], DType::F32)?,
            place.output(&[1], DType::F32)?,
        );
        {
            let held = Held::of(Some(&self.targets));
            let targets = held.view(place)?.map(|view| view.as_index());
            let Some(targets) = targets else {
                bail!("kaio: linear_cross_entropy: targets are needed")
            };
            let (x, weight) = (place.view(&inputs[0])?, place.view(&inputs[1])?);
            let (to, lse, total) = (
                loss.view(place)?.reshaped(&[1]),
                lse.view(place)?,
                total.view(place)?,
            );
            let (x, weight, targets) = (x.dl(), weight.dl(), targets.dl());
            let (to, lse, total) = (to.dl(), lse.dl(), total.dl());
            let mut bytes = 0;
            kaio!(kaio_linear_cross_entropy_workspace_bytes(&x, &weight, &mut bytes));
            let mut memory = place.workspace(bytes)?;
            let memory = memory.view(place)?.aligned();
            let workspace = memory.dl();
            let how = kaio_linear_cross_entropy_options {
                ignore_index: self.options.ignore_index,
                label_smoothing: self.options.label_smoothing,
                z_loss: self.options.z_loss,
                softcap: self.options.softcap,
                lse: &lse,
                total_weight: &total,
                workspace: &workspace,
                ..Default::default()
            };
            kaio!(kaio_linear_cross_entropy(
                place.stream(),
                &x,
                &weight,
                &targets,
                &to,
                &how
            ));
        }
        *self.kept.lock().map_err(Error::msg)? = Some((lse.tensor(), total.tensor()));
        Ok(loss)
    }

    fn backward(&self, arguments: &[&Tensor], _: &Tensor, gradient: &Tensor) -> Result<Vec<Option<Tensor>>> {
        let kept = self.kept.lock().map_err(Error::msg)?.clone();
        let Some((lse, total)) = kept else {
            bail!("kaio: linear_cross_entropy: there is no lse of a forward call")
        };
        let tensors = [arguments[0], arguments[1], &self.targets, &lse, gradient, &total];
        with_inputs(&tensors, |place, inputs| {
            let mut dx = place.output(inputs[0].dims(), inputs[0].dtype())?;
            let mut dweight = place.output(inputs[1].dims(), inputs[1].dtype())?;
            {
                let (x, weight) = (place.view(&inputs[0])?, place.view(&inputs[1])?);
                let (targets, lse) = (place.view(&inputs[2])?.as_index(), place.view(&inputs[3])?);
                let (dloss, total) = (place.view(&inputs[4])?.reshaped(&[1]), place.view(&inputs[5])?);
                let (to_x, to_weight) = (dx.view(place)?, dweight.view(place)?);
                let (x, weight, targets, lse) = (x.dl(), weight.dl(), targets.dl(), lse.dl());
                let (dloss, total, to_x, to_weight) = (dloss.dl(), total.dl(), to_x.dl(), to_weight.dl());
                let mut bytes = 0;
                kaio!(kaio_linear_cross_entropy_backward_workspace_bytes(
                    &x, &weight, &mut bytes
                ));
                let mut memory = place.workspace(bytes)?;
                let memory = memory.view(place)?.aligned();
                let workspace = memory.dl();
                let how = kaio_linear_cross_entropy_backward_options {
                    ignore_index: self.options.ignore_index,
                    label_smoothing: self.options.label_smoothing,
                    z_loss: self.options.z_loss,
                    softcap: self.options.softcap,
                    total_weight: &total,
                    workspace: &workspace,
                    ..Default::default()
                };
                kaio!(kaio_linear_cross_entropy_backward(
                    place.stream(),
                    &x,
                    &weight,
                    &targets,
                    &lse,
                    &dloss,
                    &to_x,
                    &to_weight,
                    &how
                ));
            }
            Ok(vec![Some(dx.tensor()), Some(dweight.tensor())])
        })
    }
}
