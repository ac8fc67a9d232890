//! GPU operations for transformers: products, attention, norms, 4-bit and 8-bit weights, their gradients. Every kernel also runs
//! without a GPU, on an emulator that the library carries.
//!
//! ```
//! use kaio::{ops, Buffer, Device, Stream};
//!
//! let device = Device::open("emulator")?; // or Device::open_default()?: the first GPU, else the emulator
//! let stream = Stream::new(&device)?;
//!
//! let a = Buffer::from_slice(&device, &[1.0f32, 2.0, 3.0, 4.0, 5.0, 6.0])?;
//! let b = Buffer::from_slice(&device, &[1.0f32, -1.0, 0.0, 1.0, 2.0, -8.0])?;
//! let mut c = Buffer::<f32>::uninitialised(&device, 4)?;
//!
//! ops::matmul(&a.view(&[2, 3])?, &b.view(&[3, 2])?, &c.view_mut(&[2, 2])?)
//!     .alpha(2.0)
//!     .activation(ops::MatmulActivation::Relu)
//!     .run(&stream)?;
//! assert_eq!(c.to_vec(&stream)?, [14.0, 0.0, 32.0, 0.0]);
//! # Ok::<(), kaio::Error>(())
//! ```
//!
//! - [`ops`] has the operations. A function takes what is needed, methods set options, `run` queues the work. `warmup` loads its
//!   kernels ahead, and what an operation can say of itself (`workspace_bytes`, `choice`, `tune`) is a method too.
//! - [`Buffer`] owns device memory, a [`Pool`] has memory in the order of a stream. [`TensorView`] and [`TensorViewMut`] are tensors in it, or in memory of another library.
//! - [`Device`], [`Stream`], [`Event`] and [`Graph`] are what CUDA calls by these names; a [`Stream`] may be another library's.
//! - [`kernels`] loads kernels of a C++ program by name, [`weights`] reads GGUF and safetensors files.
//! - A [`Sanitizer`] finds races and accesses out of bounds of what runs on the emulator.
//! - [`Error`] has a kind, and a message that names the wrong argument.
//!
//! # The library
//!
//! libkaio is opened at run time: the path in `KAIO_LIBRARY`, or `libkaio.so.0` in the folder of the program or where the dynamic
//! loader searches. With the feature `link` it is linked. Without it, every call fails with [`ErrorKind::LibraryMissing`].
//!
//! # Memory and order
//!
//! Operations queue work and return. Work of one [`Stream`] runs in its order; two streams that use the same memory need an [`Event`]
//! between them, or read values that nobody has promised. A [`Buffer`] is freed after the work that uses it, so dropping one
//! early is safe. What Rust borrows is the memory's address: a view cannot outlive its buffer, and operations write views of a
//! mutably borrowed buffer only. Caches of keys and values and memory of packed weights are written by some operations and read by
//! others: their records take views of both kinds, and the former need a view of a mutably borrowed buffer.
//!
//! Calls check shapes, types and devices, but no numbers in device memory. Page tables and the offsets of sequences must be in
//! range: with others, a kernel may touch foreign memory. The emulator reports that.

#![deny(missing_docs)]
#![deny(unsafe_op_in_unsafe_fn)]

mod buffer;
#[allow(unused_imports)]
mod call;
mod device;
mod element;
mod error;
mod graph;
mod hold;
pub mod kernels;

#[rustfmt::skip]
#[allow(dead_code, unused_imports, clippy::needless_update, clippy::too_many_arguments)]
pub mod ops;
mod pool;
mod sanitizer;
mod stream;
mod view;
pub mod weights;

#[cfg(not(target_pointer_width = "64"))]
compile_error!("kaio needs pointers of 64 bits");

pub use buffer::Buffer;
pub use device::Device;
pub use element::{Bf16, Boolean, DataType, E4m3, E5m2, E8m0, Element, F16};
pub use error::{Error, ErrorKind, Result};
pub use graph::{Capture, Graph};
pub use kaio_sys as sys;
pub use pool::{Pool, PoolBuffer};
pub use sanitizer::{Report, Sanitizer};
pub use stream::{Event, Stream};
pub use view::{TensorView, TensorViewMut, MAX_RANK};

/// The version of libkaio: "0.1.0".
pub fn version() -> Result<String> {
    let functions = error::functions()?;
    // SAFETY: the text is never NULL, and is not freed.
    Ok(unsafe { error::text((functions.kaio_version)()) })
}
