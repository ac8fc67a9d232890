// Made by bindings/rust/generate.py from src/c/operations/pool.json.

// kaio_pool_kind: Where the memory of a pool comes from.
/// The driver's pool: a released block serves other streams when it is free.
pub const KAIO_POOL_KIND_STREAM_ORDERED: i32 = 0;
/// cuMemAlloc, kept in lists by kaio: a released block serves its own stream.
pub const KAIO_POOL_KIND_CACHING: i32 = 1;

/// Options of a pool.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct kaio_pool_options {
    /// `size_of::<kaio_pool_options>()`.
    pub size: u32,
    /// kaio_pool_kind.
    pub kind: i32,
    /// The most bytes in use at a time; 0: what the device has.
    pub limit: u64,
    /// Default UINT64_MAX; bytes that stay in the pool after their release.
    pub keep: u64,
}

impl Default for kaio_pool_options {
    fn default() -> Self {
        Self {
            size: core::mem::size_of::<Self>() as u32,
            kind: 0,
            limit: 0,
            keep: u64::MAX,
        }
    }
}

/// Use of a pool.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct kaio_pool_statistics {
    /// `size_of::<kaio_pool_statistics>()`.
    pub size: u32,
    /// 0.
    pub reserved_4: i32,
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

impl Default for kaio_pool_statistics {
    fn default() -> Self {
        Self {
            size: core::mem::size_of::<Self>() as u32,
            reserved_4: 0,
            in_use: 0,
            most_in_use: 0,
            reserved: 0,
            most_reserved: 0,
            allocations: 0,
        }
    }
}
