"""bench/lib/browser.py - drives Chromium without a window, over its DevTools protocol.

The protocol runs over two pipes, so that Python's standard library suffices. A module of
bench/screenshot.py and of the test of the page that `hybrid_spmm trace` writes.
"""
import base64
import json
import os
import shutil
import subprocess
import tempfile
from pathlib import Path

FLAGS = ["--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage",
         "--disable-background-networking", "--disable-component-update", "--disable-sync",
         "--no-first-run", "--hide-scrollbars", "--remote-debugging-pipe"]


def program():
    """Returns the path of Chromium, or None."""
    return shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")


class Browser:
    """A browser with one page. `told` collects what the console says, and exceptions."""

    def __init__(self, width=1280, height=800):
        self._folder = tempfile.TemporaryDirectory(ignore_cleanup_errors=True)
        ours, theirs = os.pipe(), os.pipe()
        self._send, self._read = ours[1], os.fdopen(theirs[0], "rb")
        command = [program(), *FLAGS, f"--user-data-dir={self._folder.name}",
                   f"--window-size={width},{height}", "about:blank"]
        # Chromium reads from descriptor 3 and writes to descriptor 4
        script = f'exec "$@" 3<&{ours[0]} 4>&{theirs[1]}'
        self._process = subprocess.Popen(
            ["bash", "-c", script, "bash", *command], pass_fds=(ours[0], theirs[1]),
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        os.close(ours[0])
        os.close(theirs[1])
        self._last, self._session, self._rest = 0, None, b""
        self.told = []
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        self._session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.call(f"{domain}.enable")
        self.size(width, height)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self._session = None
        self.call("Browser.close")
        self._process.wait(30)
        os.close(self._send)
        self._read.close()
        self._folder.cleanup()

    def _receive(self):
        """Returns the next message."""
        while b"\0" not in self._rest:
            more = os.read(self._read.fileno(), 1 << 16)
            if not more:
                raise RuntimeError("the browser has ended")
            self._rest += more
        message, self._rest = self._rest.split(b"\0", 1)
        return json.loads(message)

    def _note(self, message):
        method, params = message.get("method"), message.get("params", {})
        if method == "Runtime.exceptionThrown":
            self.told.append(params["exceptionDetails"].get("exception", {}).get("description", "exception"))
        elif method == "Runtime.consoleAPICalled":
            self.told.append(" ".join(str(arg.get("value")) for arg in params["args"]))
        elif method == "Log.entryAdded":
            self.told.append(params["entry"]["text"])
        elif method == "Network.requestWillBeSent" and not params["request"]["url"].startswith("file:"):
            self.told.append("request of " + params["request"]["url"])

    def call(self, method, **params):
        """Calls a method of the protocol and returns its result."""
        self._last += 1
        request = {"id": self._last, "method": method, "params": params}
        if self._session:
            request["sessionId"] = self._session
        os.write(self._send, json.dumps(request).encode() + b"\0")
        while True:
            message = self._receive()
            if message.get("id") != self._last:
                self._note(message)
            elif "error" in message:
                raise RuntimeError(f"{method}: {message['error']['message']}")
            else:
                return message["result"]

    def size(self, width, height):
        """Sets the size of the window in pixels."""
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=height,
                  deviceScaleFactor=1, mobile=False)

    def scheme(self, name):
        """Sets prefers-color-scheme: "light" or "dark"."""
        self.call("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": name}])

    def open(self, path):
        """Opens a file and waits until it has been loaded and drawn."""
        self.call("Page.navigate", url=Path(path).resolve().as_uri())
        self.value("new Promise(done => document.readyState === 'complete' ? done() : addEventListener('load', done))")
        self.drawn()

    def drawn(self):
        """Waits until the page has been drawn as it is now."""
        self.value("new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))")

    def value(self, expression):
        """Returns the value of a JavaScript expression, after waiting for a promise."""
        result = self.call("Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True)
        if "exceptionDetails" in result:
            raise RuntimeError(result["exceptionDetails"].get("exception", {}).get("description", expression))
        return result["result"].get("value")

    def key(self, key, shift=False):
        """Presses a key such as "Tab", "ArrowRight" or "+"."""
        codes = {"Tab": 9, "Enter": 13, "Escape": 27, "End": 35, "Home": 36, "ArrowLeft": 37,
                 "ArrowUp": 38, "ArrowRight": 39, "ArrowDown": 40}
        event = {"key": key, "code": key, "modifiers": 8 if shift else 0,
                 "windowsVirtualKeyCode": codes.get(key, ord(key[0].upper()))}
        if len(key) == 1:
            event["text"] = key
        self.call("Input.dispatchKeyEvent", type="keyDown", **event)
        self.call("Input.dispatchKeyEvent", type="keyUp", **event)

    def mouse(self, kind, x, y, **more):
        """Sends a mouse event: "mouseMoved", "mousePressed", "mouseReleased" or "mouseWheel"."""
        self.call("Input.dispatchMouseEvent", type=kind, x=x, y=y, **more)

    def picture(self):
        """Returns the page as it stands in the window, as PNG."""
        return base64.b64decode(self.call("Page.captureScreenshot", format="png")["data"])
