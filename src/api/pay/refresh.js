/* global document, location, XMLHttpRequest, setInterval */
// Reads the page again while an outcome is awaited, and puts in what changed. Without it the page reloads by itself.
(() => {
  'use strict';
  const PARTS = ['state', 'rest'];
  // Of the clock of this device, which may be wrong: only differences of it are used.
  let readAtMs = Date.now();

  function tick() {
    const time = document.querySelector('[data-seconds]');
    if (!time) return;
    const left = Math.max(0, Math.ceil(Number(time.dataset.seconds) - (Date.now() - readAtMs) / 1000));
    time.textContent = `${Math.floor(left / 60)}:${String(left % 60).padStart(2, '0')}`;
  }

  function replaceChanged(next) {
    readAtMs = Date.now();
    for (const id of PARTS) {
      const [now, then] = [document.getElementById(id), next.getElementById(id)];
      const isSame = now && then && withoutTime(now) === withoutTime(then);
      if (!now || !then) continue;
      if (!isSame) now.replaceChildren(...document.adoptNode(then).childNodes);
      else copyTime(now, then);
    }
    document.title = next.title;
    document.querySelector('main').dataset.refresh = next.querySelector('main').dataset.refresh || '';
  }

  function withoutTime(part) {
    const copy = part.cloneNode(true);
    for (const each of copy.querySelectorAll('[data-seconds],input[name=attempt]')) each.remove();
    return copy.textContent.replace(/\s+/g, ' ');
  }

  function copyTime(now, then) {
    const [shown, read] = [now, then].map((part) => part.querySelector('[data-seconds]'));
    if (shown && read) shown.dataset.seconds = read.dataset.seconds;
  }

  function schedule() {
    const seconds = Number(document.querySelector('main').dataset.refresh);
    if (seconds > 0) setTimeout(check, seconds * 1000);
  }

  function check() {
    if (document.hidden) {
      schedule();
      return;
    }
    const request = new XMLHttpRequest();
    request.open('GET', location.href);
    // Without the style, which the policy of this page would refuse in that document.
    request.setRequestHeader('Malipo-Unstyled', '1');
    // The browser parses it; nothing here is ever written as markup.
    request.responseType = 'document';
    request.timeout = 20000;
    request.onload = () => {
      if (request.response && request.response.querySelector('main[data-page]')) replaceChanged(request.response);
    };
    request.onloadend = schedule;
    request.send();
  }

  setInterval(tick, 1000);
  schedule();
})();
