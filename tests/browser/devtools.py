"""A browser without a window, spoken to over a pipe (Chrome DevTools protocol). Standard library only."""

import base64
import itertools
import json
import os
import select
import shutil
import subprocess
import tempfile
import time


def find_browser():
    return next(filter(None, map(shutil.which, ["chromium", "chromium-browser", "google-chrome"])), None)


class Browser:
    def __init__(self, program):
        self.profile = tempfile.mkdtemp(prefix="sotto-browser-")
        to_browser, self.write_end = os.pipe()
        self.read_end, from_browser = os.pipe()

        def use_pipes():  # the browser reads commands at 3 and writes answers at 4
            lower, upper = os.dup(to_browser), os.dup(from_browser)
            os.dup2(lower, 3)
            os.dup2(upper, 4)

        arguments = [program, "--headless", "--remote-debugging-pipe", "--disable-gpu", "--no-first-run",
                     "--disable-quic", "--disable-background-networking", "--disable-component-update",
                     "--disable-sync", "--disable-extensions", "--hide-scrollbars",
                     "--user-data-dir=" + self.profile, "about:blank"]
        if os.geteuid() == 0:
            arguments.insert(1, "--no-sandbox")
        self.process = subprocess.Popen(arguments, preexec_fn=use_pipes, close_fds=False,
                                        stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                                        stderr=subprocess.DEVNULL)
        os.close(to_browser)
        os.close(from_browser)
        self.numbers = itertools.count(1)
        self.buffer = b""
        self.events = []
        target = self.call("Target.createTarget", {"url": "about:blank"})["targetId"]
        self.session = self.call("Target.attachToTarget", {"targetId": target, "flatten": True})["sessionId"]
        for domain in ["Page", "Runtime", "Log", "Network"]:
            self.page(domain + ".enable")

    def close(self):
        try:
            self.call("Browser.close")
            self.process.wait(20)
        except (OSError, TimeoutError, subprocess.TimeoutExpired):
            self.process.kill()
            self.process.wait()
        shutil.rmtree(self.profile, ignore_errors=True)

    def message(self, timeout):
        end = time.monotonic() + timeout
        while b"\0" not in self.buffer:
            left = end - time.monotonic()
            if left <= 0 or not select.select([self.read_end], [], [], left)[0]:
                raise TimeoutError("the browser does not answer")
            piece = os.read(self.read_end, 1 << 16)
            if not piece:
                raise OSError("the browser has gone")
            self.buffer += piece
        text, self.buffer = self.buffer.split(b"\0", 1)
        return json.loads(text)

    def call(self, method, parameters=None, session=None):
        number = next(self.numbers)
        request = {"id": number, "method": method, "params": parameters or {}}
        if session:
            request["sessionId"] = session
        os.write(self.write_end, json.dumps(request).encode() + b"\0")
        while True:
            answer = self.message(60)
            if answer.get("id") == number:
                if "error" in answer:
                    raise RuntimeError(f"{method}: {answer['error']['message']}")
                return answer["result"]
            if "method" in answer:
                self.events.append(answer)

    def page(self, method, parameters=None):
        return self.call(method, parameters, self.session)

    def evaluate(self, expression):
        answer = self.page("Runtime.evaluate", {"expression": expression, "returnByValue": True,
                                                "awaitPromise": True})
        if "exceptionDetails" in answer:
            raise RuntimeError(expression + ": " + json.dumps(answer["exceptionDetails"]))
        return answer["result"].get("value")

    def open(self, url, width, dark):
        """Loads the page; returns (messages of errors, addresses of requests)."""
        self.page("Emulation.setDeviceMetricsOverride",
                  {"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": width < 500})
        self.page("Emulation.setEmulatedMedia",
                  {"features": [{"name": "prefers-color-scheme", "value": "dark" if dark else "light"}]})
        self.events.clear()
        self.page("Page.navigate", {"url": url})
        while not any(event["method"] == "Page.loadEventFired" for event in self.events):
            event = self.message(60)
            if "method" in event:
                self.events.append(event)
        # Two frames: everything that draws has drawn, and late messages have arrived.
        self.evaluate("new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))")
        errors, requests = [], []
        for event in self.events:
            parameters = event.get("params", {})
            if event["method"] == "Runtime.exceptionThrown":
                errors.append(parameters["exceptionDetails"]["text"])
            elif event["method"] == "Runtime.consoleAPICalled" and parameters["type"] in ("error", "warning"):
                errors.append(str([a.get("value") for a in parameters["args"]]))
            elif event["method"] == "Log.entryAdded" and parameters["entry"]["level"] in ("error", "warning"):
                errors.append(parameters["entry"]["text"])
            elif event["method"] == "Network.requestWillBeSent":
                requests.append(parameters["request"]["url"])
        return errors, requests

    def screenshot(self, path):
        height = self.evaluate("Math.ceil(document.documentElement.scrollHeight)")
        width = self.evaluate("innerWidth")
        picture = self.page("Page.captureScreenshot",
                            {"captureBeyondViewport": True,
                             "clip": {"x": 0, "y": 0, "width": width, "height": height, "scale": 1}})
        with open(path, "wb") as file:
            file.write(base64.b64decode(picture["data"]))

    def pdf(self):
        return base64.b64decode(self.page("Page.printToPDF", {"printBackground": False})["data"])
