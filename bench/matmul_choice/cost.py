"""seconds_of() of src/ops/matmul/choice/cost.cpp on an H200, for arrays of numpy or jax (xp): what is fitted."""

multiprocessors, clock = 132, 1.98e9


def seconds(xp, w, family, device, start_clocks, rate, dram):
    """w: the numbers of kernel_work, and whether kernels are persistent and general; family: by field, for each row."""
    filled = w.blocks / w.at_once
    rounds = xp.floor(filled)
    halved = (w.halves == 1) & (filled > rounds) & (filled - rounds <= .5)
    running = xp.minimum(w.blocks * xp.where(halved, 2, 1), w.at_once)
    sharing = xp.maximum(1, running / multiprocessors)
    whole = xp.where(halved, rounds + family["half_wave"], xp.ceil(filled))
    waves = xp.maximum(xp.minimum(whole, 1), filled + family["last_wave"] * (whole - filled))
    tensor = w.operations / (w.operations_in_clock * rate) * sharing
    shared = w.shared_bytes / device["shared"] * sharing
    l2 = ((w.loaded_bytes + w.crossing_bytes * device["crossing"])
          / xp.minimum(device["l2_of_one"] / sharing, device["l2_of_all"] * multiprocessors / running)
          + w.short_lines * device["short_line_clocks"] * sharing)
    step = (xp.maximum(xp.maximum(tensor, shared), l2) + w.copied * device["copy_clocks"] * sharing
            + family["step_clocks"])
    store = ((w.results + w.outside * family["outside"]) * w.result_bytes / family["store_bytes"]
             * xp.where(w.is_general == 1, family["general"], 1) * sharing)
    activation = sum((w.activation == i) * family[name]
                     for i, name in ((2, "gelu_clocks"), (3, "gelu_tanh_clocks"), (4, "silu_clocks")))
    store += xp.where(w.sums > 0, 0, w.results / 32 * (
        w.bias * family["bias_clocks"] + w.addends * family["addend_clocks"] + activation * sharing))
    start = (start_clocks + w.clusters * device["cluster_clocks"]
             + w.exchanges * device["exchange_clocks"] * w.cluster_splits)
    block = w.steps * step + store
    computing = xp.where(w.persistent, start + waves * block, waves * (start + block)) / clock
    reading = w.read_and_written / (dram * device["dram_share"])
    second = xp.where(w.sums > 0, device["second_kernel_seconds"]
                       + 2 * w.sums / (device["l2_of_all"] * multiprocessors * clock), 0)
    return (device["launch_seconds"] + xp.maximum(computing, reading)
            + family["not_hidden"] * xp.minimum(computing, reading) + second)
