//! The C interface of kaio: operations on tensors in GPU memory, described by DLPack's `DLTensor`.
//!
//! Structs, constants and functions have the names of `kaio/c/kaio.h`. They are made from the same descriptions as that header,
//! and a test compares their layout, values and defaults with a C program. Most programs use the safe crate `kaio` instead.
//!
//! The functions are fields of [`Functions`], which [`load`] returns:
//!
//! ```
//! let kaio = kaio_sys::load().expect("libkaio");
//! // SAFETY: the function takes no arguments and cannot fail.
//! let version = unsafe { (kaio.kaio_abi_version)() };
//! assert_eq!(version >> 16, kaio_sys::KAIO_ABI_MAJOR);
//! ```
//!
//! # Features
//!
//! - `load` (default): [`load`] opens libkaio when it is first called. It tries the path in the environment variable
//!   `KAIO_LIBRARY` (and nothing else, if that is set), then `libkaio.so.0` in the folder of the program, then what the dynamic
//!   loader finds. Nothing is needed at build time.
//! - `link`: libkaio is linked, from the folder `KAIO_LIB_DIR` or the one that `pkg-config kaio-c` names. [`load`] then checks the
//!   version alone. `link` wins if both features are on.
//!
//! # Safety
//!
//! Functions are `unsafe`: pointers have to be valid for the call, and structs have their own size in `size`, as `default()` sets it.
//! `kaio_last_error` has the message of the last failure of the calling thread.

#![deny(missing_docs)]
#![deny(unsafe_op_in_unsafe_fn)]
#![allow(non_camel_case_types, non_snake_case, non_upper_case_globals)]

mod base;
#[rustfmt::skip]
mod constants;
mod error;
#[macro_use]
mod table;
#[rustfmt::skip]
mod functions;
#[rustfmt::skip]
mod generated;
#[cfg(all(feature = "load", not(feature = "link")))]
mod open;

#[cfg(not(any(feature = "load", feature = "link")))]
compile_error!("kaio-sys needs one of its features: `load` (the default) or `link`");

pub use base::*;
pub use constants::*;
pub use error::LoadError;
#[cfg(feature = "link")]
pub use functions::linked;
pub use functions::Functions;
pub use generated::*;
#[cfg(all(feature = "load", not(feature = "link")))]
pub use open::open;

use std::sync::atomic::{AtomicPtr, Ordering};
use std::sync::Once;

type Loaded = Result<Functions, LoadError>;

/// The functions of libkaio. The first call loads the library, which stays loaded; later calls return what the first has found.
///
/// Fails if the library is not there, has another version of the interface, or lacks a function.
pub fn load() -> Result<&'static Functions, &'static LoadError> {
    static ONCE: Once = Once::new();
    static LOADED: AtomicPtr<Loaded> = AtomicPtr::new(std::ptr::null_mut());
    ONCE.call_once(|| LOADED.store(Box::into_raw(Box::new(first_load())), Ordering::Release));
    // SAFETY: the pointer was stored before, and what it points to is never freed nor changed.
    unsafe { &*LOADED.load(Ordering::Acquire) }.as_ref()
}

#[cfg(feature = "link")]
fn first_load() -> Loaded {
    // SAFETY: the function takes no arguments.
    check_version(unsafe { linked::kaio_abi_version() }, "the linked libkaio")?;
    Ok(Functions::linked())
}

#[cfg(all(feature = "load", not(feature = "link")))]
fn first_load() -> Loaded {
    open::find()
}

#[cfg(not(any(feature = "load", feature = "link")))]
fn first_load() -> Loaded {
    unreachable!()
}

/// A library serves callers of its major version, and of its own minor version or an older one.
fn check_version(version: u32, library: &str) -> Result<(), LoadError> {
    let (major, minor) = (version >> 16, version & 0xffff);
    if major == KAIO_ABI_MAJOR && minor >= KAIO_ABI_MINOR {
        return Ok(());
    }
    Err(LoadError::Version {
        library: library.to_string(),
        major,
        minor,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    // Other versions than those that serve this crate are refused, with both versions in the message.
    #[test]
    fn versions() {
        let at = |major: u32, minor: u32| check_version(major << 16 | minor, "libkaio.so.0");
        assert!(at(KAIO_ABI_MAJOR, KAIO_ABI_MINOR).is_ok());
        assert!(at(KAIO_ABI_MAJOR, KAIO_ABI_MINOR + 1).is_ok());
        assert!(at(KAIO_ABI_MAJOR + 1, KAIO_ABI_MINOR).is_err());
        let old = at(KAIO_ABI_MAJOR, KAIO_ABI_MINOR - 1).unwrap_err().to_string();
        assert!(old.contains("interface 0.0") && old.contains("0.1"), "{}", old);
    }
}
