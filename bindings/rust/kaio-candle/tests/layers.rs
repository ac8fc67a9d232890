//! Norms, activations, softmax, losses, rotation and embedding against candle's operations, with gradients.
mod common;
use candle_core::{DType, Device, Result, Tensor, Var, D};
use common::*;
use kaio_candle::*;

fn normed(x: &Tensor, weight: &Tensor, epsilon: f64) -> Result<Tensor> {
    let rms = x.sqr()?.mean_keepdim(D::Minus1)?.affine(1.0, epsilon)?.sqrt()?;
    x.broadcast_div(&rms)?.broadcast_mul(weight)
}

#[test]
fn norms() -> Result<()> {
    for device in devices()? {
        let (x, weight) = (variable(&[2, 3, 24], 1, &device)?, variable(&[24], 2, &device)?);
        let bias = variable(&[24], 3, &device)?;
        gradients_agree(
            &[&x, &weight],
            1e-4,
            || rms_norm(&x, &weight, 1e-5),
            || normed(&x, &weight, 1e-5),
        )?;
        // A part of the columns, with the rows in another order.
        let part = || x.narrow(2, 8, 16)?.transpose(0, 1);
        let short = || weight.narrow(0, 0, 16);
        gradients_agree(
            &[&x, &weight],
            1e-4,
            || rms_norm(&part()?, &short()?, 1e-5),
            || normed(&part()?, &short()?, 1e-5),
        )?;
        let reference = || {
            let centred = x.broadcast_sub(&x.mean_keepdim(2)?)?;
            let deviation = centred.sqr()?.mean_keepdim(2)?.affine(1.0, 1e-5)?.sqrt()?;
            centred
                .broadcast_div(&deviation)?
                .broadcast_mul(&weight)?
                .broadcast_add(&bias)
        };
        gradients_agree(
            &[&x, &weight, &bias],
            1e-4,
            || layer_norm(&x, &weight, &bias, 1e-5),
            reference,
        )?;
        let (x, residual, weight) = (x.detach(), tensor(&[2, 3, 24], 4, &device)?, weight.detach());
        let (norm, sum) = add_rms_norm(&x, &residual, &weight, RmsNormOptions::default())?;
        close(&sum, &x.add(&residual)?, 1e-6)?;
        close(&norm, &normed(&x.add(&residual)?, &weight, 1e-6)?, 1e-4)?;
        // One row without dimensions before it, and an empty tensor.
        let row = x.narrow(0, 0, 1)?.narrow(1, 1, 1)?.reshape(24)?;
        close(
            &rms_norm(&row, &weight, 1e-6)?,
            &normed(&row, &weight, 1e-6)?,
            1e-4,
        )?;
        assert_eq!(rms_norm(&x.narrow(1, 0, 0)?, &weight, 1e-6)?.dims(), [2, 0, 24]);
    }
    Ok(())
}

#[test]
fn rows_are_what_they_say() -> Result<()> {
    for device in devices()? {
        let weight = tensor(&[8], 1, &device)?;
        // A column's elements are not neighbours: never the row at its address.
        let column = tensor(&[8, 8], 2, &device)?.narrow(1, 3, 1)?.squeeze(1)?;
        let apart = [
            kaio_candle::softmax(&column, 1.0),
            log_softmax(&column, 1.0),
            rms_norm(&column, &weight, 1e-6),
            layer_norm(&column, &weight, &weight, 1e-6),
        ];
        for result in apart {
            assert!(result.unwrap_err().to_string().contains("stride 8"));
        }
        // Shapes of as many rows, and no rows at all.
        let (x, turned) = (tensor(&[2, 3, 8], 3, &device)?, tensor(&[3, 2, 8], 4, &device)?);
        let square = tensor(&[8, 8], 5, &device)?;
        let options = RmsNormOptions::default();
        assert!(add_rms_norm(&x, &turned, &weight, options).is_err());
        let error = add_rms_norm(&weight, &square, &weight, options).unwrap_err();
        assert!(
            error.to_string().contains("residual has extent 0 of 8"),
            "{error}"
        );
        assert!(kaio_candle::softmax(&Tensor::zeros((), DType::F32, &device)?, 1.0).is_err());
    }
    Ok(())
}

#[test]
fn activations_and_gates() -> Result<()> {
    for device in devices()? {
        let packed = variable(&[3, 20], 1, &device)?;
        let half = |at: usize| packed.narrow(1, 10 * at, 10);
        gradients_agree(
            &[&packed],
            1e-4,
            || activate(&packed, Activation::Silu),
            || packed.silu(),
        )?;
        gradients_agree(
            &[&packed],
            1e-4,
            || activate(&packed.t()?, Activation::Relu),
            || packed.t()?.relu(),
        )?;
        let tanh = |x: &Tensor| {
            let inner = x
                .mul(&x.sqr()?.affine(0.044715, 1.0)?)?
                .affine((2.0 / std::f64::consts::PI).sqrt(), 0.0)?;
            x.mul(&inner.tanh()?.affine(0.5, 0.5)?)
        };
        gradients_agree(
            &[&packed],
            1e-4,
            || activate(&packed, Activation::GeluTanh),
            || tanh(&packed),
        )?;
        gradients_agree(
            &[&packed],
            1e-4,
            || gated(&half(0)?, &half(1)?, Activation::Silu),
            || half(0)?.silu()?.mul(&half(1)?),
        )?;
    }
    Ok(())
}

#[test]
fn softmaxes_and_the_cross_entropy() -> Result<()> {
    for device in devices()? {
        let x = variable(&[5, 30], 1, &device)?;
        gradients_agree(
            &[&x],
            1e-4,
            || kaio_candle::softmax(&x, 2.0),
            || common::softmax(&x.affine(2.0, 0.0)?),
        )?;
        gradients_agree(
            &[&x],
            1e-4,
            || log_softmax(&x, 1.0),
            || common::softmax(&x)?.log(),
        )?;
        let targets = Tensor::from_vec(vec![3u32, 29, 0, 7, 7], 5, &device)?;
        let mut chosen = vec![0f32; 150];
        for (row, class) in [3, 29, 0, 7, 7].into_iter().enumerate() {
            chosen[30 * row + class] = -0.2;
        }
        let chosen = Tensor::from_vec(chosen, (5, 30), &device)?;
        let reference = || common::softmax(&x)?.log()?.mul(&chosen)?.sum_all();
        gradients_agree(
            &[&x],
            1e-4,
            || cross_entropy(&x, &targets, CrossEntropyOptions::default()),
            reference,
        )?;
        // Rows that are ignored count neither in the sum nor in the mean.
        let targets = Tensor::from_vec(vec![3i64, -100, 0, 7, 7], 5, &device)?;
        let loss = cross_entropy(&x, &targets, CrossEntropyOptions::default())?;
        let gradient = loss.backward()?.remove(&x).unwrap();
        assert!(values(&gradient.narrow(0, 1, 1)?)?.iter().all(|x| *x == 0.0));
        assert!(values(&gradient.narrow(0, 2, 1)?)?.iter().any(|x| *x != 0.0));
    }
    Ok(())
}

#[test]
fn the_cross_entropy_of_a_linear_layer() -> Result<()> {
    for device in devices()? {
        let (x, weight) = (variable(&[6, 16], 1, &device)?, variable(&[20, 16], 2, &device)?);
        let targets = Tensor::from_vec(vec![3i64, 19, -100, 7, 7, 0], 6, &device)?;
        let options = CrossEntropyOptions {
            label_smoothing: 0.1,
            softcap: 5.0,
            ..Default::default()
        };
        gradients_agree(
            &[&x, &weight],
            1e-4,
            || linear_cross_entropy(&x, &weight, &targets, options),
            || cross_entropy(&linear(&x, &weight, None)?, &targets, options),
        )?;
    }
    Ok(())
}

#[test]
fn norms_and_rotation_of_heads() -> Result<()> {
    for device in devices()? {
        let (q, k) = (
            tensor(&[2, 5, 4, 16], 1, &device)?,
            tensor(&[2, 5, 2, 16], 2, &device)?,
        );
        let (a, b) = (tensor(&[16], 3, &device)?, tensor(&[16], 4, &device)?);
        let (cos, sin) = rotary_table(5, 8, 10000.0, DType::F32, &device)?;
        let (got_q, got_k) = qk_norm_rotary([&q, &k], [&a, &b], &cos, &sin, 1e-5)?;
        let turned = |x: &Tensor, weight: &Tensor| {
            rotary(&normed(x, weight, 1e-5)?, &cos, &sin, &RotaryOptions::default())
        };
        close(&got_q, &turned(&q, &a)?, 1e-4)?;
        close(&got_k, &turned(&k, &b)?, 1e-4)?;
    }
    Ok(())
}

#[test]
fn rotation_in_both_layouts() -> Result<()> {
    for device in devices()? {
        let x = variable(&[2, 5, 3, 16], 1, &device)?;
        let (cos, sin) = rotary_table(9, 8, 10000.0, DType::F32, &device)?;
        let angle = (4.0f64 / 10000f64.powf(3.0 / 8.0)) as f32;
        assert!((values(&cos)?[4 * 8 + 3] - angle.cos()).abs() < 1e-6);
        let (cos, sin) = (cos.narrow(0, 4, 5)?, sin.narrow(0, 4, 5)?);
        let reference = || {
            let (first, second) = (x.narrow(3, 0, 8)?, x.narrow(3, 8, 8)?);
            let (c, s) = (cos.reshape((1, 5, 1, 8))?, sin.reshape((1, 5, 1, 8))?);
            let turned = first.broadcast_mul(&c)?.sub(&second.broadcast_mul(&s)?)?;
            Tensor::cat(
                &[turned, second.broadcast_mul(&c)?.add(&first.broadcast_mul(&s)?)?],
                3,
            )
        };
        gradients_agree(
            &[&x],
            1e-5,
            || rotary(&x, &cos, &sin, &RotaryOptions::default()),
            reference,
        )?;
        let options = RotaryOptions {
            heads_first: true,
            ..Default::default()
        };
        gradients_agree(
            &[&x],
            1e-5,
            || rotary(&x.transpose(1, 2)?, &cos, &sin, &options),
            || reference()?.transpose(1, 2),
        )?;
    }
    Ok(())
}

#[test]
fn embeddings() -> Result<()> {
    for device in devices()? {
        let weight = variable(&[6, 8], 1, &device)?;
        let indices = Tensor::from_vec(vec![5u32, 0, 3, 3], (2, 2), &device)?;
        gradients_agree(
            &[&weight],
            1e-5,
            || embedding(&indices, &weight),
            || {
                weight
                    .index_select(&indices.flatten_all()?, 0)?
                    .reshape((2, 2, 8))
            },
        )?;
    }
    Ok(())
}

#[test]
fn drawing_tokens() -> Result<()> {
    for device in devices()? {
        let logits = tensor(&[4, 50], 1, &device)?;
        let all = values(&logits)?;
        let best = |row: usize| {
            (0..50)
                .max_by(|&a, &b| all[50 * row + a].total_cmp(&all[50 * row + b]))
                .unwrap() as i64
        };
        let seed = Tensor::from_vec(vec![7i64; 4], 4, &device)?;
        let offset = Tensor::from_vec(vec![0i64, 1, 2, 3], 4, &device)?;
        let greedy = SampleOptions {
            temperature: 0.0,
            ..Default::default()
        };
        let cpu = Device::Cpu;
        let tokens = sample(&logits, &seed, &offset, greedy)?
            .to_device(&cpu)?
            .to_vec1::<i64>()?;
        assert_eq!(tokens, (0..4).map(best).collect::<Vec<_>>());
        // Equal seeds and offsets draw equal tokens; one of the two largest with top_k of 2.
        let two = SampleOptions {
            top_k: 2,
            ..Default::default()
        };
        let (values, indices) = top_k(&logits, 2)?;
        assert_eq!(values.dims(), [4, 2]);
        let indices = indices.to_device(&cpu)?.to_vec2::<i64>()?;
        let draw = || {
            sample(&logits, &seed, &offset, two)?
                .to_device(&cpu)?
                .to_vec1::<i64>()
        };
        assert_eq!(draw()?, draw()?);
        assert!(draw()?
            .iter()
            .zip(&indices)
            .all(|(token, among)| among.contains(token)));
        assert_eq!(indices[2][0], best(2));
    }
    Ok(())
}

// A kernel that waits for its other blocks holds a stream of the emulator. Calls of another thread end by themselves.
#[test]
fn threads_on_the_cpu_have_streams_of_their_own() -> Result<()> {
    let cpu = Device::Cpu;
    let sampler = std::thread::spawn(move || -> Result<()> {
        let logits = tensor(&[4, 50], 1, &cpu)?;
        let seed = Tensor::from_vec(vec![7i64; 4], 4, &cpu)?;
        for _ in 0..20 {
            sample(&logits, &seed, &seed, SampleOptions::default())?;
        }
        Ok(())
    });
    let mut calls = 0;
    while !sampler.is_finished() || calls < 20 {
        let x = tensor(&[40], calls, &Device::Cpu)?;
        close(&activate(&x, Activation::Relu)?, &x.relu()?, 1e-6)?;
        calls += 1;
    }
    sampler.join().expect("the thread ends")
}

#[test]
fn inference_operations_refuse_tracked_tensors() -> Result<()> {
    let x: Var = variable(&[2, 8], 1, &Device::Cpu)?;
    let weight = tensor(&[8], 2, &Device::Cpu)?;
    let error = add_rms_norm(&x, &x, &weight, RmsNormOptions::default())
        .unwrap_err()
        .to_string();
    assert!(error.contains("detach()"), "{error}");
    // Not only variables: what is computed from one is tracked too.
    assert!(quantise_int8(&x.affine(2.0, 0.0)?).is_err());
    assert!(quantise_int8(&x.detach()).is_ok());
    Ok(())
}
