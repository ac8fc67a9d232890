//! Arithmetic of tensors, with gradients.
use crate::op::BackpropOp;
use crate::shape::{Dim, Dims};
use crate::{bail, Result, Tensor};

macro_rules! unary_op {
    ($fn_name:ident, $op_name:ident, $value:expr, $slope:expr) => {
        pub fn $fn_name(&self) -> Result<Self> {
            let value: fn(f64) -> f64 = $value;
            // The derivative by x, from x and y.
            let slope: fn(f64, f64) -> f64 = $slope;
            let op = BackpropOp::new(&[self], move |args, res, grad| {
                let slopes = args[0].zip(res, slope)?;
                Ok(vec![Some(grad.mul(&slopes)?)])
            });
            self.computed(
                self.values()?.iter().map(|&x| value(x)).collect(),
                self.shape(),
                op,
            )
        }
    };
}

macro_rules! binary_op {
    ($fn_name:ident, $op_name:ident, $value:expr, $gradients:expr) => {
        pub fn $fn_name(&self, rhs: &Self) -> Result<Self> {
            let gradients: fn(&Tensor, &Tensor, &Tensor) -> Result<(Tensor, Tensor)> = $gradients;
            let op = BackpropOp::new(&[self, rhs], move |args, _, grad| {
                let (l, r) = gradients(&args[0], &args[1], grad)?;
                Ok(vec![Some(l), Some(r)])
            });
            let out = self.zip(rhs, $value)?;
            Ok(out.viewed(out.layout().clone(), op))
        }
    };
}

macro_rules! broadcast_binary_op {
    ($fn_name:ident, $inner_fn_name:ident) => {
        pub fn $fn_name(&self, rhs: &Self) -> Result<Self> {
            let shape = self
                .shape()
                .broadcast_shape_binary_op(rhs.shape(), stringify!($fn_name))?;
            self.broadcast_as(&shape)?
                .$inner_fn_name(&rhs.broadcast_as(&shape)?)
        }
    };
}

impl Tensor {
    binary_op!(add, Add, |l, r| l + r, |_, _, grad| Ok((
        grad.clone(),
        grad.clone()
    )));
    binary_op!(sub, Sub, |l, r| l - r, |_, _, grad| Ok((
        grad.clone(),
        grad.neg()?
    )));
    binary_op!(mul, Mul, |l, r| l * r, |l, r, grad| Ok((
        grad.mul(&r.detach())?,
        grad.mul(&l.detach())?
    )));
    binary_op!(div, Div, |l, r| l / r, |l, r, grad| {
        let (l, r) = (l.detach(), r.detach());
        Ok((grad.div(&r)?, grad.mul(&l)?.div(&r.sqr()?)?.neg()?))
    });
    broadcast_binary_op!(broadcast_add, add);
    broadcast_binary_op!(broadcast_mul, mul);
    broadcast_binary_op!(broadcast_sub, sub);
    broadcast_binary_op!(broadcast_div, div);

    unary_op!(exp, Exp, f64::exp, |_, y| y);
    unary_op!(log, Log, f64::ln, |x, _| 1.0 / x);
    unary_op!(sin, Sin, f64::sin, |x, _| x.cos());
    unary_op!(cos, Cos, f64::cos, |x, _| -x.sin());
    unary_op!(tanh, Tanh, f64::tanh, |_, y| 1.0 - y * y);
    unary_op!(neg, Neg, |x| -x, |_, _| -1.0);
    unary_op!(recip, Recip, |x| 1.0 / x, |_, y| -y * y);
    unary_op!(sqr, Sqr, |x| x * x, |x, _| 2.0 * x);
    unary_op!(sqrt, Sqrt, f64::sqrt, |_, y| 0.5 / y);
    unary_op!(relu, Relu, |x| x.max(0.0), |x, _| f64::from(u8::from(x > 0.0)));
    unary_op!(silu, Silu, |x| x / (1.0 + (-x).exp()), |x, y| {
        let s = 1.0 / (1.0 + (-x).exp());
        s + y * (1.0 - s)
    });

    pub fn affine(&self, mul: f64, add: f64) -> Result<Self> {
        let op = BackpropOp::new(&[self], move |_, _, grad| Ok(vec![Some(grad.affine(mul, 0.0)?)]));
        self.computed(
            self.values()?.iter().map(|x| x * mul + add).collect(),
            self.shape(),
            op,
        )
    }

    fn reduced(&self, dim: usize, f: impl Fn(f64, f64) -> f64, start: f64) -> Result<(Vec<f64>, Vec<usize>)> {
        let mut dims = self.dims().to_vec();
        let extent = std::mem::replace(&mut dims[dim], 1);
        let inner: usize = dims[dim..].iter().product();
        let mut out = vec![start; dims.iter().product()];
        for (i, value) in self.values()?.into_iter().enumerate() {
            let at = i / (inner * extent) * inner + i % inner;
            out[at] = f(out[at], value);
        }
        Ok((out, dims))
    }

    pub fn sum_keepdim<D: Dims>(&self, sum_dims: D) -> Result<Self> {
        let mut out = self.clone();
        for dim in sum_dims.to_indexes(self.shape(), "sum")? {
            let (values, dims) = out.reduced(dim, |a, b| a + b, 0.0)?;
            let op = BackpropOp::new(&[&out], |args, _, grad| {
                Ok(vec![Some(grad.broadcast_as(args[0].shape())?)])
            });
            out = out.computed(values, &dims.into(), op)?;
        }
        Ok(out)
    }

    pub fn sum<D: Dims>(&self, sum_dims: D) -> Result<Self> {
        let mut dims = sum_dims.to_indexes(self.shape(), "sum")?;
        let mut out = self.sum_keepdim(dims.clone())?;
        dims.sort_unstable();
        for &dim in dims.iter().rev() {
            out = out.squeeze(dim)?;
        }
        Ok(out)
    }

    pub fn mean_keepdim<D: Dims>(&self, mean_dims: D) -> Result<Self> {
        let dims = mean_dims.to_indexes(self.shape(), "mean")?;
        let count: usize = dims.iter().map(|&d| self.dims()[d]).product();
        self.sum_keepdim(dims)?.affine(1.0 / count as f64, 0.0)
    }

    /// Has no gradient here; in candle it has.
    pub fn max_keepdim<D: Dim>(&self, dim: D) -> Result<Self> {
        let dim = dim.to_index(self.shape(), "max")?;
        let (values, dims) = self.reduced(dim, f64::max, f64::NEG_INFINITY)?;
        self.computed(values, &dims.into(), BackpropOp::none())
    }

    pub fn sum_all(&self) -> Result<Tensor> {
        self.flatten_all()?.sum(0)
    }

    pub fn mean_all(&self) -> Result<Tensor> {
        self.sum_all()?.affine(1.0 / self.elem_count() as f64, 0.0)
    }

    pub fn matmul(&self, rhs: &Self) -> Result<Self> {
        let (a, b) = (self.dims(), rhs.dims());
        let rank = a.len();
        if rank < 2 || b.len() != rank || a[..rank - 2] != b[..rank - 2] || a[rank - 1] != b[rank - 2] {
            bail!(
                "shape mismatch in matmul, lhs: {:?}, rhs: {:?}",
                self.shape(),
                rhs.shape()
            )
        }
        if self.dtype() != rhs.dtype() {
            bail!(
                "dtype mismatch in matmul, lhs: {:?}, rhs: {:?}",
                self.dtype(),
                rhs.dtype()
            )
        }
        let (batch, m, k, n) = (
            a[..rank - 2].iter().product::<usize>(),
            a[rank - 2],
            a[rank - 1],
            b[rank - 1],
        );
        let (l, r) = (self.values()?, rhs.values()?);
        let mut values = vec![0.0; batch * m * n];
        for (at, value) in values.iter_mut().enumerate() {
            let (z, i, j) = (at / (m * n), at / n % m, at % n);
            *value = (0..k)
                .map(|s| l[(z * m + i) * k + s] * r[(z * k + s) * n + j])
                .sum();
        }
        let mut dims = a.to_vec();
        dims[rank - 1] = n;
        let op = BackpropOp::new(&[self, rhs], |args, _, grad| {
            Ok(vec![
                Some(grad.matmul(&args[1].detach().t()?)?),
                Some(args[0].detach().t()?.matmul(grad)?),
            ])
        });
        self.computed(values, &dims.into(), op)
    }

    pub fn index_select<D: Dim>(&self, indexes: &Self, dim: D) -> Result<Self> {
        let dim = dim.to_index(self.shape(), "index_select")?;
        let picked: Vec<usize> = indexes.values()?.iter().map(|&v| v as usize).collect();
        let mut parts = vec![];
        for &index in &picked {
            parts.push(self.narrow(dim, index, 1)?);
        }
        Self::cat(&parts, dim)
    }

    pub fn where_cond(&self, on_true: &Self, on_false: &Self) -> Result<Self> {
        let keep = self.to_dtype(on_true.dtype())?.affine(1.0, 0.0)?.detach();
        let values: Vec<f64> = keep
            .values()?
            .iter()
            .map(|&v| f64::from(u8::from(v != 0.0)))
            .collect();
        let keep = on_true.computed(values.clone(), on_true.shape(), BackpropOp::none())?;
        let op = BackpropOp::new(&[on_true, on_false], move |_, _, grad| {
            Ok(vec![
                Some(grad.mul(&keep)?),
                Some(grad.mul(&keep.affine(-1.0, 1.0)?)?),
            ])
        });
        let (t, f) = (on_true.values()?, on_false.values()?);
        let values = (0..values.len())
            .map(|i| if values[i] != 0.0 { t[i] } else { f[i] })
            .collect();
        on_true.computed(values, on_true.shape(), op)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{DType, Device};

    #[test]
    fn halves_round_to_even_and_back() -> Result<()> {
        let x = Tensor::new_f32(&[1.0, 1.0 + 1.0 / 2048.0, 65519.0, 65520.0, 1e-8, -2.5])?;
        let y = x.to_dtype(DType::F16)?.to_dtype(DType::F32)?.to_vec1::<f32>()?;
        assert_eq!(y, [1.0, 1.0, 65504.0, f32::INFINITY, 0.0, -2.5]);
        let y = x
            .to_dtype(DType::F8E4M3)?
            .to_dtype(DType::F32)?
            .to_vec1::<f32>()?;
        assert_eq!(y, [1.0, 1.0, 448.0, 448.0, 0.0, -2.5]);
        Ok(())
    }

    #[test]
    fn gradients_of_views_and_products() -> Result<()> {
        let a = crate::Var::from_tensor(&Tensor::new_f32(&[1.0, 2.0, 3.0, 4.0])?.reshape((2, 2))?)?;
        let loss = a
            .t()?
            .matmul(&a.narrow(0, 1, 1)?.broadcast_as((2, 2))?)?
            .sum_all()?;
        let grads = loss.backward()?;
        // The loss is (3 + 4) * (1 + 2 + 3 + 4).
        assert_eq!(
            grads.get(&a).unwrap().to_vec2::<f32>()?,
            [[7.0, 7.0], [17.0, 17.0]]
        );
        Ok(())
    }

    impl Tensor {
        fn new_f32(values: &[f32]) -> Result<Self> {
            Self::from_slice(values, values.len(), &Device::Cpu)
        }
    }
}
