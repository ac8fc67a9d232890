//! One product: its operands as views, its batch, and the calls that run it.

use super::{Epilogue, MatmulOptions};
use crate::library::kaio;
use crate::operation::{dl, pointer};
use crate::storage::{Input, Output, Place};
use crate::view::View;
use candle_core::{bail, Result};
use kaio_sys::{kaio_matmul_options, DLTensor};

/// What follows the product.
#[derive(Default)]
pub(super) struct Extra<'a> {
    pub(super) bias: Option<View<'a>>,
    pub(super) residual: Option<View<'a>>,
    pub(super) epilogue: Epilogue,
}

/// `a b` of two inputs, or `a bᵀ` if the second is a weight (n, k).
pub(super) fn product(
    place: &Place,
    inputs: &[Input],
    weight: bool,
    options: MatmulOptions,
    extra: &Extra,
) -> Result<Output> {
    let (a, mut b) = (place.view(&inputs[0])?, place.view(&inputs[1])?);
    if a.rank() < if weight { 1 } else { 2 } || b.rank() < 2 || (weight && b.rank() != 2) {
        bail!(
            "kaio: matmul: the operands have {} and {} dimensions: give matrices, or batches of them",
            a.rank(),
            b.rank()
        )
    }
    let a = a.as_matrix();
    if weight {
        b = b.transposed();
    }
    let (rows, columns) = (inputs[0].dims(), b.dims()[b.rank() - 1] as usize);
    let batch = broadcast(&rows[..rows.len().max(2) - 2], &inputs[1].dims()[..b.rank() - 2])?;
    let mut dims = batch.clone();
    dims.extend_from_slice(&rows[rows.len().max(2) - 2..rows.len() - 1]);
    dims.push(columns);
    let mut output = place.output(&dims, options.out.unwrap_or(inputs[0].dtype()))?;
    {
        let c = output.view(place)?;
        let residual = extra.residual.as_ref();
        if let Some(residual) = residual.filter(|residual| residual.dims() != c.dims()) {
            bail!(
                "kaio: linear_fused: the residual has the shape {:?}, and {:?} is needed, that of the result",
                residual.dims(),
                c.dims()
            )
        }
        run(place, &a, &b, &c.as_matrix(), &batch, options, extra)?;
    }
    Ok(output)
}

/// The batch of two operands.
pub(super) fn broadcast(a: &[usize], b: &[usize]) -> Result<Vec<usize>> {
    let rank = a.len().max(b.len());
    let at = |dims: &[usize], d: usize| (d + dims.len()).checked_sub(rank).map_or(1, |d| dims[d]);
    (0..rank)
        .map(|d| match (at(a, d), at(b, d)) {
            (x, y) if x == y || y == 1 => Ok(x),
            (1, y) => Ok(y),
            _ => bail!("kaio: matmul: batches of {a:?} and {b:?} matrices do not fit"),
        })
        .collect()
}

fn run(
    place: &Place,
    a: &View,
    b: &View,
    c: &View,
    batch: &[usize],
    options: MatmulOptions,
    extra: &Extra,
) -> Result<()> {
    let (bias, mut residual) = (dl(&extra.bias), extra.residual.as_ref().map(View::as_matrix));
    // A matrix for all of the batch: the rows of the batch are rows of one product.
    if b.rank() == 2 && a.rank() > 2 {
        let last = a.rank() - 2;
        let joined = residual.as_ref().map(|residual| residual.joined(0, last));
        if let (Some(a), Some(c), None | Some(Some(_))) = (a.joined(0, last), c.joined(0, last), &joined) {
            return one(place, &a, b, &c, bias, joined.flatten(), options, extra.epilogue);
        }
    }
    let (a, b) = (a.broadcast(batch), b.broadcast(batch));
    let last = match batch.len() {
        0 => return one(place, &a, &b, c, bias, residual, options, extra.epilogue),
        count => count - 1,
    };
    residual = residual.map(|residual| residual.broadcast(batch));
    let joined = residual.as_ref().map(|residual| residual.joined(0, last));
    if let (Some(a), Some(b), Some(c), None | Some(Some(_))) =
        (a.joined(0, last), b.joined(0, last), c.joined(0, last), &joined)
    {
        return one(place, &a, &b, &c, bias, joined.flatten(), options, extra.epilogue);
    }
    if extra.residual.is_some() {
        bail!(
            "kaio: linear_fused: x or the residual has batches at unequal distances: call contiguous() on it"
        )
    }
    let views = [matrices(&a), matrices(&b), matrices(c)];
    let lists: Vec<Vec<DLTensor>> = views
        .iter()
        .map(|views| views.iter().map(View::dl).collect())
        .collect();
    let mut how = raw(options, extra.epilogue);
    how.bias = pointer(&bias);
    kaio!(kaio_matmul_batch(
        place.stream(),
        lists[0].len(),
        lists[0].as_ptr(),
        lists[1].as_ptr(),
        lists[2].as_ptr(),
        &how
    ));
    Ok(())
}

/// The matrices of a batch, one after another.
fn matrices<'a>(view: &View<'a>) -> Vec<View<'a>> {
    if view.rank() == 2 {
        return vec![view.clone()];
    }
    (0..view.dims()[0])
        .flat_map(|at| matrices(&view.element(at)))
        .collect()
}

fn raw(options: MatmulOptions, epilogue: Epilogue) -> kaio_matmul_options {
    kaio_matmul_options {
        alpha: options.alpha,
        precision: options.precision.code(),
        activation: epilogue.code(),
        ..Default::default()
    }
}

#[allow(clippy::too_many_arguments)]
fn one(
    place: &Place,
    a: &View,
    b: &View,
    c: &View,
    bias: Option<DLTensor>,
    residual: Option<View>,
    options: MatmulOptions,
    epilogue: Epilogue,
) -> Result<()> {
    let residual = dl(&residual);
    let mut how = raw(options, epilogue);
    how.bias = pointer(&bias);
    how.residual = pointer(&residual);
    let (a, b, c) = (a.dl(), b.dl(), c.dl());
    let mut bytes = 0;
    kaio!(kaio_matmul_workspace_bytes(&a, &b, &c, &how, &mut bytes));
    let mut memory = if bytes > 0 {
        Some(place.workspace(bytes)?)
    } else {
        None
    };
    let memory = memory
        .as_mut()
        .map(|memory| memory.view(place))
        .transpose()?
        .map(|view| view.aligned());
    let workspace = dl(&memory);
    how.workspace = pointer(&workspace);
    kaio!(kaio_matmul(place.stream(), &a, &b, &c, &how));
    Ok(())
}
