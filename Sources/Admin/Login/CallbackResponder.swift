// SPDX-License-Identifier: Apache-2.0

internal import BearerdHTTPMessages
internal import BearerdHTTPServer
internal import OAuth

/// Receives redirects at an address of their own, and nothing else.
struct CallbackResponder: HTTPResponder {
    let logins: BrowserLogins
    let uri: RedirectURI

    func judge(_ request: ServiceRequest) async -> ServiceJudgement {
        guard HostList(uri.hosts(port: uri.port)).contains(request.head.fields[.host]),
            request.path == uri.path
        else { return .refused(LoginPages.nothing(404)) }
        guard request.head.method == .get else { return .refused(LoginPages.nothing(405)) }
        return .answered { await logins.finish(request) }
    }
}
