"""kaio as torch's flash attention: its kernels of aten operators, and their place in torch's registry and dispatcher."""

from __future__ import annotations

import pytest

torch = pytest.importorskip("torch")

import kaio.torch
from attention_reference import close, reference
from kaio.torch import _flash_attention_impl as impl
from test_attention_varlen import begins, i32, packed, reference_varlen

aten = torch.ops.aten


def heads_first(device, batches=2, heads=4, queries=6, keys=6, size=16, dtype=torch.float32):
    torch.manual_seed(0)
    shapes = ((batches, heads, queries, size), (batches, heads, keys, size), (batches, heads, keys, size))
    return [torch.randn(s).to(device, dtype) for s in shapes]


def swapped(*tensors):
    return [t.transpose(1, 2) for t in tensors]


@pytest.mark.parametrize("is_causal", [False, True])
def test_scaled_dot_product(device, is_causal):
    q, k, v = (t.requires_grad_() for t in heads_first(device))
    out, lse, cu_q, cu_k, max_q, max_k, state, offset, mask = impl.scaled_dot_product_flash_attention(
        q.detach(), k.detach(), v.detach(), is_causal=is_causal, scale=0.2
    )
    want, lse_want = reference(*swapped(q, k, v), causal=is_causal, scale=0.2)
    close(out, want.transpose(1, 2), 1e-5)
    close(lse, lse_want, 1e-5)
    assert (cu_q, cu_k, max_q, max_k) == (None, None, 6, 6)
    assert state.dtype == torch.uint64 and state.shape == (2,) and offset.shape == () and mask.numel() == 0
    dout = torch.randn_like(out)
    got = impl.scaled_dot_product_flash_attention_backward(
        dout, q.detach(), k.detach(), v.detach(), out, lse, None, None, 6, 6, 0.0, is_causal, state, offset, scale=0.2
    )
    for a, b in zip(got, torch.autograd.grad(want, (q, k, v), dout.transpose(1, 2).double())):
        close(a, b, 1e-4)


def test_layout_of_the_result_is_that_of_the_meta_kernel(device):
    """torch.compile takes strides from the fake of the aten operator."""
    for q, k, v in (heads_first(device), [t.transpose(1, 2).contiguous().transpose(1, 2) for t in heads_first(device)]):
        meta = aten._scaled_dot_product_flash_attention(*(t.to("meta", torch.float16) for t in (q, k, v)))
        got = impl.scaled_dot_product_flash_attention(q.half(), k.half(), v.half())
        for a, b in zip(got[:2], meta[:2]):
            assert a.shape == b.shape and a.stride() == b.stride() and a.dtype == b.dtype


def test_forward_of_all_kinds(device):
    """Dense, packed, paged, and with used lengths; windows, ALiBi; bottom right alignment."""
    q, k, v = (t.transpose(1, 2) for t in heads_first(device, queries=3, keys=9))
    slopes = torch.rand(4, device=device)
    out, lse, *_ = impl.flash_attention_forward(
        q, k, v, None, None, 3, 9, 0.0, True, False, alibi_slopes=slopes, window_size_left=4
    )
    want, lse_want = reference(q, k, v, causal=True, window=(4, -1), alibi=slopes)
    close(out, want, 1e-5)
    close(lse, lse_want, 1e-5)
    used = i32(device, 5, 9)
    out = impl.flash_attention_forward(q, k, v, None, None, 3, 9, 0.0, True, False, seqused_k=used, num_splits=1)[0]
    for b, n in enumerate((5, 9)):
        close(out[b : b + 1], reference(q[b : b + 1], k[b : b + 1, :n], v[b : b + 1, :n], causal=True)[0], 1e-5)
    q, k, v = packed(device, [3, 5], [6, 4])
    cu_q, cu_k = begins(device, [3, 5]), begins(device, [6, 4])
    want, lse_want = reference_varlen(q, k, v, [3, 5], [6, 4], causal=True)
    q_raw, k_raw, v_raw = (t.detach() for t in (q, k, v))
    out, lse, state, offset, _ = impl.flash_attention_forward(q_raw, k_raw, v_raw, cu_q, cu_k, 5, 6, 0.0, True, False)
    close(out, want, 1e-5)
    close(lse, lse_want, 1e-5)
    dout = torch.randn_like(out)
    got = impl.flash_attention_backward(dout, q_raw, k_raw, v_raw, out, lse, cu_q, cu_k, 5, 6, 0.0, True, state, offset)
    for a, b in zip(got, torch.autograd.grad(want, (q, k, v), dout.double())):
        close(a, b, 1e-4)
    memory = torch.empty_like(out)
    assert torch.equal(impl.flash_attention_forward_inplace(memory, q_raw, k_raw, v_raw, cu_q, cu_k, 5, 6, 0.0, True, False), lse)
    assert torch.equal(memory, out)
    # Two pages of three rows each, in reverse order.
    table = i32(device, 1, 0, 3, 2).reshape(2, 2)
    pages = [
        torch.cat([t[3:6], t[:3], t[9:10], t.new_full((2, 1, 8), float("nan")), t[6:9]]).reshape(4, 3, 1, 8)
        for t in (k_raw, v_raw)
    ]
    out = impl.flash_attention_forward(
        q_raw, *pages, cu_q, None, 5, 6, 0.0, True, False, seqused_k=i32(device, 6, 4), block_table=table
    )[0]
    close(out, want, 1e-5)


def test_refusals(device):
    q, k, v = heads_first(device)
    with pytest.raises(RuntimeError, match="dropout_p is not 0"):
        impl.scaled_dot_product_flash_attention(q, k, v, 0.1)
    with pytest.raises(RuntimeError, match="return_debug_mask"):
        impl.flash_attention_forward(q, k, v, None, None, 6, 6, 0.0, False, True)
    with pytest.raises(RuntimeError, match="block_table without seqused_k"):
        impl.flash_attention_forward(
            q[0], k, v, i32(device, 0, 4), None, 6, 6, 0.0, False, False, block_table=i32(device, 0)[None]
        )


def test_dispatch():
    """torch's dispatcher calls kaio until the handle is removed. The CPU has no such kernels of torch."""
    q, k, v = (t.transpose(1, 2) for t in heads_first("cpu"))
    call = (q, k, v, None, None, 6, 6, 0.0, True, False)
    with pytest.raises(NotImplementedError):
        aten._flash_attention_forward(*call)
    handle = impl._Handle("CPU", ("_flash_attention_forward", "_flash_attention_backward"))
    try:
        out, lse, state, offset, _ = aten._flash_attention_forward(*call)
        close(out, reference(q, k, v, causal=True)[0], 1e-5)
        leaves = [t.detach().clone().requires_grad_() for t in (q, k, v)]
        want = reference(*leaves, causal=True)[0]
        got = aten._flash_attention_forward(*leaves, *call[3:])[0]
        for a, b in zip(torch.autograd.grad(got.sum(), leaves), torch.autograd.grad(want.sum(), leaves)):
            close(a, b, 1e-4)
    finally:
        handle.remove()
    with pytest.raises(NotImplementedError):
        aten._flash_attention_forward(*call)


def test_registry():
    attention = torch.nn.attention
    if not hasattr(attention, "register_flash_attention_impl"):
        with pytest.raises(NotImplementedError, match="register_flash_attention_impl"):
            kaio.torch.register_flash_attention_impl()
        return
    kaio.torch.register_flash_attention_impl()
    assert "KAIO" in attention.list_flash_attention_impls()
    attention.activate_flash_attention_impl("KAIO")
    try:
        assert attention.current_flash_attention_impl() == "KAIO"
        for name in impl._KERNELS:
            assert not hasattr(aten, name) or torch._C._dispatch_has_kernel_for_dispatch_key(f"aten::{name}", "CUDA")
    finally:
        attention.restore_flash_attention_impl()
    assert attention.current_flash_attention_impl() is None


@pytest.mark.skipif(not torch.cuda.is_available(), reason="torch's flash attention needs a GPU")
def test_sdpa_on_a_gpu():
    attention = torch.nn.attention
    if not hasattr(attention, "register_flash_attention_impl"):
        pytest.skip("this torch has no registry of flash attention")
    q, k, v = (t.requires_grad_() for t in heads_first("cuda", dtype=torch.float16, queries=128, keys=128, size=64))
    kaio.torch.register_flash_attention_impl()
    attention.activate_flash_attention_impl("KAIO")
    try:
        with attention.sdpa_kernel(attention.SDPBackend.FLASH_ATTENTION):
            out = torch.nn.functional.scaled_dot_product_attention(q, k, v, is_causal=True)
            gradients = torch.autograd.grad(out.sum(), (q, k, v))
    finally:
        attention.restore_flash_attention_impl()
    assert torch.equal(out, kaio.torch.attention(*swapped(q, k, v), causal=True).transpose(1, 2))
    want = reference(*swapped(q, k, v), causal=True)[0]
    for a, b in zip(gradients, torch.autograd.grad(want.sum(), (q, k, v))):
        close(a, b, 1e-2)
