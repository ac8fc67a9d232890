//! Shape, strides and offset of a tensor in its storage, in elements.
use crate::{shape::Dim, Result, Shape};

#[derive(Debug, PartialEq, Eq, Clone)]
pub struct Layout {
    shape: Shape,
    stride: Vec<usize>,
    start_offset: usize,
}

impl Layout {
    pub fn new(shape: Shape, stride: Vec<usize>, start_offset: usize) -> Self {
        Self {
            shape,
            stride,
            start_offset,
        }
    }

    pub fn contiguous_with_offset<S: Into<Shape>>(shape: S, start_offset: usize) -> Self {
        let shape = shape.into();
        let stride = shape.stride_contiguous();
        Self {
            shape,
            stride,
            start_offset,
        }
    }

    pub fn contiguous<S: Into<Shape>>(shape: S) -> Self {
        Self::contiguous_with_offset(shape, 0)
    }

    pub fn dims(&self) -> &[usize] {
        self.shape.dims()
    }

    pub fn dim<D: crate::shape::Dim>(&self, dim: D) -> Result<usize> {
        self.shape.dim(dim)
    }

    pub fn shape(&self) -> &Shape {
        &self.shape
    }

    pub fn stride(&self) -> &[usize] {
        &self.stride
    }

    pub fn start_offset(&self) -> usize {
        self.start_offset
    }

    pub fn is_contiguous(&self) -> bool {
        let contiguous = self.shape.stride_contiguous();
        (0..self.stride.len()).all(|d| self.dims()[d] == 1 || self.stride[d] == contiguous[d])
    }

    pub fn narrow(&self, dim: usize, start: usize, len: usize) -> Result<Self> {
        if start + len > self.shape.dim(dim)? {
            crate::bail!(
                "invalid narrow of {:?}: dimension {dim}, {start} + {len}",
                self.shape
            )
        }
        let mut dims = self.dims().to_vec();
        dims[dim] = len;
        let offset = self.start_offset + self.stride[dim] * start;
        Ok(Self::new(dims.into(), self.stride.clone(), offset))
    }

    pub fn transpose(&self, dim1: usize, dim2: usize) -> Result<Self> {
        let mut order: Vec<usize> = (0..self.shape.rank()).collect();
        order.swap(
            dim1.to_index(&self.shape, "transpose")?,
            dim2.to_index(&self.shape, "transpose")?,
        );
        self.permute(&order)
    }

    pub fn permute(&self, idxs: &[usize]) -> Result<Self> {
        let mut sorted = idxs.to_vec();
        sorted.sort_unstable();
        if sorted != (0..self.shape.rank()).collect::<Vec<_>>() {
            crate::bail!("dimensions {idxs:?} do not permute {:?}", self.shape)
        }
        let pick = |of: &[usize]| idxs.iter().map(|&i| of[i]).collect::<Vec<_>>();
        Ok(Self::new(
            pick(self.dims()).into(),
            pick(&self.stride),
            self.start_offset,
        ))
    }

    pub fn broadcast_as<S: Into<Shape>>(&self, shape: S) -> Result<Self> {
        let shape = shape.into();
        let Some(added) = shape.rank().checked_sub(self.shape.rank()) else {
            crate::bail!("cannot broadcast {:?} to {shape:?}", self.shape)
        };
        let mut stride = vec![0; shape.rank()];
        for (d, &extent) in self.dims().iter().enumerate() {
            stride[added + d] = match shape.dims()[added + d] {
                to if to == extent => self.stride[d],
                _ if extent == 1 => 0,
                _ => crate::bail!("cannot broadcast {:?} to {shape:?}", self.shape),
            };
        }
        Ok(Self::new(shape, stride, self.start_offset))
    }

    /// The place of each element in the storage, row by row.
    pub(crate) fn places(&self) -> Vec<usize> {
        let mut places = vec![self.start_offset];
        for (&extent, &stride) in self.dims().iter().zip(&self.stride) {
            places = places
                .iter()
                .flat_map(|&p| (0..extent).map(move |i| p + i * stride))
                .collect();
        }
        places
    }
}
