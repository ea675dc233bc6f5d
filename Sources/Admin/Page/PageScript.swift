// SPDX-License-Identifier: Apache-2.0

/// The script of the status page, to the letter: its hash is in the page's content security policy.
///
/// Without it the page is read all the same. It presses buttons, and puts parts of the page in their places that the
/// server has rendered: markup is made in one place, and not by it.
enum PageScript {
    static let text = #"""
        'use strict';
        (() => {
          const find = (id) => document.getElementById(id);
          const say = (text, isBad) => {
            find('notice').textContent = text;
            find('notice').className = isBad ? 'bad' : '';
          };

          document.addEventListener('click', async (event) => {
            const button = event.target.closest('button[data-action]');
            if (!button || button.disabled) return;
            const {action, ask, done} = button.dataset;
            if (ask && !confirm(ask)) return;
            button.disabled = true;
            say(`${button.getAttribute('aria-label')} …`);
            try {
              const answer = await fetch(action, {method: 'POST', headers: {'X-Bearerd-Admin': '1'}});
              const told = await answer.json().catch(() => ({}));
              const reasons = (told.reasons || []).filter((reason) => typeof reason === 'string');
              if (answer.ok) say([done, ...reasons].join(' '), reasons.length > 0);
              else say(told.detail || `bearerd answered ${answer.status}.`, true);
            } catch {
              say('bearerd does not answer.', true);
            }
            button.disabled = false;
          });

          // What has the keyboard keeps it, though its part is put in anew.
          const put = ({id, html}) => {
            const place = find(id);
            if (!place) return;
            const held = place.contains(document.activeElement) ? document.activeElement.id : '';
            place.innerHTML = html;
            if (held && find(held)) find(held).focus();
          };

          let source;
          let retry;
          const live = (isOn, text) => {
            find('live').className = isOn ? 'on' : '';
            find('live').textContent = text;
          };
          const connect = () => {
            clearTimeout(retry);
            if (source) source.close();
            source = new EventSource('/api/events?page');
            source.onopen = () => live(true, 'live');
            source.addEventListener('part', (event) => put(JSON.parse(event.data)));
            source.addEventListener('stale', () => location.reload());
            source.onerror = () => {
              live(false, 'not live: bearerd does not answer');
              source.close();
              retry = setTimeout(connect, 3000);
            };
          };
          const look = () => {
            if (!document.hidden) return connect();
            clearTimeout(retry);
            if (source) source.close();
            live(false, 'paused');
          };
          document.addEventListener('visibilitychange', look);
          look();
        })();
        """#
}
