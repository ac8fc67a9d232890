#!/usr/bin/env python3
"""kaio weights lists the tensors of generated files, with what kaio does with their formats, and refuses damaged files.
Usage: weights.py PATH_OF_KAIO"""

import json
import os
import pathlib
import re
import struct
import subprocess
import sys
import tempfile
import unittest

from windows.wine import command_of

program = os.path.abspath(sys.argv.pop(1))
SIZES = {"F32": 4, "I32": 4, "F16": 2, "BF16": 2, "U8": 1, "I8": 1, "F8_E4M3": 1}


def string(text):
    return struct.pack("<Q", len(text)) + text.encode()


def gguf(tensors):
    """tensors: (name, dims as the file has them, type, bytes)"""
    head = b"GGUF" + struct.pack("<IQQ", 3, len(tensors), 1) + string("general.architecture") + struct.pack("<I", 8) + string("llama")
    data = b""
    for name, dims, kind, contents in tensors:
        head += string(name) + struct.pack(f"<I{len(dims)}QIQ", len(dims), *dims, kind, len(data))
        data += contents + bytes(-len(contents) % 32)
    return head + bytes(-len(head) % 32) + data


def safetensors(tensors):
    """tensors: {name: (dtype, shape)}; all elements are 0"""
    header, at = {}, 0
    for name, (dtype, shape) in tensors.items():
        size = SIZES[dtype]
        for extent in shape:
            size *= extent
        header[name] = {"dtype": dtype, "shape": shape, "data_offsets": [at, at + size]}
        at += size
    text = json.dumps(header).encode()
    return struct.pack("<Q", len(text)) + text + bytes(at)


class weights(unittest.TestCase):
    def setUp(self):
        holder = tempfile.TemporaryDirectory()
        self.addCleanup(holder.cleanup)
        self.folder = pathlib.Path(holder.name)

    def run_on(self, name, contents, *more):
        path = self.folder / name
        if contents is not None:
            path.write_bytes(contents)
        return subprocess.run([*command_of(program), "weights", str(path), *more], capture_output=True, text=True, timeout=60)

    def rows(self, done):
        """{tensor: the rest of its line}"""
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.head, table, self.sums = re.fullmatch(r"(.*?)\n\n(.*?)\n\n(.*)", done.stdout, re.DOTALL).groups()
        return {line.split()[0]: re.sub(r" {2,}", " | ", line.split(maxsplit=1)[1]) for line in table.splitlines()[1:]}

    def test_gguf(self):
        rows = self.rows(self.run_on("m.gguf", gguf([
            ("norm", [4], 0, bytes(16)), ("output", [4, 2], 0, bytes(32)), ("q", [256, 2], 12, bytes(288)), ("codebook", [256], 19, bytes(50))])))
        self.assertRegex(self.head, r"m\.gguf: GGUF version 3, 4 tensors, 1 keys, alignment 32, llama")
        self.assertEqual(rows, {
            "norm": "F32 | 4 | 16 | read",
            "output": "F32 | 2 x 4 | 32 | read; multiplied by matmul",
            "q": "Q4_K | 2 x 256 | 288 | read; multiplied by matmul_w4 after repack",
            "codebook": "IQ1_S | 256 | 50 | read"})
        self.assertRegex(self.sums, r"Q4_K +1 +288\n")

    def test_gptq_with_its_configuration(self):
        config = {"quantization_config": {"quant_method": "gptq", "bits": 4, "group_size": 32, "desc_act": False, "sym": True}}
        (self.folder / "config.json").write_text(json.dumps(config))
        tensors = {"l.q.qweight": ("I32", [8, 64]), "l.q.qzeros": ("I32", [2, 8]), "l.q.scales": ("F16", [2, 64]),
                   "norm": ("BF16", [64]), "odd": ("U8", [2]), "lm_head.weight": ("BF16", [4, 64]),
                   "t.weight_qdata": ("I8", [4, 8]), "t.weight_scale": ("BF16", [4, 2]), "u.scales_and_zeros": ("BF16", [2, 4, 2])}
        rows = self.rows(self.run_on("m.safetensors", safetensors(tensors)))
        self.assertIn("9 tensors, 1 quantised layers\nquantization_config: gptq, 4 bits, groups of 32, symmetric", self.head)
        self.assertEqual(rows, {
            "l.q.qweight": "I32 | 8 x 64 | 2048 | GPTQ, 4 bits, groups of 32: 64 x 64; read; multiplied by matmul_w4 after repack",
            "l.q.qzeros": "I32 | 2 x 8 | 64 | zero points of GPTQ",
            "l.q.scales": "F16 | 2 x 64 | 256 | scales of GPTQ",
            "norm": "BF16 | 64 | 128 | read",
            "lm_head.weight": "BF16 | 4 x 64 | 512 | read; multiplied by matmul",
            "t.weight_qdata": "I8 | 4 x 8 | 32 | read",
            "t.weight_scale": "BF16 | 4 x 2 | 16 | read",
            "u.scales_and_zeros": "BF16 | 2 x 4 x 2 | 32 | read",
            "odd": "U8 | 2 | 2 | read"})

    def test_index_of_several_files(self):
        (self.folder / "a.safetensors").write_bytes(safetensors({"x": ("F16", [2])}))
        (self.folder / "b.safetensors").write_bytes(safetensors({"y.weight": ("F8_E4M3", [2, 2]), "y.weight_scale_inv": ("F32", [1, 1])}))
        index = {"weight_map": {"x": "a.safetensors", "y.weight": "b.safetensors", "y.weight_scale_inv": "b.safetensors"}}
        rows = self.rows(self.run_on("model.safetensors.index.json", json.dumps(index).encode()))
        self.assertIn("3 tensors in 2 files, 1 quantised layers", self.head)
        self.assertEqual(rows["y.weight"], "F8_E4M3 | 2 x 2 | 4 | FP8 blocks, 8 bits, blocks of 128 x 128: 2 x 2; read; multiplied by matmul_fp8")

    def test_tensors_that_do_not_fit_together(self):
        rows = self.rows(self.run_on("m.safetensors", safetensors({"w.weight": ("I8", [4, 4]), "w.SCB": ("F32", [2, 3, 4])})))
        self.assertIn("refused: SCB is not of one number a row", rows["w.weight"])

    def test_a_configuration_that_contradicts_the_tensors(self):
        def config(method, group):
            return {"quantization_config": {"quant_method": method, "bits": 4, "group_size": group}}

        tensors = {"l.q.qweight": ("I32", [16, 256]), "l.q.qzeros": ("I32", [16, 2]), "l.q.scales": ("F16", [16, 16])}
        (self.folder / "config.json").write_text(json.dumps(config("awq", 128)))
        rows = self.rows(self.run_on("gemv.safetensors", safetensors(tensors)))
        self.assertEqual(rows["l.q.qweight"], "I32 | 16 x 256 | 16384 | AWQ gemv, 4 bits, groups of 128: 16 x 2048; read; multiplied by matmul_w4 after repack")
        (self.folder / "config.json").write_text(json.dumps(config("awq", 64)))
        rows = self.rows(self.run_on("gemv.safetensors", safetensors(tensors)))
        self.assertEqual(rows["l.q.qzeros"], "I32 | 16 x 2 | 128 | zero points of AWQ gemv, refused")
        self.assertEqual(rows["l.q.qweight"], "I32 | 16 x 256 | 16384 | codes of AWQ gemv, refused: qzeros and scales do not have the groups of the configuration's group_size")
        gptq = {"l.q.qweight": ("I32", [8, 64]), "l.q.scales": ("F16", [2, 64])}
        rows = self.rows(self.run_on("gptq.safetensors", safetensors(gptq)))
        self.assertEqual(rows["l.q.qweight"], "I32 | 8 x 64 | 2048 | codes of GPTQ, refused: the tensors are those of GPTQ, and the configuration's method is awq")

    def test_a_format_that_is_not_read(self):
        config = {"quantization_config": {"quant_method": "gptq", "bits": 4, "group_size": 32, "checkpoint_format": "gptq_p"}}
        (self.folder / "config.json").write_text(json.dumps(config))
        tensors = {"l.q.qweight": ("I32", [8, 64]), "l.q.qzeros": ("I32", [2, 8]), "l.q.scales": ("F16", [2, 64])}
        rows = self.rows(self.run_on("m.safetensors", safetensors(tensors)))
        self.assertIn("quantization_config: gptq (gptq_p), 4 bits, groups of 32", self.head)
        self.assertEqual(rows["l.q.qweight"], "I32 | 8 x 64 | 2048 | codes of GPTQ, refused: the configuration's format is gptq_p; kaio reads GPTQ in gptq, gptq_v2")
        self.assertEqual(rows["l.q.scales"], "F16 | 2 x 64 | 256 | scales of GPTQ, refused")

    def test_what_no_operation_takes(self):
        tensors = {"l.q.qweight": ("I32", [40, 64]), "l.q.qzeros": ("I32", [2, 10]), "l.q.scales": ("F16", [2, 64])}
        rows = self.rows(self.run_on("m.safetensors", safetensors(tensors)))
        self.assertEqual(rows["l.q.qweight"], "I32 | 40 x 64 | 10240 | GPTQ, 5 bits, groups of 128: 64 x 256; read; not multiplied: its codes are of 5 bits, and repack takes 2, 3, 4 and 8")
        blocks = {"w.weight": ("F8_E4M3", [64, 64]), "w.weight_scale": ("F32", [2, 4])}
        rows = self.rows(self.run_on("m.safetensors", safetensors(blocks)))
        self.assertEqual(rows["w.weight"], "F8_E4M3 | 64 x 64 | 4096 | FP8 with scales, 8 bits, blocks of 32 x 16: 64 x 64; read; multiplied by matmul after dequantise")

    def test_torchao(self):
        tensors = {"l.q._weight_qdata": ("U8", [48, 40]), "l.q._weight_scale": ("F8_E4M3", [32, 32]), "l.q._weight_per_tensor_scale": ("F32", [])}
        rows = self.rows(self.run_on("m.safetensors", safetensors(tensors)))
        self.assertEqual(rows["l.q._weight_qdata"], "U8 | 48 x 40 | 1920 | NVFP4 of torchao, 4 bits, groups of 16, swizzled scales: 48 x 80; read; multiplied by matmul_w4 after repack")
        self.assertEqual(rows["l.q._weight_per_tensor_scale"], "F32 | scalar | 4 | global scale of NVFP4 of torchao")

    def test_the_configuration_of_auto_round(self):
        tensors = {"l.q.qweight": ("I32", [8, 64]), "l.q.qzeros": ("I32", [2, 8]), "l.q.scales": ("F16", [2, 64])}
        config = {"quantization_config": {"quant_method": "auto-round", "bits": 4, "group_size": 32, "packing_format": "auto_round"}}
        (self.folder / "config.json").write_text(json.dumps(config))
        rows = self.rows(self.run_on("m.safetensors", safetensors(tensors)))
        self.assertIn("quantization_config: auto-round (gptq_v2), 4 bits, groups of 32", self.head)
        self.assertEqual(rows["l.q.qweight"], "I32 | 8 x 64 | 2048 | GPTQ, 4 bits, groups of 32: 64 x 64; read; multiplied by matmul_w4 after repack")

    def test_the_configuration_of_auto_gptq(self):
        # K = 224 has two groups, of 128: quantize_config.json says so, config.json does not.
        tensors = {"l.q.qweight": ("I32", [28, 64]), "l.q.qzeros": ("I32", [2, 8]), "l.q.scales": ("F16", [2, 64])}
        rows = self.rows(self.run_on("m.safetensors", safetensors(tensors)))
        self.assertIn("refused: the group size of 2 groups of K = 224 is ambiguous", rows["l.q.qweight"])
        (self.folder / "config.json").write_text('{"model_type": "llama"}')
        (self.folder / "quantize_config.json").write_text('{"bits": 4, "group_size": 128, "desc_act": false, "sym": false}')
        rows = self.rows(self.run_on("m.safetensors", safetensors(tensors)))
        self.assertIn("quantization_config: gptq, 4 bits, groups of 128", self.head)
        self.assertEqual(rows["l.q.qweight"], "I32 | 28 x 64 | 7168 | GPTQ, 4 bits, groups of 128: 64 x 224; read; multiplied by matmul_w4 after repack")

    def refused(self, done, *parts):
        self.assertEqual((done.returncode, done.stdout), (1, ""))
        for part in ("kaio: ", *parts):
            self.assertIn(part, done.stderr)

    def test_what_cannot_be_read_is_an_error(self):
        good = gguf([("q", [32], 8, bytes(34))])
        self.refused(self.run_on("m.gguf", good[:-40]), "m.gguf' is damaged: tensor 'q' ends after")
        self.refused(self.run_on("renamed.bin", b"GGUF\4\0\0\0"), "version 4")
        self.refused(self.run_on("m.safetensors", b"\0" * 9), "is no safetensors file: its header does not begin with {")
        self.refused(self.run_on("m.safetensors", safetensors({"x": ("F32", [8])})[:-4]), "the file ends early, and 4 bytes are missing")
        self.refused(self.run_on("other.json", b"{}"), "is no index of safetensors files: it has no weight_map")
        self.refused(self.run_on("none.gguf", None), "cannot be read: No such file")
        self.refused(self.run_on("n.safetensors", safetensors({}), "--config", "/nowhere.json"), "/nowhere.json")
        config = self.folder / "other_config.json"
        config.write_text('{"quantization_config": {"quant_method": "gptq", "group_size": 1e300}}')
        self.refused(self.run_on("n.safetensors", safetensors({}), "--config", str(config)), "config.json' is damaged: its group_size is neither")

    def test_a_configuration_that_is_not_usable_is_a_note(self):
        tensors = {"l.q.qweight": ("I32", [8, 64]), "l.q.qzeros": ("I32", [2, 8]), "l.q.scales": ("F16", [2, 64])}
        for text in ("{", '{"quantization_config": {"quant_method": "gptq", "group_size": 1e300}}', "\x1b"):
            (self.folder / "config.json").write_text(text)
            rows = self.rows(self.run_on("m.safetensors", safetensors(tensors)))
            self.assertEqual(len(rows), 3)
            self.assertIn("multiplied by matmul_w4", rows["l.q.qweight"])
            self.assertRegex(self.head, r"note: the configuration is not used: kaio: '[^']*config.json' is damaged")
        (self.folder / "hf_quant_config.json").write_text('{"quantization": {"quant_algo": "NVFP4", "group_size": 16}}')
        self.rows(self.run_on("m.safetensors", safetensors(tensors)))
        self.assertIn("quantization_config: modelopt (nvfp4), groups of 16", self.head)

    def test_tensors_of_unknown_types_and_names(self):
        rows = self.rows(self.run_on("m.gguf", gguf([("a", [32], 8, bytes(34)), ("b", [32], 99, bytes(34)), ("c", [2], 0, bytes(8))])))
        self.assertEqual(rows["b"], "type 99 | 32 | ? | listed; kaio does not know its type, a newer version may")
        self.assertEqual((rows["a"].split()[0], rows["c"].split()[0]), ("Q8_0", "F32"))
        done = self.run_on("m.safetensors", safetensors({"\x1b[31m\n": ("U8", [1])}))
        self.assertIn("\\x1b[31m\\x0a  U8", done.stdout)
        self.assertNotIn("\x1b", done.stdout)
        rows = self.rows(self.run_on("m.safetensors", safetensors({"w.weight": ("F8_E4M3", [4, 4]), "w.shift": ("F32", [4])})))
        self.assertIn("codes of FP8 with scales, refused: kaio does not know what w.shift does to it", rows["w.weight"])
        self.assertEqual(rows["w.shift"], "F32 | 4 | 16 | unknown part of FP8 with scales, refused")


if __name__ == "__main__":
    unittest.main()
