// SPDX-License-Identifier: Apache-2.0

extension RouteConfiguration {
    /// The keys of `routes[]`.
    enum Key: String, ConfigurationKey {
        case path
        case host
        case listen
        case methods
        case allow
        case upstream
        case upstreamProtocol = "upstream_protocol"
        case allowInsecureUpstream = "allow_insecure_upstream"
        case stripPrefix = "strip_prefix"
        case identity
        case scope
        case audience
        case resource
        case repositories
        case permissions
        case authorization
        case header
        case scheme
        case query
        case hostHeader = "host_header"
        case requestHeaders = "request_headers"
        case responseHeaders = "response_headers"
        case forwarded
        case via
        case upgrade
        case retryOnStatus = "retry_on_status"
        case replayBuffer = "replay_buffer"
        case onNoToken = "on_no_token"
        case timeouts
        case caFile = "ca_file"
        case clientCertificateFile = "client_certificate_file"
        case clientKeyFile = "client_key_file"
        case proxy
        case connectTo = "connect_to"
    }
}
