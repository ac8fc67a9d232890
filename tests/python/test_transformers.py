"""attn_implementation="kaio" of Hugging Face transformers gives what "eager" gives: tiny models with random weights."""

from __future__ import annotations

import sys

import pytest

torch = pytest.importorskip("torch")

import kaio.torch

transformers = pytest.importorskip("transformers")
if not hasattr(transformers, "AttentionInterface"):
    pytest.skip("transformers has no AttentionInterface", allow_module_level=True)

TINY = dict(vocab_size=50, hidden_size=64, intermediate_size=64, num_hidden_layers=2, num_attention_heads=4,
            num_key_value_heads=2, head_dim=16, max_position_embeddings=64, attention_dropout=0.0)  # fmt: skip


def test_kaio_does_not_import_transformers():
    import subprocess

    code = "import sys, kaio.torch; sys.exit('transformers' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code]).returncode == 0


def pair(config, device):
    """One model twice: with kaio's attention and with transformers' own."""
    kaio.torch.register_transformers()
    torch.manual_seed(0)
    eager = transformers.AutoModelForCausalLM.from_config(config, attn_implementation="eager").to(device).eval()
    with_kaio = transformers.AutoModelForCausalLM.from_config(config, attn_implementation="kaio").to(device).eval()
    with_kaio.load_state_dict(eager.state_dict())
    return with_kaio, eager


CONFIGS = {
    "llama": lambda: transformers.LlamaConfig(**TINY),
    "mistral": lambda: transformers.MistralConfig(**TINY, sliding_window=4),
    "gemma2": lambda: transformers.Gemma2Config(**TINY, sliding_window=4, attn_logit_softcapping=5.0, query_pre_attn_scalar=16),
    "gpt_oss": lambda: transformers.GptOssConfig(**TINY, sliding_window=4, num_local_experts=2, num_experts_per_tok=1),
}


@pytest.mark.parametrize("name", list(CONFIGS))
@pytest.mark.parametrize("padding", [False, True])
def test_logits_and_gradients(device, name, padding):
    with_kaio, eager = pair(CONFIGS[name](), device)
    tokens = torch.randint(0, 50, (2, 11), device=device)
    mask = torch.ones_like(tokens)
    if padding:
        mask[0, :3] = 0
    kept = mask.bool()
    results = []
    for model in (with_kaio, eager):
        logits = model(tokens, attention_mask=mask).logits[kept]
        logits.square().mean().backward()
        results.append((logits.detach(), {n: p.grad for n, p in model.named_parameters() if p.grad is not None}))
    assert torch.allclose(results[0][0], results[1][0], atol=1e-4)
    assert results[0][1].keys() == results[1][1].keys() and results[0][1]
    for key, gradient in results[0][1].items():
        want = results[1][1][key]
        assert torch.allclose(gradient, want, atol=1e-5 + 1e-3 * want.abs().max().item()), key


@pytest.mark.parametrize("name", ["llama", "mistral", "gpt_oss"])
@pytest.mark.parametrize("cache", [None, "static"])
def test_generation(device, name, cache):
    """Greedy tokens with a growing or a static cache, one prompt padded to the left."""
    with_kaio, eager = pair(CONFIGS[name](), device)
    tokens = torch.randint(1, 50, (2, 6), device=device)
    mask = torch.ones_like(tokens)
    mask[1, :2] = 0
    options = dict(
        attention_mask=mask, max_new_tokens=5, min_new_tokens=5, do_sample=False, pad_token_id=0, cache_implementation=cache
    )
    assert torch.equal(with_kaio.generate(tokens, **options), eager.generate(tokens, **options))


def test_function_by_itself(device):
    """Masks of all kinds: none, bool, float, padding; dropout is refused."""
    from kaio.torch._transformers import attention_forward

    class Module:
        is_causal = True

    torch.manual_seed(0)
    q, k, v = (torch.randn(2, h, 5, 8, device=device) for h in (4, 2, 2))
    causal = torch.ones(5, 5, device=device).tril().bool()
    want, weights = attention_forward(Module(), q, k, v, None, scaling=0.3)
    assert weights is None and want.shape == (2, 5, 4, 8)
    sdpa = torch.nn.functional.scaled_dot_product_attention(q, k, v, is_causal=True, scale=0.3, enable_gqa=True).transpose(1, 2)
    assert torch.allclose(want, sdpa, atol=1e-5)
    as_bool = causal[None, None].expand(2, 1, 5, 5)
    as_float = torch.where(as_bool, 0.0, torch.finfo(torch.float32).min)
    as_padding = torch.ones(2, 5, dtype=torch.long, device=device)
    for mask in (as_bool, as_float, as_padding):
        assert torch.allclose(attention_forward(Module(), q, k, v, mask, scaling=0.3)[0], want, atol=1e-5)
    everything = attention_forward(Module(), q, k, v, None, scaling=0.3, is_causal=False)[0]
    assert torch.allclose(
        everything,
        torch.nn.functional.scaled_dot_product_attention(q, k, v, scale=0.3, enable_gqa=True).transpose(1, 2),
        atol=1e-5,
    )
    with pytest.raises(NotImplementedError, match="dropout is not 0"):
        attention_forward(Module(), q, k, v, None, dropout=0.1)


def test_autocast_takes_mixed_types():
    """A norm of q and k gives f32 under autocast, and the projection of v 16 bits."""
    from kaio.torch._transformers import attention_forward

    q, k, v = (torch.randn(1, 2, 3, 16) for _ in range(3))
    with torch.autocast("cpu", dtype=torch.bfloat16):
        got, _ = attention_forward(torch.nn.Identity(), q, k, v.bfloat16(), None)
        expected = torch.nn.functional.scaled_dot_product_attention(q, k, v.bfloat16(), is_causal=True)
    assert got.dtype == expected.dtype == torch.bfloat16
    torch.testing.assert_close(got.transpose(1, 2).float(), expected.float(), rtol=2e-2, atol=2e-2)


def test_patch_leaves_dropout_to_training():
    config = transformers.GPT2Config(n_embd=32, n_layer=1, n_head=2, vocab_size=50, n_positions=8, bos_token_id=0, eos_token_id=0)
    model = transformers.GPT2LMHeadModel(config).train()
    report = kaio.torch.patch(model, linear=False, norm=False, mlp=False)
    assert report.replaced == [] and "attn_pdrop" in report.left[0].text
    model(torch.arange(6)[None]).logits.sum().backward()
    assert "attention" in kaio.torch.patch(model.eval(), linear=False, norm=False, mlp=False).replaced[0].text
