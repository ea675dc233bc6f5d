# SPDX-License-Identifier: Apache-2.0
"""The status page and the login on the admin listener, in a browser."""

import json
import os
import signal
import subprocess
import urllib.error
import urllib.request

from devtools import PATIENCE, Window
from site_under_test import free_ports

# Attempts of another site's page on the admin listener; each comes to "nothing", or to what it has got hold of.
STRANGER = """<!doctype html><body><script>
const admin = "ADMIN";
const patience = (promise) => Promise.race([promise, new Promise((done) => setTimeout(done, 5000, "no answer"))]);
const read = (request) => request.then((r) => r.type === "opaque" ? "nothing" : `read ${r.status}`, () => "nothing");
const element = (tag, source) => new Promise((done) => {
  const it = Object.assign(document.createElement(tag), {src: source});
  it.onload = () => done("loaded");
  it.onerror = () => done("nothing");
  document.body.append(it);
});
const frame = (name, start) => new Promise((done) => {
  const it = Object.assign(document.createElement("iframe"), {name});
  document.body.append(it);
  it.onload = () => { try { done(it.contentDocument ? "seen" : "nothing"); } catch { done("nothing"); } };
  start(it);
});
const form = (target, path, fields) => {
  const it = Object.assign(document.createElement("form"), {method: "POST", action: admin + path, target});
  for (const [name, value] of Object.entries(fields))
    it.append(Object.assign(document.createElement("input"), {name, value}));
  document.body.append(it);
  it.submit();
};
const events = (path) => new Promise((done) => {
  const it = new EventSource(admin + path);
  it.onmessage = () => done("events");
  it.onerror = () => done("nothing");
});
const attempts = {
  "fetch": () => read(fetch(admin + "/api/status")),
  "an action with the header": () => read(fetch(admin + "/api/identities/demo/refresh",
                                               {method: "POST", headers: {"X-Bearerd-Admin": "1"}})),
  "an action without CORS": () => read(fetch(admin + "/api/identities/demo/logout", {method: "POST", mode: "no-cors"})),
  "events": () => events("/api/events"),
  "an image that begins a login": () => element("img", admin + "/login/web"),
  "a frame": () => frame("framed", (it) => { it.src = admin + "/"; }),
  "a form": () => frame("posted", () => form("posted", "/api/identities/demo/revoke", {})),
  "a form with a key": () => frame("typed", () => form("typed", "/key", {key: "guess", next: "/"})),
};
(async () => {
  const result = {};
  for (const [name, attempt] of Object.entries(attempts)) result[name] = await patience(attempt());
  await fetch("/result", {method: "POST", body: JSON.stringify(result)});
})();
</script>"""


class Daemon:
    """bearerd with identities and routes that are well, and some that are not, for as long as a `with` lasts."""

    def __init__(self, binary, upstream, directory):
        self.binary = binary
        self.port, self.admin_port, provider, nobody = free_ports(4)
        self.admin = f"http://127.0.0.1:{self.admin_port}"
        self.file = os.path.join(directory, "page.yaml")
        with open(self.file, "w") as file:
            file.write(f"""
listen: "127.0.0.1:{self.port}"
admin: {{listen: "127.0.0.1:{self.admin_port}"}}
development: {{provider: "127.0.0.1:{provider}"}}
identities:
  demo: {{issuer: "http://127.0.0.1:{provider}", client_id: demo, client_secret: demo, grant_type: client_credentials}}
  web: {{issuer: "http://127.0.0.1:{provider}", client_id: web, client_secret: web, scope: [openid, offline_access]}}
  billing: {{issuer: "http://127.0.0.1:{nobody}", client_id: b, client_secret: b, grant_type: client_credentials}}
routes:
  - {{path: /, upstream: "http://127.0.0.1:{upstream}", identity: demo}}
  - {{path: /people, upstream: "http://127.0.0.1:{upstream}", identity: web}}
  - {{path: /reports, upstream: "http://127.0.0.1:{nobody}", identity: demo}}
  - {{path: /billing, upstream: "http://127.0.0.1:{upstream}", identity: billing}}
store: {{type: memory}}
""")

    def __enter__(self):
        self.start("demo")
        return self

    def start(self, identity):
        self.process = subprocess.Popen([self.binary, "run", "-c", self.file], stderr=subprocess.DEVNULL)
        while self.status(identity) != "authorized":
            if self.process.poll() is not None:
                raise RuntimeError("bearerd has ended")

    def __exit__(self, *_):
        self.process.terminate()
        self.process.wait(PATIENCE)

    def identity(self, name):
        try:
            with urllib.request.urlopen(f"{self.admin}/api/status", timeout=PATIENCE) as answer:
                return next(it for it in json.load(answer)["identities"] if it["name"] == name)
        except (urllib.error.URLError, ConnectionError):
            return {"state": "", "generation": 0}

    def status(self, name):
        return self.identity(name)["state"]

    def call(self, path, times=1):
        for _ in range(times):
            try:
                urllib.request.urlopen(f"http://127.0.0.1:{self.port}{path}", timeout=PATIENCE).read()
            except urllib.error.HTTPError as error:
                error.read()


def try_page(checks, binary, program, upstream, pages, browser, directory, artefacts):
    os.makedirs(artefacts, exist_ok=True)
    with Daemon(binary, upstream.port, directory) as daemon:
        for path, times in (("/orders", 40), ("/people", 3), ("/reports", 4), ("/billing", 2)):
            daemon.call(path, times)
        upstream.requests.clear()
        with Window(program, os.path.join(directory, "window")) as window:
            looks(checks, daemon, window, artefacts)
            works(checks, daemon, window)
            keyboard(checks, daemon, window)
            charts(checks, daemon, window)
            outside = [url for url in window.requests if not url.startswith(f"{daemon.admin}/")]
            checks.check("status page: nothing is asked for elsewhere", not outside and window.requests, outside)
            login(checks, daemon, window, artefacts)
        strangers(checks, daemon, pages, browser)
        with Window(program, os.path.join(directory, "last-window")) as window:
            departs(checks, daemon, window)


def looks(checks, daemon, window, artefacts):
    with urllib.request.urlopen(daemon.admin, timeout=PATIENCE) as answer:
        policy, size = answer.headers["Content-Security-Policy"], len(answer.read())
    checks.check("status page: it is at most 100 KiB", size <= 100 * 1024, size)
    checks.check("status page: its policy allows nothing by default, and nothing inline",
                 policy.startswith("default-src 'none'") and "unsafe" not in policy, policy)
    for theme in ("light", "dark"):
        for width in (360, 1280):
            window.look(width, theme)
            window.open(daemon.admin + "/")
            window.sees("document.getElementById('live').className === 'on'")
            window.picture(os.path.join(artefacts, f"status-{width}-{theme}.png"))
            wide = window.evaluate("document.documentElement.scrollWidth")
            checks.check(f"status page: it fits {width} pixels, {theme}", wide <= width, wide)
    # White on white would be as readable as nothing.
    colors = window.evaluate("[getComputedStyle(document.body).color, getComputedStyle(document.body).backgroundColor]")
    checks.check("status page: the dark theme is dark", "rgb(14, 18, 22)" in colors[1], colors)
    text = window.evaluate("document.body.innerText")
    for words in ("Somebody must log in", "Has a token", "development servers", "2 identities need a look", "web: somebody must log in; billing: "):
        checks.check(f"status page: it says '{words}'", words in text, text[:400])
    checks.check("status page: nothing went wrong in it", not window.problems, window.problems)
    window.call("Emulation.setScriptExecutionDisabled", value=True)
    window.open(daemon.admin + "/")
    window.call("Emulation.setScriptExecutionDisabled", value=False)
    text = window.evaluate("document.body.innerText")
    checks.check("status page: it is read without a script",
                 all(words in text for words in ("Has a token", "ten seconds", "/reports")), text[:400])


def works(checks, daemon, window):
    window.look(1280, "light")
    window.open(daemon.admin + "/")
    before = window.evaluate("document.getElementById('uptime').textContent")
    checks.check("status page: it is live",
                 window.sees(f"document.getElementById('uptime').textContent !== {before!r}"), before)
    inline = window.evaluate("""new Promise((done) => {
      document.addEventListener('securitypolicyviolation', (event) => done(event.effectiveDirective), {once: true});
      document.body.append(Object.assign(document.createElement('script'), {textContent: 'window.foreign = 1'}));
      setTimeout(done, 3000, 'nothing');
    })""")
    checks.check("status page: its policy stops a script that is not its own", inline.startswith("script-src"), inline)
    checks.check("status page: which has not run", window.evaluate("window.foreign === undefined"))
    window.problems.clear()


def keyboard(checks, daemon, window):
    window.open(daemon.admin + "/")
    for _ in range(40):
        window.press("Tab")
        if window.evaluate("document.activeElement.getAttribute('aria-label')") == "Refresh: demo":
            break
    label = window.evaluate("document.activeElement.getAttribute('aria-label')")
    checks.check("status page: Tab reaches the buttons", label == "Refresh: demo", label)
    outline = window.evaluate("getComputedStyle(document.activeElement).outlineStyle")
    checks.check("status page: what has the keyboard is seen", outline == "solid", outline)
    before = daemon.identity("demo")["generation"]
    window.press("Enter")
    told = window.sees("document.getElementById('notice').textContent === 'demo has a new token.'")
    checks.check("status page: Enter presses it, and the page tells what came of it", told,
                 window.evaluate("document.getElementById('notice').textContent"))
    checks.check("status page: there is a new token", daemon.identity("demo")["generation"] > before)
    checks.check("status page: the button keeps the keyboard while the page goes on",
                 window.evaluate("document.activeElement.getAttribute('aria-label')") == label)


def charts(checks, daemon, window):
    """The values of a column are told under the pointer and by the arrow keys, while the page goes on being live."""
    window.open(daemon.admin + "/")
    checks.check("status page: its charts begin with the data",
                 "The last ten minutes" in window.evaluate("document.body.innerText"))
    window.evaluate("document.getElementById('c0-svg').focus()")
    told = "document.getElementById('c0-at').textContent"
    checks.check("status page: a chart that has the keyboard tells its newest values",
                 window.sees(f"{told}.startsWith('now: ')"), window.evaluate(told))
    window.press("ArrowLeft")
    checks.check("status page: and those before by the arrow keys",
                 window.sees(f"{told}.startsWith('10 s ago: ')"), window.evaluate(told))
    window.evaluate("window.focused = 0; document.addEventListener('focusin', () => window.focused++)")
    uptime = window.evaluate("document.getElementById('uptime').textContent")
    window.sees(f"document.getElementById('uptime').textContent !== {uptime!r}")
    checks.check("status page: which it keeps while the page is put in anew",
                 window.evaluate(f"{told}.startsWith('10 s ago: ') && document.activeElement.id === 'c0-svg'"),
                 window.evaluate(told))
    checks.check("status page: and nobody is told of it anew", window.evaluate(
        "window.focused === 0 && document.getElementById('c0-at').getAttribute('aria-live') === 'off'"))
    window.evaluate("""(() => {
      document.activeElement.blur();
      const box = document.getElementById('c2-svg').getBoundingClientRect();
      document.getElementById('c2-svg').dispatchEvent(new PointerEvent('pointermove',
        {bubbles: true, clientX: box.left + box.width / 2, clientY: box.top + 1}));
    })()""")
    told = "document.getElementById('c2-at').textContent"
    checks.check("status page: so does the pointer", window.evaluate(f"{told}.startsWith('5 min ago: ')")
                 or window.evaluate(f"{told}.startsWith('4.8 min ago: ')"), window.evaluate(told))
    checks.check("status page: the tab tells that something fails",
                 window.evaluate("document.title === '✕ bearerd: something fails'"), window.evaluate("document.title"))
    checks.check("status page: nothing went wrong with its charts", not window.problems, window.problems)


def login(checks, daemon, window, artefacts):
    window.open(f"http://localhost:{daemon.admin_port}/")
    window.evaluate("[...document.querySelectorAll('a.button')].find((it) => it.href.endsWith('/login/web')).focus()")
    window.press("Enter")
    window.sees("!!document.querySelector('input[name=username]')")
    window.evaluate("""{
      document.querySelector('input[name=username]').value = 'alice';
      document.querySelector('input[name=password]').value = 'wonderland';
      document.querySelector('button').click();
    }""")
    done = window.sees("document.body.innerText.includes('is logged in as alice')")
    checks.check("status page: somebody logs in by its link", done, window.evaluate("document.body.innerText"))
    window.look(360, "light")
    window.picture(os.path.join(artefacts, "logged-in.png"))
    checks.check("status page: and the session is used", daemon.status("web") == "authorized", daemon.status("web"))
    window.evaluate("document.querySelector('a.go').click()")
    checks.check("status page: which then shows who it is", window.sees(
        "!!document.getElementById('summary') && document.body.innerText.includes('alice')"))
    window.evaluate("document.querySelector('button[aria-label=\"Log out: web\"]').click()")
    out = window.sees("document.getElementById('notice').textContent.startsWith('web is logged out.')")
    checks.check("status page: and ends it, when asked twice", out and len(window.dialogs) == 1, window.dialogs)
    checks.check("status page: at once", window.sees("document.body.innerText.includes('Somebody must log in')"))
    window.look(360, "dark")
    window.open(f"http://127.0.0.1:{daemon.port}/people")
    window.picture(os.path.join(artefacts, "login-required.png"))
    link = window.evaluate("document.querySelector('a.go').href")
    checks.check("a window that needs a login gets a link to it", link == f"{daemon.admin}/login/web", link)


def departs(checks, daemon, window):
    """A daemon that stands still, goes on, and is killed: the page claims nothing that it does not know."""
    def says(what, title, words):
        told = window.sees(f"document.title === {title!r} && document.getElementById('lost').textContent.includes({words!r})")
        checks.check(f"status page: of a daemon that {what} it says what it knows", told, window.evaluate(
            "document.title + ' / ' + document.getElementById('lost').textContent"))

    window.open(daemon.admin + "/")
    window.sees("document.getElementById('live').className === 'on'")
    before = window.evaluate("document.title")
    asked = sum("/api/events" in url for url in window.requests)
    daemon.process.send_signal(signal.SIGSTOP)
    says("stands still", "? bearerd: not live", "says nothing, and is asked anew: this is how it was at ")
    checks.check("status page: and asks it anew", sum("/api/events" in url for url in window.requests) > asked, asked)
    daemon.process.send_signal(signal.SIGCONT)
    checks.check("status page: and of one that goes on what is so", window.sees(
        f"document.title === {before!r} && !document.getElementById('lost').textContent"), window.evaluate("document.title"))
    daemon.process.kill()
    says("is gone", "? bearerd: not live", "does not answer: this is how it was at ")
    daemon.process.wait(PATIENCE)
    # The next one has other identities in the places of those.
    with open(daemon.file) as file:
        text = file.read()
    with open(daemon.file, "w") as file:
        file.write(text.replace("  demo: ", "  another: ").replace("identity: demo", "identity: another"))
    daemon.start("another")
    names = "[...document.querySelectorAll('article h3')].map((it) => it.textContent).join()"
    checks.check("status page: of one that was started with others it shows those",
                 window.sees(f"{names} === 'another,web,billing'"), window.evaluate(names))


def strangers(checks, daemon, pages, browser):
    before = daemon.identity("demo")["generation"]
    page = STRANGER.replace("ADMIN", daemon.admin)
    result = browser.visit(pages, f"http://stranger.test:{pages.port}/page", page, daemon.admin) or {}
    for name, outcome in sorted(result.items()):
        checks.check(f"status page: a page of another site gets nothing by {name}", outcome == "nothing", outcome)
    checks.check("status page: all of that was tried", len(result) == 8, result)
    now = daemon.identity("demo")
    checks.check("status page: none of that has changed anything",
                 now["generation"] == before and now["state"] == "authorized", now)
    rebound = browser.visit(pages, f"http://rebound.test:{daemon.admin_port}/", None, daemon.admin)
    checks.check("status page: a name that was led to loopback is not ours", rebound is None, rebound)
