// SPDX-License-Identifier: Apache-2.0

public import OAuth

#if canImport(FoundationNetworking)
import Foundation
public import FoundationNetworking
#else
public import Foundation
#endif

/// Carries requests to the authorization server by `URLSession`.
///
/// It follows no redirect and uses neither cookies nor caches. Certificates are judged by Foundation with the system's authorities;
/// a client certificate, authorities of one's own and Unix sockets are for `OAuthRuntime`. Foundation for Linux takes the proxy
/// that the environment names, for plain `http` too.
public final class URLSessionTransport: TokenTransport {
    private let exchanges: URLExchanges

    /// A transport with connections of its own.
    ///
    /// - Parameter configuration: of the `URLSession` that is made, which uses a copy without cookies, caches and stored credentials.
    public init(configuration: URLSessionConfiguration = .ephemeral) {
        exchanges = URLExchanges(configuration)
    }

    /// Sends a request and returns the whole response, whatever its status.
    ///
    /// - Throws: `TransportError` if no response came.
    public func send(_ request: TransferRequest) async throws(TransportError) -> TransportResponse {
        guard let url = URL(string: request.address), ["http", "https"].contains(url.scheme) else {
            throw .unreachable("URLSession cannot ask this address")
        }
        var message = URLRequest(url: url)
        message.httpMethod = request.methodName
        for header in request.headers { message.addValue(header.value, forHTTPHeaderField: header.name) }
        if !request.body.isEmpty { message.httpBody = Data(request.body) }
        let limit = max(request.timeLimit, request.sentTimeLimit ?? .zero)
        message.timeoutInterval = limit > .zero ? limit / .seconds(1) : 24 * 3600
        let answer: URLExchanges.Answer
        do {
            answer = try await exchanges.answer(
                to: message, most: request.maximumAnswerBytes, within: limit > .zero ? limit : nil)
        } catch {
            throw TransportError(error)
        }
        let cutOff = answer.failure.map { TransportError($0) }
        if let cutOff, !request.keepsPartialAnswer { throw cutOff }
        var response = TransportResponse(
            status: answer.response.statusCode, headers: answer.response.namedValues, body: answer.body)
        response.cutOff = cutOff
        return response
    }
}

extension HTTPURLResponse {
    /// The header fields; those of one name are joined by commas.
    var namedValues: [NamedValue] {
        allHeaderFields.compactMap { name, value in
            guard let name = name as? String, let value = value as? String else { return nil }
            return NamedValue(name, value)
        }
    }
}

extension TransportError {
    /// The meaning of what `URLSession` says; what it is silent about may have reached the server.
    init(_ error: any Error) {
        switch error {
        case is URLExchanges.TooLong: self = .responseTooLarge
        case is URLExchanges.TooLate: self = .timedOut
        case is CancellationError: self = .interrupted("cancelled")
        case let error as URLError: self.init(error)
        default: self = .interrupted("\(type(of: error))")
        }
    }

    private init(_ error: URLError) {
        // libcurl's words are all that Foundation for Linux tells of some failures.
        let reason = "URLSession says \(error.code.rawValue), \(error.localizedDescription)"
        switch error.code {
        case .unknown where error.isAboutTLS:
            self = .certificate("the certificate does not verify, or TLS failed (\(reason))")
        case .cannotFindHost, .dnsLookupFailed: self = .unreachable("there is no such name (\(reason))")
        case .cannotConnectToHost, .notConnectedToInternet:
            self = .unreachable("nobody accepts a connection (\(reason))")
        case .badURL, .unsupportedURL: self = .unreachable("URLSession cannot ask this address (\(reason))")
        case .secureConnectionFailed, .serverCertificateUntrusted, .serverCertificateHasBadDate,
            .serverCertificateHasUnknownRoot, .serverCertificateNotYetValid, .clientCertificateRejected,
            .clientCertificateRequired:
            self = .certificate("the certificate does not verify, or TLS failed (\(reason))")
        case .timedOut: self = .timedOut
        case .dataLengthExceedsMaximum: self = .responseTooLarge
        case .badServerResponse, .cannotParseResponse: self = .notHTTP("no HTTP answer (\(reason))")
        default: self = .interrupted("the connection ended (\(reason))")
        }
    }
}

extension URLError {
    /// True if Foundation for Linux, which has no code for it, means TLS.
    fileprivate var isAboutTLS: Bool {
        ["SSL", "TLS", "certificate"].contains(where: localizedDescription.contains)
    }
}
