// SPDX-License-Identifier: Apache-2.0

internal import BearerdHTTPMessages
internal import BearerdHTTPServer
internal import OAuth

/// Receives redirects at an address of their own, and nothing else.
///
/// Identities may share the address: a login is found by its state.
struct CallbackResponder: HTTPResponder {
    let logins: BrowserLogins

    func judge(_ request: ServiceRequest) async -> ServiceJudgement {
        let host = request.head.fields[.host]
        guard
            logins.redirects.values.contains(where: {
                $0.path == request.path && HostList($0.hosts(port: $0.port)).contains(host)
            })
        else { return .refused(LoginPages.nothing(404)) }
        guard request.head.method == .get else { return .refused(LoginPages.nothing(405)) }
        return .answered { await logins.finish(request) }
    }
}
