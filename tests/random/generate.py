#!/usr/bin/env python3
"""Writes random kernels, each with the same computation for the host.

    generate.py --seed 7 --programs 50 --first 0 out.cpp

Each program has a random generator of its own, seeded with (seed, number), so any program can be made again alone. The C++
file defines `void add_programs_<first>(std::vector<program>&)` in terms of programs.hpp. For each program it has a kernel
and a function that computes the expected results. Both are rendered from one tree.
"""

import argparse
import random
import re

SIGNED = ["i8", "i16", "i32", "i64"]
UNSIGNED = ["u8", "u16", "u32", "u64"]
INTEGERS = SIGNED + UNSIGNED
FLOATS = ["f16", "bf16", "f32", "f64"]
WIDTH = {t: int(t.lstrip("iufb")) for t in INTEGERS + ["f16", "f32", "f64"]} | {"bf16": 16}
THREADS = 96
HOST_CALL = re.compile(r"\b(add|sub|mul|fma|quotient|remainder|neg|abs|sqrt|minimum|maximum|bit_and|bit_or|bit_xor|bit_not"
                       r"|shift_left|shift_right|mul_hi|add_sat|sub_sat|brev|rotate_left|cast|number|is_nan|order|reduce)(?=[<(])")
SHUFFLED = ["i32", "u32", "f32", "i64", "u64", "f64"]


class Expression:
    """The text of a tree for the device and for the host, and the facts that the next operator needs."""

    def __init__(self, kind, device, host, factors=None, is_literal=False):
        self.type = kind
        self.device = device
        self.host = host
        self.factors = factors  # host texts of the two factors, if this is a floating-point product
        self.is_literal = is_literal


class Program:
    def __init__(self, seed, number):
        self.random = random.Random(f"{seed}/{number}")
        self.number = number
        self.contract = self.random.random() < 0.8
        self.target = self.random.choice([70, 80, 90])
        self.names = 0
        self.inputs = self.random.sample(INTEGERS + FLOATS, 3)
        self.outputs = self.random.sample(INTEGERS + FLOATS, 3)
        self.slots = dict.fromkeys(self.outputs, 0)
        self.scope = []  # (name, type, is a var) of what may be read here
        self.arrays = []  # (type, name): the host keeps one value per thread
        self.device = []
        self.host = []
        self.loops = 0
        self.copies = False  # in a body that is traced several times; copies of copies would make the kernel too large
        self.outside = False  # in a function outside the kernel, which has no buffers
        self.outer = []  # declarations before the kernel

    # --- values
    def name(self, prefix):
        self.names += 1
        return f"{prefix}{self.names}"

    def fuses(self, kind):
        return self.contract and (kind != "bf16" or self.target >= 80)

    def literal(self, kind):
        if kind in FLOATS:
            number = self.random.choice([0.5, 1.5, 2.0, -3.0, 0.25, 7.0, -0.75, 100.0])
            text = f"{number}f"
            return Expression(kind, text, f"number<{kind}>({number})", is_literal=True)
        if self.random.random() < 0.3 and WIDTH[kind] == 64:
            number = self.random.getrandbits(62)
        else:
            number = self.random.choice([1, 2, 3, 5, 7, 8, 10, 16, 31, 64, 100, 127])
        if kind in SIGNED and self.random.random() < 0.3:
            number = -number
        suffix = {"u32": "u", "u64": "ull", "i64": "ll"}.get(kind, "")
        return Expression(kind, f"{number}{suffix}", f"number<{kind}>({number}{suffix})", is_literal=True)

    def variable(self, kind):
        names = [v for v in self.scope if v[1] == kind]
        if not names:
            return None
        name = self.random.choice(names)[0]
        return Expression(kind, name, f"{name}[i]")

    def leaf(self, kind):
        """A value of this type: a variable in scope, converted if its type differs."""
        found = self.variable(kind)
        if found and self.random.random() < 0.8:
            return found
        name, other, _ = self.random.choice(self.scope)
        return self.cast(kind, Expression(other, name, f"{name}[i]"))

    def cast(self, kind, e):
        if e.type == kind:
            return e
        device = e.device
        if e.type in FLOATS and kind in INTEGERS:  # the conversion of NaN is not tested here
            device = f"select({device} == {device}, {device}, 1.0f)"
            host = f"(is_nan({e.host}) ? number<{e.type}>(1) : {e.host})"
            return Expression(kind, f"cast<{kind}>({device})", f"cast<{kind}>({host})")
        return Expression(kind, f"cast<{kind}>({device})", f"cast<{kind}>({e.host})")

    def expression(self, kind, depth):
        if depth <= 0 or self.random.random() < 0.1:
            return self.leaf(kind)
        return self.floating(kind, depth) if kind in FLOATS else self.integer(kind, depth)

    def operands(self, kind, depth):
        a = self.expression(kind, depth - 1)
        if self.random.random() < 0.25:
            b = self.literal(kind)
            return (a, b) if self.random.random() < 0.7 else (b, a)
        return a, self.expression(kind, depth - 1)

    def either(self, kind, depth):
        pick = self.random.random()
        if pick < 0.3:
            return self.leaf(kind)
        a, b = self.operands(kind, depth)
        if pick < 0.5:
            c = self.condition(depth - 1)
            return Expression(kind, f"select({c.device}, {a.device}, {b.device})",
                              f"({c.host} ? {a.host} : {b.host})")
        function = "min" if pick < 0.75 else "max"
        return Expression(kind, f"{function}({a.device}, {b.device})", f"{function}imum({a.host}, {b.host})")

    def floating(self, kind, depth):
        pick = self.random.random()
        if pick < 0.55:
            operator = self.random.choice("++--**")
            a, b = self.operands(kind, depth)
            device = f"({a.device} {operator} {b.device})"
            if operator == "*":
                return Expression(kind, device, f"mul({a.host}, {b.host})", (a.host, b.host))
            fuses = self.fuses(kind)
            if a.factors and fuses:
                z = b.host if operator == "+" else f"neg({b.host})"
                return Expression(kind, device, f"fma({a.factors[0]}, {a.factors[1]}, {z})")
            if b.factors and fuses:
                x = b.factors[0] if operator == "+" else f"neg({b.factors[0]})"
                return Expression(kind, device, f"fma({x}, {b.factors[1]}, {a.host})")
            function = "add" if operator == "+" else "sub"
            return Expression(kind, device, f"{function}({a.host}, {b.host})")
        if pick < 0.62:
            a, b = self.operands(kind, depth)
            return Expression(kind, f"({a.device} / {b.device})", f"quotient({a.host}, {b.host})")
        if pick < 0.8:
            a = self.expression(kind, depth - 1)
            function = self.random.choice(["neg", "abs", "sqrt"])
            if function == "neg":
                return Expression(kind, f"(-{a.device})", f"neg({a.host})")
            return Expression(kind, f"{function}({a.device})", f"{function}({a.host})")
        return self.either(kind, depth)

    def integer(self, kind, depth):
        pick = self.random.random()
        if pick < 0.4:
            operator, function = self.random.choice(
                [("+", "add"), ("-", "sub"), ("*", "mul"), ("&", "bit_and"), ("|", "bit_or"), ("^", "bit_xor")])
            a, b = self.operands(kind, depth)
            return Expression(kind, f"({a.device} {operator} {b.device})", f"{function}({a.host}, {b.host})")
        if pick < 0.55:
            operator, function = self.random.choice([("<<", "shift_left"), (">>", "shift_right")])
            a = self.expression(kind, depth - 1)
            if self.random.random() < 0.5:
                amount = self.random.randrange(0, WIDTH[kind] + 3)
                return Expression(kind, f"({a.device} {operator} {amount})", f"{function}({a.host}, {amount}u)")
            b = self.expression("u32", depth - 1)
            return Expression(kind, f"({a.device} {operator} ({b.device} & 63))",
                              f"{function}({a.host}, {b.host} & 63u)")
        if pick < 0.7:
            operator, function = self.random.choice([("/", "quotient"), ("%", "remainder")])
            a = self.expression(kind, depth - 1)
            if self.random.random() < 0.6:
                b = self.literal(kind)
            else:  # 1 to 8
                c = self.expression(kind, depth - 1)
                b = Expression(kind, f"(({c.device} & 7) + 1)", f"add(bit_and({c.host}, number<{kind}>(7)), number<{kind}>(1))")
            if b.device in ("-1", "-1ll"):  # the least number has no quotient by -1
                b = Expression(kind, "3", f"number<{kind}>(3)")
            return Expression(kind, f"({a.device} {operator} {b.device})", f"{function}({a.host}, {b.host})")
        if pick < 0.78:
            a, b = self.operands(kind, depth)
            if b.is_literal and a.is_literal:
                return self.leaf(kind)
            function = self.random.choice(["mul_hi", "add_sat", "sub_sat"])
            return Expression(kind, f"{function}({a.device}, {b.device})", f"{function}({a.host}, {b.host})")
        if pick < 0.82:
            a, amount = self.expression(kind, depth - 1), self.random.randrange(0, WIDTH[kind])
            if self.random.random() < 0.5:
                return Expression(kind, f"brev({a.device})", f"brev({a.host})")
            return Expression(kind, f"rotate_left({a.device}, {amount}u)", f"rotate_left({a.host}, {amount}u)")
        if pick < 0.88:
            a = self.expression(kind, depth - 1)
            unary = [("~", "bit_not")] + ([("-", "neg"), ("abs", "abs")] if kind in SIGNED else [])
            operator, function = self.random.choice(unary)
            device = f"abs({a.device})" if operator == "abs" else f"({operator}{a.device})"
            return Expression(kind, device, f"{function}({a.host})")
        return self.either(kind, depth)

    def condition(self, depth):
        if depth > 0 and self.random.random() < 0.3:
            a, b = self.condition(depth - 1), self.condition(depth - 1)
            pick = self.random.random()
            if pick < 0.4:
                return Expression("bool", f"({a.device} & {b.device})", f"({a.host} && {b.host})")
            if pick < 0.8:
                return Expression("bool", f"({a.device} | {b.device})", f"({a.host} || {b.host})")
            return Expression("bool", f"(!{a.device})", f"(!{a.host})")
        kind = self.random.choice(INTEGERS + FLOATS)
        operator = self.random.choice(["<", "<=", ">", ">=", "==", "!="])
        a = self.expression(kind, depth)
        b = self.literal(kind) if self.random.random() < 0.4 else self.expression(kind, depth)
        return Expression("bool", f"({a.device} {operator} {b.device})", f"(order({a.host}) {operator} order({b.host}))")

    # --- statements
    def emit(self, device, host):
        indent = "  " * (self.loops + 2)
        if device:
            self.device.append(indent + device)
        if host:
            self.host.append(indent + host)

    def declare(self, name, kind, is_var):
        self.arrays.append((kind, name))
        self.scope.append((name, kind, is_var))

    def kind(self):
        return self.random.choice(INTEGERS + FLOATS)

    def bind(self):
        kind = self.kind()
        e = self.expression(kind, 3)
        if self.random.random() < 0.35:
            name = self.name("w")
            self.emit(f"var {name}(t, {e.device});", f"{name}[i] = {e.host};")
            self.declare(name, kind, True)
        else:
            name = self.name("v")
            self.emit(f"val {name} = {e.device};", f"{name}[i] = {e.host};")
            self.declare(name, kind, False)

    def assign(self):
        variables = [v for v in self.scope if v[2]]
        if not variables:
            return self.bind()
        name, kind, _ = self.random.choice(variables)
        e = self.expression(kind, 2)
        pick = self.random.random()
        if pick < 0.5:
            return self.emit(f"{name} = {e.device};", f"{name}[i] = {e.host};")
        if pick < 0.75 and kind in FLOATS and e.factors and self.fuses(kind):
            x, y = e.factors
            return self.emit(f"{name} += {e.device};", f"{name}[i] = fma({x}, {y}, {name}[i]);")
        if e.factors:
            return self.emit(f"{name} = {e.device};", f"{name}[i] = {e.host};")
        operator, function = self.random.choice([("+", "add"), ("-", "sub"), ("*", "mul")])
        self.emit(f"{name} {operator}= {e.device};", f"{name}[i] = {function}({name}[i], {e.host});")

    def body(self, statements):
        before = list(self.scope)
        self.loops += 1
        for _ in range(statements):
            self.statement(nested=True)
        self.loops -= 1
        self.scope = before

    def branch(self):
        c = self.condition(2)
        guard = self.name("g")
        self.emit(f"if (auto {guard} = t.when({c.device})) {{", f"if ({c.host}) {{")
        self.body(self.random.randrange(1, 4))
        self.emit("}", "}")
        if self.random.random() < 0.5:
            guard = self.name("g")
            self.emit(f"if (auto {guard} = t.otherwise()) {{", "else {")
            self.body(self.random.randrange(1, 3))
            self.emit("}", "}")

    def array(self, kind, name):
        """Declares a host array that is not in scope: only the host uses the name, or nothing else reads it."""
        self.arrays.append((kind, name))
        return name

    def step(self, kind):
        """A literal or a run-time value: (text for the device, text for the host, whether it is negative)."""
        down = kind in SIGNED and self.random.random() < 0.25
        if self.random.random() < 0.7:
            number = self.random.choice([1, 1, 2, 3]) * (-1 if down else 1)
            return str(number), f"number<{kind}>({number})", down
        e = self.expression(kind, 1)
        name = self.array(kind, self.name("d"))
        self.emit(f"val {name} = ({e.device} & 3) + 1;", f"{name}[i] = add(bit_and({e.host}, number<{kind}>(3)), number<{kind}>(1));")
        return (f"-{name}", f"neg({name}[i])", True) if down else (name, f"{name}[i]", False)

    def bound(self, kind):
        """A number of at most 7, a literal or not."""
        if self.random.random() < 0.5:
            number = self.random.randrange(0, 3)
            return Expression(kind, f"{kind}({number})", f"number<{kind}>({number})", is_literal=True)
        e = self.expression(kind, 1)
        return Expression(kind, f"({e.device} & 7)", f"bit_and({e.host}, number<{kind}>(7))")

    def ranges(self):
        """Consecutive ranges that share their end and sometimes their step; in some threads a range may have no rounds."""
        kind = self.random.choice(INTEGERS)
        known = self.random.random() < 0.2
        if known:
            number = self.random.randrange(3, 7)
            end = Expression(kind, f"{kind}({number})", f"number<{kind}>({number})", is_literal=True)
        else:
            name, e = self.array(kind, self.name("e")), self.expression(kind, 1)
            self.emit(f"val {name} = ({e.device} & 7);", f"{name}[i] = bit_and({e.host}, number<{kind}>(7));")
            end = Expression(kind, name, f"{name}[i]")
        step = None
        for number in range(self.random.choice([1, 1, 2, 3])):
            if number and self.random.random() < 0.3:
                self.random.choice([self.branch, self.bind, self.assign])()
            if step is None or self.random.random() < 0.5:
                step = self.step(kind)
            guarded = self.random.random() < 0.2
            if guarded:
                c, guard = self.condition(1), self.name("g")
                self.emit(f"if (auto {guard} = t.when({c.device})) {{", f"if ({c.host}) {{")
            self.range(kind, end, step)
            if guarded:
                self.emit("}", "}")

    def range(self, kind, end, step):
        by, host_by, down = step
        first, last = (end, self.bound(kind)) if down else (self.bound(kind), end)
        unrolls = [""] * 6 + [f".unroll<{self.random.randrange(2, 5)}>()", ".no_unroll()"]
        if first.is_literal and last.is_literal and not by.lstrip("-").startswith("d"):
            unrolls += [".unroll()"] * 3
        unroll = self.random.choice(unrolls) if not self.copies else ""
        counter = self.array(kind, self.name("k"))
        stop = self.array(kind, self.name("e"))  # the bound is evaluated once, before the loop
        self.emit("", f"{stop}[i] = {last.host};")
        self.emit(f"for (auto {counter} : t.range({first.device}, {last.device}, {by}){unroll}) {{",
                  f"for ({counter}[i] = {first.host}; {counter}[i] {'>' if down else '<'} {stop}[i]; "
                  f"{counter}[i] = add({counter}[i], {host_by})) {{")
        self.rounds(counter, kind, unroll)

    def endless(self):
        kind = self.random.choice(INTEGERS)
        counter, control = self.array(kind, self.name("c")), self.name("l")
        number = self.random.randrange(1, 5)
        self.emit(f"var<{kind}> {counter}(t, 0);", f"{counter}[i] = number<{kind}>(0);")
        self.emit(f"for (auto {control} : t.loop()) {{", "for (;;) {")
        self.emit(f"  {control}.break_if({counter} >= {number});", f"  if ({counter}[i] >= {number}) break;")
        self.emit(f"  {counter} += 1;", f"  {counter}[i] = add({counter}[i], number<{kind}>(1));")
        self.rounds(control, None, "")

    def rounds(self, control, kind, unroll):
        """The body of a loop, and its end. kind: the type of the counter, or None if the loop has none."""
        before, copies = list(self.scope), self.copies
        if kind:
            self.scope.append((control, kind, False))
        self.loops += 1
        self.copies = copies or bool(unroll)
        for _ in range(self.random.randrange(1, 4)):
            self.statement(nested=True)
            if self.random.random() < 0.2:
                c = self.condition(1)
                word = self.random.choice(["break", "continue"])
                if self.random.random() < 0.25:
                    d, guard = self.condition(1), self.name("g")
                    self.emit(f"if (auto {guard} = t.when({d.device})) {control}.{word}_if({c.device});",
                              f"if ({d.host} && {c.host}) {word};")
                else:
                    self.emit(f"{control}.{word}_if({c.device});", f"if ({c.host}) {word};")
        self.loops -= 1
        self.scope, self.copies = before, copies
        self.emit("}", "}")

    def function(self):
        """A function of values and of references to variables, and one or two calls. It is a lambda that sees the scope, or a
        function outside the kernel. It returns a value, or a struct of two. For the host its body is written at each call."""
        parameters, taken = [], []
        free = [v for v in self.scope if v[2]]
        for _ in range(self.random.randrange(1, 4)):
            if free and self.random.random() < 0.4:
                name, kind, _ = free.pop(self.random.randrange(len(free)))
                taken.append(name)
                parameters.append((self.name("w"), kind, True))
            else:
                parameters.append((self.name("p"), self.kind(), False))
        outside = self.random.random() < 0.5
        scope, device, host, loops, copies = self.scope, self.device, self.host, self.loops, self.copies
        self.scope = [] if outside else [v for v in scope if v[0] not in taken]
        self.scope = self.scope + parameters
        self.device, self.host, self.copies = [], [], True
        was_outside, self.outside = self.outside, self.outside or outside
        self.loops = (0 if outside else loops) + 1
        for _ in range(self.random.randrange(1, 4)):
            self.statement(nested=True)
        results = [self.expression(self.kind(), 2) for _ in range(self.random.choice([1, 1, 2]))]
        body, host_body = self.device, self.host
        self.scope, self.device, self.host, self.loops, self.copies = scope, device, host, loops, copies
        self.outside = was_outside
        function = f"{self.name('f')}_{self.number}"
        declared = ", ".join(f"var<{t}>& {n}" if v else f"const val<{t}>& {n}" for n, t, v in parameters)
        made = [f"t.let({e.device})" for e in results]
        kind = f"val<{results[0].type}>"
        if len(results) == 2:
            kind = f"{function}_result"
            self.outer.append(f"struct {kind} {{\n  val<{results[0].type}> first;\n  val<{results[1].type}> second;\n}};")
        returned = f"      return {kind}{{{made[0]}, {made[1]}}};" if len(results) == 2 else f"      return {made[0]};"
        if outside:
            self.outer += [f"constexpr {kind} {function}(thread t, {declared}) {{", *body, returned, "}"]
        else:
            self.emit(f"const auto {function} = [&]({declared}) -> {kind} {{", "")
            self.device += [*body, returned]
            self.emit("};", "")
        for name, t, _ in parameters:
            self.array(t, name)
        for _ in range(self.random.choice([1, 1, 2])):
            self.call(function, outside, parameters, taken, results, host_body)

    def call(self, function, outside, parameters, taken, results, host_body):
        arguments, back, variables = ["t"] if outside else [], [], list(taken)
        for name, kind, is_var in parameters:
            if is_var:
                arguments.append(variables.pop(0))
                self.emit("", f"{name}[i] = {arguments[-1]}[i];")
                back.append(f"{arguments[-1]}[i] = {name}[i];")
            else:
                e, argument = self.expression(kind, 1), self.array(kind, self.name("a"))
                self.emit(f"val {argument} = {e.device};", f"{name}[i] = {e.host};")
                arguments.append(argument)
        self.host += host_body
        names = [self.name("v") for _ in results]
        for name, e in zip(names, results):
            self.emit("", f"{name}[i] = {e.host};")
        self.host += ["    " + line for line in back]
        called = f"{function}({', '.join(arguments)})"
        if len(results) == 1:
            self.emit(f"val {names[0]} = {called};", "")
        else:
            made = self.name("r")
            self.emit(f"const auto {made} = {called};", "")
            self.emit(f"val {names[0]} = {made}.first;", "")
            self.emit(f"val {names[1]} = {made}.second;", "")
        for name, e in zip(names, results):
            self.declare(name, e.type, False)

    def store(self):
        if self.outside:
            return self.assign()
        kind = self.random.choice(self.outputs)
        slot = self.slots[kind]
        self.slots[kind] += 1
        e = self.expression(kind, 2)
        index = self.outputs.index(kind)
        self.emit(f"y{index}[i + {slot * THREADS}] = {e.device};", f"want{index}[i + {slot * THREADS}] = {e.host};")

    def exchange(self):
        """A statement of the whole block: the host ends its loop over the threads, and begins another one."""
        candidates = [v for v in self.scope if v[1] in SHUFFLED]
        if not candidates:
            return self.bind()
        source, kind, _ = self.random.choice(candidates)
        name = self.name("v")
        self.host.append("  }")
        pick = self.random.random()
        if pick < 0.35:
            mask = self.random.choice([1, 2, 4, 8, 16, 31])
            self.device.append(f"    val {name} = shfl_xor({source}, {mask});")
            host = f"{name}[i] = {source}[i ^ {mask}];"
        elif pick < 0.7:
            array, multiplier = self.name("s"), self.random.choice([1, 5, 7, 25])
            self.device += [f"    shared<{kind}, {THREADS}> {array}(t);", f"    {array}[i] = {source};", "    t.barrier();",
                            f"    val {name} = {array}[(i * {multiplier} + 3) % {THREADS}];", "    t.barrier();"]
            host = f"{name}[i] = {source}[(i * {multiplier} + 3) % {THREADS}];"
        else:
            if kind not in ("i32", "u32", "i64", "u64"):  # the order of a floating sum is tested elsewhere
                self.device.append(f"    val {name} = block_reduce(t, {source}, maximum{{}});")
                host = f"{name}[i] = reduce({source}, [](auto a, auto b) {{ return maximum(a, b); }});"
            else:
                self.device.append(f"    val {name} = block_reduce(t, {source}, plus{{}});")
                host = f"{name}[i] = reduce({source}, [](auto a, auto b) {{ return add(a, b); }});"
        self.host += [f"  for (u32 i = 0; i < threads; ++i) {host}", "  for (u32 i = 0; i < threads; ++i) {"]
        self.declare(name, kind, False)

    def statement(self, nested=False):
        pick = self.random.random()
        if pick < 0.4 or self.loops > 2:
            self.bind()
        elif pick < 0.6:
            self.assign()
        elif pick < 0.7:
            self.store()
        elif pick < 0.8:
            self.branch()
        elif pick < 0.88:
            self.ranges()
        elif pick < 0.91:
            self.endless()
        elif pick < 0.94 and self.loops < 2:
            self.function()
        elif nested:
            self.assign()
        else:
            self.exchange()

    # --- the text
    def render(self):
        for index, kind in enumerate(self.inputs):
            self.emit(f"val a{index} = x{index}[i];", f"a{index}[i] = input{index}[i];")
            self.declare(f"a{index}", kind, False)
        for _ in range(self.random.randrange(7, 13)):
            self.statement()
        for kind in self.outputs:  # each output gets a value from the end of the program
            e = self.expression(kind, 2)
            slot = self.slots[kind]
            self.slots[kind] += 1
            index = self.outputs.index(kind)
            self.emit(f"y{index}[i + {slot * THREADS}] = {e.device};",
                      f"want{index}[i + {slot * THREADS}] = {e.host};")
        n = self.number
        parameters = ", ".join([f"in<{t}> x{k}" for k, t in enumerate(self.inputs)]
                               + [f"out<{t}> y{k}" for k, t in enumerate(self.outputs)])
        contract = "true" if self.contract else "false"
        lines = self.outer + [
                 f"inline constexpr auto random_{n} =",
                 f'    kernel<"random_{n}", {THREADS}, kernel_options{{.contract = {contract}, .target = {{{self.target}}}}}>(',
                 f"        [](thread t, {parameters}) {{", "    val i = thread_idx_x();"]
        lines += self.device + ["});", ""]
        lines.append(f"void expect_{n}(program::data& d) {{")
        for k, t in enumerate(self.inputs):
            lines.append(f"  const auto& input{k} = d.input<{t}>({k});")
        for k, t in enumerate(self.outputs):
            lines.append(f"  auto& want{k} = d.output<{t}>({k}, {self.slots[t] * THREADS});")
        for t, name in self.arrays:
            lines.append(f"  {t} {name}[threads] = {{}};")
        lines += ["  for (u32 i = 0; i < threads; ++i) {"] + [HOST_CALL.sub(r"host::\1", line) for line in self.host] + ["  }"]
        lines += [f"  (void){name};" for _, name in self.arrays]
        lines += ["}", ""]
        return "\n".join(lines)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seed", type=int, required=True)
    parser.add_argument("--programs", type=int, default=50)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("file")
    arguments = parser.parse_args()
    numbers = range(arguments.first, arguments.first + arguments.programs)
    programs = [Program(arguments.seed, n) for n in numbers]
    text = [f"// Random programs {numbers[0]} to {numbers[-1]} of seed {arguments.seed}.",
            '#include "tests/random/programs.hpp"', "", "namespace kaio::tests::random {", "namespace {", ""]
    text += [p.render() for p in programs]
    text += ["}  // namespace", "", f"void add_programs_{arguments.first}(std::vector<program>& programs) {{"]
    for p in programs:
        inputs = ", ".join(p.inputs)
        outputs = ", ".join(p.outputs)
        text.append(f"  programs.push_back(make_program<random_{p.number}, expect_{p.number}, types<{inputs}>, types<{outputs}>>());")
    text += ["}", "", "}  // namespace kaio::tests::random", ""]
    with open(arguments.file, "w") as out:
        out.write("\n".join(text))


if __name__ == "__main__":
    main()
