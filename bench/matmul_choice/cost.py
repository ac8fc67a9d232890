"""seconds_of() of src/ops/matmul/choice/cost.cpp on an H200, for arrays of numpy or jax (xp): the function that is fitted."""

multiprocessors, clock = 132, 1.98e9


def seconds(xp, w, family, device, start_clocks, rate, step_clocks, dram):
    """w: the numbers of kernel_work, and whether each kernel is persistent and general; family: {field: array}."""
    filled = w.blocks / w.at_once
    rounds = xp.floor(filled)
    halved = (w.halves == 1) & (filled > rounds) & (filled - rounds <= .5)
    load = xp.minimum(w.blocks * xp.where(halved, 2, 1), w.at_once) / multiprocessors
    sharing = xp.maximum(1, xp.ceil(load))
    whole = xp.where(halved, rounds + family["half_wave"], xp.ceil(filled))
    waves = xp.maximum(xp.minimum(whole, 1), filled + family["last_wave"] * (whole - filled))
    tensor = w.operations / (w.operations_in_clock * rate) * sharing
    shared = w.shared_bytes / device["shared"] * sharing
    l2 = (w.loaded_bytes / xp.minimum(device["l2_of_one"] / sharing, device["l2_of_all"] / load)
          + w.short_lines * device["short_line_clocks"] * sharing)
    vectors = (w.odd_vectors * device["odd_clocks"] + w.outside_vectors * device["outside_clocks"]) * sharing
    busy = (xp.maximum(xp.maximum(tensor, shared), l2) + vectors
            + w.crossing_bytes / 128 * (device["crossing_clocks"] * sharing + device["crossing_l2_clocks"] * load)
            + w.copied * device["copy_clocks"] * sharing)
    step = xp.maximum(busy, busy / sharing + step_clocks)
    elements = w.results + w.outside * family["outside"]
    plain = (w.is_general != 1) | ((w.sums > 0) & w.persistent)
    store = (elements * w.result_bytes / family["store_bytes"]
             + xp.where(plain, 0, elements / 32 * family["general_clocks"])) * sharing
    activation = sum((w.activation == i) * family[name]
                     for i, name in ((2, "gelu_clocks"), (3, "gelu_tanh_clocks"), (4, "silu_clocks")))
    is_general = w.is_general == 1
    store += xp.where(w.sums > 0, 0, w.results / 32 * (
        xp.where(is_general, w.bias * family["bias_clocks"], 0) + xp.where(is_general, 1, family["terms_share"])
        * (w.addends * family["addend_clocks"] + activation * sharing)))
    start = (start_clocks + load * device["contention_clocks"] + w.clusters * device["cluster_clocks"]
             + w.exchanges * (device["exchange_clocks"] * w.cluster_splits
                              + w.results * 4 * (w.cluster_splits - 1) / device["exchange_bytes"]))
    starts = xp.where(w.persistent, 1, 1 + family["restart"] * (waves - 1))
    computing = (starts * start + waves * (w.steps * step + store)) / clock
    reading = w.read_and_written / (dram * device["dram_share"])
    first = 1 / xp.maximum(1, filled)
    not_hidden = first * family["not_hidden"] + (1 - first) * family["later_not_hidden"]
    second = xp.where(w.sums > 0, device["second_kernel_seconds"]
                      + 2 * w.sums / (device["sum_bytes"] * multiprocessors * clock), 0)
    return (device["launch_seconds"] + xp.maximum(computing, reading)
            + not_hidden * xp.minimum(computing, reading) + second)
