// SPDX-License-Identifier: Apache-2.0

internal import BearerdHTTP1
internal import BearerdHTTPExchange
package import BearerdHTTPMessages
internal import BearerdRouting

/// The decision of routes and rules on a request, made without serving it.
package enum RequestVerdict: Equatable, Sendable {
    /// The request is forwarded.
    ///
    /// - Parameters:
    ///   - route: the index of the route.
    ///   - rule: the index of the rule that allows it; nil if the route has no rules.
    case allowed(route: Int, rule: Int?)
    /// No rule of the route allows it.
    case denied(route: Int, Rejection)
    /// No route takes the request.
    case refused(Rejection)

    /// Judges a request as a worker would.
    ///
    /// - Parameters:
    ///   - method: the request's method.
    ///   - target: the request's target with its query.
    ///   - host: the request's `Host`.
    ///   - routes: all routes, in the order of the configuration.
    ///   - listener: the listener that would receive the request.
    ///   - hosts: the hosts that the listener answers to; nil judges no host.
    ///   - limits: the limits of the head.
    package init(
        _ method: String, _ target: String, host: String, on routes: [PreparedRoute],
        at listener: ListenAddress, answeringTo hosts: HostList? = nil, limits: HeadLimits
    ) {
        var found: Int?
        do throws(ProxyError) {
            let request = try Self.request(method, target, host: host, limits)
            guard hosts?.contains(host) ?? true else { throw .wrongHost }
            let table = RouteTable(routes.enumerated().map { ($1, $0) }, at: listener)
            let index = try table.route(for: request.method, request.targetBytes, host: host)
            found = index
            guard let rules = routes[index].terms.rules else {
                self = .allowed(route: index, rule: nil)
                return
            }
            guard let rule = rules.rule(for: request.method, request.pathBytes.span) else {
                throw .policyDenied(hasOddSegment: RequestPath.hasOddSegment(request.pathBytes.span))
            }
            self = .allowed(route: index, rule: rule)
        } catch {
            // Only of a client that has gone there is no answer.
            let rejection = Rejection(error, identity: nil) ?? Rejection(malformed: .malformed)
            self = found.map { .denied(route: $0, rejection) } ?? .refused(rejection)
        }
    }

    /// Parses the request as it would be parsed from a connection.
    private static func request(
        _ method: String, _ target: String, host: String, _ limits: HeadLimits
    ) throws(ProxyError) -> HTTPRequest {
        let words = [method, target, host]
        guard words.allSatisfy({ $0.utf8.allSatisfy { $0 > 0x20 && $0 != 0x7F } }) else {
            throw .malformedRequest(.malformed)
        }
        let head = Array("\(method) \(target) HTTP/1.1\r\nHost: \(host)\r\n\r\n".utf8)
        var parser = RequestParser(limits: limits)
        var request = HTTPRequest()
        do throws(HTTPParseError) {
            guard try parser.parse(head.span, into: &request) != nil else {
                throw HTTPParseError.malformedStartLine
            }
        } catch {
            guard case .malformed(let fault) = MessageError(error) else {
                throw .malformedRequest(.malformed)
            }
            throw .malformedRequest(fault)
        }
        return request
    }
}
