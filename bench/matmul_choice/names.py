"""Maps the names that kernels had when they were measured to present names."""

import re


def of_today(known, name):
    """The present name of a kernel, if it is one of the known names. A recorded name can differ in two ways:

    - Pairs of blocks that share tiles of B had a kernel of their own, and so had eight blocks of mma.sync that share a tile.
      Now the launch gives the cluster and the number of blocks.
    - Kernels for C of 16 bits had only alpha.
    """
    if name not in known:
        name = re.sub(r"(sm90_(b?f16)_\2_.*)_scaled$", r"\1_terms", name)
    by_launch = re.sub("_c[12]x1_", "_cnx1_", re.sub("^(matmul_mma_.*)_split8_", r"\1_splitn_", name))
    return by_launch if name not in known and by_launch in known else name
