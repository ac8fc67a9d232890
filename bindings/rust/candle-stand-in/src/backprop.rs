//! Gradients of all variables that a tensor depends on.
use crate::{Result, Tensor, TensorId};
use std::collections::{HashMap, HashSet};

#[derive(Debug)]
pub struct GradStore(HashMap<TensorId, Tensor>);

impl GradStore {
    pub fn get(&self, tensor: &Tensor) -> Option<&Tensor> {
        self.0.get(&tensor.id())
    }

    pub fn remove(&mut self, tensor: &Tensor) -> Option<Tensor> {
        self.0.remove(&tensor.id())
    }

    pub fn insert(&mut self, tensor: &Tensor, grad: Tensor) -> Option<Tensor> {
        self.0.insert(tensor.id(), grad)
    }
}

impl Tensor {
    /// Nodes in an order in which each comes before what it was computed from.
    pub fn sorted_nodes(&self) -> Vec<&Tensor> {
        fn visit<'a>(node: &'a Tensor, seen: &mut HashSet<TensorId>, order: &mut Vec<&'a Tensor>) {
            if !node.track_op() || !seen.insert(node.id()) {
                return;
            }
            for arg in node.op().iter().flat_map(|op| op.args.iter()) {
                visit(arg, seen, order);
            }
            order.push(node);
        }
        let mut order = vec![];
        visit(self, &mut HashSet::new(), &mut order);
        order.reverse();
        order
    }

    pub fn backward(&self) -> Result<GradStore> {
        let mut grads = GradStore(HashMap::new());
        grads.insert(self, self.ones_like()?);
        for node in self.sorted_nodes() {
            if node.is_variable() {
                continue;
            }
            let (Some(op), Some(grad)) = (node.op(), grads.remove(node)) else {
                continue;
            };
            let gradients = (op.backward)(&op.args, node, &grad.detach())?;
            for (arg, gradient) in op.args.iter().zip(gradients) {
                let Some(gradient) = gradient else { continue };
                let sum = match grads.remove(arg) {
                    Some(before) => before.add(&gradient)?,
                    None => gradient,
                };
                grads.insert(arg, sum);
            }
        }
        Ok(grads)
    }
}
