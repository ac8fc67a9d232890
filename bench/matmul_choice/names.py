"""The names that kernels had when they were measured."""

import re


def of_today(known, name):
    """The name that a kernel has now, of the known ones. Once there was a kernel for pairs of blocks that share tiles of B,
    and another for blocks alone; the launch gives the cluster now, and how many blocks of mma.sync share a tile. And
    kernels for C of 16 bits had alpha alone."""
    if name not in known:
        name = re.sub(r"(sm90_(b?f16)_\2_.*)_scaled$", r"\1_terms", name)
    by_launch = re.sub("_c[12]x1_", "_cnx1_", re.sub("^(matmul_mma_.*)_split8_", r"\1_splitn_", name))
    return by_launch if name not in known and by_launch in known else name
