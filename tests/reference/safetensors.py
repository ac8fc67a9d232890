#!/usr/bin/env python3
"""Compares kaio's reader with the package safetensors on files with random headers: it must accept and refuse the same files, and
read the same tensors.

usage: safetensors.py PROGRAM [--files N] [--seed N]

PROGRAM is built from safetensors.cpp. Exits with 77 if the package is not installed."""

import argparse
import json
import random
import struct
import subprocess
import sys

sys.path = [folder for folder in sys.path if not folder.endswith("reference")]  # this file has the package's name
try:
    import safetensors
except ImportError:
    print("skipped: the package safetensors is not installed")
    sys.exit(77)

DTYPES = ["BOOL", "F4", "F6_E2M3", "F6_E3M2", "U8", "I8", "F8_E5M2", "F8_E4M3", "F8_E8M0", "F8_E4M3FNUZ", "F8_E5M2FNUZ", "I16",
          "U16", "F16", "BF16", "I32", "U32", "F32", "C64", "F64", "I64", "U64"]
BITS = {name: 4 if name == "F4" else 6 if name[:2] == "F6" else 64 if name[1:] == "64" else 32 if name[1:] == "32" else
        16 if name[-2:] == "16" else 8 for name in DTYPES}
# Texts that replace a part of a header, or precede it.
TOKENS = ["null", "true", "{}", "[]", "[0]", '"U8"', '"F16"', '"F8_E4M3"', '"F2"', '{"U8":null}', "0", "1", "2", "-0", "-1", "1.0", "1e0",
          "1E400", "-1e400", "1e-400", "0e9999999999999999999", "0.1e309", "10e307", "18446744073709551615", "18446744073709551616", "01",
          "1.", ".5", "+1", "NaN", "Infinity", '"\\ud800"', '"\\udc00"', '"\\ud83d\\ude00"', '"\\u12"', '"\\x"', '"\\/"', '"\t"', '"\x7f"',
          '"é"', '"', '""', "'a'", ",", ":", "[", "]", "{", "}", " ", "\n", "\t", "\r", "\f", "\x00", "\ufeff", '"a":1,',
          '"__metadata__":null,', '"__metadata__":{"a":"b"},', '"__metadata__":{"a":1},', '"dtype":"U8",', '"shape":[1],',
          '"data_offsets":[0,1],', '"x":[[[[1]]]],', '["U8",[1],[0,1]]', "[" * 120 + "]" * 120, "[" * 130 + "]" * 130]


def tensor(source, at):
    """A description, often a valid one, and the end of its data."""
    dtype = source.choice(DTYPES)
    shape = [source.choice([0, 1, 1, 2, 2, 3, 4, 8]) for _ in range(source.choice([0, 1, 1, 2, 3]))]
    bits = BITS[dtype]
    for extent in shape:
        bits *= extent
    end = at + bits // 8
    fields = [("dtype", dtype), ("shape", shape), ("data_offsets", [at, end])]
    if source.random() < 0.3:
        source.shuffle(fields)
    if source.random() < 0.1:
        fields.insert(source.randrange(4), ("more", source.choice([None, 1.5, [1, {"a": "b"}], "x"])))
    return ([value for _, value in fields] if source.random() < 0.05 else dict(fields)), end


def file(source):
    members, at = [], 0
    if source.random() < 0.3:
        members.append(("__metadata__", source.choice([None, {}, {"format": "pt"}, {"a": "b", "c": "d"}])))
    for _ in range(source.choice([0, 1, 1, 2, 3])):
        description, end = tensor(source, at)
        members.append((source.choice(["a", "b", "c", "", "w.weight", "é\U0001f600", "\x00", "a\nb"]), description))
        at = source.choice([at, end, end, end, end, end, end, end + 1])
    if source.random() < 0.3:
        source.shuffle(members)
    separators = (",", ":") if source.random() < 0.5 else (", ", ": ")
    dump = lambda value: json.dumps(value, ensure_ascii=source.random() < 0.5, separators=separators)  # noqa: E731
    text = "{" + separators[0].join(dump(name) + separators[1] + dump(value) for name, value in members) + "}"
    while source.random() < 0.5:
        begin = source.randrange(len(text) + 1)
        if source.random() < 0.7:  # where a value or a name begins
            begin = max(text.rfind(mark, 0, begin) for mark in ':,[{') + 1
        end = begin + source.choice([0, 0, 1, 2, 4])
        if source.random() < 0.4:
            ends = [at for at in (text.find(mark, begin + 1) for mark in ",]}:") if at >= 0]
            end = min(ends, default=end)
        text = text[:begin] + source.choice(TOKENS) + text[end:]
    header = text.encode()
    if source.random() < 0.05:
        where = source.randrange(len(header) + 1)
        header = header[:where] + bytes([source.randrange(256)]) + header[where:]
    header += b" " * source.choice([0, 0, 1, 8])
    length = len(header) + source.choice([0] * 20 + [-1, 1])
    data = bytes(source.randrange(256) for _ in range(max(0, at + source.choice([0] * 10 + [-1, 1]))))
    return struct.pack("<Q", max(length, 0)) + header + data


def verdict(contents):
    """The line that the program must write."""
    try:
        tensors = safetensors.deserialize(contents)
    except safetensors.SafetensorError:
        return "refused", None
    listed = []
    for name, of in tensors:
        shape = "".join(f"{extent}," for extent in of["shape"])
        listed.append(f" {name.encode().hex()} {of['dtype']} [{shape}] {bytes(of['data']).hex()}")
    return "accepted", sorted(listed)


def main():
    arguments = argparse.ArgumentParser()
    arguments.add_argument("program")
    arguments.add_argument("--files", type=int, default=20_000)
    arguments.add_argument("--seed", type=int, default=20261130)
    options = arguments.parse_args()
    source = random.Random(options.seed)
    files = [file(source) for _ in range(options.files)]
    ran = subprocess.run([options.program], input=b"".join(struct.pack("<Q", len(f)) + f for f in files), capture_output=True)
    lines = ran.stdout.decode().splitlines()
    if ran.returncode or len(lines) != len(files):
        print(f"{options.program} exits with {ran.returncode} after {len(lines)} of {len(files)} files", ran.stderr.decode())
        return 1
    accepted = wrong = 0
    for contents, line in zip(files, lines):
        is_accepted, tensors = verdict(contents)
        accepted += is_accepted == "accepted"
        read = line.split(" ")[0], sorted(line[len("accepted"):].split(";")[:-1]) if line != "refused" else None
        if read != (is_accepted, tensors):
            wrong += 1
            if wrong <= 10:
                print(f"{contents!r}\n  kaio:        {line}\n  safetensors: {is_accepted} {tensors}")
    print(f"{len(files)} files, {accepted} accepted by safetensors {safetensors.__version__}, {wrong} differ")
    return 1 if wrong or not len(files) // 20 < accepted < len(files) * 19 // 20 else 0


if __name__ == "__main__":
    sys.exit(main())
