// Starts the reference: our document, our fonts, nothing kept beyond the tab and nothing sent to anybody else.

window.Scalar.createApiReference('#reference', {
  url: '/v1/openapi.json',
  // Requests go to where the page came from, under whichever of its names that is.
  servers: [{ url: window.location.origin }],
  authentication: { preferredSecurityScheme: 'apiKey' },
  persistAuth: false,
  telemetry: false,
  withDefaultFonts: false,
  proxyUrl: '',
  theme: 'none',
  hideClientButton: true,
  hideDarkModeToggle: true,
  showDeveloperTools: 'never',
  agent: { disabled: true },
  mcp: { disabled: true },
  documentDownloadType: 'direct',
  defaultHttpClient: { targetKey: 'shell', clientKey: 'curl' },
});

// What somebody who does not see the page, or has no mouse, would miss: names of buttons that are pictures, and lists that scroll.
const reference = document.getElementById('reference');
function mend() {
  for (const button of reference.querySelectorAll('button[class*="copy-button"]:not([aria-label])')) {
    button.setAttribute('aria-label', 'Copy');
  }
  // Its name has to begin with what it shows.
  for (const button of reference.querySelectorAll('button.show-more[aria-label^="Show all"]')) {
    button.setAttribute('aria-label', `${button.textContent.trim()}: ${button.getAttribute('aria-label')}`);
  }
  for (const list of reference.querySelectorAll('ul.endpoints:not([tabindex])')) list.tabIndex = 0;
}
new window.MutationObserver(mend).observe(reference, { childList: true, subtree: true });
