// SPDX-License-Identifier: Apache-2.0

import BearerdConfiguration
import BearerdEventLoop
import BearerdHTTPMessages

/// `bearerd demo`: a development provider, a sample API and the proxy, all in this process, on loopback.
struct DemoCommand: Command {
    static let name = "demo"
    static let summary = "tries it all on loopback: a provider, an API, the proxy; needs nothing"

    init(_ arguments: ParsedArguments) throws(CommandFailure) {}

    func run() throws(CommandFailure) -> ExitStatus {
        let ports = try Ports()
        let report = ConfigurationReport(Array(text(ports).utf8), file: "demo") { _ in nil }
        guard let configuration = report.configuration else {
            throw CommandFailure(.configuration, report.lines.joined(separator: "; "))
        }
        try Console.show(instructions(ports))
        return try DaemonProcess.serve(configuration)
    }

    /// The configuration as a YAML text, so that the demo uses only what a file can express.
    private func text(_ ports: Ports) -> String {
        """
        listen: 127.0.0.1:\(ports.proxy)
        admin:
          listen: 127.0.0.1:\(ports.admin)
        development:
          provider: 127.0.0.1:\(ports.provider)
          api: 127.0.0.1:\(ports.api)
        identities:
          demo:
            issuer: http://127.0.0.1:\(ports.provider)
            client_id: demo
            client_secret: demo
            grant_type: client_credentials
            scope: [openid, profile]
        routes:
          - path: /
            upstream: http://127.0.0.1:\(ports.api)
            identity: demo
          - path: /grpc.health.v1.Health
            upstream: http://127.0.0.1:\(ports.api)
            upstream_protocol: h2
            identity: demo
        store:
          type: memory
        """
    }

    private func instructions(_ ports: Ports) -> String {
        let proxy = "http://127.0.0.1:\(ports.proxy)"
        return """
            Everything runs in this process, on loopback; Ctrl-C ends it. In another terminal:

            The claims of the token that was put in:
              curl \(proxy)/whoami
            What the API received:
              curl \(proxy)/echo -d hello
            A stream, forwarded as it comes:
              curl -N \(proxy)/events
            The API without bearerd, 401:
              curl http://127.0.0.1:\(ports.api)/whoami

            A gRPC call, whose answer ends with 08 01, SERVING; `grpc_health_probe -addr 127.0.0.1:\(ports.proxy)` does the same:

              printf '\\0\\0\\0\\0\\0' | curl -s --http2-prior-knowledge -H 'content-type: application/grpc' -H 'te: trailers' \\
                --data-binary @- \(proxy)/grpc.health.v1.Health/Check | od -An -tx1

            The status page: http://127.0.0.1:\(ports.admin)/


            """
    }

    /// The usual ports, or free ones where those are taken.
    private struct Ports {
        let proxy: UInt16
        let admin: UInt16
        let provider: UInt16
        let api: UInt16

        init() throws(CommandFailure) {
            do {
                proxy = try Self.free(preferring: 8080)
                admin = try Self.free(preferring: 9090)
                provider = try Self.free(preferring: 8081)
                api = try Self.free(preferring: 8082)
            } catch {
                throw CommandFailure(error)
            }
        }

        private static func free(preferring port: UInt16) throws -> UInt16 {
            let listener: BoundListener
            do {
                listener = try BoundListener(.tcp(host: "127.0.0.1", port: port), workers: 1)
            } catch {
                listener = try BoundListener(.tcp(host: "127.0.0.1", port: 0), workers: 1)
            }
            defer { listener.close() }
            guard case .tcp(_, let bound) = listener.address else { return port }
            return bound
        }
    }
}
