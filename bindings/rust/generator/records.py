"""Enums and records of the safe crate: what options and other structs of C are there."""

from generator.fields import (borrows, default_value, is_needed, parameters, raw_value, record_type, sentence, setter, setters, snake,
                              stored_type, stored_value, variant, with_default)
from generator.text import camel, doc, rust_name, spoken


def enum_text(enum):
    name = camel(enum["name"])
    text = "\n" + doc([spoken(sentence(enum["text"]))])
    if enum.get("flags"):
        text += f"#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]\npub struct {name}(pub(crate) i32);\n\nimpl {name} {{\n"
        for value in enum["values"]:
            text += doc([spoken(sentence(value[2] if len(value) > 2 else value[0]))], "    ")
            text += f"    pub const {value[0].upper()}: {name} = {name}({value[1]});\n"
        text += f"}}\n\nimpl std::ops::BitOr for {name} {{\n    type Output = {name};\n"
        return text + f"    fn bitor(self, other: {name}) -> {name} {{\n        {name}(self.0 | other.0)\n    }}\n}}\n"
    text += f"#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]\n#[non_exhaustive]\n#[repr(i32)]\npub enum {name} {{\n"
    for value in enum["values"]:
        text += doc([spoken(sentence(value[2] if len(value) > 2 else value[0].replace("_", " ")))], "    ")
        text += f"    {variant(value[0])} = {value[1]},\n"
    text += f"}}\n\nimpl {name} {{\n    pub(crate) fn from_raw(raw: i32) -> Result<{name}> {{\n        match raw {{\n"
    text += "".join(f"            {value[1]} => Ok({name}::{variant(value[0])}),\n" for value in enum["values"])
    text += f"            other => Err(Error::internal(format!(\"kaio: {{}} is no {name} that this crate knows\", other))),\n"
    return text + "        }\n    }\n}\n"


def record_text(all, struct):
    name, of_c = camel(struct["name"]), f"sys::kaio_{struct['name']}"
    lifetime = "<'a>" if borrows(all, struct) else ""
    fields = [f for f in struct["fields"] if f["type"] != "count"]
    needed = [f for f in fields if is_needed(f)]
    text = "\n" + doc([spoken(sentence(struct["text"]))]) + f"#[derive(Clone, Debug)]\npub struct {name}{lifetime} {{\n"
    text += "".join(f"    {snake(f['name'])}: {stored_type(all, f, not is_needed(f))},\n" for f in fields) + "}\n"
    text += f"\nimpl{lifetime} {name}{lifetime} {{\n"
    arguments = [spoken(f"- `{snake(f['name'])}`: {with_default(all, {**f, 'needed': False})}") for f in needed]
    text += doc(["Everything that is not set has its default.", *arguments], "    ")
    text += f"    pub fn new({parameters(all, needed)}) -> Self {{\n        {name} {{\n"
    for f in fields:
        value = stored_value(f, False, snake(f["name"])) if is_needed(f) else default_value(all, f)
        text += f"            {member(f, value)},\n"
    text += "        }\n    }\n"
    rows = setters(setter(all, f, snake(f["name"]), snake(f["name"])) for f in fields if not is_needed(f))
    text += "\n" + rows if rows else ""
    body = ""
    for f in fields:
        body += f"            {rust_name(f['name'])}: {raw_value(all, f, not is_needed(f), 'self.' + snake(f['name']))},\n"
        if f["type"] == "list":
            body += f"            {f['count']}: self.{snake(f['name'])}.len() as u64,\n"
    body = body.replace("(&hold)", "(hold)")
    hold = "hold" if "hold" in body else "_hold"
    text += f"\n    pub(crate) fn raw(&self, {hold}: &Hold) -> Result<{of_c}> {{\n        Ok({of_c} {{\n{body}"
    text += "            ..Default::default()\n        })\n    }\n"
    if struct.get("both"):
        text += f"\n    /// What C has filled; it has no tensors.\n    pub(crate) fn from_raw(raw: &{of_c}) -> Result<Self> {{\n        Ok({name} {{\n"
        for f in fields:
            text += f"            {snake(f['name'])}: {from_raw(f)},\n"
        text += "        })\n    }\n"
    text += "}\n"
    if not needed:
        text += f"\nimpl{lifetime} Default for {name}{lifetime} {{\n    fn default() -> Self {{\n        Self::new()\n    }}\n}}\n"
    return text


def member(field, value):
    """A member of an initialiser."""
    name = snake(field["name"])
    return name if name == value else f"{name}: {value}"


def from_raw(field):
    """A member of Rust from that of C."""
    value = f"raw.{rust_name(field['name'])}"
    kind = field["type"]
    if kind in ("tensor", "workspace", "struct"):
        return "None"
    if kind == "bool":
        return f"{value} != 0"
    if kind == "enum":
        return f"{camel(field['of'])}::from_raw({value})?"
    if kind == "u8":
        return f"{value} as u8"
    if kind == "text":
        return f"array_text(&{value})"
    if kind == "string":
        return f"unsafe {{ text({value}) }}"
    return value


def output_text(all, struct):
    """A struct that the library fills."""
    name, of_c = camel(struct["name"]), f"sys::kaio_{struct['name']}"
    types = {"text": "String", "string": "String", "bool": "bool", "u8": "u8"}
    text = "\n" + doc([spoken(sentence(struct["text"]))]) + f"#[derive(Clone, Debug, PartialEq)]\n#[non_exhaustive]\npub struct {name} {{\n"
    for f in struct["fields"]:
        kind = camel(f["of"]) if f["type"] == "enum" else types.get(f["type"], f["type"])
        text += doc([with_default(all, {k: v for k, v in f.items() if k != "default"})], "    ") + f"    pub {snake(f['name'])}: {kind},\n"
    text += f"}}\n\nimpl {name} {{\n    /// Texts are those of the library, which end in a zero.\n"
    text += f"    pub(crate) fn from_raw(raw: &{of_c}) -> Result<Self> {{\n        Ok({name} {{\n"
    for f in struct["fields"]:
        line = f"            {snake(f['name'])}: {from_raw(f)},\n"
        text += ("            // SAFETY: NULL or a text of the library.\n" if f["type"] == "string" else "") + line
    return text + "        })\n    }\n}\n"


def is_simple_output(struct):
    return not any(f["type"] in ("extents", "memory", "tensor") for f in struct["fields"])


__all__ = ["enum_text", "is_simple_output", "member", "output_text", "record_text", "record_type"]
