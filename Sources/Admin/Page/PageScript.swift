// SPDX-License-Identifier: Apache-2.0

/// The script of the status page; its hash is in the page's content security policy.
///
/// The page can be read without it. It handles buttons and inserts parts that the server has rendered; it
/// makes no markup itself.
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
            if (!button || button.getAttribute('aria-disabled')) return;
            const {action, ask, done, kept} = button.dataset;
            if (ask && !confirm(ask)) return;
            // Disabled it would lose the keyboard's focus.
            button.setAttribute('aria-disabled', 'true');
            say(`${button.getAttribute('aria-label')} …`);
            try {
              const answer = await fetch(action, {method: 'POST', headers: {'X-Bearerd-Admin': '1'}});
              const told = await answer.json().catch(() => ({}));
              const reasons = (told.reasons || []).filter((reason) => typeof reason === 'string');
              const isUntold = told.revocation === 'not_supported' && told.end_session === 'not_supported';
              if (isUntold) reasons.push('The provider, which offers no way to, has ended nothing.');
              if (kept && told.store) say([kept, `${told.store}.`, ...reasons].join(' '), true);
              else if (answer.ok) say([done, ...reasons].join(' '), reasons.length > (isUntold ? 1 : 0));
              else say(told.detail || `bearerd answered ${answer.status}.`, true);
            } catch {
              say('bearerd does not answer.', true);
            }
            button.removeAttribute('aria-disabled');
          });

          // A chart's values, where the pointer or the arrow keys are; by the chart's id, the column's number from the right.
          const marks = new Map();
          // They are read out where somebody has moved there, and not whenever they change.
          const show = (chart, mark, isMoved) => {
            const {names, values, unit, step} = chart.dataset;
            const columns = values.split('|');
            const index = columns.length - 1 - (mark ?? 0);
            const place = find(chart.id.replace('-svg', '-at'));
            place.setAttribute('aria-live', isMoved ? 'polite' : 'off');
            const pitch = 720 / columns.length;
            chart.querySelector('.mark').setAttribute('d', mark === undefined ? '' : `M${index * pitch} 0h${pitch}v100h${-pitch}z`);
            if (mark === undefined) return void (place.textContent = '');
            const ago = mark * step;
            const when = ago < 1 ? 'now' : ago < 60 ? `${ago} s ago` : `${Math.round(ago / 6) / 10} min ago`;
            const numbers = columns[index] ? columns[index].split(' ') : [];
            const words = names.split('|').map((name, at) => [name, numbers[at]]).filter(([, number]) => number && number !== '0');
            place.textContent = `${when}: ` + (words.map(([name, number]) => `${name} ${number}${unit}`).join(', ') || 'nothing');
          };
          const mark = (chart, at) => {
            const last = chart.dataset.values.split('|').length - 1;
            if (at === undefined) marks.delete(chart.id);
            else marks.set(chart.id, Math.max(0, Math.min(last, at)));
            show(chart, marks.get(chart.id), true);
          };
          const chartOf = (event) => event.target instanceof Element ? event.target.closest('svg[data-values]') : null;
          const clear = (but) => {
            for (const id of [...marks.keys()]) if (find(id) && find(id) !== but && find(id) !== document.activeElement) mark(find(id));
          };
          document.addEventListener('pointermove', (event) => {
            const chart = chartOf(event);
            clear(chart);
            if (!chart) return;
            const box = chart.getBoundingClientRect();
            const count = chart.dataset.values.split('|').length;
            mark(chart, count - 1 - Math.floor((event.clientX - box.left) / box.width * count));
          });
          document.addEventListener('focusin', (event) => {
            const chart = chartOf(event);
            if (chart && !marks.has(chart.id)) mark(chart, 0);
          });
          document.addEventListener('focusout', (event) => {
            const chart = chartOf(event);
            if (chart && chart.isConnected) mark(chart);
          });
          document.addEventListener('keydown', (event) => {
            const chart = chartOf(event);
            const step = {ArrowLeft: 1, ArrowRight: -1}[event.key];
            if (!chart || !step) return;
            event.preventDefault();
            mark(chart, (marks.get(chart.id) ?? 0) + step);
          });

          const label = ({dataset: {title, icon}}) => {
            document.title = title;
            if (find('icon').getAttribute('href') !== icon) find('icon').href = icon;
          };
          // The element with the keyboard's focus stays where it is, and becomes what the new one would be.
          const become = (old, fresh) => {
            for (const {name} of [...old.attributes]) if (!fresh.hasAttribute(name) && name !== 'aria-disabled') old.removeAttribute(name);
            for (const {name, value} of fresh.attributes) if (old.getAttribute(name) !== value) old.setAttribute(name, value);
            old.replaceChildren(...fresh.childNodes);
          };
          const put = ({id, html}) => {
            const place = find(id);
            if (!place) return;
            const part = document.createElement('template');
            part.innerHTML = html;
            const held = place.contains(document.activeElement) ? document.activeElement : undefined;
            const heir = held && held.id && part.content.getElementById(held.id);
            if (heir && held.parentNode === place && heir.parentNode === part.content) {
              while (place.firstChild !== held) place.firstChild.remove();
              while (place.lastChild !== held) place.lastChild.remove();
              while (part.content.firstChild !== heir) place.insertBefore(part.content.firstChild, held);
              while (part.content.lastChild !== heir) held.after(part.content.lastChild);
              become(held, heir);
            } else place.replaceChildren(part.content);
            if (id === 'summary') label(place.firstElementChild);
            for (const chart of place.querySelectorAll('svg[data-values]')) show(chart, marks.get(chart.id));
          };

          let source;
          let retry;
          // An event comes each second: what is shown is as old as the last one.
          let silence;
          let heard = new Date();
          const listen = () => {
            clearTimeout(silence);
            silence = setTimeout(() => (stale('not live', 'bearerd says nothing, and is asked anew'), connect()), 5000);
          };
          const live = () => {
            heard = new Date();
            listen();
            if (find('live').className) return;
            find('live').className = 'on';
            find('live').textContent = 'live';
            find('lost').textContent = '';
            label(find('summary').firstElementChild);
          };
          const stale = (word, reason) => {
            clearTimeout(silence);
            find('live').className = '';
            find('live').textContent = word;
            // With the date, because a window may be open for days; what is said already is not read out again.
            const words = `${reason}: this is how it was at ${heard.toLocaleString()}.`;
            if (find('lost').textContent !== words) find('lost').textContent = words;
            label(find('lost'));
          };
          const connect = () => {
            clearTimeout(retry);
            if (source) source.close();
            const mine = source = new EventSource('/api/events?page');
            // That it is open says nothing of the daemon, whose kernel or proxy may have answered.
            listen();
            // After a restart or a reload others stand in the places that parts name.
            mine.addEventListener('of', ({data}) => data === find('live').dataset.mark || location.reload());
            mine.addEventListener('alive', live);
            mine.addEventListener('part', (event) => (put(JSON.parse(event.data)), live()));
            mine.addEventListener('stale', () => location.reload());
            mine.onerror = async () => {
              mine.close();
              const end = new AbortController();
              const answer = await fetch('/api/events?page', {signal: end.signal}).catch(() => ({ok: true, isMissing: true}));
              end.abort();
              if (mine !== source) return;
              if (answer.isMissing) stale('not live', 'bearerd does not answer');
              else if (!answer.ok) stale('not live', answer.status === 503 ? 'No more windows can be live' : `bearerd answered ${answer.status}`);
              retry = answer.ok ? setTimeout(connect, 3000) : setTimeout(() => location.reload(), 10000);
            };
          };
          const look = () => {
            if (!document.hidden) return connect();
            clearTimeout(retry);
            if (source) source.close();
            source = undefined;
            stale('paused', 'Not looked at while nobody sees it');
          };
          document.addEventListener('visibilitychange', look);
          look();
        })();
        """#
}
