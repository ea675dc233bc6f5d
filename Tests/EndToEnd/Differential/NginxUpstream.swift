// SPDX-License-Identifier: Apache-2.0

import BearerdTestSupport

/// An nginx that writes down every request as it understood it: the second opinion on what bearerd sends.
final class NginxUpstream: Sendable {
    /// One request, as nginx read it.
    struct Seen: Sendable {
        let method: String
        let target: String
        let nonce: String
        let authorization: String
        let via: String
        let body: String
        /// Where the target led, once everything in it was resolved.
        let place: String
    }

    /// The program; nil where it is not installed (`deploy/bootstrap nginx`).
    static let program = ["/usr/sbin/nginx", "/usr/local/sbin/nginx", "/usr/bin/nginx"].first {
        TemporaryDirectory.mode(of: $0) != nil
    }

    private let directory: TemporaryDirectory
    private let process: Subprocess

    /// Starts it, and waits until it answers.
    init(_ program: String) throws {
        directory = try TemporaryDirectory()
        let file = try directory.write("nginx.conf", Self.configuration(in: directory.path))
        process = try Subprocess([program, "-e", directory.path("error.log"), "-c", file])
        try eventually("nginx to listen") {
            (try? RawClient(to: .unix(path: socket)).request("GET", "/ready"))?.status == 200
        }
        try eventually("its first line") { seen.count >= 1 }
    }

    /// Where it listens.
    private var socket: String { directory.path("outer.sock") }

    /// As it stands in a route's `upstream`.
    var url: String { "http+unix:\(socket)" }

    /// The URL of a server that does not merge slashes.
    var unmergedURL: String { "http+unix:\(directory.path("unmerged.sock"))" }

    /// Every request so far that it found good and whole, in the order of their ends.
    var seen: [Seen] {
        let text = String(
            decoding: TemporaryDirectory.contents(of: directory.path("seen.log")), as: UTF8.self)
        return text.split(separator: "\n").compactMap { TestJSON(parsing: $0) }.compactMap { line in
            guard line["status"].string == "200" else { return nil }
            return Seen(
                method: line["method"].string ?? "", target: line["target"].string ?? "",
                nonce: line["nonce"].string ?? "", authorization: line["authorization"].string ?? "",
                via: line["via"].string ?? "", body: line["body"].string ?? "",
                place: line["place"].string ?? "")
        }
    }

    /// A server that logs what it sees, and passes it on.
    private static func logging(_ name: String, _ more: String = "", in directory: String) -> String {
        """
          server {
            listen unix:\(directory)/\(name).sock;
            \(more)
            access_log \(directory)/seen.log seen;
            add_header X-Seen-By nginx;
            location / { proxy_pass http://unix:\(directory)/inner.sock; }
          }
        """
    }

    /// A body is known only to a request that is passed on: so there is a second server behind the first.
    private static func configuration(in directory: String) -> String {
        """
        daemon off;
        master_process off;
        pid \(directory)/pid;
        error_log \(directory)/error.log crit;
        events { worker_connections 512; }
        http {
          client_body_temp_path \(directory)/client;
          proxy_temp_path \(directory)/proxy;
          fastcgi_temp_path \(directory)/fastcgi;
          uwsgi_temp_path \(directory)/uwsgi;
          scgi_temp_path \(directory)/scgi;
          client_body_buffer_size 1m;
          underscores_in_headers on;
          log_format seen escape=json '{"method":"$request_method","target":"$request_uri",'
            '"nonce":"$http_x_nonce","authorization":"$http_authorization","via":"$http_via",'
            '"body":"$request_body","place":"$uri","status":"$status"}';
        \(logging("outer", in: directory))
        \(logging("unmerged", "merge_slashes off;", in: directory))
          server {
            listen unix:\(directory)/inner.sock;
            access_log off;
            location / { return 200 "seen"; }
          }
        }
        """
    }
}

extension Needs {
    /// Another server to compare with.
    static let nginx = Needs(orElse: "there is no nginx: deploy/bootstrap nginx installs it") {
        NginxUpstream.program != nil
    }
}
