// SPDX-License-Identifier: Apache-2.0

/// The style sheet of the status page; its hash is in the page's content security policy.
enum PageStyle {
    static let text = """
        :root { color-scheme: light dark; font: 15px/1.5 system-ui, sans-serif; font-variant-numeric: tabular-nums;
          --bg: light-dark(#f4f6f8, #0e1216); --card: light-dark(#fff, #161b21); --text: light-dark(#1a1f26, #e7eaee);
          --dim: light-dark(#55606d, #9ba6b3); --line: light-dark(#dde2e8, #2a323b); --go: light-dark(#0b57d0, #8ab4f8);
          --on-go: light-dark(#fff, #0e1216); --good: light-dark(#12693f, #74d99a); --busy: light-dark(#0b57d0, #8ab4f8);
          --warn: light-dark(#8a5200, #f0b862); --bad: light-dark(#b3261e, #ff9a93);
          --served: light-dark(#8b96a3, #7c8794); --client: light-dark(#0072b2, #56b4e9);
          --bearerd: light-dark(#007a59, #2fc79b); --provider: light-dark(#b8588f, #e29bc4);
          --upstream: light-dark(#d55e00, #ff8a3d) }
        * { box-sizing: border-box }
        body { margin: 0; background: var(--bg); color: var(--text); overflow-wrap: break-word }
        header, main, footer { max-width: 76rem; margin: 0 auto; padding: 0 1.25rem }
        header { display: flex; flex-wrap: wrap; align-items: baseline; gap: .25rem 1rem; padding-top: 1.5rem }
        h1 { font-size: 1.35rem; margin: 0; letter-spacing: -.01em }
        h2 { font-size: 1rem; margin: 2.25rem 0 .75rem }
        h3 { font-size: 1.05rem; margin: 0 }
        p { margin: .35rem 0 }
        a { color: var(--go) }
        code { font: .92em ui-monospace, monospace; background: color-mix(in srgb, var(--dim) 14%, transparent);
          border-radius: .25rem; padding: .05rem .3rem }
        .dim, footer { color: var(--dim) }
        footer { padding-top: 2rem; padding-bottom: 2rem; font-size: .87rem }
        #live { margin-left: auto; font-size: .87rem; color: var(--dim) }
        #live::before { content: ""; display: inline-block; width: .55rem; height: .55rem; border-radius: 50%;
          margin-right: .4rem; background: var(--dim) }
        #live.on::before { background: var(--good) }
        #summary { font-size: 1.15rem; margin: .75rem 0 0 }
        #summary strong.bad { color: var(--bad) } #summary strong.warn { color: var(--warn) }
        #notice { position: sticky; top: .5rem; z-index: 1; margin: .6rem 0; padding: .5rem .9rem; border-radius: .5rem;
          border: 1px solid var(--go); background: var(--card); box-shadow: 0 .25rem 1rem #0003 }
        #notice:empty { margin: 0; padding: 0; border: 0; box-shadow: none }
        #notice.bad { color: var(--bad); border-color: var(--bad) }
        .callout { border: 1px solid var(--warn); border-left-width: .35rem; border-radius: .5rem; padding: .5rem .9rem;
          margin: .6rem 0; background: color-mix(in srgb, var(--warn) 10%, var(--card)) }
        #lost:empty { margin: 0; padding: 0; border: 0 }
        .cards { display: grid; gap: 1rem; grid-template-columns: repeat(auto-fill, minmax(min(22rem, 100%), 1fr)) }
        .card, figure, .scroll { background: var(--card); border: 1px solid var(--line); border-radius: .75rem }
        .card { padding: 1rem 1.1rem; display: flex; flex-direction: column; gap: .6rem }
        .state { display: inline-flex; align-items: center; gap: .45rem; font-weight: 600 }
        .state::before { content: "●" }
        .good { color: var(--good) } .busy { color: var(--busy) } .warn { color: var(--warn) } .bad { color: var(--bad) }
        .state.busy::before { content: "◌" } .state.warn::before { content: "▲" } .state.bad::before { content: "✕" }
        dl { display: grid; grid-template-columns: max-content minmax(0, 1fr); overflow-wrap: anywhere; gap: .15rem .9rem; margin: 0 }
        dt { color: var(--dim) } dd { margin: 0 }
        progress { appearance: none; display: block; width: 100%; height: .5rem; border: 0; border-radius: .25rem;
          overflow: hidden; background: var(--line); color: var(--good) }
        progress::-webkit-progress-bar { background: var(--line) }
        progress::-webkit-progress-value { background: var(--good) }
        progress::-moz-progress-bar { background: var(--good) }
        progress.low::-webkit-progress-value { background: var(--warn) }
        progress.low::-moz-progress-bar { background: var(--warn) }
        .error { border-left: 3px solid var(--bad); padding-left: .7rem; overflow-wrap: anywhere }
        .error.calm { border-color: var(--line) }
        .actions { display: flex; flex-wrap: wrap; gap: .5rem; margin-top: auto; padding-top: .3rem }
        button, a.button { font: inherit; padding: .35rem .8rem; min-height: 2.2rem; border-radius: .5rem; cursor: pointer;
          border: 1px solid var(--line); background: transparent; color: var(--text); text-decoration: none }
        button:hover, a.button:hover { border-color: var(--go) }
        button.danger { color: var(--bad); border-color: color-mix(in srgb, var(--bad) 45%, transparent) }
        button.danger:hover { border-color: var(--bad); background: color-mix(in srgb, var(--bad) 10%, transparent) }
        button[aria-disabled] { opacity: .5; cursor: progress }
        a.button.first { background: var(--go); border-color: var(--go); color: var(--on-go) }
        :focus-visible { outline: 3px solid var(--go); outline-offset: 2px }
        .scroll { overflow-x: auto }
        th[scope=row] { min-width: 12rem; max-width: 22rem; color: inherit; font: inherit; white-space: normal }
        table { border-collapse: collapse; width: 100% }
        th, td { text-align: left; padding: .55rem .8rem; border-bottom: 1px solid var(--line); vertical-align: top }
        th { color: var(--dim); font-weight: 500; font-size: .87rem; white-space: nowrap }
        tr:last-child > * { border-bottom: 0 }
        td.number, th.number { text-align: right; white-space: nowrap }
        .blame { display: inline-block; margin-right: .8rem; white-space: nowrap }
        .blame::before { content: ""; display: inline-block; width: .65rem; height: .65rem; border-radius: .15rem;
          margin-right: .35rem; background: var(--served) }
        .blame.client::before { background: var(--client) } .blame.bearerd::before { background: var(--bearerd) }
        .blame.provider::before { background: var(--provider) } .blame.upstream::before { background: var(--upstream) }
        .blame.line50::before { background: var(--busy) } .blame.line99::before { background: var(--warn) }
        .charts { display: grid; gap: 1rem; grid-template-columns: repeat(auto-fit, minmax(min(22rem, 100%), 1fr)) }
        figure { margin: 0; padding: 1rem 1.1rem }
        figcaption { display: flex; flex-wrap: wrap; justify-content: space-between; gap: 0 1rem; margin-bottom: .5rem }
        svg { display: block; width: 100%; height: 8rem; border-bottom: 1px solid var(--line); border-top: 1px dashed var(--line) }
        .ok { fill: var(--served) } .client { fill: var(--client) } .bearerd { fill: var(--bearerd) }
        .provider { fill: var(--provider) } .upstream { fill: var(--upstream) }
        .line { fill: none; stroke-width: 2; vector-effect: non-scaling-stroke; stroke-linejoin: round }
        .p50 { stroke: var(--busy) } .p99 { stroke: var(--warn); stroke-dasharray: 4 2 }
        .mark { fill: color-mix(in srgb, var(--text) 22%, transparent) } output { color: var(--text) }
        .axis { display: flex; justify-content: space-between; font-size: .8rem; color: var(--dim); margin-bottom: .4rem }
        @media (max-width: 44rem) {
          header, main, footer { padding-left: .9rem; padding-right: .9rem }
          #live { margin-left: 0 }
          .scroll { background: none; border: 0 }
          table, tbody, tr, td { display: block } td:first-child { max-width: none }
          thead { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%) }
          tr { background: var(--card); border: 1px solid var(--line); border-radius: .75rem; padding: .5rem .9rem;
            margin-bottom: .8rem }
          td, td.number { border: 0; padding: .2rem 0; text-align: left; white-space: normal }
          td[data-label]::before { content: attr(data-label); display: inline-block; width: 7rem; color: var(--dim) }
          td:has(> div) { display: grid; grid-template-columns: 7rem 1fr }
        }
        @media (prefers-reduced-motion: no-preference) { progress { transition: width .3s } }
        """
}
