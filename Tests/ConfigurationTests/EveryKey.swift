// SPDX-License-Identifier: Apache-2.0

/// A file with every key that is built, none at its default.
let everyKey = """
    listen: [127.0.0.1:8080, "[::1]:8080", unix:/run/bearerd.sock]
    workers: 3
    admin:
      listen: 0.0.0.0:9090
      key: admin-key
      peer_uids: [1000, root]
      owner: root
      quit: true
    access:
      hosts: [localhost, "app:8080", "[::1]:80"]
      origins: [https://APP.example.com:443, chrome-extension://abc]
      peer_uids: [0, 1000]
      key: local-key
      keys: [{key: next-key}]
    limits:
      header_bytes: 32KiB
      uri_bytes: 8KiB
      streams: 10
      body_bytes: 1GiB
      connections: 5
      requests_per_second: 6
      upstream_connections: 7
    timeouts:
      header: 1s
      idle: 2s
      half_closed: 10s
      connect: 3s
      first_byte: 4s
      stream_idle: 5s
      upstream_idle: 6s
      upstream_age: 7s
      token: 8s
      token_wait: 9s
    shutdown: {delay: 1s, grace: 2s, stream_close_delay: 3s}
    reload: watch
    development: {provider: 127.0.0.1:9001, api: 127.0.0.1:9002}
    on_state_change: [/usr/bin/logger, -t, bearerd]
    log: {level: debug, format: json, access: false, access_fields: [status, path]}
    telemetry: {otlp_endpoint: "https://otlp.example.com/base/", sample: 0.5}
    audit: {file: /var/log/bearerd/audit.log}
    store: {type: memory}
    identities:
      hand-made:
        issuer: https://sso.example.com/realms/demo/
        discovery_url: https://sso.example.com/elsewhere
        authorization_endpoint: https://sso.example.com/authorize
        token_endpoint: https://sso.example.com/token
        device_authorization_endpoint: https://sso.example.com/device
        userinfo_endpoint: https://sso.example.com/userinfo
        revocation_endpoint: https://sso.example.com/revoke
        end_session_endpoint: https://sso.example.com/end
        registration_endpoint: https://sso.example.com/register
        introspection_endpoint: https://sso.example.com/introspect
        pushed_authorization_request_endpoint: https://sso.example.com/par
        jwks_uri: https://sso.example.com/keys
        dpop: auto
        par: false
        client_id: 42
        client_secret: hunter2
        token_endpoint_auth_method: client_secret_post
        basic_encoding: raw
        grant_type: refresh_token
        scope: openid  profile openid
        audience: [a, b]
        resource: https://api.example.com/
        token_params: {tenant: blue}
        token_headers: {X-Tenant: blue}
        authorization_params: {prompt: consent}
        device_authorization_params: {acr_values: phr}
        revocation_params: {tenant: blue}
        end_session_params: {logout_hint: alice}
        scope_on_refresh: true
        registration_params: {software_id: legacy}
        userinfo_headers: {X-Tenant: blue}
        post_logout_redirect_uri: https://app.example.com/bye
        redirect_uri: https://app.example.com/callback
        redirect_listen: 0.0.0.0:8400
        clock_skew: 5s
        accept_token_types: [N_A, Bearer]
        refresh_margin: 90s
        default_expires_in: 10m
        proxy: socks5h://user:word@proxy:1080
        connect_to: 127.0.0.1:8443
        allow_insecure_provider: true
        insecure_skip_verify: false
        on_state_change: []
    routes:
      - path: /api
        host: app:8080
        listen: unix:/run/bearerd.sock
        methods: [GET, PURGE]
        allow: [{methods: [GET], path: /api/**}, {path: "/api/*/x"}]
        upstream: http://api.internal/prefix
        allow_insecure_upstream: true
        strip_prefix: true
        identity: hand-made
        scope: read  write
        audience: [c]
        resource: https://other.example.com/
        authorization: reject
        header: X-Token
        scheme: ""
        host_header: internal.example.com
        request_headers:
          set: {X-A: 1}
          add: {X-B: two}
          remove: [X-C]
        response_headers: {remove: [Server]}
        forwarded: append
        via: false
        upgrade: []
        retry_on_status: [401, 419]
        replay_buffer: 0
        on_no_token: pass
        timeouts: {connect: 1s, first_byte: 0}
        proxy: environment
        connect_to: "[::1]:8081"
      - path: /open
        upstream: http+unix:/run/api.sock
        identity: none
    """
