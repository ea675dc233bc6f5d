// SPDX-License-Identifier: Apache-2.0

internal import BearerdHTTP1
internal import BearerdHTTPExchange
package import BearerdHTTPMessages
internal import BearerdRouting

/// What routes and their rules make of a request before a token is taken for it, told without serving it.
package enum RequestVerdict: Equatable, Sendable {
    /// It is passed on.
    ///
    /// - Parameters:
    ///   - route: the index of the route.
    ///   - rule: the index of the rule that allows it; nil where the route has none.
    case allowed(route: Int, rule: Int?)
    /// No rule of the route allows it.
    case denied(route: Int, Rejection)
    /// It gets to no route.
    case refused(Rejection)

    /// Judges a request as a worker would.
    ///
    /// - Parameters:
    ///   - method: the method as it would be sent.
    ///   - target: the request target as it would be sent, with its query.
    ///   - host: the `Host` that would be sent.
    ///   - routes: all of them, in the order of the configuration.
    ///   - listener: where it would come in.
    ///   - limits: of its head.
    package init(
        _ method: String, _ target: String, host: String, on routes: [PreparedRoute],
        at listener: ListenAddress,
        limits: HeadLimits
    ) {
        var found: Int?
        do throws(ProxyError) {
            let request = try Self.request(method, target, host: host, limits)
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

    /// The request as it is read from a connection.
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
