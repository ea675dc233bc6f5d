// SPDX-License-Identifier: Apache-2.0

import Foundation
import FoundationNetworking
import OAuth
import Synchronization

/// Carries requests to the authorization server by `URLSession`.
///
/// A transport verifies certificates, follows no redirect, which would take credentials along, keeps the request's time limit,
/// and says that nobody was asked only where that is sure: a refresh token may be good for one use.
struct FoundationTransport: TokenTransport {
    func send(_ request: TransferRequest) async throws(TransportError) -> TransportResponse {
        guard let url = URL(string: request.address) else { throw .unreachable("it is no URL") }
        var message = URLRequest(url: url)
        message.httpMethod = request.methodName
        for header in request.headers { message.addValue(header.value, forHTTPHeaderField: header.name) }
        if !request.body.isEmpty { message.httpBody = Data(request.body) }
        do {
            let exchange = Exchange(atMost: request.maximumAnswerBytes)
            let (response, body) = try await exchange.run(message, within: request.longestWait)
            let headers = response.allHeaderFields.compactMap { name, value in
                (name as? String).map { NamedValue($0, "\(value)") }
            }
            return TransportResponse(status: response.statusCode, headers: headers, body: body)
        } catch let error as TransportError {
            throw error
        } catch let error as URLError where [.cannotConnectToHost, .cannotFindHost].contains(error.code) {
            throw .unreachable("nobody answers there")
        } catch let error as URLError where error.code == .timedOut {
            throw .timedOut
        } catch {
            throw .interrupted("the connection ended")
        }
    }
}

extension TransferRequest {
    /// How long an answer is awaited: longer once the request is sent, where its answer could not be had again. Zero means for ever.
    fileprivate var longestWait: Duration {
        let limit = max(timeLimit, sentTimeLimit ?? .zero)
        return limit > .zero ? limit : .seconds(24 * 3600)
    }
}

/// One request and what comes of it.
private final class Exchange: NSObject, URLSessionDataDelegate {
    private struct State {
        var continuation: CheckedContinuation<(HTTPURLResponse, [UInt8]), any Error>?
        var response: HTTPURLResponse?
        var body: [UInt8] = []
    }

    private let most: Int
    private let state = Mutex(State())

    init(atMost most: Int) { self.most = most }

    func run(_ request: URLRequest, within limit: Duration) async throws -> (HTTPURLResponse, [UInt8]) {
        let configuration = URLSessionConfiguration.ephemeral
        configuration.httpCookieStorage = nil
        configuration.timeoutIntervalForRequest = limit / .seconds(1)
        configuration.timeoutIntervalForResource = limit / .seconds(1)
        let session = URLSession(configuration: configuration, delegate: self, delegateQueue: nil)
        defer { session.finishTasksAndInvalidate() }
        let task = session.dataTask(with: request)
        return try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                state.withLock { $0.continuation = continuation }
                task.resume()
            }
        } onCancel: {
            task.cancel()
        }
    }

    private func end(_ error: (any Error)?) {
        let (continuation, response, body) = state.withLock { state in
            defer { state.continuation = nil }
            return (state.continuation, state.response, state.body)
        }
        if let response, error == nil {
            continuation?.resume(returning: (response, body))
        } else {
            continuation?.resume(throwing: error ?? URLError(.badServerResponse))
        }
    }

    func urlSession(
        _ session: URLSession, dataTask: URLSessionDataTask, didReceive response: URLResponse,
        completionHandler: @escaping (URLSession.ResponseDisposition) -> Void
    ) {
        state.withLock { $0.response = response as? HTTPURLResponse }
        completionHandler(.allow)
    }

    func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {
        let isTooLong = state.withLock { state in
            state.body += data
            return state.body.count > most
        }
        guard isTooLong else { return }
        end(TransportError.responseTooLarge)
        dataTask.cancel()
    }

    func urlSession(
        _ session: URLSession, task: URLSessionTask, willPerformHTTPRedirection response: HTTPURLResponse,
        newRequest request: URLRequest, completionHandler: @escaping (URLRequest?) -> Void
    ) {
        state.withLock { $0.response = response }
        completionHandler(nil)
        end(nil)
        task.cancel()
    }

    /// The answer to wrong credentials is an answer too.
    func urlSession(
        _ session: URLSession, task: URLSessionTask, didReceive challenge: URLAuthenticationChallenge,
        completionHandler: @escaping (URLSession.AuthChallengeDisposition, URLCredential?) -> Void
    ) {
        // Foundation for Linux asks once the whole answer is there.
        let isAnswered = state.withLock { $0.response != nil }
        completionHandler(isAnswered ? .cancelAuthenticationChallenge : .performDefaultHandling, nil)
        if isAnswered { end(nil) }
    }

    func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
        end(error)
    }
}
