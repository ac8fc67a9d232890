//! kaio's GPU operations on [candle](https://docs.rs/candle-core)'s tensors.
//!
//! ```
//! use candle_core::{DType, Device, Tensor, Var};
//! # fn main() -> candle_core::Result<()> {
//! let x = Tensor::from_vec(vec![1f32, 2., 3., 4., 5., 6.], (2, 3), &Device::Cpu)?;
//! let weight = Var::zeros((4, 3), DType::F32, &Device::Cpu)?;
//! let y = kaio_candle::linear(&x, &weight, None)?; // (2, 4)
//! let gradients = y.sum_all()?.backward()?;
//! assert_eq!(gradients.get(&weight).unwrap().to_vec2::<f32>()?[0], [5.0, 7.0, 9.0]);
//! # Ok(())
//! # }
//! ```
//!
//! Tensors are read as they are: strided, narrowed, transposed and broadcast ones are not copied. Results are allocated by
//! candle. On a CUDA device, which needs the feature `cuda`, calls put kernels into candle's stream and return: nothing is
//! synchronised. On the CPU, kaio's emulator runs the GPU's kernels, slowly: for tests of models and gradients.
//!
//! Operations with gradients are recorded in candle's graph. The others refuse tensors that are tracked, so that no
//! gradient is lost silently.

#![deny(missing_docs, unsafe_op_in_unsafe_fn)]

mod activation;
mod attention;
mod cache;
mod eight_bit;
mod heads;
mod library;
mod loss;
mod matmul;
mod norm;
mod operation;
pub mod parity;
mod projections;
mod repack;
mod rotary;
mod sampling;
mod softmax;
mod storage;
mod view;
mod weights;

pub use activation::{activate, gated, Activation};
pub use attention::{attention, attention_varlen, attention_with_lse, AttentionOptions, Causal, Sequences};
pub use cache::{CacheRotary, DecodeOptions, KvCache};
pub use eight_bit::{matmul_fp8, matmul_int8, quantise_fp8, quantise_int8, EightBitOptions};
pub use heads::{merge_states, qk_norm_rotary};
pub use loss::{cross_entropy, linear_cross_entropy, CrossEntropyOptions};
pub use matmul::{linear, linear_fused, matmul, matmul_with, Epilogue, MatmulOptions, Precision};
pub use norm::{add_rms_norm, layer_norm, rms_norm, rms_norm_with, RmsNormOptions};
pub use projections::{gate_up_project, qkv_project, QkvOptions, Weight};
pub use repack::{dequantise_gguf, Gptq};
pub use rotary::{embedding, rotary, rotary_table, RotaryOptions};
pub use sampling::{sample, top_k, SampleOptions};
pub use softmax::{log_softmax, softmax};
pub use weights::PackedWeight;

/// The examples of the pages are tests.
#[cfg(doctest)]
mod pages {
    #[doc = include_str!("../README.md")]
    struct Readme;
    #[doc = include_str!("../../../../docs/rust/candle.md")]
    struct Page;
}
