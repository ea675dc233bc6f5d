# SPDX-License-Identifier: Apache-2.0
"""A server on loopback that answers every request with a JSON document."""

import http.server
import json
import threading


class JSONServer(http.server.ThreadingHTTPServer):
    """Serves from a thread of its own until `stop`; `answer(path, fields, body)` returns the document."""

    def __init__(self, answer):
        class Handler(http.server.BaseHTTPRequestHandler):
            def do_GET(self):
                content = self.rfile.read(int(self.headers.get("Content-Length", 0)))
                body = json.dumps(answer(self.path, self.headers, content)).encode()
                self.send_response(200)
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            do_POST = do_GET

            def log_message(self, *_):
                pass

        super().__init__(("127.0.0.1", 0), Handler)
        threading.Thread(target=self.serve_forever, daemon=True).start()

    def stop(self):
        self.shutdown()
        self.server_close()
