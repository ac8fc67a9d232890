//! Shapes, and dimensions counted from either end.
use crate::{Error, Result};

#[derive(Clone, PartialEq, Eq)]
pub struct Shape(Vec<usize>);

impl std::fmt::Debug for Shape {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{:?}", self.0)
    }
}

impl<const C: usize> From<&[usize; C]> for Shape {
    fn from(dims: &[usize; C]) -> Self {
        Self(dims.to_vec())
    }
}

impl From<&[usize]> for Shape {
    fn from(dims: &[usize]) -> Self {
        Self(dims.to_vec())
    }
}

impl From<&Shape> for Shape {
    fn from(shape: &Shape) -> Self {
        shape.clone()
    }
}

impl From<()> for Shape {
    fn from(_: ()) -> Self {
        Self(vec![])
    }
}

impl From<usize> for Shape {
    fn from(d: usize) -> Self {
        Self(vec![d])
    }
}

impl From<Vec<usize>> for Shape {
    fn from(dims: Vec<usize>) -> Self {
        Self(dims)
    }
}

macro_rules! impl_from_tuple {
    ($tuple:ty, $($index:tt),+) => {
        impl From<$tuple> for Shape {
            fn from(d: $tuple) -> Self {
                Self(vec![$(d.$index),+])
            }
        }
    };
}
impl_from_tuple!((usize,), 0);
impl_from_tuple!((usize, usize), 0, 1);
impl_from_tuple!((usize, usize, usize), 0, 1, 2);
impl_from_tuple!((usize, usize, usize, usize), 0, 1, 2, 3);
impl_from_tuple!((usize, usize, usize, usize, usize), 0, 1, 2, 3, 4);

macro_rules! extract_dims {
    ($fn_name:ident, $cnt:tt, $dims:expr, $out_type:ty) => {
        impl Shape {
            pub fn $fn_name(&self) -> Result<$out_type> {
                if self.0.len() != $cnt {
                    crate::bail!(
                        "unexpected rank, expected: {}, got: {} ({:?})",
                        $cnt,
                        self.0.len(),
                        self
                    )
                }
                let dims: fn(&[usize]) -> $out_type = $dims;
                Ok(dims(&self.0))
            }
        }
        impl crate::Tensor {
            pub fn $fn_name(&self) -> Result<$out_type> {
                self.shape().$fn_name()
            }
        }
    };
}
extract_dims!(dims1, 1, |d: &[usize]| d[0], usize);
extract_dims!(dims2, 2, |d: &[usize]| (d[0], d[1]), (usize, usize));
extract_dims!(dims3, 3, |d: &[usize]| (d[0], d[1], d[2]), (usize, usize, usize));
extract_dims!(
    dims4,
    4,
    |d: &[usize]| (d[0], d[1], d[2], d[3]),
    (usize, usize, usize, usize)
);

impl Shape {
    pub fn from_dims(dims: &[usize]) -> Self {
        Self(dims.to_vec())
    }

    pub fn rank(&self) -> usize {
        self.0.len()
    }

    pub fn dims(&self) -> &[usize] {
        &self.0
    }

    pub fn dim<D: Dim>(&self, dim: D) -> Result<usize> {
        let dim = dim.to_index(self, "dim")?;
        Ok(self.0[dim])
    }

    pub fn elem_count(&self) -> usize {
        self.0.iter().product()
    }

    pub(crate) fn stride_contiguous(&self) -> Vec<usize> {
        let mut strides = vec![1; self.0.len()];
        for d in (1..self.0.len()).rev() {
            strides[d - 1] = strides[d] * self.0[d];
        }
        strides
    }

    pub fn broadcast_shape_binary_op(&self, rhs: &Self, op: &'static str) -> Result<Shape> {
        let rank = self.rank().max(rhs.rank());
        let mut dims = vec![1; rank];
        for (i, extent) in dims.iter_mut().enumerate() {
            let at = |shape: &Shape| (i + shape.rank()).checked_sub(rank).map_or(1, |d| shape.0[d]);
            *extent = match (at(self), at(rhs)) {
                (a, b) if a == b => a,
                (1, b) => b,
                (a, 1) => a,
                _ => crate::bail!("shape mismatch in {op}, lhs: {self:?}, rhs: {rhs:?}"),
            };
        }
        Ok(Shape(dims))
    }
}

pub trait Dim {
    fn to_index(&self, shape: &Shape, op: &'static str) -> Result<usize>;
    fn to_index_plus_one(&self, shape: &Shape, op: &'static str) -> Result<usize>;
}

fn index(from_start: Option<usize>, end: usize, shape: &Shape, dim: i32, op: &'static str) -> Result<usize> {
    match from_start {
        Some(index) if index < end => Ok(index),
        _ => Err(Error::DimOutOfRange {
            shape: shape.clone(),
            dim,
            op,
        }
        .bt()),
    }
}

impl Dim for usize {
    fn to_index(&self, shape: &Shape, op: &'static str) -> Result<usize> {
        index(Some(*self), shape.rank(), shape, *self as i32, op)
    }

    fn to_index_plus_one(&self, shape: &Shape, op: &'static str) -> Result<usize> {
        index(Some(*self), shape.rank() + 1, shape, *self as i32, op)
    }
}

#[derive(Debug, Copy, Clone, PartialEq, Eq, Hash)]
pub enum D {
    Minus1,
    Minus2,
    Minus(usize),
}

impl D {
    fn back(&self) -> usize {
        match self {
            Self::Minus1 => 1,
            Self::Minus2 => 2,
            Self::Minus(u) => *u,
        }
    }
}

impl Dim for D {
    fn to_index(&self, shape: &Shape, op: &'static str) -> Result<usize> {
        let back = self.back();
        index(
            shape.rank().checked_sub(back),
            shape.rank(),
            shape,
            -(back as i32),
            op,
        )
    }

    fn to_index_plus_one(&self, shape: &Shape, op: &'static str) -> Result<usize> {
        let back = self.back();
        index(
            (shape.rank() + 1).checked_sub(back),
            shape.rank() + 1,
            shape,
            -(back as i32),
            op,
        )
    }
}

pub trait Dims: Sized {
    fn to_indexes_internal(self, shape: &Shape, op: &'static str) -> Result<Vec<usize>>;

    fn to_indexes(self, shape: &Shape, op: &'static str) -> Result<Vec<usize>> {
        self.to_indexes_internal(shape, op)
    }
}

impl<const N: usize> Dims for [usize; N] {
    fn to_indexes_internal(self, shape: &Shape, op: &'static str) -> Result<Vec<usize>> {
        self.iter().map(|d| d.to_index(shape, op)).collect()
    }
}

impl Dims for Vec<usize> {
    fn to_indexes_internal(self, shape: &Shape, op: &'static str) -> Result<Vec<usize>> {
        self.iter().map(|d| d.to_index(shape, op)).collect()
    }
}

impl<D: Dim + Sized> Dims for D {
    fn to_indexes_internal(self, shape: &Shape, op: &'static str) -> Result<Vec<usize>> {
        Ok(vec![self.to_index(shape, op)?])
    }
}

macro_rules! dims_of_tuple {
    ($($d:ident $i:tt),+) => {
        impl<$($d: Dim),+> Dims for ($($d,)+) {
            fn to_indexes_internal(self, shape: &Shape, op: &'static str) -> Result<Vec<usize>> {
                Ok(vec![$(self.$i.to_index(shape, op)?),+])
            }
        }
    };
}
dims_of_tuple!(D1 0, D2 1);
dims_of_tuple!(D1 0, D2 1, D3 2);
dims_of_tuple!(D1 0, D2 1, D3 2, D4 3);
dims_of_tuple!(D1 0, D2 1, D3 2, D4 3, D5 4);

pub trait ShapeWithOneHole {
    fn into_shape(self, el_count: usize) -> Result<Shape>;
}

impl<S: Into<Shape>> ShapeWithOneHole for S {
    fn into_shape(self, el_count: usize) -> Result<Shape> {
        let shape = self.into();
        if shape.elem_count() != el_count {
            return Err(Error::ShapeMismatch {
                buffer_size: el_count,
                shape,
            }
            .bt());
        }
        Ok(shape)
    }
}

fn hole_size(el_count: usize, prod_d: usize, s: &dyn std::fmt::Debug) -> Result<usize> {
    if prod_d == 0 || el_count % prod_d != 0 {
        crate::bail!("cannot reshape tensor with {el_count} elements to {s:?}")
    }
    Ok(el_count / prod_d)
}

impl ShapeWithOneHole for ((), usize) {
    fn into_shape(self, el_count: usize) -> Result<Shape> {
        let ((), d1) = self;
        Ok((hole_size(el_count, d1, &self)?, d1).into())
    }
}
