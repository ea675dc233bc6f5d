# SPDX-License-Identifier: Apache-2.0
"""The pages that try to use bearerd, and what they report."""

# Each attempt comes to "nothing", or to what the page has got hold of.
STRANGER = """<!doctype html><body><script>
const proxy = "PROXY";
const patience = (promise) => Promise.race([promise, new Promise((done) => setTimeout(done, 5000, "no answer"))]);
const read = (request) => request.then(async (r) => r.type === "opaque" ? "nothing" : `read ${r.status}`, () => "nothing");
const element = (tag, attributes) => new Promise((done) => {
  const it = Object.assign(document.createElement(tag), attributes);
  it.onload = () => done("loaded");
  it.onerror = () => done("nothing");
  document.body.append(it);
});
// A frame says that it was loaded whatever came; who framed it must not see into it.
const frame = (name, start) => new Promise((done) => {
  const it = Object.assign(document.createElement("iframe"), {name});
  document.body.append(it);
  it.onload = () => {
    try { done(it.contentDocument ? "seen" : "nothing"); } catch { done("nothing"); }
  };
  start(it);
});
const form = () => {
  const it = Object.assign(document.createElement("form"), {method: "POST", action: proxy + "/form", target: "posted"});
  document.body.append(it);
  it.submit();
};
const attempts = {
  "fetch": () => read(fetch(proxy + "/fetch")),
  "fetch without CORS": () => read(fetch(proxy + "/no-cors", {mode: "no-cors"})),
  "a POST without CORS": () => read(fetch(proxy + "/post", {mode: "no-cors", method: "POST", body: "x"})),
  "a DELETE": () => read(fetch(proxy + "/delete", {method: "DELETE"})),
  "an image": () => element("img", {src: proxy + "/image"}),
  "a script": () => element("script", {src: proxy + "/script"}),
  "a style sheet": () => element("link", {rel: "stylesheet", href: proxy + "/style"}),
  "a frame": () => frame("framed", (it) => { it.src = proxy + "/frame"; }),
  "a form": () => frame("posted", form),
  "a WebSocket": () => new Promise((done) => {
    const it = new WebSocket(proxy.replace("http", "ws") + "/socket");
    it.onopen = () => done("open");
    it.onerror = () => done("nothing");
  }),
};
(async () => {
  const result = {};
  for (const [name, attempt] of Object.entries(attempts)) result[name] = await patience(attempt());
  await fetch("/result", {method: "POST", body: JSON.stringify(result)});
})();
</script>"""

FRIEND = """<!doctype html><body><script>
const proxy = "PROXY";
const read = (request) => request.then((r) => r.text(), (error) => `${error}`);
(async () => {
  const result = {};
  result["a simple GET"] = await read(fetch(proxy + "/simple"));
  result["a preflighted PUT"] =
    await read(fetch(proxy + "/put", {method: "PUT", headers: {"X-Custom": "1", "Content-Type": "application/json"},
                                      body: "{}"}));
  result["a POST with cookies"] = await read(fetch(proxy + "/post", {method: "POST", credentials: "include", body: "x"}));
  await fetch("/result", {method: "POST", body: JSON.stringify(result)});
})();
</script>"""

# Comes from the API, through bearerd, which is its origin.
OWN = """<!doctype html><body><script>
(async () => {
  const answer = await fetch("/own", {method: "POST", body: "x"}).then((r) => r.text(), (error) => `${error}`);
  await fetch("/result", {method: "POST", body: JSON.stringify({own: answer})});
})();
</script>"""
