"""kaio.torch.patch: patched models give the logits and gradients of the models that they were."""

import copy
import io

import pytest

torch = pytest.importorskip("torch")

import kaio.torch as kt  # noqa: E402
from torch import nn  # noqa: E402


class Block(nn.Module):
    """A layer of a small GPT of torch's own modules."""

    def __init__(self, width, heads):
        super().__init__()
        self.heads = heads
        self.norm1, self.norm2 = nn.RMSNorm(width, eps=1e-6), nn.RMSNorm(width, eps=1e-6)
        self.qkv, self.out = nn.Linear(width, 3 * width, bias=False), nn.Linear(width, width)
        self.mlp = Gated(width)

    def forward(self, x):
        b, s, w = x.shape
        q, k, v = self.qkv(self.norm1(x)).reshape(b, s, 3, self.heads, -1).permute(2, 0, 3, 1, 4)
        y = nn.functional.scaled_dot_product_attention(q, k, v, is_causal=True)
        x = x + self.out(y.transpose(1, 2).reshape(b, s, w))
        return x + self.mlp(self.norm2(x))


class Gated(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.w1, self.w3, self.w2 = nn.Linear(width, 40), nn.Linear(width, 40), nn.Linear(40, width)

    def forward(self, x):
        return self.w2(nn.functional.silu(self.w1(x)) * self.w3(x))


class Gpt(nn.Module):
    def __init__(self, width=32, layers=2, vocabulary=50):
        super().__init__()
        self.embedding = nn.Embedding(vocabulary, width)
        self.blocks = nn.ModuleList(Block(width, 4) for _ in range(layers))
        self.norm = nn.LayerNorm(width)
        self.head = nn.Linear(width, vocabulary, bias=False)
        self.head.weight = self.embedding.weight

    def forward(self, ids):
        x = self.embedding(ids)
        for block in self.blocks:
            x = block(x)
        return self.head(self.norm(x))


pytestmark = pytest.mark.skipif(not hasattr(nn, "RMSNorm"), reason="this torch has no RMSNorm")


def gpt(device, seed=0):
    torch.manual_seed(seed)
    model = Gpt()
    for name, p in model.named_parameters():
        if "norm" in name:
            nn.init.normal_(p, 1.0, 0.2)
    return model.to(device)


def ids_for(device, *shape, vocabulary=50, seed=1):
    return torch.randint(0, vocabulary, shape, generator=torch.Generator().manual_seed(seed)).to(device)


def gradients(model, ids):
    model.zero_grad()
    logits = model(ids)
    logits = getattr(logits, "logits", logits)
    nn.functional.cross_entropy(logits[:, :-1].flatten(0, 1), ids[:, 1:].flatten()).backward()
    return {name: p.grad.clone() for name, p in model.named_parameters()}


def assert_same_gradients(ours, theirs, tolerance=1e-4):
    assert ours.keys() == theirs.keys()
    for name in theirs:
        scale = theirs[name].abs().max().clamp_min(1e-6)
        assert ((ours[name] - theirs[name]).abs().max() / scale) < tolerance, name


def test_a_gpt_of_torch(device):
    model = gpt(device)
    ids = ids_for(device, 2, 6)
    keys = list(model.state_dict())
    with torch.no_grad():
        want = model(ids)
    wanted = gradients(model, ids)
    parameters = {name: id(p) for name, p in model.named_parameters()}
    report = kt.patch(model)

    replaced = {row.name: row.text for row in report.replaced}
    assert replaced["blocks.0.norm1"] == "rms_norm" and replaced["blocks.1.mlp"] == "gated block, silu"
    assert replaced["blocks.0.qkv"] == "linear" and replaced["head"] == "linear"
    left = {row.name: row.text for row in report.left}
    assert left["norm"] == "layer norms stay with torch" and "scaled_dot_product_attention" in left["blocks.0"]
    assert len(report.replaced) == 2 * (2 + 2 + 2) + 1 and len(report.left) == 3

    assert list(model.state_dict()) == keys and {name: id(p) for name, p in model.named_parameters()} == parameters
    assert isinstance(model.head, nn.Linear) and isinstance(model.head, kt.Linear)
    assert isinstance(model.blocks[0].norm1, nn.RMSNorm)
    with torch.no_grad():
        torch.testing.assert_close(model(ids), want, rtol=1e-4, atol=1e-4)
    assert_same_gradients(gradients(model, ids), wanted)

    table = str(report)
    assert "blocks.*.mlp" in table and "left: layer norms stay with torch" in table
    assert repr(report) == "kaio.torch.Report(13 replaced, 3 left)"

    report.unpatch()
    assert type(model.head) is nn.Linear and type(model.blocks[0].norm1) is nn.RMSNorm and type(model.blocks[0].mlp) is Gated
    assert "_kaio" not in model.blocks[0].mlp.__dict__
    with torch.no_grad():
        torch.testing.assert_close(model(ids), want, rtol=0, atol=0)
    report.unpatch()


def test_training_steps(device):
    losses = []
    for patched in (False, True):
        model = gpt(device)
        if patched:
            kt.patch(model)
        optimiser = torch.optim.AdamW(model.parameters(), lr=1e-2)
        ids = ids_for(device, 2, 8)
        losses.append([])
        for _ in range(4):
            logits = model(ids)
            loss = nn.functional.cross_entropy(logits[:, :-1].flatten(0, 1), ids[:, 1:].flatten())
            optimiser.zero_grad()
            loss.backward()
            optimiser.step()
            losses[-1].append(loss.item())
    torch.testing.assert_close(losses[1], losses[0], rtol=1e-3, atol=1e-3)
    assert losses[1][-1] < losses[1][0]


def test_compiled(device):
    model = gpt(device)
    ids = ids_for(device, 2, 6)
    wanted = gradients(model, ids)
    kt.patch(model)
    with torch.no_grad():
        want = model(ids)
        torch.testing.assert_close(torch.compile(model, fullgraph=True, backend="aot_eager")(ids), want, rtol=1e-5, atol=1e-5)
    compiled = torch.compile(model, fullgraph=True, backend="aot_eager")
    model.zero_grad()
    nn.functional.cross_entropy(compiled(ids)[:, :-1].flatten(0, 1), ids[:, 1:].flatten()).backward()
    assert_same_gradients({name: p.grad for name, p in model.named_parameters()}, wanted)
    with pytest.raises(ValueError, match="torch.compile"):
        kt.patch(compiled)


def test_autocast(device):
    model = gpt(device)
    ids = ids_for(device, 2, 6)
    with torch.no_grad(), torch.autocast(device, dtype=torch.bfloat16):
        want = model(ids)
        kt.patch(model)
        got = model(ids)
    assert got.dtype == want.dtype == torch.bfloat16
    torch.testing.assert_close(got.float(), want.float(), rtol=0.1, atol=0.1)
    with torch.autocast(device, dtype=torch.bfloat16):
        loss = nn.functional.cross_entropy(model(ids).float().flatten(0, 1), ids.flatten())
    loss.backward()
    assert all(p.grad.dtype == torch.float32 for p in model.parameters())


class Adapter(nn.Module):
    """A layer of PEFT: it wraps a linear layer, and shows its parameters."""

    def __init__(self, base):
        super().__init__()
        self.base = base
        self.down, self.up = nn.Linear(base.in_features, 2, bias=False), nn.Linear(2, base.out_features, bias=False)

    weight = property(lambda self: self.base.weight)
    bias = property(lambda self: self.base.bias)

    def forward(self, x):
        return self.base(x) + self.up(self.down(x))


class Plain(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.fc1, self.fc2 = nn.Linear(width, 40), nn.Linear(40, width)

    def forward(self, hidden_states):
        return self.fc2(nn.functional.gelu(self.fc1(hidden_states)))


@pytest.mark.parametrize("kind", [Gated, Plain])
@pytest.mark.parametrize("change", ["adapter", "hook", "forward"])
def test_layers_that_change_after_patch(device, kind, change):
    """A fused block that an adapter, a hook or another forward has changed calls its layers."""
    torch.manual_seed(0)
    model, seen = kind(16).to(device), []
    name = next(iter(dict(model.named_children())))
    x = torch.randn(3, 16, device=device)
    kt.patch(model)
    expected = model(x)
    layer = getattr(model, name)
    if change == "adapter":
        setattr(model, name, Adapter(layer).to(device))
    elif change == "hook":
        layer.register_forward_hook(lambda *given: seen.append(given))
    else:
        layer.forward = lambda x: type(layer).forward(layer, x) + 1
    for recorded in (False, True):
        with torch.set_grad_enabled(recorded):
            got = model(x)
        assert torch.allclose(got, expected, atol=1e-4) == (change == "hook")
    if change == "hook":
        assert len(seen) == 2
    if change == "adapter":
        compiled = torch.compile(model, backend="aot_eager", fullgraph=True)(x)
        torch.testing.assert_close(compiled, got, rtol=1e-4, atol=1e-4)
        got.sum().backward()
        assert getattr(model, name).up.weight.grad.abs().sum() > 0


def test_second_patch_and_names_of_x(device):
    model = nn.ModuleList([Plain(16), nn.RMSNorm(16, eps=1e-6)]).to(device)
    x = torch.randn(3, 16, device=device)
    expected = [model[0](x), model[1](x)]
    assert {row.name for row in kt.patch(model).replaced} == {"0", "0.fc2", "1"}
    assert kt.patch(model).replaced == []
    for got, wanted in zip([model[0](hidden_states=x), model[1](x=x)], expected):
        torch.testing.assert_close(got, wanted, rtol=1e-4, atol=1e-4)


def test_parts(device):
    model = gpt(device)
    assert {row.text for row in kt.patch(model, linear=False, mlp=False, attention=False).replaced} == {"rms_norm"}
    again = kt.patch(model, norm=False, mlp=False, attention=False)
    assert {row.text for row in again.replaced} == {"linear"} and again.left == []
    assert kt.patch(model, mlp=False, attention=False).replaced == []
    again.unpatch()
    assert type(model.head) is nn.Linear and type(model.blocks[0].norm1) is not nn.RMSNorm


def test_precision(device):
    model = gpt(device)
    ids = ids_for(device, 2, 6)
    wanted = gradients(model, ids)
    with torch.no_grad():
        want = model(ids)
    report = kt.patch(model, precision="tf32")
    assert {row.text for row in report.replaced if "linear" in row.text} == {"linear, tf32"}
    with torch.no_grad():
        got = model(ids)
    assert 1e-7 < (got - want).abs().max() < 2e-2
    assert_same_gradients(gradients(model, ids), wanted, 3e-2)
    with pytest.raises(ValueError, match="precision"):
        kt.patch(model, precision="half")


def test_copies_and_files(device):
    model = gpt(device)
    ids = ids_for(device, 1, 4)
    kt.patch(model)
    with torch.no_grad():
        want = model(ids)
        other = copy.deepcopy(model)
        torch.testing.assert_close(other(ids), want, rtol=0, atol=0)
        other.head.weight.zero_()
        torch.testing.assert_close(model(ids), want, rtol=0, atol=0)
        file = io.BytesIO()
        torch.save(model, file)
        file.seek(0)
        torch.testing.assert_close(torch.load(file, weights_only=False)(ids), want, rtol=0, atol=0)
    assert type(other.blocks[0].mlp) is type(model.blocks[0].mlp)


class Offset(nn.Module):
    def __init__(self):
        super().__init__()
        self.weight, self.eps = nn.Parameter(torch.zeros(16)), 1e-6

    def forward(self, x):
        return x * torch.rsqrt(x.square().mean(-1, keepdim=True) + self.eps) * (1 + self.weight)


class WrongRMSNorm(Offset):
    def forward(self, x):
        return x * self.weight


class TwoRMSNorm(Offset):
    def forward(self, x, gate=None):
        return super().forward(x)


class DropoutMlp(nn.Module):
    def __init__(self, p=0.5):
        super().__init__()
        self.fc1, self.fc2, self.p = nn.Linear(8, 16), nn.Linear(16, 8), p

    def forward(self, x):
        return self.fc2(nn.functional.dropout(nn.functional.gelu(self.fc1(x)), self.p, self.training))


class OwnLinear(nn.Linear):
    def forward(self, x):
        return super().forward(x) + 1


class PlainLinear(nn.Linear):
    pass


def test_what_is_left_and_why(device):
    OffsetRMSNorm = type("OffsetRMSNorm", (Offset,), {})
    hooked = Gated(8)
    hooked.w1.register_forward_hook(lambda *a: None)
    moved = nn.Linear(4, 4)
    moved.forward = lambda x: x
    parts = {
        "f64": nn.Linear(4, 4, dtype=torch.float64), "meta": nn.Linear(4, 4, device="meta"), "own": OwnLinear(4, 4),
        "plain": PlainLinear(4, 4),
        "moved": moved, "bilinear": nn.Bilinear(2, 2, 2), "offset": OffsetRMSNorm(), "wrong": WrongRMSNorm(), "two": TwoRMSNorm(),
        "no_weight": nn.RMSNorm(8, elementwise_affine=False), "eps": nn.RMSNorm(8), "eps16": nn.RMSNorm(8, dtype=torch.float16),
        "matrix": nn.RMSNorm((2, 4)), "dropout": DropoutMlp(), "no_dropout": DropoutMlp(0.0), "hooked": hooked,
        "heads": nn.MultiheadAttention(8, 2), "norm": nn.LayerNorm(8),
    }  # fmt: skip
    model = nn.ModuleDict({name: part if name == "meta" else part.to(device) for name, part in parts.items()})
    report = kt.patch(model)
    replaced = {row.name: row.text for row in report.replaced}
    assert replaced == {
        "plain": "linear", "offset": "rms_norm, 1 + weight", "eps": "rms_norm", "no_dropout": "feed-forward block, gelu",
        "no_dropout.fc2": "linear", "dropout.fc1": "linear", "dropout.fc2": "linear", "hooked.w1": "linear",
        "hooked.w2": "linear",
        "hooked.w3": "linear",
    }  # fmt: skip
    left = {row.name: row.text for row in report.left}
    for name, word in (("f64", "float64"), ("meta", "meta"), ("own", "own"), ("moved", "replaced its forward"),
                       ("bilinear", "no torch.nn.Linear"),
                       ("wrong", "rms"), ("two", "more than x"), ("no_weight", "no weight"), ("eps16", "eps is None"),
                       ("matrix", "2 dimensions"),
                       ("dropout", "dropout"), ("hooked", "hooks"), ("heads", "weights"), ("norm", "layer norm")):  # fmt: skip
        assert word in left.pop(name), name
    assert left == {}
    x = torch.randn(3, 16, device=device)
    torch.testing.assert_close(model["offset"](x), Offset.forward(model["offset"], x))
    x = torch.randn(3, 8, device=device)
    torch.testing.assert_close(model["eps"](x), nn.functional.rms_norm(x, (8,)))
    with pytest.raises(TypeError, match="model"):
        kt.patch("model")


# ---- Models of transformers

FAMILIES = {
    "llama": {}, "mistral": {}, "qwen2": {}, "qwen3": {"head_dim": 16}, "gemma": {"head_dim": 16},
    "gemma3_text": {"head_dim": 16},
    "phi": {}, "phi3": {"pad_token_id": 0}, "gpt_neox": {}, "gpt2": {},
}  # fmt: skip


def tiny(family, device):
    transformers = pytest.importorskip("transformers")
    sizes = dict(vocab_size=64, bos_token_id=0, eos_token_id=1, use_cache=False, **FAMILIES[family])
    if family == "gpt2":
        sizes.update(n_embd=64, n_layer=2, n_head=4, n_positions=64, resid_pdrop=0.0, embd_pdrop=0.0, attn_pdrop=0.0)
    else:
        sizes.update(hidden_size=64, intermediate_size=96, num_hidden_layers=2, num_attention_heads=4, num_key_value_heads=2,
                     max_position_embeddings=64)  # fmt: skip
    torch.manual_seed(0)
    model = transformers.AutoModelForCausalLM.from_config(transformers.AutoConfig.for_model(family, **sizes))
    for p in model.parameters():
        if p.dim() == 1:
            nn.init.normal_(p, 0.5, 0.2)
    return model.to(device)


@pytest.mark.parametrize("family", FAMILIES)
def test_transformers(device, family):
    model = tiny(family, device)
    ids = ids_for(device, 2, 5, vocabulary=64)
    with torch.no_grad():
        want = model(ids).logits
    wanted = gradients(model, ids)
    before = model.config._attn_implementation
    report = kt.patch(model)
    texts = [row.text for row in report.replaced]
    assert sum("block" in text for text in texts) == 2 and texts.count("linear") >= 2 * 2 + 1
    norms = 0 if family in ("phi", "gpt_neox", "gpt2") else {"qwen3": 9, "gemma3_text": 13}.get(family, 5)
    assert sum("rms_norm" in text for text in texts) == norms
    assert all(("1 + weight" in text) == family.startswith("gemma") for text in texts if "rms_norm" in text)
    if hasattr(kt, "register_transformers"):
        assert model.config._attn_implementation == "kaio" and any("attention: kaio" in text for text in texts)
    with torch.no_grad():
        torch.testing.assert_close(model(ids).logits, want, rtol=1e-4, atol=1e-4)
    assert_same_gradients(gradients(model, ids), wanted, 1e-3)
    report.unpatch()
    assert model.config._attn_implementation == before
    with torch.no_grad():
        torch.testing.assert_close(model(ids).logits, want, rtol=0, atol=0)


def test_transformers_compiled(device):
    model = tiny("llama", device)
    ids = ids_for(device, 1, 4, vocabulary=64)
    with torch.no_grad():
        want = model(ids).logits
        kt.patch(model)
        got = torch.compile(model, backend="aot_eager")(ids).logits
    torch.testing.assert_close(got, want, rtol=1e-4, atol=1e-4)
