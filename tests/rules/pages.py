#!/usr/bin/env python3
"""The documents answer what a newcomer searches for:

- searches.json: each search leads from README.md or docs/README.md to its page in at most two clicks. The line of the last link has the
  words of the search (or `row`). The page has the words of the answer in headings, tables or code.
- Each link of README.md and docs/ leads to a file, and to a heading of it. Two clicks lead to each page.
- A page of an operation has three parts.
- The quick reference names each operation, and the members of its options in their order.

Prints a line for each breach, then 'N passed, N failed'.
"""

import json
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
ENTRANCES = [ROOT / "README.md", ROOT / "docs/README.md"]
PARTS = ["Use", "Contract", "Internals and figures"]
LINK = re.compile(r"\]\(([^)#\s]*)(?:#([^)\s]*))?\)")


def parts_of(page):
    """(code, table or heading or prose, text) of each line."""
    inside = False
    for line in page.read_text(encoding="utf-8").splitlines():
        fence = line.startswith("```")
        inside ^= fence
        kind = "code" if inside or fence or line.startswith("    ") else {"|": "table", "#": "heading"}.get(line[:1], "prose")
        yield kind, line


def links_of(page):
    """(line, file, anchor) of each link into the repository."""
    for kind, line in parts_of(page):
        for target, anchor in LINK.findall(line) if kind != "code" else ():
            if not re.match(r"[a-z]+:", target):
                yield line, (page.parent / target).resolve() if target else page, anchor


def anchors_of(page):
    found, result = {}, set(re.findall(r'<a name="([^"]+)">', page.read_text(encoding="utf-8")))
    for kind, line in parts_of(page):
        if kind == "heading":
            text = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", line.lstrip("#").strip()).lower()
            name = re.sub(r"[^\w\- ]", "", text).replace(" ", "-")
            result.add(f"{name}-{found[name]}" if name in found else name)
            found[name] = found.get(name, 0) + 1
    return result


def lines_to(links):
    """For each page the lines that lead to it in at most two clicks."""
    result = {page: [] for page in PAGES}
    near = set(ENTRANCES) | {target for entrance in ENTRANCES for _, target, _ in links[entrance]}
    for page in near & set(PAGES):
        for line, target, _ in links[page]:
            if target in result:
                result[target].append(line)
    return result


def problems_of_search(search, lines):
    page = ROOT / search["page"]
    if page not in lines:
        yield f"{search['page']} does not exist"
        return
    words = [word.lower() for word in search.get("row", search["search"].split())]
    if page != ENTRANCES[0] and not any(all(word in line.lower() for word in words) for line in lines[page]):
        yield f"no line within two clicks that has {words} leads to {search['page']}"
    text = "\n".join(line for kind, line in parts_of(page) if kind != "prose")
    for answer in search["answer"]:
        if answer not in text:
            yield f"{search['page']} has no '{answer}' in a heading, a table or code"


def problems_of_links(page, links, anchors, lines):
    if not lines[page]:
        yield "no two clicks lead here"
    for _, target, anchor in links[page]:
        if not target.exists():
            yield f"{target} does not exist"
        elif anchor and anchor not in (anchors[target] if target in anchors else anchors_of(target)):
            yield f"{target.name} has no heading #{anchor}"


def problems_of_parts(page):
    found = [line[3:] for kind, line in parts_of(page) if kind == "heading" and line.startswith("## ")]
    if found != PARTS:
        yield f"the parts are {found}, not {PARTS}"


def problems_of_quick_reference():
    reference = (ROOT / "docs/quick_reference.md").read_text(encoding="utf-8")
    headers = [re.sub(r"//.*", "", file.read_text(encoding="utf-8")) for file in sorted((ROOT / "include/kaio/ops").rglob("*.hpp"))]
    functions = set(re.findall(r"^(?:void|tune_report) ([a-z]\w*)\(const (?:stream|device)& ", "\n".join(headers), re.MULTILINE))
    lifted = set(re.findall(r"^using ops::(\w+);", "\n".join(headers), re.MULTILINE))
    operations = {name for name in functions & lifted if not name.startswith("tune_") and not name.endswith("_warmup")}
    if len(operations) < 30:
        yield f"only {len(operations)} operations were found in the headers"
    for name in sorted(operations):
        if not re.search(rf"^\|[^|]*`{name}[(<]", reference, re.MULTILINE):
            yield f"no line for {name}"
    options = [found for text in headers for found in re.findall(r"^struct (\w+_options) \{\n(.*?)^\};", text, re.MULTILINE | re.DOTALL)]
    if len(options) < 15:
        yield f"only {len(options)} structs of options were found in the headers"
    for name, body in options:
        members = re.findall(r"\b(\w+)(?=\{\}|\s*=\s*[^,;]+[,;])", body)
        if not re.search(rf"^\| `{name}`[^|]*\| " + " ".join(f"`.{member}`" for member in members) + r" \|$", reference, re.MULTILINE):
            yield f"{name} has the members {' '.join(members)}"


def main():
    links = {page: list(links_of(page)) for page in PAGES}
    anchors = {page: anchors_of(page) for page in PAGES}
    lines = lines_to(links)
    searches = json.loads((ROOT / "tests/rules/searches.json").read_text(encoding="utf-8"))
    checks = [(f"search '{search['search']}'", problems_of_search(search, lines)) for search in searches]
    checks += [(page.relative_to(ROOT), problems_of_links(page, links, anchors, lines)) for page in PAGES]
    checks += [(page.relative_to(ROOT), problems_of_parts(page)) for page in PAGES if page.parent == ROOT / "docs/ops"]
    checks.append(("docs/quick_reference.md", problems_of_quick_reference()))
    failed = 0
    for name, problems in checks:
        found = list(problems)
        failed += bool(found)
        print("".join(f"{name}: {problem}\n" for problem in found), end="")
    print(f"{len(checks) - failed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
