# SPDX-License-Identifier: Apache-2.0
"""A browser as far as login pages need one: cookies, redirects, forms."""

import html.parser
import http.client
import json
import ssl
import urllib.parse
from dataclasses import dataclass, field


@dataclass
class Answer:
    """One HTTP answer; `url` is where it came from."""

    url: str
    status: int
    headers: http.client.HTTPMessage
    body: bytes

    @property
    def text(self):
        return self.body.decode("utf-8", "replace")

    @property
    def json(self):
        return json.loads(self.body)

    @property
    def location(self):
        """The absolute address of a redirect, else None."""
        location = self.headers.get("Location")
        return urllib.parse.urljoin(self.url, location) if location and 300 <= self.status < 400 else None


@dataclass
class Form:
    """A form with what it would send if nobody touched it; `buttons` are sent only when pressed."""

    action: str = ""
    method: str = "GET"
    fields: dict = field(default_factory=dict)
    buttons: dict = field(default_factory=dict)


class FormReader(html.parser.HTMLParser):
    """Collects the forms of a page."""

    def __init__(self, page):
        super().__init__()
        self.forms = []
        self.feed(page)

    def handle_starttag(self, tag, attributes):
        attributes = dict(attributes)
        if tag == "form":
            self.forms.append(Form(attributes.get("action") or "", (attributes.get("method") or "GET").upper()))
        elif tag in ("input", "button") and self.forms and (name := attributes.get("name")):
            kind = attributes.get("type", "submit" if tag == "button" else "text").lower()
            value = attributes.get("value") or ""
            if kind == "submit":
                self.forms[-1].buttons[name] = value
            elif kind not in ("checkbox", "radio") or "checked" in attributes:
                self.forms[-1].fields[name] = value


class Browser:
    """Keeps cookies for each host and follows redirects only when told to."""

    def __init__(self, ca_file=None):
        self.context = ssl.create_default_context(cafile=ca_file)
        self.cookies = {}

    def request(self, method, url, form=None, body=None, headers=None):
        """One request; `form` is sent URL-encoded, `body` as JSON."""
        parts = urllib.parse.urlsplit(url)
        headers = {"Accept": "text/html,*/*", **(headers or {})}
        data = None
        if form is not None:
            data = urllib.parse.urlencode(form)
            headers["Content-Type"] = "application/x-www-form-urlencoded"
        elif body is not None:
            data = json.dumps(body)
            headers["Content-Type"] = "application/json"
        jar = self.cookies.setdefault(parts.hostname, {})
        if jar:
            headers["Cookie"] = "; ".join(f"{name}={value}" for name, value in jar.items())
        if parts.scheme == "https":
            connection = http.client.HTTPSConnection(
                parts.hostname, parts.port, timeout=30, context=self.context)
        else:
            connection = http.client.HTTPConnection(parts.hostname, parts.port, timeout=30)
        target = urllib.parse.urlunsplit(("", "", parts.path or "/", parts.query, ""))
        try:
            connection.request(method, target, data, headers)
            response = connection.getresponse()
            answer = Answer(url, response.status, response.headers, response.read())
        finally:
            connection.close()
        for cookie in answer.headers.get_all("Set-Cookie") or []:
            name, _, value = cookie.split(";")[0].partition("=")
            jar[name.strip()] = value.strip()
        return answer

    def submit(self, page, form, values, button=None):
        """Sends `form` of `page` with `values` filled in."""
        filled = {**form.fields, **values}
        if button:
            filled[button] = form.buttons[button]
        target = urllib.parse.urljoin(page.url, form.action or page.url)
        if form.method == "GET":
            return self.request("GET", target.split("?")[0] + "?" + urllib.parse.urlencode(filled))
        return self.request("POST", target, form=filled)

    def walk(self, url, username, password, until):
        """Goes on from `url` as a person would: follows redirects, logs in, agrees.

        Returns the first address that begins with `until`, unvisited; else the page where there was nothing
        left to do.
        """
        answer = self.request("GET", url)
        for _ in range(16):
            location = answer.location
            if location and until and location.startswith(until):
                return location
            if location:
                answer = self.request("GET", location)
                continue
            step = self._fill(answer, username, password)
            if step is None:
                return answer
            answer = step
        raise AssertionError(f"the login at {url.split('?')[0]} does not come to an end")

    def _fill(self, page, username, password):
        for form in FormReader(page.text).forms:
            if "password" in form.fields:
                return self.submit(page, form, {"username": username, "password": password})
            for button in ("accept", "allow"):
                if button in form.buttons:
                    return self.submit(page, form, {}, button)
        return None
