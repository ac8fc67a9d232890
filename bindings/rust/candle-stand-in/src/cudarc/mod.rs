//! The parts of cudarc 0.19 that candle's CUDA storage shows, over the driver that the loader finds.
pub mod driver;
mod library;
