#!/usr/bin/env python3
"""Writes random PTX programs whose results PTX defines to the bit, to compare the emulator with a GPU.

    generate.py --seed 1 --programs 300 FOLDER

Program i of a seed is always the same text. Each is a kernel `k(in, out)` of 2 blocks of 64 threads. A thread reads its 24
words of the input into registers, executes random instructions on them (arithmetic, bits, conversions, comparisons,
branches, loops, shuffles, shared memory, mma), and writes the registers to its words of the output. Other programs come
first: they execute each instruction by itself, so that a difference identifies it. There a comment names the instruction
that writes a word of the output. Approximate functions are left out: PTX does not define their bits.
"""

import argparse
import pathlib
import random

WORDS = 24  # words of 32 bits that a thread reads and writes

# Registers by class: prefix, number, type of the declaration.
CLASSES = {
    "r": (10, ".b32"),
    "d": (6, ".b64"),
    "f": (8, ".f32"),
    "g": (4, ".f64"),
    "h": (4, ".b16"),
    "p": (4, ".pred"),
}

# A source of class "s" is a number below 64: the result of ptxas 13 for positions and lengths beyond the ends
# of 64-bit fields differs from the manual.

ROUND = [".rn", ".rz", ".rm", ".rp"]
COMPARE_INT = [".eq", ".ne", ".lt", ".le", ".gt", ".ge"]
COMPARE_FLOAT = COMPARE_INT + [".equ", ".neu", ".ltu", ".leu", ".gtu", ".geu", ".num", ".nan"]


def integer_rows():
    for t in ("u32", "s32"):
        yield f"add.{t}", "r", "rr"
        yield f"sub.{t}", "r", "rr"
        yield f"mul.lo.{t}", "r", "rr"
        yield f"mul.hi.{t}", "r", "rr"
        yield f"mul.wide.{t}", "d", "rr"
        yield f"mad.lo.{t}", "r", "rrr"
        yield f"mad.hi.{t}", "r", "rrr"
        yield f"mad.wide.{t}", "d", "rrd"
        yield f"mul24.lo.{t}", "r", "rr"
        yield f"mul24.hi.{t}", "r", "rr"
        yield f"mad24.lo.{t}", "r", "rrr"
        yield f"min.{t}", "r", "rr"
        yield f"max.{t}", "r", "rr"
        yield f"sad.{t}", "r", "rrr"
        yield f"shr.{t}", "r", "rr"
        yield f"bfe.{t}", "r", "rrr"
        yield f"szext.wrap.{t}", "r", "rr"
        yield f"szext.clamp.{t}", "r", "rr"
        yield f"bfind.{t}", "r", "r"
        yield f"bfind.shiftamt.{t}", "r", "r"
        for other in ("u32", "s32"):
            yield f"dp4a.{t}.{other}", "r", "rrr"
            yield f"dp2a.lo.{t}.{other}", "r", "rrr"
            yield f"dp2a.hi.{t}.{other}", "r", "rrr"
    for t in ("u64", "s64"):
        for op in ("add", "sub", "mul.lo", "mul.hi", "min", "max"):
            yield f"{op}.{t}", "d", "dd"
        yield f"mad.lo.{t}", "d", "ddd"
        yield f"shr.{t}", "d", "dr"
        yield f"bfe.{t}", "d", "dss"
        yield f"bfind.{t}", "r", "d"
    yield "add.sat.s32", "r", "rr"
    yield "sub.sat.s32", "r", "rr"
    yield "mad.hi.sat.s32", "r", "rrr"
    for t in ("s32", "s64"):
        c = "r" if t == "s32" else "d"
        yield f"abs.{t}", c, c
        yield f"neg.{t}", c, c
    for t, c in (("b32", "r"), ("b64", "d"), ("b16", "h")):
        for op in ("and", "or", "xor"):
            yield f"{op}.{t}", c, c * 2
        yield f"not.{t}", c, c
        yield f"cnot.{t}", c, c
        yield f"shl.{t}", c, c + "r"
        yield f"selp.{t}", c, c * 2 + "p"
        if t != "b16":
            yield f"popc.{t}", "r", c
            yield f"clz.{t}", "r", c
            yield f"brev.{t}", c, c
            yield f"bfi.{t}", c, c * 2 + ("rr" if c == "r" else "ss")
    for mode in ("wrap", "clamp"):
        yield f"shf.l.{mode}.b32", "r", "rrr"
        yield f"shf.r.{mode}.b32", "r", "rrr"
        yield f"bmsk.{mode}.b32", "r", "rr"
    for mode in ("", ".f4e", ".b4e", ".rc8", ".ecl", ".ecr", ".rc16"):
        yield f"prmt.b32{mode}", "r", "rrr"
    for t in ("u16", "s16"):
        for op in ("add", "sub", "mul.lo", "mul.hi", "min", "max"):
            yield f"{op}.{t}", "h", "hh"
        yield f"mul.wide.{t}", "r", "hh"
        yield f"mad.lo.{t}", "h", "hhh"
    yield "slct.u32.s32", "r", "rrr"
    yield "slct.b64.s32", "d", "ddr"


def floating_rows():
    for c, t in (("f", "f32"), ("g", "f64")):
        ftz = ("", ".ftz") if c == "f" else ("",)
        for z in ftz:
            for r in ROUND:
                for sat in ("", ".sat") if c == "f" else ("",):
                    yield f"add{r}{z}{sat}.{t}", c, c * 2
                    yield f"mul{r}{z}{sat}.{t}", c, c * 2
                    yield f"fma{r}{z}{sat}.{t}", c, c * 3
                yield f"div{r}{z}.{t}", c, c * 2
                yield f"rcp{r}{z}.{t}", c, c
                yield f"sqrt{r}{z}.{t}", c, c
            yield f"min{z}.{t}", c, c * 2
            yield f"max{z}.{t}", c, c * 2
            yield f"abs{z}.{t}", c, c
            yield f"neg{z}.{t}", c, c
        yield f"copysign.{t}", c, c * 2
        for test in ("finite", "infinite", "number", "notanumber", "normal", "subnormal"):
            yield f"testp.{test}.{t}", "p", c
        yield f"slct.{t}.s32", c, c * 2 + "r"
        yield f"selp.{t}", c, c * 2 + "p"
    yield "min.NaN.f32", "f", "ff"
    yield "max.NaN.xorsign.abs.f32", "f", "ff"
    for t in ("f16x2", "bf16x2"):
        for op in ("add.rn", "mul.rn", "sub.rn"):
            yield f"{op}.{t}", "r", "rr"
        for op in ("min", "max", "min.NaN", "max.NaN"):
            yield f"{op}.{t}", "r", "rr"
        yield f"fma.rn.{t}", "r", "rrr"
        yield f"fma.rn.relu.{t}", "r", "rrr"
        yield f"neg.{t}", "r", "r"
        yield f"abs.{t}", "r", "r"
    for t in ("f16", "bf16"):
        for op in ("add.rn", "mul.rn", "sub.rn"):
            yield f"{op}.{t}", "h", "hh"
        yield f"fma.rn.{t}", "h", "hhh"
        yield f"min.{t}", "h", "hh"
    yield "add.rn.sat.f16", "h", "hh"
    yield "fma.rn.ftz.f16x2", "r", "rrr"


def conversion_rows():
    integers = {"u32": "r", "s32": "r", "u64": "d", "s64": "d", "u16": "h", "s16": "h"}
    floats = {"f32": "f", "f64": "g"}
    for a, ca in integers.items():
        for b, cb in integers.items():
            if a != b:
                yield f"cvt.{a}.{b}", ca, cb
                # Saturation exists if the source's range is not within the destination's.
                wide_a, wide_b = int(a[1:]), int(b[1:])
                holds = wide_a > wide_b if a[0] == "s" else wide_a >= wide_b and b[0] == "u"
                if not holds:
                    yield f"cvt.sat.{a}.{b}", ca, cb
        for b, cb in floats.items():
            for r in (".rni", ".rzi", ".rmi", ".rpi"):
                yield f"cvt{r}.{a}.{b}", ca, cb
            if b == "f32":
                yield f"cvt.rzi.ftz.{a}.f32", ca, cb
        for r in ROUND:
            yield f"cvt{r}.f32.{a}", "f", ca
            yield f"cvt{r}.f64.{a}", "g", ca
        yield f"cvt.rn.f16.{a}", "h", ca
        yield f"cvt.rzi.{a}.f16", ca, "h"
    for r in ROUND:
        yield f"cvt{r}.f32.f64", "f", "g"
        yield f"cvt{r}.f16.f32", "h", "f"
    yield "cvt.f64.f32", "g", "f"
    yield "cvt.f32.f16", "f", "h"
    yield "cvt.sat.f32.f16", "f", "h"
    yield "cvt.f32.bf16", "f", "h"
    for r in (".rni", ".rzi", ".rmi", ".rpi"):
        yield f"cvt{r}.f32.f32", "f", "f"
        yield f"cvt{r}.f64.f64", "g", "g"
    for r in (".rn", ".rz"):
        for relu in ("", ".relu"):
            for t in ("f16x2", "bf16x2"):
                yield f"cvt{r}{relu}.{t}.f32", "r", "ff"
            yield f"cvt{r}{relu}.bf16.f32", "h", "f"
            yield f"cvt{r}{relu}.tf32.f32", "r", "f"
    yield "cvt.rna.tf32.f32", "r", "f"
    for t in ("e4m3x2", "e5m2x2"):
        for relu in ("", ".relu"):
            yield f"cvt.rn.satfinite{relu}.{t}.f32", "h", "ff"
            yield f"cvt.rn.satfinite{relu}.{t}.f16x2", "h", "r"
            yield f"cvt.rn{relu}.f16x2.{t}", "r", "h"
    yield "cvt.pack.sat.s16.s32", "r", "rr"
    yield "cvt.pack.sat.u8.s32.b32", "r", "rrr"


def comparison_rows():
    for t, c in (("u32", "r"), ("s32", "r"), ("u64", "d"), ("s64", "d"), ("u16", "h"), ("s16", "h")):
        for op in COMPARE_INT:
            yield f"setp{op}.{t}", "p", c * 2
    for t, c in (("f32", "f"), ("f64", "g")):
        for op in COMPARE_FLOAT:
            yield f"setp{op}.{t}", "p", c * 2
            yield f"set{op}.u32.{t}", "r", c * 2
            yield f"set{op}.f32.{t}", "f", c * 2
    for op in COMPARE_FLOAT:
        yield f"set{op}.f16x2.f16x2", "r", "rr"
    for combine in (".and", ".or", ".xor"):
        yield f"setp.lt{combine}.s32", "p", "rrp"
        yield f"setp.geu{combine}.f32", "p", "ffp"
        yield f"{combine[1:]}.pred", "p", "pp"
    yield "not.pred", "p", "p"


ROWS = [list(rows()) for rows in (integer_rows, floating_rows, conversion_rows, comparison_rows)]

# mma.sync: shape and types, registers of d, a, b, c, and the class of d and c.
MMA = [
    ("m16n8k16.row.col.f32.f16.f16.f32", 4, 4, 2, "f"),
    ("m16n8k16.row.col.f16.f16.f16.f16", 2, 4, 2, "r"),
    ("m16n8k8.row.col.f32.f16.f16.f32", 4, 2, 1, "f"),
    ("m16n8k16.row.col.f32.bf16.bf16.f32", 4, 4, 2, "f"),
    ("m16n8k8.row.col.f32.bf16.bf16.f32", 4, 2, 1, "f"),
    ("m16n8k8.row.col.f32.tf32.tf32.f32", 4, 4, 2, "f"),
    ("m16n8k4.row.col.f32.tf32.tf32.f32", 4, 2, 1, "f"),
    ("m16n8k32.row.col.f32.e4m3.e5m2.f32", 4, 4, 2, "f"),
    ("m16n8k32.row.col.f32.e4m3.e4m3.f32", 4, 4, 2, "f"),
    ("m16n8k32.row.col.s32.s8.u8.s32", 4, 4, 2, "r"),
    ("m16n8k32.row.col.satfinite.s32.s8.s8.s32", 4, 4, 2, "r"),
    ("m16n8k64.row.col.s32.s4.u4.s32", 4, 4, 2, "r"),
    ("m8n8k16.row.col.s32.u8.s8.s32", 2, 1, 1, "r"),
    ("m16n8k256.row.col.s32.b1.b1.s32.and.popc", 4, 4, 2, "r"),
    ("m8n8k128.row.col.s32.b1.b1.s32.xor.popc", 2, 1, 1, "r"),
]


class program:
    def __init__(self, seed):
        self.random = random.Random(seed)
        self.lines = []
        self.labels = 0
        self.indent = "  "

    def add(self, text):
        self.lines.append(self.indent + text)

    def register(self, kind):
        return f"%{kind}{self.random.randrange(CLASSES[kind][0])}"

    def operand(self, kind, opcode, place):
        if kind == "s":
            return str(self.random.randrange(64))
        # Some sources are constants; shift counts and positions are mostly small.
        if kind == "r" and place > 0 and opcode.startswith(("shl", "shr", "shf", "bfe", "bfi", "bmsk", "szext")):
            if self.random.random() < 0.7:
                return str(self.random.choice([0, 1, 5, 8, 15, 16, 24, 31, 32, 33]))
            return self.register(kind)
        if kind == "r" and place > 0 and self.random.random() < 0.15 and "x2" not in opcode:
            return str(self.random.choice([0, 1, 2, 7, 255, 65535, 2147483647, 0x80000000, 0xFFFFFFFF]))
        return self.register(kind)

    def simple(self):
        opcode, to, sources = self.random.choice(self.random.choice(ROWS))
        guard = ""
        # ptxas 13 does not guard all instructions that it makes from testp and from a set to f32.
        if self.random.random() < 0.15 and not opcode.startswith(("testp", "set.")):
            guard = f"@{self.random.choice(['', '!'])}{self.register('p')} "
        operands = [self.register(to)] + [self.operand(c, opcode, i) for i, c in enumerate(sources)]
        self.add(f"{guard}{opcode} {', '.join(operands)};")

    def label(self):
        self.labels += 1
        return f"L{self.labels}"

    def branch(self, depth):
        end, other = self.label(), self.label()
        self.add(f"@{self.register('p')} bra {other};")
        self.body(self.random.randrange(2, 8), depth + 1)
        self.add(f"bra {end};")
        self.add(f"{other}:")
        self.body(self.random.randrange(1, 6), depth + 1)
        self.add(f"{end}:")

    def loop(self, depth):
        top = self.label()
        counter = f"%c{depth}"
        self.add(f"mov.u32 {counter}, %tid.x;" if self.random.random() < 0.4 else f"mov.u32 {counter}, 5;")
        self.add(f"and.b32 {counter}, {counter}, 7;")
        self.add(f"{top}:")
        self.body(self.random.randrange(2, 6), depth + 1)
        self.add(f"sub.u32 {counter}, {counter}, 1;")
        self.add(f"setp.gt.s32 %loop{depth}, {counter}, 0;")
        self.add(f"@%loop{depth} bra {top};")

    def warp(self):
        kind = self.random.randrange(6)
        r = self.register
        if kind == 0:
            mode, clamp = self.random.choice([("idx", 31), ("up", 0), ("down", 31), ("bfly", 31), ("idx", 0x181F),
                                              ("bfly", 0x1C1F)])
            self.add(f"shfl.sync.{mode}.b32 {r('r')}|{r('p')}, {r('r')}, {r('r')}, {clamp}, -1;")
        elif kind == 1:
            self.add(f"vote.sync.ballot.b32 {r('r')}, {r('p')}, -1;")
        elif kind == 2:
            self.add(f"vote.sync.{self.random.choice(['all', 'any', 'uni'])}.pred {r('p')}, {r('p')}, -1;")
        elif kind == 3:
            op = self.random.choice(["add.s32", "min.u32", "max.s32", "and.b32", "or.b32", "xor.b32"])
            self.add(f"redux.sync.{op} {r('r')}, {r('r')}, -1;")
        elif kind == 4:
            self.add(f"match.any.sync.b32 {r('r')}, {r('r')}, -1;")
        else:
            self.add(f"match.all.sync.b64 {r('r')}|{r('p')}, {r('d')}, -1;")

    def exchange(self):
        kind = self.random.choice("rfdg")
        size = 8 if kind in "dg" else 4
        self.add("bar.sync 0;")
        self.add(f"shl.b32 %a0, %thread, {3 if size == 8 else 2};")
        self.add(f"st.shared{CLASSES[kind][1].replace('.b', '.b')} [%a0], {self.register(kind)};")
        self.add("bar.sync 0;")
        self.add(f"xor.b32 %a0, %a0, {size * self.random.choice([1, 2, 16, 32, 63])};")
        self.add(f"ld.shared{CLASSES[kind][1]} {self.register(kind)}, [%a0];")

    def atomics(self):
        op, kind = self.random.choice([("add.u32", "r"), ("min.s32", "r"), ("max.u32", "r"), ("and.b32", "r"),
                                       ("or.b32", "r"), ("xor.b32", "r"), ("add.u64", "d"), ("max.s64", "d")])
        self.add("bar.sync 0;")
        self.add("mov.u32 %a0, 0;")
        self.add(f"red.shared.{op} [%a0], {self.register(kind)};")
        self.add("bar.sync 0;")
        self.add(f"ld.shared{CLASSES[kind][1]} {self.register(kind)}, [%a0];")

    # Masks large exponents of the fragments, so that not every result is infinite.
    def mask_exponents(self, form):
        mask = {"f16": "0xBFFFBFFF", "bf16": "0xBFFFBFFF", "tf32": "0xBF7FE000", "e4m3": "0xBFBFBFBF"}.get(form.split(".")[4])
        if mask:
            for i in range(10):
                self.add(f"and.b32 %r{i}, %r{i}, {mask};")

    def mma(self):
        form, d, a, b, kind = self.random.choice(MMA)
        # If ptxas makes several instructions of one, it must not write a register that it reads later: D has the
        # registers of C, but none of A and B.
        names = {c: self.random.sample([f"%{c}{i}" for i in range(CLASSES[c][0])], CLASSES[c][0]) for c in "rf"}

        def pick(c, n):
            picked, names[c] = names[c][:n], names[c][n:]
            return "{" + ", ".join(picked) + "}"
        accumulators = pick(kind, d)
        operands = [accumulators, pick("r", a), pick("r", b), accumulators]
        self.mask_exponents(form)
        self.add("bar.warp.sync -1;")
        self.add(f"mma.sync.aligned.{form} {', '.join(operands)};")

    def body(self, count, depth):
        for _ in range(count):
            roll = self.random.random()
            if depth < 2 and roll < 0.06:
                self.branch(depth)
            elif depth < 2 and roll < 0.10:
                self.loop(depth)
            elif depth == 0 and roll < 0.20:
                self.warp()
            elif depth == 0 and roll < 0.24:
                self.exchange()
            elif depth == 0 and roll < 0.26:
                self.atomics()
            elif depth == 0 and roll < 0.34:
                self.mma()
            else:
                self.simple()

    # Loads the registers from the thread's words of the input, runs the program's instructions, and ends with `store`.
    def text(self, body, store):
        self.lines = []
        add = self.lines.append
        add(".version 8.4")
        add(".target sm_90")
        add(".address_size 64")
        add(".visible .entry k(.param .u64 in, .param .u64 out)")
        add("{")
        for kind, (count, kind_type) in CLASSES.items():
            add(f"  .reg {kind_type} %{kind}<{count}>;")
        add("  .reg .b32 %c<3>, %a<2>, %thread, %word;")
        add("  .reg .pred %loop<3>;")
        add("  .reg .b64 %in, %out, %at;")
        add("  .shared .align 16 .b8 cells[512];")
        add("  ld.param.u64 %in, [in];")
        add("  ld.param.u64 %out, [out];")
        add("  mov.u32 %thread, %tid.x;")
        add("  mov.u32 %word, %ctaid.x;")
        add("  mad.lo.u32 %word, %word, 64, %thread;")
        add(f"  mul.wide.u32 %at, %word, {WORDS * 4};")
        add("  add.u64 %in, %in, %at;")
        add("  add.u64 %out, %out, %at;")
        offset = 0
        for i in range(10):
            add(f"  ld.global.b32 %r{i}, [%in+{offset + i * 4 % 64}];")
        for i in range(8):
            add(f"  ld.global.f32 %f{i}, [%in+{(40 + i * 4) % 96}];")
        for i in range(6):
            add(f"  ld.global.b64 %d{i}, [%in+{(i * 8 + 16) % 96}];")
        for i in range(4):
            add(f"  ld.global.f64 %g{i}, [%in+{(i * 8 + 64) % 96}];")
            add(f"  ld.global.b16 %h{i}, [%in+{(i * 6 + 32) % 96}];")
            add(f"  setp.lt.s32 %p{i}, %r{i}, %r{i + 4};")
        add("  mov.u32 %c0, 0; mov.u32 %c1, 0; mov.u32 %c2, 0;")
        add("  shl.b32 %a0, %thread, 3;")
        add("  st.shared.b64 [%a0], %d0;")
        add("  bar.sync 0;")
        self.lines += body
        store()
        self.lines += ["  ret;", "}"]
        return "\n".join(self.lines) + "\n"

    def mixed(self):
        self.body(50, 0)
        return self.text(self.lines, self.store_all)

    # Writes all registers to the words; folds registers if there are more registers than words.
    def store_all(self):
        add = self.lines.append
        for i in range(6):
            add(f"  st.global.b64 [%out+{i * 8}], %d{i};")
        for i in range(4):
            add(f"  xor.b32 %r{i}, %r{i}, %r{i + 6};")
            add(f"  selp.u32 %a0, 1, 0, %p{i};")
            add(f"  cvt.u32.u16 %a1, %h{i};")
            add(f"  xor.b32 %r{i}, %r{i}, %a1;")
            add(f"  shf.l.wrap.b32 %r{i}, %r{i}, %r{i}, %a0;")
        for i in range(4):
            add(f"  st.global.v2.b32 [%out+{48 + i * 8}], {{%r{i}, %f{i}}};")
        add("  st.global.v2.b32 [%out+80], {%r4, %f4};")
        add("  xor.b32 %r5, %r5, %r4;")
        for i in range(3):
            add(f"  mov.b32 %a0, %f{i + 5};")
            add("  mad.lo.u32 %r5, %r5, 31, %a0;")
        for i in range(4):
            add(f"  mov.b64 {{%a0, %a1}}, %g{i};")
            add("  mad.lo.u32 %r5, %r5, 31, %a0;")
            add("  mad.lo.u32 %r5, %r5, 31, %a1;")
        add("  st.global.v2.b32 [%out+88], {%r5, %word};")

    # Executes each of a few rows by itself, with its result in words of its own.
    def separate(self, rows):
        word = 0
        for opcode, to, sources in rows:
            size = 2 if to in "dg" else 1
            result = f"%{to}{CLASSES[to][0] - 1}"
            operands = []
            for i, c in enumerate(sources):
                if c == "s":
                    self.add(f"and.b32 %a{i - len(sources) + 2}, %r{i}, 63;")
                    operands.append(f"%a{i - len(sources) + 2}")
                else:
                    operands.append(f"%{c}{(i + 1) % (CLASSES[c][0] - 1)}")
            if word % size:
                word += 1
            self.add(f"{opcode} {', '.join([result] + operands)};  // word {word}")
            if to == "p":
                self.add(f"selp.u32 %a0, 1, 0, {result};")
            elif to == "h":
                self.add(f"cvt.u32.u16 %a0, {result};")
            else:
                self.add(f"mov.b{size * 32} {'%at' if size == 2 else '%a0'}, {result};")
            self.add(f"st.global.b{size * 32} [%out+{word * 4}], {'%at' if size == 2 else '%a0'};")
            word += size
        return self.text(self.lines, lambda: None)

    def single_mma(self, form, d, a, b, kind, masked):
        def first(c, n, start=0):
            return "{" + ", ".join(f"%{c}{i + start}" for i in range(n)) + "}"
        if masked:
            self.mask_exponents(form)
        self.add(f"mma.sync.aligned.{form} {first(kind, d)}, {first('r', a, 4)}, {first('r', b, 2)}, {first(kind, d)};"
                 "  // word 0")
        for i in range(d):
            self.add(f"st.global.b32 [%out+{i * 4}], %{kind}{i};")
        return self.text(self.lines, lambda: None)


SEPARATE = 12  # instructions of a program that executes each by itself


def programs(seed, count):
    rows = sum(ROWS, [])
    for first in range(0, len(rows), SEPARATE):
        yield f"each_{first:04}", program(seed).separate(rows[first:first + SEPARATE])
    for i, row in enumerate(MMA):
        yield f"mma_{i:04}", program(seed).single_mma(*row, True)
        yield f"mma_{i:04}_unmasked", program(seed).single_mma(*row, False)
    for i in range(count):
        yield f"program_{i:04}", program(seed * 1000003 + i).mixed()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--programs", type=int, default=300)
    parser.add_argument("folder", type=pathlib.Path)
    arguments = parser.parse_args()
    arguments.folder.mkdir(parents=True, exist_ok=True)
    for name, text in programs(arguments.seed, arguments.programs):
        (arguments.folder / f"{name}.ptx").write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
