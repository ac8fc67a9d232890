"""The operations of the crate kaio: a function that takes what is needed, options as methods, and `run`."""

import textwrap

from generator.fields import (borrows, default_value, explained, parameters, raw_value, record_type, sentence, setter, setters, snake,
                              stored_type, stored_value, variant)
from generator.records import enum_text, is_simple_output, member, output_text, record_text
from generator.text import c_interface, camel, doc, rust_name, spoken, stopped

# Functions with C pointers are bound by hand (src/weights.rs).
BY_HAND = {"weights", "distributed", "peers"}
# Options whose name is that of an argument.
RENAMED = {("rms_norm_codes", "scale"): "norm_scale", ("layer_norm_codes", "scale"): "norm_scale"}
HEAD = "// Made by bindings/rust/generate.py from src/c/operations/{}.json.\n"


def is_flat(argument):
    return argument["type"] == "struct" and argument["name"] == "options" and argument.get("optional")


class operation_text:
    """One operation."""

    def __init__(self, all, operation):
        self.all, self.operation, self.name = all, operation, operation["name"]
        self.arguments = [a for a in operation["arguments"] if a["type"] != "count"]
        self.flat = next((a for a in self.arguments if is_flat(a)), None)
        has_optional = any(a.get("optional") for a in self.arguments if a["type"] == "tensor")
        self.optional = [a for a in self.arguments if a is not self.flat and (a.get("optional") or (a["type"] == "f32" and has_optional))]
        self.needed = [a for a in self.arguments if a is not self.flat and a not in self.optional]
        self.lifetime = "<'a>" if any(self.borrows(a) for a in self.arguments) else ""
        self.type = camel(self.name)

    def borrows(self, argument):
        kind = argument["type"]
        return kind in ("tensor", "tensors", "workspace") or (kind == "struct" and borrows(self.all, self.all.structs[argument["of"]]))

    def optional_kind(self, argument):
        return argument in self.optional and argument["type"] in ("tensor", "struct", "string", "workspace")

    def constructor(self):
        """The function and the struct that it returns."""
        said = [spoken(sentence(self.operation["summary"])), *(sentence(p) for p in self.operation.get("text", ()))]
        arguments = [f"- `{snake(a['name'])}`: " + (stopped("written; " + said) if a.get("output") else spoken(said))
                     for a, said in ((a, explained(self.all, a)) for a in self.needed)]
        text = "\n" + doc([*said, "# Arguments", *arguments, f"Nothing happens before `run`. Options are methods of [`{self.type}`]."])
        text = text.replace("\\[`" + self.type + "`\\]", f"[`{self.type}`]")
        text += prototype(rust_name(self.name) + self.lifetime, parameters(self.all, self.needed), self.type + self.lifetime)
        text += f"    {self.type} {{\n"
        for a in self.needed:
            text += f"        {member(a, stored_value(a, False, snake(a['name'])))},\n"
        text += "".join(f"        {snake(a['name'])}: {default_value(self.all, a)},\n" for a in self.optional)
        text += f"        options: {camel(self.flat['of'])}::new(),\n" if self.flat else ""
        text += f"    }}\n}}\n\n/// The operation `{self.name}`: see the function [`{rust_name(self.name)}`].\n"
        text += "#[must_use = \"an operation happens when `run` is called\"]\n#[derive(Clone, Debug)]\n"
        text += f"pub struct {self.type}{self.lifetime} {{\n"
        for a in self.needed + self.optional:
            text += f"    {snake(a['name'])}: {stored_type(self.all, a, self.optional_kind(a))},\n"
        text += f"    options: {record_type(self.all, self.flat['of'])},\n" if self.flat else ""
        return text + "}\n"

    def setters(self):
        """Rows of options that are arguments, and of those that are flat."""
        yield from (setter(self.all, argument, snake(argument["name"]), snake(argument["name"])) for argument in self.optional)
        for field in self.all.structs[self.flat["of"]]["fields"] if self.flat else ():
            if field["type"] != "count":
                name = snake(field["name"])
                yield setter(self.all, field, name, f"options.{name}", RENAMED.get((self.name, field["name"])))

    def all_options(self):
        if self.flat:
            options = record_type(self.all, self.flat["of"])
            yield ("    /// All options at once.\n"
                   f"    pub fn options(mut self, options: &{options}) -> Self {{\n        self.options = options.clone();\n        self\n    }}\n")

    def given(self, query):
        """The arguments of a call."""
        values = []
        for argument in c_interface.arguments_of(self.operation, query):
            if argument["type"] == "count":
                values.append("count")
                continue
            value = raw_value(self.all, argument, self.optional_kind(argument), "self." + snake(argument["name"]))
            values.append(value)
        return values

    def method(self, query):
        """`run`, or a query."""
        call = self.operation["name"] if query is None else query["name"]
        name, result, more, extra, end = "run", "()", "", [], ""
        taken = ["stream: &Stream"] if query is None else []
        first = ["stream.handle()"] if query is None else []
        said = "Queues the work." if query is None else spoken(sentence(query["summary"]))
        kind = query.get("result") if query else None
        if query is not None:
            name = "warmup" if query.get("loads") else "tune" if call.startswith("tune_") else call.removeprefix(self.name + "_")
        if kind == "bytes":
            result, more, extra, end = "u64", "        let mut bytes = 0;\n", ["&mut bytes"], "        Ok(bytes)\n"
        elif kind in ("kernel_choice", "tune_report"):
            result = camel(kind)
            more, extra = f"        let mut raw = sys::kaio_{kind}::default();\n", ["&mut raw"]
            end = f"        {result}::from_raw(&raw)\n"
            if kind == "tune_report":
                taken.append("how: &TuneOptions")
                extra.insert(0, "hold.keep(how.raw(&hold)?)")
        elif kind is not None:
            raise ValueError(f"{call}: no method for a result {kind}")
        text = doc([said], "    ") + f"    pub fn {name}({', '.join(['&self', *taken])}) -> Result<{result}> {{\n"
        given = [*first, *self.given(query), *extra]
        text += "        let hold = Hold::new();\n" if any("hold" in value for value in given) else ""
        if "count" in given:
            lists = ", ".join(f"(\"{a['name']}\", self.{snake(a['name'])}.len())" for a in self.arguments if a["type"] == "tensors")
            text += f"        let count = same_length(\"{self.name}\", &[{lists}])?;\n"
        return text + more + called(call, given, end) + "    }\n"

    def text(self):
        parts = [*self.all_options(), *filter(None, [setters(self.setters())]), self.method(None), *(self.method(query) for query in c_interface.queries_of(self.operation))]
        return self.constructor() + f"\nimpl{self.lifetime} {self.type}{self.lifetime} {{\n" + "\n".join(parts) + "}\n"


def prototype(name, taken, result):
    """The first line of a function, or a line for each parameter."""
    line = f"pub fn {name}({taken}) -> {result} {{\n"
    if len(line) <= 111:
        return line
    return f"pub fn {name}(\n" + "".join(f"    {one},\n" for one in taken.split(", ")) + f") -> {result} {{\n"


def called(call, given, end):
    """A call of the C interface, and what is made of its result."""
    text = f"call!(kaio_{call}({', '.join(given)}))" + ("?;" if end else "")
    lines = textwrap.wrap(text, 110, initial_indent="        ", subsequent_indent="            ", break_long_words=False, break_on_hyphens=False)
    return "\n".join(lines) + "\n" + end


def plain_text(all, operation):
    """A function that neither runs on a device nor loads anything."""
    arguments, result = operation["arguments"], operation["result"]
    taken = parameters(all, arguments).replace("'a", "'_")
    if result == "bytes":
        kind, make, end = "u64", "0u64", "Ok(result)"
    elif "enum" in result:
        kind = camel(result["enum"])
        make, end = "0i32", f"{kind}::from_raw(result)"
    else:
        kind = camel(result["struct"])
        make, end = f"sys::kaio_{result['struct']}::default()", f"{kind}::from_raw(&result)"
        kind = record_type(all, result["struct"], "'static")
    said = [spoken(sentence(operation["summary"])), *(sentence(p) for p in operation.get("text", ()))]
    said += [f"- `{snake(a['name'])}`: {spoken(explained(all, a))}" for a in arguments]
    text = "\n" + doc(said) + f"pub fn {rust_name(operation['name'])}({taken}) -> Result<{kind}> {{\n"
    given = [raw_value(all, a, False, snake(a["name"])).replace(".clone()", ".to_string()") for a in arguments] + ["&mut result"]
    text += "    let hold = Hold::new();\n" if any("hold" in value for value in given) else ""
    text += f"    let mut result = {make};\n    call!(kaio_{operation['name']}({', '.join(given)}))?;\n    {end}\n}}\n"
    return text


def family_file(all, name):
    family = all.families[name]
    body = "".join(enum_text(enum) for enum in family.get("enums", ()))
    for struct in family.get("structs", ()):
        if any(field["type"] == "c" for field in struct["fields"]):
            continue  # functions of the program: kaio-sys has them
        if not struct.get("output"):
            body += record_text(all, struct)
        elif is_simple_output(struct):
            body += output_text(all, struct)
    if name not in BY_HAND:
        for operation in family.get("operations", ()):
            body += plain_text(all, operation) if operation.get("plain") else operation_text(all, operation).text()
    return HEAD.format(name) + f"//! {family['title']}.\n\nuse super::*;\nuse crate::call::*;\n" + body


def example(all, field):
    """An argument that is wrong: tensors have 8 dimensions."""
    kind = field["type"]
    if kind == "workspace" or (kind == "tensor" and field.get("output")):
        return "&w"
    if kind == "tensor":
        return "&x"
    if kind == "tensors":
        return "std::slice::from_ref(&w)" if field.get("output") else "&[x]"
    if kind == "struct":
        needed = [f for f in all.structs[field["of"]]["fields"] if f.get("needed")]
        return f"&{camel(field['of'])}::new({', '.join(example(all, f) for f in needed)})"
    if kind == "enum":
        return f"{camel(field['of'])}::{variant(all.enums[field['of']]['values'][0][0])}"
    if kind == "device":
        return "&Device::from_raw(kaio::sys::DLDevice { device_type: kaio::sys::kDLExtDev, device_id: 99 })"
    return {"bool": "false", "f32": "0.0", "f64": "0.0", "string": "\"\""}.get(kind, "0")


def every_operation(all):
    """A test that calls each function with arguments that it refuses."""
    text = HEAD.format("*") + EVERY
    for name, family in all.families.items():
        for operation in () if name in BY_HAND else family.get("operations", ()):
            if operation.get("plain"):
                continue
            one = operation_text(all, operation)
            text += f"    let call = {rust_name(operation['name'])}({', '.join(example(all, a) for a in one.needed)});\n"
            text += f"    refuses(\"{operation['name']}\", call.run(&stream));\n    refuses(\"{operation['name']}_warmup\", call.warmup());\n"
            for query in c_interface.queries_of(operation):
                if isinstance(query.get("result"), str):
                    method = "tune" if query["name"].startswith("tune_") else query["name"].removeprefix(operation["name"] + "_")
                    given = "&TuneOptions::new()" if method == "tune" else ""
                    text += f"    refuses(\"{query['name']}\", call.{method}({given}));\n"
    return text + "}\n"


EVERY = """
//! Every operation and every query calls the function of its name: each refuses tensors of 8 dimensions, and says who does.

use kaio::ops::*;
use kaio::{Buffer, Device, Error, ErrorKind, Stream};

#[track_caller]
fn refuses<T>(name: &str, result: Result<T, Error>) {
    let error = result.err().unwrap_or_else(|| panic!("{} takes tensors of 8 dimensions", name));
    assert_eq!(error.kind(), ErrorKind::InvalidArgument, "{}: {}", name, error);
    assert!(error.message().starts_with(&format!("kaio: {}: ", name)), "{}: {}", name, error);
}

#[test]
fn every_operation() {
    let device = Device::open("emulator").unwrap();
    let stream = Stream::new(&device).unwrap();
    let (memory, mut written) = (Buffer::<f64>::zeros(&device, 1).unwrap(), Buffer::<f64>::zeros(&device, 1).unwrap());
    let x = memory.view(&[1; 8]).unwrap();
    let w = written.view_mut(&[1; 8]).unwrap();
"""


def files(root):
    all = c_interface.descriptions()
    names = sorted(all.families)
    made = {f"kaio/src/ops/{name}.rs": family_file(all, name) for name in names}
    types = [camel(x["name"]) for family in all.families.values() for kind in ("enums", "structs", "operations") for x in family.get(kind, ())]
    twice = {name for name in types if types.count(name) > 1}
    if twice:
        raise ValueError(f"two descriptions have the Rust name {', '.join(sorted(twice))}")
    text = HEAD.format("*") + OPS + "".join(f"mod {name};\n" for name in names) + "\n" + "".join(f"pub use {name}::*;\n" for name in names)
    made["kaio/tests/generated/every_operation.rs"] = every_operation(all)
    made["kaio/src/ops.rs"] = text
    return made


OPS = """//! The operations, and their options and records.
//!
//! A function takes what an operation needs and returns it; methods set options; `run` queues the work on a stream.
//!
//! ```
//! use kaio::{ops, Buffer, Device, Stream};
//! let device = Device::open("emulator")?;
//! let stream = Stream::new(&device)?;
//! let x = Buffer::from_slice(&device, &[3.0f32, 4.0])?;
//! let weight = Buffer::from_slice(&device, &[1.0f32, 1.0])?;
//! let mut out = Buffer::<f32>::uninitialised(&device, 2)?;
//! ops::rms_norm(&x.view(&[1, 2])?, &weight.view(&[2])?, &out.view_mut(&[1, 2])?).epsilon(0.0).run(&stream)?;
//! let out = out.to_vec(&stream)?;
//! assert!((out[0] - 3.0 / 12.5f32.sqrt()).abs() < 1e-6);
//! # Ok::<(), kaio::Error>(())
//! ```
//!
//! The text of an argument has its shape, and then the types of its elements. "As x" means the shape of `x`; "elements of x" means
//! the type of `x`'s elements. Of "(..., size)", norms and softmax take 1 to 3 dimensions before the last.

"""
