"""kaio for torch: operators with gradients, for eager calls, torch.compile and CUDA graphs.

Tensors of the CPU run on kaio's emulator. docs/python/torch.md has the whole of it.
"""

from __future__ import annotations

from ._activation import activation, gated
from ._attention import attention, attention_varlen
from ._attention_scores import SCORES, alibi_slopes
from ._cache import append_kv, gather_kv
from ._embedding import embedding
from ._experts import (
    RoutedTokens, combine_experts, gate_up_grouped, gather_tokens, matmul_grouped, sort_by_expert, topk_router,
)  # fmt: skip
from ._experts_codes import matmul_fp8_grouped, matmul_int8_grouped, matmul_w4_grouped, matmul_w8_grouped
from ._experts_module import Experts
from ._experts_quantised import QuantisedExperts
from ._flash_attention import (
    flash_attn_func, flash_attn_kvpacked_func, flash_attn_qkvpacked_func, flash_attn_varlen_func,
    flash_attn_varlen_kvpacked_func, flash_attn_varlen_qkvpacked_func, flash_attn_with_kvcache,
)  # fmt: skip
from ._flash_attention_impl import register_flash_attention_impl
from ._layer_norm import LayerNorm, layer_norm
from ._load import LoadReport, load_quantised
from ._linear_cross_entropy import linear_cross_entropy
from ._matmul import Linear, linear, matmul
from ._norm import RMSNorm, rms_norm, rms_norm_codes
from ._patch import Report, patch
from ._projections import Norm, gate_up, gate_up_project, qkv_project, swiglu_mlp
from ._quant import Linear4, Linear8, LinearFp8
from ._quant_codes import (
    dequantise_fp8, matmul_fp8, matmul_int8, quantise_fp8, quantise_fp8_blocks, quantise_int8, quantise_mxfp4, quantise_nvfp4,
    quantise_w4,
)  # fmt: skip
from ._quant_ops import dequantise, matmul_w4, matmul_w8
from ._rotary import rotary, rotary_table, rotary_varlen
from ._sample import sample
from ._softmax import cross_entropy, log_softmax, softmax
from ._transformers import register_transformers

__all__ = [
    "Experts",
    "LayerNorm",
    "Linear",
    "Linear4",
    "Linear8",
    "LinearFp8",
    "LoadReport",
    "Norm",
    "QuantisedExperts",
    "RMSNorm",
    "Report",
    "RoutedTokens",
    "SCORES",
    "activation",
    "alibi_slopes",
    "append_kv",
    "attention",
    "attention_varlen",
    "combine_experts",
    "cross_entropy",
    "dequantise",
    "dequantise_fp8",
    "embedding",
    "flash_attn_func",
    "flash_attn_kvpacked_func",
    "flash_attn_qkvpacked_func",
    "flash_attn_varlen_func",
    "flash_attn_varlen_kvpacked_func",
    "flash_attn_varlen_qkvpacked_func",
    "flash_attn_with_kvcache",
    "gate_up",
    "gate_up_grouped",
    "gate_up_project",
    "gated",
    "gather_kv",
    "gather_tokens",
    "layer_norm",
    "linear",
    "linear_cross_entropy",
    "load_quantised",
    "log_softmax",
    "matmul",
    "matmul_fp8",
    "matmul_fp8_grouped",
    "matmul_grouped",
    "matmul_int8",
    "matmul_int8_grouped",
    "matmul_w4",
    "matmul_w4_grouped",
    "matmul_w8",
    "matmul_w8_grouped",
    "patch",
    "qkv_project",
    "quantise_fp8",
    "quantise_fp8_blocks",
    "quantise_int8",
    "quantise_mxfp4",
    "quantise_nvfp4",
    "quantise_w4",
    "register_flash_attention_impl",
    "register_transformers",
    "rms_norm",
    "rms_norm_codes",
    "rotary",
    "rotary_table",
    "rotary_varlen",
    "sample",
    "softmax",
    "sort_by_expert",
    "swiglu_mlp",
    "topk_router",
]
