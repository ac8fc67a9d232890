#!/usr/bin/env python3
"""Opens the report of the benchmarks in a headless browser: its script runs without an error, filters, sorts, searches and explains
dots, and the page fits a phone.

usage: browser_test.py                          the test
       browser_test.py --picture FILE.png [WIDTH HEIGHT [dark]]   a picture of the report's beginning

Exits with 77 if this machine has no Chromium: `apt-get install chromium`, or KAIO_BROWSER."""

import contextlib
import json
import pathlib
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
RESULTS = ROOT / "bench/results/h200.jsonl"
sys.path.insert(0, str(ROOT / "tests/trace"))
import browser  # noqa: E402

POINT = """(selector => {
  const dot = document.querySelector(selector), box = dot.getBoundingClientRect();
  dot.dispatchEvent(new PointerEvent("pointerover", {bubbles: true, clientX: box.x, clientY: box.y}));
  const tip = document.getElementById("tip"), place = tip.getBoundingClientRect();
  return tip.hidden ? "" : place.left >= 0 && place.right <= innerWidth ? tip.innerText : "outside: " + tip.innerText;
})"""


def slower_run(folder):
    """The file of an old run, in which each of kaio's times is twice as long."""
    file = pathlib.Path(folder, "old.jsonl")
    lines = [json.loads(line) for line in RESULTS.read_text(encoding="utf-8").splitlines()]
    timed = [line for line in lines if isinstance(line.get("us"), dict) and "kaio" in line["us"]]
    file.write_text("".join(json.dumps({**line, "us": {**line["us"], "kaio": 2 * line["us"]["kaio"]}}) + "\n" for line in timed))
    return str(file)


def report(folder, *words):
    file = pathlib.Path(folder, "report.html")
    subprocess.run([sys.executable, ROOT / "bench/html_report/main.py", file, *words], check=True, stdout=subprocess.DEVNULL, timeout=60)
    return file


@contextlib.contextmanager
def opened(program, file, width, height, scheme="light"):
    with browser.browser(program, width, height) as started:
        page = started.open("about:blank")
        page.call("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=False)
        page.call("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": scheme}])
        page.call("Page.navigate", url=file.as_uri())
        yield page


def ready(page):
    page.wait_for("document.readyState === 'complete' && location.protocol === 'file:'", 20)
    fault = page.evaluate("document.documentElement.dataset.fault || ''")
    assert not fault, fault
    return int(page.evaluate("document.body.dataset.ready || '-1'"))


def check_script(page):
    count = ready(page)
    assert count == page.evaluate("JSON.parse(document.getElementById('data').textContent).cases.length") > 1000, count
    rows = "[...document.querySelectorAll('#cases tbody tr')]"
    assert page.evaluate(f"{rows}.length") == int(page.evaluate("document.body.dataset.rows")) == 100
    assert page.evaluate("performance.getEntriesByType('resource').length") == 0

    # Only what is chosen is visible.
    visible = "[...document.querySelectorAll('%s')].filter(x => x.getClientRects().length).length"
    all_rows, dots = page.evaluate(visible % "#ratios tbody tr"), page.evaluate(visible % ".roofline circle")
    assert all_rows >= 12 and dots > 1000, (all_rows, dots)
    page.evaluate("[...document.querySelectorAll('.chip')].find(x => x.innerText === 'rms_norm').click()")
    assert page.evaluate(visible % "#ratios tbody tr") == 1
    assert 0 < page.evaluate(visible % ".roofline circle") < dots
    assert page.evaluate(f"{rows}.every(row => row.cells[0].innerText === 'rms_norm' && row.cells[3].innerText === 'repeated')")
    page.evaluate("document.querySelector('.chip.all').click(), document.querySelector('.ways button').click()")
    assert page.evaluate(visible % "#ratios tbody tr") > all_rows

    # Tables are sorted, in both directions, and searched.
    page.evaluate("document.querySelectorAll('#cases th button')[4].click()")
    times = f"{rows}.map(row => Number(row.cells[4].innerText.replaceAll(',', '')))"
    found = page.evaluate(times)
    assert found == sorted(found, reverse=True) and found[0] > 1000, found[:5]
    page.evaluate("document.querySelectorAll('#cases th button')[4].click()")
    found = page.evaluate(times)
    assert found == sorted(found) and found[-1] < 100, found[-5:]
    page.evaluate("document.querySelectorAll('#ratios th button')[3].click()")
    means = page.evaluate("[...document.querySelectorAll('#ratios tbody tr')].map(row => Number(row.cells[3].dataset.v))")
    assert means == sorted(means, reverse=True), means
    page.evaluate("search.value = '8192 e4m3', search.dispatchEvent(new Event('input'))")
    assert page.evaluate(f"{rows}.length > 0 && {rows}.every(row => row.innerText.includes('8192') && row.innerText.includes('e4m3'))")

    # A dot is explained.
    words = page.evaluate(POINT + "('.roofline circle')")
    assert all(word in words for word in ("TFLOP/s", "kaio", "µs", "NVIDIA", "of the roof", "20")), words
    assert page.evaluate("document.querySelectorAll('circle.on').length") >= 2
    assert ready(page) == count


def check_comparison(page):
    assert ready(page) > 1000
    assert page.evaluate("[...document.querySelectorAll('#changes tbody tr')].every(row => row.cells[3].innerText === '2.00')")
    words = page.evaluate(POINT + "('#changes circle')")
    assert all(word in words for word in ("old", "new", "µs", "2.00 × faster")), words


def check_phone(page, scheme):
    ready(page)
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    assert page.evaluate("document.querySelector('#ratios .strip').getBoundingClientRect().width") > 300
    back = page.evaluate("getComputedStyle(document.body).backgroundColor")
    assert (back == "rgb(255, 255, 255)") == (scheme == "light"), back


def check_fault(page):
    """A fault of the script is noticed: otherwise the other checks would prove nothing."""
    page.wait_for("document.body && document.documentElement.dataset.fault", 20)
    assert page.evaluate("document.body.dataset.ready || ''") == ""


def main():
    program = browser.find_browser()
    if program is None:
        print("skipped: no Chromium: apt-get install chromium, or set KAIO_BROWSER")
        return 77
    with tempfile.TemporaryDirectory() as folder:
        file = report(folder)
        if sys.argv[1:2] == ["--picture"]:
            sizes = [int(word) for word in sys.argv[3:5]] or [1280, 1600]
            with opened(program, file, *sizes, scheme=(sys.argv[5:] or ["light"])[0]) as page:
                ready(page)
                pathlib.Path(sys.argv[2]).write_bytes(page.picture())
            return 0
        with opened(program, file, 1280, 900) as page:
            check_script(page)
        for scheme in ("light", "dark"):
            with opened(program, file, 390, 844, scheme) as page:
                check_phone(page, scheme)
        with opened(program, report(folder, "--compare", slower_run(folder), str(RESULTS)), 1280, 900) as page:
            check_comparison(page)
        broken = pathlib.Path(folder, "broken.html")
        broken.write_text(file.read_text().replace('"texts":', '"words":'))
        with opened(program, broken, 1280, 900) as page:
            check_fault(page)
    print("the report works in", program)
    return 0


if __name__ == "__main__":
    sys.exit(main())
