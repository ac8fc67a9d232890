//! Trains a small GPT: all of its products, attention, norms, activations, embeddings and the loss are kaio's, forward and
//! backward; candle has the graph and the optimiser's arithmetic. It learns a text by heart; the program fails if the loss
//! does not fall.
//!
//!     cargo run --release --example gpt [--features cuda -- cuda]

use candle_core::{bail, DType, Device, Result, Tensor, Var};
use kaio_candle as kaio;

const TEXT: &str = "to be or not to be that is the question ";
const EMBEDDING: usize = 32;
const HEADS: usize = 2;
const CONTEXT: usize = 16;
const BATCH: usize = 4;
const LAYERS: usize = 2;
const STEPS: usize = 40;

struct Block {
    norm: [(Var, Var); 2],
    qkv: Var,
    out: Var,
    up: (Var, Var),
    down: (Var, Var),
}

struct Gpt {
    tokens: Var,
    positions: Var,
    blocks: Vec<Block>,
    norm: (Var, Var),
    all: Vec<Var>,
}

impl Gpt {
    fn new(vocabulary: usize, device: &Device) -> Result<Self> {
        let (mut all, mut seed) = (vec![], 7u32);
        let mut matrix = |rows: usize, columns: usize| {
            let mut next = || {
                seed = seed.wrapping_mul(1664525).wrapping_add(1013904223);
                ((seed >> 8) as f32 / 8388608.0 - 1.0) * (1.5 / columns as f32).sqrt()
            };
            let list: Vec<f32> = (0..rows * columns).map(|_| next()).collect();
            let made = Var::from_tensor(&Tensor::from_vec(list, (rows, columns), device)?)?;
            all.push(made.clone());
            Ok::<Var, candle_core::Error>(made)
        };
        let (tokens, positions) = (matrix(vocabulary, EMBEDDING)?, matrix(CONTEXT, EMBEDDING)?);
        let mut matrices = vec![];
        for _ in 0..LAYERS {
            let (qkv, out) = (matrix(3 * EMBEDDING, EMBEDDING)?, matrix(EMBEDDING, EMBEDDING)?);
            matrices.push((
                qkv,
                out,
                matrix(4 * EMBEDDING, EMBEDDING)?,
                matrix(EMBEDDING, 4 * EMBEDDING)?,
            ));
        }
        let mut vector = |size: usize, value: f32| {
            let made = Var::from_tensor(&Tensor::from_vec(vec![value; size], size, device)?)?;
            all.push(made.clone());
            Ok::<Var, candle_core::Error>(made)
        };
        let mut blocks = vec![];
        for (qkv, out, up, down) in matrices {
            let norm = [
                (vector(EMBEDDING, 1.0)?, vector(EMBEDDING, 0.0)?),
                (vector(EMBEDDING, 1.0)?, vector(EMBEDDING, 0.0)?),
            ];
            let (up, down) = ((up, vector(4 * EMBEDDING, 0.0)?), (down, vector(EMBEDDING, 0.0)?));
            blocks.push(Block {
                norm,
                qkv,
                out,
                up,
                down,
            });
        }
        let norm = (vector(EMBEDDING, 1.0)?, vector(EMBEDDING, 0.0)?);
        Ok(Self {
            tokens,
            positions,
            blocks,
            norm,
            all,
        })
    }

    /// The loss of predicting `targets` from `inputs`, both (batch, context).
    fn loss(&self, inputs: &Tensor, targets: &Tensor) -> Result<Tensor> {
        let mut x = kaio::embedding(inputs, &self.tokens)?.broadcast_add(&self.positions)?;
        let norm = |x: &Tensor, of: &(Var, Var)| kaio::layer_norm(x, &of.0, &of.1, 1e-5);
        let size = EMBEDDING / HEADS;
        let options = kaio::AttentionOptions {
            causal: kaio::Causal::TopLeft,
            ..Default::default()
        };
        for block in &self.blocks {
            let qkv = kaio::linear(&norm(&x, &block.norm[0])?, &block.qkv, None)?;
            let qkv = qkv.reshape((BATCH, CONTEXT, 3 * HEADS, size))?;
            // Parts of one tensor, which attention reads where they are.
            let part = |at: usize| qkv.narrow(2, at * HEADS, HEADS);
            let heads = kaio::attention(&part(0)?, &part(1)?, &part(2)?, &options)?;
            x = x.add(&kaio::linear(
                &heads.reshape((BATCH, CONTEXT, EMBEDDING))?,
                &block.out,
                None,
            )?)?;
            let hidden = kaio::linear(&norm(&x, &block.norm[1])?, &block.up.0, Some(&block.up.1))?;
            let hidden = kaio::activate(&hidden, kaio::Activation::GeluTanh)?;
            x = x.add(&kaio::linear(&hidden, &block.down.0, Some(&block.down.1))?)?;
        }
        let logits = kaio::linear(&norm(&x, &self.norm)?, &self.tokens, None)?;
        let logits = logits.reshape((BATCH * CONTEXT, self.tokens.dim(0)?))?;
        kaio::cross_entropy(
            &logits,
            &targets.flatten_all()?,
            kaio::CrossEntropyOptions::default(),
        )
    }
}

/// Adam (Kingma and Ba, 2015) in candle's operations.
struct Adam {
    moments: Vec<(Var, Var)>,
    step: i32,
}

impl Adam {
    fn new(variables: &[Var]) -> Result<Self> {
        let zeros = |like: &Var| Var::zeros(like.shape(), DType::F32, like.device());
        let moments = variables
            .iter()
            .map(|variable| Ok((zeros(variable)?, zeros(variable)?)));
        Ok(Self {
            moments: moments.collect::<Result<_>>()?,
            step: 0,
        })
    }

    fn step(&mut self, variables: &[Var], loss: &Tensor, rate: f64) -> Result<()> {
        let (decay, square_decay) = (0.9, 0.95);
        self.step += 1;
        let (whole, whole_square) = (
            1.0 - f64::powi(decay, self.step),
            1.0 - f64::powi(square_decay, self.step),
        );
        let gradients = loss.backward()?;
        for (variable, (first, second)) in variables.iter().zip(&self.moments) {
            let Some(gradient) = gradients.get(variable) else {
                bail!("a variable has no gradient")
            };
            let (m, v) = (first.as_detached_tensor(), second.as_detached_tensor());
            let m = m.affine(decay, 0.0)?.add(&gradient.affine(1.0 - decay, 0.0)?)?;
            let v = v
                .affine(square_decay, 0.0)?
                .add(&gradient.sqr()?.affine(1.0 - square_decay, 0.0)?)?;
            let size = v.affine(1.0 / whole_square, 0.0)?.sqrt()?.affine(1.0, 1e-8)?;
            let change = m.affine(rate / whole, 0.0)?.div(&size)?;
            variable.set(&variable.as_detached_tensor().sub(&change)?)?;
            first.set(&m)?;
            second.set(&v)?;
        }
        Ok(())
    }
}

fn main() -> Result<()> {
    let device = match std::env::args().nth(1).as_deref() {
        Some("cuda") => Device::new_cuda(0)?,
        _ => Device::Cpu,
    };
    let mut letters: Vec<char> = TEXT.chars().collect();
    letters.sort_unstable();
    letters.dedup();
    let codes: Vec<u32> = TEXT
        .chars()
        .map(|c| letters.iter().position(|&l| l == c).unwrap_or(0) as u32)
        .collect();
    let model = Gpt::new(letters.len(), &device)?;
    let mut optimiser = Adam::new(&model.all)?;
    let (mut first, mut last) = (f32::NAN, f32::NAN);
    for step in 0..STEPS {
        let at = |row: usize, column: usize| codes[(step * 7 + row * 11 + column) % codes.len()];
        let window = |shift: usize| {
            let list = (0..BATCH * CONTEXT)
                .map(|i| at(i / CONTEXT, i % CONTEXT + shift))
                .collect::<Vec<u32>>();
            Tensor::from_vec(list, (BATCH, CONTEXT), &device)
        };
        let loss = model.loss(&window(0)?, &window(1)?)?;
        last = loss.to_device(&Device::Cpu)?.to_scalar::<f32>()?;
        if step == 0 {
            first = last;
        }
        if step % 10 == 9 || step == 0 {
            println!("step {:3}: loss {last:.3}", step + 1);
        }
        optimiser.step(&model.all, &loss, 1e-2)?;
    }
    // A model that knows nothing has ln(letters); one that has learnt the text is near 0.
    println!(
        "from {first:.3} (ln {} is {:.3}) to {last:.3}",
        letters.len(),
        (letters.len() as f32).ln()
    );
    if last.is_nan() || last > 0.25 * first {
        bail!("the model has not learnt")
    }
    println!("PASS");
    Ok(())
}
