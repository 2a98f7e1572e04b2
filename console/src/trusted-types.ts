// Keeps text from becoming markup in this page. Imported first: it must be in force before anything renders.

type TrustedTypesWindow = {
  readonly trustedTypes?: {
    createPolicy(name: string, rules: { createHTML: (text: string) => string | null }): unknown;
  };
};

// The component library sets only style rules as text; without an angle bracket they cannot become elements.
(window as TrustedTypesWindow).trustedTypes?.createPolicy('default', {
  createHTML: (text) => (text.includes('<') ? null : text),
});
