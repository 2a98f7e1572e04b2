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

// Some of its buttons have a picture alone. Whoever cannot see it hears this.
const name = () => {
  for (const button of document.querySelectorAll('#reference button:not([aria-label])')) {
    const isNamed = button.innerText?.trim() || button.textContent.trim() || button.getAttribute('aria-labelledby');
    if (!isNamed) button.setAttribute('aria-label', 'Copy');
  }
};
new window.MutationObserver(name).observe(document.getElementById('reference'), { childList: true, subtree: true });
