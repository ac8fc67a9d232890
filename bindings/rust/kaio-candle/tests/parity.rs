//! KAIO's twelve names, with its own contracts and wider ones.
mod common;
use candle_core::{DType, Result, Tensor};
use common::*;
use kaio_candle::parity::*;

#[test]
fn products_of_halves() -> Result<()> {
    type Product = fn(&Tensor, &Tensor) -> Result<Tensor>;
    for device in devices()? {
        let (a, b) = (variable(&[32, 16], 1, &device)?, variable(&[16, 24], 2, &device)?);
        let kinds: [(DType, f32, [Product; 2]); 2] = [
            (DType::F16, 2e-3, [matmul_tc, matmul_tc_async]),
            (DType::BF16, 2e-2, [matmul_tc_bf16, matmul_tc_bf16_async]),
        ];
        for (dtype, tolerance, products) in kinds {
            for product in products {
                let got = product(&a.to_dtype(dtype)?, &b.to_dtype(dtype)?)?;
                assert_eq!(got.dtype(), DType::F32);
                let reference = || {
                    a.to_dtype(dtype)?
                        .to_dtype(DType::F32)?
                        .matmul(&b.to_dtype(dtype)?.to_dtype(DType::F32)?)
                };
                let f = || product(&a.to_dtype(dtype)?, &b.to_dtype(dtype)?);
                gradients_agree(&[&a, &b], tolerance, f, reference)?;
                assert!(product(&a, &b).is_err());
            }
        }
    }
    Ok(())
}

#[test]
fn one_head_and_several() -> Result<()> {
    for device in devices()? {
        for dims in [&[6, 16][..], &[1, 2, 6, 16]] {
            let [q, k, v] = [
                variable(dims, 1, &device)?,
                variable(dims, 2, &device)?,
                variable(dims, 3, &device)?,
            ];
            for causal in [false, true] {
                let mask: Vec<f32> = (0..36)
                    .map(|at| {
                        if causal && at % 6 > at / 6 {
                            f32::NEG_INFINITY
                        } else {
                            0.0
                        }
                    })
                    .collect();
                let mask = Tensor::from_vec(mask, (6, 6), &device)?;
                let reference = || {
                    let scores = q.matmul(&k.t()?.contiguous()?)?.affine(0.25, 0.0)?;
                    common::softmax(&scores.broadcast_add(&mask)?)?.matmul(&v)
                };
                let flash = || {
                    if causal {
                        attention_flash_causal(&q, &k, &v)
                    } else {
                        attention_flash(&q, &k, &v)
                    }
                };
                gradients_agree(&[&q, &k, &v], 1e-4, flash, reference)?;
                let half = |x: &Tensor| x.to_dtype(DType::F16);
                let (q, k, v) = (half(&q)?, half(&k)?, half(&v)?);
                let got = if causal {
                    attention_tc_causal(&q, &k, &v)?
                } else {
                    attention_tc(&q, &k, &v)?
                };
                assert_eq!(got.dtype(), DType::F32);
                close(&got, &reference()?, 5e-3)?;
            }
        }
    }
    Ok(())
}

fn codes(n: usize, k: usize) -> i32 {
    (n * 5 + k * 3) as i32 % 16 - 8
}

#[test]
fn integers() -> Result<()> {
    for device in devices()? {
        let (m, n, k) = (8, 32, 128);
        // Bytes of i8 from -8 to 7.
        let byte = |n, k| codes(n, k) as i8 as u8;
        let a = Tensor::from_vec(
            (0..m * k).map(|at| byte(at % k, at / k)).collect(),
            (m, k),
            &device,
        )?;
        let b = Tensor::from_vec(
            (0..n * k).map(|at| byte(at % n, at / n)).collect(),
            (k, n),
            &device,
        )?;
        let wide = |of: &dyn Fn(usize) -> i32, dims: (usize, usize)| {
            Tensor::from_vec(
                (0..dims.0 * dims.1).map(|at| of(at) as f32).collect(),
                dims,
                &device,
            )
        };
        let a_wide = wide(&|at| codes(at % k, at / k), (m, k))?;
        let b_wide = wide(&|at| codes(at % n, at / n), (k, n))?;
        close(
            &matmul_int8(&a, &b, 0.5)?,
            &a_wide.matmul(&b_wide)?.affine(0.5, 0.0)?,
            1e-6,
        )?;
        // KAIO's words: nibble k % 8 of word k / 8 + n (K / 8).
        let mut words = vec![0u32; n * k / 8];
        for (row, column) in (0..n).flat_map(|n| (0..k).map(move |k| (n, k))) {
            words[row * k / 8 + column / 8] |= (codes(row, column) as u32 & 15) << (4 * (column % 8));
        }
        let words = Tensor::from_vec(words, (k / 8, n), &device)?;
        let scales = Tensor::from_vec(vec![0.25f32; n], (1, n), &device)?.to_dtype(DType::F16)?;
        let x = tensor(&[m, k], 1, &device)?.to_dtype(DType::F16)?;
        let x_wide = x.to_dtype(DType::F32)?;
        let want = x_wide.matmul(&b_wide.affine(0.25, 0.0)?)?;
        close(&matmul_int4(&x, &words, &scales)?, &want, 2e-3)?;
        let (q, key, v) = qkv_project_int4(&x, &words, &words, &words, &scales, &scales, &scales)?;
        assert_eq!(q.dtype(), DType::F16);
        for got in [&q, &key, &v] {
            close(got, &want, 2e-3)?;
        }
        let (q, key, v) = qkv_project_int8(&x, &b, &b, &b, 0.25, 0.25, 0.5)?;
        close(&q, &want, 2e-3)?;
        close(&key, &want, 2e-3)?;
        close(&v, &want.affine(2.0, 0.0)?, 2e-3)?;
    }
    Ok(())
}
