# SPDX-License-Identifier: Apache-2.0
"""A browser's window that a test drives: Chromium's DevTools protocol over a pipe."""

import base64
import json
import os
import signal
import subprocess
import time

PATIENCE = 60


class Window:
    """One window of a Chromium of its own, which remembers what it asked for and what went wrong in it."""

    def __init__(self, program, home, *options):
        to_browser, from_us = os.pipe()
        to_us, from_browser = os.pipe()
        command = [program, "--headless", "--disable-gpu", "--no-first-run", "--disable-extensions", "--hide-scrollbars",
                   "--remote-debugging-pipe", f"--user-data-dir={home}", "--no-sandbox",
                   "--host-resolver-rules=MAP *.test 127.0.0.1", *options]

        def take_pipes():
            # The browser reads descriptor 3 and writes descriptor 4.
            read, write = os.dup(to_browser), os.dup(from_browser)
            os.dup2(read, 3)
            os.dup2(write, 4)

        self.process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                                        preexec_fn=take_pipes, close_fds=False, start_new_session=True)
        os.close(to_browser)
        os.close(from_browser)
        self.out, self.into = os.fdopen(from_us, "wb", 0), os.fdopen(to_us, "rb", 0)
        self.received = b""
        self.count = 0
        self.session = None
        self.requests, self.problems = [], []
        self.answers = {}
        self.loads = 0
        self.dialogs = []
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        self.session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Network", "Log", "Runtime"):
            self.call(f"{domain}.enable")

    def __enter__(self):
        return self

    def __exit__(self, *_):
        os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()
        self.out.close()
        self.into.close()

    def call(self, method, **parameters):
        """Has the browser do something, and returns what comes of it."""
        self.count += 1
        message = {"id": self.count, "method": method, "params": parameters}
        if self.session:
            message["sessionId"] = self.session
        self.out.write(json.dumps(message).encode() + b"\0")
        return self.until(lambda: self.answers.pop(self.count, None), method)

    def until(self, holds, what, patience=PATIENCE):
        """Reads what the browser tells until something holds that is not false, and returns that."""
        end = time.monotonic() + patience
        while not (found := holds()):
            if time.monotonic() > end:
                raise TimeoutError(f"{what} did not come")
            self.read()
        return found

    def read(self):
        while b"\0" not in self.received:
            piece = self.into.read(1 << 16)
            if not piece:
                raise EOFError("the browser has gone")
            self.received += piece
        message, _, self.received = self.received.partition(b"\0")
        self.heed(json.loads(message))

    def heed(self, message):
        parameters = message.get("params", {})
        match message.get("method"):
            case None:
                self.answers[message["id"]] = message.get("result") or {"error": message.get("error")}
            case "Network.requestWillBeSent":
                self.requests.append(parameters["request"]["url"])
            case "Page.loadEventFired":
                self.loads += 1
            case "Runtime.exceptionThrown":
                self.problems.append(parameters["exceptionDetails"]["text"])
            case "Log.entryAdded" if parameters["entry"]["level"] == "error":
                self.problems.append(f"{parameters['entry']['text']} {parameters['entry'].get('url', '')}")
            case "Page.javascriptDialogOpening":
                self.dialogs.append(parameters["message"])
                self.count += 1
                answer = {"id": self.count, "method": "Page.handleJavaScriptDialog", "params": {"accept": True},
                          "sessionId": self.session}
                self.out.write(json.dumps(answer).encode() + b"\0")

    # What a person does.

    def open(self, address):
        loads = self.loads
        self.call("Page.navigate", url=address)
        self.until(lambda: self.loads > loads, f"the page {address}")

    def evaluate(self, script):
        """The value of an expression in the page; a promise's value when it is there."""
        result = self.call("Runtime.evaluate", expression=script, awaitPromise=True, returnByValue=True)
        if "exceptionDetails" in result:
            raise ValueError(result["exceptionDetails"])
        return result.get("result", {}).get("value")

    def sees(self, script, patience=PATIENCE):
        """Waits until an expression in the page is true."""
        end = time.monotonic() + patience
        while time.monotonic() < end:
            try:
                if self.evaluate(script):
                    return True
            except ValueError:
                pass  # Between two pages.
            self.evaluate("new Promise((done) => setTimeout(done, 50))")
        return False

    def press(self, key):
        codes = {"Tab": 9, "Enter": 13, " ": 32, "ArrowLeft": 37}
        for kind in ("keyDown", "keyUp"):
            text = {"text": "\r"} if key == "Enter" and kind == "keyDown" else {}
            self.call("Input.dispatchKeyEvent", type=kind, key=key, code="Space" if key == " " else key,
                      windowsVirtualKeyCode=codes[key], **text)

    def look(self, width, theme):
        """Makes the window this wide, in this theme."""
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=900, deviceScaleFactor=1, mobile=width < 600)
        self.call("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": theme}])

    def picture(self, file):
        """Keeps the whole page as a picture."""
        shot = self.call("Page.captureScreenshot", format="png", captureBeyondViewport=True)
        with open(file, "wb") as picture:
            picture.write(base64.b64decode(shot["data"]))
