"""Scores and masks by name, and block masks: kaio's and FlexAttention's."""

from __future__ import annotations

import pytest

torch = pytest.importorskip("torch")

import kaio
import kaio.torch
from attention_reference import close, kept, reference

attention = kaio.torch.attention


def made(device, batches=2, queries=9, keys=9, heads=2, kv_heads=1, size=8, dtype=torch.float32):
    torch.manual_seed(0)
    shapes = ((batches, queries, heads, size), (batches, keys, kv_heads, size), (batches, keys, kv_heads, size))
    return [torch.randn(s).to(device, dtype).requires_grad_() for s in shapes]


def compare(tensors, got, want, tolerance=1e-4):
    close(got, want, tolerance, "out")
    dout = torch.randn_like(got)
    gradients = torch.autograd.grad(got, tensors, dout)
    for index, (a, b) in enumerate(zip(gradients, torch.autograd.grad(want, tensors, dout.double()))):
        close(a, b, tolerance, f"gradient {index}")


def test_names_without_values(device):
    q, k, v = made(device)
    compare((q, k, v), attention(q, k, v, score="causal"), reference(q, k, v, causal=True)[0])
    compare((q, k, v), attention(q, k, v, score="none"), reference(q, k, v)[0])
    slopes = torch.tensor([2.0**-4, 2.0**-8], device=device)
    compare((q, k, v), attention(q, k, v, score=["causal", "alibi"]), reference(q, k, v, causal=True, alibi=slopes)[0])
    compare((q, k, v), attention(q, k, v, score="softcap", softcap=3.0), reference(q, k, v, softcap=3.0)[0])


def test_alibi_slopes():
    assert torch.equal(kaio.torch.alibi_slopes(8), torch.tensor([2.0**-h for h in range(1, 9)]))
    six = kaio.torch.alibi_slopes(6)  # four of the power 4, two of the power 8
    assert torch.allclose(six, torch.tensor([2.0**-2, 2.0**-4, 2.0**-6, 2.0**-8, 2.0**-1, 2.0**-3]))


def test_names_with_values(device):
    q, k, v = made(device, queries=6)
    i, j = torch.arange(6, device=device)[:, None], torch.arange(9, device=device)[None, :]
    compare((q, k, v), attention(q, k, v, score={"softcap": 2.0}), reference(q, k, v, softcap=2.0)[0])
    compare((q, k, v), attention(q, k, v, score={"sliding_window": 3}), reference(q, k, v, window=(2, 0))[0])
    compare((q, k, v), attention(q, k, v, score={"sliding_window": (1, 2)}), reference(q, k, v, window=(1, 2))[0])
    slopes = torch.tensor([0.5, 0.1], device=device)
    compare((q, k, v), attention(q, k, v, score={"alibi": slopes}), reference(q, k, v, alibi=slopes)[0])
    for prefix in (3, torch.tensor([2, 4], device=device)):
        length = prefix if isinstance(prefix, int) else prefix[:, None, None, None]
        compare(
            (q, k, v), attention(q, k, v, score={"prefix_lm": prefix}), reference(q, k, v, keep=(j < length) | (j <= i + 3))[0]
        )
    of_q = torch.tensor([[0, 0, 1, 1, 1, 2], [0, 1, 1, 1, 1, 1]], device=device)
    of_k = torch.tensor([[0, 0, 0, 0, 1, 1, 1, 1, 2], [0, 0, 1, 1, 1, 1, 1, 1, 1]], device=device)
    keep = (of_q[:, :, None] == of_k[:, None, :])[:, None]
    compare(
        (q, k, v),
        attention(q, k, v, score={"document": (of_q, of_k), "causal": True}),
        reference(q, k, v, keep=keep, causal=True)[0],
    )
    mask = torch.rand(6, 9, device=device) < 0.5
    compare((q, k, v), attention(q, k, v, score={"keep": mask}, keep=~mask | (j < 4)), reference(q, k, v, keep=mask & (j < 4))[0])


def test_bias_tables_get_gradients(device):
    """A table of relative positions is learned through the bias that it becomes."""
    q, k, v = made(device, queries=5)
    table = torch.randn(2, 13, device=device).requires_grad_()
    more = torch.randn(2, 2, 5, 9, device=device).requires_grad_()
    i, j = torch.arange(5, device=device)[:, None], torch.arange(9, device=device)[None, :]
    got = attention(q, k, v, score={"relative_bias": table, "bias": more})
    compare((q, k, v, table, more), got, reference(q, k, v, bias=table[:, j - i + 4] + more)[0])


def test_unknown_names(device):
    q, k, v = made(device)
    with pytest.raises(ValueError, match="'alibis'; known names are alibi, bias, block_mask, causal"):
        attention(q, k, v, score="alibis")
    with pytest.raises(TypeError, match="score is a function"):
        attention(q, k, v, score=lambda s, b, h, i, j: s)
    with pytest.raises(ValueError, match="score 'softcap' has no value"):
        attention(q, k, v, score="softcap")
    with pytest.raises(ValueError, match="'relative_bias' has a table of \\(2, 5\\)"):
        attention(q, k, v, score={"relative_bias": torch.zeros(2, 5)})
    with pytest.raises(ValueError, match="'document' has 4 numbers, and there are 9 queries"):
        attention(q, k, v, score={"document": torch.zeros(4)})
    with pytest.raises(ValueError, match="'sliding_window' has no value"):
        attention(q, k, v, score="sliding_window")
    assert set(kaio.torch.SCORES) >= {"alibi", "softcap", "relative_bias", "document"}


def lists(device, partial, full, block):
    """A kaio.BlockMask of bool tensors (B', H', Qb, Kb); entries after a count are garbage."""

    def of(blocks):
        blocks = blocks.to(device)
        order = torch.argsort(blocks.int(), dim=-1, descending=True, stable=True).int()
        count = blocks.sum(-1).int()
        listed = torch.arange(blocks.shape[-1], device=device) < count[..., None]
        return count, torch.where(listed, order, 1234567).int()

    counts, indices = of(partial)
    full_counts, full_indices = of(full)
    return kaio.BlockMask(block_queries=block, block_keys=block, kv_num_blocks=counts, kv_indices=indices,
                          full_kv_num_blocks=full_counts, full_kv_indices=full_indices)  # fmt: skip


@pytest.mark.parametrize("options", [{}, {"causal": "bottom_right"}, {"causal": "top_left", "window": (20, -1)}])
def test_block_mask(device, options):
    """Blocks that no list names are skipped, full ones ignore the causal mask and the window, in gradients too."""
    q, k, v = made(device, batches=2, queries=50, keys=70)
    torch.manual_seed(2)
    kind = torch.randint(0, 3, (2, 1, 4, 5))  # 0: skipped, 1: partial, 2: full
    mask = lists(device, kind == 1, kind == 2, 16)
    by_pair = kind.to(device).repeat_interleave(16, -2).repeat_interleave(16, -1)[..., :50, :70]
    keep = (by_pair == 2) | ((by_pair == 1) & kept(50, 70, options.get("causal"), options.get("window", (-1, -1)), device))
    compare((q, k, v), attention(q, k, v, block_mask=mask, **options), reference(q, k, v, keep=keep)[0])
    other = torch.rand(50, 70, device=device) < 0.8
    got = attention(q, k, v, block_mask=mask, keep=other, **options)
    compare((q, k, v), got, reference(q, k, v, keep=keep & other)[0])
    bias = torch.randn(2, 50, 70, device=device).requires_grad_()
    compare(
        (q, k, v, bias), attention(q, k, v, block_mask=mask, bias=bias, **options), reference(q, k, v, keep=keep, bias=bias)[0]
    )


def test_flex_block_mask(device):
    """A BlockMask of FlexAttention gives what flex_attention gives: its mask_mod in partial blocks, all of full blocks."""
    flex = pytest.importorskip("torch.nn.attention.flex_attention")
    q, k, v = made(device, batches=2, queries=150, keys=150)
    document = torch.arange(150, device=device) // 40

    def causal_document(b, h, i, j):
        return (document[i] == document[j]) & (j <= i + b)

    mask = flex.create_block_mask(causal_document, 2, None, 150, 150, device=device, BLOCK_SIZE=32)
    b = torch.arange(2, device=device)[:, None, None, None]
    i, j = torch.arange(150, device=device)[:, None], torch.arange(150, device=device)[None, :]
    keep = (document[:, None] == document[None, :]) & (j <= i + b)
    compare((q, k, v), attention(q, k, v, block_mask=mask), reference(q, k, v, keep=keep)[0])
    assert torch.equal(attention(q, k, v, score={"block_mask": mask}), attention(q, k, v, block_mask=mask))
    everything = flex.create_block_mask(lambda b, h, i, j: i >= 0, None, None, 150, 150, device=device)
    compare((q, k, v), attention(q, k, v, block_mask=everything), reference(q, k, v)[0])
    with pytest.raises(ValueError, match="block_mask is for 150 queries and 150 keys, and there are 9 and 9"):
        attention(*made(device), block_mask=mask)
    with pytest.raises(ValueError, match="causal or window next to a BlockMask"):
        attention(q, k, v, block_mask=mask, causal=True)


def test_flex_full_blocks_ignore_the_mask(device):
    """from_kv_blocks takes lists as they are: the mask_mod of a full block does not run."""
    flex = pytest.importorskip("torch.nn.attention.flex_attention")
    q, k, v = made(device, batches=1, queries=64, keys=64)
    one = lambda *numbers: torch.tensor(numbers, dtype=torch.int32, device=device)  # noqa: E731
    mask = flex.BlockMask.from_kv_blocks(
        one(1, 1).reshape(1, 1, 2), one(0, 1, 1, 0).reshape(1, 1, 2, 2), one(0, 1).reshape(1, 1, 2),
        one(0, 1, 0, 1).reshape(1, 1, 2, 2), BLOCK_SIZE=32, mask_mod=lambda b, h, i, j: j % 2 == 0,
    )  # fmt: skip
    keep = torch.zeros(64, 64, dtype=torch.bool, device=device)
    keep[:32, :32:2], keep[32:, 32::2], keep[32:, :32] = True, True, True
    compare((q, k, v), attention(q, k, v, block_mask=mask), reference(q, k, v, keep=keep)[0])


def test_block_mask_opcheck_and_compile(device):
    q, k, v = (t.detach() for t in made(device, batches=1, queries=32, keys=32))
    mask = lists(device, torch.tensor([[[[1, 0], [1, 1]]]]) == 1, torch.zeros(1, 1, 2, 2, dtype=torch.bool), 16)
    arrays = (mask.kv_num_blocks, mask.kv_indices, mask.full_kv_num_blocks, mask.full_kv_indices, 16, 16)
    torch.library.opcheck(torch.ops.kaio.attention.default, (q, k, v, None, None, None, None, *arrays))

    def run(q, k, v):
        return attention(q, k, v, block_mask=mask, causal=True)

    compiled = torch.compile(run, fullgraph=True, backend="aot_eager")
    q.requires_grad_()
    assert torch.equal(compiled(q, k, v), run(q, k, v))
    assert torch.equal(torch.autograd.grad(compiled(q, k, v).sum(), q)[0], torch.autograd.grad(run(q, k, v).sum(), q)[0])


def test_compile_of_scores(device):
    q, k, v = made(device)
    ids = torch.arange(9, device=device) // 4

    def run(q, k, v):
        return attention(q, k, v, score={"alibi": True, "document": ids, "causal": True, "softcap": 4.0})

    compiled = torch.compile(run, fullgraph=True, backend="aot_eager")
    close(compiled(q, k, v), run(q, k, v), 1e-6)
