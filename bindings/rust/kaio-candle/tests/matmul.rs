//! Products against candle's own: every form of the operands, gradients, types.
mod common;
use candle_core::{DType, Result, Tensor, Var};
use common::*;
use kaio_candle::{linear, linear_fused, matmul, matmul_with, Epilogue, MatmulOptions};

#[test]
fn batches_and_broadcast_batches() -> Result<()> {
    for device in devices()? {
        for (a, b, batch) in [
            (&[4, 5][..], &[5, 6][..], &[][..]),
            (&[2, 4, 5], &[2, 5, 6], &[2]),
            (&[2, 3, 4, 5], &[2, 3, 5, 6], &[2, 3]),
            (&[2, 3, 4, 5], &[5, 6], &[2, 3]),
            (&[2, 1, 4, 5], &[3, 5, 6], &[2, 3]),
            (&[4, 5], &[3, 5, 6], &[3]),
        ] {
            let (a, b) = (variable(a, 1, &device)?, variable(b, 2, &device)?);
            let whole = |tensor: &Tensor| {
                let dims = [batch, &tensor.dims()[tensor.rank() - 2..]].concat();
                tensor.broadcast_as(dims)?.contiguous()
            };
            let reference = || whole(&a)?.matmul(&whole(&b)?);
            gradients_agree(&[&a, &b], 1e-5, || matmul(&a, &b), reference)?;
        }
    }
    Ok(())
}

#[test]
fn strided_and_offset_operands_are_read_as_they_are() -> Result<()> {
    for device in devices()? {
        let (a, b) = (
            variable(&[2, 7, 3, 8], 1, &device)?,
            variable(&[2, 3, 9, 8], 2, &device)?,
        );
        // (batch, heads, m, k) of (batch, m, heads, k): no stride joins its batches. b is narrowed and transposed.
        let turned = || a.transpose(1, 2)?.narrow(2, 2, 4);
        let narrowed = || b.narrow(2, 1, 5)?.transpose(2, 3);
        gradients_agree(
            &[&a, &b],
            1e-5,
            || matmul(&turned()?, &narrowed()?),
            || turned()?.contiguous()?.matmul(&narrowed()?.contiguous()?),
        )?;
    }
    Ok(())
}

#[test]
fn a_linear_layer_and_its_bias() -> Result<()> {
    for device in devices()? {
        let (x, weight) = (variable(&[2, 3, 8], 1, &device)?, variable(&[5, 8], 2, &device)?);
        let bias = variable(&[5], 3, &device)?;
        let reference = || {
            x.reshape((6, 8))?
                .matmul(&weight.t()?)?
                .reshape((2, 3, 5))?
                .broadcast_add(&bias)
        };
        gradients_agree(
            &[&x, &weight, &bias],
            1e-5,
            || linear(&x, &weight, Some(&bias)),
            reference,
        )?;
        gradients_agree(
            &[&x, &weight],
            1e-5,
            || linear(&x, &weight, None),
            || x.reshape((6, 8))?.matmul(&weight.t()?)?.reshape((2, 3, 5)),
        )?;
        let (x, weight, bias) = (x.detach(), weight.detach(), bias.detach());
        let residual = tensor(&[2, 3, 5], 4, &device)?;
        let fused = linear_fused(&x, &weight, Some(&bias), Epilogue::Silu, Some(&residual))?;
        close(&fused, &reference()?.detach().silu()?.add(&residual)?, 1e-5)?;
        // One row, without a batch.
        let row = x.narrow(0, 1, 1)?.narrow(1, 2, 1)?.reshape(8)?;
        close(
            &linear(&row, &weight, None)?,
            &row.reshape((1, 8))?.matmul(&weight.t()?)?.reshape(5)?,
            1e-5,
        )?;
        // A column of a matrix, and its gradient.
        let matrix = variable(&[8, 3], 5, &device)?;
        let column = || matrix.narrow(1, 1, 1)?.squeeze(1);
        gradients_agree(
            &[&matrix],
            1e-5,
            || linear(&column()?, &weight, Some(&bias)),
            || {
                column()?
                    .unsqueeze(0)?
                    .matmul(&weight.t()?)?
                    .squeeze(0)?
                    .add(&bias)
            },
        )?;
        let (column, residual) = (column()?.detach(), tensor(&[5], 6, &device)?);
        close(
            &linear_fused(&column, &weight, None, Epilogue::None, Some(&residual))?,
            &linear(&column, &weight, Some(&residual))?,
            1e-5,
        )?;
        // (3, 2) rows are as many as (2, 3), and not the same.
        let turned = tensor(&[3, 2, 5], 4, &device)?;
        let error = linear_fused(&x, &weight, None, Epilogue::None, Some(&turned)).unwrap_err();
        assert!(
            error.to_string().contains("[3, 2, 5], and [2, 3, 5] is needed"),
            "{error}"
        );
    }
    Ok(())
}

#[test]
fn halves_with_results_and_gradients_of_both_types() -> Result<()> {
    for device in devices()? {
        for dtype in [DType::F16, DType::BF16] {
            let half = |seed| Var::from_tensor(&tensor(&[16, 16], seed, &device)?.to_dtype(dtype)?);
            let (a, b) = (half(1)?, half(2)?);
            let tolerance = if dtype == DType::F16 { 2e-3 } else { 2e-2 };
            let options = MatmulOptions {
                out: Some(DType::F32),
                alpha: 0.5,
                ..Default::default()
            };
            let wide = |t: &Tensor| t.to_dtype(DType::F32);
            let reference = || wide(&a)?.matmul(&wide(&b)?)?.affine(0.5, 0.0);
            gradients_agree(&[&a, &b], tolerance, || matmul_with(&a, &b, options), reference)?;
            let reference = || wide(&a)?.matmul(&wide(&b)?)?.to_dtype(dtype);
            gradients_agree(&[&a, &b], tolerance, || matmul(&a, &b), reference)?;
        }
    }
    Ok(())
}

#[test]
fn a_sum_has_a_gradient_without_strides() -> Result<()> {
    for device in devices()? {
        let (a, b) = (
            variable(&[2, 4, 5], 1, &device)?,
            variable(&[2, 5, 6], 2, &device)?,
        );
        let got = matmul(&a, &b)?.sum_all()?.backward()?;
        let want = a.matmul(&b)?.sum_all()?.backward()?;
        close(got.get(&a).unwrap(), want.get(&a).unwrap(), 1e-5)?;
        close(got.get(&b).unwrap(), want.get(&b).unwrap(), 1e-5)?;
    }
    Ok(())
}
