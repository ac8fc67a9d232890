//! The pages whose examples are tests.

#[doc = include_str!("../../../../docs/rust/crates.md")]
pub mod page {}

#[doc = include_str!("../../kaio/README.md")]
pub mod readme {}

#[doc = include_str!("../../kaio-sys/README.md")]
pub mod readme_of_sys {}
