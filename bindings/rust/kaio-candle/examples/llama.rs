//! A small LLaMA in candle, twice: with candle's operations, as candle-transformers writes them, and with its linear
//! layers, norms, rotation, attention and cache replaced by kaio's. Both generate text greedily from one prompt; the
//! program fails if logits or tokens differ.
//!
//!     cargo run --release --example llama [--features cuda -- cuda]

use candle_core::{bail, DType, Device, Result, Tensor, D};
use kaio_candle as kaio;

const VOCABULARY: usize = 64;
const HIDDEN: usize = 32;
const INTERMEDIATE: usize = 48;
const LAYERS: usize = 2;
const HEADS: usize = 4;
const KV_HEADS: usize = 2;
const SIZE: usize = HIDDEN / HEADS;
const ROOM: usize = 32;
const EPSILON: f32 = 1e-5;

struct Layer {
    q: Tensor,
    k: Tensor,
    v: Tensor,
    o: Tensor,
    gate: Tensor,
    up: Tensor,
    down: Tensor,
    attention_norm: Tensor,
    mlp_norm: Tensor,
}

struct Weights {
    embedding: Tensor,
    layers: Vec<Layer>,
    norm: Tensor,
    head: Tensor,
    cos: Tensor,
    sin: Tensor,
}

impl Weights {
    fn random(device: &Device) -> Result<Self> {
        let mut seed = 1u32;
        let mut matrix = |rows: usize, columns: usize| {
            let mut next = || {
                seed = seed.wrapping_mul(1664525).wrapping_add(1013904223);
                ((seed >> 8) as f32 / 8388608.0 - 1.0) * (3.0 / columns as f32).sqrt()
            };
            Tensor::from_vec(
                (0..rows * columns).map(|_| next()).collect(),
                (rows, columns),
                device,
            )
        };
        let mut layers = vec![];
        for _ in 0..LAYERS {
            layers.push(Layer {
                q: matrix(HIDDEN, HIDDEN)?,
                k: matrix(KV_HEADS * SIZE, HIDDEN)?,
                v: matrix(KV_HEADS * SIZE, HIDDEN)?,
                o: matrix(HIDDEN, HIDDEN)?,
                gate: matrix(INTERMEDIATE, HIDDEN)?,
                up: matrix(INTERMEDIATE, HIDDEN)?,
                down: matrix(HIDDEN, INTERMEDIATE)?,
                attention_norm: Tensor::ones(HIDDEN, DType::F32, device)?,
                mlp_norm: Tensor::ones(HIDDEN, DType::F32, device)?,
            });
        }
        let (cos, sin) = kaio::rotary_table(ROOM, SIZE / 2, 10000.0, DType::F32, device)?;
        let (embedding, head) = (matrix(VOCABULARY, HIDDEN)?, matrix(VOCABULARY, HIDDEN)?);
        Ok(Self {
            embedding,
            layers,
            norm: Tensor::ones(HIDDEN, DType::F32, device)?,
            head,
            cos,
            sin,
        })
    }
}

/// A model that takes tokens, which follow those that it has seen, and returns the logits (1, vocabulary) of the last.
trait Model {
    fn forward(&mut self, tokens: &[u32]) -> Result<Tensor>;
}

/// candle's operations, with keys and values in tensors that grow.
struct Reference<'a> {
    weights: &'a Weights,
    cache: Vec<Option<(Tensor, Tensor)>>,
    seen: usize,
}

impl Reference<'_> {
    fn linear(x: &Tensor, weight: &Tensor) -> Result<Tensor> {
        let (batch, rows, size) = x.dims3()?;
        x.reshape((batch * rows, size))?
            .matmul(&weight.t()?)?
            .reshape((batch, rows, weight.dims()[0]))
    }

    fn norm(x: &Tensor, weight: &Tensor) -> Result<Tensor> {
        let rms = x
            .sqr()?
            .mean_keepdim(D::Minus1)?
            .affine(1.0, f64::from(EPSILON))?
            .sqrt()?;
        x.broadcast_div(&rms)?.broadcast_mul(weight)
    }

    /// x is (1, heads, tokens, size).
    fn rotate(&self, x: &Tensor) -> Result<Tensor> {
        let tokens = x.dim(2)?;
        let table = |t: &Tensor| t.narrow(0, self.seen, tokens)?.reshape((1, 1, tokens, SIZE / 2));
        let (cos, sin) = (table(&self.weights.cos)?, table(&self.weights.sin)?);
        let (first, second) = (x.narrow(3, 0, SIZE / 2)?, x.narrow(3, SIZE / 2, SIZE / 2)?);
        Tensor::cat(
            &[
                first.broadcast_mul(&cos)?.sub(&second.broadcast_mul(&sin)?)?,
                second.broadcast_mul(&cos)?.add(&first.broadcast_mul(&sin)?)?,
            ],
            3,
        )
    }

    fn attention(&mut self, x: &Tensor, at: usize) -> Result<Tensor> {
        let layer = &self.weights.layers[at];
        let tokens = x.dim(1)?;
        let heads = |x: Tensor, heads| x.reshape((1, tokens, heads, SIZE))?.transpose(1, 2)?.contiguous();
        let q = self.rotate(&heads(Self::linear(x, &layer.q)?, HEADS)?)?;
        let mut k = self.rotate(&heads(Self::linear(x, &layer.k)?, KV_HEADS)?)?;
        let mut v = heads(Self::linear(x, &layer.v)?, KV_HEADS)?;
        if let Some((old_k, old_v)) = &self.cache[at] {
            (k, v) = (Tensor::cat(&[old_k, &k], 2)?, Tensor::cat(&[old_v, &v], 2)?);
        }
        self.cache[at] = Some((k.clone(), v.clone()));
        let keys = k.dim(2)?;
        let group = HEADS / KV_HEADS;
        let repeat = |t: &Tensor| {
            let wide = t.unsqueeze(2)?.broadcast_as((1, KV_HEADS, group, keys, SIZE))?;
            wide.contiguous()?.reshape((1, HEADS, keys, SIZE))
        };
        let scores = q
            .matmul(&repeat(&k)?.transpose(2, 3)?.contiguous()?)?
            .affine(1.0 / (SIZE as f64).sqrt(), 0.0)?;
        let mask = (0..tokens * keys).map(|i| {
            if i % keys > i / keys + self.seen {
                f32::NEG_INFINITY
            } else {
                0.0
            }
        });
        let mask = Tensor::from_vec(mask.collect(), (tokens, keys), x.device())?;
        let e = scores.broadcast_add(&mask)?.exp()?;
        let p = e.broadcast_div(&e.sum_keepdim(D::Minus1)?)?;
        let out = p
            .matmul(&repeat(&v)?)?
            .transpose(1, 2)?
            .reshape((1, tokens, HIDDEN))?;
        Self::linear(&out, &layer.o)
    }
}

impl Model for Reference<'_> {
    fn forward(&mut self, tokens: &[u32]) -> Result<Tensor> {
        let device = self.weights.head.device().clone();
        let ids = Tensor::from_slice(tokens, tokens.len(), &device)?;
        let mut x = self.weights.embedding.index_select(&ids, 0)?.unsqueeze(0)?;
        for at in 0..LAYERS {
            let layer = &self.weights.layers[at];
            let normed = Self::norm(&x, &layer.attention_norm)?;
            x = x.add(&self.attention(&normed, at)?)?;
            let normed = Self::norm(&x, &layer.mlp_norm)?;
            let gated = Self::linear(&normed, &layer.gate)?
                .silu()?
                .mul(&Self::linear(&normed, &layer.up)?)?;
            x = x.add(&Self::linear(&gated, &layer.down)?)?;
        }
        self.seen += tokens.len();
        let last = Self::norm(&x.narrow(1, tokens.len() - 1, 1)?, &self.weights.norm)?;
        Self::linear(&last, &self.weights.head)?.squeeze(0)
    }
}

/// kaio's operations, with keys and values in a cache that is written in place.
struct Replaced<'a> {
    weights: &'a Weights,
    caches: Vec<Tensor>,
    seen: usize,
}

impl<'a> Replaced<'a> {
    fn new(weights: &'a Weights) -> Result<Self> {
        let device = weights.head.device();
        let memory = || Tensor::zeros((2, 1, ROOM, KV_HEADS, SIZE), DType::F32, device);
        Ok(Self {
            weights,
            caches: (0..LAYERS).map(|_| memory()).collect::<Result<_>>()?,
            seen: 0,
        })
    }

    fn attention(&self, x: &Tensor, at: usize) -> Result<Tensor> {
        let layer = &self.weights.layers[at];
        let tokens = x.dim(1)?;
        let heads = |x: Tensor, heads| x.reshape((1, tokens, heads, SIZE));
        let part = |t: &Tensor| t.narrow(0, self.seen, tokens);
        let (cos, sin) = (part(&self.weights.cos)?, part(&self.weights.sin)?);
        let options = kaio::RotaryOptions::default();
        let turned = |x: Tensor| kaio::rotary(&x, &cos, &sin, &options);
        let q = turned(heads(kaio::linear(x, &layer.q, None)?, HEADS)?)?;
        let k = turned(heads(kaio::linear(x, &layer.k, None)?, KV_HEADS)?)?;
        let v = heads(kaio::linear(x, &layer.v, None)?, KV_HEADS)?;
        let cache = |length: usize| -> Result<kaio::KvCache> {
            Ok(kaio::KvCache {
                kv: self.caches[at].clone(),
                table: None,
                lengths: Some(Tensor::from_vec(vec![length as u32], 1, x.device())?),
                k_scale: None,
                v_scale: None,
            })
        };
        cache(self.seen)?.append(&k, &v, None)?;
        let options = kaio::DecodeOptions {
            causal: kaio::Causal::BottomRight,
            ..Default::default()
        };
        let out = cache(self.seen + tokens)?.attention(&q, &options)?;
        kaio::linear(&out.reshape((1, tokens, HIDDEN))?, &layer.o, None)
    }
}

impl Model for Replaced<'_> {
    fn forward(&mut self, tokens: &[u32]) -> Result<Tensor> {
        let device = self.weights.head.device().clone();
        let ids = Tensor::from_slice(tokens, (1, tokens.len()), &device)?;
        let mut x = kaio::embedding(&ids, &self.weights.embedding)?;
        let options = kaio::RmsNormOptions {
            epsilon: EPSILON,
            ..Default::default()
        };
        for (at, layer) in self.weights.layers.iter().enumerate() {
            let normed = kaio::rms_norm_with(&x, &layer.attention_norm, options)?;
            let (normed, sum) =
                kaio::add_rms_norm(&self.attention(&normed, at)?, &x, &layer.mlp_norm, options)?;
            let (gate, up) = (kaio::Weight::Matrix(&layer.gate), kaio::Weight::Matrix(&layer.up));
            let gated = kaio::gate_up_project(&normed, gate, up, kaio::Epilogue::Silu)?;
            x = kaio::linear_fused(&gated, &layer.down, None, kaio::Epilogue::None, Some(&sum))?;
        }
        self.seen += tokens.len();
        let last = kaio::rms_norm_with(&x.narrow(1, tokens.len() - 1, 1)?, &self.weights.norm, options)?;
        kaio::linear(&last, &self.weights.head, None)?.squeeze(0)
    }
}

/// The tokens that follow the prompt, and the logits of each step.
fn generate(model: &mut dyn Model, prompt: &[u32], steps: usize) -> Result<(Vec<u32>, Vec<Vec<f32>>)> {
    let (mut tokens, mut all, mut next) = (vec![], vec![], prompt.to_vec());
    for _ in 0..steps {
        let logits = model
            .forward(&next)?
            .to_device(&Device::Cpu)?
            .flatten_all()?
            .to_vec1::<f32>()?;
        let best = (0..VOCABULARY).fold(0, |best, at| if logits[at] > logits[best] { at } else { best });
        next = vec![best as u32];
        tokens.push(best as u32);
        all.push(logits);
    }
    Ok((tokens, all))
}

fn main() -> Result<()> {
    let device = match std::env::args().nth(1).as_deref() {
        Some("cuda") => Device::new_cuda(0)?,
        _ => Device::Cpu,
    };
    let weights = Weights::random(&device)?;
    let prompt = [3, 17, 42, 8, 25];
    let mut reference = Reference {
        weights: &weights,
        cache: (0..LAYERS).map(|_| None).collect(),
        seen: 0,
    };
    let (want, want_logits) = generate(&mut reference, &prompt, 12)?;
    let (got, logits) = generate(&mut Replaced::new(&weights)?, &prompt, 12)?;
    println!("candle: {want:?}\nkaio:   {got:?}");
    let pairs = logits.iter().flatten().zip(want_logits.iter().flatten());
    let largest = pairs.fold(0f32, |most, (x, y)| most.max((x - y).abs()));
    println!("largest difference of a logit: {largest:.1e}");
    if got != want || largest > 1e-3 || largest.is_nan() {
        bail!("the models differ")
    }
    println!("PASS");
    Ok(())
}
