#!/usr/bin/env python3
"""Records the frequencies that Hugging Face's transformers computes for configurations of each kind of rope, for
rotary_recorded.cpp.

    rope_tables.py RECORDED           compares the recorded numbers with those of the installed transformers; exits with 77
                                      if it is not installed
    rope_tables.py RECORDED --write   records them
"""

import argparse
import pathlib
import re
import sys

# Name, head size, max_position_embeddings, length of the sequence, rope_parameters, scaling as C++.
cases = [
    ("linear", 32, 8192, None, {"rope_type": "linear", "rope_theta": 500000.0, "factor": 4.0}, "rotary_scaling::linear(4)"),
    ("dynamic", 32, 2048, 8192, {"rope_type": "dynamic", "rope_theta": 10000.0, "factor": 2.0}, "rotary_scaling::dynamic(2, 2048, 8192)"),
    ("dynamic, a short sequence", 32, 2048, 100, {"rope_type": "dynamic", "rope_theta": 10000.0, "factor": 2.0},
     "rotary_scaling::dynamic(2, 2048, 100)"),
    ("yarn", 64, 131072, None, {"rope_type": "yarn", "rope_theta": 1000000.0, "factor": 4.0,
                                "original_max_position_embeddings": 32768}, "rotary_scaling::yarn(4, 32768)"),
    ("yarn, ends between pairs", 64, 131072, None,
     {"rope_type": "yarn", "rope_theta": 150000.0, "factor": 32.0, "beta_fast": 32.0, "beta_slow": 1.0, "truncate": False,
      "original_max_position_embeddings": 4096}, "rotary_scaling::yarn(32, 4096, 32, 1, {}, false)"),
    ("yarn, an attention factor", 32, 131072, None,
     {"rope_type": "yarn", "rope_theta": 10000.0, "factor": 8.0, "beta_fast": 16.0, "beta_slow": 2.0, "attention_factor": 1.25,
      "original_max_position_embeddings": 4096}, "rotary_scaling::yarn(8, 4096, 16, 2, 1.25)"),
    ("yarn, two scales", 64, 163840, None,
     {"rope_type": "yarn", "rope_theta": 10000.0, "factor": 40.0, "beta_fast": 32, "beta_slow": 1, "mscale": 1.0,
      "mscale_all_dim": 0.707, "original_max_position_embeddings": 4096}, "scaled(rotary_scaling::yarn(40, 4096), 1.0, 0.707)"),
    ("longrope, short", 32, 131072, 4096,
     {"rope_type": "longrope", "rope_theta": 10000.0, "original_max_position_embeddings": 4096,
      "short_factor": [1 + i / 64 for i in range(16)], "long_factor": [1 + i * i / 4 for i in range(16)]},
     "rotary_scaling::longrope(factors(16, [](double i) { return 1 + i / 64; }), 32, 4096)"),
    ("longrope, long", 32, 131072, 4097,
     {"rope_type": "longrope", "rope_theta": 10000.0, "original_max_position_embeddings": 4096,
      "short_factor": [1 + i / 64 for i in range(16)], "long_factor": [1 + i * i / 4 for i in range(16)]},
     "rotary_scaling::longrope(factors(16, [](double i) { return 1 + i * i / 4; }), 32, 4096)"),
    ("llama3", 64, 131072, None,
     {"rope_type": "llama3", "rope_theta": 500000.0, "factor": 8.0, "low_freq_factor": 1.0, "high_freq_factor": 4.0,
      "original_max_position_embeddings": 8192}, "rotary_scaling::llama3(8, 1, 4, 8192)"),
    ("proportional", 64, 131072, None, {"rope_type": "proportional", "rope_theta": 1000000.0, "partial_rotary_factor": 0.27,
                                        "factor": 8.0}, "rotary_scaling::proportional(0.27, 8)"),
]


def tables():
    """(name, base, scaling as C++, factor of cos and sin, frequencies) of each case, by transformers."""
    from transformers import LlamaConfig
    from transformers.modeling_rope_utils import ROPE_INIT_FUNCTIONS
    kinds = {parameters["rope_type"] for _, _, _, _, parameters, _ in cases}
    if kinds != set(ROPE_INIT_FUNCTIONS):
        sys.exit(f"failed: transformers has the kinds {sorted(ROPE_INIT_FUNCTIONS)}, and the cases have {sorted(kinds)}")
    result = []
    for name, size, longest, length, parameters, scaling in cases:
        config = LlamaConfig(head_dim=size, max_position_embeddings=longest, rope_parameters=dict(parameters))
        frequencies, factor = ROPE_INIT_FUNCTIONS[parameters["rope_type"]](config, "cpu", seq_len=length)
        result.append((name, parameters["rope_theta"], scaling, float(factor), frequencies.double().tolist()))
    return result


def written(table):
    name, base, scaling, factor, frequencies = table
    lines = [f'    {{"{name}", {base:.0f}, {scaling}, {factor:.9g},', "     {"]
    line = "      "
    for x in frequencies:
        text = f"{x:.9g}, "
        if len(line) + len(text) > 118:
            lines.append(line.rstrip())
            line = "      "
        line += text
    return "\n".join([*lines, line.rstrip(", ") + "}},"])


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("recorded", type=pathlib.Path)
    parser.add_argument("--write", action="store_true")
    arguments = parser.parse_args()
    try:
        import torch  # noqa: F401 - transformers has no tables without it
        import transformers
    except ImportError as missing:
        print(f"skipped: {missing}; pip install torch transformers")
        sys.exit(77)
    if arguments.write:
        head = f"// Written by tests/ops/cache/rope_tables.py --write with transformers {transformers.__version__}.\n"
        arguments.recorded.write_text(head + "\n".join(written(table) for table in tables()) + "\n")
        return
    number = r"-?\d+\.?\d*(?:e[-+]?\d+)?"
    text = arguments.recorded.read_text()
    for table in tables():
        want = written(table)
        begin = want.splitlines()[0].rsplit(",", 2)[0]
        at = text.find(begin)
        if at < 0:
            sys.exit(f"failed: there is no '{begin}'; record it with --write")
        skip = len(begin)
        found = [float(x) for x in re.findall(number, text[at + skip:text.find("}}", at)])]
        expected = [float(x) for x in re.findall(number, want[skip:])]
        if len(found) != len(expected) or any(abs(a - b) > 2e-6 * abs(b) for a, b in zip(found, expected)):
            sys.exit(f"failed: {table[0]}: transformers {transformers.__version__} computes\n{want}")
    print(f"{len(cases)} tables equal those of transformers {transformers.__version__}")


if __name__ == "__main__":
    main()
