//! Errors: the variants that kaio-candle makes or matches.
use crate::{DType, Shape};

pub enum Error {
    UnexpectedDType {
        msg: &'static str,
        expected: DType,
        got: DType,
    },
    DimOutOfRange {
        shape: Shape,
        dim: i32,
        op: &'static str,
    },
    ShapeMismatch {
        buffer_size: usize,
        shape: Shape,
    },
    BackwardNotSupported {
        op: &'static str,
    },
    Cuda(Box<dyn std::error::Error + Send + Sync>),
    Msg(String),
}

pub type Result<T> = std::result::Result<T, Error>;

impl std::fmt::Display for Error {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::UnexpectedDType { msg, expected, got } => {
                write!(f, "{msg}, expected: {expected:?}, got: {got:?}")
            }
            Self::DimOutOfRange { shape, dim, op } => {
                write!(f, "{op}: dimension index {dim} out of range for shape {shape:?}")
            }
            Self::ShapeMismatch { buffer_size, shape } => {
                write!(f, "shape mismatch: {buffer_size} elements do not fit {shape:?}")
            }
            Self::BackwardNotSupported { op } => write!(f, "backward is not supported for {op}"),
            Self::Cuda(inner) => write!(f, "{inner}"),
            Self::Msg(text) => write!(f, "{text}"),
        }
    }
}

impl std::fmt::Debug for Error {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{self}")
    }
}

impl std::error::Error for Error {}

impl Error {
    pub fn msg(err: impl std::fmt::Display) -> Self {
        Self::Msg(err.to_string()).bt()
    }

    pub fn bt(self) -> Self {
        self
    }
}

#[macro_export]
macro_rules! bail {
    ($msg:literal $(,)?) => {
        return Err($crate::Error::Msg(format!($msg)).bt())
    };
    ($fmt:expr, $($arg:tt)*) => {
        return Err($crate::Error::Msg(format!($fmt, $($arg)*)).bt())
    };
}
