#!/usr/bin/env python3
"""The commands emulate, check and profile work as their help describes, and refuse with the right exit code.
Usage: emulate.py PATH_OF_KAIO"""

import json
import os
import pty
import resource
import shutil
import struct
import subprocess
import sys
import tempfile
import textwrap
import unittest

from windows.wine import command_of

program = os.path.abspath(sys.argv.pop(1))

FINE, USAGE, PTX, FAULT, REFUSED = range(5)

HEAD = ".version 8.3\n.target sm_80\n.address_size 64\n"

# y[i] = factor * x[i] for i < n
SCALE = HEAD + """
.visible .entry scale(.param .u64 x, .param .u64 y, .param .f32 factor, .param .u32 n) {
  .reg .pred %out; .reg .b32 %i, %n, %t, %b; .reg .b64 %x, %y, %o; .reg .f32 %v, %f;
  ld.param.u64 %x, [x];
  ld.param.u64 %y, [y];
  ld.param.f32 %f, [factor];
  ld.param.u32 %n, [n];
  mov.u32 %t, %tid.x;
  mov.u32 %b, %ctaid.x;
  mov.u32 %i, %ntid.x;
  mad.lo.u32 %i, %b, %i, %t;
  setp.ge.u32 %out, %i, %n;
  @%out bra end;
  mul.wide.u32 %o, %i, 4;
  add.u64 %x, %x, %o;
  add.u64 %y, %y, %o;
  ld.global.f32 %v, [%x];
  mul.f32 %v, %v, %f;
  st.global.f32 [%y], %v;
end:
  ret;
}
"""

# Copies the bytes of its first parameter to the buffer of its second.
def echo(kind, register="b64", bytes=8):
    return HEAD + f"""
.visible .entry echo(.param .{kind} value, .param .u64 to) {{
  .reg .b64 %to; .reg .{register} %v;
  ld.param.u64 %to, [to];
  ld.param.{kind} %v, [value];
  st.global.{kind} [%to], %v;
  ret;
}}
"""

PRINT = HEAD + """
.extern .func (.param .b32 result) vprintf(.param .b64 format, .param .b64 values);
.global .align 1 .b8 text[7] = {104, 101, 108, 108, 111, 10, 0};
.visible .entry hello() {
  .reg .b64 %a;
  mov.u64 %a, text;
  cvta.global.u64 %a, %a;
  {
    .param .b64 p0; .param .b64 p1; .param .b32 r;
    st.param.b64 [p0], %a;
    st.param.b64 [p1], 0;
    call.uni (r), vprintf, (p0, p1);
  }
  ret;
}
"""

# Each block writes its number to one word: the last one wins.
RACE = HEAD + """
.visible .entry race(.param .u64 to) {
  .reg .b64 %to; .reg .b32 %b;
  ld.param.u64 %to, [to];
  mov.u32 %b, %ctaid.x;
  st.global.u32 [%to], %b;
  ret;
}
"""

SPIN = HEAD + ".visible .entry spin() {\nagain: bra again;\n}\n"
TRAP = HEAD + ".visible .entry stop() {\ntrap;\nret;\n}\n"
TWO = HEAD + ".visible .entry a() { ret; }\n.visible .entry b(.param .u32 n) { ret; }\n"

CODES = {"f2": "e", "f4": "f", "f8": "d", "i1": "b", "i2": "h", "i4": "i", "i8": "q", "u1": "B", "u2": "H",
         "u4": "I", "u8": "Q", "b1": "?"}


def npy(values, kind, shape=None, version=1, fortran=False, order="<"):
    shape = (len(values),) if shape is None else shape
    descr = ("|" if kind[1] == "1" else order) + kind
    header = repr({"descr": descr, "fortran_order": fortran, "shape": shape})
    size = 10 if version == 1 else 12
    header += " " * (-(size + len(header) + 1) % 64) + "\n"
    prefix = b"\x93NUMPY" + bytes([version, 0]) + struct.pack("<H" if version == 1 else "<I", len(header))
    return prefix + header.encode() + struct.pack(f"{'>' if order == '>' else '<'}{len(values)}{CODES[kind]}", *values)


def read_npy(path):
    with open(path, "rb") as file:
        content = file.read()
    assert content[:8] == b"\x93NUMPY\x01\x00"
    size, = struct.unpack("<H", content[8:10])
    assert (10 + size) % 64 == 0 and content[9 + size:10 + size] == b"\n"
    header = eval(content[10:10 + size])
    kind = header["descr"][1:]
    data = content[10 + size:]
    values = struct.unpack(f"<{len(data) // int(kind[1])}{CODES[kind]}", data)
    return list(values), kind, header["shape"]


class command_line(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name

    def path(self, name):
        return os.path.join(self.folder, name)

    def write(self, name, content):
        with open(self.path(name), "wb") as file:
            file.write(content.encode() if isinstance(content, str) else content)
        return self.path(name)

    def run_it(self, *arguments, environment=None, stdin=None, **more):
        clean = {k: v for k, v in os.environ.items() if not k.startswith("KAIO_")}
        streams = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True, "input": stdin, **more}
        return subprocess.run([*command_of(program), *map(str, arguments)], timeout=120, cwd=self.folder,
                              env={**clean, **(environment or {})}, **streams)

    def emulate(self, text, *arguments, **more):
        return self.run_it("emulate", self.write("kernel.ptx", text), *arguments, **more)

    def scale(self, *arguments, n=100, **more):
        self.write("x.npy", npy([float(i) for i in range(n)], "f4"))
        return self.emulate(SCALE, "--grid", 2, "--block", 64, "--arg", "in:x.npy", "--arg", f"out:y.npy:f32:{n}",
                            "--arg", "2.5:f32", "--arg", f"{n}:u32", *arguments, **more)

    def refuses(self, code, message, done):
        self.assertEqual(done.returncode, code, done.stderr)
        self.assertIn(message, done.stderr)
        self.assertIn("kaio: ", done.stderr)


class emulate(command_line):
    def test_buffers_and_numbers(self):
        done = self.scale()
        self.assertEqual(done.returncode, FINE, done.stderr)
        values, kind, shape = read_npy(self.path("y.npy"))
        self.assertEqual((kind, shape), ("f4", (100,)))
        self.assertEqual(values, [2.5 * i for i in range(100)])
        self.assertEqual(done.stdout, "")
        self.assertRegex(done.stderr, r"kernel 'scale': 2 blocks of 64 threads, \d+ warp instructions, \d+\.\d+ s")

    def test_text_from_the_standard_input(self):
        done = self.run_it("emulate", "-", stdin=TWO, *["--kernel", "a"])
        self.assertEqual(done.returncode, FINE, done.stderr)

    def test_inout_keeps_the_shape_and_other_results_go_elsewhere(self):
        self.write("x.npy", npy([1.0, 2.0, 3.0, 4.0, 5.0, 6.0], "f4", (2, 3)))
        for target, result in (("x.npy:z.npy", "z.npy"), ("x.npy", "x.npy")):
            done = self.emulate(SCALE, "--block", 32, "--arg", "in:x.npy", "--arg", f"inout:{target}", "--arg", "-2:f32",
                                "--arg", "4:u32")
            self.assertEqual(done.returncode, FINE, done.stderr)
            values, _, shape = read_npy(self.path(result))
            self.assertEqual(shape, (2, 3))
            self.assertEqual(values, [-2.0, -4.0, -6.0, -8.0, 5.0, 6.0])

    def test_out_to_the_terminal(self):
        self.write("x.npy", npy([1.5, -2.0, 1e30, 0.1], "f4"))
        done = self.emulate(SCALE, "--block", 4, "--arg", "in:x.npy", "--arg", "out:-:f32:2x2", "--arg", "1:f32",
                            "--arg", "4:u32")
        self.assertEqual(done.stdout, "1.5 -2\n1.00000002e+30 0.100000001\n")

    def test_every_type_of_number(self):
        cases = [("7:u8", "b8", "u1", 7), ("-7:s8", "b8", "i1", -7), ("0xff:b8", "b8", "u1", 255),
                 ("-1:b16", "b16", "u2", 65535), ("-32768:s16", "b16", "i2", -32768),
                 ("4294967295:u32", "b32", "u4", 4294967295), ("-3:i32", "b32", "i4", -3),
                 ("18446744073709551615:u64", "b64", "u8", 18446744073709551615),
                 ("-9223372036854775808:s64", "b64", "i8", -9223372036854775808),
                 ("1.5:f16", "b16", "f2", 1.5), ("65504:f16", "b16", "f2", 65504.0), ("0.1:f32", "b32", "f4", 0.1),
                 ("-inf:f32", "b32", "f4", float("-inf")), ("0.1:f64", "b64", "f8", 0.1),
                 ("1.0:bf16", "b16", "u2", 0x3f80), ("true:bool", "b8", "u1", 1),
                 ("bytes:0x0102030405060708", "b64", "u8", 0x0807060504030201), ("null", "b64", "u8", 0)]
        for text, kind, element, expected in cases:
            with self.subTest(text):
                size = int(kind[1:]) // 8
                names = {"u": "u", "i": "s", "f": "f"}
                result = f"out:r.npy:{names[element[0]]}{size * 8}:1"
                register = kind if size > 1 else "b16"
                done = self.emulate(echo(kind, register), "--arg", text, "--arg", result)
                self.assertEqual(done.returncode, FINE, done.stderr)
                values, found, _ = read_npy(self.path("r.npy"))
                self.assertEqual(found, element)
                if element == "f4":
                    expected, = struct.unpack("<f", struct.pack("<f", expected))
                self.assertEqual(values, [expected])

    def test_structs_are_bytes(self):
        text = HEAD + textwrap.dedent("""
            .visible .entry k(.param .align 8 .b8 s[12], .param .u64 to) {
              .reg .b64 %to, %v; .reg .b32 %w;
              ld.param.u64 %to, [to]; ld.param.b64 %v, [s]; ld.param.b32 %w, [s+8];
              st.global.b64 [%to], %v; st.global.b32 [%to+8], %w;
              ret;
            }""")
        done = self.emulate(text, "--arg", "bytes:000102030405060708090a0b", "--arg", "out:r.npy:u8:12")
        self.assertEqual(done.returncode, FINE, done.stderr)
        self.assertEqual(read_npy(self.path("r.npy"))[0], list(range(12)))

    def test_elements_of_files_are_kept_to_the_bit(self):
        cases = [("f2", [1.5, -0.0]), ("f4", [1.5, float("inf")]), ("f8", [0.1, -2.0]), ("i1", [-128, 127]),
                 ("i2", [-1, 5]), ("i4", [-2147483648, 1]), ("i8", [-1, 1 << 62]), ("u1", [0, 255]), ("u2", [65535, 1]),
                 ("u4", [1, 4294967295]), ("u8", [1, (1 << 64) - 1]), ("b1", [True, False])]
        for kind, values in cases:
            for version in (1, 2, 3):
                with self.subTest(f"{kind} version {version}"):
                    self.write("x.npy", npy(values, kind, version=version))
                    done = self.emulate(echo("b64"), "--arg", "1:u64", "--arg", "zeros:u64:1", "--arg", "null")
                    self.refuses(USAGE, "takes 2 arguments, and 3 are given", done)
                    text = HEAD + ".visible .entry k(.param .u64 p) { ret; }\n"
                    done = self.emulate(text, "--arg", "inout:x.npy:r.npy")
                    self.assertEqual(done.returncode, FINE, done.stderr)
                    self.assertEqual(read_npy(self.path("r.npy")), (values, kind, (2,)))

    def test_a_text_with_carriage_returns(self):
        self.write("x.npy", npy([1.0, 2.0], "f4"))
        done = self.emulate(SCALE.replace("\n", "\r\n"), "--block", 32, "--arg", "in:x.npy", "--arg", "out:y.npy:f32:2", "--arg", "3:f32",
                            "--arg", "2:u32")
        self.assertEqual(done.returncode, FINE, done.stderr)
        self.assertEqual(read_npy(self.path("y.npy"))[0], [3.0, 6.0])
        self.refuses(PTX, "PTX line 11, column 3", self.emulate(SCALE.replace("mov.u32 %t", "mov.u33 %t").replace("\n", "\r\n"), "--arg", "0:u64"))

    def test_empty_arrays_and_scalars(self):
        text = HEAD + ".visible .entry k(.param .u64 p) { ret; }\n"
        for values, shape in (([], (0,)), ([], (3, 0)), ([2.0], ())):
            self.write("x.npy", npy(values, "f4", shape))
            done = self.emulate(text, "--arg", "inout:x.npy:r.npy")
            self.assertEqual(done.returncode, FINE, done.stderr)
            self.assertEqual(read_npy(self.path("r.npy")), (values, "f4", shape))

    def test_printed_text_goes_to_the_standard_output(self):
        done = self.emulate(PRINT, "--grid", 2)
        self.assertEqual((done.returncode, done.stdout), (FINE, "hello\nhello\n"), done.stderr)

    def test_list_names_kernels_and_parameters(self):
        done = self.emulate(TWO, "--list")
        self.assertEqual(done.returncode, FINE, done.stderr)
        self.assertRegex(done.stdout, r"a: 0 bytes of parameters")
        self.assertRegex(done.stdout, r"b: 4 bytes of parameters[^\n]*\n  n +4 bytes at 0")

    def test_repeat_compares_results(self):
        done = self.scale("--repeat", 3, "--seed", 5)
        self.assertEqual(done.returncode, FINE, done.stderr)
        self.assertIn("schedule random:7", done.stderr)
        done = self.emulate(RACE, "--grid", 16, "--arg", "out:r.npy:u32:1", "--repeat", 8)
        self.refuses(FAULT, "its results depend on the schedule: --arg 'out:r.npy:u32:1'", done)

    def test_schedules_are_taken(self):
        for order, last in (("round_robin", 15), ("reverse", 0)):
            done = self.emulate(RACE, "--grid", 16, "--arg", "out:r.npy:u32:1", "--schedule", order)
            self.assertEqual(done.returncode, FINE, done.stderr)
            self.assertEqual(read_npy(self.path("r.npy"))[0], [last])

    def test_dynamic_shared_memory_and_clusters(self):
        text = HEAD.replace("sm_80", "sm_90") + textwrap.dedent("""
            .extern .shared .align 4 .b8 all[];
            .visible .entry k(.param .u64 to) {
              .reg .b64 %to; .reg .b32 %v, %c;
              ld.param.u64 %to, [to]; mov.u32 %v, %dynamic_smem_size; mov.u32 %c, %cluster_nctarank;
              st.shared.u32 [all+1020], %v; st.global.v2.u32 [%to], {%v, %c};
              ret;
            }""")
        done = self.emulate(text, "--grid", "4,2", "--cluster", "2x2", "--shared", 1024, "--arg", "out:r.npy:u32:2")
        self.assertEqual(done.returncode, FINE, done.stderr)
        self.assertEqual(read_npy(self.path("r.npy"))[0], [1024, 4])


class refusals(command_line):
    def test_usage(self):
        self.assertEqual(self.run_it("--help").returncode, FINE)
        self.assertEqual(self.run_it("emulate", "--help").returncode, FINE)
        self.assertEqual(self.run_it().returncode, USAGE)
        self.assertEqual(self.run_it("simulate").returncode, USAGE)
        self.assertEqual(self.run_it("emulate").returncode, USAGE)
        self.assertEqual(self.emulate(TWO, "--no-such-option").returncode, USAGE)
        self.refuses(USAGE, "'none.ptx' cannot be opened", self.run_it("emulate", "none.ptx"))
        self.refuses(USAGE, "has several kernels; choose one with --kernel: a, b", self.emulate(TWO))
        self.refuses(USAGE, "has no kernel 'c'; it has: a, b", self.emulate(TWO, "--kernel", "c"))
        self.refuses(USAGE, "has no kernel", self.emulate(HEAD))
        self.refuses(USAGE, "--arch is 'sm_12'", self.emulate(TWO, "--arch", "sm_12"))
        self.refuses(USAGE, "--schedule is 'often'", self.emulate(TWO, "--schedule", "often"))
        for extent in ("", "a", "1,", "1,2,3,4", "-1", "1.5"):
            self.refuses(USAGE, "--grid is", self.emulate(TWO, "--kernel", "a", f"--grid={extent}")
                         if extent else self.emulate(TWO, "--kernel", "a", "--grid", ""))

    def test_arguments(self):
        one = HEAD + ".visible .entry k(.param .u32 n) { ret; }\n"
        self.refuses(USAGE, "kernel 'k' takes 1 arguments, and 0 are given", self.emulate(one))
        cases = [("3", "neither VALUE:TYPE"), ("3:u128", "there is no type 'u128'"), ("3.5:u32", "is not an integer"),
                 ("4294967296:u32", "4294967296 does not fit in u32"), ("-1:u32", "-1 does not fit in u32"),
                 ("128:s8", "128 does not fit in s8"), (":u32", "is not an integer"), ("x:f32", "is not a number"),
                 (":f32", "is not a number"), ("maybe:bool", "true or false"), ("bytes:0x123", "pairs of hexadecimal"),
                 ("bytes:zz", "is not a hexadecimal byte"), ("3:u16", "is 2 bytes, but parameter 1 ('n')"),
                 ("zeros:f32:4", "is a buffer, whose address has 8 bytes"), ("zeros:f32", "zeros:TYPE:EXTENTS"),
                 ("out:f32:4", "out:FILE:TYPE:EXTENTS"), ("zeros:f32:4x", "the extents are written"),
                 ("zeros:f64:99999999999x99999999999", "larger than 1 TiB"), ("in:", "name of an .npy file is missing"),
                 ("inout:x:", "'x' cannot be opened"), ("in:.", "'.' cannot be read; is it a file?")]
        cases += [(f"{number}:{kind}", f"{number} does not fit in {kind}; infinity is written as inf") for number, kind in
                  (("1e400", "f64"), ("-1e400", "f64"), ("1e39", "f32"), ("65520", "f16"), ("-1e39", "bf16"))]
        for text, message in cases:
            with self.subTest(text):
                self.refuses(USAGE, message, self.emulate(one, "--arg", text))

    def test_files(self):
        good = npy([1.0, 2.0], "f4")
        cases = [(b"", "is not an .npy file"), (b"\x93NUMPX" + good[7:], "is not an .npy file"),
                 (good[:6] + b"\x09" + good[7:], "is of version 9"), (good[:60], "ends within its header"),
                 (good[:-1], "has 7 bytes of elements; its shape needs 8"), (good + b"x", "has 9 bytes of elements"),
                 (npy([1.0], "f4", order=">"), "is big-endian"),
                 (npy([1.0] * 4, "f4", (2, 2), fortran=True), "is in Fortran order"),
                 (good.replace(b"'<f4'", b"'<c8'"), "has elements of type '<c8'"),
                 (good.replace(b"'<f4'", b"[<f4]"), "has elements with fields"),
                 (good.replace(b"False", b"False"[::-1]), "not that of an .npy file"),
                 (good.replace(b"(2,)", b"(-2)"), "not that of an .npy file"),
                 (npy([1.0], "f4", (1 << 62, 1 << 62)), "does not fit in 64 bits")]
        text = HEAD + ".visible .entry k(.param .u64 p) { ret; }\n"
        for content, message in cases:
            with self.subTest(message):
                self.write("bad.npy", content)
                self.refuses(USAGE, message, self.emulate(text, "--arg", "in:bad.npy"))
        done = self.emulate(text, "--arg", "out:no/such/folder.npy:f32:1")
        self.refuses(USAGE, "cannot be written", done)

    def test_newer_versions_and_targets(self):
        for version, target in (("9.5", "sm_75"), ("9.5", "sm_100a"), ("9.9", "sm_120f"), ("12.0", "sm_333")):
            text = SCALE.replace("8.3", version).replace("sm_80", target)
            self.assertEqual(self.emulate(text, "--list").returncode, FINE, (version, target))
        text = SCALE.replace("8.3", "9.5").replace("sm_80", "sm_100a")
        self.refuses(PTX, "the module is for sm_100a", self.emulate(text, "--list", "--arch", "sm_90a"))
        self.assertEqual(self.emulate(text, "--list", "--arch", "sm_100a").returncode, FINE)
        self.refuses(PTX, "kernel.ptx:6:3", self.emulate(text.replace(".reg .pred %out;", ".frob %out;"), "--list"))

    def test_invalid_ptx(self):
        done = self.emulate(HEAD + ".visible .entry k() {\n  add.u33 %a, %b, %c;\n}\n")
        self.refuses(PTX, "kernel.ptx:5:", done)
        self.refuses(PTX, "PTX line", self.emulate("nonsense"))
        self.refuses(PTX, "PTX line", self.emulate(TWO.replace("sm_80", "sm_90"), "--arch", "sm_80"))

    def test_faults(self):
        self.refuses(FAULT, "a thread executed 'trap'", self.emulate(TRAP))
        done = self.emulate(SPIN, "--instruction-limit", 1000)
        self.refuses(FAULT, "more than 1000 warp instructions", done)
        self.write("x.npy", npy([1.0] * 8, "f4"))
        done = self.emulate(SCALE, "--block", 32, "--arg", "in:x.npy", "--arg", "out:y.npy:f32:8", "--arg", "1:f32",
                            "--arg", "9:u32")
        self.refuses(FAULT, "out of bounds", done)
        self.assertFalse(os.path.exists(self.path("y.npy")))

    def test_the_sanitizer_reports(self):
        reads = HEAD + textwrap.dedent("""
            .visible .entry k(.param .u64 from, .param .u64 to) {
              .reg .b64 %from, %to; .reg .b32 %v;
              ld.param.u64 %from, [from]; ld.param.u64 %to, [to];
              ld.global.u32 %v, [%to]; st.global.u32 [%from], %v;
              ret;
            }""")
        self.write("x.npy", npy([1], "u4"))
        arguments = ["--arg", "in:x.npy", "--arg", "out:y.npy:u32:1"]
        self.assertEqual(self.emulate(reads, *arguments).returncode, FINE)
        done = self.emulate(reads, *arguments, "--sanitize", "all")
        self.refuses(FAULT, "PTX line", done)
        self.assertIn("'k'", done.stderr)
        done = self.emulate(reads, *arguments, "--sanitize", "all", "--sanitize-errors", "continue")
        self.refuses(FAULT, "report 2 of 2", done)
        self.refuses(FAULT, "PTX line", self.emulate(RACE, "--grid", 16, "--arg", "out:r.npy:u32:1", "--sanitize", "races"))
        for option in ("--sanitize", "--sanitize-errors"):
            self.refuses(USAGE, option, self.emulate(reads, *arguments, option, "nothing"))

    def test_refused_launches(self):
        self.refuses(REFUSED, "the device allows 1024", self.emulate(TWO, "--kernel", "a", "--block", 2048))
        self.refuses(REFUSED, "shared memory", self.emulate(TWO, "--kernel", "a", "--shared", 1 << 20))
        self.refuses(REFUSED, "whole clusters", self.emulate(TWO, "--kernel", "a", "--grid", 3, "--cluster", 2))


class profiles(command_line):
    def test_text_to_the_terminal(self):
        done = self.scale("--profile", "-")
        self.assertEqual(done.returncode, FINE, done.stderr)
        self.assertIn("kernel 'scale' on sm_90a: 1 launch, 2 blocks, 4 warps", done.stdout)
        self.assertIn("coverage", done.stdout)

    def test_command_profile_prints(self):
        self.scale()
        done = self.run_it("profile", "kernel.ptx", "--grid", 2, "--block", 64, "--arg", "in:x.npy", "--arg",
                           "zeros:f32:100", "--arg", "2:f32", "--arg", "100:u32")
        self.assertEqual(done.returncode, FINE, done.stderr)
        self.assertIn("most costly lines", done.stdout)

    def test_json_has_the_counts(self):
        self.scale("--profile", "p.json")
        with open(self.path("p.json"), encoding="utf-8") as file:
            kernel, = json.load(file)["kernels"]
        self.assertEqual((kernel["name"], kernel["blocks"], kernel["warps"]), ("scale", 2, 4))
        lines = {line["text"]: line for line in kernel["lines"]}
        load = lines["ld.global.f32 %v, [%x];"]
        self.assertEqual(load["warp_instructions"], 4)
        self.assertEqual(load["thread_instructions"], 100)
        self.assertEqual(load["global"]["sectors"], 13)  # 100 floats are 12.5 sectors
        self.assertEqual(lines["@%out bra end;"]["branches"]["divergent"], 1)

    def test_page(self):
        self.scale("--profile", "p.html")
        with open(self.path("p.html"), encoding="utf-8") as file:
            self.assertIn("ld.global.f32 %v, [%x];", file.read())

    def test_a_fault_leaves_its_profile(self):
        done = self.emulate(TRAP, "--profile", "p.txt")
        self.assertEqual(done.returncode, FAULT)
        with open(self.path("p.txt"), encoding="utf-8") as file:
            self.assertIn("1 ended with a fault", file.read())

    def test_a_file_that_cannot_be_written(self):
        self.refuses(USAGE, "'no/such/p.html' cannot be written: No such file or directory", self.emulate(TWO, "--kernel", "a", "--profile", "no/such/p.html"))

    def test_the_environment_asks_for_one_too(self):
        done = self.scale(environment={"KAIO_PROFILE": "q%p.json"})
        self.assertEqual(done.returncode, FINE, done.stderr)
        name, = [name for name in os.listdir(self.folder) if name.startswith("q")]
        self.assertRegex(name, r"^q\d+\.json$")

    def test_a_whole_program(self):
        self.scale()
        done = self.run_it("profile", "--output", "p.json", "--", program, "emulate", "kernel.ptx", "--grid", 2, "--block",
                           64, "--arg", "in:x.npy", "--arg", "zeros:f32:100", "--arg", "2:f32", "--arg", "100:u32")
        self.assertEqual(done.returncode, FINE, done.stderr)
        with open(self.path("p.json"), encoding="utf-8") as file:
            self.assertEqual(json.load(file)["kernels"][0]["name"], "scale")


class outputs(command_line):
    """A user's files are never lost, whatever happens while results are written."""
    small = staticmethod(lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (4096, resource.RLIM_INFINITY)))

    def twice(self, *arguments, n=4096, **more):
        """y = 2 y, in place"""
        return self.emulate(SCALE, "--grid", 64, "--block", 64, "--arg", "in:y.npy", "--arg", "inout:y.npy", "--arg",
                            "2:f32", "--arg", f"{n}:u32", *arguments, **more)

    def test_a_limit_on_file_sizes(self):
        before = npy([1.0] * 4096, "f4")
        self.write("y.npy", before)
        done = self.twice(preexec_fn=self.small)
        self.refuses(USAGE, "'y.npy' cannot be written: File too large; raise the limit on file sizes", done)
        with open(self.path("y.npy"), "rb") as file:
            self.assertEqual(file.read(), before)
        self.write("p.html", "an older profile")
        done = self.twice("--profile", "p.html", preexec_fn=self.small)
        self.refuses(USAGE, "cannot be written: File too large", done)
        with open(self.path("p.html"), encoding="utf-8") as file:
            self.assertEqual(file.read(), "an older profile")
        self.assertEqual(sorted(os.listdir(self.folder)), ["kernel.ptx", "p.html", "y.npy"])
        done = self.twice()
        self.assertEqual(done.returncode, FINE, done.stderr)
        self.assertEqual(read_npy(self.path("y.npy"))[0], [2.0] * 4096)

    def test_scripts_too(self):
        tools = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "tools")
        script = "import sys; sys.path.insert(0, sys.argv[1]); import replace_file; replace_file.replace_file('y', 'x' * 9999)"
        self.write("y", "old")
        os.chmod(self.path("y"), 0o600)
        for limit, code, content in ((self.small, 1, "old"), (None, 0, "x" * 9999)):
            done = subprocess.run([sys.executable, "-B", "-c", script, tools], cwd=self.folder, preexec_fn=limit,
                                  capture_output=True, text=True, timeout=60)
            self.assertEqual(done.returncode, code, done.stderr)
            with open(self.path("y"), encoding="utf-8") as file:
                self.assertEqual(file.read(), content)
            self.assertEqual((os.listdir(self.folder), os.stat(self.path("y")).st_mode & 0o777), (["y"], 0o600))

    def test_a_full_disk(self):
        # A small file system of the user's own, if the system lets a user make one.
        own = ["unshare", "--map-root-user", "--mount"]
        disk = self.path("disk")
        os.mkdir(disk)
        mount = f"mount -t tmpfs -o size=64k none {disk}"
        if shutil.which("unshare") is None or subprocess.run([*own, "sh", "-c", mount], capture_output=True).returncode:
            self.skipTest("a user may not mount a file system here")
        self.write("x.npy", npy([1.0] * 16384, "f4"))
        kernel = self.write("kernel.ptx", SCALE)
        script = (f"{mount} && echo old > {disk}/y.npy && {program} emulate {kernel} --grid 256 --block 64 --arg in:x.npy "
                  f"--arg out:{disk}/y.npy:f32:16384 --arg 2:f32 --arg 16384:u32; echo $?; ls -A {disk}; cat {disk}/y.npy")
        done = subprocess.run([*own, "sh", "-c", script], capture_output=True, text=True, cwd=self.folder, timeout=120)
        self.assertEqual(done.stdout, f"{USAGE}\ny.npy\nold\n", done.stderr)
        self.assertIn("cannot be written: No space left on device; make room there", done.stderr)

    def test_links_and_rights_are_kept(self):
        os.mkdir(self.path("data"))
        self.write("data/y.npy", npy([1.0] * 4096, "f4"))
        os.chmod(self.path("data/y.npy"), 0o640)
        os.symlink("data/y.npy", self.path("y.npy"))
        self.assertEqual(self.twice().returncode, FINE)
        self.assertTrue(os.path.islink(self.path("y.npy")))
        self.assertEqual(os.stat(self.path("data/y.npy")).st_mode & 0o777, 0o640)
        self.assertEqual(read_npy(self.path("data/y.npy"))[0], [2.0] * 4096)

    def test_the_standard_output_is_not_replaced(self):
        with open(self.path("all.txt"), "w", encoding="utf-8") as file:
            done = self.emulate(PRINT, "--profile", "/dev/stdout", stdout=file)
        self.assertEqual(done.returncode, FINE, done.stderr)
        with open(self.path("all.txt"), encoding="utf-8") as file:
            text = file.read()
        self.assertTrue(text.startswith("hello\nkernel 'hello'"), text)

    def test_a_standard_output_that_is_full(self):
        with open("/dev/full", "w", encoding="utf-8") as file:
            self.refuses(USAGE, "the standard output cannot be written", self.emulate(PRINT, stdout=file))


class terminals(command_line):
    """No escape sequence of a file reaches the terminal unchanged; a pipe gets every byte."""
    CLEAR = "\x1b[2J"
    PRINT = PRINT.replace("{104, 101, 108, 108, 111, 10, 0}", "{27, 91, 50, 74, 33, 10, 0}")

    def test_messages(self):
        evil = f"kernel{self.CLEAR}.ptx"
        self.write(evil, f".version 8.3 {self.CLEAR}")
        for arguments in ((evil,), (f"no{self.CLEAR}.ptx",), (self.write("k.ptx", TWO), "--kernel", self.CLEAR),
                          (self.write("k.ptx", TRAP), "--suppressions", self.write("s", f"{self.CLEAR} k\n"), "--sanitize",
                           "all")):
            done = self.run_it("emulate", *arguments)
            self.assertNotEqual(done.returncode, FINE)
            self.assertNotIn("\x1b", done.stderr)
            self.assertIn("\\x1b[2J", done.stderr)

    def test_the_profile(self):
        text = HEAD + f".visible .entry k() {{\nret; // {self.CLEAR}\n}}\n"
        for name in ("-", "p.json", "p.html"):
            done = self.emulate(text, "--profile", name)
            self.assertEqual(done.returncode, FINE, done.stderr)
            shown = done.stdout
            if name != "-":
                with open(self.path(name), encoding="utf-8") as file:
                    shown = file.read()
            self.assertNotIn("\x1b", shown)
            self.assertIn("2J", shown)

    def test_what_a_kernel_prints(self):
        self.assertEqual(self.emulate(self.PRINT).stdout, f"{self.CLEAR}!\n")
        ours, theirs = pty.openpty()
        self.addCleanup(os.close, ours)
        done = self.emulate(self.PRINT, stdout=theirs)
        os.close(theirs)
        self.assertEqual(done.returncode, FINE, done.stderr)
        self.assertEqual(os.read(ours, 1000), b"\\x1b[2J!\r\n")


class checks(command_line):
    def script(self, text):
        path = self.write("script.sh", "#!/bin/sh\n" + text)
        os.chmod(path, 0o755)
        return path

    def test_the_environment_of_the_program(self):
        done = self.run_it("check", self.script('echo "$KAIO_DEVICE $KAIO_SANITIZE $1"'), "--word")
        self.assertEqual((done.returncode, done.stdout), (FINE, "emulator all --word\n"), done.stderr)
        self.assertIn("kaio check: 1 run, 0 failed, 0 reports", done.stderr)

    def test_options_stand_before_the_program(self):
        done = self.run_it("check", "--sanitize", "races", "--schedules", 3, "--",
                           self.script('echo "$KAIO_SCHEDULE $KAIO_SANITIZE"'))
        self.assertEqual(done.stdout, "round_robin races\nreverse races\nrandom:1 races\n", done.stderr)

    def test_exit_codes_are_passed_on(self):
        self.assertEqual(self.run_it("check", self.script("exit 7")).returncode, 7)
        done = self.run_it("check", self.script("kill -9 $$"))
        self.assertEqual(done.returncode, 137)
        self.assertIn("was ended by signal 9", done.stderr)
        self.refuses(USAGE, "cannot be started", self.run_it("check", "./no_such_program"))
        self.refuses(USAGE, "check needs a program", self.run_it("check"))

    def test_reports_are_counted(self):
        done = self.run_it("check", self.script("echo \"kaio: kernel 'k': a race\" >&2; echo other >&2"))
        self.assertEqual(done.returncode, FAULT)
        self.assertIn("1 run, 0 failed, 1 report", done.stderr)

    def test_faults_of_a_program_under_check(self):
        path = self.write("kernel.ptx", TRAP)
        done = self.run_it("check", program, "emulate", path)
        self.assertEqual(done.returncode, FAULT)
        self.assertIn("1 run, 1 failed, 1 report", done.stderr)
        self.assertIn("1 x kernel 'stop': a thread executed 'trap', PTX line 5: trap;", done.stderr)

    def test_the_drivers_place_is_taken(self):
        library = self.write("libkaio_cuda_emulator.so", "")
        script = self.script('echo "$KAIO_DEVICE"; ls "${LD_LIBRARY_PATH%%:*}"; basename "$KAIO_CUDA_LIBRARY"')
        done = self.run_it("check", "--cuda", "--library", library, "--schedules", 2, script)
        self.assertEqual(done.stdout, 2 * "cuda:0\nlibcuda.so\nlibcuda.so.1\nptxas\nlibkaio_cuda_emulator.so\n", done.stderr)
        self.refuses(USAGE, "there is no file 'none.so'", self.run_it("check", "--cuda", "--library", "none.so", script))

    def test_libraries_next_to_the_emulator_get_their_names(self):
        library = self.write("libkaio_cuda_emulator.so", "")
        self.write("libkaio_cublas_emulator.so", "blas")
        script = self.script('cd "${LD_LIBRARY_PATH%%:*}"; ls; cat libcublas.so.12')
        done = self.run_it("check", "--cuda", "--library", library, script)
        names = ["libcublas.so", *(f"libcublas.so.{version}" for version in (11, 12, 13)), "libcuda.so", "libcuda.so.1", "ptxas"]
        self.assertEqual(done.stdout, "\n".join(names) + "\nblas", done.stderr)

    def ptxas(self, *arguments):
        library = self.write("libkaio_cuda_emulator.so", "")
        script = self.script('[ "$TRITON_PTXAS_PATH" = "$TRITON_PTXAS_BLACKWELL_PATH" ] && exec "$TRITON_PTXAS_PATH" "$@"')
        return self.run_it("check", "--cuda", "--library", library, "--", script, *arguments)

    def test_ptxas_of_triton_hands_over_the_text(self):
        self.assertIn("release 13.0,", self.ptxas("--version").stdout)
        path = self.write("kernel.ptx", SCALE)
        done = self.ptxas("-lineinfo", "-v", "--opt-level", 0, "--gpu-name=sm_90a", path, "-o", "kernel.cubin")
        self.assertEqual(done.returncode, FINE, done.stderr)
        with open(self.path("kernel.cubin"), "rb") as made:
            self.assertEqual(made.read(), SCALE.encode() + b"\0")

    def test_ptxas_of_triton_refuses(self):
        path = self.write("kernel.ptx", SCALE.replace("mul.f32", "mul.f33"))
        done = self.ptxas("--gpu-name=sm_90a", path, "-o", "kernel.cubin")
        self.assertEqual(done.returncode, PTX)
        self.assertIn(f"ptxas {path}, line 21; error : 'mul.f33'", done.stderr)
        self.assertFalse(os.path.exists(self.path("kernel.cubin")))
        self.refuses(USAGE, "no file with PTX", self.ptxas("-o", "x"))
        self.refuses(USAGE, "option -o needs a value", self.ptxas(path, "-o"))
        self.refuses(USAGE, "two files, 'a.ptx' and 'b.ptx'", self.ptxas("a.ptx", "b.ptx"))


if __name__ == "__main__":
    unittest.main()
