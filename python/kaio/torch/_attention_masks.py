"""Block masks: kaio's and FlexAttention's, as lists for the kernels and as a tensor for gradients."""

from __future__ import annotations

import weakref
from typing import Any

import torch

from .. import operations
from ._attention_operators import NO_BLOCKS, Blocks, Options

Tensor = torch.Tensor

# What a BlockMask of FlexAttention is here. Its lists and its mask_mod do not change after it is made.
_prepared: weakref.WeakKeyDictionary[Any, tuple[Any, tuple[Blocks, Tensor | None]]] = weakref.WeakKeyDictionary()


def _places(counts: Tensor, indices: Tensor, blocks_of_keys: int) -> Tensor:
    """Which blocks of keys a list names: bool of (B', H', Qb, blocks of keys). Entries after a count are not looked at."""
    listed = torch.arange(indices.shape[-1], device=indices.device) < counts[..., None]
    # Entries after the count go to a column that is cut off.
    columns = torch.where(listed, indices, blocks_of_keys).long()
    places = torch.zeros((*columns.shape[:-1], blocks_of_keys + 1), dtype=torch.bool, device=indices.device)
    return places.scatter(-1, columns, True)[..., :blocks_of_keys]


def _expand(places: Tensor, blocks: Blocks, queries: int, keys: int) -> Tensor:
    """A value for each block as one for each pair of a query and a key."""
    by_query = places.repeat_interleave(blocks.block_queries, -2)[..., :queries, :]
    return by_query.repeat_interleave(blocks.block_keys, -1)[..., :keys]


def band(queries: int, keys: int, causal: str, left: int, right: int, device: torch.device) -> Tensor:
    """The causal mask and the window as a tensor: bool of (queries, keys), True where a key is kept."""
    own = torch.arange(queries, device=device)[:, None]
    key = torch.arange(keys, device=device)[None, :]
    aligned = own + (keys - queries)
    keep = torch.ones((queries, keys), dtype=torch.bool, device=device)
    if causal == "top_left":
        keep = keep & (key <= own)
        aligned = own
    if causal == "bottom_right":
        keep = keep & (key <= aligned)
    if left >= 0:
        keep = keep & (key >= aligned - left)
    if right >= 0:
        keep = keep & (key <= aligned + right)
    return keep


def dense(blocks: Blocks, queries: int, keys: int, mask: Tensor | None) -> Tensor:
    """A block mask as a tensor: bool of (B', H', queries, keys).

    mask: what partial blocks keep, of a shape that broadcasts to it; None: all
    """
    columns = -(-keys // blocks.block_keys)
    kept = _expand(_places(blocks.kv_num_blocks, blocks.kv_indices, columns), blocks, queries, keys)
    if mask is not None:
        kept = kept & mask
    if blocks.full_kv_num_blocks is not None:
        kept = kept | _expand(_places(blocks.full_kv_num_blocks, blocks.full_kv_indices, columns), blocks, queries, keys)
    return kept


def _of_flex(mask: Any, queries: int, keys: int) -> tuple[Blocks, Tensor | None]:
    from torch.nn.attention import flex_attention

    block_queries, block_keys = mask.BLOCK_SIZE
    blocks = Blocks(mask.kv_num_blocks, mask.kv_indices, mask.full_kv_num_blocks, mask.full_kv_indices, block_queries, block_keys)
    if mask.mask_mod is getattr(flex_attention, "noop_mask", None) or mask.mask_mod is getattr(
        flex_attention, "_noop_mask", None
    ):
        return blocks, None
    batches, heads = mask.kv_num_blocks.shape[:2]
    kept = flex_attention.create_mask(mask.mask_mod, batches, heads, queries, keys, device=mask.kv_num_blocks.device)
    return NO_BLOCKS, dense(blocks, queries, keys, kept)


def without_blocks(blocks: Blocks, options: Options, keep: Tensor | None, queries: int, keys: int) -> tuple[Options, Tensor]:
    """The options and the mask tensor with which a call without a block mask gives the same result."""
    mask = None
    if options.causal != "none" or options.window_left >= 0 or options.window_right >= 0:
        device = blocks.kv_num_blocks.device
        mask = band(queries, keys, options.causal, options.window_left, options.window_right, device)
    kept = dense(blocks, queries, keys, mask)
    scale, softcap, _, _, _, precision, batch_invariant = options
    return Options(scale, softcap, "none", -1, -1, precision, batch_invariant), kept if keep is None else kept & keep.bool()


def blocks_of(mask: Any, queries: int, keys: int, has_band: bool) -> tuple[Blocks, Tensor | None]:
    """The lists of a block mask, or the keys that it keeps: bool of (B', H', queries, keys).

    Kernels that walk over lists have no other mask than a causal one and a window: a mask_mod makes the whole a tensor.
    """
    if mask is None:
        return NO_BLOCKS, None
    if isinstance(mask, operations.BlockMask):
        if mask.kv_num_blocks is None or mask.kv_indices is None:
            raise ValueError("kaio: attention: argument block_mask has no kv_num_blocks and kv_indices; both are needed")
        return (
            Blocks(
                mask.kv_num_blocks,
                mask.kv_indices,
                mask.full_kv_num_blocks,
                mask.full_kv_indices,
                mask.block_queries,
                mask.block_keys,
            ),
            None,
        )
    if not hasattr(mask, "kv_num_blocks") or not hasattr(mask, "mask_mod"):
        raise TypeError(
            f"kaio: attention: argument block_mask is a {type(mask).__name__}; it has to be a kaio.BlockMask, or torch's"
        )
    if has_band:
        raise ValueError("kaio: attention: causal or window next to a BlockMask of FlexAttention; its mask_mod says it already")
    lengths = getattr(mask, "seq_lengths", (queries, keys))
    if tuple(lengths) != (queries, keys):
        raise ValueError(
            f"kaio: attention: argument block_mask is for {lengths[0]} queries and {lengths[1]} keys, "
            f"and there are {queries} and {keys}"
        )
    if torch.compiler.is_compiling():
        return _of_flex(mask, queries, keys)
    key = (queries, keys, mask.kv_num_blocks.device)
    found = _prepared.get(mask)
    if found is None or found[0] != key:
        found = (key, _of_flex(mask, queries, keys))
        _prepared[mask] = found
    return found[1]
