#!/usr/bin/env python3
"""Opens a page in a headless Chromium, moves its slider and turns its view, and prints as JSON what
came of it.

    python3 browser.py FILE [PICTURE]

{"messages": [...], "requests": [...], "graphics": "...", "start": S, "moved": S, "turned": S,
 "wide": N}, S being {"triangles": N, "told": "...", "drawn": N, "pixels": HASH}.
`messages` are errors, warnings and exceptions of the console; `requests` what was asked for besides
the page; `wide` the pixels by which the page is wider than the window. PICTURE is a PNG of the whole
page; with `--dark` the page is shown in dark colors.

Chromium is told what to do through pipes (Chrome DevTools Protocol), so that nothing else is needed.
It is the one that TOPOPT_CHROMIUM names, or found by its usual names.

Exit status: 0 done; 1 failed, with the reason on stderr; 77 there is no Chromium.
"""

import base64
import hashlib
import json
import os
import pathlib
import select
import shutil
import subprocess
import sys
import tempfile
import time

NAMES = ["chromium", "chromium-browser", "google-chrome", "chrome"]
FLAGS = """--headless --no-sandbox --disable-quic --no-first-run --disable-background-networking
    --disable-component-update --disable-sync --disable-dev-shm-usage --use-gl=angle
    --use-angle=swiftshader --enable-unsafe-swiftshader --hide-scrollbars
    --window-size=1280,1000 --remote-debugging-pipe""".split()
PATIENCE = 120  # seconds

STATE = """(() => {
    const canvas = document.getElementById("view").dataset;
    return { triangles: Number(canvas.triangles), told: document.getElementById("told").textContent,
             drawn: Number(canvas.drawn) };
})()"""


class Browser:
    """A Chromium with one page."""

    def __init__(self, program, folder):
        (browser_in, self.to), (self.back, browser_out) = os.pipe(), os.pipe()

        def pipes():
            # The browser reads from file descriptor 3 and writes to 4.
            low, high = os.dup2(browser_in, 100), os.dup2(browser_out, 101)
            os.dup2(low, 3)
            os.dup2(high, 4)

        self.process = subprocess.Popen(
            [program, *FLAGS, f"--user-data-dir={folder}"],
            preexec_fn=pipes,
            close_fds=False,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        os.close(browser_in)
        os.close(browser_out)
        self.buffer, self.number, self.session = b"", 0, None
        self.messages, self.requests, self.loaded = [], [], False
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        attached = self.call("Target.attachToTarget", targetId=target, flatten=True)
        self.session = attached["sessionId"]
        for domain in ["Page", "Runtime", "Log", "Network"]:
            self.call(f"{domain}.enable")

    def call(self, method, **params):
        self.number += 1
        message = {"id": self.number, "method": method, "params": params}
        if self.session:
            message["sessionId"] = self.session
        os.write(self.to, json.dumps(message).encode() + b"\0")
        while True:
            answer = self.receive()
            if answer.get("id") == self.number:
                if "error" in answer:
                    raise RuntimeError(f"{method}: {answer['error']}")
                return answer["result"]

    def receive(self):
        end = time.monotonic() + PATIENCE
        while b"\0" not in self.buffer:
            if not select.select([self.back], [], [], max(0, end - time.monotonic()))[0]:
                raise RuntimeError(f"no word from the browser for {PATIENCE} s")
            read = os.read(self.back, 1 << 20)
            if not read:
                raise RuntimeError("the browser has ended")
            self.buffer += read
        message, self.buffer = self.buffer.split(b"\0", 1)
        message = json.loads(message)
        self.note(message.get("method"), message.get("params"))
        return message

    def note(self, method, params):
        if method == "Runtime.consoleAPICalled" and params["type"] in ["error", "warning", "assert"]:
            self.messages.append(str([a.get("value", a.get("description")) for a in params["args"]]))
        elif method == "Runtime.exceptionThrown":
            details = params["exceptionDetails"]
            self.messages.append(details.get("exception", {}).get("description", details["text"]))
        elif method == "Log.entryAdded" and params["entry"]["level"] in ["error", "warning"]:
            self.messages.append(params["entry"]["text"])
        elif method == "Network.requestWillBeSent":
            self.requests.append(params["request"]["url"][:100])
        elif method == "Page.loadEventFired":
            self.loaded = True

    def evaluate(self, expression):
        result = self.call("Runtime.evaluate", expression=expression, returnByValue=True)
        if "exceptionDetails" in result:
            raise RuntimeError(f"{expression}: {result['exceptionDetails']}")
        return result["result"].get("value")

    def until(self, expression):
        end = time.monotonic() + PATIENCE
        while not self.evaluate(expression):
            if time.monotonic() > end:
                raise RuntimeError(f"not after {PATIENCE} s: {expression}; {self.messages}")
            time.sleep(0.05)

    def picture(self, clip):
        clip = {**clip, "scale": 1}
        answer = self.call("Page.captureScreenshot", clip=clip, captureBeyondViewport=True)
        return base64.b64decode(answer["data"])

    def state(self):
        box = """(() => { const box = document.getElementById("view").getBoundingClientRect();
            return { x: box.x + scrollX, y: box.y + scrollY, width: box.width, height: box.height };
        })()"""
        picture = self.picture(self.evaluate(box))
        return {**self.evaluate(STATE), "pixels": hashlib.sha256(picture).hexdigest()}

    def close(self):
        self.process.kill()
        self.process.wait()


def visit(browser, page, picture, dark):
    if dark:
        features = [{"name": "prefers-color-scheme", "value": "dark"}]
        browser.call("Emulation.setEmulatedMedia", features=features)
    browser.call("Page.navigate", url=page.resolve().as_uri())
    while not browser.loaded:
        browser.receive()
    browser.until("Number(document.getElementById('view').dataset.drawn) > 0")
    start = browser.state()
    if picture:
        size = browser.call("Page.getLayoutMetrics")["cssContentSize"]
        pathlib.Path(picture).write_bytes(browser.picture(size))
    browser.evaluate("""(() => { const slider = document.getElementById("threshold");
        slider.value = 70; slider.dispatchEvent(new Event("input")); })()""")
    moved = browser.state()
    browser.evaluate("""document.getElementById("view").dispatchEvent(
        new KeyboardEvent("keydown", { key: "ArrowLeft" }))""")
    turned = browser.state()
    graphics = """(() => { const gl = document.createElement("canvas").getContext("webgl2");
        return gl ? gl.getParameter(gl.VERSION) : "none"; })()"""
    return {
        "messages": browser.messages,
        "requests": [url for url in browser.requests if not url.startswith(("file:", "data:"))],
        "graphics": browser.evaluate(graphics),
        "start": start,
        "moved": moved,
        "turned": turned,
        "wide": browser.evaluate("document.documentElement.scrollWidth - innerWidth"),
    }


def main():
    arguments = [argument for argument in sys.argv[1:] if argument != "--dark"]
    named = os.environ.get("TOPOPT_CHROMIUM")
    program = named or next(filter(None, map(shutil.which, NAMES)), None)
    if not program:
        print("there is no Chromium; install it or name it in TOPOPT_CHROMIUM", file=sys.stderr)
        return 77
    page, picture = pathlib.Path(arguments[0]), arguments[1] if len(arguments) > 1 else None
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        browser = Browser(program, folder)
        try:
            print(json.dumps(visit(browser, page, picture, "--dark" in sys.argv)))
        finally:
            browser.close()
    return 0


if __name__ == "__main__":
    sys.exit(main())
