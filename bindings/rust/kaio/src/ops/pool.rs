// Made by bindings/rust/generate.py from src/c/operations/pool.json.
//! Options and statistics of pools.

use super::*;
use crate::call::*;

/// Where the memory of a pool comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
#[repr(i32)]
pub enum PoolKind {
    /// The driver's pool: a released block serves other streams when it is free.
    StreamOrdered = 0,
    /// cuMemAlloc, kept in lists by kaio: a released block serves its own stream.
    Caching = 1,
}

impl PoolKind {
    pub(crate) fn from_raw(raw: i32) -> Result<PoolKind> {
        match raw {
            0 => Ok(PoolKind::StreamOrdered),
            1 => Ok(PoolKind::Caching),
            other => Err(Error::internal(format!("kaio: {} is no PoolKind that this crate knows", other))),
        }
    }
}

/// Options of a pool.
#[derive(Clone, Debug)]
pub struct PoolOptions {
    kind: PoolKind,
    limit: u64,
    keep: u64,
}

impl PoolOptions {
    /// Everything that is not set has its default.
    pub fn new() -> Self {
        PoolOptions {
            kind: PoolKind::StreamOrdered,
            limit: 0,
            keep: u64::MAX,
        }
    }

    setters! {
        /// Where the memory of a pool comes from.
        value kind(PoolKind) => kind;
        /// The most bytes in use at a time; 0: what the device has.
        value limit(u64) => limit;
        /// Bytes that stay in the pool after their release; default u64::MAX.
        value keep(u64) => keep;
    }

    pub(crate) fn raw(&self, _hold: &Hold) -> Result<sys::kaio_pool_options> {
        Ok(sys::kaio_pool_options {
            kind: self.kind as i32,
            limit: self.limit,
            keep: self.keep,
            ..Default::default()
        })
    }
}

impl Default for PoolOptions {
    fn default() -> Self {
        Self::new()
    }
}

/// Use of a pool.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct PoolStatistics {
    /// bytes.
    pub in_use: u64,
    /// bytes.
    pub most_in_use: u64,
    /// Bytes that the pool has taken from the device.
    pub reserved: u64,
    /// bytes.
    pub most_reserved: u64,
    /// So far.
    pub allocations: u64,
}

impl PoolStatistics {
    /// Texts are those of the library, which end in a zero.
    pub(crate) fn from_raw(raw: &sys::kaio_pool_statistics) -> Result<Self> {
        Ok(PoolStatistics {
            in_use: raw.in_use,
            most_in_use: raw.most_in_use,
            reserved: raw.reserved,
            most_reserved: raw.most_reserved,
            allocations: raw.allocations,
        })
    }
}
