// Runs before the reference's own script, and keeps that one within what the page may do. It does not depend on what that script says.

const nonce = document.querySelector('meta[property="csp-nonce"]').content;

// No text becomes a script, and as markup only pictures of buttons and single characters: what else the reference shows, it makes
// under a policy of its own. It also asks whether functions may be made from text; they may not, and the page does not complain of that.
const EMPTY_FUNCTION = /^\(function anonymous\(\s*\) \{\s*\}\)$/;
const PICTURE = /^\s*<svg\b[^]*<\/svg>\s*$/;
const NOT_IN_A_PICTURE = /<script|<foreignobject|<use|\son\w+\s*=|javascript:/i;
const CHARACTER = /^&\w+;$/;
const isHarmless = (html) =>
  html === '' || CHARACTER.test(html) || (PICTURE.test(html) && !NOT_IN_A_PICTURE.test(html));
if (window.trustedTypes) {
  window.trustedTypes.createPolicy('default', {
    createHTML: (html) => (isHarmless(html) ? html : null),
    createScript: (code) => (EMPTY_FUNCTION.test(code) ? code : null),
  });
}

// Its style rules count with the nonce of this response alone.
const createElement = document.createElement;
document.createElement = function (name, options) {
  const element = createElement.call(this, name, options);
  if (element instanceof window.HTMLStyleElement) element.nonce = nonce;
  return element;
};

// What is tried here is tried with the key that was typed, and never with the session of who is logged in to the console.
const send = window.fetch;
window.fetch = (input, init) => send(input, { ...init, credentials: 'omit', referrerPolicy: 'no-referrer' });
