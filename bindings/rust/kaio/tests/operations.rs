//! Operations against references, with their kinds of arguments: views, records, options, lists, queries.

mod support;

use kaio::ops::{self, Activation, CausalAlignment, MatmulActivation, Reduction};
use kaio::{Bf16, E4m3, TensorView, F16};
use support::{assert_close, device, numbers, stream, upload, zeros};

fn product(a: &[f32], b: &[f32], m: usize, k: usize, n: usize) -> Vec<f32> {
    (0..m * n)
        .map(|at| (0..k).map(|i| a[at / n * k + i] * b[i * n + at % n]).sum())
        .collect()
}

// Operands and the result are transposed views, and parts of larger memory; all options take part.
#[test]
fn matmul_of_views() {
    let (device, (m, k, n)) = (device(), (5, 7, 3));
    let stream = stream(&device);
    let (a, b) = (numbers(m * k, 1), numbers(k * n, 2));
    let (bias, residual) = (numbers(n, 3), numbers(m * n, 4));
    let transposed: Vec<f32> = (0..k * m).map(|at| a[at % m * k + at / m]).collect();
    let memory = [&[9.0; 4][..], &transposed].concat();
    let (a_memory, b_memory) = (upload(&device, &memory), upload(&device, &b));
    let (bias_memory, residual_memory) = (upload(&device, &bias), upload(&device, &residual));
    let mut c = zeros::<f32>(&device, (m + 1) * n);
    let a_view = a_memory
        .view(&[39])
        .unwrap()
        .slice(0, 4..39)
        .unwrap()
        .reshape(&[k, m])
        .unwrap()
        .transpose(0, 1)
        .unwrap();
    let c_view = c.view_mut(&[m + 1, n]).unwrap().slice(0, 1..m + 1).unwrap();
    let call = ops::matmul(&a_view, &b_memory.view(&[k, n]).unwrap(), &c_view)
        .alpha(0.5)
        .activation(MatmulActivation::Relu)
        .bias(&bias_memory.view(&[n]).unwrap())
        .residual(&residual_memory.view(&[m, n]).unwrap())
        .constant(ops::ConstantInputs::A | ops::ConstantInputs::B);
    call.warmup().unwrap();
    let choice = call.choice().unwrap();
    assert!(!choice.name.is_empty());
    call.clone().variant(&choice.name).run(&stream).unwrap();
    let expected: Vec<f32> = product(&a, &b, m, k, n)
        .iter()
        .enumerate()
        .map(|(at, x)| (0.5 * x + bias[at % n]).max(0.0) + residual[at])
        .collect();
    let got = c.to_vec(&stream).unwrap();
    assert_eq!(got[..n], [0.0; 3]);
    assert_close(&got[n..], &expected, 1e-5);
}

#[test]
fn matmul_of_16_bits_with_a_workspace() {
    let (device, (m, k, n)) = (device(), (16, 512, 16));
    let stream = stream(&device);
    let half = |x: Vec<f32>| x.into_iter().map(F16::from_f32).collect::<Vec<F16>>();
    let (a, b) = (half(numbers(m * k, 5)), half(numbers(k * n, 6)));
    let (a_memory, b_memory) = (upload(&device, &a), upload(&device, &b));
    let mut c = zeros::<f32>(&device, m * n);
    let c_view = c.view_mut(&[m, n]).unwrap();
    let call = ops::matmul(
        &a_memory.view(&[m, k]).unwrap(),
        &b_memory.view(&[k, n]).unwrap(),
        &c_view,
    );
    let bytes = call.workspace_bytes().unwrap() as usize;
    let mut workspace = zeros::<u8>(&device, bytes.max(1));
    let workspace_bytes = workspace.len();
    call.workspace(&workspace.view_mut(&[workspace_bytes]).unwrap())
        .run(&stream)
        .unwrap();
    let wide = |x: &[F16]| x.iter().map(|x| x.to_f32()).collect::<Vec<f32>>();
    assert_close(
        &c.to_vec(&stream).unwrap(),
        &product(&wide(&a), &wide(&b), m, k, n),
        1e-2,
    );
}

#[test]
fn a_list_of_products() {
    let device = device();
    let stream = stream(&device);
    let (a, b) = (
        upload(&device, &[1.0f32, 2.0, 3.0, 4.0]),
        upload(&device, &[1.0f32, 10.0]),
    );
    let mut c = zeros::<f32>(&device, 2);
    let (all, b) = (a.view(&[2, 2]).unwrap(), b.view(&[2, 1]).unwrap());
    let out = c.view_mut(&[2, 1]).unwrap();
    let rows: Vec<TensorView> = (0..2).map(|i| all.slice(0, i..i + 1).unwrap()).collect();
    let outs = [out.slice(0, 0..1).unwrap(), out.slice(0, 1..2).unwrap()];
    ops::matmul_batch(&rows, &[b, b], &outs).run(&stream).unwrap();
    let error = ops::matmul_batch(&rows, &[b], &outs).run(&stream).unwrap_err();
    assert_eq!(c.to_vec(&stream).unwrap(), [21.0, 43.0]);
    assert_eq!(error.kind(), kaio::ErrorKind::InvalidArgument);
    assert!(
        error.message().contains("argument b has 1 tensors, and a has 2"),
        "{}",
        error
    );
}

// The residual is updated in place, and the output is the input's memory.
#[test]
fn rms_norm_in_place() {
    let (device, (rows, size)) = (device(), (3, 64));
    let stream = stream(&device);
    let (x, residual, weight) = (numbers(rows * size, 7), numbers(rows * size, 8), numbers(size, 9));
    let (mut x_memory, mut r_memory) = (upload(&device, &x), upload(&device, &residual));
    let w_memory = upload(&device, &weight);
    let out = x_memory.view_mut(&[rows, size]).unwrap();
    let sum = r_memory.view_mut(&[rows, size]).unwrap();
    ops::rms_norm(&out, &w_memory.view(&[size]).unwrap(), &out)
        .epsilon(1e-5)
        .weight_offset(1.0)
        .residual(&sum)
        .residual_out(&sum)
        .run(&stream)
        .unwrap();
    let h: Vec<f32> = x.iter().zip(&residual).map(|(x, r)| x + r).collect();
    let mut expected = Vec::new();
    for row in h.chunks(size) {
        let rms = (row.iter().map(|h| h * h).sum::<f32>() / size as f32 + 1e-5).sqrt();
        expected.extend(row.iter().zip(&weight).map(|(h, w)| h / rms * (1.0 + w)));
    }
    assert_close(&r_memory.to_vec(&stream).unwrap(), &h, 1e-6);
    assert_close(&x_memory.to_vec(&stream).unwrap(), &expected, 1e-5);
}

// An optional output, and a number that is an argument where an option has its name.
#[test]
fn norms_into_codes() {
    let device = device();
    let stream = stream(&device);
    let (x, weight) = (upload(&device, &[3.0f32, -4.0]), upload(&device, &[1.0f32, 1.0]));
    let (mut codes, mut scales) = (zeros::<i8>(&device, 2), zeros::<f32>(&device, 1));
    let (x, weight) = (x.view(&[1, 2]).unwrap(), weight.view(&[2]).unwrap());
    {
        let codes = codes.view_mut(&[1, 2]).unwrap();
        let scales = scales.view_mut(&[1]).unwrap();
        ops::rms_norm_codes(&x, &weight, &codes)
            .scales(&scales)
            .epsilon(0.0)
            .run(&stream)
            .unwrap();
    }
    assert_eq!(codes.to_vec(&stream).unwrap(), [95, -127]);
    assert_close(
        &scales.to_vec(&stream).unwrap(),
        &[4.0 / 12.5f32.sqrt() / 127.0],
        1e-7,
    );
    let mut fixed = zeros::<E4m3>(&device, 2);
    ops::rms_norm_codes(&x, &weight, &fixed.view_mut(&[1, 2]).unwrap())
        .scale(1.0)
        .run(&stream)
        .unwrap();
    // 3 and -4 over the root of 12.5: 0.8485 and -1.131 in numbers of 4 significant bits.
    assert_eq!(fixed.to_vec(&stream).unwrap(), [E4m3(0x36), E4m3(0xb9)]);
}

fn attention_reference(
    q: &[f32],
    k: &[f32],
    v: &[f32],
    length: usize,
    heads: usize,
    d: usize,
) -> (Vec<f32>, Vec<f32>) {
    let at = |x: &[f32], position: usize, head: usize, i: usize| x[(position * heads + head) * d + i];
    let (mut out, mut lse) = (vec![0.0; length * heads * d], vec![0.0; heads * length]);
    for head in 0..heads {
        for row in 0..length {
            let scores: Vec<f32> = (0..=row)
                .map(|key| {
                    (0..d)
                        .map(|i| at(q, row, head, i) * at(k, key, head, i))
                        .sum::<f32>()
                        / (d as f32).sqrt()
                })
                .collect();
            let total: f32 = scores.iter().map(|score| score.exp()).sum();
            lse[head * length + row] = total.ln();
            for i in 0..d {
                out[(row * heads + head) * d + i] = (0..=row)
                    .map(|key| scores[key].exp() / total * at(v, key, head, i))
                    .sum();
            }
        }
    }
    (out, lse)
}

// With options, with an optional output, and as packed sequences, whose lengths are a record.
#[test]
fn attention_and_packed_sequences() {
    let (device, (length, heads, d)) = (device(), (6, 2, 16));
    let stream = stream(&device);
    let parts: Vec<Vec<f32>> = (0..3)
        .map(|seed| numbers(length * heads * d, seed + 20))
        .collect();
    let (expected, expected_lse) = attention_reference(&parts[0], &parts[1], &parts[2], length, heads, d);
    let memory: Vec<_> = parts.iter().map(|part| upload(&device, part)).collect();
    let (mut out, mut lse) = (
        zeros::<f32>(&device, length * heads * d),
        zeros::<f32>(&device, heads * length),
    );
    {
        let shape = [1, length, heads, d];
        let views: Vec<TensorView> = memory.iter().map(|part| part.view(&shape).unwrap()).collect();
        ops::attention(&views[0], &views[1], &views[2], &out.view_mut(&shape).unwrap())
            .causal(CausalAlignment::BottomRight)
            .lse(&lse.view_mut(&[1, heads, length]).unwrap())
            .run(&stream)
            .unwrap();
    }
    assert_close(&out.to_vec(&stream).unwrap(), &expected, 1e-4);
    assert_close(&lse.to_vec(&stream).unwrap(), &expected_lse, 1e-4);

    // Each sequence of two is a sequence of its own: the first half has the same result.
    let half = length / 2;
    let ends = upload(&device, &[0i32, half as i32, length as i32]);
    let mut packed = zeros::<f32>(&device, length * heads * d);
    {
        let shape = [length, heads, d];
        let views: Vec<TensorView> = memory.iter().map(|part| part.view(&shape).unwrap()).collect();
        let ends = ends.view(&[3]).unwrap();
        let sequences = ops::AttentionSequences::new(&ends)
            .cu_k(&ends)
            .max_q(half as i64)
            .max_k(half as i64);
        ops::attention_varlen(
            &views[0],
            &views[1],
            &views[2],
            &packed.view_mut(&shape).unwrap(),
            &sequences,
        )
        .options(&ops::AttentionOptions::new().causal(CausalAlignment::BottomRight))
        .run(&stream)
        .unwrap();
    }
    let packed = packed.to_vec(&stream).unwrap();
    assert_close(&packed[..half * heads * d], &expected[..half * heads * d], 1e-4);
    assert!((packed[half * heads * d] - expected[half * heads * d]).abs() > 1e-4);
}

// Four-bit weights: a record that a function of the library fills, repacking into memory, and the product.
#[test]
fn four_bit_weights_of_blocks() {
    let (device, (n, k)) = (device(), (32usize, 64usize));
    let stream = stream(&device);
    let format = ops::block_format_named("Q4_0").unwrap();
    assert_eq!(format, ops::BlockFormat::Q4_0);
    assert_eq!(
        ops::block_operation_of(format).unwrap(),
        ops::BlockOperation::MatmulW4
    );
    assert_eq!(ops::block_bytes(format, 64).unwrap(), 36);
    let weights = ops::w4_weights_of_blocks(format, n as i64, k as i64).unwrap();
    // Every block has the scale 0.5, and the code 8 + (row + column) % 7 - 3.
    let code = |row: usize, column: usize| 8 + (row + column) % 7 - 3;
    let mut bytes = Vec::new();
    for row in 0..n {
        for block in 0..k / 32 {
            bytes.extend(F16::from_f32(0.5).0.to_le_bytes());
            bytes.extend(
                (0..16).map(|i| (code(row, block * 32 + i) | code(row, block * 32 + 16 + i) << 4) as u8),
            );
        }
    }
    let source = upload(&device, &bytes);
    let mut memory = zeros::<u8>(&device, ops::w4_packed_bytes(&weights).unwrap() as usize);
    let x: Vec<f32> = numbers(k, 30)
        .iter()
        .map(|x| F16::from_f32(*x).to_f32())
        .collect();
    let x_memory = upload(
        &device,
        &x.iter().map(|x| F16::from_f32(*x)).collect::<Vec<F16>>(),
    );
    let mut out = zeros::<F16>(&device, n);
    let memory_bytes = memory.len();
    let weights = weights.memory(&memory.view_mut(&[memory_bytes]).unwrap());
    ops::repack_blocks_w4(format, &source.view(&[bytes.len()]).unwrap(), &weights)
        .run(&stream)
        .unwrap();
    ops::matmul_w4(
        &x_memory.view(&[1, k]).unwrap(),
        &weights,
        &out.view_mut(&[1, n]).unwrap(),
    )
    .run(&stream)
    .unwrap();
    let expected: Vec<f32> = (0..n)
        .map(|row| {
            (0..k)
                .map(|column| x[column] * 0.5 * (code(row, column) as f32 - 8.0))
                .sum()
        })
        .collect();
    let got: Vec<f32> = out.to_vec(&stream).unwrap().iter().map(|x| x.to_f32()).collect();
    assert_close(&got, &expected, 2e-2);
}

// A record with a list of numbers, inside of options.
#[test]
fn rotary_tables_with_factors() {
    let (device, (positions, pairs)) = (device(), (4, 2));
    let stream = stream(&device);
    let (mut cos, mut sin) = (
        zeros::<f32>(&device, positions * pairs),
        zeros::<f32>(&device, positions * pairs),
    );
    {
        let (cos, sin) = (
            cos.view_mut(&[positions, pairs]).unwrap(),
            sin.view_mut(&[positions, pairs]).unwrap(),
        );
        let scaling = ops::RotaryScaling::new()
            .kind(ops::RotaryScalingKind::Longrope)
            .factor(1.0)
            .original_length(4.0)
            .pair_factors(&[1.0, 4.0]);
        ops::rotary_table(&cos, &sin)
            .base(100.0)
            .scaling(&scaling)
            .run(&stream)
            .unwrap();
    }
    let angle = |at: usize| (at / pairs) as f32 * [1.0, 0.1 / 4.0][at % pairs];
    let expected: Vec<f32> = (0..positions * pairs).map(|at| angle(at).cos()).collect();
    assert_close(&cos.to_vec(&stream).unwrap(), &expected, 1e-6);
    let expected: Vec<f32> = (0..positions * pairs).map(|at| angle(at).sin()).collect();
    assert_close(&sin.to_vec(&stream).unwrap(), &expected, 1e-6);
}

#[test]
fn small_operations() {
    let device = device();
    let stream = stream(&device);
    let x = [0.5f32, -1.0, 2.0, 0.25];
    let memory = upload(&device, &x);
    let view = memory.view(&[2, 2]).unwrap();
    let mut y = zeros::<f32>(&device, 4);
    ops::activate(Activation::Silu, &view, &y.view_mut(&[2, 2]).unwrap())
        .run(&stream)
        .unwrap();
    let silu: Vec<f32> = x.iter().map(|x| x / (1.0 + (-x).exp())).collect();
    assert_close(&y.to_vec(&stream).unwrap(), &silu, 1e-6);

    ops::softmax(&view, &y.view_mut(&[2, 2]).unwrap())
        .run(&stream)
        .unwrap();
    let share = |x: f32, other: f32| x.exp() / (x.exp() + other.exp());
    let expected = [
        share(0.5, -1.0),
        share(-1.0, 0.5),
        share(2.0, 0.25),
        share(0.25, 2.0),
    ];
    assert_close(&y.to_vec(&stream).unwrap(), &expected, 1e-6);

    let mut means = zeros::<f32>(&device, 2);
    ops::reduce(Reduction::Mean, &view, &means.view_mut(&[2]).unwrap())
        .axis(0)
        .run(&stream)
        .unwrap();
    assert_close(&means.to_vec(&stream).unwrap(), &[1.25, -0.375], 1e-6);

    let table: Vec<Bf16> = [1.0, 2.0, 3.0, 4.0, 5.0, 6.0]
        .iter()
        .map(|x| Bf16::from_f32(*x))
        .collect();
    let (table, rows) = (upload(&device, &table), upload(&device, &[2i32, 0]));
    let mut out = zeros::<Bf16>(&device, 4);
    ops::embedding(
        &rows.view(&[2]).unwrap(),
        &table.view(&[3, 2]).unwrap(),
        &out.view_mut(&[2, 2]).unwrap(),
    )
    .run(&stream)
    .unwrap();
    let out: Vec<f32> = out.to_vec(&stream).unwrap().iter().map(|x| x.to_f32()).collect();
    assert_eq!(out, [5.0, 6.0, 1.0, 2.0]);
}

// Tuning measures on memory of its own, and reports a kernel by the name that `variant` takes.
#[test]
fn tuning() {
    let device = device();
    let (a, mut c) = (zeros::<f32>(&device, 16), zeros::<f32>(&device, 16));
    let c = c.view_mut(&[4, 4]).unwrap();
    let call = ops::matmul(&a.view(&[4, 4]).unwrap(), &a.view(&[4, 4]).unwrap(), &c);
    let how = ops::TuneOptions::new()
        .repetitions(1)
        .remember(false)
        .use_files(false);
    let report = call.tune(&how).unwrap();
    assert!(!report.saved && !report.variant.is_empty(), "{:?}", report);
    assert_eq!(
        call.clone().variant(&report.variant).choice().unwrap().name,
        report.variant
    );
}
