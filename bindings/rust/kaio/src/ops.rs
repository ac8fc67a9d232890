// Made by bindings/rust/generate.py from src/c/operations/*.json.
//! The operations, and their options and records.
//!
//! A function takes what an operation needs and returns it; methods set options; `run` queues the work on a stream.
//!
//! ```
//! use kaio::{ops, Buffer, Device, Stream};
//! let device = Device::open("emulator")?;
//! let stream = Stream::new(&device)?;
//! let x = Buffer::from_slice(&device, &[3.0f32, 4.0])?;
//! let weight = Buffer::from_slice(&device, &[1.0f32, 1.0])?;
//! let mut out = Buffer::<f32>::uninitialised(&device, 2)?;
//! ops::rms_norm(&x.view(&[1, 2])?, &weight.view(&[2])?, &out.view_mut(&[1, 2])?).epsilon(0.0).run(&stream)?;
//! let out = out.to_vec(&stream)?;
//! assert!((out[0] - 3.0 / 12.5f32.sqrt()).abs() < 1e-6);
//! # Ok::<(), kaio::Error>(())
//! ```
//!
//! The text of an argument has its shape, and then the types of its elements. "As x" means the shape of `x`; "elements of x" means
//! the type of `x`'s elements. Of "(..., size)", norms and softmax take 1 to 3 dimensions before the last.

mod attention;
mod attention_backward;
mod attention_decode;
mod block_mask;
mod cache;
mod cross_entropy;
mod distributed;
mod elementwise;
mod embedding;
mod matmul;
mod matmul_8bit;
mod norm;
mod norm_backward;
mod packed_weights;
mod peers;
mod pool;
mod projections;
mod qk_norm_rotary;
mod reductions;
mod repack_w4;
mod repack_w8;
mod sampling;
mod shared;
mod softmax;
mod weight_formats;
mod weights;

pub use attention::*;
pub use attention_backward::*;
pub use attention_decode::*;
pub use block_mask::*;
pub use cache::*;
pub use cross_entropy::*;
pub use distributed::*;
pub use elementwise::*;
pub use embedding::*;
pub use matmul::*;
pub use matmul_8bit::*;
pub use norm::*;
pub use norm_backward::*;
pub use packed_weights::*;
pub use peers::*;
pub use pool::*;
pub use projections::*;
pub use qk_norm_rotary::*;
pub use reductions::*;
pub use repack_w4::*;
pub use repack_w8::*;
pub use sampling::*;
pub use shared::*;
pub use softmax::*;
pub use weight_formats::*;
pub use weights::*;
