"""Where booted machines phone home: an HTTP server at the site that takes what they post.

    python3 -m netboot.phone_home ADDRESS PORT FILE

Each POST is a line of JSON in FILE, with its time, path and text.
"""

import http.server
import json
import sys
import time


class Handler(http.server.BaseHTTPRequestHandler):
    def do_POST(self) -> None:
        text = self.rfile.read(int(self.headers.get("Content-Length", "0"))).decode("utf-8", "replace")
        with open(sys.argv[3], "a") as file:
            file.write(json.dumps({"time": time.time(), "path": self.path, "text": text}) + "\n")
        self.send_response(200)
        self.send_header("Content-Length", "0")
        self.end_headers()


if __name__ == "__main__":
    http.server.ThreadingHTTPServer((sys.argv[1], int(sys.argv[2])), Handler).serve_forever()
