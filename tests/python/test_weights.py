"""kaio.weights: files of weights, the tensors in them, and quantised layers as packed weights."""

from __future__ import annotations

import gc
import json
import zlib

import numpy as np
import pytest
import weight_files as files

import kaio
from kaio import weights
from kaio.errors import DamagedFile, InvalidArgument, UnreadableFile, UnsupportedFormat


def crc(array):
    return f"{zlib.crc32(np.ascontiguousarray(array).tobytes()):08x}"


def write(folder, name, content):
    path = folder / name
    path.write_bytes(content if isinstance(content, bytes) else json.dumps(content).encode())
    return path


SCHEMES = files.schemes()


def opened(folder, name):
    tensors, config, w, scheme, packs = SCHEMES[name]
    write(folder, "model.safetensors", files.safetensors(tensors))
    if config:
        write(folder, "config.json", {"quantization_config": config})
    return weights.open(folder), w, scheme, packs


# ---- Packed tensors: checksums of the reference programs' tensors and weights


@pytest.mark.parametrize("v2", [False, True])
@pytest.mark.parametrize(
    "bits, words, zeros_v1, zeros_v2, dense",
    [
        (2, "5aad35f7", "fb7f1818", "710f919b", "027eaa0a"),
        (3, "5682743a", "1818c013", "6cf3af6b", "95454efb"),
        (4, "e79cdbbb", "08f349b3", "204b78d5", "d37080c2"),
        (8, "3e016429", "316b4823", "56dfee33", "ed759f8d"),
    ],
)
def test_gptq_has_the_bits_of_the_reference(bits, words, zeros_v1, zeros_v2, dense, v2):
    t, w = files.gptq(bits=bits, v2=v2, order=True)
    assert crc(t["qweight"]) == words
    assert crc(t["qzeros"]) == (zeros_v2 if v2 else zeros_v1)
    packed = weights.from_gptq(t["qweight"], t["scales"], t["qzeros"], t["g_idx"], bits=bits, v2=v2, group=32)
    assert isinstance(packed, kaio.W8Weights if bits == 8 else kaio.W4Weights)
    assert packed.act_order and packed.memory.nbytes == weights.packed_bytes(packed)
    assert crc(weights.dequantise(packed).T) == dense


def test_awq_has_the_bits_of_the_reference():
    t, _ = files.awq()
    assert crc(t["qweight"]) == "a8803423" and crc(t["qzeros"]) == "fc54739e"
    assert crc(weights.dequantise(weights.from_awq(t["qweight"], t["qzeros"], t["scales"])).T) == "e8b8ce1d"


def test_compressed_tensors_has_the_words_of_the_reference():
    t, w = files.compressed()
    assert crc(t["weight_packed"]) == "ed612eef" and crc(t["weight_zero_point"]) == "3932ab29"
    packed = weights.from_compressed_tensors(t["weight_packed"], t["weight_scale"], t["weight_zero_point"])
    assert np.array_equal(weights.dequantise(packed, "f32"), w)


@pytest.mark.parametrize("format, blocks, dense", [("q4_0", "c3c24a4a", "fa93255d"), ("q8_0", "acb519ff", "c8bc7552")])
def test_blocks_have_the_bits_of_the_reference(format, blocks, dense):
    x = files.numbers(256).reshape(4, 64)
    data = np.empty(weights.block_bytes(format, 256), np.uint8)
    kaio.quantise_blocks(x, format, data)
    assert crc(data) == blocks
    assert crc(weights.dequantise(weights.from_blocks(data, format, 4, 64), "f32")) == dense
    content = files.gguf({"w": (format.upper(), (4, 64), data.tobytes())})
    assert crc(weights.view(content)["w"].numpy()) == dense


@pytest.mark.parametrize("symmetric", [False, True])
def test_symmetric_zero_points_are_dropped(symmetric):
    t, _ = files.gptq(64, 32)
    zeros = np.full_like(t["qzeros"], 0x77777777) if symmetric else t["qzeros"]
    assert weights.from_gptq(t["qweight"], t["scales"], zeros).zero_points is not symmetric


# ---- Layers of files


@pytest.mark.parametrize("name", SCHEMES)
def test_layers_of_all_schemes(tmp_path, name):
    model, w, scheme, packs = opened(tmp_path, name)
    with model:
        (layer,) = model.layers()
        assert (layer.name, layer.scheme, layer.problem, layer.obstacle) == ("l", scheme, "", "")
        assert (layer.n * layer.experts, layer.k) == w.shape
        np.testing.assert_array_equal(layer.dequantise("cpu", "f32").numpy(), w)
        if packs:
            packed = layer.repack("cpu")
            assert packed.memory.device == "cpu" and (packed.n, packed.k) == w.shape
            np.testing.assert_array_equal(weights.dequantise(packed, "f32").numpy(), w)
        else:
            with pytest.raises(UnsupportedFormat, match="dequantise"):
                layer.repack("cpu")


@pytest.mark.parametrize("name", ["gptq 4 bits v1", "int8 rows", "nvfp4 modelopt"])
def test_a_layer_multiplies(tmp_path, name):
    model, w, _, _ = opened(tmp_path, name)
    packed = model.layers()["l"].repack("emulator")
    x = (files.numbers(3 * w.shape[1]).reshape(3, -1) / 4).astype(np.float16)
    multiply = kaio.matmul_w4 if isinstance(packed, kaio.W4Weights) else kaio.matmul_w8
    y = multiply(kaio.array(x, "emulator"), packed, dtype="f32").numpy()
    want = x.astype(np.float32) @ w.T
    assert np.abs(y - want).max() <= 1e-3 * np.abs(want).max()


def test_layers_say_what_stops_them(tmp_path):
    t, _ = files.gptq(64, 32)
    tensors = {f"l.{key}": value for key, value in t.items()}
    write(tmp_path, "m.safetensors", files.safetensors({**tensors, "l.qzeros": np.zeros((3, 4), np.int32)}))
    (layer,) = weights.open(tmp_path).layers()
    assert "qzeros" in layer.problem
    with pytest.raises(UnsupportedFormat, match="layer 'l'.*qzeros"):
        layer.repack("cpu")


def test_configurations(tmp_path):
    t, w = files.gptq(64, 32)
    path = write(tmp_path, "model.safetensors", files.safetensors({f"l.{key}": value for key, value in t.items()}))
    other = write(
        tmp_path, "other.json", {"quantization_config": {"quant_method": "gptq", "bits": 4, "group_size": 32, "sym": False}}
    )
    with weights.open(path) as model:
        assert model.layers().config["has_config"] is False
        layers = model.layers(other)
        assert layers.config_path == str(other) and layers.config["method"] == "gptq" and layers.config["group"] == 32
        assert layers.config["symmetric"] is False and len(layers) == 1 and "l" in layers and layers[0] is layers["l"]
        write(tmp_path, "config.json", b"{")
        with pytest.raises(DamagedFile, match="config.json"):
            model.layers()
        assert model.layers(False).config_path is None
    np.testing.assert_array_equal(layers["l"].dequantise("cpu", "f32").numpy(), w)  # layers keep the file


# ---- Tensors of files


def test_safetensors_tensors(tmp_path):
    tensors = {name: (np.arange(6) % 2).astype(name).reshape(2, 3) for name in files.NAMES}
    content = files.safetensors(
        {
            **tensors,
            "half": files.bf16(np.float32([1, -2, 0.5])),
            "f8": ("F8_E4M3", (4,), b"\x38\xc0\x00\x7e"),
            "none": np.zeros((0, 3), np.float32),
        },
        {"format": "pt", "note": "\u00e9"},
    )
    with weights.open(write(tmp_path, "a.safetensors", content)) as model:
        assert model.kind == "safetensors" and model.files == 1 and len(model) == len(tensors) + 3
        assert dict(model.metadata) == {"format": "pt", "note": "\u00e9"}
        for name, want in tensors.items():
            tensor = model[name]
            assert (tensor.name, tensor.shape, tensor.size, tensor.nbytes) == (name, (2, 3), 6, want.nbytes)
            got = tensor.numpy()
            assert got.dtype == want.dtype and np.array_equal(got, want) and not got.flags.writeable
            assert np.array_equal(tensor.numpy("f32"), want.astype(np.float32))
        assert model["float32"].format == "F32" and model["float32"].dtype == "f32"
        assert np.array_equal(model["half"].numpy("f32"), [1, -2, 0.5]) and np.array_equal(model["half"].values(1, 1), [-2])
        assert np.array_equal(model["f8"].numpy("f32"), [1, -2, 0, 448])
        assert np.array_equal(model["int8"].numpy("i32"), tensors["int8"])
        assert model["none"].numpy().shape == (0, 3)
        assert "absent" not in model
        with pytest.raises(KeyError):
            model["absent"]


def test_bf16_needs_ml_dtypes(tmp_path):
    tensor = weights.view(files.safetensors({"a": files.bf16(np.float32([1, 3]))}))["a"]
    try:
        import ml_dtypes
    except ImportError:
        with pytest.raises(TypeError, match="ml_dtypes"):
            tensor.numpy()
    else:
        assert tensor.numpy().dtype == ml_dtypes.bfloat16 and tensor.numpy().tolist() == [1, 3]


def test_torch_tensors():
    torch = pytest.importorskip("torch")
    content = files.safetensors(
        {
            "a": files.bf16(np.float32([[1, -2]])),
            "b": np.arange(3, dtype=np.int64),
            "c": ("F8_E4M3", (2,), b"\x38\x40"),
            "d": np.float32(7),
            "pad": np.zeros(1, np.uint8),
            "e": np.arange(3, dtype=np.float32),
        }
    )
    model = weights.view(content)
    a = model["a"].torch()
    assert a.dtype == torch.bfloat16 and a.tolist() == [[1, -2]]
    assert model["a"].torch(dtype=torch.float32).dtype == torch.float32
    assert model["b"].torch().tolist() == [0, 1, 2] and model["c"].torch().dtype == torch.float8_e4m3fn
    assert model["d"].torch().item() == 7 and model["d"].torch().shape == ()
    e = model["e"].torch()  # not aligned in the file
    e += 1
    assert e.tolist() == [1, 2, 3] and model["e"].numpy().tolist() == [0, 1, 2]


def test_gguf(tmp_path):
    metadata = {
        "general.architecture": "llama",
        "n": 7,
        "less": -3,
        "yes": True,
        "eps": 0.5,
        "words": ["a", "b\u00e9"],
        "numbers": [1, 2, 3],
    }
    content = files.gguf(
        {
            "norm": ("F32", (3,), np.float32([1, -2, 0.5]).tobytes()),
            "w": ("Q8_0", (2, 32), (b"\x00\x38" + bytes(range(32))) * 2),
            "half": ("F16", (2, 2), np.float16([[1, 2], [3, 4]]).tobytes()),
        },
        metadata,
    )
    with weights.open(write(tmp_path, "m.gguf", content)) as model:
        assert model.kind == "gguf" and model.version == 3 and dict(model.metadata) == metadata
        assert list(model) == ["norm", "w", "half"]
        assert (
            model["w"].shape == (2, 32) and model["w"].format == "Q8_0" and model["w"].dtype is None and model["w"].nbytes == 68
        )
        assert np.array_equal(model["w"].numpy(), np.tile(np.arange(32) / 2, (2, 1)))
        assert np.array_equal(model["w"].numpy("f16"), np.tile(np.arange(32) / 2, (2, 1)))
        assert model["w"].bytes[2:34].tolist() == list(range(32)) and model["half"].numpy().dtype == np.float16
        (layer,) = model.layers()
        assert (layer.name, layer.format, layer.scheme, layer.n, layer.k) == ("w", "Q8_0", "blocks", 2, 32)
        assert isinstance(layer.repack("cpu"), kaio.W8Weights)
        assert np.array_equal(layer.dequantise("cpu", "f32").numpy(), model["w"].numpy())


def test_blocks_that_no_product_takes():
    content = files.gguf({"w": ("Q2_K", (1, 256), bytes(84))})
    (layer,) = weights.view(content).layers()
    with pytest.raises(UnsupportedFormat, match="Q2_K"):
        layer.repack("cpu")
    assert np.array_equal(layer.dequantise("cpu", "f32").numpy(), np.zeros((1, 256)))


def test_several_files(tmp_path):
    write(tmp_path, "model-00001-of-00002.safetensors", files.safetensors({"a": np.float32([1])}))
    write(tmp_path, "model-00002-of-00002.safetensors", files.safetensors({"b": np.float32([2])}))
    index = {
        "metadata": {"total_size": 8},
        "weight_map": {"a": "model-00001-of-00002.safetensors", "b": "model-00002-of-00002.safetensors"},
    }
    write(tmp_path, "model.safetensors.index.json", index)
    with weights.open(tmp_path) as model:
        assert model.files == 2 and model["a"].numpy() == [1] and model["b"].numpy() == [2]
        assert model["b"].file.endswith("model-00002-of-00002.safetensors")


# ---- Lifetimes


def test_views_keep_the_file_mapped(tmp_path):
    path = write(tmp_path, "a.safetensors", files.safetensors({"a": np.arange(5000, dtype=np.float32)}))

    def mapped():
        return str(path) in open("/proc/self/maps").read()

    model = weights.open(path)
    view = model["a"].numpy()[10:20]
    assert mapped()
    model.close()
    model.close()
    assert model.closed
    with pytest.raises(ValueError, match="closed"):
        model["a"].numpy()
    with pytest.raises(ValueError, match="closed"):
        model.layers()
    del model
    gc.collect()
    assert mapped() and view.tolist() == list(range(10, 20))
    del view
    gc.collect()
    assert not mapped()


def test_memory_of_the_caller_lives_as_long_as_its_views():
    content = np.frombuffer(files.safetensors({"a": np.float32([1, 2])}), np.uint8).copy()
    model = weights.view(content)
    del content
    view = model["a"].numpy()
    model.close()
    del model
    gc.collect()
    assert view.tolist() == [1, 2]


# ---- Errors


def test_files_that_cannot_be_read(tmp_path):
    with pytest.raises(UnreadableFile, match="absent.gguf") as error:
        weights.open(tmp_path / "absent.gguf")
    assert isinstance(error.value, OSError)
    with pytest.raises(UnreadableFile, match="0 files"):
        weights.open(tmp_path)
    good = files.gguf({"w": ("F32", (4,), bytes(16))})
    with pytest.raises(DamagedFile, match="short.gguf"):
        weights.open(write(tmp_path, "short.gguf", good[:-32]))
    with pytest.raises(UnsupportedFormat, match="version.gguf"):
        weights.open(write(tmp_path, "version.gguf", good[:4] + b"\x09" + good[5:]))
    with pytest.raises(DamagedFile, match="given"):
        weights.view(b"GGUF", "given")
    with pytest.raises(TypeError, match="uint8"):
        weights.view(np.zeros(4, np.float32))


def test_arguments_that_are_refused():
    t, _ = files.gptq(64, 32)
    with pytest.raises(InvalidArgument, match="bits"):
        weights.from_gptq(t["qweight"], t["scales"], bits=5)
    with pytest.raises(InvalidArgument, match="group"):
        weights.from_gptq(t["qweight"], t["scales"], group=16)
    with pytest.raises(InvalidArgument, match="scales"):
        weights.from_gptq(t["qweight"], t["scales"].astype(np.float32))
    with pytest.raises(InvalidArgument, match="qweight"):
        weights.from_gptq(t["qweight"][0], t["scales"])
    with pytest.raises(InvalidArgument, match="version"):
        weights.from_awq(t["qweight"], t["qzeros"], t["scales"], version="gem")
    with pytest.raises(InvalidArgument, match="group"):
        weights.from_matrix(np.zeros((8, 64), np.float32), group=48)
    with pytest.raises(InvalidArgument, match="Q9_9"):
        weights.block_bytes("Q9_9", 32)
    with pytest.raises(TypeError, match="weights"):
        weights.packed_bytes(t["qweight"])
    with pytest.raises(TypeError, match="device"):
        weights.view(files.gguf({"w": ("Q8_0", (1, 32), bytes(34))})).layers()[0].repack(3.5)


@pytest.mark.parametrize("bits, symmetric", [(4, True), (4, False), (8, True)])
def test_matrices_are_quantised(bits, symmetric):
    w = files.numbers(32 * 64).reshape(32, 64)
    packed = weights.from_matrix(w, bits=bits, group=32, symmetric=symmetric)
    error = np.abs(weights.dequantise(packed, "f32") - w).max()
    step = np.abs(w).max() / (127 if bits == 8 else 7.5)
    assert error <= 0.51 * step * (1 + 2**-7) + 2**-8 * np.abs(w).max()
