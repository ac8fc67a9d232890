"""Peers of the benchmark of attention's gradients: torch's scaled_dot_product_attention by cuDNN and by FlashAttention-2, each with
and without deterministic algorithms; its memory-efficient kernel; FlexAttention under torch.compile; varlen_attn; and
FlashAttention-3 if it is installed.

A peer takes torch and a case of peers.py. It returns None if it cannot compute the case, otherwise a function of (q, k, v), each
(B, S, H, D) or packed (rows, H, D). That function runs the attention once, and returns the function that computes the
gradients. For grouped heads torch's kernels take K and V repeated; repeating them, and summing dK and dV of a group, is not
timed.
"""


def repeated(torch, case, x):
    return x.repeat_interleave(case["heads"] // case["key_heads"], dim=2) if case["grouped"] else x


def random_like(torch, x):
    """Random numbers from a generator of its own: see contestants() of peers.py."""
    return torch.empty_like(x).normal_(generator=torch.Generator(device="cuda"))


def by_operator(name, deterministic):
    """torch's operators, which autograd calls, without autograd."""
    def peer(torch, case):
        if case["work"] not in ("full", "causal") or case["type"] == "f32":
            return None

        def prepare(q, k, v):
            q, k, v = (x.transpose(1, 2) for x in (q, repeated(torch, case, k), repeated(torch, case, v)))
            operators = torch.ops.aten
            if name == "cudnn":
                out, lse, cu_q, cu_k, max_q, max_k, seed, offset, _ = operators._scaled_dot_product_cudnn_attention(
                    q, k, v, None, True, 0.0, case["causal"], False)
                backward, rest = operators._scaled_dot_product_cudnn_attention_backward, (
                    seed, offset, None, cu_q, cu_k, max_q, max_k, 0.0, case["causal"])
            else:
                out, lse, cu_q, cu_k, max_q, max_k, seed, offset, _ = operators._scaled_dot_product_flash_attention(
                    q, k, v, 0.0, case["causal"], False)
                backward, rest = operators._scaled_dot_product_flash_attention_backward, (
                    cu_q, cu_k, max_q, max_k, 0.0, case["causal"], seed, offset)
            dout = random_like(torch, out)

            def run():
                torch.use_deterministic_algorithms(deterministic)
                try:
                    return backward(dout, q, k, v, out, lse, *rest)
                finally:
                    torch.use_deterministic_algorithms(False)

            return run
        return prepare
    return peer


def by_autograd(forward):
    """The gradients of a peer of peers.py, through autograd."""
    def peer(torch, case):
        attention = forward(torch, case)
        if attention is None:
            return None

        def prepare(q, k, v):
            inputs = [x.detach().requires_grad_() for x in (q, k, v)]
            out = attention(*inputs)
            dout = random_like(torch, out)
            return lambda: torch.autograd.grad(out, inputs, dout, retain_graph=True)

        return prepare
    return peer


def peers_of(forward):
    """{name: peer}, from the peers of peers.py."""
    return {"cudnn": by_operator("cudnn", False), "cudnn_deterministic": by_operator("cudnn", True),
            "flash": by_operator("flash", False), "flash_deterministic": by_operator("flash", True),
            "efficient": by_autograd(forward["efficient"]), "flex": by_autograd(forward["flex"]),
            "varlen": by_autograd(forward["varlen"]), "flash_3": by_autograd(forward["flash_3"])}
