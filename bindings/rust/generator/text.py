"""Words that both crates share: the descriptions, C types in Rust, names, comments."""

import importlib.util
import pathlib
import re
import textwrap

ROOT = pathlib.Path(__file__).resolve().parents[3]
# src/c/generate.py has the name of the script that begins, so it is loaded by its path.
_spec = importlib.util.spec_from_file_location("c_interface", ROOT / "src" / "c" / "generate.py")
c_interface = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(c_interface)

KEYWORDS = {"as", "box", "break", "const", "continue", "crate", "dyn", "else", "enum", "extern", "false", "fn", "for", "if", "impl", "in",
            "let", "loop", "match", "mod", "move", "mut", "pub", "ref", "return", "self", "static", "struct", "super", "trait", "true",
            "type", "unsafe", "use", "where", "while", "async", "await", "gen"}
WORDS = {"int32_t": "i32", "uint32_t": "u32", "int64_t": "i64", "uint64_t": "u64", "uint8_t": "u8", "uint16_t": "u16", "float": "f32",
         "double": "f64", "char": "c_char", "void": "c_void", "size_t": "usize"}


def rust_name(name):
    return name + "_" if name in KEYWORDS else name


def rust_type(c):
    """A type of C in Rust: `const kaio_kernel**` is `*mut *const kaio_kernel`."""
    constant, base, stars = re.fullmatch(r"(const )?\s*(\w+)\s*(\**)", c.strip()).groups()
    result = WORDS.get(base, base)
    for number in range(len(stars)):
        result = f"*{'const' if constant and number == 0 else 'mut'} {result}"
    return result


def camel(name):
    return "".join(part[:1].upper() + part[1:] for part in name.split("_"))


def escaped(text):
    """Text as Markdown: what is not code has no links, tags and stresses."""
    parts = text.split("`")
    return "`".join(part if number % 2 else re.sub(r"([\[\]<>]|(?<! )\*|\*(?! ))", r"\\\1", part) for number, part in enumerate(parts))


def doc(paragraphs, indent=""):
    """A documentation comment; paragraphs are separated by an empty line."""
    blocks = []
    for paragraph in paragraphs:
        bullet = paragraph.startswith("- ")
        blocks.append("\n".join(textwrap.wrap(escaped(paragraph), 108 - len(indent) - 4, subsequent_indent="  " if bullet else "",
                                              break_long_words=False, break_on_hyphens=False)))
    text = ""
    for number, block in enumerate(blocks):
        if number and not (paragraphs[number].startswith("- ") and paragraphs[number - 1].startswith("- ")):
            text += f"{indent}///\n"
        first, *others = block.split("\n")
        # A sign at the begin of a line of a formula would make a list of it.
        lines = [first, *(re.sub(r"^([-+*]) ", r"\\\1 ", line) for line in others)]
        text += "".join(f"{indent}/// {line}\n" for line in lines)
    return text


def stopped(text):
    """Text that ends in a stop."""
    text = text.strip()
    return text + ("" if text[-1:] in ".:!?" else ".")


def spoken(text):
    """A sentence: it begins with a capital, unless it begins with code or a formula, and ends in a stop."""
    text = text.strip()
    first = text[:1].upper() if re.match(r"[a-z]{2,}(?! =)[ ,:;.]", text) else text[:1]
    return stopped(first + text[1:])
