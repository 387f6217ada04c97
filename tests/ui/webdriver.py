"""A browser without a screen, driven over the WebDriver protocol. Python's own library is all it needs."""
import base64
import json
import pathlib
import re
import shutil
import subprocess
import tempfile
import time
import urllib.error
import urllib.request

PATIENCE_S = 60  # for failures, not for timing
ELEMENT = "element-6066-11e4-a52e-4f735466cecf"
FLAGS = ["--headless=new", "--no-sandbox", "--disable-dev-shm-usage", "--disable-gpu", "--hide-scrollbars",
         "--force-device-scale-factor=1", "--disable-background-networking", "--no-first-run", "--no-proxy-server"]


def is_there():
    return bool(shutil.which("chromedriver") and shutil.which("chromium"))


class Browser:
    """with Browser(...) as browser: it ends with the block, as does its driver."""

    def __init__(self, width=1360, height=940, is_dark=True):
        self.folder = tempfile.TemporaryDirectory(prefix="berth-browser.")
        log = pathlib.Path(self.folder.name, "driver.log")
        # Both keep what they write of themselves in this folder.
        environment = {"HOME": self.folder.name, "PATH": "/usr/local/bin:/usr/bin:/bin", "LC_ALL": "C.UTF-8"}
        self.driver = subprocess.Popen(["chromedriver", "--port=0"], stdin=subprocess.DEVNULL, stdout=log.open("w"),
                                       stderr=subprocess.STDOUT, env=environment)
        self.session = None
        try:
            self.address = f"http://127.0.0.1:{self.port(log)}"
            flags = [*FLAGS, f"--window-size={width},{height}", f"--user-data-dir={self.folder.name}/profile"]
            if is_dark:
                flags.append("--blink-settings=preferredColorScheme=0")
            wanted = {"goog:chromeOptions": {"args": flags}, "goog:loggingPrefs": {"browser": "ALL"}}
            begun = self.send("POST", "/session", {"capabilities": {"alwaysMatch": wanted}})
            self.session = "/session/" + begun["sessionId"]
        except BaseException:
            self.close()
            raise

    @staticmethod
    def port(log):
        end = time.monotonic() + PATIENCE_S
        while time.monotonic() < end:
            found = re.search(r"started successfully on port (\d+)", log.read_text())
            if found:
                return int(found.group(1))
            time.sleep(0.05)
        raise RuntimeError(f"chromedriver did not start: {log.read_text()}")

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def close(self):
        try:
            if self.session:
                self.send("DELETE", self.session)
        finally:
            self.driver.terminate()
            self.driver.wait(PATIENCE_S)
            shutil.rmtree(self.folder.name, ignore_errors=True)

    def send(self, method, path, body=None):
        data = json.dumps(body if body is not None else {}).encode() if method == "POST" else None
        request = urllib.request.Request(self.address + path, data, {"Content-Type": "application/json"}, method=method)
        opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
        try:
            with opener.open(request, timeout=60) as answer:
                return json.load(answer)["value"]
        except urllib.error.HTTPError as error:
            value = json.load(error)["value"]
            raise RuntimeError(f"{method} {path}: {value['error']}: {value['message'].splitlines()[0]}") from None

    def open(self, url):
        self.send("POST", self.session + "/url", {"url": url})

    def run(self, script, *arguments):
        """A script as the body of a function; a promise that it returns is waited for."""
        return self.send("POST", self.session + "/execute/sync", {"script": script, "args": list(arguments)})

    def all(self, css):
        found = self.send("POST", self.session + "/elements", {"using": "css selector", "value": css})
        return [element[ELEMENT] for element in found]

    def one(self, css):
        """The first that is there, once it is: the page draws a frame after it was told something."""
        return self.wait(css, lambda: self.all(css))[0]

    def act(self, css, action, body=None):
        """At the first that is there; the page may draw it anew between the two."""
        def is_done():
            try:
                self.send("POST", f"{self.session}/element/{self.one(css)}/{action}", body)
            except RuntimeError as error:
                if "stale element reference" not in str(error):
                    raise
                return False
            return True
        self.wait(f"{action} at {css}", is_done)

    def click(self, css):
        self.act(css, "click")

    def type(self, css, text):
        self.act(css, "clear")
        self.act(css, "value", {"text": text})

    def press(self, css, key):
        self.act(css, "value", {"text": key})

    def choose(self, css, value):
        self.run("const s = document.querySelector(arguments[0]); s.value = arguments[1];"
                 "s.dispatchEvent(new Event('change'))", css, value)

    def move(self, css, x, y, *, click=False):
        """The mouse to a place of an element, from its upper left corner."""
        box = self.run("const b = document.querySelector(arguments[0]).getBoundingClientRect(); return [b.x, b.y]", css)
        steps = [{"type": "pointerMove", "x": round(box[0] + x), "y": round(box[1] + y), "duration": 0}]
        if click:
            steps += [{"type": "pointerDown", "button": 0}, {"type": "pointerUp", "button": 0}]
        mouse = {"type": "pointer", "id": "mouse", "parameters": {"pointerType": "mouse"}, "actions": steps}
        self.send("POST", self.session + "/actions", {"actions": [mouse]})

    def text(self, css="body"):
        return self.run("return document.querySelector(arguments[0])?.innerText ?? ''", css)

    def address_now(self):
        return self.send("GET", self.session + "/url")

    def wait(self, what, is_so, seconds=PATIENCE_S):
        """Until it is so; what it last was is said when it is not in time."""
        end = time.monotonic() + seconds
        while True:
            last = is_so()
            if last:
                return last
            if time.monotonic() > end:
                raise AssertionError(f"not within {seconds} s: {what}; the page says: {self.text()[:1500]!r}")
            time.sleep(0.05)

    def wait_text(self, words, css="body", seconds=PATIENCE_S):
        return self.wait(f"{words!r} in {css}", lambda: words in self.text(css), seconds)

    def errors(self):
        """What the browser complained of since this was asked last."""
        log = self.send("POST", self.session + "/se/log", {"type": "browser"})
        return [row["message"] for row in log
                if row["level"] == "SEVERE" or (row["level"] == "WARNING" and row["source"] != "rendering")]

    def picture(self, path):
        pathlib.Path(path).write_bytes(base64.b64decode(self.send("GET", self.session + "/screenshot")))
