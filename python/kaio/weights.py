"""Files of weights, and the quantised layers in them.

    import kaio
    with kaio.weights.open("model.safetensors") as model:      # or *.gguf, an index of several files, a folder
        for tensor in model.values():
            print(tensor.name, tensor.shape, tensor.format)
        norm = model["model.norm.weight"].numpy("f32")
        for layer in model.layers():                            # config.json next to the file is read
            w = layer.repack("cuda:0")                          # kaio.W4Weights, or kaio.W8Weights
            y = kaio.matmul_w4(x, w)

The files are mapped: opening reads no tensor. A view of a tensor keeps its file mapped, also after close(). Nobody may
shorten a file meanwhile. docs/python/weights.md has the whole of it.

The functions from_... pack tensors that a program has already.
"""

from __future__ import annotations

import os
import pathlib
from collections.abc import Iterator, Mapping
from typing import Any

from . import _core
from ._layers import QuantisedLayer, QuantisedLayers
from ._packed import (
    block_bytes,
    dequantise,
    from_awq,
    from_bitsandbytes,
    from_blocks,
    from_compressed_tensors,
    from_fp8,
    from_gptq,
    from_int8,
    from_llm_int8,
    from_matrix,
    from_mxfp4,
    from_nvfp4,
    from_tinygemm,
    from_torchao_int4,
    packed_bytes,
)
from ._weight_tensor import WeightTensor
from .errors import UnreadableFile

__all__ = [
    "QuantisedLayer",
    "QuantisedLayers",
    "Weights",
    "WeightTensor",
    "block_bytes",
    "dequantise",
    "from_awq",
    "from_bitsandbytes",
    "from_blocks",
    "from_compressed_tensors",
    "from_fp8",
    "from_gptq",
    "from_int8",
    "from_llm_int8",
    "from_matrix",
    "from_mxfp4",
    "from_nvfp4",
    "from_tinygemm",
    "from_torchao_int4",
    "open",
    "packed_bytes",
    "view",
]
_CONFIGS = ("config.json", "quantize_config.json", "hf_quant_config.json")


class _Metadata(Mapping[str, Any]):
    """The values of a file's metadata by their keys. A list is read when it is asked for."""

    def __init__(self, file: _core.WeightFile, count: int) -> None:
        self._file = file
        self._indices = {file.key(i): i for i in range(count)}

    def __getitem__(self, key: str) -> Any:
        return self._file.value(self._indices[key])

    def __iter__(self) -> Iterator[str]:
        return iter(self._indices)

    def __len__(self) -> int:
        return len(self._indices)

    def __repr__(self) -> str:
        return f"<{len(self)} values: {', '.join(self._indices)}>"


class Weights(Mapping[str, WeightTensor]):
    """An open model: its tensors by their names, in the order of the file.

    It is a context manager. close() ends the reading; views of tensors keep the mapped files as long as they are there.
    """

    path: str
    """what was opened"""
    kind: str
    """ "gguf" or "safetensors" """
    version: int
    """of GGUF; else 0"""
    files: int
    """the number of files that are mapped"""
    metadata: Mapping[str, Any]
    """the values of the metadata: of safetensors strings, of GGUF numbers, strings and lists"""

    def __init__(self, file: _core.WeightFile, path: str, folder: pathlib.Path | None) -> None:
        facts = file.describe()
        self._file, self._folder = file, folder
        self.path, self.kind, self.version, self.files = path, facts["kind"], facts["version"], facts["files"]
        self.metadata = _Metadata(file, facts["metadata"])
        tensors = [WeightTensor(file, i) for i in range(facts["tensors"])]
        self._tensors = tensors
        self._by_name = {t.name: t for t in tensors}

    def __getitem__(self, name: str) -> WeightTensor:
        return self._by_name[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._by_name)

    def __len__(self) -> int:
        return len(self._by_name)

    def __repr__(self) -> str:
        return f"<kaio.Weights of '{self.path}': {self.kind}, {len(self)} tensors>"

    def __enter__(self) -> Weights:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @property
    def closed(self) -> bool:
        """Whether close() was called."""
        return bool(self._file.closed)

    def close(self) -> None:
        """Ends the reading. A second call does nothing."""
        self._file.close()

    def layers(self, config: str | os.PathLike[str] | bool | None = None) -> QuantisedLayers:
        """The quantised layers: of safetensors those whose tensors make one weight together, of GGUF the matrices of blocks.

        config: the path of a config.json, quantize_config.json or hf_quant_config.json. None: the first of these next to the
          file that exists. False: none.
        Raises UnreadableFile, DamagedFile for the configuration.
        """
        path = None if isinstance(config, bool) or config is None else os.fspath(config)
        if config is None and self._folder is not None:
            path = next((str(self._folder / name) for name in _CONFIGS if (self._folder / name).is_file()), None)
        return QuantisedLayers(self.kind, self._tensors, self._file.layers(path), path)


def open(path: str | os.PathLike[str]) -> Weights:
    """Opens a model, and checks its structure. Its tensors are not read yet.

    path: *.gguf, of several files any; *.safetensors; the index model.safetensors.index.json of several files; or a folder,
      with that index, or with one file of weights
    Raises UnreadableFile, DamagedFile, UnsupportedFormat, which name the file.
    """
    given = pathlib.Path(os.fspath(path))
    file = given
    if given.is_dir():
        file = next(
            (given / name for name in ("model.safetensors.index.json", "model.safetensors") if (given / name).is_file()), given
        )
        if file is given:
            found = sorted(given.glob("*.safetensors")) or sorted(given.glob("*.gguf"))
            if len(found) != 1:
                raise UnreadableFile(
                    f"kaio: folder '{given}' has {len(found)} files of weights and no model.safetensors.index.json; name a file"
                )
            file = found[0]
    return Weights(_core.open_weights(str(file)), str(file), file.parent)


def view(data: Any, name: str = "memory") -> Weights:
    """Opens a model in memory: bytes, a bytearray, a memoryview, or a NumPy array of uint8. It must not change meanwhile.

    name: for messages
    Raises DamagedFile, UnsupportedFormat.
    """
    import numpy

    memory = data if isinstance(data, numpy.ndarray) else numpy.frombuffer(data, dtype=numpy.uint8)
    if memory.dtype != numpy.uint8 or not memory.flags.c_contiguous:
        raise TypeError("kaio: argument data has to be bytes, or a NumPy array of uint8 without gaps")
    return Weights(_core.view_weights(memory.ctypes.data, memory.nbytes, name, memory), name, None)
