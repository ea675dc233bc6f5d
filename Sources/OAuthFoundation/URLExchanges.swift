// SPDX-License-Identifier: Apache-2.0

import Foundation
import OAuth
import Synchronization

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// Requests over a `URLSession` of our own: no redirect is followed, no cookie, cache or stored credential used, and no more
/// of a body read than is asked for.
///
/// A request that was redirected would take its token along to another server.
final class URLExchanges: Sendable {
    /// The response to a request.
    struct Answer: Sendable {
        let response: HTTPURLResponse
        var body: [UInt8]
        /// Why the body is not whole; nil if it is.
        var failure: (any Error)?
    }

    /// A body that is longer than was asked for.
    struct TooLong: Error {}
    /// The limit has passed.
    struct TooLate: Error {}

    private let session: URLSession
    private let watcher = Watcher()

    init(_ given: URLSessionConfiguration = .ephemeral) {
        let configuration = given.copy() as? URLSessionConfiguration ?? .ephemeral
        configuration.httpCookieStorage = nil
        configuration.httpShouldSetCookies = false
        configuration.urlCache = nil
        configuration.requestCachePolicy = .reloadIgnoringLocalCacheData
        configuration.urlCredentialStorage = nil
        session = URLSession(configuration: configuration, delegate: watcher, delegateQueue: nil)
    }

    /// The session keeps its delegate until it is told to end.
    deinit { session.finishTasksAndInvalidate() }

    /// Makes a request.
    ///
    /// Cancelling the task ends it.
    ///
    /// - Parameters:
    ///   - request: with all its header fields.
    ///   - most: how many bytes of the body are read at most.
    ///   - limit: how long all of it may take; nil for the request's own time-out.
    /// - Returns: the response, perhaps with a part of its body.
    /// - Throws: `URLError` or ``TooLate`` where not even a head came.
    func answer(
        to request: URLRequest, most: Int = .max, within limit: Duration? = nil
    ) async throws -> Answer {
        let task = session.dataTask(with: request)
        let watchdog = limit.map { limit in
            Task { [watcher] in
                guard (try? await Task.sleep(for: limit)) != nil else { return }
                watcher.end(task, with: TooLate())
            }
        }
        defer { watchdog?.cancel() }
        return try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                watcher.begin(task, most: most, continuation)
                task.resume()
            }
        } onCancel: {
            watcher.end(task, with: CancellationError())
        }
    }
}

/// Hears what happens to requests.
private final class Watcher: NSObject, URLSessionDataDelegate {
    private struct Exchange {
        let most: Int
        let continuation: CheckedContinuation<URLExchanges.Answer, any Error>
        var answer: URLExchanges.Answer?
    }

    private let exchanges = Mutex<[Int: Exchange]>([:])

    func begin(
        _ task: URLSessionTask, most: Int, _ continuation: CheckedContinuation<URLExchanges.Answer, any Error>
    ) {
        exchanges.withLock {
            $0[task.taskIdentifier] = Exchange(most: most, continuation: continuation, answer: nil)
        }
        // Whoever was cancelled before has told nobody yet.
        if Task.isCancelled { end(task, with: CancellationError()) }
    }

    /// Ends a request that has not ended, and wakes who waits for it.
    func end(_ task: URLSessionTask, with error: (any Error)?) {
        let exchange = exchanges.withLock { $0.removeValue(forKey: task.taskIdentifier) }
        guard let exchange else { return }
        if var answer = exchange.answer {
            answer.failure = error
            exchange.continuation.resume(returning: answer)
        } else {
            exchange.continuation.resume(throwing: error ?? URLError(.badServerResponse))
        }
        task.cancel()
    }

    func urlSession(
        _ session: URLSession, dataTask: URLSessionDataTask, didReceive response: URLResponse,
        completionHandler: @escaping (URLSession.ResponseDisposition) -> Void
    ) {
        let isHTTP = response is HTTPURLResponse
        exchanges.withLock { exchanges in
            exchanges[dataTask.taskIdentifier]?.answer = (response as? HTTPURLResponse).map {
                URLExchanges.Answer(response: $0, body: [])
            }
        }
        completionHandler(isHTTP ? .allow : .cancel)
    }

    func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {
        let isTooLong = exchanges.withLock { exchanges -> Bool in
            guard let most = exchanges[dataTask.taskIdentifier]?.most,
                let length = exchanges[dataTask.taskIdentifier]?.answer?.body.count
            else { return false }
            exchanges[dataTask.taskIdentifier]?.answer?.body.append(contentsOf: data.prefix(most - length))
            return data.count > most - length
        }
        if isTooLong { end(dataTask, with: URLExchanges.TooLong()) }
    }

    func urlSession(
        _ session: URLSession, task: URLSessionTask, willPerformHTTPRedirection response: HTTPURLResponse,
        newRequest request: URLRequest, completionHandler: @escaping (URLRequest?) -> Void
    ) {
        // The redirect itself is the answer; not every version of Foundation tells it once more as one.
        exchanges.withLock {
            $0[task.taskIdentifier]?.answer = URLExchanges.Answer(response: response, body: [])
        }
        completionHandler(nil)
        end(task, with: nil)
    }

    func urlSession(
        _ session: URLSession, task: URLSessionTask, didReceive challenge: URLAuthenticationChallenge,
        completionHandler: @escaping (URLSession.AuthChallengeDisposition, URLCredential?) -> Void
    ) {
        // Foundation for Linux asks once the whole answer is there, and would tell it to nobody.
        let isAnswered = exchanges.withLock { $0[task.taskIdentifier]?.answer != nil }
        completionHandler(isAnswered ? .cancelAuthenticationChallenge : .performDefaultHandling, nil)
        if isAnswered { end(task, with: nil) }
    }

    func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
        end(task, with: error)
    }
}
